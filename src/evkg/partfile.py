"""A file of parts, each with its length and a checksum: new ones are added at the end, and a broken end is left out.

The file is our own, and is read only from the user's own folder.
"""

from __future__ import annotations

import marshal
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

_LENGTH: Final = 8
_CHECKSUM: Final = 4


def read_parts(file: Path) -> Iterator[Any]:
    """What each part holds, up to the first that is cut off or damaged.

    A checksum finds what a broken disk or a full one does; against forgery the folder's permissions stand.

    Raises: OSError: the file cannot be read. ValueError, TypeError, EOFError: it is another sort of file.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "parts")
    ...     write_parts(file, (1, ["a"]))
    ...     add_part(file, (2, []))
    ...     list(read_parts(file))
    [(1, ['a']), (2, [])]
    """
    content = memoryview(file.read_bytes())
    place = 0
    while place < len(content):
        begin = place + _LENGTH + _CHECKSUM
        end = begin + int.from_bytes(content[place : place + _LENGTH], "big")
        part = content[begin:end]
        if len(part) != end - begin or _checksum(part) != content[place + _LENGTH : begin]:
            return
        yield marshal.loads(part)  # noqa: S302 - our own file, its checksum is right
        place = end


def add_part(file: Path, value: Any) -> None:
    """Add a part to a file. Raises: OSError: it cannot be written."""
    with file.open("ab") as stream:
        stream.write(_packed(value))


def write_parts(file: Path, value: Any) -> None:
    """Write a file with one part in place of the one that is there. Raises: OSError: it cannot be written."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as new:
        new.write(_packed(value))
    Path(new.name).replace(file)


def _packed(value: Any) -> bytes:
    part = marshal.dumps(value)
    return len(part).to_bytes(_LENGTH, "big") + _checksum(part) + part


def _checksum(part: bytes | memoryview) -> bytes:
    return zlib.crc32(part).to_bytes(_CHECKSUM, "big")
