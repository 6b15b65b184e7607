"""The endpoint in a browser: a page with a form that works without JavaScript, and what the editor asks for."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from evkg.editor_page import FIRST, render_editor
from evkg.editor_resource import DOWNLOADS, STATIC, static_file, wants_page
from evkg.editor_terms import editor_terms
from evkg.limits import Limits
from evkg.namespaces import EVKG, FOAF, PREFIXES, RDF
from evkg.questions import find_question
from evkg.release import Release
from evkg.release import open as open_release
from evkg.server import make_app
from evkg.service import make_service
from tests.client import Client, served
from tests.conftest import ROOT

PUBLIC = "https://example.org"
CHROME = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"
FIREFOX = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
RESULT = "saadat-fellay-20261015-result-nt-2-5b-quantization-memory-4bit"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def release(workspace: Path) -> Release:
    return open_release(workspace / "build/current")


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    yield from served(release, PUBLIC)


def page_of(client: Client, query: str, *, status: int = 200) -> str:
    answer = client.query(query, CHROME)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    return answer.text


def query_in(page: str) -> str:
    """What stands in the field of the form."""
    found = re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    assert found
    return html.unescape(found[1])


# ---- who gets a page ----


@pytest.mark.parametrize("accept", [CHROME, FIREFOX, "text/html", "TEXT/HTML", "text/html;charset=utf-8"])
def test_a_browser_gets_a_page(accept: str) -> None:
    assert wants_page(accept)


@pytest.mark.parametrize(
    "accept",
    [
        None,
        "",
        "*/*",
        "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
        "text/html,*/*;q=0.1",
        "text/html;q=0.9,application/json",
        "text/html;q=0",
        "application/sparql-results+json,text/html;q=0.5,application/xhtml+xml;q=0.4",
        "application/n-quads,application/trig;q=0.95,text/turtle;q=0.6,text/html;q=0.2,application/xhtml+xml;q=0.2",
    ],
)
def test_a_program_gets_what_it_got_without_the_page(client: Client, accept: str | None) -> None:
    assert not wants_page(accept)
    assert "html" not in client.query("ASK {}", accept).headers["content-type"]
    assert "html" not in client("/sparql", accept).headers["content-type"]


def test_the_same_address_serves_both_and_says_so(client: Client) -> None:
    page, answer = client.query("ASK {}", CHROME), client.query("ASK {}", "application/json")
    assert "Accept" in page.headers["vary"]
    assert page.headers["etag"] != answer.headers["etag"]
    for path in ("/sparql", "/sparql/"):
        assert "<form" in client(path, CHROME).text


# ---- the page ----


def test_an_empty_form_begins_with_a_query_that_runs(client: Client) -> None:
    page = client("/sparql", CHROME).text
    assert query_in(page) == FIRST
    assert '<section id="answer">\n</section>' in re.sub(r"\n+", "\n", page)
    assert client.query(FIRST, "text/csv").text.count("\n") == 1 + client.count(
        "SELECT (COUNT(*) AS ?n) { ?result evkg:printedValue ?printed }"
    )


def test_rows_come_as_a_table_with_links_to_records(client: Client) -> None:
    query = "SELECT ?thing ?printed { ?thing evkg:printedValue ?printed ; a evkg:Result } ORDER BY ?thing"
    page = page_of(client, query)
    assert query_in(page) == query
    assert f'<a href="/id/{RESULT}"><bdi>https://w3id.org/evkg/id/{RESULT}</bdi></a>' in page
    assert re.search(r'<td data-label="[^"]+"><bdi>5[.]6</bdi></td>', page)
    assert client(f"/id/{RESULT}", "text/html").status_code == 200


def test_numbers_say_that_they_are(client: Client) -> None:
    page = page_of(client, "SELECT (COUNT(*) AS ?n) { ?r a evkg:Result }")
    assert re.search(r'<td data-label="[^"]+" class="number" data-number="14"><bdi>14</bdi></td>', page)


@pytest.mark.parametrize(("query", "word"), [("ASK {}", "yes"), ("ASK { ?s evkg:no ?o }", "no")])
def test_a_truth_value_is_a_word(client: Client, query: str, word: str) -> None:
    assert f'<p class="printed">{word}</p>' in page_of(client, query)


def test_a_graph_is_shown_as_turtle(client: Client) -> None:
    page = page_of(client, f"DESCRIBE <https://w3id.org/evkg/id/{RESULT}>")
    assert "evkg:printedValue &#34;5.6&#34;" in page
    assert "Turtle</a>" in page


def test_a_long_answer_says_how_many_rows_there_are(client: Client) -> None:
    query = "SELECT * { ?s ?p ?o }"
    total = client.count("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
    page = page_of(client, query)
    assert f"<strong>The first 1,000 of {total:,} rows</strong>" in page
    assert page.count("<tr>") == 1001 + len(PREFIXES)
    link = re.search(r'href="(/sparql/answer\.csv\?[^"]*)"', page)
    assert link
    assert client(html.unescape(link[1])).text.count("\n") > total


def test_downloads_are_the_same_answer_in_every_format(client: Client) -> None:
    select, construct = "SELECT ?s { ?s a evkg:Result } ORDER BY ?s", "CONSTRUCT { ?s a ?c } { ?s a ?c } LIMIT 3"
    for suffix, media_type in DOWNLOADS.items():
        query = select if suffix in ("json", "xml", "csv", "tsv") else construct
        answer = client(f"/sparql/answer.{suffix}", CHROME, params={"query": query})
        assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, media_type)
        assert answer.content == client.query(query, media_type).content
    assert client("/sparql/answer.pdf?query=ASK{}").status_code == 404
    assert client("/sparql/answer.csv").status_code == 400
    assert client("/sparql/answer.ttl?query=ASK{}").status_code == 406


def test_the_graphs_that_a_query_names_are_kept(client: Client) -> None:
    graph = f"https://w3id.org/evkg/record/{RESULT}"
    count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    answer = client.query(count, CHROME, ("default-graph-uri", graph))
    number = client.count(count, ("default-graph-uri", graph))
    assert f'data-number="{number}"' in answer.text
    assert f'<input type="hidden" name="default-graph-uri" value="{graph}">' in answer.text
    link = re.search(r'href="(/sparql/answer\.csv\?[^"]*)"', answer.text)
    assert link
    assert client(html.unescape(link[1])).text.split() == ["n", str(number)]


def test_a_form_may_be_posted(client: Client) -> None:
    answer = client("/sparql", "text/html", method="POST", data={"query": "ASK {}"})
    assert (answer.status_code, '<p class="printed">yes</p>' in answer.text) == (200, True)
    assert "etag" not in answer.headers


def test_a_saved_question_can_be_taken_into_the_form(client: Client) -> None:
    page = client("/sparql?example=comparable", CHROME).text
    text = find_question("comparable").text
    assert query_in(page) == f"# May two results be compared?\n{text[text.index('PREFIX') :]}"
    assert client.query(query_in(page), "text/csv").text == client("/questions/comparable.csv").text
    answer = client("/sparql?example=comparabel", CHROME)
    assert (answer.status_code, "comparable" in answer.text) == (404, True)


# ---- what goes wrong ----


def test_a_wrong_query_stays_in_the_form_beside_what_is_wrong(client: Client) -> None:
    query = "SELECT *\n{ ?s evgk:p '<b>' }"
    page = page_of(client, query, status=400)
    assert query_in(page) == query
    assert 'data-line="2" data-column="6"' in page
    assert "The prefix evgk: is not declared" in page
    assert "<b>" not in page


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("SELECT * {", 400, "The query is not valid SPARQL"),
        ("DELETE WHERE { ?s ?p ?o }", 400, "DELETE is refused"),
        ("SELECT * { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }", 400, "SERVICE is refused"),
    ],
)
def test_what_is_refused_is_told_on_the_page(client: Client, query: str, status: int, words: str) -> None:
    page = page_of(client, query, status=status)
    assert words in page
    assert "etag" not in client.query(query, CHROME).headers


def test_a_limit_is_told_on_the_page(release: Release) -> None:
    client = Client(make_app(release, public_url=PUBLIC, limits=Limits(seconds=0.5)))
    try:
        answer = client.query("SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", CHROME)
        assert (answer.status_code, answer.headers["content-type"]) == (503, "text/html; charset=utf-8")
        assert "0.5 second" in answer.text
    finally:
        client.close()


def test_a_request_that_is_no_call_is_told_on_a_page(client: Client) -> None:
    answer = client("/sparql?query=ASK{}&query=ASK{}", CHROME)
    assert (answer.status_code, "more than one query" in answer.text) == (400, True)
    answer = client("/sparql", CHROME, method="POST", content=b"x", headers={"Content-Type": "text/plain"})
    assert (answer.status_code, "application/sparql-query" in answer.text) == (415, True)
    assert "Accept-Post" in answer.headers


@pytest.mark.parametrize("query", ["", "   "])
def test_a_form_without_a_query_is_asked_again(client: Client, query: str) -> None:
    page = page_of(client, query)
    assert query_in(page).strip()
    assert "<h2>Answer</h2>" not in page


def test_what_a_store_holds_is_never_markup(client: Client) -> None:
    query = 'SELECT ?x ?y { VALUES (?x ?y) { ("<script>alert(1)</script>" <http://e.example/"onload=x>) } }'
    answer = client.query(query.replace('"onload=x', "%22onload=x"), CHROME)
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    script = client.query("SELECT ?x { VALUES ?x { <javascript:alert(1)> } }", CHROME).text
    assert 'href="javascript:' not in script


# ---- caching, policy, editor ----


def test_a_page_that_is_known_is_not_sent_again(client: Client) -> None:
    for params in ({}, {"query": "ASK {}"}, {"example": "comparable"}):
        tag = client("/sparql", CHROME, params=params).headers["etag"]
        assert client("/sparql", CHROME, params=params, headers={"If-None-Match": tag}).status_code == 304
    assert "etag" not in client.query("SELECT (NOW() AS ?t) {}", CHROME).headers


def test_the_policy_of_the_page_allows_no_inline_script_or_style(client: Client) -> None:
    answer = client("/sparql", CHROME)
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "style=" not in answer.text
    assert not re.search(r"<script(?![^>]*src=)", answer.text)
    assert not re.search(r"(?:src|href)=\"https?:", answer.text.split("<details>")[0])


@pytest.mark.parametrize("has_editor", [True, False])
def test_without_the_bundle_the_page_is_a_plain_form(release: Release, has_editor: bool) -> None:
    service = make_service(release, public_url=PUBLIC)
    page = render_editor(service, "ASK {}", True, None, has_editor=has_editor)
    assert ("/static/editor.js" in page) == has_editor
    assert query_in(page) == "ASK {}"
    assert '<p class="printed">yes</p>' in page


def test_the_files_of_the_editor_are_served_where_they_were_bundled(client: Client) -> None:
    for name, media_type in STATIC.items():
        answer = client(f"/static/{name}")
        if static_file(name) is None:
            assert answer.status_code == 404
        else:
            assert (answer.status_code, answer.headers["content-type"]) == (200, media_type)
            tag = answer.headers["etag"]
            assert client(f"/static/{name}", headers={"If-None-Match": tag}).status_code == 304
    assert client("/static/..%2Fserver.py").status_code == 404
    assert client("/static/server.py").status_code == 404


def test_the_editor_completes_what_the_ontology_has(client: Client) -> None:
    terms = client("/sparql/terms").json()
    assert terms == editor_terms()
    assert terms["prefixes"] == PREFIXES
    classes = {item["iri"]: item["label"] for item in terms["classes"]}
    properties = {item["iri"]: item["label"] for item in terms["properties"]}
    assert classes[f"{EVKG}Result"] == "result"
    assert {f"{EVKG}printedValue", f"{FOAF}primaryTopic", f"{RDF}type"} <= properties.keys()
    assert not classes.keys() & properties.keys()
    assert all(properties.values())


def test_a_bare_store_has_the_page_too(release: Release) -> None:
    client = Client(make_app(release.folder / "store", public_url=PUBLIC))
    try:
        page = client.query("SELECT ?s { ?s a evkg:Result } LIMIT 2", CHROME)
        assert (page.status_code, "2 rows." in page.text) == (200, True)
        assert "Release <code>" not in page.text
        assert client("/sparql/terms").json()["classes"]
    finally:
        client.close()


def test_what_is_installed_for_the_bundle_is_pinned_and_names_no_host() -> None:
    lock = json.loads((ROOT / "editor" / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: facts for name, facts in lock["packages"].items() if name}
    assert len(packages) > 10
    assert all(facts["integrity"].startswith("sha512-") for facts in packages.values())
    assert not any("resolved" in facts for facts in packages.values())
    own = json.loads((ROOT / "editor" / "package.json").read_text(encoding="utf-8"))
    asked = {**own["dependencies"], **own["devDependencies"]}
    assert {name: packages[f"node_modules/{name}"]["version"] for name in asked} == asked


def test_the_editor_takes_the_values_of_a_question_with_it(client: Client) -> None:
    page = client("/questions/inference-memory-budget?most=8", CHROME).text
    link = re.search(r'href="(/sparql\?example=[^"]*)"', page)
    assert link is not None
    assert html.unescape(link[1]) == "/sparql?example=inference-memory-budget&most=8"
    shown = html.unescape(client(html.unescape(link[1]), CHROME).text)
    assert re.search(r'VALUES \?most \{\s+"?8\b', shown)
    wrong = client("/sparql?example=inference-memory-budget&most=x", CHROME)
    assert wrong.status_code == 400
    assert "most" in wrong.text
