"""What has changed from one check of a data set to the next: the findings that are new, and those that are gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import Final

from evkg.finding import Finding, counted, printable, summarise
from evkg.finding_text import Style, render_text

#: A report of more lines than this is not printed again as a whole (count).
LONG: Final = 40
#: How many of the findings that are gone are named (count).
_NAMED: Final = 12


def differences(before: Iterable[Finding], now: Iterable[Finding]) -> tuple[list[Finding], list[Finding]]:
    """(new, gone): the findings of `now` that `before` did not have, and the other way round.

    A finding that only stands in another line is the same one.

    >>> one = Finding("warning", "gap", "Nothing is said.", record="r", file="a.yaml", line=3)
    >>> differences([one], [one._replace(line=5), one._replace(record="s")])[0][0].record
    's'
    """
    before, now = list(before), list(now)
    return _without(now, before), _without(before, now)


def _without(some: Iterable[Finding], others: Iterable[Finding]) -> list[Finding]:
    known = Counter(map(_key, others))
    left: list[Finding] = []
    for finding in some:
        key = _key(finding)
        if known[key]:
            known[key] -= 1
        else:
            left.append(finding)
    return left


def _key(finding: Finding) -> Finding:
    return finding._replace(line=None, column=None)


def render_since(
    before: Sequence[Finding],
    now: Sequence[Finding],
    records: int,
    *,
    withheld: Container[str] = frozenset(),
    style: Style | None = None,
) -> str:
    """What is new and what is gone since the last check as text, then the counts of all that is found now.

    >>> gone = Finding("warning", "gap", "Nothing is said.", record="r", file="a.yaml", line=3)
    >>> print(render_since([gone], [], records=1), end="")
    Since the last check: nothing is new, 1 finding is gone.
    <BLANKLINE>
      gone  a.yaml:3  gap: Nothing is said.
    <BLANKLINE>
    1 record: 0 violations, 0 warnings, 0 infos
    """
    style = style or Style()
    new, gone = differences(before, now)
    lines = [f"Since the last check: {_said(new)} new, {_said(gone)} gone.", ""]
    if new:
        body, _, _ = render_text(new, records, withheld=withheld, style=style).rpartition("\n")
        lines += body.split("\n")
    for finding in gone[:_NAMED]:
        text = f"{printable(finding.place)}  {printable(finding.rule)}: {printable(finding.message)}"
        lines += style.wrap(text, f"  {style.paint('gone', 'soft')}  ", "        ")
    if len(gone) > _NAMED:
        lines.append(f"  … and {len(gone) - _NAMED} more that are gone")
    if gone:
        lines.append("")
    counts = summarise(now, records)
    parts = ((counts.violations, "violation"), (counts.warnings, "warning"), (counts.infos, "info"))
    told = ", ".join(style.paint(counted(n, name), name) if n else counted(n, name) for n, name in parts)
    return "\n".join([*lines, f"{counted(records, 'record')}: {told}", ""])


def _said(findings: Sequence[Finding]) -> str:
    if not findings:
        return "nothing is"
    return f"{counted(len(findings), 'finding')} {'is' if len(findings) == 1 else 'are'}"
