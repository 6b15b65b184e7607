"""Numbers as papers print them: `r = 0.91`, `6,637`, `−0.5`, `0.91 ± 0.02`, `1.5 × 10⁻³`, `0.5–0.7`, `< 0.001`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Final

#: Source: contract section 5.1 (decimal).
_DECIMAL: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
#: Numbers of more characters are not compared (count); those of fewer are, to the last digit.
_LONGEST: Final = 1000
_EXACT: Final = Context(prec=_LONGEST, Emax=10**6, Emin=-(10**6), traps=[])

#: Signs and digits of print -> those of a keyboard. A dash is a minus sign only before a number.
_PRINT: Final = str.maketrans(
    {"−": "-", "‑": "-", "‐": "-", "﹣": "-", "－": "-", "⁻": "-", "⁺": "+", "∼": "~", "⩽": "≤", "⩾": "≥"}
    | {digit: str(value) for value, digit in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
)
_RAISED: Final = re.compile(r"10\s?([⁻⁺−]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_GAP: Final = re.compile(r"(?<=\d)[\u2009\u202f\u00a0 '’](?=\d{3}(?!\d))")
_EXPONENT: Final = r"(?:[eE][+-]?\d+|\s?[×x·*]\s?10(?:\^|\*\*)\(?[+-]?\d+\)?|\s?[×x·*]\s?10[+-]\d+)?"
_NUMBER: Final = rf"[+-]?(?:[1-9]\d{{0,2}}(?:,\d{{3}})+(?:\.\d*)?|\d+(?:[.,]\d+|\.)?|\.\d+){_EXPONENT}"
_WORDS: Final = r"c\.|ca\.|approx\.|(?:circa|about|approx|approximately|around|roughly|up[ ]to|at[ ]most|at[ ]least)\b"
_RELATION: Final = rf"(?:=|<=|>=|<|>|≤|≥|~|≈|{_WORDS})"
_SHAPE: Final = re.compile(
    rf"""(?:[^=<>≤≥~≈]{{1,20}}(?=[=<>≤≥~≈]))?\s*(?P<relation>{_RELATION})?\s*
    (?P<number>{_NUMBER})\s*(?P<percent>%)?\s*
    (?P<rest>|(?:±|\+/-|\+-).*|[(\[].*|(?P<to>–|—|-|to|\.\.|…)\s*(?P<high>{_NUMBER})\s*%?|[^\W\d][^\d]{{0,19}}|°.{{0,3}})\Z""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_MARKS: Final = "*†‡§¶#_ \t\n\r"
_BELOW: Final = frozenset({"<", "<=", "≤", "up to", "at most"})
_ABOVE: Final = frozenset({">", ">=", "≥", "at least"})


@dataclass(frozen=True, slots=True)
class Printed:
    """What a printed text says: `readings` are the numbers that it can mean, the likeliest first.

    `kind` is exact (the number alone, or with %), spread (with ± behind it), range (with `high`), below or above
    (a bound), or about (with a unit, a word or a parenthesis that may change what is meant).
    """

    kind: str
    readings: tuple[Decimal, ...]
    is_percent: bool
    high: Decimal | None = None

    def agrees(self, number: Decimal) -> bool:
        """Whether a number for computing can be meant by what is printed.

        >>> read_printed("< 0.001").agrees(Decimal("0.0005")), read_printed("0.5–0.7").agrees(Decimal("0.8"))
        (True, False)
        """
        first = self.readings[0]
        if self.high is not None:
            return min(first, self.high) <= number <= max(first, self.high)
        return number in self.readings or (
            number < first if self.kind == "below" else number > first if self.kind == "above" else False
        )


def read_printed(text: str) -> Printed | None:
    """What a text prints, None where it is not one number, bound or range.

    >>> [str(read_printed(text).readings[0]) for text in ("r = 1.00", "6,637", "−0.5", "1.5 × 10⁻³", "5.6 GB")]
    ['1.00', '6637', '-0.5', '0.0015', '5.6']
    >>> read_printed("n.s."), read_printed("12 of 30")
    (None, None)
    """
    if len(text) > _LONGEST:
        return None
    plain = re.sub(r"[ \t\r\n]+", " ", text.strip(_MARKS))
    plain = _RAISED.sub(lambda match: f"10^{match[1].translate(_PRINT)}", plain).translate(_PRINT)
    if re.match(r"[–—]\s?[\d.]", plain):
        plain = "-" + plain[1:].lstrip()
    match = _SHAPE.match(_GAP.sub("", plain))
    if match is None:
        return None
    readings, is_plain = _readings(match["number"])
    if not readings:
        return None
    relation, rest = (match["relation"] or "").casefold(), match["rest"]
    is_percent = match["percent"] is not None or rest.rstrip().endswith("%")
    if relation in _BELOW | _ABOVE:
        return Printed("below" if relation in _BELOW else "above", readings, is_percent)
    if match["high"]:
        high, _ = _readings(match["high"])
        return Printed("range", readings, is_percent, high[0]) if high else None
    is_spread = rest.startswith(("±", "+"))
    gap = _GAP.search(plain)
    if gap is not None:  # `12 345` may be one number or two
        readings = (*readings, *_readings(plain[: gap.start()])[0])
    is_sure = is_plain and relation in ("", "=") and gap is None
    if is_sure and (not rest or is_spread):
        return Printed("spread" if rest else "exact", readings, is_percent)
    inside = [number for part in re.findall(_NUMBER, rest) for number in _readings(part)[0]]
    scaled = [shifted(readings[0], places) for places in (3, 6, 9, 12, -3, -6, -9)] if rest[:1].isalpha() else []
    return Printed("about", (*readings, *inside, *scaled), is_percent)


def _readings(text: str) -> tuple[tuple[Decimal, ...], bool]:
    """The numbers that the digits can mean, and whether it is sure which: a comma may separate or be a point."""
    text = re.sub(r"\s?[×x·*]\s?10(?:\^|\*\*)?\(?([+-]?\d+)\)?", r"e\1", text)
    texts = [text.replace(",", "")]
    if "," in text:
        point = text.replace(",", ".", 1)
        texts = [*texts, point] if re.match(r"[+-]?[1-9]\d{0,2}(,\d{3})+", text) else [point]
    found = tuple(number for one in texts if (number := as_decimal(one)) is not None)
    return found, "," not in text or len(texts) == 2


def as_decimal(text: str) -> Decimal | None:
    """The exact number of a plain decimal, None for anything else and for numbers beyond all reason."""
    if len(text) > _LONGEST or not _DECIMAL.match(text):
        return None
    number = _EXACT.create_decimal(text)
    return number if number.is_finite() else None


def shifted(number: Decimal, places: int) -> Decimal:
    """The number times a power of ten, exactly.

    >>> shifted(Decimal("0.873"), 2)
    Decimal('87.3')
    """
    return number.scaleb(places, _EXACT)
