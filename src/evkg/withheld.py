"""Withdrawn records: what of an excluded record stays public, and nothing else."""

from __future__ import annotations

from typing import Final

from evkg.jsontext import Json
from evkg.record import Record


def is_withheld(record: Record) -> bool:
    """Whether a record is excluded: only its tombstone goes into a graph or a release."""
    return record.data["status"] == "excluded"


#: What stays public of a withdrawn record: keys of the envelope, and attributes that say why.
_PUBLIC: Final[tuple[str, ...]] = ("id", "kind", "name", "status", "source_ids", "links")
_PUBLIC_ATTRIBUTES: Final[tuple[str, ...]] = ("reason", "scope_note")


def is_public(field: str | None) -> bool:
    """Whether a finding on this field of a withdrawn record may be told: findings quote what is written."""
    first, _, rest = (field or "").partition(".")
    return first in _PUBLIC or (first == "attributes" and rest in _PUBLIC_ATTRIBUTES)


def tombstone(record_data: dict[str, Json]) -> dict[str, Json]:
    """What stays public of a withdrawn record: no values, no description."""
    attributes = record_data["attributes"]
    reason = {k: v for k, v in attributes.items() if k in _PUBLIC_ATTRIBUTES} if isinstance(attributes, dict) else {}
    data = {key: record_data[key] for key in _PUBLIC if key in record_data}
    return {**data, "description": "", "facets": {}, "attributes": reason}
