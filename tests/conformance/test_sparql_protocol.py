"""The SPARQL 1.1 Protocol over HTTP, at a real server: every kind of request in the W3C's list of protocol cases.

Source: SPARQL 1.1 Protocol, section 2; https://www.w3.org/2009/sparql/docs/tests/data-sparql11/protocol/.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import httpx
import pyoxigraph as ox
import pytest

from evkg.namespaces import RDF
from tests.conformance.sparql_server import Server

FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}
DIRECT: Final = {"Content-Type": "application/sparql-query"}
UTF_16: Final = {"Content-Type": "application/sparql-query; charset=UTF-16"}
UPDATE: Final = {"Content-Type": "application/sparql-update"}
ONE, TWO, THREE = (f"http://example.org/data{number}" for number in (1, 2, 3))
#: Graphs of one triple each, which says that the graph has a type.
QUADS: Final = [
    ox.Quad(ox.NamedNode(iri), ox.NamedNode(f"{RDF}type"), ox.NamedNode("http://example.org/Data"), ox.NamedNode(iri))
    for iri in (ONE, TWO, THREE)
]
BOTH: Final = f"ASK {{ <{ONE}> a ?type . <{TWO}> a ?type }}"
NAMED: Final = f"ASK {{ GRAPH ?g {{ <{ONE}> a ?type }} GRAPH ?h {{ <{TWO}> a ?type }} }}"
FULL: Final = f"ASK {{ <{THREE}> a ?type GRAPH ?g {{ <{ONE}> a ?type }} GRAPH ?h {{ <{TWO}> a ?type }} }}"
DEFAULTS: Final = [("default-graph-uri", ONE), ("default-graph-uri", TWO)]
NAMES: Final = [("named-graph-uri", ONE), ("named-graph-uri", TWO)]


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    with Server(QUADS) as server:
        yield server.http


@pytest.mark.parametrize("path", ["/sparql", "/sparql/"])
@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("ASK {}", []),
        (BOTH, DEFAULTS),
        (NAMED, NAMES),
        (FULL, [("default-graph-uri", THREE), *NAMES]),
        # The data set of the protocol, not that of the query.
        (f"ASK FROM <{THREE}> {{ <{ONE}> a ?type }}", DEFAULTS),
        (f"ASK FROM <{ONE}> {{ FILTER NOT EXISTS {{ <{ONE}> a ?type }} }}", [("default-graph-uri", THREE)]),
        (f"ASK FROM NAMED <{ONE}> {{ FILTER NOT EXISTS {{ GRAPH ?g {{ <{ONE}> a ?t }} }} }}", DEFAULTS),
        # Without one, the default graph of this store, which is empty, and all its named graphs.
        (f"ASK {{ FILTER NOT EXISTS {{ ?s ?p ?o }} GRAPH <{ONE}> {{ <{ONE}> a ?type }} }}", []),
        ("BASE <http://example.org/> ASK { GRAPH <data1> { <data1> a <Data> } }", []),
        # The default graph is the merge of those named, the empty one where only named graphs are.
        ("ASK { FILTER NOT EXISTS { ?s ?p ?o } GRAPH ?g { ?s ?p ?o } }", NAMES),
    ],
)
def test_a_query_is_answered_in_every_way_of_sending_it(
    http: httpx.Client, text: str, parameters: list[tuple[str, Any]], path: str
) -> None:
    form = httpx.QueryParams([("query", text), *parameters])
    answers = [
        http.get(path, params=form),
        http.post(path, content=str(form), headers=FORM),
        http.post(path, params=httpx.QueryParams(parameters), data={"query": text}),
        http.post(path, params=httpx.QueryParams(parameters), content=text, headers=DIRECT),
    ]
    assert [answer.json().get("boolean") for answer in answers] == [True] * 4


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("SELECT (1 AS ?v) {}", {"sparql-results+json", "sparql-results+xml", "csv", "tab-separated-values"}),
        ("ASK {}", {"sparql-results+json", "sparql-results+xml", "csv", "tab-separated-values"}),
        (f"DESCRIBE <{ONE}>", {"turtle", "n-triples", "rdf+xml", "ld+json", "trig", "n-quads", "n3"}),
        ("CONSTRUCT { <urn:s> <urn:p> 1 } {}", {"turtle", "n-triples", "rdf+xml", "ld+json", "trig", "n-quads", "n3"}),
    ],
)
def test_the_type_of_the_answer_fits_the_form(http: httpx.Client, text: str, types: set[str]) -> None:
    found = set()
    for name in types:
        for family in ("application", "text"):
            answer = http.get("/sparql", params={"query": text}, headers={"Accept": f"{family}/{name}"})
            if answer.status_code == 200:
                assert answer.headers["content-type"].partition(";")[0] == f"{family}/{name}"
                found.add(name)
    assert found == types
    assert (
        http.get("/sparql", params={"query": text}).headers["content-type"].partition(";")[0].rpartition("/")[2]
        in types
    )


@pytest.mark.parametrize(
    ("status", "method", "options"),
    [
        (405, "PUT", {"params": {"query": "ASK {}"}}),
        (400, "GET", {"params": [("query", "ASK {}"), ("query", "SELECT * {}")]}),
        (400, "POST", {"content": "query=ASK%20%7B%7D&query=ASK%20%7B%7D", "headers": FORM}),
        (415, "POST", {"content": "ASK {}", "headers": {"Content-Type": "text/plain"}}),
        (415, "POST", {"content": "query=ASK%20%7B%7D"}),
        (415, "POST", {"content": "ASK {}"}),
        (415, "POST", {"content": "ASK {}".encode("utf-16"), "headers": UTF_16}),
        (400, "POST", {"content": "ASK {}".encode("utf-16"), "headers": DIRECT}),
        (400, "GET", {"params": {"query": "ASK {"}}),
        (415, "POST", {"content": b"\x1f\x8b", "headers": {**DIRECT, "Content-Encoding": "gzip"}}),
        # Updates: refused whatever way they come.
        (400, "POST", {"content": "update=CLEAR%20ALL", "headers": FORM}),
        (415, "POST", {"content": "CLEAR ALL", "headers": UPDATE}),
        (415, "POST", {"content": "CLEAR ALL", "headers": UPDATE, "params": {"using-graph-uri": ONE}}),
        (400, "POST", {"content": "CLEAR ALL", "headers": DIRECT}),
        (400, "GET", {"params": {"update": "CLEAR ALL"}}),
        (400, "POST", {"content": "update=CLEAR%20ALL&update=DROP%20ALL", "headers": FORM}),
        (400, "POST", {"content": "query=ASK%20%7B%7D&update=CLEAR%20ALL", "headers": FORM}),
    ],
)  # fmt: skip
def test_what_the_protocol_forbids_is_refused(
    http: httpx.Client, status: int, method: str, options: dict[str, Any]
) -> None:
    answer = http.request(method, "/sparql", **options)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.json()["detail"]
    assert http.get("/sparql", params={"query": NAMED}).json()["boolean"] is True


def test_names_of_parameters_are_read_as_written_and_unknown_ones_passed_over(http: httpx.Client) -> None:
    parameters: list[tuple[str, Any]] = [
        ("query", "ASK {}"),
        ("QUERY", "no"),
        ("format", "x"),
        ("timeout", "1"),
        ("using-graph-uri", "no iri"),
    ]
    assert http.get("/sparql", params=httpx.QueryParams(parameters)).json()["boolean"] is True


def test_relative_iris_begin_at_the_endpoint(http: httpx.Client) -> None:
    answer = http.get("/sparql", params={"query": "SELECT (STR(<x>) AS ?v) {}"}, headers={"Accept": "text/csv"})
    assert answer.text.split()[1] == f"{http.base_url}/x".replace("//x", "/x")


def test_head_and_options_tell_the_same_as_get(http: httpx.Client) -> None:
    for parameters in ({"query": "ASK {}"}, {}, {"query": "no"}):
        get, head = (http.request(method, "/sparql", params=parameters) for method in ("GET", "HEAD"))
        assert (head.status_code, head.content) == (get.status_code, b"")
        assert head.headers["content-type"] == get.headers["content-type"]
    options = http.options("/sparql")
    assert (options.status_code, options.headers["allow"]) == (204, "GET, HEAD, POST, OPTIONS")
    assert http.options("/graph-store").headers["allow"] == "GET, HEAD, OPTIONS"
