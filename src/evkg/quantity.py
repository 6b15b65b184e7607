"""Quantities of a record: whether value, unit, bounds, direction and uncertainty can be true together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from evkg.errors import excerpt
from evkg.finding import Finding
from evkg.jsontext import Json
from evkg.printed import Printed, as_decimal, read_printed, shifted
from evkg.record import Record
from evkg.scalar import Path
from evkg.vocabulary import Concept, Vocabulary

_INTERVALS: Final = ("confidence_interval", "credible_interval")
_VALUE: Final[Path] = ("attributes", "numeric_value")
_UNIT: Final[Path] = ("attributes", "unit")
#: Units that say that one stands for the whole, and those that leave it open.
_WHOLE_IS_ONE: Final = ("fraction", "unitless")
_OPEN: Final = (None, "", "unit-unreported")
#: Words of a qualifier under which a value is no longer one of the metric itself.
_OF_ANOTHER_SCALE: Final = re.compile(
    r"differen|delta|[ΔδΔ∆]|\bchange|\bgain|improv|relative|minus|normali[sz]ed|scaled|z-?score|ratio|\blog|drop|increase|decrease|reduction",
    re.IGNORECASE,
)


def check_quantities(record: Record, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Findings on the numbers of a record that cannot be right together.

    Bounds and default directions are those of the scheme metric. Source: design section 2, rule 1.
    """
    attributes = record.attributes
    metric = vocabulary.schemes["metric"].concepts.get(_text(attributes.get("metric")))
    if metric is not None:
        yield from _direction(record, metric)
    yield from _interval(record)
    if record.kind != "result":
        return
    written = _text(attributes.get("printed_value"))
    printed = None if written == attributes.get("numeric_value") else read_printed(written)
    number = as_decimal(_text(attributes.get("numeric_value")))
    if number is None:
        return
    if printed is not None:
        yield from _printed_and_numeric(record, printed, number)
    if metric is not None:
        yield from _bounds(record, metric, number, printed)
    yield from _uncertainty(record, number)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _direction(record: Record, metric: Concept) -> Iterator[Finding]:
    stated = _text(record.attributes.get("metric_direction"))
    if isinstance(stated, str) and {stated, metric.direction} == {"higher", "lower"}:
        message = f"metric_direction says {stated}, but of {metric.key} {metric.direction} values are the better ones."
        fix = f"Write metric_direction: {metric.direction}, or say under metric_qualifier what makes it otherwise here."
        yield record.finding("warning", "direction-differs", ("attributes", "metric_direction"), message, fix)


def _printed_and_numeric(record: Record, printed: Printed, number: Decimal) -> Iterator[Finding]:
    """A printed number beside another number for computing."""
    if printed.agrees(number):
        return
    as_written = excerpt(_text(record.attributes["printed_value"]))
    numeric = excerpt(_text(record.attributes["numeric_value"]))
    rule, first = "printed-and-numeric-differ", printed.readings[0]
    if number in (shifted(first, 2), shifted(first, -2)):
        message = f"printed_value says {as_written!r}, numeric_value is {numeric}: one is a percentage of the other."
        fix = f"Write numeric_value as printed: {excerpt(str(first))}, with the unit that belongs to it."
        yield record.finding("warning", rule, _VALUE, message, fix)
    elif printed.kind in ("exact", "spread"):
        message = f"printed_value says {as_written!r}, but numeric_value is {numeric}."
        fix = f"Check both against the source; numeric_value is the printed number: {excerpt(str(first))}."
        yield record.finding("violation", rule, _VALUE, message, fix)
    else:
        message = f"numeric_value is {numeric}, which is not what printed_value says: {as_written!r}."
        fix = "Check both against the source; of a bound or a range, numeric_value is one number inside it, or null."
        yield record.finding("warning", rule, _VALUE, message, fix)


