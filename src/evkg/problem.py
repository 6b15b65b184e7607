"""Problems: what a client is told when a request cannot be served, and with which status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import Response

from evkg.errors import (
    EvkgError,
    NotFoundError,
    QueryError,
    QueryLimitError,
    QueryRefusedError,
    QuerySyntaxError,
    ReleaseError,
    UsageError,
    excerpt,
)
from evkg.namespaces import PREFIXES
from evkg.negotiate import ERRORS, PAGE_ERRORS, choose
from evkg.store import UnwritableError
from evkg.worker import WorkersBusyError

#: Status and title by error; the class nearest to the error's own holds. Anything else is 500 without detail.
_STATUSES: Final[Mapping[type, tuple[int, str]]] = {
    UsageError: (400, "The request cannot be understood"),
    QuerySyntaxError: (400, "The query is not valid SPARQL"),
    QueryRefusedError: (400, "The query is refused"),
    QueryError: (400, "The query cannot be answered"),
    QueryLimitError: (503, "The query ran into a limit"),
    UnwritableError: (406, "The answer cannot be written in this format"),
    WorkersBusyError: (503, "The server is busy"),
    NotFoundError: (404, "There is no such thing here"),
}
#: Which limit a query ran into: time, memory, rows, bytes, waiting, process or stop.
LIMIT_HEADER: Final = "X-Evkg-Limit"
#: After how many seconds a client that found all workers busy may ask again.
_RETRY_SECONDS: Final = 5
#: What a client is told when files of the release are missing or damaged, or no worker can be started.
RELEASE_GONE: Final = "This server cannot read its release, or cannot start a process to query it. It must be mended."
#: The longest text of a problem (characters); single parts of a request are cut much earlier.
_DETAIL: Final = 600


class RequestError(EvkgError):
    """A request that HTTP or the SPARQL protocol does not allow; `status` says how, `more` what the client may use."""

    def __init__(
        self,
        status: int,
        message: str,
        headers: Mapping[str, str] | None = None,
        *,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})
        self.more = dict(more or {})


@dataclass(frozen=True)
class Problem:
    """What goes to the client. `more` are further members: line, column and token, nearest ids, what can be had."""

    status: int
    title: str
    detail: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


def describe_error(error: Exception) -> Problem:
    """The problem of an error; of one that is not meant for users, no more than that it happened.

    >>> describe_error(QuerySyntaxError("no", 2, 4)).more
    {'line': 2, 'column': 4}
    >>> describe_error(ValueError("a secret")).detail
    ''
    """
    if isinstance(error, RequestError):
        return status_problem(error.status, str(error), error.headers, error.more)
    if isinstance(error, ReleaseError):  # its text names files of this machine
        return Problem(503, "The release cannot be read", RELEASE_GONE)
    known = next((_STATUSES[kind] for kind in type(error).__mro__ if kind in _STATUSES), None)
    if known is None:
        return Problem(500, "Something went wrong on the server")
    status, title = known
    more: dict[str, Any] = {}
    headers: dict[str, str] = {}
    if isinstance(error, QuerySyntaxError) and error.line is not None:
        more = {"line": error.line, "column": error.column}
        more |= {"token": error.token} if error.token is not None else {}
        more |= {"prefix": error.prefix, "known_prefixes": dict(PREFIXES)} if error.prefix is not None else {}
    elif isinstance(error, NotFoundError) and error.nearest:
        more = {"nearest": list(error.nearest)}
    elif isinstance(error, WorkersBusyError):
        headers = {"Retry-After": str(_RETRY_SECONDS)}
    if isinstance(error, QueryLimitError) and error.limit:
        more = {"limit": error.limit}
        headers[LIMIT_HEADER] = error.limit
    return Problem(status, title, excerpt(str(error), _DETAIL), more, headers)


def status_problem(
    status: int, detail: str = "", headers: Mapping[str, str] | None = None, more: Mapping[str, Any] | None = None
) -> Problem:
    """The problem of a bare status, titled as HTTP calls it."""
    return Problem(status, HTTPStatus(status).phrase, excerpt(detail, _DETAIL), more or {}, headers or {})


def render_problem(problem: Problem, accept: str | None, *, page: bool = False) -> Response:
    """The response to a problem: problem+json, text, or, where people come (`page`), a small HTML page.

    Source: RFC 9457, section 3.
    """
    variants = PAGE_ERRORS if page else ERRORS
    variant = choose(accept, variants) or variants[0]
    if variant.format_name == "problem":
        members = {"type": "about:blank", "title": problem.title, "status": problem.status, "detail": problem.detail}
        body = json.dumps({**{k: v for k, v in members.items() if v != ""}, **problem.more}, ensure_ascii=False)
    elif variant.format_name == "text":
        body = f"{problem.title}\n{problem.detail}".rstrip()
    else:
        body = _page(problem)
    headers = {**problem.headers, "Content-Type": variant.content_type}
    return Response(f"{body}\n", problem.status, headers)


def _page(problem: Problem) -> str:
    from evkg.pages import render_page

    title = f"{problem.status}: {problem.title}"
    nearest = problem.more.get("nearest", ())
    return render_page("problem.html", None, title=title, detail=problem.detail, nearest=nearest)
