"""What evkg costs, beside what it cannot be faster than and what everyone writes: `make bench`, `make bench-quick`.

Each size is generated (`generate.py`) and built by `evkg build`; beside it the bulk load of the N-Quads that it wrote
into the same store (the floor), and the same-stack pipeline (`same_stack.py`) up to the largest size where it ends
within its limit, which the smaller sizes foretell. Both must come to the same graph and the same findings. Everything
runs in turn on one machine: read the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agreement import disagreement
from measuring import Cost, TooLongError, exponent, measure
from outcome import Point, write_results
from peers import mapping, validators

HERE: Final = Path(__file__).resolve().parent
ROOT: Final = HERE.parent
BASE: Final = "https://w3id.org/evkg/"
EVKG: Final = (sys.executable, "-m", "evkg.cli")
LOAD: Final = """
import sys, pyoxigraph as ox
ox.Store(sys.argv[1]).bulk_load(path=sys.argv[2], format=ox.RdfFormat.N_QUADS)
"""
#: Sizes of which the last one for the same-stack pipeline is chosen.
LAST: Final = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Plan:
    """What is measured: sizes of builds, sizes of the same-stack pipeline, runs of each, the limit of one (seconds)."""

    sizes: tuple[float, ...]
    stack: tuple[float, ...]
    last: tuple[float, ...]
    runs: int
    limit: float
    validated: float


FULL: Final = Plan((0.01, 0.1, 1, 3, 10), (0.003, 0.01, 0.03, 0.1), LAST, 3, 1200, 0.1)
QUICK: Final = Plan((0.01, 0.1), (0.003, 0.01), (), 2, 60, 0.01)


class Bench:
    """Runs a plan in a folder; what was built of a size is kept for who needs it again."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self._plan = plan
        self._folder = folder
        self._data: dict[float, Path] = {}
        self._points: dict[float, Point] = {}

    def data(self, size: float) -> Path:
        """The records of a size."""
        if size not in self._data:
            self._data[size] = self._folder / f"{size:g}.jsonl"
            options = ("--size", f"{size:g}", "--seed", "1", "--out", str(self._data[size]))
            measure([sys.executable, str(HERE / "generate.py"), *options])
        return self._data[size]

    def release(self, size: float) -> Path:
        """The release that was built of a size."""
        return (self._folder / f"build-{size:g}" / "current").resolve()

    def point(self, size: float) -> Point:
        """What a build of a size costs, once measured, and the load of what it wrote."""
        if size in self._points:
            return self._points[size]
        data, out = self.data(size), self._folder / f"build-{size:g}"
        build = [*EVKG, "build", str(data), "--out", str(out), "--at", "2026-11-01T00:00:00Z"]
        cache = {"XDG_CACHE_HOME": str(self._folder / f"cache-{size:g}")}
        costs, floors = [], []
        for turn in range(self._plan.runs if size < 1 else 1):
            costs.append(measure(build, environment=cache))
            store = str(self._folder / f"store-{size:g}-{turn}")
            floors.append(measure([sys.executable, "-c", LOAD, store, str(self.release(size) / "graph.nq")]))
        counts = json.loads((self.release(size) / "manifest.json").read_text(encoding="utf-8"))["counts"]
        found = Point(size, counts["records"], counts["quads"], median(costs), median(floors))
        self._points[size] = found
        print(f"size {size:g}: {found.build.wall:.1f} s, {found.build.memory:.0f} MB", file=sys.stderr, flush=True)
        return found

    def edited(self, size: float) -> Cost:
        """What a build costs after one record was edited."""
        lines = self.data(size).read_text(encoding="utf-8").splitlines(keepends=True)
        place = next(index for index, line in enumerate(lines) if '"kind":"result"' in line)
        lines[place] = lines[place].replace('"name":"', '"name":"Edited: ', 1)
        # What is kept of a data set is found by its name.
        file = self.data(size)
        kept = file.read_bytes()
        file.write_text("".join(lines), encoding="utf-8")
        out = self._folder / f"build-{size:g}"
        current = self.release(size).name
        cost = measure(
            [*EVKG, "build", str(file), "--out", str(out), "--at", "2026-11-01T00:00:00Z"],
            environment={"XDG_CACHE_HOME": str(self._folder / f"cache-{size:g}")},
        )
        file.write_bytes(kept)
        (out / "current").unlink()
        (out / "current").symlink_to(current)
        return cost

    def stack(self, size: float) -> tuple[Point, Cost] | None:
        """What the same-stack pipeline costs, beside the build; None if it did not end within the limit.

        Raises: SystemExit: the two do not come to the same.
        """
        out = self._folder / f"stack-{size:g}"
        command = [sys.executable, str(HERE / "same_stack.py"), str(self.data(size)), "--out", str(out)]
        try:
            cost = measure(command, limit=self._plan.limit)
        except TooLongError:
            print(f"same stack at size {size:g}: longer than {self._plan.limit:.0f} s", file=sys.stderr, flush=True)
            return None
        point = self.point(size)
        differs = disagreement(self.release(size), out, BASE)
        if differs is not None:
            raise SystemExit(f"At size {size:g} the two pipelines do not come to the same: {differs}.")
        print(f"same stack at size {size:g}: {cost.wall:.1f} s, {cost.memory:.0f} MB", file=sys.stderr, flush=True)
        return point, cost

    def stacks(self) -> list[tuple[Point, Cost]]:
        """The same-stack pipeline at growing size, up to the largest one that should end within the limit."""
        found: list[tuple[Point, Cost]] = []
        for size in self._plan.stack:
            one = self.stack(size) if foretold(found, size) < self._plan.limit else None
            if one is None:
                return found
            found.append(one)
        for size in sorted(self._plan.last, reverse=True):
            if foretold(found, size) < 0.95 * self._plan.limit:
                one = self.stack(size)
                if one is not None:
                    return [*found, one]
        return found

    def commands(self) -> list[tuple[str, Cost, str, Cost]]:
        """The commands on the seed records, each beside what it cannot be faster than."""
        here = self._folder / "seed"
        here.mkdir()
        (here / "graph").symlink_to(ROOT / "tests" / "seed")
        measure([*EVKG, "build"], here)
        file = next(file for file in (ROOT / "tests" / "seed").rglob("*.yaml") if file.name != "dataset.yaml")
        nothing, store = ("python -c pass", ["-c", "pass"]), ("importing pyoxigraph", ["-c", "import pyoxigraph"])
        validator = ("importing rdflib and pySHACL", ["-c", "import rdflib, pyshacl, pyoxigraph"])
        rows = []
        for name, arguments, (floor_name, floor) in (
            ("evkg --help", ["--help"], nothing),
            ("evkg check FILE", ["check", str(file), "--open", "--no-cache"], validator),
            ("evkg check", ["check", "--no-cache"], validator),
            ("evkg build", ["build"], validator),
            ("evkg ask", ["ask", "inference-memory-budget"], store),
            ("evkg query", ["query", "SELECT ?v { ?r evkg:printedValue ?v }"], store),
        ):
            pairs = [
                (measure([*EVKG, *arguments], here), measure([sys.executable, *floor], here))
                for _ in range(2 * self._plan.runs + 1)
            ]
            rows.append((name, median([pair[0] for pair in pairs]), floor_name, median([pair[1] for pair in pairs])))
        return rows

    def run(self) -> dict[str, Any]:
        """All that is measured, by the part of the report that tells it."""
        stacks = self.stacks()
        points = [self.point(size) for size in self._plan.sizes]
        largest = max(size for size in self._plan.sizes if size <= 1)
        command = [*EVKG, "export", "jsonld", "--release", str(self.release(largest))]
        return {
            "points": points,
            "stacks": stacks,
            "edited": (largest, self.edited(largest)),
            "jsonld": (largest, measure([*command, "--out", str(self._folder / "records.jsonl")])),
            "commands": self.commands(),
            "validators": [*self._validators()],
            "mapping": [*mapping(self.data(0.1), self._folder)],
            "limit": self._plan.limit,
            "validated": self._plan.validated,
        }

    def _validators(self) -> list[tuple[str, Cost | None, dict[str, Any]]]:
        data = self.data(self._plan.validated)
        found = [*validators(data, self._folder, self._plan.limit, fewer=self._plan is QUICK)]
        if len({told["sha256"] for _, _, told in found if told}) > 1:
            raise SystemExit("The validators do not find the same.")
        return found


