"""Exports from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evkg.evidence import Evidence, Selection
from evkg.evidence_table import csv_lines, jsonl_lines
from evkg.exporting import write_export
from evkg.release import GRAPH, Release
from tests.builds import build_draft, run_evkg
from tests.conftest import ROOT, SEED

VIEW = ROOT / "queries/views/evidence.rq"
HAND = ROOT / "tests/records/evidence/records.yaml"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(SEED, tmp_path_factory.mktemp("exported"))


def test_evidence_goes_out_as_csv_and_as_json_lines(release: Release) -> None:
    rows = list(Evidence(release).rows())
    run = run_evkg("export", "evidence", "--release", release.folder)
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.decode() == "".join(csv_lines(rows))
    run = run_evkg("export", "evidence", "--release", release.folder, "--format", "jsonl")
    assert run.stdout.decode() == "".join(jsonl_lines(rows))


def test_a_part_of_it_goes_into_a_file(release: Release, tmp_path: Path) -> None:
    file = tmp_path / "evidence.jsonl"
    options = ("--format", "jsonl", "--scope", "individual_claim", "--out", file, "--release", release.folder)
    run = run_evkg("export", "evidence", *options)
    assert (run.returncode, run.stdout.decode()) == (0, f"{file}: 12 lines\n")
    assert file.read_text(encoding="utf-8") == "".join(
        jsonl_lines(Evidence(release).rows(Selection(scope="individual_claim")))
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evidence.jsonl"]


def test_json_ld_and_n_quads_of_the_whole_release(release: Release) -> None:
    run = run_evkg("export", "jsonld", "--release", release.folder)
    documents = [json.loads(line) for line in run.stdout.decode().splitlines()]
    assert documents == [release.jsonld(record_id) for record_id in release.record_ids]
    assert run_evkg("export", "nquads", "--release", release.folder).stdout == (release.folder / GRAPH).read_bytes()
    one = run_evkg("export", "nquads", "--record", "gena-lm", "--release", release.folder)
    assert one.stdout.decode().splitlines() == release.quads("gena-lm")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evidence", "--format", "nq"), "The export evidence has no format nq; it has csv, jsonl."),
        (("jsonld", "--scope", "record_context"), "Of the export jsonld no scope can be chosen."),
        (("evidence", "--scope", "x"), "'x' is no scope of evidence"),
        (("evidence", "--record", "gena-ml"), "No record has the id 'gena-ml'. Nearest: gena-lm."),
        (("evidence", "--out", "/nowhere/at/all.csv"), "/nowhere/at/all.csv cannot be written"),
        (("turtle",), "invalid choice: 'turtle'"),
        (("evidence", "--release", "nowhere"), "There is no release at nowhere."),
    ],
)
def test_what_is_wrong_is_one_line(release: Release, arguments: tuple[str, ...], message: str) -> None:
    options = () if "--release" in arguments else ("--release", release.folder)
    run = run_evkg("export", *arguments, *options)
    assert (run.returncode, run.stdout) == (2, b"")
    assert message in run.stderr.decode()
    assert len(run.stderr.decode().splitlines()) == 1


def test_a_file_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    def lines() -> object:
        yield "one\n"
        raise KeyboardInterrupt

    (tmp_path / "kept.csv").write_text("before", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt):
        write_export(lines(), tmp_path / "kept.csv")  # type: ignore[arg-type]
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["before"]


# ---- The view over the graph ----


def rows_of(release: Release) -> set[tuple[str, ...]]:
    return {
        (
            *(row.record_id, row.field_path, row.claim_id, row.source_id, row.evidence_scope, row.review_status),
            *(row.source_locator, row.artifact_url, row.artifact_sha256),
        )
        for row in Evidence(release).rows()
    }


def view_of(release: Release) -> list[tuple[str, ...]]:
    rows = release.select(VIEW.read_text(encoding="utf-8"))
    assert rows.variables == ("record", "field", "claim", "source", "scope", "status", "locator", "artifact", "hash")
    return [tuple(str(value) for value in row.values()) for row in rows]


def test_the_view_has_exactly_the_rows_of_the_table(release: Release) -> None:
    rows = view_of(release)
    assert len(rows) == len(set(rows)) == 721
    assert set(rows) == rows_of(release)


def test_the_view_differs_where_its_caveats_say(tmp_path: Path) -> None:
    release = build_draft(HAND, tmp_path)
    rows = view_of(release)
    assert len(rows) == len(set(rows))
    expected = {row for row in rows_of(release) if ".profile" not in row[1]}
    assert {row for row in rows if ".profile" not in row[1]} == expected
    assert {row[5] for row in rows if row[2]} == {
        "reproduced",
        "conflicting_claim",
        "unresolved_claim",
        "source_checked",
    }
