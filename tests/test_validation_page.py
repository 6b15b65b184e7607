"""The page `/validation`: the numbers of the report and of the records, and links that lead to these records."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import evkg.validation_page
from evkg.errors import ReleaseError
from evkg.gaps import count_gaps
from evkg.release import REPORT_JSON, Release
from evkg.server import make_app
from evkg.validation_page import Validation
from tests.builds import ROOT, SEED, build_draft
from tests.client import Client


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(SEED, tmp_path_factory.mktemp("validation"))


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    client = Client(make_app(release, public_url="http://test"))
    yield client
    client.close()


def get(client: Client, path: str, accept: str = "text/html", **headers: str) -> Any:
    return client(path, accept, headers=headers)


def test_the_three_forms_say_the_same(client: Client) -> None:
    page, data = get(client, "/validation"), get(client, "/validation", "application/json").json()
    table = list(csv.DictReader(io.StringIO(get(client, "/validation", "text/csv").text)))
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert data["completeness"]["total"]["nothing"] == 122
    assert "Of 393 expected fields 118 have a value" in page.text
    assert [(row["kind"], row["field"], row["nothing"]) for row in table] == [
        (row["kind"], row["field"], str(row["nothing"])) for row in data["completeness"]["rows"]
    ]


def test_the_counts_of_rules_add_up_to_the_report(client: Client, release: Release) -> None:
    data = get(client, "/validation?format=json").json()
    for severity in ("violation", "warning", "info"):
        counted = sum(rule["count"] for rule in data["rules"] if rule["severity"] == severity)
        assert counted == data["findings"][f"{severity}s"] == release.manifest["counts"][f"{severity}s"]
    assert [rule["severity"] for rule in data["rules"]] == sorted(
        (rule["severity"] for rule in data["rules"]), key=["violation", "warning", "info"].index
    )


def test_every_number_that_is_a_link_leads_to_as_many_records(client: Client, release: Release) -> None:
    page = get(client, "/validation").text
    links = re.findall(r'<a href="(/sparql\?[^"]*)">(\d+)</a>', page)
    assert len(links) > 60
    for address, number in links:
        query = parse_qs(urlsplit(html.unescape(address)).query)["query"][0]
        assert len(release.select(query)) == int(number), query


def test_cells_are_readable_without_colour_and_a_gap_is_no_zero(client: Client) -> None:
    page = get(client, "/validation").text
    row = re.search(r'<th scope="row"><code>uncertainty</code>.*?</tr>', page[page.index('">result</th>') :], re.DOTALL)
    assert row is not None
    cells = [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td.*?</td>", row[0], re.DOTALL)]
    #      expected share   value   nothing conflicting unextracted unavailable unreported inapplicable
    assert cells == ["14", "none", "none", "0", "0", "0", "0", "14", "0"]


class _Tables(HTMLParser):
    """Checks that each cell of each table has its head."""

    def __init__(self) -> None:
        super().__init__()
        self.heads = 0
        self.widths: list[int] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link", "wbr", "br", "input", "img", "source"):
            self.open.append(tag)
        if tag == "th":
            assert dict(attrs).get("scope") in ("col", "row", "rowgroup")
        if tag == "tr":
            self.widths.append(0)
        if tag in ("td", "th"):
            self.widths[-1] += int(dict(attrs).get("colspan") or 1)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("by", ["kind", "field", "source"])
def test_tables_are_whole_and_every_head_has_its_scope(client: Client, by: str) -> None:
    tables = _Tables()
    page = get(client, f"/validation?by={by}").text
    tables.feed(page)
    assert tables.open == []
    assert set(tables.widths) == {10, 4}  # completeness and rules
    assert '<div class="box" role="region" aria-label="Completeness table" tabindex="0">' in page


def test_wrong_questions_are_refused(client: Client) -> None:
    assert get(client, "/validation?by=colour").status_code == 400
    assert get(client, "/validation?format=pdf").status_code == 400
    assert get(client, "/validation", "image/png").status_code == 406


def test_a_client_that_has_it_is_told_so(client: Client) -> None:
    first = get(client, "/validation")
    again = get(client, "/validation", **{"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = get(client, "/validation?by=field")
    assert other.headers["etag"] != first.headers["etag"]


def test_a_release_is_counted_once(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def counting(*arguments: Any) -> Any:
        calls.append(arguments)
        return count_gaps(*arguments)

    monkeypatch.setattr(evkg.validation_page, "count_gaps", counting)
    validation = Validation(release)
    threads = [threading.Thread(target=validation.text, args=("kind", form)) for form in ("html", "json", "csv") * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1


def test_what_records_say_is_escaped(tmp_path: Any) -> None:
    evil = build_draft(ROOT / "tests" / "records" / "invalid", tmp_path)
    page = Validation(evil).text("source", "html")
    assert "<script" not in page


def test_a_report_that_is_gone_is_told(release: Release, tmp_path: Any) -> None:
    import shutil

    folder = tmp_path / release.id
    shutil.copytree(release.folder, folder)
    (folder / REPORT_JSON).write_text(json.dumps({"findings": 3}), encoding="utf-8")
    with pytest.raises(ReleaseError, match="cannot be read"):
        Validation(Release(folder)).text("kind", "html")
