"""SHACL: whether every record says what it must, or why it does not; each result at its field.

pySHACL is the normative validator and checks small data sets alone. On large ones the fast validator
checks every record, and pySHACL a sample of them in every run: a disagreement stops the run.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import nsmallest
from typing import Any, Final, Literal
from urllib.parse import unquote

from evkg.errors import EngineDisagreementError, excerpt
from evkg.fast import FastValidator
from evkg.finding import Finding, Severity
from evkg.namespaces import EVKG, RDF, SH, VOCAB
from evkg.normative import NormativeValidator
from evkg.place import Places
from evkg.record import Record
from evkg.scalar import Path
from evkg.shapes import Result, Shapes
from evkg.vocabulary import Scheme, Vocabulary

#: Which validator runs: by the size of the data set, only pySHACL, or the fast one with its sample.
Engine = Literal["auto", "pyshacl", "fast"]
#: Up to this many records pySHACL checks them all (count).
SMALL: Final = 150
#: How many records of a larger set pySHACL checks as well (count).
SAMPLE: Final = 12
#: How much of an unknown key a message shows (characters).
_SHOWN: Final = 80
_SEVERITY: Final[Mapping[str, Severity]] = {
    SH + "Violation": "violation",
    SH + "Warning": "warning",
    SH + "Info": "info",
}


#: A record with its triples: `s p o` texts, sorted.
Converted = tuple[Record, list[str]]


@dataclass(frozen=True, slots=True)
class Probe:
    """A record of the sample: what decides whether it is chosen, its triples and the results of the fast validator."""

    rank: bytes
    record_id: str
    triples: tuple[str, ...]
    results: frozenset[Result]


@dataclass(frozen=True, slots=True)
class Found:
    """What was found on a batch: each result of a shape with its finding, and the findings that no shape gives.

    `linked` are the ids that each record of the batch links to.
    """

    pairs: list[tuple[Result, Finding]]
    apart: list[Finding]
    sample: list[Probe]
    linked: Mapping[str, frozenset[str]]

    def joined(self, other: Found) -> Found:
        """What was found on two batches, which have no record in common."""
        sample = nsmallest(SAMPLE, [*self.sample, *other.sample], key=lambda probe: probe.rank)
        linked = {**self.linked, **other.linked}
        return Found([*self.pairs, *other.pairs], [*self.apart, *other.apart], sample, linked)


class Validation:
    """Runs the shapes over the records of one data set, batch by batch.

    `classes` are the local names of the classes of every thing that a link may reach, by record id. With
    `is_normative` pySHACL checks every record; then all of them make one batch.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        base: str,
        shapes: Shapes,
        classes: Mapping[str, str],
        *,
        is_normative: bool = False,
    ) -> None:
        self._vocabulary = vocabulary
        self._base = base
        self._shapes = shapes
        self._classes = classes
        self._places = Places(vocabulary, base)
        self._normative = NormativeValidator(shapes)
        self._fast = FastValidator(shapes, (EVKG + name for name in vocabulary.kinds.values()))
        self._is_normative = is_normative

    def warm(self) -> None:
        """Read the shapes now, so that processes which are forked from here need not."""
        if not self._is_normative:
            self._fast.compile()

    def check(self, batch: Sequence[Converted]) -> Found:
        """Findings on the records of a batch, each at its field, and the results behind them.

        A thing that is only linked to has its type here and no more; its own batch reports on it. A
        record whose kind no shape targets is itself a finding.

        Raises: VocabularyError: a shape is broken.
        """
        names = {record.id: record for record, _ in batch}
        linked = {record.id: linked_ids(triples, self._base) for record, triples in batch}
        own, types = [f"{triple} ." for _, triples in batch for triple in triples], self._types(linked.values(), names)

        def wanted(focus: str) -> bool:
            return self._is_own(focus, names)

        if self._is_normative:
            results = self._normative.run([*own, *types], wanted)
        else:
            results = self._fast.run(own, wanted, types)
        finder = _Finder(names, self._places, self._base, self._shapes, self._vocabulary.schemes)
        pairs = [(result, finder.finding(result)) for result in results]
        sample = [] if self._is_normative else self._choose(batch, results)
        return Found(pairs, [*_unchecked(names.values(), self._vocabulary, self._shapes)], sample, linked)

    def confirm(self, sample: Iterable[Probe]) -> None:
        """Check the records of a sample with pySHACL as well: the `SAMPLE` that rank lowest.

        Raises: EngineDisagreementError: the results on a record differ; names it.
        """
        together: list[Probe] = []
        apart: list[list[Probe]] = []
        for probe in nsmallest(SAMPLE, sample, key=lambda probe: probe.rank):
            together.append(probe) if self._is_as_known(probe) else apart.append([probe])
        for probes in (together, *apart):
            self._confirm(probes)

    def _is_as_known(self, probe: Probe) -> bool:
        """Whether a record is of the kind that the others take it for: another one of its id may be of another kind."""
        name = self._classes.get(probe.record_id)
        return name is None or f"<{self._base}id/{probe.record_id}> <{RDF}type> <{EVKG}{name}>" in probe.triples

    def _confirm(self, probes: Sequence[Probe]) -> None:
        if not probes:
            return
        names = {probe.record_id for probe in probes}
        own = [f"{triple} ." for probe in probes for triple in probe.triples]
        types = self._types((linked_ids(probe.triples, self._base) for probe in probes), names)
        expected = set(self._normative.run([*own, *types], lambda focus: self._is_own(focus, names)))
        given = {result for probe in probes for result in probe.results}
        if expected != given:
            result = min(expected ^ given, key=Result.order)
            raise EngineDisagreementError(
                f"The two validators disagree on {result.focus} ({result.shape}). "
                "Run with --engine pyshacl, and report this."
            )

    def _choose(self, batch: Sequence[Converted], results: Sequence[Result]) -> list[Probe]:
        """The records of the sample so far: those whose content hashes lowest."""
        ranked = ((rank(pair[0].content_sha256), pair) for pair in batch)
        chosen = nsmallest(SAMPLE, ranked, key=lambda entry: entry[0])
        own: dict[str, set[Result]] = {pair[0].id: set() for _, pair in chosen}
        for result in results:
            place = self._places.of_node(result.focus)
            if place is not None and place[0] in own:
                own[place[0]].add(result)
        return [Probe(rank, record.id, tuple(triples), frozenset(own[record.id])) for rank, (record, triples) in chosen]

    def _types(self, linked: Iterable[frozenset[str]], names: Container[str]) -> list[str]:
        """The N-Triples lines that give what is linked to its type, for class constraints.

        The records that are checked, `names`, say their own, which may be another one: see `_is_as_known`.
        """
        classes = self._classes
        return [
            f"<{self._base}id/{name}> <{RDF}type> <{EVKG}{classes[name]}> ."
            for name in sorted(frozenset().union(*linked))
            if name in classes and name not in names
        ]

    def _is_own(self, focus: str, names: Container[str]) -> bool:
        """Whether a focus node belongs to one of these records, or to none at all."""
        place = self._places.of_node(focus)
        return place is None or place[0] in names


