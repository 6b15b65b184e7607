"""Search texts: how words are made alike, what a search asks for, and where in a text it is found.

A number keeps its point, so that 5.6 is one word and is not found in 15.6 or 5.6.1; any other sign between letters ends
a word, so that `peak-memory` is found as two words that follow each other, however they are joined.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from evkg.errors import UsageError

#: What stands for the point of a number: a letter of its own to the index, which splits at ASCII signs.
POINT: Final = "\ue000"
#: As long as a search may be (characters), and as many words and phrases as it may have (count).
MOST_CHARACTERS: Final = 400
MOST_PARTS: Final = 32
_POINT: Final = re.compile(r"(?<=\d)\.(?=\d)")
_OTHER: Final = re.compile(rf"[^\w{POINT}]+|_+")
#: Compatibility forms that would run into what stands before them: 10² is not 102, 5½ is not 51⁄2.
_RAISED: Final = re.compile("[²³¹⁰-⁹⁺-ⁿ¼-¾⅐-⅞]")
_TOKEN: Final = re.compile(r"[^\s]+")
_PART: Final = re.compile(r'"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+)')


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a search asks for: words that follow each other; the last may be only a beginning."""

    tokens: tuple[str, ...]
    is_open: bool
    shown: str


def fold(text: str) -> str:
    """A text as it is searched: no case, no accents, words of letters, digits and points of numbers, spaces between.

    >>> fold("Größe: Naïve µ-Opt, H₂O, 10² = 0.785.").replace(POINT, ".")
    'grosse naive μ opt h2o 10 2 0.785 '
    """
    if text.isascii():
        text = text.lower()
    else:
        text = unicodedata.normalize("NFKD", _RAISED.sub(r" \g<0>", text)).casefold()
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if c.isascii() or _is_seen(c))
    return _OTHER.sub(" ", _POINT.sub(POINT, text))


def _is_seen(character: str) -> bool:
    """Whether it is more than a mark on another character, or one that only lays text out."""
    return unicodedata.category(character) not in ("Mn", "Me", "Mc", "Cf") and character != POINT


def tokens(text: str) -> list[str]:
    """The words of a text.

    >>> tokens("nt-v2.5b_run")
    ['nt', 'v2\\ue0005b', 'run']
    """
    return _TOKEN.findall(fold(text))


def read_query(text: str) -> list[Part]:
    """What a search asks for; every part must be found. `"…"` is a phrase, a star at the end of a word its beginning.

    Parts without a letter or digit ask for nothing and are left out.

    Raises: UsageError: the search is too long.

    >>> [(part.tokens, part.is_open) for part in read_query('peak-memory "one GPU" nucl* ±')]
    [(('peak', 'memory'), False), (('one', 'gpu'), False), (('nucl',), True)]
    """
    if len(text) > MOST_CHARACTERS:
        raise UsageError(f"A search has at most {MOST_CHARACTERS} characters; this one has {len(text)}.")
    found = []
    for match in _PART.finditer(text):
        phrase, word = match["phrase"], match["word"]
        shown = phrase if word is None else word
        words = tuple(tokens(shown))
        if words:
            found.append(Part(words, word is not None and word.endswith("*"), shown))
    if len(found) > MOST_PARTS:
        raise UsageError(f"A search has at most {MOST_PARTS} words and phrases; this one has {len(found)}.")
    return found


def match_expression(parts: Sequence[Part]) -> str:
    """The parts in the syntax of FTS5; nothing of what was typed but letters and digits gets there.

    Source: SQLite FTS5 Extension, section 3 (full-text query syntax).

    >>> match_expression(read_query('a-b" OR c*'))
    '"a b" AND "or c"'
    """
    return " AND ".join(f'"{" ".join(part.tokens)}"{" *" if part.is_open else ""}' for part in parts)


#: A piece of a text, and whether it is what was searched for.
Piece = tuple[str, bool]


def mark(text: str, parts: Sequence[Part], *, around: int | None = None) -> list[Piece] | None:
    """A text in pieces, what was searched for marked; None if nothing of it is there.

    With `around` only so many words before and behind the first find are kept, `…` for the rest.

    >>> mark("Peak memory, in GB", read_query("memory"))
    [('Peak ', False), ('memory,', True), (' in GB', False)]
    """
    words = [match.span() for match in re.finditer(r"\S+", text)]
    found = _found(text, words, parts)
    if not found:
        return None
    first, last = 0, len(words) - 1
    if around is not None:
        first = max(0, min(found) - around)
        last = min(last, min(found) + around)
    pieces: list[Piece] = [("… ", False)] if first > 0 else []
    at = words[first][0] if first else 0
    for number in range(first, last + 1):
        start, end = words[number]
        if number in found:
            if start > at:
                pieces.append((text[at:start], False))
            pieces.append((text[start:end], True))
            at = end
    rest = text[at : words[last][1] if last < len(words) - 1 else len(text)]
    pieces += [(rest, False)] if rest else []
    pieces += [(" …", False)] if last < len(words) - 1 else []
    return pieces


def _found(text: str, words: Sequence[tuple[int, int]], parts: Sequence[Part]) -> set[int]:
    """The numbers of the words that belong to a find."""
    flat = [(token, number) for number, (start, end) in enumerate(words) for token in tokens(text[start:end])]
    found: set[int] = set()
    for part in parts:
        found.update(number for at in _places(flat, part) for _, number in flat[at : at + len(part.tokens)])
    return found


def _places(flat: Sequence[tuple[str, int]], part: Part) -> Iterator[int]:
    size = len(part.tokens)
    for at in range(len(flat) - size + 1):
        pairs = zip((token for token, _ in flat[at : at + size]), part.tokens, strict=True)
        *before, (last, wanted) = pairs
        is_last = last.startswith(wanted) if part.is_open else last == wanted
        if is_last and all(token == other for token, other in before):
            yield at
