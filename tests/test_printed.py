"""Printed numbers: what each form is read as, and what is not read at all."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evkg.printed import as_decimal, read_printed


@pytest.mark.parametrize(
    ("text", "kind", "first", "is_percent"),
    [
        ("33.88", "exact", "33.88", False),
        (" 6,637 ", "exact", "6637", False),
        ("r = 1.00", "exact", "1.00", False),
        ("F1 = 0.9", "exact", "0.9", False),
        ("53.85 %", "exact", "53.85", True),
        ("−0.5", "exact", "-0.5", False),
        ("–0.5", "exact", "-0.5", False),
        ("1e-7", "exact", "1E-7", False),
        ("1.5 × 10⁻³", "exact", "0.0015", False),
        ("2·10^6", "exact", "2E+6", False),
        ("0.91†", "exact", "0.91", False),
        ("0.91 ± 0.02", "spread", "0.91", False),
        ("91 +/- 2%", "spread", "91", True),
        ("< 0.001", "below", "0.001", False),
        ("p ≤ 0.05", "below", "0.05", False),
        ("at least 90%", "above", "90", True),
        ("~33h", "about", "33", False),
        ("6.03 Å", "about", "6.03", False),
        ("0.612 (0.567–0.656)", "about", "0.612", False),
        ("0,873", "about", "0.873", False),
        ("12 345", "about", "12345", False),
        ("0.5–0.7", "range", "0.5", False),
        ("5 to 7 %", "range", "5", True),
    ],
)
def test_a_printed_number_is_read(text: str, kind: str, first: str, is_percent: bool) -> None:
    printed = read_printed(text)
    assert printed is not None
    assert (printed.kind, printed.readings[0], printed.is_percent) == (kind, Decimal(first), is_percent)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n.s.",
        "NA",
        "12 of 30",
        "12/30",
        "1.234,5",
        "2026-10-15",
        "v1.5",
        "0.91, 0.87",
        "٣٣",
        "1e9999999999",
        "9" * 2000,
    ],
)
def test_what_is_not_one_number_is_not_read(text: str) -> None:
    assert read_printed(text) is None


def test_a_prefix_of_a_unit_may_be_meant_by_the_number() -> None:
    printed = read_printed("110M")
    assert printed is not None
    assert printed.agrees(Decimal(110))
    assert printed.agrees(Decimal(110_000_000))
    assert not printed.agrees(Decimal(1100))


@given(st.text(max_size=40) | st.text("0123456789.,–-−±%<>=~ ()×^eE10⁻³kMB", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    printed = read_printed(text)
    assert printed is None or all(number.is_finite() for number in printed.readings)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3))
def test_a_plain_number_is_itself(number: Decimal) -> None:
    printed = read_printed(str(number))
    assert printed is not None
    assert printed.readings == (number,)
    assert as_decimal(str(number)) == number
