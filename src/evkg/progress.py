"""The line that tells people at a terminal what long work is doing, and how long it still takes."""

from __future__ import annotations

import sys
import time
from typing import Any, Final

#: How often the line of progress is written at most (seconds).
_EVERY: Final = 0.1


_SHOWN: dict[str, Any] = {"text": "", "at": 0.0, "since": 0.0}


def show_progress(text: str, done: int, total: int) -> None:
    """Show what is being done, and on long work how much of it, how fast and how long it still takes."""
    if not sys.stderr.isatty():
        return
    now = time.monotonic()
    if text != _SHOWN["text"]:
        _SHOWN.update(text=text, since=now)
    elif now - _SHOWN["at"] < _EVERY and done < total:
        return
    _SHOWN["at"] = now
    print(f"\r\x1b[K{progress_line(text, done, total, now - _SHOWN['since'])}", end="", file=sys.stderr, flush=True)


def progress_line(text: str, done: int, total: int, seconds: float) -> str:
    """One line on work that is going on.

    >>> progress_line("checking records", 5000, 20000, 10.0)
    'checking records: 5,000 of 20,000 (25 %), 500/s, 30 s left'
    """
    if not total:
        return f"{text} …"
    line = f"{text}: {done:,} of {total:,} ({100 * done // total} %)"
    if done and seconds >= 1:
        rate = done / seconds
        line += f", {rate:,.0f}/s, {(total - done) / rate:.0f} s left"
    return line


def progress_end() -> None:
    """Take the line away."""
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
