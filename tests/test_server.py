from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pyoxigraph as ox
import pytest
import rdflib
from rdflib.plugins.stores.sparqlstore import SPARQLStore
from SPARQLWrapper import CSV, JSON, JSONLD, N3, TSV, TURTLE, XML, SPARQLWrapper
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from evkg.build import build_release
from evkg.errors import UsageError
from evkg.limits import Limits
from evkg.namespaces import PREFIXES
from evkg.negotiate import GRAPHS, RECORDS, TABLES, Variant
from evkg.outbox import Outbox
from evkg.release import Release
from evkg.server import DRAFT_HEADER, make_app
from evkg.serving import _listen, serve
from evkg.worker import WorkersBusyError
from tests.client import Client
from tests.conftest import BASE, SEED

VARY = "Accept, Accept-Encoding"
PUBLIC = "https://example.org/evkg"
RESULT = "saadat-fellay-20261015-result-nt-2-5b-training-memory-checkpointing"
#: Values as their sources print them, by the record that holds them.
PRINTED = {
    RESULT: "33.88",
    "saadat-fellay-20261015-result-gena-lm-110m-pseudo-perplexity-agreement": "r = 1.00",
    "model-execution-20261011-result-aspidova2026-gena-base-batch-l256": "6637",
}
PRODUCT = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?c ?f ?i"
CONSTRUCT = f"CONSTRUCT WHERE {{ <{BASE}id/{RESULT}> ?p ?o }}"
FORM = "application/x-www-form-urlencoded"
DIRECT = "application/sparql-query"
RDF_FORMATS = {
    "turtle": ox.RdfFormat.TURTLE,
    "nt": ox.RdfFormat.N_TRIPLES,
    "jsonld": ox.RdfFormat.JSON_LD,
    "rdfxml": ox.RdfFormat.RDF_XML,
    "n3": ox.RdfFormat.N3,
    "trig": ox.RdfFormat.TRIG,
    "nquads": ox.RdfFormat.N_QUADS,
}
TABLE_FORMATS = {
    "json": ox.QueryResultsFormat.JSON,
    "xml": ox.QueryResultsFormat.XML,
    "tsv": ox.QueryResultsFormat.TSV,
}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    built = build_release(SEED, tmp_path_factory.mktemp("server"))
    assert built.release is not None
    return built.release


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    client = Client(make_app(release, public_url=PUBLIC))
    yield client
    client.close()


@pytest.fixture
def hurried(release: Release) -> Iterator[Client]:
    """A server that stops each query after one second."""
    client = Client(make_app(release, public_url=PUBLIC, limits=Limits(seconds=1)))
    yield client
    client.close()


def terms(body: bytes, format_name: str) -> list[list[Any]]:
    """The terms of a table, row by row."""
    table = ox.parse_query_results(body, format=TABLE_FORMATS[format_name])
    assert isinstance(table, ox.QuerySolutions)
    return [[row[variable] for variable in table.variables] for row in table]


def ids(variants: tuple[Variant, ...]) -> list[str]:
    return [variant.media_type for variant in variants]


# The protocol: how a query comes in.


def test_all_ways_of_sending_a_query_give_the_same_answer(client: Client) -> None:
    text = "SELECT ?v { ?r evkg:printedValue ?v } ORDER BY ?v"
    answers = [
        client.query(text),
        client("/sparql", method="POST", data={"query": text}),
        client("/sparql", method="POST", content=text, headers={"Content-Type": DIRECT}),
        client(
            "/sparql", method="POST", content=text, headers={"Content-Type": "Application/SPARQL-Query; charset=UTF-8"}
        ),
        client(
            "/sparql", method="POST", content=f"query={quote(text)}", headers={"Content-Type": f"{FORM}; charset=utf-8"}
        ),
    ]
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert len(answers[0].json()["results"]["bindings"]) > 5


def test_a_form_of_20_kilobytes_is_read(client: Client) -> None:
    values = " ".join(f"<https://example.org/{'x' * 30}/{n}>" for n in range(400))
    text = f"SELECT (COUNT(*) AS ?n) {{ VALUES ?v {{ {values} }} }}"
    assert len(text) > 20_000
    answer = client("/sparql", "text/csv", method="POST", data={"query": text})
    assert answer.text.split() == ["n", "400"]


def test_unknown_parameters_are_ignored(client: Client) -> None:
    assert client.query("ASK {}", None, ("format", "xml"), ("output", "xml"), ("results", "xml")).json()["boolean"]


