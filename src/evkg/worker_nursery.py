"""The nursery: a process that has loaded all that a worker needs, and forks one in a moment when it is asked to.

A worker that began by itself would take a tenth of a second of processor time before it opens the store, and twenty
of them two seconds. The store is opened after the fork: with it come threads of the engine, and forks of a process
with threads hang now and then (seen with pyoxigraph 0.5.13).
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from evkg.errors import ReleaseError

_START_SECONDS: Final = 60.0
_MOST: Final = 4096


class Nursery:
    """The near end of the process; one question at a time."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket) -> None:
        self.process = process
        self._control = control
        self._lock = asyncio.Lock()

    @classmethod
    async def start(cls, store: Path, numbers: Sequence[int]) -> Self:
        """The nursery of a store; `numbers` are those of `worker_process.main`.

        Raises: ReleaseError: the store cannot be opened, or the process not be started.
        """
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            words = map(str, (theirs.fileno(), os.getpid(), *numbers))
            # -P: nothing is imported from the folder in which the server was started. A session of its own:
            # Ctrl-C is for the server, which then ends its workers.
            command = [sys.executable, "-P", "-m", "evkg.worker_process", str(store), *words]
            null = subprocess.DEVNULL
            try:
                process = subprocess.Popen(
                    command,
                    pass_fds=(theirs.fileno(),),
                    stdin=null,
                    stdout=null,
                    start_new_session=True,
                    # Each thread of the engine would else set 64 MiB of the address space aside, which is limited.
                    env={**os.environ, "MALLOC_ARENA_MAX": "2"},
                )
            except OSError as error:
                ours.close()
                raise ReleaseError(f"A query worker cannot be started: {error.strerror}") from error
        nursery = cls(process, ours)
        try:
            async with asyncio.timeout(_START_SECONDS):
                answer = await nursery._hear()
        except BaseException as error:
            nursery.close()
            if isinstance(error, TimeoutError | OSError):
                raise ReleaseError("A query worker cannot be started: it does not answer") from error
            raise
        if "error" in answer:
            nursery.close()
            raise ReleaseError(answer["message"])
        return nursery

    @property
    def is_alive(self) -> bool:
        """Whether the process is there."""
        return self.process.poll() is None

    async def fork(self) -> tuple[int, socket.socket]:
        """A new worker: its process id, and the connection to it. Raises: OSError: none can be made."""
        ours, theirs = socket.socketpair()
        asking = asyncio.ensure_future(self._ask(b"fork", theirs))
        try:
            answer = await asyncio.shield(asking)  # a question that was asked is heard to its end
        except BaseException:
            ours.close()  # upon which a worker that comes too late ends
            raise
        if "error" in answer:
            ours.close()
            raise OSError(answer["message"])
        return answer["pid"], ours

    async def reap(self, pid: int) -> int:
        """How a worker has ended, which must be about to end: its status, negative for a signal."""
        try:
            answer = await asyncio.shield(asyncio.ensure_future(self._ask(f"reap {pid}".encode())))
            return int(answer["status"])
        except (OSError, ReleaseError):
            return -signal.SIGKILL  # the nursery is gone, and its workers with it

    async def _ask(self, words: bytes, connection: socket.socket | None = None) -> dict[str, Any]:
        async with self._lock:
            if connection is None:
                await asyncio.get_running_loop().sock_sendall(self._control, words)
            else:
                with connection:
                    socket.send_fds(self._control, [words], [connection.fileno()])
            return await self._hear()

    async def _hear(self) -> dict[str, Any]:
        data = await asyncio.get_running_loop().sock_recv(self._control, _MOST)
        if not data:
            raise ReleaseError("A query worker cannot be started: the process that makes them ended")
        answer: dict[str, Any] = json.loads(data)
        return answer

    async def end(self) -> None:
        """End the process, when it has answered what it was asked, and with it all workers."""
        async with self._lock:
            self.close()

    def close(self) -> None:
        """End the process at once, and with it all workers."""
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        self._control.close()
