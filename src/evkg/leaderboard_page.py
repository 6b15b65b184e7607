"""Pages of comparisons: the list of leaderboards, one leaderboard, and any selection of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

from evkg.candidate import CONDITIONS
from evkg.chart import Chart
from evkg.compare import MOST, Comparison, find_conditions
from evkg.dotplot import dot_plot, shown
from evkg.leaderboard import Board
from evkg.leaderboard_group import Group, compare_all, ordered
from evkg.leaderboard_index import Pair
from evkg.lookup import Facts, id_of
from evkg.loosening import name_conditions
from evkg.mention import split_mentions
from evkg.namespaces import EVKG, thing_iri
from evkg.pages import render_page
from evkg.release import Release

#: How many leaderboards a page lists, how many results that are not compared a table shows, and of how many protocols
#: a list to pick from is offered (counts).
LISTED: Final = 50
APART: Final = 100
PICKED: Final = 100
#: Conditions that the head of a table says, so that the list of what is shared need not.
_IN_HEAD: Final = ("metric", "unit", "metric_direction")
_LABELS: Final = {condition.key: condition.label for condition in CONDITIONS}


@dataclass(frozen=True, slots=True)
class Query:
    """What an address `/compare?…` asks for; empty texts are not there."""

    ids: tuple[str, ...] = ()
    protocol: str | None = None
    dataset: str | None = None
    metric: str | None = None
    ignored: tuple[str, ...] = ()
    sort: str = "best"
    group: str | None = None
    text: str = ""
    page: int = 1

    def address(self, path: str = "/compare", **more: str) -> str:
        """The address that asks for the same; the parts in a fixed order.

        >>> Query(protocol="p", ignored=("unit",)).address(format="csv")
        '/compare?protocol=p&ignore=unit&format=csv'
        """
        parts = [("id", one) for one in self.ids]
        parts += [
            (name, value) for name in ("protocol", "dataset", "metric") if (value := getattr(self, name)) is not None
        ]
        parts += [("ignore", one) for one in self.ignored]
        parts += [("sort", self.sort)] if self.sort != "best" else []
        parts += [("group", self.group)] if self.group else []
        parts += [("q", self.text)] if self.text else []
        parts += [("page", str(self.page))] if self.page > 1 else []
        parts += list(more.items())
        return f"{path}?{urlencode(parts)}" if parts else path

    def having(self, name: str, value: str | None) -> Query:
        """The same with another protocol, dataset, metric, group or sort; None for any; `ignored` for nothing."""
        changes: dict[str, Any] = {name: () if name == "ignored" else value}
        return replace(self, **changes)

    def toggled(self, key: str) -> Query:
        """The same with one condition more left out, or one less."""
        ignored = tuple(one for one in self.ignored if one != key) if key in self.ignored else (*self.ignored, key)
        return replace(self, ignored=ignored)


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart on a page: two addresses with their sizes, its words, where its data are, and its order in words."""

    wide: Chart
    narrow: Chart
    href: str
    narrow_href: str
    csv: str
    order: str


@dataclass(frozen=True, slots=True)
class Table:
    """A group as a page shows it: its picture where there are two dots or more, and how many rows are left out."""

    group: Group
    picture: Picture | None
    more: int
    shared: tuple[tuple[str, str], ...]
    csv: str
    ask: str


