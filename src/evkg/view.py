"""What a reader is told about one record: values as printed, gaps with their reason, who checked, what is in doubt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

from evkg.jsontext import Json, encode_json
from evkg.namespaces import EVKG, thing_iri
from evkg.readiness import Readiness, read_readiness
from evkg.related import UNREAD, Concern, Link, read_concerns, read_link, read_links, read_tested
from evkg.vocabulary import PARTS, Term

if TYPE_CHECKING:
    from evkg.release import Release

#: Attributes that a view shows in places of their own.
_APART: Final = ("missing_metadata", "review", "evidence_concerns", "extraction")
#: Words that are a reason for a gap, where a number is expected.
_REASON_WORDS: Final = re.compile(
    r"(n\.?\s*/?\s*a\.?|n\.?\s?r\.?|unknown|unavailable|inapplicable|conflicting|missing|empty|none|null|nan|tbd"
    r"|(un|not[ _-]?)(reported|extracted|available|applicable|recorded|stated|known|given)|[-–—−?.…]+)?",
    re.IGNORECASE,
)
_DIRECTION: Final = {"higher": "↑ higher is better", "lower": "↓ lower is better", "unknown": "direction not known"}


@dataclass(frozen=True, slots=True)
class Value:
    """One value with its label: `key` is the path in the record, `text` what the record says.

    `also_missing` is the reason for a gap that the record gives for the same field: it contradicts itself.
    """

    key: str
    label: str
    text: str
    help: str = ""
    also_missing: str | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """One field without a value: the reason and its meaning, and what the curator noted.

    `has_value` where the record gives the field a value all the same: it contradicts itself.
    """

    key: str
    label: str
    reason: str
    meaning: str
    note: str | None
    has_value: bool = False


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
    unit_as_printed: str | None
    tested: tuple[Link, ...]  # the evaluation of a result, and the system, protocol and data that it used
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
    readiness: Readiness | None = None  # what can be done with a data set or an evaluation


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
    missing = attributes.get("missing_metadata")
    values = tuple(_contradicted(_values(release, attributes, terms), missing))
    concerns = tuple(read_concerns(release, record_id))
    gaps = tuple(_gaps(release, attributes, terms))
    is_result = record.kind == "result"
    unit_detail = attributes.get("unit_detail")
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
        trust=tuple(_trust(release, status, review, gaps, concerns)),
        headline=_headline(release, record_id, attributes, gaps) if is_result else None,
        unit_as_printed=_text(release, None, unit_detail) if is_result and unit_detail not in (None, "") else None,
        tested=tuple(read_tested(release, record_id)) if is_result else (),
        values=values,
        gaps=gaps,
        unexplained=tuple(_unexplained(release, record_id)),
        concerns=concerns,
        review=tuple(_contradicted(_part_values(release, "review", review, "Review"), missing))
        if isinstance(review, dict)
        else (),
        links=tuple(read_links(release, record_id, data["links"])),
        sources=tuple(read_link(release, "source", str(s)) for s in cast("list[Json]", data["source_ids"])),
        release_id=release.id,
        conforms=release.conforms,
        values_by_key={value.key: value.text for value in values},
        readiness=read_readiness(release, record_id),
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
            yield from open_values(key, term.label if term else key, value)
        else:
            yield Value(key, term.label if term else key, _text(release, term, value), term.definition if term else "")


def _part_values(release: Release, key: str, value: Mapping[str, Json], name: str, label: str = "") -> Iterator[Value]:
    terms = release.vocabulary.parts.get(name, {})
    for inner, content in value.items():
        term = terms.get(inner)
        words = term.label if term else inner
        text = f"{label} · {words}" if label else words
        yield Value(f"{key}.{inner}", text, _text(release, term, content), term.definition if term else "")


def open_values(key: str, label: str, value: Json) -> Iterator[Value]:
    """One line a leaf of a free object; other values are one line.

    >>> [(line.key, line.text) for line in open_values("hardware", "hardware", {"gpu": {"count": 2}})]
    [('hardware.gpu.count', '2')]
    """
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from open_values(f"{key}.{name}", f"{label} · {name.replace('_', ' ')}", inner)
    elif isinstance(value, list) and value and any(isinstance(item, dict | list) for item in value):
        for index, inner in enumerate(value):
            yield from open_values(f"{key}.{index}", f"{label} · {index + 1}", inner)
    elif isinstance(value, list) and value:
        yield Value(key, label, "; ".join(v if isinstance(v, str) else encode_json(v) for v in value))
    else:
        yield Value(key, label, value if isinstance(value, str) else encode_json(value))


def _contradicted(values: Iterator[Value], missing: Json) -> Iterator[Value]:
    """The values, each with the reason by which the record says that it is missing."""
    entries = missing if isinstance(missing, dict) else {}
    for value in values:
        parts = value.key.split(".")
        above = (entries.get(".".join(parts[:length])) for length in range(1, len(parts) + 1))
        entry = next((entry for entry in above if isinstance(entry, dict)), None)
        is_gap = entry is None or value.text == "null"
        yield value if is_gap else replace(value, also_missing=str(cast("dict[str, Json]", entry).get("reason")))


def _has_value(attributes: Mapping[str, Json], key: str) -> bool:
    """Whether there is a value at a path; null is none."""
    value: Json = dict(attributes)
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value is not None


def _gaps(release: Release, attributes: Mapping[str, Json], terms: Mapping[str, Term]) -> Iterator[Gap]:
    reasons = release.vocabulary.schemes["missingness"].concepts
    missing = attributes.get("missing_metadata")
    for key, entry in missing.items() if isinstance(missing, dict) else ():
        if not isinstance(entry, dict):
            continue
        reason = str(entry.get("reason"))
        first, _, rest = key.partition(".")
        label = terms[first].label if first in terms else first.replace("_", " ")
        note = entry.get("note")
        meaning = reasons[reason].definition if reason in reasons else ""
        words = f"{label} · {rest.replace('_', ' ')}" if rest else label
        yield Gap(key, words, reason, meaning, note if isinstance(note, str) else None, _has_value(attributes, key))


def _unexplained(release: Release, record_id: str) -> Iterator[str]:
    for finding in release.findings_of(record_id):
        if finding["severity"] in ("violation", "warning") and finding["value"] is None and finding["field"]:
            yield str(finding["field"]).removeprefix("attributes.")


def _printed(release: Release, record_id: str, attributes: Mapping[str, Json]) -> str | None:
    """The printed value as the graph has it, or as the record writes it where it is no text or number."""
    import pyoxigraph as ox

    thing = ox.NamedNode(thing_iri(release.base_iri, record_id))
    quad = next(release.store.quads_for_pattern(thing, ox.NamedNode(EVKG + "printedValue"), None), None)
    if quad is not None and isinstance(quad.object, ox.Literal):
        return str(quad.object.value)
    value = attributes.get("printed_value")
    return value if value is None or isinstance(value, str) else encode_json(value)


def _headline(
    release: Release, record_id: str, attributes: Mapping[str, Json], gaps: tuple[Gap, ...]
) -> tuple[str, str]:
    printed = _printed(release, record_id, attributes)
    reason = next((gap.reason for gap in gaps if gap.key == "printed_value"), None)
    if printed is None:
        value = f"no printed value: {reason or 'not recorded'}"
    elif _REASON_WORDS.fullmatch(printed.strip()):
        value = f"printed as: {printed if printed.strip() else '(empty)'} (a reason written as a value)"
    else:
        value = printed
    schemes = release.vocabulary.schemes
    metric, unit = str(attributes.get("metric", "")), str(attributes.get("unit", ""))
    known = schemes["metric"].concepts.get(metric), schemes["unit"].concepts.get(unit)
    words = [
        known[0].label if known[0] else metric,
        _DIRECTION.get(str(attributes.get("metric_direction")), "direction not recorded"),
        f"unit {known[1].label if known[1] else unit or 'not recorded'}",
        str(attributes.get("metric_qualifier", "")),
        f"the record also says that the printed value is missing ({reason})" if reason and printed is not None else "",
    ]
    return value, " · ".join(word for word in words if word)


def _trust(
    release: Release, status: str, review: Json, gaps: tuple[Gap, ...], concerns: tuple[Concern, ...]
) -> Iterator[str]:
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
    count = sum(concern.is_read for concern in concerns)
    if count:
        yield f"{count} open concern{'' if count == 1 else 's'}"
    if count < len(concerns):
        yield UNREAD
    if not concerns:
        yield "no open concern"
