"""An opened index: words looked up, records chosen by facets, counts of what is left."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final

from evkg.errors import QueryLimitError, ReleaseError
from evkg.facet import NONE
from evkg.search_text import POINT, Part, fold, match_expression

#: How long one look into the index may take (seconds), and how often that is seen to (steps of SQLite).
SECONDS: Final = 5.0
_STEPS: Final = 20_000
#: How many looks may be taken at once (count); more wait.
_CONNECTIONS: Final = 4
#: What SQLite says of a file that is damaged (its primary result codes).
_DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR)
#: The weights of the columns: id, name, printed value, other texts, names of what it is about.
_WEIGHTS: Final = (4.0, 10.0, 6.0, 1.0, 0.5)


@dataclass(frozen=True, slots=True)
class Hit:
    """A record as a list shows it; `number` is its place in the order of ids, from 1."""

    number: int
    id: str
    kind: str
    name: str
    status: str
    printed_value: str | None
    unit: str | None
    doubts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Something done to a record that names a day or time (`at`, as written; `instant` in UTC)."""

    id: str
    kind: str
    name: str
    what: str
    at: str
    instant: str


class SearchIndex:
    """One file of `search_build`. A set of records is an integer whose bit `n` says that record `n` is in it.

    Where a part of the file turns out to be damaged later, `on_damage(index)` is called, which may raise.

    Raises: ReleaseError: it is no such file.
    """

    def __init__(self, file: Path, on_damage: Callable[[SearchIndex], None] | None = None) -> None:
        self._file = file
        self._is_closed = False
        self._on_damage: Callable[[SearchIndex], None] | None = None  # what is damaged from the start raises below
        # Opened once: the folder of a release may be replaced by the same release while it is served.
        self._connections: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        for _ in range(_CONNECTIONS):
            self._connections.put(_open(file))
        try:
            facts = dict(self._rows("SELECT name, value FROM facts"))
            self.key = str(facts["key"])
            self.completeness: Sequence[Mapping[str, Any]] = json.loads(facts["completeness"])
            self.changes: Mapping[str, Any] | None = json.loads(facts["changes"])
            #: Facet -> value -> the records that have it.
            self.facets: dict[str, dict[str, int]] = {}
            for facet, value, members in self._rows("SELECT facet, value, records FROM facets"):
                self.facets.setdefault(facet, {})[value] = as_set(array("I", members))
            self.count = int(self._rows("SELECT COUNT(*) FROM records")[0][0])
        except (KeyError, ValueError, TypeError) as error:
            raise ReleaseError(f"{file} is no index of a search: {error}") from error
        self._on_damage = on_damage

    def close(self) -> None:
        """Close the file; nothing can be looked up any more."""
        self._is_closed = True
        with contextlib.suppress(Empty):
            while True:
                self._connections.get_nowait().close()

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        until = time.monotonic() + SECONDS
        try:
            connection = self._connections.get(timeout=max(0.0, SECONDS))
        except Empty:
            if self._is_closed:
                raise ReleaseError(f"{self._file} is closed.") from None
            raise QueryLimitError(f"The search was stopped after {SECONDS:g} seconds.") from None
        try:
            connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
            return connection.execute(query, values).fetchall()
        except (sqlite3.Error, OverflowError) as error:
            if isinstance(error, sqlite3.OperationalError) and time.monotonic() > until:
                # What was interrupted fails with many words.
                raise QueryLimitError(f"The search was stopped after {SECONDS:g} seconds.") from error
            if self._on_damage is not None and _is_damage(error):
                self._on_damage(self)
            raise ReleaseError(f"{self._file} cannot be read: {error}") from error
        finally:
            self._connections.put(connection)
            if self._is_closed:
                self.close()

    @cached_property
    def everything(self) -> int:
        """All records."""
        return ((1 << self.count) - 1) << 1

    def scores(self, parts: Sequence[Part]) -> dict[int, float]:
        """Record -> how well it fits (the smaller the better), of the records that hold all parts."""
        weights = ", ".join(map(str, _WEIGHTS))
        query = f"SELECT rowid, bm25(words, {weights}) FROM words WHERE words MATCH ?"  # noqa: S608 - numbers of ours
        return dict(self._rows(query, (match_expression(parts),)))

    def holding(self, part: Part) -> int:
        """How many records hold one part (count)."""
        query = "SELECT COUNT(*) FROM words WHERE words MATCH ?"
        return int(self._rows(query, (match_expression([part]),))[0][0])

    def nearest(self, word: str) -> list[str]:
        """Words of the index that are spelt nearly like a word which it does not have."""
        query = "SELECT term FROM terms WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ? ORDER BY term"
        rows = self._rows(query, (word[0], f"{word[0]}\U0010ffff", len(word) - 2, len(word) + 2))
        return [
            found.replace(POINT, ".") for found in get_close_matches(word, [term for (term,) in rows], n=3, cutoff=0.75)
        ]

    def exact(self, text: str) -> dict[int, int]:
        """Record -> 0 where the text is its id, 1 where it is its name, 2 where it is its printed value."""
        folded = fold(text).strip()
        found: dict[int, int] = {}
        for rank, column, value in ((2, "folded_printed", folded), (1, "folded", folded), (0, "id", text.strip())):
            if value:
                query = f"SELECT n FROM records WHERE {column} = ?"  # noqa: S608 - names of ours
                found.update((number, rank) for (number,) in self._rows(query, (value,)))
        return found

    def hits(self, numbers: Iterable[int]) -> list[Hit]:
        """Records in the order of their numbers given."""
        wanted = list(numbers)
        found: dict[int, Hit] = {}
        query = "SELECT n, id, kind, name, status, printed, unit, doubts FROM records"
        query += " WHERE n IN (SELECT value FROM json_each(?))"
        for row in self._rows(query, (json.dumps(wanted),)):
            number, record_id, kind, name, status, printed, unit, doubts = row
            found[number] = Hit(number, record_id, kind, name, status, printed, unit, tuple(doubts.split()))
        return [found[number] for number in wanted]

    @cached_property
    def by_name(self) -> array[int]:
        """All records by their name, then by id; the place of each at the index that is its number."""
        rows = self._rows("SELECT n FROM records ORDER BY folded, n")
        places = array("I", bytes(4 * (self.count + 1)))
        for place, (number,) in enumerate(rows):
            places[number] = place
        return places

    def labels(self, ids: Iterable[str]) -> dict[str, str]:
        """Id -> name, of the records among these ids."""
        query = "SELECT id, name FROM records WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._rows(query, (json.dumps(list(ids)),)))

    def values(self, facet: str, numbers: Iterable[int]) -> dict[int, tuple[str, ...]]:
        """Record -> its values of a facet, of these records; without those where nothing is recorded."""
        wanted, found = as_set(numbers), dict[int, list[str]]()
        for value, mask in self.facets.get(facet, {}).items():
            if value != NONE and mask & wanted:
                for number in members(mask & wanted):
                    found.setdefault(number, []).append(value)
        return {number: tuple(values) for number, values in found.items()}

    def occurrences(self, source: str | None, most: int) -> list[Occurrence]:
        """The newest things done to records, or to those that cite a source and to itself; at most so many."""
        query = "SELECT id, kind, name, what, at, instant FROM events JOIN records USING (n)"
        values: tuple[object, ...] = (most,)
        if source is not None:
            query += " WHERE id = ? OR n IN (SELECT value FROM json_each(?))"
            values = (source, json.dumps(members(self.facets.get("source", {}).get(source, 0))), most)
        rows = self._rows(f"{query} ORDER BY instant DESC, id, what LIMIT ?", values)
        return [Occurrence(*row) for row in rows]


