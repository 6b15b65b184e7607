"""Reads and checks odd files by the thousand, each under a clock, all under a limit of memory.

    python -m tests.fuzz.campaign --inputs 100000

Every file is read alone; then a folder of many is checked as one data set. What may come back are
findings with a place, or a refusal in one sentence. Prints the figures as JSON, and ends with
status 1 where anything else came back, with the input that brought it about.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, seed, settings

from evkg.check import Checked, Engine, check_dataset
from evkg.errors import UsageError
from evkg.finding import Finding, render_json
from evkg.finding_text import render_text
from evkg.reader import read_records
from evkg.record import Record
from evkg.vocabulary import load_vocabulary
from tests.builds import ROOT
from tests.fuzz.inputs import OddFile, odd_files
from tests.fuzz.mutation import numbered

#: The memory that a process may map, and so the most that it can hold (bytes).
MEMORY: Final = 1 << 30
#: The longest time for one file, and for one folder of them (seconds).
FILE_TIME: Final = 20
FOLDER_TIME: Final = 120
#: How many files make a folder, and how many one process (count).
FOLDER: Final = 200
CHUNK: Final = 2_000
#: The longest text of a finding: its message, value or advice (characters).
LONGEST: Final = 1_500


class UncleanError(Exception):
    """Something came back that is neither a finding with a place nor a refusal."""


class Reading:
    """Reads files one by one, and checks them a folder at a time. `figures` counts what came back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.figures: Counter[str] = Counter()
        self.slowest = 0.0
        self._vocabulary = load_vocabulary()
        self._waiting: list[OddFile] = []
        self._numbers = count()

    def take(self, item: OddFile) -> None:
        """Read one file, and check the folder where that is full.

        Raises: UncleanError: what came back is not clean.
        """
        item = OddFile(item.name, numbered(item.content, self._numbers))
        place = self.folder / "one" / item.name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(item.content)
        faulthandler.dump_traceback_later(FILE_TIME, exit=True)
        start = time.monotonic()
        self.figures["inputs"] += 1
        try:
            self._read(place)
        except UsageError as error:
            self.figures["refusals"] += 1
            if not str(error) or "Traceback" in str(error):
                raise UncleanError(f"an error without words: {error!r}") from error
        except Exception as error:
            raise UncleanError(f"{type(error).__name__}: {error}; file: {item}") from error
        finally:
            self.slowest = max(self.slowest, time.monotonic() - start)
            faulthandler.cancel_dump_traceback_later()
        place.unlink()
        self._waiting.append(item)
        if len(self._waiting) == FOLDER:
            self.check()

    def _read(self, place: Path) -> None:
        for found in read_records(place, self._vocabulary):
            if isinstance(found, Finding):
                self._see(found)
            else:
                self._look_at(found)

    def check(self) -> None:
        """Check the files that wait as one data set.

        Raises: UncleanError: what came back is not clean; the fewest files that bring it about stay in the folder.
        """
        files, self._waiting = self._waiting, []
        if not files:
            return
        try:
            self._check(files)
        except UsageError:
            self.figures["refused folders"] += 1
        except Exception as error:
            before = self.figures.copy()
            fewest = self._fewest(files)
            self.figures = before
            raise UncleanError(f"{type(error).__name__}: {str(error)[:400]}; files: {fewest}") from error

    def _check(self, files: Sequence[OddFile]) -> None:
        folder = self.folder / "many"
        shutil.rmtree(folder, ignore_errors=True)
        for number, item in enumerate(files):
            name = item.name if item.name == "dataset.yaml" else f"{number:03}/{item.name}"
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(item.content)
        faulthandler.dump_traceback_later(FOLDER_TIME, exit=True)
        try:
            engine: Engine = "fast" if self.figures["folders"] % 10 else "pyshacl"
            self._report(check_dataset(folder, engine=engine))
        finally:
            faulthandler.cancel_dump_traceback_later()

    def _report(self, checked: Checked) -> None:
        self.figures["folders"] += 1
        self.figures["records checked"] += checked.count
        for finding in checked.findings:
            self._see(finding, is_checked=True)
        if "Traceback" in render_text(checked.findings, checked.count, full=True):
            raise UncleanError("a traceback in the report")
        json.loads(render_json(checked.findings, checked.count))

    def _fewest(self, files: Sequence[OddFile]) -> list[OddFile]:
        """The fewest files that still bring an error about, halving as long as that works."""

        def fails(some: Sequence[OddFile]) -> bool:
            try:
                self._check(some)
            except UsageError:
                return False
            except Exception:  # noqa: BLE001 - in one process an error has another type than across processes
                return True
            return False

        size = len(files) // 2
        while size:
            start = 0
            while start < len(files):
                rest = [*files[:start], *files[start + size :]]
                if rest and fails(rest):
                    files = rest
                else:
                    start += size
            size //= 2
        fails(files)
        return list(files)

    def _look_at(self, record: Record) -> None:
        self.figures["records read"] += 1
        for key in record.original:
            if record.place((key,)) < (1, 1):
                raise UncleanError(f"no place for {key!r}")
        record.line.encode()

    def _see(self, finding: Finding, *, is_checked: bool = False) -> None:
        self.figures["findings on folders" if is_checked else "findings on files"] += 1
        texts = (finding.message, finding.value or "", finding.fix or "")
        if not finding.message or max(map(len, texts)) > LONGEST:
            raise UncleanError(f"a text that is empty or too long: {finding.rule}: {finding.message[:200]!r}")
        if finding.file is None or not finding.line or not finding.column:
            raise UncleanError(f"a finding without a place: {finding.rule}: {finding.message[:300]!r}")
        if "Traceback" in finding.message or " object at 0x" in finding.message:
            raise UncleanError(f"a message for programmers: {finding.message[:300]!r}")
        finding.message.encode()


