"""What was found on records before: it holds while they, what they asked about, the rules and evkg itself are the same.

A verdict is kept for a line of a file of lines, or for a whole file of another kind, under the hash of its bytes.
Whether it still holds is seen from the states of the records that its check asked about.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
from collections import Counter
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from evkg.batch import Batch, Outcome
from evkg.crossrecord import conflicts
from evkg.dataset import Dataset, Portion, Unit, portions_of
from evkg.fact import Fact
from evkg.filetext import file_name
from evkg.finding import ONCE_A_FILE, Finding
from evkg.neighbours import Neighbours
from evkg.partfile import add_part, read_parts, write_parts
from evkg.verdict import Known, plain, plain_facts, plain_finding, restore, whole
from evkg.vocabulary import data_folder

#: What of the environment a verdict depends on, beside evkg itself.
_LIBRARIES: Final = ("shacl", "pyshacl", "rdflib", "pyoxigraph", "PyYAML")
#: The form of the file of verdicts.
_FORM: Final = "evkg verdicts 2"


def recipe(base: str, engine: str, *, is_open: bool) -> str:
    """The hash of all that verdicts depend on beside the records: code, ontology, shapes, options (64 hex digits)."""
    digest = hashlib.sha256(f"{_FORM} {base} {engine} {is_open}".encode())
    for name in _LIBRARIES:
        digest.update(metadata.version(name).encode())
    own = Path(__file__).parent
    for folder, pattern in ((own, "*.py"), (data_folder("ontology"), "**/*.ttl"), (data_folder("shapes"), "*.ttl")):
        for file in sorted(folder.glob(pattern)):
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def verdict_file(path: Path) -> Path:
    """Where the verdicts on a data set are kept: in the user's folder for what can be made again.

    Source: XDG Base Directory Specification, `XDG_CACHE_HOME`.
    """
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]
    return Path(home).expanduser() / "evkg" / f"{name}.verdicts"


class Verdicts:
    """The verdicts on a data set from its last checks; none where the file is missing, damaged or of another recipe.

    The file is a row of parts: a check adds what is new, and writes the file anew only where much of it is no longer
    used. What records asked about and their facts are packed apart, since most checks do not look at them.
    """

    def __init__(self, file: Path, made_with: str) -> None:
        self._file = file
        self._recipe = made_with
        self._known: dict[bytes, Any] = {}
        self._digests: list[bytes] = []
        self._asked: list[bytes] = []
        self._facts: list[bytes] = []
        self._part_of: dict[bytes, int] = {}
        self._facts_digest = b""
        self._conflicts: list[Any] = []
        with contextlib.suppress(OSError, ValueError, TypeError, EOFError, IndexError):
            for part in read_parts(file):
                recipe_of_part, digest, asked, facts, known, facts_digest, found = part
                if recipe_of_part != made_with:
                    break
                self._part_of |= dict.fromkeys(known, len(self._digests))
                self._digests.append(digest)
                self._asked.append(asked)
                self._facts.append(facts)
                self._known |= known
                self._facts_digest, self._conflicts = facts_digest, found
        self._now: dict[bytes, Any] = {}
        #: The keys of all units, in their order, and the units that have still to be read, each with its key.
        self._keys: list[bytes] = []
        self._left: list[tuple[Unit, bytes]] = []
        self._is_changed = False
        self._unsaved: tuple[Any, ...] | None = None

    @property
    def is_known(self) -> bool:
        """Whether there are verdicts of this recipe: then its shapes were found sound before."""
        return bool(self._known)

    def take(self, dataset: Dataset) -> tuple[Known, list[Portion]]:
        """What is known already, and what has still to be read."""
        neighbours = dataset.neighbours
        now = _digest(neighbours)
        # What a record asked about matters only where some record is another one than when the verdict was found.
        same = [digest == now for digest in self._digests]
        is_same = all(same)
        asked = {} if is_same else _unpacked(self._asked)
        kept = Known()
        names: dict[int, str] = {}  # by identity: to hash a path anew for each line takes longer than all else
        counts: Counter[int] = Counter()
        for unit in dataset.units:
            number = id(unit.file)
            if number not in names:
                names[number] = file_name(unit.file)
            key = _key(unit)
            self._keys.append(key)
            verdict = self._known.get(key)
            if (
                verdict is None
                or key in self._now
                or not (is_same or same[self._part_of[key]] or _holds(asked[key], neighbours))
            ):
                self._left.append((unit, key))
                continue
            self._now[key] = verdict
            counts[number] += len(verdict[0])
            restore(verdict, unit, names[number], kept)
        for file in dataset.files:
            kept.items[file] += counts[id(file)]
        self._is_changed = bool(self._left) or not is_same
        return kept, portions_of(unit for unit, _ in self._left)

    def finish(self, dataset: Dataset, batches: list[Batch], facts: list[Fact]) -> list[Finding]:
        """What several records together have; `save` remembers it, and everything else.

        `facts` are those of the records in `batches`. Where they and all others are what they were, nothing is
        compared again.
        """
        known: dict[bytes, Any] = {}
        asked: dict[bytes, Any] = {}
        stated: dict[bytes, Any] = {}
        for outcomes, read, unit, key in _units(self._left, batches):
            if not key or (unit.span is None and _key(unit) != key):  # it was saved while it was checked
                continue
            line = 0 if unit.span is None else unit.span.line
            stated[key] = [plain_facts(one, line) for one in outcomes]
            known[key] = (
                [plain(one, line, said[0]) for one, said in zip(outcomes, stated[key], strict=True)],
                [plain_finding(one, line) for one in read],
            )
            asked[key] = [_states(one, dataset.neighbours) for one in outcomes]
        digest = self._digest_facts(dataset, known)
        is_all = sum(len(verdict[0]) for verdict in known.values()) == sum(len(batch.outcomes) for batch in batches)
        # A finding tells a column, which is no part of the digest: what stands before it may have grown.
        changed = {outcome.record_id for batch in batches for outcome in batch.outcomes}
        is_same = self._known and is_all and digest == self._facts_digest
        if is_same and not any(one[3] in changed for one in self._conflicts):
            found = [Finding(*one) for one in self._conflicts]
        else:
            found = conflicts([*self._kept_facts(dataset), *facts])
        if self._is_changed:
            last = (digest if is_all else b"", [whole(one) for one in found])
            self._unsaved = (_digest(dataset.neighbours), asked, stated, known, last)
        return found

    def _digest_facts(self, dataset: Dataset, known: dict[bytes, Any]) -> bytes:
        """A hash of the facts of all units, and of the lines where they stand."""
        pieces: list[bytes] = []
        file: Path | None = None
        for unit, key in zip(dataset.units, self._keys, strict=True):
            if unit.file is not file:
                file = unit.file
                pieces.append(os.fsencode(file))
            verdict = self._now.get(key) or known.get(key)
            for one in verdict[0] if verdict else ():
                if one[5]:
                    line = 0 if unit.span is None else unit.span.line
                    pieces.append(b"%b %d %b" % (one[0].encode(), line, one[5]))
        return hashlib.sha256(b"".join(pieces)).digest()

    def _kept_facts(self, dataset: Dataset) -> Iterator[Fact]:
        stated = _unpacked(self._facts)
        for unit, key in zip(dataset.units, self._keys, strict=True):
            verdict = self._now.get(key)
            name, line = file_name(unit.file), 0 if unit.span is None else unit.span.line
            for one, (said, columns) in zip(verdict[0], stated[key], strict=True) if verdict else ():
                for f, column in zip(marshal.loads(said), columns, strict=True):  # noqa: S302 - part of our own file
                    yield Fact(f[0], one[0], f[1], f[2], name, f[3] + line, column, f[4], f[5])

    def save(self) -> None:
        """Remember what `finish` was told; where the file cannot be written, the next check takes longer."""
        if self._unsaved is None:
            return
        neighbours, asked, stated, known, last = self._unsaved
        is_added = len(self._now) * 2 > len(self._known) and len(known) * 2 < len(self._known)
        if not is_added:
            before, said = _unpacked(self._asked), _unpacked(self._facts)
            known = {**self._now, **known}
            asked = {**{key: before[key] for key in self._now}, **asked}
            stated = {**{key: said[key] for key in self._now}, **stated}
        part = (self._recipe, neighbours, marshal.dumps(asked), marshal.dumps(stated), known, *last)
        with contextlib.suppress(OSError):
            add_part(self._file, part) if is_added else write_parts(self._file, part)


def _unpacked(parts: list[bytes]) -> dict[bytes, Any]:
    """What each part says by key, of two with one key the later."""
    found: dict[bytes, Any] = {}
    for part in parts:
        found |= marshal.loads(part)  # noqa: S302 - part of our own file
    return found


def _key(unit: Unit) -> bytes:
    """What a verdict on a unit is kept under: the hash of its bytes, of a whole file also its name and last change.

    Nothing where it cannot be kept: the file cannot be read, or a line holds what is told once a file.
    """
    if unit.span is not None:
        return unit.sha256 or b""
    try:
        name, changed = os.fsencode(unit.file), unit.file.stat().st_mtime_ns
        return hashlib.sha256(b"%b %d %b" % (name, changed, unit.file.read_bytes())).digest()
    except OSError:  # reading it tells why
        return b""


def _digest(neighbours: Neighbours) -> bytes:
    """A hash of the states of all records; the same states in another order may have another one."""
    rest = (sorted(neighbours.gone.items()), sorted(neighbours.withheld), sorted(neighbours.repeated))
    # The second form has no references in it: the same bytes for the same texts.
    return hashlib.sha256(marshal.dumps((dict(neighbours.kinds), rest), 2)).digest()


def _states(outcome: Outcome, neighbours: Neighbours) -> Any:
    asked = tuple(sorted(outcome.asked))
    return asked, tuple(map(neighbours.state, asked))


def _holds(asked: Any, neighbours: Neighbours) -> bool:
    return all(tuple(map(neighbours.state, ids)) == states for ids, states in asked)


def _units(
    left: list[tuple[Unit, bytes]], batches: list[Batch]
) -> Iterator[tuple[list[Outcome], list[Finding], Unit, bytes]]:
    """The units that batches are about, with their keys; what is told once a file cannot be kept for a line."""
    by_line: dict[tuple[str, int], tuple[list[Outcome], list[Finding]]] = {}
    by_file: dict[str, tuple[list[Outcome], list[Finding]]] = {}
    for batch in batches:
        for outcome in batch.outcomes:
            name, _, number = outcome.place.rpartition(":")
            by_line.setdefault((name, int(number)), ([], []))[0].append(outcome)
            by_file.setdefault(name, ([], []))[0].append(outcome)
        for file, finding in batch.read:
            if finding is not None and file != Path():
                name = file_name(file)
                by_line.setdefault((name, finding.line or 0), ([], []))[1].append(finding)
                by_file.setdefault(name, ([], []))[1].append(finding)
    last: Path | None = None
    name = ""
    for unit, key in left:
        if unit.file is not last:
            last, name = unit.file, file_name(unit.file)
        found = by_file.get(name) if unit.span is None else by_line.get((name, unit.span.line))
        outcomes, read = found or ([], [])
        is_told_once = unit.span is not None and any(finding.rule in ONCE_A_FILE for finding in read)
        if outcomes and not is_told_once and all(outcome.repeat is None for outcome in outcomes):
            yield outcomes, read, unit, key
