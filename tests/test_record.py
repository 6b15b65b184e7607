"""A record is what was read, beside its current shape; a broken envelope gives findings and no record."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from evkg.finding import Finding
from evkg.jsontext import NumberText, decode_json, encode_json
from evkg.record import ENVELOPE, Origin, Record, field_name, make_record, shown_at, text_at
from evkg.vocabulary import Vocabulary

SOUND: dict[str, Any] = {
    "id": "a-1",
    "kind": "result",
    "name": "A",
    "description": "",
    "status": "discovered",
    "facets": {},
    "source_ids": [],
    "links": [],
    "attributes": {},
}


def _make(data: Any, vocabulary: Vocabulary) -> tuple[Record | None, list[Finding]]:
    text = json.dumps(data)
    return make_record(decode_json(text), Origin("a.jsonl", 3, text=text), vocabulary, text)


def test_a_sound_envelope_gives_a_record_and_no_finding(vocabulary: Vocabulary) -> None:
    record, findings = _make(SOUND, vocabulary)
    assert record is not None
    assert (record.id, record.kind, record.data, findings) == ("a-1", "result", SOUND, [])


@pytest.mark.parametrize("key", ENVELOPE)
def test_each_missing_key_is_a_violation_at_the_record(key: str, vocabulary: Vocabulary) -> None:
    record, (finding,) = _make({k: v for k, v in SOUND.items() if k != key}, vocabulary)
    assert record is None
    assert (finding.severity, finding.rule, finding.field) == ("violation", "envelope", key)
    assert (finding.file, finding.line, finding.column, finding.value) == ("a.jsonl", 3, 1, None)
    assert finding.message == f"The key {key} is missing."
    assert finding.fix is not None
    assert finding.fix.startswith(f"Write {key}: ")


@pytest.mark.parametrize(
    ("key", "value", "field", "written"),
    [
        ("id", "A-1", "id", "A-1"),
        ("id", "-a", "id", "-a"),
        ("id", "a" * 256, "id", "a" * 256),
        ("id", "a.b", "id", "a.b"),
        ("id", "a\n", "id", "a\n"),
        ("id", 4, "id", "4"),
        ("kind", "modell", "kind", "modell"),
        ("kind", ["model"], "kind", '["model"]'),
        ("kind", None, "kind", "null"),
        ("kind", {"a": 1}, "kind", '{"a":1}'),
        ("name", "  ", "name", "  "),
        ("name", 5, "name", "5"),
        ("name", "x" * 501, "name", "x" * 500 + "…"),
        ("description", None, "description", "null"),
        ("status", "", "status", ""),
        ("status", ["x"], "status", '["x"]'),
        ("facets", [], "facets", "[]"),
        ("facets", {"tasks": "x"}, "facets.tasks", "x"),
        ("facets", {"areas": [], "tasks": [1]}, "facets.tasks", "[1]"),
        ("source_ids", "s", "source_ids", "s"),
        ("source_ids", [None], "source_ids", "[null]"),
        ("links", {}, "links", "{}"),
        ("links", [["system", "m"]], "links.0", '["system","m"]'),
        ("links", [{"relation": "system"}], "links.0", '{"relation":"system"}'),
        ("links", [{"relation": "a", "target_id": "b", "note": "c"}], "links.0", None),
        ("links", [{"relation": "a", "target_id": "b"}, {"relation": "a", "target_id": 4}], "links.1", None),
        ("attributes", [], "attributes", "[]"),
        ("attributes", None, "attributes", "null"),
    ],
)
def test_a_key_of_a_wrong_type_names_its_place_and_value(
    key: str, value: Any, field: str, written: str | None, vocabulary: Vocabulary
) -> None:
    data = {**SOUND, key: value}
    record, (finding,) = _make(data, vocabulary)
    assert record is None
    assert (finding.rule, finding.field, finding.line) == ("envelope", field, 3)
    assert finding.column is not None
    assert finding.column > 1 or key == "id"
    assert written is None or finding.value == written
    assert finding.fix


@pytest.mark.parametrize("name", ["x", "x" * 500, " 名（v2） ", "′ ± – Å"])
def test_a_name_may_be_of_any_script(name: str, vocabulary: Vocabulary) -> None:
    assert _make({**SOUND, "name": name}, vocabulary)[0]


def test_the_id_of_a_use_case_may_have_dots_and_underscores(vocabulary: Vocabulary) -> None:
    assert _make({**SOUND, "id": "a.b_c", "kind": "use_case"}, vocabulary)[0]


def test_a_misspelt_kind_names_the_nearest_one(vocabulary: Vocabulary) -> None:
    (finding,) = _make({**SOUND, "kind": "modle"}, vocabulary)[1]
    assert (finding.message, finding.fix) == ('"modle" is not a kind of record.', "Did you mean model?")


@pytest.mark.parametrize("value", [None, 4, "text", [], [1], True])
def test_what_is_no_object_is_one_finding(value: Any, vocabulary: Vocabulary) -> None:
    record, (finding,) = _make(value, vocabulary)
    assert record is None
    assert finding.message == "This is not a record."
    assert finding.fix is not None
    assert "nine" not in finding.fix
    assert all(key in finding.fix for key in ENVELOPE)


def test_every_broken_key_is_told_at_once(vocabulary: Vocabulary) -> None:
    assert len(_make({}, vocabulary)[1]) == len(ENVELOPE)


def test_the_line_is_the_text_as_read_and_its_hash_is_of_that(vocabulary: Vocabulary) -> None:
    text = json.dumps(SOUND, indent=None, separators=(" , ", " : ")) + " "
    record, _ = make_record(decode_json(text), Origin("a.jsonl", 1, text=text), vocabulary, text)
    assert record is not None
    assert record.line == text
    assert record.content_sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_without_a_text_the_line_is_the_compact_form(vocabulary: Vocabulary) -> None:
    data = {**SOUND, "name": "é / ü", "attributes": {"x": NumberText("1.00")}}
    record, _ = make_record(data, Origin("a.yaml", 1, {}), vocabulary)
    assert record is not None
    assert record.line == encode_json(data)
    assert '"name":"é / ü"' in record.line
    assert '"x":1.00' in record.line


def test_an_older_shape_keeps_the_original_and_is_told_as_info(vocabulary: Vocabulary) -> None:
    data = {**SOUND, "kind": "source", "attributes": {"x": 1, "license": "MIT"}}
    record, (finding,) = _make(data, vocabulary)
    assert record is not None
    assert record.original == data
    assert json.loads(record.line) == data
    assert record.attributes == {"x": 1, "licence": "MIT"}
    assert (finding.severity, finding.rule, finding.field) == ("info", "older-shape", "attributes.license")
    assert finding.value == "MIT"
    assert record.line[(finding.column or 0) - 1 :].startswith('"license"')


def test_a_finding_at_a_moved_field_stands_where_the_file_writes_it(vocabulary: Vocabulary) -> None:
    data = {**SOUND, "attributes": {"review": {"actor": "A person", "method": "scope-review"}}}
    record, _ = _make(data, vocabulary)
    assert record is not None
    finding = record.finding("warning", "x", ("attributes", "review", "reviewer_note"), "m", "f")
    assert record.line[(finding.column or 0) - 1 :].startswith('"actor"')
    assert (finding.value, finding.record, finding.line) == ("A person", "a-1", 3)
    method = record.place(("attributes", "review", "method", 0))
    assert record.line[method[1] - 1 :].startswith('"method"')


def test_places_in_json_of_several_lines_count_characters() -> None:
    text = '  {\n    "é😀": {"ü": 1, "b": [1,\n 2]},\n\t"c": 3\n}'
    origin = Origin("a.json", 7, text="xx" + text, start=4, start_column=3)
    assert origin.place(()) == (7, 3)
    assert origin.place(("é😀",)) == (8, 5)
    assert origin.place(("é😀", "b")) == (8, 20)
    assert origin.place(("é😀", "b", 1)) == (9, 2)
    assert origin.place(("c",)) == (10, 2)
    assert origin.place(("c", "missing", 4)) == (10, 2)


def test_a_place_in_yaml_falls_back_to_the_key_above() -> None:
    origin = Origin("a.yaml", 2, {("links",): (5, 1), ("links", 0): (6, 3)}, start_column=3)
    assert origin.place(("links", 0, "relation")) == (6, 3)
    assert origin.place(("name",)) == (2, 3)


def test_values_are_shown_as_text() -> None:
    data: Any = {"a": ["x", {"b": None}], "n": NumberText("1.0")}
    assert [text_at(data, path) for path in (("a", 0), ("a", 1), ("n",), ("a", 2), ("n", "x"), ())] == [
        "x",
        '{"b":null}',
        "1.0",
        None,
        None,
        encode_json(data),
    ]
    assert shown_at(data, ("a", 0)) == "x"
    assert (field_name(()), field_name(("a", 0))) == (None, "a.0")
