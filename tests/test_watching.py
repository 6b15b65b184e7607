"""A data set is checked again when one of its files is saved, and at no other time."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evkg import watching
from evkg.check import check_dataset
from evkg.errors import UsageError
from evkg.finding import summarise
from evkg.since import LONG
from evkg.watching import state_of, watch
from tests.builds import record, write_records


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_EVERY", 0.0)


def test_a_change_is_a_check_and_no_change_is_none(tmp_path: Path) -> None:
    file = write_records(tmp_path / "a/r.jsonl", record("a", "model"))
    calls: list[int] = []
    turns = iter(range(9))

    def goes_on() -> bool:
        turn = next(turns)
        if turn == 3:
            write_records(file, record("a", "model"), record("b", "model"))
        if turn == 5:
            (tmp_path / "new.yaml").write_text("", encoding="utf-8")
        if turn == 7:
            file.unlink()
        return turn < 8

    watch(tmp_path, lambda: calls.append(len(state_of(tmp_path))), pytest.fail, goes_on)
    assert calls == [1, 1, 2, 1]


def test_a_data_set_that_cannot_be_checked_is_told_and_watched_on(tmp_path: Path) -> None:
    turns = iter([True, True, False])
    messages: list[str] = []

    def check() -> None:
        raise UsageError("nothing there")

    watch(tmp_path / "later", check, messages.append, lambda: next(turns))
    assert messages == ["nothing there"]


def test_the_command_checks_on_save_and_ends_when_interrupted(tmp_path: Path) -> None:
    file = write_records(tmp_path / "r.jsonl", record("a", "model"))
    command = [sys.executable, "-m", "evkg.cli", "check", str(file), "--watch"]
    out = tmp_path / "out"
    with out.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.PIPE)
        try:
            _wait_for(out, "1 record: ")
            write_records(file, record("a", "model"), record("b", "model"))
            _wait_for(out, "2 records: ")
            os.kill(process.pid, signal.SIGINT)
            assert process.wait(20) == 130
        finally:
            process.kill()
            _, errors = process.communicate()
    assert errors == b""


def test_a_long_report_is_not_printed_again_but_what_is_new_and_what_is_gone(tmp_path: Path) -> None:
    kinds = ("model", "dataset", "result", "evaluation", "protocol", "configuration", "source")
    records = [record(f"{kind.replace('_', '-')}-1", kind) for kind in kinds]
    file = write_records(tmp_path / "r.jsonl", *records)
    command = [sys.executable, "-m", "evkg.cli", "check", str(file), "--watch", "--open"]
    out = tmp_path / "out"
    with out.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.PIPE)
        try:
            _wait_for(out, "7 records: ")
            first = out.read_text(encoding="utf-8")
            assert first.count("\n") > LONG
            write_records(file, *[record("new", "model", attributes={"licens": "MIT"}), *records[1:]])
            _wait_for(out, "Since the last check: ")
            _wait_for(out, "\n7 records: ", since=len(first))
        finally:
            process.kill()
            process.communicate()
    second = out.read_text(encoding="utf-8")[len(first) :]
    assert re.match(r"Since the last check: \d+ findings are new, \d+ findings are gone\.\n\n", second)
    assert "'licens' is not a declared attribute of model" in second
    assert "  gone  " in second
    assert "dataset-version" in first
    assert "dataset-version" not in second
    (counts,) = re.findall(r"^7 records: .*$", second, re.MULTILINE)
    checked = check_dataset(file, is_open=True)
    said = summarise(checked.findings, 7)
    assert counts == f"7 records: {said.violations} violations, {said.warnings} warnings, {said.infos} infos"


def _wait_for(file: Path, text: str, since: int = 0) -> None:
    end = time.monotonic() + 60
    while text not in file.read_text(encoding="utf-8")[since:]:
        assert time.monotonic() < end, file.read_text(encoding="utf-8")
        time.sleep(0.05)
