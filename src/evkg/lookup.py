"""What a release says of one node at a time: lookups that a page or a comparison needs, without a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evkg.namespaces import EVKG, RDFS, SKOS, concept_key
from evkg.release import Release

if TYPE_CHECKING:
    import pyoxigraph as ox


class Facts:
    """What the graph says of nodes: a lookup each, over all graphs."""

    def __init__(self, release: Release) -> None:
        self.base = release.base_iri
        self._store = release.store
        self._known: dict[str, dict[str, list[Any]]] = {}
        self._labels: dict[str, str | None] = {}

    def of(self, iri: str) -> dict[str, list[Any]]:
        """Property -> values of a node, sorted."""
        import pyoxigraph as ox

        if iri not in self._known:
            found: dict[str, list[Any]] = {}
            for quad in self._store.quads_for_pattern(ox.NamedNode(iri), None, None):
                found.setdefault(quad.predicate.value, []).append(quad.object)
            for values in found.values():
                values.sort(key=str)
            self._known[iri] = found
        return self._known[iri]

    def all(self, iri: str | None, name: str) -> list[ox.NamedNode | ox.Literal]:
        """The values of one property, by local name or IRI."""
        return [] if iri is None else self.of(iri).get(name if ":" in name else EVKG + name, [])

    def texts(self, iri: str | None, name: str) -> list[str]:
        """The values of one property as texts."""
        return [term.value for term in self.all(iri, name)]

    def text(self, iri: str | None, name: str) -> str | None:
        """The first value of one property as text."""
        return next(iter(self.texts(iri, name)), None)

    def label(self, iri: str | None) -> str | None:
        """The name of a thing or a concept; what has none in this release by the last part of its IRI."""
        if iri is None:
            return None
        if iri not in self._labels:
            self._labels[iri] = self.single(iri, RDFS + "label") or self.single(iri, SKOS + "prefLabel")
        return self._labels[iri] or concept_key(iri)

    def single(self, iri: str, name: str) -> str | None:
        """The first value of one property, without a look at the rest of the node, which may be large."""
        import pyoxigraph as ox

        predicate = ox.NamedNode(name if ":" in name else EVKG + name)
        found = self._store.quads_for_pattern(ox.NamedNode(iri), predicate, None)
        return min((quad.object.value for quad in found if not isinstance(quad.object, ox.Triple)), default=None)


def concern_text(facts: Facts, concern: str | None) -> str:
    """The message of a concern, with the place it speaks of."""
    message = facts.text(concern, "message") or "a concern whose text is missing or withheld"
    place = facts.text(concern, "concernLocator")
    return f"{message}{f' [{place}]' if place else ''}"


def id_of(iri: str) -> str:
    """The id of the record about a thing, or of the record itself.

    >>> id_of("https://w3id.org/evkg/id/gena-lm")
    'gena-lm'
    """
    return iri.rsplit("/", 1)[1]
