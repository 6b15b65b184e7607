"""JSON as text: every number keeps its digits, a repeated key is noticed, every key can be located."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, Final, TypeAlias

#: A value of JSON in memory. Numbers are `int` when that keeps their text, else `NumberText`.
Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | bool | None"

#: Objects and arrays may be nested this deep (levels).
MAX_DEPTH: Final = 100

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\Z")
_DECODER: Final = json.JSONDecoder(strict=True)


class NumberText(str):
    """A JSON number kept as the text that was written: `0.0500`, `1e-3`, forty digits.

    >>> decode_json('{"level": 0.950}')
    {'level': NumberText('0.950')}
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"NumberText({str.__repr__(self)})"


class JsonError(ValueError):
    """The text is not JSON, or not JSON that can be kept without loss; `offset` counts characters."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class _RepeatedKeyError(ValueError):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _integer(text: str) -> int | NumberText:
    return int(text) if _INTEGER.match(text) and text != "-0" else NumberText(text)


def _constant(text: str) -> Json:
    raise ValueError(f"{text} is not a JSON number")


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))
    return found


_LOSSLESS: Final = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_float=NumberText,
    parse_int=_integer,
    parse_constant=_constant,
    strict=True,
)


def decode_json(text: str, start: int = 0) -> Json:
    """The value that `text` holds from `start` to its end.

    Raises: JsonError: no JSON, a repeated key, nesting beyond `MAX_DEPTH`, half a surrogate pair.

    >>> decode_json('{"a": 1, "b": [1.00, null, true]}')
    {'a': 1, 'b': [NumberText('1.00'), None, True]}
    """
    value, end = decode_json_prefix(text, start)
    end = _SPACE.match(text, end).end()  # type: ignore[union-attr]
    if end != len(text):
        raise JsonError("There is more text behind the end of the JSON value.", end)
    return value


def decode_json_prefix(text: str, start: int = 0) -> tuple[Json, int]:
    """The value that begins at `start`, and the offset behind it.

    Raises: JsonError: as `decode_json`.
    """
    start = _SPACE.match(text, start).end()  # type: ignore[union-attr]
    try:
        value, end = _LOSSLESS.raw_decode(text, start)
    except _RepeatedKeyError as error:
        offset = _second(text, error.key, start)
        raise JsonError(f"The key {error.key!r} stands twice in one object.", offset) from None
    except json.JSONDecodeError as error:
        raise JsonError(f"This is not JSON: {error.msg}.", error.pos) from None
    except RecursionError:
        raise JsonError(f"Objects and lists are nested more than {MAX_DEPTH} deep.", start) from None
    except ValueError as error:
        raise JsonError(f"This is not JSON: {error}.", start) from None
    if "\\u" in text and any(0xD800 <= ord(c) <= 0xDFFF for c in _strings(value)):
        raise JsonError("A \\u escape gives half a character (a lone surrogate).", text.find("\\u", start))
    if _depth(text, start, end) > MAX_DEPTH:
        raise JsonError(f"Objects and lists are nested more than {MAX_DEPTH} deep.", start)
    return value, end


def _depth(text: str, start: int, end: int) -> int:
    """An upper bound of the nesting, cheap for flat text: only brackets are counted, strings included."""
    if text.count("{", start, end) + text.count("[", start, end) <= MAX_DEPTH:
        return 0
    depth = deepest = 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text[start:end]):
        mark = match.group()
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    return deepest


def _strings(value: Json) -> Iterator[str]:
    """Every character of every string and key."""
    stack: list[Json] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield from item
        elif isinstance(item, dict):
            for key, inner in item.items():
                yield from key
                stack.append(inner)
        elif isinstance(item, list):
            stack.extend(item)


def _second(text: str, key: str, start: int) -> int:
    """Where `key` stands for the second time, as well as plain text search can tell."""
    quoted = json.dumps(key, ensure_ascii=False)
    first = text.find(quoted, start)
    return max(text.find(quoted, first + 1), first, start)


def encode_json(value: Json) -> str:
    """`value` in the compact form of the record contract: no spaces, non-ASCII as itself, keys in order.

    Source: contract section 1 (serialisation).

    >>> encode_json({"b": NumberText("1.00"), "a": ["é", None]})
    '{"b":1.00,"a":["é",null]}'
    """
    if isinstance(value, NumberText):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_quote(key)}:{encode_json(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(encode_json(inner) for inner in value) + "]"
    return _quote(value)


_quote = json.JSONEncoder(ensure_ascii=False).encode


def locate(text: str, path: Sequence[str | int], start: int = 0) -> int:
    """The offset of the key (or list element) at `path`; of the deepest part of the path that exists.

    >>> text = '{"id": "x", "links": [{"relation": "system"}]}'
    >>> text[locate(text, ("links", 0, "relation")):][:10]
    '"relation"'
    """
    place = position = _SPACE.match(text, start).end()  # type: ignore[union-attr]
    for step in path:
        found = _step(text, position, step)
        if found is None:
            return place
        place, position = found
    return place


def _step(text: str, position: int, step: str | int) -> tuple[int, int] | None:
    """(offset of the key or element, offset of its value) for one step into the value at `position`."""
    opening = text[position : position + 1]
    if opening != ("{" if isinstance(step, str) else "["):
        return None
    position, index = position + 1, 0
    while True:
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
        if text[position : position + 1] in ("}", "]", ""):
            return None
        place: int = position
        key: Any = index
        if opening == "{":
            key, position = scanstring(text, position + 1, True)
            position = text.index(":", position) + 1
        value = _SPACE.match(text, position).end()  # type: ignore[union-attr]
        if key == step:
            return place, value
        _, position = _DECODER.raw_decode(text, value)
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
        if text[position : position + 1] == ",":
            position += 1
        index += 1
