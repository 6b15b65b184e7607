"""Measurements: which results belong to which system, protocol, data set and source; an index over a release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Final

from evkg.lookup import id_of
from evkg.namespaces import EVKG, concept_key

if TYPE_CHECKING:
    from evkg.release import Release

#: Relations by which a record is a part, a version or a configuration of another, whose results count for it too.
_BELOW: Final = ("configuration_of", "family", "variant_of", "part_of", "evaluates_task", "parent")
#: How far such relations are followed (steps): family → model → configuration, benchmark → task → protocol.
_MOST_STEPS: Final = 4


@dataclass(frozen=True, slots=True)
class Run:
    """One evaluation by ids: what was tested, under which protocols, on which data, and who measured (a key)."""

    id: str
    systems: tuple[str, ...]
    protocols: tuple[str, ...]
    data: tuple[str, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """One result with the evaluation that gave it; `metric` is a key. `result` is empty where a run has no result."""

    result: str
    metric: str
    run: Run


@dataclass(frozen=True, slots=True)
class _Links:
    runs: Mapping[str, Run]
    results: Mapping[str, Sequence[str]]  # evaluation -> results, sorted
    metrics: Mapping[str, str]  # result -> key of its metric
    touching: Mapping[str, Sequence[str]]  # record -> evaluations that name it
    below: Mapping[str, Sequence[str]]  # record -> records that are a part of it
    cited: Mapping[str, Sequence[str]]  # source -> records that cite it


class Measurements:
    """The measurements of a release; read once, when first asked for. In memory are ids only.

    >>> from evkg.release import open
    >>> found = Measurements(open()).of("gena-lm")
    >>> len(found), len({item.run.id for item in found})
    (4, 1)
    """

    def __init__(self, release: Release) -> None:
        self._release = release
        self._lock = Lock()

    def of(self, record_id: str) -> list[Measurement]:
        """The measurements that a record has a part in: as what was tested, as protocol, benchmark or task, as data,
        as source, or as evaluation; those of its parts, versions and configurations too. Sorted by evaluation and
        result.
        """
        links = self._loaded()
        runs = {run for part in self._with_parts(record_id) for run in links.touching.get(part, ())}
        cited = set(links.cited.get(record_id, ()))
        if record_id in links.runs:
            runs.add(record_id)
        found = list(self._of_runs(runs))
        if cited:  # by results, since a source may be cited for some results of an evaluation only
            mine = {item.result for item in found}
            more = self._of_runs(links.runs.keys() & self._runs_of(cited))
            found += [
                item
                for item in more
                if item.result not in mine and (item.result in cited or (not item.result and item.run.id in cited))
            ]
        return sorted(found, key=lambda item: (item.run.id, item.result))

    def of_result(self, record_id: str) -> Measurement | None:
        """The measurement of one result; None where it names no evaluation of this release."""
        links = self._loaded()
        run_id = self._owner.get(record_id)
        return Measurement(record_id, links.metrics.get(record_id, ""), links.runs[run_id]) if run_id else None

    def all(self) -> Iterator[Measurement]:
        """Every measurement of the release."""
        return self._of_runs(self._loaded().runs.keys())

    def citing(self, source_id: str) -> Sequence[str]:
        """The ids of the records that cite a source, sorted."""
        return self._loaded().cited.get(source_id, ())

    @cached_property
    def _owner(self) -> Mapping[str, str]:
        return {result: run for run, results in self._loaded().results.items() for result in results}

    def _runs_of(self, records: set[str]) -> set[str]:
        return {self._owner.get(one, one) for one in records}

    def _of_runs(self, runs: Iterable[str]) -> Iterator[Measurement]:
        links = self._loaded()
        for run_id in runs:
            run = links.runs[run_id]
            results = links.results.get(run_id, ())
            for result in results:
                yield Measurement(result, links.metrics.get(result, ""), run)
            if not results:
                yield Measurement("", "", run)

    def _with_parts(self, record_id: str) -> set[str]:
        found, edge = {record_id}, {record_id}
        for _ in range(_MOST_STEPS):
            edge = {part for one in edge for part in self._loaded().below.get(one, ())} - found
            found |= edge
        return found

    def _loaded(self) -> _Links:
        with self._lock:  # two requests at once read once
            return self._links

    @cached_property
    def _links(self) -> _Links:
        pairs = self._pairs
        tested, assessed, used = (_gathered(pairs(name)) for name in ("system", "assessment", "data"))
        origins = dict(pairs("origin"))
        given = _gathered((run, result) for result, run in pairs("evaluation"))
        known = set(given) | set(tested) | set(assessed) | set(used)
        runs = {
            run: Run(run, tested.get(run, ()), assessed.get(run, ()), used.get(run, ()), origins.get(run, ""))
            for run in sorted(known)
        }
        touching = _gathered(
            (other, run.id) for run in runs.values() for other in (*run.systems, *run.protocols, *run.data)
        )
        relations = self._release.vocabulary.relations
        below = _gathered(
            (whole, part) for key in _BELOW if key in relations for part, whole in pairs(relations[key].iri)
        )
        cited = _gathered((source, record) for record, source in pairs("sourceIds"))
        return _Links(runs, given, dict(pairs("metric")), touching, below, cited)

    def _pairs(self, name: str) -> Iterator[tuple[str, str]]:
        """(subject, object) of a property between things or concepts, by their ids and keys."""
        import pyoxigraph as ox

        predicate = ox.NamedNode(name if ":" in name else EVKG + name)
        for quad in self._release.store.quads_for_pattern(None, predicate, None):
            subject = quad.subject.value if isinstance(quad.subject, ox.NamedNode) else ""
            if isinstance(quad.object, ox.NamedNode) and "#" not in subject and not subject.startswith(EVKG):
                # Ids stay as the IRI has them, so that they make the same IRI again; keys of concepts are decoded.
                other = quad.object.value
                yield id_of(subject), concept_key(other) if name in ("metric", "origin") else id_of(other)


def _gathered(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for key, value in pairs:
        found.setdefault(key, set()).add(value)
    return {key: tuple(sorted(values)) for key, values in found.items()}