@pytest.mark.parametrize(
    ("status", "request_"),
    [
        (400, {"url": "/sparql?query=ASK{}&query=ASK{}"}),
        (400, {"url": "/sparql?update=CLEAR ALL"}),
        (400, {"url": "/sparql?query="}),
        (400, {"url": "/sparql?query=%ff"}),
        (400, {"url": "/sparql?query=CLEAR ALL"}),
        (400, {"url": "/sparql?query=ASK{}&default-graph-uri=no iri"}),
        (400, {"url": "/sparql?" + "a=1&" * 1001}),
        (400, {"url": "/sparql", "method": "POST", "data": {"update": "CLEAR ALL"}}),
        (400, {"url": "/sparql", "method": "POST", "data": {"other": "1"}}),
        (
            400,
            {"url": "/sparql?query=ASK{}", "method": "POST", "content": "ASK {}", "headers": {"Content-Type": DIRECT}},
        ),
        (400, {"url": "/sparql", "method": "POST", "content": b"\xff", "headers": {"Content-Type": DIRECT}}),
        (
            415,
            {
                "url": "/sparql",
                "method": "POST",
                "content": "ASK {}",
                "headers": {"Content-Type": f"{DIRECT};charset=UTF-16"},
            },
        ),
        (
            415,
            {
                "url": "/sparql",
                "method": "POST",
                "content": "CLEAR ALL",
                "headers": {"Content-Type": "application/sparql-update"},
            },
        ),
        (415, {"url": "/sparql", "method": "POST", "content": "{}", "headers": {"Content-Type": "application/json"}}),
        (415, {"url": "/sparql", "method": "POST", "content": "ASK {}"}),
        (
            413,
            {
                "url": "/sparql",
                "method": "POST",
                "content": b"a" * (1 << 20) + b"b",
                "headers": {"Content-Type": DIRECT},
            },
        ),
        (405, {"url": "/sparql", "method": "DELETE"}),
        (405, {"url": "/health", "method": "POST"}),
        (404, {"url": "/nowhere"}),
        (404, {"url": "/id/nobody"}),
        (404, {"url": "/id/nobody.ttl"}),
        (404, {"url": f"/id/{RESULT}.pdf"}),
        (404, {"url": "/id/..%2f..%2fetc%2fpasswd"}),
        (406, {"url": "/sparql?query=ASK{}", "accept": "image/png"}),
        (406, {"url": f"/id/{RESULT}", "accept": "application/pdf"}),
    ],
)
def test_a_bad_request_gets_its_status_with_cors_and_no_trace(
    client: Client, status: int, request_: dict[str, Any]
) -> None:
    answer = client(**request_)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.json()["status"], bool(answer.json()["title"])) == (status, True)
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["vary"] == VARY
    assert "Traceback" not in answer.text


def test_a_wrong_method_is_told_the_right_ones(client: Client) -> None:
    assert client("/sparql", method="PUT").headers["allow"] == "GET, HEAD, POST, OPTIONS"
    assert client("/health", method="PUT").headers["allow"] == "GET, HEAD, OPTIONS"


def test_options_answers_a_browsers_preflight(client: Client) -> None:
    answer = client("/sparql", method="OPTIONS", headers={"Access-Control-Request-Method": "POST"})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (204, "*")
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert "Content-Type" in answer.headers["access-control-allow-headers"]


@pytest.mark.parametrize(
    "url",
    ["/", "/health", "/sparql", "/sparql?query=ASK{}", "/sparql?query=no", f"/id/{RESULT}.ttl", "/id/nobody", "/x"],
)
def test_head_is_get_without_the_body(client: Client, url: str) -> None:
    get, head = client(url), client(url, method="HEAD")
    assert (head.status_code, head.headers) == (get.status_code, get.headers)
    assert (bool(get.content), head.content) == (True, b"")


def test_a_bad_query_names_line_column_and_prefix(client: Client) -> None:
    answer = client.query("SELECT * {\n  ?s xx:p ?o }")
    problem = answer.json()
    assert (answer.status_code, problem["line"], problem["column"]) == (400, 2, 6)
    assert "xx:" in problem["detail"]
    assert (problem["token"], problem["prefix"], problem["known_prefixes"]) == ("xx:p", "xx", PREFIXES)
    problem = client.query('SELECT * {\n  ?s "\u00e9\U0001f9ec" ?o }').json()
    assert (problem["line"], problem["column"], problem["token"]) == (2, 11, "?o")  # characters, not bytes
    problem = client.query("SELECT * { ?s ?p").json()
    assert (problem["line"], "token" in problem, "at the end" in problem["detail"]) == (1, False, True)
    text = client.query("SELECT * {\n  ?s xx:p ?o }", "text/plain")
    assert (text.status_code, text.headers["content-type"]) == (400, "text/plain; charset=utf-8")
    assert "Line 2, column 6" in text.text


