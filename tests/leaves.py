"""Which leaves of a record cannot be found again in its quads: a second reading of the rules, from the graph's side.

A *leaf* is a scalar, null, empty object or empty list anywhere in the record. It is *found* when it stands
with the same text

- under the property of its key, if it fits the kind of value that the key declares (a number or date: under the
  property for its text), each value of a list also with its position where the list has several;
- else on the setting node with its path, type, and key or position.

A null stands in `nullFields`, an empty list of a declared kind in `emptyFields`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote

import pyoxigraph as ox

from evkg.jsontext import Json, NumberText, encode_json
from evkg.namespaces import EVKG, FOAF, RDF, RDFS, VOCAB
from evkg.record import ENVELOPE, Record
from evkg.vocabulary import PARTS, Term, Vocabulary

Node = ox.NamedNode | ox.BlankNode
_LISTS = ("derivation-inputs", "discrepancies", "evidence-concerns")
_PATTERNS = {
    "integer": r"-?(0|[1-9][0-9]*)",
    "boolean": r"true|false",
    "artifact": r"[0-9a-f]{64}",
    "record-id": r"[a-z0-9][a-z0-9._-]{0,254}",
}


def _steps(path: str) -> tuple[str | int, ...]:
    """The keys and positions of a path: a digit alone is a position, anything else a key."""
    return tuple(int(part) if re.fullmatch("[0-9]+", part) else unquote(part) for part in path.split("."))


class LeafSearch:
    """The leaves of one record, looked for in its quads; `lost` names those that are not there."""

    def __init__(self, record: Record, lines: Iterable[str], vocabulary: Vocabulary, base: str) -> None:
        self.record, self.vocabulary, self.base = record, vocabulary, base
        self.lost: list[str] = []
        self.facts: dict[tuple[str, str], list[ox.NamedNode | ox.Literal]] = defaultdict(list)
        for quad in ox.parse("\n".join(lines).encode(), format=ox.RdfFormat.N_QUADS):
            self.facts[quad.subject.value, quad.predicate.value].append(quad.object)
        self.thing = f"{base}id/{record.id}"
        self.about = f"{base}record/{record.id}"
        self._forget_what_nothing_leads_to()
        self.settings = {
            _steps(self._one(node, "path")): node for (node, p), _ in [*self.facts.items()] if p == EVKG + "path"
        }
        self.items = {
            (self._one(node, "field"), self._one(node, "position")): self._one(node, "value")
            for (node, p), kinds in [*self.facts.items()]
            if p == RDF + "type" and kinds[0].value == EVKG + "Item"
        }
        self._search()

    def _forget_what_nothing_leads_to(self) -> None:
        """A node counts only if a path leads to it from the record."""
        reached, new = {self.about}, [self.about]
        leads: dict[str, set[str]] = defaultdict(set)
        for (node, _), values in self.facts.items():
            leads[node].update(value.value for value in values if isinstance(value, ox.NamedNode))
        while new:
            found = leads.get(new.pop(), set()) - reached
            reached |= found
            new.extend(found)
        for node, predicate in [*self.facts]:
            if node not in reached:
                del self.facts[node, predicate]

    def _values(self, node: str, name: str) -> list[str]:
        iri = name if ":" in name else EVKG + name
        return [value.value for value in self.facts.get((node, iri), ())]

    def _one(self, node: str, name: str) -> str:
        found = self._values(node, name)
        return found[0] if len(found) == 1 else f"?{found}"

    def _expect(self, found: bool, path: str, value: Json) -> None:
        if not found:
            self.lost.append(f"{path} = {encode_json(value)}")

    # ---- settings ----

    def _kept(self, value: Json, path: str, steps: tuple[str | int, ...]) -> None:
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                self._kept(inner, f"{path}.{key}", (*steps, key))
        elif isinstance(value, list) and value:
            for index, inner in enumerate(value):
                self._kept(inner, f"{path}.{index}", (*steps, index))
        else:
            self._expect(self._is_kept(value, steps), path, value)

    def _is_kept(self, value: Json, steps: tuple[str | int, ...]) -> bool:
        node = self.settings.get(steps)
        if node is None:
            return False
        last = steps[-1]
        form = {bool: "boolean", int: "number", NumberText: "number", type(None): "null", dict: "object", list: "array"}
        text = [] if value is None or value == {} or value == [] else [encode_json(value)]
        return (
            self._values(node, "position" if isinstance(last, int) else "key") == [str(last)]
            and self._values(node, "jsonType") == ([form[type(value)]] if type(value) in form else [])
            and self._values(node, "value") == ([value] if type(value) is str else text)
        )

    # ---- declared fields ----

    def _iri(self, kind: str, value: str) -> str:
        head, _, scheme = kind.partition(":")
        folder = f"{VOCAB}{scheme}/" if scheme else self.base + {"r": "id/", "a": "agent/"}[head[0]]
        if head == "artifact":
            folder = f"{self.base}artifact/"
        part = quote(value, safe="-._~")
        return folder + (part if value.strip(".") else value.replace(".", "%2E"))

    def _fits(self, kind: str, value: Json) -> bool:
        number = isinstance(value, NumberText) or (isinstance(value, int) and not isinstance(value, bool))
        if ":" in kind or kind in ("agent", "artifact", "record-id"):
            fits = isinstance(value, str) and value != "" and not number
        elif kind == "boolean":
            fits = isinstance(value, bool | str)
        else:
            fits = isinstance(value, str) or number
        text = value if isinstance(value, str) else encode_json(value)
        fits = fits and re.fullmatch(_PATTERNS.get(kind, r"[\s\S]*"), text) is not None
        return fits and (kind != "integer" or abs(int(text)) < 2**63)

    def _expected(self, kind: str, value: Any) -> str:
        if ":" in kind or kind in ("agent", "artifact", "record-id"):
            return self._iri(kind, value)
        return value if isinstance(value, str) else encode_json(value)

    def _field(self, node: str, term: Term, value: Json, path: str, steps: tuple[str | int, ...]) -> None:
        kind = term.value_kind
        single = {"texts": "text", "entity-kinds": "text"}.get(kind, re.sub(r"s(?=:|$)", "", kind))
        if value is None:
            self._expect(path in self._values(self.about, "nullFields"), path, value)
        elif kind == "json":
            self._expect(self._values(node, term.iri) == [self.settings.get(steps, "")], path, value)
            self._kept(value, path, steps)
        elif kind in PARTS and isinstance(value, list if kind in _LISTS else dict):
            self._part(node, term, value, path, steps)
        elif kind in PARTS or (isinstance(value, list) != term.is_list and kind != "comparison-value"):
            self._kept(value, path, steps)
        elif isinstance(value, list) and term.is_list:
            if not value:
                self._expect(path in self._values(self.about, "emptyFields"), path, value)
            for index, inner in enumerate(value):
                if not self._fits(single, inner):
                    self._kept(inner, f"{path}.{index}", (*steps, index))
                    continue
                found = self._expected(single, inner) in self._values(node, term.iri)
                found = found and (len(value) == 1 or self.items.get((path, str(index))) == str(inner))
                self._expect(found, f"{path}.{index}", inner)
        elif kind == "comparison-value" and (not isinstance(value, str) or isinstance(value, NumberText)):
            self._expect(len(self._values(node, term.iri)) == 1, path, value)
            self._kept(value, path, steps)
        elif not self._fits(kind, value):
            self._kept(value, path, steps)
        else:
            self._expect(self._values(node, term.text_iri or term.iri) == [self._expected(kind, value)], path, value)

    def _part(self, node: str, term: Term, value: Any, path: str, steps: tuple[str | int, ...]) -> None:
        nodes = self._values(node, term.iri)
        if isinstance(value, list):
            if not value:
                self._expect(path in self._values(self.about, "emptyFields"), path, value)
            places = {self._one(inner, "position"): inner for inner in nodes}
            for index, inner in enumerate(value):
                if isinstance(inner, dict):
                    place = places.get(str(index), "")
                    self._object(place, term, inner, f"{path}.{index}", (*steps, index))
                else:
                    self._kept(inner, f"{path}.{index}", (*steps, index))
        else:
            self._object(nodes[0] if len(nodes) == 1 else "", term, value, path, steps)

    def _object(
        self, node: str, term: Term, value: Mapping[str, Json], path: str, steps: tuple[str | int, ...]
    ) -> None:
        name = PARTS[term.value_kind][0]
        self._expect(self._values(node, RDF + "type") == [EVKG + name], path, dict(value))
        terms = self.vocabulary.parts[name]
        for key, inner in value.items():
            # Paths in nullFields and on items are written as the settings write them.
            if key in terms:
                self._field(node, terms[key], inner, f"{path}.{key}", (*steps, key))
            else:
                self._kept(inner, f"{path}.{key}", (*steps, key))

    # ---- the envelope ----

    def _search(self) -> None:
        data: Mapping[str, Any] = self.record.data
        thing, about, vocabulary = self.thing, self.about, self.vocabulary
        for node, name, text in (
            (about, "recordId", data["id"]),
            (about, FOAF + "primaryTopic", thing),
            (about, "contentSha256", self.record.content_sha256),
            (about, "status", self._iri("concept:status", data["status"])),
            (thing, "kind", data["kind"]),
            (thing, RDF + "type", EVKG + vocabulary.kinds[data["kind"]]),
            (thing, RDFS + "label", data["name"]),
        ):
            self._expect(self._values(node, name) == [text], name, text)
        self._field(about, vocabulary.terms["source_ids"], data["source_ids"], "source_ids", ("source_ids",))
        self._links(data["links"])
        excluded = data["status"] == "excluded"
        if excluded:
            why = {key: data["attributes"].get(key) for key in ("reason", "scope_note")}
            attributes = {key: text for key, text in why.items() if _is_text(text)}
        else:
            attributes = data["attributes"]
            found = self._values(thing, "http://purl.org/dc/terms/description")
            self._expect(found == [data["description"]], "description", data["description"])
            for name, values in data["facets"].items():
                path = f"facets.{name.replace('.', '%2E')}"
                if name in vocabulary.facets:
                    self._field(thing, vocabulary.facets[name], values, path, ("facets", name))
                else:
                    self._kept(values, path, ("facets", name))
            for key in data:
                if key not in ENVELOPE:
                    self._kept(data[key], f"record.{key}", ("record", key))
        for key, value in attributes.items():
            self._attribute(key, value)

    def _links(self, links: list[dict[str, str]]) -> None:
        known = [self._fits("record-id", link["target_id"]) for link in links]
        for index, link in enumerate(links):
            term = self.vocabulary.relations.get(link["relation"])
            if term is None or not known[index]:
                self._kept(dict(link), f"links.{index}", ("links", index))
                continue
            found = self._iri("record-id", link["target_id"]) in self._values(self.thing, term.iri)
            same = [n for n, other in enumerate(links) if known[n] and other["relation"] == link["relation"]]
            item = self.items.get((f"links.{link['relation']}", str(index)))
            self._expect(found and (len(same) == 1 or item == link["target_id"]), f"links.{index}", dict(link))

    def _attribute(self, key: str, value: Any) -> None:
        record_level = {"review": "review", "extraction": "extraction"}
        if self.record.kind == "source":
            record_level["evidence_concerns"] = "evidence_concerns"
        sections = ("attributes", "facets", "links", "source_ids", "record")
        if key in self.vocabulary.attributes[self.record.kind]:
            self._field(self.thing, self.vocabulary.attributes[self.record.kind][key], value, key, (key,))
        elif key in record_level:
            self._field(self.about, self.vocabulary.terms[record_level[key]], value, key, (key,))
        elif key == "missing_metadata" and isinstance(value, dict):
            for field, entry in value.items():
                self._missing(field, entry)
        else:
            self._kept(value, key, ("attributes", key) if key in sections else (key,))

    def _missing(self, field: str, entry: Any) -> None:
        path, steps = f"missing_metadata.{field}", ("missing_metadata", field)
        nodes = [n for n in self._values(self.about, "missing") if self._one(n, "field") == field]
        if not isinstance(entry, dict) or not self._fits("concept:missingness", entry.get("reason")):
            self._kept(entry, path, steps)
            return
        node = nodes[0] if len(nodes) == 1 else ""
        for key, value in entry.items():
            if key == "reason":
                expected = [self._iri("concept:missingness", value)]
            elif key == "note" and isinstance(value, str):
                expected = [value]
            else:
                self._kept(value, f"{path}.{key}", (*steps, key))
                continue
            self._expect(self._values(node, key) == expected, f"{path}.{key}", value)


def lost_leaves(record: Record, lines: Iterable[str], vocabulary: Vocabulary, base: str) -> list[str]:
    """`path = value` of each leaf that is not found; empty when the quads say all that the record says."""
    return LeafSearch(record, lines, vocabulary, base).lost


def _is_text(value: Json) -> bool:
    """Of a withdrawn record only texts stay, and only those that say why."""
    return isinstance(value, str) and not isinstance(value, NumberText)
