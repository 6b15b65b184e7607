"""The server: the parts that an application has."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.dependencies import models
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

from evkg.assets import add_assets
from evkg.chart_resource import add_charts, charts_of
from evkg.compare_page import add_compare
from evkg.compression import Compression
from evkg.download import add_download
from evkg.editor_resource import add_editor
from evkg.endpoint import accepted, add_endpoint, make_endpoint
from evkg.envelope import DRAFT_HEADER, Envelope, Exchange
from evkg.errors import EvkgError, QueryLimitError, ReleaseError, VocabularyError
from evkg.evidence_resource import add_evidence
from evkg.feed import add_feed
from evkg.graph_store import add_graph_store
from evkg.hotpath import HotPath
from evkg.limits import Limits
from evkg.metrics import Metrics
from evkg.openapi import add_openapi
from evkg.problem import RELEASE_GONE, describe_error, render_problem, status_problem
from evkg.question_paths import add_question_paths
from evkg.question_resource import add_questions
from evkg.reference_docs_page import add_docs
from evkg.reference_page import add_reference
from evkg.release import Release
from evkg.resource import add_records
from evkg.results_page import add_results
from evkg.search_page import add_search
from evkg.service import DefaultGraph, Service, make_service
from evkg.sitemap import add_sitemap
from evkg.validation_resource import add_validation
from evkg.void import add_void

__all__ = ["DRAFT_HEADER", "PARTS", "make_app"]

#: How long the store may take to answer that it is there, and how long that holds (seconds).
_HEALTH_SECONDS: Final = 3.0
_HEALTHY_SECONDS: Final = 1.0
_log = logging.getLogger(__name__)


class Application(FastAPI):
    """FastAPI without the layers that it puts around our own: `Envelope` answers what they would answer."""

    def build_middleware_stack(self) -> ASGIApp:
        """What answers, from `Envelope` inwards."""
        stack = super().build_middleware_stack()
        while not isinstance(stack, Envelope):
            stack = stack.app  # type: ignore[attr-defined]
        return stack


def add_health(app: FastAPI, service: Service) -> None:
    """Add the route that says whether queries are answered."""
    asked = 0.0
    lock = asyncio.Lock()

    async def check() -> None:
        """Ask the store; its last answer holds for a moment. Raises: EvkgError, TimeoutError."""
        nonlocal asked
        async with lock:
            if monotonic() - asked > _HEALTHY_SECONDS:
                async with asyncio.timeout(_HEALTH_SECONDS):
                    await service.workers.run("ASK {}", table_format="csv", client="health")
                asked = monotonic()

    @app.get("/health")
    async def health() -> Response:
        """Whether queries are answered, and from which release."""
        release = service.release
        facts: dict[str, Any] = {"status": "ok"}
        if release is not None:
            facts |= {"release": release.id, "conforms": release.conforms}
        detail = RELEASE_GONE
        if not service.workers.trouble and await asyncio.to_thread(service.is_there):
            try:
                await check()
                return JSONResponse(facts)
            except QueryLimitError as error:
                detail = str(error)
            except TimeoutError:
                detail = f"The store did not answer within {_HEALTH_SECONDS:g} s."
            except EvkgError:
                pass  # its text names files of this machine
        return JSONResponse({**facts, "status": "unavailable", "detail": detail}, 503)


#: What an application is made of, in the order in which paths are looked up: each adds its routes.
PARTS: Final[tuple[Callable[[FastAPI, Service], None], ...]] = (
    add_editor,
    add_endpoint,
    add_questions,
    add_question_paths,
    add_graph_store,
    add_void,
    add_download,
    add_charts,
    add_records,
    add_validation,
    add_evidence,
    add_compare,
    add_assets,
    add_search,
    add_results,
    add_feed,
    add_sitemap,
    add_docs,
    add_reference,
    add_health,
)


def make_app(
    source: Release | Path | str,
    *,
    public_url: str,
    limits: Limits | None = None,
    default_graph: DefaultGraph = "union",
    metrics: Metrics | None = None,
    observe: Callable[[Exchange], None] | None = None,
    remote: str | None = None,
) -> FastAPI:
    """The application that serves a release, the folder of a bare store, or a remote store, as `make_service`.

    Its workers live as long as its lifespan.

    `public_url` is the address that others see, with the path prefix if a proxy adds one; `limits`
    what a query may take; `default_graph` what a query sees that names no graphs; `metrics` is told what to count;
    `observe` is told of each request that was answered.

    Raises: UsageError: `public_url` is no address. ReleaseError: there is no store; on start, it cannot be opened.
    """
    service = make_service(source, public_url=public_url, limits=limits, default_graph=default_graph, remote=remote)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            async with service.workers:
                if metrics is not None:
                    metrics.watch(service)
                yield
        finally:
            if app.state.search is not None:
                await asyncio.to_thread(app.state.search.stop)
            if service.release is not None:
                await asyncio.to_thread(charts_of(app).renderer.close)
            _forget_routes()

    # Without /docs: FastAPI's pages load scripts from elsewhere.
    app = Application(title="evkg", docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan)
    app.state.service = service
    app.state.workers = service.workers
    app.state.outbox = service.outbox
    for add in (*PARTS, add_openapi):
        add(app, service)
    app.add_middleware(HotPath, service=service, endpoint=make_endpoint(service), on_error=_on_error)
    app.add_middleware(Compression)
    # Added last, so it is the outermost.
    is_draft = service.release is not None and not service.release.conforms
    prefix = urlsplit(service.base).path
    app.add_middleware(Envelope, routes=app.router.routes, draft=is_draft, prefix=prefix, observe=observe)
    app.add_exception_handler(EvkgError, _on_error)
    app.add_exception_handler(HTTPException, _on_error)
    app.add_exception_handler(OSError, _on_error)
    return app


def _forget_routes() -> None:
    """Empty what FastAPI keeps of functions behind routes: it would keep each application, and its open files."""
    for part in vars(models).values():
        if callable(clear := getattr(part, "cache_clear", None)):
            clear()


async def _on_error(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        detail = "What is here can only be read." if error.status_code == 405 else ""
        problem = status_problem(error.status_code, detail, error.headers)
    else:
        problem = describe_error(error)
        if problem.status == 500:
            is_there = await asyncio.to_thread(request.app.state.service.is_there)
            # Whatever is missing first, what the client is told is the same.
            if not is_there or isinstance(error, VocabularyError):
                problem = describe_error(ReleaseError(str(error)))
            elif isinstance(error, OSError):
                raise error
    if problem.status == 500 or isinstance(error, ReleaseError):
        _log.error("%s %s: %s", request.method, request.url.path, error)
    return render_problem(problem, accepted(request), page=not request.url.path.startswith("/sparql"))
