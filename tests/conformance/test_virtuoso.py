"""Virtuoso as the remote store of a release: its graph loaded there, pages and questions answered from here."""

from __future__ import annotations

import csv
import io
import shutil
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from evkg.questions import load_questions
from tests.test_serving import Server, is_open, server, until

#: Debian's package virtuoso-opensource-7-bin; what is said here holds for its version 7.2.5.
SERVER, CLIENT = shutil.which("virtuoso-t"), shutil.which("isql-vt")
SETTINGS = """
[Database]
DatabaseFile = virtuoso.db
ErrorLogFile = virtuoso.log
LockFile = virtuoso.lck
TransactionFile = virtuoso.trx
xa_persistent_file = virtuoso.pxa
[TempDatabase]
DatabaseFile = temp.db
TransactionFile = temp.trx
[Parameters]
ServerPort = {sql}
ServerThreads = 20
NumberOfBuffers = 10000
DirsAllowed = .
[HTTPServer]
ServerPort = {http}
ServerRoot = .
ServerThreads = 10
[SPARQL]
ResultSetMaxRows = 1000000
MaxQueryExecutionTime = 30
"""
#: Questions whose query its compiler gives up ("Internal error", "Bad dfe in sqlo_place_exp").
REFUSED = {"author-and-independent", "comparable", "completeness-by-kind", "conflicting-claims"}
#: Questions with another answer there: STRAFTER keeps the separator, IF and MIN over mixed types, ROUND of a decimal.
DIFFERENT = {
    *("bare-values", "completeness-by-field", "completeness-by-source", "external-matches", "inference-memory-budget"),
    *("not-extracted", "optimisation-stages", "reasons-as-values", "review-coverage", "uncertainty-coverage"),
    "unexplained-gaps",
}
PAGES = ("/", "/id/gena-lm", "/record/gena-lm", "/questions", "/results", "/sparql", "/search?q=gena")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def virtuoso(folder: Path, nquads: Path) -> Iterator[str]:
    """The address of a Virtuoso with the quads of a file."""
    sql, http = free_port(), free_port()
    (folder / "virtuoso.ini").write_text(SETTINGS.format(sql=sql, http=http), encoding="ascii")
    shutil.copy(nquads, folder / "graph.nq")
    with subprocess.Popen(
        [str(SERVER), "-f", "-c", "virtuoso.ini"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            until(lambda: is_open(http), 60)
            # 512: each line names its graph.
            load = "DB.DBA.TTLP(file_to_string_output('graph.nq'), '', 'urn:none', 512);"
            command = [str(CLIENT), str(sql), "dba", "dba", f"exec={load}"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
            assert "Error" not in done.stdout + done.stderr, done.stderr
            yield f"http://127.0.0.1:{http}/sparql"
        finally:
            process.kill()


@pytest.fixture(scope="module")
def served(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    """A release served from Virtuoso, and from its own store."""
    release = (workspace / "build/current").resolve()
    with (
        virtuoso(tmp_path_factory.mktemp("virtuoso"), release / "graph.nq") as address,
        server("--release", str(release), "--store", address) as far,
        server("--release", str(release)) as near,
    ):
        yield far, near


pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(SERVER is None or CLIENT is None, reason="virtuoso-t and isql-vt are not installed"),
]


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_there(served: tuple[Server, Server], path: str) -> None:
    answers = []

    def is_there() -> bool:
        """Whether it came; the index of search and evidence is made in the background (503)."""
        answers.append(httpx.get(served[0].address + path, headers={"Accept": "text/html"}, timeout=60))
        return answers[-1].status_code != 503

    until(is_there)
    assert answers[-1].status_code == 200, answers[-1].text


def test_printed_values_and_numbers_are_the_same(served: tuple[Server, Server]) -> None:
    query = "SELECT ?r ?printed ?number { ?r evkg:printedValue ?printed OPTIONAL { ?r evkg:numericValue ?number } }"
    tables = []
    for one in served:
        answer = httpx.get(f"{one.address}/sparql", params={"query": query}, headers={"Accept": "text/csv"}, timeout=60)
        assert answer.status_code == 200, answer.text
        rows = [*csv.reader(io.StringIO(answer.text))][1:]
        tables.append(sorted((record, printed, Decimal(number or "NaN")) for record, printed, number in rows))
    assert len(tables[0]) > 10
    assert [row[:2] for row in tables[0]] == [row[:2] for row in tables[1]]
    assert [str(row[2].normalize()) for row in tables[0]] == [str(row[2].normalize()) for row in tables[1]]


@pytest.mark.parametrize("name", sorted({*load_questions()} - REFUSED))
def test_questions_are_answered(served: tuple[Server, Server], name: str) -> None:
    far, near = (httpx.get(f"{one.address}/questions/{name}.csv", timeout=60) for one in served)
    assert (far.status_code, near.status_code) == (200, 200), far.text
    if name not in DIFFERENT:
        rows = [Counter(map(tuple, csv.reader(io.StringIO(answer.text)))) for answer in (far, near)]
        assert rows[0] == rows[1]


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_it_cannot_compile_is_told(served: tuple[Server, Server], name: str) -> None:
    answer = httpx.get(f"{served[0].address}/questions/{name}.csv", timeout=60)
    assert answer.status_code in (400, 502)
    assert "Virtuoso" in answer.json()["detail"]
