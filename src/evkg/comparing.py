"""The command `compare`: results side by side, or every reason against it. Both are answers, so both exit with 0."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Final

from evkg.errors import UsageError

if TYPE_CHECKING:
    from evkg.compare import Comparison
    from evkg.member import Member
    from evkg.release import Release

#: What to type where no ids are given.
_USAGE: Final = (
    "Name two to 20 results: evkg compare ID ID. Their ids are found with: "
    'evkg query "SELECT ?id ?name { ?r evkg:recordId ?id ; foaf:primaryTopic ?t . ?t a evkg:Result ; rdfs:label '
    '?name }"'
)


def compare(options: argparse.Namespace) -> int:
    """say whether results may be compared: a table of them, or every reason against it"""
    from evkg.compare import compare as compare_results
    from evkg.release import open as open_release

    if not options.id:
        raise UsageError(_USAGE)
    release = open_release(options.release)
    answer = compare_results(release, options.id, ignore=options.ignore)
    if options.format == "json":
        document = {"release": release.id, "conforms": release.conforms, **answer.as_json()}
        print(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        print(render_comparison(release, answer))
    return 0


def render_comparison(release: Release, answer: Comparison) -> str:
    """The answer as text for a terminal: a table, best first, where the results may be compared, else the reasons."""
    from evkg.finding import printable

    said = "no" if not answer.compatible else "only with conditions left out" if answer.ignored else "yes"
    lines = [f"comparable: {said}"]
    if answer.ignored:
        lines.append(f"LOOSENED, on request these need be neither known nor equal: {', '.join(answer.ignored)}")
        lines += [f"  hidden by that: {printable(reason.text)}" for reason in answer.ignored_reasons]
    lines += [f"- {printable(reason.text)}" for reason in answer.reasons]
    lines += [f"Note: {printable(note)}" for note in answer.notes]
    lines += _side_by_side(answer) if answer.compatible else _each(answer)
    lines.append(f"Release {release.id}{'' if release.conforms else ' (DRAFT with violations)'}")
    return "\n".join(lines)


def _unit(member: Member) -> str | None:
    return f"{member.unit}{f' ({member.unit_detail})' if member.unit_detail else ''}" if member.unit else None


def _remarks(member: Member) -> list[str]:
    found = [f"not to be told apart, as printed, from {', '.join(member.ties)}"] if member.ties else []
    found += [f"its interval overlaps that of {', '.join(member.overlaps)}"] if member.overlaps else []
    if member.protocol_from_assessment:
        found.append(f"protocol taken from the assessment link: {member.protocol_from_assessment}")
    return [*found, *member.caveats]


def _side_by_side(answer: Comparison) -> list[str]:
    """The table, then what the results share, where each stands, and what is to be said of it."""
    from evkg.candidate import CONDITIONS
    from evkg.finding import printable
    from evkg.terminal import render_narrow_table

    members = sorted(answer.members, key=lambda member: (member.rank is None, member.rank or 0))
    columns = ["rank", "printed", "unit", "uncertainty", "system", "result"]
    rows = [
        [
            "none" if member.rank is None else f"{member.rank}{' best' if member.is_best else ''}",
            *(member.printed_value, _unit(member), member.uncertainty, member.system, member.id),
        ]
        for member in members
    ]
    if not any(member.uncertainty for member in members):
        columns.remove("uncertainty")
        rows = [[*row[:3], *row[4:]] for row in rows]
    shared = [f"  {c.label}: {printable(answer.shared[c.key])}" for c in CONDITIONS if c.key in answer.shared]
    said = [f"  {member.id}: {printable('; '.join([*_standing(member), *_remarks(member)]))}" for member in members]
    return [
        "",
        render_narrow_table(columns, rows),
        "",
        "What they share",
        *shared,
        "",
        "Where each stands, and what is to be said of it",
        *said,
    ]


def _standing(member: Member) -> list[str]:
    place = f"{member.source or 'no source recorded'}, {member.locator or 'no place recorded'}"
    checked = f"review: {member.review or 'none recorded'}"
    return [place, member.origin or "origin not recorded", member.status, checked]


def _each(answer: Comparison) -> list[str]:
    """What the records say, none ranked."""
    from evkg.terminal import render_table

    columns = ["printed", "unit", "uncertainty", "system", "result", "source", "place", "origin", "status", "review"]
    columns.append("remarks")
    rows = []
    for member in answer.members:
        row = [member.printed_value, _unit(member), member.uncertainty or "none recorded", member.system, member.id]
        row += [member.source, member.locator, member.origin, member.status, member.review or "none recorded"]
        row.append("; ".join(_remarks(member)) or "none")
        rows.append(row)
    return ["", render_table(columns, rows)] if rows else []
