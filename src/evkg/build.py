"""Making a release: read → convert → validate → derive → write, all or nothing.

Everything is written into a folder beside the releases, checked there, and renamed; then the pointer
`current` moves. A crash at any point leaves the last release in place.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from evkg.check import Checked, Progress, check_dataset
from evkg.dataset import Dataset, is_withheld, tombstone
from evkg.derive import derive, load_axioms, load_rules
from evkg.describe import file_quads, manifest, release_quads
from evkg.errors import InconsistencyError, ReleaseError, UsageError
from evkg.filetext import file_name
from evkg.finding import Finding, render_json
from evkg.jsontext import encode_json
from evkg.publish import lock, publish, write
from evkg.questions import question_quads
from evkg.release import (
    GRAPH,
    INDEX,
    MANIFEST,
    RECORDS,
    REPORT_JSON,
    REPORT_TURTLE,
    STORE,
    Release,
)
from evkg.report import render_turtle, report_quads
from evkg.store import build_store
from evkg.vocabulary import data_folder

#: The hash of a release covers what the data set says of itself, but not when the release was made.
_NO_TIME: Final = datetime.fromtimestamp(0, UTC)
#: Where the reports of a build that made no release are written, below the output folder.
LAST_REPORT: Final = "last-report"


@dataclass(frozen=True)
class Built:
    """What a build came to: the findings, and the release unless violations kept it from being made."""

    checked: Checked
    release: Release | None
    report: Path


def build_release(
    path: Path,
    out: Path,
    *,
    at: datetime | None = None,
    is_open: bool = False,
    draft: bool = False,
    progress: Progress = lambda _: None,
) -> Built:
    """Make a release of the data set at `path` below `out`, and move `current` to it.

    With violations there is no release, unless `draft`; the reports are written in either case.
    The same records and the same `at` give the same bytes, except in the store.

    Raises: UsageError: nothing to read, or another build is running. InconsistencyError: the graph
        contradicts itself. ReleaseError: it cannot be written.
    """
    moment = (at or default_moment()).astimezone(UTC).replace(microsecond=0)
    with lock(out):
        checked = check_dataset(path, is_open=is_open, progress=progress)
        if checked.violations and not draft:
            report = out / LAST_REPORT
            _write_reports(report, checked, checked.findings)
            return Built(checked, None, report)
        folder = out / f".building-{os.getpid()}"
        try:
            release_id = _write_release(folder, checked, moment, progress)
            final = publish(folder, out, release_id)
        except OSError as error:
            raise ReleaseError(f"The release cannot be written to {out}: {error.strerror or error}") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return Built(checked, Release(final), final)


def default_moment() -> datetime:
    """SOURCE_DATE_EPOCH if it is set, else now.

    Source: https://reproducible-builds.org/specs/source-date-epoch/

    Raises: UsageError: SOURCE_DATE_EPOCH is no number of seconds.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return datetime.now(UTC)
    try:
        return datetime.fromtimestamp(int(epoch), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"SOURCE_DATE_EPOCH must be a number of seconds, not {epoch!r}.") from error


def _write_reports(folder: Path, checked: Checked, findings: Sequence[Finding]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        base = checked.dataset.description.base_iri
        write(folder / REPORT_JSON, [render_json(findings, checked.dataset.count) + "\n"])
        write(folder / REPORT_TURTLE, [render_turtle(checked.results, base)])
    except OSError as error:
        raise ReleaseError(f"The report cannot be written to {folder}: {error.strerror or error}") from error


def _within_dataset(checked: Checked) -> list[Finding]:
    """The findings with files named from the data set on, so that a release does not tell where it was built."""
    path = checked.dataset.path
    root = f"{file_name(path if path.is_dir() else path.parent)}/"
    return [replace(f, file=f.file and f.file.removeprefix(root)) for f in checked.findings]


def _write_release(folder: Path, checked: Checked, moment: datetime, progress: Progress) -> str:
    """Write all files of a release and return its id."""
    dataset = checked.dataset
    base = dataset.description.base_iri
    folder.mkdir()
    progress("deriving")
    derived = derive(checked.quads, base, load_axioms(), load_rules())
    static = [
        *file_quads(base, "ontology", [data_folder("ontology") / name for name in ("evkg.ttl", "mappings.ttl")]),
        *file_quads(base, "vocabulary", sorted((data_folder("ontology") / "vocab").glob("*.ttl"))),
        *file_quads(base, "shapes", sorted(data_folder("shapes").glob("*.ttl"))),
        *question_quads(base),
        *report_quads(checked.results, base),
    ]
    lines = sorted([*checked.quads, *derived, *static])
    digest = hashlib.sha256()
    for line in (*lines, *release_quads("", checked, _NO_TIME, len(lines))):
        digest.update(f"{line}\n".encode())
    release_id = f"{moment:%Y-%m-%d}-{digest.hexdigest()[:12]}"
    lines = sorted([*lines, *release_quads(release_id, checked, moment, len(lines))])
    _refuse_repeats(lines)
    progress("writing")
    write(folder / GRAPH, (f"{line}\n" for line in lines))
    _write_records(folder, dataset)
    for name in ("ontology", "shapes"):
        shutil.copytree(data_folder(name), folder / name, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    _write_reports(folder, checked, _within_dataset(checked))
    progress("loading the store")
    build_store(folder / GRAPH, folder / STORE)
    facts = manifest(folder, checked, release_id, moment, digest.hexdigest(), len(lines))
    write(folder / MANIFEST, [json.dumps(facts, ensure_ascii=False, indent=2) + "\n"])
    return release_id


def _refuse_repeats(lines: Iterable[str]) -> None:
    """Stop if a triple stands in two graphs: the union of graphs would count it twice.

    In sorted lines such quads are neighbours, since they differ only in the graph at their end.
    """
    previous = ""
    for line in lines:
        triple = line[: line.rindex(" <")]
        if triple == previous:
            raise InconsistencyError(f"A triple stands in two graphs: {triple}")
        previous = triple


def _write_records(folder: Path, dataset: Dataset) -> None:
    """The records as they were read, one a line by id, and where each line stands (bytes)."""
    index: list[str] = []
    offset = 0

    def lines() -> Iterator[str]:
        nonlocal offset
        for record in dataset.records.values():
            line = encode_json(tombstone(record.original)) if is_withheld(record) else record.line
            length = len(line.encode())
            index.append(f"{record.id}\t{offset}\t{length}\t{hashlib.sha256(line.encode()).hexdigest()}\n")
            offset += length + 1
            yield line + "\n"

    write(folder / RECORDS, lines())
    write(folder / INDEX, index)
