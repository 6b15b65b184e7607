"""Specimens of rules that no shape holds: what the checker says of an example, and lines that break and keep the rule.

An example is a file or a folder that is named as its rule. Comments at the top of the file in which the fault is
tell of it: the first line what is wrong, `why:` why that matters, `right:` the line to write instead, nothing behind
it where a line is to go. Where a file can hold no comments a table, `about.tsv`, stands for them, and a second example
with `.right` in its name is the right form.
"""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from evkg.check import check_dataset, within
from evkg.crossrecord import conflicts, facts
from evkg.errors import UsageError
from evkg.finding import Finding, printable
from evkg.reader import read_records
from evkg.record import Record
from evkg.shapes import Shapes
from evkg.vocabulary import load_vocabulary

#: Folder of examples -> what its rules are about, in the order of the book.
FOLDERS: Final[Mapping[str, str]] = {
    "invalid-files": "Files, keys and references",
    "invalid-values": "Values that cannot be right",
    "invalid-sets": "Several records together",
}
MARK: Final = "# <- here"
_ABOUT: Final = "about.tsv"
_COMMENT: Final = re.compile(r"# (?:(why|right):)? ?(.*)\Z")
_KEY: Final = re.compile(r"\s*(?:- )?\{?([\w.-]+):")
#: The time of the release for the rule that needs one.
_RELEASED: Final = datetime(2026, 11, 1, tzinfo=UTC)
_LONGEST: Final = 100


@dataclass(frozen=True, slots=True)
class Specimen:
    """A rule with its example: the finding on it, what is wrong, why that matters, and a wrong and a right line.

    `right` is None where it cannot be told in a line, and empty where the wrong line is to go; `mended` says that
    there is a right form at all.
    """

    rule: str
    path: Path
    finding: Finding
    example: str
    why: str | None
    wrong: str | None
    right: str | None
    mended: bool


@cache  # each is checked with every shape, which takes its time
def specimens(folder: Path, shapes: Shapes) -> tuple[Specimen, ...]:
    """The specimens of the examples in a folder, by rule.

    Raises: UsageError: an example does not break its rule, or cannot be read.
    """
    about = dict(_about(folder))
    return tuple(_specimen(path, shapes, about) for path in sorted(folder.iterdir()) if _is_example(path))


def in_words(folder: Path) -> list[tuple[str, str]]:
    """(rule, what it says) of the rules that no example can show, by name."""
    known = {_rule(path) for path in folder.iterdir()}
    return sorted((rule, why) for rule, (_, why) in _about(folder) if rule not in known)


def findings_on(path: Path, rule: str, shapes: Shapes) -> list[Finding]:
    """What the checker finds of one rule in an example, its files named from there on.

    Raises: UsageError: nothing is there to read.
    """
    if rule == "dated-after-release":  # a check alone knows no time of a release
        vocabulary = load_vocabulary()
        records = [item for item in read_records(path, vocabulary) if isinstance(item, Record)]
        found = conflicts([fact for item in records for fact in facts(item, vocabulary)], released=_RELEASED)
    else:
        found = check_dataset(path, shapes=shapes, engine="fast", jobs=1).findings
    return [finding for finding in within(path, found) if finding.rule == rule]


@contextmanager
def mended(specimen: Specimen) -> Iterator[Path]:
    """The right form of an example, as a file or folder that is there for a while."""
    beside = specimen.path.with_name(f"{specimen.rule}.right{specimen.path.suffix}")
    if beside.exists():
        yield beside
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / specimen.path.name
        (shutil.copytree if specimen.path.is_dir() else shutil.copy)(specimen.path, copy)
        file = _file(copy, specimen.finding)
        lines = file.read_text(encoding="utf-8").splitlines()
        number = _place(lines, specimen.right)
        if specimen.right:
            indent = lines[number][: len(lines[number]) - len(lines[number].lstrip())]
            lines[number] = indent + specimen.right
        else:
            del lines[number]
        file.write_text("\n".join([*lines, ""]), encoding="utf-8")
        yield copy


def _is_example(path: Path) -> bool:
    return path.name != _ABOUT and ".right" not in path.name and not path.name.startswith(".")


def _rule(path: Path) -> str:
    return path.name.partition(".")[0]


def _about(folder: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    if (folder / _ABOUT).is_file():
        with (folder / _ABOUT).open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream, dialect="excel-tab"):
                yield row["rule"], (row["example"] or "", row["why"] or "")


def _specimen(path: Path, shapes: Shapes, about: Mapping[str, tuple[str, str]]) -> Specimen:
    rule = _rule(path)
    found = findings_on(path, rule, shapes)
    if not found:
        raise UsageError(f"The example {path} does not break the rule {rule}.")
    finding, right = found[0], None
    file = _file(path, finding)
    lines = file.read_bytes().decode(errors="backslashreplace").split("\n")
    told = _told(lines)
    example, why = told.get("", ""), told.get("why")
    if rule in about:
        example, why = about[rule][0], about[rule][1] or None
    number = (finding.line or 0) - 1
    if "right" in told:
        right, number = told["right"], _place(lines, told["right"])
    wrong = _shown(lines[number]) if 0 <= number < len(lines) else None
    beside = path.with_name(f"{rule}.right{path.suffix}")
    if wrong and beside.is_file():
        right = dict(enumerate(map(_shown, beside.read_text(encoding="utf-8").splitlines()))).get(number)
    return Specimen(
        rule=rule,
        path=path,
        finding=finding,
        example=example,
        why=why,
        wrong=wrong,
        right=right,
        mended=right is not None or beside.exists(),
    )


def _file(path: Path, finding: Finding) -> Path:
    """The file of an example in which a finding is."""
    return path if path.is_file() else path / (finding.file or "")


def _told(lines: list[str]) -> dict[str, str]:
    """What the comments at the top of a file tell, by their first word."""
    told: dict[str, str] = {}
    for line in lines:
        match = _COMMENT.match(line)
        if match is None:
            break
        told.setdefault(match[1] or "", match[2].strip())
    return told


def _place(lines: list[str], right: str | None) -> int:
    """The line that a right one replaces (from 0): the marked one, or the last with the same key."""
    marked = next(number for number, line in enumerate(lines) if line.endswith(MARK))
    key = _KEY.match(right or "")
    if key is None or ((own := _KEY.match(lines[marked])) and own[1] == key[1]):
        return marked
    same = [n for n, line in enumerate(lines) if (own := _KEY.match(line)) and own[1] == key[1]]
    return same[-1] if same else marked


def _shown(line: str) -> str | None:
    """A line as the book shows it: without its mark, control characters written out, not too long."""
    text = printable(line.partition(MARK)[0].strip(" \n"))
    return (text if len(text) <= _LONGEST else text[:_LONGEST] + "…") or None
