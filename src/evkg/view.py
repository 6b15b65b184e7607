"""What a reader is told about one record: values as printed, gaps with their reason, who checked, what is in doubt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from evkg.jsontext import Json, encode_json
from evkg.namespaces import EVKG, RDFS, record_iri, thing_iri
from evkg.vocabulary import PARTS, Term

if TYPE_CHECKING:
    from evkg.release import Release

#: Attributes that a view shows in places of their own.
_APART: Final = ("missing_metadata", "review", "evidence_concerns", "extraction")
_DIRECTION: Final = {"higher": "↑ higher is better", "lower": "↓ lower is better", "unknown": "direction not known"}


@dataclass(frozen=True, slots=True)
class Value:
    """One value with its label: `key` is the path in the record, `text` what the record says."""

    key: str
    label: str
    text: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """One field without a value: the reason and its meaning, and what the curator noted."""

    key: str
    label: str
    reason: str
    meaning: str
    note: str | None


@dataclass(frozen=True, slots=True)
class Link:
    """A relation to or from another record; `name` is None for one outside the release."""

    label: str
    record_id: str
    name: str | None
    incoming: bool = False


@dataclass(frozen=True, slots=True)
class Concern:
    """A doubt about a source that this record cites."""

    message: str
    locator: str | None
    effect: str


@dataclass(frozen=True)
class View:
    """Everything that a page or a terminal shows of one record."""

    record_id: str
    kind: str
    name: str
    description: str
    status: str
    status_meaning: str
    trust: tuple[str, ...]
    headline: tuple[str, str] | None  # a result's printed value (or why there is none) and what it measures
    values: tuple[Value, ...]
    gaps: tuple[Gap, ...]
    unexplained: tuple[str, ...]  # fields that are expected, with neither value nor reason
    concerns: tuple[Concern, ...]
    review: tuple[Value, ...]
    links: tuple[Link, ...]
    sources: tuple[Link, ...]
    release_id: str
    conforms: bool
    values_by_key: Mapping[str, str] = field(default_factory=dict)


def view_record(release: Release, record_id: str) -> View:
    """The view of a record.

    Raises: NotFoundError: no such record; names the nearest ids.

    >>> from evkg.release import open
    >>> view = view_record(open(), "saadat-fellay-20261015-result-nt-2-5b-quantization-memory-4bit")
    >>> view.headline[0]
    '5.6'
    """
    record = release.read(record_id)
    data = record.data
    vocabulary = release.vocabulary
    attributes = record.attributes
    terms = vocabulary.attributes[record.kind]
    values = tuple(_values(release, attributes, terms))
    concerns = tuple(_concerns(release, record_id))
    gaps = tuple(_gaps(release, attributes.get("missing_metadata"), terms))
    status = str(data["status"])
    concept = vocabulary.schemes["status"].concepts.get(status)
    review = attributes.get("review")
    return View(
        record_id=record_id,
        kind=vocabulary.labels[EVKG + vocabulary.kinds[record.kind]],
        name=str(data["name"]),
        description=str(data["description"]),
        status=status.replace("_", " "),
        status_meaning=concept.definition if concept else "",
        trust=tuple(_trust(release, status, review, gaps, len(concerns))),
        headline=_headline(release, attributes, gaps) if record.kind == "result" else None,
        values=values,
        gaps=gaps,
        unexplained=tuple(_unexplained(release, record_id)),
        concerns=concerns,
        review=tuple(_part_values(release, "review", review, "Review")) if isinstance(review, dict) else (),
        links=tuple(_links(release, record_id, data["links"])),
        sources=tuple(_link(release, "source", str(s)) for s in cast("list[Json]", data["source_ids"])),
        release_id=release.id,
        conforms=release.conforms,
        values_by_key={value.key: value.text for value in values},
    )


def _text(release: Release, term: Term | None, value: Json) -> str:
    """A value in words: a concept by its label with its key, anything else as the record writes it."""
    if isinstance(value, str):
        scheme = release.vocabulary.schemes.get(term.scheme) if term and term.scheme else None
        concept = scheme.concepts.get(value) if scheme else None
        if concept is None or concept.label == value:
            return value
        return f"{concept.label} ({value})"
    if isinstance(value, list):
        return "; ".join(_text(release, term, item) for item in value) or "(an empty list)"
    return encode_json(value)


def _values(release: Release, attributes: Mapping[str, Json], terms: Mapping[str, Term]) -> Iterator[Value]:
    for key, value in attributes.items():
        term = terms.get(key)
        if key in _APART:
            continue
        if isinstance(value, dict) and term is not None and term.value_kind in PARTS:
            yield from _part_values(release, key, value, PARTS[term.value_kind][0], term.label)
        elif isinstance(value, dict | list) and (term is None or term.value_kind == "json"):
            yield from _open_values(key, term.label if term else key, value)
        else:
            yield Value(key, term.label if term else key, _text(release, term, value), term.definition if term else "")


def _part_values(release: Release, key: str, value: Mapping[str, Json], name: str, label: str = "") -> Iterator[Value]:
    terms = release.vocabulary.parts.get(name, {})
    for inner, content in value.items():
        term = terms.get(inner)
        words = term.label if term else inner
        text = f"{label} · {words}" if label else words
        yield Value(f"{key}.{inner}", text, _text(release, term, content), term.definition if term else "")


def _open_values(key: str, label: str, value: Json) -> Iterator[Value]:
    """One line a leaf of a free object."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _open_values(f"{key}.{name}", f"{label} · {name.replace('_', ' ')}", inner)
    elif isinstance(value, list) and value and any(isinstance(item, dict | list) for item in value):
        for index, inner in enumerate(value):
            yield from _open_values(f"{key}.{index}", f"{label} · {index + 1}", inner)
    elif isinstance(value, list) and value:
        yield Value(key, label, "; ".join(v if isinstance(v, str) else encode_json(v) for v in value))
    else:
        yield Value(key, label, value if isinstance(value, str) else encode_json(value))


