"""From nodes of the graph back to records: which field of which record a node or a property is."""

from __future__ import annotations

from functools import cached_property
from typing import Final
from urllib.parse import unquote

from evkg.scalar import ENVELOPE, Path
from evkg.vocabulary import Term, Vocabulary

#: Beginning of a fragment -> beginning of the field that the node stands for.
_PREFIXES: Final = {"setting-": "", "quote-": "", "concern-": "evidence_concerns."}


class Places:
    """Knows which field each node of a data set stands for; the inverse of the IRIs of `document.py`."""

    def __init__(self, vocabulary: Vocabulary, base: str) -> None:
        self._vocabulary = vocabulary
        self._base = base

    @cached_property
    def _owners(self) -> dict[str, Term]:
        """IRI of a property, or of the one that keeps its text -> its term."""
        terms = self._vocabulary.terms.values()
        return {t.iri: t for t in terms} | {t.text_iri: t for t in terms if t.text_iri}

    def of_node(self, iri: str) -> tuple[str, Path] | None:
        """(record id, path of the field) of a node; the path is empty for a thing or record itself.

        >>> from evkg.vocabulary import load_vocabulary
        >>> places = Places(load_vocabulary(), "https://w3id.org/evkg/")
        >>> places.of_node("https://w3id.org/evkg/record/r1#missing-coverage.scored")
        ('r1', ('attributes', 'missing_metadata', 'coverage.scored'))
        """
        for group in ("id/", "record/"):
            head = self._base + group
            if iri.startswith(head):
                record_id, _, fragment = iri[len(head) :].partition("#")
                return record_id, _fragment_path(unquote(fragment))
        return None

    def of_property(self, iri: str) -> Path:
        """The path of a property in its record, or in the nested object that has it.

        >>> from evkg.vocabulary import load_vocabulary
        >>> places = Places(load_vocabulary(), "https://w3id.org/evkg/")
        >>> places.of_property("https://w3id.org/evkg/ontology#retrievedAtText")
        ('attributes', 'retrieved_at')
        """
        term = self._owners.get(iri)
        if term is None:
            return ()
        if term.section == "attributes" or term.value_kind in ("review", "extraction", "missing-metadata"):
            return "attributes", term.record_key
        if term.key == "evidence_concerns":
            return "attributes", term.record_key
        if term.section == "facets":
            return "facets", term.record_key
        if term.section == "links":
            return "links", term.record_key
        if term.section == "part" and term.used_on == {"Comparison"}:
            return "attributes", "comparison", term.record_key
        return (term.record_key,) if term.section in ("record", "part") else ()

    def is_part(self, iri: str) -> bool:
        """Whether a property belongs to a nested object rather than to a record."""
        term = self._owners.get(iri)
        return term is not None and term.section == "part"


def _fragment_path(fragment: str) -> Path:
    if not fragment:
        return ()
    if fragment.startswith("missing-"):
        return "attributes", "missing_metadata", fragment.removeprefix("missing-")
    for prefix, field in _PREFIXES.items():
        if fragment.startswith(prefix):
            fragment = field + fragment.removeprefix(prefix)
            break
    steps = [int(s) if s.isdecimal() else s.replace("%2E", ".").replace("%25", "%") for s in fragment.split(".")]
    return tuple(steps) if steps[0] in ENVELOPE else ("attributes", *steps)
