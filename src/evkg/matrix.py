"""Comparison matrices: systems by measures, only inside comparison groups; otherwise the reasons why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from evkg.candidate import CONDITIONS, Candidate, read_candidate
from evkg.compare import MOST
from evkg.lookup import Facts, id_of
from evkg.member import Member
from evkg.namespaces import EVKG, RDFS, concept_key, thing_iri
from evkg.ranking import Number, rank

if TYPE_CHECKING:
    import pyoxigraph as ox

    from evkg.release import Release

#: How many results are looked at for groups, how many results a matrix has, and how many matrices a page (count).
_LOOKED_AT: Final = 600
_MOST_MEMBERS: Final = 100
_MOST_MATRICES: Final = 4
#: How many results the reasons are gathered from (count).
_SAMPLED: Final = 25
#: Kind of reason -> its words; conditions that are not known are named by their label.
_WORDS: Final = {
    "no_number": "no number to compare is recorded",
    "open_concern": "an open concern stands against it",
    "not_checked": "it, or what it rests on, was not checked against a source",
    "missing": "its evaluation, system, protocol or data are not in this release",
    "doubtful": "it rests on something disputed, superseded or excluded",
    "quoted": "it is quoted from where it was first reported",
}
#: Key of a condition, and property of it -> its label.
_LABELS: Final = {c.key: c.label for c in CONDITIONS} | {EVKG + c.name: c.label for c in CONDITIONS}


@dataclass(frozen=True, slots=True)
class Column:
    """One comparison group: what is measured, in which unit, which way is better, and where all of it is compared."""

    metric: str
    qualifier: str | None
    unit: str
    direction: str
    shared: tuple[tuple[str, str], ...]
    count: int
    href: str | None


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A system with its results, by column; a cell may hold none or several."""

    system: str
    cells: tuple[tuple[Member, ...], ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """The groups of one protocol and data set side by side. `shared` is what all of them share."""

    title: str
    shared: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]
    rows: tuple[MatrixRow, ...]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A reason why results are in no comparison: its words, and of how many results it holds (count)."""

    text: str
    count: int


@dataclass(frozen=True, slots=True)
class Comparability:
    """What may be compared of some results, and what keeps the others from it.

    `grouped` counts results that share all conditions with another one, `alone` those that nothing blocks but that
    are the only one of their kind, `blocked` the others; the obstacles are of the first `sampled` blocked ones.
    """

    matrices: tuple[Matrix, ...]
    more_matrices: int
    grouped: int
    alone: int
    blocked: int
    sampled: int
    obstacles: tuple[Obstacle, ...]


def read_comparability(release: Release, facts: Facts, result_ids: Sequence[str]) -> Comparability:
    """The comparison groups that results are in, each with all its members, and the reasons where there is none.

    >>> from evkg.release import open
    >>> release = open()
    >>> name = "saadat-fellay-20261015-result-nt-2-5b-quantization-memory-4bit"
    >>> found = read_comparability(release, Facts(release), [name])
    >>> found.matrices, found.blocked, found.obstacles[0].text
    ((), 1, 'aggregation is not known')
    """
    looked_at = result_ids[:_LOOKED_AT]
    groups: dict[str, list[str]] = {}
    blocked = []
    for record_id in looked_at:
        group = facts.single(thing_iri(facts.base, record_id), "inComparisonGroup")
        if group is None:
            blocked.append(record_id)
        else:
            groups.setdefault(group, []).append(record_id)
    members = {group: _members(release, group) for group in groups}
    shown = [group for group in groups if len(members[group]) > 1]
    matrices = list(_matrices(facts, {group: members[group] for group in shown[: _MOST_MATRICES * 4]}))
    sample = blocked[:_SAMPLED]
    return Comparability(
        matrices=tuple(matrices[:_MOST_MATRICES]),
        more_matrices=max(0, len(matrices) - _MOST_MATRICES) + max(0, len(shown) - _MOST_MATRICES * 4),
        grouped=sum(len(groups[group]) for group in shown),
        alone=sum(len(ids) for group, ids in groups.items() if len(members[group]) < 2),
        blocked=len(blocked),
        sampled=len(sample),
        obstacles=_obstacles(facts, sample),
    )


def _members(release: Release, group: str) -> list[str]:
    import pyoxigraph as ox

    pattern = (None, ox.NamedNode(EVKG + "inComparisonGroup"), ox.NamedNode(group))
    return sorted({id_of(_iri(quad.subject)) for quad in release.store.quads_for_pattern(*pattern)})


def _iri(term: ox.NamedNode | ox.BlankNode | ox.Triple) -> str:
    return str(getattr(term, "value", term))


def _matrices(facts: Facts, groups: Mapping[str, Sequence[str]]) -> Iterator[Matrix]:
    by_setting: dict[tuple[str, str], list[list[Candidate]]] = {}
    for ids in groups.values():
        candidates = [read_candidate(facts, record_id) for record_id in ids[:_MOST_MEMBERS]]
        shown = candidates[0].shown
        by_setting.setdefault((shown.get("protocol_id", ""), shown.get("data", "")), []).append(candidates)
    for (protocol, data), columns in sorted(by_setting.items(), key=lambda item: item[0]):
        yield _matrix(facts, protocol, data, columns)


def _matrix(facts: Facts, protocol: str, data: str, groups: Sequence[Sequence[Candidate]]) -> Matrix:
    columns, ranked = [], []
    shared: list[dict[str, str]] = [dict(group[0].shown) for group in groups]
    common = {key: value for key, value in shared[0].items() if all(other.get(key) == value for other in shared)}
    for group, shown in zip(groups, shared, strict=True):
        ids = [candidate.id for candidate in group]
        qualifier = shown.get("metric_qualifier")
        columns.append(
            Column(
                metric=shown.get("metric", ""),
                qualifier=None if qualifier == "none" else qualifier,
                unit=shown.get("unit", ""),
                direction=group[0].direction,
                shared=_conditions({key: value for key, value in shown.items() if key not in common}),
                count=len(ids),
                href=f"/compare?{urlencode([('id', record_id) for record_id in ids])}" if len(ids) <= MOST else None,
            )
        )
        ranked.append(_ranked(group))
    systems = sorted({str(member.system) for members in ranked for member in members})
    rows = [
        MatrixRow(system, tuple(tuple(m for m in members if str(m.system) == system) for members in ranked))
        for system in systems
    ]
    rows.sort(key=lambda row: (min((m.rank or 10**6 for m in row.cells[0]), default=10**6), row.system))
    label = facts.single(thing_iri(facts.base, protocol), RDFS + "label") or protocol
    return Matrix(f"{label} · {data}", _conditions(common), tuple(columns), tuple(rows))


def _conditions(shown: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    apart = ("metric", "metric_direction", "metric_qualifier", "unit")
    return tuple((_LABELS[key], value) for key, value in shown.items() if key not in apart)


def _ranked(group: Sequence[Candidate]) -> list[Member]:
    """The members of a group with their places, best first; bounds and what has no direction go without."""
    counted = [c for c in group if isinstance(c.number, Number) and not c.member.is_bound]
    if group[0].direction not in ("higher", "lower") or len(counted) < 2:
        return [candidate.member for candidate in group]
    numbers = [c.number for c in counted if isinstance(c.number, Number)]
    places = rank(numbers, lower_is_better=group[0].direction == "lower")
    ids = [candidate.id for candidate in counted]
    placed = [c.member.placed(place, ids) for c, place in zip(counted, places, strict=True)]
    placed.sort(key=lambda member: (member.rank or 0, member.id))
    return [*placed, *(c.member for c in group if c not in counted)]


def _obstacles(facts: Facts, record_ids: Iterable[str]) -> tuple[Obstacle, ...]:
    counts: dict[str, int] = {}
    for record_id in record_ids:
        for reason in {words for node in _blockers(facts, record_id) for words in _reasons(facts, node)}:
            counts[reason] = counts.get(reason, 0) + 1
    ordered = sorted(counts, key=lambda text: (-counts[text], text))
    return tuple(Obstacle(text, counts[text]) for text in ordered)


def _blockers(facts: Facts, record_id: str) -> list[str]:
    return facts.texts(thing_iri(facts.base, record_id), "blockedBy")


def _reasons(facts: Facts, node: str) -> Iterator[str]:
    kind = concept_key(facts.text(node, "reasonKind") or "")
    if kind != "unknown":
        yield _WORDS.get(kind, kind.replace("_", " "))
        return
    for dimension in facts.texts(node, "blockedDimension"):
        yield f"{_LABELS.get(dimension, dimension.removeprefix(EVKG))} is not known"
