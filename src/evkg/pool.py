"""Worker processes for the portions of a data set; their batches come back in the order of the data set."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, Final

from evkg.batch import Batch, Worker
from evkg.dataset import Portion
from evkg.errors import EvkgError, ReleaseError
from evkg.fast import FastValidator
from evkg.parent import end_with_parent

#: How many portions each process may be ahead of the one that is waited for (count).
_AHEAD: Final = 3


def processes() -> int:
    """How many processes are worth starting: one for each core that may be used (count)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _may_fork() -> bool:
    """Whether processes can be forked from this one: what other threads hold would stay locked in them for ever."""
    return sys.platform == "linux" and threading.active_count() == 1 and not FastValidator.has_run


def run_portions(portions: Sequence[Portion], worker: Worker, count: int) -> Iterator[Batch]:
    """The batches of all portions in order: made here, or with `count` above 1 by processes.

    Raises: what `Worker.process` raises. ReleaseError: a process died.
    """
    if count <= 1 or len(portions) <= 1 or not _may_fork():
        for portion in portions:
            yield from worker.process(portion)
        return
    worker.warm()
    pool = _Pool(worker, min(count, len(portions)))
    try:
        yield from pool.run(portions)
    finally:
        pool.close()


class _Pool:
    """Processes that are given portions one by one, each over a pipe of its own."""

    def __init__(self, worker: Worker, count: int) -> None:
        # Forked processes have the vocabulary, the shapes and the neighbours already.
        context: Any = multiprocessing.get_context("fork")
        self._processes = []
        self._free: list[Connection] = []
        self._all: list[Connection] = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_serve, args=(theirs, [*self._all, ours], worker, os.getpid()), daemon=True
            )
            process.start()
            theirs.close()
            self._processes.append(process)
            self._free.append(ours)
            self._all.append(ours)

    def run(self, portions: Sequence[Portion]) -> Iterator[Batch]:
        """Hand out the portions; what comes back early waits for its turn."""
        arrived: dict[int, list[Batch]] = {}
        ended: set[int] = set()
        handed = 0
        for turn in range(len(portions)):
            while turn not in ended:
                while self._free and handed < len(portions) and handed < turn + _AHEAD * len(self._all):
                    self._free.pop().send(portions[handed])
                    handed += 1
                # While others wait for this turn, what it has already is passed on.
                yield from arrived.pop(turn, [])
                busy = [connection for connection in self._all if connection not in self._free]
                for ready in wait(busy):
                    self._receive(ready, arrived, ended)  # type: ignore[arg-type]
            yield from arrived.pop(turn, [])

    def _receive(self, connection: Connection, arrived: dict[int, list[Batch]], ended: set[int]) -> None:
        try:
            message = connection.recv()
        except (EOFError, OSError) as error:
            raise ReleaseError("A process that reads records died; perhaps there is not enough memory.") from error
        if isinstance(message, Batch):
            arrived.setdefault(message.number[0], []).append(message)
        elif isinstance(message, BaseException):
            raise message
        else:
            ended.add(message)
            self._free.append(connection)

    def close(self) -> None:
        """End the processes, wherever they are."""
        for connection in self._all:
            connection.close()
        for process in self._processes:
            process.kill()
            process.join()


def _serve(connection: Connection, others: Sequence[Connection], worker: Worker, parent: int) -> None:
    """Work off what comes through the pipe until its other end is closed."""
    for other in others:  # else the other end would stay open here
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    end_with_parent(parent)
    try:
        while True:
            portion = connection.recv()
            try:
                for batch in worker.process(portion):
                    connection.send(batch)
            except Exception as error:  # noqa: BLE001 - whatever it is, the parent raises it
                connection.send(_portable(error))
                return
            connection.send(portion.number)
    except (EOFError, OSError):
        return


def _portable(error: Exception) -> Exception:
    """An error as it can be sent to another process, with the place where it arose."""
    if not isinstance(error, EvkgError):
        error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
        return error
    except (pickle.PickleError, TypeError, AttributeError):  # it has parts that cannot be sent: its words can
        return EvkgError(str(error)) if isinstance(error, EvkgError) else RuntimeError(str(error))
