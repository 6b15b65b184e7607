"""The report of a benchmark: tables in Markdown, and a chart of cost against size in SVG."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from measuring import Cost, exponent

_LIBRARIES: Final = ("rdflib", "pyshacl", "owlrl", "PyLD", "pyoxigraph", "shacl", "PyYAML")


@dataclass(frozen=True)
class Point:
    """A size that was built: how many records and quads it has, what the build cost, and the load of its N-Quads."""

    size: float
    records: int
    quads: int
    build: Cost
    load: Cost


def write_results(found: dict[str, Any], file: Path, quick: bool, load: float) -> None:
    """Write a report, and its chart beside it."""
    chart = file.with_name("growth-quick.svg" if quick else "growth.svg")
    chart.write_text(chart_of(found["points"], found["stacks"]), encoding="utf-8")
    text = "\n".join([*_report(found, "bench-quick" if quick else "bench", chart.name, load), ""])
    file.write_text(text, encoding="utf-8")
    print(text)


def _report(found: dict[str, Any], made_by: str, chart: str, load: float) -> Iterator[str]:
    yield "# Measured"
    yield ""
    yield f"Made by `make {made_by}` from generated records of the real catalogue's shape; size 1 is 28,706 records."
    yield "Seconds are wall time of whole processes, in brackets those of the processor; memory is the largest sum over"
    yield "all processes, shared pages counted once. Medians where there are several runs. The machine is shared: read"
    yield "the ratios."
    yield ""
    yield f"{datetime.now(UTC):%Y-%m-%d}; {_machine()}; load {load:.1f} at the start."
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in _LIBRARIES)
    yield f"Python {platform.python_version()}; {versions}."
    yield ""
    yield f"![Cost against size]({chart})"
    yield from _growth(found)
    yield from _stack(found)
    yield from _parts(found)


def _growth(found: dict[str, Any]) -> Iterator[str]:
    points: Sequence[Point] = found["points"]
    yield ""
    yield "## Growth"
    yield ""
    yield "The load is `pyoxigraph` alone, bulk-loading the N-Quads that the build wrote: the floor of the store."
    yield ""
    yield "| size | records | quads | `evkg build` s | MB | load s | MB | build / load |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in points:
        cells = (f"{one.size:g}", f"{one.records:,}", f"{one.quads:,}", _seconds(one.build), f"{one.build.memory:.0f}")
        floor = (_seconds(one.load), f"{one.load.memory:.0f}", f"{one.build.wall / one.load.wall:.1f}")
        yield f"| {' | '.join((*cells, *floor))} |"
    yield ""
    for few, many in pairwise(points):
        yield (
            f"From {few.records:,} to {many.records:,} records the time grows "
            f"{many.build.wall / few.build.wall:.1f}-fold, with exponent "
            f"{exponent((few.records, few.build.wall), (many.records, many.build.wall)):.2f}."
        )
    size, cost = found["edited"]
    yield f"A build of size {size:g} after one record was edited: {_seconds(cost)} s, {cost.memory:.0f} MB."
    size, cost = found["jsonld"]
    yield f"All records of size {size:g} as JSON-LD (`evkg export jsonld`): {_seconds(cost)} s, {cost.memory:.0f} MB."


def _stack(found: dict[str, Any]) -> Iterator[str]:
    yield ""
    yield "## Beside the pipeline that everyone writes"
    yield ""
    yield "PyLD, rdflib, owlrl and pySHACL (`same_stack.py`), from the same records to the same graph (canonical form)"
    yield "and the same findings of shapes; a difference stops the benchmark. The build also checks what needs several"
    yield f"records, writes the release and fills the store. The pipeline is given {found['limit']:.0f} s."
    yield ""
    yield "| size | records | pipeline s | MB | `evkg build` s | MB | times as fast |"
    yield "|---|---|---|---|---|---|---|"
    for point, cost in found["stacks"]:
        cells = (f"{point.size:g}", f"{point.records:,}", _seconds(cost), f"{cost.memory:.0f}")
        ours = (_seconds(point.build), f"{point.build.memory:.0f}", f"{cost.wall / point.build.wall:.1f}")
        yield f"| {' | '.join((*cells, *ours))} |"
    yield ""
    for (few, first), (many, second) in pairwise(found["stacks"]):
        growth = exponent((few.records, first.wall), (many.records, second.wall))
        yield f"From {few.records:,} to {many.records:,} records its time grows with exponent {growth:.2f}."


def _parts(found: dict[str, Any]) -> Iterator[str]:
    yield ""
    yield "## Commands on 49 records"
    yield ""
    yield "| command | s | MB | beside | s | ratio |"
    yield "|---|---|---|---|---|---|"
    for name, cost, floor_name, floor in found["commands"]:
        yield (
            f"| `{name}` | {cost.wall:.2f} | {cost.memory:.0f} | {floor_name} | {floor.wall:.2f} |"
            f" {cost.wall / floor.wall:.1f} |"
        )
    yield ""
    yield f"## Validators on the same graph (size {found['validated']:g})"
    yield ""
    yield "`shacl` is what evkg runs on every record, pySHACL what it checks a sample with. All find the same results."
    yield ""
    yield "| engine | s | MB | results |"
    yield "|---|---|---|---|"
    for engine, cost, told in found["validators"]:
        if cost is None:
            yield f"| {engine} | longer than {found['limit']:.0f} | | |"
        else:
            yield f"| {engine} | {told['seconds']:.2f} | {cost.memory:.0f} | {told['results']:,} |"
    yield ""
    yield "## From records to triples (size 0.1)"
    yield ""
    yield "| what | triples | s | triples a second | MB |"
    yield "|---|---|---|---|---|"
    for name, cost, told in found["mapping"]:
        cells = (f"{told['triples']:,}", f"{told['seconds']:.2f}", f"{told['triples'] / told['seconds']:,.0f}")
        yield f"| {name} | {' | '.join(cells)} | {cost.memory:.0f} |"


def chart_of(points: Sequence[Point], stacks: Sequence[tuple[Point, Cost]]) -> str:
    """Cost against size on two logarithmic scales, as SVG."""
    import vl_convert

    rows = [(one.records, one.build.wall, "evkg build") for one in points]
    rows += [(one.records, one.load.wall, "store load alone") for one in points]
    rows += [(one.records, cost.wall, "rdflib, PyLD, owlrl, pySHACL") for one, cost in stacks]
    scale = {"type": "log"}
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 560,
        "height": 320,
        "background": "white",
        "data": {"values": [{"records": x, "seconds": round(y, 3), "what": what} for x, y, what in rows]},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "records", "type": "quantitative", "scale": scale, "axis": {"format": ",", "tickCount": 5}},
            "y": {"field": "seconds", "type": "quantitative", "scale": scale, "axis": {"format": ",", "tickCount": 5}},
            "color": {"field": "what", "type": "nominal", "title": None, "legend": {"orient": "top"}},
        },
    }
    return str(vl_convert.vegalite_to_svg(json.dumps(spec), vl_version="5.20"))


def _seconds(cost: Cost) -> str:
    return f"{cost.wall:.1f} ({cost.processor:.1f})"


def _machine() -> str:
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return f"{os.cpu_count()} cores of {model}, {memory:.0f} GB, {platform.system()} {platform.release()}"
