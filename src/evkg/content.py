"""Content of the fields of a record: what no shape can say of every field at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from evkg.errors import excerpt
from evkg.finding import Finding
from evkg.jsontext import Json
from evkg.literal import decimal_literal
from evkg.moment import check_moments
from evkg.quantity import check_quantities
from evkg.record import Record
from evkg.reviewer import check_reviewer
from evkg.scalar import Path
from evkg.vocabulary import PARTS, Term, Vocabulary
from evkg.wanted import refuses_empty

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
#: What was meant for a SHA-256, what is one, and the one of no bytes at all.
_HEX: Final = re.compile(r"[0-9a-fA-F]{50,80}\Z")
_SHA256: Final = re.compile(r"[0-9a-f]{64}\Z")
_OF_NOTHING: Final = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
_WORDED: Final = ("text", "texts", "comparison-value")
#: Fields that hold what the source prints, whatever that is.
_CELLS: Final = frozenset({"printed_value", "raw_xml_value", "printed_source_cell"})
_NOT_SAID: Final = "reported stated specified given provided disclosed mentioned described recorded".split()
#: Words that stand where a value is not known -> the reason that they mean, "" where that is open.
_REASON_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("unreported", "none recorded", "none reported", "not_reported", "n.r.", "n/r"), "unreported"),
    **dict.fromkeys((f"not {word}" for word in _NOT_SAID), "unreported"),
    **dict.fromkeys(("n/a", "na", "n.a.", "n. a.", "#n/a", "inapplicable", "not_applicable"), "inapplicable"),
    **dict.fromkeys(("unknown", "tbd", "to be determined", "null", "?", "??", "…", "..."), ""),
    **dict.fromkeys(("-", "–", "—", "−", "--", "---"), ""),
    **dict.fromkeys(("not available", "unavailable", "not_available"), "unavailable"),
    **dict.fromkeys(("unextracted", "not extracted", "not_extracted"), "unextracted"),
    "conflicting": "conflicting",
}
_REASON_LIKE: Final = re.compile(
    rf"(not (applicable|available|extracted|{'|'.join(_NOT_SAID)})\s*[:;,.(–—-].*|not applicable|none\s*\(.*"
    r"|unknown\s*[:(].*|n/a\s*[:;,.(–—-].*)\Z",
    re.IGNORECASE | re.DOTALL,
)


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
        # One empty value, one finding: where a shape has words for it, the shape speaks.
        is_item = isinstance(path[-1], int) or not term.is_list
        if kind in _TEXTS and is_item and not refuses_empty(record.kind, path):
            fix = "Write the value, or remove the key and say under missing_metadata why it is missing."
            yield record.finding("violation", "empty-text", path, f"{_field(path)} is empty.", fix)
        return
    if (kind in _TYPED or term.scheme) and is_stray(value):
        yield stray_character(record, path)
    if kind in ("decimal", "decimal-or-null", "number") and _is_too_long(value):
        message = "The number has more digits than queries can compute with; it is kept as text only."
        yield record.finding("info", "too-many-digits", path, message, "Nothing has to be changed.")
    if kind in ("sha256", "artifact", "text"):
        yield from _hash(record, path, kind, value)
    if kind in _WORDED:
        yield from _reason_as_value(record, path, term, value)


def _hash(record: Record, path: Path, kind: str, value: str) -> Iterator[Finding]:
    """A hash that is none of a file; in a field of any text only what was clearly meant for a SHA-256."""
    if kind != "text" and value == _OF_NOTHING:
        message = f"{_field(path)} is the hash of a file without a single byte: the file was not fetched."
        yield record.finding("warning", "hash-of-nothing", path, message, "Fetch the file again, and hash that.")
    if kind == "text" and str(path[-1]).endswith("sha256") and _HEX.match(value) and not _SHA256.match(value):
        message = f"{_field(path)} has {len(value)} digits and letters; a SHA-256 has 64, in lower case."
        yield record.finding("warning", "hash-of-other-length", path, message, "Write it as sha256sum prints it.")


def check_plain_texts(record: Record, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Findings on reasons in place of values where no term says what is expected: description, facets, free objects."""
    facets = record.data["facets"]
    places: list[tuple[Path, Json]] = [((key,), record.data[key]) for key in ("name", "description")]
    for name, values in facets.items() if isinstance(facets, dict) else ():
        if isinstance(values, list):
            places.extend((("facets", name, index), value) for index, value in enumerate(values))
    for path, value in places:
        if isinstance(value, str) and value.strip().casefold() in _REASON_WORDS:
            key = excerpt(str(path[0] if len(path) == 1 else path[1]))
            message = f"{key} says {excerpt(value.strip())!r}, which says nothing."
            fix = 'Write description: "" if there is none.' if path[0] == "description" else "Write it, or remove it."
            yield record.finding("warning", "reason-as-value", path, message, fix)
    for key, value in record.attributes.items():
        term = vocabulary.attributes[record.kind].get(key)
        if term is not None and term.value_kind == "json":
            for path, text in _texts_within(value, ("attributes", key)):
                if path[-1] != "status" and _REASON_WORDS.get(text.strip().casefold()):
                    message = f"{_field(path)} says {excerpt(text.strip())!r}: that is a reason why there is no value."
                    fix = "Leave the key out; what is missing of the whole can be said under missing_metadata."
                    yield record.finding("info", "reason-as-value", path, message, fix)


