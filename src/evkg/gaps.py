"""Completeness: of every expected field, how many records have a value, a reason for a gap, or nothing at all.

The numbers come from the records, one at a time, and from what the shapes expect; no finding is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from evkg.dataset import Dataset
from evkg.document import DocumentBuilder
from evkg.errors import VocabularyError
from evkg.expected import Expected, expected_fields
from evkg.namespaces import concept_key
from evkg.reader import read_records
from evkg.record import Record
from evkg.shapes import Shapes
from evkg.vocabulary import PARTS, Vocabulary, load_vocabulary

By = Literal["kind", "source", "field"]
#: The reasons for a gap, the one that most wants work first: of two entries on one field the first counts.
REASONS: Final = ("conflicting", "unextracted", "unavailable", "unreported", "inapplicable")
#: What stands for a source where a record cites none.
NO_SOURCE: Final = ""


@dataclass(slots=True)
class Tally:
    """How many times a field was expected, by what the record says (counts of records).

    `other` are reasons that are none of `REASONS`; `nothing` are neither values nor reasons.
    """

    value: int = 0
    unreported: int = 0
    unextracted: int = 0
    unavailable: int = 0
    conflicting: int = 0
    inapplicable: int = 0
    other: int = 0
    nothing: int = 0

    def add(self, state: str, number: int = 1) -> None:
        """Count `number` more records in a state, which is the name of one of the counts."""
        setattr(self, state, getattr(self, state) + number)

    @property
    def all(self) -> int:
        """All records of which the field is expected (count)."""
        return sum(self.counts().values())

    @property
    def known_gaps(self) -> int:
        """Records that give a reason (count)."""
        return self.all - self.value - self.nothing

    @property
    def share(self) -> float | None:
        """Values among the records to which the field applies (0 to 1); None if it applies to none.

        >>> Tally(value=3, unreported=1, inapplicable=6).share, Tally(inapplicable=2).share
        (0.75, None)
        """
        applies = self.all - self.inapplicable
        return self.value / applies if applies else None

    def counts(self) -> dict[str, int]:
        """The counts by name, in a fixed order."""
        return {name: getattr(self, name) for name in STATES}


#: The names of the counts of a tally.
STATES: Final = tuple(Tally.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a completeness table.

    `kind` and `field` are empty where the line sums over them; `source` is the id of a source, and
    `label` what a reader calls the line. `required` says that the field must have a value or a reason, where
    the line is about one field of one kind.
    """

    label: str
    tally: Tally
    kind: str = ""
    field: str = ""
    source: str | None = None
    required: bool | None = None

    def as_json(self) -> dict[str, Any]:
        """The line as an object: what it is about, all counts, and the share rounded to four digits."""
        about: dict[str, Any] = {"kind": self.kind, "field": self.field, "required": self.required}
        if self.source is not None:
            about = {"source": self.source or None, "name": self.label}
        elif not self.kind:
            about = {"field": self.field}
        share = self.tally.share
        return {
            **about,
            "all": self.tally.all,
            **self.tally.counts(),
            "share": None if share is None else round(share, 4),
        }


@dataclass
class Gaps:
    """The completeness of a data set: `cells` by (kind, field), `sources` by the id of the source.

    A record that cites several sources counts under each of them; a source counts under itself.
    """

    records: int = 0
    cells: dict[tuple[str, str], Tally] = field(default_factory=dict)
    required: dict[tuple[str, str], bool] = field(default_factory=dict)
    sources: dict[str, Tally] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def rows(self, by: By) -> list[Row]:
        """The table: by kind and field in the order of names, by field over all kinds, or by source.

        Fields that are expected of no record here are left out.
        """
        if by == "source":
            found = [Row(self._name(key), tally, source=key) for key, tally in self.sources.items()]
            return sorted(found, key=lambda row: (row.label, row.source or ""))
        if by == "kind":
            return [
                Row(f"{kind} {name}", tally, kind, name, required=self.required[kind, name])
                for (kind, name), tally in sorted(self.cells.items())
                if tally.all
            ]
        over: dict[str, Tally] = {}
        for (_, name), tally in sorted(self.cells.items()):
            total = over.setdefault(name, Tally())
            for state, number in tally.counts().items():
                total.add(state, number)
        return [Row(name, tally, field=name) for name, tally in sorted(over.items()) if tally.all]

    def _name(self, source: str) -> str:
        return self.names.get(source, source) if source else "(no source is cited)"

    @cached_property
    def total(self) -> Tally:
        """All cells together."""
        total = Tally()
        for tally in self.cells.values():
            for state, number in tally.counts().items():
                total.add(state, number)
        return total


