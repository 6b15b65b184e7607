"""A release while it is being made: the files of its batches, and a store that fills as they come.

A record is a graph, so the lines of a record stand together in `graph.nq`: nothing has to be merged.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import pyoxigraph as ox

from evkg.axioms import Closure, load_axioms
from evkg.batch import PREMISES, Batch, Outcome, Place
from evkg.check import Checked
from evkg.derive import count_graphs, derive_in, refuse_contradictions
from evkg.errors import InconsistencyError
from evkg.inference import load_rules
from evkg.namespaces import SH, graph_iri, record_iri
from evkg.premises import load_premises
from evkg.publish import write
from evkg.release import STORE
from evkg.report import frame_lines, frame_turtle, links_turtle, sort_key
from evkg.runs import Runs
from evkg.shared import SharedNodes
from evkg.store import StoreBuilder
from evkg.vocabulary import load_vocabulary
from evkg.writer import GraphFile, Slices

#: The folder of what only the making needs; it is removed at the end.
_PARTS: Final = "parts"


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a record came to, and the files where it is written."""

    outcome: Outcome
    stem: Path


class Draft:
    """The parts of a release in `folder`.

    The store is filled by a thread of its own, as batches are finished, and rules run in another: the engine leaves
    Python's lock alone, so the files of the release are written meanwhile.
    """

    def __init__(self, folder: Path, base: str) -> None:
        self.parts = folder / _PARTS
        self.parts.mkdir()
        self._folder = folder
        self._base = base
        self._records: dict[str, _Kept] = {}
        self._static: Mapping[str, Sequence[str]] = {}
        self._runs = Runs(self.parts)
        self._slices = Slices()
        self._premises: list[Path] = []
        self._engine = ThreadPoolExecutor(1)
        self._rules = ThreadPoolExecutor(1)
        self._working: list[Future[None]] = []
        self._store: StoreBuilder | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._rules.shutdown(wait=True, cancel_futures=True)
        self._engine.shutdown(wait=True, cancel_futures=True)
        self._slices.close()
        if self._store is not None:
            self._store.close()

    def add(self, batch: Batch) -> None:
        """Add the records of a batch."""
        if batch.stem is None:
            return
        for outcome in batch.outcomes:
            self._records[outcome.record_id] = _Kept(outcome, batch.stem)
        file, premises = batch.stem.with_suffix(".nq"), batch.stem.with_suffix(PREMISES)
        if batch.has_repeats:
            quads = [place for o in batch.outcomes for place in (o.quads, o.derived, o.report, o.links)]
            file = self._cut(file, quads)
            premises = self._cut(premises, [outcome.premises for outcome in batch.outcomes])
        self._premises.append(premises)
        self._working.append(self._engine.submit(self._load, file))

    def _cut(self, file: Path, places: Iterable[Place]) -> Path:
        """A copy of some places of a file: those of records that repeat no earlier one."""
        clean = file.with_name(f"clean-{file.name}")
        clean.write_bytes(b"".join(self._slices.read(file, place) for place in places))
        return clean

    def _load(self, file: Path) -> None:
        # Opened when the processes that read records are forked already: they must not share its threads.
        if self._store is None:
            self._store = StoreBuilder(self._folder / STORE)
        self._store.load(file)

    def add_static(self, graphs: Mapping[str, Sequence[str]], checked: Checked) -> None:
        """Add what no single record makes: `graphs` by name, each sorted; shared nodes; the rest of the report."""
        self._static = {**graphs, "shared": SharedNodes(load_vocabulary(), self._base).quads(checked.shared)}
        extra = [line for block in checked.extra.values() for line in (*block.lines(), *block.links())]
        given = [line for lines in self._static.values() for line in lines]
        near = Closure(load_axioms()).of(line[: line.rindex(" <")] for line in given)
        derived = [f"{triple} <{graph_iri(self._base, 'derived')}> ." for triple in near]
        self._runs.add(derived)
        self._premises.append(self._static_premises(near))
        file = self.parts / "static.nq"
        frame = frame_lines(self._base, checked.severities)
        file.write_text("\n".join([*given, *derived, *extra, *frame, ""]), encoding="utf-8")
        self._working.append(self._engine.submit(self._load, file))

    def _static_premises(self, following: Iterable[str]) -> Path:
        """What rules can use of these graphs, and of what follows from them."""
        premises = load_premises()
        by_triple = {line[: line.rindex(" <")]: line for lines in self._static.values() for line in lines}
        used = [by_triple[triple] for triple in premises.of([*by_triple], self._base)]
        graph = graph_iri(self._base, "derived")
        used += [f"{triple} <{graph}> ." for triple in premises.following(following)]
        file = self.parts / f"static{PREMISES}"
        file.write_text("\n".join([*used, ""]), encoding="utf-8")
        return file

    def start_deriving(self, progress: Callable[[str], None]) -> None:
        """Begin to derive; the store gets what comes out, and `write_graph` waits for it."""
        derived = self._rules.submit(self._derive, progress)
        self._working.append(self._engine.submit(self._finish, derived))

    def _derive(self, progress: Callable[[str], None]) -> list[str]:
        store = ox.Store()
        for file in self._premises:
            store.bulk_load(path=str(file), format=ox.RdfFormat.N_QUADS)
        return derive_in(store, self._base, load_axioms(), load_rules(), progress)

    def _finish(self, derived: Future[list[str]]) -> None:
        """Add what was derived to the store, which has all else by then, and see that nothing contradicts."""
        if self._store is None:
            return
        _refuse_repeats(self._static, self._store.store, self._base)
        lines = derived.result()
        self._runs.add(lines)
        file = self.parts / "derived.nq"
        file.write_text("\n".join([*lines, ""]), encoding="utf-8")
        self._store.load(file)
        refuse_contradictions(self._store.store, self._base, load_axioms())

    def write_graph(self, file: GraphFile, checked: Checked) -> None:
        """Write all graphs but the release's own: those of records by id, then the others by name.

        Raises: InconsistencyError: something belongs to two disjoint classes.
        """
        for record_id, kept in sorted(self._records.items()):
            outcome = kept.outcome
            content = self._slices.read(kept.stem.with_suffix(".nq"), outcome.quads)
            file.add(record_iri(self._base, record_id), content, outcome.quad_count, outcome.quads_sha256)
        # Rules and chains are at work in the store meanwhile.
        file.add_blocks(graph_iri(self._base, "validation"), self._report(checked))
        for future in self._working:
            future.result()
        for kept in self._records.values():
            content = self._slices.read(kept.stem.with_suffix(".nq"), kept.outcome.derived)
            self._runs.add(content.decode().split("\n")[:-1])
        file.add_blocks(graph_iri(self._base, "derived"), _unique(self._runs))
        for name, lines in sorted(self._static.items()):
            file.add_blocks(graph_iri(self._base, name), (f"{line}\n".encode() for line in lines))

    def _report(self, checked: Checked) -> Iterator[bytes]:
        """The lines of the validation graph in their order."""
        for key in self._reported(checked):
            content = self._part(key, ".nq")
            if key in checked.extra:
                lines = {*content.decode().split("\n"), *checked.extra[key].lines()} - {""}
                content = "\n".join([*sorted(lines), ""]).encode()
            yield content
        frame = frame_lines(self._base, checked.severities)
        head = f"<{self._base}validation> <{SH}result> "
        yield "".join(f"{line}\n" for line in frame if line < head).encode()
        for key in self._reported(checked):
            yield from (f"{line}\n".encode() for line in self._links(key, checked))
        yield "".join(f"{line}\n" for line in frame if line > head).encode()

    def _reported(self, checked: Checked) -> list[str | None]:
        """The records that the report may speak of, in its order, and None for what is about none."""
        return sorted({None, *self._records}, key=sort_key)

    def _part(self, record_id: str | None, suffix: str) -> bytes:
        """The part of the report on a record alone, as N-Quads or Turtle."""
        kept = self._records.get(record_id or "")
        if kept is None:
            return b""
        place = kept.outcome.report if suffix == ".nq" else kept.outcome.turtle
        return self._slices.read(kept.stem.with_suffix(suffix), place)

    def _links(self, record_id: str | None, checked: Checked) -> list[str]:
        """The lines that make the results on a record part of the report, sorted."""
        kept = self._records.get(record_id or "")
        own = self._slices.read(kept.stem.with_suffix(".nq"), kept.outcome.links).decode() if kept else ""
        extra = checked.extra[record_id].links() if record_id in checked.extra else []
        return sorted({*own.split("\n"), *extra} - {""})

    def write_report(self, file: Path, checked: Checked) -> None:
        """Write the report as Turtle."""
        nodes: list[str] = []
        with file.open("wb") as stream:
            stream.write(frame_turtle(self._base, checked.severities).encode())
            for key in self._reported(checked):
                nodes += (line.split(" ", 3)[2][1:-1] for line in self._links(key, checked))
                stream.write(self._part(key, ".ttl"))
                if key in checked.extra:
                    stream.write(checked.extra[key].turtle().encode())
            stream.write(links_turtle(self._base, nodes).encode())

    def write_records(self, file: Path, index: Path) -> None:
        """The records as they were read, one a line by id, and where each line stands (bytes)."""
        offset, lines = 0, []
        with file.open("wb") as stream:
            for record_id, kept in sorted(self._records.items()):
                content = self._slices.read(kept.stem.with_suffix(".jsonl"), kept.outcome.line)
                stream.write(content)
                lines.append(f"{record_id}\t{offset}\t{len(content) - 1}\t{kept.outcome.content_sha256}\n")
                offset += len(content)
        write(index, lines)

    def close(self, about: Sequence[str]) -> None:
        """Add the lines of the release's own graph to the store, finish it, and remove what only the making needed."""
        if self._store is not None:
            self._store.extend("\n".join([*about, ""]).encode())
            self._store.close()
            self._store = None
        self._slices.close()
        shutil.rmtree(self.parts)


def _refuse_repeats(graphs: Mapping[str, Sequence[str]], store: ox.Store, base: str) -> None:
    """Refuse a triple of these graphs that another graph has too: the union of graphs would count it twice.

    The triples of record graphs are about their own thing and record only, which is seen to where they are made.
    """
    seen: set[str] = set()
    own = tuple(f"<{base}{group}/" for group in ("id", "record"))
    for line in (line for lines in graphs.values() for line in lines):
        triple = line[: line.rindex(" <")]
        if triple in seen or (triple.startswith(own) and count_graphs(store, triple) > 1):
            raise InconsistencyError(f"A triple stands in two graphs: {triple}")
        seen.add(triple)


def _unique(lines: Iterable[str]) -> Iterator[bytes]:
    """Sorted lines once each, some thousand at a time."""
    previous = ""
    block: list[str] = []
    for line in lines:
        if line != previous:
            block.append(line)
        previous = line
        if len(block) == 20_000:
            yield "\n".join([*block, ""]).encode()
            block = []
    yield "\n".join([*block, ""]).encode() if block else b""
