"""The command `evkg check`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from evkg.finding import printable
from evkg.progress import progress_end, show_progress

if TYPE_CHECKING:
    from evkg.check import Checked

#: Exit status when findings gate.
EXIT_FINDINGS = 1


def print_checked(checked: Checked, format_name: str, *, full: bool = False, strict: bool = False) -> None:
    """Print the report of a check in one of `reporting.FORMATS`."""
    from evkg.finding_text import style_of
    from evkg.reporting import render_report

    print(render_report(checked, format_name, full=full, strict=strict, style=style_of(sys.stdout)), end="")


def check(options: argparse.Namespace) -> int:
    """check the records of a data set and report what is wrong or missing"""
    if not options.watch:
        return _check(options)
    from evkg.watching import watch

    def again() -> None:
        if sys.stdout.isatty():
            print("\x1b[H\x1b[2J", end="")
        _check(options)
        sys.stdout.flush()

    def failed(message: str) -> None:
        progress_end()
        print(f"evkg: {printable(message)}", file=sys.stderr, flush=True)

    watch(options.dataset, again, failed)
    return 0


def _check(options: argparse.Namespace) -> int:
    import gc

    from evkg.check import check_dataset
    from evkg.verdicts import verdict_file

    gc.disable()  # nothing here makes cycles, and to look for them among so many findings takes long
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
    print_checked(checked, options.format, full=options.full, strict=options.strict)
    gc.enable()
    gating = checked.violations or (options.strict and any(f.severity == "warning" for f in checked.findings))
    return EXIT_FINDINGS if gating else 0
