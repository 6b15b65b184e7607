"""Quantities: printed and numeric value, bounds of metrics, percent and fraction, directions, intervals."""

from __future__ import annotations

import time
from typing import Any

import pytest

from evkg.finding import Finding
from evkg.keys import check_keys
from evkg.vocabulary import Vocabulary
from tests.builds import record
from tests.strategies import as_record


def findings(vocabulary: Vocabulary, kind: str, **attributes: Any) -> list[Finding]:
    return check_keys(as_record(record("r", kind, attributes=attributes)), vocabulary)


def found(vocabulary: Vocabulary, kind: str, **attributes: Any) -> list[tuple[str, str, str | None]]:
    return [(item.severity, item.rule, item.field) for item in findings(vocabulary, kind, **attributes)]


# ---- Printed and numeric ----


@pytest.mark.parametrize(
    ("printed", "numeric"),
    [
        ("33.88", "33.88"),
        ("33.880", "33.88"),
        ("r = 1.00", "1.0"),
        ("6,637", "6637"),
        ("53.85%", "53.85"),
        ("53.85 %", "53.85"),
        ("−0.5", "-0.5"),
        ("+5", "5"),
        ("1e-7", "0.0000001"),
        ("1,234", "1.234"),
        ("0.91 ± 0.02", "0.91"),
        ("0.91±0.02%", "0.91"),
        ("0.612 (0.567–0.656)", "0.612"),
        ("12 (40%)", "40"),
        ("< 0.001", "0.001"),
        ("p < 0.001", "0.0005"),
        ("≥ 90%", "95"),
        ("up to 12", "11"),
        ("~33h", "33"),
        ("ca. 33", "33"),
        ("0.5–0.7", "0.6"),
        ("5 to 7", "7"),
        ("−0.7 – −0.5", "-0.6"),
        ("6.03 Å", "6.03"),
        ("110M", "110000000"),
        ("2.5B parameters", "2500000000"),
        ("5.6 GB", "5600"),
        ("1.5 × 10⁻³", "0.0015"),
        ("1.5x10^-3", "0.0015"),
        ("1.5 × 10-3", "0.0015"),
        ("2·10^6", "2000000"),
        ("F1 = 0.91", "0.91"),
        ("0.91*", "0.91"),
        ("**0.91**", "0.91"),
        ("0.91†", "0.91"),
        ("0,873", "0.873"),
        ("12 345", "12345"),
        ("12\u202f345", "12345"),
        ("12'345", "12345"),
        ("200 300", "200"),
        ("–0.5", "-0.5"),
        ("1.234,5", "5"),
        ("2026-10-15", "5"),
        ("n.s.", "5"),
        ("12 of 30", "5"),
        ("33.88", "33,88"),
        ("33.88", None),
    ],
)
def test_a_printed_number_agrees_with_the_number_for_computing(
    vocabulary: Vocabulary, printed: str, numeric: str | None
) -> None:
    rules = [rule for _, rule, _ in found(vocabulary, "result", printed_value=printed, numeric_value=numeric)]
    assert "printed-and-numeric-differ" not in rules


@pytest.mark.parametrize(
    ("printed", "numeric", "severity"),
    [
        ("33.88", "11.49", "violation"),
        ("r = 0.98", "0.89", "violation"),
        ("6,637", "6.6", "violation"),
        ("-0.5", "0.5", "violation"),
        ("33.88", "33.8", "violation"),
        ("1e-7", "1e7", "violation"),
        ("87.3%", "0.873", "warning"),
        ("87.3", "0.873", "warning"),
        ("0.873", "87.3", "warning"),
        ("87.3%", "0.87", "violation"),
        ("1" * 60, "1" * 59 + "2", "violation"),
        ("0.91 ± 0.02", "0.19", "violation"),
        ("0.91 ± 0.02", "0.02", "violation"),
        ("91.2 ± 0.3%", "0.912", "warning"),
        ("−0.5", "0.5", "violation"),
        ("< 0.001", "5", "warning"),
        ("≥ 90%", "85", "warning"),
        ("~33", "5", "warning"),
        ("0.5–0.7", "0.8", "warning"),
        ("6.03 Å", "6.30", "warning"),
        ("1.5 × 10⁻³", "0.015", "violation"),
        ("0.612 (0.567–0.656)", "0.6", "warning"),
        ("12,5", "125", "warning"),
        ("12 345", "123.45", "warning"),
    ],
)
def test_a_printed_number_beside_another_one_is_found(
    vocabulary: Vocabulary, printed: str, numeric: str, severity: str
) -> None:
    items = findings(vocabulary, "result", printed_value=printed, numeric_value=numeric)
    (item,) = [item for item in items if item.rule == "printed-and-numeric-differ"]
    assert (item.severity, item.field) == (severity, "attributes.numeric_value")
    assert printed in item.message
    assert numeric in item.message


