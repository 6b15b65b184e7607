"""Numbers of bytes as people write them."""

from __future__ import annotations

import re
from typing import Final

from evkg.errors import UsageError, excerpt

_UNITS: Final = {"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10}
_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*(GiB|MiB|KiB|B?)", re.ASCII)


def size_text(size: int) -> str:
    """A number of bytes for people.

    >>> size_text(2 << 30), size_text(64 << 20), size_text(100)
    ('2 GiB', '64 MiB', '100 bytes')
    """
    for name, unit in _UNITS.items():
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"


def read_size(text: str) -> int:
    """The number of bytes that a text says.

    Raises: UsageError: it says none.

    >>> read_size("2GiB"), read_size("0.5 MiB"), read_size("1000")
    (2147483648, 524288, 1000)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{excerpt(text, 40)!r} is no size such as 512MiB or 2GiB.")
    return int(float(match[1]) * _UNITS.get(match[2], 1))
