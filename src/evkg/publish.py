"""Getting a finished release folder to its name, all or nothing, while others may be reading."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from evkg.errors import EvkgError, ReleaseError, UsageError
from evkg.release import CURRENT, MANIFEST, STORE
from evkg.store import open_store

#: How a release is called while another of the same id takes its place.
_ASIDE: Final = ".building-old-"


@contextmanager
def lock(out: Path) -> Iterator[None]:
    """One build at a time below `out`; what an interrupted one left is removed or put back."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        stream = (out / ".lock").open("w")
    except OSError as error:
        raise ReleaseError(f"{out} cannot be written: {error.strerror or error}") from error
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(f"Another build is writing to {out}.") from error
        for left in sorted(out.glob(".building-*")):
            _clear(out, left)
        yield


def _clear(out: Path, left: Path) -> None:
    """Remove what an interrupted build left; a release that it had only moved aside goes back to its name."""
    name = left.name.removeprefix(_ASIDE)
    if name != left.name and not (out / name).exists():
        left.rename(out / name)
    elif left.is_symlink():
        left.unlink()
    else:
        shutil.rmtree(left, ignore_errors=True)


def remove(folder: Path) -> None:
    """Remove a folder, even while a store in it is still closing and writes a last file."""
    for _ in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.05)


def write(file: Path, parts: Iterable[str]) -> None:
    """Write a file and see it onto the disk."""
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(parts)
        stream.flush()
        os.fsync(stream.fileno())


def publish(folder: Path, out: Path, release_id: str) -> Path:
    """Move a finished release to its name and the pointer `current` to it."""
    final, aside = out / release_id, out / f"{_ASIDE}{release_id}"
    if final.exists():
        if _is_same(final, folder):
            _point(out, release_id)
            return final
        shutil.rmtree(aside, ignore_errors=True)
        final.rename(aside)
    folder.rename(final)
    _point(out, release_id)
    shutil.rmtree(aside, ignore_errors=True)
    return final


def _is_same(final: Path, folder: Path) -> bool:
    """Whether a release of this id is already there and whole: then it stays, and nobody's reading is disturbed."""
    try:
        if (final / MANIFEST).read_bytes() != (folder / MANIFEST).read_bytes():
            return False
        open_store(final / STORE)
    except (OSError, EvkgError):
        return False
    return True


def _point(out: Path, release_id: str) -> None:
    pointer = out / f".building-pointer-{os.getpid()}"
    pointer.unlink(missing_ok=True)
    pointer.symlink_to(release_id)
    pointer.replace(out / CURRENT)
