"""What checking costs: `make bench-check` writes check.md.

Each size is generated (`generate.py`) and checked by `evkg check` as a whole process: everything, then again
with nothing changed, then with one record edited. Up to `PIECE`, pySHACL checks the same graph in one
piece beside it, which is SHACL alone; beyond, its time is extrapolated from the two largest that were
measured. Wall seconds; memory as `measuring.py` says. One run each, in turn, on one machine: read the ratios.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from measuring import exponent, measure

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


def figures(size: float, folder: Path) -> dict[str, float]:
    """The figures of one size."""
    data = folder / f"{size}.jsonl"
    generate = [sys.executable, str(HERE / "generate.py"), "--size", str(size), "--seed", "1", "--out", str(data)]
    subprocess.run(generate, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    cache = {"XDG_CACHE_HOME": str(folder / f"cache-{size}")}
    check = [sys.executable, "-m", "evkg.cli", "check", str(data)]
    found: dict[str, float] = {}
    first = measure(check, environment=cache)
    found["check"], found["memory"] = first.wall, first.memory
    found["again"] = measure(check, environment=cache).wall
    lines = data.read_text(encoding="utf-8").splitlines(keepends=True)
    found["records"] = len(lines)
    place = next(index for index, line in enumerate(lines) if '"kind":"result"' in line)
    lines[place] = lines[place].replace('"name":"', '"name":"Edited: ', 1)
    data.write_text("".join(lines), encoding="utf-8")
    found["edited"] = measure(check, environment=cache).wall
    if size <= PIECE:
        found["piece"] = float(measure([sys.executable, "-c", ONE_PIECE, str(data)]).printed.split()[0])
    return found


def main() -> None:
    """Measure, and write benchmarks/check.md."""
    sizes = tuple(float(size) for size in sys.argv[1:]) or SIZES
    rows: list[str] = []
    pieces: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as name:
        for size in sizes:
            found = figures(size, Path(name))
            if "piece" in found:
                pieces.append((found["records"], found["piece"]))
                theirs, how = found["piece"], ""
            else:
                (n, a), (m, b) = pieces[-2:]
                power = exponent((n, a), (m, b))
                theirs, how = b * (found["records"] / m) ** power, f" (extrapolated, exponent {power:.2f})"
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
