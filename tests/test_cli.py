"""The command line: exit codes, one clear line for everything that goes wrong, and JSON that is always JSON."""

from __future__ import annotations

import argparse
import io
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evkg.cli import main, make_parser
from evkg.questions import load_questions
from evkg.release import GRAPH, MANIFEST, RECORDS, STORE
from tests.builds import BATCH_256, PRINTED, REVIEWED, ROOT, SEED, record, run_evkg, write_records

#: A record whose every text would steer a terminal.
ODD = "\x1b[31mred\x1b]0;owned\x07\u202e\x9b2J\r"


#: A query that no machine finishes.
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"


@pytest.fixture
def here(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder has `graph/` and a release at `build/current`."""
    monkeypatch.chdir(workspace)
    return workspace


def commands() -> dict[str, argparse.ArgumentParser]:
    parser = make_parser()
    (action,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    return dict(action.choices)


def assert_failed(capsys: pytest.CaptureFixture[str], status: int, *parts: str) -> None:
    """Exit code 2, nothing on stdout, one line on stderr that has all the parts."""
    captured = capsys.readouterr()
    assert status == 2, captured
    assert captured.out == ""
    assert captured.err.startswith("evkg: ")
    assert captured.err.endswith("\n")
    assert captured.err.count("\n") == 1
    for part in parts:
        assert part in captured.err


# ---- Help ----


COMMANDS = [
    "check",
    "build",
    "gaps",
    "query",
    "ask",
    "show",
    "compare",
    "diff",
    "export",
    "serve",
    "context",
    "new",
    "fix",
    "schema",
]


def test_the_commands_are_these() -> None:
    assert list(commands()) == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(capsys: pytest.CaptureFixture[str], name: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert f"usage: evkg {name}" in text
    parser = commands()[name]
    assert parser.description
    for action in parser._actions:
        if action.option_strings:
            assert action.option_strings[-1] in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_readme(name: str) -> None:
    assert f"evkg {name}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    for name in commands():
        assert f"\n    {name} " in text


def test_the_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("evkg 0.")


# ---- check ----


def test_check_on_the_seed_data_is_fine_and_full_of_warnings(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out.splitlines()[-1].startswith("49 records: 0 violations, ")
    assert "more like these (--full lists all)" in captured.out


def test_check_lists_everything_with_full(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "graph", "--full"]) == 0
    assert "more like these" not in capsys.readouterr().out


def test_warnings_gate_only_with_strict(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"]) == 0
    assert main(["check", "--strict"]) == 1
    capsys.readouterr()


def test_check_of_a_complete_record_is_quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_records(tmp_path / "r.jsonl", record("t", "task"))
    assert main(["check", str(file), "--strict"]) == 0
    assert capsys.readouterr().out == "1 record: 0 violations, 0 warnings, 0 infos\n"


def test_five_thousand_records_with_one_fault_are_a_short_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each cites a source that is not there; in JSON all of them are listed."""
    file = write_records(tmp_path / "r.jsonl", *(record(f"t-{n}", "task", source_ids=["s"]) for n in range(5_000)))
    start = time.monotonic()
    assert main(["check", str(file)]) == 1
    assert time.monotonic() - start < 60
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 60
    assert lines[-1].startswith("5000 records: 5000 violations, ")
    assert main(["check", str(file), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert sum(one["rule"] == "unknown-id" for one in found) == 5_000


def test_violations_exit_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_records(tmp_path / "r.jsonl", record("t", "task", source_ids=["nowhere"]))
    assert main(["check", str(file)]) == 1
    assert "violation  unknown-id (1)" in capsys.readouterr().out
    assert main(["check", str(file), "--open"]) == 0
    capsys.readouterr()


def test_check_in_json_is_findings_and_summary(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"findings", "summary"}
    assert set(report["summary"]) == {"records", "violations", "warnings", "infos"}
    keys = {"severity", "rule", "record", "field", "file", "line", "column", "message", "value", "fix"}
    assert all(set(finding) == keys for finding in report["findings"])
    assert report["findings"][0]["file"].startswith("graph/records/")
    assert report["summary"]["warnings"] == sum(f["severity"] == "warning" for f in report["findings"])


def test_check_in_turtle_is_a_shacl_report(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "turtle"]) == 0
    assert "a sh:ValidationReport" in capsys.readouterr().out


# ---- build ----


def test_build_says_what_it_made_and_where(here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--out", str(tmp_path), "--at", "2026-11-01T00:00:00Z"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    release_id = (tmp_path / "current").readlink().name
    assert first.startswith(f"release {release_id}: 49 records, ")
    assert second == f"in {tmp_path / release_id}"


def test_build_with_violations_makes_no_release_and_tells_where_the_reports_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_records(tmp_path / "r.jsonl", record("t", "task", source_ids=["nowhere"]))
    out = tmp_path / "out"
    assert main(["build", str(file), "--out", str(out)]) == 1
    text = capsys.readouterr().out
    assert text.splitlines()[-1] == f"No release was made. The reports are in {out / 'last-report'}."
    assert "unknown-id" in text
    assert not (out / "current").exists()
    assert main(["build", str(file), "--out", str(out), "--draft"]) == 0
    assert capsys.readouterr().out.startswith("DRAFT with violations: ")
    assert main(["build", str(file), "--out", str(out), "--open"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("extra", [[], ["--draft"], ["--open"]])
def test_build_in_json_has_the_release_or_null(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], extra: list[str]
) -> None:
    file = write_records(tmp_path / "r.jsonl", record("t", "task", source_ids=["nowhere"]))
    status = main(["build", str(file), "--out", str(tmp_path / "out"), "--format", "json", *extra])
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"findings", "summary", "release"}
    assert (report["release"] is None) == (extra == [])
    assert status == (1 if extra == [] else 0)


@pytest.mark.parametrize(
    "moment",
    [
        "yesterday",
        "",
        "2026-13-01",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "1969-12-31",
        "1",
        "2026-11-01T25:00",
        "\x1b[31m",
        "\ud800",
    ],
)
def test_a_time_that_is_none_is_one_line(here: Path, capsys: pytest.CaptureFixture[str], moment: str) -> None:
    assert_failed(capsys, main(["build", "--at", moment]), "argument --at", "is no ISO time")


# ---- query, ask, show ----


def test_query_prints_a_table(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "SELECT ?v { ?r evkg:printedValue ?v } ORDER BY ?v"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["v", "-" * len(lines[1]), "1.18"]
    assert {"33.88", "11.49", "r = 1.00", "6637"} <= set(lines)
    assert lines[-1] == "12 rows"


def test_query_answers_yes_or_no(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "ASK { ?r evkg:printedValue '33.88' }"]) == 0
    assert main(["query", "ASK { ?r evkg:printedValue '33.880' }"]) == 0
    assert capsys.readouterr().out == "yes\nno\n"


def test_query_reads_a_file_or_standard_input(here: Path, tmp_path: Path) -> None:
    file = tmp_path / "q.rq"
    file.write_text("ASK {}", encoding="utf-8")
    assert run_evkg("query", file, cwd=here).stdout == b"yes\n"
    assert run_evkg("query", "-", cwd=here, stdin=b"ASK {}").stdout == b"yes\n"


@pytest.mark.parametrize("name", ["table", "json", "xml", "csv", "tsv"])
def test_query_writes_rows_in_every_format(here: Path, name: str) -> None:
    run = run_evkg("query", "SELECT ?v { ?r evkg:printedValue ?v }", "--format", name, cwd=here)
    assert run.returncode == 0
    for printed in PRINTED.values():
        assert printed.encode() in run.stdout
    if name == "json":
        assert len(json.loads(run.stdout)["results"]["bindings"]) == 12


@pytest.mark.parametrize("name", ["table", "turtle", "nt", "jsonld", "rdfxml"])
def test_query_writes_a_graph_in_every_format(here: Path, name: str) -> None:
    run = run_evkg(
        "query", "CONSTRUCT { ?r evkg:printedValue ?v } { ?r evkg:printedValue ?v }", "--format", name, cwd=here
    )
    assert run.returncode == 0
    assert b"33.88" in run.stdout
    assert BATCH_256.encode() in run.stdout


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["query", "SELEC"], ["This is not a query"]),
        (["query", "SELECT ?x { ?x ex:y ?z }"], ["Line 1, column 16", "The prefix ex: is not declared"]),
        (["query", "SELECT *\n{ ?s ?p '"], ["Line 2"]),
        (["query", "SELECT * { SERVICE <http://127.0.0.1:9/> {} }"], ["SERVICE is refused"]),
        (["query", "DROP ALL"], ["DROP is refused"]),
        (["query", "ASK {}", "--format", "turtle"], ["cannot be written as turtle"]),
        (["query", "CONSTRUCT {} {}", "--format", "csv"], ["cannot be written as csv"]),
        (["query", "none.rq"], ["none.rq cannot be read: No such file or directory"]),
        (["query", "ASK {}", "--format", "pdf"], ["invalid choice: 'pdf'"]),
        (["query"], ["required: QUERY|FILE.rq|-"]),
        (["ask", "no-such-question"], ["no question 'no-such-question'"]),
        (["ask", "inference-memory-budge"], ["Nearest: inference-memory-budget"]),
        (["ask", "inference-memory-budget", "--set", "x"], ["--set wants name=value, not 'x'"]),
        (["ask", "inference-memory-budget", "--set", "x=1"], ["no parameter 'x'"]),
        (["show", "gena-lmm"], ["No record has the id 'gena-lmm'", "Nearest: gena-lm"]),
        (["show", "gena-lm", "--release", "none"], ["There is no release at none. Make one with: evkg build"]),
        (["show", "gena-lm", "--release", "x" * 5000], ["There is no release at"]),
        (["ask", "inference-memory-budget", "--release", "/"], ["There is no release at /"]),
        (["check", "none"], ["none does not exist"]),
        (["check", "graph/LICENSE.md"], ["is not a record file"]),
        (["check", "/dev/null"], ["/dev/null"]),
        (["build", "none"], ["none does not exist"]),
        (["build", "graph", "--out", "graph/LICENSE.md"], ["cannot be written"]),
        (["check", "--form", "json"], ["unrecognized arguments: --form"]),
        (["check", "--nope"], ["unrecognized arguments: --nope"]),
        (["check", "graph", "graph"], ["unrecognized arguments: graph"]),
        (["nope"], ["invalid choice: 'nope'"]),
        ([], ["required: COMMAND"]),
        (["query", "ASK {}", "--time-limit", "0"], ["is no number of seconds above 0"]),
        (["query", "ASK {}", "--time-limit", "inf"], ["is no number of seconds above 0"]),
        (["serve", "--time-limit", "nan"], ["is no number of seconds above 0"]),
        (["serve", "--time-limit", "-1"], ["is no number of seconds above 0"]),
        (["query", f"ASK {{ FILTER({'(' * 20_000}"], ["nested too deeply"]),
        (["query", ENDLESS, "--time-limit", "0.5"], ["limit of 0.5 s", "the store in", "is damaged"]),
        (["query", r"SELECT ('\u0001' AS ?x) {}", "--format", "xml"], ["as SPARQL XML", "a control character"]),
        (["query", "CONSTRUCT { <urn:a> <http://e/1> 2 } {}", "--format", "rdfxml"], ["as RDF/XML", "an XML name"]),
        (["serve", "--port", "x"], ["invalid int value: 'x'"]),
        (["serve", "--release", "none"], ["There is no release at none"]),
        (["context", "-o", "/nowhere/x"], ["No such file or directory: /nowhere/x"]),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], parts: list[str]
) -> None:
    assert_failed(capsys, main(arguments), *parts)


