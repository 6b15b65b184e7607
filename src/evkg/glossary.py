"""Glossary: where the reference explains the fields of a record and the keys that stand in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evkg.jsontext import Json, encode_json
from evkg.namespaces import EVKG
from evkg.reference_entry import local_url
from evkg.vocabulary import PARTS, Scheme, Term, Vocabulary

if TYPE_CHECKING:
    from evkg.record import Record

#: What stands beside the attributes of a record.
_OUTSIDE: Final = ("status", "facets")


@dataclass(frozen=True, slots=True)
class Word:
    """A key as a page shows it: label and key, and the address that explains it (None for one that no scheme lists)."""

    text: str
    url: str | None


class Glossary:
    """The addresses for the page of one record; `path` is a field such as `attributes` have it: `review.method`.

    >>> from evkg.release import open
    >>> release = open()
    >>> record = release.read("saadat-fellay-20261015-result-nt-2-5b-quantization-memory-4bit")
    >>> glossary = Glossary(record, release.vocabulary)
    >>> glossary.field("printed_value"), glossary.field("nothing")
    ('/ontology/printedValue', None)
    >>> glossary.words("metric")
    [Word(text='Peak memory (peak-memory)', url='/vocab/metric/peak-memory')]
    """

    def __init__(self, record: Record, vocabulary: Vocabulary) -> None:
        self._record = record
        self._vocabulary = vocabulary

    def field(self, path: str, kind: str | None = None) -> str | None:
        """The address of the term of a field, of this record or of another kind of record; None where it has none."""
        term = self._term(path.removeprefix("attributes."), kind or self._record.kind)
        return local_url(term.iri) if term else None

    def relation(self, label: str) -> str | None:
        """The address of the relation with this label."""
        found = (term for term in self._vocabulary.relations.values() if term.label == label)
        term = next(found, None)
        return local_url(term.iri) if term else None

    @property
    def kind(self) -> str | None:
        """The address of the class of this record."""
        name = self._vocabulary.kinds.get(self._record.kind)
        return local_url(EVKG + name) if name else None

    def words(self, path: str) -> list[Word]:
        """The keys in a field of this record, each explained; nothing where the field holds no keys of a scheme."""
        term = self._term(path, self._record.kind)
        scheme = self._vocabulary.schemes.get(term.scheme) if term and term.scheme else None
        return list(_words(scheme, self._value(path))) if scheme else []

    def _value(self, path: str) -> Json:
        first = path.partition(".")[0]
        found: Json = dict(self._record.data if first in _OUTSIDE else self._record.attributes)
        for part in path.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        return found

    def _term(self, path: str, kind: str) -> Term | None:
        """The term of a path; a field inside a free object has none."""
        first, _, rest = path.partition(".")
        if first in _OUTSIDE:
            return self._vocabulary.facets.get(rest) if rest else self._vocabulary.terms.get(first)
        known = self._vocabulary
        term = known.attributes.get(kind, {}).get(first)
        if term is None and (own := known.terms.get(first)) and own.section == "record":  # review and extraction
            term = own
        if not rest or term is None:
            return term
        return known.parts.get(PARTS[term.value_kind][0], {}).get(rest) if term.value_kind in PARTS else None


def _words(scheme: Scheme, value: Json) -> Iterator[Word]:
    for key in value if isinstance(value, list) else [value]:
        concept = scheme.concepts.get(key) if isinstance(key, str) else None
        if concept is not None:
            text = concept.key if concept.label == concept.key else f"{concept.label} ({concept.key})"
            yield Word(text, local_url(concept.iri))
        elif key is not None:
            yield Word(key if isinstance(key, str) else encode_json(key), None)
