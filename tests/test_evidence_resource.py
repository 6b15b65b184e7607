"""The route of evidence: true counts, pages that make up the table, tables that are streamed."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Iterator

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from evkg.evidence import Evidence, Selection
from evkg.evidence_resource import EvidenceRoute
from evkg.evidence_table import csv_lines, jsonl_lines
from evkg.release import Release
from evkg.service import make_service
from evkg.worker import WorkersBusyError
from tests.builds import build_draft
from tests.client import Client, served
from tests.conftest import SEED

PUBLIC = "https://example.org/evkg"
PAPER = "saadat-fellay-20261015-source-paper"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(SEED, tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    yield from served(release, PUBLIC)


def test_pages_have_true_totals_and_lead_on(client: Client, release: Release) -> None:
    expected = [row._asdict() for row in Evidence(release).rows()]
    found, url, pages = [], "/evidence?limit=300", 0
    while url:
        page = client(url).json()
        assert (page["total"], page["release"], page["limit"]) == (721, release.id, 300)
        found += page["rows"]
        url = (page["next"] or "").removeprefix(PUBLIC)
        pages += 1
    assert found == expected
    assert pages == 3


@pytest.mark.parametrize(
    ("query", "total"),
    [
        (f"record={PAPER}", 30),
        ("scope=individual_claim", 12),
        (f"source={PAPER}&scope=individual_claim", 10),
        (f"record={PAPER}&scope=individual_claim", 0),
    ],
)
def test_rows_are_chosen(client: Client, release: Release, query: str, total: int) -> None:
    page = client(f"/evidence?{query}&limit=1000").json()
    assert (page["total"], page["next"]) == (total, None)
    names = dict(part.split("=") for part in query.split("&"))
    assert page["rows"] == [row._asdict() for row in Evidence(release).rows(Selection(**names))]


def test_an_offset_behind_the_end_is_an_empty_page(client: Client) -> None:
    page = client("/evidence?offset=721").json()
    assert (page["rows"], page["total"], page["next"]) == ([], 721, None)


@pytest.mark.parametrize(
    ("url", "accept", "content_type"),
    [
        ("/evidence", "text/csv", "text/csv; charset=utf-8"),
        ("/evidence?format=csv", None, "text/csv; charset=utf-8"),
        ("/evidence?format=csv", "application/json", "text/csv; charset=utf-8"),
        ("/evidence", "application/x-ndjson", "application/x-ndjson"),
        ("/evidence?format=jsonl", None, "application/x-ndjson"),
    ],
)
def test_the_whole_table_is_streamed(
    client: Client, release: Release, url: str, accept: str | None, content_type: str
) -> None:
    response = client(url, accept)
    lines = csv_lines if "csv" in content_type else jsonl_lines
    assert (response.status_code, response.headers["content-type"]) == (200, content_type)
    assert response.text == "".join(lines(Evidence(release).rows()))


def test_a_page_can_be_a_table(client: Client) -> None:
    table = list(csv.reader(io.StringIO(client("/evidence?format=csv&offset=720&limit=5").text, newline="")))
    assert len(table) == 2
    lines = client(f"/evidence?format=jsonl&record={PAPER}&limit=2").text.splitlines()
    assert [json.loads(line)["record_id"] for line in lines] == [PAPER, PAPER]
    assert client(f"/evidence?format=jsonl&record={PAPER}&scope=individual_claim").text == "\n"


@pytest.mark.parametrize(
    ("query", "status", "detail"),
    [
        ("scope=claim", 400, "'claim' is no scope of evidence; there are individual_claim"),
        ("record=nothing", 404, "No record has the id 'nothing'."),
        ("source=nothing&format=csv", 404, "No record has the id 'nothing'."),
        ("format=xml", 400, "There is no format 'xml' of evidence; there are json, csv, jsonl."),
        ("limit=0", 400, "limit must be a whole number from 1 to 1000, not '0'."),
        ("limit=1001", 400, "limit must be"),
        ("limit=٣", 400, "limit must be"),
        ("offset=-1", 400, "offset must be a whole number from 0 to"),
        ("offset=99999999999999999999", 400, "offset must be"),
        ("scope=record_context&scope=source_metadata", 400, "The parameter scope is given twice."),
    ],
)
def test_what_cannot_be_is_told(client: Client, query: str, status: int, detail: str) -> None:
    response = client(f"/evidence?{query}", "application/json")
    assert (response.status_code, response.json()["status"]) == (status, status)
    assert detail in response.json()["detail"]


def test_nothing_else_is_to_be_had(client: Client) -> None:
    response = client("/evidence", "image/png")
    assert response.status_code == 406
    assert "Evidence can be had as application/json, text/csv" in response.text


def test_a_client_that_has_it_is_told_so(client: Client) -> None:
    first = client("/evidence?scope=individual_claim")
    again = client("/evidence?scope=individual_claim", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client("/evidence?scope=record_context").headers["etag"] != first.headers["etag"]
    assert client("/evidence", method="HEAD").status_code == 200


def test_each_table_gives_its_place_back(client: Client) -> None:
    for _ in range(6):
        assert client("/evidence?format=csv&limit=1").status_code == 200


def test_too_many_tables_at_once_are_refused(release: Release) -> None:
    service = make_service(release, public_url=PUBLIC)
    route = EvidenceRoute(service, release)
    scope = {"type": "http", "method": "GET", "path": "/evidence", "query_string": b"format=csv", "headers": []}
    waiting = [route.respond(Request(scope)) for _ in range(4)]
    with pytest.raises(WorkersBusyError, match="Too many tables of evidence"):
        route.respond(Request(scope))
    assert len(waiting) == 4


def test_a_client_that_stops_reading_is_given_up(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evkg.evidence_resource._PIECE_SECONDS", 0.05)
    route = EvidenceRoute(make_service(release, public_url=PUBLIC), release)
    scope = {"type": "http", "method": "GET", "path": "/evidence", "query_string": b"format=csv", "headers": []}

    async def receive() -> Message:
        await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            await asyncio.sleep(60)

    for _ in range(6):  # more than may be on their way at once
        response = route.respond(Request(scope))
        with pytest.raises((ClientDisconnect, ExceptionGroup)):
            asyncio.run(asyncio.wait_for(response(scope, receive, send), 20))
