"""Technical metadata: every field of a record that its page shows nowhere else, as the record has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evkg.view import Value, open_values

if TYPE_CHECKING:
    from evkg.record import Record
    from evkg.release import Release

#: Attributes that stand here, since other sections of a page show them in words or only in part.
_ATTRIBUTES = ("extraction", "evidence_concerns", "missing_metadata")


def technical_values(release: Release, record: Record) -> list[Value]:
    """The lines of a record: its id, status and facets, then what curators noted about it.

    >>> from evkg.release import open
    >>> release = open()
    >>> [(line.key, line.text) for line in technical_values(release, release.read("gena-lm"))][:3]
    [('id', 'gena-lm'), ('kind', 'model'), ('status', 'discovered')]
    """
    lines = [Value(key, key, str(record.data[key])) for key in ("id", "kind", "status")]
    facets = record.data["facets"]
    if isinstance(facets, dict):
        for key, value in facets.items():
            term = release.vocabulary.facets.get(key)
            lines += open_values(f"facets.{key}", term.label if term else key.replace("_", " "), value)
    for key in _ATTRIBUTES:
        if key in record.attributes:
            lines += open_values(key, key.replace("_", " "), record.attributes[key])
    return lines
