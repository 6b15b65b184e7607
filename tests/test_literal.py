"""Literals are legal, keep what was written, and are numbers only where stores can compute with them."""

from __future__ import annotations

import re
from decimal import Decimal
from urllib.parse import unquote

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evkg.jsontext import Json, NumberText
from evkg.literal import canonical_json, decimal_literal, instant_type, is_integer_text, json_type, quote_part
from evkg.namespaces import XSD, concept_iri, concept_key, quote_segment

STEADY = settings(derandomize=True, database=None, max_examples=300, deadline=None)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("written", "literal"),
    [
        ("33.88", "33.88"),
        ("1.00", "1.00"),
        ("6637", "6637"),
        ("007", "007"),
        ("-0", "-0"),
        ("5.60", "5.60"),
        ("82.", "82"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("+5", "5"),
        ("1e-3", "0.001"),
        ("1E+5", "100000"),
        ("5e-2", "0.05"),
        ("-1.50e1", "-15.0"),
        ("1e-7", "0.0000001"),
        ("0e9999", "0"),
    ],
)
def test_a_number_keeps_its_digits_and_loses_only_its_exponent(written: str, literal: str) -> None:
    assert decimal_literal(written) == literal


@pytest.mark.parametrize(
    "written",
    ["", " 1", "1 ", "1\n", "~33h", "53.85%", "< 0.001", "NaN", "INF", "1_000", "1,5", "0x1F", "٣", "1e-31", "1e400",
     "1e99999", "123456789012345678901234.5", "0." + "3" * 19, "9" * 21, "e5", ".", "-", "+"],
)  # fmt: skip
def test_what_no_store_can_compute_with_is_no_number(written: str) -> None:
    assert decimal_literal(written) is None


@STEADY
@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12), max_value=10**12).map(str)
    | st.from_regex(r"[+-]?([0-9]{1,25}(\.[0-9]{0,22})?|\.[0-9]{1,22})([eE][+-]?[0-9]{1,3})?", fullmatch=True)
)
def test_a_decimal_is_legal_equal_and_a_number_in_the_store(written: str) -> None:
    literal = decimal_literal(written)
    if literal is None:
        return
    assert re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", literal)
    assert Decimal(literal) == Decimal(written)
    answer = ox.Store().query(f'SELECT ("{literal}"^^<{XSD}decimal> * 1 AS ?n) {{}}')
    assert isinstance(answer, ox.QuerySolutions)
    (row,) = answer
    assert Decimal(row["n"].value) == Decimal(written)


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("2026-10-15", "date"),
        ("2024-02-29", "date"),
        ("2026-10-15T10:56:26Z", "dateTime"),
        ("2026-10-15T10:56:26.123456789+02:00", "dateTime"),
        ("2026-10-15T10:56:26-14:00", "dateTime"),
        ("2026-02-30", None),
        ("2023-02-29", None),
        ("0000-01-01", None),
        ("2024-13-40", None),
        ("2026-10-15T10:56:26", None),
        ("2026-10-15T24:00:01Z", None),
        ("2026-10-15T10:56:60Z", None),
        ("2026-10-15T10:56:26+15:00", None),
        ("2026-10-15T10:56:26+14:01", None),
        ("2015-09-24Z", None),
        ("2026-10-15\n", None),
        ("２０２６-10-15", None),
        ("20261015", None),
        ("October 2026", None),
    ],
)
def test_a_date_is_typed_only_if_it_is_a_legal_one(written: str, form: str | None) -> None:
    assert instant_type(written) == form
    if form is not None:
        answer = ox.Store().query(f'SELECT (YEAR(<{XSD}{form}>("{written}")) AS ?y) {{}}')
        assert isinstance(answer, ox.QuerySolutions)
        assert [row["y"] is not None for row in answer] == [True]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        *((text, True) for text in ("0", "-12", "-0", str(2**63 - 1), str(-(2**63)))),
        *((text, False) for text in ("1.0", "01", "+1", "1 ", "", str(2**63), "٣")),
    ],
)
def test_an_integer_fits_into_64_bits(text: str, is_one: bool) -> None:
    assert is_integer_text(text) is is_one


@STEADY
@given(ANY_TEXT, ANY_TEXT)
def test_any_text_makes_a_valid_iri_and_no_two_the_same(text: str, other: str) -> None:
    for quoted in (quote_part, quote_segment):
        assert ox.NamedNode(f"https://example.org/a/{quoted(text)}#{quoted(text)}")
        assert unquote(quoted(text)) == text
        assert (quoted(text) == quoted(other)) is (text == other)


@STEADY
@given(ANY_TEXT.filter(bool) | st.sampled_from([".", "..", "a/b", "a#b", "%2F", "top 10 %"]))
def test_a_concept_gives_its_key_back(key: str) -> None:
    assert concept_key(concept_iri("metric", key)) == key


@pytest.mark.parametrize(
    ("one", "other"),
    [("1.00", "1"), ("1e2", "100"), ("-0.0", "0"), ("10e39", "1e40"), ("0.10", "1e-1"), ("1.0e999", "10e998")],
)
def test_equal_numbers_have_equal_canonical_json(one: str, other: str) -> None:
    assert canonical_json(NumberText(one)) == canonical_json(NumberText(other))


def test_canonical_json_keeps_what_differs_apart() -> None:
    values: list[Json] = [
        1,
        "1",
        True,
        None,
        [],
        {},
        "",
        NumberText("1.5"),
        [1, 2],
        [2, 1],
        {"a": None},
        NumberText("1e400"),
    ]
    assert len({canonical_json(value) for value in values}) == len(values)
    assert canonical_json({"b": 1, "a": 2}) == canonical_json({"a": 2, "b": 1})
    assert canonical_json(NumberText("1e" + "9" * 30))


def test_a_number_kept_as_text_is_a_number() -> None:
    values: list[Json] = [NumberText("1"), "1", 1, True, None, [], {}]
    assert [json_type(value) for value in values] == [
        "number", "string", "number", "boolean", "null", "array", "object",
    ]  # fmt: skip
