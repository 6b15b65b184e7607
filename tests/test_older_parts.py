"""Older uncertainties, coverages and reviews are read as the objects of today."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evkg.jsontext import NumberText, encode_json
from evkg.older import upgrade
from evkg.rewrite import joined, read_path

FIXED = settings(max_examples=200, deadline=None, derandomize=True, database=None)
LEVEL = NumberText("0.95")


def _result(**attributes: Any) -> Any:
    return upgrade({"kind": "result", "attributes": attributes}).data["attributes"]


@pytest.mark.parametrize(
    ("text", "lower", "upper", "level"),
    [
        ("95% CI 0.567–0.656", "0.567", "0.656", "0.95"),
        ("95% CI: 0.567-0.656", "0.567", "0.656", "0.95"),
        ("95 % CI [0.1, 0.2]", "0.1", "0.2", "0.95"),
        ("95% CI (-0.20 — -0.10)", "-0.20", "-0.10", "0.95"),
        ("95% CI −0.2 to 0.1", "-0.2", "0.1", "0.95"),
        ("0.61 (95% confidence interval 0.5–0.7)", "0.5", "0.7", "0.95"),
        ("99.5% CI 1e-3–2e-3", "1e-3", "2e-3", "0.995"),
        ("90% CI 1–2", "1", "2", "0.9"),
    ],
)
def test_the_text_of_an_interval_becomes_a_confidence_interval(text: str, lower: str, upper: str, level: str) -> None:
    expected = {"type": "confidence_interval", "printed": text, "lower": lower, "upper": upper}
    assert _result(uncertainty=text) == {"uncertainty": {**expected, "level": NumberText(level)}}


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("± 0.02", "0.02", "unresolved_spread"),
        ("0.61 ± 0.020", "0.020", "unresolved_spread"),
        ("+/- 3", "3", "unresolved_spread"),
        ("0.61 ± 0.02 (SD)", "0.02", "standard_deviation"),
        ("± .5, standard deviation over 3 seeds", ".5", "standard_deviation"),
        ("± 0.02 (SD or SEM not stated)", "0.02", "unresolved_spread"),
        ("± 0.02 SEM", "0.02", "unresolved_spread"),
        ("± 0.02 (95% CI)", "0.02", "unresolved_spread"),
    ],
)
def test_the_text_of_a_spread_is_a_deviation_only_where_it_says_so(text: str, value: str, kind: str) -> None:
    assert _result(uncertainty=text) == {"uncertainty": {"type": kind, "printed": text, "value": value}}


@pytest.mark.parametrize(
    "text",
    [
        "see Table 4",
        "± 0,5",
        "± 1×10-3",
        "± 0.1 and ± 0.2",
        "95% CI 0.1–0.2; 95% CI 0.3–0.4",
        "95% CI 1,234–1,300",
        "95% CI 0.1–0.2 ± 0.1",
        "±",
    ],
)
def test_other_text_is_kept_as_the_note_of_a_missing_entry(text: str) -> None:
    assert _result(uncertainty=text) == {"missing_metadata": {"uncertainty": {"reason": "unreported", "note": text}}}


def test_text_joins_the_note_of_an_entry_that_is_there() -> None:
    entries = {"uncertainty": {"reason": "unextracted", "note": "later"}}
    found = _result(uncertainty="see Table 4", missing_metadata=entries)
    assert found == {"missing_metadata": {"uncertainty": {"reason": "unextracted", "note": "later; see Table 4"}}}


@pytest.mark.parametrize("value", [None, "", "  "])
def test_nothing_is_unextracted_and_an_empty_text_only_where_no_rule_wants_an_uncertainty(value: Any) -> None:
    found = upgrade({"kind": "evaluation", "links": [], "attributes": {"uncertainty": value}})
    assert found.data["attributes"] == {"missing_metadata": {"uncertainty": {"reason": "unextracted"}}}
    nothing = {"missing_metadata": {"uncertainty": {"reason": "unextracted"}}} if value is None else {}
    assert _result(uncertainty=value) == nothing


@pytest.mark.parametrize(
    ("old", "entry"),
    [
        ({"status": "unreported"}, {"reason": "unreported"}),
        ({"status": "unavailable", "note": "n"}, {"reason": "unavailable", "note": "n"}),
        ({"status": "unreported", "n": 3}, {"reason": "unreported", "note": '{"n":3}'}),
    ],
)
def test_a_status_is_the_reason_of_a_missing_entry(old: Any, entry: Any) -> None:
    assert _result(uncertainty=old) == {"missing_metadata": {"uncertainty": entry}}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            {"kind": "confidence_interval", "low": "1", "high": "2", "confidence_level": "95%", "replicates": 9},
            {"type": "confidence_interval", "lower": "1", "upper": "2", "level": LEVEL, "resamples": 9},
        ),
        ({"level": "99.9 %"}, {"level": NumberText("0.999")}),
        ({"level": "0.90"}, {"level": NumberText("0.90")}),
        ({"level": "high"}, {"level": "high"}),
        ({"type": "standard_error", "reported_half_width": "2"}, {"type": "standard_error", "half_width": "2"}),
        (
            {"type": "standard_deviation", "printed_spread": "± 0.0060"},
            {"type": "standard_deviation", "printed": "± 0.0060", "value": "0.0060"},
        ),
        (
            {"type": "standard_deviation", "printed_value": NumberText("0.50"), "value": "0.5"},
            {"type": "standard_deviation", "printed": "0.50", "value": "0.5"},
        ),
        (
            {"type": "standard_deviation", "reported_spread": "about 3"},
            {"type": "standard_deviation", "printed": "about 3"},
        ),
        (
            {"type": "bootstrap_summary", "center": "0.2", "value": "0.1"},
            {"type": "standard_deviation", "center": "0.2", "value": "0.1", "method": "bootstrap"},
        ),
        (
            {"type": "bootstrap_summary", "mean": "0.2", "standard_deviation": "0.1", "method": "bootstrap_percentile"},
            {"type": "standard_deviation", "center": "0.2", "value": "0.1", "method": "bootstrap_percentile"},
        ),
        (
            {"type": "quartiles", "value": "1", "note": "n"},
            {"type": "unresolved_spread", "value": "1", "note": "n; type as written: quartiles"},
        ),
    ],
)
def test_an_older_object_is_read_with_the_names_of_today(old: Any, new: Any) -> None:
    before = copy.deepcopy(old)
    assert _result(uncertainty=old) == {"uncertainty": new}
    assert old == before


@pytest.mark.parametrize(
    "old",
    [
        {"type": "standard_error", "low": "1", "lower": "2"},
        {"type": "standard_error", "printed": "a", "printed_value": "b"},
        {"type": "standard_error", "status": "unreported", "value": "1"},
        {"type": 4},
        {},
        [1],
        7,
    ],
)
def test_an_ambiguous_object_is_kept_as_it_is(old: Any) -> None:
    assert _result(uncertainty=old) == {"uncertainty": old}


def test_two_printed_spreads_are_both_kept() -> None:
    found = _result(uncertainty={"type": "standard_error", "printed_spread": "a", "reported_spread": "b"})
    assert found == {"uncertainty": {"type": "standard_error", "printed": "a", "reported_spread": "b"}}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("12 / 34", {"scored": 12, "eligible": 34}),
        ("0/0", {"scored": 0, "eligible": 0}),
        ("12 of 34", {"note": "12 of 34"}),
        ("1,234 / 5,678", {"note": "1,234 / 5,678"}),
        ("٣/٤", {"note": "٣/٤"}),
        ({"scored": 1}, {"scored": 1}),
        (3, 3),
    ],
)
def test_the_text_of_a_coverage_is_two_counts_or_a_note(old: Any, new: Any) -> None:
    assert _result(coverage=old) == {"coverage": new}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"method": "transcription"}, {"method": ["transcription"]}),
        ({"method": ["a"], "reviewer": "codex"}, {"method": ["a"], "reviewer": ["codex"]}),
        ({"method": ["a"], "actor": "claude"}, {"method": ["a"], "reviewer": ["claude"]}),
        (
            {"method": ["a"], "reviewer": "Codex clinical worker"},
            {"method": ["a"], "reviewer_note": "Codex clinical worker"},
        ),
        ({"actor": "A person", "reviewer_note": "role: x"}, {"reviewer_note": "role: x; A person"}),
        ({"reviewer": ["codex", "A person", "B"]}, {"reviewer": ["codex"], "reviewer_note": "A person; B"}),
        ({"notes": "n"}, {"note": "n"}),
        ({"notes": "n", "note": "m"}, {"notes": "n", "note": "m"}),
        ({"notes": ["n"]}, {"notes": ["n"]}),
        ({"reviewed_at": "2026-10-01"}, {"date": "2026-10-01"}),
        ({"reviewed_at": "2026-10-01T10:00:00Z"}, {"reviewed_at": "2026-10-01T10:00:00Z"}),
        ({"reviewed_at": "2026-10-01", "date": "2026-09-01"}, {"reviewed_at": "2026-10-01", "date": "2026-09-01"}),
        ({"reviewer": "codex", "actor": "claude"}, {"reviewer": ["codex"], "actor": "claude"}),
        ({"reviewer": [], "method": []}, {"reviewer": [], "method": []}),
        ({"reviewer": [4]}, {"reviewer": [4]}),
        ("by hand", "by hand"),
    ],
)
def test_an_older_review_is_read_as_lists_and_notes(old: Any, new: Any) -> None:
    before = copy.deepcopy(old)
    assert _result(review=old) == {"review": new}
    assert old == before


def test_the_place_of_a_field_that_moved_twice_is_where_it_was_written() -> None:
    found = upgrade({"kind": "result", "attributes": {"review": {"actor": "A person"}}})
    assert found.source(("attributes", "review", "reviewer_note")) == ("attributes", "review", "actor")


def test_notes_are_joined_once() -> None:
    assert (joined("a", "a"), joined("", "b"), joined("a", "b")) == ("a", "b", "a; b")
    assert read_path({}, ("attributes", "x")) == ("attributes", "x")


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 9)
    | st.sampled_from(["", "95%", "± 1", "95% CI 1–2", "unreported", "codex", "A b", "2026-10-01", "/x", "1 / 2"])
    | st.builds(NumberText, st.sampled_from(["0.50", "1e3"])),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                "type kind status low lower high printed_value reported_spread value level note notes method reviewer "
                "actor reviewed_at date reviewer_note name version proposed_id reason mean".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(
    "uncertainty coverage review missing_metadata limitations caveats important_limitation uncertainty_note protocol "
    "uncertainty_reporting procedure run_url run_page population license licence review_method review_scope scope "
    "numeric_value undefined_reason derived_normalized_value protocol_version legacy_row family".split()
)
KINDS = st.sampled_from("result source protocol evaluation dataset configuration method".split())


@FIXED
@given(KINDS, st.dictionaries(KEYS, VALUES, max_size=6))
def test_any_record_is_upgraded_without_a_change_to_the_original(kind: str, attributes: dict[str, Any]) -> None:
    data: Any = {"kind": kind, "links": [], "attributes": attributes}
    before = encode_json(data)
    found = upgrade(data)
    assert encode_json(data) == before
    if _without_nothing(found.data["attributes"]) != _without_nothing(attributes):
        assert found.notes
    again = upgrade(found.data)
    assert again.data["links"] == found.data["links"]
    for path, message in found.notes:
        assert path[0] == "attributes"
        assert message.endswith(".")


def _without_nothing(attributes: Any) -> dict[str, Any]:
    """What is empty may go without a note: the rule that wants a field speaks about it."""
    empty = {key for key, value in attributes.items() if value in (None, [], {}) or str(value).isspace() or value == ""}
    return {key: value for key, value in attributes.items() if key not in empty}


@FIXED
@given(KINDS, st.dictionaries(KEYS, VALUES, max_size=6))
def test_every_text_of_an_older_record_is_found_again(kind: str, attributes: dict[str, Any]) -> None:
    """Words of a record are in its current shape; only reasons, nulls and rewritten numbers may change."""
    marked = _mark(attributes, [0])
    found = encode_json(upgrade({"kind": kind, "links": [], "attributes": marked}).data)
    for word in _marks(marked):
        assert word in found


def _mark(value: Any, count: list[int]) -> Any:
    if isinstance(value, dict):
        return {key: _mark(inner, count) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mark(inner, count) for inner in value]
    if isinstance(value, str) and type(value) is str:
        count[0] += 1
        return f"{value} w{count[0]}w".strip()
    return value


def _marks(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [mark for inner in value.values() for mark in _marks(inner)]
    if isinstance(value, list):
        return [mark for inner in value for mark in _marks(inner)]
    return [value.rsplit(" ", 1)[-1]] if type(value) is str else []


@pytest.mark.parametrize("text", ["0.004", "4", "0,5", "1e-3", "0.4 %"])
def test_a_number_alone_is_not_taken_for_silence_of_the_source(text: str) -> None:
    assert _result(uncertainty=text) == {"uncertainty": text}
