"""What checking costs: `make bench-check` writes check.md.

Each size is generated (`generate.py`) and checked by `evkg check` as a whole process: everything, then again
with nothing changed, then with one record edited. Up to `PIECE`, pySHACL checks the same graph in one
piece beside it, which is SHACL alone; beyond, its time is extrapolated from the two largest that were
measured. Wall seconds; memory is the largest resident set (MB), summed over the processes where there are
several. One run each, in turn, on one machine: read the ratios.
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
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIZES = (0.01, 0.1, 0.3, 1)
#: The largest size that pySHACL gets in one piece.
PIECE = 0.3
ONE_PIECE = """
import sys, time
from pathlib import Path
from evkg.batch import Task, Worker
from evkg.convert import Converter
from evkg.dataset import Dataset
from evkg.normative import NormativeValidator
from evkg.shapes import Shapes
from evkg.validate import linked_ids
from evkg.namespaces import EVKG, RDF
from evkg.vocabulary import load_vocabulary
vocabulary = load_vocabulary()
dataset = Dataset(Path(sys.argv[1]), vocabulary)
base = dataset.description.base_iri
converter = Converter(vocabulary, base)
lines = [triple + " ." for record in dataset.read() for triple in converter.record_to_triples(record)]
validator = NormativeValidator(Shapes())
start = time.perf_counter()
results = validator.run(lines)
print(time.perf_counter() - start, len(results))
"""


def run(command: list[str], environment: dict[str, str]) -> tuple[float, float, str]:
    """(wall seconds, memory in MB, what it printed) of a process; its memory is sampled with that of its children."""
    most = 0.0
    with tempfile.TemporaryFile("w+") as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, env={**os.environ, **environment})
        while process.poll() is None:
            most = max(most, memory(process.pid))
            time.sleep(0.02)
        wall = time.perf_counter() - start
        if process.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
        out.seek(0)
        return wall, most, out.read()


def memory(pid: int) -> float:
    """The memory of a process and its children, what they share counted once (MB). Source: proc(5), `Pss`."""
    total = 0.0
    pids = [pid]
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            pids += [int(child) for child in (task / "children").read_text().split()]
        for each in pids:
            for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) / 1024
    except (OSError, ValueError):  # it ended meanwhile
        return total
    return total


def measure(size: float, folder: Path) -> dict[str, float]:
    """The figures of one size."""
    data = folder / f"{size}.jsonl"
    generate = [sys.executable, str(HERE / "generate.py"), "--size", str(size), "--seed", "1", "--out", str(data)]
    subprocess.run(generate, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    cache = {"XDG_CACHE_HOME": str(folder / f"cache-{size}")}
    check = [sys.executable, "-m", "evkg.cli", "check", str(data)]
    found: dict[str, float] = {}
    found["check"], found["memory"], _ = run(check, cache)
    found["again"], _, _ = run(check, cache)
    lines = data.read_text(encoding="utf-8").splitlines(keepends=True)
    found["records"] = len(lines)
    place = next(index for index, line in enumerate(lines) if '"kind":"result"' in line)
    lines[place] = lines[place].replace('"name":"', '"name":"Edited: ', 1)
    data.write_text("".join(lines), encoding="utf-8")
    found["edited"], _, _ = run(check, cache)
    if size <= PIECE:
        _, _, printed = run([sys.executable, "-c", ONE_PIECE, str(data)], {})
        found["piece"] = float(printed.split()[0])
    return found


def main() -> None:
    """Measure, and write benchmarks/check.md."""
    sizes = tuple(float(size) for size in sys.argv[1:]) or SIZES
    rows: list[str] = []
    pieces: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as name:
        for size in sizes:
            found = measure(size, Path(name))
            if "piece" in found:
                pieces.append((found["records"], found["piece"]))
                theirs, how = found["piece"], ""
            else:
                (n, a), (m, b) = pieces[-2:]
                exponent = math.log(b / a) / math.log(m / n)
                theirs, how = b * (found["records"] / m) ** exponent, f" (extrapolated, exponent {exponent:.2f})"
            rows.append(
                f"| {size:g} | {found['records']:,.0f} | {found['check']:.1f} | {found['memory']:.0f} | "
                f"{found['again']:.2f} | {found['edited']:.2f} | {theirs:,.0f}{how} | {theirs / found['check']:.0f} |"
            )
            print(rows[-1], flush=True)
    libraries = ", ".join(f"{n} {metadata.version(n)}" for n in ("rdflib", "pyshacl", "pyoxigraph", "shacl"))
    text = [
        "# Checking, measured",
        "",
        "Made by `make bench-check` from generated records of the real catalogue's shape (size 1 is 28,700 records).",
        "`evkg check` does everything: reading, keys, references, shapes, the rules over several records.",
        "pySHACL gets the same graph in one piece and only validates.",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}; {os.cpu_count()} cores, {platform.machine()},",
        f"Python {platform.python_version()}; {libraries}.",
        "",
        "| size | records | `evkg check` s | MB | again s | one record edited s | pySHACL alone s | times |",
        "|---|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]
    (HERE / "check.md").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
