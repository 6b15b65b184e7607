"""What changed between two releases, with the reason that the records give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evkg.build import build_release
from evkg.diff import Change, Doubt, diff
from evkg.release import Release
from tests.builds import AT, record, run_evkg, write_records

PAPER = {"url": "https://example.org/p", "retrieved_at": "2026-01-02", "version": "1"}


def result(record_id: str, status: str = "source_checked", **attributes: str) -> dict[str, object]:
    return record(
        record_id, "result", status=status, source_ids=["paper"], attributes={"metric": "accuracy", **attributes}
    )


def released(folder: Path, *records: dict[str, object]) -> Release:
    release = build_release(write_records(folder / "data.jsonl", *records), folder / "out", at=AT, draft=True).release
    assert release is not None
    return release


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Release, Release]:
    """Two releases that differ in every way that counts."""
    before = released(
        tmp_path_factory.mktemp("before"),
        record("paper", "source", attributes=PAPER),
        result("kept", printed_value="0.5"),
        result("corrected", printed_value="0.6"),
        result("retracted", printed_value="0.7"),
        result("questioned", printed_value="0.8"),
        result("removed", printed_value="0.9"),
        result("replaced", printed_value="0.4"),
    )
    concern = {"source_id": "paper", "message": "Two tables contradict each other.", "source_locator": "Table 1"}
    after = released(
        tmp_path_factory.mktemp("after"),
        record("paper", "source", attributes={**PAPER, "evidence_concerns": [{**concern, "targets": ["questioned"]}]}),
        result("kept", printed_value="0.5"),
        result("corrected", printed_value="0.61"),
        result("retracted", status="excluded", reason="The authors withdrew the table."),
        result("questioned", printed_value="0.8"),
        {**result("newer", printed_value="0.41"), "links": [{"relation": "supersedes", "target_id": "replaced"}]},
    )
    return before, after


def test_each_record_that_differs_is_told_with_its_reason(both: tuple[Release, Release]) -> None:
    found = {change.id: change for change in diff(*both).changes}
    assert set(found) == {"paper", "corrected", "retracted", "removed", "replaced", "newer"}
    assert found["corrected"] == Change(
        "corrected", "result", "corrected", "changed", "source_checked", "source_checked", ("printed_value",), None
    )
    assert (found["retracted"].status_before, found["retracted"].status_after) == ("source_checked", "excluded")
    assert found["retracted"].reason == "The authors withdrew the table."
    assert (found["removed"].what, found["removed"].status_after, found["removed"].reason) == ("gone", None, None)
    assert found["replaced"].reason == "superseded by newer"
    assert (found["newer"].what, found["newer"].reason) == ("new", "supersedes replaced")
    assert found["paper"].fields == ("evidence_concerns",)


def test_a_result_comes_into_doubt_without_a_change_of_its_own(both: tuple[Release, Release]) -> None:
    doubted = Doubt("questioned", "doubted", "open concern: Two tables contradict each other.")
    assert diff(*both).doubts == (doubted,)
    assert [(doubt.id, doubt.what) for doubt in diff(*reversed(both)).doubts] == [("questioned", "cleared")]


def test_the_same_release_has_no_difference(both: tuple[Release, Release]) -> None:
    same = diff(both[0], both[0])
    assert (same.changes, same.doubts, same.graphs) == ((), (), ())
    graphs = diff(*both).graphs
    assert graphs is not None
    assert "derived" in graphs
    assert "ontology" not in graphs


def test_the_command_says_the_same_in_words_and_as_json(both: tuple[Release, Release]) -> None:
    done = run_evkg("diff", both[0].folder, both[1].folder)
    text = done.stdout.decode()
    assert done.returncode == 0
    line = "changed  result retracted; status source_checked -> excluded; because: The authors withdrew the table."
    assert line in text
    assert "gone     result removed; status source_checked -> none; because: no reason is recorded" in text
    assert text.endswith("1 new, 2 gone, 3 changed, 1 doubted, 0 cleared\n")
    document = json.loads(run_evkg("diff", both[0].folder, both[1].folder, "--format", "json").stdout)
    assert document == json.loads(json.dumps(diff(*both).as_json()))


def test_a_release_without_an_index_of_graphs_is_told(tmp_path: Path) -> None:
    release = released(tmp_path, record("paper", "source", attributes=PAPER))
    (release.folder / "graph.index.tsv").unlink()
    assert diff(release, release).graphs is None
    assert b"other graphs: not known" in run_evkg("diff", release.folder, release.folder).stdout


def test_what_is_no_release_is_refused_without_a_traceback(tmp_path: Path) -> None:
    done = run_evkg("diff", tmp_path, tmp_path)
    assert done.returncode == 2
    assert b"There is no release at" in done.stderr
    assert b"Traceback" not in done.stderr
