"""Ctrl-C and kill at any moment: the old release still serves, no process and no litter stays, and one line tells."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchmarks import generate

from evkg.release import open as open_release
from tests.builds import ROOT, build_draft, copy_seed, run_evkg

TIME = "2026-11-01T00:00:00Z"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set that several processes read."""
    file = tmp_path_factory.mktemp("data") / "records.jsonl"
    generate.write(generate.Catalogue(0.06, 1), file)
    return file


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder with a release of another data set."""
    build_draft(copy_seed(tmp_path / "graph"), tmp_path / "out")
    return tmp_path / "out"


def start(home: Path, *arguments: str | Path) -> subprocess.Popen[bytes]:
    """`evkg` as a terminal starts it: with all its processes in a group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "evkg.cli", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "XDG_CACHE_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def living(session: int) -> list[str]:
    """The processes of a session that are alive, some moments after it ended."""
    for _ in range(50):
        found = subprocess.run(["ps", "-o", "stat=,args=", "-s", str(session)], capture_output=True, check=False)
        alive = [line for line in found.stdout.decode().splitlines() if not line.startswith("Z")]
        if not alive:
            return []
        time.sleep(0.1)
    return alive


def interrupt(process: subprocess.Popen[bytes], after: float) -> None:
    """Press Ctrl-C: every process of the group is told."""
    time.sleep(after)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=30)
    # Who is interrupted before there is a program to say so ends as Python does.
    if process.returncode not in (0, -signal.SIGINT) and b"<frozen" not in error:
        assert (process.returncode, error) == (130, b"evkg: Interrupted.\n")


@pytest.mark.parametrize("seed", range(3))
def test_ctrl_c_ends_a_build_in_one_line_and_leaves_nothing(data: Path, out: Path, seed: int) -> None:
    before = open_release(out).id
    process = start(out.parent, "build", data, "--out", out, "--at", TIME)
    interrupt(process, random.Random(seed).uniform(0.5, 2.5))
    assert living(process.pid) == []
    assert {entry.name for entry in out.iterdir()} >= {".lock", "current", before}
    assert not list(out.glob(".building-*"))
    assert len(open_release(out).store) == open_release(out).manifest["counts"]["quads"]


@pytest.mark.parametrize("seed", range(3))
def test_a_build_that_is_killed_takes_its_processes_along(data: Path, out: Path, seed: int) -> None:
    before = open_release(out).id
    process = start(out.parent, "build", data, "--out", out, "--at", TIME)
    time.sleep(random.Random(seed).uniform(0.3, 2.0))
    process.kill()
    process.communicate(timeout=30)
    assert living(process.pid) == []
    assert open_release(out).id == before or process.returncode == 0
    # The next build clears away what it left.
    assert run_evkg("build", out.parent / "graph", "--out", out, "--at", TIME, "--draft").returncode == 0
    assert not list(out.glob(".building-*"))


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_check_leaves_nothing_that_misleads_the_next(
    data: Path, tmp_path: Path, kind: signal.Signals
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for after in (0.4, 0.8, 1.3):
        process = start(home, "check", data)
        if kind == signal.SIGINT:
            interrupt(process, after)
        else:
            time.sleep(after)
            process.kill()
            process.communicate(timeout=30)
        assert living(process.pid) == []
    checked = run_evkg("check", data, environment={"XDG_CACHE_HOME": str(home)})
    afresh = run_evkg("check", data, "--no-cache")
    assert checked.stdout == afresh.stdout
    assert checked.returncode == afresh.returncode
    assert len(list((home / "evkg").iterdir())) == 1


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_ctrl_c_ends_a_build_on_a_cluster_in_one_line(data: Path, out: Path, seed: int) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    process = start(out.parent, "build", data, "--out", out, "--at", TIME, "--runner", "dask")
    interrupt(process, random.Random(seed).uniform(0.5, 4.0))
    assert living(process.pid) == []
    assert not list(out.glob(".building-*"))


@pytest.mark.long
def test_a_build_on_a_cluster_that_is_killed_takes_its_processes_along(data: Path, out: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    for after in (1.0, 2.5):
        process = start(out.parent, "build", data, "--out", out, "--at", TIME, "--runner", "dask")
        time.sleep(after)
        process.kill()
        process.communicate(timeout=30)
        assert living(process.pid) == []
