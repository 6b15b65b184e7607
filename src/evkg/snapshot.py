"""The records in a JSON document: a release snapshot, a list of records, or one record."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from evkg.errors import excerpt
from evkg.jsontext import Json, JsonError, decode_json_prefix, skip_space


@dataclass(frozen=True, slots=True)
class Element:
    """A value in a document: its text runs from `start` to `end`; `line` and `column` count from 1."""

    value: Json
    start: int
    end: int
    line: int
    column: int


class _Places:
    """Lines and columns of rising offsets, counted once over the whole text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._last = self._begin = 0
        self._line = 1

    def of(self, offset: int) -> tuple[int, int]:
        newlines = self._text.count("\n", self._last, offset)
        if newlines:
            self._line += newlines
            self._begin = self._text.rfind("\n", self._last, offset) + 1
        self._last = offset
        return self._line, offset - self._begin + 1


def read_elements(text: str) -> Iterator[Element]:
    """What may be records in a JSON document, one at a time; the whole document is checked as JSON.

    Of an object with the key `records` these are the elements of that list; of a list its elements;
    any other value is one itself.

    Source: contract section 9.

    Raises: JsonError: the text is no JSON from some place on (what was given before stays valid), or
        `records` is no list.

    >>> [element.value for element in read_elements('{"release_id": "x", "records": [{"id": "a"}]}')]
    [{'id': 'a'}]
    """
    start = skip_space(text, 0)
    opening = text[start : start + 1]
    if opening == "{":
        end = yield from _object(text, start)
    elif opening == "[":
        end = yield from _array(text, start, _Places(text))
    else:
        value, end = decode_json_prefix(text, start)
        yield Element(value, start, end, *_Places(text).of(start))
    end = skip_space(text, end)
    if end != len(text):
        raise JsonError("There is more text behind the end of the JSON value.", end)


def _array(text: str, start: int, places: _Places) -> Generator[Element, None, int]:
    """The elements of the list that opens at `start`; returns the offset behind it."""
    position = skip_space(text, start + 1)
    if text[position : position + 1] == "]":
        return position + 1
    while True:
        value, end = decode_json_prefix(text, position)
        yield Element(value, position, end, *places.of(position))
        position = skip_space(text, end)
        mark = text[position : position + 1]
        if mark == "]":
            return position + 1
        if mark != ",":
            raise JsonError("The list is cut off or lacks a comma here.", position)
        position = skip_space(text, position + 1)


def _object(text: str, start: int) -> Generator[Element, None, int]:
    """The elements of a snapshot, or the object itself where it has no key `records`."""
    places = _Places(text)
    first = places.of(start)
    found: dict[str, Json] = {}
    is_snapshot = False
    position = skip_space(text, start + 1)
    while text[position : position + 1] != "}" or found:
        key, behind = _key(text, position)
        if key in found:
            raise JsonError(f'The key "{excerpt(key)}" stands twice in one object.', position)
        found[key] = None
        position = skip_space(text, behind)
        if key == "records":
            is_snapshot = True
            if text[position : position + 1] != "[":
                raise JsonError("The records of a snapshot must be a list.", position)
            position = yield from _array(text, position, places)
        else:
            found[key], position = decode_json_prefix(text, position)
        position = skip_space(text, position)
        mark = text[position : position + 1]
        if mark == "}":
            break
        if mark != ",":
            raise JsonError("The object is cut off or lacks a comma here.", position)
        position = skip_space(text, position + 1)
    if not is_snapshot:
        yield Element(found, start, position + 1, *first)
    return position + 1


def _key(text: str, position: int) -> tuple[str, int]:
    """A key and the offset behind its colon."""
    if text[position : position + 1] != '"':
        raise JsonError("A key in double quotes is missing here.", position)
    key, end = decode_json_prefix(text, position)
    end = skip_space(text, end)
    if text[end : end + 1] != ":":
        raise JsonError("The colon behind a key is missing here.", end)
    return str(key), end + 1
