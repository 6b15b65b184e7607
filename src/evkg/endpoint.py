"""The SPARQL endpoint: the protocol's requests read, answered by the workers, and described.

Source: SPARQL 1.1 Protocol, section 2.1 (query operation); SPARQL 1.1 Service Description.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

import pyoxigraph as ox
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from evkg.errors import excerpt
from evkg.namespaces import PREFIXES
from evkg.negotiate import GRAPHS, TABLES, Variant, choose
from evkg.problem import RequestError
from evkg.store import GRAPH_FORMATS
from evkg.worker import Answer, QueryWorkers, WorkersBusyError

FORM: Final = "application/x-www-form-urlencoded"
DIRECT: Final = "application/sparql-query"
UPDATE: Final = "application/sparql-update"

#: Bytes that a body may have, and how much more is read and thrown away, so that a client which is
#: still writing gets to see the 413 instead of a broken connection.
BODY_BYTES: Final = 1 << 20
_DRAINED_BYTES: Final = 16 << 20
_MOST_PARAMETERS: Final = 1000

#: Source: https://www.w3.org/ns/formats/
_FORMAT_NAMES: Final = (
    *("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV"),
    *("Turtle", "N-Triples", "JSON-LD", "RDF_XML"),
)


#: Answers go out in pieces of this size; the next one when the client has taken the one before.
_PIECE_BYTES: Final = 64 << 10
#: How long a client may leave a piece untaken (seconds).
_PIECE_SECONDS: Final = 60.0


class Outbox:
    """The answers that wait until their clients have read them: together no more than so many bytes.

    Answers of one piece do not count: they are handed to the system at once.
    """

    def __init__(self, limit: int = 256 << 20) -> None:
        self.limit = limit
        self.size = 0

    def response(self, body: bytes, content_type: str) -> Response:
        """The response with this body; it must be sent, which gives the room back.

        Raises: WorkersBusyError: too much waits already.
        """
        if len(body) <= _PIECE_BYTES:
            return Response(body, headers={"Content-Type": content_type})
        if self.size + len(body) > self.limit:
            raise WorkersBusyError("Too many long answers wait until their clients read them. Try again in a moment.")
        self.size += len(body)
        return _LongResponse(self, body, content_type)


class _LongResponse(Response):
    """A response that is sent piece by piece."""

    def __init__(self, outbox: Outbox, body: bytes, content_type: str) -> None:
        super().__init__(body, headers={"Content-Type": content_type})
        self._outbox = outbox

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        size = len(self.body)
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            for start in range(0, size, _PIECE_BYTES):
                end = start + _PIECE_BYTES
                piece = {"type": "http.response.body", "body": self.body[start:end], "more_body": end < size}
                async with asyncio.timeout(_PIECE_SECONDS):
                    await send(piece)
        except TimeoutError:
            raise ClientDisconnect from None
        finally:
            self.body = b""
            self._outbox.size -= size


@dataclass(frozen=True, slots=True)
class Call:
    """What a client asks of the endpoint: a query and its data set; without a query, the description."""

    query: str | None
    default_graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()


async def read_call(request: Request) -> Call:
    """The call in a GET or POST request; unknown parameters are ignored.

    Raises: RequestError: two queries, an update, a wrong media type, too long, or no UTF-8.
    """
    parameters = _parameters(request.scope["query_string"])
    if request.method == "POST":
        media_type = _media_type(request)
        body = await _read_body(request)
        if media_type == FORM:
            parameters += _parameters(body)
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
        raise RequestError(415, f"{update}Send a query as {DIRECT}, or as {FORM} with the parameter 'query'.")
    charset = re.search(r"charset\s*=\s*\"?([\w-]+)", rest, re.IGNORECASE)
    if charset and charset[1].lower() not in ("utf-8", "utf8", "us-ascii"):
        raise RequestError(415, f"A query is sent in UTF-8, not in {excerpt(charset[1])}.")
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


def _parameters(data: bytes) -> list[tuple[str, str]]:
    try:
        pairs = parse_qsl(data.decode("ascii"), True, errors="strict", max_num_fields=_MOST_PARAMETERS)
    except UnicodeDecodeError as error:
        raise RequestError(400, "The parameters are not percent-encoded UTF-8.") from error
    except ValueError as error:
        raise RequestError(400, f"There are more than {_MOST_PARAMETERS} parameters.") from error
    return pairs


def accepted(request: Request) -> str | None:
    """The Accept header of a request; several count as one list."""
    return ", ".join(request.headers.getlist("accept")) or None


async def answer_call(request: Request, call: Call, workers: QueryWorkers, outbox: Outbox) -> Response:
    """The response to a call with a query. If the client goes away meanwhile, its query is killed.

    Raises: RequestError: 406, with what is to be had. And the errors of `QueryWorkers.run` and `Outbox`.
    """
    accept = accepted(request)
    table, graph = choose(accept, TABLES), choose(accept, GRAPHS)
    run = workers.run(
        call.query or "",
        default_graphs=call.default_graphs,
        named_graphs=call.named_graphs,
        table_format=table.format_name if table else None,
        graph_format=graph.format_name if graph else None,
    )
    answer = await _unless_gone(request, asyncio.ensure_future(run))
    is_graph = answer.form in ("CONSTRUCT", "DESCRIBE")
    variant = graph if is_graph else table
    if variant is None:
        raise not_acceptable(GRAPHS if is_graph else TABLES, answer.form)
    return outbox.response(answer.body, variant.content_type)


async def _unless_gone(request: Request, run: asyncio.Future[Answer]) -> Answer:
    gone = asyncio.ensure_future(_wait_until_gone(request))
    try:
        await asyncio.wait((run, gone), return_when=asyncio.FIRST_COMPLETED)
        if not run.done():
            raise ClientDisconnect
        return run.result()
    finally:
        gone.cancel()
        run.cancel()


async def _wait_until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def not_acceptable(variants: tuple[Variant, ...], what: str) -> RequestError:
    """The error of a client that accepts none of these variants.

    >>> str(not_acceptable(TABLES[:2], "ASK"))
    'ASK can be had as application/sparql-results+json, application/sparql-results+xml.'
    """
    return RequestError(406, f"{what} can be had as {', '.join(variant.media_type for variant in variants)}.")


def describe_service(request: Request, endpoint: str, seconds: float) -> Response:
    """The service description of the endpoint at this public address.

    Raises: RequestError: 406, with what is to be had.
    """
    variant = choose(accepted(request), GRAPHS)
    if variant is None:
        raise not_acceptable(GRAPHS, "The service description")
    text = render_description(endpoint, seconds)
    if variant.format_name != "turtle":
        triples = ox.parse(text, format=ox.RdfFormat.TURTLE)
        text = (ox.serialize(triples, format=GRAPH_FORMATS[variant.format_name]) or b"").decode()
    return Response(text, headers={"Content-Type": variant.content_type})


def render_description(endpoint: str, seconds: float) -> str:
    """The service description in Turtle; it says of the default graph what `store.run_query` does.

    Source: SPARQL 1.1 Service Description, sections 3.2 to 3.4.
    """
    formats = ", ".join(f"<http://www.w3.org/ns/formats/{name}>" for name in _FORMAT_NAMES)
    return f"""\
@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .
@prefix rdfs: <{PREFIXES["rdfs"]}> .

<{endpoint}#service> a sd:Service ;
    sd:endpoint <{endpoint}> ;
    sd:supportedLanguage sd:SPARQL11Query ;
    sd:feature sd:UnionDefaultGraph ;
    sd:defaultEntailmentRegime <http://www.w3.org/ns/entailment/Simple> ;
    sd:resultFormat {formats} ;
    rdfs:comment "A query that names no data set (no FROM, FROM NAMED, default-graph-uri or named-graph-uri) sees the \
union of all graphs, among them the graph of derived facts; otherwise exactly the graphs that it names. Read-only, \
without SERVICE. A query is stopped after {seconds:g} seconds."@en .
"""
