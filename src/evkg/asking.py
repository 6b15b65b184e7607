"""Saved questions answered from a release."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches

import pyoxigraph as ox

from evkg.answer import Rows, python_value
from evkg.errors import NotFoundError, UsageError
from evkg.questions import Question
from evkg.release import Release
from evkg.store import rows


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


def read_rows(body: bytes) -> Rows:
    """The rows that SPARQL JSON holds.

    Source: SPARQL 1.1 Query Results JSON Format.

    Raises: UsageError: it holds a truth value.

    >>> read_rows(b'{"head":{"vars":["a"]},"results":{"bindings":[{"a":{"type":"literal","value":"1.00"}},{}]}}')[0]
    {'a': '1.00'}
    """
    result = ox.parse_query_results(body, format=ox.QueryResultsFormat.JSON)
    if not isinstance(result, ox.QuerySolutions):
        raise UsageError("This query gives no rows; write a SELECT.")
    solutions = tuple({name: python_value(term) for name, term in row.items()} for row in rows(result))
    return Rows(tuple(variable.value for variable in result.variables), solutions)


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
