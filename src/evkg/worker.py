"""Workers: processes that answer queries and can be killed, with a queue of those who wait for one."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, cast

from evkg.errors import QueryError, QueryLimitError, ReleaseError
from evkg.worker_process import PREFIX, pack, read_error, size_text

#: The limit for one query (seconds), also for the wait for a free worker.
SECONDS: Final = 30.0
MEMORY: Final = 2 << 30  # address space of a worker (bytes)
RESULT_BYTES: Final = 32 << 20  # length of an answer (bytes)
COUNT: Final = 2  # queries that run at once
WAITING: Final = 32  # queries that wait

_START_SECONDS: Final = 30.0
_RETRY_SECONDS: Final = 1.0
_log = logging.getLogger(__name__)

_Message = tuple[dict[str, Any], bytes]


class WorkersBusyError(QueryLimitError):
    """There is too much to do at this moment; it may work a little later."""


class _WorkerEndedError(Exception):
    """The process is gone; `status` is negative for the signal that ended it."""

    def __init__(self, status: int) -> None:
        super().__init__(f"ended with status {status}")
        self.status = status


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a query: its form (SELECT, …), the format that was used and the bytes.

    `format_name` is None if no format was offered that fits the form; then nothing was evaluated.
    """

    form: str
    format_name: str | None
    body: bytes


