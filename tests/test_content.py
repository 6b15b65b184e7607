"""Content of fields: values that are none, that hold a character too many, or that contradict another field."""

from __future__ import annotations

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


# ---- A value or a reason, never both ----


BOTH: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("result", "seed", {"seed": "42"}),
    ("result", "metric_qualifier", {"metric_qualifier": "strict"}),
    ("result", "denominator", {"denominator": 10}),
    ("result", "approximate", {"approximate": False}),
    ("result", "limitations", {"limitations": ["few"]}),
    ("result", "coverage", {"coverage": {"eligible": 5}}),
    ("result", "coverage.scored", {"coverage": {"scored": 0}}),
    ("result", "uncertainty.n", {"uncertainty": {"n": 5}}),
    ("result", "review.method", {"review": {"method": ["transcription"]}}),
    ("result", "scoring_conditions.k", {"scoring_conditions": {"k": 10}}),
    ("result", "scoring_conditions.v1.5", {"scoring_conditions": {"v1.5": "x"}}),
    ("result", "numeric_value", {"numeric_value": "1"}),
    ("evaluation", "comparison.split", {"comparison": {"split": "test"}}),
    ("evaluation", "comparison", {"comparison": {"split": "test"}}),
    ("claim", "source_locator", {"source_locator": "Table 1"}),
)


@pytest.mark.parametrize(("kind", "field", "attributes"), BOTH, ids=[field for _, field, _ in BOTH])
def test_a_field_with_a_value_and_a_reason_is_a_violation(
    vocabulary: Vocabulary, kind: str, field: str, attributes: dict[str, Any]
) -> None:
    items = findings(vocabulary, kind, **attributes, missing_metadata={field: {"reason": "unreported"}})
    (item,) = [item for item in items if item.rule == "value-and-reason"]
    assert (item.severity, item.field) == ("violation", f"attributes.{field}")
    assert item.message.startswith(f"{field} has a value")
    assert item.fix is not None
    assert item.fix.startswith(f"Remove the entry for {field}")


@pytest.mark.parametrize(
    ("kind", "field", "attributes"),
    [
        ("result", "numeric_value", {"numeric_value": None}),
        ("result", "value", {"numeric_value": None}),
        ("result", "coverage.scored", {"coverage": {"eligible": 5}}),
        ("result", "coverage.scored", {"coverage": {"eligible": 5, "scored": None}}),
        ("result", "scoring_conditions.k", {"scoring_conditions": {"m": 10}}),
        ("result", "limitations", {"limitations": []}),
        ("evaluation", "comparison.split", {"comparison": {"population": "adults", "split": None}}),
        ("result", "seed", {"seeds": "1, 2"}),
    ],
)
def test_a_reason_for_what_is_not_there_is_no_contradiction(
    vocabulary: Vocabulary, kind: str, field: str, attributes: dict[str, Any]
) -> None:
    assert found(vocabulary, kind, **attributes, missing_metadata={field: {"reason": "unreported"}}) == []


# ---- Characters too many ----


@pytest.mark.parametrize("extra", ["{}\n", "\n{}", "{} ", "\t{}", "{}\r\n", "{}\x00", "{}\u200b", "{}\xa0"])
@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("result", "numeric_value", "1"),
        ("result", "unit", "gigabyte"),
        ("result", "primary_table_member_sha256", "a" * 64),
        ("source", "doi", "10.1000/x"),
        ("source", "retrieved_at", "2026-01-01"),
        ("source", "url", "https://x.org"),
        ("evaluation", "run_url", "https://x.org/run/1"),
        ("configuration", "code_commit", "0a1b2c3"),
        ("claim", "task_id", "a-task"),
    ],
)
def test_a_typed_text_has_no_character_too_many(
    vocabulary: Vocabulary, kind: str, key: str, value: str, extra: str
) -> None:
    assert found(vocabulary, kind, **{key: value}) == []
    (item,) = findings(vocabulary, kind, **{key: extra.format(value)})
    assert (item.severity, item.rule, item.field) == ("violation", "stray-character", f"attributes.{key}")
    assert item.message.startswith(key)


def test_stray_characters_are_found_in_parts_and_lists(vocabulary: Vocabulary) -> None:
    attributes = {
        "review": {"method": ["transcription", "scope-review\n"], "date": "2026-01-01\n"},
        "uncertainty": {"lower": "1\n"},
        "printed_value": "two\nlines",
    }
    fields = {field for _, rule, field in found(vocabulary, "result", **attributes) if rule == "stray-character"}
    assert fields == {
        "attributes.review.method.1",
        "attributes.review.date",
        "attributes.uncertainty.lower",
    }


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
        ("0.91 ± 0.02", "5"),
        ("< 0.001", "5"),
        ("~33", "5"),
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


# ---- Reasons as values ----


@pytest.mark.parametrize(
    "word",
    ["unreported", "unextracted", "unknown", "not_reported", "not reported", "na", "-", "—", "TBD", "conflicting"],
)
@pytest.mark.parametrize(("kind", "key"), [("result", "printed_value"), ("dataset", "species"), ("model", "licence")])
def test_a_reason_in_place_of_a_value_is_a_warning(vocabulary: Vocabulary, kind: str, key: str, word: str) -> None:
    (item,) = findings(vocabulary, kind, **{key: word})
    assert (item.severity, item.rule, item.field) == ("warning", "reason-as-value", f"attributes.{key}")
    assert item.fix is not None
    assert f"write under missing_metadata {key}: {{reason: " in item.fix


def test_a_comparison_may_say_unreported_and_no_other_reason(vocabulary: Vocabulary) -> None:
    comparison = {"split": "unreported", "population": "unknown", "subset": "unknown genes", "inputs": None}
    assert found(vocabulary, "evaluation", comparison=comparison) == [
        ("info", "reason-as-value", "attributes.comparison.split"),
        ("warning", "reason-as-value", "attributes.comparison.population"),
    ]


@pytest.mark.parametrize("text", ["Not applicable", "not applicable: synthetic inputs", "None (synthetic)"])
def test_a_value_that_reads_like_a_reason_is_information(vocabulary: Vocabulary, text: str) -> None:
    assert found(vocabulary, "dataset", split=text) == [("info", "reason-like-value", "attributes.split")]


@pytest.mark.parametrize("text", ["none", "Not applicable to long proteins", "Unknown primary tumours", "a - b", "NaN"])
def test_a_value_that_only_begins_like_a_reason_is_one(vocabulary: Vocabulary, text: str) -> None:
    assert found(vocabulary, "dataset", split=text) == []


@pytest.mark.parametrize("word", ["n/a", "N/A", " n/a "])
def test_a_reason_may_be_written_with_a_stroke(vocabulary: Vocabulary, word: str) -> None:
    assert found(vocabulary, "model", licence=word) == [("warning", "reason-as-value", "attributes.licence")]


def test_keys_of_schemes_may_be_reasons(vocabulary: Vocabulary) -> None:
    assert found(vocabulary, "evaluation", origin="unreported") == []
    assert found(vocabulary, "result", metric_direction="unknown") == []


# ---- Intervals ----


def test_an_interval_given_twice_is_a_warning(vocabulary: Vocabulary) -> None:
    interval = {"type": "confidence_interval", "lower": "0.9", "upper": "0.92", "level": 0.95}
    assert found(vocabulary, "result", uncertainty=interval) == []
    assert found(vocabulary, "result", uncertainty={**interval, "half_width": "0.01"}) == [
        ("warning", "bounds-and-half-width", "attributes.uncertainty.half_width")
    ]
