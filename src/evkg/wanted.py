"""Fields that the shapes want, known while records are read: an empty value of such a field is none at all."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from evkg.expected import expected_fields
from evkg.namespaces import EVKG, SH
from evkg.scalar import Path
from evkg.shapegraph import ShapeGraph
from evkg.shapes import Shapes
from evkg.vocabulary import PARTS, Term, Vocabulary, load_vocabulary

#: What a rule on one property says if an empty text breaks it.
_REFUSING = (SH + "pattern", SH + "in", SH + "and")


def wanted_fields(kind: str) -> frozenset[tuple[str, ...]]:
    """The paths below `attributes` of the fields for which the shapes want a value or a reason in a kind of record.

    Raises: VocabularyError: the ontology or a shape does not parse.

    >>> ("comparison", "split") in wanted_fields("evaluation"), wanted_fields("benchmark")
    (True, frozenset({('entity_level',)}))
    """
    return _wanted().get(kind, frozenset())


def refuses_empty(kind: str, path: Path) -> bool:
    """Whether a shape has words of its own for an empty text at a path in a kind of record.

    Raises: VocabularyError: the ontology or a shape does not parse.

    >>> refuses_empty("dataset", ("attributes", "version")), refuses_empty("dataset", ("attributes", "scope_note"))
    (True, False)
    """
    vocabulary = load_vocabulary()
    steps = [step for step in path[1:] if isinstance(step, str)]
    classes = _classes(kind, vocabulary)
    terms: Mapping[str, Term] = vocabulary.attributes[kind]
    for step in steps[:-1]:
        term = terms.get(step) or vocabulary.terms[step]
        classes = PARTS[term.value_kind][:1]
        terms = vocabulary.parts[classes[0]]
    last = terms.get(steps[-1]) or vocabulary.terms[steps[-1]]
    return any((name, iri) in _refusing() for name in classes for iri in (last.iri, last.text_iri))


def _classes(kind: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The classes of a record and its thing, as far as shapes target them."""
    name = vocabulary.kinds[kind]
    return name, vocabulary.groups[name], "Thing", "Record"


@cache
def _shapes() -> Shapes:
    return Shapes()


@cache
def _wanted() -> Mapping[str, frozenset[tuple[str, ...]]]:
    fields = expected_fields(_shapes(), load_vocabulary())
    return {kind: frozenset(tuple(map(str, item.path[1:])) for item in items) for kind, items in fields.items()}


@cache
def _refusing() -> frozenset[tuple[str, str]]:
    """(class, IRI of a property whose shape refuses an empty text)."""
    graph = ShapeGraph(_shapes())
    return frozenset(
        (target.removeprefix(EVKG), iri)
        for shape, rule in graph.pairs(SH + "property")
        if any(graph.one(rule, key) is not None for key in _REFUSING)
        for target in graph.all(shape, SH + "targetClass")
        for iri in graph.all(rule, SH + "path")
    )
