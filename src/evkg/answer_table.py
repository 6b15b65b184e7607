"""Answers as tables for people: cells with links to records, cut at a number of rows that is said."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any, Final
from urllib.parse import quote

from evkg.errors import UsageError, excerpt
from evkg.namespaces import EVKG, NS, PREFIXES, VOCAB, XSD

#: How many rows a page shows, and how many lines of a graph (count). The formats for programs are never cut.
MOST_ROWS: Final = 1000
_NUMBERS: Final = frozenset(
    XSD + name for name in ("integer", "decimal", "double", "float", "int", "long", "nonNegativeInteger")
)
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
#: As long as the id of a record may be (characters); longer texts are not looked up.
_ID: Final = 200


@dataclass(frozen=True, slots=True)
class Cell:
    """A value: what is shown, the address that it leads to, and the number that it is in the graph, as text."""

    text: str
    link: str | None = None
    is_local: bool = False  # the link stays on this site
    number: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """The rows of a SELECT that a page shows, and how many there are. A cell is None where nothing is bound."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell | None, ...], ...]
    total: int


@dataclass(frozen=True, slots=True)
class GraphText:
    """The lines of a graph that a page shows, and how many there are."""

    text: str
    shown: int
    total: int


@dataclass(frozen=True)
class Links:
    """Where values lead: IRIs below `base` to pages here, and texts that are the id of a record to its page.

    `has_terms`: the terms of the ontology and the concepts of its schemes have pages here too.
    """

    base: str
    has_record: Callable[[str], bool]
    has_terms: bool = False

    def of_iri(self, iri: str) -> tuple[str | None, bool]:
        """The address of an IRI and whether it is here; None where it is none that a browser opens.

        >>> Links("https://w3id.org/evkg/", lambda name: name == "a").of_iri("https://w3id.org/evkg/id/a#part")
        ('/id/a#part', True)
        >>> Links("https://w3id.org/evkg/", lambda name: False).of_iri("javascript:alert(1)")
        (None, False)
        """
        if iri.startswith(self.base):
            place, _, part = iri.removeprefix(self.base).partition("#")
            kind, _, name = place.partition("/")
            if kind in ("id", "record") and self.has_record(name):
                return f"/{kind}/{quote(name)}{f'#{quote(part)}' if part else ''}", True
        if self.has_terms and iri.startswith((EVKG, VOCAB)) and iri not in (EVKG, VOCAB):
            return f"/{iri.removeprefix(NS).replace('#', '/', 1)}", True
        return (iri, False) if re.match(r"https?://", iri) else (None, False)


def read_table(body: bytes, links: Links, sort: str = "") -> AnswerTable | bool:
    """The answer in SPARQL's JSON format as a table, or the truth value of an ASK.

    `sort` is the name of a column, with a minus before it the other way round: all rows are put into this order,
    numbers as numbers and before texts, rows without a value last; otherwise they are as they came.

    Raises: UsageError: there is no such column.
    Source: SPARQL 1.1 Query Results JSON Format, section 3.

    >>> read_table(b'{"head": {}, "boolean": true}', Links("https://example.org/", bool))
    True
    """
    document = json.loads(body)
    if "boolean" in document:
        return bool(document["boolean"])
    columns = tuple(document["head"]["vars"])
    bindings = document["results"]["bindings"]
    if sort:
        bindings = _sorted(bindings, columns, sort)
    beside = {at: columns.index(own) for at, name in enumerate(columns) if (own := id_column(name)) in columns}
    rows = []
    for binding in islice(bindings, MOST_ROWS):
        cells = [_cell(binding.get(name), links) for name in columns]
        for at, other in beside.items():
            cell, record = cells[at], cells[other]
            if cell and record and record.is_local and not cell.link:
                cells[at] = replace(cell, link=record.link, is_local=True)
        rows.append(tuple(cells))
    return AnswerTable(columns, tuple(rows), len(bindings))


def _sorted(bindings: list[dict[str, Any]], columns: tuple[str, ...], sort: str) -> list[dict[str, Any]]:
    name = sort.removeprefix("-")
    if name not in columns:
        raise UsageError(f"The answer has no column {excerpt(name, 60)!r}; it has {', '.join(columns)}.")
    bound = [binding for binding in bindings if name in binding]
    bound.sort(key=lambda binding: _order(binding[name]), reverse=sort.startswith("-"))
    return [*bound, *(binding for binding in bindings if name not in binding)]


def _order(term: Mapping[str, Any]) -> tuple[int, Decimal, str]:
    value = term["value"]
    if term["type"] == "triple":
        return 2, Decimal(0), json.dumps(value, sort_keys=True)
    if term.get("datatype") in _NUMBERS and _NUMBER.fullmatch(value):
        with contextlib.suppress(InvalidOperation):  # an exponent that no computer holds
            return 0, Decimal(value), ""
    return 1, Decimal(0), f"{value.casefold()}\0{value}"


def id_column(name: str) -> str:
    """The column that holds the id of what a column names: its link stands at both."""
    return "result_id" if name == "printed_value" else f"{name}_id"


def _cell(term: Mapping[str, Any] | None, links: Links) -> Cell | None:
    if term is None:
        return None
    value = term["value"]
    if term["type"] == "triple":  # RDF 1.2: a triple as a term
        parts = (_cell(value[name], links) for name in ("subject", "predicate", "object"))
        return Cell(f"<< {' '.join(part.text for part in parts if part)} >>")
    if term["type"] == "uri":
        link, is_local = links.of_iri(value)
        return Cell(shorten_iri(value), link, is_local)
    if term["type"] == "bnode":
        return Cell(f"_:{value}")
    if term.get("datatype") in _NUMBERS:
        return Cell(value, number=value if _NUMBER.fullmatch(value) else None)
    if len(value) <= _ID and links.has_record(value):
        return Cell(value, f"/id/{quote(value)}", is_local=True)
    return Cell(value)


def shorten_iri(iri: str) -> str:
    """An IRI with the prefix that fits, as queries write it; otherwise as it is.

    >>> shorten_iri("https://w3id.org/evkg/ontology#Result"), shorten_iri("urn:a")
    ('evkg:Result', 'urn:a')
    """
    for prefix, namespace in PREFIXES.items():
        rest = iri.removeprefix(namespace)
        if rest != iri and re.fullmatch(r"[\w-]+", rest):
            return f"{prefix}:{rest}"
    return iri


def read_graph(body: bytes) -> GraphText:
    """A graph in Turtle as text, cut at a line."""
    lines = body.decode().splitlines()
    shown = lines[:MOST_ROWS]
    return GraphText("\n".join(shown), len(shown), len(lines))