def rank(content_sha256: str) -> bytes:
    """What decides whether a record is of the sample: it follows from its content alone."""
    return hashlib.sha256(content_sha256.encode()).digest()


def linked_ids(triples: Iterable[str], base: str) -> frozenset[str]:
    """The ids of the records whose things are objects of triples, `s p o` texts.

    >>> linked_ids(["<urn:s> <urn:p> <https://w3id.org/evkg/id/gena-lm>"], "https://w3id.org/evkg/")
    frozenset({'gena-lm'})
    """
    return frozenset(_thing_pattern(base).findall("\n".join(triples)))


@cache
def _thing_pattern(base: str) -> re.Pattern[str]:
    """What finds the id of each thing at the end of a line, where no text can end so."""
    return re.compile(f' <{re.escape(base)}id/([^<>" \\n]*)>$', re.MULTILINE)


def _unchecked(records: Iterable[Record], vocabulary: Vocabulary, shapes: Shapes) -> Iterator[Finding]:
    targets = shapes.target_classes
    for record in records:
        name = vocabulary.kinds[record.kind]
        if EVKG + name not in targets and EVKG + vocabulary.groups[name] not in targets:
            message = f"No shape checks records of kind {record.kind}, so nothing is known about this one."
            yield record.finding("violation", "no-shape", ("kind",), message, "Add a shape for this kind.")


class _Finder:
    """Turns SHACL results into findings at fields of records."""

    def __init__(
        self, records: Mapping[str, Record], places: Places, base: str, shapes: Shapes, schemes: Mapping[str, Scheme]
    ) -> None:
        self._schemes = schemes
        self._records = records
        self._shapes = shapes
        self._base = base
        self._places = places

    def finding(self, result: Result) -> Finding:
        """The finding of a result, at its field."""
        place = self._places.of_node(result.focus)
        record = self._records.get(place[0]) if place else None
        rule = result.shape.rpartition("#")[2] or "shape"
        severity = _SEVERITY.get(result.severity, "violation")
        fix = self._shapes.one(result.shape, EVKG + "fixHint") if result.shape else None
        message, fix = self._with_key(result, fix)
        if record is None or place is None:
            return Finding(severity, rule, f"{message} ({excerpt(result.focus)})", value=result.value, fix=fix)
        return record.finding(severity, rule, self._path(result, record, place[1]), message, fix)

    def _with_key(self, result: Result, fix: str | None) -> tuple[str, str | None]:
        """The message and fix of a result; about an unknown key of a scheme they name it and the nearest known one."""
        value = (result.value or "") if result.value_is_iri else ""
        name, _, quoted = value.removeprefix(VOCAB).partition("/")
        scheme = self._schemes.get(name) if value.startswith(VOCAB) else None
        key = unquote(quoted)
        if scheme is None or not key or key in scheme.concepts:
            return result.message, fix
        shown = repr(key if len(key) <= _SHOWN else key[:_SHOWN] + "…")
        begin = "The key under "
        if result.message.startswith(begin):
            message = f"The key {shown} under {result.message.removeprefix(begin)}"
        else:
            message = f"{result.message} The key is {shown}."
        nearest = scheme.nearest(key) if len(key) <= _SHOWN else None
        return message, f"Did you mean {nearest}? {fix or ''}".rstrip() if nearest else fix

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
