"""Below a path of a proxy every address of every page leads on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from evkg.release import open as open_release
from tests.client import Client, served

_ADDRESS = re.compile(r'(?:href|src|srcset|action|data-terms|data-query)="(/[^"#]*)')
_PAGES = ("/", "/compare", "/questions", "/sparql", "/validation", "/ontology", "/vocab", "/shapes", "/docs", "/none")


@pytest.fixture(scope="module")
def below(workspace: Path) -> Iterator[Client]:
    yield from served(open_release(workspace / "build/current"), "https://example.org/of/kg")


@pytest.fixture(scope="module")
def at_root(workspace: Path) -> Iterator[Client]:
    yield from served(open_release(workspace / "build/current"), "https://example.org")


@pytest.mark.parametrize("page", _PAGES)
def test_every_address_of_a_page_stands_below_the_prefix_and_answers(below: Client, page: str) -> None:
    text = below(page, "text/html").text
    addresses = {address.replace("&amp;", "&").partition(" ")[0] for address in _ADDRESS.findall(text)}
    assert len(addresses) > 5
    assert [address for address in addresses if not address.startswith("/of/kg/")] == []
    for address in sorted(addresses)[:40]:
        is_made_later = address.startswith(("/of/kg/search", "/of/kg/results", "/of/kg/feed", "/of/kg/static"))
        assert below(address, "*/*").status_code in ((200, 304, 307, 404, 503) if is_made_later else (200, 307))


def test_a_record_page_and_its_pictures_stand_below_the_prefix(below: Client, at_root: Client) -> None:
    pages = [client("/id/gena-lm", "text/html").text for client in (below, at_root)]
    assert len(_ADDRESS.findall(pages[0])) > 20
    assert {address.startswith("/of/kg/") for address in _ADDRESS.findall(pages[0])} == {True}
    assert not any(address.startswith("/of/") for address in _ADDRESS.findall(pages[1]))
    assert pages[0].replace("/of/kg/", "/") == pages[1]


def test_a_redirect_leads_below_the_prefix(below: Client, at_root: Client) -> None:
    assert below("/about").headers["location"] == "/of/kg/docs/README"
    assert at_root("/about").headers["location"] == "/docs/README"
