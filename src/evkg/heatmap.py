"""The heat map of completeness: a tile for each expected field of a kind, the darker the more records have a value."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from evkg.chart import CAUTION, HEAT, INK, PAPER, RULE, SOFT, Chart, Drawing
from evkg.chart_text import SMALL, TEXT, fit, wrap
from evkg.gaps import Gaps, Row
from evkg.gaps_text import share_words

#: Widths of a picture: beside text, and on a phone (px).
WIDE: Final = 1080
NARROW: Final = 360
_TILE: Final = (128, 84)
_SPACE: Final = 6


def heat_step(share: float | None) -> int:
    """Which of the five steps of darkness a share (0 to 1) has; 0 also where the field applies to no record.

    >>> [heat_step(share) for share in (None, 0.0, 0.2, 0.55, 0.99, 1.0)]
    [0, 0, 1, 2, 3, 4]
    """
    if not share:
        return 0
    return 4 if share == 1 else 1 + int(share * 3)


def heat_map(gaps: Gaps, *, narrow: bool = False) -> Chart:
    """The heat map of a release by kind and field, fields in the order of names; the numbers are those of `Gaps`.

    Under the share of each tile a bar has the parts: value, reason for a gap, and nothing said, which is dashed.
    """
    width = NARROW if narrow else WIDE
    left = 0 if narrow else 132
    per_row = (width - left + _SPACE) // (_TILE[0] + _SPACE) if not narrow else 2
    tile = ((width - _SPACE) // 2 if narrow else _TILE[0], _TILE[1])
    drawing = Drawing(width)
    y: float = _legend(drawing, narrow=narrow)
    for kind, found in groupby(gaps.rows("kind"), key=lambda row: row.kind):
        rows = list(found)
        name = kind.replace("_", " ")
        if narrow:
            drawing.text(0, y + 10, name, bold=True)
            y += 24
        else:
            for number, line in enumerate(wrap(name, left - 12)):
                drawing.text(0, y + 14 + 18 * number, line, bold=True)
        for index, row in enumerate(rows):
            column, line_number = index % per_row, index // per_row
            _tile(drawing, row, left + column * (tile[0] + _SPACE), y + line_number * (tile[1] + _SPACE), tile)
        y += -(-len(rows) // per_row) * (tile[1] + _SPACE) + 8
    drawing.height = int(y)
    return drawing.chart("Completeness by kind and field", _description(gaps))


def _tile(drawing: Drawing, row: Row, x: float, y: float, size: tuple[float, float]) -> None:
    width, height = size
    tally = row.tally
    applies = tally.all - tally.inapplicable
    drawing.box(x, y, width, height, fill=HEAT[heat_step(tally.share)])
    for number, line in enumerate(_broken(row.field, width - 12)):
        drawing.text(x + 6, y + 12 + 14 * number, line, size=SMALL)
    share = share_words(tally) if applies else "applies to none"
    drawing.text(x + 6, y + height - 24, fit(share, width - 12, SMALL), size=SMALL, bold=True)
    drawing.box(x + 6, y + height - 13, width - 12, 7, fill=PAPER, stroke=SOFT)
    if applies:
        room, start = width - 12, x + 6.0
        for number, fill in ((tally.value, INK), (tally.known_gaps - tally.inapplicable, RULE)):
            if number:
                drawing.box(start, y + height - 13, room * number / applies, 7, fill=fill, stroke=SOFT)
            start += room * number / applies
        if tally.nothing:
            middle = y + height - 9.5
            drawing.line(start + 1, middle, x + 6 + room - 1, middle, stroke=CAUTION, width=5, dash=(3, 2))


def _broken(name: str, room: float) -> Sequence[str]:
    """The name of a field in at most three lines, broken where it has its own marks."""
    return wrap(name, room, SMALL, most=3)


def _legend(drawing: Drawing, *, narrow: bool) -> float:
    """What the signs mean; the y where the tiles begin."""
    x, y = 0.0, 12.0
    words = ("no value", "under a third", "under two thirds", "not all", "all have a value")
    for step, word in enumerate(words):
        drawing.box(x, y - 7, 14, 14, fill=HEAT[step], stroke=SOFT)
        drawing.text(x + 20, y, word, size=SMALL, fill=SOFT)
        x += 150 if narrow else 144
        if narrow and step % 2 == 1:
            x, y = 0.0, y + 20.0
    x, y = 0.0, y + 22
    for word, fill in (("value", INK), ("reason given", RULE), ("nothing said", "")):
        if fill:
            drawing.box(x, y - 4, 14, 7, fill=fill, stroke=SOFT)
        else:
            drawing.line(x, y, x + 14, y, stroke=CAUTION, width=5, dash=(3, 2))
        drawing.text(x + 20, y, word, size=SMALL, fill=SOFT)
        x += 112 if narrow else 144
    return y + 24 + (TEXT - SMALL)


def _description(gaps: Gaps) -> str:
    """The sum, and the fields that no record explains most often."""
    total = gaps.total
    rows = [row for row in gaps.rows("kind") if row.tally.nothing]
    worst = sorted(rows, key=lambda row: (-row.tally.nothing, row.label))[:5]
    said = "; ".join(f"{row.label.replace('_', ' ')}: {row.tally.nothing} of {row.tally.all}" for row in worst)
    applies = total.all - total.inapplicable
    head = f"Of {applies} expected fields {total.value} have a value, and of {total.nothing} nothing is said."
    return f"{head} Most often silent: {said}." if said else head
