from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest
import rdflib

from evkg.cli import main
from evkg.errors import ReleaseError, UsageError
from evkg.limits import Limits
from evkg.namespaces import PREFIXES
from evkg.negotiate import GRAPHS, Variant
from evkg.release import open as open_release
from evkg.serialization import SENT_GRAPH_FORMATS
from evkg.server import make_app
from evkg.service import make_service, named_graphs, render_service
from tests.client import Client

PUBLIC = "https://example.org/evkg"
SD = "http://www.w3.org/ns/sparql-service-description#"
COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bare store: two triples in its default graph, one in each of two named graphs."""
    path = tmp_path_factory.mktemp("service") / "store"
    store = ox.Store(str(path))
    subject, predicate = ox.NamedNode("urn:s"), ox.NamedNode("urn:p")
    for number in (0, 1):
        store.add(ox.Quad(subject, predicate, ox.Literal(number)))
    for iri in ("urn:g", "urn:h"):
        store.add(ox.Quad(subject, predicate, ox.Literal(iri), ox.NamedNode(iri)))
    store.flush()
    return path


@pytest.fixture
def plain(folder: Path) -> Iterator[Client]:
    client = Client(make_app(folder, public_url=PUBLIC, default_graph="plain"))
    yield client
    client.close()


@pytest.fixture
def union(folder: Path) -> Iterator[Client]:
    client = Client(make_app(folder, public_url=PUBLIC))
    yield client
    client.close()


def features(client: Client) -> set[str]:
    body = client("/sparql", "application/n-triples").content
    quads = ox.parse(body, format=ox.RdfFormat.N_TRIPLES)
    return {quad.object.value for quad in quads if quad.predicate.value == f"{SD}feature"}


def test_a_plain_default_graph_is_that_of_the_store(plain: Client) -> None:
    assert plain.count(COUNT) == 2
    assert plain.count("SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }") == 2
    assert plain.count(COUNT.replace("{", "FROM <urn:g> {")) == 1
    assert plain.count(COUNT, ("default-graph-uri", "urn:g"), ("default-graph-uri", "urn:h")) == 2
    assert plain.count(COUNT, ("named-graph-uri", "urn:g")) == 0
    assert features(plain) == set()
    assert len(plain("/graph-store?default", "application/n-triples").text.splitlines()) == 2


def test_the_default_graph_can_be_the_union(union: Client) -> None:
    assert union.count(COUNT) == 4
    assert features(union) == {f"{SD}UnionDefaultGraph"}


def test_a_bare_store_has_no_records_but_describes_itself(plain: Client) -> None:
    assert plain("/health").json() == {"status": "ok"}
    assert plain("/id/anything").status_code == 404
    for url in ("/", "/.well-known/void"):
        answer = plain(url, "text/turtle")
        assert (answer.status_code, "void:triples 2" in answer.text) == (200, True)
    assert "etag" not in plain.query("ASK {}").headers
    assert plain("/graph-store?graph=urn:g", "application/n-triples").text.startswith("<urn:s> <urn:p> ")


def test_a_graph_whose_iri_is_an_address_here_is_found_there(tmp_path: Path) -> None:
    store = ox.Store(str(tmp_path / "store"))
    for name in ("a/b.ttl", "%31", "1"):
        iri = ox.NamedNode(f"{PUBLIC}/graph/{name}")
        store.add(ox.Quad(iri, ox.NamedNode("urn:p"), ox.Literal(name), iri))
    store.flush()
    del store
    client = Client(make_app(tmp_path / "store", public_url=PUBLIC))
    for name in ("a/b.ttl", "%31", "1"):
        assert client(f"/graph/{name}", "application/n-triples").text == (
            f'<{PUBLIC}/graph/{name}> <urn:p> "{name}" .\n'
        )
    client.close()


def test_the_description_says_what_holds(workspace: Path) -> None:
    release = open_release(workspace / "build/current")
    service = make_service(release, public_url=f"{PUBLIC}/", limits=Limits(seconds=7))
    text = render_service(service)
    triples = {quad.triple for quad in ox.parse(text, format=ox.RdfFormat.TURTLE)}
    found = {(triple.predicate.value.removeprefix(SD), getattr(triple.object, "value", "")) for triple in triples}
    assert ("endpoint", f"{PUBLIC}/sparql") in found
    assert ("feature", f"{SD}UnionDefaultGraph") in found
    assert ("defaultEntailmentRegime", "http://www.w3.org/ns/entailment/Simple") in found
    assert {value for name, value in found if name == "supportedLanguage"} == {f"{SD}SPARQL11Query"}
    assert len([name for name, _ in found if name == "resultFormat"]) == 11
    comments = " ".join(value for name, value in found if name.endswith("#comment"))
    for words in ("7 seconds", "2 GiB", "1 GiB", "10000000 rows", "union of all graphs", "read-only", *PREFIXES):
        assert words in comments


def test_named_graphs_are_listed_as_they_are(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = open_release(workspace / "build/current")
    client = Client(make_app(release, public_url=PUBLIC))
    rows = client.query("SELECT DISTINCT ?g { GRAPH ?g {} }", "text/csv").text.split()[1:]
    assert len(rows) > 50

    def listed() -> set[str]:
        quads = ox.parse(client("/sparql", "text/turtle").content, format=ox.RdfFormat.TURTLE)
        return {quad.object.value for quad in quads if quad.predicate.value == f"{SD}name"}

    assert listed() == {*rows}
    monkeypatch.setattr("evkg.service.MOST_LISTED", 50)
    named_graphs.cache_clear()
    assert listed() == {row for row in rows if "/record/" not in row} != set()
    named_graphs.cache_clear()
    client.close()


@pytest.mark.parametrize("variant", GRAPHS, ids=[variant.media_type for variant in GRAPHS])
@pytest.mark.parametrize("public", ["https://example.org", "https://example.org/a/b"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # rdflib 7.6 warns of itself when a Dataset parses
def test_other_readers_read_the_description_in_every_format(folder: Path, variant: Variant, public: str) -> None:
    client = Client(make_app(folder, public_url=public))
    body = client("/sparql", variant.media_type).content
    client.close()
    names = {"nt": "nt", "jsonld": "json-ld", "rdfxml": "xml"}
    dataset = rdflib.Dataset(default_union=True)
    dataset.parse(data=body, format=names.get(variant.format_name, variant.format_name))
    assert [str(value) for value in dataset.objects(None, rdflib.URIRef(f"{SD}endpoint"))] == [f"{public}/sparql"]
    assert len(dataset) == len(list(ox.parse(body, format=SENT_GRAPH_FORMATS[variant.format_name]))) > 15


@pytest.mark.parametrize("url", ["example.org", "ftp://example.org", "https://example.org/> a <x", "https://a b"])
def test_a_public_address_must_be_one(folder: Path, url: str) -> None:
    with pytest.raises(UsageError, match="is no address"):
        make_service(folder, public_url=url)


def test_a_folder_without_a_store_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ReleaseError, match="holds no store"):
        make_service(tmp_path, public_url=PUBLIC)
    assert main(["serve", "--store", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"evkg: {tmp_path} holds no store.\n"
    assert main(["serve", "--default-graph", "plain"]) == 2
    assert "--default-graph goes with --store" in capsys.readouterr().err


def test_a_bare_store_is_served_from_the_command_line(folder: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "evkg.cli",
        "serve",
        "--store",
        str(folder),
        "--default-graph",
        "plain",
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        greeting = process.stderr.readline()
        assert greeting.startswith(f"evkg: the store in {folder} at http://127.0.0.1:")
        process.terminate()
        assert (process.stderr.read(), process.wait(20)) == ("", 0)
