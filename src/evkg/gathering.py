"""Waiting for an answer: until it is whole, and no longer than its client does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from evkg.bytesize import size_text
from evkg.errors import QueryLimitError
from evkg.runningquery import Answer

T = TypeVar("T")


async def gather(answer: Answer, most_bytes: int | None) -> Answer:
    """An answer made whole, of so many bytes at most.

    Raises: QueryLimitError: it is longer. And what its rest raises.
    """
    if answer.rest is None:
        return answer
    parts, size = [answer.body], len(answer.body)
    try:
        async for piece in answer.rest:
            parts.append(piece)
            size += len(piece)
            if most_bytes is not None and size > most_bytes:
                raise QueryLimitError(f"The answer is larger than {size_text(most_bytes)}. Use LIMIT.", "bytes")
    finally:
        answer.rest.close()
    return Answer(answer.form, answer.format_name, b"".join(parts))


async def unless_gone(gone: Callable[[], Awaitable[None]] | None, run: Coroutine[Any, Any, T]) -> T:
    """The outcome of `run`, which is cancelled when `gone` returns or raises first."""
    if gone is None:
        return await run
    running, watching = asyncio.ensure_future(run), asyncio.ensure_future(gone())
    try:
        await asyncio.wait((running, watching), return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            watching.result()
            raise asyncio.CancelledError
        return running.result()
    finally:
        for task in (watching, running):
            task.cancel()
        await asyncio.gather(watching, running, return_exceptions=True)
