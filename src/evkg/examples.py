"""Saved questions as SPARQL examples that other tools read, after the conventions of the SIB.

SHACL holds the query, rdfs:comment what it asks, schema.org the endpoint and the keywords.

Source: sib-swiss/sparql-examples: its README, and the shapes that it checks its examples with.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from evkg.convert import quote_literal
from evkg.namespaces import PREFIXES, RDF, RDFS, SH, XSD, graph_iri
from evkg.questions import Question, load_questions
from evkg.sparql import read_query

SCHEMA: Final = "https://schema.org/"
SPEX: Final = "https://purl.expasy.org/sparql-examples/ontology#"
#: Form of a query -> class and property of its example; SHACL has none for DESCRIBE.
_FORMS: Final = {
    "SELECT": (f"{SH}SPARQLSelectExecutable", f"{SH}select"),
    "ASK": (f"{SH}SPARQLAskExecutable", f"{SH}ask"),
    "CONSTRUCT": (f"{SH}SPARQLConstructExecutable", f"{SH}construct"),
    "DESCRIBE": (f"{SPEX}SPARQLDescribeExecutable", f"{SPEX}describe"),
}


def example_triples(base: str, endpoint: str, folder: Path | None = None) -> list[str]:
    """The saved questions as N-Triples lines, sorted; one example is `{base}questions/{name}`.

    `endpoint` is the address that they are asked at. All share one node that declares the prefixes of evkg.

    >>> example_triples("https://w3id.org/evkg/", "https://example.org/sparql")[0].split()[0]
    '<https://w3id.org/evkg/questions#prefix-dcat>'
    """
    prefixes = f"<{base}questions#prefixes>"
    lines = _prefix_lines(base, prefixes)
    for question in load_questions(folder).values():
        lines += _lines(question, f"<{base}questions/{question.name}>", endpoint, prefixes)
    return sorted(set(lines))


def examples_graph(base: str, folder: Path | None = None) -> list[str]:
    """The saved questions as N-Quads lines of the graph `questions` of a release, sorted.

    A release does not know where it will be served, so the endpoint is the one below its own base IRI.

    >>> examples_graph("https://w3id.org/evkg/")[0].endswith(" <https://w3id.org/evkg/graph/questions> .")
    True
    """
    graph = f"<{graph_iri(base, 'questions')}> ."
    return [f"{line.removesuffix('.')}{graph}" for line in example_triples(base, f"{base}sparql", folder)]


def _prefix_lines(base: str, node: str) -> list[str]:
    lines = []
    for prefix, namespace in PREFIXES.items():
        declaration = f"<{base}questions#prefix-{prefix}>"
        lines += [
            f"{node} <{SH}declare> {declaration} .",
            f"{declaration} <{SH}prefix> {quote_literal(prefix)} .",
            f"{declaration} <{SH}namespace> {quote_literal(namespace)}^^<{XSD}anyURI> .",
        ]
    return lines


def _lines(question: Question, node: str, endpoint: str, prefixes: str) -> list[str]:
    kind, predicate = _FORMS[read_query(question.text).form]
    keywords = (question.theme, *question.keywords) if question.theme else question.keywords
    return [
        f"{node} <{RDF}type> <{SH}SPARQLExecutable> .",
        f"{node} <{RDF}type> <{kind}> .",
        f"{node} <{RDFS}label> {quote_literal(question.title)}@en .",
        f"{node} <{RDFS}comment> {quote_literal(question.question)}@en .",
        f"{node} <{SH}prefixes> {prefixes} .",
        f"{node} <{predicate}> {quote_literal(question.text)} .",
        f"{node} <{SCHEMA}target> <{endpoint}> .",
        *(f"{node} <{SCHEMA}keywords> {quote_literal(word)} ." for word in keywords),
    ]
