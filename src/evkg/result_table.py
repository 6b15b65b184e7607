"""Rows of results as data: the table of `measurement_table` as objects and as cells of a CSV table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from evkg.cell import Cell
from evkg.lookup import Facts, id_of
from evkg.measurement import Measurement, Run
from evkg.measurement_table import Named, Row
from evkg.namespaces import concept_key, thing_iri

#: The columns of the table as CSV; where a field has no value, the reason stands in brackets.
COLUMNS: Final = (
    *("result", "name", "printed_value", "unit", "unit_detail", "metric", "metric_qualifier", "direction"),
    *("uncertainty", "coverage", "aggregation", "system_id", "system", "protocol_id", "protocol"),
    *("dataset_id", "dataset", "evaluation_id", "evaluation", "origin", "status", "source_id", "source"),
    *("source_locator", "caveats", "url"),
)


def read_measurement(facts: Facts, record_id: str) -> Measurement:
    """A result with the evaluation that it names first; without one the run has no id and nothing in it.

    >>> from evkg.release import Release, find_release
    >>> facts = Facts(Release(find_release("build/current")))
    >>> read_measurement(facts, "saadat-fellay-20261015-result-nt-2-5b-quantization-memory-4bit").run.origin
    'independent_paper'
    """
    thing = thing_iri(facts.base, record_id)
    run = facts.text(thing, "evaluation")

    def ids(name: str) -> tuple[str, ...]:
        return tuple(map(id_of, facts.texts(run, name)))

    metric, origin = facts.text(thing, "metric"), facts.text(run, "origin")
    return Measurement(
        record_id,
        concept_key(metric) if metric else "",
        Run(id_of(run) if run else "", ids("system"), ids("assessment"), ids("data"), concept_key(origin or "")),
    )


def row_json(row: Row, base: str) -> dict[str, Any]:
    """A row as an object; `base` is the address of the server. A field without a value says why."""
    member = row.member
    return {
        "id": member.id if member else None,
        "name": member.name if member else None,
        "url": f"{base}/id/{member.id}" if member else None,
        "printed_value": _cell(row.printed),
        "unit": member.unit if member else None,
        "unit_detail": member.unit_detail if member else None,
        "metric": row.metric or None,
        "metric_qualifier": row.qualifier,
        "direction": row.direction or None,
        "uncertainty": _cell(row.uncertainty),
        "coverage": _cell(row.coverage),
        "aggregation": _cell(row.aggregation),
        "systems": _named(row.systems),
        "protocols": _named(row.protocols),
        "datasets": _named(row.data),
        "evaluation": _named([row.run])[0] if row.run.id else None,
        "origin": row.origin,
        "status": member.status if member else None,
        "sources": _named(row.sources),
        "source_locator": member.locator if member else None,
        "caveats": list(member.caveats) if member else [],
    }


def row_cells(row: Row, base: str) -> tuple[str, ...]:
    """A row in the order of `COLUMNS`."""
    found = row_json(row, base)

    def text(key: str) -> str:
        value = found[key]
        if isinstance(value, dict):
            return f"[{value['missing']}]"
        return str(value or "")

    def both(things: Sequence[Named]) -> tuple[str, str]:
        return "; ".join(thing.id for thing in things), "; ".join(thing.name or "" for thing in things)

    return (
        *map(text, ("id", "name", "printed_value", "unit", "unit_detail", "metric", "metric_qualifier", "direction")),
        *map(text, ("uncertainty", "coverage", "aggregation")),
        *(*both(row.systems), *both(row.protocols), *both(row.data), row.run.id, row.run.name or ""),
        *(text("origin"), text("status"), *both(row.sources), text("source_locator")),
        *("; ".join(found["caveats"]), text("url")),
    )


def _cell(cell: Cell) -> str | dict[str, Any]:
    """The text of a cell, or why there is none; `not recorded` where nothing explains it."""
    if cell.text is not None:
        return cell.text
    return {"missing": cell.reason or "not recorded", **({"note": cell.note} if cell.note else {})}


def _named(things: Sequence[Named]) -> list[dict[str, str | None]]:
    return [{"id": thing.id, "name": thing.name} for thing in things]
