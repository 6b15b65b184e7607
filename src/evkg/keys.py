"""Keys of a record: what no shape can see because it never becomes a term."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from evkg.content import (
    check_contradictions,
    check_plain_texts,
    check_value,
    declared_values,
    is_stray,
    stray_character,
)
from evkg.errors import excerpt
from evkg.finding import Finding
from evkg.older import is_scaffolding
from evkg.privacy import check_private
from evkg.record import ENVELOPE, Record
from evkg.scalar import Path
from evkg.vocabulary import PARTS, Term, Vocabulary

#: Attributes that every kind may carry; they become nodes of the record, not of the thing.
ON_EVERY_KIND: Final = ("missing_metadata", "review", "extraction")
#: Keys of an entry under missing_metadata. Source: contract section 6.
_OF_ENTRIES: Final = ("reason", "note")
#: Relations that lead to another thing, or the link says nothing.
_TO_ANOTHER: Final = frozenset(
    """
    same_data_as supersedes alias_of family variant_of configuration_of part_of parent uses_model evaluates_task
    original_evaluation
    """.split()
)


def check_keys(record: Record, vocabulary: Vocabulary) -> list[Finding]:
    """Findings on keys: unknown ones (kept, with the nearest known key), wrong relations; and on the values under them.

    Source: contract sections 2 (strict envelope), 4 (relations), 5 (attributes), 13.10 (keep, warn, go on).
    """
    return [
        *_envelope(record),
        *_links(record, vocabulary),
        *_facets(record, vocabulary),
        *_attributes(record, vocabulary),
        *_missing(record, vocabulary),
        *_claim_field(record, vocabulary),
        *check_plain_texts(record, vocabulary),
        *check_contradictions(record, vocabulary),
        *check_private(record),
    ]


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that comes closest, if one is close.

    >>> nearest("metrik", ["metric", "unit"])
    'metric'
    """
    return _nearest(word, tuple(known))


@lru_cache(maxsize=4096)  # large data sets repeat their mistakes, and looking is slow
def _nearest(word: str, known: tuple[str, ...]) -> str | None:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return close[0] if close else None


def _envelope(record: Record) -> Iterator[Finding]:
    for key in record.data:
        if key not in ENVELOPE:
            guess = nearest(key, ENVELOPE)
            fix = f"Did you mean {guess}?" if guess else "Move it into attributes or remove it."
            message = f"{excerpt(key)!r} is not one of the nine keys of a record."
            yield record.finding("violation", "unknown-key", (key,), message, fix)


def _links(record: Record, vocabulary: Vocabulary) -> Iterator[Finding]:
    links = record.data["links"]
    seen: set[tuple[str, str]] = set()
    for index, link in enumerate(links if isinstance(links, list) else ()):
        relation, target = (str(link["relation"]), str(link["target_id"])) if isinstance(link, dict) else ("", "")
        path: Path = ("links", index, "relation")
        term = vocabulary.relations.get(relation)
        if term is None:
            yield _unknown_relation(record, path, relation, vocabulary)
        elif not _may_have(record.kind, term, vocabulary):
            allowed = sorted(name for name, t in vocabulary.relations.items() if _may_have(record.kind, t, vocabulary))
            message = f"A record of kind {record.kind} has no relation {excerpt(relation)!r}."
            fix = f"Relations of {record.kind}: {', '.join(allowed)}."
            yield record.finding("violation", "relation-of-other-kind", path, message, fix)
        if relation in _TO_ANOTHER and target == record.id:
            message = f"The relation {relation} leads from this record to itself."
            fix = "Name the other record, or remove the link."
            yield record.finding("violation", "link-to-itself", ("links", index, "target_id"), message, fix)
        if (relation, target) in seen:
            message = f"The link {excerpt(relation)} to {excerpt(target)!r} stands twice."
            yield record.finding("warning", "repeated-link", ("links", index), message, "Remove one of them.")
        seen.add((relation, target))


def _unknown_relation(record: Record, path: Path, relation: str, vocabulary: Vocabulary) -> Finding:
    guess = nearest(relation, vocabulary.relations)
    fix = f"Did you mean {guess}?" if guess else f"Write one of {', '.join(sorted(vocabulary.relations))}."
    return record.finding("violation", "unknown-relation", path, f"{excerpt(relation)!r} is not a relation.", fix)


def _may_have(kind: str, term: Term, vocabulary: Vocabulary) -> bool:
    name = vocabulary.kinds[kind]
    return not term.used_on or bool(term.used_on & {name, vocabulary.groups[name], "Record"})


def _facets(record: Record, vocabulary: Vocabulary) -> Iterator[Finding]:
    facets = record.data["facets"]
    for name, values in facets.items() if isinstance(facets, dict) else ():
        term = vocabulary.facets.get(name)
        if term is None:
            guess = nearest(name, vocabulary.facets)
            fix = f"Did you mean {guess}?" if guess else f"Known facets: {', '.join(sorted(vocabulary.facets))}."
            yield record.finding(
                "warning", "unknown-facet", ("facets", name), f"The facet {excerpt(name)!r} is not known.", fix
            )
        elif term.scheme and isinstance(values, list):
            for index, value in enumerate(values):
                if isinstance(value, str) and is_stray(value):
                    yield stray_character(record, ("facets", name, index))


