"""Compression: responses go out as gzip to clients that accept it, piece by piece as they come.

Source: RFC 9110, sections 8.4 (Content-Encoding) and 12.5.3 (Accept-Encoding); RFC 1952 (gzip).
"""

from __future__ import annotations

import re
import zlib
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Shorter bodies stay as they are: they fit into one packet anyway (bytes).
_LEAST: Final = 1000
#: Of zlib's levels: higher ones cost more time than they save on the way (measured on N-Triples and JSON results).
_LEVEL: Final = 4
#: zlib's number for a gzip header around the largest window.
_GZIP: Final = 31
_COMPRESSIBLE: Final = re.compile(r"text/|application/(?!octet|zip|gzip)|image/svg")
_CODING: Final = re.compile(r"\s*([\w*-]+)\s*(?:;\s*q\s*=\s*([01](?:\.\d*)?)\s*)?", re.ASCII | re.IGNORECASE)


def accepts_gzip(accept_encoding: str | None) -> bool:
    """Whether a client would rather have gzip than nothing done.

    >>> accepts_gzip("gzip, deflate, br"), accepts_gzip("gzip;q=0, *"), accepts_gzip("*"), accepts_gzip(None)
    (True, False, True, False)
    """
    qualities: dict[str, float] = {}
    for element in (accept_encoding or "").split(","):
        if match := _CODING.fullmatch(element):
            qualities[match[1].lower().removeprefix("x-")] = min(float(match[2] or 1), 1.0)
    gzip = qualities.get("gzip", qualities.get("*", 0.0))
    return gzip > 0 and gzip >= qualities.get("identity", 0.0)


class Compression:
    """An application whose responses are compressed for those who accept it.

    A body that comes as one piece keeps a Content-Length. A strong ETag becomes a weak one: it is the same
    content in other bytes.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        accept = ", ".join(Headers(scope=scope).getlist("accept-encoding")) if scope["type"] == "http" else None
        if accepts_gzip(accept):
            send = _Compressor(send).send
        await self.app(scope, receive, send)


class _Compressor:
    """What one response goes through. The head waits for the first piece of the body."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._zip: zlib._Compress | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        if message["type"] != "http.response.body":
            await self._send(message)
            return
        body, is_last = message.get("body", b""), not message.get("more_body", False)
        if self._start is not None:
            start, self._start = self._start, None
            headers = MutableHeaders(scope=start)
            if _is_worth_it(start["status"], headers, body, is_last):
                self._zip = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
                _relabel(headers)
            body = self._pack(body, is_last)
            if self._zip is not None and is_last:
                headers["Content-Length"] = str(len(body))
            await self._send(start)
        else:
            body = self._pack(body, is_last)
        await self._send({**message, "body": body})

    def _pack(self, body: bytes, is_last: bool) -> bytes:
        if self._zip is None:
            return body
        return self._zip.compress(body) + (self._zip.flush() if is_last else b"")


def _is_worth_it(status: int, headers: MutableHeaders, body: bytes, is_last: bool) -> bool:
    if status in (204, 206, 304) or "content-encoding" in headers or (is_last and len(body) < _LEAST):
        return False
    return _COMPRESSIBLE.match(headers.get("content-type", "")) is not None


def _relabel(headers: MutableHeaders) -> None:
    headers["Content-Encoding"] = "gzip"
    del headers["Content-Length"]
    if (tag := headers.get("etag", "")).startswith('"'):
        headers["ETag"] = f"W/{tag}"
