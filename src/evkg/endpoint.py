"""The SPARQL endpoint: the protocol's requests read, answered by the workers.

Source: SPARQL 1.1 Protocol, section 2.1 (query operation).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl

from fastapi import FastAPI
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from evkg.answer_cache import Sent
from evkg.errors import ReleaseError, excerpt
from evkg.etag import make_tag, not_modified
from evkg.negotiate import GRAPHS, TABLES, Variant, choose
from evkg.problem import RequestError
from evkg.runningquery import Answer
from evkg.serialization import rewrite_turtle
from evkg.service import Service, render_service
from evkg.sparql import tokens

FORM: Final = "application/x-www-form-urlencoded"
DIRECT: Final = "application/sparql-query"
UPDATE: Final = "application/sparql-update"

#: Bytes that a body may have, and how much more is read and thrown away, so that a client which is
#: still writing gets to see the 413 instead of a broken connection.
BODY_BYTES: Final = 1 << 20
_DRAINED_BYTES: Final = 16 << 20
_MOST_PARAMETERS: Final = 1000
#: What a long answer, which begins before it is over, is bound to.
LIMITS_HEADER: Final = "X-Evkg-Limits"
#: A query that calls one of these may have another answer each time; so may one whose words are escaped.
_FLEETING: Final = re.compile(r"NOW|RAND|UUID|BNODE|\\u", re.IGNORECASE)
_ESCAPED: Final = re.compile(r"\\u", re.IGNORECASE)


class Call(NamedTuple):
    """What a client asks of the endpoint: a query and its data set; without a query, the description."""

    query: str | None
    default_graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()


def make_endpoint(service: Service) -> Callable[[Request], Awaitable[Response]]:
    """What answers the requests to the endpoint. Raises, when it is called: as `read_call` and `answer_call`."""

    async def sparql(request: Request) -> Response:
        call = await read_call(request)
        if call.query is None:
            return graph_response(request, render_service(service), "The service description")
        return await answer_call(request, service, call)

    return sparql


def add_endpoint(app: FastAPI, service: Service) -> None:
    """Add the route of the endpoint; with a slash at its end it is the same."""
    sparql = make_endpoint(service)
    # Bare routes, since these are many; most requests do not come here (`hotpath.py`).
    app.router.routes += [Route(path, sparql, methods=["GET", "POST"]) for path in ("/sparql", "/sparql/")]


async def read_call(request: Request) -> Call:
    """The call in a GET or POST request; unknown parameters are ignored.

    Raises: RequestError: two queries, an update, a wrong media type, too long, or no UTF-8.
    """
    parameters = read_parameters(request.scope["query_string"])
    if request.method == "POST":
        media_type = _media_type(request)
        body = await _read_body(request)
        if media_type == FORM:
            parameters += read_parameters(body)
        else:
            parameters.append(("query", _text(body)))
    queries = [value for name, value in parameters if name == "query"]
    if any(name == "update" for name, _ in parameters):
        raise RequestError(400, "Updates are refused: the graph is read-only.")
    if len(queries) > 1:
        raise RequestError(400, "There is more than one query in this request.")
    if not queries and request.method == "POST":
        raise RequestError(400, "There is no parameter 'query' in this form.")
    graphs = {
        key: tuple(value for name, value in parameters if name == key and value)
        for key in ("default-graph-uri", "named-graph-uri")
    }
    return Call(queries[0] if queries else None, graphs["default-graph-uri"], graphs["named-graph-uri"])


def _media_type(request: Request) -> str:
    media_type, _, rest = request.headers.get("content-type", "").partition(";")
    media_type = media_type.strip().lower()
    if media_type not in (FORM, DIRECT):
        update = "Updates are refused: the graph is read-only. " if media_type == UPDATE else ""
        message = f"{update}Send a query as {DIRECT}, or as {FORM} with the parameter 'query'."
        raise RequestError(415, message, {"Accept-Post": f"{DIRECT}, {FORM}"})
    charset = re.search(r"charset\s*=\s*\"?([\w-]+)", rest, re.IGNORECASE)
    if charset and charset[1].lower() not in ("utf-8", "utf8", "us-ascii"):
        raise RequestError(415, f"A query is sent in UTF-8, not in {excerpt(charset[1])}.")
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding != "identity":
        message = f"A query is sent as it is, not compressed with {excerpt(coding)}."
        raise RequestError(415, message, {"Accept-Encoding": "identity"})
    return media_type


async def _read_body(request: Request) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size <= BODY_BYTES:
            parts.append(part)
        elif size > _DRAINED_BYTES:
            break
    if size > BODY_BYTES:
        raise RequestError(413, f"The request is longer than the limit of {BODY_BYTES} bytes.")
    return b"".join(parts)


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestError(400, f"The request is not UTF-8: {error.reason} at byte {error.start}.") from error


def read_parameters(data: bytes) -> list[tuple[str, str]]:
    """The names and values in a query string or form, in their order; a name may come again.

    Raises: RequestError: no percent-encoded UTF-8, or more than 1000.

    >>> read_parameters(b"default&graph=urn%3Aa")
    [('default', ''), ('graph', 'urn:a')]
    """
    try:
        pairs = parse_qsl(data.decode("ascii"), True, errors="strict", max_num_fields=_MOST_PARAMETERS)
    except UnicodeDecodeError as error:
        raise RequestError(400, "The parameters are not percent-encoded UTF-8.") from error
    except ValueError as error:
        raise RequestError(400, f"There are more than {_MOST_PARAMETERS} parameters.") from error
    return pairs


def is_fleeting(query: str) -> bool:
    """Whether a query may have another answer each time it is asked; texts, comments and variables do not count.

    >>> is_fleeting("SELECT (NOW() AS ?t) {}"), is_fleeting("ASK { ?now ?p 'not known' }")
    (True, False)
    """
    if not _FLEETING.search(query):
        return False
    words = (word.text for word in tokens(query) if word.kind in ("word", "tag", "pname"))
    return _ESCAPED.search(query) is not None or any(_FLEETING.search(word) for word in words)


def accepted(request: Request) -> str | None:
    """The Accept header of a request; several count as one list."""
    return ", ".join(request.headers.getlist("accept")) or None


async def answer_call(request: Request, service: Service, call: Call) -> Response:
    """The response to a call with a query. If the client goes away meanwhile, its query is killed.

    A client that has the answer of this release to this very query is told so, without running it again.

    Raises: RequestError: 406, with what is to be had. And the errors of `run_call` and `Outbox`.
    """
    accept = accepted(request)
    table, graph = _choose(accept)
    headers: dict[str, str] = {}
    query = call.query or ""
    may_change = is_fleeting(query)
    if request.method == "GET" and not may_change:
        types = [variant.media_type if variant else "" for variant in (table, graph)]
        graphs = ("default", *call.default_graphs, "named", *call.named_graphs)
        headers = service.cache_headers("query", *types, query, *graphs)
        is_asked = "ETag" in headers and request.headers.get("if-none-match") not in (None, "*")
        if is_asked and service.is_there() and (unchanged := not_modified(request, headers)):
            return unchanged
    notes = request.scope.get("notes", {})
    notes["query"] = query
    key = (query, *call[1:], table.format_name if table else None, graph.format_name if graph else None)
    cache = None if may_change else service.cache
    answer = cache.get(key) if cache else None
    notes["cached"] = answer is not None
    if answer is None:
        answer = await begin_call(request, service, call, table, graph)
        if cache:
            cache.put(key, answer)
    is_graph = answer.form in ("CONSTRUCT", "DESCRIBE")
    variant = graph if is_graph else table
    if variant is None:
        raise not_acceptable(GRAPHS if is_graph else TABLES, answer.form)
    headers["Content-Type"] = variant.content_type
    if answer.rest is not None:
        headers[LIMITS_HEADER] = service.limits.header
    response = await service.outbox.answer(answer, headers, request.scope)
    if cache and request.method == "GET" and answer.rest is None:
        cache.put_sent(
            (request.scope["query_string"], (accept or "").encode("latin-1")),
            Sent(response.raw_headers, answer.body, query),
        )
    return response


@lru_cache(maxsize=256)
def _choose(accept: str | None) -> tuple[Variant | None, Variant | None]:
    """What a client wants most of a table and of a graph."""
    return choose(accept, TABLES), choose(accept, GRAPHS)


async def begin_call(
    request: Request, service: Service, call: Call, table: Variant | None, graph: Variant | None
) -> Answer:
    """The beginning of a worker's answer to a call, unless the client goes away meanwhile.

    Raises: ReleaseError: what is served is gone. ClientDisconnect. And the errors of `QueryWorkers.begin`.
    """
    return await service.workers.begin(call.query or "", **_options(request, service, call, table, graph))


async def run_call(
    request: Request, service: Service, call: Call, table: Variant | None, graph: Variant | None
) -> Answer:
    """The whole answer of a worker to a call, unless the client goes away meanwhile.

    Raises: as `begin_call`.
    """
    return await service.workers.run(call.query or "", **_options(request, service, call, table, graph))


def _options(
    request: Request, service: Service, call: Call, table: Variant | None, graph: Variant | None
) -> dict[str, Any]:
    if not service.is_there():
        raise ReleaseError(f"{service.store} is gone.")

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        raise ClientDisconnect

    return {
        "default_graphs": call.default_graphs,
        "named_graphs": call.named_graphs,
        "table_format": table.format_name if table else None,
        "graph_format": graph.format_name if graph else None,
        "client": request.client.host if request.client else "",
        "gone": gone,
    }


def not_acceptable(variants: tuple[Variant, ...], what: str) -> RequestError:
    """The error of a client that accepts none of these variants.

    >>> str(not_acceptable(TABLES[:2], "ASK"))
    'ASK can be had as application/sparql-results+json, application/sparql-results+xml.'
    """
    types = [variant.media_type for variant in variants]
    return RequestError(406, f"{what} can be had as {', '.join(types)}.", more={"available": types})


def requested(request: Request, name: str | None, variants: tuple[Variant, ...], what: str, *, of: str) -> Variant:
    """The variant of a page that a parameter `format` names, or else the one that the client wants most.

    `what` begins the sentence on what is to be had, `of` ends that on a format which is not.

    Raises: RequestError: 406, with what is to be had; 400, there is no such format.
    """
    if name is None:
        chosen = choose(accepted(request), variants)
        if chosen is None:
            raise not_acceptable(variants, what)
        return chosen
    for variant in variants:
        if variant.format_name == name:
            return variant
    names = [*dict.fromkeys(variant.format_name for variant in variants)]
    listed = " and ".join(names) if len(names) == 2 else ", ".join(names)
    raise RequestError(400, f"There is no format {excerpt(name, 40)!r} of {of}; there are {listed}.")


def graph_response(request: Request, turtle: str, what: str) -> Response:
    """The response with a graph written in Turtle, in the format that the client wants most.

    Raises: RequestError: 406, with what is to be had.
    """
    variant = choose(accepted(request), GRAPHS)
    if variant is None:
        raise not_acceptable(GRAPHS, what)
    tag = f"W/{make_tag(turtle, variant.media_type)}"
    headers = {"ETag": tag, "Cache-Control": "no-cache", "Content-Type": variant.content_type}
    return not_modified(request, headers) or Response(rewrite_turtle(turtle, variant.format_name), headers=headers)
