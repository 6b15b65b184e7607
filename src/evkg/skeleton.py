"""Skeletons: a new record of a kind with every expected field, commented, and nothing filled in by a guess.

What is empty is found by `evkg check` at its line: a field without value, and the words that stand where the record
could not be read without any (`TO-BE-DECIDED`), which the shapes refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from textwrap import wrap
from typing import Final

from evkg.constraint import Constraints
from evkg.declared import attributes_of, relations_of
from evkg.errors import NotFoundError, UsageError
from evkg.expected import Expected, expected_fields, required_links
from evkg.insertion import TO_BE_DECIDED
from evkg.namespaces import EVKG
from evkg.record import LINKED_ID, RECORD_ID
from evkg.shapegraph import ShapeGraph
from evkg.shapes import Shapes
from evkg.vocabulary import PARTS, Scheme, Term, Vocabulary

_WIDTH: Final = 110
#: A scheme with more keys than this is not listed whole (count).
_LISTED: Final = 20
_ID: Final = TO_BE_DECIDED.lower()
#: Kind of value -> what one writes. Source: contract section 5.1.
_WRITTEN: Final = {
    "integer": "a whole number",
    "number": "a number",
    "decimal": 'a number in quotes, with all its digits: "33.880"',
    "decimal-or-null": 'a number in quotes, with all its digits: "33.880"',
    "boolean": "true or false",
    "date": "a day: 2026-10-15",
    "datetime": "a day, or a day with time and offset: 2026-10-15 or 2026-10-15T10:56:26Z",
    "url": "a public web address",
    "url-or-path": "a public web address, or a path of this site",
    "doi": "a bare DOI: 10.1000/xyz123",
    "sha256": "a SHA-256: 64 digits and letters a to f",
    "artifact": "a SHA-256: 64 digits and letters a to f",
    "git-sha": "a commit: 7 to 40 digits and letters a to f",
    "texts": "a list of texts",
    "integers": "a list of whole numbers",
    "record-id": "the id of a record",
    "record-ids": "a list of ids of records",
    "agent": "the key of who did it",
    "agents": "a list of keys of who did it",
    "entity-kinds": "a list of kinds of record",
    "json": "an object with what there is to say: {gpu: A100}",
}


def make_skeleton(kind: str, vocabulary: Vocabulary, shapes: Shapes, record_id: str | None = None) -> str:
    """The text of a YAML file with one new record of a kind; its id is open where none is given.

    Raises: NotFoundError: there is no such kind; names the nearest. UsageError: the id cannot be one.

    >>> from evkg.vocabulary import load_vocabulary
    >>> print(make_skeleton("service", load_vocabulary(), Shapes(), "a-service")[:28])
    # A new record of kind servi
    """
    if kind not in vocabulary.kinds:
        nearest = tuple(get_close_matches(kind.lower().replace("-", "_"), vocabulary.kinds, n=3, cutoff=0.5))
        raise NotFoundError(f"{kind!r} is not a kind of record. Kinds: {', '.join(sorted(vocabulary.kinds))}.", nearest)
    pattern = LINKED_ID if kind == "use_case" else RECORD_ID
    if record_id is not None and not pattern.match(record_id):
        raise UsageError(f"{record_id!r} cannot be an id: use lower-case letters, digits and hyphens, at most 255.")
    return "\n".join([*_Skeleton(kind, vocabulary, shapes).lines(record_id), ""])


class _Skeleton:
    def __init__(self, kind: str, vocabulary: Vocabulary, shapes: Shapes) -> None:
        self._kind = kind
        self._vocabulary = vocabulary
        self._fields = expected_fields(shapes, vocabulary)[kind]
        self._links = required_links(shapes, vocabulary)[kind]
        self._terms = attributes_of(kind, vocabulary)
        self._constraints = Constraints(ShapeGraph(shapes))

    def lines(self, record_id: str | None) -> Iterator[str]:
        name = self._vocabulary.kinds[self._kind]
        yield from _comment("", f"A new record of kind {self._kind}: {self._vocabulary.definitions[EVKG + name]}")
        yield from _comment(
            "", "Write what the source prints. A field that has no value is taken out and explained instead:"
        )
        yield "#   missing_metadata:"
        yield "#     a_field: {reason: …, note: …}"
        yield from self._reasons()
        yield "# `evkg check` on this file tells what is still open."
        yield ""
        yield "# Unique among all records: lower-case letters, digits and hyphens. It never changes."
        yield f"id: {record_id or _ID}"
        yield f"kind: {self._kind}"
        yield f"name: {TO_BE_DECIDED}"
        yield 'description: ""'
        yield from self._status_lines()
        yield f"status: {TO_BE_DECIDED}"
        yield from _comment(
            "", f"Words by which it is found, lists each: {', '.join(sorted(self._vocabulary.facets))}."
        )
        yield "facets: {}"
        yield "# The ids of the sources that say it, the main one first."
        yield "source_ids: []"
        yield from self._link_lines()
        yield from self._attribute_lines()

    def _reasons(self) -> Iterator[str]:
        for concept in sorted(self._vocabulary.schemes["missingness"].concepts.values(), key=lambda c: c.key):
            yield from _comment("", f"{concept.key}: {concept.definition}", hang="  ")

    def _link_lines(self) -> Iterator[str]:
        relations = relations_of(self._kind, self._vocabulary)
        yield "# Links to other records: {relation: …, target_id: …}, with these relations:"
        for relation, term in relations.items():
            yield from _comment("", f"{relation}: {term.definition}", hang="  ")
        if not self._links:
            yield "links: []"
            return
        yield "links:"
        for link in self._links:
            yield f"  - {{relation: {link.path[1]}, target_id: {_ID}}}"

    def _attribute_lines(self) -> Iterator[str]:
        written: set[str] = set()
        yield "attributes:" if self._fields else "attributes: {}"
        for field in self._fields:
            key = str(field.path[1])
            term = self._terms[key]
            if len(field.path) > 2 and key not in written:
                yield from _comment("  ", term.definition)
                yield f"  {key}:"
            written.add(key)
            if len(field.path) == 2:
                yield from self._field_lines("  ", term, field)
            else:
                yield from self._field_lines("    ", self._parts(term)[str(field.path[2])], field)
        others = ", ".join(key for key in self._terms if key not in written)
        yield from _comment("  ", f"Not expected, but possible: {others}.")

    def _field_lines(self, indent: str, term: Term, field: Expected) -> Iterator[str]:
        word = "Required" if field.severity == "violation" else "Recommended"
        yield from _comment(indent, f"{word}. {term.definition}")
        name = self._vocabulary.kinds[self._kind]
        if words := self._words(term, {name, self._vocabulary.groups[name]}):
            yield from _comment(indent, f"One of {words}.")
        elif term.value_kind in PARTS:
            yield from self._part_lines(indent, term)
        elif written := _WRITTEN.get(term.value_kind):
            yield from _comment(indent, f"Write {written}.")
        yield f"{indent}{field.path[-1]}:"

    def _part_lines(self, indent: str, term: Term) -> Iterator[str]:
        """The keys of an object, each with what it means."""
        yield from _comment(indent, "Write an object with some of these keys:")
        for key, part in sorted(self._parts(term).items()):
            words = self._words(part, {PARTS[term.value_kind][0]})
            yield from _comment(indent, f"{key}: {part.definition}{f' One of {words}.' if words else ''}", hang="  ")

    def _words(self, term: Term, classes: set[str]) -> str | None:
        """The words that may stand in a field, where they are listed: by the shapes, else by its scheme."""
        for constraint in self._constraints.of_value(term, classes):
            if "enum" in constraint:
                return ", ".join(constraint["enum"])
        scheme = self._vocabulary.schemes.get(term.scheme or "")
        return _keys(scheme) if scheme is not None else None

    def _parts(self, term: Term) -> dict[str, Term]:
        return dict(self._vocabulary.parts.get(PARTS[term.value_kind][0], {}))

    def _status_lines(self) -> Iterator[str]:
        yield "# One of:"
        for key, concept in sorted(self._vocabulary.schemes["status"].concepts.items()):
            yield from _comment("", f"{key}: {concept.definition or concept.label}", hang="  ")


def _keys(scheme: Scheme) -> str:
    """The keys of a scheme, of a long one the first."""
    keys = sorted(scheme.concepts)
    more = f", and {len(keys) - _LISTED} more" if len(keys) > _LISTED else ""
    return ", ".join(keys[:_LISTED]) + more + ("; another is kept, with a warning" if scheme.open else "")


def _comment(indent: str, text: str, hang: str = "") -> Iterable[str]:
    """A text as comment lines; the first is indented by `hang`, further ones a little more.

    >>> list(_comment("  ", "What it is."))
    ['  # What it is.']
    """
    head = f"{indent}# {hang}"
    return wrap(text, _WIDTH, initial_indent=head, subsequent_indent=f"{head}  " if hang else head)