def median(costs: Sequence[Cost]) -> Cost:
    """The run of which the wall time is in the middle."""
    return sorted(costs, key=lambda cost: cost.wall)[(len(costs) - 1) // 2]


def foretold(found: Sequence[tuple[Point, Cost]], size: float) -> float:
    """How long a larger size should take, by the growth of the last two (seconds); 0 while nothing is known."""
    if len(found) < 2:
        return found[0][1].wall * size / found[0][0].size if found else 0.0
    (few, first), (many, second) = found[-2:]
    growth = max(1.0, exponent((few.size, first.wall), (many.size, second.wall)))
    return second.wall * (size / many.size) ** growth


def main() -> None:
    """Measure, and write the results beside this file."""
    parser = argparse.ArgumentParser(description="evkg beside its floor and the pipeline that everyone writes.")
    parser.add_argument("--quick", action="store_true", help="small sizes only: under three minutes")
    parser.add_argument("--sizes", type=float, nargs="+", help="sizes of builds (1 is 28,700 records)")
    parser.add_argument("--limit", type=float, help="how long the same-stack pipeline may take (seconds)")
    options = parser.parse_args()
    plan = QUICK if options.quick else FULL
    if options.sizes or options.limit:
        plan = Plan(
            tuple(options.sizes or plan.sizes), plan.stack, plan.last, plan.runs, options.limit or plan.limit, 0.1
        )
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="evkg-bench-") as name:
        found = Bench(plan, Path(name)).run()
    write_results(found, HERE / ("quick.md" if options.quick else "results.md"), options.quick, load)


if __name__ == "__main__":
    main()
