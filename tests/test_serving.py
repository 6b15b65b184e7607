"""A server as users start it, over real sockets: long answers, clients that leave, limits, logs, newer releases."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import pyoxigraph as ox
import pytest

from evkg.build import build_release
from tests.conftest import ROOT, SEED

#: 1000 x 1000 rows, and a query that no machine finishes.
MILLION = "SELECT ?s ?t { ?s <urn:p> ?o . ?t <urn:p> ?u }"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }"


def children(process: int) -> list[int]:
    path = Path(f"/proc/{process}/task/{process}/children")
    return [int(word) for word in path.read_text(encoding="ascii").split()] if path.exists() else []


@dataclass
class Server:
    process: subprocess.Popen[str]
    address: str
    metrics: str = ""
    greeting: str = ""

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def workers(self) -> list[int]:
        """The workers, which are made by a process that the server makes."""
        return [worker for nursery in children(self.process.pid) for worker in children(nursery)]

    def seconds_used(self) -> float:
        """Processor time of all workers that are there now."""
        ticks = 0
        for worker in self.workers():
            with_times = Path(f"/proc/{worker}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            ticks += int(with_times[11]) + int(with_times[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        words = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()
        return int(words[1]) * os.sysconf("SC_PAGE_SIZE")

    def metric(self, name: str) -> float:
        text = httpx.get(self.metrics, timeout=30).text
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        assert found is not None, text
        return float(found[1])


@contextmanager
def server(*options: str) -> Iterator[Server]:
    command = [sys.executable, "-m", "evkg.cli", "serve", "--port", "0", "--metrics", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            greeting = process.stderr.readline()
            assert " at http" in greeting, greeting + process.stderr.read()
            metrics = process.stderr.readline()
            address = greeting.rpartition(" at ")[2].partition("/ until")[0]
            yield Server(process, address, metrics.rpartition(" at ")[2].strip(), greeting)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("serving") / "store"
    store = ox.Store(str(path))
    predicate = ox.NamedNode("urn:p")
    store.extend(ox.Quad(ox.NamedNode(f"urn:s:{n}"), predicate, ox.Literal(f"a text, {n}")) for n in range(1000))
    store.flush()
    return path


def until(condition: object, seconds: float = 20) -> None:
    """Wait for something that will surely happen."""
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.02)


def is_open(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def send(port: int, request: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), 30)
    connection.sendall(request.encode())
    return connection


def get(query: str, accept: str = "text/csv", version: str = "1.1", coding: str = "identity") -> str:
    head = f"Host: localhost\r\nAccept: {accept}\r\nAccept-Encoding: {coding}\r\n"
    return f"GET /sparql?query={quote(query)} HTTP/{version}\r\n{head}\r\n"


# Long answers.


@pytest.mark.parametrize("coding", ["identity", "gzip", "zstd"])
def test_a_million_rows_begin_at_once_and_the_server_stays_small(folder: Path, coding: str) -> None:
    with server("--store", str(folder)) as served, httpx.Client(timeout=60) as http:
        url, headers = f"{served.address}/sparql", {"Accept": "text/csv", "Accept-Encoding": coding}
        http.get(url, params={"query": "ASK {}"})
        before = served.resident_bytes()
        begun = time.monotonic()
        size, first, most = 0, 0.0, 0
        with http.stream("GET", url, params={"query": MILLION}, headers=headers) as answer:
            for piece in answer.iter_raw():
                first = first or time.monotonic() - begun
                size += len(piece)
                most = max(most, served.resident_bytes())
        assert "seconds=30" in answer.headers["x-evkg-limits"]
        assert first < 1.5  # 0.2 s on a machine that has nothing else to do
        assert size > (20_000_000 if coding == "identity" else 100_000)
        assert most - before < 40 << 20
        assert served.metric("evkg_answers_cut_total") == 0


@pytest.mark.parametrize("accept", ["text/csv", "application/sparql-results+json"])
@pytest.mark.parametrize("option", ["--rows=300000", "--bytes=9MiB"])
def test_an_answer_that_is_cut_never_ends(folder: Path, tmp_path: Path, accept: str, option: str) -> None:
    log = tmp_path / "access.jsonl"
    with server("--store", str(folder), option, "--access-log", str(log)) as served:
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.get(f"{served.address}/sparql", params={"query": MILLION}, headers={"Accept": accept}, timeout=60)
        for coding in ("identity", "gzip"):
            with send(served.port, get(MILLION, accept, coding=coding)) as connection:
                body = b"".join(iter(lambda: connection.recv(1 << 20), b""))
                assert not body.endswith(b"\r\n0\r\n\r\n")
        assert served.metric("evkg_answers_cut_total") == 3
        name = option[2:].partition("=")[0]
        assert served.metric(f'evkg_limited_total{{limit="{name}"}}') == 3
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        assert [(line["status"], line["whole"], line["limit"]) for line in lines] == [(200, False, name)] * 3
        answer = httpx.get(f"{served.address}/sparql?query=ASK%20%7B%7D")
        assert answer.json()["boolean"] is True


def test_a_worker_that_dies_in_the_middle_cuts_the_answer(folder: Path) -> None:
    with (
        server("--store", str(folder)) as served,
        httpx.stream("GET", f"{served.address}/sparql", params={"query": MILLION}, timeout=60) as answer,
    ):
        pieces = answer.iter_raw()
        next(pieces)
        for worker in served.workers():
            os.kill(worker, signal.SIGKILL)
        with pytest.raises(httpx.RemoteProtocolError):
            b"".join(pieces)


def test_to_old_clients_an_answer_is_whole_or_an_error(folder: Path) -> None:
    with server("--store", str(folder)) as served:
        with send(served.port, get("SELECT ?s ?t { ?s <urn:p> ?o . ?t <urn:p> ?u } LIMIT 100000", version="1.0")) as c:
            head, _, body = b"".join(iter(lambda: c.recv(1 << 20), b"")).partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        assert length is not None
        assert (len(body), b"chunked" in head, body.count(b"\r\n")) == (int(length[1]), False, 100_001)
        with send(served.port, get(f"{MILLION} #", "application/sparql-results+json", version="1.0")) as c:
            text = b"".join(iter(lambda: c.recv(1 << 20), b""))
        assert text.startswith(b"HTTP/1.1 503 ")
        assert b"x-evkg-limit: bytes" in text


def test_head_of_a_long_answer_does_not_run_it_to_its_end(folder: Path) -> None:
    with server("--store", str(folder)) as served:
        begun = time.monotonic()
        answer = httpx.head(f"{served.address}/sparql", params={"query": MILLION}, timeout=60)
        assert (answer.status_code, answer.content) == (200, b"")
        assert "x-evkg-limits" in answer.headers
        assert time.monotonic() - begun < 5


# Clients that leave, and queries that stay.


@pytest.mark.parametrize("method", ["GET", "POST", "FORM"])
def test_a_client_that_hangs_up_stops_its_query(folder: Path, method: str) -> None:
    with server("--store", str(folder)) as served:
        form = f"query={quote(ENDLESS)}"
        kinds = {"POST": ("application/sparql-query", ENDLESS), "FORM": ("application/x-www-form-urlencoded", form)}
        request = get(ENDLESS)
        if method in kinds:
            kind, body = kinds[method]
            head = f"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
            request = f"{head}Content-Length: {len(body)}\r\n\r\n{body}"
        with send(served.port, request):
            until(lambda: served.metric('evkg_places_free{lane="heavy"}') == 2)
        until(lambda: served.metric('evkg_places_free{lane="heavy"}') == 3)
        used = served.seconds_used()
        time.sleep(0.5)
        assert served.seconds_used() - used < 0.3


def test_a_client_that_hangs_up_in_a_long_answer_stops_it(folder: Path) -> None:
    with server("--store", str(folder)) as served:
        with send(served.port, get(MILLION)) as connection:
            connection.recv(1000)
            until(lambda: served.metric('evkg_places_free{lane="heavy"}') == 2)
        until(lambda: served.metric('evkg_places_free{lane="heavy"}') == 3)


def test_light_queries_stay_fast_beside_heavy_ones(folder: Path) -> None:
    async def main(address: str) -> tuple[list[float], list[httpx.Response]]:
        async with httpx.AsyncClient(base_url=address, timeout=60, limits=httpx.Limits(max_connections=50)) as http:
            heavy = [
                asyncio.create_task(http.get("/sparql", params={"query": f"{ENDLESS} # {number}"}))
                for number in range(20)
            ]
            await asyncio.sleep(4)
            times = []
            for number in range(100):
                begun = time.monotonic()
                answer = await http.get("/sparql", params={"query": f"ASK {{}} # {number}"})
                assert answer.status_code == 200
                times.append(time.monotonic() - begun)
            return sorted(times), await asyncio.gather(*heavy)

    with server("--store", str(folder), "--time-limit", "12") as served:
        begun = time.monotonic()
        times, answers = asyncio.run(main(served.address))
        assert times[94] < 0.25, times
        assert {answer.status_code for answer in answers} == {503}
        assert {answer.headers["x-evkg-limit"] for answer in answers} == {"time", "waiting"}
        assert all(("retry-after" in a.headers) == (a.headers["x-evkg-limit"] == "waiting") for a in answers)
        assert time.monotonic() - begun < 12 + 2 + 5
        until(lambda: len(served.workers()) <= 6)


# What is told of it.


def test_the_access_log_has_a_line_for_each_request_and_no_query(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "access.jsonl"
    with server("--store", str(folder), "--access-log", str(log)) as served:
        httpx.get(f"{served.address}/sparql", params={"query": "ASK { 'secret'"})
        httpx.get(f"{served.address}/sparql", params={"query": "ASK { ?secret ?p ?o }"})
        log.rename(tmp_path / "old.jsonl")
        httpx.get(f"{served.address}/nowhere?secret=1")
        until(lambda: log.exists() and log.read_text(encoding="utf-8"))  # written when the client has its answer
    lines = [json.loads(line) for line in (tmp_path / "old.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(line["status"], line["path"], line["method"]) for line in lines] == [
        (400, "/sparql", "GET"),
        (200, "/sparql", "GET"),
    ]
    assert (lines[1]["client"], lines[1]["whole"], lines[1]["cached"], lines[1]["bytes"] > 0) == (
        "127.0.0.1",
        True,
        False,
        True,
    )
    assert re.fullmatch(r"[0-9a-f]{12}", lines[1]["query_sha256"])
    assert "secret" not in json.dumps(lines)
    (after,) = log.read_text(encoding="utf-8").splitlines()
    assert (json.loads(after)["status"], "secret" in after) == (404, False)


def test_queries_are_logged_only_if_asked_for(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "access.jsonl"
    with server("--store", str(folder), "--access-log", str(log), "--log-queries") as served:
        httpx.get(f"{served.address}/sparql", params={"query": "ASK { ?s ?p 'a\nb' }"})
        httpx.get(f"{served.address}/sparql", params={"query": "ASK { ?s ?p 'ab' }"})
        until(lambda: log.read_text(encoding="utf-8").count("\n") == 2)  # a line follows the end of its answer
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert lines[1]["query"] == "ASK { ?s ?p 'ab' }"


def test_metrics_are_what_prometheus_reads(folder: Path) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    with server("--store", str(folder)) as served:
        for _ in range(3):
            httpx.get(f"{served.address}/sparql?query=ASK%20%7B%7D")
        answer = httpx.get(served.metrics)
        families = {family.name: family for family in text_string_to_metric_families(answer.text)}
        found = {
            tuple(s.labels.values()): s.value for s in families["evkg_requests"].samples if s.name.endswith("total")
        }
        assert found["sparql", "200"] == 3
        assert {"evkg_request_seconds", "evkg_workers", "evkg_queries_waiting", "process_resident_memory_bytes"} <= set(
            families
        )
        httpx.get(f"{served.address}/sparql", params={"query": "ASK {"})
        assert served.metric('evkg_requests_total{route="sparql",status="400"}') == 1


# Newer releases, proxies, the end.


def test_a_newer_release_takes_over_and_no_request_is_lost(tmp_path: Path) -> None:
    built = build_release(SEED, tmp_path / "build")
    assert built.release is not None
    second = Path(shutil.copytree(SEED, tmp_path / "second"))
    lost: list[object] = []
    seen: list[str] = []
    searches: list[int] = []
    is_over = threading.Event()
    with server("--release", str(tmp_path / "build")) as served:

        def ask() -> None:
            with httpx.Client(base_url=served.address, timeout=30) as http:
                while not is_over.is_set():
                    answer = http.get("/sparql?query=ASK%20%7B%3Fs%20%3Fp%20%3Fo%7D")
                    if answer.status_code != 200:
                        lost.append(answer)
                    seen.append(answer.headers["etag"])

        def find() -> None:
            with httpx.Client(base_url=served.address, timeout=30) as http:
                while not is_over.is_set():
                    searches.append(http.get("/search.json").status_code)

        until(lambda: httpx.get(f"{served.address}/search.json").status_code == 200, 60)
        threads = [threading.Thread(target=work) for work in (ask, ask, find)]
        for thread in threads:
            thread.start()
        try:
            for file in second.rglob("*.yaml"):
                if "dataset" not in file.name:
                    shutil.copy(file.resolve(), tmp_path / "one.yaml")
            newer = build_release(tmp_path / "one.yaml", tmp_path / "build", draft=True, is_open=True)
            assert newer.release is not None
            until(lambda: httpx.get(f"{served.address}/health").json()["release"] == newer.release.id, 40)
            count = len(seen)
            until(lambda: len(seen) > count + 20)
        finally:
            is_over.set()
            for thread in threads:
                thread.join()
        assert (lost, len(set(seen))) == ([], 2)
        assert {*searches} == {200}  # the index is there before the release
        until(lambda: len(served.workers()) <= 6)
        assert served.process.stderr is not None
        told = rf"\d{{4}}-\d\d-\d\dT[\d:]+\+00:00 release {newer.release.id} is served now, instead of .*\n"
        assert re.fullmatch(told, served.process.stderr.readline())


def two_releases(folder: Path) -> tuple[Path, Path]:
    """Two releases in a folder; the second is the current one."""
    built = []
    for data, options in ((SEED / "records" / "families.yaml", {"draft": True, "is_open": True}), (SEED, {})):
        one = build_release(data, folder, **options).release  # type: ignore[arg-type]
        assert one is not None
        built.append(one.folder)
    return built[0], built[1]


def point(folder: Path, release: Path) -> None:
    """Make a release the current one, as `ln -sfn` does."""
    link = folder / "next"
    link.symlink_to(release.name)
    link.replace(folder / "current")


def descendants(process: int) -> list[str]:
    """The commands of all processes below one; of those that are dead, nothing but their state."""
    found = []
    # Each thread has those that it started.
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    for child in [int(word) for task in tasks for word in task.read_text(encoding="ascii").split()]:
        state = Path(f"/proc/{child}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        found.append("dead" if state == "Z" else Path(f"/proc/{child}/cmdline").read_text(encoding="utf-8"))
        found += descendants(child)
    return found


@pytest.mark.long
def test_what_is_no_longer_served_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "build"
    releases = two_releases(folder)
    with server("--release", str(folder)) as served, httpx.Client(base_url=served.address, timeout=60) as http:

        def visit() -> tuple[int, int]:
            record = http.get("/search.json").json()["hits"][0]["id"]
            for path in (f"/provenance.svg?id={record}", f"/id/{record}", "/compare", "/search?q=a", "/validation"):
                assert http.get(path).status_code == 200, path
            counts = (0, 0)
            end = time.monotonic() + 30
            while time.monotonic() < end:
                processes = descendants(served.process.pid)
                assert "dead" not in processes or time.monotonic() < end - 1
                charts = sum("evkg.chart_process" in process for process in processes)
                counts = (charts, len(os.listdir(f"/proc/{served.process.pid}/fd")))  # noqa: PTH208 - a count
                if counts[0] == 1 and (not numbers or counts[1] <= numbers[0][1] + 4):
                    break
                time.sleep(0.1)
            return counts

        numbers: list[tuple[int, int]] = []
        until(lambda: http.get("/search.json").status_code == 200, 60)
        for number in range(6):
            if number:
                release = releases[(number + 1) % 2]
                point(folder, release)
                until(lambda name=release.name: http.get("/health").json()["release"] == name, 60)
            numbers.append(visit())
        assert [charts for charts, _ in numbers] == [1] * 6, numbers
        assert max(files for _, files in numbers) <= numbers[0][1] + 4, numbers


def test_a_release_that_is_cut_does_not_take_over_until_it_is_whole(tmp_path: Path) -> None:
    folder = tmp_path / "build"
    cut, current = two_releases(folder)
    records = (cut / "records.jsonl").read_bytes()
    (cut / "records.jsonl").write_bytes(records[:-10])
    with server("--release", str(folder)) as served, httpx.Client(base_url=served.address, timeout=60) as http:
        point(folder, cut)
        assert served.process.stderr is not None
        said = served.process.stderr.readline()
        assert "what was there before stays" in said
        assert f"records.jsonl has {len(records) - 10} bytes; the release was made with {len(records)}." in said
        assert http.get("/health").json()["release"] == current.name
        (cut / "records.jsonl").write_bytes(records)
        until(lambda: http.get("/health").json()["release"] == cut.name, 60)
    (cut / "records.jsonl").write_bytes(records[:100])
    command = [sys.executable, "-m", "evkg.cli", "serve", "--port", "0", "--release", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n"), "has 100 bytes" in done.stderr) == (2, 1, True), done.stderr


def test_a_path_prefix_is_understood_with_and_without_a_proxy_that_strips_it(folder: Path) -> None:
    with server("--store", str(folder), "--public-url", "https://example.org/a/b") as served, httpx.Client() as http:
        for path in ("/sparql", "/a/b/sparql"):
            assert http.get(f"{served.address}{path}?query=ASK%20%7B%7D").json()["boolean"] is True
        for path in ("/graph-store?default", "/a/b/graph-store?default"):
            assert (
                http.get(f"{served.address}{path}", headers={"Accept": "application/n-triples"}).text.count("\n")
                == 1000
            )
        assert http.get(f"{served.address}/a/bsparql").status_code == 404


NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen 127.0.0.1:{port};
    {documented}
    location /stripped/ {{ proxy_pass {address}/; }}
    location /old/ {{ proxy_pass {address}/; proxy_http_version 1.0; }}
  }}
}}
"""


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_behind_nginx_answers_are_whole_or_visibly_cut(folder: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    public = f"http://127.0.0.1:{port}/evkg"
    (shown,) = re.findall(
        r"^```nginx\n(.*?)^```$", (ROOT / "docs/deploy.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    with server("--store", str(folder), "--public-url", public, "--rows", "500000") as served:
        config = tmp_path / "nginx.conf"
        documented = shown.replace("http://127.0.0.1:8000", served.address)
        text = NGINX.format(folder=tmp_path, port=port, address=served.address, documented=documented)
        config.write_text(text, encoding="utf-8")
        with subprocess.Popen(["nginx", "-c", str(config), "-e", str(tmp_path / "error.log")]) as nginx:
            try:
                until(lambda: is_open(port))
                with httpx.Client(timeout=60) as http:
                    csv = {"Accept": "text/csv"}
                    assert f"<{public}/sparql>" in http.get(f"{public}/sparql", headers={"Accept": "text/turtle"}).text
                    answer = http.get(f"{public}/sparql", params={"query": f"{MILLION} LIMIT 400000"}, headers=csv)
                    assert answer.text.count("\n") == 400_001
                    with pytest.raises(httpx.RemoteProtocolError):
                        http.get(f"{public}/sparql", params={"query": MILLION}, headers=csv)
                    old = http.get(public.replace("/evkg", "/old/sparql"), params={"query": MILLION}, headers=csv)
                    assert (old.status_code, old.json()["limit"]) == (503, "rows")
                    # Each page has one address, and the numbers of the server none.
                    assert http.get(f"{public}/health").status_code == 200
                    assert http.get(f"{public}/evkg/health").status_code == 404
                    root = public.removesuffix("/evkg")
                    for way in ("", "/evkg", "/evkg/evkg", "/evkg/evkg/evkg", "/evkg/", "/evkg/.", "/stripped/evkg"):
                        for name in ("metrics", "%6detrics", "metrics/"):
                            assert http.get(f"{root}{way}/{name}").status_code == 404, way
                    assert "evkg_requests_total" in http.get(served.metrics).text
            finally:
                nginx.terminate()
                nginx.wait(20)


def test_the_end_waits_for_what_runs(folder: Path) -> None:
    with server("--store", str(folder)) as served:
        with send(served.port, get(f"{MILLION} LIMIT 700000")) as connection:
            connection.recv(100)
            served.process.send_signal(signal.SIGTERM)
            body = b"".join(iter(lambda: connection.recv(1 << 20), b""))
            assert body.endswith(b"\r\n0\r\n\r\n")
        assert served.process.wait(20) == 0
        assert served.process.stderr is not None
        assert served.process.stderr.read() == ""


def test_limits_that_cannot_work_are_one_clear_line(folder: Path) -> None:
    for options, words in (
        (["--workers", "0"], "workers is at least 1"),
        (["--memory", "1MiB"], "memory is at least"),
        (["--memory", "much"], "is no size such as 512MiB"),
        (["--log-queries"], "goes with --access-log"),
        (["--access-log", "/nowhere/log"], "/nowhere/log cannot be written"),
    ):
        command = [sys.executable, "-m", "evkg.cli", "serve", "--store", str(folder), "--port", "0", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr.count("\n"), words in done.stderr) == (2, 1, True), done.stderr


def test_who_listens_everywhere_is_told_that_links_need_an_address(folder: Path) -> None:
    command = [sys.executable, "-m", "evkg.cli", "serve", "--store", str(folder), "--port", "0", "--host", "0.0.0.0"]  # noqa: S104
    for more, count in (([], 1), (["--public-url", "https://example.org"], 0)):
        with subprocess.Popen([*command, *more], stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            assert "until Ctrl-C" in process.stderr.readline()
            process.send_signal(signal.SIGTERM)
            rest = process.stderr.read()
        warned = re.findall(
            r"^evkg: warning: links name http://0\.0\.0\.0:\d+, which .* --public-url URL\.$", rest, re.M
        )
        assert (len(warned), rest.count("\n")) == (count, count)


def test_metrics_are_at_no_public_path(folder: Path) -> None:
    command = [sys.executable, "-m", "evkg.cli", "serve", "--store", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = process.stderr.readline().rpartition(" at ")[2].partition("/ until")[0]
            assert httpx.get(f"{address}/metrics").status_code == 404
        finally:
            process.kill()
    with server("--store", str(folder)) as served:
        assert httpx.get(f"{served.address}/metrics", headers={"Host": served.metrics.split("/")[2]}).status_code == 404
        assert httpx.get(served.metrics.replace("/metrics", "/sparql?query=ASK%7B%7D")).status_code == 404


@pytest.mark.long
def test_slow_readers_do_not_keep_long_queries_waiting(folder: Path) -> None:
    """Both places for long queries are taken by answers that nobody reads; whoever waits gets one of them."""
    long = f"SELECT (COUNT(*) AS ?n) {{ {MILLION.partition('{')[2]}"
    with (
        server("--store", str(folder), "--workers", "4", "--time-limit", "20") as served,
        httpx.Client(timeout=60) as http,
        contextlib.ExitStack() as readers,
    ):
        slow = [readers.enter_context(send(served.port, get(f"{MILLION} # {n}"))) for n in range(2)]
        until(lambda: served.metric('evkg_places_free{lane="heavy"}') == 0)
        begun = time.monotonic()
        answers = [  # the second one has its place from the start
            http.get(f"{served.address}/sparql", params={"query": f"{long} # {n}"}, headers={"Accept": "text/csv"})
            for n in range(2)
        ]
        assert [(answer.status_code, answer.text.split()) for answer in answers] == [(200, ["n", "1000000"])] * 2
        assert time.monotonic() - begun < 10
        for reader in slow:  # they were only slow, and nothing of it is lost
            stream = readers.enter_context(reader.makefile("rb"))
            assert stream.read(12) == b"HTTP/1.1 200"
            assert stream.read().endswith(b"\r\n0\r\n\r\n")


@pytest.mark.long
def test_of_slow_readers_only_so_many_are_kept(folder: Path) -> None:
    with (
        server("--store", str(folder), "--workers", "2", "--time-limit", "20") as served,
        contextlib.ExitStack() as readers,
    ):
        slow = []
        for n in range(3):  # each waits for the one place, which the one before gives up
            slow.append(readers.enter_context(send(served.port, get(f"{MILLION} # {n}"))))
            assert slow[-1].recv(12, socket.MSG_WAITALL) == b"HTTP/1.1 200"
        stream = readers.enter_context(slow[0].makefile("rb"))
        assert not stream.read().endswith(b"\r\n0\r\n\r\n")  # cut, and visibly
        until(lambda: served.metric('evkg_limited_total{limit="reading"}') == 1)
        stream = readers.enter_context(slow[1].makefile("rb"))
        assert stream.read().endswith(b"\r\n0\r\n\r\n")
