"""Limits: how much one query may take, and how many may run and wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from evkg.errors import UsageError

#: The least that a worker needs to start and open a store (bytes of address space).
_LEAST_MEMORY: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server grants. All hold for one query, but for `workers` and `waiting`.

    `seconds`: from its arrival to its last row, without the time that its client takes to read.
    `memory`: address space of the process that runs it (bytes). `rows` and `result_bytes`: of its answer.
    `workers`: processes for queries. `waiting`: queries that wait, in each lane (see `lanes.py`).
    `cache_bytes`: length of the answers that are kept for who asks the same again; 0 keeps none.

    Raises: UsageError: a number that cannot work.

    >>> Limits(workers=5).light, Limits(workers=5).heavy, Limits(workers=1).heavy
    (3, 2, 0)
    """

    seconds: float = 30.0
    memory: int = 2 << 30
    rows: int = 10_000_000
    result_bytes: int = 1 << 30
    workers: int = 6
    waiting: int = 32
    cache_bytes: int = 64 << 20

    def __post_init__(self) -> None:
        least = {"seconds": 0.05, "memory": _LEAST_MEMORY, "rows": 1, "result_bytes": 1, "workers": 1, "waiting": 0}
        least["cache_bytes"] = 0
        for name, number in least.items():
            if not getattr(self, name) >= number:
                what = name.replace("_", " ")
                raise UsageError(f"The limit of {what} is at least {number}, not {getattr(self, name)}.")

    @property
    def header(self) -> str:
        """What one answer is bound to, as the value of a header.

        >>> Limits(seconds=5).header
        'seconds=5, rows=10000000, bytes=1073741824'
        """
        return f"seconds={self.seconds:g}, rows={self.rows}, bytes={self.result_bytes}"

    @property
    def light(self) -> int:
        """Workers that wait for queries which take no time worth mentioning."""
        return self.workers - self.heavy

    @property
    def heavy(self) -> int:
        """Queries that may run for long at the same time; with one worker there is no difference."""
        return self.workers // 2
