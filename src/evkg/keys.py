"""Keys of a record: what no shape can see because it never becomes a term."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from evkg.finding import Finding
from evkg.jsontext import Json
from evkg.literal import decimal_literal
from evkg.older import is_scaffolding
from evkg.record import ENVELOPE, Record
from evkg.scalar import Path
from evkg.vocabulary import PARTS, Term, Vocabulary

#: Attributes that every kind may carry; they become nodes of the record, not of the thing.
ON_EVERY_KIND: Final = ("missing_metadata", "review", "extraction")
#: Source: contract section 5.1 (decimal).
_DECIMAL: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
_TEXTS: Final = ("text", "texts", "url", "url-or-path", "doi", "sha256", "git-sha", "date", "datetime")


def check_keys(record: Record, vocabulary: Vocabulary) -> list[Finding]:
    """Findings on keys: unknown ones (kept, with the nearest known key), wrong relations, empty texts.

    Source: contract sections 2 (strict envelope), 4 (relations), 5 (attributes), 13.10 (keep, warn, go on).
    """
    return list(_envelope(record)) + list(_links(record, vocabulary)) + list(_attributes(record, vocabulary))


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that comes closest, if one is close.

    >>> nearest("metrik", ["metric", "unit"])
    'metric'
    """
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return close[0] if close else None


def _envelope(record: Record) -> Iterator[Finding]:
    for key in record.data:
        if key not in ENVELOPE:
            guess = nearest(key, ENVELOPE)
            fix = f"Did you mean {guess}?" if guess else "Move it into attributes or remove it."
            message = f"{key!r} is not one of the nine keys of a record."
            yield record.finding("violation", "unknown-key", (key,), message, fix)


def _links(record: Record, vocabulary: Vocabulary) -> Iterator[Finding]:
    links = record.data["links"]
    for index, link in enumerate(links if isinstance(links, list) else ()):
        relation = str(link["relation"]) if isinstance(link, dict) else ""
        path: Path = ("links", index, "relation")
        term = vocabulary.relations.get(relation)
        if term is None:
            guess = nearest(relation, vocabulary.relations)
            fix = f"Did you mean {guess}?" if guess else f"Write one of {', '.join(sorted(vocabulary.relations))}."
            yield record.finding("violation", "unknown-relation", path, f"{relation!r} is not a relation.", fix)
        elif not _may_have(record.kind, term, vocabulary):
            allowed = sorted(name for name, t in vocabulary.relations.items() if _may_have(record.kind, t, vocabulary))
            message = f"A record of kind {record.kind} has no relation {relation!r}."
            fix = f"Relations of {record.kind}: {', '.join(allowed)}."
            yield record.finding("violation", "relation-of-other-kind", path, message, fix)


def _may_have(kind: str, term: Term, vocabulary: Vocabulary) -> bool:
    name = vocabulary.kinds[kind]
    return not term.used_on or bool(term.used_on & {name, vocabulary.groups[name], "Record"})


def _attributes(record: Record, vocabulary: Vocabulary) -> Iterator[Finding]:
    terms = vocabulary.attributes[record.kind]
    facets = record.data["facets"]
    for name in facets if isinstance(facets, dict) else ():
        if name not in vocabulary.facets:
            guess = nearest(name, vocabulary.facets)
            fix = f"Did you mean {guess}?" if guess else f"Known facets: {', '.join(sorted(vocabulary.facets))}."
            yield record.finding("warning", "unknown-facet", ("facets", name), f"The facet {name!r} is not known.", fix)
    for key, value in record.attributes.items():
        path: Path = ("attributes", key)
        term = terms.get(key)
        if term is not None:
            yield from _value(record, term, value, path, vocabulary)
        elif key in ON_EVERY_KIND or (key == "evidence_concerns" and record.kind == "source"):
            continue
        elif is_scaffolding(record.kind, key):
            message = f"{key!r} is left over from an older format; it is kept as it is."
            yield record.finding("info", "scaffolding", path, message, "It can be removed.")
        else:
            guess = nearest(key, terms)
            message = f"{key!r} is not a declared attribute of {record.kind}; it is kept as an open setting."
            fix = f"Did you mean {guess}?" if guess else "Use a declared key, or ask for a new term in the ontology."
            yield record.finding("warning", "undeclared-attribute", path, message, fix)


def _value(record: Record, term: Term, value: Json, path: Path, vocabulary: Vocabulary) -> Iterator[Finding]:
    """Findings on one declared value and the parts of it."""
    kind = term.value_kind
    if kind in PARTS and isinstance(value, dict):
        yield from _parts(record, value, path, vocabulary.parts.get(PARTS[kind][0], {}), vocabulary)
    elif isinstance(value, list) and kind in ("texts", *PARTS):
        for index, item in enumerate(value):
            yield from _value(record, term, item, (*path, index), vocabulary)
    elif isinstance(value, str) and not value.strip() and (kind in _TEXTS or term.scheme):
        fix = "Write the value, or remove the key and say under missing_metadata why it is missing."
        yield record.finding("violation", "empty-text", path, f"{path[-1]} is empty.", fix)
    elif kind in ("decimal", "decimal-or-null", "number") and _is_too_long(value):
        message = "The number has more digits than queries can compute with; it is kept as text only."
        yield record.finding("info", "too-many-digits", path, message, "Nothing has to be changed.")


def _is_too_long(value: Json) -> bool:
    return isinstance(value, str) and _DECIMAL.match(value) is not None and decimal_literal(value) is None


def _parts(
    record: Record, value: Mapping[str, Json], path: Path, terms: Mapping[str, Term], vocabulary: Vocabulary
) -> Iterator[Finding]:
    for key, inner in value.items():
        if key in terms:
            yield from _value(record, terms[key], inner, (*path, key), vocabulary)