@pytest.mark.parametrize("text", ["1e99999999999999999999", "1e999999999999999999", "9" * 5000])
def test_numbers_beyond_all_reason_are_compared_in_good_time(vocabulary: Vocabulary, text: str) -> None:
    findings(vocabulary, "result", printed_value=text, numeric_value="1")
    findings(vocabulary, "result", printed_value="1", numeric_value=text)


@pytest.mark.parametrize(
    "text", [" " * 900 + "x", "1 " * 450, "= " * 450, "a" * 999, "1," * 500, "(" * 900, "1e" * 400]
)
def test_no_text_takes_long_to_read(vocabulary: Vocabulary, text: str) -> None:
    started = time.process_time()
    findings(vocabulary, "result", printed_value=text, numeric_value="1")
    assert time.process_time() - started < 0.5


# ---- Bounds, percent and fraction ----


def of_value(vocabulary: Vocabulary, metric: str, unit: str | None, value: str, **more: Any) -> list[tuple[str, str]]:
    attributes = {"metric": metric, "printed_value": value, "numeric_value": value.rstrip("%"), **more}
    if unit is not None:
        attributes["unit"] = unit
    return [(severity, rule) for severity, rule, _ in found(vocabulary, "result", **attributes)]


@pytest.mark.parametrize(
    ("metric", "unit", "value"),
    [
        ("accuracy", "fraction", "0"),
        ("accuracy", "fraction", "1.00"),
        ("accuracy", "percent", "100"),
        ("accuracy", "percent", "0.5%"),
        ("accuracy", "unit-unreported", "87.3"),
        ("accuracy", None, "87.3"),
        ("accuracy", "count", "870"),
        ("pearson-correlation", "unitless", "-1"),
        ("matthews-correlation-coefficient", "percent", "-41.8"),
        ("gdt-ts", "unitless", "92.3"),
        ("lddt", "fraction", "0.91"),
        ("rmsd", "angstrom", "104.2"),
        ("ndcg", "fraction", "-0.1"),
        ("likelihood-ratio", "unitless", "1200"),
        ("no-such-metric", "fraction", "-12"),
        ("accuracy", "fraction", "not a number"),
    ],
)
def test_a_value_that_its_metric_can_take_is_fine(
    vocabulary: Vocabulary, metric: str, unit: str | None, value: str
) -> None:
    assert of_value(vocabulary, metric, unit, value) == []


@pytest.mark.parametrize(
    ("metric", "unit", "value", "severity", "rule"),
    [
        ("accuracy", "percent", "100.1", "violation", "outside-bounds"),
        ("accuracy", "percent", "-0.1", "violation", "outside-bounds"),
        ("accuracy", "fraction", "-0.1", "violation", "outside-bounds"),
        ("accuracy", "fraction", "101", "violation", "outside-bounds"),
        ("accuracy", None, "101", "violation", "outside-bounds"),
        ("auroc", "fraction", "87.3", "warning", "percent-and-fraction"),
        ("auroc", "fraction", "1.01", "warning", "percent-and-fraction"),
        ("pearson-correlation", "unitless", "41", "warning", "percent-and-fraction"),
        ("matthews-correlation-coefficient", "fraction", "-1.5", "warning", "percent-and-fraction"),
        ("spearman-correlation", "percent", "-101", "violation", "outside-bounds"),
        ("accuracy", "fraction", "0.5%", "warning", "percent-and-fraction"),
        ("accuracy", "percent", "0.873", "info", "percent-and-fraction"),
        ("peak-memory", "gigabyte", "-1", "violation", "outside-bounds"),
        ("rmsd", "angstrom", "-0.5", "violation", "outside-bounds"),
        ("ndcg", "fraction", "150", "violation", "outside-bounds"),
    ],
)
def test_a_value_that_its_metric_cannot_take_is_found(
    vocabulary: Vocabulary, metric: str, unit: str | None, value: str, severity: str, rule: str
) -> None:
    assert of_value(vocabulary, metric, unit, value) == [(severity, rule)]


