"""The reference: every term, concept and rule has a page and RDF; together they are the files of the release."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urljoin

import pyoxigraph as ox
import pytest

from evkg.namespaces import EVKG, SKOS, VOCAB
from evkg.reference import Reference
from evkg.reference_docs import Docs
from evkg.reference_entry import SHAPES
from evkg.release import Release
from tests.builds import SEED, build_draft
from tests.client import Client, served
from tests.searching import check_html, ready

FORMATS = {"turtle": ox.RdfFormat.TURTLE, "jsonld": ox.RdfFormat.JSON_LD, "nt": ox.RdfFormat.N_TRIPLES}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(SEED, tmp_path_factory.mktemp("seed"))


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    for client in served(release, "https://example.org"):
        ready(client)
        yield client


@pytest.fixture(scope="module")
def reference(release: Release) -> Reference:
    return Reference(release)


def triples(text: str, format_name: str) -> set[str]:
    """The triples of a text without blank nodes, which have other labels each time."""
    quads = ox.parse(text, format=FORMATS[format_name])
    return {str(quad.triple) for quad in quads if "_:" not in str(quad.triple)}


def test_every_term_says_what_it_is(reference: Reference) -> None:
    assert len(reference.names) > 500
    for name in reference.names:
        entry = reference.term(name)
        assert entry.label, name
        assert entry.definition, name
    grouped = [entry.name for group in reference.terms for entry in group.entries]
    assert sorted(grouped) == list(reference.names)


@pytest.mark.parametrize("path", ["/ontology", "/vocab", "/shapes"])
@pytest.mark.parametrize(("suffix", "form"), [(".ttl", "turtle"), (".jsonld", "jsonld"), (".nt", "nt")])
def test_the_whole_is_the_files_of_the_release(
    client: Client, reference: Reference, path: str, suffix: str, form: str
) -> None:
    wanted = {str(triple) for triple in reference.shapes.triples if path == "/shapes"}
    if path != "/shapes":
        is_vocab = path == "/vocab"
        wanted = {str(t) for t in reference.triples if str(t.subject).startswith(f"<{VOCAB}") == is_vocab}
    wanted = {triple for triple in wanted if "_:" not in triple}
    response = client(f"{path}{suffix}")
    assert triples(response.text, form) == wanted
    assert client(path, response.headers["content-type"].split(";")[0]).content == response.content
    assert response.headers["content-location"] == f"{path}{suffix}"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/ontology/printedValue", ["printed value", "character for character", "<code>printed_value</code>",
                                    '<a href="/ontology/Result">result</a>', "result-printed-value"]),
        ("/ontology/Result", ["Exactly one value of one metric from one evaluation.", "evidence"]),
        ("/ontology/hardwareText", ["in records: <code>hardware</code>"]),
        ("/vocab", ['<a href="/vocab/metric">Metric</a>', "47 keys · open", "7 keys · closed"]),
        ("/vocab/metric", ['<a href="/vocab/metric/peak-memory">Peak memory</a>',
                           '<a href="/search?metric=peak-memory">6 records</a>']),
        ("/vocab/metric/auroc", ["Area under the ROC curve", "AUC-ROC", "Higher is better"]),
        ("/vocab/status/source_checked", ["Source checked", '<a href="/search?status=source_checked">47 records</a>']),
        ("/shapes", ["result-unit", "What to write: Write unit: …"]),
        ("/shapes/result-unit", ["unit is required on a result", "What to write: Write unit: …",
                                 '<a href="/ontology/unit">']),
    ],
)  # fmt: skip
def test_a_page_says_what_the_files_say(client: Client, path: str, words: list[str]) -> None:
    html = unescape(client(path, "text/html").text)
    for text in words:
        assert text in html


def test_a_term_as_data_is_what_is_said_of_it_and_its_mappings(client: Client, reference: Reference) -> None:
    iri = f"{EVKG}unit"
    found = triples(client("/ontology/unit.nt").text, "nt")
    assert found == {str(triple) for triple in reference.describe(iri)}
    assert {t for t in found if t.startswith(f"<{iri}>")} == {
        str(t) for t in reference.triples if str(t.subject) == f"<{iri}>"
    }
    assert any("mappedTerm" in triple for triple in found)
    turtle = client("/vocab/metric/auroc", "text/turtle")
    assert turtle.headers["content-type"] == "text/turtle; charset=utf-8"
    assert f'<{VOCAB}metric/auroc> <{SKOS}notation> "auroc"' in triples(turtle.text, "turtle")
    rule = client("/shapes/result-unit.jsonld").text
    assert any(triple.startswith(f"<{SHAPES}result-unit>") for triple in triples(rule, "jsonld"))


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("/ontology/printedvalue", "printedValue"),
        ("/ontology/printed_value", "printedValue"),  # the key of the record leads to the term
        ("/ontology/printed_value.ttl", "printedValue"),
        ("/vocab/metrik", "metric"),
        ("/vocab/metric/AUC-ROC", "auroc"),  # another name of the concept leads to it
        ("/vocab/metric/peak-memry", "peak-memory"),
        ("/vocab/metrik/auroc", "metric"),
        ("/shapes/result-units", "result-unit"),
        ("/docs/question", "questions"),
        ("/ontology.xyz", "ontology"),
    ],
)
def test_what_is_not_there_names_what_is_near(client: Client, path: str, nearest: str) -> None:
    response = client(path)
    assert response.status_code == 404
    assert response.json()["nearest"][0] == nearest
    page = client(path, "text/html")
    href = re.findall(r'<a href="([^"]+)"', page.text)
    assert any(urljoin(path, one).rsplit("/", 1)[-1] == nearest for one in href)


@pytest.mark.parametrize("path", ["/ontology/unit", "/vocab", "/vocab/metric", "/shapes/result-unit", "/docs/README"])
def test_what_a_client_has_is_not_sent_again(client: Client, path: str) -> None:
    first = client(path, "text/html")
    assert first.status_code == 200
    assert client(path, "text/html", headers={"If-None-Match": first.headers["etag"]}).status_code == 304
    assert client(path, "image/png").status_code == 406


def links(html: str) -> set[str]:
    return {unescape(link) for link in re.findall(r'(?:href|src)="([^"]+)"', html)}


@pytest.mark.parametrize("path", ["/ontology", "/vocab", "/vocab/metric", "/shapes", "/docs"])
def test_no_link_of_an_index_leads_nowhere(client: Client, path: str) -> None:
    mine = re.compile(r"/(ontology|vocab|shapes|docs)(/|$|\.)")
    found = sorted(link for link in links(client(path, "text/html").text) if mine.match(link))
    assert len(found) > 8
    for link in found[:: max(1, len(found) // 60)]:  # of some hundred terms every so many
        assert client(link).status_code == 200, link


def test_every_page_of_the_documentation_is_there(client: Client) -> None:
    docs = Docs()
    assert {"README", "CONTRIBUTING", "CHANGELOG", "decisions", "rules", "questions"} <= set(docs.pages)
    for name, doc in docs.pages.items():
        page = client(f"/docs/{name}", "text/html")
        assert page.status_code == 200
        assert doc.title in unescape(page.text)
        assert client(f"/docs/{name}.md").text == doc.file.read_text(encoding="utf-8")
    assert client("/docs/README", "text/markdown").headers["content-type"] == "text/markdown; charset=utf-8"
    assert client("/docs/images/report.png").headers["content-type"] == "image/png"
    assert client("/docs/images/none.png").status_code == 404
    assert client("/about").headers["location"] == "/docs/README"


@pytest.mark.parametrize(
    "path",
    ["/docs/..%2fpyproject", "/docs/%2e%2e/x.toml", "/docs/images/..%2f..%2fREADME.md", "/docs/images/%2fetc%2fpasswd"],
)
def test_nothing_else_of_the_repository_is_served(client: Client, path: str) -> None:
    assert client(path).status_code == 404


def test_links_of_the_documentation_lead_to_pages_and_headings_here(client: Client) -> None:
    pytest.importorskip("markdown_it", reason="the library for Markdown is not installed")
    for name in Docs().pages:
        html = client(f"/docs/{name}", "text/html").text
        article = html.split('<article class="doc">')[1].split("</article>")[0]
        for link in links(article):
            if re.match(r"https?:|mailto:", link):
                continue
            target, _, fragment = link.partition("#")
            assert not target or target.startswith("/docs"), (name, link)
            other = client(target, "*/*") if target else None
            assert other is None or other.status_code == 200, (name, link)
            if fragment:
                text = html if other is None else client(target, "text/html").text
                assert f'id="{fragment}"' in text, (name, link)


def test_html_in_markdown_is_text_and_repeated_headings_differ(tmp_path: Path) -> None:
    pytest.importorskip("markdown_it", reason="the library for Markdown is not installed")
    from evkg.reference_docs import Doc

    file = tmp_path / "page.md"
    file.write_text(
        "# T\n\n## Same `x`\n\n## Same x\n\n<script>alert(1)</script> [a](javascript:alert(1)) [b](../LICENSE)\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        encoding="utf-8",
    )
    html = Docs().html(Doc("page", "T", "", file, "docs/page.md"))
    assert "<script" not in html
    assert 'href="javascript' not in html
    assert '<h2 id="same-x">' in html
    assert '<h2 id="same-x-1">' in html
    assert 'title="LICENSE, in the repository"' in html
    assert '<div class="box" role="region" aria-label="Table 1" tabindex="0"><table>' in html


def test_without_the_library_a_page_is_its_source(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evkg.reference_docs._library", lambda: None)
    docs = Docs()
    html = docs.html(docs.page("README"))
    assert html.startswith("<pre># evkg\n")
    assert "<pre>" in client("/docs/README", "text/html").text


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/search", "/search?q=memory&kind=result&kind=claim", "/search?q=zzqx+memori", "/search?q=the&page=99"),
        *("/results", "/results?metric=peak-memory&origin=none", "/docs", "/docs/README", "/docs/rules"),
        *("/docs/decisions", "/ontology", "/ontology/unit", "/ontology/Result", "/vocab", "/vocab/metric"),
        *("/vocab/unit/gigabyte", "/shapes", "/shapes/result-unit"),
    ],
)
def test_every_page_is_valid_html(client: Client, path: str) -> None:
    check_html(client(path, "text/html").text)
