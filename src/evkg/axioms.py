"""The axioms of the ontology, and what follows from one triple by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import pyoxigraph as ox

from evkg.errors import VocabularyError
from evkg.inference import TYPE, Rule
from evkg.namespaces import OWL, PREFIXES, RDF, RDFS
from evkg.vocabulary import data_folder

_Node = TypeVar("_Node")


@dataclass(frozen=True, slots=True)
class Axioms:
    """The axioms of the ontology, by what they need.

    `above`: class -> the classes right above it; `wider` and `inverse`: pairs of properties; `chains`:
    rules, since they join; `steps`: the properties that chains lead over, in brackets; `disjoint`: pairs of
    classes that nothing may belong to at once.
    """

    above: Mapping[str, tuple[str, ...]]
    wider: tuple[tuple[str, str], ...]
    inverse: tuple[tuple[str, str], ...]
    chains: tuple[Rule, ...]
    steps: frozenset[str]
    disjoint: tuple[tuple[str, str], ...]


def load_axioms(folder: Path | None = None) -> Axioms:
    """The axioms of the ontology.

    Source: OWL 2 Profiles, section 4.3 (rules cax-sco, prp-spo1, prp-inv1, prp-inv2, prp-spo2, cax-dw).

    Raises: VocabularyError: the ontology uses an axiom for which there is no rule here.

    >>> [rule.name for rule in load_axioms().chains if rule.name.startswith("evkg:testedSystem")]
    ['evkg:testedSystem owl:propertyChainAxiom']
    """
    return _axioms(folder if folder is not None else data_folder("ontology"))


#: The properties and classes of OWL that have a rule here or no consequence; any other would be passed over in silence.
_HANDLED = {OWL + name for name in ("inverseOf", "propertyChainAxiom", "disjointWith")}
_SILENT = {OWL + name for name in ("versionIRI", "versionInfo", "priorVersion", "deprecated")}
_DECLARED = {
    OWL + name
    for name in ("Ontology", "Class", "ObjectProperty", "DatatypeProperty", "AnnotationProperty", "NamedIndividual")
}


@cache
def _axioms(folder: Path) -> Axioms:
    store = ox.Store()
    for path in sorted(folder.rglob("*.ttl")):
        store.load(path=str(path), format=ox.RdfFormat.TURTLE)
    for quad in store:
        used = quad.object if quad.predicate.value == RDF + "type" else quad.predicate
        name = used.value if isinstance(used, ox.NamedNode) else ""
        is_owl = name.startswith(OWL) and name not in _HANDLED | _SILENT | _DECLARED
        if is_owl or name in (RDFS + "domain", RDFS + "range"):
            raise VocabularyError(f"The ontology uses {short_name(name)}, for which derive.py has no rule.")

    def pairs(predicate: str) -> list[tuple[str, str]]:
        found = [
            (quad.subject.value, quad.object.value)
            for quad in store.quads_for_pattern(None, ox.NamedNode(predicate), None)
            if isinstance(quad.subject, ox.NamedNode) and isinstance(quad.object, ox.NamedNode)
        ]
        return sorted(found)

    above: dict[str, list[str]] = {}
    for lower, upper in pairs(RDFS + "subClassOf"):
        above.setdefault(lower, []).append(upper)
    chains = []
    over: set[str] = set()
    for term, steps in sorted(_chains(store)):
        over.update(f"<{step}>" for step in steps)
        links = " . ".join(f"?n{i} <{step}> ?n{i + 1}" for i, step in enumerate(steps))
        fact = f"?n0 <{term}> ?n{len(steps)}"
        query = f"CONSTRUCT {{ {fact} }} WHERE {{ {links} }}"
        chains.append(Rule(f"{short_name(term)} owl:propertyChainAxiom", query))
    inverse = pairs(OWL + "inverseOf")
    return Axioms(
        {lower: tuple(uppers) for lower, uppers in above.items()},
        tuple(pairs(RDFS + "subPropertyOf")),
        tuple(sorted({*inverse, *((other, one) for one, other in inverse)})),
        tuple(chains),
        frozenset(over),
        tuple(pairs(OWL + "disjointWith")),
    )


def short_name(iri: str) -> str:
    """An IRI with one of the usual prefixes, if one fits."""
    for prefix, namespace in PREFIXES.items():
        if iri.startswith(namespace):
            return f"{prefix}:{iri.removeprefix(namespace)}"
    return iri


def _chains(store: ox.Store) -> Iterator[tuple[str, list[str]]]:
    """(property, properties of its chain in order)."""
    rest, first = ox.NamedNode(RDF + "rest"), ox.NamedNode(RDF + "first")
    for quad in store.quads_for_pattern(None, ox.NamedNode(OWL + "propertyChainAxiom"), None):
        chain: list[str] = []
        place: object = quad.object
        while isinstance(place, ox.BlankNode):
            chain.extend(str(q.object)[1:-1] for q in store.quads_for_pattern(place, first, None))
            place = next(q.object for q in store.quads_for_pattern(place, rest, None))
        yield str(quad.subject)[1:-1], chain


class Closure:
    """What follows from one triple by itself: the classes above a class, the properties above a property, inverses.

    Made from the axioms; every record gets it where it is converted, so that only joins are left for the store.

    >>> closure = Closure(load_axioms())
    >>> closure.of(["<urn:r> <https://w3id.org/evkg/ontology#evaluation> <urn:e>"])
    ... # doctest: +NORMALIZE_WHITESPACE
    ['<urn:e> <https://w3id.org/evkg/ontology#hasResult> <urn:r>',
     '<urn:r> <http://www.w3.org/ns/prov#wasGeneratedBy> <urn:e>']
    """

    def __init__(self, axioms: Axioms) -> None:
        above = _reach(axioms.above)
        self._classes = {f"<{lower}>": [f"<{upper}>" for upper in uppers] for lower, uppers in above.items()}
        steps: dict[tuple[str, bool], set[tuple[str, bool]]] = {}
        for lower, upper in axioms.wider:
            for turned in (False, True):
                steps.setdefault((lower, turned), set()).add((upper, turned))
        for one, other in axioms.inverse:
            for turned in (False, True):
                steps.setdefault((one, turned), set()).add((other, not turned))
        self._properties: dict[str, list[tuple[str, bool]]] = {}
        for (start, turned), found in _reach(steps).items():
            if not turned:
                reached = sorted(found - {(start, False)})
                self._properties[f"<{start}>"] = [(f"<{name}>", is_turned) for name, is_turned in reached]

    def of(self, triples: Iterable[str]) -> list[str]:
        """The triples that follow from `s p o` texts and are not among them, sorted."""
        asserted = set(triples)
        found: set[str] = set()
        classes, properties = self._classes, self._properties
        for triple in asserted:
            subject, predicate, value = triple.split(" ", 2)
            if predicate == TYPE:
                found.update(f"{subject} {TYPE} {upper}" for upper in classes.get(value, ()))
            elif predicate in properties:
                for name, is_turned in properties[predicate]:
                    if not is_turned:
                        found.add(f"{subject} {name} {value}")
                    elif value.startswith("<"):
                        found.add(f"{value} {name} {subject}")
        return sorted(found - asserted)


def _reach(steps: Mapping[_Node, Iterable[_Node]]) -> dict[_Node, set[_Node]]:
    """Everything that can be reached from each node in one step or more."""
    reached: dict[_Node, set[_Node]] = {}
    for start in steps:
        found: set[_Node] = set()
        todo = [*steps[start]]
        while todo:
            node = todo.pop()
            if node not in found:
                found.add(node)
                todo.extend(steps.get(node, ()))
        reached[start] = found
    return reached
