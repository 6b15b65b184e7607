"""References between records: every id that one record uses to point to another."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping

from evkg.finding import Finding
from evkg.jsontext import Json
from evkg.record import ENVELOPE, LINKED_ID, Record
from evkg.scalar import Path
from evkg.vocabulary import PARTS, Term, Vocabulary

#: For how many unknown ids the nearest known ids are looked up (count); it is slow in large data sets.
_LOOKUPS = 50
#: Words that claims use where they are about no single field.
_FREE_FIELDS = frozenset({"reported_finding", "tables_not_extracted"})


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
    """Finds references to ids that are not among `ids`, and to records that were withdrawn.

    With `is_open` the data set may point outside itself, and these are for information only. Where `ids` is a
    mapping to kinds, the fields that claims name are looked up in the kinds of their subjects.
    `statuses` are those of the records, by id; without them no reference is found to lead to a withdrawn record.
    """

    def __init__(
        self,
        ids: Collection[str],
        vocabulary: Vocabulary,
        *,
        is_open: bool = False,
        statuses: Mapping[str, str] | None = None,
    ) -> None:
        self._ids = ids
        self._kinds: Mapping[str, str] = ids if isinstance(ids, Mapping) else {}
        self._vocabulary = vocabulary
        self._is_open = is_open
        self._withdrawn = {
            record_id: status
            for record_id, status in (statuses or {}).items()
            if status.strip().casefold() in ("excluded", "superseded")
        }
        self._lookups = 0

    def check(self, record: Record) -> Iterator[Finding]:
        """A finding for each reference of a record that leads nowhere, with the nearest ids, or should not be made."""
        for path, target in references_of(record, self._vocabulary):
            if target not in self._ids:
                yield self._unknown(record, path, target)
            elif target in self._withdrawn and record.id not in self._withdrawn and not _may_cite(record, path):
                message = f"This record cites {target!r}, whose status is {self._withdrawn[target]}."
                fix = "Cite the record that replaces it, or remove the reference."
                yield record.finding("warning", "cites-withdrawn", path, message, fix)
        if record.kind == "claim":
            yield from self._claim(record)
        elif record.kind == "source":
            yield from self._concerns(record)

    def _unknown(self, record: Record, path: Path, target: str) -> Finding:
        severity = "info" if self._is_open else "violation"
        return record.finding(severity, "unknown-id", path, f"No record has the id {target!r}.", self._fix(target))

    def _claim(self, record: Record) -> Iterator[Finding]:
        """The field of a claim: a link to a record that exists, or a field that its subjects can have."""
        field, path = record.attributes.get("field"), ("attributes", "field")
        if not isinstance(field, str) or not field.strip():
            return
        if field.startswith("links:"):
            target = field.split(":", 2)[-1]
            if field.count(":") == 2 and LINKED_ID.match(target) and target not in self._ids:
                yield self._unknown(record, path, target)
            return
        kinds = {self._kinds.get(target) for relation, target in _links(record) if relation == "subject"} - {None}
        if field in _FREE_FIELDS or not kinds or any(self._has(str(kind), field) for kind in kinds):
            return
        message = f"The claim is about {field!r}, which is not a field of its subjects."
        first = field.partition(".")[0]
        known = [*ENVELOPE, *(key for kind in sorted(map(str, kinds)) for key in self._vocabulary.attributes[kind])]
        close = difflib.get_close_matches(first, known, n=1, cutoff=0.7)
        fix = f"Did you mean {close[0]}?" if close else "Nothing has to be changed if the subjects have no such field."
        yield record.finding("info", "unknown-claim-field", path, message, fix)

    def _has(self, kind: str, field: str) -> bool:
        first, _, rest = field.removeprefix("attributes.").partition(".")
        term = self._vocabulary.attributes[kind].get(first)
        if term is None:
            return first in (*ENVELOPE, "missing_metadata", "review", "extraction", "evidence_concerns")
        parts = self._vocabulary.parts.get(PARTS[term.value_kind][0], {}) if term.value_kind in PARTS else {}
        return not rest or not parts or rest.partition(".")[0] in parts or rest.partition(".")[0].isdecimal()

    def _concerns(self, record: Record) -> Iterator[Finding]:
        """Concerns that are about nothing known, or that stand on a source other than the one they name."""
        concerns = record.attributes.get("evidence_concerns")
        metrics = self._vocabulary.schemes["metric"].concepts
        for index, concern in enumerate(concerns if isinstance(concerns, list) else ()):
            if not isinstance(concern, dict):
                continue
            here: Path = ("attributes", "evidence_concerns", index)
            source_id, targets = concern.get("source_id"), concern.get("targets")
            if isinstance(source_id, str) and source_id != record.id:
                message = f"This concern names {source_id!r}, but stands on {record.id!r} and counts for that."
                fix = "Move the concern to the record of the source that it names, or correct source_id."
                yield record.finding("warning", "concern-of-other-source", (*here, "source_id"), message, fix)
            for place, target in enumerate(targets if isinstance(targets, list) else ()):
                if isinstance(target, str) and target.strip() and target not in self._ids and target not in metrics:
                    message = (
                        f"{target!r} is neither the id of a record nor the key of a metric, so nothing is affected."
                    )
                    fix = self._fix(target, metrics)
                    yield record.finding("warning", "unknown-target", (*here, "targets", place), message, fix)

    def _fix(self, target: str, words: Collection[str] = ()) -> str:
        if (words or not self._is_open) and self._lookups < _LOOKUPS:
            self._lookups += 1
            close = difflib.get_close_matches(target, sorted({*self._ids, *words}), n=3, cutoff=0.7)
            if close:
                return f"Nearest {'ids and keys' if words else 'ids'}: {', '.join(close)}."
        return "Add the record, or correct the id." if not words else "Write the id of a record or the key of a metric."


def _links(record: Record) -> Iterator[tuple[str, str]]:
    links = record.data["links"]
    for link in links if isinstance(links, list) else ():
        if isinstance(link, dict):
            yield str(link["relation"]), str(link["target_id"])


def _may_cite(record: Record, path: Path) -> bool:
    """Whether a reference may lead to a withdrawn record: one inside the attributes, or to what this one replaces."""
    links = record.data["links"]
    if path[0] != "links" or not isinstance(links, list):
        return path[0] != "source_ids"
    link = links[int(path[1])]
    return isinstance(link, dict) and link["relation"] == "supersedes"
