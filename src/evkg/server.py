"""The server: routes, the headers that every response has, and how it is started and ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final
from urllib.parse import quote, urlsplit

import uvicorn
from fastapi import FastAPI, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evkg.endpoint import Outbox, accepted, answer_call, describe_service, not_acceptable, read_call
from evkg.errors import EvkgError, ReleaseError, UsageError
from evkg.negotiate import RECORDS
from evkg.problem import RELEASE_GONE, Problem, describe_error, render_problem, status_problem
from evkg.release import MANIFEST, STORE, Release
from evkg.resource import choose_form, entity_tag, matches, render_form
from evkg.worker import SECONDS, QueryWorkers

#: Set to `true` on every response of a release that was built in spite of violations.
DRAFT_HEADER: Final = "X-Evkg-Draft"
_EXPOSED: Final = f"ETag, Link, Content-Location, Retry-After, {DRAFT_HEADER}"
#: Pages need nothing from elsewhere; their style stands in them.
_PAGE_POLICY: Final = "default-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
#: How long requests that run may take to end when the server is stopped.
_GRACE_SECONDS: Final = 5
_log = logging.getLogger(__name__)


class _Envelope:
    """What holds for every response: CORS, Vary, HEAD, OPTIONS, the draft mark, and no trace ever.

    It wraps all routes and error handlers, since Starlette sends the status 500 past ordinary middleware.
    """

    def __init__(self, app: ASGIApp, *, draft: bool) -> None:
        self.app = app
        self.headers = {
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Expose-Headers": _EXPOSED,
            "Vary": "Accept",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
        }
        if draft:
            self.headers[DRAFT_HEADER] = "true"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_head = scope["method"] == "HEAD"
        has_begun = False

        async def send_on(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
                if message["status"] == 405:
                    headers["Allow"] = _methods(scope["path"])
                if headers.get("content-type", "").startswith("text/html"):
                    headers.setdefault("Content-Security-Policy", _PAGE_POLICY)
            elif is_head and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        if scope["method"] == "OPTIONS":
            await _options(scope["path"])(scope, receive, send_on)
            return
        try:
            # HEAD is GET without the body (RFC 9110, section 9.3.2), so the routes need not know it.
            await self.app({**scope, "method": "GET"} if is_head else scope, receive, send_on)
        except ClientDisconnect:
            return  # nobody is there to be told
        except Exception as error:
            if has_begun:
                raise
            _log.exception("%s %s failed", scope["method"], scope["path"])
            await render_problem(describe_error(error), Headers(scope=scope).get("accept"))(scope, receive, send_on)


def _methods(path: str) -> str:
    return "GET, HEAD, POST, OPTIONS" if path == "/sparql" else "GET, HEAD, OPTIONS"


def _options(path: str) -> Response:
    methods = _methods(path)
    headers = {
        "Allow": methods,
        "Access-Control-Allow-Methods": methods,
        "Access-Control-Allow-Headers": "Accept, Content-Type, If-None-Match",
        "Access-Control-Max-Age": "86400",
    }
    return Response(status_code=204, headers=headers)


def make_app(release: Release, *, public_url: str, seconds: float = SECONDS) -> FastAPI:
    """The application that serves a release; its workers live as long as its lifespan.

    `public_url` is the address that others see, with the path prefix if a proxy adds one; `seconds` the
    limit for one query.

    Raises: UsageError: `public_url` is no address. On start, ReleaseError: the store cannot be opened.
    """
    if not re.fullmatch(r"https?://[^\s<>\"{}|^`\\?#]+", public_url):
        raise UsageError(f"{public_url!r} is no address such as https://example.org/evkg.")
    base = public_url.rstrip("/")
    workers = QueryWorkers(release.folder / STORE, seconds=seconds)
    outbox = Outbox()

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with workers:
            yield

    async def sparql(request: Request) -> Response:
        call = await read_call(request)
        if call.query is None:
            return describe_service(request, f"{base}/sparql", seconds)
        if not _is_there(release):  # workers would go on for a while with the files that they hold open
            raise ReleaseError(f"{release.folder} is gone.")
        return await answer_call(request, call, workers, outbox)

    # Without /docs: FastAPI's pages load scripts from elsewhere. A bare route for SPARQL: it is the hot one.
    app = FastAPI(title="evkg", docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan)
    app.state.workers = workers
    app.state.outbox = outbox
    app.router.routes.append(Route("/sparql", sparql, methods=["GET", "POST"]))
    app.add_middleware(_Envelope, draft=not release.conforms)
    app.add_exception_handler(EvkgError, _on_error)
    app.add_exception_handler(HTTPException, _on_error)
    _add_pages(app, release, urlsplit(base).path)

    @app.get("/health")
    async def health() -> Response:
        """Whether queries can be answered, and from which release."""
        facts = {"status": "ok", "release": release.id, "conforms": release.conforms}
        if workers.trouble or not workers.processes or not await asyncio.to_thread(_is_there, release):
            return JSONResponse({**facts, "status": "unavailable", "detail": RELEASE_GONE}, 503)
        return JSONResponse(facts)

    return app


def _is_there(release: Release) -> bool:
    """Whether the folder of a release still holds it."""
    return (release.folder / MANIFEST).is_file() and (release.folder / STORE / "CURRENT").is_file()


def _add_pages(app: FastAPI, release: Release, prefix: str) -> None:
    """The routes of records and of the first page; they render in threads, beside the loop of the server."""

    @app.get("/")
    def home() -> Response:
        """The first page."""
        from evkg.pages import render_home

        return Response(render_home(release), headers={"Content-Type": RECORDS[0].content_type})

    @app.get("/id/{name:path}")
    def thing(request: Request, name: str) -> Response:
        """What a record describes, by Accept or with .html, .jsonld, .ttl, .nt or .json."""
        return record_response(request, "id", name)

    @app.get("/record/{name:path}")
    def record(request: Request, name: str) -> Response:
        """A record: the same as under /id, since its graph holds both."""
        return record_response(request, "record", name)

    def record_response(request: Request, route: str, name: str) -> Response:
        choice = choose_form(release, name, accepted(request))
        if choice.variant is None:
            raise not_acceptable(RECORDS, "A record")
        record_id, form = choice.record_id, choice.variant.format_name
        address = quote(record_id)
        headers = {
            "Content-Type": choice.variant.content_type,
            "Content-Location": f"{prefix}/{route}/{address}{choice.suffix}",
            "Link": f'<{prefix}/record/{address}>; rel="describedby"',
            "ETag": entity_tag(release, record_id, form),
            "Cache-Control": "no-cache",  # a client asks again: the next release has the same addresses
        }
        if matches(request.headers.get("if-none-match"), headers["ETag"]):
            del headers["Content-Type"]
            return Response(status_code=304, headers=headers)
        return Response(render_form(release, record_id, form), headers=headers)


async def _on_error(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        problem: Problem = status_problem(error.status_code, headers=error.headers)
    else:
        problem = describe_error(error)
    if problem.status == 500 or isinstance(error, ReleaseError):
        _log.error("%s %s: %s", request.method, request.url.path, error)
    return render_problem(problem, accepted(request), page=request.url.path != "/sparql")


class _Server(uvicorn.Server):
    """uvicorn that leaves signals to `serve`: its own way of ending raises them a second time."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(
    release: Release,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str | None = None,
    seconds: float = SECONDS,
) -> None:
    """Serve a release until SIGINT or SIGTERM; says its address on stderr. Port 0 takes a free one.

    Raises: UsageError: the address cannot be listened at. ReleaseError: the store cannot be opened.
    """
    with _listen(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listener.getsockname()[1]}"
        app = make_app(release, public_url=public_url or address, seconds=seconds)
        greeting = f"evkg: release {release.id} at {address}/ until Ctrl-C; for a newer release start it again"
        asyncio.run(_serve(app, listener, greeting))


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if not 0 <= port <= 65535:
        raise UsageError(f"There is no port {port}; ports are 0 to 65535.")
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        reason = str(error.strerror or error).partition(" (while")[0]
        raise UsageError(f"The server cannot listen at {host}, port {port}: {reason}. Try --port.") from error
    # Connections inherit this. asyncio sets it only where the protocol of a socket is named, and without it
    # head and body of a response, written apart, cost 40 ms (measured, Python 3.11, Linux 6.18).
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


async def _serve(app: FastAPI, listener: socket.socket, greeting: str) -> None:
    settings: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False, "lifespan": "off"}
    server = _Server(uvicorn.Config(app, timeout_graceful_shutdown=_GRACE_SECONDS, **settings))
    workers: QueryWorkers = app.state.workers

    def end() -> None:
        server.force_exit = server.should_exit  # at the second signal
        server.should_exit = True
        workers.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, end)
    async with app.router.lifespan_context(app):
        print(greeting, file=sys.stderr, flush=True)
        await server.serve(sockets=[listener])
