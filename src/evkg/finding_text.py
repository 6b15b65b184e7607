"""The report as text for a terminal: grouped by rule, each finding with its line and what to write."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TextIO

from evkg.excerpt import excerpt, lines_at, shows_field
from evkg.finding import Finding, Severity, counted, printable, summarise
from evkg.rule import rule_groups
from evkg.terminal import display_width

#: How many findings of one rule the report shows before it counts the rest (count).
EXAMPLES_PER_RULE: Final[Mapping[Severity, int]] = {"violation": 5, "warning": 3, "info": 1}
#: How many files it names of those that it only counts (count).
_FILES: Final = 6
#: A terminal wider than this is not used up: long lines are hard to read (columns).
_WIDEST: Final = 120

_SGR: Final = {
    "violation": "1;31",
    "warning": "1;33",
    "info": "1;34",
    "rule": "1",
    "place": "36",
    "soft": "2",
    "fix": "32",
}


@dataclass(frozen=True, slots=True)
class Style:
    """How text looks: in colour or not, and how wide it may be (columns); None wraps nothing."""

    colour: bool = False
    width: int | None = None

    def paint(self, text: str, name: str) -> str:
        """`text` in the colour of a name, where there is colour.

        >>> Style(colour=True).paint("a", "rule"), Style().paint("a", "rule")
        ('\\x1b[1ma\\x1b[0m', 'a')
        """
        return f"\x1b[{_SGR[name]}m{text}\x1b[0m" if self.colour and text else text

    def wrap(self, text: str, first: str, rest: str) -> list[str]:
        """`text` in lines at words, `first` before the first of them and `rest` before the others.

        >>> Style(width=30).wrap("Write the value, or why there is none.", "→ ", "  ")
        ['→ Write the value, or why', '  there is none.']
        """
        lines, line = [], first
        begin = True
        for word in text.split(" "):
            if self.width and not begin and display_width(line) + 1 + display_width(word) > self.width:
                lines.append(line.rstrip())
                line, begin = rest, True
            line += word if begin else f" {word}"
            begin = False
        return [*lines, line]


def style_of(stream: TextIO) -> Style:
    """The style for a stream: colour and width only where a person looks at a terminal.

    Source: https://no-color.org (NO_COLOR, when set and not empty, means no colour).
    """
    if not stream.isatty():
        return Style()
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(colour, max(40, min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST)))


def render_text(
    findings: Sequence[Finding],
    records: int,
    *,
    full: bool = False,
    withheld: Container[str] = frozenset(),
    style: Style | None = None,
) -> str:
    """The report: findings grouped by rule, gravest first, each with its line as written, then the counts.

    A rule with many findings shows `EXAMPLES_PER_RULE` of them unless `full`, and says where the rest are.
    Of records whose ids are `withheld` no line is shown.

    >>> print(render_text([Finding("violation", "syntax", "a tab indents", file="a.yaml", line=3)], 1))
    violation  syntax (1)
      a tab indents
    <BLANKLINE>
      a.yaml:3
    <BLANKLINE>
    1 record: 1 violation, 0 warnings, 0 infos
    """
    style = style or Style()
    groups = rule_groups(findings)
    shown = {key: group if full else group[: EXAMPLES_PER_RULE[key[0]]] for key, group in groups.items()}
    written = lines_at((finding for group in shown.values() for finding in group), withheld)
    lines: list[str] = []
    for (severity, rule), group in groups.items():
        lines += _group(severity, rule, group, shown[severity, rule], written, style)
        lines.append("")
    lines.append(_counts(findings, records, style))
    return "\n".join(lines)


def _counts(findings: Sequence[Finding], records: int, style: Style) -> str:
    counts = summarise(findings, records)
    parts = ((counts.violations, "violation"), (counts.warnings, "warning"), (counts.infos, "info"))
    said = ", ".join(style.paint(counted(n, name), name) if n else counted(n, name) for n, name in parts)
    return f"{counted(counts.records, 'record')}: {said}"


def _group(
    severity: Severity,
    rule: str,
    group: Sequence[Finding],
    shown: Sequence[Finding],
    written: Mapping[tuple[str, int], str],
    style: Style,
) -> Iterator[str]:
    """The lines of one rule; what all its findings say stands once, above them."""
    yield f"{style.paint(severity, severity)}  {style.paint(printable(rule), 'rule')} ({len(group)})"
    is_one = len({finding.message for finding in group}) == 1
    fixes = {finding.fix for finding in group}
    if is_one:
        yield from _message(group[0].message, "  ", style)
    if len(fixes) == 1:
        yield from _fix(group[0].fix, "  ", style)
    if is_one or (len(fixes) == 1 and group[0].fix):
        yield ""
    for finding in shown:
        told = list(_finding(finding, written, style, with_message=not is_one, with_fix=len(fixes) > 1))
        if len(told) > 2 and finding is not shown[0]:
            yield ""
        yield from told
    if len(group) > len(shown):
        yield ""
        yield from _rest(group[len(shown) :], style)


def _message(text: str, indent: str, style: Style) -> Iterator[str]:
    for part in text.split("\n"):
        yield from style.wrap(printable(part), indent, indent)


def _fix(text: str | None, indent: str, style: Style) -> Iterator[str]:
    for part in text.split("\n") if text else ():
        for line in style.wrap(printable(part), f"{indent}→ ", f"{indent}  "):
            yield style.paint(line, "fix")


def _finding(
    finding: Finding, written: Mapping[tuple[str, int], str], style: Style, *, with_message: bool, with_fix: bool
) -> Iterator[str]:
    place = printable(finding.place)
    record = printable(finding.record) if finding.record and finding.file else ""
    field = printable(finding.field) if finding.field else ""
    whole = "  ".join(part for part in (place, record, field) if part)
    if style.width is None or len(whole) + 2 <= style.width:
        subject = "  ".join(part for part in (record, field) if part)
        yield f"  {style.paint(place, 'place')}{'  ' + subject if subject else ''}"
    else:
        yield f"  {style.paint(place, 'place')}"
        yield from style.wrap("  ".join(part for part in (record, field) if part), "    ", "    ")
    if with_message:
        yield from _message(finding.message, "    ", style)
    yield from _line(finding, written, style)
    if with_fix:
        yield from _fix(finding.fix, "    ", style)


def _line(finding: Finding, written: Mapping[tuple[str, int], str], style: Style) -> Iterator[str]:
    """The line as written and carets under what is meant; nothing where it may not or cannot be shown.

    A field that is missing has no line: its place is the object that lacks it.
    """
    text = written.get((finding.file or "", finding.line or 0), "")
    number = str(finding.line)
    part = excerpt(text, finding.column or 1, finding.value, room=(style.width or _WIDEST) - len(number) - 10)
    if not text.strip() or not shows_field(finding, part):
        return
    bar = style.paint("│", "soft")
    yield f"    {style.paint(number, 'soft')} {bar} {part.before}{part.marked}{part.after}".rstrip()
    if finding.column:
        carets = style.paint("^" * max(1, display_width(part.marked)), finding.severity)
        yield f"    {' ' * len(number)} {bar} {' ' * display_width(part.before)}{carets}"


def _rest(rest: Sequence[Finding], style: Style) -> Iterator[str]:
    """Where the findings are that are not shown: the files with most of them, and how to see all."""
    files = Counter(finding.file for finding in rest if finding.file)
    top = sorted(files.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{printable(name)} ({count})" for name, count in top[:_FILES]]
    if len(top) > _FILES:
        named.append(f"{counted(len(top) - _FILES, 'more file')}")
    where = f" in {', '.join(named)}" if named else ""
    lines = style.wrap(f"… and {len(rest)} more like these (--full lists all){where}", "  ", "    ")
    yield from (style.paint(line, "soft") for line in lines)
