"""The commands on the seed data set, each beside what it cannot be faster than; `make bench` writes results.md.

Every pair runs in turn (A B A B …) on one machine, so the ratio holds when the machine's speed drifts.
Times are wall seconds of whole processes, memory is the largest resident set (MB).
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNS = 7
EVKG = [sys.executable, "-m", "evkg.cli"]
NOTHING = [sys.executable, "-c", "pass"]
VALIDATOR = [sys.executable, "-c", "import rdflib, pyshacl, pyoxigraph"]
STORE = [sys.executable, "-c", "import pyoxigraph"]


def run(command: list[str], folder: Path) -> tuple[float, float]:
    """(wall seconds, largest resident set in MB) of one process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return seconds, usage.ru_maxrss / 1024


def pair(name: str, command: list[str], floor_name: str, floor: list[str], folder: Path) -> str:
    """One row of the table: medians of both, the median of the ratios pair by pair, peak memory."""
    run(command, folder)
    run(floor, folder)
    rows = [(run(command, folder), run(floor, folder)) for _ in range(RUNS)]
    ours = statistics.median(a[0] for a, _ in rows)
    theirs = statistics.median(b[0] for _, b in rows)
    ratio = statistics.median(a[0] / b[0] for a, b in rows)
    memory = max(a[1] for a, _ in rows)
    return f"| {name} | {ours:.2f} | {memory:.0f} | {floor_name} | {theirs:.2f} | {ratio:.1f} |"


def conversion() -> list[str]:
    """Records a second of the conversion, beside PyLD on the same documents."""
    from pyld import jsonld

    from evkg.convert import Converter
    from evkg.reader import read_records
    from evkg.record import Record
    from evkg.vocabulary import load_vocabulary

    vocabulary = load_vocabulary()
    converter = Converter(vocabulary, "https://w3id.org/evkg/")
    records = [r for r in read_records(ROOT / "tests" / "seed", vocabulary) if isinstance(r, Record)]
    documents = [converter.record_to_jsonld(record) for record in records]

    def ours() -> float:
        start = time.perf_counter()
        for _ in range(20):
            for record in records:
                for name in ("line", "content_sha256"):
                    record.__dict__.pop(name, None)
                converter.record_to_quads(record)
        return 20 * len(records) / (time.perf_counter() - start)

    def oracle() -> float:
        start = time.perf_counter()
        for document in documents:
            jsonld.to_rdf(document, {"format": "application/n-quads"})
        return len(documents) / (time.perf_counter() - start)

    ours()
    pairs = [(ours(), oracle()) for _ in range(RUNS)]
    fast, slow = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    return [f"| record → quads, one core | {fast:,.0f} | PyLD `to_rdf` | {slow:,.0f} | {ratio:.0f} |"]


def main() -> None:
    """Measure, and write benchmarks/results.md."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "graph").symlink_to(ROOT / "tests" / "seed")
        run([*EVKG, "build"], folder)
        question = "SELECT ?v { ?r evkg:printedValue ?v }"
        rows = [
            pair("`evkg --help`", [*EVKG, "--help"], "`python -c pass`", NOTHING, folder),
            pair("`evkg check`", [*EVKG, "check"], "importing rdflib and pySHACL", VALIDATOR, folder),
            pair("`evkg build`", [*EVKG, "build"], "importing rdflib and pySHACL", VALIDATOR, folder),
            pair("`evkg query`", [*EVKG, "query", question], "importing pyoxigraph", STORE, folder),
        ]
    libraries = ", ".join(f"{n} {metadata.version(n)}" for n in ("rdflib", "pyshacl", "pyoxigraph", "PyLD"))
    lines = [
        "# Measured on the seed data set",
        "",
        "Made by `make bench`. 49 records. Read the ratios: absolute times are those of a shared machine.",
        f"Each row is the median of {RUNS} pairs run in turn.",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}; {os.cpu_count()} cores, {platform.machine()},",
        f"Python {platform.python_version()}; {libraries}.",
        "",
        "| command | seconds | peak MB | beside | seconds | ratio |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
        "| step | records/s | beside | records/s | ratio |",
        "|---|---|---|---|---|",
        *conversion(),
        "",
    ]
    (ROOT / "benchmarks" / "results.md").write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
