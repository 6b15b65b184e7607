"""Exports: a whole release, or what is chosen of it, as the lines of one file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evkg.errors import ReleaseError, UsageError

if TYPE_CHECKING:
    from evkg.evidence import Selection
    from evkg.release import Release


@dataclass(frozen=True, slots=True)
class Export:
    """One kind of export: what it is, its formats (the first is the default) and the parts that can be chosen."""

    meaning: str
    formats: tuple[str, ...]
    choices: tuple[str, ...]
    lines: Callable[[Release, str, Selection], Iterator[str]]


def _evidence(release: Release, format_name: str, selection: Selection) -> Iterator[str]:
    from evkg.evidence import Evidence
    from evkg.evidence_table import TABLES

    return TABLES[format_name](Evidence(release).rows(selection))


def _jsonld(release: Release, _: str, selection: Selection) -> Iterator[str]:
    encoder = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))
    for record_id in _chosen(release, selection):
        yield encoder.encode(release.jsonld(record_id)) + "\n"


def _nquads(release: Release, _: str, selection: Selection) -> Iterator[str]:
    from evkg.release import GRAPH

    if selection.record is not None:
        yield from (f"{line}\n" for line in release.quads(selection.record))
        return
    try:
        with (release.folder / GRAPH).open(encoding="utf-8", newline="") as stream:
            yield from stream
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseError(f"{release.folder / GRAPH} cannot be read: {error}") from error


def _chosen(release: Release, selection: Selection) -> Iterable[str]:
    return release.record_ids if selection.record is None else [selection.record]


#: Every export by its name on the command line.
EXPORTS: Final[Mapping[str, Export]] = {
    "evidence": Export(
        "a row for each statement, claim and source", ("csv", "jsonl"), ("record", "scope", "source"), _evidence
    ),
    "jsonld": Export("the JSON-LD of each record, one document a line", ("jsonl",), ("record",), _jsonld),
    "nquads": Export("the graph of the release, or of one record", ("nq",), ("record",), _nquads),
}


def export_lines(release: Release, name: str, format_name: str | None, selection: Selection) -> Iterator[str]:
    """The lines of an export, each with its line feed; without a format in the first one that it has.

    Raises: UsageError: it has no such format, or nothing of this kind can be chosen of it. NotFoundError: no such
        record or source. ReleaseError: the files of the release cannot be read.

    >>> from evkg.evidence import Selection
    >>> from evkg.release import open
    >>> next(export_lines(open(), "nquads", None, Selection(record="gena-lm"))).endswith(" .\\n")
    True
    """
    export = EXPORTS[name]
    chosen = format_name or export.formats[0]
    if chosen not in export.formats:
        raise UsageError(f"The export {name} has no format {chosen}; it has {', '.join(export.formats)}.")
    for choice in ("record", "scope", "source"):
        if getattr(selection, choice) is not None and choice not in export.choices:
            raise UsageError(f"Of the export {name} no {choice} can be chosen.")
    return export.lines(release, chosen, selection)


def write_export(lines: Iterable[str], path: Path, progress: Callable[[str], None] = lambda _: None) -> int:
    """Write an export to a file, which appears only when it is whole; returns how many lines it has.

    Raises: ReleaseError: it cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    count = 0
    try:
        with beside.open("w", encoding="utf-8", newline="") as stream:
            for count, line in enumerate(lines, 1):
                stream.write(line)
                if count % 20_000 == 0:
                    progress(f"{count:,} lines")
        beside.replace(path)
    except OSError as error:
        raise ReleaseError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        beside.unlink(missing_ok=True)
    return count
