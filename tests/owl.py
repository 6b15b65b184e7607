"""owlrl's closure: the normative reasoning that derived facts are held against."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import owlrl
import pyoxigraph as ox
import rdflib

from evkg.namespaces import DCAT, EVKG, OWL, PROV, RDF, RDFS
from evkg.normative import rdflib_term

#: Subject, predicate and object as N-Triples writes them.
Fact = tuple[str, str, str]

_ERROR_MESSAGE = rdflib.URIRef("http://www.daml.org/2002/03/agents/agent-ont#error")
_TYPE = f"<{RDF}type>"


def parse(lines: Iterable[str]) -> list[Any]:
    """The quads of N-Quads lines."""
    return list(ox.parse(input="\n".join([*lines, ""]).encode(), format=ox.RdfFormat.N_QUADS))


def closure(lines: Iterable[str], ontology: Path) -> rdflib.Graph:
    """The OWL 2 RL closure of quads (as triples) together with every Turtle file of the ontology."""
    graph = rdflib.Graph()
    for quad in parse(lines):
        graph.add((rdflib_term(quad.subject), rdflib_term(quad.predicate), rdflib_term(quad.object)))
    for file in sorted(ontology.rglob("*.ttl")):
        for quad in ox.parse(path=str(file), format=ox.RdfFormat.TURTLE, rename_blank_nodes=True):
            graph.add((rdflib_term(quad.subject), rdflib_term(quad.predicate), rdflib_term(quad.object)))
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    return graph


def error_messages(graph: rdflib.Graph) -> list[str]:
    """What owlrl reports: it names a contradiction only in the text of a node."""
    return sorted(str(text) for text in graph.objects(None, _ERROR_MESSAGE))


def facts_of_graph(graph: rdflib.Graph, subjects: set[str]) -> set[Fact]:
    """The facts about `subjects` in an rdflib graph that derived facts are held against."""
    triples = ((s.n3(), p.n3(), o.n3()) for s, p, o in graph if isinstance(s, rdflib.URIRef))
    return {fact for fact in triples if is_compared(fact, subjects)}


def facts_of_quads(quads: Iterable[Any], subjects: set[str]) -> set[Fact]:
    """The same facts in quads. Literals are written as rdflib writes them."""
    triples = ((str(quad.subject), str(quad.predicate), rdflib_term(quad.object).n3()) for quad in quads)
    return {fact for fact in triples if is_compared(fact, subjects)}


def is_compared(fact: Fact, subjects: set[str]) -> bool:
    """Whether a fact is about data and says something: no built-in class, no `x sameAs x`, no blank node."""
    subject, predicate, value = fact
    if subject not in subjects or value.startswith("_:"):
        return False
    if predicate == _TYPE:
        return not value.startswith((f"<{OWL}", f"<{RDFS}", f"<{RDF}"))
    return predicate.startswith((f"<{EVKG}", f"<{PROV}", f"<{DCAT}"))
