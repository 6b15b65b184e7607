"""One query on its way through the lanes: its worker, its time, and what is left of its answer."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, Protocol, Self, TypeVar

from evkg.bytesize import size_text
from evkg.errors import QueryError, QueryLimitError
from evkg.lanes import Lane, WorkersBusyError
from evkg.limits import Limits
from evkg.worker_link import Message, WorkerEndedError, WorkerLink
from evkg.worker_process import read_error

#: How long a query may run among the light ones (seconds).
SLICE_SECONDS: Final = 0.1
#: How long clients may take to read an answer, all in all (seconds).
_READING_SECONDS: Final = 900.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a query: its form (SELECT, …), the format that was used, the bytes, and what follows of a long one.

    `format_name` is None if no format was offered that fits the form; then nothing was evaluated. `rest` must be
    read to its end or closed; it raises QueryError where the answer is cut.
    """

    form: str
    format_name: str | None
    body: bytes
    rest: Rest | None = None


class Rest(Protocol):
    """What follows of a long answer, piece by piece."""

    def __aiter__(self) -> Rest: ...
    async def __anext__(self) -> bytes: ...
    def close(self) -> None:
        """Give the answer up, wherever it is; nothing happens at its end."""


class Pool(Protocol):
    """What a query needs of `worker.QueryWorkers`, where this is told."""

    limits: Limits
    light: Lane
    heavy: Lane

    def take(self) -> WorkerLink | None: ...
    def take_heavy(self) -> WorkerLink | None: ...
    def put(self, worker: WorkerLink) -> None: ...
    def promote(self, worker: WorkerLink) -> None: ...
    def is_known(self, key: bytes) -> bool: ...
    def remember(self, key: bytes, *, is_heavy: bool) -> None: ...
    def reason(self, status: int) -> QueryError: ...
    def check(self) -> None: ...


