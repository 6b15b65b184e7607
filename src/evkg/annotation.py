"""The report as commands of a GitHub workflow, which show findings at the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from evkg.excerpt import relative_name
from evkg.finding import Finding, Severity, counted, printable, summarise

COMMANDS: Final[dict[Severity, str]] = {"violation": "error", "warning": "warning", "info": "notice"}


def render_annotations(findings: Sequence[Finding], records: int) -> str:
    """One workflow command a line for each finding, in the given order, then the counts as plain text.

    Source: https://docs.github.com/actions/reference/workflow-commands-for-github-actions

    >>> print(render_annotations([Finding("violation", "syntax", "a tab", file="a,b.yaml", line=3, column=1)], 1))
    ::error file=a%2Cb.yaml,line=3,col=1,title=syntax::a tab
    1 record: 1 violation, 0 warnings, 0 infos
    """
    counts = summarise(findings, records)
    lines = [_command(finding) for finding in findings]
    said = ((counts.violations, "violation"), (counts.warnings, "warning"), (counts.infos, "info"))
    summary = ", ".join(counted(number, noun) for number, noun in said)
    return "\n".join([*lines, f"{counted(counts.records, 'record')}: {summary}"])


def _command(finding: Finding) -> str:
    title = f"{finding.rule} ({finding.record})" if finding.record else finding.rule
    values = {
        "file": None if finding.file is None else relative_name(finding.file) or finding.file,
        "line": finding.line,
        "col": finding.column,
        "title": title,
    }
    properties = ",".join(f"{key}={_property(str(value))}" for key, value in values.items() if value is not None)
    return f"::{COMMANDS[finding.severity]} {properties}::{_data(finding)}"


def _data(finding: Finding) -> str:
    """The message with its fix; the lines stay lines, everything else that steers is written out."""
    return "%0A".join(printable(line).replace("%", "%25") for line in _lines(finding))


def _lines(finding: Finding) -> Iterator[str]:
    yield from finding.message.split("\n")
    if finding.field:
        yield f"field: {finding.field}"
    if finding.fix:
        yield f"→ {finding.fix}"


def _property(text: str) -> str:
    return printable(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
