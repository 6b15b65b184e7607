"""A portion of a data set on its way: read → keys, references → quads → shapes, and what each record came to.

A portion needs nothing but what `Task` holds, so portions go through in any order, in any process and on
any machine; what needs several records comes after.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from evkg.axioms import Closure, load_axioms
from evkg.convert import Converter
from evkg.dataset import Portion, repeated
from evkg.errors import InconsistencyError
from evkg.fact import Fact, facts
from evkg.finding import Finding
from evkg.namespaces import graph_iri
from evkg.neighbours import Examiner, Neighbours
from evkg.premises import load_premises
from evkg.record import Record
from evkg.report import Block, record_block
from evkg.shapes import Result, Shapes
from evkg.shared import shared_nodes
from evkg.validate import Converted, Found, Probe, Validation, linked_ids
from evkg.vocabulary import load_vocabulary

#: How many records are validated at one go (count).
BATCH: Final = 1_000
#: The end of the name of a file with what rules can use of the records of a batch.
PREMISES: Final = ".premises.nq"


@dataclass(frozen=True)
class Task:
    """What every portion of a data set needs.

    `folder` is where the quads are written, if they are wanted; `keep` keeps the records and all about them
    in the outcomes, which only small data sets allow.
    """

    base: str
    neighbours: Neighbours
    shapes: Shapes
    is_normative: bool = False
    folder: Path | None = None
    with_report: bool = False
    keep: bool = False


class Place(NamedTuple):
    """Where something stands in a file (bytes)."""

    start: int = 0
    length: int = 0


_NOWHERE: Final = Place()


@dataclass(slots=True)
class Outcome:
    """What one record came to.

    `findings` are all on it alone; `facts` what other records can contradict; `asked` the ids of the records
    that its own check asked about; `shared` the nodes that it names and no record owns; `repeat` is the
    finding on it if another record of its id comes first. With a folder, the places are those of its line, its
    quads and its part of the report in the files of the batch.
    """

    record_id: str
    kind: str
    place: str
    repeat: Finding | None = None
    content_sha256: str = ""
    findings: list[Finding] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    asked: frozenset[str] = frozenset()
    shared: frozenset[tuple[str, str]] = frozenset()
    line: Place = _NOWHERE
    quads: Place = _NOWHERE
    quads_sha256: str = ""
    quad_count: int = 0
    report: Place = _NOWHERE
    links: Place = _NOWHERE
    derived: Place = _NOWHERE
    premises: Place = _NOWHERE
    turtle: Place = _NOWHERE
    severities: Counter[str] = field(default_factory=Counter)
    block: Block | None = None
    record: Record | None = None
    triples: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


@dataclass(slots=True)
class Batch:
    """Outcomes in the order of the files, and what was found on the files themselves: (file, findings).

    `stem` names the files that were written: `.nq` the quads of all, `.jsonl` their records, `.ttl` their parts
    of the report.
    """

    number: tuple[int, int]
    outcomes: list[Outcome]
    read: list[tuple[Path, Finding | None]]
    sample: list[Probe]
    stem: Path | None = None
    has_repeats: bool = False


class Worker:
    """Takes portions of one data set through all that a record needs alone; one a process."""

    def __init__(self, task: Task) -> None:
        self._task = task
        vocabulary = load_vocabulary()
        self._vocabulary = vocabulary
        neighbours = task.neighbours
        self._examiner = Examiner(vocabulary, neighbours)
        self._converter = Converter(vocabulary, task.base)
        classes = {
            key: vocabulary.kinds[kind] for key, kind in neighbours.kinds.items() if key not in neighbours.withheld
        }
        self._validation = Validation(vocabulary, task.base, task.shapes, classes, is_normative=task.is_normative)

    @cached_property
    def _closure(self) -> Closure:
        return Closure(load_axioms())

    def warm(self) -> None:
        """Read now what every batch needs, so that processes which are forked from here need not."""
        self._validation.warm()
        if self._task.folder is not None:
            _ = self._closure, load_premises()

    def confirm(self, sample: Sequence[Probe]) -> None:
        """See `Validation.confirm`."""
        self._validation.confirm(sample)

    def process(self, portion: Portion) -> Iterator[Batch]:
        """The batches of a portion, in the order of its records.

        Raises: VocabularyError: a shape is broken.
        """
        items = portion.read(self._vocabulary)
        for number, part in enumerate(iter(lambda: [*islice(items, BATCH)], [])):
            yield self._batch((portion.number, number), part)

    def _batch(self, number: tuple[int, int], items: list[tuple[Path, Record | Finding]]) -> Batch:
        outcomes: list[Outcome] = []
        read: list[tuple[Path, Finding | None]] = []
        converted: dict[str, tuple[Outcome, Record, list[str]]] = {}
        for file, item in items:
            if isinstance(item, Finding):
                read.extend((file, told) for told in self._examiner.told(item))
                continue
            read.append((file, None))
            outcome = self._outcome(item)
            outcomes.append(outcome)
            if item.id in converted:  # the reader of batches says so
                continue
            published, outcome.findings = self._examiner.examine(item)
            outcome.asked = self._examiner.asked
            outcome.content_sha256 = published.content_sha256
            outcome.facts = facts(published, self._vocabulary)
            converted[item.id] = (outcome, published, self._converter.record_to_triples(published))
        found = self._check([(record, triples) for _, record, triples in converted.values()])
        own: dict[str | None, list[tuple[Result, Finding]]] = {}
        for pair in found.pairs:
            own.setdefault(pair[1].record, []).append(pair)
        for finding in found.apart:
            outcome = converted[str(finding.record)][0]
            outcome.findings.append(finding)
        blocks: dict[str, Block] = {}
        for key, (outcome, record, triples) in converted.items():
            pairs = own.pop(key, [])
            if self._task.folder is not None or self._task.with_report:
                blocks[key] = record_block(self._task.base, key, pairs, outcome.findings)
                outcome.severities = blocks[key].severities()
            if self._task.with_report:
                outcome.block = blocks[key]
            outcome.findings.extend(finding for _, finding in pairs)
            outcome.shared = shared_nodes(triples, self._task.base)
            outcome.asked |= found.linked[key] if key in found.linked else linked_ids(triples, self._task.base)
            if self._task.keep:
                outcome.record, outcome.triples, outcome.results = record, triples, [result for result, _ in pairs]
        read.extend((Path(), finding) for pairs in own.values() for _, finding in pairs)
        batch = Batch(number, outcomes, read, found.sample)
        if self._task.folder is not None:
            batch.stem = self._task.folder / f"batch-{number[0]:06}-{number[1]:04}"
            self._write(batch.stem, [*converted.values()], blocks)
        return batch

    def _check(self, converted: Sequence[Converted]) -> Found:
        """What the shapes find. A record that repeats an id under another kind is checked by itself.

        Its class would be taken for that of the record which others link to.
        """
        neighbours = self._task.neighbours
        together: list[Converted] = []
        apart: list[list[Converted]] = []
        for pair in converted:
            if pair[0].id not in neighbours.withheld:
                is_same = neighbours.kinds.get(pair[0].id, pair[0].kind) == pair[0].kind
                together.append(pair) if is_same else apart.append([pair])
        found = self._validation.check(together)
        for some in apart:
            found = found.joined(self._validation.check(some))
        return found

    def _outcome(self, record: Record) -> Outcome:
        is_repeated = record.id in self._task.neighbours.repeated
        return Outcome(record.id, record.kind, record.origin.place_text, repeated(record) if is_repeated else None)

    def _write(
        self, stem: Path, converted: Sequence[tuple[Outcome, Record, list[str]]], blocks: Mapping[str, Block]
    ) -> None:
        """Write the files of a batch: record graphs, what follows from each record, its part of the report."""
        base = self._task.base
        derived = f" <{graph_iri(base, 'derived')}> ."
        following = {record.id: self._closure.of(triples) for _, record, triples in converted}
        with stem.with_suffix(".nq").open("wb") as stream:
            for outcome, record, triples in converted:
                _refuse_foreign(triples, base, record.id)
                outcome.quads, outcome.quads_sha256 = _append(stream, triples, f" <{base}record/{record.id}> .")
                outcome.quad_count = len(triples)
            for outcome, record, _ in converted:
                outcome.derived, _ = _append(stream, following[record.id], derived)
            for outcome, record, _ in converted:
                outcome.report, _ = _append(stream, blocks[record.id].lines())
            for outcome, record, _ in converted:
                outcome.links, _ = _append(stream, blocks[record.id].links())
        with stem.with_suffix(".jsonl").open("wb") as stream:
            for outcome, record, _ in converted:
                outcome.line, _ = _append(stream, [record.line])
        with stem.with_suffix(".ttl").open("wb") as stream:
            for outcome, record, _ in converted:
                outcome.turtle, _ = _append(stream, blocks[record.id].turtle().splitlines())
        premises, ids = load_premises(), self._task.neighbours.kinds
        with stem.with_suffix(PREMISES).open("wb") as stream:
            for outcome, record, triples in converted:
                graph = f" <{base}record/{record.id}> ."
                used = [f"{triple}{graph}" for triple in premises.of(triples, base, ids)]
                used += [f"{triple}{derived}" for triple in premises.following(following[record.id])]
                outcome.premises, _ = _append(stream, used)


def _refuse_foreign(triples: Iterable[str], base: str, record_id: str) -> None:
    """Refuse triples about anything but the thing, its record and their parts: no triple may stand in two graphs."""
    own = tuple(f"<{base}{group}/{record_id}{end}" for group in ("id", "record") for end in (">", "#"))
    for triple in triples:
        if not triple.startswith(own):
            raise InconsistencyError(f"The record {record_id} would say something about another thing: {triple}")


def _append(stream: BinaryIO, lines: Sequence[str], end: str = "") -> tuple[Place, str]:
    """Write lines; where they stand, and their SHA-256."""
    content = f"{end}\n".join([*lines, ""]).encode()
    start = stream.tell()
    stream.write(content)
    return Place(start, len(content)), hashlib.sha256(content).hexdigest()
