"""What the server takes of a connection: no request that never ends, and no offer of another protocol."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

#: How long a request may take to come in, from its first byte, or from the beginning of the connection (seconds).
REQUEST_SECONDS: Final = 30.0
#: How long its first line and headers may be together, and the first line alone, which httptools 0.9 cannot read
#: beyond 64 KiB (bytes).
HEAD_BYTES: Final = 256 << 10
LINE_BYTES: Final = 65_000
#: How long a client whose request is refused may go on sending before the connection ends (seconds).
_LINGER: Final = 2.0
#: An offer to go on with another protocol. Source: RFC 9110, section 7.8.
_OFFER: Final = re.compile(rb"\r\nupgrade:[^\r\n]*(?=\r\n)", re.IGNORECASE)
_TOO_LATE: Final = (408, "Request Timeout", "The request did not come to its end in time.")
_TOO_LONG: Final = (431, "Request Header Fields Too Large", "The address and the headers are too long. Use POST.")


class PatientProtocol(HttpToolsProtocol):
    """uvicorn's connection, with a bound for the time and the length of what comes in; it has none itself.

    Source: RFC 9110, section 15.5.9 (408); RFC 6585, section 5 (431).
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._is_within = False
        self._is_head = True
        self._is_refused = False
        self._head_size = 0
        self._line_size: int | None = 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A part of a request, a whole one, or several."""
        if self._is_refused:
            return
        if self._is_head:
            if self._is_too_long(data):
                self._refuse(*_TOO_LONG)
                return
            if b"pgrade:" in data or b"PGRADE:" in data:
                data = without_offer(data)
        super().data_received(data)
        if self._is_within and self._timer is None:
            self._wait()

    def _is_too_long(self, data: bytes) -> bool:
        """Whether the head is too long with this part of it, or its first line."""
        self._head_size += len(data.partition(b"\r\n\r\n")[0])
        if self._line_size is not None:
            line, end, _ = data.partition(b"\r\n")
            self._line_size += len(line)
            if self._line_size > LINE_BYTES:
                return True
            if end and line:
                self._line_size = None
        return self._head_size > HEAD_BYTES

    def on_message_begin(self) -> None:
        """A request begins."""
        self._is_within = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Only its body may follow."""
        self._is_head = False
        self._head_size = 0
        self._line_size = 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is there."""
        self._is_within = False
        self._is_head = True
        self._stop()
        super().on_message_complete()

    def _wait(self) -> None:
        self._timer = self.loop.call_later(REQUEST_SECONDS, self._give_up)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        cycle = self.cycle
        is_open = cycle is not None and not cycle.response_complete
        if is_open and (self._is_head or cycle.response_started):  # an answer is on its way: here it is not harmed
            self._wait()
        elif self._is_within:
            self._refuse(*_TOO_LATE)
        else:
            self.transport.close()  # a connection that nothing came over

    def _refuse(self, status: int, title: str, text: str) -> None:
        self._stop()
        if self.transport.is_closing():
            return
        cycle = self.cycle  # in the head of a request it is that of the one before
        if (cycle is None or cycle.response_complete) if self._is_head else not cycle.response_started:
            body = json.dumps({"type": "about:blank", "title": title, "status": status, "detail": text})
            head = f"HTTP/1.1 {status} {title}\r\ncontent-type: application/problem+json\r\nconnection: close\r\n"
            head += f"access-control-allow-origin: *\r\ncontent-length: {len(body)}\r\n\r\n"
            self.transport.write((head + body).encode("ascii"))
            # To close while something comes in would reset the connection, and the client could not read why.
            if self.transport.can_write_eof():
                self.transport.write_eof()
                self.loop.call_later(_LINGER, self.transport.close)
                self._is_refused = True
                return
        self.transport.close()


def without_offer(data: bytes) -> bytes:
    """The beginning of a request without its offer of another protocol, which a server may ignore.

    Java's client offers HTTP/2 with every first request, and httptools 0.9 takes a body behind an offer for a request
    of its own, so that a POST fails.

    >>> without_offer(b"GET / HTTP/1.1\\r\\nUpgrade: h2c\\r\\nHost: x\\r\\n\\r\\n")
    b'GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'
    """
    head, end, rest = data.partition(b"\r\n\r\n")
    return _OFFER.sub(b"", head + end[:2]) + end[2:] + rest
