"""Evidence rows as CSV for spreadsheets and as JSON Lines for programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from evkg.evidence import COLUMNS, Row
from evkg.jsontext import encode_json

#: What a spreadsheet may take for a formula: `= + - @` after any space, and a cell that begins with a tab or a line
#: break, which some drop before they look.
_FORMULA: Final = re.compile("[\\s\ufeff]*[=+\\-@]|[\t\r\n]")


def csv_lines(rows: Iterable[Row]) -> Iterator[str]:
    r"""The lines of a CSV table, the head first, each with its line feed; line breaks inside cells stay.

    Every cell is quoted. One that a spreadsheet could take for a formula gets an apostrophe in front, so a negative
    number reads `'-1`; JSON Lines keep it exact.

    Sources: contract section 12.3; RFC 4180, section 2 (quotes), whose line breaks are CR LF: here LF, as in the
    catalogue's table.

    >>> next(csv_lines([]))[:23]
    '"row_id","release_id","'
    """
    yield csv_line(COLUMNS)
    for row in rows:
        yield csv_line(row)


def csv_cell(text: str) -> str:
    r"""One cell in quotes.

    >>> [csv_cell(text) for text in ("5.6", " =1+1", "-0.3", "\ta", "a-b")]
    ['"5.6"', '"\' =1+1"', '"\'-0.3"', '"\'\ta"', '"a-b"']
    >>> csv_cell('say "no"') == '"say ""no""' + '"'
    True
    """
    guarded = f"'{text}" if _FORMULA.match(text) else text
    return f'"{guarded.replace(chr(34), chr(34) * 2)}"'


def csv_line(cells: Iterable[str]) -> str:
    """The line of these cells, with its line feed.

    >>> print(csv_line(["a", "=1"]), end="")
    "a","'=1"
    """
    return ",".join(map(csv_cell, cells)) + "\n"


def jsonl_lines(rows: Iterable[Row]) -> Iterator[str]:
    r"""One object of texts a line, keys in the order of the columns; without any row a single line feed.

    Source: contract section 12.3.

    >>> list(jsonl_lines([]))
    ['\n']
    """
    is_empty = True
    for row in rows:
        is_empty = False
        yield encode_json(dict(zip(COLUMNS, row, strict=True))) + "\n"
    if is_empty:
        yield "\n"


#: The formats of the table by name.
TABLES: Final = {"csv": csv_lines, "jsonl": jsonl_lines}
