"""A server at full load for a while: light, heavy, long, cut and broken off queries at once; nothing may be lost.

    python benchmarks/soak.py RELEASE [--minutes 10] [--out benchmarks/soak.md]

Ends with status 1 if a light query got another answer than it must, if memory or processes grew, or if the server
said anything on standard error that it should not.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpx

CROSS: Final = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
LONG: Final = "SELECT * { ?s ?p ?o }"
TIME_LIMIT: Final = 8


def resident_bytes(process: int) -> int:
    words = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE")


def children(process: int) -> list[int]:
    """The processes that a process has made, and those that these have made."""
    try:
        words = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
    except OSError:
        return []
    return [found for word in words for found in (int(word), *children(int(word)))]


class Load:
    """Clients of several kinds that ask until they are told to stop; what came of it is counted."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.times: list[float] = []
        self.is_over = threading.Event()

    def light(self, http: httpx.Client) -> None:
        """A query with a number of its own, whose answer must be that number."""
        number = random.randrange(10**9)  # noqa: S311 - no secret
        begun = time.monotonic()
        answer = http.get(f"{self.address}/sparql", params={"query": f"SELECT ({number} AS ?n) {{}}"})
        self.times.append(time.monotonic() - begun)
        self.counts[f"light {answer.status_code}"] += 1
        if answer.status_code != 200 or answer.json()["results"]["bindings"][0]["n"]["value"] != str(number):
            self.wrong.append(f"{answer.status_code}: {answer.text[:200]}")

    def heavy(self, http: httpx.Client) -> None:
        """A query that runs into the limit of time, or finds no place."""
        text = f"{CROSS} # {random.randrange(10**9)}"  # noqa: S311
        answer = http.get(f"{self.address}/sparql", params={"query": text})
        self.counts[f"heavy {answer.status_code} {answer.headers.get('x-evkg-limit')}"] += 1
        if answer.status_code != 503:
            self.wrong.append(f"{answer.status_code}: {answer.text[:200]}")

    def long(self, http: httpx.Client) -> None:
        """A long answer, which is whole, refused, or visibly cut."""
        url, headers = f"{self.address}/sparql", {"Accept": "text/csv"}
        try:
            with http.stream("GET", url, params={"query": LONG}, headers=headers) as answer:
                for _ in answer.iter_bytes():
                    pass
            self.counts[f"long {answer.status_code}"] += 1
        except httpx.RemoteProtocolError:
            self.counts["long cut"] += 1

    def rude(self, _: httpx.Client) -> None:
        """A client that hangs up in the middle."""
        host, port = self.address.removeprefix("http://").split(":")
        query = random.choice((CROSS, LONG)).replace(" ", "%20")  # noqa: S311
        with socket.create_connection((host, int(port)), 30) as connection:
            connection.sendall(f"GET /sparql?query={query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            time.sleep(random.random())  # noqa: S311
        self.counts["rude"] += 1

    def broken(self, http: httpx.Client) -> None:
        """A query that is none."""
        answer = http.post(f"{self.address}/sparql", data={"query": "SELECT * { ?s xx:p"})
        self.counts[f"broken {answer.status_code}"] += 1
        if answer.status_code != 400:
            self.wrong.append(answer.text[:200])

    def repeat(self, kind: Callable[[httpx.Client], None]) -> None:
        with httpx.Client(timeout=60) as http:
            while not self.is_over.is_set():
                try:
                    kind(http)
                except httpx.HTTPError as error:
                    self.wrong.append(f"{kind.__name__}: {type(error).__name__} {error}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release", type=Path)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/soak.md"))
    options = parser.parse_args()
    command = [sys.executable, "-m", "evkg.cli", "serve", "--release", str(options.release), "--port", "0"]
    command += ["--time-limit", str(TIME_LIMIT), "--waiting", "16", "--cache", "8MiB"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None  # noqa: S101 - it is a pipe
        greeting = process.stderr.readline()
        load = Load(greeting.rpartition(" at ")[2].partition("/ until")[0])
        kinds = [load.light] * 3 + [load.heavy] * 6 + [load.long] * 2 + [load.rude] * 2 + [load.broken]
        threads = [threading.Thread(target=load.repeat, args=(kind,)) for kind in kinds]
        for thread in threads:
            thread.start()
        end = time.monotonic() + options.minutes * 60
        sizes: list[int] = []
        while time.monotonic() < end:
            time.sleep(5)
            sizes.append(resident_bytes(process.pid))
        load.is_over.set()
        for thread in threads:
            thread.join()
        time.sleep(TIME_LIMIT / 2)
        workers = len(children(process.pid))
        growth = (sizes[-1] - sizes[len(sizes) // 4]) >> 20
        process.send_signal(signal.SIGTERM)
        words, status = process.stderr.read(), process.wait(30)
    times = sorted(load.times)
    said = [line for line in words.splitlines() if "An answer was cut" not in line]
    problems = [*load.wrong[:10], *said[:10]]
    if growth > 50 or workers > 10 or status:
        problems.append("memory, processes or status are not as they should be")
    facts = {kind: f"{count:,}" for kind, count in sorted(load.counts.items())}
    for part in (0.5, 0.95, 0.99):
        facts[f"light queries, {part:.0%} within"] = f"{times[int(len(times) * part)] * 1000:.0f} ms"
    facts["memory of the server at the end"] = f"{sizes[-1] >> 20} MiB"
    facts["more than after a quarter of the time"] = f"{growth} MiB"
    facts["processes of workers at the end"] = str(workers)
    facts["exit status of the server"] = str(status)
    facts["wrong answers, and words on standard error"] = str(len(load.wrong) + len(said))
    note = (
        f"Written by `python benchmarks/soak.py --minutes {options.minutes:g}` on {os.cpu_count()} cores, Python"
        f" {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f} at the end, time limit {TIME_LIMIT} s. At once and"
        " without a pause: 3 clients with light queries whose answer is known, 6 with cross products that run into the"
        " limit, 2 that read all rows, 2 that hang up in the middle, 1 with queries that are none."
    )
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    text = f"# A server at full load\n\n{note}\n\n| | |\n|---|---|\n{rows}\n"
    options.out.write_text(text, encoding="utf-8")
    print(text)
    print("\n".join(problems) or "nothing was lost")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
