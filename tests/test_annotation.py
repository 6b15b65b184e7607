"""Workflow commands: one line for each finding, and no text of a record makes another command."""

from __future__ import annotations

import re
from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from evkg.annotation import render_annotations
from evkg.finding import SEVERITIES
from tests.findings import finding, hostile

COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def test_each_severity_has_its_command_and_the_counts_come_last() -> None:
    lines = render_annotations([finding(severity) for severity in SEVERITIES], records=1).split("\n")
    assert [line.split(" ")[0] for line in lines[:3]] == ["::error", "::warning", "::notice"]
    assert lines[3:] == ["1 record: 1 violation, 1 warning, 1 info"]


def test_properties_and_message_are_written_out_as_the_workflow_reads_them() -> None:
    item = finding("violation", "r:1", message="50% off\nnow", file="a,b:c%.yaml", line=3, column=4, field="x", fix="y")
    assert render_annotations([item], records=1).split("\n")[0] == (
        "::error file=a%2Cb%3Ac%25.yaml,line=3,col=4,title=r%3A1::50%25 off%0Anow%0Afield: x%0A→ y"
    )


def test_hostile_texts_stay_texts() -> None:
    lines = render_annotations(hostile(), records=1).split("\n")
    assert len(lines) == 4
    for line in lines[:3]:
        assert COMMAND.fullmatch(line), line
        assert line.isprintable()
    assert "%250A::error::x" in lines[0]


@given(st.text(), st.sampled_from(["message", "record", "field", "file", "fix", "rule"]))
def test_one_finding_is_one_command(text: str, part: str) -> None:
    item = finding()._replace(**{part: text})  # type: ignore[arg-type]
    line, _ = render_annotations([item], records=1).split("\n")
    match = COMMAND.fullmatch(line)
    assert match
    if part == "rule" and text.isprintable():
        assert unquote(match[2].partition("title=")[2]) == text
