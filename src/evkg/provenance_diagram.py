"""The diagram of the way to a record: source, retrieved, extracted, reviewed, this record; gaps drawn as gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evkg.chart import ACCENT, BAND, CAUTION, INK, PAPER, SOFT, WASH, Chart, Drawing
from evkg.chart_text import SMALL, fit, wrap
from evkg.provenance import Fact, Provenance, Step, provenance_words, read_provenance

if TYPE_CHECKING:
    from evkg.release import Release

#: Widths of a picture: beside text, and on a phone (px).
WIDE: Final = 960
NARROW: Final = 360
#: As many sources as the diagram shows (count).
SOURCES: Final = 3
_ARROW: Final = 26
_LINE: Final = 16


def provenance_diagram(way: Provenance, *, narrow: bool = False) -> Chart:
    """The diagram, left to right; `narrow` is the one for a phone, from top to bottom.

    What is not known has a dashed edge and says why in words.
    """
    drawing = Drawing(NARROW if narrow else WIDE)
    drawing.height = int(_down(drawing, way) if narrow else _across(drawing, way))
    return drawing.chart(f"Provenance of {way.name}", provenance_words(way))


def provenance_pictures(release: Release, record_id: str) -> tuple[Chart, Chart]:
    """Both diagrams of a record, for the sizes and the words of the images on its page.

    Raises: NotFoundError: no such record; names the nearest ids.

    >>> from evkg.release import open
    >>> [chart.width for chart in provenance_pictures(open(), "gena-lm")]
    [960, 360]
    """
    way = read_provenance(release, record_id, most=SOURCES)
    return provenance_diagram(way), provenance_diagram(way, narrow=True)


def _across(drawing: Drawing, way: Provenance) -> float:
    width = (drawing.width - 2 - 4 * _ARROW) / 5
    heights = [max(_height(one.source, width), _height(one.retrieved, width)) for one in way.origins]
    if len(way.origins) == 1:
        heights = [max([*heights, *(_height(step, width) for step in (way.extracted, way.reviewed, way.record))])]
    total = sum(heights) + 12 * (len(heights) - 1)
    right = max(_height(step, width) for step in (way.extracted, way.reviewed, way.record))
    right = max(right, heights[0]) if len(heights) == 1 else right
    bottom = max(total, right)
    column = [1 + number * (width + _ARROW) for number in range(5)]
    top = (bottom - right) / 2 + 1
    y = (bottom - total) / 2 + 1
    for origin, height in zip(way.origins, heights, strict=True):
        _box(drawing, origin.source, column[0], y, width, height)
        _box(drawing, origin.retrieved, column[1], y, width, height)
        _arrow(drawing, column[0] + width, y + height / 2, column[1], y + height / 2)
        end = y + height / 2 if len(heights) == 1 else top + right / 2
        _arrow(drawing, column[1] + width, y + height / 2, column[2], end)
        y += height + 12
    for number, step in enumerate((way.extracted, way.reviewed, way.record), 2):
        _box(drawing, step, column[number], top, width, right, is_end=number == 4)
        if number > 2:
            _arrow(drawing, column[number - 1] + width, top + right / 2, column[number], top + right / 2)
    return _more(drawing, way, bottom + 2)


def _down(drawing: Drawing, way: Provenance) -> float:
    width, y = drawing.width - 2, 1.0
    steps = list(way.steps)
    for number, step in enumerate(steps):
        height = _height(step, width)
        _box(drawing, step, 1, y, width, height, is_end=number == len(steps) - 1)
        y += height
        if number < len(steps) - 1:
            if steps[number + 1].title == "Source":
                y += 12
            else:
                _arrow(drawing, width / 2, y, width / 2, y + _ARROW)
                y += _ARROW
    return _more(drawing, way, y + 2)


def _more(drawing: Drawing, way: Provenance, y: float) -> float:
    if not way.more:
        return y
    drawing.text(0, y + 10, f"{way.more} more sources are in the list", size=SMALL, fill=SOFT)
    return y + 22


def _rows(fact: Fact, width: float) -> list[str]:
    if fact.is_hash:
        return [f"{fact.text[:12]}…" if len(fact.text) > 12 else fact.text]
    # A moment may break before its time of day.
    text = fact.text.replace("T", " ", 1) if fact.label == "at" and not fact.is_gap else fact.text
    return wrap(text, width - 20, most=3)


def _height(step: Step, width: float) -> float:
    return 38 + sum(_LINE + (_LINE + 2) * len(_rows(fact, width)) + 4 for fact in step.facts)


def _box(
    drawing: Drawing, step: Step, x: float, y: float, width: float, height: float, *, is_end: bool = False
) -> None:
    edge, dash = (CAUTION, (5, 4)) if step.is_gap else (ACCENT if is_end else SOFT, ())
    drawing.box(x, y, width, height, fill=WASH if step.is_gap else BAND if is_end else PAPER, stroke=edge, dash=dash)
    drawing.text(x + 10, y + 18, step.title, bold=True)
    y += 34
    for fact in step.facts:
        drawing.text(x + 10, y + _LINE / 2, fact.label, size=SMALL, fill=SOFT)
        y += _LINE
        if fact.is_gap:
            rows = len(_rows(fact, width)) * (_LINE + 2)
            drawing.line(x + 5, y, x + 5, y + rows, stroke=CAUTION, width=2, dash=(3, 2))
        for row in _rows(fact, width):
            font = "monospace" if fact.is_hash else "sans-serif"
            text = fit(row, width - 20, mono=fact.is_hash)
            drawing.text(x + 10, y + _LINE / 2 + 1, text, font=font, fill=SOFT if fact.is_gap else INK)
            y += _LINE + 2
        y += 4


def _arrow(drawing: Drawing, x: float, y: float, x2: float, y2: float) -> None:
    """A line with its head at the end; across it goes level at both ends."""
    if x == x2:
        drawing.line(x, y, x2, y2 - 6, stroke=SOFT, width=1.5)
        drawing.symbol(x2, y2 - 6, "triangle-down", size=50, fill=SOFT, stroke=SOFT)
        return
    middle = (x + x2) / 2
    drawing.line(x, y, middle, y, stroke=SOFT, width=1.5)
    drawing.line(middle, y, middle, y2, stroke=SOFT, width=1.5)
    drawing.line(middle, y2, x2 - 6, y2, stroke=SOFT, width=1.5)
    drawing.symbol(x2 - 6, y2, "triangle-right", size=50, fill=SOFT, stroke=SOFT)
