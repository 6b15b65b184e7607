"""What was found on records before: it holds while they, what they asked about, the rules and evkg itself are the same.

A verdict is kept for a line of a file of lines, or for a whole file of another kind, under the hash of its bytes.
Whether it still holds is seen from the states of the records that its check asked about.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from sys import intern
from typing import Any, Final

from evkg.batch import Batch, Outcome
from evkg.crossrecord import conflicts
from evkg.dataset import Dataset, Portion, Unit, portions_of
from evkg.fact import Fact
from evkg.filetext import file_name
from evkg.finding import ONCE_A_FILE, Finding
from evkg.neighbours import Neighbours
from evkg.vocabulary import data_folder

#: What of the environment a verdict depends on, beside evkg itself.
_LIBRARIES: Final = ("shacl", "pyshacl", "rdflib", "pyoxigraph", "PyYAML")
#: The form of the file of verdicts.
_FORM: Final = "evkg verdicts 1"
_HASH: Final = 32


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

    The file is a row of parts, each with its length and hash: a check adds what is new, and writes the file anew only
    where much of it is no longer used.
    """

    def __init__(self, file: Path, made_with: str) -> None:
        self._file = file
        self._recipe = made_with
        self._known: dict[bytes, Any] = {}
        self._digests: list[bytes] = []
        self._asked: list[bytes] = []
        self._part_of: dict[bytes, int] = {}
        self._facts_digest = b""
        self._conflicts: list[Any] = []
        with contextlib.suppress(OSError, ValueError, TypeError, EOFError, IndexError):
            for part in _parts(file.read_bytes()):
                recipe_of_part, digest, asked, known, facts_digest, found = part
                if recipe_of_part != made_with:
                    break
                self._part_of |= dict.fromkeys(known, len(self._digests))
                self._digests.append(digest)
                self._asked.append(asked)
                self._known |= known
                self._facts_digest, self._conflicts = facts_digest, found
        self._now: dict[bytes, Any] = {}
        #: By the identity of a unit: to hash a path anew for each line takes longer than all else.
        self._keys: dict[int, bytes] = {}
        self._is_changed = False
        self._unsaved: tuple[bytes, dict[bytes, Any], dict[bytes, Any], tuple[Any, Any]] | None = None

    @property
    def is_known(self) -> bool:
        """Whether there are verdicts of this recipe: then its shapes were found sound before."""
        return bool(self._known)

    def take(self, dataset: Dataset) -> tuple[Batch, list[Portion]]:
        """What is known already, as one batch, and what has still to be read."""
        neighbours = dataset.neighbours
        now = _digest(neighbours)
        # What a record asked about matters only where some record is another one than when the verdict was found.
        same = [digest == now for digest in self._digests]
        asked = {} if all(same) else self._all_asked()
        batch = Batch((-1, 0), [], [], [])
        left: list[Unit] = []
        file: Path | None = None
        name = ""
        for unit in dataset.units:
            if unit.file is not file:
                file, name = unit.file, file_name(unit.file)
            key = _key(unit)
            self._keys[id(unit)] = key
            verdict = self._known.get(key) if key not in self._now else None
            if verdict is None or not (same[self._part_of[key]] or _holds(asked[key], neighbours)):
                left.append(unit)
                continue
            self._now[key] = verdict
            _restore(verdict, unit, name, batch)
        self._is_changed = bool(left) or not all(same)
        return batch, portions_of(left)

    def _all_asked(self) -> dict[bytes, Any]:
        found: dict[bytes, Any] = {}
        for asked in self._asked:
            found |= marshal.loads(asked)  # noqa: S302 - part of our own file
        return found

    def finish(self, dataset: Dataset, batches: list[Batch], facts: list[Fact]) -> list[Finding]:
        """What several records together have; `save` remembers it, and everything else.

        `facts` are those of the records in `batches`. Where they and all others are what they were, nothing is
        compared again.
        """
        known: dict[bytes, Any] = {}
        asked: dict[bytes, Any] = {}
        for outcomes, read, unit in _units(dataset, batches):
            key = self._keys[id(unit)]
            if not key or (unit.span is None and _key(unit) != key):  # it was saved while it was checked
                continue
            line = 0 if unit.span is None else unit.span.line
            known[key] = ([_plain(one, line) for one in outcomes], [_plain_finding(one, line) for one in read])
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
            last = (digest if is_all else b"", [_whole(one) for one in found])
            self._unsaved = (_digest(dataset.neighbours), known, asked, last)
        return found

    def _digest_facts(self, dataset: Dataset, known: dict[bytes, Any]) -> bytes:
        """A hash of the facts of all units, and of the lines where they stand."""
        digest = hashlib.sha256()
        file: Path | None = None
        for unit in dataset.units:
            if unit.file is not file:
                file = unit.file
                digest.update(os.fsencode(file))
            key = self._keys[id(unit)]
            verdict = self._now.get(key) or known.get(key)
            for one in verdict[0] if verdict else ():
                line = 0 if unit.span is None else unit.span.line
                digest.update(b"%b %d %b" % (one[0].encode(), line, one[5]))
        return digest.digest()

    def _kept_facts(self, dataset: Dataset) -> Iterator[Fact]:
        for unit in dataset.units:
            verdict = self._now.get(self._keys[id(unit)])
            name, line = file_name(unit.file), 0 if unit.span is None else unit.span.line
            for one in verdict[0] if verdict else ():
                for f, column in zip(marshal.loads(one[5]), one[6], strict=True):  # noqa: S302 - part of our own file
                    yield Fact(f[0], one[0], f[1], f[2], name, f[3] + line, column, f[4], f[5])

    def save(self) -> None:
        """Remember what `finish` was told; where the file cannot be written, the next check takes longer."""
        if self._unsaved is None:
            return
        neighbours, known, asked, last = self._unsaved
        is_added = len(self._now) * 2 > len(self._known) and len(known) * 2 < len(self._known)
        if not is_added:
            before = self._all_asked()
            known = {**self._now, **known}
            asked = {**{key: before[key] for key in self._now}, **asked}
        part = marshal.dumps((self._recipe, neighbours, marshal.dumps(asked), known, *last))
        content = len(part).to_bytes(8, "big") + hashlib.sha256(part).digest() + part
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if is_added:
                with self._file.open("ab") as stream:
                    stream.write(content)
                return
            with tempfile.NamedTemporaryFile(dir=self._file.parent, delete=False) as new:
                new.write(content)
            Path(new.name).replace(self._file)


