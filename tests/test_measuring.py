"""The tool that benchmarks measure with: all processes count, what they share counts once, a limit is kept."""

from __future__ import annotations

import os
import sys
import time

import pytest
from benchmarks.measuring import Cost, TooLongError, family, measure

#: Takes 80 MB, waits, and starts another that does so too, as a daemon that nobody waits for.
TWO = """
import subprocess, sys, time
held = bytearray(b"x") * 80_000_000
if len(sys.argv) > 1:
    subprocess.Popen([sys.executable, sys.argv[1]], start_new_session=True)
time.sleep(0.5)
"""
#: Forks after it took 80 MB, so both have the same pages.
FORKED = """
import os, time
held = bytearray(b"x") * 80_000_000
if not os.fork():
    time.sleep(0.4)
    os._exit(0)
time.sleep(0.4)
os.wait()
"""


def run(code: str, *arguments: str, limit: float | None = None) -> Cost:
    return measure([sys.executable, "-c", code, *arguments], limit=limit)


def test_the_memory_of_all_processes_is_added(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("code") / "two.py"
    file.write_text(TWO, encoding="utf-8")
    one = run(TWO)
    assert 80 < one.memory < 110
    assert 160 < run(TWO, str(file)).memory < 220


def test_what_processes_share_counts_once() -> None:
    assert 80 < run(FORKED).memory < 120


def test_times_are_those_of_the_process() -> None:
    cost = run("import time; time.sleep(0.3); print('done')")
    assert 0.3 <= cost.wall < 3
    assert cost.processor < 0.3
    assert cost.printed == "done\n"
    busy = run("import time\nwhile time.process_time() < 0.4: pass")
    assert busy.processor >= 0.38


def test_what_takes_too_long_is_stopped_with_all_that_it_started(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("code") / "two.py"
    file.write_text("import time; time.sleep(60)", encoding="utf-8")
    started = time.perf_counter()
    code = "import subprocess, sys, time; subprocess.Popen([sys.executable, sys.argv[1]]); time.sleep(60)"
    with pytest.raises(TooLongError):
        run(code, str(file), limit=0.5)
    assert time.perf_counter() - started < 10
    assert family(os.getpid()) == [os.getpid()]


def test_a_failure_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="ended with 3"):
        run("import sys; print('why', file=sys.stderr); sys.exit(3)")
    assert "why" in capfd.readouterr().err
