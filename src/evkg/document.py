"""A record as its JSON-LD document: the one place where keys become terms.

The quads of a record are read off this document (`convert.py`), so what a consumer of JSON-LD gets
and what SPARQL sees is one thing. Rules: `docs/decisions.md`; form: the README of the ontology.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from evkg.jsontext import Json, encode_json
from evkg.literal import (
    MISFIT,
    SHA256,
    as_boolean,
    as_comparison_value,
    as_integer,
    as_text,
    decimal_literal,
    instant_type,
    json_type,
    quote_part,
    step,
)
from evkg.namespaces import XSD, record_iri, thing_iri
from evkg.record import ENVELOPE, LINKED_ID, Record
from evkg.vocabulary import PARTS, Term, Vocabulary, concept_iri

Node: TypeAlias = dict[str, Any]

#: A value that leaves no triple of its own (its text beside it may).
NOTHING: Final[Any] = object()
_TOMBSTONE: Final = ("reason", "scope_note")


class DocumentBuilder:
    """Makes the documents of records of one data set; holds the compiled vocabulary and the base IRI."""

    def __init__(self, vocabulary: Vocabulary, base: str) -> None:
        self.vocabulary = vocabulary
        self.base = base
        self.things = base + "id/"
        self.artifacts = base + "artifact/"
        self.agents = base + "agent/"
        self.by_record_key = {t.record_key: t for t in vocabulary.terms.values() if t.section == "record"}
        self.schemes = {
            term.value_kind: {key: c.iri for key, c in vocabulary.schemes[term.scheme].concepts.items()}
            for term in vocabulary.terms.values()
            if term.scheme is not None and term.scheme in vocabulary.schemes
        }
        self.readers: Mapping[str, Callable[[Json], Any]] = {
            "text": as_text,
            "doi": as_text,
            "sha256": as_text,
            "git-sha": as_text,
            "url": as_text,
            "url-or-path": as_text,
            "integer": as_integer,
            "boolean": as_boolean,
            "record-id": self._thing,
            "artifact": self._artifact,
            "agent": self._agent,
            "comparison-value": as_comparison_value,
        }

    def document(self, record: Record) -> Node:
        """The document of one record, without `@context`: `{"id": RECORD, "graph": [thing]}`.

        An excluded record leaves a tombstone: type, id, name, status, links, and the reason if given.
        """
        return _Draft(self, record).build()

    def _thing(self, value: Json) -> Any:
        return self.things + value if isinstance(value, str) and LINKED_ID.match(value) else MISFIT

    def _artifact(self, value: Json) -> Any:
        return self.artifacts + value if isinstance(value, str) and SHA256.match(value) else MISFIT

    def _agent(self, value: Json) -> Any:
        return self.agents + quote_part(value) if isinstance(value, str) and value else MISFIT

    def concept(self, value_kind: str, value: Json) -> Any:
        """The IRI of a concept, known or not."""
        if not isinstance(value, str) or not value:
            return MISFIT
        iri = self.schemes.get(value_kind, {}).get(value)
        return iri if iri is not None else concept_iri(value_kind.partition(":")[2], value)

    def missing_property(self, kind: str, field: str) -> str | None:
        """The IRI of the property that a missing entry explains, None if the field is not declared.

        Below a free object (`hardware.memory`) it is the property of that object.
        """
        first, _, rest = field.partition(".")
        term = self.vocabulary.attributes[kind].get(first) or self.by_record_key.get(first)
        if term is None:
            return None
        if rest and term.value_kind in PARTS:
            part = self.vocabulary.parts.get(PARTS[term.value_kind][0], {}).get(rest)
            return part.iri if part else None
        return term.iri


class _Draft:
    """The document of one record while it is being made."""

    def __init__(self, builder: DocumentBuilder, record: Record) -> None:
        self.builder = builder
        self.record = record
        self.thing = thing_iri(builder.base, record.id)
        self.about = record_iri(builder.base, record.id)
        self.settings: list[Node] = []
        self.items: list[Node] = []
        self.record_items: list[Node] = []
        self.empty: list[str] = []
        self.null: list[str] = []

    def build(self) -> Node:
        record, data, builder = self.record, self.record.data, self.builder
        excluded = data["status"] == "excluded"
        attributes = record.attributes
        if excluded:
            attributes = {key: attributes[key] for key in _TOMBSTONE if key in attributes}
        about: Node = {
            "id": self.about,
            "type": ["Record"],
            "record_id": record.id,
            "content_sha256": record.content_sha256,
            "status": builder.concept("concept:status", data["status"]),
        }
        self._sources(about, data["source_ids"])
        thing: Node = {
            "id": self.thing,
            "type": [builder.vocabulary.kinds[record.kind]],
            "kind": record.kind,
            "name": data["name"],
            "description": data["description"],
        }
        if excluded:
            del thing["description"]
        self._nest(thing, "links", self._links(data["links"]))
        self._nest(thing, "facets", {} if excluded else self._facets(data["facets"]))
        self._nest(thing, "attributes", self._attributes(attributes, about))
        self._provenance(attributes, thing, about)
        for key in () if excluded else data:
            if key not in ENVELOPE:
                self._open(data[key], step(key))
        for key, value in (("settings", self.settings), ("items", self.items)):
            if value:
                thing[key] = value
        for key, extra in (
            ("items", self.record_items),
            ("empty_fields", sorted(set(self.empty))),
            ("null_fields", sorted(set(self.null))),
        ):
            if extra:
                about[key] = extra
        thing["record"] = about
        return {"id": self.about, "graph": [thing]}

    @staticmethod
    def _nest(thing: Node, key: str, value: Node) -> None:
        if value:
            thing[key] = value

    def _sources(self, about: Node, source_ids: Json) -> None:
        assert isinstance(source_ids, list)  # noqa: S101 - the envelope is sound
        term = self.builder.vocabulary.terms["source_ids"]
        targets = self._list(term, source_ids, "source_ids", self.about, self.record_items)
        if targets:
            about["source_ids"] = targets

    def _links(self, links: Json) -> Node:
        """Relation -> IRIs of the targets. Order is kept where one relation has several targets."""
        found: dict[str, list[str]] = {}
        assert isinstance(links, list)  # noqa: S101 - the envelope is sound
        relations = self.builder.vocabulary.relations
        several: set[Json] = set()
        for index, link in enumerate(links):
            assert isinstance(link, dict)  # noqa: S101 - the envelope is sound
            relation, target = link["relation"], self.builder._thing(link["target_id"])
            if relation not in relations or target is MISFIT:
                self._open(link, f"links.{index}", expected="link")
                continue
            targets = found.setdefault(str(relation), [])
            if targets:
                several.add(relation)
            if target not in targets:
                targets.append(target)
        for index, link in enumerate(links):
            if isinstance(link, dict) and link["relation"] in several:
                self._item(f"links.{link['relation']}", index, str(link["target_id"]), self.thing, self.items)
        return found

    def _facets(self, facets: Json) -> Node:
        found: Node = {}
        assert isinstance(facets, dict)  # noqa: S101 - the envelope is sound
        for name, values in facets.items():
            term = self.builder.vocabulary.facets.get(name)
            path = f"facets.{step(name)}"
            if term is None:
                self._open(values, path)
            elif concepts := self._list(term, values, path, self.thing, self.items):
                found[term.key] = concepts
        return found

    def _attributes(self, attributes: Mapping[str, Json], about: Node) -> Node:
        terms = self.builder.vocabulary.attributes[self.record.kind]
        found: Node = {}
        for key, value in attributes.items():
            term = terms.get(key)
            if term is not None:
                self._field(found, term, value, step(key), self.thing)
            elif key == "missing_metadata":
                self._missing(about, value)
            elif key in ("review", "extraction") or (key == "evidence_concerns" and self.record.kind == "source"):
                self._field(about, self.builder.by_record_key[key], value, key, self.about)
            else:
                self._open(value, step(key))
        return found

    def _provenance(self, attributes: Mapping[str, Json], thing: Node, about: Node) -> None:
        """What follows from a record alone: the quotation of a printed value, the artifact and its retrieval."""
        extraction = about.get("extraction", {})
        printed = attributes.get("printed_value")
        if self.record.kind == "result" and isinstance(printed, str):
            quotation: Node = {
                "id": f"{self.about}#quote-printed_value",
                "type": ["Quotation"],
                "field": "printed_value",
                "quoted_value": printed,
            }
            if "source_locator" in thing["attributes"]:
                quotation["locator"] = thing["attributes"]["source_locator"]
            if "inspected_artifact" in extraction:
                quotation["quoted_from"] = extraction["inspected_artifact"]
            about["quotations"] = [quotation]
        if self.record.kind != "source":
            return
        artifact = self.builder._artifact(attributes.get("artifact_sha256"))
        if artifact is not MISFIT:
            thing["source_artifact"] = artifact
        retrieved_at = attributes.get("artifact_retrieved_at", attributes.get("retrieved_at"))
        if isinstance(retrieved_at, str) and instant_type(retrieved_at) == "dateTime":
            retrieval: Node = {"id": f"{self.about}#retrieval", "type": ["Retrieval"]}
            retrieval["ended_at"] = retrieved_at
            url = attributes.get("artifact_url", attributes.get("url"))
            if isinstance(url, str):
                retrieval["retrieved_url"] = url
            if artifact is not MISFIT:
                retrieval["generated"] = artifact
            about["retrieval"] = retrieval

    # ---- values by their declared kind ----

    def _field(self, found: Node, term: Term, value: Json, path: str, owner: str) -> None:
        """Put one declared value under its key; what does not fit its kind is kept as a setting."""
        kind = term.value_kind
        if value is None:
            self.null.append(path)
            return
        reader = self.builder.readers.get(kind)
        if reader is not None:
            literal = reader(value)
        elif kind == "json":
            literal = self._root(value, path)
        elif term.text_iri is not None:
            literal = self._with_text(found, term, value)
        elif kind in PARTS:
            literal = self._part(kind, value, path, owner)
        elif kind.startswith("concept:"):
            literal = self.builder.concept(kind, value)
        elif isinstance(value, list):
            literal = self._list(term, value, path, owner, self.record_items if owner == self.about else self.items)
            if not literal:
                return
        else:
            literal = MISFIT
        if literal is MISFIT:
            self._open(value, path, expected=kind)
            return
        if literal is NOTHING:
            return
        found[term.key] = literal
        if kind == "comparison-value" and not isinstance(value, str):
            self._open(value, path)

    def _with_text(self, found: Node, term: Term, value: Json) -> Any:
        """The typed value of a number or date, its text beside it; only the text if there is no typed value."""
        if isinstance(value, bool) or not isinstance(value, str | int):
            return MISFIT
        text = str(value)
        if term.value_kind in ("date", "datetime"):
            form = instant_type(text)
            literal = None if form is None else {"type": XSD + form, "@value": text}
            if term.value_kind == "date" and form == "dateTime":
                literal = None
        else:
            literal = decimal_literal(text)  # type: ignore[assignment]
        found[self.builder.vocabulary.text_keys[term.key]] = text
        return NOTHING if literal is None else literal

    def _list(self, term: Term, values: Json, path: str, owner: str, items: list[Node]) -> list[Any]:
        """The distinct values of a list, with item nodes where order or repetition would be lost."""
        if not isinstance(values, list):
            self._open(values, path, expected=term.value_kind)
            return []
        if not values:
            self.empty.append(path)
            return []
        found: list[Any] = []
        kind = term.value_kind
        for index, value in enumerate(values):
            literal = self._element(kind, value)
            if literal is MISFIT:
                self._open(value, f"{path}.{index}", expected=kind)
                continue
            if literal not in found:
                found.append(literal)
            if len(values) > 1:
                self._item(path, index, str(value), owner, items)
        return found

    def _element(self, kind: str, value: Json) -> Any:
        if kind.startswith("concepts:"):
            return self.builder.concept(kind, value)
        if kind in ("texts", "entity-kinds"):
            return as_text(value)
        if kind == "record-ids":
            return self.builder._thing(value)
        if kind == "agents":
            return self.builder._agent(value)
        return as_integer(value)

    def _item(self, path: str, index: int, value: str, owner: str, items: list[Node]) -> None:
        items.append(
            {
                "id": f"{owner}#{quote_part(path)}.{index}",
                "type": ["Item"],
                "field": path,
                "position": index,
                "value": value,
            }
        )

    def _part(self, kind: str, value: Json, path: str, owner: str) -> Any:
        """The node of a nested object, or the nodes of a list of them."""
        name, fragment = PARTS[kind]
        if kind in ("derivation-inputs", "discrepancies", "evidence-concerns"):
            if not isinstance(value, list):
                return MISFIT
            if not value:
                self.empty.append(path)
                return NOTHING
            join = "-" if kind == "evidence-concerns" else "."
            prefix = fragment if kind != "derivation-inputs" else "derivation.inputs"
            nodes = []
            for index, element in enumerate(value):
                if isinstance(element, dict):
                    iri = f"{owner}#{prefix}{join}{index}"
                    nodes.append(self._object(iri, name, element, f"{path}.{index}", owner))
                    nodes[-1]["position"] = index
                else:
                    self._open(element, f"{path}.{index}", expected=kind)
            return nodes or NOTHING
        if not isinstance(value, dict):
            return MISFIT
        iri = f"{owner}#{fragment if kind != 'resolution' else quote_part(path)}"
        return self._object(iri, name, value, path, owner)

    def _object(self, iri: str, name: str, value: Mapping[str, Json], path: str, owner: str) -> Node:
        terms = self.builder.vocabulary.parts.get(name, {})
        node: Node = {"id": iri, "type": [name]}
        for key, inner in value.items():
            term = terms.get(key)
            if term is None:
                self._open(inner, f"{path}.{step(key)}", expected="declared key")
            else:
                self._field(node, term, inner, f"{path}.{step(key)}", owner)
        return node

    def _missing(self, about: Node, value: Json) -> None:
        """Entries of `missing_metadata`: `{field: {reason, note?}}`, one node a field."""
        if not isinstance(value, dict):
            self._open(value, "missing_metadata", expected="missing-metadata")
            return
        if not value:
            self.empty.append("missing_metadata")
        nodes = []
        for field, entry in value.items():
            path = f"missing_metadata.{step(field)}"
            if not isinstance(entry, dict) or not isinstance(entry.get("reason"), str):
                self._open(entry, path, expected="missing-metadata")
                continue
            node: Node = {
                "id": f"{self.about}#missing-{quote_part(field)}",
                "type": ["MissingEntry"],
                "field": field,
            }
            missing_property = self.builder.missing_property(self.record.kind, field)
            if missing_property is not None:
                node["missing_property"] = missing_property
            node["reason"] = self.builder.concept("concept:missingness", entry["reason"])
            for key, inner in entry.items():
                if key == "note" and isinstance(inner, str):
                    node["note"] = inner
                elif key != "reason":
                    self._open(inner, f"{path}.{step(key)}", expected="declared key")
            nodes.append(node)
        if nodes:
            about["missing"] = nodes

    def _root(self, value: Json, path: str) -> Node:
        """The setting node of a declared free object, with a setting node for each leaf below it."""
        root = self._setting(value, path, _last_step(path))
        if isinstance(value, dict | list) and value:
            root["settings"] = self._leaves(value, path)
        return root

    def _open(self, value: Json, path: str, expected: str | None = None) -> None:
        """Keep a value that has no term, or does not fit it, as setting nodes of the thing.

        `expected` names the kind of value that was declared.
        """
        if expected is None and isinstance(value, dict | list) and value:
            self.settings.extend(self._leaves(value, path))
            return
        node = self._root(value, path)
        if expected is not None:
            node["expected_kind"] = expected
        self.settings.append(node)

    def _leaves(self, value: Json, path: str) -> list[Node]:
        """One setting node for each leaf of a free object or list; an empty one is a leaf."""
        leaves: list[Node] = []
        stack: list[tuple[Json, str, str | int]] = [(value, path, "")]
        while stack:
            current, place, key = stack.pop()
            if isinstance(current, dict) and current:
                stack.extend((inner, f"{place}.{step(name)}", name) for name, inner in reversed(current.items()))
            elif isinstance(current, list) and current:
                stack.extend((inner, f"{place}.{n}", n) for n, inner in reversed(list(enumerate(current))))
            else:
                leaves.append(self._setting(current, place, key))
        return leaves

    def _setting(self, value: Json, path: str, key: str | int) -> Node:
        node: Node = {"id": f"{self.thing}#setting-{quote_part(path)}", "type": ["Setting"], "path": path}
        if isinstance(key, int):
            node["position"] = key
        else:
            node["key"] = key
        form = json_type(value)
        if form != "string":
            node["json_type"] = form
        if form in ("string", "number", "boolean"):
            node["value"] = value if form == "string" else encode_json(value)
        return node


def _last_step(path: str) -> str | int:
    """The key, or the position in a list, that a path ends with."""
    parent, _, last = path.rpartition(".")
    return int(last) if parent and last.isdecimal() else last.replace("%2E", ".").replace("%25", "%")
