"""All formats of the report: the same numbers in each, whatever the records hold."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pyoxigraph as ox
import pytest

from evkg.check import Checked, check_dataset
from evkg.cli import make_parser
from evkg.finding import SEVERITIES, Finding, Summary, summarise
from evkg.finding_text import Style
from evkg.namespaces import SH
from evkg.reporting import FORMATS, render_report, report_parts
from tests.builds import ROOT, run_evkg
from tests.findings import hostile, mixed

Counts = tuple[int, int, int]


def in_words(text: str) -> Counts:
    found = re.search(r"(\d+) violations?, (\d+) warnings?, (\d+) infos?\n\Z", text)
    assert found
    return tuple(map(int, found.groups()))  # type: ignore[return-value]


def in_json(text: str) -> Counts:
    report = json.loads(text)
    counts = Counter(finding["severity"] for finding in report["findings"])
    assert [report["summary"][f"{name}s"] for name in ("violation", "warning", "info")] == [
        counts[name] for name in ("violation", "warning", "info")
    ]
    return counts["violation"], counts["warning"], counts["info"]


def in_turtle(text: str) -> Counts:
    triples = ox.parse(input=text.encode(), format=ox.RdfFormat.TURTLE)
    counts = Counter(
        str(t.object)[1:-1].removeprefix(SH) for t in triples if t.predicate.value == f"{SH}resultSeverity"
    )
    return counts["Violation"], counts["Warning"], counts["Info"]


def in_sarif(text: str) -> Counts:
    (run,) = json.loads(text)["runs"]
    counts = Counter(result["level"] for result in run["results"])
    summary = run["properties"]["summary"]
    assert (summary["violations"], summary["warnings"]) == (counts["error"], counts["warning"])
    return counts["error"], counts["warning"], counts["note"]


def in_html(text: str) -> Counts:
    counts = Counter[str]()
    for severity, count in re.findall(r'data-severity="(\w+)" data-rule="[^"]*" data-count="(\d+)"', text):
        counts[severity] += int(count)
    return counts["violation"], counts["warning"], counts["info"]


def in_junit(text: str) -> Counts:
    root = ET.fromstring(text.encode())  # noqa: S314
    found = {p.attrib["name"]: int(p.attrib["value"]) for p in root.iter("property")}
    assert int(root.attrib["failures"]) == found["violations"]
    assert int(root.attrib["skipped"]) == found["warnings"] + found["infos"]
    return found["violations"], found["warnings"], found["infos"]


def in_github(text: str) -> Counts:
    counts = Counter(re.findall(r"^::(\w+) ", text, re.MULTILINE))
    assert in_words(text) == (counts["error"], counts["warning"], counts["notice"])
    return counts["error"], counts["warning"], counts["notice"]


COUNT: dict[str, Callable[[str], Counts]] = {
    "text": in_words,
    "json": in_json,
    "turtle": in_turtle,
    "sarif": in_sarif,
    "html": in_html,
    "junit": in_junit,
    "github": in_github,
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Checked:
    return check_dataset(mixed(tmp_path_factory.mktemp("mixed")), with_report=True)


def test_there_is_a_test_for_every_format_and_the_command_offers_them() -> None:
    assert tuple(COUNT) == FORMATS
    for name in FORMATS:
        assert make_parser().parse_args(["check", "--format", name]).format == name


@pytest.mark.parametrize("name", FORMATS)
def test_all_formats_have_the_same_numbers(name: str, checked: Checked) -> None:
    summary = summarise(checked.findings, checked.count)
    expected = (summary.violations, summary.warnings, summary.infos)
    assert min(expected) > 0
    assert COUNT[name](render_report(checked, name)) == expected


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "turtle"])
def test_hostile_texts_break_no_format(name: str, checked: Checked) -> None:
    text = render_report(replace(checked, findings=hostile()), name, full=True, style=Style(width=80))
    assert COUNT[name](text) == (1, 1, 1)
    text.encode("utf-8", "strict")
    assert "\x1b" not in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_of_a_withheld_record_is_in_any_format(name: str, checked: Checked) -> None:
    assert "hidden" in checked.withheld
    assert "secret" not in render_report(checked, name, full=True)


@pytest.mark.parametrize("name", FORMATS)
def test_the_command_prints_the_format_and_its_status_is_that_of_the_findings(
    name: str, checked: Checked, tmp_path: Path
) -> None:
    done = run_evkg("check", str(checked.path), "--format", name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, b"")
    assert COUNT[name](done.stdout.decode()) == COUNT[name](render_report(checked, name))


@pytest.mark.parametrize("name", FORMATS)
def test_half_a_character_is_told_in_words_in_every_format(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id":"a","\\ud800":1,"\\ud800":2}\n', encoding="utf-8")
    found = check_dataset(tmp_path, with_report=True)
    assert [item.message for item in found.findings] == ['The key "\\ud800" stands twice in one object.']
    text = render_report(found, name)
    assert "ud800" in text
    assert text.encode().decode() == text


def test_strict_makes_warnings_fail_in_junit(checked: Checked) -> None:
    root = ET.fromstring(render_report(checked, "junit", strict=True).encode())  # noqa: S314
    summary = summarise(checked.findings, checked.count)
    assert int(root.attrib["failures"]) == summary.violations + summary.warnings


@pytest.mark.parametrize("name", ["sarif", "junit", "json"])
def test_a_large_report_is_never_in_memory_as_a_whole(name: str, checked: Checked) -> None:
    findings = [
        Finding("warning", "gap", f"Nothing is said of {n}.", record=f"r{n}", value="x" * 1500) for n in range(8000)
    ]
    large = replace(checked, findings=findings)
    tracemalloc.start()
    size = sum(map(len, report_parts(large, name)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 12_000_000
    assert peak < size / 2
    assert len(render_report(large, name)) == size


SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))


def test_the_documented_schema_of_the_json_report_has_the_keys_of_findings_and_counts() -> None:
    for name, keys in (("finding", {*Finding._fields}), ("summary", {field.name for field in fields(Summary)})):
        assert set(SCHEMA["$defs"][name]["properties"]) == set(SCHEMA["$defs"][name]["required"]) == keys
    assert SCHEMA["$defs"]["finding"]["properties"]["severity"]["enum"] == list(SEVERITIES)


def test_the_json_report_validates_against_its_schema(checked: Checked) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for findings in (checked.findings, hostile(), []):
        report = json.loads(render_report(replace(checked, findings=findings), "json"))
        assert [error.message for error in validator.iter_errors(report)] == []
