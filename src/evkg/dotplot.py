"""The dot plot of a comparison group: values where they lie, as printed beside, with the uncertainty that is stated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from evkg.chart import ACCENT, BAND, INK, PAPER, RULE, SOFT, Chart, Drawing
from evkg.chart_text import SMALL, TEXT, fit, wrap
from evkg.leaderboard_group import Entry, Group

#: Widths of a picture: beside text, and on a phone (px).
WIDE: Final = 760
NARROW: Final = 360
#: As many results as one picture shows (count).
MOST: Final = 40
#: A scale is logarithmic where the largest number is more than so many times the smallest, and all are positive.
LOG_FROM: Final = 100

#: Nearer to zero than this a number has no place on a scale, nor larger than its inverse.
_LEAST: Final = Decimal("1e-100")
_BETTER: Final = {"higher": "higher is better →", "lower": "← lower is better"}


def is_log(numbers: Sequence[Decimal]) -> bool:
    """Whether numbers want a logarithmic scale: all positive, and more than two decades apart.

    >>> [is_log([Decimal(a), Decimal(b)]) for a, b in (("0.1", "10.1"), ("0.1", "10"), ("0", "900"))]
    [True, False, False]
    """
    return bool(numbers) and min(numbers) > 0 and max(numbers) > LOG_FROM * min(numbers)


def shown(group: Group) -> list[Entry]:
    """The results of a group that its picture shows: at most 40, with a number that a scale can have.

    None where the numbers do not lie on one scale: nothing is converted, so no picture may set them side by side.
    """
    if not group.is_one_scale:
        return []
    return [entry for entry in group.entries if all(map(_has_place, (entry.value, *(entry.interval or ()))))][:MOST]


def _has_place(number: Decimal | None) -> bool:
    """Whether a number is neither missing nor too large or too small for arithmetic with doubles."""
    return number is not None and (number == 0 or _LEAST < abs(number) < 1 / _LEAST)


def dot_plot(group: Group, *, narrow: bool = False) -> Chart:
    """The dot plot of a group; `narrow` is the one for a phone, with each name above its dot.

    The best, by the direction of the group, is a diamond and says so in words. A band holds those that cannot be told
    from the best as printed. A bound points to where it leaves the value open.
    """
    entries = shown(group)
    numbers = [number for entry in entries for number in (entry.value, *(entry.interval or ())) if number is not None]
    scale = "log" if is_log(numbers) else "linear"
    width = NARROW if narrow else WIDE
    has_spread = any(entry.member.uncertainty for entry in entries)
    row = 46 if narrow else 42 if has_spread else 32
    left, right = (14, 14) if narrow else (236, 216)
    head = 34
    plot_width, plot_height = width - left - right, row * len(entries)
    drawing = Drawing(width)
    labels = _labels(entries)
    for index, entry in enumerate(entries):
        member, top = entry.member, head + index * row
        drawing.line(0, top, width, top)
        if narrow:
            drawing.line(left, top + 32, width - right, top + 32, dash=(1, 3), stroke=SOFT)
        value = f"{member.printed_value or 'no printed value'}{' best' if member.is_best else ''}"
        spread = member.uncertainty or ""
        room = 150 if narrow else right - 14
        drawing.text(
            width if narrow else width - right + 14,
            top + (14 if narrow else row / 2 - (9 if spread else 0)),
            fit(value, room, TEXT, mono=True),
            font="monospace",
            bold=member.is_best,
            align="right" if narrow else "left",
        )
        if spread and not narrow:
            drawing.text(width - right + 14, top + row / 2 + 10, fit(spread, room, SMALL), size=SMALL, fill=SOFT)
        label_y = top + (14 if narrow else row / 2)
        drawing.text(0, label_y, fit(labels[index], width - 164 if narrow else left - 22), bold=member.is_best)
    drawing.line(0, head + plot_height, width, head + plot_height, stroke=SOFT)
    better = _BETTER.get(group.direction, "no direction is better")
    at_right = group.direction == "higher"
    x = left + plot_width if at_right else left
    drawing.text(x, head - 16, better, size=SMALL, fill=SOFT, align="right" if at_right else "left")
    drawing.plots.append(_plot(entries, scale, numbers, (left, head, plot_width, plot_height), row, narrow=narrow))
    base = head + plot_height + 42
    title = _title(group)
    drawing.text(
        left + plot_width / 2 if not narrow else width / 2,
        base,
        fit(f"{title}{' · log scale' if scale == 'log' else ''}", width - 20, SMALL),
        size=SMALL,
        align="center",
    )
    drawing.height = base + 16
    for words, shape in _legend(group, entries):
        for number, line in enumerate(wrap(words, width - 30, SMALL)):
            drawing.height += 16 if number else 20
            y = drawing.height - 12
            drawing.text(26, y, line, size=SMALL, fill=SOFT)
            if not number:
                _key(drawing, 8, y, shape)
    drawing.height += 4
    said = f"{title}; {group.left_out_words}" if group.left_out else title
    return drawing.chart(said, _description(group, entries, scale))


def _title(group: Group) -> str:
    qualifier = group.shared.get("metric_qualifier", "none")
    unit = group.unit or "as fractions: percents are hundredths"
    return f"{group.metric} ({unit}){'' if qualifier == 'none' else f', {qualifier}'}"


def _labels(entries: Sequence[Entry]) -> list[str]:
    """The systems; where one occurs twice, with what tells the ids of its results apart."""
    names = [entry.member.system or entry.member.name for entry in entries]
    counts = Counter(names)
    labels = []
    for entry, name in zip(entries, names, strict=True):
        if counts[name] > 1:
            ids = [other.member.id for other, same in zip(entries, names, strict=True) if same == name]
            start = next((i for i, letters in enumerate(zip(*ids, strict=False)) if len(set(letters)) > 1), 0)
            name = f"{name} · {entry.member.id[entry.member.id.rfind('-', 0, start) + 1 :]}"
        labels.append(name)
    return labels


def _plot(
    entries: Sequence[Entry],
    scale: str,
    numbers: Sequence[Decimal],
    place: tuple[float, float, float, float],
    row: int,
    *,
    narrow: bool,
) -> dict[str, Any]:
    """The part with scale and axis, as a group mark of Vega."""
    x, y, width, height = place
    low, high = _domain(numbers, scale)
    axis: dict[str, Any] = {
        "orient": "bottom",
        "scale": "x",
        "format": _format(low, high),
        "zindex": 0,
        "grid": not narrow,
    }
    axis |= {"gridColor": RULE, "domainColor": SOFT, "tickColor": SOFT, "labelColor": SOFT}
    axis |= {"labelFontSize": SMALL, "labelOverlap": False, "labelFlush": False}
    if scale == "log":
        axis["values"] = _decades(low, high, 4 if narrow else 7)
    else:
        axis["tickCount"] = 3 if narrow else 5
    middle = 32 if narrow else row / 2
    dots = [_dot(entry, index * row + middle) for index, entry in enumerate(entries)]
    spans = [
        {"y": index * row + middle, "a": float(entry.interval[0]), "b": float(entry.interval[1])}
        for index, entry in enumerate(entries)
        if entry.interval and (scale == "linear" or entry.interval[0] > 0)
    ]
    caps = [{"y": span["y"], "a": span[end]} for span in spans for end in ("a", "b")]
    band = tie_band(entries)
    bands = [] if band is None else [{"a": max(float(band[0]), low), "b": min(float(band[1]), high)}]
    at = {"scale": "x"}
    across = {"x": {**at, "field": "a"}, "x2": {**at, "field": "b"}}
    cap = {"x": {**at, "field": "a"}, "y": {"field": "y", "offset": -5}, "y2": {"field": "y", "offset": 5}}
    dot = {"x": {**at, "field": "x"}, **{channel: {"field": channel} for channel in ("y", "shape", "size", "fill")}}
    marks: list[dict[str, Any]] = [
        _mark("rect", bands, {**across, "y": {"value": 0}, "y2": {"value": height}}, fill=BAND),
        _mark("rule", spans, {**across, "y": {"field": "y"}}, stroke=INK, strokeWidth=2),
        _mark("rule", caps, cap, stroke=INK, strokeWidth=2),
        _mark("symbol", dots, dot, stroke=ACCENT, strokeWidth=2),
    ]
    return {
        "type": "group",
        "encode": {
            "enter": {"x": {"value": x}, "y": {"value": y}, "width": {"value": width}, "height": {"value": height}}
        },
        "signals": [{"name": "width", "value": width}, {"name": "height", "value": height}],
        "data": [{"name": f"plot{number}", "values": mark.pop("values")} for number, mark in enumerate(marks)],
        "scales": [
            {"name": "x", "type": scale, "domain": [low, high], "range": [0, width], "zero": False, "nice": False}
        ],
        "axes": [axis],
        "marks": [{**mark, "from": {"data": f"plot{number}"}} for number, mark in enumerate(marks)],
    }


def _mark(kind: str, values: list[dict[str, Any]], channels: dict[str, Any], **constants: Any) -> dict[str, Any]:
    fixed = {name: {"value": value} for name, value in constants.items()}
    return {"type": kind, "values": values, "encode": {"enter": {**channels, **fixed}}}


def _dot(entry: Entry, y: float) -> dict[str, Any]:
    member = entry.member
    if member.is_bound:
        points_left = (member.printed_value or "").strip().startswith(("<", "≤"))
        shape = "triangle-left" if points_left else "triangle-right"
    else:
        shape = "diamond" if member.is_best else "circle"
    fill = PAPER if member.is_bound else ACCENT
    return {"x": float(entry.value or 0), "y": y, "shape": shape, "size": 150 if member.is_best else 80, "fill": fill}


def _domain(numbers: Sequence[Decimal], scale: str) -> tuple[float, float]:
    """From a little below the smallest to a little above the largest; whole decades on a logarithmic scale."""
    low, high = min(numbers), max(numbers)
    if scale == "log":
        return float(Decimal(1).scaleb(low.adjusted())), float(Decimal(1).scaleb(high.adjusted() + 1))
    room = (high - low) * Decimal("0.06") or abs(high) * Decimal("0.1") or Decimal(1)
    return float(low - room), float(high + room)


def _decades(low: float, high: float, most: int) -> list[float]:
    first, last = Decimal(repr(low)).adjusted(), Decimal(repr(high)).adjusted()
    step = -(-(last - first + 1) // most)
    return [float(Decimal(1).scaleb(power)) for power in range(first, last + 1, step)]


def _format(low: float, high: float) -> str:
    """How numbers stand on an axis: a format of d3. Source: d3-format, "Format specifier"."""
    largest = max(abs(low), abs(high))
    return "~g" if largest >= 1e6 or largest < 1e-3 else ",~f"


def tie_band(entries: Sequence[Entry]) -> tuple[Decimal, Decimal] | None:
    """From where to where the values lie that cannot be told from the best as printed; None where the best is alone.

    It reaches half a unit of the last printed place, of the coarsest, beyond them.
    """
    best = [entry for entry in entries if entry.member.is_best and entry.value is not None]
    if len(best) < 2:
        return None
    values = [entry.value for entry in best if entry.value is not None]
    decimals = [entry.decimals for entry in best if entry.decimals is not None]
    half = Decimal(5).scaleb(-1 - min(decimals)) if decimals else Decimal(0)
    return min(values) - half, max(values) + half


def _legend(group: Group, entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    kinds = sorted({entry.interval_kind for entry in entries if entry.interval and entry.interval_kind})
    if group.left_out:
        yield f"loosened, none is best; left out on request: {', '.join(group.left_out)}", ""
    if any(entry.member.is_best for entry in entries):
        yield "best in this group", "diamond"
    if tie_band(entries) is not None:
        yield "best values that cannot be told apart as printed", "band"
    if kinds:
        yield f"{', '.join(kind.lower() for kind in kinds)}, as the record states it", "span"
    if any(entry.member.is_bound for entry in entries):
        yield "printed as a bound: it has no rank", "bound"
    left = len(group.entries) - len(entries)
    if left:
        yield f"{left} more stand in the table only", ""


def _key(drawing: Drawing, x: float, y: float, shape: str) -> None:
    if shape == "diamond":
        drawing.symbol(x, y, "diamond", size=100)
    elif shape == "bound":
        drawing.symbol(x, y, "triangle-left", size=60, fill=PAPER)
    elif shape == "band":
        drawing.box(x - 8, y - 7, 16, 14, fill=BAND, stroke="")
    elif shape == "span":
        drawing.line(x - 8, y, x + 8, y, stroke=INK, width=2)


def _description(group: Group, entries: Sequence[Entry], scale: str) -> str:
    said = [
        f"{entry.member.system or entry.member.name} {entry.member.printed_value or 'no printed value'}"
        f"{' (best)' if entry.member.is_best else ''}"
        for entry in entries
    ]
    words = {"higher": "Higher is better.", "lower": "Lower is better."}
    name = "logarithmic" if scale == "log" else scale
    better = words.get(group.direction, "No direction is better.")
    left_out = f" Left out on request: {', '.join(group.left_out)}." if group.left_out else ""
    return f"Dot plot of {len(entries)} results on a {name} scale. {better}{left_out} {'; '.join(said)}."