def _gaps(release: Release, missing: Json, terms: Mapping[str, Term]) -> Iterator[Gap]:
    reasons = release.vocabulary.schemes["missingness"].concepts
    for key, entry in missing.items() if isinstance(missing, dict) else ():
        if not isinstance(entry, dict):
            continue
        reason = str(entry.get("reason"))
        first, _, rest = key.partition(".")
        label = terms[first].label if first in terms else first.replace("_", " ")
        note = entry.get("note")
        meaning = reasons[reason].definition if reason in reasons else ""
        words = f"{label} · {rest.replace('_', ' ')}" if rest else label
        yield Gap(key, words, reason, meaning, note if isinstance(note, str) else None)


def _unexplained(release: Release, record_id: str) -> Iterator[str]:
    for finding in release.findings_of(record_id):
        if finding["severity"] in ("violation", "warning") and finding["value"] is None and finding["field"]:
            yield str(finding["field"]).removeprefix("attributes.")


def _headline(release: Release, attributes: Mapping[str, Json], gaps: tuple[Gap, ...]) -> tuple[str, str]:
    printed = attributes.get("printed_value")
    if isinstance(printed, str):
        value = printed
    else:
        reason = next((gap for gap in gaps if gap.key == "printed_value"), None)
        value = f"no printed value: {reason.reason}" if reason else "no printed value: not recorded"
    schemes = release.vocabulary.schemes
    metric, unit = str(attributes.get("metric", "")), str(attributes.get("unit", ""))
    known = schemes["metric"].concepts.get(metric), schemes["unit"].concepts.get(unit)
    words = [
        known[0].label if known[0] else metric,
        _DIRECTION.get(str(attributes.get("metric_direction")), "direction not recorded"),
        f"unit {known[1].label if known[1] else unit or 'not recorded'}",
        str(attributes.get("metric_qualifier", "")),
    ]
    return value, " · ".join(word for word in words if word)


