"""The envelope: what holds for every response, whatever route or error it comes from."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evkg.endpoint import LIMITS_HEADER
from evkg.problem import LIMIT_HEADER, describe_error, render_problem
from evkg.rooted import PREFIX

#: Set to `true` on every response of a release that was built in spite of violations.
DRAFT_HEADER: Final = "X-Evkg-Draft"
_EXPOSED: Final = f"ETag, Link, Content-Location, Retry-After, {DRAFT_HEADER}, {LIMIT_HEADER}, {LIMITS_HEADER}"
#: Pages need nothing from elsewhere, and nothing that stands in a page itself is style or script. Data blocks, such as
#: JSON-LD, are no scripts to it. Source: Content Security Policy Level 3, section 6.7; HTML, section 4.12.1.
_PAGE_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_POLICY_NAME: Final = b"content-security-policy"
_LIMIT_NAME: Final = LIMIT_HEADER.lower().encode()
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Exchange:
    """A request and how it was answered. `seconds` is the time to the end of the response, `size` its body (bytes).

    `is_whole`: the end was sent. `limit`: the limit that a query ran into. `notes`: what routes say of it, such as
    the query.
    """

    method: str
    path: str
    client: str
    status: int = 0
    size: int = 0
    seconds: float = 0.0
    is_whole: bool = False
    limit: str = ""
    notes: dict[str, Any] = field(default_factory=dict)


class Envelope:
    """CORS, Vary, HEAD, OPTIONS, Allow, the draft mark, the path prefix, and no trace ever.

    It wraps all routes and error handlers, since Starlette sends the status 500 past ordinary middleware. `prefix` is
    the path of the public address, which a proxy may leave in front of paths. `observe` is told of each exchange.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        routes: Iterable[BaseRoute],
        draft: bool,
        prefix: str = "",
        observe: Callable[[Exchange], None] | None = None,
    ) -> None:
        self.app = app
        self.routes = routes
        self.prefix = f"{prefix.rstrip('/')}/"
        self.observe = observe
        headers = {
            "access-control-allow-origin": "*",
            "access-control-expose-headers": _EXPOSED,
            "vary": "Accept, Accept-Encoding",
            "x-content-type-options": "nosniff",
            "referrer-policy": "same-origin",
            **({DRAFT_HEADER.lower(): "true"} if draft else {}),
        }
        self.headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self.prefix != "/" and scope["path"].startswith(self.prefix):
            path, raw = scope["path"], scope.get("raw_path") or b""
            scope = {**scope, "path": path[len(self.prefix) - 1 :], "raw_path": raw[len(self.prefix) - 1 :]}
        elif self.prefix != "/" and scope["path"] == self.prefix[:-1]:
            scope = {**scope, "path": "/", "raw_path": b"/"}  # the prefix as it is written, without a slash
        PREFIX.set(self.prefix.removesuffix("/"))
        client = scope.get("client")
        exchange = Exchange(scope["method"], scope["path"], client[0] if client else "")
        begun = perf_counter()
        try:
            await self._respond(scope, receive, send, exchange)
        finally:
            if self.observe is not None:
                # What began with status 200 and was cut later has its limit in the notes, not in a header.
                exchange.limit = exchange.limit or exchange.notes.get("limit", "")
                exchange.seconds = perf_counter() - begun
                self.observe(exchange)

    async def _respond(self, scope: Scope, receive: Receive, send: Send, exchange: Exchange) -> None:
        is_head = scope["method"] == "HEAD"

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                message["headers"] = self._headers(message, scope)
                if exchange.status == 503:
                    exchange.limit = dict(message["headers"]).get(_LIMIT_NAME, b"").decode()
            elif message["type"] == "http.response.body":
                if is_head:
                    message = {**message, "body": b""}
                exchange.size += len(message.get("body", b""))
                exchange.is_whole = not message.get("more_body", False)
            await send(message)

        if scope["method"] == "OPTIONS":
            await self._options(scope)(scope, receive, send_on)
            return
        scope["notes"] = exchange.notes
        try:
            # HEAD is GET without the body (RFC 9110, section 9.3.2), so the routes need not know it.
            await self.app({**scope, "method": "GET", "is_head": True} if is_head else scope, receive, send_on)
        except ClientDisconnect:
            return  # nobody is there to be told
        except Exception as error:  # the outermost handler: nothing of our own errors goes to a client
            if exchange.status:
                raise
            _log.exception("%s %s failed", scope["method"], scope["path"])
            await render_problem(describe_error(error), Headers(scope=scope).get("accept"))(scope, receive, send_on)

    def _headers(self, message: Message, scope: Scope) -> list[tuple[bytes, bytes]]:
        """The headers of a response, with those of every response that it does not have itself."""
        headers = list(message.get("headers", ()))
        found = dict(headers)
        headers += [header for header in self.headers if header[0] not in found]
        if message["status"] == 405:
            headers = [header for header in headers if header[0] != b"allow"]
            headers.append((b"allow", self._methods(scope).encode()))
        if found.get(b"content-type", b"").startswith(b"text/html") and _POLICY_NAME not in found:
            headers.append((_POLICY_NAME, _PAGE_POLICY.encode()))
        return headers

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
