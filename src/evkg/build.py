"""Making a release: read → convert → validate → derive → write, all or nothing.

Everything is written into a folder beside the releases, checked there, and renamed; then the pointer
`current` moves. A crash at any point leaves the last release in place.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from evkg.check import Checked, Progress, check_dataset, within
from evkg.describe import file_quads, manifest, release_quads
from evkg.description import read_description
from evkg.draft import Draft
from evkg.errors import ReleaseError, UsageError
from evkg.examples import examples_graph
from evkg.finding import Finding, render_json
from evkg.namespaces import graph_iri
from evkg.pool import Runner, working
from evkg.publish import lock, publish, remove, write
from evkg.release import (
    GRAPH,
    GRAPH_INDEX,
    INDEX,
    MANIFEST,
    RECORDS,
    REPORT_JSON,
    REPORT_TURTLE,
    Release,
)
from evkg.research import research_quads
from evkg.vocabulary import data_folder
from evkg.writer import GraphFile

#: The hash of a release covers what the data set says of itself, but not when the release was made.
_NO_TIME: Final = datetime.fromtimestamp(0, UTC)
#: The files of the ontology graph.
_ONTOLOGY: Final = ("evkg.ttl", "mappings.ttl")
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
    progress: Progress = lambda *_: None,
    jobs: int | None = None,
    runner: Runner = working,
) -> Built:
    """Make a release of the data set at `path` below `out`, and move `current` to it.

    With violations there is no release, unless `draft`; the reports are written in either case.
    The same records and the same `at` give the same bytes, except in the store. `jobs` processes read, convert
    and check (default: one a core where there is enough to do); `runner` says where.

    Raises: UsageError: nothing to read, or another build is running. InconsistencyError: the graph
        contradicts itself. ReleaseError: it cannot be written.
    """
    moment = (at or default_moment()).astimezone(UTC).replace(microsecond=0)
    with lock(out):
        folder = out / f".building-{os.getpid()}"
        try:
            folder.mkdir()
            with Draft(folder, read_description(path)[0].base_iri) as parts:
                checked = check_dataset(
                    path,
                    is_open=is_open,
                    sink=parts.add,
                    progress=progress,
                    folder=parts.parts,
                    jobs=jobs,
                    runner=runner,
                )
                if checked.violations and not draft:
                    report = out / LAST_REPORT
                    _write_last_report(report, parts, checked)
                    return Built(checked, None, report)
                release_id = _write_release(folder, parts, checked, moment, progress)
            final = publish(folder, out, release_id)
        except OSError as error:
            raise ReleaseError(f"The release cannot be written to {out}: {error.strerror or error}") from error
        finally:
            remove(folder)
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


def _write_release(folder: Path, parts: Draft, checked: Checked, moment: datetime, progress: Progress) -> str:
    """Write all files of a release and return its id."""
    base = checked.description.base_iri
    progress("loading the store", 0, 0)
    graphs = {
        "ontology": file_quads(base, "ontology", [data_folder("ontology") / name for name in _ONTOLOGY]),
        "vocabulary": file_quads(base, "vocabulary", sorted((data_folder("ontology") / "vocab").glob("*.ttl"))),
        "shapes": file_quads(base, "shapes", sorted(data_folder("shapes").glob("*.ttl"))),
        "questions": examples_graph(base),
        "research": research_quads(checked.research, base),
    }
    parts.add_static(graphs, checked)
    parts.start_deriving(lambda rule: progress(f"deriving: {rule}", 0, 0))
    parts.write_records(folder / RECORDS, folder / INDEX)
    _write_report(folder, checked, within(checked.path, checked.findings))
    parts.write_report(folder / REPORT_TURTLE, checked)
    with GraphFile(folder / GRAPH) as file:
        parts.write_graph(file, checked)
        about = release_quads("", checked, _NO_TIME, 0)
        digest = hashlib.sha256("".join(f"{line}\n" for line in about).encode()).hexdigest()
        content = file.content_sha256([(graph_iri(base, "release"), digest)])
        release_id = f"{moment:%Y-%m-%d}-{content[:12]}"
        about = release_quads(release_id, checked, moment, file.quads)
        file.add_blocks(graph_iri(base, "release"), [f"{line}\n".encode() for line in about])
    write(folder / GRAPH_INDEX, file.index())
    progress("writing", 0, 0)
    parts.close(about)
    for name in ("ontology", "shapes"):
        shutil.copytree(data_folder(name), folder / name, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    known = {GRAPH: file.sha256}
    facts = manifest(folder, checked, release_id, moment, content, file.quads, known)
    write(folder / MANIFEST, [json.dumps(facts, ensure_ascii=False, indent=2) + "\n"])
    return release_id


def _write_report(folder: Path, checked: Checked, findings: Iterable[Finding]) -> None:
    write(folder / REPORT_JSON, [render_json([*findings], checked.count) + "\n"])


def _write_last_report(folder: Path, parts: Draft, checked: Checked) -> None:
    """The reports of a build that made no release."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_report(folder, checked, checked.findings)
        parts.write_report(folder / REPORT_TURTLE, checked)
    except OSError as error:
        raise ReleaseError(f"The report cannot be written to {folder}: {error.strerror or error}") from error
