"""The command `diff`: what changed from one release to another."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evkg.diff import Change, Difference


def diff(options: argparse.Namespace) -> int:
    """show what changed from one release to another: records, their status, results in doubt"""
    from evkg.diff import diff as compare_releases
    from evkg.release import open as open_release

    answer = compare_releases(open_release(options.before), open_release(options.after))
    if options.format == "json":
        print(json.dumps(answer.as_json(), ensure_ascii=False, indent=2))
    else:
        print(render_difference(answer))
    return 0


def render_difference(answer: Difference) -> str:
    """The answer as text for a terminal: one line a record, results in doubt, other graphs, totals."""
    from evkg.finding import printable

    lines = [f"{answer.before} -> {answer.after}"]
    lines += [printable(_line(change)) for change in answer.changes]
    lines += [printable(f"{doubt.what}  result {doubt.id}: {doubt.why}") for doubt in answer.doubts]
    if answer.graphs is None:
        lines.append("other graphs: not known, one of the releases has no index of its graphs")
    elif answer.graphs:
        lines.append(f"other graphs that differ: {', '.join(answer.graphs)}")
    counts = [f"{sum(change.what == what for change in answer.changes)} {what}" for what in ("new", "gone", "changed")]
    counts += [f"{sum(doubt.what == what for doubt in answer.doubts)} {what}" for what in ("doubted", "cleared")]
    return "\n".join([*lines, ", ".join(counts)])


def _line(change: Change) -> str:
    parts = [f"{change.what:7}  {change.kind} {change.id}"]
    if change.status_before != change.status_after:
        parts.append(f"status {change.status_before or 'none'} -> {change.status_after or 'none'}")
        parts.append(f"because: {change.reason or 'no reason is recorded'}")
    fields = [name for name in change.fields if name != "status"]
    if fields:
        parts.append(f"differs in {', '.join(fields)}")
    return "; ".join(parts)
