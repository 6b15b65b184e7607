"""How cost grows with the data set: `make bench-scale` writes scale.md.

Each size is generated (`generate.py`), built by `evkg build`, and beside it what it cannot be faster
than, a bulk load of the N-Quads it writes into the same store; up to `STACK` also the pipeline that
everyone writes (`same_stack.py`). Wall seconds of whole processes; memory is the largest resident set
(MB) of the process. One run each, in turn, on one machine: read the ratios.
"""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib import metadata
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIZES = (0.01, 0.1, 1)
#: The largest size at which the same-stack pipeline is run as well.
STACK = 0.01
LOAD = "import sys, pyoxigraph as ox; ox.Store(sys.argv[1]).bulk_load(path=sys.argv[2], format=ox.RdfFormat.N_QUADS)"


def run(command: list[str], folder: Path) -> tuple[float, float]:
    """(wall seconds, largest resident set in MB) of one process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def measure(size: float, folder: Path) -> tuple[str, float, int]:
    """A row of the table, the seconds of the build and how many records it had."""
    data = folder / f"{size}.jsonl"
    run([sys.executable, str(HERE / "generate.py"), "--size", str(size), "--seed", "1", "--out", str(data)], folder)
    with data.open("rb") as stream:
        records = sum(1 for _ in stream)
    out = folder / f"build-{size}"
    seconds, memory = run([sys.executable, "-m", "evkg.cli", "build", str(data), "--out", str(out)], folder)
    graph = (out / "current" / "graph.nq").resolve()
    with graph.open("rb") as stream:
        quads = sum(1 for _ in stream)
    floor, _ = run([sys.executable, "-c", LOAD, str(folder / f"store-{size}"), str(graph)], folder)
    stack = "not run"
    if size <= STACK:
        command = [sys.executable, str(HERE / "same_stack.py"), str(data), "--out", str(folder / f"stack-{size}")]
        theirs, _ = run(command, folder)
        stack = f"{theirs:.1f} s, {theirs / seconds:.0f}×"
    cells = (f"{size}", f"{records:,}", f"{quads:,}", f"{seconds:.1f}", f"{memory:.0f}", f"{floor:.1f}")
    return f"| {' | '.join(cells)} | {seconds / floor:.1f} | {stack} |", seconds, records


def main() -> None:
    """Measure, and write benchmarks/scale.md."""
    sizes = tuple(float(size) for size in sys.argv[1:]) or SIZES
    with tempfile.TemporaryDirectory() as name:
        found = [measure(size, Path(name)) for size in sizes]
    libraries = ", ".join(f"{n} {metadata.version(n)}" for n in ("rdflib", "pyshacl", "pyoxigraph", "shacl", "PyLD"))
    lines = [
        "# Measured at growing size",
        "",
        "Made by `make bench-scale` from generated records of the real catalogue's shape (size 1 is 28,700 records).",
        "The load is `pyoxigraph` alone, bulk-loading the N-Quads that the build wrote: the floor.",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}; {os.cpu_count()} cores, {platform.machine()},",
        f"Python {platform.python_version()}; {libraries}.",
        "",
        "| size | records | quads | `evkg build` s | peak MB | load s | build / load | same-stack pipeline |",
        "|---|---|---|---|---|---|---|---|",
        *(row for row, _, _ in found),
        "",
    ]
    for (_, first, few), (_, second, many) in pairwise(found):
        exponent = math.log(second / first) / math.log(many / few)
        lines.append(f"From {few:,} to {many:,} records the time grows with exponent {exponent:.2f}.")
    (HERE / "scale.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
