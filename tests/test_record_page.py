"""Record pages: every kind, valid HTML, nothing lost, nothing invented; tables with true counts; what machines read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import html5rdf  # type: ignore[import-untyped]
import pytest

from evkg.jsontext import Json, encode_json
from evkg.record_page import render_record
from evkg.release import Release
from evkg.release import open as open_release
from tests.builds import (
    DOUBTED_CONFIGURATION,
    DOUBTED_RESULTS,
    DOUBTED_SOURCE,
    REVIEWED,
    ROOT,
    SAADAT,
    build_draft,
    record,
    write_records,
)
from tests.client import Client, served
from tests.conftest import SHARED
from tests.test_pages import ATTACK, PICTURE, Page, hostile

DATA = f"{SAADAT}data-synthetic-dna"
PAPER = f"{SAADAT}source-paper"


@pytest.fixture(scope="module")
def release(workspace: Path) -> Release:
    return open_release(workspace / "build/current")


@pytest.fixture(scope="module")
def comparable(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Invented records with comparison groups, ties, bounds and everything that keeps results out of one."""
    return build_draft(ROOT / "tests/records/comparable", tmp_path_factory.mktemp("comparable"))


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    yield from served(release, "https://example.org")


def page(release: Release, record_id: str, **values: str) -> Page:
    return Page(render_record(release, record_id, values))


def words(text: str) -> str:
    return " ".join(text.split())


def section(html: str, name: str) -> str:
    """One section of a page, without what follows it."""
    return html.split(f'<section id="{name}"')[1].split("</section>")[0]


# ---- Form ----


def faults(html: str) -> list[Any]:
    parser = html5rdf.HTMLParser(strict=False)
    parser.parse(html)
    found: list[Any] = list(parser.errors)
    return found


def check_form(html: str) -> None:
    assert faults(html) == []
    found = Page(html)
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    anchors = {href[1:] for href in found.hrefs() if href.startswith("#")}
    assert anchors <= set(ids)
    levels = [int(tag[1]) for tag, _ in found.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))
    for tag, attributes in found.elements:
        assert tag != "th" or attributes.get("scope") in ("row", "col", "rowgroup")
        assert "style" not in attributes


def test_the_parser_sees_what_is_wrong() -> None:
    assert faults("<!doctype html><title>x</title><p><table><p></table>")


def test_pages_of_seed_records_are_valid(release: Release) -> None:
    for record_id in release.record_ids:
        check_form(render_record(release, record_id))