def _attributes(record: Record, vocabulary: Vocabulary) -> Iterator[Finding]:
    terms = vocabulary.attributes[record.kind]
    declared = dict(terms)
    for key in record.attributes:
        path: Path = ("attributes", key)
        if key in terms:
            continue
        if key in ON_EVERY_KIND or (key == "evidence_concerns" and record.kind == "source"):
            if key != "missing_metadata":
                declared[key] = _of_records(vocabulary)[key]
        elif is_scaffolding(record.kind, key):
            message = f"{excerpt(key)!r} is left over from an older format; it is kept as it is."
            yield record.finding("info", "scaffolding", path, message, "It can be removed.")
        else:
            guess = nearest(key, [*terms, *ON_EVERY_KIND])
            message = f"{excerpt(key)!r} is not a declared attribute of {record.kind}; it is kept as an open setting."
            fix = f"Did you mean {guess}?" if guess else "Use a declared key, or ask for a new term in the ontology."
            yield record.finding("warning", "undeclared-attribute", path, message, fix)
    for path, term, value in declared_values(record.attributes, ("attributes",), declared, vocabulary):
        if term is None:
            yield _undeclared_key(record, path, _keys_beside(path, declared, vocabulary))
        else:
            yield from check_value(record, path, term, value)


def _undeclared_key(record: Record, path: Path, terms: Mapping[str, Term]) -> Finding:
    """A key that an object with fields of its own does not have; a comparison may, but it is never compared."""
    key, owner = str(path[-1]), next(str(step) for step in reversed(path[:-1]) if isinstance(step, str))
    guess = nearest(key, terms)
    fix = f"Did you mean {guess}?" if guess else f"Keys of {owner}: {', '.join(sorted(terms))}."
    if owner == "comparison":
        message = f"{excerpt(key)!r} is not a key that comparisons use; it is kept and never compared."
        return record.finding("warning", "undeclared-key", path, message, fix)
    message = f"{owner} has no key {excerpt(key)!r}; the value is kept."
    return record.finding("violation", "undeclared-key", path, message, fix)


def _keys_beside(path: Path, terms: Mapping[str, Term], vocabulary: Vocabulary) -> Mapping[str, Term]:
    """The declared keys of the object that the last step of a path stands in."""
    for step in path[1:-1]:
        if isinstance(step, str):
            terms = vocabulary.parts[PARTS[terms[step].value_kind][0]]
    return terms


@lru_cache(maxsize=64)
def _of_kind(vocabulary: Vocabulary, kind: str) -> Mapping[str, Term]:
    """Key -> term of all that a record of a kind may say."""
    return {**_of_records(vocabulary), **vocabulary.attributes[kind]}


@lru_cache(maxsize=4)
def _of_records(vocabulary: Vocabulary) -> Mapping[str, Term]:
    """Key -> term of what every kind may say of the record itself."""
    return {term.record_key: term for term in vocabulary.terms.values() if term.section == "record"}


def _missing(record: Record, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Entries for fields that the kind does not have, and keys that an entry does not have. Source: section 6."""
    entries = record.attributes.get("missing_metadata")
    terms = _of_kind(vocabulary, record.kind)
    for field, entry in entries.items() if isinstance(entries, dict) else ():
        path: Path = ("attributes", "missing_metadata", field)
        first, _, rest = field.partition(".")
        term = terms.get(first)
        parts = vocabulary.parts.get(PARTS[term.value_kind][0], {}) if term and term.value_kind in PARTS else {}
        if term is None or (rest and parts and rest not in parts):
            message = (
                f"missing_metadata explains {excerpt(field)!r}, which a record of kind {record.kind} does not have."
            )
            guess = _nearest_field(field, terms, parts, vocabulary)
            fix = f"Did you mean {guess}?" if guess else "Correct the name of the field, or remove the entry."
            yield record.finding("warning", "unknown-missing-field", path, message, fix)
        for key in entry if isinstance(entry, dict) and "reason" in entry else ():
            if key not in _OF_ENTRIES:
                message = f"An entry under missing_metadata has no key {excerpt(key)!r}; the value is kept."
                guess = nearest(key, _OF_ENTRIES)
                fix = f"Did you mean {guess}?" if guess else "An entry has reason, and note if there is more to say."
                yield record.finding("violation", "undeclared-key", (*path, key), message, fix)


def _nearest_field(
    field: str, terms: Mapping[str, Term], parts: Mapping[str, Term], vocabulary: Vocabulary
) -> str | None:
    """The declared field or part that comes closest; a part may stand there without its object."""
    first, _, rest = field.partition(".")
    if parts:
        guess = nearest(rest, parts)
        return f"{first}.{guess}" if guess else None
    guess = nearest(first, terms)
    if guess is None and not rest:
        owners = {
            part: key
            for key, term in terms.items()
            if term.value_kind in PARTS
            for part in vocabulary.parts.get(PARTS[term.value_kind][0], {})
        }
        part = nearest(first, owners)
        return f"{owners[part]}.{part}" if part else None
    return f"{guess}.{rest}" if guess and rest else guess


def _claim_field(record: Record, vocabulary: Vocabulary) -> Iterator[Finding]:
    """A claim about a link has a relation that exists. Source: contract section 4 (verified links)."""
    field = record.attributes.get("field")
    if record.kind == "claim" and isinstance(field, str) and field.startswith("links:"):
        relation = field.split(":")[1]
        if relation not in vocabulary.relations:
            yield _unknown_relation(record, ("attributes", "field"), relation, vocabulary)
