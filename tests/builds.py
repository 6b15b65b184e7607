"""Data sets and runs of the command line for tests of what stands above the conversion."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evkg.batch import Outcome
from evkg.build import build_release
from evkg.check import Checked, check_dataset
from evkg.finding import Finding
from evkg.jsontext import encode_json
from evkg.namespaces import record_iri
from evkg.record import Record
from evkg.release import Release
from evkg.shapes import Result
from evkg.shared import SharedNodes
from evkg.store import StoreBuilder
from evkg.vocabulary import load_vocabulary

ROOT = Path(__file__).resolve().parents[1]
SEED = ROOT / "tests" / "seed"
AT = datetime(2026, 11, 1, tzinfo=UTC)
BASE = "https://w3id.org/evkg/"

ASPIDOVA = "model-execution-20261011-"
SAADAT = "saadat-fellay-20261015-"
#: The four results whose source has an open concern.
THROUGHPUT_256 = f"{ASPIDOVA}result-aspidova2026-gena-base-throughput-l256"
THROUGHPUT_512 = f"{ASPIDOVA}result-aspidova2026-gena-base-throughput-l512"
BATCH_256 = f"{ASPIDOVA}result-aspidova2026-gena-base-batch-l256"
BATCH_512 = f"{ASPIDOVA}result-aspidova2026-gena-base-batch-l512"
DOUBTED_RESULTS = (BATCH_256, BATCH_512, THROUGHPUT_256, THROUGHPUT_512)
DOUBTED_CONFIGURATION = f"{ASPIDOVA}config-aspidova2026-gena-base"
DOUBTED_SOURCE = f"{ASPIDOVA}source-aspidova2026"
#: Record -> exactly what its source prints.
PRINTED = {
    f"{SAADAT}result-nt-2-5b-training-memory-checkpointing": "33.88",
    f"{SAADAT}result-nt-2-5b-training-memory-deepspeed": "11.49",
    f"{SAADAT}result-gena-lm-110m-pseudo-perplexity-agreement": "r = 1.00",
    BATCH_256: "6637",
}
#: The one result that has a review; it was automated.
REVIEWED = f"{SAADAT}result-nt-2-5b-quantization-memory-4bit"


@dataclass(frozen=True)
class Whole:
    """A checked data set with all its records, quads and results in memory, which only small ones allow."""

    checked: Checked
    records: dict[str, Record]
    quads: list[str]
    results: list[Result]

    @property
    def findings(self) -> list[Finding]:
        return self.checked.findings

    @property
    def count(self) -> int:
        return self.checked.count

    @property
    def violations(self) -> int:
        return self.checked.violations


def check_whole(path: Path, **options: Any) -> Whole:
    """`check_dataset`, keeping what it passes on."""
    found: list[Outcome] = []
    checked = check_dataset(path, sink=lambda batch: found.extend(batch.outcomes), keep=True, **options)
    base = checked.description.base_iri
    found.sort(key=lambda outcome: outcome.record_id)
    quads = [f"{triple} <{record_iri(base, one.record_id)}> ." for one in found for triple in one.triples]
    shared = SharedNodes(load_vocabulary(), base).quads(checked.shared)
    records = {outcome.record_id: outcome.record for outcome in found if outcome.record is not None}
    results = sorted((result for outcome in found for result in outcome.results), key=Result.order)
    return Whole(checked, records, [*quads, *shared], results)


def build_store(nquads: Path, folder: Path) -> None:
    """A store on disk from one file."""
    builder = StoreBuilder(folder)
    try:
        builder.load(nquads)
    finally:
        builder.close()


def copy_seed(folder: Path) -> Path:
    """A copy of the seed data set that a test may change."""
    return Path(shutil.copytree(SEED, folder))


def edit(file: Path, old: str, new: str) -> None:
    """Replace the one place where a file says `old`."""
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, (file, old, text.count(old))
    file.write_text(text.replace(old, new), encoding="utf-8")


def record(record_id: str, kind: str, **changes: Any) -> dict[str, Any]:
    """A record with nothing in it but what is given."""
    return {
        "id": record_id,
        "kind": kind,
        "name": record_id,
        "description": "",
        "status": "discovered",
        "facets": {},
        "source_ids": [],
        "links": [],
        "attributes": {},
        **changes,
    }


def write_records(file: Path, *records: Mapping[str, Any]) -> Path:
    """A JSON Lines file of records."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{encode_json(dict(item))}\n" for item in records), encoding="utf-8")
    return file


def build_draft(path: Path, out: Path) -> Release:
    """A release of a data set, whatever is wrong with it."""
    release = build_release(path, out, at=AT, draft=True).release
    assert release is not None
    return release


def run_evkg(
    *arguments: str | Path, cwd: Path = ROOT, environment: Mapping[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """`evkg` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "evkg.cli", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
    )


@contextmanager
def listening() -> Iterator[tuple[str, list[bytes]]]:
    """The address of a socket on this machine, and what it was asked so far; it answers with status 500."""
    seen: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    seen.append(connection.recv(1000))
                    connection.sendall(b"HTTP/1.1 500 Never\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/", seen
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)
