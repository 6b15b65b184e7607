from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evkg.negotiate import GRAPHS, TABLES
from evkg.release import Release
from evkg.release import open as open_release
from evkg.server import make_app
from tests.client import Client, served

PUBLIC = "https://example.org/evkg"
QUERY = "SELECT ?v { ?r evkg:printedValue ?v } ORDER BY ?v"


@pytest.fixture(scope="module")
def release(workspace: Path) -> Release:
    return open_release(workspace / "build/current")


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    yield from served(release, PUBLIC)


def tag(client: Client, text: str, accept: str | None = None, *parameters: tuple[str, str]) -> str | None:
    found: str | None = client.query(text, accept, *parameters).headers.get("etag")
    return found


def test_a_client_that_has_the_answer_is_told_so(client: Client) -> None:
    first = client.query(QUERY)
    known = {"If-None-Match": f'"other", {first.headers["etag"]}'}
    again = client("/sparql", params={"query": QUERY}, headers=known)
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert (again.headers["etag"], again.headers["vary"]) == (first.headers["etag"], "Accept, Accept-Encoding")
    assert again.headers["access-control-allow-origin"] == "*"
    assert "content-type" not in again.headers
    assert client("/sparql", method="HEAD", params={"query": QUERY}, headers=known).status_code == 304


def test_a_known_answer_is_not_computed_again(client: Client) -> None:
    endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
    # The tag of an answer follows from the request, so it can be known here without the answer.
    parts = ("query", TABLES[0].media_type, GRAPHS[0].media_type, endless, "default", "named")
    known = client.app.state.service.cache_headers(*parts)["ETag"]
    assert client("/sparql", params={"query": endless}, headers={"If-None-Match": known}).status_code == 304


def test_another_question_format_data_set_or_release_has_another_tag(client: Client, release: Release) -> None:
    tags = [
        tag(client, QUERY),
        tag(client, f"{QUERY} "),
        tag(client, QUERY, "text/csv"),
        tag(client, QUERY, None, ("default-graph-uri", "urn:a")),
        tag(client, QUERY, None, ("named-graph-uri", "urn:a")),
        tag(client, QUERY, None, ("default-graph-uri", "urn:a"), ("default-graph-uri", "urn:b")),
    ]
    other = Release(release.folder)
    other.manifest["release_id"] = "2026-12-01-000000000000"
    second = Client(make_app(other, public_url=PUBLIC))
    tags.append(tag(second, QUERY))
    second.close()
    assert None not in tags
    assert len(set(tags)) == len(tags)


@pytest.mark.parametrize("term", ["NOW()", "rand()", "UUID()", "STRUUID()", "BNODE()", "N\\u004FW()"])
def test_an_answer_that_changes_has_no_tag(client: Client, term: str) -> None:
    assert tag(client, f"SELECT ({term} AS ?v) {{}}") is None


def test_an_error_has_no_tag_and_a_star_matches_no_query(client: Client) -> None:
    assert tag(client, "SELECT nonsense") is None
    answer = client("/sparql", params={"query": "SELECT nonsense"}, headers={"If-None-Match": "*"})
    assert answer.status_code == 400


def test_what_is_posted_is_always_answered(client: Client) -> None:
    known = {"If-None-Match": tag(client, QUERY) or ""}
    answer = client("/sparql", method="POST", data={"query": QUERY}, headers=known)
    assert (answer.status_code, "etag" in answer.headers) == (200, False)


@pytest.mark.parametrize("url", ["/sparql", "/.well-known/void", "/graph/derived", "/graph-store?default", "/"])
def test_descriptions_and_graphs_have_tags(client: Client, url: str) -> None:
    first = client(url, "text/turtle")
    assert first.status_code == 200
    again = client(url, "text/turtle", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = client(url, "application/n-triples", headers={"If-None-Match": first.headers["etag"]})
    assert (other.status_code, other.headers["etag"] != first.headers["etag"]) == (200, True)
