"""Findings: one order, one report for people and one for machines, and no text that steers a terminal."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evkg.finding import (
    EXAMPLES_PER_RULE,
    Finding,
    Severity,
    Summary,
    printable,
    render_json,
    render_text,
    sort_findings,
    summarise,
)

ODD = "\x1b[31mred\x1b[0m\r\x07\x00\u202e\u2028\x9b\ud800"


def finding(severity: Severity = "warning", rule: str = "rule", **parts: object) -> Finding:
    return Finding(severity, rule, str(parts.pop("message", "it is wrong")), **parts)  # type: ignore[arg-type]


def test_a_place_is_file_line_and_column_as_far_as_known() -> None:
    assert finding(file="a.yaml", line=3, column=1, record="r").place == "a.yaml:3:1"
    assert finding(file="a.yaml", line=3).place == "a.yaml:3"
    assert finding(file="a.yaml").place == "a.yaml"
    assert finding(record="r").place == "r"
    assert finding().place == "-"


def test_findings_come_gravest_first_then_by_place_and_once() -> None:
    wanted = [
        finding("violation", file="a", line=2, column=1),
        finding("violation", file="a", line=10, column=1),
        finding("violation", file="b", line=1, column=2, message="a"),
        finding("violation", file="b", line=1, column=2, message="b", fix="x"),
        finding("violation", file="b", line=1, column=2, message="b", fix="y"),
        finding("warning", file="a", line=1),
        finding("info"),
        finding("info", file="a"),
    ]
    shuffled = [*wanted, *wanted]
    random.Random(1).shuffle(shuffled)
    assert sort_findings(shuffled) == wanted


def test_findings_are_counted_by_severity() -> None:
    findings = [finding("violation"), finding("warning"), finding("warning"), finding("info")]
    assert summarise(findings, records=7) == Summary(records=7, violations=1, warnings=2, infos=1)


def test_the_report_in_json_has_every_field_of_a_finding_and_the_counts() -> None:
    fields = {
        "severity": "violation",
        "rule": "syntax",
        "message": "it is wrong",
        "record": "r",
        "field": "attributes.x",
        "file": "f",
        "line": 1,
        "column": 2,
        "value": "é",
        "fix": "y",
    }
    report = json.loads(render_json([Finding(**fields)], records=1))  # type: ignore[arg-type]
    assert report == {
        "findings": [fields],
        "summary": {"records": 1, "violations": 1, "warnings": 0, "infos": 0},
    }


def test_the_report_in_text_groups_by_rule_and_shows_the_fix_once() -> None:
    many = [finding(rule="gap", file="a.yaml", line=n, record=f"r{n}", field="x", fix="Write it.") for n in (1, 2)]
    text = render_text([finding("violation", "syntax", file="b.yaml", line=9), *many], records=2)
    assert text == (
        "violation  syntax (1)\n"
        "  b.yaml:9\n"
        "    it is wrong\n"
        "\n"
        "warning  gap (2)\n"
        "  a.yaml:1  r1  x\n"
        "    it is wrong\n"
        "    → Write it.\n"
        "  a.yaml:2  r2  x\n"
        "\n"
        "2 records: 1 violation, 2 warnings, 0 infos"
    )


def test_five_thousand_findings_of_one_rule_are_a_short_report_and_full_lists_them() -> None:
    many = [finding("violation", "gap", file="a.yaml", line=n) for n in range(5000)]
    text = render_text(many, records=5000)
    assert len(text.splitlines()) < 60
    assert f"… and {5000 - EXAMPLES_PER_RULE} more like these" in text
    assert len(render_text(many, records=5000, full=True).splitlines()) > 5000


def test_no_findings_is_one_line() -> None:
    assert render_text([], records=1) == "1 record: 0 violations, 0 warnings, 0 infos"


def test_no_text_of_a_record_steers_the_terminal() -> None:
    item = finding(message=f"a{ODD}\nb", record=ODD, field=ODD, file=ODD, value=ODD, fix=f"c{ODD}")
    for line in render_text([item], records=1).split("\n"):
        assert line.isprintable(), line
    assert not render_text([finding(record=ODD)], records=1).count("\x1b")


def test_a_message_of_two_lines_stays_two_lines() -> None:
    assert "    one\n    two\n" in render_text([finding(message="one\ntwo")], records=1)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\tb\nc", "a b c"), ("\x1b[2J", "\\x1b[2J"), ("\u202eabc", "\\x202eabc"), ("é🧬 ≤", "é🧬 ≤"), ("", "")],
)
def test_control_characters_are_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_what_is_printable_is_printable(text: str) -> None:
    assert printable(text).isprintable()
    if text.isprintable():
        assert printable(text) == text
