"""Entries of the reference: what a page shows of one term, and the addresses and words that stand for IRIs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from evkg.namespaces import EVKG, NS, ONTOLOGY, OWL, RDF, RDFS, SH, SKOS, VOCAB

SHAPES: Final = NS + "shapes#"
#: Words for predicates that the ontology does not label.
PREDICATES: Final = {
    RDF + "type": "type",
    RDFS + "subClassOf": "narrower than (class)",
    RDFS + "subPropertyOf": "narrower than (property)",
    RDFS + "comment": "comment",
    OWL + "inverseOf": "inverse of",
    SKOS + "altLabel": "also called",
    SKOS + "scopeNote": "note",
    SKOS + "notation": "key",
    SKOS + "inScheme": "scheme",
    SKOS + "broader": "broader",
    SKOS + "exactMatch": "the same as (exact match)",
    SKOS + "closeMatch": "nearly the same as (close match)",
    SKOS + "relatedMatch": "related to",
    SKOS + "broadMatch": "narrower than",
    SKOS + "narrowMatch": "broader than",
    SH + "severity": "severity",
    SH + "path": "path",
    SH + "description": "why",
}


@dataclass(frozen=True, slots=True)
class Object:
    """A value of a statement: its words, and an address here or elsewhere if it is a thing."""

    words: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Correspondence:
    """How a term of ours stands to one elsewhere, and why."""

    relation: str
    target: Object
    basis: str
    is_unverified: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule in the words of its shape."""

    name: str
    severity: str
    message: str
    fix: str
    why: str | None


@dataclass(frozen=True)
class Entry:
    """A term as a page shows it: what it is, what is said of it, to what it corresponds, what checks it."""

    iri: str
    name: str
    label: str
    what: str
    definition: str
    statements: tuple[tuple[str, tuple[Object, ...]], ...] = ()
    mappings: tuple[Correspondence, ...] = ()
    rules: tuple[Rule, ...] = ()
    record_key: str | None = None


@dataclass(frozen=True)
class Group:
    """Terms that stand together on a page."""

    title: str
    entries: tuple[Entry, ...]


def local_url(iri: str) -> str | None:
    """The address here of a term of ours; None for what is elsewhere.

    >>> local_url(EVKG + "printedValue"), local_url(VOCAB + "unit/gigabyte"), local_url(SHAPES + "result-unit")
    ('/ontology/printedValue', '/vocab/unit/gigabyte', '/shapes/result-unit')
    """
    if iri == ONTOLOGY:
        return "/ontology"
    for start, path in ((EVKG, "/ontology/"), (SHAPES, "/shapes/")):
        if iri.startswith(start):
            return path + quote(iri.removeprefix(start))
    return "/vocab/" + iri.removeprefix(VOCAB) if iri.startswith(VOCAB) else None