def run_chunk(inputs: int, number: int, folder: Path) -> dict[str, Any]:
    """The figures of one process: so many inputs from one seed, under the limit of memory."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    reading = Reading(folder)
    faults: dict[str, str] = {}

    def watch(step: Callable[[], None]) -> None:
        """Keep what goes wrong, one of each sort, and go on."""
        try:
            step()
        except Exception as error:  # noqa: BLE001 - whatever comes out is what is looked for
            last = traceback.extract_tb((error.__cause__ or error).__traceback__)[-1]
            faults.setdefault(f"{Path(last.filename).name}:{last.lineno} {str(error)[:60]}", f"{error!r}"[:3_000])

    @seed(number)
    @settings(
        max_examples=inputs,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(odd_files())
    def read_every_file(item: OddFile) -> None:
        watch(lambda: reading.take(item))

    read_every_file()
    watch(reading.check)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {**reading.figures, "slowest file": round(reading.slowest, 2), "peak": peak, "faults": faults}


def run(inputs: int, first: int, workers: int = 1) -> dict[str, Any]:
    """The figures of a campaign: chunk after chunk, each in a process of its own, so many of them at a time.

    Counts, seconds, the most memory that any process held (bytes), and the faults.
    """
    start = time.monotonic()
    figures: Counter[str] = Counter()
    slowest, peak = 0.0, 0
    faults: dict[str, str] = {}
    sizes = [min(CHUNK, inputs - begin) for begin in range(0, inputs, CHUNK)]
    with ThreadPoolExecutor(workers) as pool:
        for number, found in pool.map(_chunk, sizes, range(first, first + len(sizes))):
            faults.update({f"seed {number}: {name}": text for name, text in found.pop("faults").items()})
            slowest, peak = max(slowest, found.pop("slowest file", 0.0)), max(peak, found.pop("peak", 0))
            figures.update(found)
            seconds = round(time.monotonic() - start, 1)
            told = {"seconds": seconds, "slowest file": slowest, "peak": peak, "faults": len(faults)}
            print(json.dumps({**figures, **told}), file=sys.stderr, flush=True)
    return {**figures, "seconds": seconds, "slowest file": slowest, "peak": peak, "faults": faults}


def _chunk(size: int, number: int) -> tuple[int, dict[str, Any]]:
    """(seed, figures) of one process; one that dies is a fault, with the end of what it said."""
    folder = Path(tempfile.mkdtemp(prefix="evkg-fuzz-"))
    command = [sys.executable, "-m", "tests.fuzz.campaign", "--chunk", str(folder)]
    done = subprocess.run(
        [*command, "--inputs", str(size), "--seed", str(number)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        found = {"inputs": size, "faults": {f"status {done.returncode}": done.stderr[-3_000:]}}
    shutil.rmtree(folder)
    return number, found


def main() -> int:
    """The status of the command: 0 where everything was clean."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=100_000, help="how many files (count)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first process")
    parser.add_argument("--workers", type=int, default=1, help="how many processes at a time (count)")
    parser.add_argument("--chunk", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.chunk is not None:
        print(json.dumps(run_chunk(options.inputs, options.seed, options.chunk)))
        return 0
    figures = run(options.inputs, options.seed, options.workers)
    print(json.dumps(figures, indent=2))
    return 1 if figures["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
