"""All records of a data set, one after the other: each once, with every finding on files, keys and references.

A first look takes ids and kinds only, so that a reference can be judged when its record is read and no
record has to be kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

from evkg.description import read_description
from evkg.filetext import file_name, read_lines
from evkg.finding import Finding
from evkg.jsontext import JsonError, decode_json
from evkg.keys import check_keys
from evkg.reader import is_lines, read_file, read_records, record_files
from evkg.record import LINKED_ID, Record
from evkg.references import ReferenceChecker
from evkg.vocabulary import Vocabulary
from evkg.withheld import is_public, is_withheld

#: The beginning of a line whose first two keys are id and kind, as the contract orders them.
_HEAD: Final = re.compile(r'\s*\{\s*"id"\s*:\s*"([a-z0-9][a-z0-9._-]*)"\s*,\s*"kind"\s*:\s*"([a-z_]+)"')


class Dataset:
    """The data set of a folder or file. `findings` grows while the records are read.

    Raises: UsageError: nothing is there to read.

    >>> from evkg.vocabulary import load_vocabulary
    >>> dataset = Dataset(Path("graph"), load_vocabulary())
    >>> len(list(dataset.read())), dataset.count, dataset.findings
    (49, 49, [])
    """

    def __init__(self, path: Path, vocabulary: Vocabulary, *, is_open: bool = False) -> None:
        self.path = path
        self.vocabulary = vocabulary
        self.files = record_files(path)
        self.description, self.findings = read_description(path)
        self.count = 0
        self._is_open = is_open

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """id -> kind of every record, from a first look at the files."""
        return {record_id: kind for record_id, (kind, _) in self._ids.items()}

    @cached_property
    def withheld(self) -> frozenset[str]:
        """The ids of the excluded records."""
        return frozenset(record_id for record_id, (_, is_out) in self._ids.items() if is_out)

    @cached_property
    def _ids(self) -> Mapping[str, tuple[str, bool]]:
        found: dict[str, tuple[str, bool]] = {}
        for file in self.files:
            for record_id, kind, is_out in _look(file, self.vocabulary):
                found.setdefault(record_id, (kind, is_out))
        return found

    def read(self) -> Iterator[Record]:
        """Each record once, in the order of the files; of two with one id the first."""
        references = ReferenceChecker(self.kinds, self.vocabulary, is_open=self._is_open)
        places: dict[str, tuple[str, int]] = {}
        for item in read_records(self.path, self.vocabulary):
            if isinstance(item, Finding):
                self._note(item)
            elif item.id in places:
                file, line = places[item.id]
                place = f"{file.removeprefix(f'{file_name(self.path)}/')}, line {line}"
                message = f"The id {item.id!r} is already used in {place}."
                fix = "Give one of them another id."
                self._note(item.finding("violation", "repeated-id", ("id",), message, fix))
            else:
                places[item.id] = (item.origin.file, item.origin.line)
                self.count += 1
                for finding in (*check_keys(item, self.vocabulary), *references.check(item)):
                    self._note(finding)
                yield item

    def _note(self, finding: Finding) -> None:
        """Keep a finding, but of a withdrawn record only what is public: findings quote what is written."""
        if finding.record not in self.withheld or is_public(finding.field):
            self.findings.append(finding)


def _look(file: Path, vocabulary: Vocabulary) -> Iterator[tuple[str, str, bool]]:
    """(id, kind, whether it is excluded) of the records of a file; of plain lines only their beginning is read."""
    if not is_lines(file):
        for item in read_file(file, vocabulary):
            if isinstance(item, Record):
                yield item.id, item.kind, is_withheld(item)
        return
    for line in read_lines(file):
        if not isinstance(line, Finding):
            yield from _look_at_line(line[1], vocabulary)


def _look_at_line(line: str, vocabulary: Vocabulary) -> Iterator[tuple[str, str, bool]]:
    head = _HEAD.match(line)
    if head is not None and '"excluded"' not in line:
        record_id, kind, status = head.group(1), head.group(2), ""
    else:
        try:
            value = decode_json(line)
        except JsonError:
            return
        if not isinstance(value, dict):
            return
        record_id, kind, status = (str(value.get(key)) for key in ("id", "kind", "status"))
    if kind in vocabulary.kinds and LINKED_ID.match(record_id):
        yield record_id, kind, status == "excluded"
