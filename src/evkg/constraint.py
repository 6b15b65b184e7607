"""What the shapes say of single values and of nested objects, as JSON Schema.

Only what is a violation and can be seen in the value alone is taken over: patterns, bounds, lists of words, keys that
belong together. What needs other records, or is a warning, is left to `evkg check`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from evkg.namespaces import EVKG, SH, VOCAB, concept_key
from evkg.shapegraph import ShapeGraph
from evkg.vocabulary import Term

Schema = dict[str, Any]

#: What a shape says of a value -> the keyword that says the same of a number or a text.
_KEYWORDS: Final[Mapping[str, str]] = {
    "minInclusive": "minimum",
    "maxInclusive": "maximum",
    "minExclusive": "exclusiveMinimum",
    "maxExclusive": "exclusiveMaximum",
    "minLength": "minLength",
    "maxLength": "maxLength",
}
_COUNTS: Final = (SH + "minCount", SH + "maxCount")
#: What a shape says beside its constraints.
_WORDS: Final = frozenset({"path", "severity", "message", "property", "targetClass"})


class Constraints:
    """Reads the constraints of shapes.

    >>> from evkg.shapes import Shapes
    >>> from evkg.vocabulary import load_vocabulary
    >>> constraints, terms = Constraints(ShapeGraph(Shapes())), load_vocabulary().attributes["source"]
    >>> constraints.of_value(terms["artifact_sha256"], {"Source"})[1]
    {'pattern': '^[0-9a-f]{64}$'}
    """

    def __init__(self, graph: ShapeGraph) -> None:
        self._graph = graph
        self._properties: dict[tuple[str, str], list[str]] = {}
        for node, shape in graph.pairs(SH + "property"):
            for target in graph.all(node, SH + "targetClass"):
                path = graph.one(shape, SH + "path") or ""
                self._properties.setdefault((target.removeprefix(EVKG), path), []).append(shape)

    def of_value(self, term: Term, classes: set[str]) -> list[Schema]:
        """What each value of a field must be, where things of these classes (local names) have it."""
        found: list[Schema] = []
        for name in sorted(classes):
            for iri in filter(None, (term.iri, term.text_iri)):
                for shape in self._properties.get((name, iri), ()):
                    if self._gates(shape):
                        found.extend(s for s in self._value(shape)[0] if s not in found)
        return found

    def of_object(self, name: str, terms: Mapping[str, Term]) -> list[Schema]:
        """What a nested object of a class (local name) must hold: keys that it needs, keys that belong together."""
        keys = {iri: key for key, t in terms.items() for iri in (t.iri, t.text_iri) if iri}
        found: list[Schema] = []
        for target, path in self._properties:
            if target == name:
                for shape in self._properties[(target, path)]:
                    if self._gates(shape) and int(self._graph.one(shape, SH + "minCount") or 0) > 0:
                        found.extend(_any_of([{"required": [key]} for key in self._keys(shape, keys)]))
        for node, target in self._graph.pairs(SH + "targetClass"):
            if target == EVKG + name and self._gates(node) and not self._graph.one(node, SH + "property"):
                rule = self._rule(node, keys)
                found.extend([rule] if rule else [])
        return found

    def _gates(self, shape: str) -> bool:
        return self._graph.one(shape, SH + "severity") in (None, SH + "Violation")

    def _keys(self, shape: str, keys: Mapping[str, str]) -> list[str]:
        """The keys that the path of a shape may be; none where it leads further."""
        path = self._graph.one(shape, SH + "path") or ""
        iris = self._graph.list_of(path, SH + "alternativePath") or [path]
        found = [keys[iri] for iri in iris if iri in keys]
        return list(dict.fromkeys(found)) if len(found) == len(iris) else []

    def _value(self, shape: str) -> tuple[list[Schema], bool]:
        """(what a value must be by a shape, whether that is all that the shape says)."""
        found: list[Schema] = []
        is_whole = True
        for predicate in self._graph.predicates(shape):
            name = predicate.removeprefix(SH)
            if not predicate.startswith(SH) or name in _WORDS or predicate in _COUNTS:
                continue
            if name == "pattern":
                found.extend({"pattern": pattern} for pattern in self._graph.all(shape, predicate))
            elif name in _KEYWORDS:
                found.append({_KEYWORDS[name]: json.loads(self._graph.one(shape, predicate) or "0")})
            elif name == "in":
                found.append({"enum": [_word(value) for value in self._graph.list_of(shape, predicate)]})
            elif name in ("and", "or"):
                members = [self._value(m) for m in self._graph.list_of(shape, predicate) if not self._has_path(m)]
                all_there = len(members) == len(self._graph.list_of(shape, predicate))
                is_whole = is_whole and all_there and all(whole for _, whole in members)
                if name == "and":
                    found.extend(schema for schemas, _ in members for schema in schemas)
                elif all_there and all(whole for _, whole in members):
                    found.append({"anyOf": [_all_of(schemas) for schemas, _ in members]})
            elif name == "not":
                for inner in self._graph.all(shape, predicate):
                    schemas, whole = self._value(inner)
                    if whole and schemas and not self._has_path(inner):
                        found.append({"not": _all_of([{"type": "string"}, *schemas])})
                    else:
                        is_whole = False
            else:
                is_whole = False
        return found, is_whole

    def _has_path(self, shape: str) -> bool:
        return self._graph.one(shape, SH + "path") is not None

    def _rule(self, shape: str, keys: Mapping[str, str]) -> Schema | None:
        """What an object must be by a shape without a path, or by one whose path is a key; None if unsayable."""
        if self._has_path(shape):
            return self._key_rule(shape, keys)
        found: list[Schema] = []
        for predicate in self._graph.predicates(shape):
            name = predicate.removeprefix(SH)
            if name not in ("and", "or", "not"):
                if predicate.startswith(SH) and name not in _WORDS:
                    return None
                continue
            inner = self._graph.all(shape, predicate) if name == "not" else self._graph.list_of(shape, predicate)
            rules = [self._rule(member, keys) for member in inner]
            known = [rule for rule in rules if rule is not None]
            if len(known) < len(rules):
                return None
            found.extend(_any_of(known) if name == "or" else known if name == "and" else [{"not": r} for r in known])
        return _all_of(found) if found else None

    def _key_rule(self, shape: str, keys: Mapping[str, str]) -> Schema | None:
        own = self._keys(shape, keys)
        values, is_whole = self._value(shape)
        if not own or not is_whole or (values and len(own) > 1):
            return None
        least, most = (self._graph.one(shape, count) for count in _COUNTS)
        there: list[Schema] = [{"required": [key]} for key in own]
        found: list[Schema] = [{"properties": {own[0]: _all_of(values)}}] if values else []
        if least not in (None, "0"):
            found.extend(_any_of(there))
        if most == "0":
            found.append({"not": _all_of(_any_of(there))})
        return _all_of(found) if found else None


def _word(value: str) -> str:
    return concept_key(value) if value.startswith(VOCAB) else value


def _any_of(schemas: list[Schema]) -> list[Schema]:
    return schemas if len(schemas) < 2 else [{"anyOf": schemas}]


def _all_of(schemas: list[Schema]) -> Schema:
    """One schema that says all of them; keywords that meet go into allOf.

    >>> _all_of([{"type": "string"}, {"pattern": "a"}]), _all_of([{"pattern": "a"}, {"pattern": "b"}])
    ({'type': 'string', 'pattern': 'a'}, {'allOf': [{'pattern': 'a'}, {'pattern': 'b'}]})
    """
    merged = {key: value for schema in schemas for key, value in schema.items()}
    return merged if len(merged) == sum(map(len, schemas)) else {"allOf": schemas}


def merged(schemas: Iterable[Schema]) -> Schema:
    """One schema that says all that these say.

    >>> merged([{"type": "string"}, {"minLength": 1}])
    {'type': 'string', 'minLength': 1}
    """
    return _all_of(list(schemas))
