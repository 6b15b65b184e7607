"""Findings: everything that a curator can mend, from reading, keys, references and shapes alike."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from operator import itemgetter
from typing import Final, Literal, NamedTuple

Severity = Literal["violation", "warning", "info"]
SEVERITIES: Final[tuple[Severity, ...]] = ("violation", "warning", "info")
#: Rules on how a file is written: they are told once a file.
ONCE_A_FILE: Final = frozenset({"blank-line", "ledger", "line-ends", "byte-order-mark"})


class Finding(NamedTuple):
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
    by_severity: dict[str, list[Finding]] = {severity: [] for severity in SEVERITIES}
    for finding in findings:
        by_severity[finding[0]].append(finding)
    found: list[Finding] = []
    for some in by_severity.values():  # of one severity they mostly come in their order already
        try:
            some.sort(key=_PLACE)
        except TypeError:  # a text and none cannot be compared
            some.sort(key=_order)
        found += (one for one, before in zip(some, [None, *some], strict=False) if one != before)
    return found


#: The same as `_order`, in a third of the time, where no two findings differ in what one of them does not have.
_PLACE: Final = itemgetter(*map(Finding._fields.index, "file line column record field rule message value fix".split()))


def _order(finding: Finding) -> tuple[str | int, ...]:
    _, rule, message, record, field, file, line, column, value, fix = finding
    place = (file or "", line or 0, column or 0, record or "", field or "")
    # A text that is empty comes before none, so that equal findings stand side by side.
    return (*place, rule, message, value or "", fix or "", *(part is None for part in finding))


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
    return "".join(json_parts(findings, records))


def json_parts(findings: Sequence[Finding], records: int) -> Iterator[str]:
    """The same report in pieces, so that a large one need never be in memory as a whole."""
    # With an indent the standard library does not use its fast encoder; findings are flat, so their separator will do.
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",\n      ", ": ")).encode
    frame = json.dumps({"findings": [], "summary": asdict(summarise(findings, records))}, indent=2)
    head, _, tail = frame.partition("[]")
    yield f"{head}["
    for number, finding in enumerate(findings):
        yield f"{',' if number else ''}\n    {{\n      {encode(finding._asdict())[1:-1]}\n    }}"
    yield f"\n  ]{tail}" if findings else f"]{tail}"


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
