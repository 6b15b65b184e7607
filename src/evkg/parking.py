"""Answers that wait for their clients to read on, and keep nobody waiting meanwhile."""

from __future__ import annotations

from typing import Protocol


class Slow(Protocol):
    """An answer that its client reads slowly."""

    def give_up(self) -> None:
        """End it visibly before it is whole."""


class Parking:
    """Answers without a place in a lane, at most so many: where one more comes, the one that is here longest ends.

    >>> parking = Parking(3)
    >>> parking.most
    3
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._parked: dict[Slow, None] = {}

    def __len__(self) -> int:
        return len(self._parked)

    def enter(self, answer: Slow) -> None:
        """Take an answer in."""
        self._parked[answer] = None
        if len(self._parked) > self.most:
            oldest = next(iter(self._parked))
            self.leave(oldest)
            oldest.give_up()

    def leave(self, answer: Slow) -> None:
        """Forget an answer, if it is here."""
        self._parked.pop(answer, None)
