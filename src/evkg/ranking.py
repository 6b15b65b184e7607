"""Numbers that know their precision: ranks, ties at the printed precision, intervals that overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

#: Factor from a unit to the one in which fractions and percents of one metric stand side by side.
_SHARES: Final = {"percent": Decimal("0.01"), "fraction": Decimal(1)}
#: Signs before a printed value that make it a bound and no point.
_BOUNDS: Final = ("<", ">", "≤", "≥")


@dataclass(frozen=True, slots=True)
class Number:
    """One value to be ranked: the number, decimals as printed (count, None if not plain), interval, unit key."""

    value: Decimal
    decimals: int | None = None
    interval: tuple[Decimal, Decimal] | None = None
    unit: str = ""

    def aligned(self) -> Number:
        """The same share as a fraction, where the unit is percent: one place more for each decimal moved.

        >>> Number(Decimal("87.3"), 1, unit="percent").aligned()
        Number(value=Decimal('0.873'), decimals=3, interval=None, unit='fraction')
        """
        factor = _SHARES[self.unit]
        if factor == 1:
            return self
        interval = None if self.interval is None else (self.interval[0] * factor, self.interval[1] * factor)
        decimals = None if self.decimals is None else self.decimals + 2
        return Number(self.value * factor, decimals, interval, "fraction")


@dataclass(frozen=True, slots=True)
class Place:
    """The place of one value: rank from 1, and by index what it ties with and whose interval it overlaps."""

    rank: int
    ties: tuple[int, ...]
    overlaps: tuple[int, ...]


def can_align(units: Sequence[str]) -> bool:
    """Whether values in these units can stand in one order: one unit, or fractions and percents.

    >>> can_align(["gigabyte", "gigabyte"]), can_align(["percent", "fraction"]), can_align(["gigabyte", "gibibyte"])
    (True, True, False)
    """
    return len(set(units)) == 1 or set(units) <= set(_SHARES)


def is_bound(printed: str) -> bool:
    """Whether a source prints a bound and no point value.

    >>> is_bound("< 0.001"), is_bound("0.001")
    (True, False)
    """
    return printed.strip().startswith(_BOUNDS)


def same_at_print(one: Number, other: Number) -> bool:
    """Whether two values cannot be told apart at the precision to which both are printed.

    Printed alike in precision, they are the same only if equal; otherwise the finer one must be one that
    the coarser could be rounded from.

    >>> same_at_print(Number(Decimal("0.87"), 2), Number(Decimal("0.873"), 3))
    True
    >>> same_at_print(Number(Decimal("0.870"), 3), Number(Decimal("0.873"), 3))
    False
    """
    if one.value == other.value:
        return True
    if one.decimals is None or other.decimals is None or one.decimals == other.decimals:
        return False
    half = Decimal(5).scaleb(-1 - min(one.decimals, other.decimals))
    return abs(one.value - other.value) <= half


def rank(numbers: Sequence[Number], *, lower_is_better: bool) -> list[Place]:
    """The place of each value: one more than the count of those that are certainly better as printed.

    >>> values = [Number(Decimal(text), len(text) - 2) for text in ("0.873", "0.87", "0.868")]
    >>> [place.rank for place in rank(values, lower_is_better=False)]
    [1, 1, 2]
    >>> rank(values, lower_is_better=False)[0].ties
    (1,)
    """
    if len({number.unit for number in numbers}) > 1:
        numbers = [number.aligned() for number in numbers]
    places = []
    for index, mine in enumerate(numbers):
        others = [(i, number) for i, number in enumerate(numbers) if i != index]
        ties = tuple(i for i, number in others if same_at_print(mine, number))
        better = sum(
            number.value < mine.value if lower_is_better else number.value > mine.value
            for i, number in others
            if i not in ties
        )
        places.append(Place(1 + better, ties, tuple(i for i, number in others if _overlap(mine, number))))
    return places


def _overlap(one: Number, other: Number) -> bool:
    if one.interval is None or other.interval is None:
        return False
    return one.interval[0] <= other.interval[1] and other.interval[0] <= one.interval[1]
