"""Circles among links: the ways that lead back to where they began."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence


def circles(links: Iterable[tuple[str, str]]) -> Iterator[tuple[list[str], list[str]]]:
    """(circle, others) for each knot of links: the shortest way from its first id back, and what else is caught in it.

    The circle begins and ends with the smallest id of the knot; `others` are sorted. A link from an id to itself is
    no circle. Time grows with the number of links.

    Source: Tarjan (1972), Depth-first search and linear graph algorithms.

    >>> list(circles([("b", "c"), ("c", "a"), ("a", "b"), ("c", "d"), ("e", "e")]))
    [(['a', 'b', 'c', 'a'], [])]
    """
    targets: dict[str, list[str]] = defaultdict(list)
    for source, target in sorted(links):
        if source != target:
            targets[source].append(target)
    knots = [sorted(knot) for knot in _knots(targets) if len(knot) > 1]
    for knot in sorted(knots):
        circle = _shortest(knot[0], set(knot), targets)
        yield circle, sorted(set(knot) - set(circle))


def _knots(targets: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """The strongly connected parts; without recursion, since a chain may be as long as the data set."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    waiting: set[str] = set()
    for root in targets:
        if root in order:
            continue
        work: list[tuple[str, Iterator[str]]] = []

        def enter(node: str, work: list[tuple[str, Iterator[str]]] = work) -> None:
            order[node] = low[node] = len(order)
            stack.append(node)
            waiting.add(node)
            work.append((node, iter(targets.get(node, ()))))

        enter(root)
        while work:
            node, ahead = work[-1]
            for target in ahead:
                if target not in order:
                    enter(target)
                    break
                if target in waiting:
                    low[node] = min(low[node], order[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    knot: list[str] = []
                    while not knot or knot[-1] != node:
                        knot.append(stack.pop())
                    waiting.difference_update(knot)
                    yield knot


def _shortest(start: str, knot: set[str], targets: Mapping[str, Sequence[str]]) -> list[str]:
    """The shortest way from `start` back to it inside its knot."""
    came: dict[str, str] = {}
    ahead = deque([start])
    while start not in came:
        node = ahead.popleft()
        for target in targets[node]:
            if target in knot and target not in came:
                came[target] = node
                ahead.append(target)
    way = [start]
    while len(way) == 1 or way[-1] != start:
        way.append(came[way[-1]])
    return way[::-1]
