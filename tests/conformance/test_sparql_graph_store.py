"""The W3C's cases of the Graph Store HTTP Protocol and of service descriptions, as far as reading goes.

A case is a row of requests. What writes is refused by the server, and done here to the data beside it, which a server
then has; what reads is sent and must be answered as the case says.

Source: https://github.com/w3c/rdf-tests, sparql/sparql11/graph-store-protocol and service-description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pyoxigraph as ox
import pytest

from evkg.namespaces import RDF
from tests.conformance.sparql_cases import MF, SUITES, Manifest, same_graph
from tests.conformance.sparql_server import Server

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (SUITES / "sparql11").is_dir(), reason="the suites lie beside the repository, not here"),
]
HT: Final = "http://www.w3.org/2011/http#"
CNT: Final = "http://www.w3.org/2011/content#"
SD: Final = "http://www.w3.org/ns/sparql-service-description#"
FOLDER: Final = SUITES / "sparql11/graph-store-protocol"
PUBLIC: Final = "http://www.example"
#: What a read-only graph store names a graph that somebody would create.
CREATED: Final = f"{PUBLIC}/graph/created"
STATUSES: Final = {"OK": 200, "NotFound": 404}


@dataclass(frozen=True)
class Exchange:
    """A request of a case, and what comes back."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: str | None
    statuses: frozenset[str]
    sent_type: str | None
    sent: str | None


def exchanges(manifest: Manifest, entry: Any) -> Iterator[Exchange]:
    for request in manifest.items(manifest.one(manifest.one(entry, f"{MF}action"), f"{HT}requests")):
        response = manifest.one(request, f"{HT}resp")
        yield Exchange(
            manifest.one(request, f"{HT}methodName").value,
            manifest.one(request, f"{HT}absolutePath").value,
            _headers(manifest, request),
            _body(manifest, request),
            frozenset(status.value.rpartition("#")[2] for status in manifest.all(response, f"{MF}expectedStatus")),
            _headers(manifest, response).get("content-type"),
            _body(manifest, response),
        )


def _headers(manifest: Manifest, node: Any) -> dict[str, str]:
    head = manifest.one(node, f"{HT}headers")
    return {
        manifest.one(item, f"{HT}fieldName").value.lower(): manifest.one(item, f"{HT}fieldValue").value
        for item in (manifest.items(head) if head else ())
    }


def _body(manifest: Manifest, node: Any) -> str | None:
    body = manifest.one(node, f"{HT}body")
    return None if body is None else str(manifest.one(body, f"{CNT}chars").value)


def cases() -> list[tuple[str, list[Exchange]]]:
    found = []
    for name in ("direct", "indirect"):
        path = FOLDER / f"manifest-{name}.ttl"
        if path.is_file():
            manifest = Manifest(path)
            found += [
                (entry.value.rpartition("#")[2], list(exchanges(manifest, entry))) for entry in manifest.entries()
            ]
    return found


def graph_of(path: str) -> ox.NamedNode | ox.DefaultGraph:
    """The graph that a path of our own names."""
    parts = urlsplit(path)
    if parts.path == "/graph-store":
        named = parse_qs(parts.query).get("graph")
        return ox.NamedNode(named[0]) if named else ox.DefaultGraph()
    return ox.NamedNode(PUBLIC + parts.path)


def write(store: ox.Store, exchange: Exchange, graph: Any) -> None:
    """Do to a store what a request would do to a graph store that can be written."""
    if exchange.method in ("PUT", "DELETE"):
        store.clear_graph(graph)
    kind = exchange.headers.get("content-type", "")
    bodies = [exchange.body or ""]
    if kind.startswith("multipart/"):
        boundary = kind.partition("boundary=")[2]
        parts = (exchange.body or "").split(f"--{boundary}")[1:-1]
        bodies = [re.split(r"\n\s*\n", part.replace("\r\n", "\n"), maxsplit=1)[1] for part in parts]
    for body in bodies if exchange.method != "DELETE" else []:
        store.load(body.encode(), format=ox.RdfFormat.TURTLE, to_graph=graph)


@pytest.mark.parametrize(("name", "steps"), cases(), ids=[name for name, _ in cases()])
def test_a_graph_store_is_read_as_the_standard_says(name: str, steps: list[Exchange]) -> None:
    store = ox.Store()
    for step in steps:
        path = step.path.replace("$LOCATION$", CREATED)
        path = f"/graph-store{path[4:]}" if path[4:5] in ("", "?") else f"/graph{path[4:]}"
        with Server(list(store), public_url=PUBLIC) as server:
            if step.method not in ("GET", "HEAD"):
                answer = server.http.request(step.method, path, headers=step.headers, content=step.body)
                assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
                is_new = step.path == "/gsp"
                write(store, step, ox.NamedNode(CREATED) if is_new else graph_of(path))
                continue
            answer = server.http.request(step.method, path, headers=step.headers)
            assert answer.status_code in {STATUSES[status] for status in step.statuses}, answer.text
            if step.sent_type is not None:
                assert answer.headers["content-type"] == step.sent_type
            if step.method == "HEAD":
                assert answer.content == b""
            elif step.sent is not None:
                found = {quad.triple for quad in ox.parse(answer.content, format=ox.RdfFormat.TURTLE)}
                expected = {quad.triple for quad in ox.parse(step.sent, format=ox.RdfFormat.TURTLE)}
                assert same_graph(expected, found), name


@pytest.fixture(scope="module")
def described() -> Iterator[tuple[Server, set[ox.Triple]]]:
    with Server([]) as server:
        answer = server.http.get("/sparql", headers={"Accept": "application/n-triples"})
        yield server, {quad.triple for quad in ox.parse(answer.content, format=ox.RdfFormat.N_TRIPLES)}


def test_the_endpoint_returns_rdf(described: tuple[Server, set[ox.Triple]]) -> None:
    assert described[1]


def test_the_endpoint_says_its_own_address(described: tuple[Server, set[ox.Triple]]) -> None:
    server, triples = described
    endpoints = [triple.object for triple in triples if triple.predicate.value == f"{SD}endpoint"]
    assert endpoints == [ox.NamedNode(f"{server.address}/sparql")]


def test_the_description_uses_the_vocabulary_as_it_is_meant(described: tuple[Server, set[ox.Triple]]) -> None:
    _, triples = described
    classes: dict[Any, str] = {}
    for triple in triples:
        if triple.predicate.value == f"{RDF}type":
            classes[triple.subject] = str(getattr(triple.object, "value", ""))
    domains = {
        **dict.fromkeys(("endpoint", "feature", "supportedLanguage", "resultFormat", "defaultDataset"), "Service"),
        **dict.fromkeys(("defaultEntailmentRegime",), "Service"),
        "defaultGraph": "Dataset",
    }
    used = {triple.predicate.value.removeprefix(SD) for triple in triples if triple.predicate.value.startswith(SD)}
    assert used <= domains.keys()
    for triple in triples:
        if (name := triple.predicate.value.removeprefix(SD)) in domains:
            assert classes[triple.subject] == SD + domains[name]
            assert not isinstance(triple.object, ox.Literal)
    ranges = {"defaultDataset": "Dataset", "defaultGraph": "Graph"}
    for triple in triples:
        if (name := triple.predicate.value.removeprefix(SD)) in ranges:
            assert classes[triple.object] == SD + ranges[name]
    assert (
        ox.Triple(
            next(s for s, c in classes.items() if c == f"{SD}Service"),
            ox.NamedNode(f"{SD}feature"),
            ox.NamedNode(f"{SD}UnionDefaultGraph"),
        )
        not in triples
    )
