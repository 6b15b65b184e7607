"""A record while older shapes in it are read as the current one: notes, moves and missing entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from evkg.jsontext import Json
from evkg.scalar import Path

#: The reasons for which a field may be missing. Source: contract section 7, scheme missingness.
REASONS: Final = ("unreported", "unextracted", "unavailable", "inapplicable", "conflicting")


@dataclass(slots=True)
class Rewrite:
    """A record in the current shape, with a note per rewrite and where moved fields came from.

    `data` is the current shape and `attributes` are its attributes; both are copies. Paths in `notes`
    are those of the record as read; `moves` leads from a path in `data` to one of the record as read.
    `missing` is a copy of the missing entries, None where something else stands in their place.
    """

    data: dict[str, Json]
    attributes: dict[str, Json] = field(default_factory=dict)
    missing: dict[str, Json] | None = None
    notes: list[tuple[Path, str]] = field(default_factory=list)
    moves: dict[Path, Path] = field(default_factory=dict)

    def note(self, path: Path, message: str) -> None:
        self.notes.append((path, message))

    def move(self, new: Path, old: Path) -> None:
        """Say that what stands at `new` was read at `old`."""
        self.moves[new] = self.source(old)

    def source(self, path: Path) -> Path:
        """Where the record as read has the field that now stands at `path`."""
        return read_path(self.moves, path)

    def rename(self, old: str, new: str) -> None:
        """Read an attribute under its current key; where that is taken, both stay as they are."""
        if old not in self.attributes:
            return
        path: Path = ("attributes", old)
        if new in self.attributes:
            self.note(path, f'The older key "{old}" stands beside "{new}"; it is kept as it is.')
            return
        self.attributes[new] = self.attributes.pop(old)
        self.move(("attributes", new), path)
        self.note(path, f'The older key "{old}" is read as "{new}".')

    def explain(self, key: str, reason: str, note: str | None = None) -> bool:
        """Say why a field is missing; an entry that is there keeps its reason and gains the note.

        False where the record has no place for it, so that the field must stay as it is.
        """
        if self.missing is None:
            return False
        entry = self.missing.get(key)
        if key not in self.missing:
            self.missing[key] = {"reason": reason} if note is None else {"reason": reason, "note": note}
        elif note is not None:
            if not isinstance(entry, dict) or not isinstance(entry.get("note", ""), str):
                return False
            self.missing[key] = {**entry, "note": joined(entry.get("note"), note)}
        return True


def read_path(moves: Mapping[Path, Path], path: Path) -> Path:
    """The path in the record as read of what stands at `path` in the current shape.

    >>> read_path({("attributes", "licence"): ("attributes", "license")}, ("attributes", "licence", 0))
    ('attributes', 'license', 0)
    """
    for length in range(len(path), 0, -1):
        if path[:length] in moves:
            return (*moves[path[:length]], *path[length:])
    return path


def joined(first: Json, second: str) -> str:
    """Two notes as one text.

    >>> joined("two runs", "see Table 2"), joined(None, "see Table 2")
    ('two runs; see Table 2', 'see Table 2')
    """
    return f"{first}; {second}" if isinstance(first, str) and first and first != second else second


def reason_of(text: str) -> tuple[str, str | None]:
    """The reason that an older free text stands for, and the text as note unless it is the bare reason.

    >>> reason_of("unreported"), reason_of("Not applicable here"), reason_of("")
    (('unreported', None), ('inapplicable', 'Not applicable here'), ('unextracted', None))
    """
    words = text.strip()
    low = words.lower()
    if low in REASONS:
        return low, None
    if not words:
        return "unextracted", None
    if "not applicable" in low:
        return "inapplicable", words
    if "inaccessible" in low or "unpublished" in low:
        return "unavailable", words
    if any(word in low for word in ("unextracted", "not established", "legacy")):
        return "unextracted", words
    return "unreported", words
