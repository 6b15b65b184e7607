"""Where a record comes from: sources, when their bytes were fetched, who extracted and reviewed it, and the gaps."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from evkg.evidence_table import csv_line
from evkg.jsontext import Json, encode_json

if TYPE_CHECKING:
    from evkg.record import Record
    from evkg.release import Release

#: Reason for a gap -> what it says, in a few words.
REASONS: Final = {
    "unreported": "unreported (the source does not say)",
    "unextracted": "unextracted (nobody has looked yet)",
    "unavailable": "unavailable (could not be obtained)",
    "inapplicable": "inapplicable (does not apply)",
    "conflicting": "conflicting (sources disagree)",
}
#: What stands where nothing is said, and nothing explains it.
NOT_RECORDED: Final = "not recorded"


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of a step: label and text. A gap says its reason, or that nothing is recorded."""

    label: str
    text: str
    is_gap: bool = False
    is_hash: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One step on the way to a record: what was done or is there, and about which record that is said."""

    title: str
    facts: tuple[Fact, ...]
    record: str

    @property
    def is_gap(self) -> bool:
        """Whether nothing at all is known of it."""
        return all(fact.is_gap for fact in self.facts)


@dataclass(frozen=True, slots=True)
class Origin:
    """A source and the fetching of its bytes."""

    source: Step
    retrieved: Step


@dataclass(frozen=True)
class Provenance:
    """The way to a record: origins, extraction, review, the record itself. `more` counts sources that are left out."""

    record_id: str
    name: str
    origins: tuple[Origin, ...]
    extracted: Step
    reviewed: Step
    record: Step
    more: int = 0

    @property
    def steps(self) -> Iterator[Step]:
        """All steps in their order."""
        for origin in self.origins:
            yield origin.source
            yield origin.retrieved
        yield from (self.extracted, self.reviewed, self.record)


def read_provenance(release: Release, record_id: str, *, most: int | None = None) -> Provenance:
    """The way to a record, with the first `most` of its sources.

    A record of kind source is its own source.

    Raises: NotFoundError: no such record; names the nearest ids.

    >>> from evkg.release import open
    >>> way = read_provenance(open(), "saadat-fellay-20261015-result-nt-2-5b-quantization-memory-4bit")
    >>> [step.title for step in way.steps]
    ['Source', 'Retrieved', 'Extracted', 'Reviewed', 'This record']
    >>> way.extracted.facts[0]
    Fact(label='by', text='not recorded', is_gap=True, is_hash=False)
    """
    record = release.read(record_id)
    cited = record.data["source_ids"]
    ids = [record_id] if record.kind == "source" else [str(one) for one in cited] if isinstance(cited, list) else []
    listed = ids if most is None else ids[:most]
    known = {one: release.read(one) for one in listed if release.has_record(one)}
    hashes = {str(value) for one in known.values() if (value := one.attributes.get("artifact_sha256"))}
    origins = tuple(_origin(one, known.get(one)) for one in listed)
    steps = {
        name: Step(title, tuple(_act(release, record, name, hashes)), record_id)
        for name, title in (("extraction", "Extracted"), ("review", "Reviewed"))
    }
    line = release.record_line(record_id)
    status = str(record.data["status"])
    concept = release.vocabulary.schemes["status"].concepts.get(status)
    itself = (
        Fact("status", concept.label if concept else status),
        Fact("SHA-256 of the record", hashlib.sha256(line.encode()).hexdigest(), is_hash=True),
        Fact("in release", release.id),
    )
    return Provenance(
        record_id,
        str(record.data["name"]),
        origins or (_origin(None, None),),
        steps["extraction"],
        steps["review"],
        Step("This record", itself, record_id),
        len(ids) - len(listed),
    )


def _origin(source_id: str | None, source: Record | None) -> Origin:
    """The steps of one source, whose record may not be in this release."""
    if source_id is None:
        return Origin(
            Step("Source", (Fact("name", "no source is cited", is_gap=True),), ""),
            Step("Retrieved", (Fact("at", NOT_RECORDED, is_gap=True),), ""),
        )
    if source is None:
        outside = Fact("name", f"{source_id} (outside this release)", is_gap=True)
        return Origin(Step("Source", (outside,), source_id), Step("Retrieved", (outside,), source_id))
    attributes = source.attributes
    address = "artifact_url" if attributes.get("artifact_url") else "url"
    at = "artifact_retrieved_at" if attributes.get("artifact_retrieved_at") else "retrieved_at"
    about = (Fact("name", str(source.data["name"])), _fact(attributes, "version", "version"))
    fetched = [_fact(attributes, at, "at"), _fact(attributes, address, "from")]
    if attributes.get("retrieval_method"):
        fetched.append(_fact(attributes, "retrieval_method", "how"))
    fetched.append(_fact(attributes, "artifact_sha256", "SHA-256 of the bytes", is_hash=True))
    return Origin(Step("Source", about, source_id), Step("Retrieved", tuple(map(_shortened, fetched)), source_id))


def _shortened(fact: Fact) -> Fact:
    """An address by the name of its host."""
    host = urlsplit(fact.text).hostname if fact.label == "from" and not fact.is_gap and "[" not in fact.text else None
    return Fact(fact.label, host) if host else fact


def _act(release: Release, record: Record, name: str, hashes: set[str]) -> Iterator[Fact]:
    """The facts of the extraction or the review of a record."""
    attributes = record.attributes
    part = attributes.get(name)
    given: Mapping[str, Json] = part if isinstance(part, dict) else {}
    agent = "reviewer" if name == "review" else "agent"
    at = "reviewed_at" if given.get("reviewed_at") else "date"
    missing = attributes.get("missing_metadata")
    entries: Mapping[str, Json] = missing if isinstance(missing, dict) else {}

    def fact(key: str, label: str, scheme: str | None, *, is_hash: bool = False) -> Fact:
        value = given.get(key)
        if value not in (None, "", []):
            return Fact(label, _said(release, value, scheme), is_hash=is_hash)
        return Fact(label, _gap(entries, f"{name}.{key}", name), is_gap=True)

    yield fact(agent, "by", "agent")
    yield fact(at, "at", None)
    yield fact("method", "how", "review-method" if name == "review" else None)
    found = fact("artifact_sha256", "SHA-256 of the bytes", None, is_hash=True)
    yield found
    if not found.is_gap and hashes:
        yield Fact(
            "these are", "the bytes that were retrieved" if found.text in hashes else "other bytes than retrieved"
        )


def _fact(attributes: Mapping[str, Json], key: str, label: str, *, is_hash: bool = False) -> Fact:
    value = attributes.get(key)
    if value not in (None, "", []):
        return Fact(label, _text(value), is_hash=is_hash)
    missing = attributes.get("missing_metadata")
    return Fact(label, _gap(missing if isinstance(missing, dict) else {}, key), is_gap=True)


def _gap(entries: Mapping[str, Json], *keys: str) -> str:
    """Why a field is missing, by the first entry that says so."""
    for key in keys:
        entry = entries.get(key)
        if isinstance(entry, dict):
            reason = str(entry.get("reason"))
            return REASONS.get(reason, reason)
    return NOT_RECORDED


def _said(release: Release, value: Json, scheme: str | None) -> str:
    """A value in words, concepts by their labels; of an agent whether it is a program."""
    concepts = release.vocabulary.schemes[scheme].concepts if scheme else {}
    said = []
    for one in value if isinstance(value, list) else [value]:
        known = concepts.get(one) if isinstance(one, str) else None
        kind = ""
        if scheme == "agent":  # every agent that the scheme lists is software
            kind = " (a program)" if known else " (a person, or a program that is not listed)"
        said.append(f"{known.label if known else _text(one)}{kind}")
    return "; ".join(said)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else encode_json(value)


def provenance_csv(way: Provenance) -> str:
    """The way to a record as CSV: a line for each fact of each step.

    >>> from evkg.release import open
    >>> provenance_csv(read_provenance(open(), "gena-lm")).splitlines()[0]
    '"step","record","field","value","gap"'
    """
    lines: list[Sequence[str]] = [("step", "record", "field", "value", "gap")]
    for step in way.steps:
        lines += [(step.title, step.record, fact.label, fact.text, "yes" if fact.is_gap else "") for fact in step.facts]
    return "".join(map(csv_line, lines))


def provenance_words(way: Provenance) -> str:
    """The way to a record as one text."""
    parts = [f"{step.title}: {', '.join(f'{fact.label} {fact.text}' for fact in step.facts)}" for step in way.steps]
    return ". ".join(parts) + "."
