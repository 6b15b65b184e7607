"""Charts: what is drawn, in words and in places; the same bytes each time; nothing hostile gets through."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from evkg.chart import HEAT, INK, POLICY, STYLE, Chart, Drawing, finish
from evkg.chart_renderer import WAITING, ChartError, ChartRenderer
from evkg.chart_text import clean, fit, text_width, wrap
from evkg.dotplot import MOST, dot_plot, is_log, tie_band
from evkg.gaps import Gaps, Tally, count_gaps
from evkg.heatmap import heat_map
from evkg.leaderboard import read_board
from evkg.leaderboard_group import Entry, Group
from evkg.model_diagram import ANY, model_csv, model_diagram, read_model
from evkg.provenance import provenance_csv, read_provenance
from evkg.provenance_diagram import provenance_diagram
from evkg.release import Release
from evkg.vocabulary import Vocabulary
from evkg.worker import WorkersBusyError
from tests.builds import DOUBTED_CONFIGURATION, REVIEWED, ROOT, SEED, build_draft, record, write_records

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</text><script>alert(1)</script> " \' & ]]> <!-- \x00\x1b\u202e role="x" \ud800 漢字 ' + "W" * 300


@pytest.fixture(scope="module")
def renderer() -> Iterator[ChartRenderer]:
    renderer = ChartRenderer()
    yield renderer
    renderer.close()


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Group]:
    release = build_draft(ROOT / "tests" / "records" / "comparable", tmp_path_factory.mktemp("charts"))
    board = read_board(release, protocol="invented-protocol", dataset="invented-data")
    found: dict[str, Group] = {}
    for group in board.groups:
        found.setdefault(group.metric, group)
    return found


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(SEED, tmp_path_factory.mktemp("charts-seeds"))


def parse(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - our own


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in parse(svg).iter(f"{SVG}text")]


def marked(group: Group, *changes: dict[str, Any]) -> Group:
    """The group with other entries, made of its first."""
    first = group.entries[0]
    entries = []
    for number, change in enumerate(changes):
        rest = {name: change[name] for name in change if name in Entry.__dataclass_fields__}
        member = {name: change[name] for name in change if name not in rest}
        entries.append(replace(first, member=replace(first.member, id=f"r-{number}", **member), **rest))
    return replace(group, entries=tuple(entries))


def values_of(chart: Chart, number: int) -> list[dict[str, Any]]:
    """The values behind one kind of mark in a plot: 0 band, 1 spans, 2 caps, 3 dots."""
    plot = next(mark for mark in chart.spec["marks"] if mark["type"] == "group")
    found: list[dict[str, Any]] = plot["data"][number]["values"]
    return found


# ---- every chart ----


def charts(groups: dict[str, Group], seeds: Release, vocabulary: Vocabulary) -> list[Chart]:
    made = [
        dot_plot(group, narrow=narrow)
        for group in groups.values()
        if len(group.entries) > 1
        for narrow in (False, True)
    ]
    gaps = count_gaps(SEED)
    for narrow in (False, True):
        made += [heat_map(gaps, narrow=narrow), model_diagram(read_model(vocabulary), narrow=narrow)]
        made += [provenance_diagram(read_provenance(seeds, one), narrow=narrow) for one in (REVIEWED, "gena-lm")]
    return made


def test_every_chart_is_well_formed_has_words_and_neither_script_nor_reference(
    groups: dict[str, Group], seeds: Release, vocabulary: Vocabulary, renderer: ChartRenderer
) -> None:
    for chart in charts(groups, seeds, vocabulary):
        svg = renderer.draw(chart)
        root = parse(svg)
        assert (root.get("width"), root.get("height")) == (str(chart.width), str(chart.height))
        assert root.get("role") == "img"
        assert [child.tag for child in root[:3]] == [f"{SVG}title", f"{SVG}desc", f"{SVG}style"]
        assert (root[0].text, root[1].text) == (chart.title, chart.description)
        assert root[2].text == STYLE
        assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
            *("svg", "title", "desc", "style", "g", "path", "text", "line", "rect"),
        }
        assert not re.search(
            r"href|url\(|javascript|http://(?!www\.w3\.org/2000/svg)|https:", svg.replace(chart.description, "")
        )


def test_charts_are_the_same_bytes_from_another_process(
    groups: dict[str, Group], seeds: Release, vocabulary: Vocabulary, renderer: ChartRenderer
) -> None:
    other = ChartRenderer()
    try:
        for chart in charts(groups, seeds, vocabulary):
            assert renderer.draw(chart) == other.draw(chart)
    finally:
        other.close()


def test_nothing_reaches_over_the_edge(groups: dict[str, Group], seeds: Release, vocabulary: Vocabulary) -> None:
    for chart in charts(groups, seeds, vocabulary):
        for item in next(data["values"] for data in chart.spec["data"] if data["name"] == "texts"):
            width = text_width(item["text"], item["size"], mono=item["font"] == "monospace")
            start = item["x"] - {"left": 0.0, "right": width, "center": width / 2}[item["align"]]
            assert start >= -1, (chart.title, item)
            assert start + width <= chart.width + 1, (chart.title, item)
            assert 0 < item["y"] < chart.height
        for item in next(data["values"] for data in chart.spec["data"] if data["name"] == "boxes"):
            assert item["x"] + item["w"] <= chart.width
            assert item["y"] + item["h"] <= chart.height


def test_the_policy_lets_exactly_its_style_be_read() -> None:
    assert "script" not in POLICY
    assert POLICY.startswith("default-src 'none'; style-src 'sha256-")
    assert all(f'[fill="{colour}"]' in STYLE for colour in (INK, *HEAT))


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_text_has_contrast_in_light_and_dark() -> None:
    from evkg.chart import _DARK, BAND, PAPER, SOFT, WASH

    for ground in (PAPER, WASH, BAND, *HEAT):
        assert contrast(INK, ground) >= 4.5, ground
        assert contrast(_DARK[INK], _DARK[ground]) >= 4.5, ground
    for ground in (PAPER, WASH, BAND):
        assert contrast(SOFT, ground) >= 4.5, ground
        assert contrast(_DARK[SOFT], _DARK[ground]) >= 4.5, ground


# ---- hostile texts ----


def test_hostile_texts_are_texts(groups: dict[str, Group], renderer: ChartRenderer) -> None:
    group = marked(groups["Accuracy"], {"system": HOSTILE, "printed_value": HOSTILE, "is_best": True}, {"system": "B"})
    for narrow in (False, True):
        svg = renderer.draw(dot_plot(replace(group, metric=HOSTILE), narrow=narrow))
        root = parse(svg)
        assert not list(root.iter(f"{SVG}script"))
        assert "<script" not in svg
        assert root[0].text is not None
        assert root[0].text.startswith("</text><script>alert(1)</script>")
        assert any(text.startswith("</text><script>") for text in texts(svg))


def test_what_looks_like_an_attribute_in_a_text_stays() -> None:
    chart = Chart("t", "d", 10, 10, {})
    svg = finish(chart, '<svg class="marks"><text role="x" x="1">a role="img" class="y" &lt;b&gt;</text></svg>')
    assert '<text x="1">a role="img" class="y" &lt;b&gt;</text>' in svg


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "a\u202eb", "a\ufffeb", "\x1b[31m"])
def test_clean_leaves_nothing_that_xml_cannot_hold(text: str) -> None:
    parse(f"<a>{clean(text).replace('<', '')}</a>")
    assert "\u202e" not in clean(text)


@pytest.mark.parametrize("room", [30, 60, 120, 400])
@pytest.mark.parametrize(
    "text", ["Nucleotide Transformer v2 500M multi species", "a" * 200, "漢字" * 40, "", "2026-11-01-abcdef"]
)
def test_texts_are_made_to_fit(text: str, room: float) -> None:
    assert text_width(fit(text, room)) <= room or fit(text, room) == "…"
    lines = wrap(text, room, most=3)
    assert 1 <= len(lines) <= 3
    assert all(text_width(line) <= room or line == "…" for line in lines)
    if text_width(text) > 3 * room:
        assert lines[-1].endswith("…")


def test_a_very_long_text_is_cut_in_no_time() -> None:
    start = time.process_time()
    for text in ("a" * 300_000, "a " * 150_000, "a-" * 150_000):
        fit(text, 200)
        assert len(wrap(text, 200)) <= 3
    assert time.process_time() - start < 5


# ---- dot plots ----


def test_a_dot_plot_prints_what_is_printed_and_marks_the_best_in_words(
    groups: dict[str, Group], renderer: ChartRenderer
) -> None:
    chart = dot_plot(groups["Accuracy"])
    found = texts(renderer.draw(chart))
    for printed in ("0.901 best", "0.873", "0.87", "0.870", "0.5", "higher is better →", "Accuracy (Fraction)"):
        assert printed in found, printed
    assert "best in this group" in found
    assert [dot["shape"] for dot in values_of(chart, 3)] == ["diamond", *["circle"] * 6]
    assert "Invented system D 0.901 (best)" in chart.description
    assert "Higher is better." in chart.description
    assert "← lower is better" in texts(renderer.draw(dot_plot(groups["Peak memory"])))


def test_systems_that_occur_twice_are_told_apart(groups: dict[str, Group]) -> None:
    chart = dot_plot(groups["Accuracy"])
    labels = [item["text"] for item in chart.spec["data"][3]["values"]]
    assert "Invented system A · base" in labels
    assert "Invented system C" in labels


def test_intervals_are_drawn_where_they_are_stated_and_bounds_point_to_what_they_leave_open(
    groups: dict[str, Group], renderer: ChartRenderer
) -> None:
    chart = dot_plot(groups["Area under the ROC curve"])
    assert [(span["a"], span["b"]) for span in values_of(chart, 1)] == [(0.9, 0.94), (0.89, 0.93), (0.79, 0.81)]
    assert values_of(chart, 3)[3]["shape"] == "triangle-left"
    found = texts(renderer.draw(chart))
    assert "confidence interval, standard deviation, standard error, as the record states it" in found
    assert "printed as a bound: it has no rank" in found


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (("1", "101"), True),
        (("1", "100"), False),
        (("0", "1000"), False),
        (("-1", "1000"), False),
        (("0.001", "0.2"), True),
    ],
)
def test_the_scale_is_logarithmic_over_more_than_two_decades(
    groups: dict[str, Group], numbers: tuple[str, str], expected: bool
) -> None:
    assert is_log([Decimal(number) for number in numbers]) is expected
    group = marked(groups["Accuracy"], *({"value": Decimal(n), "printed_value": n, "is_best": False} for n in numbers))
    chart = dot_plot(group)
    plot = next(mark for mark in chart.spec["marks"] if mark["type"] == "group")
    assert plot["scales"][0]["type"] == ("log" if expected else "linear")
    assert ("logarithmic" in chart.description) is expected
    low, high = plot["scales"][0]["domain"]
    assert all(low <= float(number) <= high for number in numbers)


def test_the_band_holds_the_best_that_cannot_be_told_apart(groups: dict[str, Group]) -> None:
    tied = [
        {"value": Decimal("0.87"), "decimals": 2, "is_best": True},
        {"value": Decimal("0.873"), "decimals": 3, "is_best": True},
        {"value": Decimal("0.5"), "decimals": 1, "is_best": False},
    ]
    group = marked(groups["Accuracy"], *tied)
    assert tie_band(group.entries) == (Decimal("0.865"), Decimal("0.878"))
    assert len(values_of(dot_plot(group), 0)) == 1
    assert tie_band(groups["Accuracy"].entries) is None
    assert values_of(dot_plot(groups["Accuracy"]), 0) == []


def test_a_large_group_shows_its_first_and_says_how_many_are_left(groups: dict[str, Group]) -> None:
    changes = [{"value": Decimal(n), "is_best": False, "system": f"s{n}"} for n in range(MOST + 5)]
    chart = dot_plot(marked(groups["Accuracy"], *changes))
    assert len(values_of(chart, 3)) == MOST
    assert "5 more stand in the table only" in [item["text"] for item in chart.spec["data"][3]["values"]]


@pytest.mark.parametrize("number", ["1e400", "1e-400", "-1e309"])
def test_numbers_that_no_scale_can_have_stand_in_the_table_only(
    groups: dict[str, Group], renderer: ChartRenderer, number: str
) -> None:
    group = marked(groups["Accuracy"], {"value": Decimal(number)}, {"value": Decimal(1)}, {"value": Decimal(0)})
    chart = dot_plot(group)
    assert [dot["x"] for dot in values_of(chart, 3)] == [1.0, 0.0]
    assert "1 more stand in the table only" in texts(renderer.draw(chart))


@pytest.mark.parametrize("numbers", [("5", "5"), ("0", "0"), ("-3", "7"), ("1e-90", "1e90"), ("1" * 30, "2" * 30)])
def test_any_other_numbers_have_a_place(
    groups: dict[str, Group], renderer: ChartRenderer, numbers: tuple[str, str]
) -> None:
    chart = dot_plot(marked(groups["Accuracy"], *({"value": Decimal(number)} for number in numbers)))
    svg = renderer.draw(chart)
    assert "NaN" not in svg
    assert len(values_of(chart, 3)) == 2


def test_an_entry_has_a_number_of_its_own_precision(groups: dict[str, Group]) -> None:
    found: dict[str | None, Entry] = {entry.member.printed_value: entry for entry in groups["Accuracy"].entries}
    assert (found["0.870"].value, found["0.870"].decimals) == (Decimal("0.870"), 3)


# ---- the heat map ----


def test_the_heat_map_has_a_tile_for_each_field_with_its_share(renderer: ChartRenderer) -> None:
    gaps = count_gaps(SEED)
    svg = renderer.draw(heat_map(gaps))
    found = texts(svg)
    assert found.count("uncertainty") == 2
    assert "86 %" in found
    tiles = [box for box in heat_map(gaps).spec["data"][0]["values"] if box["fill"] in HEAT and box["w"] > 100]
    assert len(tiles) == len(gaps.rows("kind"))


def test_a_field_that_applies_to_nothing_has_no_share() -> None:
    gaps = Gaps(1, {("result", "unit"): Tally(inapplicable=3)}, {("result", "unit"): True})
    labels = [item["text"] for item in heat_map(gaps).spec["data"][3]["values"]]
    assert any(label.startswith("applies to") for label in labels)
    assert "0 %" not in labels


# ---- provenance ----


def test_the_way_to_a_reviewed_result(seeds: Release, renderer: ChartRenderer) -> None:
    way = read_provenance(seeds, REVIEWED)
    facts = {(step.title, fact.label): fact for step in way.steps for fact in step.facts}
    assert facts["Retrieved", "from"].text == "openreview.net"
    assert facts["Retrieved", "at"].text.startswith("2026-10-15")
    assert facts["Reviewed", "by"].text.endswith("(a program)")
    assert facts["Reviewed", "these are"].text == "the bytes that were retrieved"
    assert facts["Extracted", "by"].is_gap
    assert way.extracted.is_gap
    found = texts(renderer.draw(provenance_diagram(way)))
    assert [word for word in found if word in ("Source", "Retrieved", "Extracted", "Reviewed", "This record")] == [
        *("Source", "Retrieved", "Extracted", "Reviewed", "This record"),
    ]
    assert f"{facts['Retrieved', 'SHA-256 of the bytes'].text[:12]}…" in found


def test_gaps_are_drawn_as_gaps_with_their_reason(seeds: Release) -> None:
    way = read_provenance(seeds, DOUBTED_CONFIGURATION)
    retrieved = way.origins[0].retrieved
    assert retrieved.facts[0].text == "unextracted (nobody has looked yet)"
    assert way.reviewed.is_gap
    boxes = provenance_diagram(way).spec["data"][0]["values"]
    assert [bool(box["dash"]) for box in boxes] == [False, True, True, True, False]


def test_several_sources_some_outside_and_no_source_at_all(tmp_path: Path, renderer: ChartRenderer) -> None:
    sources = [record(f"s-{n}", "source", attributes={"artifact_sha256": f"{n}" * 64}) for n in range(4)]
    many = record(
        "m",
        "model",
        source_ids=["s-0", "gone", "s-1", "s-2", "s-3"],
        attributes={"review": {"reviewer": ["someone"], "artifact_sha256": "f" * 64, "date": "2026-01-02"}},
    )
    release = build_draft(write_records(tmp_path / "r.jsonl", *sources, many, record("n", "model")), tmp_path / "out")
    way = read_provenance(release, "m", most=3)
    assert (len(way.origins), way.more) == (3, 2)
    assert way.origins[1].source.facts[0].text == "gone (outside this release)"
    said = {fact.label: fact.text for fact in way.reviewed.facts}
    assert said["by"] == "someone (a person, or a program that is not listed)"
    assert said["these are"] == "other bytes than retrieved"
    for narrow in (False, True):
        assert "2 more sources are in the list" in texts(renderer.draw(provenance_diagram(way, narrow=narrow)))
    assert read_provenance(release, "n").origins[0].source.facts[0].text == "no source is cited"
    assert provenance_csv(read_provenance(release, "m")).count('"Source","') == 5 * 2 - 1


def test_a_source_is_its_own_source(seeds: Release) -> None:
    source = read_provenance(seeds, REVIEWED).origins[0].source.record
    assert read_provenance(seeds, source).origins[0].source.record == source


# ---- the model ----


def test_the_model_has_every_kind_and_every_link(vocabulary: Vocabulary, renderer: ChartRenderer) -> None:
    model = read_model(vocabulary)
    assert sum(len(kinds) for kinds in model.boxes.values()) == len(vocabulary.kinds)
    assert {relation.key for relation in model.relations} == set(vocabulary.relations)
    assert list(model.boxes)[-1] == ANY
    found = texts(renderer.draw(model_diagram(model)))
    for relation in model.relations:
        assert any(text.startswith(f"{relation.label} → {relation.to_words}") for text in found), relation
    assert model_csv(model).count("\n") == len(model.relations) + 1


def test_a_link_leads_to_the_box_of_its_kind(vocabulary: Vocabulary) -> None:
    found = {(r.key, r.origin): r.target for r in read_model(vocabulary).relations}
    assert found["assessed_by", "use case"] == "assessment"
    assert found["evaluation", "result"] == "evaluation"
    assert found["subject", "claim"] == ANY


# ---- the renderer ----


def small(number: int = 0) -> Chart:
    drawing = Drawing(50, 20)
    drawing.text(0, 10, str(number))
    return drawing.chart("t", "d")


def test_a_chart_is_drawn_once_and_kept_within_a_bound() -> None:
    made: list[int] = []

    def make(number: int) -> Chart:
        made.append(number)
        return small(number)

    sizer = ChartRenderer()
    renderer = ChartRenderer(kept=4 * len(sizer.draw(small())))
    sizer.close()
    try:
        for number in (0, 0, 1, 2, 3, 4, 0):
            assert f">{number}</text>".encode() in renderer.svg((str(number),), partial(make, number))
        assert made == [0, 1, 2, 3, 4, 0]
    finally:
        renderer.close()


def test_a_process_that_was_killed_is_started_again(renderer: ChartRenderer) -> None:
    expected = renderer.draw(small())
    process = renderer._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    assert renderer.draw(small()) == expected
    assert process.stdin is not None
    assert process.stdin.closed


def test_a_process_that_was_killed_leaves_nothing_behind() -> None:
    renderer = ChartRenderer()
    renderer.draw(small())
    process = renderer._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    end = time.monotonic() + 20
    while Path(f"/proc/{process.pid}").exists():  # until somebody has waited for it
        assert time.monotonic() < end
        time.sleep(0.01)
    renderer.close()
    with pytest.raises(WorkersBusyError, match="being stopped"):
        renderer.draw(small())


def test_closing_ends_what_is_being_drawn() -> None:
    renderer = ChartRenderer()
    renderer.draw(small())
    process = renderer._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)  # it will never answer
    failures: list[Exception] = []

    def draw() -> None:
        try:
            renderer.draw(small())
        except WorkersBusyError as error:
            failures.append(error)

    thread = Thread(target=draw)
    thread.start()
    while not renderer._drawing.locked():
        time.sleep(0.01)
    begun = time.monotonic()
    renderer.close()
    thread.join()
    assert (len(failures), time.monotonic() - begun < 5, process.poll()) == (1, True, -signal.SIGKILL)


def test_what_cannot_be_drawn_is_an_error_and_the_next_is_drawn(renderer: ChartRenderer) -> None:
    with pytest.raises(ChartError):
        renderer.draw(replace(small(), spec={"marks": [{"type": "no such mark"}]}))
    assert "<text" in renderer.draw(small())


def test_a_chart_that_takes_too_long_is_given_up() -> None:
    renderer = ChartRenderer(seconds=0.001)
    try:
        with pytest.raises(WorkersBusyError, match="in time"):
            renderer.draw(small())
        assert renderer._process is None
    finally:
        renderer.close()


def test_no_more_wait_than_may(monkeypatch: pytest.MonkeyPatch) -> None:
    renderer = ChartRenderer(seconds=5)
    renderer._drawing.acquire()
    threads = [Thread(target=lambda: renderer.draw(small())) for _ in range(WAITING)]
    try:
        for thread in threads:
            thread.start()
        while renderer._room.acquire(blocking=False):  # until all of them wait
            renderer._room.release()
            time.sleep(0.01)
        with pytest.raises(WorkersBusyError, match="Too many"):
            renderer.draw(small())
    finally:
        renderer._drawing.release()
        for thread in threads:
            thread.join()
        renderer.close()


def test_the_process_reads_no_address_and_ends_with_its_pipe() -> None:
    spec = {
        **small().spec,
        "data": [{"name": "d", "url": "file:///etc/passwd", "format": {"type": "dsv", "delimiter": ":"}}],
    }
    renderer = ChartRenderer()
    try:
        with contextlib.suppress(ChartError):
            assert "root" not in renderer.draw(replace(small(), spec=spec))
    finally:
        renderer.close()
    done = subprocess.run(
        [sys.executable, "-m", "evkg.chart_process"], input=b"", capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")
