"""A remote store: another server's endpoint over real sockets, and endpoints that misbehave."""

from __future__ import annotations

import shutil
import socket
import socketserver
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pyoxigraph as ox
import pytest

from evkg.errors import UsageError
from evkg.limits import Limits
from evkg.remote import with_prefixes
from evkg.server import make_app
from evkg.service import make_service
from evkg.sparql import read_query
from tests.client import Client
from tests.test_serving import is_open, server, until

#: Long on four triples too.
ENDLESS = "SELECT (COUNT(*) AS ?n) { " + " . ".join(f"?s{i} ?p{i} ?o{i}" for i in range(16)) + " }"
PUBLIC = "https://example.org/evkg"
TABLE_TYPES = ("application/sparql-results+json", "application/sparql-results+xml", "text/csv")
AWKWARD = 'a "b", c\r\nd\te \u00e9 \U0001f9ec'


def fill(path: Path) -> None:
    store = ox.Store(str(path))
    graph, predicate = ox.NamedNode("urn:g"), ox.NamedNode("urn:p")
    for value in (ox.Literal("1.00"), ox.Literal(AWKWARD), ox.Literal("ja", language="de"), ox.Literal(5)):
        store.add(ox.Quad(ox.NamedNode("urn:s"), predicate, value, graph))
    store.flush()


@contextmanager
def oxigraph(path: Path) -> Iterator[str]:
    """The address of `oxigraph serve-read-only`, another implementation of the protocol."""
    program = shutil.which("oxigraph")
    if program is None:
        pytest.skip("oxigraph (the server, on PyPI under this name) is not installed")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [program, "serve-read-only", "--location", str(path), "--bind", f"127.0.0.1:{port}", "--timeout-s", "3"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: is_open(port))
            yield f"http://127.0.0.1:{port}/query"
        finally:
            process.kill()


@pytest.fixture(scope="module", params=["evkg", "oxigraph"])
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("remote") / "store"
    fill(path)
    if request.param == "oxigraph":
        with oxigraph(path) as url:
            yield url
    else:
        with server("--store", str(path), "--time-limit", "3") as served:
            yield f"{served.address}/sparql"


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[Client]:
    client = Client(make_app(address, public_url=PUBLIC))
    yield client
    client.close()


@pytest.mark.parametrize("media_type", TABLE_TYPES)
def test_every_row_comes_through_in_every_format(client: Client, media_type: str) -> None:
    answer = client.query("SELECT ?o { ?s ?p ?o } ORDER BY STR(?o)", media_type)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, media_type)
    if media_type == "text/csv":
        assert answer.text.startswith("o\r\n1.00\r\n5\r\n")
        assert '"a ""b"", c\r\nd\te \u00e9 \U0001f9ec"' in answer.text
    else:
        kind = ox.QueryResultsFormat.JSON if "json" in media_type else ox.QueryResultsFormat.XML
        rows = ox.parse_query_results(answer.content, format=kind)
        assert isinstance(rows, ox.QuerySolutions)
        values = [row["o"] for row in rows]
        assert ox.Literal("ja", language="de") in values
        assert (ox.Literal(AWKWARD) in values) or "xml" in media_type  # XML reads \r\n as \n


def test_truth_values_graphs_and_data_sets_come_through(client: Client) -> None:
    assert client.query("ASK { ?s ?p 5 }", "text/csv").text == "true"
    assert client.query("ASK { ?s ?p 6 }").json()["boolean"] is False
    graph = client.query("CONSTRUCT WHERE { ?s ?p ?o }", "application/n-triples")
    assert (graph.text.count("\n"), '"1.00"' in graph.text) == (4, True)
    count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    assert client.count(count) == 4
    assert client.count(count, ("default-graph-uri", "urn:none")) == 0
    assert client.count(count, ("default-graph-uri", "urn:g")) == 4
    assert client.count("SELECT (COUNT(*) AS ?n) FROM <urn:g> { ?s ?p ?o }") == 4


