"""The report of a check in each of its formats: the same findings and the same counts in all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evkg.finding import render_json

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
    text = _render(checked, format_name, full=full, strict=strict, style=style)
    # Half a surrogate pair cannot be written anywhere.
    text = text.encode("utf-8", "replace").decode()
    return text if text.endswith("\n") else f"{text}\n"


def _render(checked: Checked, format_name: str, *, full: bool, strict: bool, style: Style | None) -> str:
    findings, count = checked.findings, checked.count
    if format_name == "json":
        return render_json(findings, count)
    if format_name == "turtle":
        return checked.turtle()
    if format_name == "sarif":
        from importlib.metadata import version

        from evkg.sarif import render_sarif

        return render_sarif(findings, count, version=version("evkg"))
    if format_name == "junit":
        from evkg.junit import render_junit

        return render_junit(findings, count, strict=strict)
    if format_name == "github":
        from evkg.annotation import render_annotations

        return render_annotations(findings, count)
    if format_name == "html":
        from evkg.finding_page import render_page

        return render_page(checked, full=full)
    from evkg.finding_text import render_text

    return render_text(findings, count, full=full, withheld=checked.withheld, style=style)