class _Worker(asyncio.Protocol):
    """The near end of one process: one request at a time, and news of its end."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.is_alive = True
        self.ended = asyncio.Event()
        self.on_end: Callable[[], None] = lambda: None
        self.answer: asyncio.Future[_Message] = asyncio.get_running_loop().create_future()
        self._buffer = bytearray()
        self._transport: asyncio.WriteTransport
        self._reaping: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) < PREFIX.size:
            return
        header, body = PREFIX.unpack_from(self._buffer)
        start = PREFIX.size + header
        if len(self._buffer) >= start + body:
            if not self.answer.done():
                message = json.loads(self._buffer[PREFIX.size : start])
                self.answer.set_result((message, bytes(self._buffer[start : start + body])))
            self._buffer.clear()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_alive = False
        self._reaping = asyncio.get_running_loop().create_task(self._reap())

    async def _reap(self) -> None:
        status = await asyncio.to_thread(self.process.wait) if self.process else 1
        if not self.answer.done():
            self.answer.set_exception(_WorkerEndedError(status))
            self.answer.exception()  # nobody may be waiting any more
        self.ended.set()
        self.on_end()

    async def ask(self, request: dict[str, Any]) -> _Message:
        """The answer to a request; raises _WorkerEndedError if the process ends first."""
        self.answer = asyncio.get_running_loop().create_future()
        self._transport.write(pack(request))
        return await self.answer

    def kill(self) -> None:
        """End the process at once; `ended` says when it is gone."""
        self.is_alive = False
        if self.process is not None and not self.ended.is_set():
            self.process.kill()


class QueryWorkers:
    """Processes that answer queries on the store of a release, each under limits.

    A worker that runs past the time limit, or whose call of `run` is cancelled, is killed, and a fresh one
    takes its place; so is one that dies. No worker outlives this process.
    `is_union`: what a query sees that names no graphs. `base_iri`: what relative IRIs are resolved against.
    Use: `async with QueryWorkers(store) as workers: … await workers.run("ASK {}", table_format="json")`.
    """

    def __init__(
        self,
        store: Path,
        *,
        seconds: float = SECONDS,
        memory: int = MEMORY,
        result_bytes: int = RESULT_BYTES,
        count: int = COUNT,
        waiting: int = WAITING,
        is_union: bool = True,
        base_iri: str | None = None,
    ) -> None:
        self.seconds = seconds
        #: Why no worker can be started; None while all is well.
        self.trouble: str | None = None
        self._store = store
        self._memory = memory
        self._result_bytes = result_bytes
        self._count = count
        self._most_waiting = waiting
        self._meaning = {"is_union": is_union, "base_iri": base_iri}
        self._waiting = 0
        self._is_closed = False
        self._workers: set[_Worker] = set()
        self._idle: asyncio.Queue[_Worker | None] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def processes(self) -> list[int]:
        """The ids of the processes, for those who watch them."""
        return [worker.process.pid for worker in self._workers if worker.process and worker.is_alive]

    async def __aenter__(self) -> Self:
        """Start all workers.

        Raises: ReleaseError: the store cannot be opened, or no process can be started.
        """
        try:
            await asyncio.gather(*(self._add() for _ in range(self._count)))
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def stop(self) -> None:
        """Kill all workers now; queries that run or wait end with QueryLimitError."""
        self._is_closed = True
        for worker in self._workers:
            worker.kill()
        for _ in range(self._waiting):
            self._idle.put_nowait(None)

    async def close(self) -> None:
        """End all workers and wait until their processes are gone."""
        self.stop()
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.stop()
        await asyncio.gather(*(worker.ended.wait() for worker in set(self._workers)))

    async def run(
        self,
        query: str,
        *,
        default_graphs: tuple[str, ...] = (),
        named_graphs: tuple[str, ...] = (),
        table_format: str | None = None,
        graph_format: str | None = None,
    ) -> Answer:
        """The answer to a query, in the format that fits its form; see `store.run_query` for the graphs.

        Raises: QuerySyntaxError, QueryRefusedError, QueryError: as `store.run_query` and `store.serialize`.
            QueryLimitError: a limit of time, memory or size. WorkersBusyError: too many wait.
            ReleaseError: no worker is left, and none can be started.
        """
        formats = {"table_format": table_format, "graph_format": graph_format, **self._meaning}
        request = {"query": query, "default_graphs": default_graphs, "named_graphs": named_graphs, **formats}
        worker = await self._take()
        try:
            async with asyncio.timeout(self.seconds):
                header, body = await worker.ask(request)
        except TimeoutError:
            worker.kill()
            limit = f"The query took longer than the limit of {self.seconds:g} s and was stopped."
            raise QueryLimitError(f"{limit} Ask for less, or say more of what you look for.") from None
        except _WorkerEndedError as error:
            raise self._reason(error.status) from error
        except asyncio.CancelledError:
            worker.kill()
            raise
        self._idle.put_nowait(worker)
        if "error" in header:
            raise read_error(header)
        return Answer(header["form"], header["format"], body)

    async def _take(self) -> _Worker:
        if self._idle.empty() and self._waiting >= self._most_waiting:
            raise WorkersBusyError("All query workers are busy, and many queries wait already. Try again in a moment.")
        self._waiting += 1
        try:
            async with asyncio.timeout(self.seconds):
                while not self._is_closed:
                    if self.trouble and not self.processes:
                        raise ReleaseError(self.trouble)
                    worker = await self._idle.get()
                    if worker is not None and worker.is_alive:
                        return worker
        except TimeoutError:
            raise WorkersBusyError(f"No worker became free within {self.seconds:g} s. Try again in a moment.") from None
        finally:
            self._waiting -= 1
        raise QueryLimitError("The server is being stopped.")

    def _reason(self, status: int) -> QueryError:
        if self._is_closed:
            return QueryLimitError("The server is being stopped.")
        if status == -signal.SIGABRT:  # what Rust does when it gets no memory
            return QueryLimitError(f"The query needs more memory than the limit of {size_text(self._memory)}.")
        if status == -signal.SIGSEGV:  # the engine's recursive parser ran out of stack
            return QueryError("The query is nested too deeply.")
        return QueryLimitError("The query was stopped with the process that ran it.")

    async def _add(self) -> None:
        """Start one worker; it counts as idle when its store is open."""
        ours, theirs = socket.socketpair()
        with theirs:
            _, worker = await asyncio.get_running_loop().create_connection(_Worker, sock=ours)
            self._workers.add(worker)
            worker.on_end = lambda: self._workers.discard(worker)
            try:
                worker.process = self._start_process(theirs.fileno())
            except OSError as error:
                raise ReleaseError(f"A query worker cannot be started: {error.strerror}") from error
        try:
            async with asyncio.timeout(_START_SECONDS):
                header, _ = await worker.answer
        except (TimeoutError, _WorkerEndedError) as error:
            worker.kill()
            raise ReleaseError(f"A query worker cannot be started: {error or 'it does not answer'}") from error
        if "error" in header:
            worker.kill()
            raise ReleaseError(header["message"])
        worker.on_end = lambda: self._replace(worker)
        self._idle.put_nowait(worker)

    def _start_process(self, descriptor: int) -> subprocess.Popen[bytes]:
        numbers = (descriptor, os.getpid(), self._memory, self._result_bytes)
        # -P: nothing is imported from the folder in which the server was started. A session of its own:
        # Ctrl-C is for the server, which then ends its workers.
        command = [sys.executable, "-P", "-m", "evkg.worker_process", str(self._store), *map(str, numbers)]
        null = subprocess.DEVNULL
        return subprocess.Popen(command, pass_fds=(descriptor,), stdin=null, stdout=null, start_new_session=True)

    def _replace(self, worker: _Worker) -> None:
        self._workers.discard(worker)
        if not self._is_closed:
            task = asyncio.get_running_loop().create_task(self._renew())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _renew(self) -> None:
        for attempt in count():
            if self._is_closed:
                return
            try:
                await self._add()
                self.trouble = None
                return
            except ReleaseError as error:
                _log.warning("%s", error)
                if attempt:  # one failure may be a machine that is short of something for a moment
                    self.trouble = str(error)
                    for _ in range(self._waiting):  # who waits looks again, and sees the trouble
                        self._idle.put_nowait(None)
                await asyncio.sleep(_RETRY_SECONDS)


def answer_once(store: Path, query: str, *, seconds: float, format_name: str) -> Answer:
    """The answer to one query, from a process of its own; its size has no limit. Raises: as `QueryWorkers`."""

    async def main() -> Answer:
        async with QueryWorkers(store, seconds=seconds, result_bytes=MEMORY, count=1) as workers:
            return await workers.run(query, table_format=format_name, graph_format=format_name)

    return asyncio.run(main())