def _parts(content: bytes) -> Iterator[Any]:
    """The parts of a file up to the first that is cut off or damaged."""
    place = 0
    while place < len(content):
        begin = place + 8 + _HASH
        end = begin + int.from_bytes(content[place : place + 8], "big")
        part = content[begin:end]
        if len(part) != end - begin or hashlib.sha256(part).digest() != content[place + 8 : begin]:
            return
        yield marshal.loads(part)  # noqa: S302 - our own file, its hash is right
        place = end


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
    """A hash of the states of all records."""
    parts = (sorted(neighbours.kinds.items()), sorted(neighbours.gone.items()))
    return hashlib.sha256(repr((parts, sorted(neighbours.withheld), sorted(neighbours.repeated))).encode()).digest()


def _states(outcome: Outcome, neighbours: Neighbours) -> Any:
    asked = tuple(sorted(outcome.asked))
    return asked, tuple(map(neighbours.state, asked))


def _holds(asked: Any, neighbours: Neighbours) -> bool:
    return all(tuple(map(neighbours.state, ids)) == states for ids, states in asked)


def _units(dataset: Dataset, batches: list[Batch]) -> Iterator[tuple[list[Outcome], list[Finding], Unit]]:
    """The units that batches are about; what is told once a file cannot be kept for a line."""
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
    for unit in dataset.units if by_line else ():
        if unit.file is not last:
            last, name = unit.file, file_name(unit.file)
        found = by_file.get(name) if unit.span is None else by_line.get((name, unit.span.line))
        outcomes, read = found or ([], [])
        is_told_once = unit.span is not None and any(finding.rule in ONCE_A_FILE for finding in read)
        if outcomes and not is_told_once and all(outcome.repeat is None for outcome in outcomes):
            yield outcomes, read, unit


def _plain(outcome: Outcome, line: int) -> tuple[Any, ...]:
    # Numbers of JSON are texts of a kind of their own, which this form does not know.
    facts = [
        (f.about, str(f.key), tuple(map(str, f.values)), f.line - line, f.field, f.shown and str(f.shown))
        for f in outcome.facts
    ]
    return (
        outcome.record_id,
        outcome.kind,
        int(outcome.place.rpartition(":")[2]) - line,
        outcome.content_sha256,
        [_plain_finding(finding, line) for finding in outcome.findings],
        marshal.dumps(facts, 2),  # the same bytes for the same facts
        tuple(fact.column for fact in outcome.facts),
        tuple(sorted(outcome.shared)),
    )


def _whole(f: Finding) -> tuple[Any, ...]:
    return (*f[:8], f.value and str(f.value), f.fix)


def _plain_finding(f: Finding, line: int) -> tuple[Any, ...]:
    # The same text is the same object: then the file holds it once, and it is made once when that is read.
    said = (intern(f.severity), intern(f.rule), intern(f.message), f.record, f.field and intern(f.field))
    return (*said, (f.line or 0) - line, f.column, f.value and str(f.value), f.fix and intern(f.fix))


def _restore(verdict: Any, unit: Unit, name: str, batch: Batch) -> None:
    """Add to a batch what a verdict says of a unit of a file of this name."""
    line = 0 if unit.span is None else unit.span.line
    new = tuple.__new__  # a third of the time that Finding(…) takes, of which there may be a hundred thousand
    for record_id, kind, place, sha256, findings, _, _, shared in verdict[0]:
        batch.read.append((unit.file, None))
        batch.outcomes.append(
            Outcome(
                record_id,
                kind,
                f"{name}:{place + line}",
                None,
                sha256,
                [new(Finding, (*f[:5], name, f[5] + line or None, *f[6:])) for f in findings],
                shared=frozenset(shared),
            )
        )
    for f in verdict[1]:
        finding = Finding(f[0], f[1], f[2], f[3], f[4], name, f[5] + line or None, f[6], f[7], f[8])
        batch.read.append((unit.file, finding))
