"""Older shapes are read as the current one, and nothing of them is lost."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from evkg.jsontext import NumberText
from evkg.older import ASSESSMENT, DATA, SYSTEM, is_scaffolding, reason_of, upgrade


def _attributes(kind: str, **attributes: Any) -> Any:
    return upgrade({"kind": kind, "attributes": attributes}).data["attributes"]


LINKS = (
    [("evaluation", old, "system") for old in SYSTEM]
    + [("evaluation", old, "assessment") for old in ASSESSMENT]
    + [("evaluation", old, "data") for old in DATA]
    + [("baseline", old, "implemented_by") for old in SYSTEM]
    + [("baseline", "evaluation", "measured_in"), ("baseline", "dataset", "uses_data")]
    + [(kind, old, "used_in") for kind in DATA for old in ("benchmark", "protocol")]
    + [(kind, "dataset", "uses_data") for kind in ASSESSMENT]
    + [("configuration", "variant_of", "configuration_of")]
)


@pytest.mark.parametrize(("kind", "old", "new"), LINKS)
def test_an_older_relation_is_renamed(kind: str, old: str, new: str) -> None:
    data: Any = {"kind": kind, "links": [{"relation": "source", "target_id": "s"}, {"relation": old, "target_id": "x"}]}
    before = copy.deepcopy(data)
    found = upgrade(data)
    assert found.data["links"] == [{"relation": "source", "target_id": "s"}, {"relation": new, "target_id": "x"}]
    assert data == before
    assert [path for path, _ in found.notes] == [("links", 1, "relation")]


@pytest.mark.parametrize(
    ("kind", "relation"),
    [("result", "evaluation"), ("model", "variant_of"), ("claim", "subject"), ("evaluation", "original_evaluation")],
)
def test_a_current_relation_stays(kind: str, relation: str) -> None:
    data: Any = {"kind": kind, "links": [{"relation": relation, "target_id": "x"}]}
    found = upgrade(data)
    assert (found.data, found.notes) == (data, [])


RENAMES = [
    ("result", "source_printed_cell", "printed_source_cell", "B4"),
    ("source", "article_license", "article_licence", "CC BY"),
    ("source", "code_license", "code_licence", "MIT"),
    ("source", "license", "licence", "MIT"),
    ("source", "locator", "source_locator", "Table 2"),
    ("source", "sha256", "artifact_sha256", "a" * 64),
    ("dataset", "scope", "scope_note", "human"),
    ("dataset", "population", "population_detail", {"n": 4}),
    ("dataset_subset", "dataset_id", "recipe_dataset_id", "d1"),
    ("configuration", "family", "family_label", "ESM"),
    ("configuration", "foundation_model", "foundation_model_eligible", True),
    ("method", "family", "family_label", "ESM"),
    ("protocol", "procedure", "protocol_configuration", {"steps": [1]}),
    ("evaluation", "run_url", "run_page", "/runs/4"),
]


@pytest.mark.parametrize(("kind", "old", "new", "value"), RENAMES)
def test_an_older_name_is_renamed_and_its_place_kept(kind: str, old: str, new: str, value: Any) -> None:
    found = upgrade({"kind": kind, "attributes": {old: value}})
    assert found.data["attributes"] == {new: value}
    assert found.source(("attributes", new)) == ("attributes", old)
    assert [path for path, _ in found.notes] == [("attributes", old)]


@pytest.mark.parametrize(("kind", "old", "new", "value"), RENAMES)
def test_an_older_name_beside_the_current_one_is_kept(kind: str, old: str, new: str, value: Any) -> None:
    found = upgrade({"kind": kind, "attributes": {old: value, new: "here"}})
    assert found.data["attributes"] == {old: value, new: "here"}
    assert "stands beside" in found.notes[0][1]


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("dataset", {"population": "adults"}),
        ("protocol", {"procedure": "as in the paper"}),
        ("evaluation", {"run_url": "https://example.org/run"}),
        ("evaluation", {"protocol": "zero-shot"}),
        ("model", {"family": "x", "license": "MIT"}),
        ("result", {"derived_normalized_value": "0.50", "numeric_value": None}),
        ("result", {"missing_metadata": {"seeds": {"reason": "unreported", "note": "x"}}}),
        ("result", {"missing_metadata": {}}),
        ("result", {"coverage": {"scored": 1}, "uncertainty": {"type": "standard_error", "value": "1"}}),
        ("result", {"review": {"method": ["scope-review"], "reviewer": [], "reviewed_at": "2026-10-01T00:00:00Z"}}),
        ("result", {"scoring_conditions": {"a": None, "b": [None, {"c": None}]}}),
        ("source", {"legacy_row": None}),
    ],
)
def test_a_current_form_stays_as_it_is(kind: str, attributes: Any) -> None:
    data: Any = {"kind": kind, "attributes": attributes}
    found = upgrade(data)
    assert found.data == data
    assert found.notes == []


@pytest.mark.parametrize(
    ("text", "reason", "note"),
    [
        ("unreported", "unreported", None),
        (" Conflicting ", "conflicting", None),
        ("", "unextracted", None),
        ("  ", "unextracted", None),
        ("Not applicable to this task", "inapplicable", "Not applicable to this task"),
        ("not applicable; legacy", "inapplicable", "not applicable; legacy"),
        ("weights are unpublished", "unavailable", "weights are unpublished"),
        ("Inaccessible archive", "unavailable", "Inaccessible archive"),
        ("not established yet", "unextracted", "not established yet"),
        ("legacy import", "unextracted", "legacy import"),
        ("still unextracted", "unextracted", "still unextracted"),
        ("the paper is silent", "unreported", "the paper is silent"),
    ],
)
def test_free_text_stands_for_a_reason(text: str, reason: str, note: str | None) -> None:
    assert reason_of(text) == (reason, note)
    entry = {"reason": reason} if note is None else {"reason": reason, "note": note}
    assert _attributes("result", missing_metadata={"seeds": text}) == {"missing_metadata": {"seeds": entry}}


def test_a_null_entry_is_unextracted() -> None:
    assert _attributes("model", missing_metadata={"licence": None}) == {
        "missing_metadata": {"licence": {"reason": "unextracted"}}
    }


def test_an_entry_for_an_older_key_is_one_for_the_current_key() -> None:
    found = upgrade({"kind": "source", "attributes": {"missing_metadata": {"license": "unreported", "sha256": None}}})
    assert found.data["attributes"] == {
        "missing_metadata": {"licence": {"reason": "unreported"}, "artifact_sha256": {"reason": "unextracted"}}
    }
    place = ("attributes", "missing_metadata", "licence", "reason")
    assert found.source(place) == ("attributes", "missing_metadata", "license", "reason")


def test_a_null_attribute_is_missing_and_unextracted() -> None:
    assert _attributes("model", licence=None, access="open") == {
        "access": "open",
        "missing_metadata": {"licence": {"reason": "unextracted"}},
    }


def test_a_null_attribute_does_not_change_the_reason_that_is_given() -> None:
    entries = {"licence": {"reason": "unavailable", "note": "gone"}}
    assert _attributes("model", licence=None, missing_metadata=entries) == {"missing_metadata": entries}


def test_a_null_attribute_under_an_older_name_is_missing_under_the_current_one() -> None:
    assert _attributes("source", license=None) == {"missing_metadata": {"licence": {"reason": "unextracted"}}}


@pytest.mark.parametrize("key", ["source_discrepancy", "undefined_reason"])
def test_null_means_none_where_the_field_tells_of_a_trouble(key: str) -> None:
    assert _attributes("result", **{key: None}) == {}


def test_null_missing_metadata_is_no_entry() -> None:
    assert _attributes("model", missing_metadata=None, licence=None) == {
        "missing_metadata": {"licence": {"reason": "unextracted"}}
    }


def test_nothing_is_removed_where_missing_metadata_is_no_object() -> None:
    attributes = {"missing_metadata": ["licence"], "licence": None, "uncertainty": "n/a"}
    assert _attributes("result", **attributes) == attributes


def test_caveats_and_limitation_become_limitations_in_order() -> None:
    found = upgrade(
        {
            "kind": "protocol",
            "attributes": {"limitations": ["a"], "caveats": ["b", "c"], "important_limitation": "d"},
        }
    )
    assert found.data["attributes"] == {"limitations": ["a", "b", "c", "d"]}
    assert found.source(("attributes", "limitations", 0)) == ("attributes", "limitations", 0)
    assert found.source(("attributes", "limitations", 2)) == ("attributes", "caveats", 1)
    assert found.source(("attributes", "limitations", 3)) == ("attributes", "important_limitation")


def test_caveats_beside_limitations_of_another_form_are_kept() -> None:
    attributes = {"limitations": "one text", "caveats": ["b"]}
    assert _attributes("protocol", **attributes) == attributes


def test_uncertainty_keys_of_a_protocol_become_one_object() -> None:
    found = upgrade({"kind": "protocol", "attributes": {"uncertainty_note": "n", "uncertainty_mechanism": "m"}})
    assert found.data["attributes"] == {"uncertainty_reporting": {"mechanism": "m", "note": "n"}}
    place = ("attributes", "uncertainty_reporting", "note")
    assert found.source(place) == ("attributes", "uncertainty_note")


def test_uncertainty_keys_beside_the_object_are_kept() -> None:
    attributes = {"uncertainty_note": "n", "uncertainty_reporting": {"note": "x"}}
    assert _attributes("protocol", **attributes) == attributes


def test_a_protocol_object_becomes_three_fields() -> None:
    found = upgrade(
        {"kind": "evaluation", "attributes": {"protocol": {"name": "n", "version": "2", "proposed_id": "p"}}}
    )
    assert found.data["attributes"] == {"protocol": "n", "protocol_version": "2", "proposed_protocol_id": "p"}
    assert found.source(("attributes", "protocol_version")) == ("attributes", "protocol", "version")


@pytest.mark.parametrize(
    "attributes",
    [
        {"protocol": {"name": "n", "steps": 3}},
        {"protocol": {"name": "n", "version": "2"}, "protocol_version": "1"},
    ],
)
def test_a_protocol_object_that_would_lose_something_is_kept_and_told(attributes: Any) -> None:
    found = upgrade({"kind": "evaluation", "attributes": attributes})
    assert found.data["attributes"] == attributes
    assert "cannot be read as three fields" in found.notes[0][1]


@pytest.mark.parametrize(("value", "text"), [(NumberText("0.0500"), "0.0500"), (7, "7")])
def test_a_normalized_value_is_decimal_text(value: Any, text: str) -> None:
    found = _attributes("result", derived_normalized_value=value)["derived_normalized_value"]
    assert (found, type(found)) == (text, str)


def test_the_review_keys_of_a_source_become_a_review() -> None:
    found = upgrade({"kind": "source", "attributes": {"review_method": "scope-review", "review_scope": "Table 2"}})
    assert found.data["attributes"] == {"review": {"method": ["scope-review"], "scope": "Table 2"}}
    assert found.source(("attributes", "review", "method", 0)) == ("attributes", "review_method", 0)
    assert found.source(("attributes", "review", "scope")) == ("attributes", "review_scope")


def test_review_keys_beside_a_review_are_kept() -> None:
    attributes = {"review_method": "x", "review": {"method": ["scope-review"]}}
    assert _attributes("source", **attributes) == attributes


@pytest.mark.parametrize(
    ("kind", "key", "left_over"),
    [
        ("result", "legacy_row", True),
        ("model", "historical_entity_links", True),
        ("configuration", "entity_level", True),
        ("model", "entity_level", False),
        ("configuration", "reference_kind", True),
        ("method", "reference_kind", False),
        ("benchmark", "publication_status", True),
        ("source", "publication_status", False),
        ("method", "method_type", True),
    ],
)
def test_scaffolding_depends_on_the_kind(kind: str, key: str, left_over: bool) -> None:
    assert is_scaffolding(kind, key) is left_over
    if left_over:
        assert _attributes(kind, **{key: ["kept"]}) == {key: ["kept"]}


def test_the_field_of_a_claim_is_not_renamed_here() -> None:
    attributes = {"field": "links:model:m", "value": "m"}
    assert _attributes("claim", **attributes) == attributes


@pytest.mark.parametrize("data", [{}, {"kind": ["x"], "links": 4}, {"kind": "result", "links": [4], "attributes": []}])
def test_what_is_no_record_passes_through(data: Any) -> None:
    assert upgrade(data).data == data
