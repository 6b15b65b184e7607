from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest

from evkg.namespaces import VOID
from evkg.negotiate import GRAPHS, Variant
from evkg.release import Release
from evkg.release import open as open_release
from evkg.serialization import SENT_GRAPH_FORMATS
from tests.client import Client, served
from tests.conftest import BASE

PUBLIC = "https://example.org/evkg"


@pytest.fixture(scope="module")
def release(workspace: Path) -> Release:
    return open_release(workspace / "build/current")


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    yield from served(release, PUBLIC)


@pytest.fixture(scope="module")
def description(client: Client) -> ox.Store:
    store = ox.Store()
    store.load(client("/.well-known/void", "text/turtle").content, format=ox.RdfFormat.TURTLE)
    return store


def ask(store: ox.Store, text: str) -> list[list[str]]:
    prefixes = {"void": VOID, "dcterms": "http://purl.org/dc/terms/", "foaf": "http://xmlns.com/foaf/0.1/"}
    result = store.query(text, prefixes=prefixes)
    assert isinstance(result, ox.QuerySolutions)
    return [[term.value for term in row] for row in result]


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("triples", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"),
        ("distinctSubjects", "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }"),
        ("distinctObjects", "SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o }"),
        ("classes", "SELECT (COUNT(DISTINCT ?c) AS ?n) { ?s a ?c }"),
        ("properties", "SELECT (COUNT(DISTINCT ?p) AS ?n) { ?s ?p ?o }"),
    ],
)
def test_every_count_is_what_a_query_counts(client: Client, description: ox.Store, name: str, query: str) -> None:
    assert ask(description, f"SELECT ?n {{ ?dataset a void:Dataset ; void:{name} ?n }}") == [[str(client.count(query))]]


def test_every_class_and_property_is_counted(client: Client, description: ox.Store) -> None:
    classes = ask(description, "SELECT ?c ?n { ?d void:classPartition [ void:class ?c ; void:entities ?n ] }")
    properties = ask(description, "SELECT ?p ?n { ?d void:propertyPartition [ void:property ?p ; void:triples ?n ] }")
    assert len(classes) > 10
    assert len(properties) > 30
    for iri, count in classes:
        assert client.count(f"SELECT (COUNT(DISTINCT ?s) AS ?n) {{ ?s a <{iri}> }}") == int(count)
    for iri, count in properties:
        assert client.count(f"SELECT (COUNT(*) AS ?n) {{ ?s <{iri}> ?o }}") == int(count)


def test_it_says_what_the_release_says_of_itself(client: Client, release: Release, description: ox.Store) -> None:
    dataset = f"{BASE}releases/{release.id}"
    assert ask(description, "SELECT ?d { ?document foaf:primaryTopic ?d }") == [[dataset]]
    triples = f"SELECT ?n {{ <{dataset}> void:triples ?n }}"
    assert client.query(triples, "text/csv").text.split()[1:] == [ask(description, triples)[0][0]]
    assert ask(description, "SELECT ?t { ?d dcterms:title ?t }") == [[release.manifest["dataset"]["title"]]]
    assert ask(description, "SELECT ?e { ?d void:sparqlEndpoint ?e }") == [[f"{PUBLIC}/sparql"]]
    (example,) = ask(description, "SELECT ?e { ?d void:exampleResource ?e }")
    assert client(example[0].removeprefix(BASE[:-1])).status_code == 200


@pytest.mark.parametrize("url", ["/.well-known/void", "/"])
@pytest.mark.parametrize("variant", GRAPHS, ids=[variant.media_type for variant in GRAPHS])
def test_it_comes_in_every_format(client: Client, description: ox.Store, variant: Variant, url: str) -> None:
    answer = client(url, variant.media_type)
    assert (answer.status_code, answer.headers["content-type"]) == (200, variant.content_type)
    dataset = ox.Dataset(ox.parse(answer.content, format=SENT_GRAPH_FORMATS[variant.format_name]))
    expected = ox.Dataset(description)
    for graph in (dataset, expected):
        graph.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    assert dataset == expected


def test_people_get_the_first_page_and_what_nobody_has_is_refused(client: Client) -> None:
    for accept in ("text/html,*/*;q=0.8", None, "*/*"):
        assert client("/", accept).headers["content-type"] == "text/html; charset=utf-8"
    assert client("/.well-known/void", "text/html,*/*;q=0.8").headers["content-type"] == "text/turtle; charset=utf-8"
    assert (client("/", "image/png").status_code, client("/.well-known/void", "text/html").status_code) == (406, 406)
