"""A data set before its records are read: its files, what it says of itself, and a first look at every record.

The first look takes id, kind and status only, so that a reference can be judged when its record is read
and no record has to be kept. It also cuts the files into portions, which can be read side by side.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import Final, NamedTuple

from evkg.description import read_description
from evkg.filetext import READ_ERRORS, Span, raw_lines
from evkg.finding import Finding
from evkg.jsontext import Json, JsonError, decode_json
from evkg.neighbours import Examiner, Neighbours
from evkg.reader import RESEARCH_FILES, is_lines, read_file, read_records, record_files
from evkg.record import LINKED_ID, Record
from evkg.research import Research, read_research, snapshot_research
from evkg.vocabulary import Vocabulary
from evkg.withheld import is_excluded

#: A portion has at most so many lines (count), and ends where it has so many bytes.
LINES: Final = 1_000
_BYTES: Final = 1_000_000
_TEXT: Final = rb'"([^"\\\x80-\xff]*+)"'
_ANY_TEXT: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
#: The beginning of a line: id, kind, name, description and status, as the contract orders them.
_HEAD: Final = re.compile(
    rb"\s*\{\s*\"id\"\s*:\s*"
    + _TEXT
    + rb"\s*,\s*\"kind\"\s*:\s*"
    + _TEXT
    + rb"\s*,\s*\"name\"\s*:\s*"
    + _ANY_TEXT
    + rb"\s*,\s*\"description\"\s*:\s*"
    + _ANY_TEXT
    + rb"\s*,\s*\"status\"\s*:\s*"
    + _TEXT
)


@dataclass(frozen=True, slots=True)
class Portion:
    """Files, or lines of one file, that are read at one go; numbered in the order of the data set."""

    number: int
    files: tuple[FilePath, ...]
    spans: tuple[Span, ...] | None = None

    def read(self, vocabulary: Vocabulary) -> Iterator[tuple[FilePath, Record | Finding]]:
        """The records of the portion with their files, and in between the findings about what could not be read."""
        for file in self.files:
            for item in read_file(file, vocabulary, self.spans):
                yield file, item


@dataclass(frozen=True, slots=True)
class _Look:
    """What the first look takes of a record; of a claim also the records that it speaks about."""

    kind: str
    status: str
    subjects: frozenset[str] = frozenset()


class Unit(NamedTuple):
    """What can be read by itself: a line of a file of lines, or a whole file.

    A line has the SHA-256 of its bytes, unless it is written as is told once a file (line ends, byte-order mark).
    """

    file: FilePath
    span: Span | None = None
    sha256: bytes | None = None


class Dataset:
    """The data set of a folder or file.

    Raises: UsageError: nothing is there to read.

    >>> from evkg.vocabulary import load_vocabulary
    >>> dataset = Dataset(FilePath("graph"), load_vocabulary())
    >>> len(list(dataset.read())), len(dataset.kinds), len(dataset.findings)
    (49, 49, 4)
    """

    def __init__(self, path: FilePath, vocabulary: Vocabulary, *, is_open: bool = False) -> None:
        self.path = path
        self.vocabulary = vocabulary
        self.files = record_files(path)
        self.description, self.findings = read_description(path)
        self.research, problems = _research(path)
        self.findings += problems
        self._is_open = is_open
        self._lines: dict[FilePath, list[Unit]] = {}
        self._repeated: set[str] = set()

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
    def neighbours(self) -> Neighbours:
        """What the check of a record has to know of the others."""
        gone = {key: "excluded" if is_excluded(s) else s for key, s in self.statuses.items() if _is_gone(s)}
        return Neighbours(self.kinds, gone, self.withheld, frozenset(self._repeated), is_open=self._is_open)

    @cached_property
    def units(self) -> list[Unit]:
        """What can be read by itself, in order: the lines of files of lines, other files as a whole."""
        _ = self._looks
        found: list[Unit] = []
        for file in self.files:
            found.extend(self._lines.get(file, [Unit(file)]))
        return found

    @cached_property
    def portions(self) -> list[Portion]:
        """The data set in portions."""
        return portions_of(self.units)

    @cached_property
    def _looks(self) -> Mapping[str, _Look]:
        found: dict[str, _Look] = {}
        shared: dict[_Look, _Look] = {}
        for file in self.files:
            for record_id, look in self._look(file):
                if record_id not in found:
                    found[record_id] = shared.setdefault(look, look)
                    continue
                self._repeated.add(record_id)
                if is_excluded(look.status):  # of two with one id both are withheld
                    found[record_id] = replace(found[record_id], status=look.status)
        return found

    def _look(self, file: FilePath) -> Iterator[tuple[str, _Look]]:
        """The id and the first look of each record of a file; of plain lines only their beginning is read."""
        if not is_lines(file) or file.name.endswith(".gz"):
            for item in read_file(file, self.vocabulary):
                if isinstance(item, Record):
                    subjects = _subjects(item.data) if item.kind == "claim" else frozenset()
                    yield item.id, _Look(item.kind, str(item.data["status"]), subjects)
            return
        units: list[Unit] = []
        same: dict[tuple[bytes, bytes], _Look | None] = {}
        new, kinds, start = tuple.__new__, self.vocabulary.kinds, 0  # what is done for each line takes long
        try:
            for number, content in enumerate(raw_lines(file), 1):
                head = _HEAD.match(content)
                sha256 = hashlib.sha256(content).digest()
                is_odd = b"\r" in content or (head is None and _is_odd(content))
                span = new(Span, (start, len(content), number, sha256))
                units.append(new(Unit, (file, span, None if is_odd else sha256)))
                start += len(content)
                if head is None or head[2] == b"claim":
                    yield from _look_at_line(content, self.vocabulary)
                    continue
                name, kind, status = head.groups()
                if (kind, status) not in same:
                    look = _Look(kind.decode("ascii"), status.decode("ascii"))
                    same[kind, status] = look if look.kind in kinds else None
                known = same[kind, status]
                if known is not None and LINKED_ID.match(record_id := name.decode("ascii")):
                    yield record_id, known
        except READ_ERRORS:  # reading it tells why
            return
        if units:  # else reading it tells that nothing is there
            self._lines[file] = units

    def read(self) -> Iterator[Record]:
        """Each record once, in the order of the files; of two with one id the first. `findings` grows with it."""
        examiner = Examiner(self.vocabulary, self.neighbours)
        places: dict[str, Record] = {}
        for item in read_records(self.path, self.vocabulary):
            if isinstance(item, Finding):
                self.findings.extend(examiner.told(item))
            elif item.id in places:
                self.findings.extend(examiner.told(repeated(item, places[item.id].origin.place_text)))
            else:
                places[item.id] = item
                published, findings = examiner.examine(item)
                self.findings.extend(findings)
                yield published


def _research(path: FilePath) -> tuple[Research, list[Finding]]:
    """The research manifests of a data set: of a folder those in a file beside the records, of a snapshot its own."""
    beside = [path / name for name in RESEARCH_FILES if (path / name).is_file()] if path.is_dir() else []
    if beside:
        return read_research(beside[0])
    if path.is_file() and path.name.removesuffix(".gz").endswith(".json"):
        return snapshot_research(path)
    return Research(), []


def portions_of(units: Iterable[Unit]) -> list[Portion]:
    """Units in portions: some lines of a file, or some small files, each.

    >>> unit = Unit(FilePath("a.yaml"))
    >>> [portion.files for portion in portions_of([unit, unit])]
    [(PosixPath('a.yaml'), PosixPath('a.yaml'))]
    """
    found: list[Portion] = []
    files: list[FilePath] = []
    spans: list[Span] = []
    size = 0

    def end() -> None:
        nonlocal size
        if files:
            found.append(Portion(len(found), tuple(files), tuple(spans) or None))
        files.clear()
        spans.clear()
        size = 0

    for unit in units:
        if spans and (unit.span is None or files != [unit.file] or len(spans) == LINES):
            end()
        if unit.span is None:
            files.append(unit.file)
            with contextlib.suppress(OSError):  # reading it tells why
                size += unit.file.stat().st_size
        else:
            if files and not spans:
                end()
            files[:] = [unit.file]
            spans.append(unit.span)
            size += unit.span.length
        if size >= _BYTES:
            end()
    end()
    return found


def repeated(record: Record, place: str = "another place") -> Finding:
    """The finding on a record whose id is already used at `place`."""
    message = f"The id {record.id!r} is already used in {place}."
    return record.finding("violation", "repeated-id", ("id",), message, "Give one of them another id.")


def _is_gone(status: str) -> bool:
    return status == "superseded" or is_excluded(status)


def _subjects(value: Mapping[str, Json]) -> frozenset[str]:
    links = value.get("links")
    return frozenset(
        str(link.get("target_id"))
        for link in (links if isinstance(links, list) else ())
        if isinstance(link, dict) and link.get("relation") == "subject"
    )


def _is_odd(line: bytes) -> bool:
    """Whether a line begins with a byte-order mark or holds nothing."""
    return line.startswith(b"\xef\xbb\xbf") or not line.strip()


def _look_at_line(line: bytes, vocabulary: Vocabulary) -> Iterator[tuple[str, _Look]]:
    """A look at a line that has to be read as a whole."""
    try:
        value = decode_json(line.decode("utf-8-sig").rstrip("\r\n"))
    except (JsonError, UnicodeDecodeError):
        return
    if not isinstance(value, dict):
        return
    record_id, kind, status = (str(value.get(key)) for key in ("id", "kind", "status"))
    subjects = _subjects(value) if kind == "claim" else frozenset[str]()
    if kind in vocabulary.kinds and LINKED_ID.match(record_id):
        yield record_id, _Look(kind, status, subjects)
