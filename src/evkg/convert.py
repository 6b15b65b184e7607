"""A record's document ↔ its quads and its JSON-LD: one pass over a table of terms.

PyLD is the oracle: expanding the JSON-LD of any record gives exactly these quads (`tests/test_convert.py`).
It reads a few hundred records a second; this table reads tens of thousands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from evkg.document import DocumentBuilder
from evkg.namespaces import EVKG, FOAF, RDF, XSD
from evkg.record import Record
from evkg.setting import Node
from evkg.vocabulary import NESTS, PARTS, Term, Vocabulary, is_plural

_TYPE: Final = f"<{RDF}type>"
_PRIMARY_TOPIC: Final = f"<{FOAF}primaryTopic>"
_ESCAPES: Final = {
    **{chr(code): f"\\u{code:04X}" for code in (*range(0x20), 0x7F, 0xFFFE, 0xFFFF)},
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
    '"': '\\"',
    "\\": "\\\\",
}
_SPECIAL: Final = re.compile(r'[\x00-\x1f\x7f"\\\ufffe\uffff]')

_DATATYPES: Final = {
    "integer": XSD + "integer",
    "integers": XSD + "integer",
    "number": XSD + "decimal",
    "decimal": XSD + "decimal",
    "decimal-or-null": XSD + "decimal",
    "boolean": XSD + "boolean",
    "url": XSD + "anyURI",
    "url-or-path": XSD + "anyURI",
    "instant": XSD + "dateTime",
}
_NODES: Final = frozenset(PARTS) | {"items", "settings", "quotations", "missing-metadata", "retrieval", "json"}
_LINKS: Final = frozenset({"record-id", "record-ids", "artifact", "agent", "agents", "property"})


def quote_literal(text: str) -> str:
    """A string literal in N-Quads, in the canonical form.

    Source: RDF Dataset Canonicalization (RDFC-1.0), canonical N-Quads: escapes are those of control
    characters, of DEL and of what XML 1.1 knows as no character.

    >>> print(quote_literal('33.88 → "11.49"'))
    "33.88 → \\"11.49\\""
    """
    if _SPECIAL.search(text):
        return '"' + _SPECIAL.sub(lambda match: _ESCAPES[match.group()], text) + '"'
    return f'"{text}"'


def term_kind(term: Term) -> str:
    """How the values of a term are written: `node`, `iri`, `text`, `value object` or the IRI of a datatype.

    >>> from evkg.vocabulary import load_vocabulary
    >>> term_kind(load_vocabulary().terms["metric"])
    'iri'
    """
    kind = term.value_kind
    if term.section == "links" or term.scheme is not None or kind in _LINKS:
        return "iri"
    if kind in _NODES:
        return "node"
    if kind in ("date", "datetime", "comparison-value"):
        return "value object"
    return _DATATYPES.get(kind, "text")


class Converter:
    """Turns records into quads and JSON-LD; made once for a vocabulary and a base IRI.

    >>> from pathlib import Path
    >>> from evkg.reader import read_records
    >>> from evkg.vocabulary import load_vocabulary
    >>> vocabulary = load_vocabulary()
    >>> record = next(r for r in read_records(Path("graph/records/families.yaml"), vocabulary))
    >>> lines = Converter(vocabulary, "https://w3id.org/evkg/").record_to_quads(record)
    >>> print(lines[1])
    <https://w3id.org/evkg/id/gena-lm> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>
    <https://w3id.org/evkg/ontology#Model> <https://w3id.org/evkg/record/gena-lm> .
    """

    def __init__(self, vocabulary: Vocabulary, base: str) -> None:
        self.vocabulary = vocabulary
        self.base = base
        self._builder = DocumentBuilder(vocabulary, base)
        self._table: Mapping[str, tuple[str, str]] = {
            key: (f"<{term.iri}>", term_kind(term)) for key, term in vocabulary.terms.items()
        }

    def document(self, record: Record) -> Node:
        """The document of a record without its context; see `DocumentBuilder.document`."""
        return self._builder.document(record)

    def record_to_quads(self, record: Record) -> list[str]:
        """The N-Quads lines of a record, sorted, without line feeds and without repeats."""
        return self.document_to_quads(self._builder.document(record))

    def record_to_triples(self, record: Record) -> list[str]:
        """The same without the graph, which is that of the record: `s p o` texts in the same order."""
        return self._triples(self._builder.document(record))

    def document_to_quads(self, document: Node) -> list[str]:
        """The N-Quads lines of a document that `document` made."""
        return [f"{triple} <{document['id']}> ." for triple in self._triples(document)]

    def _triples(self, document: Node) -> list[str]:
        triples: list[str] = []
        for thing in document["graph"]:
            self._node(thing, f"<{thing['id']}>", triples)
        return sorted(set(triples))

    def _node(self, node: Node, subject: str, triples: list[str]) -> None:
        table = self._table
        add = triples.append
        for key, value in node.items():
            if key == "id":
                continue
            if key == "type":
                for name in value:
                    add(f"{subject} {_TYPE} <{EVKG}{name}>")
                continue
            if key in NESTS:
                self._node(value, subject, triples)
                continue
            if key == "record":
                about = f"<{value['id']}>"
                add(f"{about} {_PRIMARY_TOPIC} {subject}")
                self._node(value, about, triples)
                continue
            predicate, kind = table[key]
            head = f"{subject} {predicate}"
            for item in value if isinstance(value, list) else (value,):
                if kind == "text":
                    add(f"{head} {quote_literal(item)}")
                elif kind == "iri":
                    add(f"{head} <{item}>")
                elif kind == "node":
                    inner = f"<{item['id']}>"
                    add(f"{head} {inner}")
                    self._node(item, inner, triples)
                elif kind == "value object":
                    if isinstance(item, str):
                        add(f"{head} {quote_literal(item)}")
                    else:
                        add(f"{head} {quote_literal(item['@value'])}^^<{item['type']}>")
                else:
                    text = item if isinstance(item, str) else str(item).lower()
                    add(f"{head} {quote_literal(text)}^^<{kind}>")

    def record_to_jsonld(self, record: Record) -> Node:
        """The JSON-LD of a record, its context inside: only the terms that it uses."""
        document = self._builder.document(record)
        return {"@context": context_for(self.vocabulary, keys_of(document)), **document}


def keys_of(document: Node) -> set[str]:
    """All keys and class names that a document uses."""
    found: set[str] = set()
    stack: list[Any] = [document]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            found.update(value)
            found.update(name for name in value.get("type", ()) if isinstance(value.get("type"), list))
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return found


@lru_cache(maxsize=4)
def build_context(vocabulary: Vocabulary) -> Mapping[str, Any]:
    """The JSON-LD context of all terms: what `ontology/context.jsonld` holds under `@context`.

    Source: JSON-LD 1.1, section 9.15 (context definitions).
    """
    classes = {
        name: EVKG + name
        for name in sorted({*vocabulary.kinds.values(), *(name for name, _ in PARTS.values()), *_GRAPH_CLASSES})
    }
    return {**_HEAD, **classes, **{key: _definition(vocabulary.terms[key]) for key in sorted(vocabulary.terms)}}


#: Classes of nodes that the conversion adds.
_GRAPH_CLASSES: Final = ("Record", "Setting", "Item", "MissingEntry", "Quotation", "Retrieval")
_HEAD: Final[Mapping[str, Any]] = {
    "@version": 1.1,
    "id": "@id",
    "type": {"@id": "@type", "@container": "@set"},
    "graph": "@graph",
    **dict.fromkeys(NESTS, "@nest"),
    "record": {"@reverse": FOAF + "primaryTopic"},
}


def _definition(term: Term) -> dict[str, Any]:
    definition: dict[str, Any] = {"@id": term.iri}
    kind = term_kind(term)
    if kind in ("iri", "node"):
        definition["@type"] = "@id"
    elif kind not in ("text", "value object"):
        definition["@type"] = kind
    elif kind == "value object":
        # rdflib 7.6 overlooks the datatype of a value object when `type` has a container; a plain alias it reads.
        definition["@context"] = {"type": "@type"}
    if term.section == "links" or is_plural(term.value_kind):
        definition["@container"] = "@set"
    if term.nest:
        definition["@nest"] = term.nest
    return definition


def context_for(vocabulary: Vocabulary, keys: Iterable[str]) -> dict[str, Any]:
    """The part of the context that a document with these keys needs.

    >>> from evkg.vocabulary import load_vocabulary
    >>> context_for(load_vocabulary(), {"id", "Result", "printed_value"})["printed_value"]["@nest"]
    'attributes'
    """
    wanted = set(keys)
    return {
        key: definition
        for key, definition in build_context(vocabulary).items()
        if key in wanted or key in ("@version", "id", "type", "graph")
    }


def render_context(vocabulary: Vocabulary) -> str:
    """The text of `ontology/context.jsonld`: the context of every term, the same bytes for the same ontology.

    >>> from evkg.vocabulary import load_vocabulary
    >>> render_context(load_vocabulary()).splitlines()[:4]
    ['{', '  "@context": {', '    "@version": 1.1,', '    "id": "@id",']
    """
    return json.dumps({"@context": build_context(vocabulary)}, ensure_ascii=False, indent=2) + "\n"
