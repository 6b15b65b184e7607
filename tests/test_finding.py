"""Findings: one order, one report for people and one for machines, and no text that steers a terminal."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evkg.finding import (
    Finding,
    Severity,
    Summary,
    printable,
    render_json,
    sort_findings,
    summarise,
)


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


_maybe = st.none() | st.sampled_from(["", "a", "b"])
_some = st.builds(
    Finding,
    st.sampled_from(["violation", "warning", "info"]),
    st.sampled_from(["r", "s"]),
    st.sampled_from(["It.", "That."]),
    *(_maybe, _maybe, _maybe),
    *(st.none() | st.integers(0, 2), st.none() | st.integers(0, 2)),
    *(_maybe, _maybe),
)


@given(st.lists(_some, max_size=12))
def test_the_order_is_total_and_what_is_missing_counts_as_empty(some: list[Finding]) -> None:
    """Quickly where texts can be compared, slowly where one is missing: the same order, whatever came first."""

    def place(f: Finding) -> tuple[object, ...]:
        where = (f.file or "", f.line or 0, f.column or 0, f.record or "", f.field or "")
        return (
            ("violation", "warning", "info").index(f.severity),
            *where,
            f.rule,
            f.message,
            f.value or "",
            f.fix or "",
        )

    found = sort_findings(some)
    assert len(found) == len(set(found))
    assert set(found) == set(some)
    assert [place(f) for f in found] == sorted(place(f) for f in found)
    assert sort_findings(reversed(some)) == found


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
