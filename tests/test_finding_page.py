"""The report as a page: whole without a script, honest about what it leaves out, and it asks no other place."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evkg.check import Checked, check_dataset
from evkg.finding import Finding
from evkg.finding_page import LISTED_PER_RULE, _room, _spread, render_page
from tests.builds import SEED
from tests.findings import hostile, mixed

VOID = {"meta", "link", "br", "input", "img", "hr"}


class Page(HTMLParser):
    """The elements of a page; what is opened must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.inside: dict[str, list[str]] = {"style": [], "script": []}
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in self.inside:
            self.inside[self.open[-1]].append(data)
        else:
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def seed() -> Checked:
    return check_dataset(SEED)


@pytest.fixture
def odd(seed: Checked) -> Checked:
    return replace(seed, findings=hostile())


def test_the_page_lists_each_rule_with_all_its_findings_when_they_are_few(seed: Checked) -> None:
    page = Page(render_page(seed))
    counts = Counter((finding.severity, finding.rule) for finding in seed.findings)
    sections = {(s["data-severity"], s["data-rule"]): int(s["data-count"]) for s in page.all("section")}
    assert sections == counts
    assert len([li for li in page.all("li") if "data-kind" in li]) == len(seed.findings)


def test_the_cells_that_the_filter_counts_with_are_all_findings(seed: Checked) -> None:
    page = Page(render_page(seed))
    cells = json.loads(page.inside["script"][0])
    assert sum(count for *_, count in cells) == len(seed.findings)
    by_source = Counter[int]()
    for _, _, sources, count in cells:
        by_source.update(dict.fromkeys(sources, count))
    assert sorted(by_source.values()) == [37, 141]  # the two papers; six findings are on records that cite none


def test_a_page_of_many_findings_says_what_it_leaves_out_and_full_lists_all(seed: Checked) -> None:
    many = [Finding("violation", "gap", "it is wrong", record=f"r{n}", file="a.yaml", line=n) for n in range(1, 101)]
    checked = replace(seed, findings=many)
    text = " ".join("".join(Page(render_page(checked)).words).split())
    assert f"{LISTED_PER_RULE} of 100 findings are listed on this page" in text
    assert f"100 findings, {LISTED_PER_RULE} of them listed here" in text
    assert f"{100 - LISTED_PER_RULE} more findings of this rule are not listed here" in text
    assert f"evkg check {seed.path} --format html --full" in text
    page = Page(render_page(checked, full=True))
    assert len([li for li in page.all("li") if "data-kind" in li]) == 100
    assert "not listed here" not in "".join(page.words)


def test_room_is_bounded_and_every_rule_has_some() -> None:
    sizes = [10_000] * 300
    room = _room(sizes, full=False)
    assert sum(room) <= 2_000
    assert min(room) >= 1
    assert _room(sizes, full=True) == sizes


def test_of_every_kind_and_source_something_is_listed_first() -> None:
    assert _spread([(0,)] * 10 + [(1,)] + [()], 3) == [0, 10, 11]


def test_lines_of_the_record_stand_around_a_finding_and_none_of_its_neighbours(tmp_path: Path) -> None:
    head = "kind: source\nname: n\ndescription: ''\nstatus: {}\n"
    head += "facets: {{}}\nsource_ids: []\nlinks: []\nattributes: {{}}\n"
    secret = "id: b\n" + head.format("excluded").replace("name: n", "name: the secret word")
    first = "id: a\n" + head.format("reviewed")
    (tmp_path / "a.yaml").write_text(f"---\n{first}# words on b, a secret too\n---\n{secret}", encoding="utf-8")
    checked = check_dataset(tmp_path)
    assert any(finding.field == "status" for finding in checked.findings)
    text = render_page(checked)
    assert "<mark>reviewed</mark>" in text
    assert "secret" not in text


def test_a_withheld_record_shows_no_line(tmp_path: Path) -> None:
    checked = check_dataset(mixed(tmp_path))
    assert checked.withheld
    assert "secret" not in render_page(checked, full=True)


def test_the_page_asks_no_other_place_and_its_policy_allows_its_own_style_and_script(seed: Checked) -> None:
    page = Page(render_page(seed))
    policy = next(meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    for text in (page.inside["style"][0], page.inside["script"][1]):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    for _, attributes in page.elements:
        assert not {"style", "onclick", "src", "action"} & set(attributes)
        assert attributes.get("href", "#").startswith(("#", "data:"))
    assert not re.search(r"url\(|@import|fetch\(|https?:", "".join(page.inside["style"] + page.inside["script"][1:]))


def test_every_anchor_leads_somewhere_and_no_id_stands_twice(odd: Checked, seed: Checked) -> None:
    for checked in (seed, odd):
        page = Page(render_page(checked))
        ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        targets = {a["href"][1:] for a in page.all("a")} | {s["aria-labelledby"] for s in page.all("section")}
        assert targets <= set(ids)


def test_hostile_texts_stay_texts(odd: Checked) -> None:
    text = render_page(odd)
    page = Page(text)
    assert len(page.all("script")) == 2
    assert "<script>alert" not in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\ud800-\udfff]", text)
    assert "alert(1)" in "".join(page.words)


def test_a_clean_data_set_says_so_and_needs_no_script(seed: Checked) -> None:
    page = Page(render_page(replace(seed, findings=[])))
    assert page.all("script") == []
    assert "Nothing here keeps a release from being made." in "".join(page.words)


def test_the_same_findings_give_the_same_page(seed: Checked) -> None:
    assert render_page(seed) == render_page(seed)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_the_filter_counts_all_findings_also_those_not_listed(seed: Checked, tmp_path: Path) -> None:
    many = [Finding("violation", "gap", "it is wrong", record="gena-lm", line=n) for n in range(1, 101)]
    page = tmp_path / "report.html"
    page.write_text(render_page(replace(seed, findings=[*many, *seed.findings])), encoding="utf-8")
    for address, said in (
        ("", f"All 284 findings; {184 + LISTED_PER_RULE} of them are listed below."),
        ("#?severity=warning", "177 findings of 284."),
        ("#?severity=violation&rule=gap", f"100 findings of 284; {LISTED_PER_RULE} of them are listed below."),
        ("#?severity=info&rule=gap", "0 findings of 284."),
    ):
        flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"
        command = ["chromium", *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
        done = subprocess.run([*command, page.as_uri() + address], capture_output=True, text=True, timeout=60)
        assert f'aria-live="polite">{said}</output>' in done.stdout
