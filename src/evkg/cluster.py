"""The portions of a data set on a Dask cluster: processes of this machine, or a scheduler that runs elsewhere.

Only what each record needs alone goes there (read, convert, check); its files are written into a folder that all
machines share. What needs several records stays with the caller, so a release has the same bytes as any other.
An optional part: `pip install 'evkg[cluster]'`.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import re
import socket
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Final

from evkg.batch import Batch, Task, Worker
from evkg.dataset import Portion
from evkg.errors import EvkgError, ReleaseError, UsageError, excerpt
from evkg.pool import Runner, Work, interrupts_wait, portable, working
from evkg.validate import Probe
from evkg.verdicts import recipe

#: How many portions each process may be ahead of the one that is waited for (count).
_AHEAD: Final = 3
#: How long a scheduler may take to answer when it is called (seconds).
_CALL: Final = 10
#: The workers of this process, one a thread, for the job that was here last.
_here: Final = threading.local()


@dataclass(frozen=True)
class _Job:
    """What all portions of a data set need on another machine; `made_with` is the hash of evkg's own files."""

    task: Task
    made_with: str


def dask_runner(scheduler: str | None = None) -> Runner:
    """What puts portions on a Dask cluster: the one of a scheduler (`tcp://HOST:8786`), else processes made here.

    On other machines the same evkg must be installed, and the records and the folder of the release must be there
    under the same full path. A data set of a single portion is not sent away.

    Raises: UsageError: Dask is not installed, or (when it is used) the cluster is not there or not fit.
    """
    _distributed()

    @contextmanager
    def clustered(portions: Sequence[Portion], task: Task, count: int) -> Iterator[Work]:
        if len(portions) <= 1:
            with working(portions, task, 1) as work:
                yield work
            return
        with ExitStack() as stack:
            client = _called(scheduler, stack) if scheduler else _made_here(task.folder, count, stack)
            yield _Cluster(client, portions, _Job(task, _made_with(task)))

    return clustered


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        message = "The runner dask needs an optional part of evkg. Install it with: pip install 'evkg[cluster]'"
        raise UsageError(message) from error
    # What Dask has to say of processes that come and go is nothing for a curator; what fails is said by us.
    for name in ("distributed", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return distributed


def _called(scheduler: str, stack: ExitStack) -> Any:
    """A client of a scheduler that runs already."""
    try:
        if not re.fullmatch(r"([a-z]+://)?[^/\s]+:\d+/?", scheduler):
            raise ValueError
        return stack.enter_context(_distributed().Client(scheduler, timeout=_CALL, set_as_default=False))
    except (OSError, ValueError) as error:
        message = f"No Dask scheduler answers at {excerpt(scheduler)!r}; its address is like tcp://HOST:8786."
        raise UsageError(message) from error


def _made_here(folder: Path | None, count: int, stack: ExitStack) -> Any:
    """A client of a new cluster of processes on this machine, which end with it; its own files go into `folder`."""
    distributed = _distributed()
    try:
        resource_tracker.ensure_running()  # which would let interrupts through again
        with interrupts_wait():
            cluster = distributed.LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                dashboard_address=None,
                local_directory=None if folder is None else str(folder.absolute()),
                silence_logs=logging.CRITICAL + 1,
            )
            stack.enter_context(cluster)
        return stack.enter_context(distributed.Client(cluster, set_as_default=False))
    except (OSError, RuntimeError) as error:
        raise ReleaseError("The processes that are to read records do not start.") from error


class _Cluster:
    """Work on a cluster. Results are asked for in the order of the data set, a few portions ahead.

    The cluster gives the portions of a process that died to another one, three times at most.
    """

    def __init__(self, client: Any, portions: Sequence[Portion], job: _Job) -> None:
        self._client = client
        self._portions = portions
        # As the result of a step: data that is only handed over is lost with the last process that has it.
        given = pickle.dumps(job)
        with warnings.catch_warnings(action="ignore"):  # it is large, as Dask remarks
            self._job: Any = self._try(lambda: client.submit(_given, given, pure=False))
        self._confirming: Any = None

    def run(self) -> Iterator[Batch]:
        threads = self._try(lambda: sum(self._client.nthreads().values()))
        waiting: list[Any] = []
        handed = 0
        for turn in range(len(self._portions)):
            while handed < min(len(self._portions), turn + _AHEAD * max(threads, 1)):
                waiting.append(self._submit(_process, self._portions[handed]))
                handed += 1
            first = waiting.pop(0)
            yield from self._try(first.result)
            del first  # the cluster may forget it

    def confirm(self, sample: Sequence[Probe]) -> None:
        if sample:
            self._confirming = self._submit(_confirm, [*sample])

    def confirmed(self) -> None:
        if self._confirming is not None:
            self._try(self._confirming.result)

    def _submit(self, step: Callable[[_Job, Any], Any], argument: Any) -> Any:
        return self._try(lambda: self._client.submit(step, self._job, argument, pure=False))

    def _try(self, call: Callable[[], Any]) -> Any:
        """What a call comes to; whatever goes wrong with the cluster is one sentence."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        try:
            return call()
        except EvkgError:
            raise
        except KilledWorker as error:
            message = "The processes that read records died again and again; perhaps there is not enough memory."
            raise ReleaseError(message) from error
        except (OSError, TimeoutError, CancelledError) as error:
            raise ReleaseError("The cluster that reads records does not answer any more.") from error
        except ImportError as error:
            raise UsageError(f"The cluster has not what evkg needs: {error}.") from error


def _given(job: bytes) -> _Job:
    found: _Job = pickle.loads(job)  # noqa: S301 - our own
    return found


def _process(job: _Job, portion: Portion) -> list[Batch]:
    """The batches of a portion, in a process of the cluster."""
    try:
        return [*_worker(job, portion.files).process(portion)]
    except Exception as error:  # noqa: BLE001 - whatever it is, the caller raises it
        raise portable(error) from None


def _confirm(job: _Job, sample: Sequence[Probe]) -> None:
    try:
        _worker(job, ()).confirm(sample)
    except Exception as error:  # noqa: BLE001 - whatever it is, the caller raises it
        raise portable(error) from None


def _worker(job: _Job, files: Sequence[Path]) -> Worker:
    """The worker of this process and thread for a job; made where it is another job than the last one.

    Its files stand in a folder of its own: a portion that is given to another process because this one seems to be
    dead is never written by both into the same place.
    """
    for file in files:
        if not file.is_file():
            raise UsageError(f"{file} is not there on {socket.gethostname()}, which is to read it.")
    if getattr(_here, "job", None) is not job:
        if _made_with(job.task) != job.made_with:
            raise UsageError(f"{socket.gethostname()} has another evkg than this machine; install the same.")
        gc.disable()  # as in every process that reads records (`pool.py`)
        task = job.task
        if task.folder is not None:
            own = task.folder / f"{socket.gethostname()}-{os.getpid()}-{threading.get_ident()}"
            try:
                own.mkdir(exist_ok=True)
            except OSError as error:
                message = f"{task.folder} cannot be written on {socket.gethostname()}: it must be a shared folder."
                raise UsageError(message) from error
            task = replace(task, folder=own)
        _here.worker = Worker(task)
        _here.worker.warm()
        _here.job = job
    worker: Worker = _here.worker
    return worker


def _made_with(task: Task) -> str:
    return recipe(task.base, "cluster", is_open=task.neighbours.is_open)
