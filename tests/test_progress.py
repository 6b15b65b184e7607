"""What people at a terminal see of long work: how much is done, how fast, how long it takes; nobody else sees it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import generate

from evkg.progress import progress_line
from tests.builds import ROOT, run_evkg


def test_work_of_unknown_size_has_no_number() -> None:
    assert progress_line("looking at the files", 0, 0, 10.0) == "looking at the files …"


@pytest.mark.parametrize(
    ("done", "seconds", "line"),
    [
        (0, 5.0, "checking: 0 of 2,000 (0 %)"),
        (500, 0.5, "checking: 500 of 2,000 (25 %)"),
        (500, 2.0, "checking: 500 of 2,000 (25 %), 250/s, 6 s left"),
        (2000, 4.0, "checking: 2,000 of 2,000 (100 %), 500/s, 0 s left"),
    ],
)
def test_a_line_has_share_rate_and_time_left_once_they_are_known(done: int, seconds: float, line: str) -> None:
    assert progress_line("checking", done, 2000, seconds) == line


def test_a_terminal_sees_progress_and_it_is_gone_at_the_end(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    generate.write(generate.Catalogue(0.1, 1), file)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "evkg.cli", "check", str(file), "--no-cache"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 4096):
            seen += part
    except OSError:  # the other end was closed
        pass
    os.close(ours)
    process.wait()
    lines = seen.decode().split("\r\x1b[K")
    assert any(
        re.fullmatch(r"checking records: [\d,]+ of 2,873 \(\d+ %\)(, [\d,]+/s, \d+ s left)?", one) for one in lines
    )
    assert lines[-1] == ""


def test_nobody_else_sees_it(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    generate.write(generate.Catalogue(0.01, 1), file)
    assert run_evkg("check", file, "--no-cache").stderr == b""
