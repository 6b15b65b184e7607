"""The first page: its counts are those of the records and lead to what they count; what it cannot know it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest

from evkg.build import build_release
from evkg.gaps import REASONS, count_gaps
from evkg.home import render_home
from evkg.release import Release
from evkg.search_build import release_before
from evkg.vocabulary import load_vocabulary
from tests.builds import AT, DOUBTED_SOURCE, SEED, build_draft, record, write_records
from tests.client import Client, served
from tests.searching import ready, searched


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(SEED, tmp_path_factory.mktemp("seed"))


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    for client in served(release):
        ready(client)
        yield client


@pytest.fixture(scope="module")
def html(client: Client) -> str:
    return unescape(client("/", "text/html").text)


def test_every_count_leads_to_as_many_records(client: Client, html: str) -> None:
    chips = re.findall(
        r'<li><a href="(/(?:search|results)[^"]*)"><bdi>([^<]+)</bdi></a> <span class="soft">([\d,]+)</span>', html
    )
    labels = {label for _, label, _ in chips}
    assert {"result", "evaluation", "DNA and genomes", "Peak memory", "Author-reported evaluation"} <= labels
    for url, label, count in chips:
        path, _, query = url.partition("?")
        assert client(f"{path}.json?{query}").json()["total"] == int(count), label
    assert '<a href="/search">49 records</a> from <a href="/search?kind=source">2 sources</a>' in html


def test_what_is_in_doubt_is_told_and_can_be_seen(client: Client, html: str) -> None:
    found = re.search(r'(\d+) records are in doubt, superseded or excluded. <a href="/search\?([^"]+)">', html)
    assert found is not None
    document = client(f"/search.json?{found[2]}").json()
    assert document["total"] == int(found[1]) == 9
    assert DOUBTED_SOURCE in {hit["id"] for hit in document["hits"]} | {DOUBTED_SOURCE}
    assert all(hit["doubt"] for hit in document["hits"])


def test_completeness_is_that_of_the_records(html: str) -> None:
    gaps = count_gaps(SEED)
    for kind in ("result", "evaluation", "configuration", "claim"):
        tallies = [tally for (name, _), tally in gaps.cells.items() if name == kind]
        value = sum(tally.value for tally in tallies)
        reasons = sum(getattr(tally, reason) for tally in tallies for reason in REASONS)
        nothing = sum(tally.nothing for tally in tallies)
        cells = re.search(rf'<th scope="row">{kind}</th>(.*?)</tr>', html, re.DOTALL)
        assert cells is not None
        assert re.findall(r">(\d+)<", cells[1]) == [
            str(n) for n in (value + reasons + nothing, value, reasons, nothing)
        ]
    assert '<th scope="row">claim</th><td class="n">6</td><td class="n">6</td>' in html
    assert '<td class="n">100 %</td>' in html


def test_it_leads_to_everything(client: Client, html: str) -> None:
    for path in ("/compare", "/validation", "/sparql", "/questions", "/ontology", "/shapes", "/docs", "/results"):
        assert f'href="{path}"' in html
        assert client(path, "text/html").status_code == 200, path
    assert 'href="/evidence?format=csv"' in html
    questions = re.findall(r'<li><a href="(/questions/[^"]+)">[^<]+</a>: (.+?)</li>', html, re.DOTALL)
    assert len(questions) == 3
    for path, _ in questions:
        assert client(path, "text/html").status_code == 200


def test_without_an_earlier_release_it_says_so(release: Release, html: str) -> None:
    assert release_before(release) is None
    assert "There is no earlier release beside this one" in html


def test_what_changed_since_the_release_before_is_told(tmp_path: Path) -> None:
    old = [record("m1", "model", name="Stays"), record("m2", "model", name="Goes"), record("m3", "model", name="Turns")]
    new = [old[0], {**old[2], "description": "other"}, record("m4", "model", name="Comes <b>")]
    out = tmp_path / "out"
    for number, records in enumerate((old, new)):
        write_records(tmp_path / "r.jsonl", *records)
        built = build_release(tmp_path / "r.jsonl", out, at=AT + timedelta(days=number), draft=True).release
    assert built is not None
    before = release_before(built)
    assert before is not None
    assert release_before(Release(before)) is None
    for client in served(built):
        ready(client)
        html = client("/", "text/html").text
    assert f"Since release <code>{before.name}</code> of 2026-11-01: 1 new, 1 changed and 1 gone record;" in html
    assert '<li>changed: <a href="/id/m3"><bdi>Turns</bdi></a></li>' in html
    assert '<li>new: <a href="/id/m4"><bdi>Comes &lt;b&gt;</bdi></a></li>' in html
    assert "<li>gone: <bdi>Goes</bdi> <code>m2</code></li>" in html


def test_a_release_with_the_same_records_says_that_nothing_differs(tmp_path: Path) -> None:
    file = write_records(tmp_path / "r.jsonl", record("m1", "model"))
    out = tmp_path / "out"
    for number in range(2):
        built = build_release(file, out, at=AT + timedelta(days=number), draft=True).release
    assert built is not None
    for client in served(built):
        ready(client)
        assert "Nothing differs from release" in client("/", "text/html").text


def test_while_the_index_is_made_the_page_says_so(release: Release) -> None:
    html = render_home(release)
    assert "This is being counted" in html
    assert "This is being compared" in html
    assert "14" in html


def test_programs_get_the_description_of_the_data(client: Client) -> None:
    assert client("/", "text/turtle").headers["content-type"].startswith("text/turtle")
    first = client("/", "text/html")
    assert client("/", "text/html", headers={"If-None-Match": first.headers["etag"]}).status_code == 304


def test_a_large_release_lists_no_records(tmp_path: Path) -> None:
    file = write_records(tmp_path / "r.jsonl", *(record(f"m{n}", "model") for n in range(201)))
    html = render_home(build_draft(file, tmp_path / "out"))
    assert "All records" not in html
    label = load_vocabulary().labels["https://w3id.org/evkg/ontology#Model"]
    assert f'<a href="/search?kind=model"><bdi>{label}</bdi></a> <span class="soft">201</span>' in html


def test_the_counts_of_search_and_home_agree(client: Client, release: Release) -> None:
    assert searched(client)["total"] == release.manifest["counts"]["records"]
