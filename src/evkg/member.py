"""A row of a comparison: what a result prints, with everything that belongs beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Final

from evkg.lookup import Facts, concern_text, id_of
from evkg.namespaces import concept_key, record_iri
from evkg.ranking import Number, Place, is_bound


@dataclass(frozen=True, slots=True)
class Member:
    """A row of the table: texts as the source prints them; None where nothing is recorded.

    `decimals` counts printed decimals. `rank` is from 1; several may be best. `ties` and `overlaps` name ids.
    """

    id: str
    name: str
    system: str | None
    printed_value: str | None
    unit: str | None
    unit_detail: str | None
    unit_certainty: str | None
    decimals: int | None
    uncertainty: str | None
    source: str | None
    locator: str | None
    origin: str | None
    status: str
    review: str | None
    protocol_from_assessment: str | None
    caveats: tuple[str, ...]
    is_bound: bool = False
    rank: int | None = None
    is_best: bool = False
    ties: tuple[str, ...] = ()
    overlaps: tuple[str, ...] = ()

    def placed(self, place: Place, ids: Sequence[str]) -> Member:
        """The same row with its place among the rows with these ids."""
        return replace(
            self,
            rank=place.rank,
            is_best=place.rank == 1,
            ties=tuple(ids[i] for i in place.ties),
            overlaps=tuple(ids[i] for i in place.overlaps),
        )


def read_member(facts: Facts, thing: str, run: str | None) -> Member:
    """The row of a result; `run` is the evaluation that gave it."""
    record = record_iri(facts.base, id_of(thing))
    decimals = facts.text(thing, "printedDecimals")
    printed = facts.text(thing, "printedValue")
    sources = [str(facts.label(iri)) for iri in facts.texts(record, "sourceIds")]
    review = facts.text(record, "review")
    fallback = facts.text(run, "fallbackProtocol")
    return Member(
        id=id_of(thing),
        name=str(facts.label(thing)),
        system=facts.label(facts.text(run, "system")),
        printed_value=printed,
        unit=facts.label(facts.text(thing, "unit")),
        unit_detail=facts.text(thing, "unitDetail"),
        unit_certainty=facts.text(thing, "unitCertainty"),
        decimals=None if decimals is None else int(decimals),
        uncertainty=_uncertainty(facts, facts.text(thing, "uncertainty")),
        source="; ".join(sources) or None,
        locator=facts.text(thing, "sourceLocator"),
        origin=facts.label(facts.text(run, "origin")),
        status=str(facts.label(facts.text(record, "status"))),
        review=None if review is None else facts.text(review, "reviewerNote") or "recorded",
        protocol_from_assessment=None if fallback is None else id_of(fallback),
        caveats=tuple(_caveats(facts, thing)),
        is_bound=printed is not None and is_bound(printed),
    )


def read_number(facts: Facts, thing: str) -> Number | None:
    """The number of a result with what it knows of its precision; None if it has none."""
    value = _decimal(facts.text(thing, "numericText"))
    if value is None:
        return None
    decimals = facts.text(thing, "printedDecimals")
    unit = facts.text(thing, "unit")
    interval = _interval(facts, facts.text(thing, "uncertainty"), value)
    return Number(value, None if decimals is None else int(decimals), interval, concept_key(unit) if unit else "")


def _interval(facts: Facts, node: str | None, value: Decimal) -> tuple[Decimal, Decimal] | None:
    """The interval that the record gives; a spread counts as one on both sides. None in a unit of its own."""
    if facts.text(node, "unitText") is not None:
        return None
    lower, upper = (_decimal(facts.text(node, name)) for name in ("lowerText", "upperText"))
    if lower is not None and upper is not None:
        return lower, upper
    half = _decimal(facts.text(node, "halfWidthText") or facts.text(node, "uncertaintyValueText"))
    center = _decimal(facts.text(node, "centerText"))
    center = value if center is None else center
    return None if half is None else (center - half, center + half)


def _uncertainty(facts: Facts, node: str | None) -> str | None:
    """The uncertainty as printed, else from its fields, with its type."""
    if node is None:
        return None
    kind = facts.label(facts.text(node, "uncertaintyType")) or "uncertainty"
    printed = facts.text(node, "printed")
    if printed is None:
        bounds = [facts.text(node, name) for name in ("lowerText", "upperText")]
        half = facts.text(node, "halfWidthText") or facts.text(node, "uncertaintyValueText")
        printed = f"{bounds[0]} to {bounds[1]}" if all(bounds) else f"± {half}" if half else "not recorded"
    return f"{printed} ({kind})"


#: Unit -> how the source spells another one that is easily taken for it.
_OTHER_SPELLINGS: Final = {
    "sample-per-second": re.compile(r"tok(?:en)?s?\s?(?:/|per )\s?s(?:ec(?:ond)?)?\b", re.IGNORECASE),
    "token-per-second": re.compile(r"samples?\s?(?:/|per )\s?s(?:ec(?:ond)?)?\b", re.IGNORECASE),
    "gigabyte": re.compile(r"\bGiB\b"),
    "gibibyte": re.compile(r"\bGB\b"),
    "megabyte": re.compile(r"\bMiB\b"),
}


def _other_unit(facts: Facts, thing: str) -> str | None:
    """What the record quotes from the source that speaks of another unit than the one it gives."""
    unit = concept_key(facts.text(thing, "unit") or "")
    texts = [facts.text(thing, name) or "" for name in ("unitDetail", "sourceLocator")]
    found = _OTHER_SPELLINGS[unit].search(" ".join(texts)) if unit in _OTHER_SPELLINGS else None
    return None if found is None else found.group()


def _caveats(facts: Facts, thing: str) -> list[str]:
    found = [f"open concern: {concern_text(facts, iri)}" for iri in facts.texts(thing, "openConcern")]
    found += [f"discrepancy in the source: {text}" for text in facts.texts(thing, "sourceDiscrepancy")]
    for node in facts.texts(thing, "discrepancies"):
        kept = facts.text(node, "kept") or facts.text(thing, "printedValue")
        place, printed = facts.text(node, "locator") or "elsewhere", facts.text(node, "printed") or "another value"
        found.append(f"discrepancy in the source: {place} prints {printed}, kept is {kept}")
    certainty = facts.text(thing, "unitCertainty")
    if certainty not in (None, "stated"):
        found.append(f"the unit is {certainty}, not stated by the source")
    other = _other_unit(facts, thing)
    if other is not None:
        found.append(f"evkg noticed: the record quotes {other!r}, which is not its unit; nothing was converted")
    if facts.text(thing, "approximate") == "true":
        found.append("the value is approximate")
    if facts.text(thing, "derivation") is not None:
        found.append("computed by the catalogue from printed values, not printed itself")
    return found


def _decimal(text: str | None) -> Decimal | None:
    try:
        value = None if text is None else Decimal(text)
    except InvalidOperation:
        return None
    return value if value is not None and value.is_finite() else None
