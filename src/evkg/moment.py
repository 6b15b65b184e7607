"""Moments that records name: days and times as spans that can be told apart or not, and which of two came first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from evkg.finding import Finding
from evkg.jsontext import Json
from evkg.record import Record
from evkg.scalar import Path

#: Source: contract section 5.1 (date, datetime); a day may stand for a time.
_MOMENT: Final = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?:T(?P<time>\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?P<offset>Z|[+-]\d\d:\d\d))?\Z", re.ASCII
)
#: The time zones of the world: how far the clocks of one moment lie before and behind UTC.
_AHEAD: Final = timedelta(hours=14)
_BEHIND: Final = timedelta(hours=12)
#: A paper may carry the year of a later issue than the day on which it was put online (years).
_EARLY: Final = 1


class Moment(NamedTuple):
    """A day or a time as written, with the first and the last instant that it can mean."""

    text: str
    first: datetime
    last: datetime

    @property
    def is_day(self) -> bool:
        return len(self.text) == 10

    def is_before(self, other: Moment) -> bool:
        """Whether this surely came first; two days are taken to be of one calendar.

        >>> day, night = read_moment("2026-10-15"), read_moment("2026-10-15T23:30:00-05:00")
        >>> later = read_moment("2026-10-16")
        >>> day.is_before(later), day.is_before(night), night.is_before(later)
        (True, False, False)
        """
        if self.is_day and other.is_day:
            return self.text < other.text
        return self.last < other.first


def read_moment(value: Json) -> Moment | None:
    """The moment that a text names, None if it names none.

    >>> read_moment("last week"), read_moment("2026-10-15T10:56:26Z").first.hour
    (None, 10)
    """
    match = _MOMENT.match(value) if isinstance(value, str) else None
    if match is None:
        return None
    try:
        if match["time"] is None:
            day = datetime.fromisoformat(f"{match['day']}T00:00:00+00:00")
            return Moment(match["day"], day - _AHEAD, day + timedelta(days=1) + _BEHIND)
        offset = match["offset"].replace("Z", "+00:00")
        time = datetime.fromisoformat(f"{match['day']}T{match['time']}{offset}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return Moment(match[0], time, time)


def review_moment(attributes: Mapping[str, Json]) -> tuple[Path, Moment] | None:
    """The path and moment of the review of a record, the later one of two."""
    review = attributes.get("review")
    found = [
        (("attributes", "review", key), moment)
        for key in ("reviewed_at", "date")
        if isinstance(review, dict) and (moment := read_moment(review.get(key))) is not None
    ]
    return max(found, key=lambda pair: pair[1].last) if found else None


def retrieval_moment(attributes: Mapping[str, Json]) -> tuple[Path, Moment] | None:
    """The path and moment of the first retrieval of a source."""
    found = [
        (("attributes", key), moment)
        for key in ("retrieved_at", "artifact_retrieved_at")
        if (moment := read_moment(attributes.get(key))) is not None
    ]
    return min(found, key=lambda pair: pair[1].first) if found else None


def check_moments(record: Record) -> Iterator[Finding]:
    """Findings where two dates of a record stand in an order that cannot be.

    When a record is released is not known here, so nothing is said about dates that only a clock could doubt.
    """
    attributes = record.attributes
    reviewed = review_moment(attributes)
    if reviewed is not None:
        path, moment = reviewed
        extraction = attributes.get("extraction")
        extracted = read_moment(extraction.get("date")) if isinstance(extraction, dict) else None
        if extracted is not None and moment.is_before(extracted):
            message = f"The review is of {moment.text}, before the extraction of {extracted.text} that it reviews."
            fix = "Check both dates; if the record was extracted anew, it needs a review of its own."
            yield record.finding("warning", "review-before-extraction", path, message, fix)
        retrieved = retrieval_moment(attributes) if record.kind == "source" else None
        if retrieved is not None and moment.is_before(retrieved[1]):
            message, fix = review_before_retrieval(moment.text, retrieved[1].text)
            yield record.finding("warning", "review-before-retrieval", path, message, fix)
    if record.kind == "source":
        yield from _concerns(record)
        yield from _year(record)


def review_before_retrieval(reviewed: str, retrieved: str) -> tuple[str, str]:
    """(message, fix) of the finding on a review that is older than what it reviews."""
    return (
        f"The review is of {reviewed}, but the source was first retrieved on {retrieved}.",
        "Check both dates; if the source was fetched anew, write artifact_sha256 of what was reviewed under review.",
    )


def _concerns(record: Record) -> Iterator[Finding]:
    concerns = record.attributes.get("evidence_concerns")
    for index, concern in enumerate(concerns if isinstance(concerns, list) else ()):
        resolved = concern.get("resolved") if isinstance(concern, dict) else None
        if not isinstance(concern, dict) or not isinstance(resolved, dict):
            continue
        opened, settled = read_moment(concern.get("opened_at")), read_moment(resolved.get("at"))
        if opened is not None and settled is not None and settled.is_before(opened):
            path: Path = ("attributes", "evidence_concerns", index, "resolved", "at")
            message = f"The concern was settled on {settled.text}, before it was opened on {opened.text}."
            yield record.finding("violation", "settled-before-opened", path, message, "Check both dates.")


def _year(record: Record) -> Iterator[Finding]:
    year, retrieved = record.attributes.get("year"), retrieval_moment(record.attributes)
    if not isinstance(year, int) or isinstance(year, bool) or retrieved is None:
        return
    if year > int(retrieved[1].text[:4]) + _EARLY:
        message = f"The source appeared in {year}, but was retrieved on {retrieved[1].text}."
        yield record.finding("warning", "retrieved-before-published", ("attributes", "year"), message, "Check both.")