@pytest.mark.parametrize("name", sorted(load_questions()))
def test_ask_prints_an_answer_with_its_caveats(here: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    question = load_questions()[name]
    assert main(["ask", name]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{question.question}\n")
    for caveat in question.caveats:
        assert f"Note: {caveat}" in text
    assert text.splitlines()[-1].startswith("Release 2026-11-01-")
    assert main(["ask", name, "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert set(answer) == {"question", "release", "conforms", "rows"}
    assert answer["conforms"] is True


def test_ask_without_a_name_lists_the_questions(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask"]) == 0
    text = capsys.readouterr().out
    for question in load_questions().values():
        assert f"{question.name}\n    {question.question}\n" in text


@pytest.mark.parametrize("name", ["text", "jsonld", "turtle", "json"])
@pytest.mark.parametrize(("record_id", "printed"), PRINTED.items())
def test_show_has_the_printed_value_in_every_format(
    here: Path, capsys: pytest.CaptureFixture[str], record_id: str, printed: str, name: str
) -> None:
    assert main(["show", record_id, "--format", name]) == 0
    text = capsys.readouterr().out
    assert printed in text if name == "text" else f'"{printed}"' in text
    if name.startswith("json"):
        assert isinstance(json.loads(text), dict)


def test_show_takes_a_release_by_folder_or_id(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("build", "build/current", "current", (here / "build/current").readlink().name):
        assert main(["show", "gena-lm", "--release", name]) == 0
        assert "GENA-LM" in capsys.readouterr().out


def test_the_context_is_fresh_and_can_be_printed_or_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    checked_in = (ROOT / "ontology/context.jsonld").read_text(encoding="utf-8")
    assert main(["context", "--check"]) == 0
    capsys.readouterr()
    assert main(["context", "-o", "-"]) == 0
    assert capsys.readouterr().out == checked_in
    assert main(["context", "-o", str(tmp_path / "c.jsonld")]) == 0
    assert (tmp_path / "c.jsonld").read_text(encoding="utf-8") == checked_in


# ---- Broken surroundings ----


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (MANIFEST, b"{"),
        (MANIFEST, b"\xff"),
        (f"{STORE}/CURRENT", b"garbage"),
        (RECORDS, b"\xff\xfe"),
        ("records.index.tsv", b"x"),
        ("validation.json", b"[]"),
        ("ontology/evkg.ttl", b"<<<"),
    ],
)
def test_a_broken_release_is_one_line(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes
) -> None:
    folder = shutil.copytree(here / "build/current", tmp_path / "release")
    (folder / name).write_bytes(content)
    assert_failed(capsys, main(["show", "gena-lm", "--release", str(folder)]))


def test_a_release_without_its_store_is_one_line(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(here / "build/current", tmp_path / "release")
    shutil.rmtree(folder / STORE)
    assert_failed(capsys, main(["query", "ASK {}", "--release", str(folder)]), "holds no store")


def test_a_folder_without_records_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert_failed(capsys, main(["check", str(tmp_path)]), "holds no record file")
    assert_failed(capsys, main(["build", str(tmp_path), "--out", str(tmp_path / "out")]), "holds no record file")


def installation(tmp_path: Path) -> Path:
    """A copy of what evkg reads at run time, so that a test can break it."""
    for name in ("ontology", "shapes", "queries", "src"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("shapes/result.ttl", "<<<"),
        ("ontology/evkg.ttl", "<<<"),
        ("ontology/mappings.ttl", "@prefix owl: <http://www.w3.org/2002/07/owl#> . <urn:a> owl:sameAs <urn:b> ."),
        ("queries/rules/open-concern.rq", "SELECT"),
        ("queries/questions/inference-memory-budget.rq", "SELECT * {}"),
    ],
)
def test_a_broken_installation_is_one_line(tmp_path: Path, name: str, content: str) -> None:
    root = installation(tmp_path)
    (root / name).write_text(content, encoding="utf-8")
    run = run_evkg("build", SEED, "--out", tmp_path / "out", environment={"PYTHONPATH": str(root / "src")})
    assert run.returncode == 2, run
    assert run.stdout == b""
    assert run.stderr.startswith(b"evkg: ")
    assert run.stderr.count(b"\n") == 1
    assert Path(name).name.encode() in run.stderr or b"owl:sameAs" in run.stderr


def test_a_missing_part_of_the_installation_is_one_line(tmp_path: Path) -> None:
    root = installation(tmp_path)
    shutil.rmtree(root / "shapes")
    run = run_evkg("check", SEED, environment={"PYTHONPATH": str(root / "src")})
    assert run.returncode == 2
    assert run.stderr == b"evkg: The folder shapes/ is missing from this installation of evkg.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "none"],
        ["check", "--nope"],
        ["check", "\udcff"],
        ["build", "none"],
        ["build", "--at", "x"],
        ["query", "SELEC"],
        ["query", "SELECT * { ?s ?p '\udcff' }"],
        ["query", "-"],
        ["query", "ASK {}", "--release", "none"],
        ["ask", "none"],
        ["ask", "inference-memory-budget", "--set", "x"],
        ["show", "none"],
        ["show", "\x1b[31m\n\n"],
        ["show", "gena-lm", "--release", "\udcff"],
    ],
)
@pytest.mark.parametrize("option", [["--format", "json"], ["--format=json"]])
def test_json_stays_json_when_things_go_wrong(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    option: list[str],
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe"), encoding="utf-8"))
    assert main([*arguments, *option]) == 2
    captured = capsys.readouterr()
    assert list(json.loads(captured.out)) == ["error"]
    assert captured.err.count("\n") == 1
    assert captured.err.rstrip("\n").isprintable()


def test_json_stays_json_on_a_broken_data_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.yaml").write_bytes(b"id: \xff\n")
    (tmp_path / "bad.jsonl").write_bytes(b"{\n\x00\n" + b'{"id": "\\ud800"}\n')
    assert main(["check", str(tmp_path), "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["summary"]["violations"] >= 3


# ---- Pipes, terminals and encodings ----


def test_a_reader_who_leaves_early_sees_no_trace(here: Path) -> None:
    for command in (f"show {REVIEWED}", "check --full", "query 'SELECT * { ?s ?p ?o }' --format csv", "ask"):
        line = f"{sys.executable} -m evkg.cli {command} | head -1"
        run = subprocess.run(["bash", "-c", line], cwd=here, capture_output=True, check=False)
        assert run.stdout.count(b"\n") == 1, command
        assert run.stderr == b"", command


@pytest.mark.parametrize(
    "command", ["show gena-lm", "check --format json", "query 'ASK {}'", "ask", "show none --format json"]
)
def test_an_output_that_cannot_be_written_is_one_line(here: Path, command: str) -> None:
    line = f"{sys.executable} -m evkg.cli {command} > /dev/full"
    run = subprocess.run(["bash", "-c", line], cwd=here, capture_output=True, check=False)
    assert run.returncode == 2
    assert b"Traceback" not in run.stderr
    assert b"Exception ignored" not in run.stderr
    assert run.stderr.startswith(b"evkg: ")
    assert run.stderr.count(b"\n") <= 2


def test_a_closed_output_is_no_trace(here: Path) -> None:
    for command in ("show gena-lm", "query 'ASK {}' --format json", "check"):
        line = f"{sys.executable} -m evkg.cli {command} >&-"
        run = subprocess.run(["bash", "-c", line], cwd=here, capture_output=True, check=False)
        assert b"Traceback" not in run.stderr, command


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("check 2>&-", 0),
        ("query 'ASK {}' 2>&-", 0),
        ("show none 2>&-", 2),
        ("show none 2>/dev/full", 2),
        ("query 'ASK {}' <&- >&- 2>&-", 0),
        ("query - <&-", 2),
        ("--help >/dev/full", 2),
        ("check --help >/dev/full", 2),
        ("--version >/dev/full", 2),
    ],
)
def test_closed_streams_change_no_exit_status(here: Path, line: str, status: int) -> None:
    run = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m evkg.cli {line}"], cwd=here, capture_output=True, check=False
    )
    assert run.returncode == status
    assert run.stderr.count(b"\n") == (0 if status == 0 or "2>" in line else 1)
    assert b"Traceback" not in run.stderr


def test_a_query_that_needs_too_much_memory_stays_json(here: Path) -> None:
    heavy = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?a"
    run = run_evkg("query", heavy, "--format", "json", cwd=here)
    assert run.returncode == 2
    assert "more memory than the limit of 2 GiB" in json.loads(run.stdout)["error"]
    assert run.stderr.count(b"\n") == 1


def test_a_damaged_store_is_one_line(here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shutil.copytree(here / "build/current", tmp_path / "release")
    for file in (folder / STORE).glob("*.sst"):
        data = bytearray(file.read_bytes())
        data[: len(data) // 2] = bytes(len(data) // 2)
        file.write_bytes(data)
    query = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    assert_failed(capsys, main(["query", query, "--release", str(folder), "--time-limit", "5"]))


@pytest.mark.parametrize("command", [["check"], ["show", REVIEWED], ["check", "--format", "json"]])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_output_in_an_old_encoding_is_no_trace(here: Path, command: list[str], encoding: str) -> None:
    run = run_evkg(*command, cwd=here, environment={"PYTHONIOENCODING": encoding})
    assert b"Traceback" not in run.stderr
    assert run.returncode in (0, 2)
    if "json" in command:
        json.loads(run.stdout.decode(encoding))


def test_no_text_of_a_record_reaches_the_terminal_raw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = record(
        "r",
        "result",
        name=ODD,
        description=ODD,
        source_ids=[ODD],
        facets={ODD: [ODD]},
        links=[{"relation": ODD, "target_id": ODD}],
        attributes={ODD: ODD, "metric": ODD, "printed_value": ODD, "review": {"reviewer": [ODD]}},
    )
    file = write_records(tmp_path / "r.jsonl", data, {"id": ODD, "kind": ODD})
    out = str(tmp_path / "out")
    main(["check", str(file), "--full"])
    main(["build", str(file), "--out", out])
    main(["build", str(file), "--out", out, "--draft"])
    main(["show", "r", "--release", out])
    main(["query", "SELECT * { GRAPH ?g { <https://w3id.org/evkg/id/r> ?p ?o } }", "--release", out])
    captured = capsys.readouterr()
    assert len(captured.out) > 1000
    for line in (captured.out + captured.err).split("\n"):
        assert line.isprintable(), line


def test_an_interrupted_query_ends_at_once(here: Path) -> None:
    heavy = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?c = ?f && ?f = ?i) }"
    process = subprocess.Popen(
        [sys.executable, "-m", "evkg.cli", "query", heavy], cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(1.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=5)
    assert process.returncode == 130
    assert b"Traceback" not in error


def test_help_is_there_at_once() -> None:
    started = time.perf_counter()
    assert run_evkg("--help").returncode == 0
    assert time.perf_counter() - started < 5  # the target of 0.4 s stands in benchmarks/


# ---- Anything at all ----

WORDS = (
    "check build query ask show context --help --version --format json table text turtle xml --open --strict --full "
    "--draft --out --at --set --release -o - -- graph none build/current current gena-lm gena-lm-x x=1 most=6 = "
    "inference-memory-budget 2026-11-01 ASK{} SELECT*{} DROP none.rq /dev/null -h --nope --format=json --out=x "
    "\x00 \x1b[31m é \udcff"
).split(" ")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=6))
def test_no_arguments_bring_a_traceback(
    here: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    if "-" in arguments or "serve" in arguments:
        arguments = [word for word in arguments if word not in ("-", "serve")]
    # What would write goes to a folder of the test.
    arguments = ["--out=" + str(tmp_path / "out") if word.startswith("--out") else word for word in arguments]
    if arguments[:1] == ["build"]:
        arguments = [*arguments, "--out", str(tmp_path / "out")]
    if arguments[:1] == ["context"]:
        arguments = [*arguments, "-o", "-"]
    try:
        status = main(arguments)
    except SystemExit as end:  # --help and --version
        status = int(str(end.code))
        assert status == 0
    assert status in (0, 1, 2)
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    if status == 2:
        assert captured.err.startswith("evkg: ")
        assert captured.err.count("\n") == 1


def test_the_graph_file_of_the_release_is_what_query_counts(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (here / "build/current" / GRAPH).read_text(encoding="utf-8").count("\n")
    assert main(["query", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "--format", "table"]) == 0
    assert capsys.readouterr().out.splitlines()[2] == str(lines)


def test_the_list_of_questions_shows_every_parameter_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask"]) == 0
    blocks = re.split(r"^(?=\S)", capsys.readouterr().out, flags=re.MULTILINE)
    shown = {block.split("\n")[0]: re.findall(r"--set '?(\w+)=", block) for block in blocks if block.strip()}
    assert shown == {name: [p.name for p in q.parameters] for name, q in load_questions().items()}
    assert any(len(names) > 1 for names in shown.values())
    assert any(not names for names in shown.values())