@dataclass(frozen=True, slots=True)
class _Field:
    """Where the value of an expected field stands in a document, and which entries explain that it is missing."""

    name: str
    required: bool
    on_record: bool
    keys: tuple[str, ...]
    explained_by: tuple[str, ...]


class GapCounter:
    """Counts records one at a time; memory grows with the kinds, fields and sources, not with the records."""

    def __init__(self, vocabulary: Vocabulary, shapes: Shapes, base: str) -> None:
        self._builder = DocumentBuilder(vocabulary, base)
        self._fields = {
            kind: [self._field(kind, item) for item in expected]
            for kind, expected in expected_fields(shapes, vocabulary).items()
        }
        self.gaps = Gaps()
        for kind, fields in self._fields.items():
            for item in fields:
                self.gaps.cells[kind, item.name] = Tally()
                self.gaps.required[kind, item.name] = item.required

    def _field(self, kind: str, expected: Expected) -> _Field:
        builder = self._builder
        if expected.is_conditional:
            raise VocabularyError(
                f"The rule {expected.rule} expects a field under a condition, which cannot be counted."
            )
        first, *rest = (str(step) for step in expected.path[1:])
        terms = builder.vocabulary.attributes[kind]
        on_record = first not in terms
        term = builder.by_record_key[first] if on_record else terms[first]
        keys = [term]
        for step in rest:
            keys.append(builder.vocabulary.parts[PARTS[keys[-1].value_kind][0]][step])
        texts = builder.vocabulary.text_keys
        return _Field(
            name=expected.name,
            required=expected.severity == "violation",
            on_record=on_record,
            # beside a number or a date stands its text, also where stores cannot compute with it
            keys=(*(term.key for term in keys[:-1]), texts.get(keys[-1].key, keys[-1].key)),
            explained_by=tuple(iri for name in expected.entries if (iri := builder.missing_property(kind, name))),
        )

    def add(self, record: Record) -> None:
        """Count one record."""
        states = list(self._states(record))
        self.gaps.records += 1
        if record.kind == "source":
            self.gaps.names[record.id] = str(record.data["name"])
        cited = record.data["source_ids"]
        sources = {str(source) for source in cited} if isinstance(cited, list) else set()
        sources |= {record.id} if record.kind == "source" else set()
        tallies = [self.gaps.sources.setdefault(source, Tally()) for source in sources or {NO_SOURCE}] if states else []
        for name, state in states:
            self.gaps.cells[record.kind, name].add(state)
            for tally in tallies:
                tally.add(state)

    def _states(self, record: Record) -> Iterator[tuple[str, str]]:
        fields = self._fields[record.kind]
        if not fields:
            return
        thing = self._builder.document(record)["graph"][0]
        about, attributes = thing["record"], thing.get("attributes", {})
        entries: dict[str, list[str]] = {}
        for entry in about.get("missing", ()):
            entries.setdefault(entry.get("missing_property", ""), []).append(concept_key(entry["reason"]))
        for item in fields:
            node: Any = about if item.on_record else attributes
            for key in item.keys:
                node = node.get(key) if isinstance(node, dict) else None
            yield item.name, "value" if node is not None else _reason(item.explained_by, entries)


def _reason(properties: Iterable[str], entries: Mapping[str, list[str]]) -> str:
    """The state of a field without a value: the entry on the field itself outranks one on what it is part of."""
    for iri in properties:
        if iri in entries:
            return next((reason for reason in REASONS if reason in entries[iri]), "other")
    return "nothing"


def count_gaps(path: Path, vocabulary: Vocabulary | None = None, shapes: Shapes | None = None) -> Gaps:
    """The completeness of the data set at a path; of excluded records nothing is expected.

    Raises: UsageError: nothing is there to read. VocabularyError: the ontology or a shape is broken.

    >>> gaps = count_gaps(Path("graph"))
    >>> gaps.records, gaps.cells["result", "uncertainty"]
    (49, Tally(value=0, unreported=14, unextracted=0, unavailable=0, conflicting=0, inapplicable=0, other=0, nothing=0))
    """
    vocabulary = vocabulary or load_vocabulary()
    dataset = Dataset(path, vocabulary)
    counter = GapCounter(vocabulary, shapes or Shapes(), dataset.description.base_iri)
    seen: set[str] = set(dataset.withheld)
    for record in read_records(path, vocabulary):
        if isinstance(record, Record) and record.id not in seen:
            seen.add(record.id)  # of two records with one id the first counts
            counter.add(record)
    return counter.gaps
