"""Contributions: what a source gave to a release, by kind of record, with what its claims say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from evkg.namespaces import EVKG, RDFS, thing_iri

if TYPE_CHECKING:
    from evkg.lookup import Facts
    from evkg.release import Release

#: How many records of one kind, and how many claims, a page lists (count).
_LISTED: Final = 25


@dataclass(frozen=True, slots=True)
class Group:
    """The records of one kind: how many there are (count), and the first ones by name as (id, name)."""

    kind: str
    label: str
    count: int
    records: tuple[tuple[str, str], ...]
    more: str  # where all of them are listed


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """What a claim says: the field that it speaks about, the statement, and where in the source it stands."""

    id: str
    name: str
    field: str
    statement: str
    locator: str | None


@dataclass(frozen=True, slots=True)
class Contribution:
    """What cites one source: `total` counts the records."""

    total: int
    groups: tuple[Group, ...]
    claims: tuple[ClaimLine, ...]


def read_contribution(release: Release, facts: Facts, source_id: str, citing: Sequence[str]) -> Contribution:
    """What the records that cite a source are; claims are listed with what they say.

    >>> from evkg.lookup import Facts
    >>> from evkg.measurement import Measurements
    >>> from evkg.release import open
    >>> release = open()
    >>> citing = Measurements(release).citing("saadat-fellay-20261015-source-paper")
    >>> found = read_contribution(release, Facts(release), "saadat-fellay-20261015-source-paper", citing)
    >>> [(group.label, group.count) for group in found.groups][:2], len(found.claims)
    ([('Claims', 3), ('Configurations', 10)], 3)
    """
    by_kind: dict[str, list[tuple[str, str]]] = {}
    for record_id in citing:
        if record_id == source_id:
            continue
        thing = thing_iri(facts.base, record_id)
        kind = facts.single(thing, "kind") or ""
        by_kind.setdefault(kind, []).append((facts.single(thing, RDFS + "label") or record_id, record_id))
    groups = []
    for kind, found in sorted(by_kind.items()):
        local = release.vocabulary.kinds.get(kind, "")
        label = _plural(release.vocabulary.labels.get(EVKG + local, kind.replace("_", " ")))
        listed = tuple((record_id, name) for name, record_id in sorted(found)[:_LISTED])
        more = f"/search?{urlencode({'source': source_id, 'kind': kind})}"
        groups.append(Group(kind, label, len(found), listed, more))
    claims = sorted(record_id for _, record_id in by_kind.get("claim", ()))[:_LISTED]
    return Contribution(
        sum(group.count for group in groups), tuple(groups), tuple(_claim(release, record_id) for record_id in claims)
    )


def _claim(release: Release, record_id: str) -> ClaimLine:
    record = release.read(record_id)
    attributes = record.attributes

    def text(key: str) -> str:
        value = attributes.get(key)
        return value if isinstance(value, str) else ""

    statement = str(record.data["description"]) or text("value")
    return ClaimLine(record_id, str(record.data["name"]), text("field"), statement, text("source_locator") or None)


def _plural(label: str) -> str:
    """The plural of the name of a kind.

    >>> _plural("use case"), _plural("dataset subset")
    ('Use cases', 'Dataset subsets')
    """
    return f"{label[:1].upper()}{label[1:]}s"
