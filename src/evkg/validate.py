"""SHACL: whether every record says what it must, or why it does not; each result at its field.

pySHACL is the normative validator and checks small data sets alone. On large ones the fast validator
checks every record, and pySHACL a sample of them in every run: a disagreement stops the run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Literal

from evkg.errors import EngineDisagreementError
from evkg.fast import FastValidator
from evkg.finding import Finding, Severity
from evkg.namespaces import EVKG, RDF, SH
from evkg.normative import NormativeValidator
from evkg.place import Places
from evkg.record import Record
from evkg.scalar import Path
from evkg.shapes import Result, Shapes
from evkg.vocabulary import Vocabulary

#: Which validator runs: by the size of the data set, only pySHACL, or the fast one with its sample.
Engine = Literal["auto", "pyshacl", "fast"]
#: Up to this many records pySHACL checks them all (count).
SMALL: Final = 150
#: How many records of a larger set pySHACL checks as well (count).
SAMPLE: Final = 12
#: How many records the fast validator gets at once (count): memory stays that of a batch.
BATCH: Final = 1_000

_SEVERITY: Final[Mapping[str, Severity]] = {
    SH + "Violation": "violation",
    SH + "Warning": "warning",
    SH + "Info": "info",
}


class Validation:
    """Runs the shapes over records of one data set; `classes` are those of every record that links may reach."""

    def __init__(
        self, vocabulary: Vocabulary, base: str, shapes: Shapes, classes: Mapping[str, str], engine: Engine = "auto"
    ) -> None:
        self._vocabulary = vocabulary
        self._base = base
        self._shapes = shapes
        self._classes = classes
        self._places = Places(vocabulary, base)
        self._normative = NormativeValidator(shapes)
        self._fast = FastValidator(shapes)
        self._only_normative = engine == "pyshacl" or (engine == "auto" and len(classes) <= SMALL)

    def run(self, records: Iterable[tuple[Record, list[str]]]) -> tuple[list[Finding], list[Result]]:
        """Findings on records, given with their N-Quads lines, each at its field, and the results behind them.

        A record whose kind no shape targets is itself a finding.

        Raises: VocabularyError: a shape is broken. EngineDisagreementError: the validators differ.
        """
        findings: list[Finding] = []
        results: list[Result] = []
        for batch in _batches(records, BATCH if not self._only_normative else None):
            found = self._batch(batch)
            finder = _Finder({record.id: record for record, _ in batch}, self._places, self._base, self._shapes)
            findings.extend(finding for result in found for finding in finder.findings(result))
            findings.extend(_unchecked((record for record, _ in batch), self._vocabulary, self._shapes))
            results.extend(found)
        return findings, results

    def _batch(self, batch: Sequence[tuple[Record, list[str]]]) -> list[Result]:
        """Results on the records of a batch, and on nothing else.

        A thing that is only linked to has its type here and no more; its own batch reports on it.
        """
        names = {record.id for record, _ in batch}
        triples = [*(line for _, lines in batch for line in lines)]
        if self._only_normative:
            return [r for r in self._normative.run([*triples, *self._types(triples)]) if not self._is_other(r, names)]
        everything = self._fast.run(_without_graph([*triples, *self._types(triples)]))
        found = [result for result in everything if not self._is_other(result, names)]
        self._compare(batch, found)
        return found

    def _types(self, lines: Iterable[str]) -> list[str]:
        """The types of the things that these quads link to: class constraints need them."""
        things = f"<{self._base}id/"
        graph = f"<{self._base}graph/types>"
        found: set[str] = set()
        for line in lines:
            _, _, rest = line.split(" ", 2)
            if rest.startswith(things):
                found.add(rest[len(things) : rest.index(">")])
        return [
            f"{things}{name}> <{RDF}type> <{EVKG}{self._classes[name]}> {graph} ."
            for name in found
            if name in self._classes
        ]

    def _compare(self, batch: Sequence[tuple[Record, list[str]]], found: Iterable[Result]) -> None:
        """Check a sample, chosen by the content of the records, with pySHACL as well.

        Raises: EngineDisagreementError: the results on a record differ; names the record.
        """
        size = max(1, SAMPLE * len(batch) // max(len(self._classes), 1))
        chosen = sorted(batch, key=lambda pair: hashlib.sha256(pair[0].content_sha256.encode()).digest())[:size]
        names = {record.id for record, _ in chosen}
        lines = [line for _, own in chosen for line in own]
        expected = {
            result for result in self._normative.run([*lines, *self._types(lines)]) if self._is_of(result, names)
        }
        given = {result for result in found if self._is_of(result, names)}
        if expected != given:
            result = min(expected ^ given, key=Result.order)
            raise EngineDisagreementError(
                f"The two validators disagree on {result.focus} ({result.shape}). "
                "Run with --engine pyshacl, and report this."
            )

    def _is_of(self, result: Result, names: set[str]) -> bool:
        place = self._places.of_node(result.focus)
        return place is not None and place[0] in names

    def _is_other(self, result: Result, names: set[str]) -> bool:
        """Whether a result is about a record of another batch."""
        place = self._places.of_node(result.focus)
        return place is not None and place[0] not in names


def _batches(records: Iterable[tuple[Record, list[str]]], size: int | None) -> Iterator[list[tuple[Record, list[str]]]]:
    iterator = iter(records)
    while batch := list(islice(iterator, size)):
        yield batch


def _without_graph(lines: Iterable[str]) -> Iterator[str]:
    """N-Triples lines of N-Quads lines."""
    return (f"{line[: line.rindex(' <')]} ." for line in lines)


def _unchecked(records: Iterable[Record], vocabulary: Vocabulary, shapes: Shapes) -> Iterator[Finding]:
    targets = shapes.target_classes
    for record in records:
        name = vocabulary.kinds[record.kind]
        if EVKG + name not in targets and EVKG + vocabulary.groups[name] not in targets:
            message = f"No shape checks records of kind {record.kind}, so nothing is known about this one."
            yield record.finding("violation", "no-shape", ("kind",), message, "Add a shape for this kind.")


class _Finder:
    """Turns SHACL results into findings at fields of records."""

    def __init__(self, records: Mapping[str, Record], places: Places, base: str, shapes: Shapes) -> None:
        self._records = records
        self._shapes = shapes
        self._base = base
        self._places = places

    def findings(self, result: Result) -> Iterator[Finding]:
        place = self._places.of_node(result.focus)
        record = self._records.get(place[0]) if place else None
        rule = result.shape.rpartition("#")[2] or "shape"
        severity = _SEVERITY.get(result.severity, "violation")
        fix = self._shapes.one(result.shape, EVKG + "fixHint") if result.shape else None
        if record is None or place is None:
            yield Finding(severity, rule, f"{result.message} ({result.focus})", value=result.value, fix=fix)
            return
        yield record.finding(severity, rule, self._path(result, record, place[1]), result.message, fix)

    def _path(self, result: Result, record: Record, focus: Path) -> Path:
        """The field that a result is about: the completed one, the entry, the property, or the node itself."""
        if result.value_is_iri and result.value is not None:
            inner = self._places.of_node(result.value)
            if inner and inner[0] == record.id and inner[1]:
                return inner[1]
        completed = self._shapes.one(result.shape, EVKG + "completes") if result.shape else None
        named = completed or result.path
        if named is None:
            return focus
        path = self._places.of_property(named)
        if path and path[0] == "links":
            return _link_path(record, str(path[1]), result.value, self._base)
        if (path and path[-1] in ("source_ids",)) or (path and path[0] == "facets"):
            return _element_path(record, path, result.value)
        if focus and self._places.is_part(named):
            return (*focus, path[-1])
        return path or focus


def _link_path(record: Record, relation: str, value: str | None, base: str) -> Path:
    """The link of a relation, the one to `value` if that is given."""
    links = record.data["links"]
    target = None if value is None else value.removeprefix(f"{base}id/")
    for index, link in enumerate(links if isinstance(links, list) else ()):
        if isinstance(link, dict) and link["relation"] == relation and target in (None, link["target_id"]):
            return "links", index, "target_id"
    return ("links",)


def _element_path(record: Record, path: Path, value: str | None) -> Path:
    """The element of a list whose IRI ends with it."""
    values: Any = record.data
    for step in path:
        values = values.get(step, []) if isinstance(values, dict) else []
    for index, element in enumerate(values if isinstance(values, list) else ()):
        if value is not None and value.endswith(f"/{element}"):
            return (*path, index)
    return path
