"""Moments: days and times, which came first, and dates of one record that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from evkg.keys import check_keys
from evkg.moment import read_moment
from evkg.vocabulary import Vocabulary
from tests.builds import record
from tests.strategies import as_record


@pytest.mark.parametrize(
    ("first", "second", "is_before"),
    [
        ("2026-10-14", "2026-10-15", True),
        ("2026-10-15", "2026-10-15", False),
        ("2026-10-15T10:00:00Z", "2026-10-15T10:00:01Z", True),
        ("2026-10-15T12:00:00+02:00", "2026-10-15T10:00:00Z", False),
        ("2026-10-15T09:00:00+02:00", "2026-10-15T10:00:00Z", True),
        ("2026-10-15T10:00:00.123456789Z", "2026-10-15T10:00:01Z", True),
        # A day without a place may begin and end elsewhere.
        ("2026-10-14", "2026-10-15T10:00:00Z", False),
        ("2026-10-14", "2026-10-15T12:00:00Z", False),
        ("2026-10-14", "2026-10-15T12:00:01Z", True),
        ("2026-10-15T10:00:00Z", "2026-10-16", False),
        ("2026-10-15T09:59:59Z", "2026-10-16", True),
    ],
)
def test_which_came_first(first: str, second: str, is_before: bool) -> None:
    one, other = read_moment(first), read_moment(second)
    assert one is not None
    assert other is not None
    assert one.is_before(other) is is_before
    assert not other.is_before(one)


@pytest.mark.parametrize(
    "text",
    ["", "2026", "2026-02-30", "2026-10-15 10:00:00Z", "2026-10-15T10:00:00", "0000-01-01", None, 2026, "9" * 99],
)
def test_what_is_no_moment(text: Any) -> None:
    assert read_moment(text) is None


@pytest.mark.parametrize("text", ["0001-01-01", "9999-12-31", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00"])
def test_moments_at_the_ends_of_the_calendar_raise_nothing(text: str) -> None:
    read_moment(text)


def rules(vocabulary: Vocabulary, kind: str, **attributes: Any) -> list[tuple[str, str, str | None]]:
    items = check_keys(as_record(record("r", kind, attributes=attributes)), vocabulary)
    return [(item.severity, item.rule, item.field) for item in items]


def test_the_later_date_of_a_review_and_the_earlier_one_of_a_retrieval_count(vocabulary: Vocabulary) -> None:
    times = {"retrieved_at": "2026-10-15", "artifact_retrieved_at": "2026-10-17"}
    early = {"method": ["transcription"], "reviewed_at": "2026-10-01", "date": "2026-10-14"}
    at = "attributes.review.date"
    assert rules(vocabulary, "source", **times, review=early) == [("warning", "review-before-retrieval", at)]
    assert rules(vocabulary, "source", **times, review={**early, "date": "2026-10-16"}) == []
    assert rules(vocabulary, "source", retrieved_at="soon", review=early) == []


@pytest.mark.parametrize(("year", "is_wrong"), [(2020, False), (2022, False), (2023, True), ("2030", False)])
def test_a_year_may_be_that_of_a_later_issue(vocabulary: Vocabulary, year: Any, is_wrong: bool) -> None:
    found = rules(vocabulary, "source", year=year, retrieved_at="2021-03-01")
    expected = [("warning", "retrieved-before-published", "attributes.year")] if is_wrong else []
    assert [item for item in found if item[1] != "setting-integer-as-text"] == expected


def test_a_review_on_the_day_of_the_extraction_is_fine(vocabulary: Vocabulary) -> None:
    review = {"method": ["transcription"], "date": "2026-10-15"}
    assert rules(vocabulary, "task", review=review, extraction={"date": "2026-10-15T23:00:00Z"}) == []
    assert rules(vocabulary, "task", review=review, extraction={"date": "2026-10-16"}) == [
        ("warning", "review-before-extraction", "attributes.review.date")
    ]
