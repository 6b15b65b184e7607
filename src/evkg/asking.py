"""Saved questions answered from a release."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches

from evkg.answer import Rows
from evkg.errors import NotFoundError
from evkg.questions import Question
from evkg.release import Release


def answer_question(question: Question, values: Mapping[str, str], release: Release) -> Rows:
    """The answer of a release to a question, with its parameters set.

    Raises: UsageError: an unknown parameter, or a value of another kind. NotFoundError: see `check_values`.

    >>> from evkg.questions import find_question
    >>> from evkg.release import open
    >>> answer_question(find_question("inference-memory-budget"), {"most": "5.6"}, open())[0]["printed_value"]
    '5.6'
    """
    check_values(question, values, release)
    return release.select(question.with_values(values))


def check_values(question: Question, values: Mapping[str, str], release: Release) -> None:
    """Refuse a value that names nothing: an unknown record or concept must not look like an empty answer.

    Raises: NotFoundError: names the nearest ids or keys.
    """
    kinds = {parameter.name: parameter.kind for parameter in question.parameters}
    for name, value in values.items():
        kind, _, scheme = kinds.get(name, "").partition(":")
        if kind == "record":
            known: Collection[str] = release.record_ids
        elif kind == "concept" and scheme in release.vocabulary.schemes:
            known = release.vocabulary.schemes[scheme].concepts
        else:
            continue
        if value not in known:
            close = get_close_matches(value, known, n=3, cutoff=0.4) or get_close_matches(
                value.lower(), known, n=3, cutoff=0.2
            )
            raise NotFoundError(f"{name}: there is no {scheme or 'record'} {value!r} in this release.", tuple(close))
