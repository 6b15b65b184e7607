"""The declared kind of value decides what a YAML scalar is."""

from __future__ import annotations

from typing import Any

import pytest

from evkg.jsontext import Json, NumberText
from evkg.scalar import Typist, core_scalar, declared_scalar
from evkg.vocabulary import Vocabulary
from evkg.yamltext import Mapping, Scalar, parse_yaml


def _plain(text: str) -> Scalar:
    return Scalar(text, True, 1, 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("~", None),
        ("", None),
        ("Null", None),
        ("true", True),
        ("FALSE", False),
        ("no", "no"),
        ("yes", "yes"),
        ("12:30", "12:30"),
        ("2026-10-15", "2026-10-15"),
        ("7", 7),
        ("-0", NumberText("-0")),
        ("1.00", NumberText("1.00")),
        ("1e-3", NumberText("1e-3")),
        ("12345678901234567890", NumberText("12345678901234567890")),
        ("010", "010"),
        ("1_000", "1_000"),
        ("+1", "+1"),
        (".5", ".5"),
        ("1.", "1."),
        ("0x1F", "0x1F"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("٣", "٣"),
        ("1\n", "1\n"),
    ],
)
def test_free_objects_follow_the_core_schema_and_lose_no_digit(text: str, value: Json) -> None:
    found = core_scalar(_plain(text))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["null", "true", "7", "1.00", "~", ""])
def test_a_quoted_scalar_is_text(text: str) -> None:
    for kind in ("json", "integer", "text", "boolean"):
        assert declared_scalar(Scalar(text, False, 1, 1), kind) == text


@pytest.mark.parametrize("kind", ["text", "decimal", "decimal-or-null", "date", "sha256", "concept:unit", "texts"])
@pytest.mark.parametrize("text", ["7", "1.00", "true", "no", "2026", "010", "1e5"])
def test_a_field_of_text_keeps_the_text(kind: str, text: str) -> None:
    assert declared_scalar(_plain(text), kind) == text


@pytest.mark.parametrize("kind", ["text", "decimal-or-null", "integer", "json"])
def test_plain_null_is_null_in_every_field(kind: str) -> None:
    assert [declared_scalar(_plain(text), kind) for text in ("", "~", "null")] == [None, None, None]


def _record(text: str, vocabulary: Vocabulary) -> Any:
    (node,) = parse_yaml(text)
    assert isinstance(node, Mapping)
    return Typist(vocabulary).record(node)


def test_each_field_of_a_record_is_read_by_its_kind(vocabulary: Vocabulary) -> None:
    found = _record(
        """
id: 010
kind: result
name: 2026
source_ids: [1, no]
facets: {tasks: [2]}
attributes:
  printed_value: 33.880
  numeric_value: 33.88
  approximate: true
  denominator: 12
  unit: 1.0
  hardware: 80
  limitations: [1.0, no]
  scoring_conditions: {length: 256, note: no, ok: true, share: 0.50, none: null, list: [1, x]}
  uncertainty: {type: confidence_interval, lower: 1.0, upper: 2.0, level: 0.950, n: 4, printed: 1}
  review: {method: [1], date: 2026-10-01, note: 5}
  missing_metadata: {seeds: {reason: no, note: 1.0}}
  not_declared: 1.50
notes: {a: 1}
""",
        vocabulary,
    )
    assert (found["id"], found["name"], found["source_ids"]) == ("010", "2026", ["1", "no"])
    assert found["facets"] == {"tasks": ["2"]}
    assert found["notes"] == {"a": 1}
    attributes = found["attributes"]
    assert attributes == {
        "printed_value": "33.880",
        "numeric_value": "33.88",
        "approximate": True,
        "denominator": 12,
        "unit": "1.0",
        "hardware": "80",
        "limitations": ["1.0", "no"],
        "scoring_conditions": {
            "length": 256,
            "note": "no",
            "ok": True,
            "share": NumberText("0.50"),
            "none": None,
            "list": [1, "x"],
        },
        "uncertainty": {
            "type": "confidence_interval",
            "lower": "1.0",
            "upper": "2.0",
            "level": NumberText("0.950"),
            "n": 4,
            "printed": "1",
        },
        "review": {"method": ["1"], "date": "2026-10-01", "note": "5"},
        "missing_metadata": {"seeds": {"reason": "no", "note": "1.0"}},
        "not_declared": NumberText("1.50"),
    }
    assert type(attributes["unit"]) is str
    assert type(attributes["uncertainty"]["lower"]) is str


def test_hardware_is_free_on_a_configuration_and_text_on_a_result(vocabulary: Vocabulary) -> None:
    for kind, value in (("configuration", 8), ("result", "8")):
        assert _record(f"kind: {kind}\nattributes: {{hardware: 8}}", vocabulary)["attributes"]["hardware"] == value


def test_comparison_fields_are_text(vocabulary: Vocabulary) -> None:
    text = "kind: evaluation\nattributes: {comparison: {split: 1.0, budget: no, subset: 010, inputs: null}}"
    assert _record(text, vocabulary)["attributes"]["comparison"] == {
        "split": "1.0",
        "budget": "no",
        "subset": "010",
        "inputs": None,
    }


def test_concerns_and_derivation_inputs_are_read_by_kind_inside_their_lists(vocabulary: Vocabulary) -> None:
    text = "kind: source\nattributes: {evidence_concerns: [{message: 1.0, targets: [010]}]}"
    concern = _record(text, vocabulary)["attributes"]["evidence_concerns"][0]
    assert concern == {"message": "1.0", "targets": ["010"]}


def test_a_kind_that_is_a_list_does_not_stop_the_typing(vocabulary: Vocabulary) -> None:
    assert _record("kind: [model]\nattributes: {version: 1.0}", vocabulary)["kind"] == ["model"]


def test_every_key_and_element_has_its_place(vocabulary: Vocabulary) -> None:
    (node,) = parse_yaml("kind: result\nlinks:\n  - relation: evaluation\nattributes:\n  coverage: {scored: 1}\n")
    assert isinstance(node, Mapping)
    typist = Typist(vocabulary)
    typist.record(node)
    assert typist.places == {
        ("kind",): (1, 1),
        ("links",): (2, 1),
        ("links", 0): (3, 5),
        ("links", 0, "relation"): (3, 5),
        ("attributes",): (4, 1),
        ("attributes", "coverage"): (5, 3),
        ("attributes", "coverage", "scored"): (5, 14),
    }
