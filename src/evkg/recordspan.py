"""Where each record stands in its file, what kind it is and which sources it cites: the surroundings of findings."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evkg.excerpt import Excerpt, excerpt, lines_of, shows_field, wants_line
from evkg.finding import Finding, printable
from evkg.reader import is_lines, read_records
from evkg.record import Record
from evkg.vocabulary import Vocabulary

#: How many lines of the record are shown before and after the line of a finding (count).
CONTEXT: Final = 2
#: How much of a line is shown (characters).
_ROOM: Final = 220


@dataclass(frozen=True, slots=True)
class Span:
    """A record: its first line and column (from 1) in its file, its id, kind, and the sources it cites."""

    line: int
    column: int
    id: str
    kind: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line around a finding: its number, its text with the marked part, and whether it is the finding's own."""

    number: int
    text: Excerpt
    is_own: bool


class Spans:
    """The records of a data set by file and by id; `names` are those of the sources."""

    def __init__(self, path: Path, vocabulary: Vocabulary) -> None:
        self._files: dict[str, list[Span]] = {}
        self._ids: dict[str, Span] = {}
        self.names: dict[str, str] = {}
        for record in read_records(path, vocabulary):
            if isinstance(record, Record):
                span = _span(record)
                self._files.setdefault(record.origin.file, []).append(span)
                self._ids.setdefault(span.id, span)
                if record.kind == "source":
                    self.names.setdefault(record.id, str(record.data["name"]))
        for spans in self._files.values():
            spans.sort(key=lambda span: (span.line, span.column))

    def of(self, finding: Finding) -> Span | None:
        """The record that a finding is about: the one at its place, else the one with its id.

        >>> from evkg.vocabulary import load_vocabulary
        >>> spans = Spans(Path("graph"), load_vocabulary())
        >>> spans.of(Finding("info", "x", "…", record="gena-lm")).kind
        'model'
        """
        spans = self._files.get(finding.file or "", ())
        at = bisect_right(spans, (finding.line or 0, finding.column or 1), key=lambda span: (span.line, span.column))
        if at and spans[at - 1].id == finding.record:
            return spans[at - 1]
        return self._ids.get(finding.record or "")

    def around(self, findings: Sequence[Finding], withheld: frozenset[str]) -> list[tuple[Line, ...]]:
        """The lines around each finding, of its own record only; none where they may not be shown."""
        wanted: dict[str, set[int]] = {}
        for finding in findings:
            if wants_line(finding, withheld) and finding.file and finding.line:
                numbers = range(max(1, finding.line - CONTEXT), finding.line + CONTEXT + 1)
                wanted.setdefault(finding.file, set()).update(numbers)
        written = lines_of(wanted, {name: max(numbers) for name, numbers in wanted.items()})
        return [tuple(self._lines(finding, written)) if wants_line(finding, withheld) else () for finding in findings]

    def _lines(self, finding: Finding, written: dict[tuple[str, int], str]) -> Iterator[Line]:
        file, number = finding.file or "", finding.line or 0
        own = written.get((file, number))
        if own is None:
            return
        span = self.of(finding)
        part = excerpt(own, finding.column or 1, finding.value, room=_ROOM)
        if not shows_field(finding, part):
            part = Excerpt(part.before + part.marked + part.after, "", "")
        if span is None or is_lines(Path(file)) or not span.line <= number:
            yield Line(number, part, is_own=True)
            return
        for before in range(max(span.line, number - CONTEXT), number):
            if text := written.get((file, before)):
                yield Line(before, _clipped(text), is_own=False)
        yield Line(number, part, is_own=True)
        for after in range(number + 1, number + CONTEXT + 1):
            text = written.get((file, after))
            if text is None or not _is_inside(text, span):
                return
            yield Line(after, _clipped(text), is_own=False)


def _span(record: Record) -> Span:
    cited = record.data["source_ids"]
    sources = [str(source) for source in cited] if isinstance(cited, list) else []
    if record.kind == "source":
        sources.insert(0, record.id)
    origin = record.origin
    return Span(origin.line, origin.start_column, record.id, record.kind, tuple(dict.fromkeys(sources)))


def _is_inside(text: str, span: Span) -> bool:
    """Whether a line behind one of a record still belongs to it, to judge by its indentation: on doubt it does not."""
    bare = text.lstrip(" ")
    indent = len(text) - len(bare)
    return bool(bare) and indent >= span.column - 1 and not bare.startswith(("---", "...", "#", "- id", "{"))


def _clipped(text: str) -> Excerpt:
    return Excerpt(printable(text if len(text) <= _ROOM else text[:_ROOM] + "…"), "", "")