class RunningQuery:
    """One query; also the `Rest` of its answer."""

    def __init__(self, pool: Pool, request: dict[str, Any], client: str) -> None:
        self._pool = pool
        self._request = request
        self._client = client
        self._clock = asyncio.get_running_loop().time
        self._asked = self._clock()
        self._end = self._asked + pool.limits.seconds
        self._last = self._end + _READING_SECONDS
        self._waited = 0.0
        self._worker: WorkerLink | None = None
        self._is_light = self._is_heavy = self._is_over = False
        self._handed_out: float | None = None
        self._first: Message | None = None
        text = "\n".join((request["query"], *request["default_graphs"], "", *request["named_graphs"]))
        self._key = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
        self.is_known = pool.limits.heavy > 0 and pool.is_known(self._key)

    async def begin_light(self) -> Message | None:
        """Run in the light lane: the first message; None if the query is a heavy one.

        Raises: as `QueryWorkers.begin`.
        """
        pool = self._pool
        await self._take_light()
        if pool.limits.heavy == 0:
            return await self._read(self._end - self._clock())
        message = await self._wait(SLICE_SECONDS)
        if message is not None and not message[0].get("more"):
            return message
        pool.remember(self._key, is_heavy=True)
        if pool.heavy.try_enter(self._client):
            self._is_heavy = True
            self._promote()
            self._first = message
        else:
            self._let_go(is_whole=False)
        return None

    async def go_on(self) -> Message:
        """Run in the heavy lane: the first message.

        Raises: as `QueryWorkers.begin`.
        """
        if self._first is not None:
            return self._first
        if self._worker is None:
            begun = self._clock()
            await self._pool.heavy.enter(self._client, self._end - begun)
            self._waited += self._clock() - begun
            self._is_heavy = True
            self._worker = self._pool.take_heavy()
            if self._worker is None:
                try:
                    await self._take_light()
                except BaseException:
                    self._let_go(is_whole=False)
                    raise
                self._promote()
            else:
                self._ask(self._worker)
        return await self._read(self._end - self._clock())

    def answer(self, message: Message) -> Answer:
        """The answer that begins with a message.

        Raises: the error that stands in it.
        """
        header, body = message
        if header.get("more"):
            return Answer(header["form"], header["format"], body, self)
        self._finish()
        if "error" in header:
            raise read_error(header)
        return Answer(header["form"], header["format"], body)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if self._is_over:
            raise StopAsyncIteration
        now = self._clock()
        if self._handed_out is not None:  # the time that its client took does not count
            self._end = min(self._end + now - self._handed_out, self._last)
        header, body = await self._read(self._end - now)
        if not header.get("more"):
            self._finish()
        if "error" in header:
            raise read_error(header)
        self._handed_out = self._clock()
        return body

    def close(self) -> None:
        """Stop the query, if it still runs."""
        self._is_over = True
        self._let_go(is_whole=False)

    async def _take_light(self) -> None:
        pool = self._pool
        while self._worker is None:
            pool.check()
            begun = self._clock()
            await pool.light.enter(self._client, self._end - begun)
            self._waited += self._clock() - begun
            self._worker = pool.take()
            if self._worker is None:  # it died in this moment
                pool.light.leave(self._client)
                await asyncio.sleep(0)
        self._is_light = True
        self._ask(self._worker)

    def _ask(self, worker: WorkerLink) -> None:
        self._asked = self._clock()
        worker.ask(self._request)

    def _promote(self) -> None:
        """Take the worker from the light lane to the heavy one, where there is a place."""
        if self._worker is not None:
            self._is_light = False
            self._pool.promote(self._worker)
            self._pool.light.leave(self._client, is_lost=True)

    async def _wait(self, seconds: float) -> Message | None:
        """The next message, or None if none comes for so long. However this fails, the worker is given up."""
        try:
            return await self._worker.read(seconds) if self._worker else None
        except WorkerEndedError as error:
            self._is_over = True
            self._let_go(is_whole=False)
            raise self._pool.reason(error.status) from error
        except BaseException:
            self.close()
            raise

    async def _read(self, seconds: float) -> Message:
        message = await self._wait(seconds)
        if message is not None:
            return message
        self.close()
        limit = self._pool.limits.seconds
        if self._waited > limit / 2:
            raise WorkersBusyError(f"The query had to wait for most of {limit:g} s. Try again in a moment.", "waiting")
        text = f"The query took longer than the limit of {limit:g} s and was stopped."
        raise QueryLimitError(f"{text} Ask for less, or say more of what you look for.", "time")

    def _finish(self) -> None:
        self._is_over = True
        if self._is_heavy and self._clock() - self._asked < SLICE_SECONDS / 2:
            self._pool.remember(self._key, is_heavy=False)
        self._let_go(is_whole=True)

    def _let_go(self, *, is_whole: bool) -> None:
        """Give back the worker and the places; a worker that has not answered to the end is killed."""
        worker, self._worker = self._worker, None
        if worker is not None:
            if is_whole:
                self._pool.put(worker)
            else:
                worker.kill()
        if self._is_light:
            self._is_light = False
            self._pool.light.leave(self._client, is_lost=worker is None or not worker.is_alive)
        if self._is_heavy:
            self._is_heavy = False
            self._pool.heavy.leave(self._client)


async def gather(answer: Answer, most_bytes: int | None) -> Answer:
    """An answer made whole, of so many bytes at most.

    Raises: QueryLimitError: it is longer. And what its rest raises.
    """
    if answer.rest is None:
        return answer
    parts, size = [answer.body], len(answer.body)
    try:
        async for piece in answer.rest:
            parts.append(piece)
            size += len(piece)
            if most_bytes is not None and size > most_bytes:
                raise QueryLimitError(f"The answer is larger than {size_text(most_bytes)}. Use LIMIT.", "bytes")
    finally:
        answer.rest.close()
    return Answer(answer.form, answer.format_name, b"".join(parts))


async def unless_gone(gone: Callable[[], Awaitable[None]] | None, run: Coroutine[Any, Any, T]) -> T:
    """The outcome of `run`, which is cancelled when `gone` returns or raises first."""
    if gone is None:
        return await run
    running, watching = asyncio.ensure_future(run), asyncio.ensure_future(gone())
    try:
        await asyncio.wait((running, watching), return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            watching.result()
            raise asyncio.CancelledError
        return running.result()
    finally:
        for task in (watching, running):
            task.cancel()
        await asyncio.gather(watching, running, return_exceptions=True)
