"""Compression: responses go out as zstd or gzip to clients that accept it, piece by piece as they come.

Source: RFC 9110, sections 8.4 (Content-Encoding) and 12.5.3 (Accept-Encoding); RFC 1952 (gzip); RFC 8878 (zstd).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Protocol

from backports import zstd
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Shorter bodies stay as they are: they fit into one packet anyway (bytes).
_LEAST: Final = 1000
#: Levels: higher ones cost more time than they save on the way (measured on N-Triples and JSON results).
_GZIP_LEVEL: Final = 4
_ZSTD_LEVEL: Final = 3
#: What a browser must be able to keep of a zstd frame (as a power of two of bytes). Source: RFC 9659, section 3.
_ZSTD_WINDOW: Final = 23
#: zlib's number for a gzip header around the largest window.
_GZIP: Final = 31
_COMPRESSIBLE: Final = re.compile(rb"text/|application/(?!octet|zip|gzip)|image/svg")
_CODING: Final = re.compile(r"\s*([\w*-]+)\s*(?:;\s*q\s*=\s*([01](?:\.\d*)?)\s*)?", re.ASCII | re.IGNORECASE)


class _Packer(Protocol):
    """What zlib and zstd have in common here."""

    def add(self, data: bytes) -> bytes:
        """The bytes to send for these, all of them: a client that waits for the first row gets it."""

    def end(self, data: bytes) -> bytes:
        """The bytes to send for the last of them."""


class _Gzip:
    def __init__(self) -> None:
        self._zip = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP)

    def add(self, data: bytes) -> bytes:
        return self._zip.compress(data) + self._zip.flush(zlib.Z_SYNC_FLUSH)

    def end(self, data: bytes) -> bytes:
        return self._zip.compress(data) + self._zip.flush()


class _Zstd:
    def __init__(self) -> None:
        options: dict[int, int] = {
            zstd.CompressionParameter.compression_level: _ZSTD_LEVEL,
            zstd.CompressionParameter.window_log: _ZSTD_WINDOW - 2,
            zstd.CompressionParameter.checksum_flag: 1,
        }
        self._zip = zstd.ZstdCompressor(options=options)

    def add(self, data: bytes) -> bytes:
        return self._zip.compress(data, zstd.ZstdCompressor.FLUSH_BLOCK)

    def end(self, data: bytes) -> bytes:
        return self._zip.compress(data, zstd.ZstdCompressor.FLUSH_FRAME)


#: The codings, best first.
_PACKERS: Final[dict[str, Callable[[], _Packer]]] = {"zstd": _Zstd, "gzip": _Gzip}


@lru_cache(maxsize=256)
def choose_coding(accept_encoding: str | None) -> str | None:
    """What a client would rather have than nothing done: zstd, gzip or None. zstd is not sent to who only says `*`.

    >>> choose_coding("gzip, deflate, br, zstd"), choose_coding("gzip;q=0, *"), choose_coding("*")
    ('zstd', None, 'gzip')
    """
    qualities: dict[str, float] = {}
    for element in (accept_encoding or "").split(","):
        if match := _CODING.fullmatch(element):
            qualities[match[1].lower().removeprefix("x-")] = min(float(match[2] or 1), 1.0)
    wanted = {"zstd": qualities.get("zstd", 0.0), "gzip": qualities.get("gzip", qualities.get("*", 0.0))}
    best = max(wanted, key=lambda name: wanted[name])  # of two that are equal the first
    return best if wanted[best] > 0 and wanted[best] >= qualities.get("identity", 0.0) else None


class Compression:
    """An application whose responses are compressed for those who accept it.

    A body that comes as one piece keeps a Content-Length. A strong ETag becomes a weak one: it is the same
    content in other bytes.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            accepted = [value for name, value in scope["headers"] if name == b"accept-encoding"]
            coding = choose_coding(b", ".join(accepted).decode("latin-1")) if accepted else None
            if coding is not None:
                send = _Compressor(send, coding).send
        await self.app(scope, receive, send)


class _Compressor:
    """What one response goes through. The head waits for the first piece of the body."""

    def __init__(self, send: Send, coding: str) -> None:
        self._send = send
        self._coding = coding
        self._start: Message | None = None
        self._packer: _Packer | None = None

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
            if _is_worth_it(start, body, is_last):
                self._packer = _PACKERS[self._coding]()
                body = self._pack(body, is_last)
                start = {**start, "headers": _relabel(start["headers"], self._coding, len(body) if is_last else None)}
            await self._send(start)
        elif self._packer is not None:
            body = self._pack(body, is_last)
        await self._send({**message, "body": body})

    def _pack(self, body: bytes, is_last: bool) -> bytes:
        if self._packer is None:
            return body
        return self._packer.end(body) if is_last else self._packer.add(body) if body else b""


def _is_worth_it(start: Message, body: bytes, is_last: bool) -> bool:
    if start["status"] in (204, 206, 304) or (is_last and len(body) < _LEAST):
        return False
    headers = dict(start["headers"])
    return b"content-encoding" not in headers and bool(_COMPRESSIBLE.match(headers.get(b"content-type", b"")))


def _relabel(headers: list[tuple[bytes, bytes]], coding: str, length: int | None) -> list[tuple[bytes, bytes]]:
    found = [(name, value) for name, value in headers if name != b"content-length"]
    found = [(n, b"W/" + v) if n == b"etag" and v.startswith(b'"') else (n, v) for n, v in found]
    found.append((b"content-encoding", coding.encode()))
    return found if length is None else [*found, (b"content-length", str(length).encode())]
