"""Texts in charts: made fit for XML, and cut or broken to a width without measuring any font."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

#: Sizes of text (px).
TEXT: Final = 14
SMALL: Final = 12

#: What XML cannot hold, and what would turn the direction of text. Source: XML 1.0, section 2.2 (Char).
_UNFIT: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]"
)
_SPACE: Final = re.compile(r"\s+")
_JOINTS: Final = re.compile("(?<=[-/._])")
_NARROW: Final = frozenset("iljtfrI.,:;'|!()[]{}/\\ -·’")
_BROAD: Final = frozenset("mwMWQOGD@%&—…")


def clean(text: str) -> str:
    r"""A text in one line, without what XML cannot hold and what turns the direction of the text around it.

    >>> clean("a\tb \x00\u202e")
    'a b \ufffd\ufffd'
    """
    return _SPACE.sub(" ", _UNFIT.sub("\ufffd", text.replace("\x85", " "))).strip()


def text_width(text: str, size: int = TEXT, *, mono: bool = False) -> float:
    """About how wide a text is (px): rather too much than too little, whatever the font.

    >>> text_width("illi") < text_width("aaaa") < text_width("WWWW") < text_width("漢字漢字漢字")
    True
    """
    if mono:
        return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text) * 0.62 * size
    return sum(_em(c) for c in text) * size


@lru_cache(4096)
def _em(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.1
    if char in _NARROW:
        return 0.4
    if char in _BROAD:
        return 0.95
    return 0.7 if char.isupper() else 0.57


def fit(text: str, room: float, size: int = TEXT, *, mono: bool = False) -> str:
    """A text that is no wider than so many px, with … where it was cut.

    >>> fit("Nucleotide Transformer", 90), fit("NT", 90)
    ('Nucleotide…', 'NT')
    """
    text = clean(text)
    if text_width(text, size, mono=mono) <= room:
        return text
    return _cut(text, room, size, mono=mono)


def wrap(text: str, room: float, size: int = TEXT, *, most: int = 3) -> list[str]:
    """A text in lines that are no wider than so many px, at most so many; … stands where something is left out.

    Lines break at spaces, and in words that are too long after a hyphen, stroke, dot or underscore.

    >>> wrap("one two three four", 60, most=2), wrap("2026-11-01-beeb2198e324", 110)
    (['one two', 'three…'], ['2026-11-01-', 'beeb2198e324'])
    """
    return list(_wrapped(text, room, size, most))


@lru_cache(4096)
def _wrapped(text: str, room: float, size: int, most: int) -> tuple[str, ...]:
    words = [part for word in clean(text).split(" ") for part in _parts(word, room, size)]
    lines = [""]
    for word, joint in words:
        longer = f"{lines[-1]}{joint if lines[-1] else ''}{word}"
        if not lines[-1] or text_width(longer, size) <= room:
            lines[-1] = longer
        elif len(lines) < most:
            lines.append(word)
        else:
            lines[-1] = _cut(lines[-1], room, size)
            break
    return tuple(fit(line, room, size) for line in lines)


def _cut(line: str, room: float, size: int, *, mono: bool = False) -> str:
    """The beginning of a line that leaves room for …, which follows it; looks at no more of it than fits."""
    left = room - text_width("…", size, mono=mono)
    for end, char in enumerate(line):
        left -= text_width(char, size, mono=mono)
        if left < 0:
            return f"{line[:end].rstrip()}…"
    return f"{line.rstrip()}…"


def _parts(word: str, room: float, size: int) -> list[tuple[str, str]]:
    """A word with the space before it, or its parts with nothing before them but the first."""
    if text_width(word, size) <= room:
        return [(word, " ")]
    parts = [part for part in _JOINTS.split(word) if part]
    return [(part, "" if number else " ") for number, part in enumerate(parts)]