def _texts_within(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts_within(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts_within(inner, (*path, index))


def check_contradictions(record: Record, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Findings where fields of a record cannot all be right."""
    yield from _value_and_reason(record)
    yield from check_quantities(record, vocabulary)
    yield from check_moments(record)
    yield from check_reviewer(record, vocabulary)


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
    return excerpt(".".join(str(step) for step in path[1:] if isinstance(step, str)))


def _is_too_long(value: str) -> bool:
    return _DECIMAL.match(value) is not None and decimal_literal(value) is None


def _reason_as_value(record: Record, path: Path, term: Term, value: str) -> Iterator[Finding]:
    word, field = value.strip().casefold(), _field(path)
    reason = _REASON_WORDS.get(word)
    if reason is not None:
        allowed = (term.value_kind == "comparison-value" and word == "unreported") or _is_printed_gap(record, path)
        message = f"{field} says {excerpt(value.strip())!r}: that is a reason why the value is missing, not a value."
        written = f"{{reason: {reason}}}" if reason else "{reason: …} with unreported or unextracted"
        where = " unless the source prints just that" if field == "printed_value" else ""
        fix = f"Remove it{where}, and write under missing_metadata {field}: {written}."
        yield record.finding("info" if allowed else "warning", "reason-as-value", path, message, fix)
    elif _REASON_LIKE.match(value.strip()):
        message = f"{field} reads like a reason why there is no value."
        fix = f"If there is none, write it as the note of an entry under missing_metadata: {field}: {{reason: …}}."
        yield record.finding("info", "reason-like-value", path, message, fix)


def _is_printed_gap(record: Record, path: Path) -> bool:
    """Whether this is what a cell of the source prints, and the record explains that there is no number."""
    entries = record.attributes.get("missing_metadata")
    is_explained = isinstance(entries, dict) and bool({"value", "numeric_value"} & set(entries))
    return path[-1] in _CELLS and is_explained and record.attributes.get("numeric_value") is None


def _value_and_reason(record: Record) -> Iterator[Finding]:
    """Fields with a value and an entry under missing_metadata. Source: contract section 6 (never both)."""
    entries = record.attributes.get("missing_metadata")
    for field, entry in entries.items() if isinstance(entries, dict) else ():
        if field.partition(".")[0] == "missing_metadata" or not isinstance(entry, dict):
            continue
        path = _place_of(record.attributes, field.split("."))
        if path is None:
            continue
        name = excerpt(field)
        message = f"{name} has a value and also an entry under missing_metadata that says it is missing."
        fix = f"Remove the entry for {name} if the value is right, or remove the value."
        if isinstance(record.attributes.get(field), dict):
            fix = f"Remove the entry for {name}, and explain only the parts that are missing: {name}.<part>."
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