def _is_damage(error: Exception) -> bool:
    """Whether an error says that the file is damaged, not that something wrong was asked."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # a text that is none
        return isinstance(error, sqlite3.OperationalError)
    return (code & 0xFF) in _DAMAGE


def _open(file: Path) -> sqlite3.Connection:
    """A connection that any thread may use; nothing else ever changes the file, so no locks are needed."""
    try:
        uri = f"{file.resolve().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        connection.execute("SELECT COUNT(*) FROM facts").fetchone()
    except sqlite3.Error as error:
        raise ReleaseError(f"{file} cannot be read: {error}") from error
    return connection


def as_set(numbers: Iterable[int]) -> int:
    """The set of these records.

    >>> bin(as_set([1, 4]))
    '0b10010'
    """
    known = numbers if isinstance(numbers, array) else array("I", numbers)
    bits = bytearray((max(known, default=0) >> 3) + 1)
    for number in known:
        bits[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(bits, "little")


def members(records: int) -> list[int]:
    """The numbers of the records in a set, in their order.

    >>> members(0b10010)
    [1, 4]
    """
    data = records.to_bytes((records.bit_length() + 7) // 8, "little")
    return [(at << 3) + bit for at, byte in enumerate(data) if byte for bit in range(8) if byte >> bit & 1]
