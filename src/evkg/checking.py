"""The command `evkg check`."""

from __future__ import annotations

import argparse
import gc
import sys
from typing import TYPE_CHECKING

from evkg.finding import printable
from evkg.progress import progress_end, show_progress

if TYPE_CHECKING:
    from evkg.check import Checked
    from evkg.finding import Finding

#: Exit status when findings gate.
EXIT_FINDINGS = 1


def print_checked(checked: Checked, format_name: str, *, full: bool = False, strict: bool = False) -> None:
    """Print the report of a check in one of `reporting.FORMATS`."""
    from evkg.finding_text import style_of
    from evkg.reporting import report_parts

    parts = report_parts(checked, format_name, full=full, strict=strict, style=style_of(sys.stdout))
    # What a stream cannot encode must stop the report before its first line.
    sys.stdout.writelines(parts if str(sys.stdout.encoding).lower() == "utf-8" else ["".join(parts)])


def check(options: argparse.Namespace) -> int:
    """check the records of a data set and report what is wrong or missing"""
    if not options.watch:
        return _check(options)
    from evkg.watching import watch

    before: list[Finding] | None = None

    def again() -> None:
        nonlocal before
        gc.disable()
        checked = _checked(options)
        if sys.stdout.isatty():
            print("\x1b[H\x1b[2J", end="")
        _print_since(before, checked, options)
        before = checked.findings
        sys.stdout.flush()
        gc.enable()

    def failed(message: str) -> None:
        progress_end()
        print(f"evkg: {printable(message)}", file=sys.stderr, flush=True)

    try:
        watch(options.dataset, again, failed)
    except KeyboardInterrupt:  # which is how it ends
        progress_end()
        return 130
    return 0


def _print_since(before: list[Finding] | None, checked: Checked, options: argparse.Namespace) -> None:
    """Print the report of a check again; of a long one for people only what has changed since the check before."""
    from evkg.finding_text import style_of
    from evkg.reporting import render_report
    from evkg.since import LONG, render_since

    style = style_of(sys.stdout)
    text = render_report(checked, options.format, full=options.full, strict=options.strict, style=style)
    if before is not None and options.format == "text" and not options.full and text.count("\n") > LONG:
        text = render_since(before, checked.findings, checked.count, withheld=checked.withheld, style=style)
    print(text, end="")


def _check(options: argparse.Namespace) -> int:
    gc.disable()  # nothing here makes cycles, and to look for them among so many findings takes long
    checked = _checked(options)
    print_checked(checked, options.format, full=options.full, strict=options.strict)
    gc.enable()
    gating = checked.violations or (options.strict and any(f.severity == "warning" for f in checked.findings))
    return EXIT_FINDINGS if gating else 0


def _checked(options: argparse.Namespace) -> Checked:
    from evkg.check import check_dataset
    from evkg.verdicts import verdict_file

    with_report = options.format == "turtle"
    is_kept = not (options.no_cache or with_report or options.engine == "pyshacl")
    checked = check_dataset(
        options.dataset,
        is_open=options.open,
        engine=options.engine,
        progress=show_progress,
        with_report=with_report,
        cache=verdict_file(options.dataset) if is_kept else None,
    )
    progress_end()
    return checked
