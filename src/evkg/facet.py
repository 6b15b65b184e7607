"""Facets: by what records and results can be chosen, and how a choice is written in an address."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from evkg.errors import UsageError

#: The value of a facet that stands for records which say nothing there.
NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class Facet:
    """One way to choose: its name in addresses, its label, and the scheme of its values if they are concepts."""

    name: str
    label: str
    scheme: str | None = None
    are_records: bool = False


_METRIC: Final = Facet("metric", "Metric", "metric")
_ORIGIN: Final = Facet("origin", "Evidence origin", "origin")
#: The facets of `/search`, in the order of the page.
SEARCH: Final = (
    Facet("kind", "Kind"),
    Facet("area", "Area", "area"),
    Facet("method_type", "Method type", "method-type"),
    Facet("context", "Context", "context"),
    _METRIC,
    _ORIGIN,
    Facet("status", "Status", "status"),
    Facet("doubt", "Doubt"),
    Facet("source", "Source", are_records=True),
)
#: The facets of `/results`: what was tested, by which rules, on what, in which evaluation, and what was measured.
RESULTS: Final = (
    Facet("system", "Tested model or method", are_records=True),
    Facet("protocol", "Protocol", are_records=True),
    Facet("dataset", "Dataset", are_records=True),
    Facet("setup", "Evaluation setup", are_records=True),
    _METRIC,
    _ORIGIN,
)
#: Why a record is not to be taken as it stands, and what a reader is told.
DOUBTS: Final[Mapping[str, str]] = {
    "excluded": "excluded",
    "disputed": "disputed",
    "superseded": "superseded",
    "concern": "open concern about its source",
    "basis": "rests on a record in doubt",
}
#: As many values as one address may choose (count).
_MOST: Final = 100
#: A choice: facet -> the values of which a record must have one.
Chosen = Mapping[str, tuple[str, ...]]


def read_chosen(pairs: Iterable[tuple[str, str]], facets: Collection[Facet]) -> dict[str, tuple[str, ...]]:
    """The choice in the parameters of an address; several values of one facet are alternatives.

    Raises: UsageError: too many values.

    >>> read_chosen([("kind", "result"), ("q", "x"), ("kind", "claim"), ("area", "")], SEARCH)
    {'kind': ('claim', 'result')}
    """
    found: dict[str, set[str]] = {}
    names = [facet.name for facet in facets]
    for name, value in pairs:
        if name in names and value.strip():
            found.setdefault(name, set()).add(value.strip())
    if sum(map(len, found.values())) > _MOST:
        raise UsageError(f"A search chooses at most {_MOST} values.")
    return {name: tuple(sorted(found[name])) for name in names if name in found}


def toggled(chosen: Chosen, facet: str, value: str) -> dict[str, tuple[str, ...]]:
    """The choice with a value put in, or taken out where it was in.

    >>> toggled({"kind": ("claim",)}, "kind", "result"), toggled({"kind": ("claim",)}, "kind", "claim")
    ({'kind': ('claim', 'result')}, {})
    """
    values = set(chosen.get(facet, ())) ^ {value}
    rest = {name: kept for name, kept in chosen.items() if name != facet}
    return {**rest, facet: tuple(sorted(values))} if values else rest


def address(path: str, chosen: Chosen, **others: str | int) -> str:
    """The address of a choice; parameters without a value are left out.

    >>> address("/search", {"kind": ("claim", "result")}, q="5.6 GB", sort="")
    '/search?q=5.6+GB&kind=claim&kind=result'
    """
    pairs = [(name, str(value)) for name, value in others.items() if value not in ("", None)]
    pairs += [(name, value) for name, values in chosen.items() for value in values]
    return f"{path}?{urlencode(pairs)}" if pairs else path
