"""The reference: what the ontology, the schemes and the shapes of a release say of each term, for pages and as RDF.

Everything is read from the Turtle files in the folder of the release, so it is what its records were made with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evkg.axioms import short_name
from evkg.errors import NotFoundError, VocabularyError, excerpt
from evkg.namespaces import DCTERMS, EVKG, OWL, RDF, RDFS, SH, SKOS, VOCAB
from evkg.reference_entry import PREDICATES, SHAPES, Correspondence, Entry, Group, Object, local_url
from evkg.reference_rules import Rules
from evkg.release import Release
from evkg.shapes import Shapes
from evkg.vocabulary import Vocabulary

if TYPE_CHECKING:
    import pyoxigraph as ox

#: Sections of properties in the order of the page, with what they are called.
_SECTIONS: Final = {
    "record": "Properties of the record itself",
    "facets": "Facets",
    "links": "Relations to other records",
    "attributes": "Fields of records",
    "part": "Fields of parts",
    "graph": "Properties that conversion adds",
    "derived": "Properties that are derived",
    "release": "Properties of releases",
    "": "How terms are described",
}
#: What a page shows at its head, so not among the statements.
_AT_THE_HEAD: Final = frozenset(
    {RDFS + "label", SKOS + "prefLabel", SKOS + "definition", RDFS + "isDefinedBy", SH + "message", DCTERMS + "title"}
)


class Reference:
    """The terms of a release.

    >>> from evkg.release import find_release
    >>> reference = Reference(Release(find_release("build/current")))
    >>> reference.term("printedValue").label, reference.concept("unit", "gigabyte").label
    ('printed value', 'Gigabyte')
    """

    def __init__(self, release: Release) -> None:
        self._release = release

    @property
    def vocabulary(self) -> Vocabulary:
        """The same, compiled."""
        return self._release.vocabulary

    @cached_property
    def triples(self) -> tuple[ox.Triple, ...]:
        """The triples of ontology, mappings and schemes.

        Raises: VocabularyError: a file cannot be read.
        """
        return tuple(_read(sorted((self._release.folder / "ontology").rglob("*.ttl"))))

    @cached_property
    def shapes(self) -> Shapes:
        """The shapes of the release."""
        return Shapes(self._release.folder / "shapes")

    @cached_property
    def rules(self) -> Rules:
        """What the shapes say to curators."""
        return Rules(self.shapes)

    def shape(self, name: str) -> Entry:
        """What the shape of a rule says. Raises: NotFoundError: there is none; names the nearest."""
        self.rules.rule(name)
        return self._entry(SHAPES + name, name)

    @cached_property
    def _about(self) -> dict[str, list[ox.Triple]]:
        found: dict[str, list[ox.Triple]] = {}
        for triple in (*self.triples, *self.shapes.triples):
            found.setdefault(str(triple.subject), []).append(triple)
        return found

    def _values(self, iri: str, predicate: str) -> list[str]:
        triples = self._about.get(f"<{iri}>", ())
        return [getattr(triple.object, "value", "") for triple in triples if triple.predicate.value == predicate]

    def _one(self, iri: str, *predicates: str) -> str:
        return next((value for predicate in predicates for value in self._values(iri, predicate)), "")

    def describe(self, iri: str) -> list[ox.Triple]:
        """The triples that an IRI begins, with those of the blank nodes that they lead to, and of its mappings."""
        found: list[ox.Triple] = []
        waiting, seen = [f"<{iri}>", *(f"<{mapping}>" for mapping in self._mapping_iris.get(iri, ()))], set()
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                triples = self._about.get(node, [])
                found += triples
                waiting += [str(triple.object) for triple in triples if str(triple.object).startswith("_:")]
        return found

    # Terms of the ontology

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The local names of all terms, sorted."""
        start = f"<{EVKG}"
        return tuple(sorted(subject[len(start) : -1] for subject in self._about if subject.startswith(start)))

    def term(self, name: str) -> Entry:
        """A term by its local name. Raises: NotFoundError: none is called so; names the nearest."""
        if name not in self.names:
            known = {term.record_key: term.iri.removeprefix(EVKG) for term in self.vocabulary.terms.values()}
            near = [known[name]] if name in known else get_close_matches(name, self.names, n=3, cutoff=0.5)
            raise NotFoundError(f"No term of the ontology is called {excerpt(name, 80)!r}.", tuple(near))
        return self._entry(EVKG + name, name)

    @cached_property
    def terms(self) -> tuple[Group, ...]:
        """All terms in groups: classes first, then properties by where in a record they stand."""
        classes: list[str] = []
        sections: dict[str, list[str]] = {name: [] for name in _SECTIONS}
        for name in self.names:
            if OWL + "Class" in self._values(EVKG + name, RDF + "type"):
                classes.append(name)
            else:
                sections.setdefault(self._one(EVKG + name, EVKG + "section"), []).append(name)
        kinds = set(self.vocabulary.kinds.values())
        groups = [
            ("Kinds of record", [name for name in classes if name in kinds]),
            ("Other classes", [name for name in classes if name not in kinds]),
            *((_SECTIONS.get(section, section.replace("_", " ")), names) for section, names in sections.items()),
        ]
        return tuple(
            Group(title, tuple(self._short(EVKG + name, name) for name in names)) for title, names in groups if names
        )

    # Concept schemes

    @cached_property
    def schemes(self) -> tuple[Entry, ...]:
        """The schemes, without their concepts."""
        return tuple(self._short(VOCAB + key, key) for key in sorted(self.vocabulary.schemes))

    def scheme(self, key: str) -> tuple[Entry, tuple[Entry, ...]]:
        """A scheme and its concepts. Raises: NotFoundError: there is none; names the nearest."""
        if key not in self.vocabulary.schemes:
            near = tuple(get_close_matches(key, self.vocabulary.schemes, n=3, cutoff=0.5))
            raise NotFoundError(f"There is no scheme {excerpt(key, 80)!r}.", near)
        concepts = self.vocabulary.schemes[key].concepts
        entries = tuple(self._short(concepts[name].iri, name) for name in sorted(concepts))
        return self._entry(VOCAB + key, key), entries

    def concept(self, scheme: str, key: str) -> Entry:
        """A concept. Raises: NotFoundError: there is none; names the nearest."""
        self.scheme(scheme)
        known = self.vocabulary.schemes[scheme]
        if key not in known.concepts:
            near = (
                [known.nearest(key)] if known.nearest(key) else get_close_matches(key, known.concepts, n=3, cutoff=0.5)
            )
            message = f"The scheme {scheme} has no key {excerpt(key, 80)!r}."
            raise NotFoundError(message, tuple(name for name in near if name))
        return self._entry(known.concepts[key].iri, key)

    # What is said of one term

    @cached_property
    def _mapping_iris(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for triple in self.triples:
            if triple.predicate.value == EVKG + "mappedTerm":
                found.setdefault(getattr(triple.object, "value", ""), []).append(getattr(triple.subject, "value", ""))
        return found

    def _short(self, iri: str, name: str) -> Entry:
        label = self._one(iri, RDFS + "label", SKOS + "prefLabel", DCTERMS + "title") or name
        return Entry(iri, name, label, self._what(iri), self._one(iri, SKOS + "definition", RDFS + "comment"))

    def _what(self, iri: str) -> str:
        types = set(self._values(iri, RDF + "type"))
        for kind, words in (("Class", "class"), ("AnnotationProperty", "annotation"), ("ObjectProperty", "property")):
            if OWL + kind in types:
                return words
        for kind, words in (("ConceptScheme", "scheme"), ("Concept", "concept")):
            if SKOS + kind in types:
                return words
        return "shape" if iri.startswith(SHAPES) else "property"

    def _entry(self, iri: str, name: str) -> Entry:
        short = self._short(iri, name)
        mappings = tuple(map(self._mapping, sorted(self._mapping_iris.get(iri, ()))))
        mapped = {mapping.target.url for mapping in mappings}
        statements: dict[str, list[Object]] = {}
        for triple in self._about.get(f"<{iri}>", ()):
            predicate, value = triple.predicate.value, self._object(triple.object)
            if predicate not in _AT_THE_HEAD and value is not None and not (value.url and value.url in mapped):
                statements.setdefault(self._predicate(predicate), []).append(value)
        term = self.vocabulary.by_iri.get(iri)
        return Entry(
            *(iri, name, short.label, short.what, short.definition),
            statements=tuple((words, tuple(values)) for words, values in statements.items()),
            mappings=mappings,
            rules=tuple(self.rules.on(iri)),
            record_key=term.record_key if term is not None else None,
        )

    def _mapping(self, iri: str) -> Correspondence:
        target = self._one(iri, EVKG + "mappedTo")
        return Correspondence(
            relation=self._predicate(self._one(iri, EVKG + "mappingRelation")),
            target=Object(short_name(target), target),
            basis=self._one(iri, EVKG + "basis"),
            is_unverified="true" in self._values(iri, EVKG + "unverified")
            or "true" in self._values(self._one(iri, EVKG + "mappedTo"), EVKG + "unverified"),
        )

    def _predicate(self, iri: str) -> str:
        return PREDICATES.get(iri) or self._one(iri, RDFS + "label") or short_name(iri)

    def _object(self, term: object) -> Object | None:
        """A value in words; a blank node has none, since it only holds together what RDF shows."""
        import pyoxigraph as ox

        if isinstance(term, ox.NamedNode):
            label = self._one(term.value, RDFS + "label", SKOS + "prefLabel", DCTERMS + "title")
            return Object(label or short_name(term.value), local_url(term.value) or term.value)
        return Object(term.value) if isinstance(term, ox.Literal) else None


def _read(files: Iterable[Path]) -> Iterator[ox.Triple]:
    import pyoxigraph as ox

    for file in files:
        try:
            for quad in ox.parse(path=str(file), format=ox.RdfFormat.TURTLE, rename_blank_nodes=True):
                yield quad.triple
        except (SyntaxError, ValueError, OSError) as error:
            raise VocabularyError(f"{file.name}: {error}") from error