@pytest.mark.parametrize("qualifier", ["Difference to the baseline", "Δ accuracy", "relative improvement"])
def test_a_difference_may_be_outside_the_bounds(vocabulary: Vocabulary, qualifier: str) -> None:
    outside = of_value(vocabulary, "accuracy", "percent", "-2.1", metric_qualifier=qualifier)
    assert outside == [("warning", "outside-bounds")]


def test_bounds_are_written_where_a_metric_has_them(vocabulary: Vocabulary) -> None:
    metrics = vocabulary.schemes["metric"].concepts
    bounds = {key: (metric.minimum, metric.maximum) for key, metric in metrics.items()}
    assert bounds["accuracy"] == bounds["auroc"] == bounds["tm-score"] == ("0", "1")
    assert bounds["matthews-correlation-coefficient"] == bounds["pearson-correlation"] == ("-1", "1")
    assert bounds["ndcg"] == (None, "1")
    assert bounds["vcc-score"] == bounds["casp-sum-z-score"] == (None, None)
    # Percent is a hundred times as large only where one stands for the whole.
    assert {maximum for _, maximum in bounds.values()} == {None, "1"}


# ---- Directions ----


@pytest.mark.parametrize("kind", ["result", "protocol", "task"])
@pytest.mark.parametrize(
    ("metric", "direction", "differs"),
    [
        ("accuracy", "lower", True),
        ("runtime", "higher", True),
        ("accuracy", "higher", False),
        ("accuracy", "unknown", False),
        ("count", "lower", False),
        ("no-such-metric", "lower", False),
    ],
)
def test_a_direction_against_that_of_its_metric_is_a_warning(
    vocabulary: Vocabulary, kind: str, metric: str, direction: str, differs: bool
) -> None:
    expected = [("warning", "direction-differs", "attributes.metric_direction")] if differs else []
    assert found(vocabulary, kind, metric=metric, metric_direction=direction) == expected


# ---- Intervals ----


def test_an_interval_given_twice_is_a_warning(vocabulary: Vocabulary) -> None:
    interval = {"type": "confidence_interval", "lower": "0.9", "upper": "0.92", "level": 0.95}
    assert found(vocabulary, "result", uncertainty=interval) == []
    assert found(vocabulary, "result", uncertainty={**interval, "half_width": "0.01"}) == [
        ("warning", "bounds-and-half-width", "attributes.uncertainty.half_width")
    ]


INTERVAL = {"type": "confidence_interval", "lower": "0.90", "upper": "0.92"}


@pytest.mark.parametrize(
    ("numeric", "change", "is_wrong"),
    [
        ("0.91", {}, False),
        ("0.90", {}, False),
        ("0.9200", {}, False),
        ("0.93", {}, True),
        ("0.89", {"type": "credible_interval"}, True),
        ("91", {}, True),
        ("0.93", {"center": "0.91"}, False),
        ("91", {"unit": "fraction"}, False),
        ("0.93", {"lower": "low"}, False),
        ("0.93", {"type": "standard_deviation"}, False),
        (None, {}, False),
    ],
)
def test_an_interval_holds_its_value(
    vocabulary: Vocabulary, numeric: str | None, change: dict[str, str], is_wrong: bool
) -> None:
    expected = [("warning", "value-outside-interval", "attributes.uncertainty")] if is_wrong else []
    assert found(vocabulary, "result", numeric_value=numeric, uncertainty={**INTERVAL, **change}) == expected


def test_an_interval_on_the_other_scale_is_told_so(vocabulary: Vocabulary) -> None:
    (item,) = findings(vocabulary, "result", numeric_value="91", uncertainty=INTERVAL)
    assert "only as a percentage" in item.message
