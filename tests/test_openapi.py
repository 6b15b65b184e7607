from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Match

from evkg.openapi import PATHS
from evkg.release import open as open_release
from evkg.server import make_app
from tests.client import Client

PUBLIC = "https://example.org/evkg"


@pytest.fixture(scope="module")
def client(workspace: Path) -> Iterator[Client]:
    client = Client(make_app(open_release(workspace / "build/current"), public_url=PUBLIC))
    yield client
    client.close()


@pytest.fixture(scope="module")
def document(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client("/openapi.json").json()
    return found


def test_bare_and_other_routes_are_in_one_document(document: dict[str, Any]) -> None:
    assert document["servers"] == [{"url": PUBLIC}]
    assert {"/sparql", "/graph-store", "/graph/{name}", "/.well-known/void", "/id/{name}", "/health"} <= set(
        document["paths"]
    )
    assert "Problem" in document["components"]["schemas"]


@pytest.mark.parametrize("path", PATHS)
def test_what_is_described_is_there_with_these_methods(client: Client, path: str) -> None:
    scope = {"type": "http", "path": path.replace("{name}", "derived"), "method": "GET"}
    routes = [route for route in client.app.router.routes if route.matches(scope)[0] is Match.FULL]
    assert {method.lower() for method in getattr(routes[0], "methods", ())} - {"head"} == set(PATHS[path])


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("/sparql", "/sparql?query=SELECT * {} LIMIT 1"),
        ("/sparql", "/sparql?query=DESCRIBE <urn:a>"),
        ("/sparql", "/sparql?query=no"),
        ("/sparql", "/sparql"),
        ("/graph-store", "/graph-store?default"),
        ("/graph-store", "/graph-store?graph=urn:none"),
        ("/graph-store", "/graph-store"),
        ("/graph/{name}", "/graph/derived"),
        ("/.well-known/void", "/.well-known/void"),
    ],
)
def test_answers_have_a_status_and_a_type_that_are_described(
    client: Client, document: dict[str, Any], path: str, url: str
) -> None:
    for accept in (None, "text/turtle", "text/csv", "image/png"):
        answer = client(url, accept)
        described = document["paths"][path]["get"]["responses"][str(answer.status_code)]["content"]
        assert answer.headers["content-type"].partition(";")[0] in described


def test_members_of_problems_are_described(client: Client, document: dict[str, Any]) -> None:
    known = document["components"]["schemas"]["Problem"]["properties"]
    for answer in (client.query("ASK { xx:a ?p ?o }"), client.query("ASK {}", "image/png"), client("/id/gena-ml")):
        assert answer.json().keys() <= known.keys()


def test_every_page_answers_as_it_is_described(client: Client, document: dict[str, Any]) -> None:
    """Every path, with what is there and with what is not; records, terms and files of any name."""
    names = {
        "name": ["gena-lm", "none", "evkg", "README", "metric/auroc"],
        "suffix": [".ttl", ".none"],
        "number": ["1"],
    }
    asked = 0
    for path, methods in document["paths"].items():
        if "get" not in methods or path in PATHS or path.startswith("/questions"):
            continue
        (key,) = re.findall(r"\{(\w+)", path) or [""]
        for value in names.get(key, [""]):
            url = re.sub(r"\{\w+\}", value, path)
            for accept in (None, "text/html", "text/turtle", "image/png", "application/json"):
                answer = client(url, accept, follow_redirects=True)
                if answer.status_code == 503 and "Retry-After" in answer.headers:
                    continue  # the index of the search is being made
                described = methods["get"]["responses"]
                assert str(answer.status_code) in described, (url, accept, answer.status_code)
                content = described[str(answer.status_code)].get("content", {})
                assert answer.headers["content-type"].partition(";")[0] in content, (url, accept, answer.status_code)
                asked += 1
    assert asked > 200
