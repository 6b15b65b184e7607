"""What a reader is told of one record, and the text of it for a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evkg.release import Release
from evkg.release import open as open_release
from evkg.terminal import render_table, render_view
from evkg.view import View, view_record
from tests.builds import (
    ASPIDOVA,
    BATCH_256,
    DOUBTED_CONFIGURATION,
    DOUBTED_RESULTS,
    DOUBTED_SOURCE,
    PRINTED,
    REVIEWED,
    SAADAT,
    THROUGHPUT_256,
    THROUGHPUT_512,
    build_draft,
    record,
    write_records,
)


@pytest.fixture(scope="module")
def release(workspace: Path) -> Release:
    return open_release(workspace / "build/current")


def draft(tmp_path: Path, *records: dict[str, object]) -> Release:
    return build_draft(write_records(tmp_path / "r.jsonl", *records), tmp_path / "out")


# ---- Values ----


@pytest.mark.parametrize(("record_id", "printed"), PRINTED.items())
def test_what_the_source_prints_is_shown_exactly(release: Release, record_id: str, printed: str) -> None:
    view = view_record(release, record_id)
    assert view.headline is not None
    assert view.headline[0] == printed
    assert view.values_by_key["printed_value"] == printed
    text = render_view(view)
    assert f"\n  {printed}\n" in text
    assert f"\n  Printed value: {printed}\n" in text or f": {printed}\n" in text


def test_a_metric_is_shown_with_its_direction_unit_and_qualifier(release: Release) -> None:
    headline = view_record(release, REVIEWED).headline
    assert headline is not None
    assert headline[1] == (
        "Peak memory · ↓ lower is better · unit Gigabyte · Embedding inference with 4-bit weights; "
        "the paper calls it parameter memory in Section 2.4 and peak memory in Figure 5"
    )


@pytest.mark.parametrize("record_id", [THROUGHPUT_256, THROUGHPUT_512])
def test_a_result_without_a_printed_value_says_why_and_invents_none(release: Release, record_id: str) -> None:
    view = view_record(release, record_id)
    assert view.headline is not None
    assert view.headline[0] == "no printed value: unextracted"
    assert "printed_value" not in view.values_by_key
    (gap,) = [gap for gap in view.gaps if gap.key == "printed_value"]
    assert gap.reason == "unextracted"
    assert gap.note is not None
    assert "rounded for display" in gap.note


@pytest.mark.parametrize(("written", "shown"), [(5, "5"), (0, "0"), (5.25, "5.25"), (" 5.0 ", " 5.0 "), (True, "true")])
def test_a_printed_value_that_is_no_text_is_still_the_headline(tmp_path: Path, written: Any, shown: str) -> None:
    view = view_record(draft(tmp_path, record("r", "result", attributes={"printed_value": written})), "r")
    assert view.headline is not None
    assert view.headline[0] == shown


@pytest.mark.parametrize(
    "word", ["unreported", "Unknown", "not reported", "Not_Reported", "n/a", "N.A.", "NA", "-", "—", "None", " n/a "]
)
def test_a_reason_that_is_written_as_a_printed_value_is_marked(tmp_path: Path, word: str) -> None:
    view = view_record(draft(tmp_path, record("r", "result", attributes={"printed_value": word})), "r")
    assert view.headline is not None
    assert view.headline[0] == f"printed as: {word} (a reason written as a value)"


@pytest.mark.parametrize("attributes", [{"printed_value": ""}, {"printed_value": "  "}, {"printed_value": None}, {}])
def test_a_headline_is_never_empty(tmp_path: Path, attributes: dict[str, Any]) -> None:
    view = view_record(draft(tmp_path, record("r", "result", attributes=attributes)), "r")
    assert view.headline is not None
    assert view.headline[0] in (
        "printed as: (empty) (a reason written as a value)",
        "no printed value: not recorded",
        "no printed value: unextracted",
    )


@pytest.mark.parametrize("printed", ["n.s.", "-5", "r = 1.00", "< 0.001", "5 (unreported unit)", "nano", "12/15"])
def test_what_only_looks_like_a_reason_is_a_value(tmp_path: Path, printed: str) -> None:
    view = view_record(draft(tmp_path, record("r", "result", attributes={"printed_value": printed})), "r")
    assert view.headline is not None
    assert view.headline[0] == printed


def test_a_result_names_what_was_tested_and_the_unit_as_printed(tmp_path: Path) -> None:
    links_of = [
        {"relation": "system", "target_id": "m"},
        {"relation": "assessment", "target_id": "t"},
        {"relation": "data", "target_id": "elsewhere"},
    ]
    evaluation = record("e", "evaluation", links=links_of)
    result = record(
        "r",
        "result",
        links=[{"relation": "evaluation", "target_id": "e"}],
        attributes={"printed_value": "5", "unit": "gigabyte", "unit_detail": "GB of GPU memory"},
    )
    view = view_record(draft(tmp_path, evaluation, result, record("m", "model"), record("t", "task")), "r")
    assert [(link.label, link.record_id, link.name) for link in view.tested] == [
        ("tested system", "m", "m"),
        ("protocol", "t", "t"),
        ("data set", "elsewhere", None),
        ("evaluation", "e", "e"),
    ]
    assert view.unit_as_printed == "GB of GPU memory"
    head = render_view(view).split("\nValues\n")[0]
    assert "  5\n  unit as printed: GB of GPU memory\n" in head
    assert "  tested system: m [m]\n  protocol: t [t]\n  data set: (outside this release) [elsewhere]\n" in head


def test_only_results_name_what_was_tested(release: Release) -> None:
    for record_id in release.record_ids:
        view = view_record(release, record_id)
        assert bool(view.tested) == (view.headline is not None)


def test_every_value_of_every_seed_record_is_shown(release: Release) -> None:
    for record_id in release.record_ids:
        view = view_record(release, record_id)
        text = render_view(view)
        attributes = release.record(record_id)["attributes"]
        assert isinstance(attributes, dict)
        for key, value in attributes.items():
            if isinstance(value, str):
                assert " ".join(value.split("\n")) in text, (record_id, key)


def test_free_objects_are_shown_leaf_by_leaf_with_their_path(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"batch": "16", "layers": [{"size": "1.50"}, {"size": "2"}], "flags": ["a", "b"]}
    settings |= {"none": None, "empty": {}}
    release = draft(tmp_path, record("c", "configuration", attributes={"configuration": settings}))
    values = view_record(release, "c").values_by_key
    assert values["configuration.batch"] == "16"
    assert values["configuration.layers.0.size"] == "1.50"
    assert values["configuration.layers.1.size"] == "2"
    assert values["configuration.flags"] == "a; b"
    assert values["configuration.none"] == "null"
    assert values["configuration.empty"] == "{}"


# ---- Gaps ----


def test_a_gap_shows_its_reason_the_meaning_and_the_note(release: Release) -> None:
    view = view_record(release, THROUGHPUT_256)
    (gap,) = [gap for gap in view.gaps if gap.key == "uncertainty"]
    meaning = release.vocabulary.schemes["missingness"].concepts["unreported"].definition
    assert (gap.reason, gap.meaning, gap.note) == ("unreported", meaning, "Mean of 10 timing runs; spread not printed")
    text = render_view(view)
    assert f"unreported ({meaning}) — Mean of 10 timing runs; spread not printed" in text


def test_explained_and_unexplained_gaps_are_apart(release: Release) -> None:
    view = view_record(release, f"{ASPIDOVA}config-aspidova2026-gena-base")
    assert view.unexplained
    explained = {gap.key for gap in view.gaps}
    assert not explained & set(view.unexplained)
    text = render_view(view)
    assert "\nNot recorded and not explained\n" in text
    for key in view.unexplained:
        assert key not in view.values_by_key


def contradictory() -> dict[str, Any]:
    reasons = {key: {"reason": "unreported"} for key in ("printed_value", "uncertainty", "coverage.scored", "review")}
    attributes = {
        "printed_value": "5",
        "uncertainty": {"type": "standard_deviation", "value": "0.1"},
        "coverage": {"scored": 5, "eligible": 6},
        "review": {"method": ["transcription"]},
        "numeric_value": None,
        "missing_metadata": {**reasons, "numeric_value": {"reason": "unextracted"}, "unit": {"reason": "unreported"}},
    }
    return record("r", "result", attributes=attributes)


def test_a_field_with_a_value_and_a_reason_says_so_at_both_places(tmp_path: Path) -> None:
    view = view_record(draft(tmp_path, contradictory()), "r")
    assert {gap.key for gap in view.gaps if gap.has_value} == {
        "printed_value",
        "uncertainty",
        "coverage.scored",
        "review",
    }
    doubted = {value.key: value.also_missing for value in (*view.values, *view.review) if value.also_missing}
    assert doubted == dict.fromkeys(
        ("printed_value", "uncertainty.type", "uncertainty.value", "coverage.scored", "review.method"), "unreported"
    )
    assert view.headline is not None
    assert view.headline[0] == "5"
    assert "the record also says that the printed value is missing (unreported)" in view.headline[1]
    text = render_view(view)
    assert text.count("[the record also says that this is missing: unreported]") == 5
    assert text.count("[the record also gives a value]") == 4


def test_a_record_without_gaps_has_no_section_for_them(tmp_path: Path) -> None:
    text = render_view(view_record(draft(tmp_path, record("t", "task")), "t"))
    assert "Missing, with the reason" not in text


# ---- Trust and concerns ----


@pytest.mark.parametrize("record_id", [*DOUBTED_RESULTS, DOUBTED_CONFIGURATION, DOUBTED_SOURCE])
def test_the_concern_is_shown_on_everything_that_cites_the_source(release: Release, record_id: str) -> None:
    view = view_record(release, record_id)
    (concern,) = view.concerns
    assert concern.effect == "excludes"
    assert concern.message.startswith("Appendix B Table 2 and Figure 1")
    assert concern.locator == "Appendix B Table 2 (page 9); Figure 1 (page 4); Section 3.2.4"
    assert "1 open concern" in view.trust
    assert "Concern (excluded from comparisons): Appendix B Table 2" in render_view(view)


def test_no_other_record_has_a_concern(release: Release) -> None:
    for record_id in release.record_ids:
        if not record_id.startswith(ASPIDOVA):
            assert view_record(release, record_id).concerns == ()
    assert "no open concern" in view_record(release, REVIEWED).trust


def test_a_concern_that_only_warns_says_so(tmp_path: Path) -> None:
    concern = {"source_id": "s", "message": "odd", "effect": "warns"}
    release = draft(tmp_path, record("s", "source", attributes={"evidence_concerns": [concern]}))
    assert "Concern (warning): odd" in render_view(view_record(release, "s"))


def cited(**changes: Any) -> list[dict[str, Any]]:
    """A source, an evaluation that cites it, its result, and the system, which does not."""
    links_of = [{"relation": "system", "target_id": "m"}]
    return [
        record("s", "source", **changes),
        record("m", "model"),
        record("e", "evaluation", source_ids=["s"], links=links_of),
        record("r", "result", links=[{"relation": "evaluation", "target_id": "e"}]),
    ]


def test_a_result_has_the_concerns_of_its_evaluation(tmp_path: Path) -> None:
    concern = {"source_id": "s", "message": "odd"}
    release = draft(tmp_path, *cited(attributes={"evidence_concerns": [concern]}))
    for record_id in ("s", "e", "r"):
        view = view_record(release, record_id)
        assert [concern.message for concern in view.concerns] == ["odd"]
        assert "1 open concern" in view.trust
        assert "no open concern" not in view.trust
    assert "no open concern" in view_record(release, "m").trust


@pytest.mark.parametrize("concerns", ["odd", ["odd"], {"message": "odd"}], ids=str)
def test_a_concern_that_could_not_be_read_is_no_silence(tmp_path: Path, concerns: Any) -> None:
    release = draft(tmp_path, *cited(attributes={"evidence_concerns": concerns}))
    for record_id in ("s", "e", "r"):
        view = view_record(release, record_id)
        assert "a concern that could not be read" in view.trust
        assert "no open concern" not in view.trust
        text = render_view(view)
        assert "Concern (excluded from comparisons): a concern that could not be read" in text


def test_a_target_that_names_a_metric_of_the_vocabulary_is_understood(tmp_path: Path) -> None:
    concern = {"source_id": "s", "message": "odd", "targets": ["peak-memory"]}
    release = draft(tmp_path, *cited(attributes={"evidence_concerns": [concern]}))
    assert "1 open concern" in view_record(release, "s").trust
    assert "no open concern" in view_record(release, "r").trust


def test_a_concern_without_its_words_is_still_open(tmp_path: Path) -> None:
    release = draft(tmp_path, *cited(attributes={"evidence_concerns": [{"source_id": "s"}]}))
    view = view_record(release, "r")
    assert [concern.message for concern in view.concerns] == ["its text is missing or withheld"]
    assert "1 open concern" in view.trust


def test_an_automated_review_says_so_and_is_no_reproduction(release: Release) -> None:
    view = view_record(release, REVIEWED)
    assert view.trust[0] == "Source checked by an automated reviewer (claude), 2026-10-15T22:00:00Z"
    assert "a check of the transcription, not a reproduction" in view.trust
    assert {value.key for value in view.review} >= {"review.reviewer", "review.artifact_sha256", "review.note"}


def test_a_person_who_reviews_is_not_called_automated(tmp_path: Path) -> None:
    review = {"reviewer": ["jane-doe"], "reviewed_at": "2026-10-15"}
    release = draft(tmp_path, record("r", "result", status="source_checked", attributes={"review": review}))
    assert view_record(release, "r").trust[0] == "Source checked by a reviewer (jane-doe), 2026-10-15"


def test_a_record_without_a_review_does_not_pretend_one(release: Release) -> None:
    view = view_record(release, BATCH_256)
    assert view.trust[0].startswith("Source checked; ")
    assert "review" in view.trust[0]


def test_only_a_reproduction_is_not_called_a_check(tmp_path: Path) -> None:
    release = draft(tmp_path, record("r", "result", status="reproduced"))
    assert not any("not a reproduction" in part for part in view_record(release, "r").trust)


# ---- Links ----


def links(view: View) -> set[tuple[bool, str, str]]:
    return {(link.incoming, link.label, link.record_id) for link in view.links}


def test_links_go_out_and_come_in(release: Release) -> None:
    view = view_record(release, f"{ASPIDOVA}eval-aspidova2026-gena-base-throughput")
    outgoing = {record_id for incoming, _, record_id in links(view) if not incoming}
    assert outgoing == {
        DOUBTED_CONFIGURATION,
        f"{ASPIDOVA}protocol-aspidova2026-a100-inference-throughput",
        f"{ASPIDOVA}data-aspidova2026-fixed-length-tokens",
    }
    assert {record_id for incoming, _, record_id in links(view) if incoming} == set(DOUBTED_RESULTS)
    assert [link.record_id for link in view.sources] == [DOUBTED_SOURCE]
    assert all(link.name for link in (*view.links, *view.sources))


def test_a_source_shows_what_cites_it(release: Release) -> None:
    cited = {
        record_id for incoming, label, record_id in links(view_record(release, DOUBTED_SOURCE)) if label == "cited by"
    }
    assert {DOUBTED_CONFIGURATION, *DOUBTED_RESULTS} <= cited
    assert len(cited) == 8


def test_derived_links_are_not_shown_as_said(release: Release) -> None:
    view = view_record(release, DOUBTED_CONFIGURATION)
    assert {record_id for incoming, _, record_id in links(view) if incoming} == {
        f"{ASPIDOVA}eval-aspidova2026-gena-base-throughput"
    }


def test_a_record_outside_the_release_is_named_as_such(tmp_path: Path) -> None:
    data = record("m", "model", source_ids=["s"], links=[{"relation": "alias_of", "target_id": "elsewhere"}])
    view = view_record(draft(tmp_path, data), "m")
    assert [link.name for link in (*view.links, *view.sources)] == [None, None]
    assert "(outside this release) [elsewhere]" in render_view(view)


# ---- Terminal ----


def test_a_draft_says_so_below_every_record(tmp_path: Path) -> None:
    release = draft(tmp_path, record("r", "result"))
    assert not release.conforms
    assert render_view(view_record(release, "r")).endswith(f"Release {release.id} (DRAFT with violations)")


def test_no_text_of_a_record_steers_the_terminal(tmp_path: Path) -> None:
    odd = "\x1b[31mred\x07\u202e\r\n"
    data = record(
        "r",
        "result",
        name=f"name{odd}",
        description=odd,
        attributes={"printed_value": odd, f"key{odd}": odd, "missing_metadata": {odd: {"reason": odd, "note": odd}}},
    )
    text = render_view(view_record(draft(tmp_path, data), "r"))
    assert all(line.isprintable() for line in text.split("\n"))
    assert "\\x1b[31mred" in text


def test_a_table_fits_or_becomes_blocks() -> None:
    rows: list[list[str | None]] = [["NT 2.5B", "5.6"], ["GENA-LM", None]]
    assert render_table(["system", "value"], rows, width=40) == (
        "system   value\n-------  ---------\nNT 2.5B  5.6\nGENA-LM  (nothing)\n\n2 rows"
    )
    assert render_table(["system", "value"], rows, width=10).split("\n\n") == [
        "system  NT 2.5B\nvalue   5.6",
        "system  GENA-LM\nvalue   (nothing)",
        "2 rows",
    ]


def test_nothing_is_cut_off_in_a_narrow_terminal() -> None:
    words = [f"word{n}" for n in range(50)]
    text = render_table(["a"], [[" ".join(words)]], width=30)
    assert [word for word in text.split() if word.startswith("word")] == words


def test_wide_characters_keep_columns_in_line() -> None:
    lines = render_table(["a", "b"], [["日本", "x"], ["e\u0301", "y"]], width=40).splitlines()
    assert lines[2:4] == ["日本  x", "e\u0301     y"]


def test_an_empty_table_has_its_head_and_no_rows() -> None:
    assert render_table(["a", "b"], [], width=40) == "a  b\n-  -\n\n0 rows"
    assert render_table([], [], width=40).endswith("0 rows")


def test_cells_cannot_steer_the_terminal_or_break_the_table() -> None:
    text = render_table(["a"], [["x\ny\x1b[2J"]], width=40)
    assert "x y\\x1b[2J" in text


def test_the_name_of_a_system_is_that_of_its_record(release: Release) -> None:
    view = view_record(release, f"{SAADAT}config-nt-2-5b-4bit-inference")
    assert view.name == release.record(view.record_id)["name"]
