"""Mentions: the ids of records in a sentence, so that a page makes links of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: What may stand in an id, so that `a` is not found in `a-b`.
_IN_IDS = r"[\w.:-]"


def split_mentions(text: str, ids: Iterable[str | None]) -> list[tuple[str, bool]]:
    """The parts of a text in their order, each with whether it is one of these ids; of no id there is one part.

    >>> split_mentions("Budget is not known: eval-1 says '2'.", ["eval-1", "eval", None])
    [('Budget is not known: ', False), ('eval-1', True), (" says '2'.", False)]
    >>> split_mentions("eval-12: eval-1.", ["eval-1"])
    [('eval-12: ', False), ('eval-1', True), ('.', False)]
    """
    known = sorted({one for one in ids if one}, key=lambda one: (-len(one), one))
    if not known:
        return [(text, False)] if text else []
    # An id at the end of a sentence is followed by its point, and of nothing else.
    words = "|".join(map(re.escape, known))
    pattern = re.compile(rf"(?<!{_IN_IDS})({words})(?!{_IN_IDS}*\w)")
    return [(part, number % 2 == 1) for number, part in enumerate(pattern.split(text)) if part]
