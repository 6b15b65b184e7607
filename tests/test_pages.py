"""Pages: what a record says stands there exactly, escaped, and with everything that qualifies it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from evkg.errors import NotFoundError
from evkg.home import render_home
from evkg.pages import FORMATS
from evkg.record_page import render_record
from evkg.release import Release
from evkg.release import open as open_release
from tests.builds import (
    DOUBTED_CONFIGURATION,
    DOUBTED_RESULTS,
    DOUBTED_SOURCE,
    PRINTED,
    REVIEWED,
    THROUGHPUT_256,
    build_draft,
    record,
    write_records,
)

VOID = {"meta", "link", "br", "input", "img", "source"}
#: The one picture of a record page.
PICTURE = re.compile(r"/provenance\.svg\?id=[^&/]+")


@pytest.fixture(scope="module")
def release(workspace: Path) -> Release:
    return open_release(workspace / "build/current")


class Page(HTMLParser):
    """The elements and the text of a page; complains when tags do not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.by_class: dict[str, list[str]] = {}
        self._classes: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
            self._classes.append(dict(attrs).get("class") or "")
            self.by_class.setdefault(self._classes[-1], []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self._classes.pop()

    def handle_data(self, data: str) -> None:
        self.text += data
        for name in self._classes:
            self.by_class[name][-1] += data

    def hrefs(self) -> set[str]:
        return {str(attributes["href"]) for tag, attributes in self.elements if tag == "a"}


def page(release: Release, record_id: str) -> Page:
    return Page(render_record(release, record_id))


def test_every_seed_record_has_a_page_that_is_well_formed(release: Release) -> None:
    for record_id in release.record_ids:
        found = page(release, record_id)
        assert sum(tag == "h1" for tag, _ in found.elements) == 1
        assert str(release.record(record_id)["name"]) in found.text
        assert f"Stable id: {record_id}" in found.text
        assert release.id in found.text


@pytest.mark.parametrize(("record_id", "printed"), PRINTED.items())
def test_what_the_source_prints_stands_there_exactly(release: Release, record_id: str, printed: str) -> None:
    found = page(release, record_id)
    assert found.by_class["printed"] == [printed]
    assert f"<td><bdi>{printed}</bdi></td>" in render_record(release, record_id)


def test_a_missing_printed_value_is_a_reason_and_no_number(release: Release) -> None:
    found = page(release, THROUGHPUT_256)
    assert found.by_class["printed"] == ["no printed value: unextracted"]
    rows = found.by_class["gap"]
    (row,) = [text for text in rows if text.startswith("Printed value")]
    assert "unextracted" in row
    assert "rounded for display; the figure the paper prints was not captured." in row


def test_unexplained_gaps_differ_from_explained_ones(release: Release) -> None:
    html = render_record(release, DOUBTED_CONFIGURATION)
    found = Page(html)
    silent = found.by_class["gap unexplained"]
    assert silent
    assert all("not recorded: nothing is said, and nothing explains it" in row for row in silent)
    assert not any("nothing explains it" in row for row in found.by_class.get("gap", []))
    explained = [row for row in page(release, THROUGHPUT_256).by_class["gap"] if "unreported" in row]
    assert explained
    assert not any("nothing explains it" in row for row in explained)


@pytest.mark.parametrize("record_id", [*DOUBTED_RESULTS, DOUBTED_CONFIGURATION, DOUBTED_SOURCE])
def test_the_concern_is_a_banner_before_the_values(release: Release, record_id: str) -> None:
    html = render_record(release, record_id)
    (banner,) = [text for text in Page(html).by_class["caution"] if "Evidence concern" in text]
    assert "Evidence concern: excluded from comparisons." in banner
    assert "The unit or scale of the throughput column is unclear." in banner
    assert "Appendix B Table 2 (page 9); Figure 1 (page 4); Section 3.2.4" in banner
    if 'id="values"' in html:
        assert html.index("Evidence concern") < html.index('id="values"')


def test_a_record_without_a_concern_has_no_banner_for_one(release: Release) -> None:
    assert "Evidence concern" not in render_record(release, REVIEWED)


def test_a_discrepancy_in_the_source_is_shown(release: Release) -> None:
    assert "The source disagrees with itself." in page(release, REVIEWED).text


def test_the_page_says_that_the_reviewer_was_automated(release: Release) -> None:
    (trust,) = page(release, REVIEWED).by_class["trust"]
    assert "by an automated reviewer (claude)" in trust
    assert "not a reproduction" in trust


def test_links_lead_to_the_related_records_and_back(release: Release) -> None:
    found = page(release, DOUBTED_CONFIGURATION)
    evaluation = "model-execution-20261011-eval-aspidova2026-gena-base-throughput"
    assert {"/id/gena-lm", f"/id/{DOUBTED_SOURCE}", f"/id/{evaluation}"} <= found.hrefs()
    assert "← " in found.text
    back = page(release, evaluation).hrefs()
    assert {f"/id/{DOUBTED_CONFIGURATION}", *(f"/id/{result}" for result in DOUBTED_RESULTS)} <= back


def test_every_link_to_a_record_leads_to_a_record(release: Release) -> None:
    known = {f"/id/{record_id}" for record_id in release.record_ids}
    for record_id in release.record_ids:
        forms = {f"/id/{record_id}{suffix}" for suffix, _ in FORMATS}
        wanted = {urlsplit(href).path for href in page(release, record_id).hrefs() if href.startswith("/id/")}
        assert wanted - forms <= known


def test_a_page_names_its_other_formats(release: Release) -> None:
    found = page(release, REVIEWED)
    alternates = {
        (attributes.get("href"), attributes.get("type"))
        for tag, attributes in found.elements
        if tag == "link" and attributes.get("rel") == "alternate"
    }
    assert alternates == {(f"/id/{REVIEWED}{suffix}", media) for suffix, media in FORMATS}


def test_a_page_needs_nothing_from_elsewhere(release: Release) -> None:
    for html in (render_record(release, REVIEWED), render_home(release)):
        for tag, attributes in Page(html).elements:
            assert tag not in ("iframe", "object", "embed", "style")
            assert tag != "img" or PICTURE.fullmatch(str(attributes["src"]))
            assert tag != "script" or attributes == {"type": "application/ld+json"}
            assert not {name for name in attributes if name.startswith("on") or name == "style"}
            if tag not in ("a", "meta"):  # what a reader may follow is asked for only then
                for name in ("src", "href", "action"):
                    assert not re.match(r"\w+:|//", attributes.get(name) or "/")


ATTACK = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7*7 }}{% raw %}&amp;"


