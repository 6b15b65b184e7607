"""The bytes of an answer, piece by piece while they are made, and stopped where a limit is reached.

Rows of a SELECT go out as the engine finds them. A graph is made as a whole first: its triples are sorted, and none
stands there twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import Any, Final
from xml.parsers import expat

from evkg.bytesize import size_text
from evkg.errors import QueryError, QueryLimitError
from evkg.serialization import write_answer
from evkg.sparql import Query
from evkg.store import RESULT_FORMATS, UnwritableError

#: A piece goes out when it has this many bytes, or is this old (seconds), the first one sooner: an answer of one
#: piece is whole or an error.
PIECE_BYTES: Final = 256 << 10
FIRST_SECONDS: Final = 0.05
_NEXT_SECONDS: Final = 0.5
#: The beginning of a row, by format. In JSON a quote inside a string is escaped, and behind one that ends a string
#: stands a comma or a brace; so this is never inside a value. All matches of one format have one length. A pattern that
#: begins with more than one fixed character is found six times as fast, so the first row has one of its own.
_ROW: Final = {"json": (re.compile(rb'\},\{"[^,}]'), 5), "xml": (re.compile(rb"<result>"), 8)}
_FIRST_ROW: Final = re.compile(rb'\[\{"[^,}]')
#: Characters that no document of XML 1.0 can hold, as UTF-8.
_NO_XML: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")


class RowCounter:
    """Counts the rows of a table in one of the formats of results, of which it sees all bytes once, in order.

    A row counts in JSON only if it has a value.

    >>> counter = RowCounter("csv")
    >>> counter.add(b'a,b\\r\\n1,"x\\ny"\\r\\n2,'), counter.add(b"z\\r\\n")
    (1, 2)
    """

    def __init__(self, format_name: str) -> None:
        self._format = format_name
        self._count = -1 if format_name in ("csv", "tsv") else 0  # their first line has the names
        self._is_quoted = False
        self._is_begun = format_name != "json"
        self._end = b""

    def add(self, piece: bytes) -> int:
        """The number of rows that have ended (CSV, TSV) or begun (JSON, XML) so far."""
        if self._format == "csv":
            parts = piece.split(b'"')
            self._count += sum(part.count(b"\n") for part in parts[int(self._is_quoted) :: 2])
            self._is_quoted ^= len(parts) % 2 == 0
        elif self._format == "tsv":  # where a line break in a value is escaped
            self._count += piece.count(b"\n")
        else:
            pattern, length = _ROW[self._format]
            text = self._end + piece
            if not self._is_begun and _FIRST_ROW.search(text):
                self._is_begun = True
                self._count += 1
            self._count += len(pattern.findall(text))
            self._end = text[-(length - 1) :]
        return self._count


class Outlet:
    """A file to which an answer is written; hands its bytes on in pieces, the last one with `finish`.

    `send(piece, is_last)` gets them. An answer that is over before its first piece is full goes out at once.

    Raises (from `write` and `finish`): QueryLimitError: too many rows or bytes. UnwritableError: no XML.
    """

    def __init__(
        self, send: Callable[[bytes, bool], None], *, format_name: str, most_rows: int, most_bytes: int
    ) -> None:
        self.rows = 0
        self._send = send
        self._most_rows = most_rows
        self._most_bytes = most_bytes
        self._size = 0
        self._parts: list[bytes] = []
        self._waiting = 0
        self._due = monotonic() + FIRST_SECONDS
        self._counter = RowCounter(format_name) if format_name in RESULT_FORMATS else None
        self._parser = expat.ParserCreate(namespace_separator=" ") if format_name == "xml" else None

    def write(self, data: bytes) -> int:
        """Take some bytes; what a file returns."""
        self._parts.append(data)
        self._waiting += len(data)
        if self._waiting >= PIECE_BYTES or monotonic() >= self._due:
            self._send(self._take(is_last=False), False)
        return len(data)

    def flush(self) -> None:
        """Nothing: the engine calls it at the end."""

    def put(self, body: bytes) -> None:
        """Take all bytes of an answer; nothing of it is sent if they are too many."""
        self._size = len(body)
        self.check()
        self._size = 0
        for start in range(0, len(body) - PIECE_BYTES, PIECE_BYTES):
            self._send(body[start : start + PIECE_BYTES], False)
        self._parts = [body[max(0, -(-len(body) // PIECE_BYTES) - 1) * PIECE_BYTES :]]

    def count(self, triples: Iterable[Any]) -> Iterator[Any]:
        """The triples as they come, counted as rows."""
        for triple in triples:
            self.rows += 1
            self.check()
            yield triple

    def finish(self) -> None:
        """Send what is left."""
        self._send(self._take(is_last=True), True)

    def _take(self, *, is_last: bool) -> bytes:
        piece = b"".join(self._parts)
        self._parts, self._waiting = [], 0
        self._size += len(piece)
        is_only = is_last and self._size == len(piece)
        if self._counter is not None and not (is_only and len(piece) < self._most_rows):  # a row has two bytes at least
            self.rows = self._counter.add(piece)
        if self._parser is not None:
            _check_xml(self._parser, piece, is_last)
        self.check()
        self._due = monotonic() + _NEXT_SECONDS
        return piece

    def check(self) -> None:
        """Raises: QueryLimitError: too many rows or bytes so far."""
        if self.rows > self._most_rows:
            message = f"The answer has more than the limit of {self._most_rows:,} rows. Use LIMIT."
            raise QueryLimitError(message, limit="rows")
        if self._size > self._most_bytes:
            message = f"The answer is larger than the limit of {size_text(self._most_bytes)}. Use LIMIT."
            raise QueryLimitError(message, limit="bytes")


def _check_xml(parser: expat.XMLParserType, piece: bytes, is_last: bool) -> None:
    """Refuse what is not well-formed: the engine writes control characters as they come (pyoxigraph 0.5.13).

    Source: XML 1.0, production 2 (Char).
    """
    try:
        parser.Parse(piece, is_last)
    except expat.ExpatError as error:
        what = "what XML 1.0 does not allow"
        if _NO_XML.search(piece):
            what = "a control character that XML 1.0 does not allow"
        message = f"The answer cannot be written as SPARQL XML: it holds {what}. Ask for JSON, CSV or TSV instead."
        raise UnwritableError(message) from error


def stream_answer(query: Query, result: Any, format_name: str, outlet: Outlet) -> None:
    """Write a result to an outlet: rows as they come, graphs and truth values as a whole.

    Raises: QueryError, UnwritableError: as `serialization.write_answer`. And what the outlet raises.
    """
    if query.form == "SELECT" and format_name in RESULT_FORMATS:
        try:
            result.serialize(output=outlet, format=RESULT_FORMATS[format_name])
        except (OSError, RuntimeError) as error:
            raise QueryError(f"The query cannot be answered: {error}") from error
    else:
        triples = result if query.form == "ASK" else outlet.count(result)
        outlet.put(write_answer(query, triples, format_name))
    outlet.finish()
