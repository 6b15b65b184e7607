"""How many rows of evidence there are, and in which record the n-th stands: pages with true totals."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from threading import Lock
from typing import Final

from evkg.evidence import Evidence, Row, Selection

#: How many selections are kept counted (count); each takes 16 bytes a record.
_KEPT: Final = 64


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows in the order of the table, and how many there are in all."""

    rows: tuple[Row, ...]
    total: int


class EvidenceIndex:
    """The counts of all rows by record, scope and source. They are taken once, when a page is first asked for; a page
    of one record needs none.

    >>> from evkg.release import open
    >>> page = EvidenceIndex(Evidence(open())).page(Selection(scope="individual_claim"), offset=10, limit=5)
    >>> len(page.rows), page.total
    (2, 12)
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._lock = Lock()
        self._totals = lru_cache(_KEPT)(self._add_up)

    def page(self, selection: Selection, *, offset: int, limit: int) -> Page:
        """At most `limit` rows from the one at `offset` (from 0), and the total.

        Raises: NotFoundError: no such record, or no such source. ReleaseError: the records cannot be read.
        """
        record_ids = self._evidence.record_ids(selection)
        if selection.record is not None:
            rows = [row for row in self._evidence.rows_of(selection.record) if selection.takes(row)]
            return Page(tuple(rows[offset : offset + limit]), len(rows))
        positions, ends = self._totals(selection.scope, selection.source)
        total = ends[-1] if ends else 0
        found: list[Row] = []
        place = bisect_right(ends, offset)
        skip = offset - (ends[place - 1] if place else 0)
        while len(found) < limit and place < len(ends):
            rows = [row for row in self._evidence.rows_of(record_ids[positions[place]]) if selection.takes(row)]
            found += rows[skip : skip + limit - len(found)]
            skip = 0
            place += 1
        return Page(tuple(found), total)

    def _add_up(self, scope: str | None, source: str | None) -> tuple[Sequence[int], Sequence[int]]:
        """Positions of the records that have such rows, and how many rows there are up to the end of each."""
        counts: dict[int, int] = {}
        with self._lock:  # two requests at once count once
            known = self._counts
        for key, (positions, numbers) in known.items():
            if scope in (None, key[0]) and source in (None, key[1]):
                for position, number in zip(positions, numbers, strict=True):
                    counts[position] = counts.get(position, 0) + number
        found = sorted(counts)
        return array("L", found), array("L", accumulate(counts[position] for position in found))

    @cached_property
    def _counts(self) -> Mapping[tuple[str, str], tuple[array[int], array[int]]]:
        """(scope, source id) -> positions of records, and how many such rows each has."""
        found: dict[tuple[str, str], tuple[array[int], array[int]]] = {}
        for position, record_id in enumerate(self._evidence.record_ids(Selection())):
            for key, number in self._evidence.count_of(record_id).items():
                positions, numbers = found.setdefault(key, (array("L"), array("L")))
                positions.append(position)
                numbers.append(number)
        return found