def test_pages_of_comparisons_are_valid(comparable: Release) -> None:
    for record_id in comparable.record_ids:
        check_form(render_record(comparable, record_id))


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Real records of all 17 kinds."""
    folder = SHARED / "peer-records"
    if not folder.is_dir():
        pytest.skip("the peer records lie beside the repository and are not here")
    return build_draft(folder, tmp_path_factory.mktemp("peers"))


def test_every_kind_has_a_page_that_is_valid_and_small(peers: Release) -> None:
    kinds = set()
    for record_id in peers.record_ids:
        html = render_record(peers, record_id)
        check_form(html)
        assert len(html.encode()) <= 150_000
        kinds.add(peers.record(record_id)["kind"])
    assert len(kinds) == 17


# ---- Nothing lost ----


def leaves(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, str):
        yield value
    else:
        yield encode_json(value)


def assert_all_is_shown(release: Release, record_id: str) -> None:
    data = release.read(record_id).data
    text = words(page(release, record_id).text)
    for key, value in data.items():
        if key in ("source_ids", "links"):  # shown by the names of what they lead to
            continue
        for leaf in leaves(value):
            assert words(leaf) in text, (record_id, key, leaf)


def test_no_field_of_a_seed_record_is_lost(release: Release) -> None:
    for record_id in release.record_ids:
        assert_all_is_shown(release, record_id)


def test_no_field_of_a_record_of_any_kind_is_lost(peers: Release) -> None:
    for record_id in peers.record_ids:
        assert_all_is_shown(peers, record_id)


def test_every_link_and_source_is_shown(release: Release) -> None:
    for record_id in release.record_ids:
        data: Any = release.record(record_id)
        hrefs = page(release, record_id).hrefs()
        for target in [*data["source_ids"], *(link["target_id"] for link in data["links"])]:
            assert f"/id/{target}" in hrefs


# ---- Order, labels and help from shapes and ontology ----


def test_fields_come_in_the_order_of_the_shapes_and_then_of_the_ontology(release: Release) -> None:
    html = section(render_record(release, REVIEWED), "overview")
    order = ["metric", "metric direction", "unit", "printed value", "uncertainty", "coverage", "Further fields"]
    places = [html.index(f">{word[:1].upper()}{word[1:]}") for word in order]
    assert places == sorted(places)
    definition = release.vocabulary.attributes["result"]["printed_value"].definition
    assert f"<dd>{definition}</dd>" in html


# ---- Gaps ----


def test_the_three_kinds_of_absence_look_different(release: Release) -> None:
    html = section(render_record(release, REVIEWED), "overview")
    meaning = release.vocabulary.schemes["missingness"].concepts["unreported"].definition
    assert re.search(
        rf'<tr class="gap"><th[^>]*><a[^>]*>Uncertainty</a></th><td><strong>unreported</strong>: {meaning}', html
    )
    assert re.search(
        r'<tr class="gap unexplained"><th[^>]*><a[^>]*>Coverage</a></th><td><strong>not recorded</strong>', html
    )


def test_conditions_say_why_they_are_missing(release: Release) -> None:
    html = section(render_record(release, REVIEWED), "conditions")
    assert re.search(r"Adaptation</a></th><td><bdi>None \(pretrained weights\)</bdi></td>", html)
    note = "The data set page prints only &#39;Aggregation: Not reported&#39;, without a recorded reason."
    assert re.search(
        rf'<tr class="gap"><th[^>]*><a[^>]*>Aggregation</a></th><td><strong>unextracted</strong>.*{note}', html
    )
    assert "The record of the evaluation has the status: Source checked." in words(html)


# ---- Results ----


def test_counts_are_of_evaluations_and_results(release: Release) -> None:
    assert "10 evaluations · 10 results" in words(page(release, DATA).text)
    assert "1 evaluation · 4 results" in words(page(release, DOUBTED_CONFIGURATION).text)
    assert "1 evaluation · 4 results" in words(page(release, "gena-lm").text)  # by its configuration


def rows(html: str) -> int:
    return section(html, "results").split('class="results"')[1].count('<tr><th scope="row"')


def test_filters_are_links_that_can_be_shared_and_lifted(release: Release) -> None:
    html = render_record(release, DATA)
    found = Page(html)
    links = {href for href in found.hrefs() if href.startswith(f"/id/{DATA}?")}
    assert f"/id/{DATA}?metric=peak-memory#results" in links
    assert rows(html) == 10
    protocol = f"{SAADAT}protocol-training-peak-memory"
    html = render_record(release, DATA, {"metric": "peak-memory", "protocol": protocol})
    assert rows(html) == 4
    text = words(Page(html).text)
    assert "4 of 10 evaluations and 4 of 10 results are left." in text
    assert "Metric: Peak memory" in text
    assert f"/id/{DATA}?protocol={protocol}#results" in Page(html).hrefs()  # lifts the metric alone


@pytest.mark.parametrize("value", ["no-such-metric", ATTACK])
def test_a_filter_that_names_nothing_leaves_nothing(release: Release, value: str) -> None:
    html = render_record(release, DATA, {"metric": value})
    assert "No result fits these filters." in html
    assert "0 of 10 results are left." in words(Page(html).text)
    assert "<img src=x" not in html


def test_pages_of_results_count_truly(comparable: Release) -> None:
    seen: list[str] = []
    for number in range(1, 4):
        html = section(render_record(comparable, "invented-benchmark", {"results": str(number)}), "results")
        table = html.split('class="results"')[1]
        seen += re.findall(r'<td><a href="/id/(invented-result-[^"]+)"', table)
        assert "of 69" in words(html)
    assert len(seen) == len(set(seen)) == 69


@pytest.mark.parametrize("number", ["0", "-1", "99999", "x", "1e9", "٣"])
def test_a_page_that_is_not_there_is_the_nearest(comparable: Release, number: str) -> None:
    html = render_record(comparable, "invented-benchmark", {"results": number, "evidence": number})
    assert "results 1 to 25 of 69" in words(html) or "results 51 to 69 of 69" in words(html)


def test_a_missing_printed_value_in_a_table_is_a_reason(release: Release) -> None:
    html = section(render_record(release, DOUBTED_CONFIGURATION), "results")
    assert words(html).count("no printed value</a>: <span") == 2
    assert html.count("<strong>unextracted</strong>") >= 2
    assert html.count("open concern: Appendix B Table 2") == 2 * len(DOUBTED_RESULTS)  # summary and whole text


# ---- Comparisons ----


def test_the_best_is_marked_only_inside_a_group(comparable: Release) -> None:
    html = section(render_record(comparable, "invented-benchmark"), "results")
    table = html.split('class="matrix"')[1].split("</table>")[0]
    best = re.findall(
        r"<strong>([^<]+)</strong></a>(?: <span class=\"soft\">[^<]*</span>)? <span class=\"best\">", table
    )
    assert best == ["0.901", "90.1", "5.6", "0.71", "0.92", "0.62"]
    assert re.search(r"&lt; 0\.95</a> <span class=\"soft\">a bound, not ranked</span>", table)
    assert "↓ lower is better" in table


def test_doubted_values_are_never_ranked(release: Release) -> None:
    html = render_record(release, DOUBTED_CONFIGURATION)
    assert 'class="matrix"' not in html
    assert 'class="best"' not in html
    assert "An open concern stands against it: 4 results" in words(Page(html).text)


def test_a_result_says_with_which_it_may_be_compared_or_why_with_none(release: Release, comparable: Release) -> None:
    html = section(render_record(release, REVIEWED), "compare")
    assert "Not with any other result of this release, because:" in html
    for condition in ("aggregation", "budget", "data version", "inputs", "metric implementation", "population"):
        assert f"<li>{condition.capitalize()} is not known</li>" in html
    html = section(render_record(comparable, "invented-result-base"), "compare")
    assert 'aria-current="page"' in html
    assert "this result" in html


# ---- Evidence ----


def test_scopes_have_true_counts_and_are_links(release: Release) -> None:
    text = words(page(release, DATA).text)
    assert "All rows (22)" in text
    assert "Context-only references (6)" in text
    assert "Catalogue metadata (16)" in text
    html = render_record(release, DATA, {"scope": "record_context"})
    assert section(html, "evidence").count('<tr><th scope="row"') == 6
    assert "6 rows of 22" in words(Page(html).text)
    assert f"/evidence?record={DATA}&scope=record_context&format=csv" in Page(html).hrefs()


def test_a_search_of_the_evidence_finds_words_labels_and_values(release: Release) -> None:
    html = section(render_record(release, PAPER, {"find": "DOI"}), "evidence")
    assert "2 rows of 30 with “DOI”" in words(html)
    assert section(render_record(release, PAPER, {"find": "nothing of the kind"}), "evidence").count("<tr>") == 0
    hidden = [
        a for tag, a in page(release, DATA, scope="record_context", metric="peak-memory").elements if tag == "input"
    ]
    assert {(a.get("name"), a.get("value")) for a in hidden} >= {("scope", "record_context"), ("metric", "peak-memory")}


def test_evidence_comes_in_pages_of_25(release: Release) -> None:
    counts = [
        section(render_record(release, PAPER, {"evidence": n}), "evidence").count('<tr><th scope="row"') for n in "12"
    ]
    assert counts == [25, 5]
    assert "rows 26 to 30 of 30" in words(page(release, PAPER, evidence="2").text)


def test_an_individual_claim_stands_before_what_verifies_nothing(release: Release) -> None:
    html = section(render_record(release, REVIEWED), "evidence")
    assert html.index("Reported result") < html.index("Context-only references</span></th>")
    (row,) = re.findall(r"Reported result.*?</tr>", html, re.DOTALL)
    assert "source checked" in row
    assert "source-hash-verification" in row
    assert "not individually reviewed" not in row


# ---- Review, provenance, sources ----


def test_an_automated_review_is_said_in_words(release: Release) -> None:
    text = words(section(render_record(release, REVIEWED), "review"))
    assert "This was an automated review: claude is a program, and no person is named as reviewer." in text
    assert "It repeats no experiment and reproduces no result." in text


@pytest.mark.parametrize(
    ("reviewer", "said"),
    [
        (["jane-doe"], "Reviewed by jane-doe, who is no program that this catalogue knows."),
        (["jane-doe", "claude"], "by jane-doe (no program that this catalogue knows) and by claude (a program)"),
        ([], "The review names no reviewer, so nobody can say whether a person or a program made it."),
    ],
)
def test_a_review_says_no_more_than_is_known(tmp_path: Path, reviewer: Sequence[str], said: str) -> None:
    review = {"reviewer": list(reviewer), "reviewed_at": "2026-10-15"}
    data = record("r", "result", attributes={"review": review})
    release = build_draft(write_records(tmp_path / "r.jsonl", data), tmp_path / "out")
    assert said in words(section(render_record(release, "r"), "review"))


def test_provenance_names_steps_and_what_is_not_recorded(release: Release) -> None:
    html = section(render_record(release, REVIEWED), "provenance")
    assert re.findall(r"<li><strong>(\w+)</strong>", html) == ["Retrieved", "Extracted", "Reviewed", "Recorded"]
    assert "2026-10-15T10:56:26Z" in html
    assert "Who took the values over from the source, when and how, is not recorded." in html
    assert "the same bytes as those that the source was retrieved as; that says nothing of their content" in html


def test_other_bytes_than_those_of_the_source_are_told(tmp_path: Path) -> None:
    source = record("s", "source", attributes={"artifact_sha256": "a" * 64, "retrieved_at": "2026-01-01"})
    review = {"reviewer": ["claude"], "artifact_sha256": "b" * 64}
    data = record("r", "result", source_ids=["s"], attributes={"review": review})
    release = build_draft(write_records(tmp_path / "r.jsonl", source, data), tmp_path / "out")
    assert "other bytes than those that the cited source was retrieved as" in render_record(release, "r")


def test_a_record_without_a_review_says_why_or_that_nothing_explains_it(release: Release, tmp_path: Path) -> None:
    html = section(render_record(release, DOUBTED_CONFIGURATION), "review")
    assert "not recorded" in html
    gap = {"review": {"reason": "unextracted", "note": "The page was not captured."}}
    data = record("m", "model", attributes={"missing_metadata": gap})
    other = build_draft(write_records(tmp_path / "r.jsonl", data), tmp_path / "out")
    assert "unextracted; The page was not captured." in section(render_record(other, "m"), "review")


def test_a_source_shows_what_it_contributed(release: Release) -> None:
    text = words(section(render_record(release, PAPER), "contribution"))
    assert "37 records of this release cite this source." in text
    for group in ("Configurations (10)", "Protocols (3)", "Datasets (1)", "Evaluations (10)", "Results (10)"):
        assert group in text
    assert text.count("<code>reported_finding</code>") == 2
    assert "Figures 2-5 (pages 5-7)" in text


def test_a_concern_names_the_source_that_it_is_about(release: Release) -> None:
    html = render_record(release, DOUBTED_RESULTS[0]).split('id="concerns"')[1].split("</div>")[0]
    assert f'href="/id/{DOUBTED_SOURCE}"' in html


def test_a_withheld_record_shows_its_tombstone_only(tmp_path: Path) -> None:
    data = record("x", "result", status="excluded", attributes={"printed_value": "77.7", "reason": "asked for"})
    release = build_draft(write_records(tmp_path / "r.jsonl", data), tmp_path / "out")
    html = render_record(release, "x")
    assert "77.7" not in html
    assert "Withheld." in html
    assert "asked for" in html


# ---- Corrections ----


@pytest.mark.parametrize(
    ("contact", "said"),
    [
        ("curators@example.org", 'href="mailto:curators@example.org?subject=Correction'),
        ("https://example.org/issues", 'href="https://example.org/issues"'),
        ("the curators, room 7", "Write to the curators, room 7, with the text below."),
        ({"reason": "unreported", "note": "Nobody yet."}, "There is no address to write to: Nobody yet."),
    ],
    ids=str,
)
def test_a_correction_goes_to_the_contact_or_nowhere(tmp_path: Path, contact: Any, said: str) -> None:
    folder = tmp_path / "graph"
    write_records(folder / "records/r.jsonl", record("m", "model"))
    facts = {"title": "T", "base_iri": "https://w3id.org/evkg/", "contact": contact}
    (folder / "dataset.yaml").write_text(json.dumps(facts), encoding="utf-8")
    html = render_record(build_draft(folder, tmp_path / "out"), "m")
    assert said in words(section(html, "correct"))
    assert "Correction of the record m (m)" in html


# ---- Hostile records ----


def test_every_text_is_escaped_with_every_parameter(tmp_path: Path) -> None:
    data = {**hostile(), "source_ids": ["s"], "links": [{"relation": "evaluation", "target_id": "e"}]}
    source = record("s", "source", name=ATTACK, attributes={"doi": f"10.1/{ATTACK}", "url": f"javascript:{ATTACK}"})
    run = record("e", "evaluation", name=ATTACK, links=[{"relation": "system", "target_id": ATTACK}])
    release = build_draft(write_records(tmp_path / "r.jsonl", data, source, run), tmp_path / "out")
    values = dict.fromkeys(("system", "metric", "find", "scope", "results", "evidence"), ATTACK)
    for record_id in ("hostile", "s", "e"):
        for html in (render_record(release, record_id), render_record(release, record_id, values, base="https://x")):
            check_form(html)
            found = Page(html)
            assert all(PICTURE.fullmatch(str(a["src"])) for tag, a in found.elements if tag == "img")
            assert [a for tag, a in found.elements if tag == "script"] in ([], [{"type": "application/ld+json"}])
            assert not {name for _, a in found.elements for name in a if name.startswith("on")}
            assert not any(href.startswith("javascript:") for href in found.hrefs())


# ---- What machines read ----


def data_of(html: str) -> Any:
    found = re.findall(r'<script type="application/ld\+json">(.*?)</script>', html, re.DOTALL)
    return json.loads(found[0]) if found else None


def test_schema_org_is_there_where_it_fits_and_nowhere_else(release: Release) -> None:
    article = data_of(render_record(release, PAPER, base="https://example.org"))
    assert article["@type"] == "ScholarlyArticle"
    assert article["datePublished"] == "2026"
    assert article["mainEntityOfPage"] == f"https://example.org/id/{PAPER}"
    assert data_of(render_record(release, DATA))["@type"] == "Dataset"
    for record_id in (REVIEWED, DOUBTED_CONFIGURATION, "gena-lm"):
        assert data_of(render_record(release, record_id)) is None


def test_a_description_cannot_close_its_script(tmp_path: Path) -> None:
    data = record("d", "dataset", name="</script><script>alert(1)</script>\u2028")
    html = render_record(build_draft(write_records(tmp_path / "r.jsonl", data), tmp_path / "out"), "d")
    assert data_of(html)["name"] == "</script><script>alert(1)</script>\u2028"
    assert html.count("<script") == 1


def links_of(header: str) -> set[tuple[str, str]]:
    return set(re.findall(r'<([^>]*)>; rel="([^"]+)"', header))


def test_signposts_lead_to_what_a_page_is_about(client: Client) -> None:
    links = links_of(client(f"/id/{PAPER}", "text/html").headers["link"])
    assert (f"https://w3id.org/evkg/id/{PAPER}", "cite-as") in links
    assert (f"/id/{PAPER}.jsonld", "describedby") in links
    assert (f"/id/{PAPER}.json", "item") in links
    assert {target for target, kind in links if kind == "type"} == {
        "https://schema.org/AboutPage",
        "https://schema.org/ScholarlyArticle",
    }
    assert ("/.well-known/void", "collection") in links
    assert "license" not in {kind for _, kind in links}  # the data set has none
    for target, kind in links:
        if kind in ("describedby", "item", "collection"):
            assert client(target, "*/*").status_code == 200
    assert (f"/id/{PAPER}", "describes") in links_of(client(f"/id/{PAPER}.ttl").headers["link"])


def test_a_page_has_its_canonical_address_and_a_preview(client: Client) -> None:
    html = client(f"/id/{DATA}?scope=record_context", "text/html").text
    assert f'<link rel="canonical" href="https://example.org/id/{DATA}">' in html
    assert '<meta property="og:title" content="Synthetic uniform random DNA sequences, seed 42' in html
    assert '<meta property="og:description" content="DNA sequences sampled uniformly' in html


def test_the_tag_of_a_page_changes_with_its_parameters_only(client: Client) -> None:
    plain, other, ignored = (
        client(f"/id/{DATA}{query}", "text/html").headers["etag"] for query in ("", "?metric=peak-memory", "?x=1")
    )
    assert plain == ignored != other
    again = client(f"/id/{DATA}?metric=peak-memory", "text/html", headers={"If-None-Match": other})
    assert again.status_code == 304


def test_pages_allow_no_script_or_style_of_their_own(client: Client) -> None:
    policy = client(f"/id/{DATA}", "text/html").headers["content-security-policy"]
    assert policy == (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def test_every_link_of_a_page_to_this_server_is_answered(client: Client, release: Release) -> None:
    for record_id in (REVIEWED, DATA, PAPER):
        for href in page(release, record_id).hrefs():
            parts = urlsplit(href)
            if href.startswith("/") and parts.path.split("/")[1] in ("id", "evidence", "compare"):
                answer = client(parts.path, "text/html,*/*;q=0.1", params=parse_qsl(parts.query))
                assert answer.status_code == 200, href


def test_a_source_leads_to_the_feed_of_its_changes(client: Client) -> None:
    html = client(f"/id/{PAPER}", "text/html").text
    feed = f"/feed.atom?source={PAPER}"
    assert f'type="application/atom+xml" title="Changes of this source" href="{feed}">' in html
    assert f'<a href="{feed}">' in section(html, "sources")
    assert "feed.atom" not in client(f"/id/{DATA}", "text/html").text


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (f"/id/{REVIEWED}", "Peak memory"),
        ("/questions/open-concerns", "Open concerns"),
        ("/ontology/printedValue", "printed value"),
        ("/docs/pages", "Pages of records"),
        ("/compare", "Compare results"),
    ],
)
def test_every_kind_of_page_has_a_preview(client: Client, address: str, said: str) -> None:
    html = client(address, "text/html").text
    check_form(html)
    found = {
        str(a["property"]): str(a["content"]) for tag, a in Page(html).elements if tag == "meta" and "property" in a
    }
    assert {"og:type", "og:site_name", "og:title"} <= set(found)
    assert said in found["og:title"]
    assert html.count('property="og:title"') == 1
