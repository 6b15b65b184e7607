"""Values as RDF literals and IRI parts: what fits a kind of value, in which lexical form."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final
from urllib.parse import quote

from evkg.jsontext import Json, NumberText, encode_json
from evkg.namespaces import EVKG

#: A value that does not fit its declared kind.
MISFIT: Final[Any] = object()

#: The most digits that Oxigraph's decimals hold (counts); beyond them a literal is no number in SPARQL.
MAX_FRACTION_DIGITS: Final = 18
MAX_INTEGER_DIGITS: Final = 20
#: Integers up to this size are JSON numbers in the document; JavaScript would round larger ones.
_SAFE_INTEGER: Final = 2**53

_PLAIN: Final = re.compile(r"[A-Za-z0-9._~-]*\Z")
SHA256: Final = re.compile(r"[0-9a-f]{64}\Z")
_DECIMAL: Final = re.compile(r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?\Z", re.ASCII)
_INTEGER: Final = re.compile(r"-?(?:0|[1-9]\d{0,19})\Z", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d\Z", re.ASCII)
_DATETIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)\Z", re.ASCII)


def quote_part(text: str) -> str:
    """`text` fit for the fragment of an IRI.

    >>> quote_part("hardware.GPU memory")
    'hardware.GPU%20memory'
    """
    return text if _PLAIN.match(text) else quote(text, safe="-._~")


def step(key: str) -> str:
    """A key as one step of a path; its own dots are escaped, so that a path can be split again."""
    return key.replace("%", "%25").replace(".", "%2E") if "." in key or "%" in key else key


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


def json_type(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | NumberText):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def as_text(value: Json) -> Any:
    if isinstance(value, str):
        return str(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else MISFIT


def as_integer(value: Json) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int) or not _INTEGER.match(str(value)):
        return MISFIT
    number = int(value)
    return number if abs(number) < _SAFE_INTEGER else str(number)


def as_boolean(value: Json) -> Any:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value, MISFIT) if isinstance(value, str) else MISFIT


def as_comparison_value(value: Json) -> Any:
    """A text as it is; anything else as canonical JSON, told apart by its datatype.

    Source: contract section 12.1 (equality: JSON with sorted object keys, numbers as JSON numbers).
    """
    if isinstance(value, str) and not isinstance(value, NumberText):
        return value
    return {"type": EVKG + "JSON", "@value": canonical_json(value)}


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
        text = decimal_literal(value)
        if text is not None:
            text = text.rstrip("0").rstrip(".") if "." in text else text
            return NumberText("0" if text in ("-0", "") else text)
    return value
