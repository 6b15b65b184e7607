"""Saved questions read by other tools: as SPARQL examples after the SIB's conventions, and by the rules of grlc."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pyshacl
import pytest
import rdflib
import yaml

from evkg.examples import SCHEMA, example_triples, examples_graph
from evkg.namespaces import PREFIXES, RDFS, SH
from evkg.questions import load_questions
from evkg.sparql import read_query
from tests.conftest import BASE, ROOT

ENDPOINT = "https://example.org/sparql"
NAMES = sorted(path.stem for path in (ROOT / "queries" / "questions").glob("*.rq"))
#: What the SIB's checks ask of an example: one query, a comment in a language, an endpoint; after its SHACL shapes.
SHAPES = """
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
PREFIX schema: <https://schema.org/>
PREFIX spex: <https://purl.expasy.org/sparql-examples/ontology#>
[] sh:targetClass sh:SPARQLExecutable ;
  sh:property
    [ sh:path [ sh:alternativePath ( sh:select sh:ask spex:describe sh:construct ) ] ; sh:minCount 1 ; sh:maxCount 1 ] ,
    [ sh:path rdfs:comment ; sh:minCount 1 ; sh:datatype rdf:langString ] ,
    [ sh:path schema:target ; sh:minCount 1 ; sh:nodeKind sh:IRI ] ,
    [ sh:path schema:keywords ; sh:minCount 1 ; sh:datatype xsd:string ] ,
    [ sh:path ( sh:prefixes sh:declare sh:namespace ) ; sh:minCount 1 ; sh:datatype xsd:anyURI ] .
[] sh:targetSubjectsOf sh:select ; sh:class sh:SPARQLSelectExecutable .
"""
#: How readers of examples find them, as the README of the collection shows.
FIND = """
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX spex: <https://purl.expasy.org/sparql-examples/ontology#>
SELECT DISTINCT ?sq ?comment ?query WHERE {
  ?sq a sh:SPARQLExecutable ; rdfs:comment ?comment ; sh:select|sh:ask|sh:construct|spex:describe ?query .
} ORDER BY ?sq
"""


@pytest.fixture(scope="module")
def graph() -> rdflib.Graph:
    return rdflib.Graph().parse(data="\n".join(example_triples(BASE, ENDPOINT)), format="nt")


def test_the_examples_keep_the_conventions(graph: rdflib.Graph) -> None:
    conforms, _, text = pyshacl.validate(graph, shacl_graph=rdflib.Graph().parse(data=SHAPES, format="turtle"))
    assert conforms, text


def test_an_example_without_its_endpoint_would_be_found(graph: rdflib.Graph) -> None:
    broken = rdflib.Graph()
    broken += graph
    broken.remove((rdflib.URIRef(f"{BASE}questions/comparable"), rdflib.URIRef(f"{SCHEMA}target"), None))
    conforms, _, _ = pyshacl.validate(broken, shacl_graph=rdflib.Graph().parse(data=SHAPES, format="turtle"))
    assert not conforms


def test_other_tools_find_every_question_with_its_text(graph: rdflib.Graph) -> None:
    rows = {str(row[0]): (str(row[1]), str(row[2])) for row in graph.query(FIND)}  # type: ignore[index]
    assert rows == {
        f"{BASE}questions/{name}": (question.question, question.text) for name, question in load_questions().items()
    }


def test_the_prefixes_are_declared_once_for_all(graph: rdflib.Graph) -> None:
    shared = set(graph.objects(None, rdflib.URIRef(f"{SH}prefixes")))
    assert shared == {rdflib.URIRef(f"{BASE}questions#prefixes")}
    declared = {
        str(graph.value(node, rdflib.URIRef(f"{SH}prefix"))): str(graph.value(node, rdflib.URIRef(f"{SH}namespace")))
        for node in graph.objects(shared.pop(), rdflib.URIRef(f"{SH}declare"))
    }
    assert declared == PREFIXES


def test_the_graph_of_a_release_holds_the_same_and_no_blank_node() -> None:
    lines = examples_graph(BASE)
    quads = list(ox.parse("\n".join(lines), format=ox.RdfFormat.N_QUADS))
    assert {quad.graph_name for quad in quads} == {ox.NamedNode(f"{BASE}graph/questions")}
    assert lines == sorted(set(lines))
    assert not any(isinstance(node, ox.BlankNode) for quad in quads for node in (quad.subject, quad.object))
    assert len(quads) == len(example_triples(BASE, f"{BASE}sparql"))


@pytest.mark.parametrize(
    ("text", "kind", "predicate"),
    [
        ("ASK { }", "SPARQLAskExecutable", f"{SH}ask"),
        ("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", "SPARQLConstructExecutable", f"{SH}construct"),
        (
            "DESCRIBE ?s { ?s ?p ?o }",
            "SPARQLDescribeExecutable",
            "https://purl.expasy.org/sparql-examples/ontology#describe",
        ),
    ],
)
def test_every_form_of_query_has_its_class_and_property(tmp_path: Path, text: str, kind: str, predicate: str) -> None:
    (tmp_path / "q.rq").write_text(f'#+ summary: "T"\n#+ description: >-\n#+   One "two"?\n{text}\n', encoding="utf-8")
    lines = example_triples(BASE, ENDPOINT, tmp_path)
    assert any(kind in line for line in lines)
    assert sum(f"<{predicate}>" in line for line in lines) == 1
    assert any(f'<{RDFS}comment> "One \\"two\\"?"@en' in line for line in lines)


# ---- grlc ----


def grlc_decorators(text: str) -> dict[str, object]:
    """What grlc reads off a query. Source: CLARIAH/grlc, src/gquery.py, get_yaml_decorators."""
    rows = text.split("\n")
    found = yaml.safe_load("\n".join(row.lstrip("#+") for row in rows if row.startswith("#+")))
    assert isinstance(found, dict)
    return {**found, "query": "\n".join(row for row in rows if not row.startswith("#+"))}


@pytest.mark.parametrize("name", NAMES)
def test_grlc_reads_the_header_of_a_question(name: str) -> None:
    question = load_questions()[name]
    found = grlc_decorators(question.text)
    assert (found["summary"], found["description"]) == (question.title, question.question)
    assert found["tags"] == [question.theme]
    assert read_query(str(found["query"])).form == "SELECT"
    assert set(found) == {"summary", "description", "tags", "query"}


def test_grlc_finds_the_endpoint_beside_the_questions() -> None:
    # Source: CLARIAH/grlc, src/gquery.py, guess_endpoint_uri: endpoint.txt of the folder where no decorator names one
    address = (ROOT / "queries" / "questions" / "endpoint.txt").read_text(encoding="utf-8").strip().splitlines()[0]
    assert address == "http://localhost:8000/sparql"
