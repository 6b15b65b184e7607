"""Where stubs go into the text of a record, and how they are written there, so that nothing else changes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evkg.jsontext import decode_json_prefix, locate, skip_space
from evkg.layout import Span

#: What stands where a reason must be chosen; it is none of the scheme, so no check takes it for one.
TO_BE_DECIDED: Final = "TO-BE-DECIDED"

_KEY: Final = "missing_metadata"
_JSON_KEY: Final = re.compile(r'"(?:[^"\\]|\\.)*"[ \t\n\r]*:[ \t\n\r]*')


@dataclass(frozen=True, slots=True)
class Insertion:
    """A text to be put before the character at an offset (from 0)."""

    offset: int
    text: str


class LayoutError(ValueError):
    """The way in which a record is written leaves no certain place for a stub; the text says why, for a curator."""


def insert(text: str, insertions: Sequence[Insertion]) -> str:
    """A text with all insertions.

    >>> insert("ac", [Insertion(2, "d"), Insertion(1, "b")])
    'abcd'
    """
    parts: list[str] = []
    last = 0
    for insertion in sorted(insertions, key=lambda i: i.offset):
        parts += [text[last : insertion.offset], insertion.text]
        last = insertion.offset
    return "".join([*parts, text[last:]])


def yaml_insertion(text: str, record: Span, names: Sequence[str], note: str) -> Insertion:
    """The stubs of fields in a record of a YAML text; in block style a comment line with `note` goes before them.

    Raises: LayoutError: an anchor, an alias or an unusual layout is in the way.

    >>> from evkg.layout import record_spans
    >>> text = "id: a\\nattributes: {unit: hour} # done\\n"
    >>> insert(text, [yaml_insertion(text, next(record_spans(text)), ["metric"], "look")])
    'id: a\\nattributes: {unit: hour, missing_metadata: {metric: {reason: TO-BE-DECIDED}}} # done\\n'
    """
    attributes = record.values.get("attributes")
    if attributes is None or not attributes.is_mapping:
        raise LayoutError("attributes is no object here.")
    entries = attributes.values.get(_KEY)
    for span in (record, attributes, entries):
        if span is not None and span.is_shared:
            raise LayoutError("It is written with an anchor or an alias, and a change here might change other records.")
    is_quoted = _is_quoted(text, record)
    stubs = _flow_stubs(names, is_quoted=is_quoted)
    if entries is None:
        if attributes.is_flow:
            return _in_flow(attributes, _flow_item(_KEY, f"{{{stubs}}}", is_quoted=is_quoted))
        indent = _indent(text, record.keys["attributes"], attributes)
        step = " " * max(attributes.column - record.keys["attributes"].column, 2)
        head = [f"{indent}{_KEY}:"]
        return _below(text, attributes, head + _block_stubs(names, note, indent + step))
    if entries.is_mapping and entries.is_flow:
        return _in_flow(entries, stubs)
    if entries.is_mapping:
        indent = _indent(text, attributes.keys[_KEY], entries)
        return _below(text, entries, _block_stubs(names, note, indent))
    if entries.items or entries.start != entries.end:
        raise LayoutError("missing_metadata is no object here.")
    return Insertion(entries.end, f" {{{stubs}}}")


def json_insertion(text: str, start: int, names: Sequence[str]) -> Insertion:
    """The stubs of fields in the record that begins at an offset of a JSON text, spaced as the record is.

    Raises: LayoutError: attributes or missing_metadata is no object.

    >>> text = '{"id": "a", "attributes": {"unit": "hour"}}'
    >>> insert(text, [json_insertion(text, 0, ["metric"])])
    '{"id": "a", "attributes": {"unit": "hour", "missing_metadata": {"metric": {"reason": "TO-BE-DECIDED"}}}}'
    """
    attributes = _value(text, start, ("attributes",))
    if attributes is None or text[attributes] != "{":
        raise LayoutError("attributes is no object here.")
    entries = _value(text, start, ("attributes", _KEY))
    if entries is not None and text[entries] != "{":
        raise LayoutError("missing_metadata is no object here.")
    place = attributes if entries is None else entries
    first = skip_space(text, place + 1)
    end = decode_json_prefix(text, place)[1] - 1
    key = _JSON_KEY.match(text, skip_space(text, skip_space(text, start) + 1))
    colon = ": " if key is not None and key[0].endswith((" ", "\n")) else ":"
    gap = text[place + 1 : first] if first != end else ""
    between = f",{gap or colon[1:]}" if entries is not None else f",{colon[1:]}"
    item = between.join(f'"{name}"{colon}{{"reason"{colon}"{TO_BE_DECIDED}"}}' for name in names)
    if entries is None:
        item = f'"{_KEY}"{colon}{{{item}}}'
    if first == end:
        return Insertion(place + 1, item)
    return Insertion(len(text[:end].rstrip(" \t\n\r")), f",{gap or colon[1:]}{item}")


def _value(text: str, start: int, path: tuple[str, ...]) -> int | None:
    """The offset of the value at a path of a JSON record, None if it is not there."""
    key = locate(text, path, start)
    match = _JSON_KEY.match(text, key)
    if match is None or json.loads(match[0].rstrip(": \t\n\r")) != path[-1]:
        return None
    return match.end()


def _indent(text: str, key: Span, block: Span) -> str:
    """The indentation of the keys of a block below its own key."""
    first = min(block.keys.values(), key=lambda span: span.start)
    indent = text[text.rfind("\n", 0, first.start) + 1 : first.start]
    if first.line <= key.line or indent.strip(" "):
        raise LayoutError("Its keys do not stand on lines of their own.")
    return indent


def _below(text: str, block: Span, lines: list[str]) -> Insertion:
    """Lines below the last line of a block."""
    newline = "\r\n" if "\r\n" in text else "\n"
    end = text.find("\n", block.end)
    if text[block.end - 1 : block.end] == "\n":  # behind a text in block style, which its line ends belong to
        end = block.end - 1
    elif end < 0 and _ends_with_block_text(block, text):
        first = min(block.keys.values(), key=lambda span: span.start)
        return Insertion(first.start - first.column + 1, "".join(line + newline for line in lines))
    if end < 0:
        return Insertion(len(text), "".join(newline + line for line in lines))
    return Insertion(end + 1, "".join(line + newline for line in lines))


def _ends_with_block_text(span: Span, text: str) -> bool:
    """Whether the last thing in a block is a text in block style: a line end behind it would become part of it."""
    while span.values or span.items:
        span = max((*span.values.values(), *span.items), key=lambda inner: inner.end)
    return text[span.start : span.start + 1] in ("|", ">")


def _block_stubs(names: Sequence[str], note: str, indent: str) -> list[str]:
    return [f"{indent}# {note}", *(f"{indent}{name}: {{reason: {TO_BE_DECIDED}}}" for name in names)]


def _in_flow(flow: Span, item: str) -> Insertion:
    """An item behind the last one of an object in braces."""
    if not flow.keys:
        return Insertion(flow.start + 1, item)
    last = max((*flow.keys.values(), *flow.values.values()), key=lambda span: span.end)
    return Insertion(last.end, f", {item}")


def _flow_stubs(names: Sequence[str], *, is_quoted: bool) -> str:
    stub = f'{{"reason": "{TO_BE_DECIDED}"}}' if is_quoted else f"{{reason: {TO_BE_DECIDED}}}"
    return ", ".join(_flow_item(name, stub, is_quoted=is_quoted) for name in names)


def _flow_item(key: str, value: str, *, is_quoted: bool) -> str:
    return f"{json.dumps(key) if is_quoted else key}: {value}"


def _is_quoted(text: str, record: Span) -> bool:
    """Whether a record in a YAML text is written as JSON is: in braces, its keys in double quotes."""
    return record.is_flow and all(text[key.start] == '"' for key in record.keys.values())
