"""A release while it is being made: quads in sorted runs, a store that fills as they come, the records aside."""

from __future__ import annotations

import hashlib
import heapq
import shutil
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import IO, Final, Self

from evkg.derive import derive_in, load_axioms, load_rules
from evkg.errors import InconsistencyError
from evkg.publish import write
from evkg.release import STORE
from evkg.runs import Runs
from evkg.shared import SharedNodes
from evkg.store import StoreBuilder
from evkg.validate import Converted
from evkg.vocabulary import load_vocabulary

#: How many lines are written at once (count).
_BLOCK: Final = 20_000


class Draft:
    """The parts of a release in `folder`; `runs/` in it is removed at the end.

    The store is loaded by a thread of its own as runs are finished: the loader leaves Python's lock alone.
    """

    def __init__(self, folder: Path, base: str) -> None:
        self._runs_folder = folder / "runs"
        self._runs_folder.mkdir()
        self._base = base
        self._runs = Runs(self._runs_folder)
        self._shared = SharedNodes(load_vocabulary(), base)
        self._store = StoreBuilder(folder / STORE)
        self._loader = ThreadPoolExecutor(1)
        self._loading: list[Future[None]] = []
        self._records = (self._runs_folder / "records").open("wb")
        self._index: list[tuple[str, int, int, str]] = []
        self._derived: list[str] = []
        self._body = self._runs_folder / "body.nq"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loader.shutdown(wait=True, cancel_futures=True)
        self._records.close()
        self._store.close()

    def add(self, batch: Sequence[Converted]) -> None:
        """Add records with their quads."""
        for record, lines in batch:
            self._runs.add(lines)
            self._shared.note(lines)
            content = record.line.encode()
            self._index.append((record.id, self._records.tell(), len(content), record.content_sha256))
            self._records.write(content + b"\n")
        self._load()

    def add_static(self, lines: Iterable[str]) -> None:
        """Add quads that no record makes, and wait until the store has everything that is asserted."""
        self._runs.add(self._shared.quads())
        self._runs.add(lines)
        self._runs.flush()
        self._load()
        for future in self._loading:
            future.result()

    def _load(self) -> None:
        for file in self._runs.files[len(self._loading) :]:
            self._loading.append(self._loader.submit(self._store.load, file))

    def derive(self) -> None:
        """Add the derived graph, computed in the store.

        Raises: InconsistencyError: something belongs to two disjoint classes.
        """
        self._derived = derive_in(self._store.store, self._base, load_axioms(), load_rules())

    def write_body(self, about: Iterable[str]) -> tuple[str, int]:
        """Merge all quads into one sorted file; its hash, which covers `about` too, and its length (quads).

        Raises: InconsistencyError: a triple stands in two graphs.
        """
        digest, total = hashlib.sha256(), 0
        with self._body.open("wb") as stream:
            for block in _blocks(_refuse_repeats(heapq.merge(self._runs, self._derived))):
                content = "\n".join([*block, ""]).encode()
                digest.update(content)
                stream.write(content)
                total += len(block)
        for line in about:
            digest.update(f"{line}\n".encode())
        return digest.hexdigest(), total

    def write_graph(self, file: Path, prefix: str, about: Sequence[str]) -> None:
        """The final file: the body with the lines `about` in their place; all of them begin with `prefix`."""
        content = "\n".join([*about, ""]).encode()
        with self._body.open("rb") as body, file.open("wb") as stream:
            offset = _offset_of(body, prefix.encode())
            body.seek(0)
            _copy(body, stream, offset)
            stream.write(content)
            shutil.copyfileobj(body, stream, 1 << 20)
        self._store.extend(content)

    def write_records(self, file: Path, index: Path) -> None:
        """The records as they were read, one a line by id, and where each line stands (bytes)."""
        self._records.flush()
        offset, lines = 0, []
        with (self._runs_folder / "records").open("rb") as source, file.open("wb") as stream:
            for record_id, start, length, digest in sorted(self._index):
                source.seek(start)
                stream.write(source.read(length + 1))
                lines.append(f"{record_id}\t{offset}\t{length}\t{digest}\n")
                offset += length + 1
        write(index, lines)

    def close(self) -> None:
        """Finish the store and remove what only the making needed."""
        self._store.close()
        self._records.close()
        shutil.rmtree(self._runs_folder)


def _blocks(lines: Iterator[str]) -> Iterator[list[str]]:
    while block := list(islice(lines, _BLOCK)):
        yield block


def _refuse_repeats(lines: Iterable[str]) -> Iterator[str]:
    """The lines, unless a triple stands in two graphs: the union of graphs would count it twice.

    In sorted lines such quads are neighbours, since they differ only in the graph at their end.
    """
    previous = ""
    for line in lines:
        triple = line[: line.rindex(" <")]
        if triple == previous:
            raise InconsistencyError(f"A triple stands in two graphs: {triple}")
        previous = triple
        yield line


def _offset_of(stream: IO[bytes], prefix: bytes) -> int:
    """Where lines that begin with `prefix` belong in a sorted file (bytes)."""
    low, high = 0, stream.seek(0, 2)
    while low < high:  # the first line that is greater begins somewhere in [low, high]
        middle = (low + high) // 2
        stream.seek(max(middle - 1, 0))  # a line that begins at `middle` itself is the one to look at
        if middle:
            stream.readline()
        place = stream.tell()
        line = stream.readline()
        if place >= high or not line or line > prefix:
            high = middle
        else:
            low = place + len(line)
    stream.seek(max(low - 1, 0))
    if low:
        stream.readline()
    return int(stream.tell())


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> None:
    while size > 0:
        block = source.read(min(size, 1 << 20))
        target.write(block)
        size -= len(block)
