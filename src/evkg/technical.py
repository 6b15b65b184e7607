"""Technical metadata: every field of a record that its page shows nowhere else, as the record has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evkg.jsontext import Json, encode_json

if TYPE_CHECKING:
    from evkg.record import Record
    from evkg.release import Release

#: Attributes that stand here, since other sections of a page show them in words or only in part.
_ATTRIBUTES = ("extraction", "evidence_concerns", "missing_metadata")


@dataclass(frozen=True, slots=True)
class Technical:
    """One line: the path in the record, a label, and the text."""

    key: str
    label: str
    text: str


def technical_values(release: Release, record: Record) -> list[Technical]:
    """The lines of a record: its id, status and facets, then what curators noted about it.

    >>> from evkg.release import open
    >>> release = open()
    >>> [(line.key, line.text) for line in technical_values(release, release.read("gena-lm"))][:3]
    [('id', 'gena-lm'), ('kind', 'model'), ('status', 'discovered')]
    """
    lines = [Technical(key, key, str(record.data[key])) for key in ("id", "kind", "status")]
    facets = record.data["facets"]
    if isinstance(facets, dict):
        for key, value in facets.items():
            term = release.vocabulary.facets.get(key)
            lines += _leaves(f"facets.{key}", term.label if term else key.replace("_", " "), value)
    for key in _ATTRIBUTES:
        if key in record.attributes:
            lines += _leaves(key, key.replace("_", " "), record.attributes[key])
    return lines


def _leaves(key: str, label: str, value: Json) -> Iterator[Technical]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(f"{key}.{name}", f"{label} · {name.replace('_', ' ')}", inner)
    elif isinstance(value, list) and value and any(isinstance(item, dict | list) for item in value):
        for index, inner in enumerate(value):
            yield from _leaves(f"{key}.{index}", f"{label} · {index + 1}", inner)
    elif isinstance(value, list) and value:
        yield Technical(key, label, "; ".join(v if isinstance(v, str) else encode_json(v) for v in value))
    else:
        yield Technical(key, label, value if isinstance(value, str) else encode_json(value))