def _trust(release: Release, status: str, review: Json, gaps: tuple[Gap, ...], concerns: int) -> Iterator[str]:
    """Who vouches for what, in words: each part of the line under a title."""
    concept = release.vocabulary.schemes["status"].concepts.get(status)
    checked = concept.label if concept else status
    agents = release.vocabulary.schemes["agent"].concepts
    if isinstance(review, dict):
        reviewers = [str(r) for r in cast("list[Json]", review.get("reviewer") or [])]
        when = str(review.get("reviewed_at") or review.get("date") or "")
        known = bool(reviewers) and all(reviewer in agents for reviewer in reviewers)
        who = "by an automated reviewer" if known else "by a reviewer"
        names = f" ({', '.join(reviewers)})" if reviewers else " (who is not recorded)"
        yield f"{checked} {who}{names}{', ' + when if when else ''}"
    else:
        gap = next((gap for gap in gaps if gap.key == "review"), None)
        yield f"{checked}; " + (f"review: {gap.reason}" if gap else "no review is recorded")
    if status == "source_checked":
        yield "a check of the transcription, not a reproduction"
    yield f"{concerns} open concern{'' if concerns == 1 else 's'}" if concerns else "no open concern"


def _concerns(release: Release, record_id: str) -> Iterator[Concern]:
    """Open concerns that touch a record, from the derived graph."""
    import pyoxigraph as ox

    store = release.store
    thing = ox.NamedNode(thing_iri(release.base_iri, record_id))

    def text(node: Any, name: str) -> str | None:
        quad = next(store.quads_for_pattern(node, ox.NamedNode(EVKG + name), None), None)
        return None if quad is None else str(getattr(quad.object, "value", quad.object))

    nodes = [quad.object for quad in store.quads_for_pattern(thing, ox.NamedNode(EVKG + "openConcern"), None)]
    for node in sorted(nodes, key=str):
        effect = text(node, "effect") or "excludes"
        yield Concern(text(node, "message") or "", text(node, "concernLocator"), effect)


def _links(release: Release, record_id: str, links: Json) -> Iterator[Link]:
    """Own links in the order of the record, then incoming ones by relation and name."""
    import pyoxigraph as ox

    labels = {term.iri: term.label for term in release.vocabulary.relations.values()}
    for link in links if isinstance(links, list) else ():
        if isinstance(link, dict):
            term = release.vocabulary.relations.get(str(link["relation"]))
            yield _link(release, term.label if term else str(link["relation"]), str(link["target_id"]))
    thing = ox.NamedNode(thing_iri(release.base_iri, record_id))
    about = ox.NamedNode(record_iri(release.base_iri, record_id))
    incoming = []
    for quad in release.store.quads_for_pattern(None, None, thing):
        origin = str(quad.subject)[1:-1].partition("#")[0]
        if quad.predicate.value in labels and quad.graph_name != about:
            other = origin.removeprefix(thing_iri(release.base_iri, ""))
            incoming.append(_link(release, labels[quad.predicate.value], other, incoming=True))
        elif quad.predicate.value == EVKG + "sourceIds":
            other = origin.removeprefix(record_iri(release.base_iri, ""))
            incoming.append(_link(release, "cited by", other, incoming=True))
    yield from sorted(incoming, key=lambda link: (link.label, link.name or "", link.record_id))


def _link(release: Release, label: str, record_id: str, *, incoming: bool = False) -> Link:
    import pyoxigraph as ox

    try:
        thing = ox.NamedNode(thing_iri(release.base_iri, record_id))
    except ValueError:  # what a record writes as an id need not be one
        return Link(label, record_id, None, incoming)
    quad = next(release.store.quads_for_pattern(thing, ox.NamedNode(RDFS + "label"), None), None)
    return Link(label, record_id, None if quad is None else str(getattr(quad.object, "value", "")), incoming)
