"""The renderer of charts: a process beside the server that draws one at a time, and the charts that it drew last."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable
from threading import BoundedSemaphore, Lock
from typing import Final

from evkg.chart import Chart, finish
from evkg.chart_process import LENGTH
from evkg.errors import EvkgError
from evkg.worker import WorkersBusyError

#: How long one chart may take, and how long one waits for those before it (seconds).
SECONDS: Final = 10.0
#: How many requests wait for charts at once (count): more would keep all threads of the server.
WAITING: Final = 8
#: How much of what was drawn is kept (bytes).
KEPT: Final = 16 << 20


class ChartError(EvkgError):
    """A chart cannot be drawn: its specification is wrong, or the library is not there."""


class ChartRenderer:
    """Draws charts and keeps the last ones. Any thread may ask; the process starts with the first chart.

    It ends when this process closes its pipe, however it ends.
    """

    def __init__(self, *, seconds: float = SECONDS, kept: int = KEPT) -> None:
        self._seconds = seconds
        self._kept = kept
        self._known: OrderedDict[tuple[str, ...], bytes] = OrderedDict()
        self._size = 0
        self._lock = Lock()
        self._drawing = Lock()
        self._room = BoundedSemaphore(WAITING)
        self._process: subprocess.Popen[bytes] | None = None
        self._end: weakref.finalize[..., ChartRenderer] | None = None
        self._is_closed = False

    def svg(self, key: tuple[str, ...], make: Callable[[], Chart]) -> bytes:
        """The SVG of the chart of a key, drawn if it is not kept; `make` must give the same chart each time.

        Raises: WorkersBusyError: too many wait, or it took too long. ChartError: it cannot be drawn. What `make` does.
        """
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        chart = make()
        svg = self.draw(chart).encode()
        with self._lock:
            if key not in self._known:
                self._known[key] = svg
                self._size += len(svg)
            while self._size > self._kept:
                self._size -= len(self._known.popitem(last=False)[1])
        return svg

    def draw(self, chart: Chart) -> str:
        """The SVG of a chart.

        Raises: as `svg`.
        """
        if not self._room.acquire(blocking=False):
            raise WorkersBusyError("Too many pictures are being drawn. Try again in a moment.")
        try:
            if not self._drawing.acquire(timeout=self._seconds):
                raise WorkersBusyError("Other pictures are being drawn. Try again in a moment.")
            try:
                raw = self._ask(json.dumps(chart.spec, sort_keys=True).encode())
            finally:
                self._drawing.release()
        finally:
            self._room.release()
        if not raw:
            raise ChartError("The picture cannot be drawn.")
        return finish(chart, raw.decode())

    def close(self) -> None:
        """End the process; there will be no other. What is being drawn fails at once."""
        self._is_closed = True
        process = self._process
        if process is not None:
            process.kill()
        with self._drawing:
            self._drop()

    def _drop(self) -> None:
        """End the process and close its pipes; the next chart gets a new one."""
        end, self._end, self._process = self._end, None, None
        if end is not None:
            end()

    def _ask(self, spec: bytes) -> bytes:
        for is_first in (True, False):  # one that ended in between is started again, once
            process = self._process
            if process is None or process.poll() is not None:
                self._drop()
                process = self._start()
            try:
                return self._exchange(process, spec)
            except OSError as error:
                self._drop()
                if not is_first:
                    raise ChartError("The process that draws pictures cannot be started.") from error
            except BaseException:
                self._drop()
                raise
        return b""

    def _start(self) -> subprocess.Popen[bytes]:
        if self._is_closed:
            raise WorkersBusyError("The server is being stopped, or serves something newer. Try again in a moment.")
        command = [sys.executable, "-P", "-m", "evkg.chart_process"]  # -P: nothing from the folder of the start
        # A session of its own: Ctrl-C at a terminal is for the server, which ends it.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._end, self._process = weakref.finalize(self, _end, process), process
        # Waited for all the time: one that is killed from outside would stay in the list of processes.
        threading.Thread(target=process.wait, name="chart process", daemon=True).start()
        return process

    def _exchange(self, process: subprocess.Popen[bytes], spec: bytes) -> bytes:
        if process.stdin is None or process.stdout is None:
            raise OSError("no pipes")
        process.stdin.write(LENGTH.pack(len(spec)) + spec)
        process.stdin.flush()
        end = time.monotonic() + self._seconds
        head = _read(process.stdout.fileno(), LENGTH.size, end)
        return _read(process.stdout.fileno(), LENGTH.unpack(head)[0], end)


def _read(descriptor: int, length: int, end: float) -> bytes:
    """So many bytes, before a moment of the monotonic clock."""
    found = bytearray()
    while len(found) < length:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            raise WorkersBusyError("The picture was not drawn in time. Try again in a moment.")
        part = os.read(descriptor, length - len(found))
        if not part:
            raise OSError("the process ended")
        found += part
    return bytes(found)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.close()
