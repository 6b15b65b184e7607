"""The glossary: labels of fields and keys of schemes lead to the pages that explain them, and to nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from evkg.glossary import Glossary, Word
from evkg.release import Release
from evkg.release import open as open_release
from tests.builds import REVIEWED, SAADAT, build_draft, record, write_records
from tests.client import Client, served
from tests.searching import ready

DATA = f"{SAADAT}data-synthetic-dna"


@pytest.fixture(scope="module")
def release(workspace: Path) -> Release:
    return open_release(workspace / "build/current")


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    for client in served(release, "https://example.org"):
        ready(client)  # /results needs the index
        yield client


def row(html: str, label: str) -> str:
    """The row of a table of fields whose label this is."""
    found = re.search(rf"<tr[^>]*><th[^>]*>(?:(?!</tr>).)*>{label}</a>.*?</tr>", html, re.DOTALL)
    assert found is not None, label
    return found[0]


def test_labels_lead_to_their_terms_and_keys_to_their_schemes(client: Client) -> None:
    html = client(f"/id/{REVIEWED}", "text/html").text.partition('id="overview"')[2]
    assert 'href="/ontology/metric"' in row(html, "Metric")
    assert '<a class="term" href="/vocab/metric/peak-memory">Peak memory (peak-memory)</a>' in row(html, "Metric")
    assert 'href="/vocab/unit/gigabyte">Gigabyte (gigabyte)</a>' in row(html, "Unit")
    # Text of the source leads nowhere.
    assert "/vocab/" not in row(html, "Printed value")


def test_a_gap_a_condition_a_review_and_a_relation_are_explained_too(client: Client) -> None:
    html = client(f"/id/{REVIEWED}", "text/html").text
    assert 'href="/ontology/comparisonBudget"' in row(html, "Budget")
    assert 'href="/ontology/uncertainty"' in row(html, "Uncertainty")
    review = html.partition('id="review"')[2].partition("</section>")[0]
    assert 'href="/ontology/reviewedAt"' in row(review, "Reviewed at")
    assert 'href="/vocab/review-method/pdf-text-parse"' in row(review, "Review method")
    assert 'href="/ontology/evaluation"' in html.partition('id="related"')[2]


def test_metrics_in_tables_of_results_are_explained(client: Client) -> None:
    for path in (f"/id/{DATA}", "/results"):
        assert 'href="/vocab/metric/peak-memory">Peak memory</a>' in client(path, "text/html").text


def test_every_address_is_answered(client: Client, release: Release) -> None:
    addresses: set[str] = set()
    for record_id in release.record_ids:
        html = client(f"/id/{record_id}", "text/html").text
        addresses |= set(re.findall(r'class="term" href="([^"]+)"', html))
    assert len(addresses) > 40
    for address in addresses:
        assert client(address, "text/html").status_code == 200, address


def test_a_key_that_no_scheme_lists_leads_nowhere(tmp_path: Path) -> None:
    odd = record("r", "result", attributes={"metric": "made-up", "unit": {"a": 1}}, facets={"areas": ["none-such"]})
    found = build_draft(write_records(tmp_path / "r.jsonl", odd), tmp_path / "out")
    glossary = Glossary(found.read("r"), found.vocabulary)
    assert glossary.words("metric") == [Word("made-up", None)]
    assert glossary.words("unit") == [Word('{"a":1}', None)]
    assert glossary.words("facets.areas") == [Word("none-such", None)]
    assert glossary.words("nothing.at.all") == []
