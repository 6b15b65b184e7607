"""The feed and the files for crawlers: true dates, every page, valid XML."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from evkg.release import Release
from evkg.sitemap import Sitemap
from tests.builds import DOUBTED_SOURCE, SAADAT, SEED, build_draft, record, write_records
from tests.client import Client, served
from tests.searching import ready

PUBLIC = "https://example.org/evkg"
ATOM = "{http://www.w3.org/2005/Atom}"
MAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
PAPER = f"{SAADAT}source-paper"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(SEED, tmp_path_factory.mktemp("seed"))


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    for client in served(release, PUBLIC):
        ready(client)
        yield client


def entries(client: Client, url: str) -> list[tuple[str, str, str]]:
    """(title, date, text) of the entries of a feed, which must have all that Atom asks for."""
    response = client(url)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/atom+xml; charset=utf-8"
    feed = ET.fromstring(response.text)  # noqa: S314 - our own
    for name in ("id", "title", "updated", "author/" + ATOM + "name"):
        assert feed.findtext(ATOM + name), name
    found = feed.findall(f"{ATOM}entry")
    ids = [entry.findtext(f"{ATOM}id") for entry in found]
    assert len(set(ids)) == len(ids)
    assert all(entry.find(f"{ATOM}link") is not None for entry in found)
    return [tuple(entry.findtext(ATOM + name) or "" for name in ("title", "updated", "content")) for entry in found]  # type: ignore[misc]


def test_a_feed_has_what_records_say_was_done_newest_first(client: Client, release: Release) -> None:
    first, *rest = entries(client, "/feed.atom")
    assert first[:2] == (f"Release {release.id} was made", "2026-11-01T00:00:00Z")
    dates = [date for _, date, _ in rest]
    assert dates == sorted(dates, reverse=True)
    assert ("2026-10-15T10:56:26Z", "Retrieved") in {(date, title.partition(":")[0]) for title, date, _ in rest}
    assert [title.partition(":")[0] for title, _, _ in rest].count("Reviewed") == 4
    assert "They do not say when a record entered this release" in client("/feed.atom").text


def test_a_feed_of_a_source_has_what_cites_it(client: Client) -> None:
    mine = entries(client, f"/feed.atom?source={PAPER}")
    assert len(mine) == 6
    assert mine[0][0].startswith("Release ")
    other = entries(client, f"/feed.atom?source={DOUBTED_SOURCE}")
    assert {title for title, _, _ in other[1:]}.isdisjoint({title for title, _, _ in mine[1:]})


@pytest.mark.parametrize(
    ("url", "status", "says"),
    [
        ("/feed.atom?source=no-such-paper", 404, "No record has the id"),
        ("/feed.atom?source=gena-lm", 404, "gena-lm is no source"),
        ("/feed.atom?source=a&source=b", 400, "given twice"),
    ],
)
def test_what_has_no_feed_is_said(client: Client, url: str, status: int, says: str) -> None:
    response = client(url)
    assert response.status_code == status
    assert says in response.json()["detail"]


def test_days_stand_at_midnight_and_what_is_no_day_is_left_out(tmp_path: Path) -> None:
    records = [
        record("s1", "source", name="A & <b> \x1f", attributes={"retrieved_at": "2026-03-01"}),
        record("s2", "source", attributes={"retrieved_at": "spring 2026"}),
        record("s3", "source", attributes={"retrieved_at": "2026-03-01T23:30:00-05:00"}),
    ]
    for client in served(build_draft(write_records(tmp_path / "r.jsonl", *records), tmp_path / "out"), PUBLIC):
        ready(client)
        found = entries(client, "/feed.atom")[1:]
    assert [(title, date) for title, date, _ in found] == [
        ("Retrieved: s3", "2026-03-02T04:30:00Z"),
        ("Retrieved: A & <b> \\x1f", "2026-03-01T00:00:00Z"),
    ]
    assert found[1][2] == "The record of this source states that it was retrieved on 2026-03-01."


def test_a_feed_is_not_sent_twice(client: Client) -> None:
    tag = client("/feed.atom").headers["etag"]
    assert client("/feed.atom", headers={"If-None-Match": tag}).status_code == 304


def test_the_sitemap_has_every_page_and_each_is_there(client: Client, release: Release) -> None:
    root = ET.fromstring(client("/sitemap.xml").text)  # noqa: S314 - our own
    found = [node.text or "" for node in root.iter(f"{MAP}loc")]
    assert len(set(found)) == len(found)
    assert {f"{PUBLIC}/id/{record_id}" for record_id in release.record_ids} <= set(found)
    assert {f"{PUBLIC}{path}" for path in ("/", "/vocab/metric/auroc", "/shapes/result-unit", "/docs/README")} <= set(
        found
    )
    paths = [address.removeprefix(PUBLIC) for address in found]
    for path in [*paths[:20], *paths[20::40]]:  # of more than a thousand every so many
        assert client(path, "text/html").status_code == 200, path


def test_a_large_sitemap_is_an_index_of_several(
    client: Client, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Sitemap(release, PUBLIC).addresses
    monkeypatch.setattr("evkg.sitemap.MOST", 500)
    root = ET.fromstring(client("/sitemap.xml").text)  # noqa: S314 - our own
    assert root.tag == f"{MAP}sitemapindex"
    files = [node.text or "" for node in root.iter(f"{MAP}loc")]
    assert files == [f"{PUBLIC}/sitemap-{n}.xml" for n in range(1, -(-len(whole) // 500) + 1)]
    found: list[str] = []
    for file in files:
        part = ET.fromstring(client(file.removeprefix(PUBLIC)).text)  # noqa: S314 - our own
        found += [node.text or "" for node in part.iter(f"{MAP}loc")]
    assert found == list(whole)
    assert client(f"/sitemap-{len(files) + 1}.xml").status_code == 404
    assert client("/sitemap-0.xml").status_code == 404


def test_robots_are_told_where_no_end_is(client: Client) -> None:
    response = client("/robots.txt")
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    lines = response.text.splitlines()
    assert lines[0] == "User-agent: *"
    assert "Disallow: /evkg/search" in lines
    assert "Disallow: /evkg/sparql" in lines
    assert lines[-1] == f"Sitemap: {PUBLIC}/sitemap.xml"