def test_prefixes_need_no_declaration_and_errors_keep_their_words(client: Client) -> None:
    assert client.query("ASK { FILTER(STR(evkg:x) = 'https://w3id.org/evkg/ontology#x') }").json()["boolean"] is True
    wrong = client.query("SELECT * { ?s ?p")
    assert (wrong.status_code, "remote store refuses" in wrong.json()["detail"]) == (400, True)
    assert client.query("SELECT * { ?s xx:p ?o }").json()["prefix"] == "xx"


def test_the_service_describes_what_is_there(client: Client) -> None:
    assert "void:triples 4" in client("/.well-known/void", "text/turtle").text
    assert client("/graph-store?graph=urn:g", "application/n-triples").text.count("\n") == 4
    assert client("/graph-store?graph=urn:none").status_code == 404
    assert client("/health").status_code == 200
    assert "etag" not in client.query("ASK {}").headers


def test_what_is_refused_is_refused_before_it_goes_anywhere(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        for text in (f"SELECT * {{ SERVICE <http://127.0.0.1:{port}/> {{ ?s ?p ?o }} }}", "CLEAR ALL"):
            answer = client.query(text)
            assert (answer.status_code, "refused" in answer.json()["detail"]) == (400, True)
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_the_time_is_limited_on_this_side_too(address: str) -> None:
    client = Client(make_app(address, public_url=PUBLIC, limits=Limits(seconds=0.5)))
    begun = time.monotonic()
    answer = client.query(ENDLESS)
    client.close()
    assert (answer.status_code, answer.headers["x-evkg-limit"]) == (503, "time")
    assert time.monotonic() - begun < 3


@contextmanager
def fake(response: bytes) -> Iterator[str]:
    """The address of a server that says one thing to everybody, and closes."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            length = 0
            while (line := self.rfile.readline().strip()) != b"":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            self.rfile.read(length)
            self.wfile.write(response)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as fake_server:
        thread = threading.Thread(target=fake_server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{fake_server.server_address[1]}/"
        finally:
            fake_server.shutdown()
            thread.join()


JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\n\r\n"


@pytest.mark.parametrize(
    ("response", "status", "words"),
    [
        (b"HTTP/1.1 500 No\r\nContent-Type: text/plain\r\n\r\nout of order", 502, "status 500: out of order"),
        (b"HTTP/1.1 401 No\r\n\r\n", 502, "status 401"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", 502, "status 302"),
        (b"HTTP/1.1 504 No\r\n\r\nslow", 503, "ran into a limit"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>", 502, "text/html"),
        (JSON + b"<html>", 502, "does not answer as it should"),
        (JSON + b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":"urn:a"}},', 502, "as it"),
        (b"nonsense", 502, "does not answer as it should"),
        (b"", 502, "does not answer as it should"),
    ],
)
def test_what_a_remote_store_does_wrong_is_told(response: bytes, status: int, words: str) -> None:
    with fake(response) as url:
        client = Client(make_app(url, public_url=PUBLIC))
        answer = client.query("SELECT ?x { ?x ?p ?o }")
        client.close()
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert words in answer.json()["detail"]


def test_an_answer_that_breaks_off_there_is_cut_here() -> None:
    row = b'{"x":{"type":"literal","value":"' + b"y" * 1000 + b'"}},'
    with (
        fake(JSON + b'{"head":{"vars":["x"]},"results":{"bindings":[' + row * 2000) as url,
        server("--store", url) as s,
    ):
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.get(f"{s.address}/sparql", params={"query": "SELECT ?x {}"}, headers={"Accept": "text/csv"})
        assert s.metric("evkg_answers_cut_total") == 1


def test_nobody_there_is_told_and_the_server_is_not_ready() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    client = Client(make_app(f"http://127.0.0.1:{port}/", public_url=PUBLIC))
    assert client.query("ASK {}").status_code == 502
    assert client("/health").status_code == 503
    client.close()


def test_prefixes_are_added_only_where_they_are_used_and_lacking() -> None:
    text = "PREFIX evkg: <urn:x> ASK { ?s evkg:a rdfs:label }"
    assert with_prefixes(read_query(text)) == f"PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> {text}"
    assert with_prefixes(read_query("ASK {}")) == "ASK {}"


def test_an_address_must_be_one() -> None:
    with pytest.raises(UsageError, match="is no address"):
        make_service("http://a b/", public_url=PUBLIC)
