"""A release that a Dask cluster helped to make is the same as any other; what goes wrong there is one sentence."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from benchmarks import generate

from evkg.errors import UsageError
from evkg.release import STORE, Release
from evkg.release import open as open_release
from tests.builds import run_evkg

TIME = "2026-11-01T00:00:00Z"
#: Runs a build while the processes that begin to read are killed: the first one, or one after the other.
KILLING = """
import os, signal, sys, threading, time
from pathlib import Path
from evkg.cli import main
often = sys.argv.pop(1) == "often"
out = Path(sys.argv[sys.argv.index("--out") + 1])
def kill():
    gone = set()
    while often or not gone:
        for folder in out.glob(".building-*/parts/*-[0-9]*-[0-9]*"):  # machine, process and thread
            pid = int(folder.name.split("-")[-2])
            if folder.is_dir() and pid not in gone:
                gone.add(pid)
                os.kill(pid, signal.SIGKILL)
                break
        time.sleep(0.01)
threading.Thread(target=kill, daemon=True).start()
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of several portions, which has records that were withdrawn."""
    file = tmp_path_factory.mktemp("data") / "records.jsonl"
    generate.write(generate.Catalogue(0.06, 1), file)
    return file


@pytest.fixture(scope="module")
def plain(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Release:
    """A release as it is made without a cluster."""
    out = tmp_path_factory.mktemp("plain") / "out"
    run = run_evkg("build", data, "--out", out, "--at", TIME)
    assert run.returncode == 0, run.stderr
    return open_release(out)


def assert_same(release: Release, plain: Release) -> None:
    """All files but those of the store have the same bytes; the stores hold the same quads."""
    assert files(release.folder) == files(plain.folder)
    assert {str(quad) for quad in release.store} == {str(quad) for quad in plain.store}


def files(folder: Path) -> dict[str, bytes]:
    found = (file for file in folder.rglob("*") if file.is_file() and folder / STORE not in file.parents)
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in found}


def assert_one_sentence(run: subprocess.CompletedProcess[bytes], out: Path, said: str) -> None:
    assert run.returncode == 2, run
    assert re.fullmatch(rf"evkg: .*{said}.*\n", run.stderr.decode()), run.stderr
    assert not out.exists() or [entry.name for entry in out.iterdir()] == [".lock"]


def build_while_killing(how: str, data: Path, out: Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", KILLING, how, "build", str(data), "--out", str(out), "--at", TIME]
    return subprocess.run([*command, "--runner", "dask"], capture_output=True, timeout=120, check=False)


def test_without_dask_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    program = "import sys; sys.modules['distributed'] = None; from evkg.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "build", "--out", str(tmp_path / "out"), "--runner", "dask"]
    run = subprocess.run(command, capture_output=True, check=False)
    assert_one_sentence(run, tmp_path / "out", r"pip install 'evkg\[cluster\]'")


def test_without_dask_there_is_no_runner(monkeypatch: pytest.MonkeyPatch) -> None:
    from evkg.cluster import dask_runner

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="optional part"):
        dask_runner()


@pytest.mark.long
def test_a_cluster_on_this_machine_makes_the_same_release(data: Path, plain: Release, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    run = run_evkg("build", data, "--out", tmp_path / "out", "--at", TIME, "--runner", "dask")
    assert (run.returncode, run.stderr) == (0, b"")
    assert_same(open_release(tmp_path / "out"), plain)


@pytest.mark.long
def test_a_process_that_dies_changes_nothing(data: Path, plain: Release, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    run = build_while_killing("once", data, tmp_path / "out")
    assert (run.returncode, run.stderr) == (0, b"")
    assert_same(open_release(tmp_path / "out"), plain)


@pytest.mark.long
def test_processes_that_die_again_and_again_are_one_sentence(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    run = build_while_killing("often", data, tmp_path / "out")
    assert_one_sentence(run, tmp_path / "out", "died again and again")


@contextmanager
def scheduler(folder: Path, *, path: str = "") -> Iterator[str]:
    """The address of a scheduler with two worker processes; `path` is put before what Python finds there."""
    about = folder / "scheduler.json"
    here = {**os.environ, "PYTHONPATH": path}
    common = ("--scheduler-file", str(about), "--no-dashboard")
    with (folder / "log").open("wb") as log:
        started = [
            subprocess.Popen([sys.executable, "-m", f"distributed.cli.dask_{what}", *options, *common],
                             cwd=folder, env=here, stdout=log, stderr=log)
            for what, options in (
                ("scheduler", ("--host", "127.0.0.1", "--port", "0")),
                ("worker", ("--nworkers", "2", "--nthreads", "2", "--host", "127.0.0.1")),
            )
        ]  # fmt: skip
        try:
            for _ in range(200):
                found = re.search(r"tcp://[\d.]+:\d+", about.read_text()) if about.is_file() else None
                if found and (folder / "log").read_text(errors="replace").count("Registered to") == 2:
                    break
                time.sleep(0.1)
            assert found, (folder / "log").read_text(errors="replace")
            yield found[0]
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait(30)


@pytest.mark.long
def test_a_cluster_that_runs_elsewhere_makes_the_same_release(data: Path, plain: Release, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    with scheduler(tmp_path) as address:
        for name in ("first", "second"):
            # Named from the folder of the command, of which other machines know nothing.
            run = run_evkg(
                *("build", data.name, "--out", os.path.relpath(tmp_path / name, data.parent)),
                *("--at", TIME, "--scheduler", address),
                cwd=data.parent,
            )
            assert (run.returncode, run.stderr) == (0, b"")
            assert_same(open_release(tmp_path / name), plain)


@pytest.mark.long
def test_a_machine_with_another_evkg_is_one_sentence(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    import evkg

    other = tmp_path / "other"
    source = Path(str(evkg.__file__)).parent
    for folder in ("ontology", "shapes", "queries"):
        (other / folder).parent.mkdir(exist_ok=True)
        (other / folder).symlink_to(source.parents[1] / folder)
    (other / "src").mkdir()
    (other / "src" / "evkg").mkdir()
    for entry in source.iterdir():
        if entry.name != "fact.py":
            (other / "src" / "evkg" / entry.name).symlink_to(entry)
    changed = (source / "fact.py").read_text(encoding="utf-8") + "\n# Another version.\n"
    (other / "src" / "evkg" / "fact.py").write_text(changed, encoding="utf-8")
    with scheduler(tmp_path, path=str(other / "src")) as address:
        run = run_evkg("build", data, "--out", tmp_path / "out", "--scheduler", address)
    assert_one_sentence(run, tmp_path / "out", "another evkg")


@pytest.mark.long
def test_a_scheduler_that_is_not_there_is_one_sentence(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    for address in ("tcp://127.0.0.1:1", "nonsense", "tcp://"):
        run = run_evkg("build", data, "--out", tmp_path / "out", "--scheduler", address)
        assert_one_sentence(run, tmp_path / "out", "No Dask scheduler answers at")
