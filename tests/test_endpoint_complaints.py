"""What users of other endpoints complained of, asked here in their words: types, errors, calls outside, numbers."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyoxigraph as ox
import pytest

from evkg.limits import Limits
from evkg.release import open as open_release
from evkg.server import make_app
from tests.client import Client

CROSS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
GRLC = "application/json; q=1.0, application/sparql-results+json; q=0.8, text/csv; q=0.1, */*; q=0.1"


@pytest.fixture(scope="module")
def client(workspace: Path) -> Iterator[Client]:
    release = open_release(workspace / "build/current")
    client = Client(make_app(release, public_url="https://example.org", limits=Limits(seconds=2)))
    yield client
    client.close()


@pytest.mark.parametrize(
    ("accept", "query", "media_type"),
    [
        (
            "application/sparql-results+xml, application/rdf+xml",
            "CONSTRUCT WHERE { ?s a evkg:Result }",
            "application/rdf+xml",
        ),
        (
            "application/sparql-results+json,text/turtle",
            "SELECT * { ?s a evkg:Result }",
            "application/sparql-results+json",
        ),
        ("application/sparql-results+json,text/turtle", "CONSTRUCT WHERE { ?s a evkg:Result }", "text/turtle"),
        (GRLC, "SELECT * { ?s a evkg:Result }", "application/json"),
        (GRLC, "ASK {}", "application/json"),
    ],
)
def test_the_type_fits_the_form_of_the_query(client: Client, accept: str, query: str, media_type: str) -> None:
    answer = client.query(query, accept)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, media_type)
    if media_type == "application/rdf+xml":
        assert len(list(ox.parse(answer.content, format=ox.RdfFormat.RDF_XML))) > 10
    elif media_type == "text/turtle":
        assert len(list(ox.parse(answer.content, format=ox.RdfFormat.TURTLE))) > 10
    else:
        json.loads(answer.content)


def test_a_time_out_is_no_failure_of_the_server_and_names_the_limit(client: Client) -> None:
    for accept in (None, "text/html,*/*;q=0.1", "text/csv"):
        answer = client.query(CROSS, accept)
        assert answer.status_code == 503
        assert answer.headers["content-type"].partition(";")[0] in ("application/problem+json", "text/plain")
        assert "limit of 2 s" in answer.text
        assert "Traceback" not in answer.text
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["x-evkg-limit"] == "time"


def test_terms_in_texts_and_iris_of_queries_fetch_nothing(client: Client) -> None:
    """`owl:imports`, contexts and data sets that name an address of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/x"
        for query, parameters in (
            (f"CONSTRUCT {{ <urn:a> owl:imports <{address}> }} {{}}", ()),
            (f"SELECT * FROM <{address}> {{ ?s ?p ?o }}", ()),  # noqa: S608 - SPARQL
            ("SELECT * { ?s ?p ?o }", (("default-graph-uri", address),)),
            ("SELECT * { GRAPH ?g { ?s ?p ?o } }", (("named-graph-uri", address),)),
            ("SELECT * { ?s ?p ?o }", (("using-graph-uri", address), ("context", address))),
        ):
            assert client.query(query, "application/ld+json, text/csv", *parameters).status_code == 200
        client("/graph-store", params={"graph": address})
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_numbers_are_ordered_and_computed_as_numbers(client: Client) -> None:
    """One type in a column: what the engine says of order, extremes and sum is what Python says."""
    column = "?r evkg:numericValue ?v"
    texts = client.query(f"SELECT ?v {{ {column} }} ORDER BY ?v", "text/csv").text.split()[1:]
    assert [Decimal(text) for text in texts] == sorted(Decimal(text) for text in texts)
    assert len({*texts}) > 5
    rows = client.query(f"SELECT (MIN(?v) AS ?a) (MAX(?v) AS ?b) (SUM(?v) AS ?c) {{ {column} }}", "text/csv").text
    least, most, total = (Decimal(text) for text in rows.split()[1].split(","))
    assert (least, most) == (Decimal(texts[0]), Decimal(texts[-1]))
    assert total == sum(Decimal(text) for text in texts)
    assert client.count(f"SELECT (COUNT(DISTINCT DATATYPE(?v)) AS ?n) {{ {column} }}") == 1


def test_dates_keep_their_zone_and_are_what_they_say(client: Client) -> None:
    for media_type in ("application/sparql-results+json", "application/sparql-results+xml", "text/csv"):
        answer = client.query('SELECT ("2015-09-24Z"^^xsd:date AS ?d) {}', media_type)
        assert "2015-09-24Z" in answer.text
    wrong = [
        text
        for text in client.query("SELECT ?d { ?s ?p ?d FILTER(DATATYPE(?d) = xsd:date) }", "text/csv").text.split()[1:]
        if not re.fullmatch(r"\d{4}-\d\d-\d\d(Z|[+-]\d\d:\d\d)?", text)
    ]
    assert wrong == []


@pytest.mark.parametrize("path", ["/id/gena-lm", "/record/gena-lm", "/", "/results", "/ontology", "/compare"])
def test_what_is_negotiated_says_so_to_caches(client: Client, path: str) -> None:
    for accept in ("text/html", "text/turtle", "application/json", "image/png"):
        answer = client(path, accept)
        assert "Accept" in [word.strip() for word in answer.headers["vary"].split(",")], (path, accept)


def test_a_long_list_of_values_comes_through_in_every_way(client: Client) -> None:
    """20 kB of VALUES; the same bindings from GET, a form, and the query as the body."""
    values = " ".join(f'"value {n}"' for n in range(1800))
    query = f"SELECT (COUNT(?v) AS ?n) {{ VALUES ?v {{ {values} }} }}"
    assert len(query) > 20_000
    direct = {"Content-Type": "application/sparql-query"}
    answers = [
        client.query(query, "text/csv"),
        client("/sparql", "text/csv", method="POST", data={"query": query}),
        client("/sparql", "text/csv", method="POST", content=query, headers=direct),
    ]
    assert [answer.text.split() for answer in answers] == [["n", "1800"]] * 3


def test_an_unknown_prefix_is_named_with_its_line(client: Client) -> None:
    problem = client.query("SELECT * {\n ?s xx:p ?o }").json()
    assert (problem["line"], problem["prefix"], problem["token"]) == (2, "xx", "xx:p")
