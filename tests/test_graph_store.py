from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyoxigraph as ox
import pytest

from evkg.namespaces import GRAPHS as GRAPH_NAMES
from evkg.negotiate import GRAPHS, Variant
from evkg.release import open as open_release
from evkg.serialization import SENT_GRAPH_FORMATS
from evkg.server import make_app
from tests.client import Client
from tests.conftest import BASE

RECORD = f"{BASE}record/gena-lm"
DERIVED = f"{BASE}graph/derived"
COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"


@pytest.fixture(scope="module")
def client(workspace: Path) -> Iterator[Client]:
    client = Client(make_app(open_release(workspace / "build/current"), public_url="https://example.org/evkg"))
    yield client
    client.close()


def triples(body: bytes, format_name: str = "nt") -> set[ox.Triple]:
    return {quad.triple for quad in ox.parse(body, format=SENT_GRAPH_FORMATS[format_name])}


@pytest.mark.parametrize("variant", GRAPHS, ids=[variant.media_type for variant in GRAPHS])
@pytest.mark.parametrize(
    "url", [f"/graph-store?graph={quote(RECORD)}", f"/graph-store?graph={RECORD}", "/graph/derived"]
)
def test_a_graph_comes_whole_in_every_format(client: Client, url: str, variant: Variant) -> None:
    answer = client(url, variant.media_type)
    assert (answer.status_code, answer.headers["content-type"]) == (200, variant.content_type)
    iri = RECORD if "record" in url else DERIVED
    expected = client.query(f"CONSTRUCT FROM <{iri}> WHERE {{ ?s ?p ?o }}", "application/n-triples")
    assert triples(answer.content, variant.format_name) == triples(expected.content)
    assert len(triples(expected.content)) == client.count(COUNT, ("default-graph-uri", iri)) > 9


def test_the_default_graph_is_what_a_query_sees(client: Client) -> None:
    answer = client("/graph-store?default", "application/n-triples")
    assert len(triples(answer.content)) == client.count(COUNT)


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_every_graph_beside_the_records_has_its_address(client: Client, name: str) -> None:
    there = client.query(f"ASK {{ GRAPH <{BASE}graph/{name}> {{ ?s ?p ?o }} }}").json()["boolean"]
    answer = client(f"/graph/{name}", "text/turtle")
    assert answer.status_code == (200 if there else 404)
    if there:
        indirect = client("/graph-store", "text/turtle", params={"graph": f"{BASE}graph/{name}"})
        assert indirect.content == answer.content


def test_head_is_get_without_the_body(client: Client) -> None:
    for url in ("/graph/derived", "/graph/nothing", "/graph-store?default"):
        get, head = client(url), client(url, method="HEAD")
        assert (head.status_code, head.content, head.headers["content-type"]) == (
            get.status_code,
            b"",
            get.headers["content-type"],
        )


def test_an_unknown_graph_is_said_to_be_none(client: Client) -> None:
    answer = client("/graph-store?graph=https://example.org/none")
    assert (answer.status_code, "no graph https://example.org/none" in answer.json()["detail"]) == (404, True)
    assert client("/graph/derivd").json()["nearest"] == ["derived"]


@pytest.mark.parametrize(
    "query",
    [
        "", "other=1", "default&graph=urn:a", "default&default", "graph=urn:a&graph=urn:b", "default=1",
        "graph=", "graph=relative",
        "graph=urn:a%20b", "graph=%ff", "graph=urn:a%3E%20%7D", "Graph=urn:a",
    ],
)  # fmt: skip
def test_a_request_that_names_no_one_graph_is_refused(client: Client, query: str) -> None:
    answer = client(f"/graph-store?{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    assert answer.json()["detail"]


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH"])
@pytest.mark.parametrize("url", ["/graph-store", "/graph-store?default", "/graph/derived"])
def test_nothing_can_be_written(client: Client, method: str, url: str) -> None:
    before = client.count(COUNT)
    body: dict[str, Any] = {"content": "<urn:a> <urn:b> 1 .", "headers": {"Content-Type": "text/turtle"}}
    answer = client(url, method=method, **body)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert answer.json()["detail"] == "What is here can only be read."
    assert client.count(COUNT) == before


def test_what_cannot_be_had_is_refused_with_what_can(client: Client) -> None:
    answer = client("/graph/derived", "text/csv")
    assert answer.status_code == 406
    assert answer.json()["available"] == [variant.media_type for variant in GRAPHS]
