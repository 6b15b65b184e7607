"""A leaderboard: the results under one protocol or on one data set, by what may be compared."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from evkg.candidate import Condition
from evkg.compare import find_conditions
from evkg.errors import NotFoundError, UsageError, excerpt
from evkg.leaderboard_group import NO_METRIC, Apart, Group, compare_all
from evkg.lookup import Facts, id_of
from evkg.namespaces import EVKG, concept_key, thing_iri

if TYPE_CHECKING:
    from evkg.release import Release

#: More results than this are only shown of one data set and one metric (count).
MOST_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that a leaderboard can be narrowed to: id or key, name, and how many results it has (count)."""

    key: str
    name: str
    count: int


@dataclass(frozen=True)
class Board:
    """What is compared under a protocol, on a data set, or among given results.

    `loose` are the results of metrics of which there is no group, by the name of the metric; `results` counts all.
    Where `is_wide` there are too many to be shown at once, so nothing was compared.
    """

    protocol: tuple[str, str] | None
    dataset: tuple[str, str] | None
    metric: tuple[str, str] | None
    ignored: tuple[Condition, ...]
    results: int
    groups: tuple[Group, ...]
    loose: tuple[tuple[str, tuple[Apart, ...]], ...]
    protocols: tuple[Choice, ...] = ()
    datasets: tuple[Choice, ...] = ()
    metrics: tuple[Choice, ...] = ()
    is_wide: bool = False

    def group(self, key: str) -> Group:
        """The group of a key.

        Raises: NotFoundError: there is none.
        """
        for group in self.groups:
            if group.key == key:
                return group
        raise NotFoundError(f"There is no group {excerpt(key, 40)!r} here.")


def read_board(
    release: Release,
    *,
    protocol: str | None = None,
    dataset: str | None = None,
    metric: str | None = None,
    ignore: Collection[str] = (),
    everything: bool = False,
) -> Board:
    """The leaderboard of a protocol (or task or benchmark), a data set, or both, for one metric or for all.

    `ignore` names conditions that need be neither known nor equal; what blocks a result by itself is never lifted.
    `everything` reads them however many there are.

    Raises: NotFoundError: no such record. UsageError: neither is given, or an unknown condition to ignore.

    >>> from evkg.release import open
    >>> board = read_board(open(), dataset="saadat-fellay-20261015-data-synthetic-dna")
    >>> board.results, len(board.groups), [choice.count for choice in board.protocols]
    (10, 0, [2, 4, 4])
    """
    if protocol is None and dataset is None:
        raise UsageError("A leaderboard wants a protocol or a data set.")
    ignored = find_conditions(ignore)
    facts = Facts(release)
    names = tuple(_named(release, facts, record_id) for record_id in (protocol, dataset))
    found = list(_results(release, facts, protocol, dataset))
    wanted = [one for one in found if metric is None or one.metric[0] == metric]
    is_wide = len(wanted) > MOST_AT_ONCE and not everything and (metric is None or dataset is None)
    ids = [] if is_wide else sorted({one.id for one in wanted})
    groups, loose = compare_all(facts, ids, ignored)
    return Board(
        names[0],
        names[1],
        None if metric is None else next((one.metric for one in wanted), (metric, metric)),
        ignored,
        len({one.id for one in wanted}),
        groups,
        loose,
        () if protocol else _choices((one.id, key) for one in wanted for key in one.protocols),
        () if dataset else _choices((one.id, key) for one in wanted for key in one.datasets),
        _choices((one.id, one.metric) for one in found),
        is_wide,
    )


def _named(release: Release, facts: Facts, record_id: str | None) -> tuple[str, str] | None:
    if record_id is None:
        return None
    if not release.has_record(record_id):
        release.record_line(record_id)  # says what is near
    return record_id, str(facts.label(thing_iri(facts.base, record_id)))


@dataclass(frozen=True, slots=True)
class _Result:
    id: str
    metric: tuple[str, str]
    protocols: tuple[tuple[str, str], ...]
    datasets: tuple[tuple[str, str], ...]


def _results(release: Release, facts: Facts, protocol: str | None, dataset: str | None) -> Iterable[_Result]:
    """The results of all evaluations that used a protocol and a data set."""
    import pyoxigraph as ox

    first, record_id = ("assessment", protocol) if protocol is not None else ("data", str(dataset))
    node = ox.NamedNode(thing_iri(facts.base, str(record_id)))
    other = None if protocol is None or dataset is None else thing_iri(facts.base, dataset)
    store = release.store
    for run in _subjects(store.quads_for_pattern(None, ox.NamedNode(EVKG + first), node)):
        data = facts.texts(run, "data")
        if facts.single(run, "kind") != "evaluation" or (other is not None and other not in data):
            continue
        of_run = tuple(
            tuple((id_of(iri), str(facts.label(iri))) for iri in iris)
            for iris in (facts.texts(run, "assessment"), data)
        )
        linked = store.quads_for_pattern(None, ox.NamedNode(EVKG + "evaluation"), ox.NamedNode(run))
        for result in _subjects(linked):
            if facts.single(result, "kind") == "result":
                yield _Result(id_of(result), _metric(facts, result), *of_run)


def _subjects(quads: Iterable[Any]) -> list[str]:
    return sorted({quad.subject.value for quad in quads})


def _metric(facts: Facts, result: str) -> tuple[str, str]:
    term = next(iter(facts.all(result, "metric")), None)
    if term is None:
        return "", NO_METRIC
    is_text = hasattr(term, "datatype")
    return (term.value, term.value) if is_text else (concept_key(term.value), str(facts.label(term.value)))


def _choices(pairs: Iterable[tuple[str, tuple[str, str]]]) -> tuple[Choice, ...]:
    counts: dict[tuple[str, str], set[str]] = {}
    for result, key in pairs:
        counts.setdefault(key, set()).add(result)
    return tuple(Choice(key, name, len(ids)) for (key, name), ids in sorted(counts.items(), key=lambda i: i[0][::-1]))
