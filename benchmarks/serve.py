"""The endpoint beside others: light queries with eight clients, cached ones, heavy ones, and light beside heavy.

    python benchmarks/serve.py RELEASE [--seconds 5] [--out benchmarks/serve.md]

Needs wrk (Debian) and, for those that are to be measured beside it, the programs `oxigraph` and `rdflib-endpoint`
(PyPI) on the path. All servers are asked in turn, several times over, so that they share what else the machine does.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Final

import httpx
import pyoxigraph as ox

from evkg.namespaces import PREFIXES
from evkg.release import GRAPH, STORE

ROUNDS: Final = 3
HEAVY_ROUNDS: Final = 7
JSON: Final = "application/sparql-results+json"
#: One subject each time, and no query twice: a comment has a number that never comes again.
SCRIPT: Final = """
local subjects = {}
for line in io.lines("SUBJECTS") do subjects[#subjects + 1] = line end
local n = START
request = function()
  n = n + 1
  local mark = SAME and "" or ("%20%23" .. n)
  local query = "SELECT%20%3Fp%20%3Fo%20%7B%20%3C" .. subjects[n % #subjects + 1] .. "%3E%20%3Fp%20%3Fo%20%7D" .. mark
  return wrk.format("GET", "PATH?query=" .. query, {["Accept"] = "application/sparql-results+json"})
end
"""
PREFIX: Final = "".join(f"PREFIX {name}: <{iri}> " for name, iri in PREFIXES.items())
HEAVY: Final = {
    "triples by property": "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY ?p",
    "results by metric and unit": "SELECT ?m ?u (COUNT(*) AS ?n) { ?r a evkg:Result ; evkg:metric ?m . "
    "OPTIONAL { ?r evkg:unit ?u } } GROUP BY ?m ?u ORDER BY ?m ?u",
    "objects by property": "SELECT ?p (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY ?p",
    "all rows (sent)": "SELECT * { ?s ?p ?o }",
}
CROSS: Final = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def running(command: list[str], port: int) -> Iterator[None]:
    """A server, from when its port is open."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(1800):
                with socket.socket() as connection:
                    if connection.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield
        finally:
            process.terminate()


def wrk(address: str, path: str, subjects: Path, seconds: float, *, same: bool) -> float:
    """Requests a second with eight clients; none may fail."""
    script = SCRIPT.replace("SUBJECTS", str(subjects)).replace("PATH", path)
    script = script.replace("START", str(time.time_ns() % 10**12)).replace("SAME", str(same).lower())
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script)
        file.flush()
        command = ["wrk", "-t1", "-c8", f"-d{seconds:g}s", "-s", file.name, address]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        raise SystemExit(f"{address}: {text}")
    found = re.search(r"Requests/sec:\s+([\d.]+)", text)
    return float(found[1]) if found else 0.0


def time_http(http: httpx.Client, address: str, query: str) -> float:
    """Seconds to the last byte, over a connection that is open already."""
    headers = {"Accept": JSON, "Accept-Encoding": "identity"}
    begun = time.perf_counter()
    with http.stream("GET", address, params={"query": query}, headers=headers) as answer:
        size = sum(map(len, answer.iter_raw(1 << 20)))
    if answer.status_code != 200 or not size:
        raise SystemExit(f"{query}: {answer.status_code}")
    return time.perf_counter() - begun


def time_in_process(store: ox.Store, query: str) -> float:
    begun = time.perf_counter()
    result = store.query(query, prefixes=dict(PREFIXES), use_default_graph_as_union=True)
    result.serialize(format=ox.QueryResultsFormat.JSON)  # type: ignore[union-attr]
    return time.perf_counter() - begun


def percentile(times: list[float], part: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


async def light_beside_heavy(address: str, seconds: float) -> list[float]:
    """The times of `ASK {}`, a new one every 20 ms, while twenty cross products run; they are begun first."""
    async with httpx.AsyncClient(timeout=120, limits=httpx.Limits(max_connections=64)) as http:
        heavy = [asyncio.create_task(http.get(address, params={"query": f"{CROSS} # {n}"})) for n in range(20)]
        times: list[float] = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            begun = time.perf_counter()
            answer = await http.get(address, params={"query": f"ASK {{}} # {len(times)}"})
            answer.raise_for_status()
            times.append(time.perf_counter() - begun)
            await asyncio.sleep(0.02)
        for task in heavy:
            task.cancel()
        await asyncio.gather(*heavy, return_exceptions=True)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release", type=Path)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/serve.md"))
    options = parser.parse_args()
    store = ox.Store.read_only(str(options.release / STORE))
    rows = store.query(f"{PREFIX} SELECT ?r {{ ?r a evkg:Result }} ORDER BY ?r", use_default_graph_as_union=True)
    count = len(store)
    lines: list[str] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evkg-serve-")))
        subjects = folder / "subjects.txt"
        iris = [row["r"].value for row in rows]  # type: ignore[union-attr]
        subjects.write_text("".join(f"{iri.replace(':', '%3A').replace('/', '%2F')}\n" for iri in iris))
        servers: dict[str, tuple[str, str]] = {}
        port = free_port()
        command = [sys.executable, "-m", "evkg.cli", "serve", "--release", str(options.release), "--port", str(port)]
        stack.enter_context(running(command, port))
        servers["evkg"] = (f"http://127.0.0.1:{port}", "/sparql")
        if shutil.which("oxigraph"):
            port, copy = free_port(), folder / "store"
            shutil.copytree(options.release / STORE, copy)
            command = ["oxigraph", "serve-read-only", "--location", str(copy), "--bind", f"127.0.0.1:{port}"]
            stack.enter_context(running([*command, "--union-default-graph"], port))
            servers["oxigraph serve-read-only"] = (f"http://127.0.0.1:{port}", "/query")
        if shutil.which("rdflib-endpoint"):
            port, data = free_port(), folder / "graph.nt"
            quads = ox.parse(path=str(options.release / GRAPH), format=ox.RdfFormat.N_QUADS)
            ox.serialize((quad.triple for quad in quads), str(data), format=ox.RdfFormat.N_TRIPLES)
            command = ["rdflib-endpoint", "serve", "--store", "Oxigraph", "--port", str(port), str(data)]
            stack.enter_context(running(command, port))
            servers["rdflib-endpoint (Oxigraph)"] = (f"http://127.0.0.1:{port}", "/")
        new: dict[str, list[float]] = {name: [] for name in servers}
        same: list[float] = []
        for _ in range(ROUNDS):
            for name, (address, path) in servers.items():
                new[name].append(wrk(address, path, subjects, options.seconds, same=False))
            same.append(wrk(*servers["evkg"], subjects, options.seconds, same=True))
        ours = median(new["evkg"])
        lines += ["| light query, 8 clients | requests/s | evkg is | asked before, evkg is |", "|---|---|---|---|"]
        lines.append(f"| evkg, every query new | {ours:,.0f} | | |")
        lines.append(f"| evkg, asked before | {median(same):,.0f} | | |")
        for name, rates in new.items():
            if name != "evkg":
                rate = median(rates)
                lines.append(f"| {name} | {rate:,.0f} | {ours / rate:.2f}x | {median(same) / rate:.2f}x |")
        lines += ["", "| heavy query | pyoxigraph in process (s) | over HTTP (s) | ratio |", "|---|---|---|---|"]
        address = "".join(servers["evkg"])
        http = stack.enter_context(httpx.Client(timeout=120))
        for name, query in HEAVY.items():
            near, far = [], []
            for number in range(HEAVY_ROUNDS):
                near.append(time_in_process(store, query))
                far.append(time_http(http, address, f"{query} # {number}"))
            lines.append(f"| {name} | {median(near):.3f} | {median(far):.3f} | {median(far) / median(near):.2f} |")
        times = asyncio.run(light_beside_heavy(address, 10))
        lines += ["", "| `ASK {}` while 20 cross products run | ms |", "|---|---|"]
        lines += [
            f"| {part:.0%} of {len(times)} | {percentile(times, part) * 1000:.0f} |" for part in (0.5, 0.95, 0.99)
        ]
    load = os.getloadavg()[0]
    note = (
        f"Written by `python benchmarks/serve.py` on {count:,} triples, {os.cpu_count()} cores, Python"
        f" {sys.version.split()[0]}, load {load:.1f} at the end. Requests a second are medians of {ROUNDS} rounds in"
        " turn; a light query asks for all properties of one result (about 20 rows). Of heavy queries it is the"
        f" median of {HEAVY_ROUNDS}, in turn, each of them new to the cache of answers."
    )
    head = ["# The endpoint beside others", "", note, ""]
    options.out.write_text("\n".join([*head, *lines, ""]), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
