"""Sorted lines that may not fit into memory: written in runs, read back merged."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from pathlib import Path

#: How many lines are gathered before they are written as a run (count).
LINES_PER_RUN = 400_000


class Runs:
    """Lines in sorted order, however they came: in memory up to a run, beyond it in files of `folder`.

    >>> runs = Runs()
    >>> runs.add(["b", "d"])
    >>> runs.add(["a", "c"])
    >>> list(runs)
    ['a', 'b', 'c', 'd']
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lines: list[str] = []
        self.files: list[Path] = []

    def add(self, lines: Iterable[str]) -> None:
        """Add lines, in any order."""
        self._lines.extend(lines)
        if self._folder is not None and len(self._lines) >= LINES_PER_RUN:
            self.flush()

    def flush(self) -> None:
        """Write what is still in memory as a run; without a folder it only gets sorted."""
        self._lines.sort()
        if self._folder is None or not self._lines:
            return
        file = self._folder / f"run-{len(self.files):05}.nq"
        with file.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(f"{line}\n" for line in self._lines)
        self.files.append(file)
        self._lines = []

    def __iter__(self) -> Iterator[str]:
        self.flush()
        return heapq.merge(*(_read(file) for file in self.files), self._lines)


def _read(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8", newline="\n") as stream:
        for line in stream:
            yield line[:-1]
