"""The index of a search: one SQLite file, made from a release in a process of its own and never part of it.

python -m evkg.search_build RELEASE FILE

Beside the words it holds what a home page and a feed need of every record at once: completeness, changes since the
release before, and the days that records name. It can be thrown away at any time.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
from array import array
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from evkg.diff import diff
from evkg.errors import EvkgError, NotFoundError, ReleaseError
from evkg.gaps import GapCounter
from evkg.manifest import MANIFEST
from evkg.namespaces import EVKG, thing_iri
from evkg.record import Record
from evkg.release import Release
from evkg.search_document import Document, Evaluation, Reading, read_evaluation
from evkg.search_text import fold
from evkg.shapes import Shapes

#: The name of the index in the folder of its release.
INDEX: Final = "search.sqlite"
#: The format of the file: raised whenever what stands in it changes.
FORMAT: Final = 2
#: Names of doubts by the property that the graph holds them with.
_DOUBTS: Final = {"openConcern": "concern", "doubtfulBasis": "basis"}
_TABLES: Final = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE records (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, name TEXT NOT NULL, folded TEXT NOT NULL,
  status TEXT NOT NULL, printed TEXT, folded_printed TEXT, unit TEXT, doubts TEXT NOT NULL);
CREATE TABLE facets (
  facet TEXT NOT NULL, value TEXT NOT NULL, records BLOB NOT NULL, PRIMARY KEY (facet, value)) WITHOUT ROWID;
CREATE TABLE events (n INTEGER NOT NULL, what TEXT NOT NULL, at TEXT NOT NULL, instant TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (id, name, value, text, about, content='', tokenize='ascii');
CREATE VIRTUAL TABLE terms USING fts5vocab (words, 'row');
"""
_INDEXES: Final = """
CREATE INDEX by_name ON records (folded);
CREATE INDEX by_printed ON records (folded_printed) WHERE folded_printed IS NOT NULL;
CREATE INDEX by_instant ON events (instant, n);
INSERT INTO words (words) VALUES ('optimize');
"""


def has_full_text() -> bool:
    """Whether the SQLite of this Python can search texts.

    >>> has_full_text()
    True
    """
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (x)")
        except sqlite3.OperationalError:
            return False
    return True


def index_key(release: Release) -> str:
    """What an index must have been made with to be the one of a release: its format, evkg, and the releases in it."""
    before = release_before(release)
    return json.dumps([FORMAT, metadata.version("evkg"), release.id, before.name if before else None])


def release_before(release: Release) -> Path | None:
    """The folder of the newest older release with the same base beside a release; None if there is none."""
    found: list[tuple[str, str, Path]] = []
    here = str(release.manifest.get("at", ""))
    with contextlib.suppress(OSError):
        for folder in release.folder.parent.iterdir():
            if folder.is_symlink() or not (folder / MANIFEST).is_file():
                continue
            with contextlib.suppress(ReleaseError):
                other = Release(folder)
                at = str(other.manifest.get("at", ""))
                if other.id != release.id and at < here and other.base_iri == release.base_iri:
                    found.append((at, other.id, folder))
    return max(found)[2] if found else None


def build_index(release: Release, target: Path) -> None:
    """Make the index of a release; it is there whole, or not at all.

    Raises: ReleaseError: the release cannot be read, or the index not be written.
    """
    draft = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            # Nobody reads the file before it is whole, and what a crash leaves behind is thrown away.
            connection.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {_TABLES}")
            connection.execute("BEGIN")
            _fill(connection, release)
            connection.execute("COMMIT")
            connection.executescript(_INDEXES)
        draft.replace(target)
    except (sqlite3.Error, OSError) as error:
        raise ReleaseError(f"The index of the search cannot be written to {target}: {error}") from error
    finally:
        draft.unlink(missing_ok=True)


def _fill(connection: sqlite3.Connection, release: Release) -> None:
    counter = GapCounter(release.vocabulary, Shapes(), release.base_iri)
    reading = _reading(release)
    facets: dict[tuple[str, str], array[int]] = {}
    for number, record in enumerate(_records(release), 1):
        document = reading.document(record)
        _add(connection, number, document)
        for facet, values in document.facets.items():
            for value in values:
                facets.setdefault((facet, value), array("I")).append(number)
        if document.status != "excluded":  # nothing is expected of a tombstone
            counter.add(record)
    rows = ((facet, value, members.tobytes()) for (facet, value), members in sorted(facets.items()))
    connection.executemany("INSERT INTO facets VALUES (?, ?, ?)", rows)
    facts = {
        "key": index_key(release),
        "completeness": json.dumps([row.as_json() for row in counter.gaps.rows("kind")]),
        "changes": json.dumps(_changes(release)),
    }
    connection.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())


def _records(release: Release) -> Iterator[Record]:
    return (release.read(record_id) for record_id in release.record_ids)


def _reading(release: Release) -> Reading:
    names: dict[str, str] = {}
    evaluations: dict[str, Evaluation] = {}
    for record in _records(release):
        names[record.id] = str(record.data["name"])
        if record.kind == "evaluation":
            evaluations[record.id] = read_evaluation(record)
    return Reading(release.vocabulary, names, evaluations, _doubts(release))


def _doubts(release: Release) -> dict[str, set[str]]:
    """Id -> the doubts that were derived about the thing."""
    import pyoxigraph as ox

    found: dict[str, set[str]] = {}
    start = thing_iri(release.base_iri, "")
    for name, doubt in _DOUBTS.items():
        for quad in release.store.quads_for_pattern(None, ox.NamedNode(EVKG + name), None):
            iri = getattr(quad.subject, "value", "")
            if iri.startswith(start):
                found.setdefault(iri.removeprefix(start), set()).add(doubt)
    return found


def _add(connection: sqlite3.Connection, number: int, document: Document) -> None:
    printed = document.printed
    row = (
        *(number, document.id, document.kind, document.name, fold(document.name).strip(), document.status),
        *(printed, None if printed is None else fold(printed).strip(), document.unit, " ".join(document.doubts)),
    )
    connection.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    # A word of its own between two texts keeps a phrase from reaching from one into the next.
    columns = ([document.id], [document.name], document.values, document.texts, document.about)
    words = (" \ue001 ".join(map(fold, texts)) for texts in columns)
    connection.execute(
        "INSERT INTO words (rowid, id, name, value, text, about) VALUES (?, ?, ?, ?, ?, ?)", (number, *words)
    )
    events = ((number, event.what, event.at, event.instant) for event in document.events)
    connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", events)


def _changes(release: Release) -> dict[str, Any] | None:
    """What changed since the release before: how many records, by what happened to them, and results in doubt."""
    folder = release_before(release)
    if folder is None:
        return None
    try:
        before = Release(folder)
        found = diff(before, release)
    except (ReleaseError, NotFoundError):
        return None  # the other release is damaged: nothing can be said
    counts = {what: sum(change.what == what for change in found.changes) for what in ("new", "changed", "gone")}
    counts |= {what: sum(doubt.what == what for doubt in found.doubts) for what in ("doubted", "cleared")}
    listed = [{"id": one.id, "name": one.name, "what": one.what} for one in found.changes[:10]]
    return {"before": before.id, "at": before.manifest.get("at"), "counts": counts, "listed": listed}


def main(arguments: list[str]) -> int:
    """Make an index; what is wrong is said in one line on standard error."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)  # those who are served come first
    release, target = map(Path, arguments)
    try:
        if not has_full_text():
            raise ReleaseError("This Python's SQLite has no FTS5, so nothing can be searched.")
        build_index(Release(release), target)
    except EvkgError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
