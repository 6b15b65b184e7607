"""Workers: processes that answer queries and can be killed, with lanes that keep short queries short.

Every query begins in the light lane. One that takes longer than a slice, or has a long answer, needs a place in the
heavy lane: if one is free it goes on where it is, behind all light ones in the eyes of the system, and a new worker
takes its place; else it is stopped, waits for a place and begins anew. Nothing of its answer has been sent by then.
Which queries were heavy is remembered.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from evkg.errors import QueryError, ReleaseError
from evkg.gathering import gather, unless_gone
from evkg.lanes import Lane, WorkersBusyError
from evkg.limits import Limits
from evkg.parking import Parking
from evkg.runningquery import Answer, RunningQuery
from evkg.worker_death import reason_of, stopped
from evkg.worker_link import WorkerEndedError, WorkerLink
from evkg.worker_nursery import Nursery

__all__ = ["Answer", "QueryWorkers", "WorkersBusyError"]

#: The longest answer that `run` puts together (bytes).
WHOLE_BYTES: Final = 32 << 20
_START_SECONDS: Final = 30.0
_RETRY_SECONDS: Final = 1.0
#: How much a heavy worker stands behind in the eyes of the system (niceness), after how long (seconds), since that
#: can never be undone, and what it may keep (bytes).
_NICENESS: Final = 15
_NICE_SECONDS: Final = 0.2
_KEPT_BYTES: Final = 600 << 20
_MOST_KNOWN: Final = 4096
_log = logging.getLogger(__name__)


class QueryWorkers:
    """Processes that answer queries on the store of a release, each under limits.

    A worker that runs past a limit, or whose call is cancelled, is killed, and a fresh one takes its place; so is one
    that dies. No worker outlives this process.
    `is_union`: what a query sees that names no graphs. `base_iri`: what relative IRIs are resolved against.
    Use: `async with QueryWorkers(store) as workers: … await workers.run("ASK {}", table_format="json")`.
    """

    def __init__(
        self,
        store: Path,
        limits: Limits | None = None,
        *,
        is_union: bool = True,
        base_iri: str | None = None,
    ) -> None:
        self.limits = limits or Limits()
        #: Why no worker can be started; None while all is well.
        self.trouble: str | None = None
        self.light = Lane(0, self.limits.waiting)
        self.heavy = Lane(self.limits.heavy, self.limits.waiting, is_shared=True)
        self.parking = Parking(self.limits.heavy)
        #: How many workers were started because another was of no more use.
        self.replaced = 0
        self._store = store
        self._meaning = {"is_union": is_union, "base_iri": base_iri}
        self._is_closed = False
        self._workers: set[WorkerLink] = set()
        self._idle: deque[WorkerLink] = deque()
        self._idle_heavy: deque[WorkerLink] = deque()
        self._known: OrderedDict[bytes, None] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching: set[asyncio.Task[Any]] = set()
        self._nursery: Nursery | None = None
        self._nursing = asyncio.Lock()

    @property
    def processes(self) -> list[int]:
        """The ids of the processes, for those who watch them."""
        return [worker.pid for worker in self._workers if worker.is_alive]

    async def __aenter__(self) -> Self:
        """Start the workers of the light lane.

        Raises: ReleaseError: the store cannot be opened, or no process can be started.
        """
        try:
            await asyncio.gather(*(self._add() for _ in range(self.limits.light)))
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
        for worker in [*self._workers]:
            worker.kill()
        for lane in (self.light, self.heavy):
            lane.fail(stopped())

    async def close(self) -> None:
        """End all workers and wait until their processes are gone."""
        self.stop()
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.stop()
        await asyncio.gather(*(worker.ended.wait() for worker in set(self._workers)))
        if self._nursery is not None:
            await self._nursery.end()

    async def run(self, query: str, *, most_bytes: int | None = WHOLE_BYTES, **options: Any) -> Answer:
        """The answer to a query as a whole, of so many bytes at most; `options` are those of `begin`.

        Raises: as `begin`.
        """
        return await gather(await self.begin(query, **options), most_bytes)

    async def begin(
        self,
        query: str,
        *,
        default_graphs: tuple[str, ...] = (),
        named_graphs: tuple[str, ...] = (),
        table_format: str | None = None,
        graph_format: str | None = None,
        client: str = "",
        gone: Callable[[], Awaitable[None]] | None = None,
    ) -> Answer:
        """The beginning of the answer to a query, in the format that fits its form; see `store.run_query` for graphs.

        `client` says among whom to be fair. `gone()` returns when nobody waits for the answer any more; it is only
        asked about a query that is not answered at once, which is then stopped.

        Raises: QuerySyntaxError, QueryRefusedError, QueryError: as `store.run_query` and `store.serialize`.
            QueryLimitError: a limit of time, memory or size. WorkersBusyError: too many wait.
            ReleaseError: no worker is left, and none can be started. CancelledError: the client is gone.
        """
        if self._is_closed:
            raise stopped()
        formats = {"table_format": table_format, "graph_format": graph_format, **self._meaning}
        request = {"query": query, "default_graphs": default_graphs, "named_graphs": named_graphs, **formats}
        run = RunningQuery(self, request, client)
        message = None if run.is_known else await run.begin_light()
        if message is None:
            message = await unless_gone(gone, run.go_on())
        return run.answer(message)

    def take(self) -> WorkerLink | None:
        """An idle worker, for one who has a place in the light lane; None if it has just died."""
        return self._idle.pop() if self._idle else None  # the one that knows the store best

    def take_heavy(self) -> WorkerLink | None:
        """A worker that is idle after a heavy query, if there is one."""
        worker = self._idle_heavy.popleft() if self._idle_heavy else None
        if worker is not None and not worker.is_nice:
            worker.yield_to_others(_NICENESS, _NICE_SECONDS)
        return worker

    def put(self, worker: WorkerLink) -> None:
        """Take back a worker that has answered. Of those that did heavy work few are kept, and none that is large."""
        if not worker.is_alive or self._is_closed:
            return
        worker.stay()
        if not worker.is_promoted:
            self._idle.append(worker)
        elif not worker.is_nice and self._idle and worker.resident_bytes <= _KEPT_BYTES:
            # Its cache is warm, and that of the one that has waited for longest is not.
            worker.is_promoted = False
            self._idle.append(worker)
            spare = self._idle.popleft()
            spare.is_promoted = True  # nobody takes its place
            spare.kill()
        elif len(self._idle_heavy) < self.limits.heavy and worker.resident_bytes <= _KEPT_BYTES:
            self._idle_heavy.append(worker)
        else:
            worker.kill()

    def promote(self, worker: WorkerLink) -> None:
        """Let a worker of the light lane work for the heavy one; a new one takes its place."""
        worker.is_promoted = True
        worker.yield_to_others(_NICENESS, _NICE_SECONDS)
        self._replace()

    def is_known(self, key: bytes) -> bool:
        """Whether the query with this key was heavy before."""
        return key in self._known

    def remember(self, key: bytes, *, is_heavy: bool) -> None:
        """Remember whether a query was heavy."""
        if not is_heavy:
            self._known.pop(key, None)
            return
        self._known[key] = None
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)

    def reason(self, status: int) -> QueryError:
        """The error of a query whose process ended with this status."""
        return stopped() if self._is_closed else reason_of(status, self.limits)

    def check(self) -> None:
        """Raises: QueryLimitError: the server is being stopped. ReleaseError: no worker can be started."""
        if self._is_closed:
            raise stopped()
        if self.trouble and not self.processes:
            raise ReleaseError(self.trouble)

    async def _add(self) -> None:
        """Start one worker; it counts as idle when it has said that it is ready."""
        try:
            worker = await WorkerLink.start(await self._find_nursery())
        except OSError as error:
            raise ReleaseError(f"A query worker cannot be started: {error.strerror or error}") from error
        self._workers.add(worker)
        ended = asyncio.get_running_loop().create_task(worker.ended.wait())
        ended.add_done_callback(lambda _: self._workers.discard(worker))
        self._watching.add(ended)
        ended.add_done_callback(self._watching.discard)
        try:
            message = await worker.read(_START_SECONDS)
        except WorkerEndedError as error:
            raise ReleaseError(f"A query worker cannot be started: {error}") from error
        except BaseException:
            worker.kill()
            raise
        if message is None or "error" in message[0]:
            worker.kill()
            reason = message[0]["message"] if message else "A query worker cannot be started: it does not answer"
            raise ReleaseError(reason)
        if not worker.is_alive or self._is_closed:
            worker.kill()
            raise ReleaseError("A query worker cannot be started: it was ended")
        worker.on_lost = self._on_lost
        self._idle.appendleft(worker)
        self.light.add(1)

    async def _find_nursery(self) -> Nursery:
        if not (self._store / "CURRENT").is_file():
            raise ReleaseError(f"{self._store} holds no store.")
        async with self._nursing:
            if self._nursery is None or not self._nursery.is_alive:
                if self._nursery is not None:
                    self._nursery.close()
                limits = self.limits
                seconds = max(1, -int(-limits.seconds // 1))
                numbers = (seconds, limits.memory, limits.result_bytes, limits.rows)
                self._nursery = await Nursery.start(self._store, numbers)
            return self._nursery

    def _on_lost(self, worker: WorkerLink) -> None:
        if worker in self._idle:
            self._idle.remove(worker)
            self.light.add(-1)
        elif worker in self._idle_heavy:
            self._idle_heavy.remove(worker)
        if not worker.is_promoted:
            self._replace()

    def _replace(self) -> None:
        if not self._is_closed:
            self.replaced += 1
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
                    if not self.processes:
                        self.light.fail(error)
                await asyncio.sleep(_RETRY_SECONDS)
