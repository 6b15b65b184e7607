"""JSON as text: every number keeps its digits, a repeated key is noticed, every key can be located."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, Final, TypeAlias

from evkg.errors import excerpt

#: A value of JSON in memory. Numbers are `int` when that keeps their text, else `NumberText`.
Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | bool | None"

#: Objects and arrays may be nested this deep (levels).
MAX_DEPTH: Final = 100

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\Z")
_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],]|[^\s"{}\[\],:]++', re.DOTALL)
_HALF: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
#: Finds where a value ends; numbers stay text, since Python refuses to convert very long ones.
_DECODER: Final = json.JSONDecoder(parse_int=str, parse_float=str, strict=True)


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
    """An object has a key twice; where, is found by reading it again."""


class _ConstantError(ValueError):
    """NaN or Infinity, which JSON does not have."""


def _integer(text: str) -> int | NumberText:
    return int(text) if _INTEGER.match(text) and text != "-0" else NumberText(text)


def _constant(text: str) -> Json:
    raise _ConstantError(text)


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RepeatedKeyError
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
    end = skip_space(text, end)
    if end != len(text):
        raise JsonError("There is more text behind the end of the JSON value.", end)
    return value


def decode_json_prefix(text: str, start: int = 0) -> tuple[Json, int]:
    """The value that begins at `start`, and the offset behind it.

    Raises: JsonError: as `decode_json`.

    >>> decode_json_prefix('[1],[2]', 4)
    ([2], 7)
    """
    start = skip_space(text, start)
    try:
        value, end = _LOSSLESS.raw_decode(text, start)
    except _RepeatedKeyError:
        raise _repeated_key(text, start) from None
    except _ConstantError as error:
        offset = next((at for at, token, _, _ in _tokens(text, start) if token == str(error)), start)
        raise JsonError(f"{error} is not a JSON number.", offset) from None
    except json.JSONDecodeError as error:
        problem = error.msg[0].lower() + error.msg[1:].removesuffix(" at")
        raise JsonError(f"This is not JSON: {problem}.", error.pos) from None
    except RecursionError:
        raise _too_deep(text, start) from None
    if _nests(value, MAX_DEPTH):
        raise _too_deep(text, start)
    if _HALF.search(text, start, end) and not _is_whole(value):
        raise JsonError("A \\u escape gives half a character (a lone surrogate).", _half_character(text, start, end))
    return value, end


def skip_space(text: str, start: int) -> int:
    """The offset of the first character at or behind `start` that is no white space of JSON.

    >>> skip_space("[ 1 ]", 1)
    2
    """
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _nests(value: Json, levels: int) -> bool:
    """Whether objects and arrays are nested in more than so many levels."""
    if isinstance(value, dict):
        return levels == 0 or any(_nests(inner, levels - 1) for inner in value.values() if type(inner) in (dict, list))
    if isinstance(value, list):
        return levels == 0 or any(_nests(inner, levels - 1) for inner in value if type(inner) in (dict, list))
    return False


def _is_whole(value: Json) -> bool:
    """Whether every text can be written as UTF-8."""
    try:
        encode_json(value).encode()
    except UnicodeEncodeError:
        return False
    return True


def _tokens(text: str, start: int) -> Iterator[tuple[int, str, int, bool]]:
    """(offset, token, levels that are open, whether it is a key) of everything but colons.

    Slow and exact: it runs only to say where something is wrong.
    """
    stack: list[str] = []
    awaits_key = False
    for match in _TOKEN.finditer(text, start):
        token = match.group()
        if token in "{[":
            stack.append(token)
        yield match.start(), token, len(stack), awaits_key and token[0] == '"'
        if token in "}]":
            if stack:
                stack.pop()
            if not stack:
                return
        awaits_key = token in "{," and bool(stack) and stack[-1] == "{"


def _repeated_key(text: str, start: int) -> JsonError:
    seen: dict[int, set[str]] = {}
    for offset, token, level, is_key in _tokens(text, start):
        if token == "{":
            seen[level] = set()
        elif is_key:
            key = str(scanstring(text, offset + 1, True)[0])
            if key in seen[level]:
                return JsonError(f"The key {_shown(key)} stands twice in one object.", offset)
            seen[level].add(key)
    return JsonError("A key stands twice in one object.", start)


def _shown(key: str) -> str:
    """A key as a message quotes it, half a character as the escape that stands for it: that can be written nowhere."""
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", _quote(excerpt(key)))


def _too_deep(text: str, start: int) -> JsonError:
    offset = next((offset for offset, _, level, _ in _tokens(text, start) if level > MAX_DEPTH), start)
    return JsonError(f"Objects and lists are nested more than {MAX_DEPTH} deep.", offset)


def _half_character(text: str, start: int, end: int) -> int:
    """Where the escape of a lone surrogate stands."""
    for escape in re.finditer(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", text[start:end]):
        if escape[1]:
            return start + escape.start()
    return start


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


#: Offset of an object or list -> step into it -> (offset of the key or element, offset of its value).
Inside: TypeAlias = "dict[int, dict[str | int, tuple[int, int]]]"


def locate(text: str, path: Sequence[str | int], start: int = 0, known: Inside | None = None) -> int:
    """The offset of the key (or list element) at `path`; of the deepest part of the path that exists.

    The text from `start` must be JSON that `decode_json_prefix` has accepted. `known` keeps what was found
    for the next call on the same text.

    >>> text = '{"id": "x", "links": [{"relation": "system"}]}'
    >>> text[locate(text, ("links", 0, "relation")):][:10]
    '"relation"'
    """
    known = {} if known is None else known
    place = position = skip_space(text, start)
    for step in path:
        if position not in known:
            known[position] = dict(_steps(text, position))
        found = known[position].get(step)
        if found is None:
            return place
        place, position = found
    return place


def _steps(text: str, position: int) -> Iterator[tuple[str | int, tuple[int, int]]]:
    """(key or index, (its offset, offset of its value)) of all that stands in the object or list at `position`."""
    opening = text[position : position + 1]
    if opening not in ("{", "["):
        return
    position, index = position + 1, 0
    while True:
        position = skip_space(text, position)
        if text[position : position + 1] in ("}", "]", ""):
            return
        place: int = position
        key: Any = index
        if opening == "{":
            key, position = scanstring(text, position + 1, True)
            position = text.index(":", position) + 1
        value = skip_space(text, position)
        yield key, (place, value)
        _, position = _DECODER.raw_decode(text, value)
        position = skip_space(text, position)
        if text[position : position + 1] == ",":
            position += 1
        index += 1
