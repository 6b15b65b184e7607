"""Circles: each knot is told once, shortest way first, in time that grows with the links."""

from __future__ import annotations

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from evkg.circle import circles


def test_ways_that_end_are_no_circles() -> None:
    assert list(circles([])) == []
    assert list(circles([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")])) == []
    assert list(circles([("a", "a")])) == []


def test_a_circle_is_named_whole_from_its_smallest_id() -> None:
    assert list(circles([("c", "a"), ("b", "c"), ("a", "b")])) == [(["a", "b", "c", "a"], [])]


def test_what_else_is_caught_in_a_knot_is_told() -> None:
    links = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("x", "y"), ("y", "x"), ("z", "a")]
    assert list(circles(links)) == [(["a", "b", "a"], ["c"]), (["x", "y", "x"], [])]


@given(st.sets(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=14))
def test_circles_are_those_of_a_plain_search(links: set[tuple[str, str]]) -> None:
    reach = {(a, b) for a, b in links if a != b}
    while more := {(a, d) for a, b in reach for c, d in reach if b == c} - reach:
        reach |= more
    caught = {a for a, b in reach if a == b}
    found = list(circles(links))
    assert {name for circle, others in found for name in (*circle, *others)} == caught
    for circle, _ in found:
        assert circle[0] == circle[-1] == min(circle)
        assert set(pairwise(circle)) <= links


def test_long_chains_and_large_knots_are_quick() -> None:
    size = 30_000
    names = [f"n{number:05}" for number in range(size)]
    ring = list(zip(names, names[1:] + names[:1], strict=True))
    started = time.process_time()
    ((circle, others),) = circles(ring)
    assert (len(circle), others) == (size + 1, [])
    pairs = [link for a, b in pairwise(names) for link in ((a, b), (b, a))]
    assert len(list(circles(pairs))) == 1
    leaves = [*ring[:-1], *((name, f"x{name}") for name in names), *((f"x{name}", name) for name in names)]
    assert len(list(circles(leaves))) == size
    assert time.process_time() - started < 5
