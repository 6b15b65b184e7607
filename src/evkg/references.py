"""References between records: every id that one record uses to point to another."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import nsmallest
from types import MappingProxyType
from typing import Final

from evkg.errors import excerpt
from evkg.finding import Finding
from evkg.jsontext import Json
from evkg.namespaces import EVKG
from evkg.record import ENVELOPE, LINKED_ID, Record
from evkg.scalar import Path
from evkg.vocabulary import PARTS, Term, Vocabulary

#: For how many unknown ids the nearest known ids are looked up (count): a broken data set must not take for ever.
LOOKUPS: Final = 50
#: How many known ids are compared letter by letter with an unknown one (count): those that share most of its parts.
_COMPARED: Final = 200
_ADD: Final = "Add the record, or correct the id."
_TARGET: Final = "Write the id of a record or the key of a metric."
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
    yield from _within(record.attributes, ("attributes",), _declared(vocabulary, record.kind), vocabulary)


@lru_cache(maxsize=64)
def _declared(vocabulary: Vocabulary, kind: str) -> Mapping[str, Term]:
    on_record = {term.record_key: term for term in vocabulary.terms.values() if term.section == "record"}
    return {**on_record, **vocabulary.attributes[kind]}


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

    def check(self, record: Record) -> Iterator[Finding]:
        """A finding for each reference of a record that leads nowhere (see `name_nearest`), or should not be made."""
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
        return record.finding(severity, "unknown-id", path, f"No record has the id {excerpt(target)!r}.", _ADD)

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
        message = f"The claim is about {excerpt(field)!r}, which is not a field of its subjects."
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
                message = f"This concern names {excerpt(source_id)!r}, but stands on {record.id!r} and counts for that."
                fix = "Move the concern to the record of the source that it names, or correct source_id."
                yield record.finding("warning", "concern-of-other-source", (*here, "source_id"), message, fix)
            for place, target in enumerate(targets if isinstance(targets, list) else ()):
                if isinstance(target, str) and target.strip() and target not in self._ids and target not in metrics:
                    message = (
                        f"{excerpt(target)!r} is neither the id of a record "
                        "nor the key of a metric, so nothing is affected."
                    )
                    yield record.finding("warning", "unknown-target", (*here, "targets", place), message, _TARGET)


def name_nearest(
    findings: Sequence[Finding],
    kinds: Mapping[str, str],
    vocabulary: Vocabulary,
    *,
    is_open: bool = False,
    wanted: Mapping[str, str] = MappingProxyType({}),
) -> list[Finding]:
    """The findings, the first `LOOKUPS` on unknown ids, unknown targets and wrong kinds with the nearest known ids.

    `kinds` are those of all records, by id; `wanted` maps a rule on what a link leads to to the IRI of its class.

    >>> from evkg.vocabulary import load_vocabulary
    >>> finding = Finding("violation", "unknown-id", "No record has the id 'gena-ln'.", value="gena-ln", fix=_ADD)
    >>> name_nearest([finding], {"gena-lm": "model", "other": "model"}, load_vocabulary())[0].fix
    'Nearest ids: gena-lm.'
    """
    found = [*findings]
    if not {finding.rule for finding in found} & {"unknown-id", "unknown-target", *wanted}:
        return found
    metrics = vocabulary.schemes["metric"].concepts
    left = LOOKUPS
    nearest: dict[str, Nearest] = {}
    for index, finding in enumerate(found):
        is_target = finding.rule == "unknown-target" and finding.fix == _TARGET
        is_unknown = finding.rule == "unknown-id" and finding.fix == _ADD and not is_open
        if not left or not (is_target or is_unknown or finding.rule in wanted):
            continue
        left -= 1
        noun = "ids and keys" if is_target else "ids"
        group = wanted.get(finding.rule, noun)
        if group not in nearest:
            words = {*kinds, *metrics} if is_target else _of_class(wanted.get(finding.rule), kinds, vocabulary)
            nearest[group] = Nearest(words)
        word = (finding.value or "").split(":", 2)[-1] if finding.field == "attributes.field" else finding.value or ""
        if close := nearest[group].to(word):
            before = f"{finding.fix} " if finding.rule in wanted and finding.fix else ""
            found[index] = finding._replace(fix=f"{before}Nearest {noun}: {', '.join(close)}.")
    return found


def _of_class(iri: str | None, kinds: Mapping[str, str], vocabulary: Vocabulary) -> Iterable[str]:
    """The ids of the records whose kind or group of kinds is a class; all without one."""
    if iri is None:
        return kinds
    name = iri.removeprefix(EVKG)
    fits = {kind for kind, own in vocabulary.kinds.items() if name in (own, vocabulary.groups[own])}
    return (record_id for record_id, kind in kinds.items() if kind in fits)


class Nearest:
    """Finds the known words that come closest to one: only those that share its parts are compared letter by letter.

    >>> Nearest(["gena-lm", "dart-eval"]).to("gena-ln")
    ['gena-lm']
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = sorted(words)
        self._by_part: dict[str, list[int]] = {}
        for index, word in enumerate(self._words):
            for part in {word[i : i + 3] for i in range(len(word) - 2)}:
                self._by_part.setdefault(part, []).append(index)

    def to(self, word: str) -> list[str]:
        """At most three words, the closest first."""
        shared: Counter[int] = Counter()
        for part in {word[i : i + 3] for i in range(len(word) - 2)}:
            shared.update(self._by_part.get(part, ()))
        # By how many parts are shared, then by how close the length is; short words share none.
        ranked = nsmallest(
            _COMPARED, shared.items(), key=lambda item: (-item[1], abs(len(self._words[item[0]]) - len(word)), item[0])
        )
        candidates = [self._words[index] for index, _ in ranked] if len(word) > 3 else self._words
        return difflib.get_close_matches(word, sorted(candidates), n=3, cutoff=0.7)


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
