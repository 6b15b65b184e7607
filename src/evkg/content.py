"""Content of the fields of a record: what no shape can say of every field at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Context, Decimal
from typing import Final

from evkg.finding import Finding
from evkg.jsontext import Json
from evkg.literal import decimal_literal
from evkg.record import Record
from evkg.scalar import Path
from evkg.vocabulary import PARTS, Term, Vocabulary

#: Source: contract section 5.1 (decimal).
_DECIMAL: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
_TEXTS: Final = ("text", "texts", "url", "url-or-path", "doi", "sha256", "git-sha", "date", "datetime")
#: Kinds of value whose text another program reads, so that no character may be too many.
_TYPED: Final = frozenset(
    """
    decimal decimal-or-null number date datetime url url-or-path doi sha256 git-sha artifact record-id record-ids
    entity-kinds agent agents
    """.split()
)
_WORDED: Final = ("text", "texts", "comparison-value")
#: Words that stand where a value is not known -> the reason that they mean, "" where that is open.
_REASON_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("unreported", "not reported", "not_reported", "none recorded"), "unreported"),
    **dict.fromkeys(("n/a", "na", "inapplicable"), "inapplicable"),
    **dict.fromkeys(("unknown", "-", "–", "—", "tbd"), ""),
    **{word: word for word in ("unextracted", "unavailable", "conflicting")},
}
_REASON_LIKE: Final = re.compile(r"(not applicable\s*([:;,.(–—-].*)?|none\s*\(.*)\Z", re.IGNORECASE | re.DOTALL)
#: One number as papers print it: perhaps behind `r = `, with commas between thousands, a sign or %.
_PRINTED: Final = re.compile(
    r"(?:[^\d=<>≤≥~≈]{1,20}=)?\s*(?P<number>[+\-−]?(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"\s*%?\Z",
    re.ASCII,
)
#: Numbers of more characters are not compared (count); those of fewer are, to the last digit.
_LONGEST: Final = 1000
_EXACT: Final = Context(prec=_LONGEST, Emax=10**6, Emin=-(10**6), traps=[])
_INTERVALS: Final = ("confidence_interval", "credible_interval")


def declared_values(
    values: Mapping[str, Json], path: Path, terms: Mapping[str, Term], vocabulary: Vocabulary
) -> Iterator[tuple[Path, Term | None, Json]]:
    """(path, term, value) of every declared field and its parts, each element of a list by itself.

    The term is None for a key that a strict object does not have; on the highest level such keys are left out.
    """
    for key, value in values.items():
        term = terms.get(key)
        if term is None:
            if len(path) > 1:
                yield (*path, key), None, value
            continue
        here = (*path, key)
        if term.value_kind not in PARTS:
            plain = value if term.is_list and isinstance(value, list) else None
            yield from [(here, term, value)] if plain is None else [((*here, n), term, v) for n, v in enumerate(plain)]
            continue
        parts = vocabulary.parts.get(PARTS[term.value_kind][0], {})
        if isinstance(value, dict):
            yield from declared_values(value, here, parts, vocabulary)
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, dict):
                yield from declared_values(item, (*here, index), parts, vocabulary)


def check_value(record: Record, path: Path, term: Term, value: Json) -> Iterator[Finding]:
    """Findings on one declared value: empty, with stray characters, a reason in its place, too many digits.

    Source: contract sections 5.1 (types), 6 (missing_metadata, comparison).
    """
    if not isinstance(value, str):
        return
    kind = term.value_kind
    if not value.strip():
        if kind in _TEXTS or term.scheme:
            fix = "Write the value, or remove the key and say under missing_metadata why it is missing."
            yield record.finding("violation", "empty-text", path, f"{_field(path)} is empty.", fix)
        return
    if (kind in _TYPED or term.scheme) and is_stray(value):
        yield stray_character(record, path)
    if kind in ("decimal", "decimal-or-null", "number") and _is_too_long(value):
        message = "The number has more digits than queries can compute with; it is kept as text only."
        yield record.finding("info", "too-many-digits", path, message, "Nothing has to be changed.")
    if kind in _WORDED:
        yield from _reason_as_value(record, path, term, value)


def check_contradictions(record: Record) -> Iterator[Finding]:
    """Findings where two fields of a record cannot both be right."""
    yield from _value_and_reason(record)
    yield from _printed_and_numeric(record)
    yield from _bounds_and_half_width(record)


def is_stray(text: str) -> bool:
    r"""Whether a text holds a control character, or white space around it.

    >>> [is_stray(text) for text in ("0.91", "0.91\n", " 0.91", "10.1000/x y")]
    [False, True, True, False]
    """
    return text != text.strip() or not text.isprintable()


def stray_character(record: Record, path: Path) -> Finding:
    """The finding on a text with such a character."""
    message = f"{_field(path)} holds a line feed, another control character, or white space around its text."
    return record.finding("violation", "stray-character", path, message, "Write the text alone, on one line.")


def _field(path: Path) -> str:
    """A field as missing_metadata names it.

    >>> _field(("attributes", "comparison", "split")), _field(("facets", "areas", 0))
    ('comparison.split', 'areas')
    """
    return ".".join(str(step) for step in path[1:] if isinstance(step, str))


def _is_too_long(value: str) -> bool:
    return _DECIMAL.match(value) is not None and decimal_literal(value) is None


def _reason_as_value(record: Record, path: Path, term: Term, value: str) -> Iterator[Finding]:
    word, field = value.strip().casefold(), _field(path)
    reason = _REASON_WORDS.get(word)
    if reason is not None:
        allowed = term.value_kind == "comparison-value" and word == "unreported"
        message = f"{field} says {value.strip()!r}: that is a reason why the value is missing, not a value."
        written = f"{{reason: {reason}}}" if reason else "{reason: …} with unreported or unextracted"
        where = " unless the source prints just that" if field == "printed_value" else ""
        fix = f"Remove it{where}, and write under missing_metadata {field}: {written}."
        yield record.finding("info" if allowed else "warning", "reason-as-value", path, message, fix)
    elif _REASON_LIKE.match(value.strip()):
        message = f"{field} reads like a reason why there is no value."
        fix = f"If there is none, write it as the note of an entry under missing_metadata: {field}: {{reason: …}}."
        yield record.finding("info", "reason-like-value", path, message, fix)


def _value_and_reason(record: Record) -> Iterator[Finding]:
    """Fields with a value and an entry under missing_metadata. Source: contract section 6 (never both)."""
    entries = record.attributes.get("missing_metadata")
    for field, entry in entries.items() if isinstance(entries, dict) else ():
        if field.partition(".")[0] == "missing_metadata" or not isinstance(entry, dict):
            continue
        path = _place_of(record.attributes, field.split("."))
        if path is None:
            continue
        message = f"{field} has a value and also an entry under missing_metadata that says it is missing."
        fix = f"Remove the entry for {field} if the value is right, or remove the value."
        if isinstance(record.attributes.get(field), dict):
            fix = f"Remove the entry for {field}, and explain only the parts that are missing: {field}.<part>."
        yield record.finding("violation", "value-and-reason", ("attributes", *path), message, fix)


def _place_of(value: Json, steps: list[str]) -> Path | None:
    """The path of the value that `steps` name, None if there is none; a key may itself hold dots."""
    if not steps:
        return None if value is None or value == [] or (isinstance(value, str) and not value.strip()) else ()
    if isinstance(value, list):
        index = int(steps[0]) if re.fullmatch(r"[0-9]{1,6}", steps[0]) else len(value)
        inner = _place_of(value[index], steps[1:]) if index < len(value) else None
        return None if inner is None else (index, *inner)
    if not isinstance(value, dict):
        return None
    for length in range(1, len(steps) + 1):
        key = ".".join(steps[:length])
        inner = _place_of(value[key], steps[length:]) if key in value else None
        if inner is not None:
            return (key, *inner)
    return None


def _printed_and_numeric(record: Record) -> Iterator[Finding]:
    """A printed number beside another number for computing. Source: design section 2, rule 1."""
    printed, numeric = record.attributes.get("printed_value"), record.attributes.get("numeric_value")
    if record.kind != "result" or not isinstance(printed, str) or not isinstance(numeric, str):
        return
    match = _PRINTED.match(printed.strip())
    text = match["number"].replace("−", "-") if match else ""
    number, one = _number(numeric), _number(text.replace(",", ""))
    if number is None or one is None or number in (one, _number(text.replace(",", ".", 1))):
        return
    path: Path = ("attributes", "numeric_value")
    if number in (_shifted(one, 2), _shifted(one, -2)):
        message = f"printed_value says {printed!r}, numeric_value is {numeric}: one is a percentage of the other."
        fix = f"Write numeric_value as printed: {one}, with the unit that belongs to it."
        yield record.finding("warning", "printed-and-numeric-differ", path, message, fix)
    else:
        message = f"printed_value says {printed!r}, but numeric_value is {numeric}."
        fix = f"Check both against the source; numeric_value is the printed number: {one}."
        yield record.finding("violation", "printed-and-numeric-differ", path, message, fix)


def _number(text: str) -> Decimal | None:
    if len(text) > _LONGEST or not _DECIMAL.match(text):
        return None
    number = _EXACT.create_decimal(text)
    return number if number.is_finite() else None


def _shifted(number: Decimal, places: int) -> Decimal:
    """The number times a power of ten, exactly."""
    return number.scaleb(places, _EXACT)


def _bounds_and_half_width(record: Record) -> Iterator[Finding]:
    """An interval given twice. Source: contract section 6 (uncertainty: bounds, or half_width)."""
    value = record.attributes.get("uncertainty")
    if isinstance(value, dict) and value.get("type") in _INTERVALS and {"lower", "upper", "half_width"} <= set(value):
        message = "The interval has lower and upper and also half_width."
        path: Path = ("attributes", "uncertainty", "half_width")
        fix = "Keep what the source prints: lower and upper, or half_width."
        yield record.finding("warning", "bounds-and-half-width", path, message, fix)
