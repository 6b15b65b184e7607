"""Succession: one application after the other behind the same address, without a request lost in between."""

from __future__ import annotations

import asyncio
import gc
import logging
import weakref
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from starlette.types import Receive, Scope, Send

from evkg.errors import EvkgError

#: How often it is looked whether there is something newer (seconds).
_LOOK_SECONDS: Final = 2.0
#: How long the one before may take to answer what it was asked (seconds).
_LEAVE_SECONDS: Final = 1000.0
#: When what it kept is freed, each time so long after the time before (seconds).
_FREE_SECONDS: Final = (0.0, 1.0, 5.0, 30.0, 120.0)
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

    @property
    def name(self) -> str:
        service = getattr(self.app.state, "service", None)
        return f"release {service.release.id}" if service is not None and service.release is not None else "the store"


class Succession:
    """An application that is always the newest: what comes in goes to it, and the one before ends what it is at.

    `mark()` says what the newest is (anything that can be compared), `make()` makes it in a thread; its lifespan is
    entered before it gets a request. Where it cannot be made, the one before stays. `prepare(application)` is waited
    for before a newer one takes over, not before the first. `tell(text)` is told of each change once, with the time.
    Use: `async with Succession(mark, make) as succession:`, and serve `succession`.
    """

    def __init__(
        self,
        mark: Callable[[], Any],
        make: Callable[[], Any],
        *,
        prepare: Callable[[Any], Awaitable[None]] | None = None,
        tell: Callable[[str], None] = _log.warning,
        seconds: float = _LOOK_SECONDS,
    ) -> None:
        self._mark = mark
        self._make = make
        self._prepare = prepare
        self._write = tell
        self._seconds = seconds
        self._trouble = ""
        self._is_refused = False
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
        self._current = await self._enter(is_first=True)
        self._spawn(self._follow())
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._current.life.__aexit__(None, None, None)

    async def _enter(self, *, is_first: bool = False) -> _Member:
        app = await asyncio.to_thread(self._make)
        if self._prepare is not None and not is_first:
            await self._prepare(app)
        life = app.router.lifespan_context(app)
        await life.__aenter__()
        return _Member(app, life)

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            try:
                mark = await asyncio.to_thread(self._mark)
                if mark == self._seen:
                    self._trouble = self._trouble if self._is_refused else ""
                    continue
                self._seen, self._is_refused = mark, True
                newest = await self._enter()
            except (EvkgError, OSError) as error:
                if str(error) != self._trouble:  # said once, however often it is looked
                    self._trouble = str(error)
                    self._tell(f"What is newer cannot be served, so what was there before stays: {error}")
                continue
            before, self._current = self._current, newest
            self._trouble, self._is_refused = "", False
            self._tell(f"{newest.name} is served now, instead of {before.name}.")
            self._spawn(self._retire(before))
            del before, newest  # nothing here may keep what is no longer served

    def _tell(self, text: str) -> None:
        self._write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {text}")

    async def _retire(self, member: _Member) -> None:
        try:
            async with asyncio.timeout(_LEAVE_SECONDS):
                while member.requests:
                    member.idle.clear()
                    await member.idle.wait()
        except TimeoutError:
            self._tell("Requests to what was served before are given up.")
        finally:
            await member.life.__aexit__(None, None, None)
            app = weakref.ref(member.app)
            del member
        # Its parts know each other, so its files stay open until they are looked for; a connection or a thread may
        # know it for a while.
        for seconds in _FREE_SECONDS:
            await asyncio.sleep(seconds)
            await asyncio.to_thread(gc.collect)
            if app() is None:
                break

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
