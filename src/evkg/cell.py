"""Cells: what a record says of one field, or why it says nothing, in words for a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evkg.literal import quote_part
from evkg.namespaces import concept_key, record_iri, thing_iri

if TYPE_CHECKING:
    from evkg.lookup import Facts
    from evkg.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Cell:
    """A text as the record has it; where it is None, the reason (a key, None where nothing explains the gap), what
    that reason means, and the note of the curator.
    """

    text: str | None
    reason: str | None = None
    meaning: str = ""
    note: str | None = None


class Cells:
    """Reads cells of records from the graph of a release.

    >>> from evkg.lookup import Facts
    >>> from evkg.release import open
    >>> release = open()
    >>> cells = Cells(Facts(release), release.vocabulary)
    >>> cells.of("saadat-fellay-20261015-result-nt-2-5b-quantization-memory-4bit", "uncertainty", "uncertainty").reason
    'unreported'
    """

    def __init__(self, facts: Facts, vocabulary: Vocabulary) -> None:
        self.facts = facts
        self._vocabulary = vocabulary

    def of(self, record_id: str | None, name: str, field: str) -> Cell:
        """The value of a property of a thing, by local name, or the entry of `field` under missing_metadata."""
        if record_id is None:
            return Cell(None)
        values = self.facts.texts(thing_iri(self.facts.base, record_id), name)
        return Cell("; ".join(values)) if values else self.gap(record_id, field)

    def of_condition(self, run_id: str | None, key: str) -> Cell:
        """A condition of an evaluation, by its key under comparison: of the comparison object, else of the evaluation
        itself, else why it is missing.
        """
        if run_id is None:
            return Cell(None)
        run = thing_iri(self.facts.base, run_id)
        given = self.facts.texts(self.facts.text(run, "comparison"), self._vocabulary.parts["Comparison"][key].iri)
        own = self._vocabulary.attributes["evaluation"].get(key)
        if not given and own is not None:
            given = self.facts.texts(run, own.iri)
        if given:
            return Cell("; ".join(given))
        gaps = (self.gap(run_id, field) for field in (f"comparison.{key}", key, "comparison"))
        return next((gap for gap in gaps if gap.reason), Cell(None))

    def gap(self, record_id: str, field: str) -> Cell:
        """Why a record has no value for a field; without a reason where it says nothing of it."""
        node = f"{record_iri(self.facts.base, record_id)}#missing-{quote_part(field)}"
        reason = self.facts.single(node, "reason")
        if reason is None:
            return Cell(None)
        key = concept_key(reason)
        concept = self._vocabulary.schemes["missingness"].concepts.get(key)
        return Cell(None, key, concept.definition if concept else "", self.facts.single(node, "note"))
