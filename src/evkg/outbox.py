"""The outbox: long answers on their way to clients, piece by piece and within a bound."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from evkg.worker import WorkersBusyError

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

    def response(self, body: bytes, headers: Mapping[str, str]) -> Response:
        """The response with this body; it must be sent, which gives the room back.

        Raises: WorkersBusyError: too much waits already.
        """
        if len(body) <= _PIECE_BYTES:
            return Response(body, headers=headers)
        if self.size + len(body) > self.limit:
            raise WorkersBusyError("Too many long answers wait until their clients read them. Try again in a moment.")
        self.size += len(body)
        return _LongResponse(self, body, headers)


class _LongResponse(Response):
    """A response that is sent piece by piece."""

    def __init__(self, outbox: Outbox, body: bytes, headers: Mapping[str, str]) -> None:
        super().__init__(body, headers=headers)
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
                await asyncio.sleep(0)  # a fast client would else keep others waiting while pieces are compressed
        except TimeoutError:
            raise ClientDisconnect from None
        finally:
            self.body = b""
            self._outbox.size -= size
