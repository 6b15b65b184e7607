"""What the check of one record has to know of all the others, and the checks that are made of one record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from evkg.finding import Finding
from evkg.keys import check_keys
from evkg.record import Record
from evkg.references import ReferenceChecker
from evkg.scalar import Path
from evkg.vocabulary import Vocabulary
from evkg.withheld import is_public, is_withheld, tombstone


@dataclass(frozen=True)
class Neighbours:
    """id -> kind of every record; id -> status of those that were withdrawn; the ids of those that are withheld.

    `repeated` are the ids that several records have. With `is_open` the data set may point outside itself.
    """

    kinds: Mapping[str, str]
    gone: Mapping[str, str]
    withheld: frozenset[str]
    repeated: frozenset[str] = frozenset()
    is_open: bool = False

    def state(self, record_id: str) -> tuple[str | None, str | None, bool, bool]:
        """All that is known of one record: while it stays, what was found on those who name it stays too.

        >>> Neighbours({"a": "model"}, {}, frozenset()).state("a")
        ('model', None, False, False)
        """
        is_withheld, is_repeated = record_id in self.withheld, record_id in self.repeated
        return self.kinds.get(record_id), self.gone.get(record_id), is_withheld, is_repeated


class Examiner:
    """Finds what is wrong with records beside their shapes: keys, values, references; withholds what is excluded."""

    def __init__(self, vocabulary: Vocabulary, neighbours: Neighbours) -> None:
        self._vocabulary = vocabulary
        self._neighbours = neighbours
        self._kinds = _Watched(neighbours.kinds)
        self._references = ReferenceChecker(
            self._kinds, vocabulary, is_open=neighbours.is_open, statuses=neighbours.gone
        )

    @property
    def asked(self) -> frozenset[str]:
        """The ids of the records that the last examination asked about."""
        return frozenset(self._kinds.asked)

    def examine(self, record: Record) -> tuple[Record, list[Finding]]:
        """The record as it may be published, and the findings on it."""
        self._kinds.asked = {record.id}
        found = [
            *check_keys(record, self._vocabulary),
            *self._references.check(record),
            *self._withdrawn(record),
        ]
        told = [finding for each in found for finding in self.told(each)]
        return (withdraw(record) if record.id in self._neighbours.withheld else record), told

    def told(self, finding: Finding) -> Iterator[Finding]:
        """A finding as it may be told: of a withdrawn record only what is public, since findings quote."""
        if finding.record not in self._neighbours.withheld or is_public(finding.field):
            yield finding
        elif finding.rule == "envelope":
            key = (finding.field or "").partition(".")[0]
            message = f"The key {key} is not as it must be." if key else "The record is not as it must be."
            fix = "Look it up in the file; nothing is quoted, since the record is withheld."
            yield finding._replace(field=key or None, message=message, value=None, fix=fix)

    def _withdrawn(self, record: Record) -> Iterator[Finding]:
        """Findings on what is withheld, or leads to it."""
        withheld = self._neighbours.withheld
        status = str(record.data["status"])
        if is_withheld(record) and status != "excluded":
            message = "The status is taken for excluded, so the record is withheld."
            yield record.finding("violation", "status-of-withdrawn", ("status",), message, "Write status: excluded.")
        if record.kind != "claim" or record.id in withheld:
            return
        for path, target in _told(record):
            self._kinds.asked.add(target)
            if target in withheld:
                message = f"The claim speaks about {target}, which is withdrawn, and is published all the same."
                fix = "Set the claim to status: excluded, or take the withdrawn record out of it."
                yield record.finding("warning", "claim-on-withdrawn", path, message, fix)


class _Watched(Mapping[str, str]):
    """A mapping that notes what it is asked for."""

    def __init__(self, inner: Mapping[str, str]) -> None:
        self._inner = inner
        self.asked: set[str] = set()

    def __getitem__(self, key: str) -> str:
        self.asked.add(key)
        return self._inner[key]

    def __contains__(self, key: object) -> bool:
        self.asked.add(str(key))
        return key in self._inner

    def __iter__(self) -> Iterator[str]:
        return iter(self._inner)

    def __len__(self) -> int:
        return len(self._inner)


def withdraw(record: Record) -> Record:
    """A record of which only its tombstone is left; of a claim that is withheld for its subjects not even a reason."""
    with_reason = is_withheld(record)
    data = tombstone(record.data, with_reason=with_reason)
    original = tombstone(record.original, with_reason=with_reason)
    return replace(record, data=data, original=original, raw=None, notes=())


def _told(claim: Record) -> Iterator[tuple[Path, str]]:
    """(path, id) of all that a claim may speak about: its subjects, what it claims, the target of a claimed link."""
    links = claim.data["links"]
    for index, link in enumerate(links if isinstance(links, list) else ()):
        if isinstance(link, dict) and link["relation"] == "subject":
            yield ("links", index, "target_id"), str(link["target_id"])
    for key in ("value", "previous_value", "target_id"):
        yield ("attributes", key), str(claim.attributes.get(key))
    yield ("attributes", "field"), str(claim.attributes.get("field")).rpartition(":")[2]
