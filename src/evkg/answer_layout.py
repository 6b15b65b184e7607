"""Answers laid out for reading: of many columns the chief ones, the others one tap away, and nothing said twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from evkg.answer_table import AnswerTable, Cell, id_column

#: Up to how many columns stand side by side, and how many do where there are more (count).
SIDE_BY_SIDE: Final = 8
_CHIEF: Final = 7


@dataclass(frozen=True, slots=True)
class Heading:
    """A column that is shown: its place in the answer, its name, the address that sorts by it, how it is sorted now
    (`ascending`, `descending` or nothing), and whether it holds numbers alone.
    """

    at: int
    name: str
    href: str
    sorted: str = ""
    is_number: bool = False


@dataclass(frozen=True)
class Layout:
    """How the columns of an answer are shown: `chief` side by side, `more` beneath each row on request.

    `shared` has what is the same in all rows, `empty` the names of columns without any value, `ids` those of
    columns that hold no more than the links of others.
    """

    chief: tuple[Heading, ...]
    more: tuple[Heading, ...] = ()
    shared: tuple[tuple[str, Cell], ...] = ()
    empty: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


def lay_out(table: AnswerTable, address: Callable[[str], str], sort: str = "") -> Layout:
    """The layout of an answer. `address` gives the address for an order, which is the name of a column, with a minus
    before it the other way round; `sort` is the order that it has.

    >>> cells = tuple(Cell(str(n)) for n in range(9))
    >>> table = AnswerTable(tuple("abcdefghi"), (cells, (*cells[:8], Cell("x"))), 2)
    >>> layout = lay_out(table, "?sort={}".format)
    >>> [name for name, _ in layout.shared], [heading.name for heading in layout.chief], layout.chief[0].href
    (['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], ['i'], '?sort=i')
    """
    places = range(len(table.columns))
    columns = list(zip(*table.rows, strict=True)) or [() for _ in places]

    def heading(at: int) -> Heading:
        name = table.columns[at]
        way = {name: "ascending", f"-{name}": "descending"}.get(sort, "")
        bound = [cell for cell in columns[at] if cell]
        is_number = bool(bound) and all(cell.number is not None for cell in bound)
        return Heading(at, name, address(f"-{name}" if way == "ascending" else name), way, is_number)

    if len(places) <= SIDE_BY_SIDE:
        return Layout(tuple(map(heading, places)))
    is_sorted = {sort.removeprefix("-")}
    ids = [at for at in places if _is_link_of_another(table, columns, at)]
    empty = [at for at in places if table.rows and not any(cell and cell.text for cell in columns[at])]
    shared = [
        (table.columns[at], first)
        for at in places
        if len(table.rows) > 1
        and at not in ids
        and (first := columns[at][0])
        and first.text
        and set(columns[at]) == {first}
    ]
    apart = {name for name, _ in shared} - is_sorted
    left = [at for at in places if at not in ids and at not in empty and table.columns[at] not in apart]
    if not left:  # all rows are alike, so nothing tells them apart but their number
        apart, left = set(), [at for at in places if at not in ids and at not in empty]
    chief = left if len(left) <= SIDE_BY_SIDE else left[:_CHIEF]
    chief += [at for at in left if at not in chief and table.columns[at] in is_sorted]
    return Layout(
        tuple(map(heading, chief)),
        tuple(heading(at) for at in left if at not in chief),
        tuple((name, cell) for name, cell in shared if name in apart),
        tuple(table.columns[at] for at in empty),
        tuple(table.columns[at] for at in ids),
    )


def _is_link_of_another(table: AnswerTable, columns: list[tuple[Cell | None, ...]], at: int) -> bool:
    """Whether a column holds the ids of what another column names, and that leads to the same pages everywhere."""
    named = [place for place, name in enumerate(table.columns) if place != at and id_column(name) == table.columns[at]]
    return any(
        any(columns[at])
        and all(
            one is None or (other is not None and one.is_local and one.link == other.link)
            for one, other in zip(columns[at], columns[place], strict=True)
        )
        for place in named
    )
