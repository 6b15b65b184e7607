"""Who reviewed a record: a person where it says so, software where that is all there was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evkg.errors import excerpt
from evkg.finding import Finding
from evkg.jsontext import Json
from evkg.record import Record
from evkg.scalar import Path
from evkg.vocabulary import Vocabulary

_TEXTS: Final = ("note", "reviewer_note", "method_note", "scope", "evidence")
_REVIEWED: Final = r"(?:re-?)?(?:viewed|checked|verified|confirmed|validated|inspected|read|compared|curated)"
#: A sentence that says that a person did it.
_BY_PERSON: Final = re.compile(
    rf"""\b(?:
      (?:human|manual|expert|curator)[-_ ](?:(?:scientific|domain|source|independent|second)[-_ ])*
        (?:review|reviewer|check|verification|curation|inspection)
    | (?:human|expert|curator)-(?:reviewed|checked|verified|curated|validated)
    | {_REVIEWED}[ ](?:twice[ ])?(?:manually|by[ ]hand|(?:by|with)[ ](?:an?[ ]|the[ ]|two[ ]|three[ ])?(?:\w+[ ])?
        (?:humans?|person|people|experts?|curators?|scientists?|biologists?|clinicians?|annotators?))
    | manually[ ]{_REVIEWED}
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
#: A sentence that says that nobody did.
_NO_PERSON: Final = re.compile(
    r"\bno (?:\w+ ){0,6}(?:human|person|people|expert)\b|\bautomated (?:review|check) only\b"
    r"|\bwithout (?:a |any )?(?:human|person)\b",
    re.IGNORECASE,
)
_NOT: Final = re.compile(
    r"\b(?:no|not|never|none|nor|neither|without|pending|outstanding|remains?|awaiting|awaits|needs?|needed|required?|"
    r"recommended|planned|lacks?|lacking|absent|missing|yet|before|until|if|should|must|would|may|n't|versus|instead)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[.;!?\n]+")


def check_reviewer(record: Record, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Findings where the words of a review and its reviewers do not agree on whether a person took part.

    Every agent of the scheme is software; a key that it does not list may be a person.
    """
    review = record.attributes.get("review")
    if not isinstance(review, dict):
        return
    reviewers = _keys(review.get("reviewer"))
    software = vocabulary.schemes["agent"].concepts
    others = [key for key in reviewers if key not in software]
    path: Path = ("attributes", "review", "reviewer") if reviewers else ("attributes", "review")
    said = next(((key, words) for key in _TEXTS if (words := said_of_person(review.get(key)))), None)
    methods = [key for key in _keys(review.get("method")) if re.search(r"\b(?:human|manual)\b", key.replace("_", "-"))]
    if not others and (said or methods):
        claim = f"{said[0]} says {excerpt(said[1])!r}" if said else f"method says {excerpt(methods[0])!r}"
        named = (
            f"reviewer names software only ({excerpt(', '.join(reviewers))})" if reviewers else "it names no reviewer"
        )
        message = f"The review implies that a person took part ({claim}), but {named}."
        fix = "Add the person's key under reviewer, or take back what the review says of people."
        yield record.finding("warning", "human-review-without-human", path, message, fix)
    denied = next((key for key in _TEXTS if isinstance(t := review.get(key), str) and _NO_PERSON.search(t)), None)
    if others and denied:
        named = repr(excerpt(others[0]))
        message = f"{denied} says that no person reviewed this, but reviewer names {named}, no known program."
        fix = "Correct the note if that is a person; if it is a program, ask for its key in the scheme agent."
        yield record.finding("warning", "reviewer-not-software", path, message, fix)


def said_of_person(text: Json) -> str | None:
    """The words in which a text says that a person reviewed, None if it says so nowhere or denies it.

    >>> said_of_person("Checked by a curator; no rerun."), said_of_person("No independent human review is claimed.")
    ('Checked by a curator', None)
    """
    for sentence in _SENTENCE.split(text) if isinstance(text, str) else ():
        match = _BY_PERSON.search(sentence)
        if match is not None and not _NOT.search(sentence):
            return match[0]
    return None


def _keys(value: Json) -> list[str]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]