def hostile() -> dict[str, Any]:
    """A record with an attack in every place where a text may stand."""
    return record(
        "hostile",
        "result",
        name=f"name {ATTACK}",
        description=f"description {ATTACK}",
        status="source_checked",
        facets={"areas": [ATTACK], ATTACK: [ATTACK]},
        source_ids=[f"no {ATTACK}"],
        links=[{"relation": ATTACK, "target_id": ATTACK}, {"relation": "evaluation", "target_id": ATTACK}],
        attributes={
            "printed_value": f"printed {ATTACK}",
            "metric": ATTACK,
            "unit": ATTACK,
            "metric_qualifier": ATTACK,
            "metric_direction": ATTACK,
            "source_discrepancy": f"discrepancy {ATTACK}",
            f"key {ATTACK}": f"value {ATTACK}",
            "scoring_conditions": {f"inner {ATTACK}": [ATTACK, {ATTACK: ATTACK}]},
            "uncertainty": {"note": ATTACK, ATTACK: ATTACK},
            "review": {"reviewer": [ATTACK], "reviewed_at": ATTACK, "note": ATTACK, ATTACK: ATTACK},
            "missing_metadata": {ATTACK: {"reason": ATTACK, "note": f"note {ATTACK}"}},
        },
    )


def test_every_text_of_a_record_is_escaped(tmp_path: Path) -> None:
    concern = {"source_id": "hostile-source", "message": f"concern {ATTACK}", "source_locator": ATTACK}
    source = record("hostile-source", "source", name=ATTACK, attributes={"evidence_concerns": [concern]})
    data = {**hostile(), "source_ids": [f"no {ATTACK}", "hostile-source"]}
    release = build_draft(write_records(tmp_path / "r.jsonl", data, source), tmp_path / "out")
    for html in (render_record(release, "hostile"), render_record(release, "hostile-source"), render_home(release)):
        found = Page(html)
        assert "script" not in {tag for tag, _ in found.elements}
        assert all(PICTURE.fullmatch(str(attributes["src"])) for tag, attributes in found.elements if tag == "img")
        assert not {name for _, attributes in found.elements for name in attributes if name.startswith("on")}
        assert "<script" not in html
        assert not re.search(r"\b49\b", found.text)
        assert ATTACK in found.text
    text = page(release, "hostile").text
    for place in ("name", "description", "printed", "discrepancy", "key", "value", "inner", "note", "no", "concern"):
        assert f"{place} {ATTACK}" in text, place