def _bounds(record: Record, metric: Concept, number: Decimal, printed: Printed | None) -> Iterator[Finding]:
    """A value that its metric cannot take, or only on the other scale of percent and fraction."""
    low = Decimal(metric.minimum) if metric.minimum is not None else None
    high = Decimal(metric.maximum) if metric.maximum is not None else None
    unit, value = record.attributes.get("unit"), excerpt(_text(record.attributes["numeric_value"]))
    is_share = high == 1
    if is_share and unit not in (*_WHOLE_IS_ONE, *_OPEN, "percent"):
        return
    as_percent = is_share and not _is_outside(number, low, high, 2)
    says_percent = printed is not None and printed.is_percent and number in printed.readings
    if not _is_outside(number, low, high, 2 if unit == "percent" else 0):
        if is_share and unit == "percent" and 0 < abs(number) <= 1 and not says_percent:
            message = f"{value} percent is very little for {metric.key}; it may be a fraction."
            fix = "Write unit: fraction if one stands for the whole; keep percent if the source prints that."
            yield record.finding("info", "percent-and-fraction", _UNIT, message, fix)
        elif is_share and unit in _WHOLE_IS_ONE and says_percent:
            message = f"printed_value is a percentage, but unit says {unit}."
            yield record.finding("warning", "percent-and-fraction", _UNIT, message, "Write unit: percent.")
    elif as_percent and unit != "percent":
        if unit in _WHOLE_IS_ONE:
            span = _span(low, high)
            message = f"{value} with the unit {unit} is no possible value of {metric.key}, which goes {span}"
            message += "; in percent it is."
            fix = "Write unit: percent if the source prints percent, or unit: unit-unreported if it does not say."
            yield record.finding("warning", "percent-and-fraction", _UNIT, message, fix)
    else:
        of_another = _OF_ANOTHER_SCALE.search(_text(record.attributes.get("metric_qualifier")))
        percent = " (times a hundred in percent)" if is_share else ""
        message = f"{value} is no possible value of {metric.key}, which goes {_span(low, high)}{percent}."
        fix = "Check numeric_value, metric and unit against the source; a difference or a ratio is a metric of its own."
        severity = "warning" if of_another else "violation"
        yield record.finding(severity, "outside-bounds", _VALUE, message, fix)


def _is_outside(number: Decimal, low: Decimal | None, high: Decimal | None, places: int) -> bool:
    return (low is not None and number < shifted(low, places)) or (high is not None and number > shifted(high, places))


def _span(low: Decimal | None, high: Decimal | None) -> str:
    if low is None or high is None:
        return f"from {low} up" if high is None else f"up to {high}"
    return f"from {low} to {high}"


def _uncertainty(record: Record, number: Decimal) -> Iterator[Finding]:
    """An interval that its value lies outside of, or that is given twice. Source: contract section 6 (uncertainty)."""
    value = record.attributes.get("uncertainty")
    if not isinstance(value, dict) or value.get("type") not in _INTERVALS or "center" in value:
        return
    low, high = as_decimal(_text(value.get("lower"))), as_decimal(_text(value.get("upper")))
    other_unit = _text(value.get("unit")) not in ("", _text(record.attributes.get("unit")))
    if low is None or high is None or low > high or low <= number <= high or other_unit:
        return
    path: Path = ("attributes", "uncertainty")
    numeric = excerpt(_text(record.attributes["numeric_value"]))
    span = f"from {excerpt(_text(value['lower']))} to {excerpt(_text(value['upper']))}"
    if any(low <= shifted(number, places) <= high for places in (2, -2)):
        message = f"The interval {span} holds numeric_value {numeric} only as a percentage."
        fix = "Write the bounds as the source prints them, and under unit of the uncertainty the unit that they have."
    else:
        message = f"The interval {span} does not hold its value, {numeric}."
        fix = "Check all three against the source; if the interval is around another number, write that as center."
    yield record.finding("warning", "value-outside-interval", path, message, fix)


def _interval(record: Record) -> Iterator[Finding]:
    """An interval given twice. Source: contract section 6 (uncertainty: bounds, or half_width)."""
    value = record.attributes.get("uncertainty")
    if isinstance(value, dict) and value.get("type") in _INTERVALS and {"lower", "upper", "half_width"} <= set(value):
        message = "The interval has lower and upper and also half_width."
        path: Path = ("attributes", "uncertainty", "half_width")
        fix = "Keep what the source prints: lower and upper, or half_width."
        yield record.finding("warning", "bounds-and-half-width", path, message, fix)
