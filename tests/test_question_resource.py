"""Saved questions over HTTP: each format by Accept, suffix and `format`; refusals name a parameter and an example."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyoxigraph as ox
import pytest

from evkg.asking import answer_question
from evkg.negotiate import TABLES
from evkg.question_page import kind_in_words
from evkg.question_resource import RESERVED
from evkg.questions import find_question, load_questions
from evkg.release import Release
from evkg.release import open as open_release
from evkg.server import make_app
from tests.client import Client, served

PUBLIC = "https://example.org"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
BUDGET = "/questions/inference-memory-budget"
RESULT = "saadat-fellay-20261015-result-nt-2-5b-quantization-memory-4bit"
TYPES = {
    "json": "application/sparql-results+json",
    "xml": "application/sparql-results+xml",
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "rq": "application/sparql-query; charset=utf-8",
    "html": "text/html; charset=utf-8",
}


@pytest.fixture(scope="module")
def release(workspace: Path) -> Release:
    return open_release(workspace / "build/current")


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    yield from served(release, PUBLIC)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


class Page(HTMLParser):
    """What the tests ask of a page: links, fields of forms with their values, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fields: dict[str, str] = {}
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "a":
            self.links.append(found.get("href", ""))
        if tag == "input" and "name" in found:
            self.fields[found["name"]] = found.get("value", "")

    def handle_data(self, data: str) -> None:
        self.text += data


# ---- formats ----


@pytest.mark.parametrize("name", TYPES)
def test_a_format_comes_by_suffix_and_by_parameter(client: Client, name: str) -> None:
    by_suffix = client(f"{BUDGET}.{name}?most=7", "image/png")
    by_parameter = client(f"{BUDGET}?most=7&format={name}", BROWSER)
    assert (by_suffix.status_code, by_suffix.headers["content-type"]) == (200, TYPES[name])
    assert (by_parameter.status_code, by_parameter.text) == (200, by_suffix.text)


@pytest.mark.parametrize("media_type", [variant.media_type for variant in TABLES])
def test_every_type_of_results_comes_by_accept(client: Client, media_type: str) -> None:
    answer = client(BUDGET, media_type)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, media_type)
    assert "5.6" in answer.text


def test_programs_get_results_and_browsers_a_page(client: Client) -> None:
    for accept in (None, "*/*", "text/html, image/gif, *; q=.2, */*; q=.2"):
        assert client(BUDGET, accept).headers["content-type"] == TYPES["json"]
    for accept in (BROWSER, "text/html"):
        assert client(BUDGET, accept).headers["content-type"] == TYPES["html"]
    answer = client(BUDGET, "image/png")
    assert answer.status_code == 406
    assert {"text/csv", "text/html", "application/sparql-query"} <= set(answer.json()["available"])


@pytest.mark.parametrize("name", list(load_questions()))
def test_the_answer_is_that_of_the_release(client: Client, release: Release, name: str) -> None:
    expected = answer_question(find_question(name), {}, release)
    answer = client(f"/questions/{name}.csv")
    found = rows(answer.text)
    assert answer.status_code == 200
    assert [row.keys() for row in found] == [row.keys() for row in expected]
    if "result_id" in expected.variables:
        assert [row["result_id"] for row in found] == [row["result_id"] or "" for row in expected]


def test_values_are_set(client: Client) -> None:
    assert [row["printed_value"] for row in rows(client(f"{BUDGET}.csv?most=5.6").text)] == ["5.6"]
    assert rows(client(f"{BUDGET}.csv?most=5.59").text) == []
    training = rows(client(f"{BUDGET}.csv", params={"most": "40", "stage": "training"}).text)
    assert sorted(row["printed_value"] for row in training) == ["1.18", "11.49", "2.49", "33.88"]


def test_the_query_comes_with_its_values_and_runs_at_the_endpoint(client: Client) -> None:
    text = client(f"{BUDGET}.rq?most=5.6").text
    assert text.startswith(f"#+ endpoint: {PUBLIC}/sparql\n#+ summary: ")
    assert 'VALUES ?most { "5.6"^^<http://www.w3.org/2001/XMLSchema#decimal> }' in text
    assert client.query(text, "text/csv").text == client(f"{BUDGET}.csv?most=5.6").text


def test_an_answer_that_is_known_is_not_sent_again(client: Client) -> None:
    for url in (f"{BUDGET}.csv?most=7", f"{BUDGET}.html?most=7", f"{BUDGET}.rq", "/questions.json", "/questions?q=gpu"):
        tag = client(url).headers["etag"]
        again = client(url, headers={"If-None-Match": tag})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    tags = {client(f"{BUDGET}.{name}?most={most}").headers["etag"] for name in ("csv", "html") for most in (6, 7)}
    assert len(tags) == 4


