"""JSON keeps every digit, and says exactly where something is wrong."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evkg.jsontext import MAX_DEPTH, Json, JsonError, NumberText, decode_json, decode_json_prefix, encode_json, locate

FIXED = settings(max_examples=150, deadline=None, derandomize=True, database=None)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "text",
    ["0.0500", "-0", "1e-3", "1E+400", "12345678901234567890", "-0.0", "3.1415926535897932384626433832795028841971"],
)
def test_a_number_that_would_change_keeps_its_text(text: str) -> None:
    assert decode_json(text) == NumberText(text)
    assert encode_json(decode_json(text)) == text


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("-7", -7), ("999999999999999999", 999999999999999999)])
def test_a_small_integer_is_an_integer(text: str, value: int) -> None:
    assert type(decode_json(text)) is int
    assert decode_json(text) == value


def test_a_number_of_a_million_digits_is_kept() -> None:
    text = "9" * 1_000_000
    assert encode_json(decode_json(text)) == text


@pytest.mark.parametrize(
    ("text", "offset", "words"),
    [
        ('{"é😀": 1, "é😀": 2}', 10, "stands twice"),
        ('{"a": {"b": {"c": 1, "d": "\\"c\\": 2", "c": 3}}}', 38, '"c" stands twice'),
        ('[{"a": 1}, {"a": [{"x": 1}, {"x": 1, "y": 2, "\\u0078": 3}]}]', 45, '"x" stands twice'),
        ('{"a": 1, "b": {"a": 1}, "a": 2}', 24, '"a" stands twice'),
        ('{"\\ud800": 1, "\\ud800": 2}', 14, r'"\\ud800" stands twice'),
        ('{"a": "NaN", "b": NaN}', 18, "NaN is not a JSON number"),
        ("[1, -Infinity]", 4, "-Infinity is not"),
        ('{"a": "ok \\ud83d\\ude00", "b": "\\\\ud800 \\ud800"}', 39, "half a character"),
        ('["\\udc00"]', 2, "half a character"),
        ('{"\\ud800x": 1}', 2, "half a character"),
        ('{"a": 1} {"a": 2}', 9, "more text"),
        ('{"a": tru}', 6, "not JSON"),
        ("", 0, "not JSON"),
        ('{"a": "b', 6, "not JSON"),
        ('{"a": "b\tc"}', 8, "control character"),
        ("01", 1, "more text"),
        ("\ufeff{}", 0, "not JSON"),
        ('{"a": 1, }', 9, "not JSON"),
    ],
)
def test_a_fault_has_its_place_in_characters(text: str, offset: int, words: str) -> None:
    with pytest.raises(JsonError, match=words.replace("(", r"\(")) as caught:
        decode_json(text)
    assert caught.value.offset == offset


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 900, 100_000])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_nesting_is_told_where_it_becomes_too_deep(levels: int, opening: str) -> None:
    closing = "]" if opening == "[" else "1}"
    text = opening * levels + ("" if opening == "[" else "1}") + closing[-1] * (levels - (opening != "["))
    with pytest.raises(JsonError, match="nested more than 100") as caught:
        decode_json(text)
    assert caught.value.offset == len(opening) * MAX_DEPTH


def test_brackets_in_a_text_are_not_nesting() -> None:
    text = json.dumps({"a": "[{" * 500 + '"]'})
    assert encode_json(decode_json(text)) == text.replace(": ", ":")


def test_a_hundred_levels_are_read() -> None:
    assert decode_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)


def test_a_whole_surrogate_pair_is_one_character() -> None:
    assert decode_json('"\\ud83d\\ude00 \\\\ud800"') == "😀 \\ud800"


@FIXED
@given(JSON)
def test_what_is_encoded_decodes_to_the_same(value: Json) -> None:
    text = encode_json(value)
    again = decode_json(text)
    assert encode_json(again) == text
    assert json.loads(text) == value


@FIXED
@given(st.text(alphabet='{}[]",:\\u0d8 \n1eE.-+nulltrueNaI😀', max_size=40))
def test_any_text_is_decoded_or_refused_with_a_place(text: str) -> None:
    offset = 0
    try:
        decode_json(text)
    except JsonError as error:
        offset = error.offset
    assert 0 <= offset <= len(text)


@FIXED
@given(JSON, st.sampled_from([None, 2]), st.integers(0, 3))
def test_every_key_is_located_where_it_stands(value: Json, indent: int | None, before: int) -> None:
    text = "é" * before + json.dumps(value, ensure_ascii=False, indent=indent)
    assert decode_json_prefix(text, before) == (decode_json(text[before:]), len(text))

    def visit(inner: Json, path: tuple[str | int, ...]) -> None:
        if isinstance(inner, dict):
            for key, below in inner.items():
                written = json.dumps(key, ensure_ascii=False)
                assert text.startswith(written + ":", locate(text, (*path, key), before))
                visit(below, (*path, key))
        elif isinstance(inner, list):
            for index, below in enumerate(inner):
                offset = locate(text, (*path, index), before)
                assert encode_json(decode_json_prefix(text, offset)[0]) == encode_json(below)
                visit(below, (*path, index))

    visit(value, ())


def test_a_path_that_does_not_exist_gives_the_nearest_key_above() -> None:
    text = '{"a": {"b": [1]}}'
    assert locate(text, ("a", "b", 4)) == text.index('"b"')
    assert locate(text, ("a", "x", "y")) == text.index('"a"')
    assert locate(text, ("x",)) == 0


def test_a_key_behind_a_very_long_number_is_located() -> None:
    digits = "1" * 5000
    text = f'{{"a": {digits}, "b": [-{digits}, 1e{digits}, {digits}.5, 7]}}'
    assert decode_json(text)
    assert text[locate(text, ("b", 3)) :] == "7]}"
