"""Answers and records as text for a terminal: nothing is cut off, nothing steers the terminal."""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from evkg.finding import printable

if TYPE_CHECKING:
    from evkg.readiness import Readiness
    from evkg.related import Link
    from evkg.view import Gap, Value, View

#: A table wider than the terminal is printed as one block a row instead.
_GAP: Final = "  "
#: As narrow as a column of a table may become (columns).
_NARROWEST: Final = 8


def display_width(text: str) -> int:
    """Columns that a text takes in a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def render_table(columns: Sequence[str], rows: Sequence[Sequence[str | None]], *, width: int | None = None) -> str:
    """A table with a head, or one block a row where it would not fit; an unbound cell is `(nothing)`.

    >>> print(render_table(["system", "value"], [["NT 2.5B", "5.6"]], width=40))
    system   value
    -------  -----
    NT 2.5B  5.6
    <BLANKLINE>
    1 row
    """
    limit = width if width is not None else shutil.get_terminal_size((120, 24)).columns
    cells = [[printable(cell) if cell is not None else "(nothing)" for cell in row] for row in rows]
    widths = [max([display_width(name), *(display_width(row[i]) for row in cells)]) for i, name in enumerate(columns)]
    count = f"{len(rows)} row" if len(rows) == 1 else f"{len(rows)} rows"
    if sum(widths) + len(_GAP) * (len(widths) - 1) <= limit:
        lines = [_line(columns, widths), _line(["-" * size for size in widths], widths)]
        lines += [_line(row, widths) for row in cells]
        return "\n".join([*lines, "", count])
    label = max((display_width(name) for name in columns), default=0)
    blocks = [
        "\n".join(_pair(name, cell, label, limit) for name, cell in zip(columns, row, strict=True)) for row in cells
    ]
    return "\n\n".join([*blocks, count])


def render_narrow_table(
    columns: Sequence[str], rows: Sequence[Sequence[str | None]], *, width: int | None = None
) -> str:
    """A table with a head in any width: the widest cells are broken, after spaces and hyphens; nothing is cut off.

    >>> print(render_narrow_table(["value", "result"], [["0.9", "a-long-id-of-a-result"]], width=18))
    value  result
    -----  -----------
    0.9    a-long-id-
           of-a-result
    <BLANKLINE>
    1 row
    """
    limit = width if width is not None else shutil.get_terminal_size((120, 24)).columns
    cells = [[printable(cell) if cell is not None else "(nothing)" for cell in row] for row in rows]
    widths = [max([display_width(name), *(display_width(row[i]) for row in cells)]) for i, name in enumerate(columns)]
    least = [max(_NARROWEST, display_width(name)) for name in columns]
    while sum(widths) + len(_GAP) * (len(widths) - 1) > limit:
        loose = [(size, i) for i, (size, small) in enumerate(zip(widths, least, strict=True)) if size > small]
        if not loose:
            break
        widths[max(loose)[1]] -= 1
    lines = [_line(columns, widths), _line(["-" * size for size in widths], widths)]
    for row in cells:
        broken = [_broken(cell, size) for cell, size in zip(row, widths, strict=True)]
        for number in range(max(map(len, broken))):
            lines.append(_line([parts[number] if number < len(parts) else "" for parts in broken], widths))
    return "\n".join([*lines, "", f"{len(rows)} row" if len(rows) == 1 else f"{len(rows)} rows"])


def _broken(text: str, width: int) -> list[str]:
    """A text in lines of so many columns."""
    lines = [""]
    for part in re.findall(r"[^\s-]*[\s-]?", text):
        while display_width(lines[-1] + part.rstrip()) > width:
            if lines[-1]:
                lines.append("")
                continue
            room = max(1, next((n for n in range(len(part), 0, -1) if display_width(part[:n]) <= width), 1))
            lines[-1], part = part[:room], part[room:]
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines if line.strip()] or [""]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(
        cell + " " * (size - display_width(cell)) for cell, size in zip(cells, widths, strict=True)
    ).rstrip()


def _pair(name: str, cell: str, label: int, limit: int) -> str:
    """`name  value`, the value wrapped at words under itself."""
    room = max(20, limit - label - len(_GAP))
    lines: list[str] = []
    for word in cell.split(" "):
        if lines and display_width(lines[-1]) + 1 + display_width(word) <= room:
            lines[-1] += " " + word
        else:
            lines.append(word)
    indent = "\n" + " " * (label + len(_GAP))
    return f"{name}{' ' * (label - display_width(name))}{_GAP}{indent.join(lines)}"


def _stated(value: Value) -> str:
    doubt = f" [the record also says that this is missing: {value.also_missing}]" if value.also_missing else ""
    return f"{value.label}: {value.text}{doubt}"


def _missing(gap: Gap) -> str:
    note = f" — {gap.note}" if gap.note else ""
    doubt = " [the record also gives a value]" if gap.has_value else ""
    return f"{gap.label}: {gap.reason} ({gap.meaning}){note}{doubt}"


def _linked(link: Link) -> str:
    arrow = "← " if link.incoming else ""
    return f"{arrow}{link.label}: {link.name or '(outside this release)'} [{link.record_id}]"


def _ready(readiness: Readiness) -> Iterator[str]:
    """How many of the four capabilities there are, and what stands in the way of each."""
    found = readiness.capabilities
    yield f"{sum(capability.ready for capability in found.values())} of {len(found)} capabilities"
    for name, capability in found.items():
        when = f", verified {capability.verified_at}" if capability.verified_at else ""
        words = name.replace("_", " ")
        yield f"{words}: ready{when}" if capability.ready else f"{words}: not ready. {' · '.join(capability.blockers)}"


def render_view(view: View) -> str:
    """A record as text."""
    lines = [f"{view.kind} · {view.name}", f"  {view.record_id}", f"  {' · '.join(view.trust)}"]
    if view.headline:
        lines += ["", f"  {view.headline[0]}"]
        if view.unit_as_printed:
            lines.append(f"  unit as printed: {view.unit_as_printed}")
        lines.append(f"  {view.headline[1]}")
    lines += [f"  {_linked(link)}" for link in view.tested]
    if view.description:
        lines += ["", f"  {view.description}"]
    for concern in view.concerns:
        what = "excluded from comparisons" if concern.effect == "excludes" else "warning"
        lines += ["", f"Concern ({what}): {concern.message}", f"  at {concern.locator or 'no place recorded'}"]
    sections: list[tuple[str, list[str]]] = [
        ("Values", [_stated(value) for value in view.values]),
        (
            "Missing, with the reason",
            [_missing(gap) for gap in view.gaps],
        ),
        ("Not recorded and not explained", list(view.unexplained)),
        ("Sources", [f"{link.name or '(outside this release)'} [{link.record_id}]" for link in view.sources]),
        (
            "Related records",
            [_linked(link) for link in view.links],
        ),
        ("Review", [_stated(value) for value in view.review]),
        ("Research readiness", list(_ready(view.readiness)) if view.readiness else []),
    ]
    for title, entries in sections:
        if entries:
            lines += ["", title, *(f"  {entry}" for entry in entries)]
    lines += ["", f"Release {view.release_id}{'' if view.conforms else ' (DRAFT with violations)'}"]
    return "\n".join(printable(line) if line else "" for line in lines)
