"""The report as JUnit XML, which continuous integration shows as a list of tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from evkg.excerpt import relative_name
from evkg.finding import Finding, Severity, counted, printable, summarise
from evkg.rule import rule_groups

#: How much of a message stands in an attribute, which viewers show in one line (characters).
_SHORT: Final = 300


def render_junit(findings: Sequence[Finding], records: int, *, strict: bool = False) -> str:
    """The report as JUnit XML: a suite for each rule, in it a test case for each finding.

    A violation is a failure; a warning or info is a skipped test, which fails nothing, and with `strict`
    a warning is a failure too. One test that passes says how many records were read. No name has a line
    in it, so that viewers know a finding again.

    >>> print(render_junit([], records=1))
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="evkg check" tests="1" failures="0" errors="0" skipped="0">
      <testsuite name="records" tests="1" failures="0" errors="0" skipped="0">
        <properties>
          <property name="records" value="1"/>
          <property name="violations" value="0"/>
          <property name="warnings" value="0"/>
          <property name="infos" value="0"/>
        </properties>
        <testcase classname="evkg.records" name="1 record was read"/>
      </testsuite>
    </testsuites>
    """
    return "\n".join(junit_lines(findings, records, strict=strict))


def junit_lines(findings: Sequence[Finding], records: int, *, strict: bool = False) -> Iterator[str]:
    """The lines of the same report, one by one, so that a large one need never be in memory as a whole."""
    failing: tuple[Severity, ...] = ("violation", "warning") if strict else ("violation",)
    counts = summarise(findings, records)
    failures = sum(finding.severity in failing for finding in findings)
    verb = "was" if records == 1 else "were"
    total, skipped = len(findings) + 1, len(findings) - failures
    yield from (
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="evkg check" tests="{total}" failures="{failures}" errors="0" skipped="{skipped}">',
        '  <testsuite name="records" tests="1" failures="0" errors="0" skipped="0">',
        "    <properties>",
        f'      <property name="records" value="{counts.records}"/>',
        f'      <property name="violations" value="{counts.violations}"/>',
        f'      <property name="warnings" value="{counts.warnings}"/>',
        f'      <property name="infos" value="{counts.infos}"/>',
        "    </properties>",
        f'    <testcase classname="evkg.records" name="{counted(records, "record")} {verb} read"/>',
        "  </testsuite>",
    )
    for (severity, rule), group in rule_groups(findings).items():
        yield from _suite(rule, group, is_failure=severity in failing)
    yield "</testsuites>"


def _suite(rule: str, group: Sequence[Finding], *, is_failure: bool) -> Iterator[str]:
    count = len(group)
    failures, skipped = (count, 0) if is_failure else (0, count)
    name = quoteattr(printable(rule))
    yield f'  <testsuite name={name} tests="{count}" failures="{failures}" errors="0" skipped="{skipped}">'
    seen: Counter[str] = Counter()
    for finding in group:
        subject = " ".join(part for part in (finding.record or finding.file, finding.field) if part)
        subject = printable(subject or "data set")
        seen[subject] += 1
        name = subject if seen[subject] == 1 else f"{subject} ({seen[subject]})"
        yield from _case(finding, name, is_failure=is_failure)
    yield "  </testsuite>"


def _case(finding: Finding, name: str, *, is_failure: bool) -> Iterator[str]:
    parts = [f"classname={quoteattr(f'evkg.{printable(finding.rule)}')}", f"name={quoteattr(name)}"]
    if finding.file is not None:
        parts.append(f"file={quoteattr(printable(relative_name(finding.file) or finding.file))}")
    if finding.line is not None:
        parts.append(f'line="{finding.line}"')
    yield f"    <testcase {' '.join(parts)}>"
    message = printable(finding.message)
    short = quoteattr(message if len(message) <= _SHORT else f"{message[:_SHORT]}…")
    if is_failure:
        body = "\n".join(escape(line) for line in _body(finding))
        yield f'      <failure type="{finding.severity}" message={short}>{body}</failure>'
    else:
        yield f"      <skipped message={short}/>"
        body = "\n".join(escape(line) for line in (finding.severity, *_body(finding)))
        yield f"      <system-out>{body}</system-out>"
    yield "    </testcase>"


def _body(finding: Finding) -> Iterator[str]:
    """What a viewer shows of one finding, line by line."""
    yield printable(finding.place)
    yield printable(finding.message)
    if finding.value:
        yield f"as written: {printable(finding.value)}"
    if finding.fix:
        yield f"→ {printable(finding.fix)}"
