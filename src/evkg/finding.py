"""Findings: everything that a curator can mend, from reading, keys, references and shapes alike."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Literal

Severity = Literal["violation", "warning", "info"]
SEVERITIES: Final[tuple[Severity, ...]] = ("violation", "warning", "info")
#: Rules on how a file is written: they are told once a file.
ONCE_A_FILE: Final = frozenset({"blank-line", "ledger", "line-ends", "byte-order-mark"})


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


_RANK: Final = {severity: rank for rank, severity in enumerate(SEVERITIES)}


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in the order in which a curator works: gravest first, then by place; no repeats."""
    return sorted(
        set(findings),
        key=lambda f: (
            _RANK[f.severity],
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


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "info"), counted(0, "info")
    ('1 info', '0 infos')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
