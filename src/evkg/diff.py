"""What changed from one release to another: records that are new, gone or changed, and results in doubt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from evkg.jsontext import Json
from evkg.release import GRAPH_INDEX, INDEX, Release

#: Where a record says why its status is what it is.
_REASONS: Final = ("reason", "scope_note")
#: Keys of a record that hold fields of their own.
_GROUPS: Final = ("facets", "attributes")
#: Why a result stands in doubt though its own record may be unchanged.
_DOUBTS: Final = """
SELECT DISTINCT ?id ?why {
  { ?result evkg:openConcern ?concern . ?result a evkg:Result .
    OPTIONAL { ?concern evkg:message ?message }
    BIND(CONCAT("open concern: ", COALESCE(?message, "(its text is missing or withheld)")) AS ?why) }
  UNION
  { ?result evkg:doubtfulBasis ?basis . ?result a evkg:Result .
    ?about foaf:primaryTopic ?basis ; evkg:recordId ?basis_id ; evkg:status/skos:notation ?state .
    BIND(CONCAT("rests on ", ?basis_id, ", which is ", ?state) AS ?why) }
  ?record foaf:primaryTopic ?result ; evkg:recordId ?id .
}
"""


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one record: `what` is new, gone or changed; status keys are None where there is none.

    `fields` are the fields whose value differs; `reason` is what the records say of it, None if they say nothing.
    """

    id: str
    kind: str
    name: str
    what: str
    status_before: str | None
    status_after: str | None
    fields: tuple[str, ...]
    reason: str | None


@dataclass(frozen=True, slots=True)
class Doubt:
    """A result that came into doubt (`what` is doubted) or out of it (cleared), and why."""

    id: str
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two releases: changes of records and doubts on results by id, and other graphs that differ.

    `graphs` is None where one of the two has no index of its graphs.
    """

    before: str
    after: str
    changes: tuple[Change, ...]
    doubts: tuple[Doubt, ...]
    graphs: tuple[str, ...] | None

    def as_json(self) -> dict[str, Any]:
        """The same as one object."""
        return asdict(self)


def diff(before: Release, after: Release) -> Difference:
    """What changed from one release to another. Records are compared by the hash of what was read.

    Raises: ReleaseError: a file of a release is missing or damaged.

    >>> import evkg
    >>> release = evkg.open("build/current")
    >>> diff(release, release).changes
    ()
    """
    old, new = _hashes(before, INDEX) or {}, _hashes(after, INDEX) or {}
    changes = [_changed(before, after, name) for name in sorted(old.keys() & new.keys()) if old[name] != new[name]]
    changes += [_arrived(after, name) for name in sorted(new.keys() - old.keys())]
    successors = _successors(after)
    changes += [_gone(before, name, successors.get(name)) for name in sorted(old.keys() - new.keys())]
    changes.sort(key=lambda change: change.id)
    return Difference(before.id, after.id, tuple(changes), tuple(_doubts(before, after)), _graphs(before, after))


def _hashes(release: Release, file: str) -> dict[str, str] | None:
    """Name -> hash from an index of a release; None if an older version made it without."""
    path = release.folder / file
    if not path.is_file():
        return None
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {row[0]: row[3] for row in rows}


def _graphs(before: Release, after: Release) -> tuple[str, ...] | None:
    """The graphs beside those of records that differ, as the last part of their IRI."""
    old, new = _hashes(before, GRAPH_INDEX), _hashes(after, GRAPH_INDEX)
    if old is None or new is None:
        return None
    mark = "/graph/"
    differing = {name for name in old.keys() | new.keys() if mark in name and old.get(name) != new.get(name)}
    return tuple(sorted(name.partition(mark)[2] for name in differing))


def _changed(before: Release, after: Release, record_id: str) -> Change:
    old, new = before.record(record_id), after.record(record_id)
    one, other = dict(_fields(old)), dict(_fields(new))
    fields = tuple(sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name)))
    status = old.get("status") != new.get("status")
    reason = _reason(new) if status or "reason" in fields or "scope_note" in fields else None
    return _change(new, "changed", _text(old, "status"), _text(new, "status"), fields, reason)


def _arrived(after: Release, record_id: str) -> Change:
    record = after.record(record_id)
    return _change(record, "new", None, _text(record, "status"), (), _reason(record))


def _gone(before: Release, record_id: str, successor: str | None) -> Change:
    record = before.record(record_id)
    reason = None if successor is None else f"superseded by {successor}"
    return _change(record, "gone", _text(record, "status"), None, (), reason)


def _change(
    record: Mapping[str, Json],
    what: str,
    before: str | None,
    after: str | None,
    fields: tuple[str, ...],
    reason: str | None,
) -> Change:
    kind, name = _text(record, "kind") or "", _text(record, "name") or ""
    return Change(_text(record, "id") or "", kind, name, what, before, after, fields, reason)


def _fields(record: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """The fields of a record by path: attributes and facets singly, everything else whole."""
    for key, value in record.items():
        if key in _GROUPS and isinstance(value, dict):
            yield from ((name if key == "attributes" else f"{key}.{name}", item) for name, item in value.items())
        else:
            yield key, value


def _reason(record: Mapping[str, Json]) -> str | None:
    """What a record says of its own status: a reason, a note on its scope, or what it replaces."""
    attributes = record.get("attributes")
    found = [_text(attributes, name) for name in _REASONS] if isinstance(attributes, dict) else []
    found += [f"supersedes {target}" for target in _superseded(record)]
    return "; ".join(text for text in found if text) or None


def _superseded(record: Mapping[str, Json]) -> Iterator[str]:
    links = record.get("links")
    for link in links if isinstance(links, list) else ():
        if isinstance(link, dict) and link.get("relation") == "supersedes" and isinstance(link.get("target_id"), str):
            yield str(link["target_id"])


def _successors(release: Release) -> dict[str, str]:
    """What is superseded -> the id of the record that supersedes it."""
    pattern = "?new evkg:supersedes ?old . ?record foaf:primaryTopic ?new ; evkg:recordId ?id"
    query = f"SELECT ?old ?id {{ {pattern} }} ORDER BY ?id"
    return {str(row["old"]).rpartition("/id/")[2]: str(row["id"]) for row in release.select(query)}


def _doubts(before: Release, after: Release) -> Iterator[Doubt]:
    """The results that came into doubt or out of it, in the order of their ids; new and gone ones are no change."""
    known = set(before.record_ids) & set(after.record_ids)
    old, new = ({(str(row["id"]), str(row["why"])) for row in one.select(_DOUBTS)} for one in (before, after))
    found = [Doubt(name, "doubted", why) for name, why in new - old if name in known]
    found += [Doubt(name, "cleared", why) for name, why in old - new if name in known]
    yield from sorted(found, key=lambda doubt: (doubt.id, doubt.what, doubt.why))


def _text(record: Mapping[str, Json], key: str) -> str | None:
    value = record.get(key)
    return value if isinstance(value, str) else None
