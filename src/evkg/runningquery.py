"""One query on its way through the lanes: its worker, its time, and what is left of its answer."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from math import inf
from typing import Any, Final, Protocol, Self

from evkg.errors import QueryError, QueryLimitError
from evkg.lanes import Lane, WorkersBusyError
from evkg.limits import Limits
from evkg.parking import Parking
from evkg.worker_link import Message, WorkerEndedError, WorkerLink
from evkg.worker_process import read_error

#: How long a query may run among the light ones (seconds), and how often as long if in half of that time it did not
#: get a processor: what is slow is then the machine, not the query.
SLICE_SECONDS: Final = 0.1
_MOST_SLICES: Final = 5
#: How long a client may take to read a piece before its place in the heavy lane goes to one who waits (seconds).
_PLACE_SECONDS: Final = 1.0
#: How long clients may take to read an answer, all in all (seconds).
_READING_SECONDS: Final = 900.0


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
    parking: Parking

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
        self._parking: asyncio.TimerHandle | None = None
        self._is_given_up = False
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
        message = await self._wait_slices()
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
            self._await_reader()
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
        self._stop_parking()
        now = self._clock()
        if self._handed_out is not None:  # the time that its client took does not count
            self._end = min(self._end + now - self._handed_out, self._last)
        header, body = await self._read(self._end - now)
        if not header.get("more"):
            self._finish()
        if "error" in header:
            raise read_error(header)
        self._handed_out = self._clock()
        self._await_reader()
        return body

    def close(self) -> None:
        """Stop the query, if it still runs."""
        self._is_over = True
        self._let_go(is_whole=False)

    def give_up(self) -> None:
        """End it, though its client still reads: others wait. What is read next raises."""
        self._is_given_up = True
        if self._worker is not None:
            self._worker.kill()

    def _await_reader(self) -> None:
        if self._is_heavy:
            self._parking = asyncio.get_running_loop().call_later(_PLACE_SECONDS, self._park)

    def _park(self) -> None:
        """Leave the lane, since nothing goes on here, if somebody waits for the place."""
        if not self._pool.heavy.waiting:
            self._await_reader()
        elif self._is_heavy:
            self._is_heavy = False
            self._pool.heavy.leave(self._client)
            self._pool.parking.enter(self)

    def _stop_parking(self) -> None:
        if self._parking is not None:
            self._parking.cancel()
            self._parking = None

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

    async def _wait_slices(self) -> Message | None:
        """The first message of a light query, or None if it comes to be a heavy one."""
        for _ in range(_MOST_SLICES):
            used = self._worker.seconds_used if self._worker else inf
            message = await self._wait(SLICE_SECONDS)
            if message is not None:
                return message
            has_run = self._worker is None or self._worker.seconds_used - used > SLICE_SECONDS / 2
            if has_run or self._clock() >= self._end:
                break
        return None

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
            if self._is_given_up:
                text = "The answer was read slowly while other long queries waited, and was stopped."
                raise QueryLimitError(text, "reading") from error
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
        self._stop_parking()
        self._pool.parking.leave(self)
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
