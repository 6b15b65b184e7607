"""The JSON Schema of one field: what it means, and what its value is by its kind of value and the shapes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from evkg.constraint import Constraints, Schema, merged
from evkg.expected import Expected
from evkg.record import LINKED_ID
from evkg.vocabulary import PARTS, PLURAL, Term, Vocabulary

#: A text that is not blank.
FILLED: Final = r"\S"
#: A key of an open scheme that is not listed: a text without white space around it.
_OPEN_KEY: Final = r"^\S(.*\S)?$"
TEXT: Final[Schema] = {"type": ["string", "number"], "pattern": FILLED}
#: Kind of value -> what one value must be. Numbers count as texts: evkg keeps their digits. Source: contract 5.1.
_PLAIN: Final[Mapping[str, Schema]] = {
    **dict.fromkeys(("text", "texts", "doi", "sha256", "git-sha", "url", "url-or-path"), TEXT),
    **{kind: {"type": "string", "pattern": FILLED} for kind in ("date", "datetime")},
    **{kind: {"type": ["string", "number"]} for kind in ("decimal", "number")},
    "decimal-or-null": {"type": ["string", "number", "null"]},
    **{kind: {"type": ["integer", "string"], "pattern": "^[+-]?[0-9]+$"} for kind in ("integer", "integers")},
    "boolean": {"enum": [True, False, "true", "false"]},
    "json": {"type": ["object", "array", "string", "number", "boolean"]},
    "comparison-value": {},
    "artifact": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
}
#: What a kind of value is called, where the schema of the value does not say it.
_HINTS: Final[Mapping[str, str]] = {
    "date": "A day: 2026-10-15.",
    "datetime": "A day, or a day with time and offset: 2026-10-15T10:56:26Z.",
    "decimal": "A number in quotes, with all its digits.",
    "decimal-or-null": "A number in quotes, with all its digits; null only beside an entry under missing_metadata.",
    "doi": "A bare DOI: 10.1000/xyz123.",
    "url": "A public web address.",
    "json": "An object or a list; what is inside is free.",
    "record-id": "The id of a record.",
}


class FieldSchemas:
    """Makes the schemas of fields; `definitions` gathers those that several fields share.

    >>> from evkg.shapegraph import ShapeGraph
    >>> from evkg.shapes import Shapes
    >>> from evkg.vocabulary import load_vocabulary
    >>> vocabulary = load_vocabulary()
    >>> fields = FieldSchemas(vocabulary, Constraints(ShapeGraph(Shapes())))
    >>> fields.field(vocabulary.attributes["result"]["numerator"], {"Result"})["type"]
    ['integer', 'string']
    """

    def __init__(self, vocabulary: Vocabulary, constraints: Constraints) -> None:
        self._vocabulary = vocabulary
        self._constraints = constraints
        self.definitions: dict[str, Schema] = {}

    def record_id(self) -> Schema:
        """The schema of the id of any record."""
        return {"type": "string", "pattern": ecma(LINKED_ID)}

    def field(self, term: Term, classes: set[str], expected: Expected | None = None) -> Schema:
        """The schema of a field: what it means, and what its value is."""
        hint = _HINTS.get(term.value_kind, "")
        want = ""
        if expected is not None:
            word = "Required" if expected.severity == "violation" else "Recommended"
            want = f"{word}: a value, or a reason under missing_metadata."
        words = " ".join(part for part in (term.definition, hint, want) if part)
        values = self._values(term, classes)
        scheme = "agent" if term.value_kind in ("agent", "agents") else term.scheme
        if scheme is not None:
            one = values.get("items", values)
            words += "\n" + self.keys_in_words(scheme, one.get("enum"))
        return {"title": term.label, "description": words, **values}

    def _values(self, term: Term, classes: set[str]) -> Schema:
        kind = term.value_kind
        if kind in PARTS:
            # Draft 7 reads nothing that stands beside a reference, so it stands in a list. A definition has no words of
            # its own: an editor would show them instead of those of the field.
            reference = {"$ref": f"#/definitions/{self._part(term)}"}
            return {"type": "array", "items": reference} if kind in PLURAL else {"allOf": [reference]}
        one = _narrowed(self._one(kind), self._constraints.of_value(term, classes))
        return {"type": "array", "items": one} if term.is_list else one

    def _one(self, kind: str) -> Schema:
        """The schema of one value, or of one element of a list, without what shapes add to it."""
        if kind in _PLAIN:
            return dict(_PLAIN[kind])
        if kind in ("record-id", "record-ids"):
            return self.record_id()
        if kind == "entity-kinds":
            return {"type": "string", "enum": list(self._vocabulary.kinds)}
        return self.concept("agent" if kind in ("agent", "agents") else kind.partition(":")[2])

    def concept(self, scheme: str) -> Schema:
        """The schema of the keys of a scheme: all that there are of a closed one, suggestions of an open one."""
        found = self._vocabulary.schemes[scheme]
        keys: Schema = {"enum": sorted(found.concepts)}
        return {"type": "string", **({"anyOf": [keys, {"pattern": _OPEN_KEY}]} if found.open else keys)}

    def keys_in_words(self, scheme: str, only: Iterable[str] | None = None) -> str:
        """A line for each key of a scheme, or for those of them that may stand in a field."""
        found = self._vocabulary.schemes[scheme]
        words = "One of these; another key is kept, with a warning." if found.open and only is None else "One of these."
        concepts = [c for key, c in sorted(found.concepts.items()) if only is None or key in only]
        return "\n".join([words, *(f"{c.key}: {c.definition or c.label}" for c in concepts)])

    def parts(self, term: Term) -> Mapping[str, Term]:
        """Key -> term of what an object has inside that is the value of a field."""
        return self._vocabulary.parts.get(PARTS[term.value_kind][0], {})

    def _part(self, term: Term) -> str:
        """The name of the definition of a nested object."""
        name = PARTS[term.value_kind][0]
        if name not in self.definitions:
            self.definitions[name] = {}  # an object may hold one of its own kind
            terms = self.parts(term)
            rules = self._constraints.of_object(name, terms)
            self.definitions[name] = {
                "type": "object",
                "properties": {key: self.field(inner, {name}) for key, inner in sorted(terms.items())},
                # A comparison may have conditions of its own; they are kept and never compared.
                **({} if name == "Comparison" else {"additionalProperties": False}),
                **({"allOf": rules} if rules else {}),
            }
        return name


def ecma(pattern: re.Pattern[str]) -> str:
    r"""A pattern that matches from the beginning, as JSON Schema writes it.

    >>> ecma(re.compile(r"[a-z]+\Z"))
    '^[a-z]+$'
    """
    return "^" + pattern.pattern.replace(r"\Z", "$")


def _narrowed(schema: Schema, constraints: list[Schema]) -> Schema:
    """A schema with constraints; a list of words takes the place of what they are chosen from."""
    words = next((c["enum"] for c in constraints if set(c) == {"enum"}), None)
    if words is not None:
        return merged([{"type": "string", "enum": words}, *(c for c in constraints if set(c) != {"enum"})])
    if not constraints:
        return schema
    if "pattern" in schema and any("pattern" in c for c in constraints):
        schema = {key: value for key, value in schema.items() if key != "pattern" or value != FILLED}
    return merged([schema, *constraints])
