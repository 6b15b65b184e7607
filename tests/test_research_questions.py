"""The questions of researchers and meta-scientists, on the seeds and on invented records that hold the hard cases.

The expected answers were worked out by hand from the records; `compare` and a reading of the YAML files stand beside.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from evkg.build import build_release
from evkg.compare import compare
from evkg.questions import find_question
from evkg.release import Release
from tests.asking import Rows, ask
from tests.builds import AT, DOUBTED_RESULTS, REVIEWED, ROOT, SEED, build_draft

RECORDS = ROOT / "tests" / "records"
#: The questions whose rows are results or pairs of them, with a metric of the invented records where they take one.
OF_RESULTS = {
    "author-and-independent": {},
    "bare-values": {"metric": "peak-memory"},
    "comparable-with": {"of": "ia-result-author"},
    "hardware-counterparts": {},
    "independent-results": {"task": "gene"},
    "leaderboard": {"metric": "accuracy"},
    "near-the-best": {"metric": "accuracy"},
    "other-conditions": {"metric": "accuracy"},
    "quantisation-and-accuracy": {},
    "safe-throughput": {"metric": "accuracy"},
    "smallest-near-best": {"metric": "accuracy"},
}
EVIDENCE = {"source", "locator", "origin", "review", "caveats"}
MINE = (
    *OF_RESULTS,
    *("exact-checkpoints", "inference-memory-budget", "mixed-units", "quoted-results", "ready-recipes", "seen-from"),
    *("self-contradictions", "uncertainty-coverage"),
)


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Release:
    release = build_release(SEED, tmp_path_factory.mktemp("research-seeds"), at=AT).release
    assert release is not None
    return release


@pytest.fixture(scope="module")
def invented(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Invented records: one system measured by its authors and by others, a quantised one, a small one."""
    return build_draft(RECORDS / "questions-a", tmp_path_factory.mktemp("research-invented"))


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The invented records of `docs/comparability.md`: ties, units, concerns, copies, intervals."""
    return build_draft(RECORDS / "comparable", tmp_path_factory.mktemp("research-groups"))


def told(rows: Rows, *columns: str, drop: str = "") -> set[tuple[str | None, ...]]:
    """The rows as a set of some of their columns, with a prefix of ids left out."""
    return {tuple(None if row[c] is None else str(row[c]).removeprefix(drop) for c in columns) for row in rows}


# ---- every answer ----


@pytest.mark.parametrize("name", MINE)
def test_each_row_carries_its_evidence(seeds: Release, name: str) -> None:
    text = find_question(name).text
    projection = text[text.index("SELECT") : text.index("WHERE")]
    assert {f"?{column}" for column in EVIDENCE} <= set(projection.split())


@pytest.mark.parametrize("name", OF_RESULTS)
def test_what_is_excluded_never_answers_and_what_is_doubted_never_silently(invented: Release, name: str) -> None:
    rows = ask(invented, name, **OF_RESULTS[name])
    assert rows
    for row in rows:
        assert "ia-result-withdrawn" not in row.values()
        assert row["source"] == "An invented paper of the authors"
        assert row["locator"] == "Table 2"
        assert str(row["review"]).startswith("reviewed by")
        if row["result_id"] == "ia-result-doubted":
            assert "Open concern (excluded from comparisons): This cell is printed twice" in str(row["caveats"])
        elif row["result_id"] == "ia-result-old":
            assert "Status Superseded" in str(row["caveats"])
        else:
            assert row["caveats"] == "none recorded"
        if row.get("other_id") == "ia-result-doubted":
            assert "an open concern stands against it" in str(row["other_standing"])
        if row.get("other_id") == "ia-result-old":
            assert row["other_standing"] == "Superseded"


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("hardware-counterparts", "first"),
        ("quantisation-and-accuracy", "word"),
        ("smallest-near-best", "data"),
        ("smallest-near-best", "protocol"),
    ],
)
@pytest.mark.parametrize("text", ['"} UNION {', '" } ?s ?p ?o . { "', "\\", "'''", "\n} #"])
def test_a_text_stays_a_text(invented: Release, name: str, parameter: str, text: str) -> None:
    assert ask(invented, name, **{parameter: text}) == []


# ---- inside one comparison group ----


def test_ranks_are_those_of_compare_and_doubted_results_have_none(invented: Release) -> None:
    rows = ask(invented, "leaderboard", metric="accuracy")
    found = told(rows, "result_id", "rank_in_group", "ties_with", "not_ranked_because", drop="ia-result-")
    assert found == {
        ("author", "1", "1", ""),  # 0.90 ties with 0.9
        ("small", "1", "3", ""),  # 0.9 is printed to one decimal: 0.90, 0.873 and 0.85 may be rounded to it
        ("independent", "2", "1", ""),  # 0.90 is better than 0.873
        ("quant", "3", "1", ""),
        ("split", "1", "0", ""),  # alone in its group
        ("doubted", None, None, "open concern: open concern"),  # 0.99, the highest number
        ("old", None, None, "status: not checked"),
    }
    members = ["ia-result-author", "ia-result-small", "ia-result-independent", "ia-result-quant"]
    ranks = {row["result_id"]: str(row["rank_in_group"]) for row in rows}
    answer = compare(invented, members)
    assert {member.id: str(member.rank) for member in answer.members} == {name: ranks[name] for name in members}


@pytest.mark.parametrize("metric", ["accuracy", "auroc", "peak-memory", "inference-throughput"])
def test_every_group_is_ranked_as_compare_ranks_it(groups: Release, metric: str) -> None:
    by_group: dict[str | None, dict[str, str | None]] = {}
    results = {
        row["id"] for row in groups.select("SELECT ?id { ?about evkg:recordId ?id ; foaf:primaryTopic/a evkg:Result }")
    }
    for row in ask(groups, "leaderboard", metric=metric):
        assert row["result_id"] in results
        if row["comparison_group"] != "(none)":
            by_group.setdefault(row["comparison_group"], {})[str(row["result_id"])] = row["rank_in_group"]
    larger = [ranks for ranks in by_group.values() if 1 < len(ranks) <= 20]
    assert larger or metric == "inference-throughput"
    for ranks in larger:
        answer = compare(groups, sorted(ranks))
        assert answer.compatible
        assert {m.id: None if m.rank is None else str(m.rank) for m in answer.members} == ranks


def test_the_smallest_of_the_best_can_be_seen(invented: Release) -> None:
    rows = ask(invented, "smallest-near-best", metric="accuracy")
    assert told(rows, "result_id", "size", "of_results", drop="ia-result-") == {
        ("split", "7 billion", "1"),
        ("author", "7 billion", "4"),
        ("small", "1 billion", "4"),
    }
    assert ask(invented, "smallest-near-best", metric="accuracy", data="other data") == []
    assert len(ask(invented, "smallest-near-best", metric="accuracy", data="GENES", protocol="gene")) == 3


def test_intervals_that_overlap_the_best_are_told(groups: Release, invented: Release) -> None:
    found = told(ask(groups, "near-the-best", metric="auroc"), "result_id", "beside_the_best", "interval", "best_id")
    best = "invented-result-interval-b"
    assert found == {
        ("invented-result-interval-a", "intervals overlap", "0.89 to 0.93", best),
        (best, "is the best", "0.9 to 0.94", best),  # 0.92 with a standard deviation of 0.02
        ("invented-result-interval-c", "intervals stand apart", "0.79 to 0.81", best),
        ("invented-result-bound", "not known, one of them has no interval", "none recorded", best),  # < 0.95
    }
    beside = told(ask(invented, "near-the-best", metric="accuracy"), "result_id", "beside_the_best", "best_id")
    assert ("ia-result-small", "ties with it in print", "ia-result-author") in beside
    assert ("ia-result-independent", "not known, one of them has no interval", "ia-result-author") in beside


def test_neighbours_are_those_of_the_group(invented: Release, seeds: Release) -> None:
    rows = ask(invented, "comparable-with", of="ia-result-author")
    assert told(rows, "result_id", "beside", drop="ia-result-") == {
        ("author", "this result"),
        ("small", "may be compared"),
        ("independent", "may be compared"),
        ("quant", "may be compared"),
    }
    assert told(rows, "shared_data", "shared_split", "shared_protocol") == {("Invented genes", "test", "ia-protocol")}
    alone = ask(seeds, "comparable-with", of=REVIEWED)
    assert told(alone, "result_id", "beside", "shared_data") == {(REVIEWED, "this result", "no group")}
    assert "not known" in str(alone[0]["blocked_because"])
    assert ask(invented, "comparable-with", of="ia-result-withdrawn") == []


# ---- pairs ----


def test_only_pairs_of_one_group_count_for_or_against_authors(invented: Release) -> None:
    rows = ask(invented, "author-and-independent")
    assert told(rows, "other_id", "author_value_is", "not_comparable_because", drop="ia-result-") == {
        ("independent", "better", ""),  # 0.90 against 0.873
        ("doubted", "not comparable", "the independent result is blocked"),
        ("old", "not comparable", "the independent result is blocked"),
        ("split", "not comparable", "a condition differs"),
    }
    assert {row["of_all_pairs"] for row in rows} == {"1 better, 0 tied, 0 worse"}
    assert {row["result_id"] for row in rows} == {"ia-result-author"}


def test_quantisation_is_judged_by_accuracy_under_equal_conditions_only(invented: Release, seeds: Release) -> None:
    rows = ask(invented, "quantisation-and-accuracy")
    assert told(rows, "result_id", "other_id", "evidence", drop="ia-result-") == {
        ("quant", "author", "loses"),  # 0.85 against 0.90
        ("quant", "independent", "loses"),  # 0.85 against 0.873
        ("quant", "doubted", "none"),
        ("quant", "old", "none"),
        ("quant", "split", "none"),
        ("quant-memory", None, "none"),
    }
    only = ask(seeds, "quantisation-and-accuracy")
    assert told(only, "result_id", "evidence", "why") == {(REVIEWED, "none", "this is no task accuracy")}


def test_a_counterpart_on_other_hardware_is_found_by_its_name(invented: Release, seeds: Release) -> None:
    rows = ask(invented, "hardware-counterparts")
    assert told(rows, "result_id", "counterpart", "comparable", "same_by", drop="ia-result-") == {
        ("author", "quant", "yes", "the same reported name"),
        ("independent", "quant", "yes", "the same reported name"),
        ("doubted", "quant", "no", "the same reported name"),
        ("old", "quant", "no", "the same reported name"),
        ("split", "quant", "no", "the same reported name"),
    }
    assert told(ask(seeds, "hardware-counterparts"), "result_id", "counterpart") == {(REVIEWED, "none in this release")}


def test_conditions_that_differ_are_told_with_both_values(invented: Release) -> None:
    rows = ask(invented, "other-conditions", metric="accuracy")
    found = {(row["result_id"], row["other_id"]): row["differs_in"] for row in rows}
    assert found["ia-result-author", "ia-result-split"] == "split: test against validation"
    assert found["ia-result-author", "ia-result-doubted"] == "nothing that both of them record"
    assert ("ia-result-author", "ia-result-independent") not in found  # one group: nothing changed
    assert len(found) == 9


def test_a_copied_value_stands_beside_its_first_report(groups: Release) -> None:
    rows = ask(groups, "quoted-results")
    assert told([row for row in rows if row["agreement"] == "printed alike"], "result_id", "other_id") == {
        ("invented-result-copied", "invented-result-tie")
    }
    assert ("invented-result-compiled", "no first report in this release") in told(rows, "result_id", "agreement")
    standing = {row["other_id"]: row["other_standing"] for row in rows}
    assert standing["invented-result-doubted"] == "Source checked, an open concern stands against it"
    assert standing["invented-result-on-retracted"] == "Source checked, it rests on a record in doubt"


# ---- what stands in the records ----


def test_a_contradiction_keeps_both_values(groups: Release, seeds: Release) -> None:
    rows = ask(groups, "self-contradictions")
    assert told(rows, "kind_of_contradiction", "result_id", "elsewhere", "elsewhere_printed", "kept") == {
        ("claim against the value", "invented-result-best", "Abstract", "0.91", "0.901"),
        ("recorded discrepancy", "invented-result-best", "Abstract", "0.91", "0.901"),
    }
    prose = ask(seeds, "self-contradictions")
    assert told(prose, "kind_of_contradiction", "result_id", "elsewhere_printed", "printed_value") == {
        ("discrepancy in prose", REVIEWED, "not recorded", "5.6")  # readings of bars in prose are no values
    }


def test_a_value_with_none_of_the_three_says_why(invented: Release, seeds: Release) -> None:
    silent = "neither a value nor a reason is recorded"
    assert told(ask(invented, "bare-values"), "result_id", "uncertainty", "coverage", "aggregation") == {
        ("ia-result-bare", "Unreported", silent, silent)
    }
    assert ask(invented, "bare-values", metric="accuracy") == []  # their aggregation is known
    assert len(ask(seeds, "bare-values")) == 6


def test_shares_of_uncertainty_count_what_stands(groups: Release, seeds: Release) -> None:
    rows = {row["metric_name"]: row for row in ask(groups, "uncertainty-coverage")}
    auroc = rows["Area under the ROC curve"]
    assert [auroc[k] for k in ("results", "with_uncertainty", "with_interval", "share")] == ["4", "3", "3", "75 %"]
    assert rows["F1 score"]["share"] == "none counted"  # its only result is under an open concern
    assert rows["F1 score"]["left_out"] == "1"
    found = {row["metric_name"]: row for row in ask(seeds, "uncertainty-coverage")}
    assert (found["Peak memory"]["results"], found["Peak memory"]["unreported"]) == ("6", "6")
    assert found["Inference throughput"]["left_out"] == "2"
    assert sum(int(str(row["left_out"])) for row in found.values()) == len(DOUBTED_RESULTS)


def test_units_of_one_metric_are_counted_as_the_records_have_them(groups: Release) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for path in sorted((RECORDS / "comparable").glob("*.yaml")):
        for document in path.read_text(encoding="utf-8").split("\n---\n"):
            lines = dict(line.strip().partition(": ")[::2] for line in document.splitlines() if ": " in line)
            if lines.get("kind") == "result" and lines["status"] != "excluded" and "unit" in lines:
                counts[lines.get("metric", ""), lines["unit"]] += 1
    rows = {(row["metric_name"], row["unit_name"]): row["results"] for row in ask(groups, "mixed-units")}
    assert rows["Peak memory", "Gigabyte"] == str(counts["peak-memory", "gigabyte"]) == "2"
    assert rows["Peak memory", "Gibibyte"] == "1"
    assert rows["Inference throughput", "Token per second"] == "1"
    assert rows["Accuracy", "Percent"] == str(counts["accuracy", "percent"])
    assert rows["Accuracy", "Fraction"] == str(counts["accuracy", "fraction"])


def test_a_checkpoint_without_revision_or_hash_is_not_exact(invented: Release, seeds: Release) -> None:
    rows = ask(invented, "exact-checkpoints")
    assert told(rows, "result_id", "exact", "checkpoint", "revision", "licence") == {
        ("ia-full", "yes", "ia/seven", "abc123", "Apache-2.0 (of IA 7B)"),
        ("ia-quant", "no", "ia/seven-small", "not recorded", "Apache-2.0 (of IA 7B)"),
    }
    assert ask(seeds, "exact-checkpoints") == []  # no paper among them names one


def test_results_are_seen_along_verified_links_only(groups: Release, seeds: Release) -> None:
    rows = ask(groups, "seen-from", place="invented-family")
    assert {row["system"] for row in rows} == {"Invented system A"}  # system B only uses the model
    assert "invented-result-base" in {row["result_id"] for row in rows}
    assert ask(groups, "seen-from", place="invented-false-alias") == []  # nobody checked that alias
    assert ask(seeds, "seen-from") == []


def test_a_recipe_is_verified_where_the_local_run_passed(tmp_path: Path, seeds: Release) -> None:
    release = build_draft(RECORDS / "readiness", tmp_path)
    rows = ask(release, "ready-recipes")
    assert {row["result_id"] for row in rows if row["can_be_run"] == "yes"} == {"rd-run-part", "rd-run-whole"}
    passed = next(row for row in rows if row["result_id"] == "rd-run-whole")
    assert (passed["recipe"], passed["compute_estimate"]) == ("sdk:train-mean-v1", "Seen resource_estimate.")
    assert all(row["blocked_by"] for row in rows if row["can_be_run"] == "no")
    assert ask(seeds, "ready-recipes") == []
