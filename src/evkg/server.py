"""The server: the parts that an application has, and how it is started and ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, Final

import uvicorn
from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from evkg.compare_page import add_compare
from evkg.compression import Compression
from evkg.endpoint import accepted, add_endpoint
from evkg.envelope import DRAFT_HEADER, Envelope
from evkg.errors import EvkgError, ReleaseError, UsageError
from evkg.evidence_resource import add_evidence
from evkg.graph_store import add_graph_store
from evkg.openapi import add_openapi
from evkg.problem import RELEASE_GONE, describe_error, render_problem, status_problem
from evkg.release import Release
from evkg.resource import add_records
from evkg.service import DefaultGraph, Service, make_service
from evkg.validation_resource import add_validation
from evkg.void import add_void
from evkg.worker import SECONDS

__all__ = ["DRAFT_HEADER", "PARTS", "make_app", "serve"]

#: How long requests that run may take to end when the server is stopped.
_GRACE_SECONDS: Final = 5
_log = logging.getLogger(__name__)


def add_health(app: FastAPI, service: Service) -> None:
    """Add the route that says whether queries can be answered."""

    @app.get("/health")
    async def health() -> Response:
        """Whether queries can be answered, and from which release."""
        release = service.release
        facts: dict[str, Any] = {"status": "ok"}
        if release is not None:
            facts |= {"release": release.id, "conforms": release.conforms}
        workers = service.workers
        if workers.trouble or not workers.processes or not await asyncio.to_thread(service.is_there):
            return JSONResponse({**facts, "status": "unavailable", "detail": RELEASE_GONE}, 503)
        return JSONResponse(facts)


#: What an application is made of, in the order in which paths are looked up: each adds its routes.
PARTS: Final[tuple[Callable[[FastAPI, Service], None], ...]] = (
    add_endpoint,
    add_graph_store,
    add_void,
    add_records,
    add_validation,
    add_evidence,
    add_compare,
    add_health,
)


def make_app(
    source: Release | Path,
    *,
    public_url: str,
    seconds: float = SECONDS,
    default_graph: DefaultGraph = "union",
) -> FastAPI:
    """The application that serves a release, or the folder of a bare store; its workers live as long as its lifespan.

    `public_url` is the address that others see, with the path prefix if a proxy adds one; `seconds` the
    limit for one query; `default_graph` what a query sees that names no graphs.

    Raises: UsageError: `public_url` is no address. ReleaseError: there is no store; on start, it cannot be opened.
    """
    service = make_service(source, public_url=public_url, seconds=seconds, default_graph=default_graph)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with service.workers:
            yield

    # Without /docs: FastAPI's pages load scripts from elsewhere.
    app = FastAPI(title="evkg", docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan)
    app.state.service = service
    app.state.workers = service.workers
    app.state.outbox = service.outbox
    for add in (*PARTS, add_openapi):
        add(app, service)
    app.add_middleware(Compression)
    # Added last, so it is the outermost.
    is_draft = service.release is not None and not service.release.conforms
    app.add_middleware(Envelope, routes=app.router.routes, draft=is_draft)
    app.add_exception_handler(EvkgError, _on_error)
    app.add_exception_handler(HTTPException, _on_error)
    return app


async def _on_error(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        detail = "What is here can only be read." if error.status_code == 405 else ""
        problem = status_problem(error.status_code, detail, error.headers)
    else:
        problem = describe_error(error)
    if problem.status == 500 or isinstance(error, ReleaseError):
        _log.error("%s %s: %s", request.method, request.url.path, error)
    return render_problem(problem, accepted(request), page=not request.url.path.startswith("/sparql"))


class _Server(uvicorn.Server):
    """uvicorn that leaves signals to `serve`: its own way of ending raises them a second time."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(
    source: Release | Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str | None = None,
    seconds: float = SECONDS,
    default_graph: DefaultGraph = "union",
) -> None:
    """Serve a release or a bare store until SIGINT or SIGTERM; says its address on stderr. Port 0 takes a free one.

    Raises: UsageError: the address cannot be listened at. ReleaseError: the store cannot be opened.
    """
    with _listen(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listener.getsockname()[1]}"
        app = make_app(source, public_url=public_url or address, seconds=seconds, default_graph=default_graph)
        what = f"release {source.id}" if isinstance(source, Release) else f"the store in {source}"
        hint = "; for a newer release start it again" if isinstance(source, Release) else ""
        asyncio.run(_serve(app, listener, f"evkg: {what} at {address}/ until Ctrl-C{hint}"))


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
    workers = app.state.workers

    def end() -> None:
        server.force_exit = server.should_exit  # at the second signal
        server.should_exit = True
        workers.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, end)
    async with app.router.lifespan_context(app):
        print(greeting, file=sys.stderr, flush=True)
        await server.serve(sockets=[listener])
