"""What people complain about elsewhere when they check data with SHACL or write it in YAML: here it is otherwise."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from evkg.check import check_dataset
from evkg.finding_text import render_text
from evkg.jsontext import encode_json
from tests.builds import ROOT, check_whole, edit, record, run_evkg, write_records

#: The faults that each have a rule: every message that the shapes can give.
FAULTY = ROOT / "tests" / "records" / "invalid"
#: Complete records of every kind.
COMPLETE = ROOT / "tests" / "records" / "valid"


@pytest.fixture(scope="module")
def report() -> str:
    checked = check_dataset(FAULTY, is_open=True)
    assert len({finding.rule for finding in checked.findings}) > 300
    return render_text(checked.findings, checked.count, full=True)


def test_no_report_speaks_the_language_of_validators(report: str) -> None:
    assert not re.search(r"\bsh:|minCount|maxCount|ConstraintComponent|w3\.org|w3id\.org|_:b|\bIRI\b", report)


def test_no_report_shows_a_placeholder(report: str) -> None:
    assert not re.search(r"\{[?$]\w+\}", report)


@pytest.mark.parametrize("kind", ["resultt", "Result", "evkg:Result", "results", ""])
def test_a_misspelt_kind_is_a_violation_and_never_passes(tmp_path: Path, kind: str) -> None:
    file = write_records(tmp_path / "a.jsonl", record("r", kind))
    done = run_evkg("check", file)
    assert done.returncode == 1
    assert b"is not a kind of record" in done.stdout


@pytest.mark.parametrize("written", ['"5.6"', "5.6"])
def test_a_number_gives_the_same_triples_in_yaml_and_json(tmp_path: Path, written: str) -> None:
    number = f'"attributes":{{"numeric_value":{written}}}'
    body = encode_json(record("r", "result")).replace('"attributes":{}', number)
    seen = set()
    for name in ("a.yaml", "a.jsonl", "a.json"):
        (tmp_path / name).write_text(f"{body}\n", encoding="utf-8")
        whole = check_whole(tmp_path / name, is_open=True)
        triples = [line for line in whole.quads if "numeric" in line]
        seen.add((tuple(triples), tuple(sorted(finding.rule for finding in whole.findings))))
    assert len(seen) == 1
    assert any('"5.6"^^<http://www.w3.org/2001/XMLSchema#decimal>' in line for line in next(iter(seen))[0])


def test_checking_changes_nothing_of_what_is_checked() -> None:
    before = check_whole(COMPLETE, engine="pyshacl")
    after = check_whole(COMPLETE, engine="fast")
    assert before.quads == after.quads
    assert all(finding.file is None or "ontology" not in finding.file for finding in before.findings)


def test_five_thousand_records_with_one_fault_make_a_short_report_in_time(tmp_path: Path) -> None:
    many = [record(f"t{number}", "task", source_ids=["nowhere"]) for number in range(5_000)]
    file = write_records(tmp_path / "many.jsonl", *many)
    start = time.monotonic()
    done = run_evkg("check", file)
    assert time.monotonic() - start < 60
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) < 60
    assert b"5,000" in done.stdout or b"(5000)" in done.stdout
    full = run_evkg("check", file, "--format", "json")
    assert full.stdout.count(b"unknown-id") >= 5_000


def test_bad_data_and_a_bad_run_end_with_different_status(tmp_path: Path) -> None:
    good = write_records(tmp_path / "good.jsonl", record("t", "task"))
    bad = write_records(tmp_path / "bad.jsonl", record("t", "task", source_ids=["nowhere"]))
    runs = [("check", good), ("check", bad), ("check", tmp_path / "none.jsonl"), ("check", good, "--no-such-option")]
    assert [run_evkg(*arguments).returncode for arguments in runs] == [0, 1, 2, 2]


def test_complete_records_are_checked_in_silence() -> None:
    for file in sorted(COMPLETE.glob("*.yaml"))[:3]:
        done = run_evkg("check", file, "--open")
        assert done.returncode == 0
        assert done.stderr == b""
        assert b"0 violations, 0 warnings" in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("\nname:", "\n\tname:", "tab"),
        ("\nname: ", '\nname: "', "never closed"),
        ("\nname: ", "\nname: *nothing\nx: ", "not defined"),
        ("\nkind: ", "\nkind: x\nkind: ", "stands twice"),
    ],
)
def test_broken_yaml_is_told_with_its_place_and_no_trace(tmp_path: Path, old: str, new: str, words: str) -> None:
    file = tmp_path / "task.yaml"
    file.write_text("id: t\nkind: task\nname: T\n# more\n# more\ndescription: ''\n", encoding="utf-8")
    edit(file, old, new)
    done = run_evkg("check", file)
    assert done.returncode == 1
    assert b"Traceback" not in done.stdout + done.stderr
    assert words in done.stdout.decode()
    assert re.search(r"task\.yaml:[2-4]:\d+", done.stdout.decode())
