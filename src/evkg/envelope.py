"""The envelope: what holds for every response, whatever route or error it comes from."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evkg.problem import describe_error, render_problem

#: Set to `true` on every response of a release that was built in spite of violations.
DRAFT_HEADER: Final = "X-Evkg-Draft"
_EXPOSED: Final = f"ETag, Link, Content-Location, Retry-After, {DRAFT_HEADER}"
#: Pages need nothing from elsewhere; their style stands in them.
_PAGE_POLICY: Final = "default-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
_log = logging.getLogger(__name__)


class Envelope:
    """CORS, Vary, HEAD, OPTIONS, Allow, the draft mark, and no trace ever.

    It wraps all routes and error handlers, since Starlette sends the status 500 past ordinary middleware.
    """

    def __init__(self, app: ASGIApp, *, routes: Iterable[BaseRoute], draft: bool) -> None:
        self.app = app
        self.routes = routes
        self.headers: Mapping[str, str] = {
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Expose-Headers": _EXPOSED,
            "Vary": "Accept, Accept-Encoding",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
            **({DRAFT_HEADER: "true"} if draft else {}),
        }

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
                    headers["Allow"] = self._methods(scope)
                if headers.get("content-type", "").startswith("text/html"):
                    headers.setdefault("Content-Security-Policy", _PAGE_POLICY)
            elif is_head and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        if scope["method"] == "OPTIONS":
            await self._options(scope)(scope, receive, send_on)
            return
        try:
            # HEAD is GET without the body (RFC 9110, section 9.3.2), so the routes need not know it.
            await self.app({**scope, "method": "GET"} if is_head else scope, receive, send_on)
        except ClientDisconnect:
            return  # nobody is there to be told
        except Exception as error:  # the outermost handler: nothing of our own errors goes to a client
            if has_begun:
                raise
            _log.exception("%s %s failed", scope["method"], scope["path"])
            await render_problem(describe_error(error), Headers(scope=scope).get("accept"))(scope, receive, send_on)

    def _methods(self, scope: Scope) -> str:
        """The methods of all routes that a path leads to; of a path that leads nowhere, those for reading."""
        found = {"GET"}
        for route in self.routes:
            if route.matches(scope)[0] is not Match.NONE:
                found |= set(getattr(route, "methods", None) or ())
        if "GET" in found:
            found |= {"HEAD", "OPTIONS"}
        order = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
        return ", ".join(method for method in order if method in found)

    def _options(self, scope: Scope) -> Response:
        methods = self._methods(scope)
        headers = {
            "Allow": methods,
            "Access-Control-Allow-Methods": methods,
            "Access-Control-Allow-Headers": "Accept, Content-Type, If-None-Match",
            "Access-Control-Max-Age": "86400",
        }
        return Response(status_code=204, headers=headers)
