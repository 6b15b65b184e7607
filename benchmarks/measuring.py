"""What a command costs: wall and processor seconds, and the memory of all its processes together."""

from __future__ import annotations

import ctypes
import math
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: How often the processes are looked at at most, when first (seconds), and for what share of the time.
EVERY: Final = 0.05
_FIRST: Final = 0.004
_SHARE: Final = 0.03
_TICKS: Final = os.sysconf("SC_CLK_TCK")
#: Source: <sys/prctl.h> of Linux. What loses its parent becomes our child, so daemons of a cluster are counted too.
_PR_SET_CHILD_SUBREAPER: Final = 36


@dataclass(frozen=True)
class Cost:
    """What one run of a command cost.

    `wall` and `processor` in seconds, `memory` in MB: the largest sum over all processes, what they share counted
    once. Source: proc(5), `Pss`.
    """

    wall: float
    processor: float
    memory: float
    status: int
    printed: str


class TooLongError(Exception):
    """A command did not end within its limit."""


def measure(
    command: Sequence[str],
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    limit: float | None = None,
) -> Cost:
    """Run a command to its end and return what it cost; its standard error is shown if it fails.

    `limit` in seconds.

    Raises: TooLongError: it did not end in time; it is stopped. SystemExit: it failed.

    >>> cost = measure([sys.executable, "-c", "print(sum(range(1_000_000)))"])
    >>> cost.printed, cost.memory > 1
    ('499999500000\\n', True)
    """
    most = 0.0
    worked: dict[int, float] = {}
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start = time.perf_counter()
        process = subprocess.Popen(
            [*command], cwd=folder, stdout=out, stderr=err, env={**os.environ, **(environment or {})}
        )
        ending = select.poll()
        ending.register(watched := os.pidfd_open(process.pid), select.POLLIN)
        usage, pause = None, _FIRST
        while usage is None:
            ending.poll(1000 * pause)
            looked, total = time.perf_counter(), 0.0
            for pid in family(process.pid):
                total += memory(pid)
                worked[pid] = max(worked.get(pid, 0.0), processor(pid))
            most = max(most, total)
            pause = max(min(EVERY, 2 * pause), (time.perf_counter() - looked) / _SHARE)
            ended, status, found = os.wait4(process.pid, os.WNOHANG)
            if ended:
                usage = found
                process.returncode = os.waitstatus_to_exitcode(status)
            elif limit is not None and time.perf_counter() - start > limit:
                process.kill()
                process.wait()
                break
        wall = time.perf_counter() - start
        os.close(watched)
        _end({*worked} - {process.pid})
        out.seek(0)
        err.seek(0)
        printed, complaint = out.read(), err.read()
    if usage is None:
        raise TooLongError(" ".join(command))
    if process.returncode:
        print(complaint[-2000:], file=sys.stderr)
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    # The kernel's own sum knows what ended between two looks, ours what nobody waited for.
    return Cost(wall, max(usage.ru_utime + usage.ru_stime, sum(worked.values())), most, process.returncode, printed)


def exponent(few: tuple[float, float], many: tuple[float, float]) -> float:
    """With which power of the number of records a time grows, from two of (records, seconds).

    >>> exponent((100, 2.0), (1_000, 20.0))
    1.0
    """
    return math.log(many[1] / few[1]) / math.log(many[0] / few[0])


def _end(started: set[int]) -> None:
    """End what a command left behind, which is our own by now, and adopt no other."""
    for pid in started.intersection(family(os.getpid())):
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except OSError:  # it ended by itself, or belongs to another process
            continue
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 0)


def family(pid: int) -> list[int]:
    """A process and all below it, by process id."""
    found = [pid]
    for each in found:
        try:
            for task in Path(f"/proc/{each}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        except (OSError, ValueError):  # it ended meanwhile
            continue
    return found


def memory(pid: int) -> float:
    """The memory of a process, what it shares counted in proportion (MB)."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024 / 1e6
    except (OSError, ValueError):
        pass
    return 0.0


def processor(pid: int) -> float:
    """The processor time of a process so far (seconds)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS
