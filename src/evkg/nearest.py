"""The known names that come closest to one that is not known, however many there are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from heapq import nlargest
from typing import Final

#: How many names are compared letter by letter (count), which takes long.
_COMPARED: Final = 200
#: How much of a name is looked at (characters).
_LENGTH: Final = 255


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.5) -> tuple[str, ...]:
    """At most three of the known names, the closest first; `cutoff` is the least likeness, from 0 to 1.

    >>> nearest("gena-ln", ["gena-lm", "dart-eval"])
    ('gena-lm',)
    """
    sought = name[:_LENGTH]
    parts = {sought[i : i + 3] for i in range(len(sought) - 2)} or {sought}

    def shared(other: str) -> tuple[int, int, str]:
        return sum(part in other for part in parts), -abs(len(other) - len(sought)), other

    candidates = nlargest(_COMPARED, known, key=shared)
    return tuple(difflib.get_close_matches(sought, candidates, n=3, cutoff=cutoff))
