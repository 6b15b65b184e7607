"""Queries that are wrong, huge, or meant to do harm: each gets an answer or a clear error, and the next query works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from evkg.limits import Limits
from evkg.release import open as open_release
from evkg.server import make_app
from tests.client import Client

HOSTILE: Final = [
    "",
    " ",
    "\x00",
    "\ufeff",
    "SELECT",
    "SELECT * {",
    "}",
    "{" * 2000,
    "(" * 2000,
    "SELECT * { " + "?s ?p ?o . " * 2000,
    "SELECT * { ?s ?p '",
    'SELECT * { ?s ?p """',
    "SELECT * { ?s ?p <",
    "ASK { ?s ?p <\\u0000> }",
    "ASK { ?s ?p '\\uD800' }",
    "ASK { ?s ?p '\\UFFFFFFFF' }",
    "ASK {} ASK {}",
    "ASK {};",
    "ASK {} # " + "x" * 100_000,
    "PREFIX : <> ASK { :a :b :c }",
    "PREFIX evkg: <urn:other:> ASK { evkg:a evkg:b evkg:c }",
    "BASE <no iri> ASK {}",
    "ASK FROM <no iri> {}",
    "SELECT (COUNT(*) AS ?s) { ?s ?p ?o }",
    "SELECT ?s ?s { ?s ?p ?o }",
    "SELECT (1 AS ?a) (2 AS ?a) {}",
    "SELECT * { BIND(1 AS ?a) BIND(2 AS ?a) }",
    "SELECT ?a { } GROUP BY ?b",
    "SELECT * { } LIMIT -1",
    "SELECT * { } LIMIT 99999999999999999999999",
    "SELECT * { } OFFSET 1e3",
    "ASK { FILTER(REGEX('a', '(' )) }",
    "ASK { FILTER(REGEX('" + "a" * 50 + "', '(a+)+$')) }",
    "ASK { FILTER(REPLACE('a', '', 'b') = 'b') }",
    "ASK { FILTER(<urn:f>(1)) }",
    "ASK { FILTER(1/0) }",
    "ASK { FILTER('a' < 1) }",
    "SELECT (SUM('a') AS ?v) {}",
    "CONSTRUCT { _:a ?p 'x' . 'x' ?p _:a } { ?s ?p ?o } LIMIT 1",
    "DESCRIBE <urn:none>",
    "DESCRIBE *",
    "CONSTRUCT WHERE { ?s ?p ?o FILTER(true) }",
    "SELECT * { ?s (" + "!" * 5 + "rdf:type) ?o }",
    "ASK { ?s " + "/".join(["rdf:type"] * 500) + " ?o }",
    "ASK { VALUES ?x { " + "1 " * 20000 + "} }",
    "INSERT DATA { <urn:a> <urn:b> 1 }",
    "DELETE WHERE { ?s ?p ?o }",
    "LOAD <file:///etc/passwd>",
    "CLEAR SILENT ALL",
    "ASK {} ; DROP ALL",
    "SELECT * { GRAPH <file:///etc/passwd> { ?s ?p ?o } }",
    "WITH <urn:g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
    "\U0001f9ec" * 1000,
]


@pytest.fixture(scope="module")
def client(workspace: Path) -> Iterator[Client]:
    client = Client(
        make_app(open_release(workspace / "build/current"), public_url="https://example.org", limits=Limits(seconds=5))
    )
    yield client
    client.close()


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_query_makes_the_server_fail(client: Client, text: str) -> None:
    answer = client(
        "/sparql", method="POST", content=text.encode(), headers={"Content-Type": "application/sparql-query"}
    )
    assert answer.status_code in (200, 400, 503), answer.text[:300]
    if answer.status_code != 200:
        problem = answer.json()
        assert (problem["title"] == "The query ran into a limit") is (answer.status_code == 503)
        assert (answer.headers["content-type"], bool(problem["detail"])) == ("application/problem+json", True)
        assert len(answer.text) < 3000
        assert "Traceback" not in answer.text
    assert client.query("ASK {}").json()["boolean"] is True
