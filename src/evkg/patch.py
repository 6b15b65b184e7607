"""A change of one file by insertions: shown as a unified diff, and written in one step or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from evkg.errors import UsageError
from evkg.filetext import file_name
from evkg.insertion import Insertion, insert

#: How many lines a diff shows around a change (count); none around lines that are longer than `_LONG` characters.
_CONTEXT: Final = 3
_LONG: Final = 500


@dataclass(frozen=True, slots=True)
class _Change:
    """So many lines from `line` (from 0) on are replaced by `new`."""

    line: int
    removed: int
    new: list[str]


def render_diff(name: str, text: str, insertions: Sequence[Insertion]) -> str:
    """The unified diff of a text and the text with insertions, line ends as they are; empty without insertions.

    Source: POSIX.1-2017, diff (unified output format).

    >>> print(render_diff("a.yaml", "a: 1\\nb: 2\\n", [Insertion(5, "c: 3\\n")]), end="")
    --- a.yaml
    +++ a.yaml
    @@ -1,2 +1,3 @@
     a: 1
    +c: 3
     b: 2
    """
    if not insertions:
        return ""
    lines = _lines(text)
    context = 0 if any(len(line) > _LONG for line in lines) else _CONTEXT
    parts = [f"--- {name}\n+++ {name}\n"]
    shift = 0
    for hunk in _hunks(_changes(lines, insertions), context):
        first = max(hunk[0].line - context, 0)
        last = min(hunk[-1].line + hunk[-1].removed + context, len(lines))
        gained = sum(len(change.new) - change.removed for change in hunk)
        old, new = _range(first, last - first), _range(first + shift, last - first + gained)
        parts.append(f"@@ -{old} +{new} @@\n")
        at = first
        for change in hunk:
            parts += [_shown(" ", line) for line in lines[at : change.line]]
            at = change.line + change.removed
            parts += [_shown("-", line) for line in lines[change.line : at]]
            parts += [_shown("+", line) for line in change.new]
        parts += [_shown(" ", line) for line in lines[at:last]]
        shift += gained
    return "".join(parts)


def _lines(text: str) -> list[str]:
    """The lines of a text with their ends; only a line feed ends one."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + [part for part in parts[-1:] if part]


def _changes(lines: Sequence[str], insertions: Sequence[Insertion]) -> Iterator[_Change]:
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def line_of(insertion: Insertion) -> int:
        number = bisect_right(starts, insertion.offset) - 1
        is_behind_open_line = number == len(lines) > 0 and not lines[-1].endswith("\n")
        return number - 1 if is_behind_open_line else number

    for number, group in groupby(sorted(insertions, key=lambda i: i.offset), key=line_of):
        own = list(group)
        if number == len(lines) or all(i.offset == starts[number] and i.text.endswith("\n") for i in own):
            yield _Change(number, 0, _lines("".join(i.text for i in own)))
        else:
            inner = [Insertion(i.offset - starts[number], i.text) for i in own]
            yield _Change(number, 1, _lines(insert(lines[number], inner)))


def _hunks(changes: Iterator[_Change], context: int) -> Iterator[list[_Change]]:
    """Changes so near to each other that the lines around them would meet."""
    hunk: list[_Change] = []
    for change in changes:
        if hunk and change.line - (hunk[-1].line + hunk[-1].removed) > 2 * context:
            yield hunk
            hunk = []
        hunk.append(change)
    yield hunk


def _range(first: int, count: int) -> str:
    return f"{first + 1}" if count == 1 else f"{first + (count > 0)},{count}"


def _shown(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"


def replace_file(path: Path, before: bytes, after: bytes) -> None:
    """Put other bytes into a file in one step, if it still holds `before`; its permissions stay, a link to it too.

    Raises: UsageError: the file may not be written, has been changed meanwhile, or has a second name (hard link).
    """
    name = file_name(path)
    target = path.resolve()
    try:
        facts = target.stat()
        if not facts.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(target, os.W_OK):
            raise UsageError(f"{name} is read-only; nothing was written.")
        if facts.st_nlink > 1:
            raise UsageError(f"{name} has a second name (a hard link), which would keep the old text; write to a copy.")
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name[:50]}.", suffix=".tmp", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(after)
                stream.flush()
                os.fsync(stream.fileno())
                with suppress(PermissionError):  # only root can give a file away
                    os.fchown(stream.fileno(), facts.st_uid, facts.st_gid)
                os.fchmod(stream.fileno(), stat.S_IMODE(facts.st_mode))
            if target.read_bytes() != before:
                raise UsageError(f"{name} has been changed meanwhile; nothing was written. Run this again.")
            os.replace(temporary, target)  # noqa: PTH105 - the name stands next to its descriptor
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108
            raise
    except OSError as error:
        raise UsageError(f"{name} cannot be written: {error.strerror or error}.") from error
