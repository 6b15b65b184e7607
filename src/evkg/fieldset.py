"""Field sets: what a record says, field by field, in the order of the shapes and then of the ontology."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evkg.vocabulary import PARTS

if TYPE_CHECKING:
    from evkg.expected import Expected
    from evkg.record import Record
    from evkg.view import Gap, Value, View
    from evkg.vocabulary import Term, Vocabulary


@dataclass(frozen=True, slots=True)
class Entry:
    """One field: `key` is its path in the record. It has values, or a gap with its reason, or both, which is a
    contradiction; neither, where nothing is said and nothing explains it.
    """

    key: str
    label: str
    help: str
    values: tuple[Value, ...]
    gap: Gap | None


@dataclass(frozen=True, slots=True)
class FieldSet:
    """Fields under one heading; `help` says what the heading stands for, `key` is the path of the object whose fields
    they are, empty where they stand in the attributes themselves.
    """

    key: str
    title: str
    help: str
    entries: tuple[Entry, ...]


def field_sets(view: View, record: Record, vocabulary: Vocabulary, expected: Sequence[Expected]) -> list[FieldSet]:
    """All attributes of a record but its review: first what the shapes expect, then objects, then the other fields.

    >>> from evkg.expected import expected_fields
    >>> from evkg.release import open
    >>> from evkg.shapes import Shapes
    >>> from evkg.view import view_record
    >>> release = open()
    >>> record = release.read("saadat-fellay-20261015-result-nt-2-5b-quantization-memory-4bit")
    >>> wanted = expected_fields(Shapes(), release.vocabulary)[record.kind]
    >>> sets = field_sets(view_record(release, record.id), record, release.vocabulary, wanted)
    >>> sets[0].entries[0].label, sets[0].entries[0].values[0].text
    ('metric', 'Peak memory (peak-memory)')
    """
    terms = vocabulary.attributes[record.kind]
    values = list(view.values)
    gaps = {gap.key: gap for gap in view.gaps}
    first: list[Entry] = []
    for field in expected:
        if field.path[:1] != ("attributes",):
            continue
        name = field.name
        own = [value for value in values if value.key == name or value.key.startswith(f"{name}.")]
        values = [value for value in values if value not in own]
        gap = next((gaps.pop(entry) for entry in field.entries if entry in gaps), None)
        is_silent = name in view.unexplained
        if own or gap or is_silent:
            label = _label(name, terms, vocabulary) if not gap or own else gap.label
            first.append(Entry(name, label, _help(name, terms, vocabulary), tuple(own), gap))
    kind = view.kind.lower()
    about = f"The fields that every {kind} is expected to have: a value, or the reason why there is none."
    sets = [FieldSet("", f"Expected of every {kind}", about, tuple(first))] if first else []
    sets += _objects(values, gaps, terms, vocabulary)
    held = {value.key for one in sets for entry in one.entries for value in entry.values}
    rest = sorted(
        [
            *(Entry(v.key, v.label, v.help, (v,), gaps.pop(v.key, None)) for v in values if v.key not in held),
            *(Entry(gap.key, gap.label, _help(gap.key, terms, vocabulary), (), gap) for gap in gaps.values()),
        ],
        key=lambda entry: (entry.key.partition(".")[0] not in terms, not entry.values),
    )
    if rest:
        sets.append(FieldSet("", "Further fields" if sets else "What the record says", "", tuple(rest)))
    return sets


def _objects(
    values: Sequence[Value], gaps: dict[str, Gap], terms: Mapping[str, Term], vocabulary: Vocabulary
) -> Iterator[FieldSet]:
    """A set for each nested object, in the order of the ontology."""
    owners = dict.fromkeys(value.key.partition(".")[0] for value in values if "." in value.key)
    order = list(terms)
    for owner in sorted(owners, key=lambda key: order.index(key) if key in terms else len(order)):
        own = [value for value in values if value.key.startswith(f"{owner}.")]
        mine = [key for key in gaps if key == owner or key.startswith(f"{owner}.")]
        entries = [Entry(v.key, _inner(v.label), v.help, (v,), gaps.pop(v.key, None)) for v in own]
        entries += [
            Entry(key, gaps[key].label, _help(key, terms, vocabulary), (), gaps.pop(key)) for key in mine if key in gaps
        ]
        term = terms.get(owner)
        title = term.label if term else owner.replace("_", " ")
        yield FieldSet(owner, title[:1].upper() + title[1:], term.definition if term else "", tuple(entries))


def _inner(label: str) -> str:
    """The label of a value without that of the object it stands in."""
    return label.partition(" · ")[2] or label


def _label(name: str, terms: Mapping[str, Term], vocabulary: Vocabulary) -> str:
    term = _term(name, terms, vocabulary)
    return term.label if term else name.replace("_", " ")


def _help(name: str, terms: Mapping[str, Term], vocabulary: Vocabulary) -> str:
    term = _term(name, terms, vocabulary)
    return term.definition if term else ""


def _term(name: str, terms: Mapping[str, Term], vocabulary: Vocabulary) -> Term | None:
    """The term of a path: of the attribute, or of what stands in it if it is one of the known parts."""
    first, _, rest = name.partition(".")
    term = terms.get(first)
    if not rest or term is None:
        return term if not rest else None
    return vocabulary.parts.get(PARTS[term.value_kind][0], {}).get(rest) if term.value_kind in PARTS else None


def property_words(record_kind: str, path: str, vocabulary: Vocabulary) -> str:
    """A path of the evidence table in words; one that the ontology does not know stays as it is.

    >>> from evkg.vocabulary import load_vocabulary
    >>> vocabulary = load_vocabulary()
    >>> property_words("source", "attributes.missing_metadata.doi.reason", vocabulary)
    'Missing metadata: DOI: reason'
    >>> property_words("claim", "attributes.review.method", vocabulary)
    'Review: review method'
    >>> property_words("dataset", "attributes.no_such_field", vocabulary)
    'attributes.no_such_field'
    """
    parts = path.split(".")
    terms = vocabulary.attributes.get(record_kind, {})
    if parts[0] == "facets" and len(parts) == 2 and parts[1] in vocabulary.facets:
        return _capital(vocabulary.facets[parts[1]].label)
    if parts[0] != "attributes" or len(parts) < 2:
        return _capital(parts[0].replace("_", " ")) if len(parts) == 1 and ":" not in path else path
    if parts[1] == "missing_metadata" and len(parts) > 3:
        inner = ".".join(parts[2:-1])
        return f"Missing metadata: {_label(inner, terms, vocabulary)}: {parts[-1]}"
    own = vocabulary.terms.get(parts[1])
    if len(parts) == 3 and own and own.section == "record" and own.value_kind in PARTS:  # review and extraction
        inside = vocabulary.parts[PARTS[own.value_kind][0]].get(parts[2])
        return _capital(f"{own.label}: {inside.label if inside else parts[2].replace('_', ' ')}")
    name = ".".join(parts[1:])
    term = _term(name, terms, vocabulary)
    if term is not None:
        owner = terms[parts[1]].label if len(parts) > 2 else ""
        return _capital(f"{owner}: {term.label}" if owner else term.label)
    if parts[1] in terms:
        return _capital(f"{terms[parts[1]].label}: {': '.join(parts[2:])}".replace("_", " "))
    return path


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
