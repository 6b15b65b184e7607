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


def test_the_seed_records_have_four_values_that_read_like_reasons(
    vocabulary: Vocabulary, seed_records: list[Record]
) -> None:
    assert len(seed_records) == 49
    items = [item for seed in seed_records for item in check_keys(seed, vocabulary)]
    assert [(item.severity, item.rule, item.field) for item in items] == [
        ("info", "reason-like-value", "attributes.split"),
        ("info", "reason-like-value", "attributes.species"),
        ("info", "reason-like-value", "attributes.comparison.split"),
        ("info", "reason-like-value", "attributes.comparison.adaptation"),
    ]


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


@pytest.mark.parametrize(
    ("kind", "relation"),
    [
        ("dataset", "same_data_as"),
        ("result", "supersedes"),
        *(("model", relation) for relation in ("alias_of", "family", "variant_of", "uses_model")),
        ("configuration", "configuration_of"),
        *(("protocol", relation) for relation in ("part_of", "parent", "evaluates_task")),
        ("evaluation", "original_evaluation"),
    ],
)
def test_a_link_to_another_thing_may_not_lead_to_the_record_itself(
    vocabulary: Vocabulary, kind: str, relation: str
) -> None:
    assert found(vocabulary, record("r", kind, links=[{"relation": relation, "target_id": "other"}])) == []
    assert found(vocabulary, record("r", kind, links=[{"relation": relation, "target_id": "r"}])) == [
        ("violation", "link-to-itself", "links.0.target_id")
    ]


def test_a_link_that_stands_twice_is_a_warning(vocabulary: Vocabulary) -> None:
    links = [{"relation": "family", "target_id": target} for target in ("a", "b", "a")]
    assert found(vocabulary, record("r", "model", links=links)) == [("warning", "repeated-link", "links.2")]


@pytest.mark.parametrize(
    ("field", "fix"),
    [
        ("uncertanty", "Did you mean uncertainty?"),
        ("uncertainty.nn", "Did you mean uncertainty.n?"),
        ("coverage.scord", "Did you mean coverage.scored?"),
        ("converage.scored", "Did you mean coverage.scored?"),
        ("half_widht", "Did you mean uncertainty.half_width?"),
        ("zzzzzz", "Correct the name of the field, or remove the entry."),
    ],
)
def test_a_reason_for_a_field_that_does_not_exist_names_the_nearest(
    vocabulary: Vocabulary, field: str, fix: str
) -> None:
    data = record("r", "result", attributes={"missing_metadata": {field: {"reason": "unreported"}}})
    (item,) = findings(vocabulary, data)
    assert (item.severity, item.rule) == ("warning", "unknown-missing-field")
    assert item.field == f"attributes.missing_metadata.{field}"
    assert item.fix == fix
    assert field in item.message


def test_a_reason_for_a_declared_field_or_part_is_no_finding(vocabulary: Vocabulary) -> None:
    names = ("metric", "coverage.scored", "uncertainty.n", "review.method", "scoring_conditions.k", "review")
    entries = {name: {"reason": "unreported", "note": "x"} for name in names}
    assert found(vocabulary, record("r", "result", attributes={"missing_metadata": entries})) == []


@pytest.mark.parametrize(
    ("attributes", "field", "fix"),
    [
        (
            {"missing_metadata": {"unit": {"reason": "unreported", "notes": "x"}}},
            "missing_metadata.unit.notes",
            "Did you mean note?",
        ),
        ({"uncertainty": {"lowr": "1"}}, "uncertainty.lowr", "Did you mean lower?"),
        ({"review": {"methods": ["transcription"]}}, "review.methods", "Did you mean method?"),
        ({"discrepancies": [{"printd": "1"}]}, "discrepancies.0.printd", "Did you mean printed?"),
        ({"coverage": {"zzz": 1}}, "coverage.zzz", "Keys of coverage: eligible, generated_per_run"),
    ],
)
def test_a_key_that_a_strict_object_does_not_have_is_named_with_the_nearest(
    vocabulary: Vocabulary, attributes: dict[str, Any], field: str, fix: str
) -> None:
    (item,) = findings(vocabulary, record("r", "result", attributes=attributes))
    assert (item.severity, item.rule, item.field) == ("violation", "undeclared-key", f"attributes.{field}")
    assert repr(field.rpartition(".")[2]) in item.message
    assert item.fix is not None
    assert item.fix.startswith(fix)


def test_a_key_that_no_comparison_uses_is_a_warning(vocabulary: Vocabulary) -> None:
    data = record("r", "evaluation", attributes={"comparison": {"splitt": "test"}})
    (item,) = findings(vocabulary, data)
    assert (item.severity, item.rule, item.fix) == ("warning", "undeclared-key", "Did you mean split?")


def test_a_claim_about_a_link_has_a_relation_that_exists(vocabulary: Vocabulary) -> None:
    assert found(vocabulary, record("r", "claim", attributes={"field": "links:family:gena-lm"})) == []
    (item,) = findings(vocabulary, record("r", "claim", attributes={"field": "links:famly:gena-lm"}))
    assert (item.severity, item.rule, item.field) == ("violation", "unknown-relation", "attributes.field")
    assert item.fix == "Did you mean family?"


@pytest.mark.parametrize("key", ["dna-genomes\n", " dna-genomes"])
def test_a_key_of_a_facet_with_a_stray_character_is_a_violation(vocabulary: Vocabulary, key: str) -> None:
    data = record("r", "model", facets={"areas": ["dna-genomes", key], "tasks": [key]})
    assert found(vocabulary, data) == [("violation", "stray-character", "facets.areas.1")]


def test_an_unknown_facet_is_a_warning(vocabulary: Vocabulary) -> None:
    data = record("r", "model", facets={"not.a.facet": ["x"]})
    assert found(vocabulary, data) == [("warning", "unknown-facet", "facets.not.a.facet")]


@pytest.mark.parametrize("text", ["", "   ", "\n"])
@pytest.mark.parametrize("key", ["metric_implementation", "source_label", "hardware"])
def test_an_empty_text_says_to_give_a_reason(vocabulary: Vocabulary, key: str, text: str) -> None:
    (item,) = findings(vocabulary, record("r", "result", attributes={key: text}))
    assert (item.severity, item.rule, item.field) == ("violation", "empty-text", f"attributes.{key}")
    assert item.fix is not None
    assert "missing_metadata" in item.fix


def test_empty_texts_are_found_in_parts_and_lists(vocabulary: Vocabulary) -> None:
    attributes = {"review": {"reviewer_note": " "}, "uncertainty": {"note": ""}}
    fields = [item.field for item in findings(vocabulary, record("r", "result", attributes=attributes))]
    assert fields == ["attributes.review.reviewer_note", "attributes.uncertainty.note"]


@pytest.mark.parametrize("attributes", [{"printed_value": ""}, {"uncertainty": {"printed": " "}}, {"unit": ""}])
def test_an_empty_text_is_left_to_the_shape_that_speaks_of_it(
    vocabulary: Vocabulary, attributes: dict[str, Any]
) -> None:
    assert findings(vocabulary, record("r", "result", attributes=attributes)) == []
    data = record("r", "protocol", attributes={"limitations": ["one", " "]})
    assert findings(vocabulary, data) == []  # thing-limitations-blank


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
