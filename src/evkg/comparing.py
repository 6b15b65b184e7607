"""The command `compare`: results side by side, or every reason against it. Both are answers, so both exit with 0."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evkg.compare import Comparison
    from evkg.release import Release


def compare(options: argparse.Namespace) -> int:
    """say whether results may be compared: a table of them, or every reason against it"""
    from evkg.compare import compare as compare_results
    from evkg.release import open as open_release

    release = open_release(options.release)
    answer = compare_results(release, options.id, ignore=options.ignore)
    if options.format == "json":
        document = {"release": release.id, "conforms": release.conforms, **answer.as_json()}
        print(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        print(render_comparison(release, answer))
    return 0


def render_comparison(release: Release, answer: Comparison) -> str:
    """The answer as text for a terminal."""
    from evkg.finding import printable
    from evkg.terminal import render_table

    verdict = "yes" if answer.compatible else "no"
    lines = [f"comparable: {verdict}"]
    if answer.ignored:
        lines.append(f"LOOSENED, on request these need be neither known nor equal: {', '.join(answer.ignored)}")
        lines += [f"  hidden by that: {printable(reason.text)}" for reason in answer.ignored_reasons]
    lines += [f"- {printable(reason.text)}" for reason in answer.reasons]
    lines += [f"Note: {printable(note)}" for note in answer.notes]
    columns = ["rank", "printed", "unit", "uncertainty", "system", "result", "source", "place", "origin", "status"]
    columns += ["review", "remarks"]
    rows = []
    for member in answer.members:
        place = "-" if member.rank is None else f"{member.rank}{' best' if member.is_best else ''}"
        remarks = [f"tie with {name}" for name in member.ties]
        remarks += [f"interval overlaps that of {name}" for name in member.overlaps]
        if member.protocol_from_assessment:
            remarks.append(f"protocol taken from the assessment link: {member.protocol_from_assessment}")
        remarks += member.caveats
        unit = f"{member.unit}{f' ({member.unit_detail})' if member.unit_detail else ''}" if member.unit else None
        row = [place, member.printed_value, unit, member.uncertainty, member.system, member.id, member.source]
        row += [member.locator, member.origin, member.status, member.review, "; ".join(remarks) or "none"]
        rows.append(row)
    if rows:
        lines += ["", render_table(columns, rows)]
    lines.append(f"Release {release.id}{'' if release.conforms else ' (DRAFT with violations)'}")
    return "\n".join(lines)
