"""Lanes: who may go on next, fairly among clients, where only so many can and only so many may wait.

Two lanes lead to the workers. Every query begins in the light one; one that takes longer than a short while,
or has a long answer, needs a place in the heavy one.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque

from evkg.errors import QueryLimitError


class WorkersBusyError(QueryLimitError):
    """There is too much to do at this moment; it may work a little later."""


class Lane:
    """Places that are taken and given back, and a queue of those who wait for one.

    `places`: how many there are at the beginning. `waiting`: how many may wait; of these one client may have three
    quarters. `is_shared`: the last free place is not for a client that holds another, so that one client alone
    cannot keep all others waiting; it needs three places or more.
    """

    def __init__(self, places: int, waiting: int, *, is_shared: bool = False) -> None:
        self.free = places
        self.waiting = 0
        self._most_waiting = waiting
        self._most_of_one = waiting - waiting // 4
        self._is_shared = is_shared and places > 2
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._held: Counter[str] = Counter()

    def try_enter(self, client: str) -> bool:
        """Take a place if there is one and nobody waits for it.

        >>> lane = Lane(1, 0)
        >>> lane.try_enter("a"), lane.try_enter("b")
        (True, False)
        """
        if self.waiting or not self._may(client):
            return False
        self._take(client)
        return True

    async def enter(self, client: str, seconds: float) -> None:
        """Take a place, waiting up to so many seconds for it.

        Raises: WorkersBusyError: none came free, or too many wait.
        """
        if self.try_enter(client):
            return
        queue = self._queues.setdefault(client, deque())
        if self.waiting >= self._most_waiting or len(queue) >= self._most_of_one:
            if not queue:
                del self._queues[client]
            raise WorkersBusyError(
                "All query workers are busy, and many queries wait already. Try again in a moment.", limit="waiting"
            )
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        queue.append(turn)
        self.waiting += 1
        timer = loop.call_later(max(seconds, 0), _end, turn, seconds)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.leave(client)  # the place came in the same moment
            raise
        finally:
            timer.cancel()
            self._forget(client, turn)

    def leave(self, client: str, *, is_lost: bool = False) -> None:
        """Give a place back, unless it is lost; whose turn it is among those who wait has it."""
        self._held[client] -= 1
        if self._held[client] <= 0:
            del self._held[client]
        self.add(0 if is_lost else 1)

    def add(self, places: int) -> None:
        """More places, or fewer where `places` is negative."""
        self.free += places
        while self.free > 0 and (client := self._next()) is not None:
            turn = self._queues[client][0]
            self._forget(client, turn)
            if client in self._queues:
                self._queues.move_to_end(client)  # others first, next time
            if not turn.done():
                self._take(client)
                turn.set_result(None)

    def fail(self, error: Exception) -> None:
        """Let all who wait have this error."""
        for queue in [*self._queues.values()]:
            for turn in queue:
                if not turn.done():
                    turn.set_exception(error)

    def _may(self, client: str) -> bool:
        return self.free > 1 or (self.free == 1 and not (self._is_shared and self._held[client]))

    def _next(self) -> str | None:
        return next((client for client in self._queues if self._may(client)), None)

    def _take(self, client: str) -> None:
        self.free -= 1
        self._held[client] += 1

    def _forget(self, client: str, turn: asyncio.Future[None]) -> None:
        queue = self._queues.get(client)
        if queue is not None and turn in queue:
            queue.remove(turn)
            self.waiting -= 1
            if not queue:
                del self._queues[client]


def _end(turn: asyncio.Future[None], seconds: float) -> None:
    if not turn.done():
        message = f"No worker became free within {seconds:.3g} s. Try again in a moment."
        turn.set_exception(WorkersBusyError(message, limit="waiting"))