def render_index(release: Release, pairs: Sequence[Pair], query: Query) -> str:
    """The list of leaderboards, those with most groups first, narrowed by a text."""
    words = query.text.lower().split()
    found = [pair for pair in pairs if all(word in _said(pair) for word in words)]
    pages = max(1, -(-len(found) // LISTED))
    page = min(query.page, pages)
    return render_page(
        "compare_index.html",
        release,
        query=query,
        pairs=[
            (pair, Query(protocol=pair.protocol, dataset=pair.dataset))
            for pair in found[(page - 1) * LISTED : page * LISTED]
        ],
        found=len(found),
        all=len(pairs),
        comparable=sum(pair.comparable for pair in pairs),
        page=page,
        pages=pages,
        protocols=_names((pair.protocol, pair.protocol_name) for pair in pairs),
        datasets=_names((pair.dataset, pair.dataset_name) for pair in pairs),
        most=MOST,
        picked=PICKED,
        to_page=lambda number: replace(query, page=number).address(),
    )


def _said(pair: Pair) -> str:
    return f"{pair.protocol} {pair.protocol_name} {pair.dataset} {pair.dataset_name}".lower()


def _names(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted(set(pairs), key=lambda pair: (pair[1], pair[0]))


def render_board(release: Release, board: Board, query: Query) -> str:
    """A leaderboard: its groups with their pictures, and what is in none."""
    groups = board.groups if query.group is None else (board.group(query.group),)
    return render_page(
        "leaderboard.html",
        release,
        mentions=_mentions(release),
        board=board,
        query=query,
        tables=[_table(group, query) for group in groups],
        loose=board.loose if query.group is None else (),
        compared=sum(len(group.entries) for group in board.groups),
        conditions=CONDITIONS,
        most_apart=APART,
        without=lambda name: query.having(name, None).address(),
        narrowed=lambda name, key: query.having(name, key).address(),
        sorted_by=lambda name: replace(query, sort=name).address(),
    )


def _table(group: Group, query: Query) -> Table:
    entries = ordered(group, query.sort)
    one = replace(query, group=group.key, sort="best") if not query.ids else replace(query, sort="best")
    hidden = () if group.differs else _IN_HEAD
    return Table(
        replace(group, entries=entries, apart=group.apart[:APART]),
        _picture(group, one),
        len(group.apart) - APART,
        tuple((_LABELS[key], value) for key, value in group.shared.items() if key not in hidden),
        one.address(format="csv"),
        Query(ids=(group.members[0].id,)).address(),
    )


def _picture(group: Group, query: Query) -> Picture | None:
    if len(shown(group)) < 2:
        return None
    path = "/compare/chart.svg"
    narrow = query.address(path, narrow="1")
    order = f"in their order, {group.left_out_words}" if group.left_out else "best first"
    wide, small = dot_plot(group), dot_plot(group, narrow=True)
    return Picture(wide, small, query.address(path), narrow, query.address(format="csv"), order)


def selected_group(release: Release, query: Query) -> Group | None:
    """The one group that the results of a selection make; None where they do not all go together.

    Raises: UsageError: an unknown condition to ignore.
    """
    known = [one for one in dict.fromkeys(query.ids) if release.has_record(one)]
    groups, _ = compare_all(Facts(release), known[:MOST], find_conditions(query.ignored))
    return groups[0] if len(groups) == 1 and len(groups[0].entries) == len(set(query.ids)) else None


def render_selection(release: Release, answer: Comparison, query: Query) -> str:
    """The page of a selection: a table and its picture, or every reason against it and what would go together."""
    group = selected_group(release, query) if answer.compatible else None
    hidden = _hidden(answer)
    parts: list[tuple[Group, str]] = []
    if group is None:
        groups, _ = compare_all(
            Facts(release), [member.id for member in answer.members], find_conditions(query.ignored)
        )
        parts = [(one, replace(query, ids=tuple(member.id for member in one.members)).address()) for one in groups]
    return render_page(
        "compare.html",
        release,
        mentions=_mentions(release),
        named=lambda reason: [one for cause in reason.causes for one in (cause.record, *cause.results)],
        labels=_LABELS,
        answer=answer,
        query=query,
        table=None if group is None else _table(group, query),
        parts=parts,
        beside=_beside(release, query) if len(answer.members) == len(query.ids) == 1 else None,
        reasons=[(reason, _loosened(query, reason.dimension, reason.kind)) for reason in answer.reasons],
        conditions=CONDITIONS,
        most=MOST,
        sorted_by=lambda name: replace(query, sort=name).address(),
        strict=replace(query, ignored=()).address(),
        ignored=[_LABELS[key] for key in answer.ignored],
        left_out=name_conditions([_LABELS[key] for key in answer.ignored]),
        hidden=hidden,
    )


def _mentions(release: Release) -> Callable[[str, Iterable[str | None]], list[tuple[str, bool]]]:
    """What finds the ids of records of this release in a sentence."""
    return lambda text, ids: split_mentions(text, [one for one in ids if one and release.has_record(one)])


def _hidden(answer: Comparison) -> list[tuple[str, list[str], list[str]]]:
    """(what is wrong, the conditions, names of the tested systems) of what a loosened comparison does not ask for."""
    names = {member.id: member.system or member.name for member in answer.members}
    found: dict[str, tuple[set[str], dict[str, None]]] = {}
    for reason in answer.ignored_reasons:
        kinds, systems = found.setdefault(_LABELS[str(reason.dimension)], (set(), {}))
        kinds.add({"unknown": "not known", "different": "not the same"}[reason.kind])
        systems.update(dict.fromkeys(names.get(one, one) for cause in reason.causes for one in cause.results))
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for label, (kinds, systems) in found.items():
        alike.setdefault((" and ".join(sorted(kinds)), tuple(systems)), []).append(label)
    return [(words, labels, [*systems]) for (words, systems), labels in alike.items()]


def _beside(release: Release, query: Query) -> tuple[int, str] | None:
    """How many results a single one may be compared with, and the address that compares the first of them with it."""
    import pyoxigraph as ox

    one = query.ids[0]
    group = Facts(release).text(thing_iri(release.base_iri, one), "inComparisonGroup")
    if group is None:
        return None
    quads = release.store.quads_for_pattern(None, ox.NamedNode(f"{EVKG}inComparisonGroup"), ox.NamedNode(group))
    others = sorted({id_of(str(quad.subject)[1:-1]) for quad in quads} - {one})
    return (len(others), Query(ids=(one, *others)[:MOST]).address()) if others else None


def _loosened(query: Query, dimension: str | None, kind: str) -> str | None:
    """The address of the same comparison without a condition; None for what cannot be left out."""
    return query.toggled(dimension).address() if dimension is not None and kind in ("unknown", "different") else None
