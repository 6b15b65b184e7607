"""Succession: one application after the other behind the same address, without a request lost in between."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.types import Receive, Scope, Send

from evkg.errors import EvkgError

#: How often it is looked whether there is something newer (seconds).
_LOOK_SECONDS: Final = 2.0
#: How long the one before may take to answer what it was asked (seconds).
_LEAVE_SECONDS: Final = 1000.0
_log = logging.getLogger(__name__)

#: An application, and what keeps it alive.
Application = Callable[[Scope, Receive, Send], Any]


@dataclass(slots=True)
class _Member:
    """An application with the requests that it is at."""

    app: Any
    life: AbstractAsyncContextManager[Any]
    requests: int = 0
    idle: asyncio.Event = field(default_factory=asyncio.Event)


class Succession:
    """An application that is always the newest: what comes in goes to it, and the one before ends what it is at.

    `mark()` says what the newest is (anything that can be compared), `make()` makes it in a thread; its lifespan is
    entered before it gets a request. Where it cannot be made, the one before stays.
    Use: `async with Succession(mark, make) as succession:`, and serve `succession`.
    """

    def __init__(self, mark: Callable[[], Any], make: Callable[[], Any], *, seconds: float = _LOOK_SECONDS) -> None:
        self._mark = mark
        self._make = make
        self._seconds = seconds
        self._current: _Member
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def app(self) -> Any:
        """The application that answers now."""
        return self._current.app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        member = self._current
        member.requests += 1
        try:
            await member.app(scope, receive, send)
        finally:
            member.requests -= 1
            if member.requests == 0:
                member.idle.set()

    async def __aenter__(self) -> Succession:
        """Raises: what `make` and the lifespan of the application raise."""
        self._seen = self._mark()
        self._current = await self._enter()
        self._spawn(self._follow())
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._current.life.__aexit__(None, None, None)

    async def _enter(self) -> _Member:
        app = await asyncio.to_thread(self._make)
        life = app.router.lifespan_context(app)
        await life.__aenter__()
        return _Member(app, life)

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            try:
                mark = await asyncio.to_thread(self._mark)
                if mark == self._seen:
                    continue
                self._seen = mark
                newest = await self._enter()
            except (EvkgError, OSError) as error:
                _log.warning("What is newer cannot be served: %s", error)
                continue
            before, self._current = self._current, newest
            self._spawn(self._retire(before))

    async def _retire(self, member: _Member) -> None:
        try:
            async with asyncio.timeout(_LEAVE_SECONDS):
                while member.requests:
                    member.idle.clear()
                    await member.idle.wait()
        except TimeoutError:
            _log.warning("Requests to what was served before are given up.")
        finally:
            await member.life.__aexit__(None, None, None)

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
