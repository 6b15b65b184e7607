"""Checking a data set again each time one of its files is saved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from evkg.errors import EvkgError
from evkg.filetext import file_name

#: How often the files are looked at (seconds).
_EVERY: Final = 0.1

#: What tells whether a data set has changed: of each of its files the name, the time of its last change and its size.
State = tuple[tuple[str, int, int], ...]


def state_of(path: Path) -> State:
    """The state of a file, or of all files below a folder; of what cannot be read nothing.

    >>> state_of(Path("graph")) == state_of(Path("graph"))
    True
    """
    return tuple(sorted(_states(path)))


def _states(path: Path) -> Iterator[tuple[str, int, int]]:
    for file in path.rglob("*") if path.is_dir() else [path]:
        try:
            if file.is_file():
                about = file.stat()
                yield file_name(file), about.st_mtime_ns, about.st_size
        except OSError:  # gone since the folder was read
            continue


def watch(
    path: Path,
    check: Callable[[], None],
    failed: Callable[[str], None],
    goes_on: Callable[[], bool] = lambda: True,
) -> None:
    """Call `check` at once and after each change below `path`; `failed` gets what is wrong with the call itself.

    It goes on until it is interrupted, or until `goes_on` returns false.
    """
    before: State | None = None
    while goes_on():
        now = state_of(path)
        if now != before:
            before = now
            try:
                check()
            except (EvkgError, OSError) as error:
                failed(str(error))
        time.sleep(_EVERY)
