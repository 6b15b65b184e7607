"""Values as RDF literals and IRI parts: what fits a kind of value, in which lexical form."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Final
from urllib.parse import quote

from evkg.jsontext import Json, NumberText, encode_json

#: The most digits that Oxigraph's decimals hold (counts); beyond them a literal is no number in SPARQL.
MAX_FRACTION_DIGITS: Final = 18
MAX_INTEGER_DIGITS: Final = 20

#: Exponents from here on stay exponents in canonical JSON.
_LONG: Final = 400

_PLAIN: Final = re.compile(r"[A-Za-z0-9._~-]*\Z")
SHA256: Final = re.compile(r"[0-9a-f]{64}\Z")
_DECIMAL: Final = re.compile(r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?\Z", re.ASCII)
_INTEGER: Final = re.compile(r"-?(?:0|[1-9]\d{0,19})\Z", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d\Z", re.ASCII)
#: The zone is at most 14 hours, as in XML Schema; Python would allow 23:59.
_DATETIME: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))\Z", re.ASCII
)


def quote_part(text: str) -> str:
    """`text` fit for the fragment of an IRI.

    >>> quote_part("hardware.GPU memory")
    'hardware.GPU%20memory'
    """
    return text if _PLAIN.match(text) else quote(text, safe="-._~")


def decimal_literal(text: str) -> str | None:
    """The xsd:decimal for a number as written, or None if there is none that stores can compute with.

    Plain digits stay as they are; an exponent is written out.

    Source: XML Schema 1.1 part 2, section 3.3.3; the limits are those of Oxigraph 0.5.

    >>> decimal_literal("33.880"), decimal_literal("1e-3"), decimal_literal("~33h"), decimal_literal("1e40")
    ('33.880', '0.001', None, None)
    """
    if not _DECIMAL.match(text):
        return None
    if "e" in text or "E" in text or text[0] in "+." or text.endswith(".") or text.startswith("-."):
        try:
            number = Decimal(text)
        except InvalidOperation:
            return None
        if number and not -MAX_FRACTION_DIGITS - 1 < number.adjusted() < MAX_INTEGER_DIGITS + 1:
            return None
        text = format(number, "f")
    whole, _, fraction = text.lstrip("-").partition(".")
    if len(whole.lstrip("0")) > MAX_INTEGER_DIGITS or len(fraction) > MAX_FRACTION_DIGITS:
        return None
    return text


def instant_type(text: str) -> str | None:
    """`date` or `dateTime` for a date as written; None if it is neither, or no day of the calendar.

    >>> instant_type("2026-10-15T10:56:26Z"), instant_type("2026-10-15"), instant_type("2026-02-30")
    ('dateTime', 'date', None)
    """
    try:
        if _DATE.match(text):
            date.fromisoformat(text)
            return "date"
        if _DATETIME.match(text):
            datetime.fromisoformat(text)
            return "dateTime"
    except ValueError:
        return None
    return None


def is_integer_text(text: str) -> bool:
    """Whether a text is an integer that stores can compute with: at most 64 bits.

    >>> is_integer_text("-12"), is_integer_text("007"), is_integer_text("9223372036854775808")
    (True, False, False)
    """
    return bool(_INTEGER.match(text)) and -(2**63) <= int(text) < 2**63


def json_type(value: Json) -> str:
    """The name of the JSON type of a value.

    >>> json_type(NumberText("1.00")), json_type([])
    ('number', 'array')
    """
    if isinstance(value, str):
        return "number" if isinstance(value, NumberText) else "string"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "number"
    return "array" if isinstance(value, list) else "object"


def canonical_json(value: Json) -> str:
    """JSON with sorted keys and numbers in one form, so that equal values have equal text.

    >>> canonical_json({"b": NumberText("1.00"), "a": [True, None]})
    '{"a":[true,null],"b":1}'
    """
    return encode_json(_canonical(value))


def _canonical(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _canonical(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_canonical(inner) for inner in value]
    if isinstance(value, NumberText):
        return NumberText(_shortest(value))
    return value


def _shortest(text: str) -> str:
    """A JSON number as plain digits, without zeros that add nothing; with an exponent where that is shorter."""
    try:
        sign, digits, exponent = Decimal(text).as_tuple()
    except InvalidOperation:
        return text
    if not isinstance(exponent, int) or not any(digits):
        return "0"
    whole = "".join(map(str, digits))
    exponent += len(whole) - len(whole.rstrip("0"))
    whole = whole.strip("0")
    minus = "-" if sign else ""
    if not -_LONG < exponent < _LONG:
        return f"{minus}{whole}e{exponent}"
    return minus + format(Decimal((0, tuple(map(int, whole)), exponent)), "f")
