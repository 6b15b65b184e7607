"""Records whose ids end like suffixes and whose texts hold control characters: links lead to them, pages stay whole."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest

from evkg.release import Release
from tests.builds import build_draft, record, write_records
from tests.client import Client, served
from tests.searching import ready

PUBLIC = "https://example.org/a/b"
IDS = ("uc", "uc.json", "uc.ttl", "uc.html", "uc.jsonld")
CONTROLS = "a\x01b\x0bc\x1bd\x85e\ufdd0f\U0001fffeg"
SHOWN = r"a\x01b\x0bc\x1bd\x85e\xfdd0f\x1fffeg"
#: Opens an embedding that runs from right to left, and never closes it.
TURNED = "Name \u202eturned"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    folder = tmp_path_factory.mktemp("odd")
    records = [record(name, "use_case", name=f"Case {name}") for name in IDS]
    records += [
        record("odd", "source", name=CONTROLS, description=CONTROLS, attributes={"retrieved_at": "2026-03-01"}),
        record("turned", "source", name=TURNED, attributes={"venue": TURNED, "version": "2"}),
    ]
    return build_draft(write_records(folder / "r.jsonl", *records), folder / "out")


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    for client in served(release, PUBLIC):
        ready(client)
        yield client


def links(client: Client) -> list[tuple[str, str]]:
    """(address, media type) of the forms of the record `uc` that its page and its Link header name."""
    page = client("/id/uc", "text/html")
    found = re.findall(r'<(/a/b/id/[^>]+)>; rel="(?:item|describedby)"; type="([^"]+)"', page.headers["link"])
    found += [(url, kind) for kind, url in re.findall(r'rel="alternate" type="([^"]+)" href="([^"]+)"', page.text)]
    data = page.text.partition('id="data"')[2].partition("</ul>")[0]
    return found + list(re.findall(r'<a href="([^"]+)">([a-z]+/[^<]+)</a>', data))


def test_every_link_to_a_form_leads_to_this_record(client: Client) -> None:
    found = links(client)
    assert len(found) == 21
    assert ("/a/b/id/uc?form=ttl", "text/turtle") in found
    assert ("/a/b/id/uc.nt", "application/n-triples") in found
    for url, media_type in found:
        answer = client(url, "*/*")
        assert answer.status_code == 200
        assert answer.headers["content-type"].partition(";")[0] == media_type
        assert answer.headers["content-location"] == url
        assert '"Case uc"' in answer.text or ">Case uc<" in answer.text


def test_the_location_of_a_chosen_form_is_its_own(client: Client) -> None:
    assert client("/record/uc", "text/turtle").headers["content-location"] == "/a/b/record/uc?form=ttl"
    assert client("/id/uc", "text/html").headers["content-location"] == "/a/b/id/uc?form=html"
    assert client("/id/uc.ttl", "text/turtle").headers["content-location"] == "/a/b/id/uc.ttl.ttl"


def test_the_picture_of_a_record_is_never_that_of_another(client: Client) -> None:
    assert 'src="/a/b/provenance.svg?id=uc.ttl"' in client("/id/uc.ttl?form=html").text
    picture = client("/provenance.svg?id=uc.ttl")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert "Case uc.ttl" in picture.text
    assert client("/id/uc/provenance.svg").status_code == 404


def test_with_a_form_the_name_is_an_id(client: Client) -> None:
    assert "<h1>Case uc.html</h1>" in client("/id/uc.html?form=html").text
    assert client("/id/uc.nt?form=ttl").status_code == 404


@pytest.mark.parametrize("query", ["form=pdf", "form=", "form=ttl&form=nt"])
def test_what_is_no_form_is_said(client: Client, query: str) -> None:
    answer = client(f"/id/uc?{query}")
    assert (answer.status_code, answer.json()["parameter"]) == (400, "form")


def test_the_description_names_the_forms(client: Client) -> None:
    for path in ("/id/{name}", "/record/{name}"):
        parameters = client("/openapi.json").json()["paths"][path]["get"]["parameters"]
        (form,) = [one for one in parameters if one["name"] == "form"]
        assert "ttl" in str(form["schema"])


@pytest.mark.parametrize("url", ["/id/odd", "/search?q=odd", "/results", "/"])
def test_a_page_holds_no_control_character(client: Client, url: str) -> None:
    page = client(url, "text/html")
    assert page.status_code == 200
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0\U0001fffe]", page.text)
    assert (SHOWN in page.text) == (url != "/results")


def test_feed_and_picture_are_well_formed(client: Client) -> None:
    feed = client("/feed.atom").text
    assert r"Retrieved: a\x01b\x0bc\x1bd" in "".join(ET.fromstring(feed).itertext())  # noqa: S314 - our own
    picture = client("/provenance.svg?id=odd")
    assert picture.status_code == 200
    assert "a\ufffdb" in "".join(ET.fromstring(picture.text).itertext())  # noqa: S314 - our own


def test_a_text_that_turns_the_line_stands_in_an_element_of_its_own(client: Client) -> None:
    lead = re.search(r'<p class="lead soft">(.*?)</p>', client("/id/turned", "text/html").text)
    assert lead is not None
    assert lead[1] == f"<bdi>{TURNED}</bdi> · <bdi>2</bdi>"
    style = client("/site.css").text
    rule = re.search(r"main :is\(([^)]*)\),\nmain :is\(([^)]*)\) \{ unicode-bidi: isolate; \}", style)
    assert rule is not None
    assert {"a", "bdi", "span", "strong", "code", "td", "h1"} <= set(f"{rule[1]}, {rule[2]}".split(", "))


def test_crawlers_are_told_the_paths_below_the_prefix(client: Client) -> None:
    lines = client("/robots.txt").text.splitlines()
    assert "Disallow: /a/b/search" in lines
    assert all(line.startswith("Disallow: /a/b/") for line in lines if line.startswith("Disallow"))


def test_the_prefix_without_a_slash_is_the_first_page(client: Client) -> None:
    pages = [client(path, "text/html") for path in ("/a/b", "/a/b/")]
    assert [page.status_code for page in pages] == [200, 200]
    assert pages[0].text == pages[1].text
    assert client("/a/bc", "text/html").status_code == 404


@pytest.mark.parametrize("number", ["x", "1e3", "٣", "-1", "01", "0", "9" * 5000])
def test_what_is_no_number_of_a_sitemap_is_not_there(client: Client, number: str) -> None:
    answer = client(f"/sitemap-{number}.xml")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
