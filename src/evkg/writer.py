"""The file of all graphs while it is written, and the slices of files that it is put together from."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from evkg.batch import Place

#: How many files are open at once at most (count).
_MOST_OPEN: Final = 400


class Slices:
    """Parts of files, each file opened once while not too many are."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, int] = OrderedDict()

    def read(self, file: Path, place: Place) -> bytes:
        """The bytes at a place of a file."""
        if file not in self._open:
            if len(self._open) >= _MOST_OPEN:
                os.close(self._open.popitem(last=False)[1])
            self._open[file] = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        return os.pread(self._open[file], place.length, place.start)

    def close(self) -> None:
        """Let all files go."""
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()


class GraphFile:
    """N-Quads, graph after graph; each graph sorted in itself, with its place and hash in an index.

    The hash of the content is that of a list of all graphs by name, each with the hash of its lines, so a graph that
    is unchanged need not be read again to know it.
    """

    def __init__(self, file: Path) -> None:
        self._stream = file.open("wb")
        self._digest = hashlib.sha256()
        self._graphs: dict[str, tuple[int, int, str]] = {}
        self._offset = 0
        self.quads = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def add(self, name: str, content: bytes, quads: int, sha256: str) -> None:
        """Add a graph (IRI) whose number of quads and SHA-256 (hex) are known."""
        self._graphs[name] = (self._offset, len(content), sha256)
        self._write(content)
        self.quads += quads

    def add_blocks(self, name: str, blocks: Iterable[bytes]) -> None:
        """Add a graph (IRI), of which whole lines come block by block."""
        digest, start = hashlib.sha256(), self._offset
        for block in blocks:
            digest.update(block)
            self.quads += block.count(b"\n")
            self._write(block)
        self._graphs[name] = (start, self._offset - start, digest.hexdigest())

    def _write(self, content: bytes) -> None:
        self._stream.write(content)
        self._digest.update(content)
        self._offset += len(content)

    def content_sha256(self, besides: Iterable[tuple[str, str]] = ()) -> str:
        """The hash of the content: of lines `name SHA-256`, by name; `besides` are graphs that are not in the file."""
        hashes = [(name, sha256) for name, (_, _, sha256) in self._graphs.items()]
        lines = "".join(f"{name} {sha256}\n" for name, sha256 in sorted([*hashes, *besides]))
        return hashlib.sha256(lines.encode()).hexdigest()

    @property
    def sha256(self) -> str:
        """The hash of the file as far as it is written (64 hex digits)."""
        return self._digest.hexdigest()

    def index(self) -> Iterable[str]:
        """Where each graph stands: its name, first byte, length (bytes) and SHA-256, separated by tabs."""
        for name, (offset, length, sha256) in sorted(self._graphs.items()):
            yield f"{name}\t{offset}\t{length}\t{sha256}\n"
