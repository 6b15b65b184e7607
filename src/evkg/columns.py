"""The columns of `SELECT *`: in the order in which the query names them, as people expect of a table.

The standard says no order, and the engine sorts them by name (pyoxigraph 0.5.13).

Source: SPARQL 1.1 Query, section 16.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyoxigraph as ox

from evkg.sparql import Token, tokens


def name_columns(text: str, **options: Any) -> str:
    """The query with the variables of its `SELECT *` written out; any other query as it is.

    `options` are those of `pyoxigraph.Store.query`. Which variables there are, the engine says.

    >>> name_columns("SELECT * { ?s ?p ?o }")
    'SELECT ?s ?p ?o { ?s ?p ?o }'
    >>> name_columns("SELECT * { ?b ?a 1 { SELECT ?c { ?c ?d ?e } } }")
    'SELECT ?b ?a ?c { ?b ?a 1 { SELECT ?c { ?c ?d ?e } } }'
    """
    if "*" not in text:
        return text
    words = list(tokens(text))
    star = _star(words)
    if star is None:
        return text
    try:
        result = ox.Store().query(text, **options)  # on nothing: only its head is read
    except (SyntaxError, ValueError, RuntimeError, OSError):
        return text  # what is wrong with it is said where it is run
    known = {variable.value for variable in result.variables} if isinstance(result, ox.QuerySolutions) else set()
    named = dict.fromkeys(word.text[1:] for word in words if word.kind == "variable")
    columns = [name for name in named if name in known]
    if len(columns) != len(known) or not columns:
        return text
    return f"{text[: star.offset]}{' '.join(f'?{name}' for name in columns)}{text[star.offset + 1 :]}"


def _star(words: Sequence[Token]) -> Token | None:
    """The star of a query that begins with SELECT *, behind its prefixes."""
    for index, word in enumerate(words):
        if word.text == "{":
            return None
        if word.kind == "word" and word.text.upper() == "SELECT":
            rest = [w for w in words[index + 1 : index + 3] if w.text.upper() not in ("DISTINCT", "REDUCED")]
            return rest[0] if rest and rest[0].text == "*" else None
    return None
