"""The IRIs that Python code names; a test checks each against the ontology."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote

NS: Final = "https://w3id.org/evkg/"
EVKG: Final = NS + "ontology#"
ONTOLOGY: Final = NS + "ontology"
VOCAB: Final = NS + "vocab/"

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"
SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
DCTERMS: Final = "http://purl.org/dc/terms/"
DCAT: Final = "http://www.w3.org/ns/dcat#"
FOAF: Final = "http://xmlns.com/foaf/0.1/"
PROV: Final = "http://www.w3.org/ns/prov#"
SH: Final = "http://www.w3.org/ns/shacl#"
SPDX: Final = "http://spdx.org/rdf/terms#"
VOID: Final = "http://rdfs.org/ns/void#"
EARL: Final = "http://www.w3.org/ns/earl#"

#: Prefixes that queries, Turtle and pages use; the same everywhere.
PREFIXES: Final[dict[str, str]] = {
    "evkg": EVKG,
    "rdf": RDF,
    "rdfs": RDFS,
    "owl": OWL,
    "xsd": XSD,
    "skos": SKOS,
    "dcterms": DCTERMS,
    "dcat": DCAT,
    "foaf": FOAF,
    "prov": PROV,
    "sh": SH,
    "spdx": SPDX,
    "void": VOID,
    "earl": EARL,
}

#: The named graphs beside the record graphs, by the last part of their IRI.
GRAPHS: Final = (
    "shared",
    "derived",
    "ontology",
    "vocabulary",
    "shapes",
    "validation",
    "questions",
    "research",
    "release",
)


def thing_iri(base: str, record_id: str) -> str:
    """The IRI of what a record describes.

    >>> thing_iri("https://w3id.org/evkg/", "gena-lm")
    'https://w3id.org/evkg/id/gena-lm'
    """
    return f"{base}id/{record_id}"


def record_iri(base: str, record_id: str) -> str:
    """The IRI of the record itself, which is also the name of the graph of all it says.

    >>> record_iri("https://w3id.org/evkg/", "gena-lm")
    'https://w3id.org/evkg/record/gena-lm'
    """
    return f"{base}record/{record_id}"


def graph_iri(base: str, name: str) -> str:
    """The IRI of one of the graphs in `GRAPHS`.

    >>> graph_iri("https://w3id.org/evkg/", "derived")
    'https://w3id.org/evkg/graph/derived'
    """
    return f"{base}graph/{name}"


def quote_segment(text: str) -> str:
    """`text` fit for one segment of the path of an IRI; `.` and `..` would be taken for steps.

    Source: RFC 3986, sections 2.3 (unreserved characters) and 3.3 (path segments).

    >>> quote_segment("ndcg@10"), quote_segment("..")
    ('ndcg%4010', '%2E%2E')
    """
    return quote(text, safe="-._~") if text.strip(".") else text.replace(".", "%2E")


def concept_iri(scheme: str, key: str) -> str:
    """The IRI of a concept; a key that is no plain word is percent-encoded, never changed.

    >>> concept_iri("metric", "peak-memory")
    'https://w3id.org/evkg/vocab/metric/peak-memory'
    """
    return f"{VOCAB}{scheme}/{quote_segment(key)}"


def concept_key(iri: str) -> str:
    """The key of a concept from its IRI.

    >>> concept_key("https://w3id.org/evkg/vocab/metric/peak-memory")
    'peak-memory'
    """
    return unquote(iri.rsplit("/", 1)[-1])
