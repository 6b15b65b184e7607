"""Findings: everything that a curator can mend, from reading, keys, references and shapes alike."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Literal

Severity = Literal["violation", "warning", "info"]
SEVERITIES: Final[tuple[Severity, ...]] = ("violation", "warning", "info")

#: How many findings of one rule the text report shows before it counts the rest.
EXAMPLES_PER_RULE: Final = 8


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or missing, where it is and what to write instead.

    `field` is the path in the record (`attributes.review.method`); `line` and `column` count from 1;
    `value` is the text as written; `fix` says what to write.
    """

    severity: Severity
    rule: str
    message: str
    record: str | None = None
    field: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    value: str | None = None
    fix: str | None = None

    @property
    def place(self) -> str:
        """`file:line:column` as far as known, else the record's id.

        >>> Finding("violation", "syntax", "a tab", file="a.yaml", line=3, column=1).place
        'a.yaml:3:1'
        """
        if self.file is None:
            return self.record or "-"
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


@dataclass(frozen=True, slots=True)
class Summary:
    """How many records were checked and how many findings of each severity they have (counts)."""

    records: int
    violations: int
    warnings: int
    infos: int


def summarise(findings: Iterable[Finding], records: int) -> Summary:
    """The counts of findings by severity.

    >>> summarise([Finding("warning", "gap", "nothing said")], records=1)
    Summary(records=1, violations=0, warnings=1, infos=0)
    """
    count = Counter(finding.severity for finding in findings)
    return Summary(records, count["violation"], count["warning"], count["info"])


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in the order in which a curator works: gravest first, then by place; no repeats."""
    return sorted(
        set(findings),
        key=lambda f: (
            SEVERITIES.index(f.severity),
            f.file or "",
            f.line or 0,
            f.column or 0,
            f.record or "",
            f.field or "",
            f.rule,
            f.message,
            f.value or "",
            f.fix or "",
        ),
    )


def render_json(findings: Sequence[Finding], records: int) -> str:
    """The report as one JSON object: `{"findings": [...], "summary": {...}}`.

    >>> print(render_json([], records=0))
    {
      "findings": [],
      "summary": {
        "records": 0,
        "violations": 0,
        "warnings": 0,
        "infos": 0
      }
    }
    """
    document = {
        "findings": [asdict(finding) for finding in findings],
        "summary": asdict(summarise(findings, records)),
    }
    return json.dumps(document, ensure_ascii=False, indent=2)


def printable(text: str) -> str:
    """`text` on one line, with control characters written out: a record's text must not steer a terminal.

    >>> printable("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    return "".join(c if c.isprintable() else {"\n": " ", "\t": " "}.get(c, f"\\x{ord(c):02x}") for c in text)


def render_text(findings: Sequence[Finding], records: int, *, full: bool = False) -> str:
    """The report for a terminal: findings grouped by rule, gravest first, then the counts.

    A rule with many findings shows `EXAMPLES_PER_RULE` of them unless `full`.

    >>> print(render_text([Finding("violation", "syntax", "a tab indents", file="a.yaml", line=3)], 1))
    violation  syntax (1)
      a.yaml:3
        a tab indents
    <BLANKLINE>
    1 record: 1 violation, 0 warnings, 0 infos
    """
    groups: dict[tuple[Severity, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.severity, finding.rule), []).append(finding)
    lines: list[str] = []
    for (severity, rule), group in groups.items():
        lines.append(f"{severity}  {rule} ({len(group)})")
        shown = group if full else group[:EXAMPLES_PER_RULE]
        previous = None
        for finding in shown:
            subject = f"  {finding.record}" if finding.record and finding.file else ""
            lines.append(printable(f"  {finding.place}{subject}{'  ' + finding.field if finding.field else ''}"))
            if (finding.message, finding.fix) != previous:
                lines.extend(f"    {printable(part)}" for part in finding.message.split("\n"))
                if finding.fix:
                    lines.extend(f"    → {printable(part)}" for part in finding.fix.split("\n"))
            previous = (finding.message, finding.fix)
        if len(group) > len(shown):
            lines.append(f"  … and {len(group) - len(shown)} more like these (--full lists all)")
        lines.append("")
    counts = summarise(findings, records)
    lines.append(
        f"{counted(counts.records, 'record')}: {counted(counts.violations, 'violation')}, "
        f"{counted(counts.warnings, 'warning')}, {counted(counts.infos, 'info')}"
    )
    return "\n".join(lines)


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "info"), counted(0, "info")
    ('1 info', '0 infos')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
