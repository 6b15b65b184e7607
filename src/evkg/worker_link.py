"""The near end of one worker process: a request at a time, its answer message by message, and its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import Any, Final, Self, cast

from evkg.worker_nursery import Nursery
from evkg.worker_process import PREFIX, pack

#: What may wait here until somebody takes it (bytes); then the worker waits.
_MOST_WAITING: Final = 512 << 10

Message = tuple[dict[str, Any], bytes]


class WorkerEndedError(Exception):
    """The process is gone; `status` is negative for the signal that ended it."""

    def __init__(self, status: int) -> None:
        super().__init__(f"ended with status {status}")
        self.status = status


class WorkerLink(asyncio.Protocol):
    """One process. `on_lost` is called once, when it is of no more use; `ended` is set when it is gone."""

    def __init__(self) -> None:
        self.pid = 0
        self._nursery: Nursery
        self.is_alive = True
        #: It has left the light lane.
        self.is_promoted = False
        self.is_nice = False
        self.ended = asyncio.Event()
        self.on_lost: Callable[[WorkerLink], None] = lambda _: None
        self._status: int | None = None
        self._buffer = bytearray()
        self._messages: deque[Message] = deque()
        self._size = 0
        self._is_paused = False
        self._reader: asyncio.Future[Message | None] | None = None
        self._transport: asyncio.Transport
        self._reaping: asyncio.Task[None] | None = None
        self._yielding: asyncio.TimerHandle | None = None

    @classmethod
    async def start(cls, nursery: Nursery) -> Self:
        """The link to a new process; its first message says that it is ready. Raises: OSError."""
        pid, ours = await nursery.fork()
        _, link = await asyncio.get_running_loop().create_connection(cls, sock=ours)
        link.pid = pid
        link._nursery = nursery
        if not link.is_alive:  # it was over sooner than this was said
            link._begin_reaping()
        return link

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
        while len(buffer) >= PREFIX.size:
            header, body = PREFIX.unpack_from(buffer)
            start = PREFIX.size + header
            if len(buffer) < start + body:
                break
            self._messages.append((json.loads(buffer[PREFIX.size : start]), bytes(buffer[start : start + body])))
            self._size += body
            del buffer[: start + body]
        if self._messages and self._reader is not None and not self._reader.done():
            self._reader.set_result(self._messages.popleft())
        if self._size > _MOST_WAITING and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lose()
        if self.pid:
            self._begin_reaping()

    def _begin_reaping(self) -> None:
        self._reaping = asyncio.get_running_loop().create_task(self._reap())

    async def _reap(self) -> None:
        self._kill()
        self._status = await self._nursery.reap(self.pid)
        if self._reader is not None and not self._reader.done():
            self._reader.set_exception(WorkerEndedError(self._status))
        self.ended.set()

    def _lose(self) -> None:
        self.stay()
        if self.is_alive:
            self.is_alive = False
            self.on_lost(self)

    def ask(self, request: dict[str, Any]) -> None:
        """Send a request; `read` gets what comes."""
        self._transport.write(pack(request))

    async def read(self, seconds: float) -> Message | None:
        """The next message; None if none comes for so long.

        Raises: WorkerEndedError: the process ended first.
        """
        if self._messages:
            header, body = self._messages.popleft()
            self._size -= len(body)
            if self._is_paused and self._size <= _MOST_WAITING // 2:
                self._is_paused = False
                self._transport.resume_reading()
            return header, body
        if self._status is not None:
            raise WorkerEndedError(self._status)
        loop = asyncio.get_running_loop()
        self._reader = reader = loop.create_future()
        timer = loop.call_later(max(seconds, 0), _give_up, reader)
        try:
            message: Message | None = await reader
        finally:
            timer.cancel()
            self._reader = None
        if message is not None:
            self._size -= len(message[1])
        return message

    def yield_to_others(self, by: int, after: float) -> None:
        """Let processes of others have the processor first, for ever, if it has not answered in so many seconds."""
        self._yielding = asyncio.get_running_loop().call_later(after, self._yield, by)

    def _yield(self, by: int) -> None:
        self._yielding = None
        self.is_nice = True
        with suppress(OSError):  # it is gone, which is told elsewhere
            os.setpriority(os.PRIO_PROCESS, self.pid, by)

    def stay(self) -> None:
        """Forget that it was to yield, if there is still time."""
        if self._yielding is not None:
            self._yielding.cancel()
            self._yielding = None

    @property
    def seconds_used(self) -> float:
        """How much time of a processor it has used so far; infinite if it is gone.

        Source: clock_getcpuclockid of Linux: the clock of process N has the number -8 (N + 1) + 2.
        """
        try:
            return time.clock_gettime((~self.pid << 3) | 2)
        except OSError:
            return inf

    @property
    def resident_bytes(self) -> int:
        """How much memory it takes up."""
        try:
            with open(f"/proc/{self.pid}/statm", encoding="ascii") as stream:  # noqa: PTH123 - no time for a Path
                return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            return 0

    def kill(self) -> None:
        """End the process at once; `ended` says when it is gone."""
        self._lose()
        if self._reaping is None and not self.ended.is_set():
            self._kill()
            self._transport.abort()  # else its end is not noticed while reading is paused

    def _kill(self) -> None:
        with suppress(ProcessLookupError):  # its id is its own until it is reaped
            os.kill(self.pid, signal.SIGKILL)


def _give_up(reader: asyncio.Future[Message | None]) -> None:
    if not reader.done():
        reader.set_result(None)
