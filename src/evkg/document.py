"""A record as its JSON-LD document: the one place where keys become terms.

The quads of a record are read off this document (`convert.py`), so what a consumer of JSON-LD gets
and what SPARQL sees is one thing. What becomes of each part of a record: `docs/record-to-graph.md`.
"""

from __future__ import annotations

from collections.abc import Mapping

from evkg.field import FieldWriter
from evkg.jsontext import Json, NumberText
from evkg.literal import instant_type, quote_part
from evkg.namespaces import record_iri, thing_iri
from evkg.record import ENVELOPE, Record
from evkg.setting import Node, attribute_path, step
from evkg.value import MISFIT, ValueReader
from evkg.vocabulary import PARTS, Vocabulary
from evkg.withheld import is_withheld, tombstone


class DocumentBuilder:
    """Makes the documents of records of one data set; holds the compiled vocabulary and the base IRI."""

    def __init__(self, vocabulary: Vocabulary, base: str) -> None:
        self.vocabulary = vocabulary
        self.base = base
        self.values = ValueReader(vocabulary, base)
        self.by_record_key = {t.record_key: t for t in vocabulary.terms.values() if t.section == "record"}

    def document(self, record: Record) -> Node:
        """The document of one record, without `@context`: `{"id": RECORD, "graph": [thing]}`.

        An excluded record leaves a tombstone: type, id, name, status, sources, links, the reason if
        given, and the bare concerns of a source.
        """
        return _Draft(self, record).build()

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
    """The document of one record while it is being made. The envelope is sound: `record.check_envelope`."""

    def __init__(self, builder: DocumentBuilder, record: Record) -> None:
        self.builder = builder
        self.record = record
        self.excluded = is_withheld(record)
        self.data = tombstone(record.data) if self.excluded else record.data
        attributes = self.data["attributes"]
        self.attributes: Mapping[str, Json] = attributes if isinstance(attributes, dict) else {}
        self.thing: Node = {"id": thing_iri(builder.base, record.id)}
        self.about: Node = {"id": record_iri(builder.base, record.id)}
        self.fields = FieldWriter(builder.vocabulary, builder.values, thing=self.thing["id"], record=self.about["id"])

    def build(self) -> Node:
        record, data, thing, about, fields = self.record, self.data, self.thing, self.about, self.fields
        thing |= {"type": [self.builder.vocabulary.kinds[record.kind]], "kind": record.kind, "name": data["name"]}
        about |= {
            "type": ["Record"],
            "record_id": record.id,
            "content_sha256": record.content_sha256,
            "status": self.builder.values.concept("status", str(data["status"])),
        }
        self._sources(data["source_ids"])
        links = self._links(data["links"])
        facets: Node = {}
        if not self.excluded:
            thing["description"] = data["description"]
            facets = self._facets(data["facets"])
        attributes = self._attributes()
        thing |= {key: nest for key, nest in (("links", links), ("facets", facets), ("attributes", attributes)) if nest}
        self._quotation(attributes)
        if record.kind == "source":
            self._retrieval()
        if not self.excluded and len(data) > len(ENVELOPE):
            for key in data:
                if key not in ENVELOPE:
                    fields.keep(data[key], f"record.{step(key)}", key)
        for node, key, nodes in (
            (thing, "settings", fields.settings),
            (thing, "items", fields.items[thing["id"]]),
            (about, "items", fields.items[about["id"]]),
            (about, "empty_fields", fields.empty),
            (about, "null_fields", fields.null),
        ):
            if nodes:
                node[key] = nodes
        thing["record"] = about
        return {"id": about["id"], "graph": [thing]}

    def _sources(self, source_ids: Json) -> None:
        term = self.builder.vocabulary.terms["source_ids"]
        self.fields.write(self.about, term, source_ids, "source_ids", self.about["id"])

    def _links(self, links: Json) -> Node:
        """Relation -> IRIs of the targets. Order is kept where one relation has several targets."""
        found: dict[str, dict[str, None]] = {}
        places: dict[str, list[tuple[int, str]]] = {}
        assert isinstance(links, list)  # noqa: S101 - the envelope is sound
        for index, link in enumerate(links):
            assert isinstance(link, dict)  # noqa: S101 - the envelope is sound
            term = self.builder.vocabulary.relations.get(str(link["relation"]))
            target = self.builder.values.thing(link["target_id"])
            if term is None or target is MISFIT or isinstance(link["relation"], NumberText):
                self.fields.keep(link, f"links.{index}", index, expected="link")
                continue
            found.setdefault(term.key, {})[target] = None
            places.setdefault(term.key, []).append((index, str(link["target_id"])))
        for relation, targets in places.items():
            for index, target in targets if len(targets) > 1 else ():
                self.fields.item(f"links.{relation}", index, target, self.thing["id"])
        return {relation: [*targets] for relation, targets in found.items()}

    def _facets(self, facets: Json) -> Node:
        found: Node = {}
        assert isinstance(facets, dict)  # noqa: S101 - the envelope is sound
        for name, values in facets.items():
            term = self.builder.vocabulary.facets.get(name)
            path = f"facets.{step(name)}"
            if term is None:
                self.fields.keep(values, path, name)
            else:
                self.fields.write(found, term, values, path, self.thing["id"])
        return found

    def _attributes(self) -> Node:
        terms = self.builder.vocabulary.attributes[self.record.kind]
        found: Node = {}
        for key, value in self.attributes.items():
            term = terms.get(key)
            if term is not None:
                self.fields.write(found, term, value, key, self.thing["id"])
            elif key == "missing_metadata":
                self._missing(value)
            elif key in ("review", "extraction") or (key == "evidence_concerns" and self.record.kind == "source"):
                self.fields.write(self.about, self.builder.by_record_key[key], value, key, self.about["id"])
            else:
                self.fields.keep(value, attribute_path(key), key)
        return found

    def _missing(self, value: Json) -> None:
        """Entries of `missing_metadata`: `{field: {reason, note?}}`, one node a field."""
        fields = self.fields
        if not isinstance(value, dict):
            fields.keep(value, "missing_metadata", "missing_metadata", expected="missing-metadata")
            return
        if not value:
            fields.empty.append("missing_metadata")
        nodes = []
        for field, entry in value.items():
            path = f"missing_metadata.{step(field)}"
            reason = (
                self.builder.values.concept("missingness", entry.get("reason")) if isinstance(entry, dict) else MISFIT
            )
            if reason is MISFIT or not isinstance(entry, dict):
                fields.keep(entry, path, field, expected="missing-metadata")
                continue
            node: Node = {
                "id": f"{self.about['id']}#missing-{quote_part(field)}",
                "type": ["MissingEntry"],
                "field": field,
            }
            missing_property = self.builder.missing_property(self.record.kind, field)
            if missing_property is not None:
                node["missing_property"] = missing_property
            node["reason"] = reason
            for key, inner in entry.items():
                if key == "note" and isinstance(inner, str):
                    node["note"] = inner
                elif key != "reason":
                    fields.keep(inner, f"{path}.{step(key)}", key, expected="declared key")
            nodes.append(node)
        if nodes:
            self.about["missing"] = nodes

    # ---- what follows from a record alone ----

    def _quotation(self, attributes: Node) -> None:
        """The printed value of a result as a quotation from the artifact that the extraction read."""
        if self.record.kind != "result" or "printed_value" not in attributes:
            return
        quotation: Node = {
            "id": f"{self.about['id']}#quote-printed_value",
            "type": ["Quotation"],
            "field": "printed_value",
            "quoted_value": attributes["printed_value"],
        }
        if "source_locator" in attributes:
            quotation["locator"] = attributes["source_locator"]
        extraction = self.about.get("extraction", {})
        if "inspected_artifact" in extraction:
            quotation["quoted_from"] = extraction["inspected_artifact"]
        self.about["quotations"] = [quotation]

    def _retrieval(self) -> None:
        """The bytes that a source record names, and the act of fetching them if its time is known."""
        artifact = self.builder.values.artifact(self.attributes.get("artifact_sha256"))
        if artifact is not MISFIT:
            self.thing["source_artifact"] = artifact
        retrieved_at = self.attributes.get("artifact_retrieved_at", self.attributes.get("retrieved_at"))
        if not isinstance(retrieved_at, str) or instant_type(retrieved_at) != "dateTime":
            return
        retrieval: Node = {
            "id": f"{self.about['id']}#retrieval",
            "type": ["Retrieval"],
            "ended_at": retrieved_at,
        }
        url = self.attributes.get("artifact_url", self.attributes.get("url"))
        if isinstance(url, str):
            retrieval["retrieved_url"] = url
        if artifact is not MISFIT:
            retrieval["generated"] = artifact
        self.about["retrieval"] = retrieval
