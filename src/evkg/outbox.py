"""The outbox: long answers on their way to clients, piece by piece and within a bound."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from evkg.bytesize import size_text
from evkg.errors import EvkgError, QueryLimitError
from evkg.lanes import WorkersBusyError
from evkg.runningquery import Answer, Rest

#: Answers go out in pieces of this size; the next one when the client has taken the one before.
_PIECE_BYTES: Final = 64 << 10
#: How long a client may leave a piece untaken (seconds).
_PIECE_SECONDS: Final = 60.0
#: How much is put together for a client that does not know pieces (bytes).
_WHOLE_BYTES: Final = 32 << 20
_log = logging.getLogger(__name__)


class Outbox:
    """The answers that wait until their clients have read them: together no more than so many bytes.

    Answers of one piece do not count: they are handed to the system at once. Of answers that are still being made
    only a piece waits. `cut` counts those that ended before they were whole.
    """

    def __init__(self, limit: int = 256 << 20) -> None:
        self.limit = limit
        self.size = 0
        self.cut = 0

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

    async def answer(self, answer: Answer, headers: Mapping[str, str], scope: Scope) -> Response:
        """The response with an answer, whole or not yet.

        To HTTP/1.0, where a cut body looks like a whole one, it is sent when it is whole.

        Raises: WorkersBusyError: too much waits already. QueryError: it cannot be made whole.
        """
        rest = answer.rest
        if rest is None:
            return self.response(answer.body, headers)
        if scope.get("http_version") != "1.0":
            return _StreamedResponse(self, answer.body, rest, headers)
        parts, size = [answer.body], len(answer.body)
        try:
            async for piece in rest:
                parts.append(piece)
                size += len(piece)
                if size > _WHOLE_BYTES:
                    message = f"To HTTP/1.0 an answer has at most {size_text(_WHOLE_BYTES)}. Use HTTP/1.1, or LIMIT."
                    raise QueryLimitError(message, "bytes")
        finally:
            rest.close()
        return self.response(b"".join(parts), headers)


class _LongResponse(Response):
    """A response that is sent piece by piece."""

    def __init__(self, outbox: Outbox, body: bytes, headers: Mapping[str, str]) -> None:
        super().__init__(body, headers=headers)
        self._outbox = outbox

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        size = len(self.body)
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await _send_pieces(send, bytes(self.body), more=False)
        except TimeoutError:
            raise ClientDisconnect from None
        finally:
            self.body = b""
            self._outbox.size -= size


class _StreamedResponse(Response):
    """A response that is sent while it is made. Where it is cut, its end never comes: nobody takes it for whole."""

    def __init__(self, outbox: Outbox, first: bytes, rest: Rest, headers: Mapping[str, str]) -> None:
        super().__init__(headers=headers)
        del self.headers["content-length"]
        self._outbox = outbox
        self._first = first
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.ensure_future(_wait_until_gone(receive))
        gone.add_done_callback(lambda _: self._rest.close())
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            if not scope.get("is_head"):
                await _send_pieces(send, self._first, more=True)
                async for piece in self._rest:
                    await _send_pieces(send, piece, more=True)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            self._outbox.cut += 1
        except EvkgError as error:
            self._outbox.cut += 1
            if isinstance(error, QueryLimitError) and error.limit:
                scope.get("notes", {})["limit"] = error.limit
            if not gone.done():
                _log.warning("An answer was cut: %s", error)
        finally:
            self._rest.close()
            gone.cancel()


async def _send_pieces(send: Send, body: bytes, *, more: bool) -> None:
    """Raises: TimeoutError: the client takes nothing."""
    for start in range(0, len(body), _PIECE_BYTES):
        end = start + _PIECE_BYTES
        is_last = end >= len(body) and not more
        async with asyncio.timeout(_PIECE_SECONDS):
            await send({"type": "http.response.body", "body": body[start:end], "more_body": not is_last})
        await asyncio.sleep(0)  # a fast client would else keep others waiting while pieces are compressed


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
