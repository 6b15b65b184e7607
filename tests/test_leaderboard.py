"""Leaderboards: groups as the graph has them, every mark and every reason, loosened only on request."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest

from evkg.candidate import CONDITIONS
from evkg.compare import compare, find_conditions
from evkg.dotplot import shown
from evkg.errors import NotFoundError, UsageError
from evkg.leaderboard import MOST_AT_ONCE, Board, read_board
from evkg.leaderboard_group import Apart, Entry, Group, compare_all, sort_entries
from evkg.leaderboard_index import read_pairs
from evkg.leaderboard_table import COLUMNS, board_csv, board_json, comparison_csv
from evkg.lookup import Facts
from evkg.release import Release
from tests.builds import ROOT, SEED, build_draft, record, write_records

RECORDS = ROOT / "tests" / "records" / "comparable"


def i(name: str) -> str:
    return f"invented-result-{name}"


def short(ids: object) -> list[str]:
    return [str(one).removeprefix("invented-result-") for one in ids]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def invented(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(RECORDS, tmp_path_factory.mktemp("leaderboard"))


@pytest.fixture(scope="module")
def board(invented: Release) -> Board:
    return read_board(invented, protocol="invented-protocol", dataset="invented-data")


def apart_of(board: Board) -> dict[str, Apart]:
    found = [one for group in board.groups for one in group.apart] + [one for _, some in board.loose for one in some]
    return {one.entry.member.id.removeprefix("invented-result-"): one for one in found}


def first(board: Board) -> Group:
    return board.groups[0]


# ---- groups ----


def test_groups_are_those_of_the_graph(invented: Release) -> None:
    rows = invented.select(
        "SELECT ?id ?group { ?r evkg:recordId ?id ; foaf:primaryTopic ?t . ?t a evkg:Result "
        "OPTIONAL { ?t evkg:inComparisonGroup ?group } } ORDER BY ?id"
    )
    in_graph: dict[str, set[str]] = {}
    for row in rows:
        if row["group"]:
            in_graph.setdefault(row["group"], set()).add(row["id"])
    groups, loose = compare_all(Facts(invented), [row["id"] for row in rows])
    found = {group.iri: {member.id for member in group.members} for group in groups}
    assert found == {iri: ids for iri, ids in in_graph.items() if len(ids) > 1}
    everywhere = [member.id for group in groups for member in group.members]
    everywhere += [one.entry.member.id for group in groups for one in group.apart]
    everywhere += [one.entry.member.id for _, some in loose for one in some]
    assert sorted(everywhere) == [row["id"] for row in rows]


def test_every_group_may_be_compared_and_has_the_ranks_of_a_comparison(invented: Release, board: Board) -> None:
    for group in board.groups:
        answer = compare(invented, [member.id for member in group.members])
        assert answer.compatible
        expected = {m.id: (m.rank, m.is_best, set(m.ties), set(m.overlaps)) for m in answer.members}
        assert {m.id: (m.rank, m.is_best, set(m.ties), set(m.overlaps)) for m in group.members} == expected
        assert group.shared == answer.shared


def test_the_first_group_is_the_largest_and_stands_best_first(board: Board) -> None:
    group = first(board)
    assert short(m.id for m in group.members) == [
        "best",
        "finer",
        "base",
        "tie",
        "fallback-a",
        "fallback-b",
        "none-qualifier",
    ]
    assert [m.rank for m in group.members] == [1, 2, 2, 3, 5, 6, 7]
    assert [m.is_best for m in group.members] == [True, False, False, False, False, False, False]
    assert (group.metric, group.unit, group.direction) == ("Accuracy", "Fraction", "higher")


def test_where_lower_is_better_the_lowest_is_the_best(board: Board) -> None:
    group = next(group for group in board.groups if group.metric == "Peak memory")
    assert [(m.printed_value, m.is_best) for m in group.members] == [("5.6", True), ("6.70", False)]


def test_a_tie_for_the_first_place_shares_the_mark(invented: Release) -> None:
    groups, _ = compare_all(Facts(invented), [i("base"), i("tie"), i("none-qualifier")])
    assert [(m.printed_value, m.is_best) for m in groups[0].members] == [
        ("0.87", True),
        ("0.870", True),
        ("0.5", False),
    ]


def test_a_bound_and_intervals_of_stated_kinds(board: Board) -> None:
    group = next(group for group in board.groups if group.metric == "Area under the ROC curve")
    assert short(e.member.id for e in group.entries) == ["interval-b", "interval-a", "interval-c", "bound"]
    assert [e.interval_kind for e in group.entries] == [
        "Standard deviation",
        "Confidence interval",
        "Standard error",
        None,
    ]
    assert group.entries[1].interval == (Decimal("0.89"), Decimal("0.93"))
    assert group.members[3].rank is None


def test_an_interval_whose_kind_nobody_states_is_not_drawn(tmp_path: Path) -> None:
    text = (RECORDS / "groups.yaml").read_text(encoding="utf-8")
    (tmp_path / "graph").mkdir()
    for file in RECORDS.iterdir():
        (tmp_path / "graph" / file.name).write_bytes(file.read_bytes())
    assert text.count("type: confidence_interval, ") == 1
    (tmp_path / "graph" / "groups.yaml").write_text(text.replace("type: confidence_interval, ", ""), encoding="utf-8")
    release = build_draft(tmp_path / "graph", tmp_path / "out")
    groups, _ = compare_all(Facts(release), [i("interval-a"), i("interval-b")])
    kinds = {e.member.id: (e.interval, e.interval_kind) for e in groups[0].entries}
    assert kinds[i("interval-a")] == (None, None)
    assert kinds[i("interval-b")][1] == "Standard deviation"


def test_other_groups_say_in_what_they_differ_from_the_first(board: Board) -> None:
    assert first(board).differs == ()
    percent = next(group for group in board.groups if group.unit == "Percent")
    assert percent.differs == (("unit", "Percent", "Fraction"),)
    subset = next(group for group in board.groups if "subset" in group.shared)
    assert subset.differs == (("subset", "hard half", "none"),)


# ---- why not ----


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("citing-doubted", "open_concern", "An open concern stands against: Two tables contradict each other."),
        ("unchecked", "not_checked", "This was not checked against its source: has the status Discovered."),
        ("disputed", "doubtful", "evaluation invented-eval-disputed has the status Disputed"),
        ("compiled", "quoted", "Quoted from where it was first reported: origin of invented-eval-compiled."),
        ("no-number", "no_number", "There is no finite number to compare: inapplicable."),
        ("unknown-budget", "unknown", "Budget is not known: invented-eval-unknown-budget says"),
        ("differs-split", "different", "Different split: test, changed; above: test."),
        ("differs-metric-direction", "different", "Different metric direction: Lower is better; above: Higher is"),
    ],
)
def test_a_result_outside_stands_beneath_with_its_reason(board: Board, name: str, kind: str, words: str) -> None:
    one = apart_of(board)[name]
    assert one.reasons[0].kind == kind
    assert any(words in reason.text for reason in one.reasons)
    assert one.entry.member.rank is None
    assert not one.entry.member.is_best


def test_every_condition_that_differs_is_told(board: Board) -> None:
    found = apart_of(board)
    for condition in CONDITIONS:
        one = found.get(f"differs-{condition.key.replace('_', '-')}")
        if one is not None and condition.key not in ("unit", "metric"):
            assert [(r.dimension, r.kind) for r in one.reasons] == [(condition.key, "different")]


def test_reasons_are_those_of_a_comparison_with_the_group(invented: Release, board: Board) -> None:
    for group in board.groups:
        for one in group.apart:
            answer = compare(invented, [group.members[0].id, one.entry.member.id])
            expected = {(r.dimension, r.kind) for r in answer.reasons if r.dimension is not None}
            assert {(r.dimension, r.kind) for r in one.reasons} == expected, one.entry.member.id


def test_results_of_a_metric_without_any_group_say_so(board: Board) -> None:
    loose = dict(board.loose)
    assert short(one.entry.member.id for one in loose["Inference throughput"]) == ["samples", "tokens"]
    assert "the nearest differ in unit" in loose["Inference throughput"][0].reasons[0].text
    assert "metric not recorded" in loose


# ---- loosened ----


def test_nothing_is_left_out_by_default_and_on_request_it_is_named(invented: Release, board: Board) -> None:
    assert board.ignored == ()
    loose = read_board(invented, protocol="invented-protocol", dataset="invented-data", ignore=["comparison.budget"])
    assert [condition.key for condition in loose.ignored] == ["budget"]
    ids = short(m.id for m in first(loose).members)
    assert {"differs-budget", "unknown-budget", "base"} <= set(ids)
    assert first(loose).iri is None
    assert first(loose).within == ("budget: 1 GPU hour; 1 GPU hour, changed; not known",)
    assert first(loose).key != first(board).key


def test_what_blocks_a_result_itself_is_never_lifted(invented: Release) -> None:
    every = [condition.key for condition in CONDITIONS]
    loose = read_board(invented, protocol="invented-protocol", dataset="invented-data", ignore=every)
    for name in ("doubted", "unchecked", "disputed", "compiled", "no-number"):
        assert name in apart_of(loose), name


def test_percents_stand_beside_fractions_as_fractions_where_the_unit_is_left_out(invented: Release) -> None:
    groups, _ = compare_all(Facts(invented), [i("base"), i("percent")], find_conditions(["unit"]))
    assert [(e.member.printed_value, e.value, e.decimals) for e in groups[0].entries] == [
        ("87.3", Decimal("0.873"), 3),
        ("0.87", Decimal("0.87"), 2),
    ]
    assert groups[0].unit is None


@pytest.mark.parametrize(
    ("names", "is_one"),
    [
        (("base", "percent"), True),
        (("gb-a", "gib-a"), False),
        (("samples", "tokens"), False),
        (("base", "unknown-unit"), False),
    ],
)
def test_numbers_lie_on_one_scale_only_in_one_unit_or_as_shares(
    invented: Release, names: tuple[str, str], is_one: bool
) -> None:
    groups, _ = compare_all(Facts(invented), [i(name) for name in names], find_conditions(["unit"]))
    assert groups[0].is_one_scale is is_one
    assert len(shown(groups[0])) == (2 if is_one else 0)


def test_what_lies_on_no_one_scale_is_ordered_unit_by_unit(invented: Release) -> None:
    loose = read_board(invented, protocol="invented-protocol", dataset="invented-data", ignore=["unit"])
    group = first(loose)
    assert not group.is_one_scale
    units = [member.unit for member in group.members]
    assert units == sorted(str(unit) for unit in units)
    assert set(units) >= {"Fraction", "Percent"}
    assert not any(member.is_best for member in group.members)


# ---- choices and orders ----


def test_a_leaderboard_can_be_narrowed_and_counts_truly(invented: Release, board: Board) -> None:
    counts = {choice.key: choice.count for choice in board.metrics}
    assert counts["accuracy"] == 51
    narrow = read_board(invented, protocol="invented-protocol", dataset="invented-data", metric="auroc")
    assert (narrow.results, narrow.metric) == (4, ("auroc", "Area under the ROC curve"))
    wide = read_board(invented, protocol="invented-protocol")
    assert {choice.key: choice.count for choice in wide.datasets}["invented-data-hard"] == 2
    names = [choice.name for choice in read_board(invented, dataset="invented-data").protocols]
    assert names == sorted(names)
    assert len(names) == 4


@pytest.mark.parametrize("by", ["best", "-best", "value", "-value", "system", "-system", "source"])
def test_orders(board: Board, by: str) -> None:
    entries = sort_entries(first(board).entries, by, "higher")
    assert {e.member.id for e in entries} == {m.id for m in first(board).members}
    values = [e.value for e in entries if e.value is not None]
    if by in ("best", "-value"):
        assert all(a >= b for a, b in pairwise(values))
    elif by in ("value", "-best"):
        assert all(a <= b for a, b in pairwise(values))
    elif by == "system":
        assert [e.member.system for e in entries] == sorted(str(e.member.system) for e in entries)


def test_what_cannot_be(invented: Release, board: Board) -> None:
    with pytest.raises(NotFoundError, match="invented-protocol"):
        read_board(invented, protocol="invented-protokol")
    with pytest.raises(UsageError, match="protocol or a data set"):
        read_board(invented)
    with pytest.raises(UsageError, match="no condition"):
        read_board(invented, dataset="invented-data", ignore=["colour"])
    with pytest.raises(UsageError, match="no order"):
        sort_entries(first(board).entries, "luck", "higher")
    with pytest.raises(NotFoundError, match="no group"):
        board.group("000000000000")


def test_a_data_set_with_very_many_results_wants_narrowing(tmp_path: Path) -> None:
    def link(relation: str, target: str) -> dict[str, str]:
        return {"relation": relation, "target_id": target}

    runs = [
        record(f"e-{n}", "evaluation", links=[link("assessment", f"p-{n % 2}"), link("data", "d"), link("system", "s")])
        for n in range(2)
    ]
    results = [
        record(f"r-{n}", "result", links=[link("evaluation", f"e-{n % 2}")], attributes={"metric": "accuracy"})
        for n in range(MOST_AT_ONCE + 1)
    ]
    named = [record("d", "dataset"), record("s", "model"), record("p-0", "protocol"), record("p-1", "protocol")]
    release = build_draft(write_records(tmp_path / "r.jsonl", *named, *runs, *results), tmp_path / "out")
    board = read_board(release, dataset="d")
    assert (board.is_wide, board.results, board.groups, board.loose) == (True, MOST_AT_ONCE + 1, (), ())
    assert [choice.count for choice in board.protocols] == [101, 100]
    assert not read_board(release, dataset="d", metric="accuracy").is_wide
    assert len(read_board(release, dataset="d", everything=True).loose[0][1]) == MOST_AT_ONCE + 1


# ---- the list, and the forms for programs ----


def test_the_list_counts_groups_of_two_and_more(invented: Release) -> None:
    pairs = read_pairs(invented)
    top = pairs[0]
    assert (top.protocol, top.dataset) == ("invented-protocol", "invented-data")
    assert (top.results, top.groups, top.comparable) == (64, 6, 20)
    for pair in pairs:
        groups = read_board(invented, protocol=pair.protocol, dataset=pair.dataset).groups
        assert (pair.groups, pair.comparable) == (len(groups), sum(len(group.entries) for group in groups)), pair


def test_csv_and_json_say_what_the_board_says(board: Board) -> None:
    rows = list(csv.DictReader(io.StringIO(board_csv(board))))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == board.results
    best = next(row for row in rows if row["result"] == i("best"))
    assert (best["rank"], best["best"], best["printed_value"], best["not_compared_because"]) == (
        "1",
        "yes",
        "0.901",
        "",
    )
    doubted = next(row for row in rows if row["result"] == i("citing-doubted"))
    assert (doubted["rank"], doubted["group"]) == ("", "")
    assert doubted["not_compared_because"].startswith("An open concern stands against")
    document = board_json(board)
    assert document["groups"][0]["members"][3]["printed_value"] == "0.870"
    assert len(document["groups"][0]["beside"]) == len(first(board).apart)
    one = list(csv.DictReader(io.StringIO(board_csv(board, group=first(board)))))
    assert [row["result"] for row in one] == [m.id for m in first(board).members]


def test_a_selection_as_csv_has_the_reasons_beside_what_they_touch(invented: Release) -> None:
    rows = list(csv.DictReader(io.StringIO(comparison_csv(compare(invented, [i("base"), i("unknown-budget")])))))
    assert [bool(row["not_compared_because"]) for row in rows] == [False, True]


def test_seeds_have_no_group_and_every_result_says_why(tmp_path: Path) -> None:
    release = build_draft(SEED, tmp_path)
    for pair in read_pairs(release):
        board = read_board(release, protocol=pair.protocol, dataset=pair.dataset)
        assert board.groups == ()
        for _, found in board.loose:
            assert all(isinstance(one.entry, Entry) and one.reasons for one in found)
