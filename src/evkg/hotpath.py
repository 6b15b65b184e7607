"""The hot path: queries that programs send go to the endpoint past everything that other requests need.

What the router, its exit stacks and exception handlers do for a request takes longer than answering a light query.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from evkg.errors import EvkgError
from evkg.service import Service


class HotPath:
    """An application before which `/sparql` with a query is answered directly; pages and all else are its own matter.

    `endpoint` answers a request, `on_error` says what to respond to an error. The answer to a request of the very
    same bytes is sent as it was.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        service: Service,
        endpoint: Callable[[Request], Awaitable[Response]],
        on_error: Callable[[Request, Exception], Awaitable[Response]],
    ) -> None:
        self.app = app
        self._service = service
        self._endpoint = endpoint
        self._on_error = on_error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != "/sparql":
            await self.app(scope, receive, send)
            return
        words = scope["query_string"]
        accept = b", ".join([value for name, value in scope["headers"] if name == b"accept"])
        if b"query=" not in words or b"text/html" in accept.lower():
            await self.app(scope, receive, send)
            return
        cache = self._service.cache
        kept = cache.get_sent((words, accept)) if cache is not None else None
        if kept is not None and self._service.is_there() and not _has_tag(scope):
            scope.get("notes", {}).update(query=kept.query, cached=True)
            await send({"type": "http.response.start", "status": 200, "headers": kept.headers})
            await send({"type": "http.response.body", "body": kept.body})
            return
        request = Request(scope, receive, send)
        try:
            response = await self._endpoint(request)
        except EvkgError as error:
            response = await self._on_error(request, error)
        await response(scope, receive, send)


def _has_tag(scope: Scope) -> bool:
    return any(name == b"if-none-match" for name, _ in scope["headers"])