def test_a_draft_has_a_banner_on_every_page_and_a_release_has_none(release: Release, tmp_path: Path) -> None:
    draft = build_draft(write_records(tmp_path / "r.jsonl", record("r", "result")), tmp_path / "out")
    for html in (render_record(draft, "r"), render_home(draft)):
        assert "Draft. This release was built in spite of violations" in Page(html).text
    for html in (render_record(release, REVIEWED), render_home(release)):
        assert "in spite of violations" not in html


def test_the_home_page_lists_what_is_there(release: Release) -> None:
    html = render_home(release)
    found = Page(html)
    assert "Evidence on running DNA language models" in found.text
    assert {f"/id/{record_id}" for record_id in release.record_ids} <= found.hrefs()
    assert '<a href="/search?kind=result"><bdi>result</bdi></a> <span class="soft">14</span>' in html
    counts = release.manifest["counts"]
    assert f"{counts['violations']} violations, {counts['warnings']} warnings and {counts['infos']} notes" in found.text


def test_the_home_page_of_a_data_set_without_a_title_has_one(tmp_path: Path) -> None:
    file = write_records(tmp_path / "r.jsonl", record("m", "model"))
    found = Page(render_home(build_draft(file, tmp_path / "out")))
    assert "Evidence knowledge graph" in found.text or "r.jsonl" in found.text
    assert "/id/m" in found.hrefs()


def test_records_of_one_name_are_told_apart(tmp_path: Path) -> None:
    records = [record("m1", "model", name="Same"), record("m2", "task", name="Same"), record("m3", "model", name="Own")]
    found = Page(render_home(build_draft(write_records(tmp_path / "r.jsonl", *records), tmp_path / "out")))
    assert [tag for tag, _ in found.elements].count("small") == 2
    assert [text for text in found.by_class["soft"] if text.startswith("m")] == ["m1", "m2"]


def test_a_result_page_leads_to_what_was_tested(release: Release) -> None:
    html = render_record(release, THROUGHPUT_256)
    head = html.split('id="values"')[0]
    prefix = "model-execution-20261011-"
    for name in (
        "config-aspidova2026-gena-base",
        "protocol-aspidova2026-a100-inference-throughput",
        "data-aspidova2026-fixed-length-tokens",
        "eval-aspidova2026-gena-base-throughput",
    ):
        assert f'href="/id/{prefix}{name}"' in head


def test_the_unit_as_printed_stands_beside_the_value(tmp_path: Path) -> None:
    data = record("r", "result", attributes={"printed_value": "5", "unit": "gigabyte", "unit_detail": "GB <peak>"})
    found = page(build_draft(write_records(tmp_path / "r.jsonl", data), tmp_path / "out"), "r")
    assert found.by_class["unit"] == ["GB <peak>"]
    assert found.by_class["printed"] == ["5"]


def test_a_value_with_a_reason_is_a_contradiction_at_both_places(tmp_path: Path) -> None:
    attributes = {"printed_value": "5", "missing_metadata": {"printed_value": {"reason": "unreported"}}}
    data = record("r", "result", attributes=attributes)
    text = page(build_draft(write_records(tmp_path / "r.jsonl", data), tmp_path / "out"), "r").text
    assert "Contradiction: the record also says that this is missing (unreported)" in text
    assert "Contradiction: the record also gives a value" in text


def test_a_concern_that_could_not_be_read_is_a_banner(tmp_path: Path) -> None:
    doubted = record("s", "source", attributes={"evidence_concerns": "odd"})
    file = write_records(tmp_path / "r.jsonl", doubted, record("r", "result", source_ids=["s"]))
    found = page(build_draft(file, tmp_path / "out"), "r")
    assert any("a concern that could not be read" in text for text in found.by_class["caution"])
    assert "no open concern" not in found.text


def test_an_unknown_record_has_no_page(release: Release) -> None:
    with pytest.raises(NotFoundError, match="Nearest: gena-lm"):
        render_record(release, "gena-lmm")
