"""Worker processes for the portions of a data set; their batches come back in the order of the data set.

What the fast validator found on a sample is confirmed by a process too, while the caller goes on.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Protocol

from evkg.batch import Batch, Task, Worker
from evkg.dataset import Portion
from evkg.errors import EvkgError, ReleaseError
from evkg.fast import FastValidator
from evkg.parent import end_with_parent
from evkg.validate import Probe

#: How many portions each process may be ahead of the one that is waited for (count).
_AHEAD: Final = 3


def processes() -> int:
    """How many processes are worth starting: one for each core that may be used (count)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _may_fork() -> bool:
    """Whether processes can be forked from this one: what other threads hold would stay locked in them for ever."""
    return sys.platform == "linux" and threading.active_count() == 1 and not FastValidator.has_run


class Work(Protocol):
    """Portions on their way."""

    def run(self) -> Iterator[Batch]:
        """The batches of all portions in order.

        Raises: what `Worker.process` raises. ReleaseError: a process died.
        """

    def confirm(self, sample: Sequence[Probe]) -> None:
        """Begin to check a sample with pySHACL as well, when all batches are there."""

    def confirmed(self) -> None:
        """Wait until the sample is checked.

        Raises: EngineDisagreementError: the validators differ. ReleaseError: a process died.
        """


#: Puts the portions of a data set to work, in at most so many processes of this machine (count).
Runner = Callable[[Sequence[Portion], Task, int], AbstractContextManager[Work]]


@contextmanager
def working(portions: Sequence[Portion], task: Task, count: int) -> Iterator[Work]:
    """The portions of a data set at work: here, or with `count` above 1 in processes, which begin at once.

    A worker is made only if there is something to do.
    """
    if count <= 1 or len(portions) <= 1 or not _may_fork():
        yield _Here(portions, task)
        return
    worker = Worker(task)
    worker.warm()
    with ExitStack() as stack:
        with interrupts_wait():
            pool = _Pool(portions, worker, min(count, len(portions)))
            stack.callback(pool.close)
        yield pool


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Keep Ctrl-C waiting, and for ever from the processes and threads made meanwhile: their maker ends them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Here:
    """Work in this process, each step when it is asked for."""

    def __init__(self, portions: Sequence[Portion], task: Task) -> None:
        self._portions = portions
        self._task = task

    @cached_property
    def _worker(self) -> Worker:
        return Worker(self._task)

    def run(self) -> Iterator[Batch]:
        for portion in self._portions:
            yield from self._worker.process(portion)

    def confirm(self, sample: Sequence[Probe]) -> None:
        if sample:
            self._worker.confirm(sample)

    def confirmed(self) -> None:
        pass


class _Pool:
    """Processes that are given portions one by one, each over a pipe of its own."""

    def __init__(self, portions: Sequence[Portion], worker: Worker, count: int) -> None:
        self._portions = portions
        self._confirming: Connection | None = None
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
        self._handed = 0
        self._hand_out(0)

    def _hand_out(self, turn: int) -> None:
        while self._free and self._handed < min(len(self._portions), turn + _AHEAD * len(self._all)):
            self._free.pop().send(self._portions[self._handed])
            self._handed += 1

    def run(self) -> Iterator[Batch]:
        """Hand out the portions; what comes back early waits for its turn."""
        arrived: dict[int, list[Batch]] = {}
        ended: set[int] = set()
        for turn in range(len(self._portions)):
            while turn not in ended:
                self._hand_out(turn)
                # While others wait for this turn, what it has already is passed on.
                yield from arrived.pop(turn, [])
                busy = [connection for connection in self._all if connection not in self._free]
                for ready in wait(busy):
                    self._receive(ready, arrived, ended)  # type: ignore[arg-type]
            yield from arrived.pop(turn, [])

    def confirm(self, sample: Sequence[Probe]) -> None:
        if sample:
            self._confirming = self._free.pop()
            self._confirming.send([*sample])

    def confirmed(self) -> None:
        if self._confirming is not None:
            _message(self._confirming)

    def _receive(self, connection: Connection, arrived: dict[int, list[Batch]], ended: set[int]) -> None:
        message = _message(connection)
        if isinstance(message, Batch):
            arrived.setdefault(message.number[0], []).append(message)
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


def _message(connection: Connection) -> Any:
    """What a process sends next; an error that it sends is raised."""
    try:
        message = connection.recv()
    except (EOFError, OSError) as error:
        raise ReleaseError("A process that reads records died; perhaps there is not enough memory.") from error
    if isinstance(message, BaseException):
        raise message
    return message


def _serve(connection: Connection, others: Sequence[Connection], worker: Worker, parent: int) -> None:
    """Work off what comes through the pipe until its other end is closed."""
    for other in others:  # else the other end would stay open here
        other.close()
    end_with_parent(parent)
    gc.disable()  # nothing here makes cycles, and looking for them takes a fourteenth of the time
    try:
        while True:
            task: Portion | list[Probe] = connection.recv()
            try:
                if isinstance(task, list):
                    worker.confirm(task)
                    connection.send(None)
                    continue
                for batch in worker.process(task):
                    connection.send(batch)
            except Exception as error:  # noqa: BLE001 - whatever it is, the parent raises it
                connection.send(portable(error))
                return
            connection.send(task.number)
    except (EOFError, OSError):
        return


def portable(error: Exception) -> Exception:
    """An error as it can be sent to another process, with the place where it arose."""
    if not isinstance(error, EvkgError):
        error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
        return error
    except (pickle.PickleError, TypeError, AttributeError):  # it has parts that cannot be sent: its words can
        return EvkgError(str(error)) if isinstance(error, EvkgError) else RuntimeError(str(error))