def test_a_question_about_now_has_no_tag(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    question = find_question("comparable")
    today = type(question)(
        "today", "T", "Q?", (), (), (), "SELECT ?now { BIND(NOW() AS ?now) } ORDER BY ?now", question.theme
    )
    monkeypatch.setattr("evkg.question_resource.find_question", lambda name: today)
    for suffix in ("csv", "html"):
        assert "etag" not in client(f"/questions/today.{suffix}").headers


# ---- what is refused ----


@pytest.mark.parametrize(
    ("query", "parameter", "words"),
    [
        ("most=abc", "most", "must be a number such as 6"),
        ("most=", "most", "is empty. Leave it out for '6'"),
        ("most=%20", "most", "is empty"),
        ("most=NaN", "most", "must be a number"),
        ("most=1e999999999", "most", "must be a number"),
        ("most=" + "9" * 40, "most", "must be a number"),
        ("most=6&most=7", "most", "is given twice"),
        ("mst=7", "mst", "has no parameter 'mst'; it has most, unit, metric, stage. Did you mean 'most'?"),
        ("metric=peak-memry", "metric", "there is no metric 'peak-memry'"),
        ("metric=%3Curn:x%3E", "metric", "must be an id"),
        ("stage=" + "x" * 2001, "stage", "is longer than 2000 characters"),
    ],
)
def test_a_wrong_parameter_is_named_with_an_example_that_works(
    client: Client, query: str, parameter: str, words: str
) -> None:
    answer = client(f"{BUDGET}?{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
    problem = answer.json()
    assert problem["parameter"] == parameter
    assert words in problem["detail"]
    example = problem["example"]
    assert example.startswith(f"{PUBLIC}/questions/")
    address = urlsplit(example)
    assert client(f"{address.path.removeprefix('/evkg')}?{address.query}").status_code == 200
    page = client(f"{BUDGET}?{query}", BROWSER)
    assert (page.status_code, page.headers["content-type"]) == (400, TYPES["html"])
    assert words in Page(page.text).text
    assert "etag" not in page.headers


def test_an_unknown_record_is_told_with_the_nearest(client: Client) -> None:
    problem = client(f"/questions/comparable?first={RESULT[:-1]}").json()
    assert (problem["status"], problem["parameter"]) == (400, "first")
    assert RESULT in problem["nearest"]


def test_a_question_without_parameters_says_so(client: Client) -> None:
    problem = client("/questions/review-coverage?metric=x").json()
    assert "it has none" in problem["detail"]
    assert problem["example"] == f"{PUBLIC}/questions/review-coverage"


def test_an_unknown_question_or_format_is_told(client: Client) -> None:
    answer = client("/questions/comparabel")
    assert answer.status_code == 404
    assert "comparable" in answer.json()["nearest"]
    assert client("/questions/comparable.pdf").status_code == 404
    answer = client("/questions/comparable?format=pdf")
    assert answer.status_code == 400
    assert "json, xml, csv, tsv, rq, html" in answer.json()["detail"]
    assert client("/questions/comparable?format=csv&format=json").status_code == 400


@pytest.mark.parametrize(
    "text",
    [
        '" } SELECT * { ?s ?p ?o } #',
        "\\",
        "a\nb\r\tc",
        "?most",
        "'''",
        "} UNION { ?s ?p ?o",
        "<script>alert(1)</script>",
        "\u202e\u0000é",
    ],
)
def test_a_text_stays_a_text(client: Client, text: str) -> None:
    url = f"{BUDGET}.csv"
    assert rows(client(url, params={"stage": text}).text) == []
    page = client(f"{BUDGET}.html", params={"stage": text})
    assert page.status_code == 200
    assert "<script>alert" not in page.text


def test_no_parameter_has_a_name_that_is_taken() -> None:
    assert all(item.name not in RESERVED for question in load_questions().values() for item in question.parameters)
    assert all("." not in name for name in load_questions())


# ---- pages ----


def test_the_page_of_a_question_says_all_and_links_the_records(client: Client) -> None:
    question = find_question("inference-memory-budget")
    text = client(f"{BUDGET}?most=7", BROWSER).text
    page = Page(text)
    for words in (question.title, question.question, *question.caveats, "2 rows."):
        assert words in page.text
    for parameter in question.parameters:
        assert f"{parameter.description}; {kind_in_words(parameter)}, such as {parameter.default}" in page.text
    assert page.fields | {"q": ""} == {"q": "", "most": "7", "stage": "inference"}
    assert '<option value="gigabyte" selected>Gigabyte</option>' in text
    assert f"/id/{RESULT}" in page.links
    for link in page.links:
        if link.startswith(("/id/", "/questions/", "/sparql?")):
            assert client(link, BROWSER if "sort=" in link else None).status_code == 200, link
    assert f"{BUDGET}.csv?most=7" in page.links


def test_a_page_does_not_wait_for_a_slow_answer_unless_asked(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evkg.question_resource.PATIENCE_SECONDS", 0.0)
    url = "/questions/unreviewed-records"
    visited = client(url, BROWSER)
    assert (visited.status_code, "etag" in visited.headers) == (200, False)
    assert "takes a while" in visited.text
    assert "<h2>Answer</h2>" not in visited.text
    assert Page(visited.text).fields["wait"] == "yes"
    assert "<h2>Answer</h2>" in client(f"{url}?wait=yes", BROWSER).text
    assert "<h2>Answer</h2>" in client(f"{BUDGET}?most=7", BROWSER).text
    assert client(f"{url}.csv?wait=yes").text == client(f"{url}.csv").text != ""


def test_the_pages_need_nothing_from_elsewhere(client: Client) -> None:
    for url in ("/questions", BUDGET):
        answer = client(url, BROWSER)
        assert "style=" not in answer.text
        assert "<script" not in answer.text
        assert "'unsafe-inline'" not in answer.headers["content-security-policy"]


def test_questions_are_listed_by_theme_and_found_by_words(client: Client) -> None:
    page = Page(client("/questions", BROWSER).text)
    assert {f"/questions/{name}" for name in load_questions()} <= set(page.links)
    found = Page(client("/questions?q=GPU%20budget", BROWSER).text)
    assert "1 of 43 questions hold “GPU budget”" in found.text
    assert [link for link in found.links if link.startswith("/questions/")] == [BUDGET]
    none = Page(client("/questions?q=%3Cb%3E", BROWSER).text)
    assert "0 of 43 questions hold “<b>”" in none.text


def test_the_list_as_json_says_how_to_ask(client: Client) -> None:
    document = client("/questions").json()
    assert client("/questions.json").json() == document == client("/questions?format=json", BROWSER).json()
    assert document["total"] == len(load_questions())
    item = next(item for item in document["questions"] if item["name"] == "inference-memory-budget")
    assert item["url"] == f"{PUBLIC}{BUDGET}"
    assert item["parameters"][0] == {
        "name": "most",
        "kind": "number",
        "description": "the largest value that fits the budget",
        "default": "6",
    }
    assert client("/questions?q=gpu+budget").json()["total"] == 1
    assert client("/questions", "image/png").status_code == 406


# ---- examples and OpenAPI ----


@pytest.mark.parametrize("media_type", ["text/turtle", "application/ld+json", "application/n-triples"])
def test_the_examples_are_there_in_rdf(client: Client, media_type: str) -> None:
    answer = client("/.well-known/sparql-examples", media_type)
    formats = {"text/turtle": ox.RdfFormat.TURTLE, "application/ld+json": ox.RdfFormat.JSON_LD}
    triples = list(ox.parse(answer.content, format=formats.get(media_type, ox.RdfFormat.N_TRIPLES)))
    target = ox.NamedNode("https://schema.org/target")
    assert {triple.object.value for triple in triples if triple.predicate == target} == {f"{PUBLIC}/sparql"}
    assert sum(triple.predicate.value.endswith("#select") for triple in triples) == len(load_questions())
    assert (
        client(
            "/.well-known/sparql-examples", media_type, headers={"If-None-Match": answer.headers["etag"]}
        ).status_code
        == 304
    )


@pytest.fixture(scope="module")
def document(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client("/openapi.json").json()
    return found


def test_every_question_is_described_with_the_types_of_its_parameters(document: dict[str, Any]) -> None:
    for name, question in load_questions().items():
        operation = document["paths"][f"/questions/{name}"]["get"]
        described = {item["name"]: item["schema"] for item in operation["parameters"]}
        assert list(described) == [*(item.name for item in question.parameters), "format"]
        assert operation["summary"] == question.title
    operation = document["paths"][BUDGET]["get"]
    described = {item["name"]: item["schema"] for item in operation["parameters"]}
    assert described["most"] == {"type": "number", "default": 6}
    assert described["stage"] == {"type": "string", "default": "inference"}
    assert {"gigabyte", "megabyte"} <= set(described["unit"]["enum"])
    assert json.dumps(document)


def test_answers_have_a_status_and_a_type_that_are_described(client: Client, document: dict[str, Any]) -> None:
    responses = document["paths"][BUDGET]["get"]["responses"]
    for query in ("", "?most=x", "?format=csv", "?format=html", "?format=rq", "?format=no"):
        for accept in (None, "text/csv", "image/png"):
            answer = client(f"{BUDGET}{query}", accept)
            described = responses[str(answer.status_code)]["content"]
            assert answer.headers["content-type"].partition(";")[0] in described


def test_members_of_problems_are_described(client: Client, document: dict[str, Any]) -> None:
    known = document["components"]["schemas"]["Problem"]["properties"]
    assert client(f"{BUDGET}?mst=7").json().keys() <= known.keys()


# ---- a bare store ----


def test_questions_can_be_asked_of_a_bare_store(release: Release) -> None:
    client = Client(make_app(release.folder / "store", public_url=PUBLIC))
    try:
        assert [row["printed_value"] for row in rows(client(f"{BUDGET}.csv").text)] == ["5.6"]
        assert client(f"{BUDGET}?most=x").status_code == 400
        page = client(BUDGET, BROWSER)
        assert (page.status_code, "1 row." in page.text) == (200, True)
        assert "Release" not in Page(page.text).text
        assert "etag" not in page.headers
        assert client("/questions", BROWSER).status_code == 200
        assert client("/openapi.json").json()["paths"][BUDGET]
    finally:
        client.close()
