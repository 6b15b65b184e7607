"""All records of a data set, one after the other: each once, with every finding on files, keys and references.

A first look takes ids and kinds only, so that a reference can be judged when its record is read and no
record has to be kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import Final

from evkg.description import read_description
from evkg.filetext import read_lines
from evkg.finding import Finding
from evkg.jsontext import Json, JsonError, decode_json
from evkg.keys import check_keys
from evkg.reader import is_lines, read_file, read_records, record_files
from evkg.record import LINKED_ID, Record
from evkg.references import ReferenceChecker
from evkg.scalar import Path
from evkg.vocabulary import Vocabulary
from evkg.withheld import is_excluded, is_public, is_withheld, tombstone

_TEXT: Final = r'"([^"\\]*+)"'
_ANY_TEXT: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
#: The beginning of a line: id, kind, name, description and status, as the contract orders them.
_HEAD: Final = re.compile(
    rf'\s*\{{\s*"id"\s*:\s*{_TEXT}\s*,\s*"kind"\s*:\s*{_TEXT}\s*,\s*"name"\s*:\s*{_ANY_TEXT}\s*,'
    rf'\s*"description"\s*:\s*{_ANY_TEXT}\s*,\s*"status"\s*:\s*{_TEXT}'
)


@dataclass(frozen=True, slots=True)
class _Look:
    """What the first look takes of a record; of a claim also the records that it speaks about."""

    kind: str
    status: str
    subjects: frozenset[str] = frozenset()


class Dataset:
    """The data set of a folder or file. `findings` grows while the records are read.

    Raises: UsageError: nothing is there to read.

    >>> from evkg.vocabulary import load_vocabulary
    >>> dataset = Dataset(FilePath("graph"), load_vocabulary())
    >>> len(list(dataset.read())), dataset.count, len(dataset.findings)
    (49, 49, 4)
    """

    def __init__(self, path: FilePath, vocabulary: Vocabulary, *, is_open: bool = False) -> None:
        self.path = path
        self.vocabulary = vocabulary
        self.files = record_files(path)
        self.description, self.findings = read_description(path)
        self.count = 0
        self._is_open = is_open

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """id -> kind of every record, from a first look at the files."""
        return {record_id: look.kind for record_id, look in self._looks.items()}

    @cached_property
    def statuses(self) -> Mapping[str, str]:
        """id -> status of every record as written, from the same look."""
        return {record_id: look.status for record_id, look in self._looks.items()}

    @cached_property
    def withheld(self) -> frozenset[str]:
        """The ids of the excluded records, and of the claims that speak about nothing else."""
        found = {record_id for record_id, look in self._looks.items() if is_excluded(look.status)}
        claims = {record_id: look.subjects for record_id, look in self._looks.items() if look.subjects}
        while more := {claim for claim, subjects in claims.items() if subjects <= found} - found:
            found |= more
        return frozenset(found)

    @cached_property
    def _looks(self) -> Mapping[str, _Look]:
        found: dict[str, _Look] = {}
        shared: dict[_Look, _Look] = {}
        for file in self.files:
            for record_id, look in _look(file, self.vocabulary):
                first = found.setdefault(record_id, shared.setdefault(look, look))
                if first is not look and is_excluded(look.status):  # of two with one id both are withheld
                    found[record_id] = replace(first, status=look.status)
        return found

    def read(self) -> Iterator[Record]:
        """Each record once, in the order of the files; of two with one id the first."""
        gone = {key: "excluded" if is_excluded(s) else s for key, s in self.statuses.items() if _is_gone(s)}
        references = ReferenceChecker(self.kinds, self.vocabulary, is_open=self._is_open, statuses=gone)
        places: dict[str, tuple[str, int]] = {}
        for item in read_records(self.path, self.vocabulary):
            if isinstance(item, Finding):
                self._note(item)
            elif item.id in places:
                file, line = places[item.id]
                message = f"The id {item.id!r} is already used in {file}:{line}."
                fix = "Give one of them another id."
                self._note(item.finding("violation", "repeated-id", ("id",), message, fix))
            else:
                places[item.id] = (item.origin.file, item.origin.line)
                self.count += 1
                for finding in (*check_keys(item, self.vocabulary), *references.check(item)):
                    self._note(finding)
                for finding in self._withdrawn(item):
                    self._note(finding)
                yield withdraw(item) if item.id in self.withheld else item

    def _withdrawn(self, record: Record) -> Iterator[Finding]:
        """Findings on what is withheld, or leads to it."""
        status = str(record.data["status"])
        if is_withheld(record) and status != "excluded":
            message = "The status is taken for excluded, so the record is withheld."
            yield record.finding("violation", "status-of-withdrawn", ("status",), message, "Write status: excluded.")
        if record.kind != "claim" or record.id in self.withheld or not self.withheld:
            return
        for path, target in _told(record):
            if target in self.withheld:
                message = f"The claim speaks about {target}, which is withdrawn, and is published all the same."
                fix = "Set the claim to status: excluded, or take the withdrawn record out of it."
                yield record.finding("warning", "claim-on-withdrawn", path, message, fix)

    def _note(self, finding: Finding) -> None:
        """Keep a finding, but of a withdrawn record only what is public: findings quote what is written."""
        if finding.record not in self.withheld or is_public(finding.field):
            self.findings.append(finding)
        elif finding.rule == "envelope":
            self.findings.append(replace(finding, value=None))


def withdraw(record: Record) -> Record:
    """A record of which only its tombstone is left; of a claim that is withheld for its subjects not even a reason."""
    with_reason = is_withheld(record)
    data = tombstone(record.data, with_reason=with_reason)
    original = tombstone(record.original, with_reason=with_reason)
    return replace(record, data=data, original=original, raw=None, notes=())


def _told(claim: Record) -> Iterator[tuple[Path, str]]:
    """(path, id) of all that a claim may speak about: its subjects, what it claims, the target of a claimed link."""
    links = claim.data["links"]
    for index, link in enumerate(links if isinstance(links, list) else ()):
        if isinstance(link, dict) and link["relation"] == "subject":
            yield ("links", index, "target_id"), str(link["target_id"])
    for key in ("value", "previous_value", "target_id"):
        yield ("attributes", key), str(claim.attributes.get(key))
    yield ("attributes", "field"), str(claim.attributes.get("field")).rpartition(":")[2]


def _is_gone(status: str) -> bool:
    return status == "superseded" or is_excluded(status)


def _subjects(value: Mapping[str, Json]) -> frozenset[str]:
    links = value.get("links")
    return frozenset(
        str(link.get("target_id"))
        for link in (links if isinstance(links, list) else ())
        if isinstance(link, dict) and link.get("relation") == "subject"
    )


def _look(file: FilePath, vocabulary: Vocabulary) -> Iterator[tuple[str, _Look]]:
    """The id and the first look of each record of a file; of plain lines only their beginning is read."""
    if not is_lines(file):
        for item in read_file(file, vocabulary):
            if isinstance(item, Record):
                subjects = _subjects(item.data) if item.kind == "claim" else frozenset()
                yield item.id, _Look(item.kind, str(item.data["status"]), subjects)
        return
    for line in read_lines(file):
        if not isinstance(line, Finding):
            yield from _look_at_line(line[1], vocabulary)


def _look_at_line(line: str, vocabulary: Vocabulary) -> Iterator[tuple[str, _Look]]:
    head = _HEAD.match(line)
    subjects: frozenset[str] = frozenset()
    if head is not None and head.group(2) != "claim":
        record_id, kind, status = head.groups()
    else:
        try:
            value = decode_json(line)
        except JsonError:
            return
        if not isinstance(value, dict):
            return
        record_id, kind, status = (str(value.get(key)) for key in ("id", "kind", "status"))
        if kind == "claim":
            subjects = _subjects(value)
    if kind in vocabulary.kinds and LINKED_ID.match(record_id):
        yield record_id, _Look(kind, status, subjects)