def test_an_error_of_our_own_tells_nothing_and_keeps_cors(release: Release, caplog: pytest.LogCaptureFixture) -> None:
    async def fail(_: Request) -> Response:
        raise ValueError("a secret")

    app = make_app(release, public_url=PUBLIC)
    app.router.routes.insert(0, Route("/fail", fail))
    client = Client(app)
    answer = client("/fail")
    client.close()
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (500, "*")
    assert "secret" not in answer.text
    assert "a secret" in caplog.text


# Answers: which format, and what is in it.


@pytest.mark.parametrize("accept", [None, "*/*", "text/html,*/*;q=0.1", "text/html;q=0.9,application/json"])
def test_a_query_is_never_answered_with_a_page(client: Client, accept: str | None) -> None:
    assert "json" in client.query("ASK {}", accept).headers["content-type"]


@pytest.mark.parametrize("text", ["SELECT * { ?s a ?c } LIMIT 2", "ASK {}"])
@pytest.mark.parametrize("variant", TABLES, ids=ids(TABLES))
def test_tables_come_as_every_type(client: Client, text: str, variant: Variant) -> None:
    answer = client.query(text, variant.media_type)
    assert (answer.status_code, answer.headers["content-type"]) == (200, variant.content_type)
    if text == "ASK {}" and variant.format_name in ("csv", "tsv"):
        assert answer.text == "true"
    elif variant.format_name != "csv":
        assert ox.parse_query_results(answer.content, format=TABLE_FORMATS[variant.format_name])


