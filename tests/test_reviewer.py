"""Reviewers: what a review says of people agrees with who did it."""

from __future__ import annotations

from typing import Any

import pytest

from evkg.keys import check_keys
from evkg.reviewer import said_of_person
from evkg.vocabulary import Vocabulary
from tests.builds import record
from tests.strategies import as_record


@pytest.mark.parametrize(
    "text",
    [
        "Checked by a curator.",
        "Values read twice by hand",
        "Human-reviewed against the PDF.",
        "The table was manually verified; no rerun.",
        "Human review: every cell.",
        "Reviewed by two domain experts",
        "human_review of all rows",
    ],
)
def test_words_that_say_that_a_person_reviewed(text: str) -> None:
    assert said_of_person(text)


@pytest.mark.parametrize(
    "text",
    [
        "Claude review agent; no human review claimed. Automated review only. Transcription, not reproduction.",
        "Primary-source table transcription and scope review; no independent reproduction or human scientific review.",
        "Primary-source transcription; not human scientific review or independent experimental reproduction.",
        "An independent human scientific review remains outstanding.",
        "It needs a manual check.",
        "Methylation sites in human cells were compared.",
        "The PDF was downloaded by hand in a browser by the repository owner.",
        "The paper was peer reviewed.",
        "Recommended: expert review before use.",
        "Human reviewed entries of Swiss-Prot were compared.",
        "The human validation set was read.",
        "",
        None,
    ],
)
def test_words_that_do_not(text: Any) -> None:
    assert said_of_person(text) is None


def rules(vocabulary: Vocabulary, **review: Any) -> list[tuple[str, str, str | None]]:
    data = record("r", "task", attributes={"review": {"method": ["transcription"], **review}})
    return [(item.severity, item.rule, item.field) for item in check_keys(as_record(data), vocabulary)]


BY_CURATOR = "Checked by a curator."
IMPLIED = "human-review-without-human"


def test_a_person_that_is_implied_must_be_named(vocabulary: Vocabulary) -> None:
    assert rules(vocabulary, note=BY_CURATOR, reviewer=["claude"]) == [
        ("warning", IMPLIED, "attributes.review.reviewer")
    ]
    assert rules(vocabulary, method_note=BY_CURATOR) == [("warning", IMPLIED, "attributes.review")]
    assert rules(vocabulary, method=["human_domain_review"]) == [("warning", IMPLIED, "attributes.review")]
    assert rules(vocabulary, note=BY_CURATOR, reviewer=["claude", "jane-doe"]) == []
    assert rules(vocabulary, note="Checked by a script.", reviewer=["claude"]) == []


def test_a_reviewer_of_whom_the_note_says_that_it_is_no_person_is_known(vocabulary: Vocabulary) -> None:
    note = "No human review claimed."
    at = "attributes.review.reviewer"
    assert rules(vocabulary, note=note, reviewer=["jane-doe"]) == [("warning", "reviewer-not-software", at)]
    assert rules(vocabulary, note=note, reviewer=["codex"]) == []
    assert rules(vocabulary, note="All rows were read.", reviewer=["jane-doe"]) == []
