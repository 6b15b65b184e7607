"""Findings for tests of reports: hostile ones, and a data set that has every severity."""

from __future__ import annotations

from pathlib import Path

from evkg.finding import Finding, Severity
from tests.builds import record, write_records

#: What would steer a terminal, end an element, a section or a command, turn the text round, or fill the screen.
ODD = (
    "\x1b[31mred\x1b[0m\r\x07\x00\u202e\u2028\x9b\ud800\ufffe]]></failure><script>alert(1)</script>%0A::error::x\u200f"
)
LONG = "x" * 10_000


def finding(severity: Severity = "warning", rule: str = "rule", **parts: object) -> Finding:
    return Finding(severity, rule, str(parts.pop("message", "it is wrong")), **parts)  # type: ignore[arg-type]


def hostile() -> list[Finding]:
    """A finding of each severity with odd texts in every field."""
    return [
        finding("violation", message=f"a{ODD}\nb", record=ODD, field=ODD, file=ODD, line=1, value=ODD, fix=f"c{ODD}"),
        finding("warning", rule=ODD, message=LONG, file="a.yaml", line=3, column=2, value=LONG, fix="{0} [x](1)"),
        finding("info", message="b", record="r"),
    ]


def mixed(folder: Path) -> Path:
    """A data set with violations, warnings and infos, hostile texts and an excluded record among its records."""
    odd = ODD.replace("\ud800", "").replace("\x00", "").replace("\ufffe", "")
    records = [
        record("paper-one", "source", name="Paper <one> & \u202eco"),
        record("paper-two", "source", attributes={"doi": odd}),
        record("result-one", "result", source_ids=["paper-one"], attributes={"printed_value": odd, "unit": odd}),
        record("result-two", "result", source_ids=["paper-two", "paper-one"], attributes={"aggregation": LONG}),
        record("result-three", "result", source_ids=["nowhere"], status="reviewed"),
        record("result-four", "result", attributes={"missing_metadata": {"metric": {"reason": "unreported"}}}),
        record("hidden", "result", source_ids=["paper-one"], status="excluded", description="the secret word"),
    ]
    return write_records(folder / "records.jsonl", *records).parent
