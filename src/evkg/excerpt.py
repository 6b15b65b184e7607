"""The lines of files around findings, as written; of an excluded record no line is ever shown."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from evkg.filetext import Span, raw_lines, read_lines, read_text
from evkg.finding import Finding, printable
from evkg.reader import MAX_SNAPSHOT, is_lines
from evkg.withheld import mentions_excluded

#: What a finding points at: a quoted key or text, a word, or one character.
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[^\W][\w.-]*|\S')
#: What stands between a key and its value.
_COLON: Final = re.compile(r"\s*:(?=\s|[\"\[{]|$)")
#: What each record has once: a line with two of them holds several records.
#: Begins with plain letters, which is what makes it fast on long lines.
_KIND: Final = re.compile(r"kind(?<!\wkind)[\"']?\s*:")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a line: what stands before the marked part, that part, and what follows; safe to show."""

    before: str
    marked: str
    after: str


def wants_line(finding: Finding, withheld: Container[str]) -> bool:
    """Whether the line of a finding may be shown: not of a record that is or may be excluded.

    >>> wants_line(Finding("warning", "gap", "…", record="r1", file="a.yaml", line=1), {"r1"})
    False
    """
    if finding.file is None or finding.line is None:
        return False
    if finding.record is None or finding.rule == "envelope":
        return finding.value is not None  # whoever reports on what may be excluded quotes nothing
    return finding.record not in withheld


def lines_of(wanted: Mapping[str, Container[int]], last: Mapping[str, int]) -> dict[tuple[str, int], str]:
    """(file, number from 1) -> the line as written, of the wanted lines that exist and can be read.

    `last` is the greatest number wanted of each file: behind it no file is read. A line that mentions
    excluded records or holds several records is left out: not all of it may be the finding's.
    """
    found: dict[tuple[str, int], str] = {}
    for name, numbers in wanted.items():
        if "\0" in name or (not name.isascii() and name != name.encode("utf-8", "replace").decode()):
            continue  # no file can have this name
        for number, line in _numbered(Path(name), numbers):
            if number in numbers and not mentions_excluded(line) and len(_KIND.findall(line)) < 2:
                found[name, number] = line
            if number >= last[name]:
                break
    return found


def lines_at(findings: Iterable[Finding], withheld: Container[str]) -> dict[tuple[str, int], str]:
    """(file, number from 1) -> the line of each of these findings that may be shown.

    >>> finding = Finding("info", "x", "…", record="r", file="graph/records/dna-language-models.yaml", line=1)
    >>> lines_at([finding], frozenset())
    {}
    """
    wanted: dict[str, set[int]] = {}
    for finding in findings:
        if wants_line(finding, withheld) and finding.file is not None and finding.line is not None:
            wanted.setdefault(finding.file, set()).add(finding.line)
    return lines_of(wanted, {name: max(numbers) for name, numbers in wanted.items()})


def _numbered(file: Path, numbers: Container[int]) -> Iterable[tuple[int, str]]:
    """(number from 1, line) of a file, of a file of lines only the wanted ones; nothing of what cannot be read."""
    if is_lines(file):
        wanted = None if file.name.endswith(".gz") else _spans(file, numbers)
        for item in read_lines(file, wanted):
            if not isinstance(item, Finding):
                yield item
        return
    for text in read_text(file, MAX_SNAPSHOT):
        if isinstance(text, str):
            yield from enumerate((line.rstrip("\r") for line in text.split("\n")), start=1)


def _spans(file: Path, numbers: Container[int]) -> Iterator[Span]:
    """Where the wanted lines stand: most of a large file need not become text."""
    start = 0
    for number, content in enumerate(raw_lines(file), 1):
        if number in numbers:
            yield Span(start, len(content), number)
        start += len(content)


def excerpt(line: str, column: int, value: str | None = None, *, room: int = 100) -> Excerpt:
    """The part of a line around a column (from 1), at most about `room` characters of it.

    Marked is the value where it stands behind its key, else the key or word at the column.

    >>> excerpt('printed_value: "33,88"', 1, "33,88")
    Excerpt(before='printed_value: "', marked='33,88', after='"')
    """
    start, end = _marked(line, column - 1, value)
    end = min(end, start + room)
    first = max(0, min(start - room // 4, len(line) - room)) if len(line) > room else 0
    last = max(first + room, end)
    before = ("…" if first else "") + line[first:start]
    after = line[end:last] + ("…" if last < len(line) else "")
    return Excerpt(printable(before), printable(line[start:end]), printable(after.rstrip()))


def _marked(line: str, start: int, value: str | None) -> tuple[int, int]:
    """(start, end) of what a finding is about, as offsets in its line."""
    start = min(max(start, 0), len(line))
    token = _TOKEN.match(line, start)
    end = token.end() if token else start
    colon = _COLON.match(line, end)
    if value:
        at = line.find(value, colon.end() if colon else start)
        if at >= 0:
            return at, at + len(value)
    return start, end


def shows_field(finding: Finding, part: Excerpt) -> bool:
    """Whether a marked part is what a finding is about: of a field that is missing only its place is known.

    >>> shows_field(Finding("warning", "gap", "…", field="attributes.unit"), Excerpt("", "attributes", ":"))
    False
    """
    return finding.value is not None or (finding.field or "").rpartition(".")[2] in part.marked


def relative_name(file: str) -> str | None:
    """The name of a file from the working folder on, with `/`; None where it lies elsewhere.

    >>> relative_name("graph/../graph/a.yaml"), relative_name("/nowhere/a.yaml")
    ('graph/a.yaml', None)
    """
    return _relative(file, Path.cwd())


@lru_cache(maxsize=4096)
def _relative(file: str, folder: Path) -> str | None:
    # Links are not followed: a repository knows the names that are written.
    try:
        return Path(os.path.normpath(folder / file)).relative_to(folder).as_posix()
    except ValueError:
        return None
