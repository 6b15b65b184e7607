"""From YAML nodes to JSON values: the declared kind of value decides the type of a scalar.

Under a declared field the text stays as written (`1.00`, `no`, `12:30`, `010`, dates); inside free
objects the YAML 1.2 core schema holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as MappingABC
from typing import Final, TypeAlias

from evkg.jsontext import Json, NumberText
from evkg.vocabulary import PARTS, Term, Vocabulary
from evkg.yamltext import Mapping, Node, Scalar, Sequence

#: Path of a key or element in a record -> (line, column), both from 1.
Places: TypeAlias = "dict[tuple[str | int, ...], tuple[int, int]]"
Path: TypeAlias = "tuple[str | int, ...]"

#: The nine keys of a record, in their order. Source: contract section 2.
ENVELOPE: Final = (
    "id",
    "kind",
    "name",
    "description",
    "status",
    "facets",
    "source_ids",
    "links",
    "attributes",
)
#: Attributes of every kind that say something of the record, not of the thing that it describes.
_OF_THE_RECORD: Final = ("review", "extraction", "evidence_concerns", "missing_metadata")

_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEAN: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\Z")
_JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z")


def core_scalar(scalar: Scalar) -> Json:
    """The value of a scalar under the YAML 1.2 core schema; numbers keep their digits.

    A number that JSON cannot write (`010`, `+1`, `.5`, `1.`, `0x1F`, `.inf`) stays text: it is kept
    as written rather than changed.

    Source: YAML 1.2.2, section 10.3.2 (tag resolution of the core schema).

    >>> [core_scalar(Scalar(t, True, 1, 1)) for t in ("no", "true", "1.00", "010", "~", "7")]
    ['no', True, NumberText('1.00'), '010', None, 7]
    """
    text = scalar.text
    if not scalar.plain:
        return text
    if text in _NULL:
        return None
    if text in _BOOLEAN:
        return _BOOLEAN[text]
    if _INTEGER.match(text) and text != "-0":
        return int(text)
    if _JSON_NUMBER.match(text):
        return NumberText(text)
    return text


def declared_scalar(scalar: Scalar, value_kind: str) -> Json:
    """The value of a scalar under a field whose kind of value is declared.

    >>> declared_scalar(Scalar("2026", True, 1, 1), "text"), declared_scalar(Scalar("2026", True, 1, 1), "integer")
    ('2026', 2026)
    >>> declared_scalar(Scalar("010", True, 1, 1), "integer")
    '010'
    """
    if value_kind in ("integer", "integers", "number", "boolean", "json"):
        return core_scalar(scalar)
    if scalar.plain and scalar.text in _NULL:
        return None
    return scalar.text


class Typist:
    """Turns the YAML nodes of one record into JSON values and remembers where each key stands."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.places: Places = {}

    def record(self, node: Mapping) -> dict[str, Json]:
        """The record object of a YAML mapping; its `kind` chooses the table of attributes.

        >>> from evkg.vocabulary import load_vocabulary
        >>> from evkg.yamltext import parse_yaml
        >>> text = "kind: result\\nattributes: {printed_value: 33.880, approximate: true}"
        >>> Typist(load_vocabulary()).record(next(parse_yaml(text)))["attributes"]
        {'printed_value': '33.880', 'approximate': True}
        """
        kind = node.items.get("kind")
        attributes = self._vocabulary.attributes.get(kind.text if isinstance(kind, Scalar) else "", {})
        found: dict[str, Json] = {}
        for key, value in node.items.items():
            path: Path = (key,)
            self.places[path] = node.places[key]
            if key == "attributes" and isinstance(value, Mapping):
                found[key] = self._object(value, path, attributes)
            else:
                found[key] = self._value(value, path, "text" if key in ENVELOPE else "json")
        return found

    def _object(self, node: Mapping, path: Path, terms: MappingABC[str, Term]) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for key, value in node.items.items():
            self.places[(*path, key)] = node.places[key]
            found[key] = self._value(value, (*path, key), self._kind_of(key, terms))
        return found

    def _kind_of(self, key: str, terms: MappingABC[str, Term]) -> str:
        term = terms.get(key)
        if term is None and key in _OF_THE_RECORD:
            known = self._vocabulary.terms.values()
            term = next((t for t in known if t.record_key == key and t.section == "record"), None)
        return term.value_kind if term else "json"

    def _value(self, node: Node, path: Path, value_kind: str) -> Json:
        if isinstance(node, Scalar):
            return declared_scalar(node, value_kind)
        if isinstance(node, Sequence):
            found: list[Json] = []
            for index, item in enumerate(node.items):
                self.places[(*path, index)] = node.places[index]
                found.append(self._value(item, (*path, index), value_kind))
            return found
        if value_kind in PARTS:
            return self._object(node, path, self._vocabulary.parts.get(PARTS[value_kind][0], {}))
        inner = "json" if value_kind == "json" else "text"
        result: dict[str, Json] = {}
        for key, value in node.items.items():
            self.places[(*path, key)] = node.places[key]
            result[key] = self._value(value, (*path, key), inner)
        return result
