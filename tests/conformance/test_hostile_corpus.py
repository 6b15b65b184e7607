"""Three hundred hostile queries against a server as users start it: it answers, in time, and touches nothing."""

from __future__ import annotations

import os
import socket
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pyoxigraph as ox
import pytest

from tests.conformance.hostile import hostile_queries
from tests.test_serving import Server, server, until

LIMIT = 2.0
DIRECT = {"Content-Type": "application/sparql-query"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "store"
    store = ox.Store(str(path))
    predicates = [ox.NamedNode(f"urn:p:{n}") for n in range(5)]
    store.extend(
        ox.Quad(ox.NamedNode(f"urn:s:{n}"), predicates[n % 5], ox.Literal(f"text {n}"), ox.NamedNode("urn:g"))
        for n in range(3000)
    )
    store.flush()
    return path


def ask(served: Server, query: str) -> tuple[str, float, str]:
    """What came of a query, in how many seconds, and the words of an error."""
    begun = time.monotonic()
    try:
        answer = httpx.post(f"{served.address}/sparql", content=query.encode(), headers=DIRECT, timeout=60)
        outcome, words = str(answer.status_code), answer.text[:300] if answer.status_code >= 400 else ""
        if answer.status_code == 503:
            outcome = f"503 {answer.headers.get('x-evkg-limit')}"
    except httpx.RemoteProtocolError:
        outcome, words = "cut", ""
    return outcome, time.monotonic() - begun, words


@pytest.mark.long
def test_hostile_queries_harm_nobody(folder: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # whoever opened it would hang, and be seen
    options = (
        "--time-limit",
        str(LIMIT),
        "--memory",
        "1GiB",
        "--rows",
        "200000",
        "--bytes",
        "32MiB",
        "--waiting",
        "64",
    )
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        server("--store", str(folder), *options) as served,
        ThreadPoolExecutor(6) as pool,
    ):
        queries = list(hostile_queries(listener.getsockname()[1], str(pipe)))
        assert len(set(queries)) >= 300
        ask(served, "ASK {}")
        before = served.resident_bytes()
        outcomes = list(pool.map(lambda query: ask(served, query), queries))
        kinds = Counter(outcome for outcome, _, _ in outcomes)
        wrong = [(query[:200], got) for query, got in zip(queries, outcomes, strict=True) if got[0] not in ALLOWED]
        assert wrong == []
        assert {"200", "400", "413", "503 time"} <= set(kinds), kinds
        slowest = max(outcomes, key=lambda got: got[1])
        assert slowest[1] < LIMIT + 1, slowest
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
        with pytest.raises(OSError, match="No such device"):
            os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        assert ask(served, "ASK { ?s ?p ?o }")[0] == "200"
        assert httpx.get(f"{served.address}/health").status_code == 200
        until(lambda: len(served.workers()) <= 6)
        assert served.resident_bytes() - before < 60 << 20
        workers = served.workers()
        served.process.terminate()
        assert served.process.wait(20) == 0
        assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]


ALLOWED = {"200", "400", "413", "cut", *(f"503 {limit}" for limit in ("time", "memory", "rows", "bytes", "waiting"))}
