"""The one tree of exceptions: what is wrong with the program, its input files or its deployment.

What a curator can mend in a record is never raised; it is a `Finding` in a list (`finding.py`).

    EvkgError
    ├── UsageError            a wrong option, a folder without records, an unknown release
    ├── VocabularyError       the ontology or the shapes are broken or stale
    ├── EngineDisagreementError   the two SHACL validators differ
    ├── InconsistencyError    the graph contradicts itself (PROV disjointness, a triple in two graphs)
    ├── ReleaseError          a release cannot be read or written
    ├── NotFoundError         no record, question or release of that name
    └── QueryError            a query cannot be answered
        ├── QuerySyntaxError      it is not SPARQL; carries line and column
        ├── QueryRefusedError     it would change the graph or reach the network
        └── QueryLimitError       it ran into a limit of time or memory
"""

from __future__ import annotations

from typing import Final

#: How much of what a user sent is repeated to them (characters).
_EXCERPT: Final = 200


def excerpt(text: str, most: int = _EXCERPT) -> str:
    """A text, or its beginning and its end where it is longer than so many characters.

    >>> excerpt("abcdefgh", 5)
    'ab…gh'
    """
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


class EvkgError(Exception):
    """The base of every error that evkg raises on purpose; its text is fit for a user."""


class UsageError(EvkgError):
    """A command or function was called with something that cannot work."""


class VocabularyError(EvkgError):
    """The ontology, the shapes or a file derived from them is broken."""


class EngineDisagreementError(EvkgError):
    """The fast validator and pySHACL differ on a record, so the report cannot be trusted."""


class InconsistencyError(EvkgError):
    """The graph contradicts itself, so no release can be made of it."""


class ReleaseError(EvkgError):
    """A release folder or its store cannot be read or written."""


class NotFoundError(EvkgError):
    """Nothing of that name exists; `nearest` names what comes close."""

    def __init__(self, message: str, nearest: tuple[str, ...] = ()) -> None:
        super().__init__(message if not nearest else f"{message} Nearest: {', '.join(nearest)}.")
        self.nearest = nearest


class QueryError(EvkgError):
    """A query cannot be answered."""


class QuerySyntaxError(QueryError):
    """The text is not a SPARQL query. `line` and `column` count from 1; `token` is the word that stands there.

    `prefix` is the prefix that nobody declared, where that is what is wrong.
    """

    def __init__(
        self,
        message: str,
        line: int | None = None,
        column: int | None = None,
        *,
        token: str | None = None,
        prefix: str | None = None,
    ) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.token = token
        self.prefix = prefix


class QueryRefusedError(QueryError):
    """The query would change the graph or reach the network."""


class QueryLimitError(QueryError):
    """The query ran into a limit; the message names the limit, `limit` says in a word which: time, memory, rows, …"""

    def __init__(self, message: str, limit: str = "") -> None:
        super().__init__(message)
        self.limit = limit
