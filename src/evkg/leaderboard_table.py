"""Leaderboards as JSON for programs and as CSV for spreadsheets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from evkg.compare import Comparison
from evkg.evidence_table import csv_line
from evkg.leaderboard import Board
from evkg.leaderboard_group import Apart, Group
from evkg.leaderboard_index import Pair
from evkg.member import Member

#: The columns of a leaderboard in CSV.
COLUMNS: Final = (
    *("group", "rank", "best", "printed_value", "unit", "unit_detail", "uncertainty", "metric", "direction", "system"),
    *("result", "source", "locator", "origin", "status", "review", "ties_with", "interval_overlaps", "caveats"),
    *("not_compared_because", "left_out"),
)


def board_json(board: Board, *, group: Group | None = None) -> dict[str, Any]:
    """A leaderboard, or one group of it, as JSON values; printed values as texts."""
    about = {
        name: None if pair is None else {"id": pair[0], "name": pair[1]}
        for name, pair in (("protocol", board.protocol), ("dataset", board.dataset), ("metric", board.metric))
    }
    return {
        **about,
        "ignored": [condition.key for condition in board.ignored],
        "results": board.results,
        "too_many_at_once": board.is_wide,
        "groups": [_group(one) for one in (board.groups if group is None else (group,))],
        "in_no_group": [
            {"metric": metric, "results": [_apart(one) for one in found]}
            for metric, found in (board.loose if group is None else ())
        ],
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "key": group.key,
        "group": group.iri,
        "metric": group.metric,
        "direction": group.direction,
        "unit": group.unit,
        "shared": group.shared,
        "left_out_and_different": list(group.within),
        "notes": list(group.notes),
        "members": [asdict(member) for member in group.members],
        "beside": [_apart(one) for one in group.apart],
    }


def _apart(apart: Apart) -> dict[str, Any]:
    return {**asdict(apart.entry.member), "reasons": [asdict(reason) for reason in apart.reasons]}


def board_csv(board: Board, *, group: Group | None = None) -> str:
    """A leaderboard, or one group of it, as CSV: one line a result, those in no group with the reasons."""
    ignored = ", ".join(condition.key for condition in board.ignored)
    lines = [csv_line(COLUMNS)]
    for one in board.groups if group is None else (group,):
        lines += [_row(one.key, one.metric, one.direction, member, "", ignored) for member in one.members]
        if group is None:
            lines += _rows_apart(one.metric, one.apart, ignored)
    if group is None:
        for metric, found in board.loose:
            lines += _rows_apart(metric, found, ignored)
    return "".join(lines)


def _rows_apart(metric: str, found: Iterable[Apart], ignored: str) -> Iterator[str]:
    for one in found:
        yield _row("", metric, "", one.entry.member, " ".join(reason.text for reason in one.reasons), ignored)


def comparison_csv(answer: Comparison) -> str:
    """The answer to a question about given results as CSV; every reason stands with each result that it touches."""
    lines = [csv_line(COLUMNS)]
    for member in answer.members:
        reasons = [
            reason.text
            for reason in answer.reasons
            if not reason.causes or any(member.id in cause.results for cause in reason.causes)
        ]
        metric, direction = (answer.shared.get(name, "") for name in ("metric", "metric_direction"))
        group = (answer.group or "").rsplit("/", 1)[-1][:12]
        lines.append(_row(group, metric, direction, member, " ".join(reasons), ", ".join(answer.ignored)))
    return "".join(lines)


def _row(group: str, metric: str, direction: str, member: Member, reasons: str, ignored: str) -> str:
    return csv_line(
        (
            *(group, "" if member.rank is None else str(member.rank), "yes" if member.is_best else ""),
            *(member.printed_value or "", member.unit or "", member.unit_detail or "", member.uncertainty or ""),
            *(metric, direction, member.system or "", member.id, member.source or "", member.locator or ""),
            *(member.origin or "", member.status, member.review or "", " ".join(member.ties)),
            *(" ".join(member.overlaps), "; ".join(member.caveats), reasons, ignored),
        )
    )


#: The columns of the list of leaderboards.
INDEX_COLUMNS: Final = tuple(Pair.__dataclass_fields__)


def pairs_json(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """The list of leaderboards as JSON values."""
    return [asdict(pair) for pair in pairs]


def pairs_csv(pairs: Sequence[Pair]) -> str:
    """The list of leaderboards as CSV.

    >>> pairs_csv([])
    '"protocol","protocol_name","dataset","dataset_name","results","groups","comparable"\\n'
    """
    return "".join([csv_line(INDEX_COLUMNS), *(csv_line(map(str, asdict(pair).values())) for pair in pairs)])
