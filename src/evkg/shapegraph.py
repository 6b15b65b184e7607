"""The shapes as a graph: what a shape says, the members of its lists, the kinds of record that it targets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evkg.errors import VocabularyError
from evkg.namespaces import EVKG, RDF, SH
from evkg.shapes import Shapes
from evkg.vocabulary import Vocabulary

if TYPE_CHECKING:
    import pyoxigraph as ox


class ShapeGraph:
    """The triples of the shapes by subject; every node is a text, a blank one its label.

    >>> graph = ShapeGraph(Shapes())
    >>> graph.one("https://w3id.org/evkg/shapes#result-unit", "http://www.w3.org/ns/shacl#severity")
    'http://www.w3.org/ns/shacl#Violation'
    """

    def __init__(self, shapes: Shapes) -> None:
        self._about: dict[str, dict[str, list[ox.NamedNode | ox.BlankNode | ox.Literal]]] = {}
        for triple in shapes.triples:
            subject = self._about.setdefault(_name(triple.subject), {})
            subject.setdefault(triple.predicate.value, []).append(triple.object)  # type: ignore[arg-type]

    def pairs(self, predicate: str) -> Iterator[tuple[str, str]]:
        """(subject, object) of every triple with a predicate, in the order of the files."""
        for subject, facts in self._about.items():
            for value in facts.get(predicate, ()):
                yield subject, _name(value)

    def all(self, subject: str, predicate: str) -> list[str]:
        """The objects of a subject: IRIs, texts of literals, labels of blank nodes."""
        return [_name(value) for value in self._about.get(subject, {}).get(predicate, ())]

    def one(self, subject: str, predicate: str) -> str | None:
        """The first of them, if there is one."""
        return next(iter(self.all(subject, predicate)), None)

    def predicates(self, subject: str) -> list[str]:
        """The predicates of a subject."""
        return list(self._about.get(subject, ()))

    def is_iri(self, subject: str, predicate: str) -> bool:
        """Whether the first object of a subject is an IRI."""
        import pyoxigraph as ox

        return isinstance(next(iter(self._about.get(subject, {}).get(predicate, ())), None), ox.NamedNode)

    def list_of(self, subject: str, predicate: str) -> list[str]:
        """The members of the RDF list that a subject leads to."""
        members, head = [], self.one(subject, predicate)
        while head is not None and head != RDF + "nil":
            members.extend(self.all(head, RDF + "first"))
            head = self.one(head, RDF + "rest")
        return members

    def kinds(self, shape: str, vocabulary: Vocabulary) -> list[str]:
        """The kinds of record whose class, or the group that it belongs to, a shape targets."""
        targets = set(self.all(shape, SH + "targetClass"))
        return [
            kind for kind, name in vocabulary.kinds.items() if targets & {EVKG + name, EVKG + vocabulary.groups[name]}
        ]


def _name(term: object) -> str:
    import pyoxigraph as ox

    if isinstance(term, ox.NamedNode | ox.Literal | ox.BlankNode):
        return f"_:{term.value}" if isinstance(term, ox.BlankNode) else term.value
    raise VocabularyError("A shape holds a triple inside a triple.")
