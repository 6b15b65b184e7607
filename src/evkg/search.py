"""Search: what a reader asks for, the records that answer it in their order, and counts for every way to narrow it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from evkg.errors import UsageError, excerpt
from evkg.facet import SEARCH, Chosen, Facet, address, read_chosen
from evkg.search_index import SearchIndex, as_set, members
from evkg.search_text import Part, read_query

Sort = Literal["relevance", "name", "id"]
SORTS: Final[tuple[Sort, ...]] = ("relevance", "name", "id")
#: Records of a page, and the largest number that is taken for a page (count).
PAGE: Final = 25
_MOST_PAGES: Final = 10**6
#: How many searches are kept for the next page or filter (count).
_KEPT: Final = 64


@dataclass(frozen=True)
class Selection:
    """What is asked for; `chosen` are the values of facets. `page` counts from 1."""

    text: str = ""
    chosen: tuple[tuple[str, tuple[str, ...]], ...] = ()
    sort: Sort = "relevance"
    page: int = 1

    @property
    def filters(self) -> dict[str, tuple[str, ...]]:
        """The chosen values by facet."""
        return dict(self.chosen)

    def url(self, path: str, chosen: Chosen | None = None, *, page: int = 1, sort: Sort | None = None) -> str:
        """The address of this selection, with another choice, page or order."""
        others: dict[str, str | int] = {"q": self.text, "sort": sort or self.sort, "page": page}
        others = {name: value for name, value in others.items() if value not in ("relevance", 1)}
        return address(path, self.filters if chosen is None else chosen, **others)


@dataclass(frozen=True, slots=True)
class Count:
    """One value of a facet, and how many records would be left with it (count)."""

    value: str
    records: int
    is_chosen: bool


@dataclass(frozen=True)
class Found:
    """The answer: all records that fit in their order (`numbers`), and counts by facet; the most frequent first."""

    selection: Selection
    parts: tuple[Part, ...]
    numbers: Sequence[int]
    facets: Mapping[str, tuple[Count, ...]]
    doubtful: int  # of those found, how many are in doubt, superseded or excluded (count)

    @property
    def total(self) -> int:
        return len(self.numbers)

    @property
    def pages(self) -> int:
        """How many pages there are; one where nothing is found."""
        return max(1, -(-self.total // PAGE))

    @property
    def page(self) -> Sequence[int]:
        """The records of the page asked for."""
        start = (self.selection.page - 1) * PAGE
        return self.numbers[start : start + PAGE]


def read_selection(pairs: Sequence[tuple[str, str]], facets: Sequence[Facet] = SEARCH) -> Selection:
    """The selection in the parameters of an address; unknown ones are ignored.

    Raises: UsageError: a value that cannot be, or one that may stand once only and stands twice.

    >>> read_selection([("q", " 5.6 "), ("kind", "result"), ("page", "2")])
    Selection(text='5.6', chosen=(('kind', ('result',)),), sort='relevance', page=2)
    """
    single: dict[str, str] = {}
    for name, value in pairs:
        if name in ("q", "sort", "page"):
            if name in single:
                raise UsageError(f"The parameter {name} is given twice.")
            single[name] = value.strip()
    sort = single.get("sort") or "relevance"
    known = next((name for name in SORTS if name == sort), None)
    if known is None:
        raise UsageError(f"There is no order {excerpt(sort, 40)!r}; there are {', '.join(SORTS)}.")
    page = single.get("page") or "1"
    if not (page.isascii() and page.isdecimal() and len(page) <= 7 and 1 <= int(page) <= _MOST_PAGES):
        raise UsageError(f"page must be a whole number from 1, not {excerpt(page, 40)!r}.")
    text = single.get("q", "")
    read_query(text)  # a search that is too long is told before anything else
    chosen = read_chosen(pairs, facets)
    return Selection(text, tuple(chosen.items()), known, int(page))


class Search:
    """Searches of one index; `within` keeps all of them to one value of a facet. What was found is kept for a while."""

    def __init__(
        self, index: SearchIndex, facets: Sequence[Facet] = SEARCH, within: tuple[str, str] | None = None
    ) -> None:
        self.index = index
        self._facets = facets
        self._scope = index.everything if within is None else index.facets.get(within[0], {}).get(within[1], 0)
        self._kept = lru_cache(maxsize=_KEPT)(self._find)
        self._looked_up = lru_cache(maxsize=_KEPT)(self._look_up)

    def find(self, selection: Selection) -> Found:
        """The records that hold every part of the text and fit every facet. The order is always the same.

        First the record of this very id, then those of this very name, then of this printed value, then by how well
        the words fit (bm25), equal ones by id.

        Raises: QueryLimitError: it takes too long. ReleaseError: the index cannot be read.
        """
        return replace(self._kept(replace(selection, page=1)), selection=selection)

    def _find(self, selection: Selection) -> Found:
        parts, order, words = self._looked_up(selection.text)
        chosen = selection.filters
        masks = {
            facet.name: self._either(facet.name, chosen[facet.name]) for facet in self._facets if facet.name in chosen
        }
        fitting = words
        for mask in masks.values():
            fitting &= mask
        counts: dict[str, tuple[Count, ...]] = {}
        for facet in self._facets:
            rest = words
            for name, mask in masks.items():
                rest &= mask if name != facet.name else -1
            counts[facet.name] = tuple(self._count(facet.name, rest, chosen.get(facet.name, ())))
        doubtful = fitting & ~self.index.facets.get("doubt", {}).get("none", 0)
        numbers = self._sorted(selection.sort, order, fitting)
        return Found(selection, parts, numbers, counts, doubtful.bit_count())

    def _look_up(self, text: str) -> tuple[tuple[Part, ...], dict[int, tuple[int, float]], int]:
        """(parts, record -> its rank, set of the records); a text without words is found as id or name at most."""
        parts = tuple(read_query(text))
        if not text:
            return parts, {}, self._scope
        scores = self.index.scores(parts) if parts else {}
        order = {number: (3, score) for number, score in scores.items()}
        order |= {number: (rank, 0.0) for number, rank in self.index.exact(text).items()}
        return parts, order, as_set(order) & self._scope

    def _either(self, facet: str, values: Iterable[str]) -> int:
        known, found = self.index.facets.get(facet, {}), 0
        for value in values:
            found |= known.get(value, 0)
        return found

    def _count(self, facet: str, records: int, chosen: Sequence[str]) -> list[Count]:
        known = self.index.facets.get(facet, {})
        counts = [Count(value, (records & mask).bit_count(), value in chosen) for value, mask in known.items()]
        counts += [Count(value, 0, True) for value in chosen if value not in known]
        counts = [count for count in counts if count.records or count.is_chosen]
        return sorted(counts, key=lambda count: (-count.records, count.value))

    def _sorted(self, sort: Sort, order: Mapping[int, tuple[int, float]], records: int) -> list[int]:
        numbers = members(records)
        if sort == "name" or (sort == "relevance" and not order):
            return sorted(numbers, key=self.index.by_name.__getitem__)
        if sort == "relevance":
            return sorted(numbers, key=lambda number: (*order[number], number))
        return numbers
