"""JSON Schemas of records, for editors: they complete keys and words, show what a field means, underline faults.

One file a kind, `record.json` that chooses by the kind, and `complete.json` that also wants a value or a reason for
every required field. All is taken from the ontology and the shapes.

The files declare draft 7, the newest that the YAML language servers read without reserve; their keywords mean the
same in 2020-12. References are relative and no file has an `$id`, so that they work from any folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from evkg.constraint import Constraints, Schema
from evkg.declared import attributes_of, relations_of
from evkg.expected import Expected, expected_fields, required_links
from evkg.fieldschema import FILLED, TEXT, FieldSchemas, ecma
from evkg.namespaces import EVKG
from evkg.record import LINKED_ID, RECORD_ID
from evkg.scalar import ENVELOPE
from evkg.shapegraph import ShapeGraph
from evkg.shapes import Shapes
from evkg.vocabulary import PARTS, PLURAL, Vocabulary

_DRAFT: Final = "http://json-schema.org/draft-07/schema#"
#: The files beside those of the kinds.
RECORD_FILE: Final = "record.json"
COMPLETE_FILE: Final = "complete.json"


def render_schemas(shapes: Shapes, vocabulary: Vocabulary) -> Mapping[str, str]:
    """File name -> text of each schema; the same for the same ontology and shapes.

    >>> from evkg.vocabulary import load_vocabulary
    >>> files = render_schemas(Shapes(), load_vocabulary())
    >>> len(files), json.loads(files["use_case.json"])["properties"]["kind"]
    (19, {'const': 'use_case', 'description': 'The kind of record; it decides which attributes there are.'})
    """
    writer = _Writer(shapes, vocabulary)
    found = {f"{kind}.json": writer.kind(kind) for kind in vocabulary.kinds}
    found[RECORD_FILE] = writer.record()
    found[COMPLETE_FILE] = writer.complete()
    return {name: json.dumps(schema, ensure_ascii=False, indent=2) + "\n" for name, schema in sorted(found.items())}


class _Writer:
    def __init__(self, shapes: Shapes, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._fields = FieldSchemas(vocabulary, Constraints(ShapeGraph(shapes)))
        self._expected = expected_fields(shapes, vocabulary)
        self._links = required_links(shapes, vocabulary)

    def kind(self, kind: str) -> Schema:
        """The schema of the records of one kind."""
        self._fields.definitions = {}
        name = self._vocabulary.kinds[kind]
        properties = {
            "id": self._id(kind),
            "kind": {"const": kind, "description": "The kind of record; it decides which attributes there are."},
            "name": self._said("name", {"type": "string", "minLength": 1, "maxLength": 500, "pattern": FILLED}),
            "description": self._said("description", {"type": "string"}),
            "status": self._of_status(),
            "facets": self._facets(),
            "source_ids": self._said("source_ids", {"type": "array", "items": self._fields.record_id()}),
            "links": self._links_of(kind),
            "attributes": self._attributes(kind),
        }
        return {
            "$schema": _DRAFT,
            "title": f"{self._vocabulary.labels.get(EVKG + name, kind)} (a record of evkg)",
            "description": self._vocabulary.definitions.get(EVKG + name, ""),
            "type": "object",
            "properties": properties,
            "required": list(ENVELOPE),
            "additionalProperties": False,
            "definitions": dict(sorted(self._fields.definitions.items())),
        }

    def record(self) -> Schema:
        """The schema that looks at the kind: of one record, or of a list of records."""
        rules = [_when(kind, {"$ref": f"{kind}.json"}) for kind in self._vocabulary.kinds]
        return _of_list("A record of evkg, or a list of them", {**self._of_any_kind(), "allOf": rules})

    def _of_any_kind(self) -> Schema:
        kinds = {"enum": list(self._vocabulary.kinds), "description": "The kind of record."}
        return {"type": "object", "required": ["kind"], "properties": {"kind": kinds}}

    def complete(self) -> Schema:
        """The schema that also wants what is required of a kind: a value, or an entry with a reason."""
        is_excluded = {"required": ["status"], "properties": {"status": {"const": "excluded"}}}
        rules = []
        for kind, fields in self._expected.items():
            needed = [_explained(field) for field in fields if field.severity == "violation"]
            full = {"if": is_excluded, "else": {"properties": {"attributes": {"allOf": needed}}}}
            rules.append(_when(kind, {"allOf": [{"$ref": f"{kind}.json"}, *([full] if needed else [])]}))
        record = {**self._of_any_kind(), "allOf": rules}
        return _of_list("A record of evkg with all required fields, or a list of them", record)

    def _said(self, key: str, schema: Schema) -> Schema:
        term = next(t for t in self._vocabulary.terms.values() if t.record_key == key and t.section == "record")
        return {"description": term.definition or f"The {term.label} of what the record is about.", **schema}

    def _of_status(self) -> Schema:
        said = self._said("status", self._fields.concept("status"))
        return said | {"description": f"{said['description']}\n{self._fields.keys_in_words('status')}"}

    def _id(self, kind: str) -> Schema:
        pattern = LINKED_ID if kind == "use_case" else RECORD_ID
        return self._said("id", {"type": "string", "pattern": ecma(pattern)})

    def _facets(self) -> Schema:
        facets = {name: self._fields.field(term, set()) for name, term in sorted(self._vocabulary.facets.items())}
        other = {"type": "array", "items": {"type": "string"}}
        return {
            "description": "Words by which records are found.",
            "type": "object",
            "properties": facets,
            "additionalProperties": other,
        }

    def _links_of(self, kind: str) -> Schema:
        relations = relations_of(kind, self._vocabulary)
        lines = [f"{name}: {term.definition}" for name, term in relations.items()]
        link = {
            "type": "object",
            "properties": {
                "relation": {"enum": list(relations), "description": "\n".join(lines)},
                "target_id": {"description": "The id of the other record.", **self._fields.record_id()},
            },
            "required": ["relation", "target_id"],
            "additionalProperties": False,
        }
        needed = [expected.path[1] for expected in self._links[kind]]
        more = "".join(f" One link {relation} must be there." for relation in needed)
        rules = [{"contains": {"properties": {"relation": {"const": relation}}}} for relation in needed]
        schema: Schema = {"description": f"Links to other records.{more}", "type": "array", "items": link}
        return schema | ({"allOf": rules} if rules else {})

    def _attributes(self, kind: str) -> Schema:
        name = self._vocabulary.kinds[kind]
        classes = {name, self._vocabulary.groups[name]}
        expected = {field.name: field for field in self._expected[kind]}
        terms = attributes_of(kind, self._vocabulary)
        properties = {
            key: self._missing(kind)
            if key == "missing_metadata"
            else self._fields.field(term, classes, expected.get(key))
            for key, term in terms.items()
        }
        return {
            "description": "What the record says, field by field.",
            "type": "object",
            "properties": properties,
            "additionalProperties": False,
        }

    def _missing(self, kind: str) -> Schema:
        """The entries for fields that have no value: of any attribute, and of the parts of objects."""
        names: list[str] = []
        for key, term in attributes_of(kind, self._vocabulary).items():
            if key == "missing_metadata":
                continue
            names.append(key)
            if term.value_kind in PARTS and term.value_kind not in PLURAL:
                names.extend(f"{key}.{part}" for part in sorted(self._fields.parts(term)))
        self._fields.definitions["MissingEntry"] = {
            "type": "object",
            "properties": {
                "reason": {
                    "description": f"Why there is no value.\n{self._fields.keys_in_words('missingness')}",
                    **self._fields.concept("missingness"),
                },
                "note": {"description": "What there is to say about it.", **TEXT},
            },
            "required": ["reason"],
            "additionalProperties": False,
        }
        entry = {"$ref": "#/definitions/MissingEntry"}
        return {
            "description": "For each field that has no value, the reason why.",
            "type": "object",
            "properties": dict.fromkeys(names, entry),
            "additionalProperties": entry,
        }


def _when(kind: str, then: Schema) -> Schema:
    return {"if": {"required": ["kind"], "properties": {"kind": {"const": kind}}}, "then": then}


def _of_list(title: str, record: Schema) -> Schema:
    """A schema that takes one record or a list of records."""
    one = {"$ref": "#/definitions/record"}
    return {
        "$schema": _DRAFT,
        "title": title,
        "if": {"type": "array"},
        "then": {"items": one},
        "else": one,
        "definitions": {"record": record},
    }


def _explained(field: Expected) -> Schema:
    """What the attributes must hold for a field: a value that is not null, or one of the entries that explain it."""
    value: Schema = {"not": {"type": "null"}}
    for step in reversed(field.path[1:]):
        value = {"required": [step], "properties": {step: value}}
    entries: Iterable[Any] = [{"required": [name]} for name in field.entries]
    entry = {"required": ["missing_metadata"], "properties": {"missing_metadata": {"anyOf": entries}}}
    return {"description": field.message, "anyOf": [value, entry]}
