"""Keys of a record: kept as they are, and reported with what was probably meant."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from evkg.finding import Finding
from evkg.keys import check_keys, nearest
from evkg.record import Record
from evkg.vocabulary import Vocabulary
from tests.builds import record
from tests.strategies import VOCABULARY, as_record, records


def findings(vocabulary: Vocabulary, data: dict[str, Any]) -> list[Finding]:
    return check_keys(as_record(data), vocabulary)


def found(vocabulary: Vocabulary, data: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    return [(item.severity, item.rule, item.field) for item in findings(vocabulary, data)]


def test_the_seed_records_have_no_finding_on_keys(vocabulary: Vocabulary, seed_records: list[Record]) -> None:
    assert len(seed_records) == 49
    assert [item for seed in seed_records for item in check_keys(seed, vocabulary)] == []


@pytest.mark.parametrize(
    ("key", "fix"),
    [("nmae", "Did you mean name?"), ("atributes", "Did you mean attributes?"), ("zzz", "Move it into attributes")],
)
def test_a_tenth_key_of_the_envelope_is_a_violation(vocabulary: Vocabulary, key: str, fix: str) -> None:
    (item,) = findings(vocabulary, record("r", "model", **{key: "x"}))
    assert (item.severity, item.rule, item.field, item.value) == ("violation", "unknown-key", key, "x")
    assert item.fix is not None
    assert item.fix.startswith(fix)


def test_a_misspelt_attribute_is_kept_and_the_right_key_named(vocabulary: Vocabulary) -> None:
    (item,) = findings(vocabulary, record("r", "result", attributes={"metrik": "peak-memory"}))
    assert (item.severity, item.rule, item.field) == ("warning", "undeclared-attribute", "attributes.metrik")
    assert item.fix == "Did you mean metric?"
    assert "kept as an open setting" in item.message


def test_an_attribute_of_another_kind_is_undeclared(vocabulary: Vocabulary) -> None:
    data = record("r", "model", attributes={"printed_value": "1.0"})
    assert found(vocabulary, data) == [("warning", "undeclared-attribute", "attributes.printed_value")]


@pytest.mark.parametrize("key", ["missing_metadata", "review", "extraction"])
def test_what_every_kind_may_carry_is_no_finding(vocabulary: Vocabulary, key: str) -> None:
    for kind in vocabulary.kinds:
        assert found(vocabulary, record("r", kind, attributes={key: {}})) == []


def test_concerns_belong_to_sources(vocabulary: Vocabulary) -> None:
    assert found(vocabulary, record("r", "source", attributes={"evidence_concerns": []})) == []
    assert found(vocabulary, record("r", "model", attributes={"evidence_concerns": []})) == [
        ("warning", "undeclared-attribute", "attributes.evidence_concerns")
    ]


def test_an_unknown_relation_names_the_nearest(vocabulary: Vocabulary) -> None:
    links = [{"relation": "evaluation", "target_id": "e"}, {"relation": "evalution", "target_id": "e"}]
    (item,) = findings(vocabulary, record("r", "result", links=links))
    assert (item.severity, item.rule, item.field, item.value) == (
        "violation",
        "unknown-relation",
        "links.1.relation",
        "evalution",
    )
    assert item.fix == "Did you mean evaluation?"


def test_a_relation_of_another_kind_names_those_of_this_one(vocabulary: Vocabulary) -> None:
    links = [{"relation": "system", "target_id": "m"}]
    (item,) = findings(vocabulary, record("r", "result", links=links))
    assert (item.severity, item.rule, item.field) == ("violation", "relation-of-other-kind", "links.0.relation")
    assert item.fix is not None
    assert item.fix.startswith("Relations of result: ")
    assert "evaluation" in item.fix


def test_an_unknown_facet_is_a_warning(vocabulary: Vocabulary) -> None:
    data = record("r", "model", facets={"not.a.facet": ["x"]})
    assert found(vocabulary, data) == [("warning", "unknown-facet", "facets.not.a.facet")]


@pytest.mark.parametrize("text", ["", "   ", "\n"])
@pytest.mark.parametrize("key", ["printed_value", "unit", "source_locator", "metric"])
def test_an_empty_text_says_to_give_a_reason(vocabulary: Vocabulary, key: str, text: str) -> None:
    (item,) = findings(vocabulary, record("r", "result", attributes={key: text}))
    assert (item.severity, item.rule, item.field) == ("violation", "empty-text", f"attributes.{key}")
    assert item.fix is not None
    assert "missing_metadata" in item.fix


def test_empty_texts_are_found_in_parts_and_lists(vocabulary: Vocabulary) -> None:
    attributes = {"review": {"reviewer_note": " "}, "uncertainty": {"note": ""}}
    fields = {item.field for item in findings(vocabulary, record("r", "result", attributes=attributes))}
    assert "attributes.uncertainty.note" in fields


def test_a_number_too_long_for_queries_is_information(vocabulary: Vocabulary) -> None:
    data = record("r", "result", attributes={"numeric_value": "0." + "3" * 40})
    assert found(vocabulary, data) == [("info", "too-many-digits", "attributes.numeric_value")]
    assert found(vocabulary, record("r", "result", attributes={"numeric_value": "33.88"})) == []


def test_leftovers_of_older_formats_are_information(vocabulary: Vocabulary) -> None:
    data = record("r", "result", attributes={"legacy_row": None})
    assert found(vocabulary, data) == [("info", "scaffolding", "attributes.legacy_row")]


def test_only_a_near_word_is_suggested() -> None:
    assert nearest("metrik", ["metric", "unit"]) == "metric"
    assert nearest("zzz", ["metric", "unit"]) is None
    assert nearest("x", []) is None


@given(records())
def test_any_record_can_be_checked_and_every_finding_says_what_to_do(data: dict[str, Any]) -> None:
    for item in check_keys(as_record(data), VOCABULARY):
        assert item.fix
        assert item.message
        assert item.record == data["id"]