@pytest.mark.parametrize("text", [CONSTRUCT, f"DESCRIBE <{BASE}id/{RESULT}>"])
@pytest.mark.parametrize("variant", GRAPHS, ids=ids(GRAPHS))
def test_graphs_come_as_every_type(client: Client, text: str, variant: Variant) -> None:
    answer = client.query(text, f"application/sparql-results+json, {variant.media_type}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, variant.content_type)
    graph = set(ox.parse(answer.content, format=RDF_FORMATS[variant.format_name]))
    assert graph == set(ox.parse(client.query(text).content, format=ox.RdfFormat.TURTLE))
    assert graph


def test_what_cannot_be_had_is_refused_with_what_can(client: Client) -> None:
    assert "text/csv" in client.query("SELECT * {}", "text/turtle").json()["detail"]
    assert "text/turtle" in client.query(CONSTRUCT, "text/csv").json()["detail"]
    assert "application/ld+json" in client(f"/id/{RESULT}", "image/png").json()["detail"]
    assert client.query("ASK {}", "text/turtle").json()["available"] == ids(TABLES)
    assert client("/sparql", "text/csv").json()["available"] == ids(GRAPHS)


@pytest.mark.parametrize(("record", "printed"), PRINTED.items(), ids=PRINTED.values())
def test_printed_values_come_out_of_sparql_exactly(client: Client, record: str, printed: str) -> None:
    text = f"SELECT ?v {{ <{BASE}id/{record}> evkg:printedValue ?v }}"
    for variant in TABLES:
        body = client.query(text, variant.media_type).content
        if variant.format_name == "csv":
            assert list(csv.reader(io.StringIO(body.decode(), newline=""))) == [["v"], [printed]]
        else:
            assert terms(body, variant.format_name) == [[ox.Literal(printed)]]


@pytest.mark.parametrize(("record", "printed"), PRINTED.items(), ids=PRINTED.values())
@pytest.mark.parametrize("suffix", [".jsonld", ".ttl", ".nt", ".trig", ".nq", ".json"])
def test_printed_values_come_out_of_records_exactly(client: Client, record: str, printed: str, suffix: str) -> None:
    assert f'"{printed}"' in client(f"/id/{record}{suffix}").text


def test_zero_false_and_nothing_are_the_same_in_all_formats(client: Client) -> None:
    text = "SELECT (0.0 AS ?a) (0 AS ?b) (false AS ?c) ('' AS ?d) ?e {}"
    tables = [terms(client.query(text, v.media_type).content, v.format_name) for v in TABLES if v.format_name != "csv"]
    assert all(table == tables[0] for table in tables)
    assert [term.value for term in tables[0][0][:4]] == ["0", "0", "false", ""]
    assert client.query(text, "text/csv").text == "a,b,c,d,e\r\n0,0,false,,\r\n"


def test_awkward_texts_survive_every_format(client: Client) -> None:
    value = 'a "b", c\r\nd\te\\f\ng <&> \u00e9 \U0001f9ec'
    escaped = (
        value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    )
    text = f'SELECT ?v {{ VALUES ?v {{ "{escaped}" "=1+1" }} }}'
    for variant in TABLES:
        body = client.query(text, variant.media_type).content
        if variant.format_name == "csv":
            assert list(csv.reader(io.StringIO(body.decode(), newline=""))) == [["v"], [value], ["=1+1"]]
        else:
            assert terms(body, variant.format_name) == [[ox.Literal(value)], [ox.Literal("=1+1")]]


def test_all_ways_of_naming_a_graph_agree(client: Client) -> None:
    graph, other = f"{BASE}record/{RESULT}", f"{BASE}graph/derived"
    everything = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    from_other = everything.replace("{", f"FROM <{other}> {{")
    named = "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }"
    size = client.count(f"SELECT (COUNT(*) AS ?n) {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}")
    assert size > 10
    assert client.count(everything.replace("{", f"FROM <{graph}> {{")) == size
    assert client.count(everything, ("default-graph-uri", graph)) == size
    assert client.count(named, ("named-graph-uri", graph)) == size
    assert client.count(named, ("default-graph-uri", graph)) == 0
    assert client.count(from_other, ("default-graph-uri", graph)) == size
    both = client.count(everything, ("default-graph-uri", graph), ("default-graph-uri", other))
    assert both == size + client.count(from_other)
    assert client.count(everything, ("default-graph-uri", "https://example.org/none")) == 0
    assert client.count(everything) == client.count(named) > both
    form = {"query": everything, "default-graph-uri": graph}
    assert client("/sparql", "text/csv", method="POST", data=form).text.split()[1] == str(size)


# Limits, and what no query may do.


def test_a_cross_product_is_stopped_while_the_server_stays_awake(hurried: Client) -> None:
    async def both() -> tuple[httpx.Response, httpx.Response, bool]:
        slow = asyncio.create_task(hurried.http.get("/sparql", params={"query": PRODUCT}))
        await asyncio.sleep(0)
        health = await hurried.http.get("/health")
        was_running = not slow.done()
        return await slow, health, was_running

    for _ in range(3):  # a machine that is busy with other things may need the second for a healthy answer
        slow, health, was_running = hurried.runner.run(both())
        if was_running:
            break
    assert (slow.status_code, slow.headers["access-control-allow-origin"]) == (503, "*")
    assert "1 s" in slow.json()["detail"]
    assert (health.status_code, was_running) == (200, True)


def test_the_query_of_a_client_that_went_away_is_killed(client: Client) -> None:
    messages = [{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": "/sparql", "raw_path": b"/sparql", "root_path": "", "headers": [],
        "query_string": f"query={quote(PRODUCT)}".encode(), "scheme": "http", "http_version": "1.1",
    }  # fmt: skip
    workers = client.app.state.workers
    before = set(workers.processes)

    async def main() -> None:
        await client.app(scope, receive, send)
        while len(set(workers.processes) - before) != 1 or len(workers.processes) != 3:
            await asyncio.sleep(0.005)

    client.runner.run(asyncio.wait_for(main(), 20))
    assert sent == []


SERVICE = "SERVICE <http://127.0.0.1:{port}/sparql> {{ ?s ?p ?o }}"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * {{ " + SERVICE + " }}",
        "SELECT * {{ service silent <http://127.0.0.1:{port}/> {{ ?s ?p ?o }} }}",
        "SELECT * {{ VALUES ?x {{ <http://127.0.0.1:{port}/> }} SERVICE ?x {{ ?s ?p ?o }} }}",
        "SELECT * {{ #\nSERVICE#\n<http://127.0.0.1:{port}/> {{ ?s ?p ?o }} }}",
        "SELECT * {{ \\u0053ERVICE <http://127.0.0.1:{port}/> {{ ?s ?p ?o }} }}",
        "SELECT * {{ S\\U00000045RVICE <http://127.0.0.1:{port}/> {{ ?s ?p ?o }} }}",
        "ASK {{ FILTER EXISTS {{ " + SERVICE + " }} }}",
        "CONSTRUCT {{ ?s ?p ?o }} {{ OPTIONAL {{ " + SERVICE + " }} }}",
        "SELECT * {{ {{ SELECT * {{ " + SERVICE + " }} }} }}",
        "PREFIX SERVICE: <http://127.0.0.1:{port}/> SELECT * {{ SERVICE SERVICE: {{ ?s ?p ?o }} }}",
        "DESCRIBE ?s {{ " + SERVICE + " }}",
        "LOAD <http://127.0.0.1:{port}/>",
        "SELECT * FROM <http://127.0.0.1:{port}/> {{ ?s ?p ?o }}",
        "SELECT * FROM NAMED <file:///etc/hostname> {{ GRAPH ?g {{ ?s ?p ?o }} }}",
    ],
)
def test_no_query_reaches_the_network(client: Client, text: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answer = client.query(text.format(port=listener.getsockname()[1]))
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
    if "FROM" in text:
        assert answer.json()["results"]["bindings"] == []
    else:
        assert (answer.status_code, "refused" in answer.json()["detail"]) == (400, True)


def test_answers_that_nobody_reads_are_bounded() -> None:
    outbox = Outbox(limit=300_000)
    body = b"x" * 200_000
    outbox.response(body, {})
    assert outbox.size == len(body)
    with pytest.raises(WorkersBusyError, match="read"):
        outbox.response(body, {})
    outbox.response(b"a short answer", {})
    assert outbox.size == len(body)


def test_a_client_that_takes_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evkg.outbox._PIECE_SECONDS", 0.01)
    outbox = Outbox()
    response = outbox.response(bytes(1 << 20), {"Content-Type": "text/csv"})

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    with pytest.raises(ClientDisconnect):
        asyncio.run(response({"type": "http"}, None, send))  # type: ignore[arg-type]
    assert outbox.size == 0


def test_a_release_that_is_gone_is_said_everywhere(release: Release, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(release.folder, tmp_path / release.id))
    client = Client(make_app(Release(folder), public_url=PUBLIC))
    assert client("/health").status_code == 200
    shutil.rmtree(folder)
    pages = ("/", "/validation", "/ontology", "/sitemap.xml", "/openapi.json", "/shapes", "/compare", "/evidence")
    for url in (*pages, f"/id/{RESULT}", "/sparql?query=ASK{}", "/health"):
        answer = client(url)
        assert (url, answer.status_code) == (url, 503)
        assert "cannot read its release" in answer.json()["detail"]
        assert str(tmp_path) not in answer.text
    client.close()


def test_what_xml_cannot_hold_is_not_acceptable(client: Client) -> None:
    answer = client.query(r"SELECT ('\u0001' AS ?x) {}", "application/sparql-results+xml")
    assert (answer.status_code, "Ask for JSON" in answer.json()["detail"]) == (406, True)
    answer = client.query("CONSTRUCT { <urn:a> <http://example.org/1> 2 } {}", "application/rdf+xml")
    assert (answer.status_code, "Ask for Turtle" in answer.json()["detail"]) == (406, True)


@pytest.mark.parametrize(
    "url",
    [
        f"/id/{'z' * 3000}",
        f"/sparql?query=ASK{{?s {'z' * 3000}:z ?o}}",
        f"/sparql?query=ASK{{?s {'z' * 3000} ?o}}",
        f"/sparql?query=ASK{{?s <http://{'z' * 3000}:z/> ?o}}",
        f"/sparql?query=ASK{{}}&default-graph-uri={'z' * 3000}",
    ],
)
def test_an_error_repeats_little_of_what_was_sent(client: Client, url: str) -> None:
    answer = client(url)
    assert answer.status_code in (400, 404)
    assert answer.text.count("z") <= 300


def test_an_address_that_is_another_record_s_is_not_claimed(release: Release) -> None:
    shadowed = Release(release.folder)
    index: Any = shadowed._index
    index[f"{RESULT}.ttl"] = index[RESULT]  # an id that ends like a suffix
    client = Client(make_app(shadowed, public_url=PUBLIC))
    assert client(f"/id/{RESULT}", "text/turtle").headers["content-location"] == f"/evkg/id/{RESULT}?form=ttl"
    assert client(f"/id/{RESULT}", "application/n-triples").headers["content-location"] == f"/evkg/id/{RESULT}.nt"
    client.close()


# The service, records and pages.


@pytest.mark.parametrize("variant", GRAPHS, ids=ids(GRAPHS))
def test_without_a_query_the_endpoint_describes_itself(client: Client, variant: Variant) -> None:
    answer = client("/sparql", variant.media_type)
    assert answer.headers["content-type"] == variant.content_type
    triples = list(ox.parse(answer.content, format=RDF_FORMATS[variant.format_name]))
    sd = "http://www.w3.org/ns/sparql-service-description#"
    values = {(quad.predicate.value, getattr(quad.object, "value", "")) for quad in triples}
    assert (f"{sd}endpoint", f"{PUBLIC}/sparql") in values
    assert (f"{sd}feature", f"{sd}UnionDefaultGraph") in values
    assert (f"{sd}feature", f"{sd}BasicFederatedQuery") not in values


@pytest.mark.parametrize("route", ["id", "record"])
@pytest.mark.parametrize("variant", RECORDS[1:], ids=ids(RECORDS[1:]))
def test_a_record_comes_by_accept_and_by_suffix(client: Client, variant: Variant, route: str) -> None:
    by_accept = client(f"/{route}/{RESULT}", variant.media_type)
    assert (by_accept.status_code, by_accept.headers["content-type"]) == (200, variant.content_type)
    location = by_accept.headers["content-location"]
    assert location.startswith(f"/evkg/{route}/{RESULT}.")
    back = f'</evkg/id/{RESULT}>; rel="describes"; type="text/html"'
    assert by_accept.headers["link"] == f'</evkg/record/{RESULT}>; rel="describedby", {back}'
    by_suffix = client(location.removeprefix("/evkg"), "text/html")
    assert (by_suffix.content, by_suffix.headers) == (by_accept.content, by_accept.headers)


def test_the_forms_of_a_record_say_the_same(client: Client, release: Release) -> None:
    quads = list(ox.parse("\n".join(release.quads(RESULT)), format=ox.RdfFormat.N_QUADS))
    expected = {ox.Triple(quad.subject, quad.predicate, quad.object) for quad in quads}
    forms = {".ttl": "turtle", ".nt": "nt", ".jsonld": "jsonld", ".rdf": "rdfxml", ".trig": "trig", ".nq": "nquads"}
    for suffix, format_name in forms.items():
        found = list(ox.parse(client(f"/id/{RESULT}{suffix}").content, format=RDF_FORMATS[format_name]))
        assert {ox.Triple(quad.subject, quad.predicate, quad.object) for quad in found} == expected
        assert len(found) == len(expected)
        graphs = {quad.graph_name for quad in found}
        names_it = suffix in (".trig", ".nq", ".jsonld")
        assert graphs == {ox.NamedNode(f"{BASE}record/{RESULT}") if names_it else ox.DefaultGraph()}
    assert client(f"/id/{RESULT}.json").text.rstrip("\n") == release.record_line(RESULT)


@pytest.mark.parametrize("suffix", [".ttl", ".nt", ".jsonld", ".rdf", ".trig", ".nq", ".json", ".html"])
def test_every_record_comes_in_every_form(client: Client, release: Release, suffix: str) -> None:
    for record_id in release.record_ids:
        answer = client(f"/id/{record_id}{suffix}")
        assert (answer.status_code, bool(answer.content)) == (200, True), record_id


@pytest.mark.parametrize("url", ["/", f"/id/{RESULT}", f"/record/{RESULT}", f"/id/{RESULT}.html"])
def test_people_get_a_page(client: Client, url: str) -> None:
    answer = client(url, "text/html,*/*;q=0.8")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_form_that_the_client_has_is_not_sent_again(client: Client) -> None:
    tags = {client(f"/id/{RESULT}{suffix}").headers["etag"] for suffix in (".ttl", ".nt", ".json", ".jsonld")}
    assert len(tags) == 4
    for tag in tags:
        form = client(f"/id/{RESULT}.ttl", headers={"If-None-Match": f'"other", W/{tag.removeprefix("W/")}'})
        is_turtle = form.headers["etag"].removeprefix("W/") == tag.removeprefix("W/")
        assert (form.status_code, bool(form.content)) == ((304, False) if is_turtle else (200, True))
        assert (form.headers["vary"], form.headers["access-control-allow-origin"]) == (VARY, "*")


def test_an_unknown_id_names_the_nearest(client: Client) -> None:
    problem = client("/id/gena-ml").json()
    assert "gena-lm" in problem["nearest"]
    page = client("/id/gena-ml", "text/html")
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert '<a href="gena-lm">' in page.text


def test_an_unknown_id_cannot_write_into_the_page(client: Client) -> None:
    page = client("/id/<script>alert(1)<%2Fscript>", "text/html")
    assert page.status_code == 404
    assert "<script>" not in page.text


def test_health_names_the_release(client: Client, release: Release) -> None:
    answer = client("/health")
    assert answer.json() == {"status": "ok", "release": release.id, "conforms": True}
    assert DRAFT_HEADER not in answer.headers


def test_a_draft_says_so_on_every_response(release: Release) -> None:
    draft = Release(release.folder)
    draft.manifest["conforms"] = False
    client = Client(make_app(draft, public_url=PUBLIC))
    answers = [client(url) for url in ("/health", "/sparql?query=ASK{}", "/nowhere", f"/id/{RESULT}.ttl")]
    client.close()
    assert all(answer.headers[DRAFT_HEADER] == "true" for answer in answers)
    assert answers[0].json()["conforms"] is False


@pytest.mark.parametrize("url", ["example.org", "ftp://example.org", "https://example.org/> a <x", "https://a b"])
def test_a_public_address_must_be_one(release: Release, url: str) -> None:
    with pytest.raises(UsageError, match="is no address"):
        make_app(release, public_url=url)


# What public servers of this kind got wrong: each kind of fault once.


def test_every_value_that_comes_out_can_be_asked_for(client: Client) -> None:
    text = "SELECT DISTINCT ?o { ?s ?p ?o FILTER(isLiteral(?o) && DATATYPE(?o) != xsd:string) }"
    values = [row[0] for row in terms(client.query(text).content, "json")]
    assert len(values) > 5
    for value in values:
        assert client.query(f"ASK {{ ?s ?p {value} }}").json()["boolean"], value


def test_no_decimal_is_written_with_an_exponent(client: Client) -> None:
    text = "SELECT (1e-7 AS ?a) (0.0000001 AS ?b) (xsd:decimal(1e-7) AS ?c) (xsd:decimal(5e-2) AS ?d) {}"
    for term in terms(client.query(text).content, "json")[0][1:]:
        assert (term.datatype.value.rpartition("#")[2], "e" in term.value.lower()) == ("decimal", False)


def test_graphs_are_those_that_are_documented(client: Client) -> None:
    rows = terms(client.query("SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }").content, "json")
    names = {row[0].value.removeprefix(BASE) for row in rows if isinstance(row[0], ox.NamedNode)}
    assert len(names) == len(rows)  # no blank node names a graph
    assert {name.partition("/")[0] for name in names} == {"record", "graph"}
    assert client("/graph-store", params={"graph": f"{BASE}{min(names)}"}).status_code == 200


@pytest.mark.parametrize("variant", [GRAPHS[0], GRAPHS[4]], ids=ids((GRAPHS[0], GRAPHS[4])))
def test_no_prefix_is_made_up(client: Client, variant: Variant) -> None:
    for answer in (
        client(f"/id/{RESULT}", variant.media_type),
        client.query(CONSTRUCT, variant.media_type),
        client("/graph/derived", variant.media_type),
    ):
        assert "@prefix evkg:" in answer.text
        assert not re.search(r"\bns\d+:", answer.text)


@pytest.mark.parametrize("name", ["evkg", "rdf", "rdfs", "owl", "xsd", "skos", "dcterms", "dcat", "foaf", "prov"])
def test_documented_prefixes_need_no_declaration(client: Client, name: str) -> None:
    assert client.query(f"ASK {{ FILTER(STR({name}:x) = '{PREFIXES[name]}x') }}").json()["boolean"] is True


@pytest.mark.parametrize("status", [304, 400, 404, 405, 406, 413, 415])
def test_what_every_response_says_also_errors_say(client: Client, status: int) -> None:
    tag = client.query("ASK {}").headers["etag"]
    answer = {
        304: lambda: client("/sparql?query=ASK {}", headers={"If-None-Match": tag}),
        400: lambda: client.query("no"),
        404: lambda: client("/graph/none"),
        405: lambda: client("/sparql", method="DELETE"),
        406: lambda: client.query("ASK {}", "image/png"),
        413: lambda: client("/sparql", method="POST", content=bytes(2 << 20), headers={"Content-Type": DIRECT}),
        415: lambda: client("/sparql", method="POST", content="ASK {}"),
    }[status]()
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (status, "*")
    assert (answer.headers["vary"], answer.headers["x-content-type-options"]) == (VARY, "nosniff")


def test_long_answers_are_compressed_for_who_accepts_it(client: Client) -> None:
    text = "SELECT * { ?s ?p ?o } ORDER BY ?s ?p ?o"
    plain = client("/sparql", params={"query": text}, headers={"Accept-Encoding": "identity"})
    packed = client("/sparql", params={"query": text}, headers={"Accept-Encoding": "gzip"})
    assert ("content-encoding" in plain.headers, packed.headers["content-encoding"]) == (False, "gzip")
    assert plain.content == packed.content
    assert plain.headers["etag"] == packed.headers["etag"]


# A server as users start it.


@dataclass
class Served:
    process: subprocess.Popen[str]
    address: str

    def children(self) -> list[int]:
        """The processes that the server has made, and those that these have made."""
        found, new = [], [self.process.pid]
        while new:
            path = Path(f"/proc/{new[0]}/task/{new.pop(0)}/children")
            new += [int(word) for word in path.read_text(encoding="utf-8").split()]
            found += new
        return sorted(set(found))


@pytest.fixture
def served(release: Release) -> Iterator[Served]:
    command = [sys.executable, "-m", "evkg.cli", "serve", "--release", str(release.folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        greeting = process.stderr.readline()
        try:
            assert f"release {release.id} at " in greeting
            yield Served(process, greeting.split(" at ")[1].split("/ ")[0])
        finally:
            process.kill()


def test_sparqlwrapper_works_at_first_try(served: Served) -> None:
    wrapper = SPARQLWrapper(f"{served.address}/sparql")
    for method in ("GET", "POST"):
        wrapper.setMethod(method)
        wrapper.setQuery("SELECT ?v { ?r evkg:printedValue ?v FILTER(?v = '33.88') }")
        found: dict[str, Any] = {}
        for name in (JSON, XML, CSV, TSV):
            wrapper.setReturnFormat(name)
            answer = wrapper.query()
            found[name] = answer.convert()
            answer.response.close()
        assert found[JSON]["results"]["bindings"][0]["v"]["value"] == "33.88"
        assert found[XML].getElementsByTagName("literal")[0].firstChild.data == "33.88"
        assert (found[CSV], found[TSV]) == (b"v\r\n33.88\r\n", b'?v\n"33.88"\n')
        for text in (CONSTRUCT, f"DESCRIBE <{BASE}id/{RESULT}>"):
            wrapper.setQuery(text)
            for name in (TURTLE, N3, JSONLD, XML):
                wrapper.setReturnFormat(name)
                answer = wrapper.query()
                with warnings.catch_warnings():  # SPARQLWrapper 2.0 uses a class that rdflib 7 gives up
                    warnings.simplefilter("ignore", DeprecationWarning)
                    graph: Any = answer.convert()
                if isinstance(graph, bytes):
                    assert b'"33.88"' in graph
                else:
                    assert rdflib.Literal("33.88") in set(graph.objects())
                answer.response.close()
        wrapper.setQuery("ASK { ?r evkg:printedValue '33.88' }")
        wrapper.setReturnFormat(JSON)
        answer = wrapper.query()
        truth: Any = answer.convert()
        assert truth["boolean"] is True
        answer.response.close()


def test_rdflib_asks_it_as_a_store(served: Served) -> None:
    for method in ("GET", "POST", "POST_FORM"):
        store = SPARQLStore(f"{served.address}/sparql", method=method)
        graph = rdflib.Graph(store)
        text = "SELECT ?v { ?r <https://w3id.org/evkg/ontology#printedValue> ?v FILTER(?v = '33.88') }"
        assert [str(row[0]) for row in graph.query(text)] == ["33.88"]  # type: ignore[index]
        values = set(graph.objects(rdflib.URIRef(f"{BASE}id/{RESULT}"), rdflib.RDFS.label))
        assert len(values) == 1


def test_ctrl_c_ends_the_server_its_queries_and_its_workers(served: Served) -> None:
    workers = served.children()
    assert len(workers) == 1 + 3
    with socket.create_connection(("127.0.0.1", int(served.address.rpartition(":")[2])), 20) as connection:
        request = f"GET /sparql?query={quote(PRODUCT)} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        connection.sendall(request.encode())
        with httpx.Client() as http:
            assert http.get(f"{served.address}/health", timeout=20).json()["status"] == "ok"
        served.process.send_signal(signal.SIGINT)
        assert connection.recv(100).startswith(b"HTTP/1.1 503 ")
    assert served.process.wait(20) == 0
    assert served.process.stderr is not None
    assert served.process.stderr.read() == ""
    for process in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_responses_do_not_wait_for_acknowledgements() -> None:
    with _listen("127.0.0.1", 0) as listener:
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken_is_one_clear_error(release: Release) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"cannot listen at 127.0.0.1, port {port}: Address already in use. Try"):
            serve(release.folder, port=port)
    with pytest.raises(UsageError, match="no port 70000"):
        serve(release.folder, port=70_000)


def test_the_interface_describes_itself(client: Client) -> None:
    assert "/id/{name}" in json.dumps(client("/openapi.json").json())


def test_pandas_reads_an_answer_as_csv(served: Served) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    query = "SELECT ?printed ?unit { ?r evkg:printedValue ?printed OPTIONAL { ?r evkg:printedUnit ?unit } }"
    url = f"{served.address}/sparql?{urlencode({'query': query})}"
    table = pandas.read_csv(url, storage_options={"Accept": "text/csv"}, dtype=str)
    assert [*table.columns] == ["printed", "unit"]
    assert {"33.88", "5.6"} <= {*table["printed"]}
    assert {"33.88"} == {text for text in table["printed"] if float_of(text) == 33.88}


def float_of(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
