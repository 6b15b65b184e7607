"""The records of a JSON document are found one at a time, and the whole document is checked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evkg.jsontext import JsonError
from evkg.snapshot import read_elements

RECORDS: list[Any] = [{"id": "é"}, {"id": "b", "x": [1, {}]}]


def _values(document: Any, indent: int | None = None) -> list[Any]:
    return [element.value for element in read_elements(json.dumps(document, indent=indent, ensure_ascii=False))]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "document",
    [
        {"records": RECORDS},
        {"schema_version": "1.1", "records": RECORDS, "coverage": {"a": [{}]}},
        {"coverage": {"records": [1]}, "research": [], "records": RECORDS},
        RECORDS,
    ],
)
def test_records_are_found_wherever_their_list_stands(document: Any, indent: int | None) -> None:
    assert _values(document, indent) == RECORDS


@pytest.mark.parametrize("document", [{"id": "a"}, {}, "text", 4, None])
def test_any_other_value_is_one_element(document: Any) -> None:
    assert _values(document) == [document]


@pytest.mark.parametrize("document", [[], {"records": []}, {"a": 1, "records": []}])
def test_an_empty_list_has_no_element(document: Any) -> None:
    assert _values(document) == []


def test_each_element_has_its_place_in_characters() -> None:
    text = '{"é": "ü",\n "records": [ {"id": 1},\n\n  {"id": 2},{"id": 3}] }'
    assert [(e.line, e.column, text[e.start : e.end]) for e in read_elements(text)] == [
        (2, 15, '{"id": 1}'),
        (4, 3, '{"id": 2}'),
        (4, 13, '{"id": 3}'),
    ]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_snapshot_cut_off_anywhere_is_a_fault(indent: int | None) -> None:
    document = {"schema_version": "1.1", "records": RECORDS, "coverage": {"a": [1, {"b": "x"}]}}
    text = json.dumps(document, indent=indent)
    for end in range(len(text)):
        with pytest.raises(JsonError) as caught:
            list(read_elements(text[:end]))
        assert 0 <= caught.value.offset <= end


@pytest.mark.parametrize(
    ("text", "offset", "words"),
    [
        ('{"records": [], "records": []}', 16, "stands twice"),
        ('{"records": {}}', 12, "must be a list"),
        ('{"records": [{"id": 1} {"id": 2}]}', 23, "lacks a comma"),
        ('{"a": 1 "b": 2}', 8, "lacks a comma"),
        ('{"a" 1}', 5, "colon"),
        ("{a: 1}", 1, "double quotes"),
        ('{"a": 1,}', 8, "double quotes"),
        ("{,}", 1, "double quotes"),
        ("[1,]", 3, "not JSON"),
        ("[] x", 3, "more text"),
        ('{"records": []} {}', 16, "more text"),
        ('[{"a": {"b": 1, "b": 2}}]', 16, "stands twice"),
        ("", 0, "not JSON"),
    ],
)
def test_a_fault_has_its_place(text: str, offset: int, words: str) -> None:
    with pytest.raises(JsonError, match=words) as caught:
        list(read_elements(text))
    assert caught.value.offset == offset


def test_elements_before_a_fault_are_given() -> None:
    elements = read_elements('[{"id": 1}, {"id": 2}, {"id"')
    assert [next(elements).value, next(elements).value] == [{"id": 1}, {"id": 2}]
    with pytest.raises(JsonError):
        next(elements)
