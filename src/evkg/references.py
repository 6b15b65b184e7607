"""References between records: every id that one record uses to point to another."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping

from evkg.finding import Finding
from evkg.jsontext import Json
from evkg.record import Record
from evkg.scalar import Path
from evkg.vocabulary import PARTS, Term, Vocabulary

#: For how many unknown ids the nearest known ids are looked up (count); it is slow in large data sets.
_LOOKUPS = 50


def references_of(record: Record, vocabulary: Vocabulary) -> Iterator[tuple[Path, str]]:
    """(path, id) of every reference of a record: sources, links, and attributes that hold record ids."""
    source_ids, links = record.data["source_ids"], record.data["links"]
    for index, target in enumerate(source_ids if isinstance(source_ids, list) else ()):
        yield ("source_ids", index), str(target)
    for index, link in enumerate(links if isinstance(links, list) else ()):
        if isinstance(link, dict):
            yield ("links", index, "target_id"), str(link["target_id"])
    on_record = {term.record_key: term for term in vocabulary.terms.values() if term.section == "record"}
    declared = {**on_record, **vocabulary.attributes[record.kind]}
    yield from _within(record.attributes, ("attributes",), declared, vocabulary)


def _within(
    value: Mapping[str, Json], path: Path, terms: Mapping[str, Term], vocabulary: Vocabulary
) -> Iterator[tuple[Path, str]]:
    for key, inner in value.items():
        term = terms.get(key)
        if term is None:
            continue
        here = (*path, key)
        if term.value_kind == "record-id" and isinstance(inner, str):
            yield here, inner
        elif term.value_kind == "record-ids" and isinstance(inner, list):
            yield from (((*here, index), item) for index, item in enumerate(inner) if isinstance(item, str))
        elif term.value_kind in PARTS:
            parts = vocabulary.parts.get(PARTS[term.value_kind][0], {})
            for index, part in enumerate(inner if isinstance(inner, list) else [inner]):
                if isinstance(part, dict):
                    place = (*here, index) if isinstance(inner, list) else here
                    yield from _within(part, place, parts, vocabulary)


class ReferenceChecker:
    """Finds references to ids that are not among `ids`.

    With `is_open` the data set may point outside itself, and these are for information only.
    """

    def __init__(self, ids: Collection[str], vocabulary: Vocabulary, *, is_open: bool = False) -> None:
        self._ids = ids
        self._vocabulary = vocabulary
        self._is_open = is_open
        self._lookups = 0

    def check(self, record: Record) -> Iterator[Finding]:
        """A finding for each reference of a record that leads nowhere, with the nearest ids."""
        for path, target in references_of(record, self._vocabulary):
            if target in self._ids:
                continue
            severity = "info" if self._is_open else "violation"
            message = f"No record has the id {target!r}."
            yield record.finding(severity, "unknown-id", path, message, self._fix(target))

    def _fix(self, target: str) -> str:
        if not self._is_open and self._lookups < _LOOKUPS:
            self._lookups += 1
            close = difflib.get_close_matches(target, sorted(self._ids), n=3, cutoff=0.7)
            if close:
                return f"Nearest ids: {', '.join(close)}."
        return "Add the record, or correct the id."
