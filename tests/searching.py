"""Searches of a served release, for tests that need its index."""

from __future__ import annotations

import re
import time
from html import unescape
from typing import Any

import pytest

from evkg.search_index import SearchIndex
from tests.client import Client


def ready(client: Client) -> SearchIndex:
    """The index of what a client is connected to, once it is made."""
    for _ in range(600):
        index = client.app.state.search.ready
        if index is not None:
            assert isinstance(index, SearchIndex)
            return index
        assert client.app.state.search.trouble is None, client.app.state.search.trouble
        time.sleep(0.05)
    raise AssertionError("the index was not made")


def searched(client: Client, path: str = "/search", **parameters: Any) -> dict[str, Any]:
    """The answer to a search as JSON."""
    response = client(f"{path}.json", params=parameters)
    assert response.status_code == 200, response.text
    document: dict[str, Any] = response.json()
    return document


def ids(client: Client, **parameters: Any) -> list[str]:
    """The ids of all that a search finds, in their order, over all pages."""
    found: list[str] = []
    page = 1
    while True:
        document = searched(client, page=page, **parameters)
        found += [hit["id"] for hit in document["hits"]]
        if document["next"] is None:
            assert len(found) == document["total"]
            return found
        page += 1


def check_html(text: str) -> None:
    """Assert that a page is valid: no parse error, no id twice, no link to a place of the page that is not there."""
    html5lib = pytest.importorskip("html5lib", reason="the validating parser of HTML is not installed")
    html5lib.HTMLParser(strict=True).parse(text)
    ids = re.findall(r'\sid="([^"]+)"', text)
    assert len(set(ids)) == len(ids)
    assert {unescape(place) for place in re.findall(r'href="#([^"]+)"', text)} <= set(map(unescape, ids))
