"""Fields that the shapes want, known while records are read: an empty value of such a field is none at all."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from evkg.errors import VocabularyError
from evkg.namespaces import EVKG, SH
from evkg.scalar import Path
from evkg.vocabulary import PARTS, Term, Vocabulary, data_folder, load_vocabulary

#: What a rule on one property says if an empty text breaks it.
_REFUSING = (SH + "pattern", SH + "in", SH + "and")


class _Facts(NamedTuple):
    completed: list[tuple[str, str]]  # (class, IRI of a property that wants a value or a reason)
    refusing: frozenset[tuple[str, str]]  # (class, IRI of a property whose shape refuses an empty text)


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
    return any((name, iri) in _facts().refusing for name in classes for iri in (last.iri, last.text_iri))


def _classes(kind: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The classes of a record and its thing, as far as shapes target them."""
    name = vocabulary.kinds[kind]
    return name, vocabulary.groups[name], "Thing", "Record"


@cache
def _wanted() -> Mapping[str, frozenset[tuple[str, ...]]]:
    vocabulary = load_vocabulary()
    found: dict[str, set[tuple[str, ...]]] = {}
    for kind in vocabulary.kinds:
        classes = _classes(kind, vocabulary)
        fields = {iri: (key,) for key, term in vocabulary.attributes[kind].items() for iri in (term.iri, term.text_iri)}
        for key in ("review", "extraction"):
            fields[vocabulary.terms[key].iri] = (key,)
        parts: dict[str | None, tuple[str, ...]] = {}
        for key, term in vocabulary.attributes[kind].items():
            for part in (
                vocabulary.parts.get(PARTS[term.value_kind][0], {}).values() if term.value_kind in PARTS else ()
            ):
                parts[part.iri] = (key, part.record_key)
        wanted = {iri for name, iri in _facts().completed if name in classes}
        found[kind] = {path for iri in wanted if (path := fields.get(iri) or parts.get(iri))}
    return {kind: frozenset(paths) for kind, paths in found.items()}


@cache
def _facts() -> _Facts:
    import pyoxigraph as ox

    about: dict[str, dict[str, list[str]]] = {}
    for file in sorted(data_folder("shapes").glob("*.ttl")):
        try:
            for quad in ox.parse(path=str(file), format=ox.RdfFormat.TURTLE):
                if isinstance(quad.subject, ox.NamedNode):
                    facts = about.setdefault(quad.subject.value, {})
                    facts.setdefault(quad.predicate.value, []).append(getattr(quad.object, "value", ""))
        except (SyntaxError, ValueError, OSError) as error:
            raise VocabularyError(f"{file}: {error}") from error
    completed: list[tuple[str, str]] = []
    refusing: set[tuple[str, str]] = set()
    for facts in about.values():
        for target in facts.get(SH + "targetClass", ()):
            name = target.removeprefix(EVKG)
            completed += [(name, iri) for iri in facts.get(EVKG + "completes", ())]
            for rule in facts.get(SH + "property", ()):
                said = about.get(rule, {})
                if any(key in said for key in _REFUSING):
                    refusing.update((name, iri) for iri in said.get(SH + "path", ()))
    return _Facts(completed, frozenset(refusing))
