"""The report of a check in each of its formats: the same findings and the same counts in all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from evkg.finding import json_parts

if TYPE_CHECKING:
    from evkg.check import Checked
    from evkg.finding_text import Style

#: The formats of a report; the first is the one for people at a terminal.
FORMATS: Final = ("text", "json", "turtle", "sarif", "html", "junit", "github")


def render_report(
    checked: Checked, format_name: str, *, full: bool = False, strict: bool = False, style: Style | None = None
) -> str:
    """The report of a check in one of `FORMATS`, ending with a line feed.

    `full` lists every finding where text and HTML would group and count; `strict` makes warnings fail in
    JUnit; `style` is how text looks.

    >>> from pathlib import Path
    >>> from evkg.check import check_dataset
    >>> render_report(check_dataset(Path("graph")), "github").splitlines()[-1]
    '49 records: 0 violations, 177 warnings, 7 infos'
    """
    return "".join(report_parts(checked, format_name, full=full, strict=strict, style=style))


def report_parts(
    checked: Checked, format_name: str, *, full: bool = False, strict: bool = False, style: Style | None = None
) -> Iterator[str]:
    """The same report in pieces: what is written finding by finding need never be in memory as a whole."""
    last = ""
    for part in _parts(checked, format_name, full=full, strict=strict, style=style):
        # Half a surrogate pair cannot be written anywhere.
        last = part if part.isascii() else part.encode("utf-8", "replace").decode()
        yield last
    if not last.endswith("\n"):
        yield "\n"


def _parts(checked: Checked, format_name: str, *, full: bool, strict: bool, style: Style | None) -> Iterator[str]:
    if format_name == "sarif":
        from importlib.metadata import version

        from evkg.sarif import sarif_parts

        yield from sarif_parts(checked.findings, checked.count, version=version("evkg"))
    elif format_name == "junit":
        from evkg.junit import junit_lines

        yield from (f"{line}\n" for line in junit_lines(checked.findings, checked.count, strict=strict))
    elif format_name == "json":
        yield from json_parts(checked.findings, checked.count)
    else:
        yield _render(checked, format_name, full=full, style=style)


def _render(checked: Checked, format_name: str, *, full: bool, style: Style | None) -> str:
    findings, count = checked.findings, checked.count
    if format_name == "turtle":
        return checked.turtle()
    if format_name == "github":
        from evkg.annotation import render_annotations

        return render_annotations(findings, count)
    if format_name == "html":
        from evkg.finding_page import render_page

        return render_page(checked, full=full)
    from evkg.finding_text import render_text

    return render_text(findings, count, full=full, withheld=checked.withheld, style=style)
