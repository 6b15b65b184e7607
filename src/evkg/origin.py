"""Where a record was read."""

from __future__ import annotations

from dataclasses import dataclass, field

from evkg.jsontext import Inside, locate
from evkg.scalar import Path, Places


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a record was read: its file, its first line (from 1) and what tells the place of a key.

    Either `places` (YAML) or `text` with the offset `start` (JSON) is there.
    """

    file: str
    line: int
    places: Places | None = field(default=None, repr=False)
    text: str = field(default="", repr=False)
    start: int = 0
    start_column: int = 1
    _inside: Inside = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def place_text(self) -> str:
        """Its file and first line, as messages name a place."""
        return f"{self.file}:{self.line}"

    def place(self, path: Path) -> tuple[int, int]:
        """(line, column) of the key at `path`, or of the nearest key above it that exists."""
        if self.places is not None:
            while path and path not in self.places:
                path = path[:-1]
            return self.places.get(path, (self.line, self.start_column))
        offset = locate(self.text, path, self.start, self._inside)
        before = self.text[self.start : offset]
        newlines = before.count("\n")
        if newlines:
            return self.line + newlines, len(before) - before.rfind("\n")
        return self.line, self.start_column + len(before)
