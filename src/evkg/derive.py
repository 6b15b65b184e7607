"""Derived facts: what follows from the axioms of the ontology and from the rules in `queries/rules/`.

Every axiom becomes one SPARQL rule; the rules run to a fixed point. What comes out is the closure
minus what is asserted, so a derived triple can always be told from an asserted one, and no triple
stands in two graphs. owlrl is the normative reasoner: tests hold this against its closure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyoxigraph as ox

from evkg.errors import InconsistencyError, VocabularyError
from evkg.namespaces import OWL, PREFIXES, RDF, RDFS, graph_iri
from evkg.vocabulary import data_folder

_TYPE = f"<{RDF}type>"


@dataclass(frozen=True, slots=True)
class Rule:
    """A CONSTRUCT query that adds facts, and what it comes from: an axiom or a file."""

    name: str
    query: str


@dataclass(frozen=True, slots=True)
class Axioms:
    """The axioms of the ontology as rules, and the pairs of classes that nothing may belong to at once."""

    rules: tuple[Rule, ...]
    disjoint: tuple[tuple[str, str], ...]


def load_axioms(folder: Path | None = None) -> Axioms:
    """The rules that the ontology's axioms give.

    Source: OWL 2 Profiles, section 4.3 (rules cax-sco, prp-spo1, prp-inv1, prp-inv2, prp-spo2, cax-dw).

    Raises: VocabularyError: the ontology uses an axiom for which there is no rule here.

    >>> [rule.name for rule in load_axioms().rules if rule.name.startswith("evkg:testedSystem")]
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
            raise VocabularyError(f"The ontology uses {_short(name)}, for which derive.py has no rule.")
    rules: list[Rule] = []

    def pairs(predicate: str) -> list[tuple[str, str]]:
        found = [
            (quad.subject.value, quad.object.value)
            for quad in store.quads_for_pattern(None, ox.NamedNode(predicate), None)
            if isinstance(quad.subject, ox.NamedNode) and isinstance(quad.object, ox.NamedNode)
        ]
        return sorted(found)

    def rule(term: str, axiom: str, head: str, body: str, guard: str = "") -> None:
        query = f"CONSTRUCT {{ {head} }} WHERE {{ {body} {guard} FILTER NOT EXISTS {{ {head} }} }}"
        rules.append(Rule(f"{_short(term)} {axiom}", query))

    for lower, upper in pairs(RDFS + "subClassOf"):
        rule(lower, "rdfs:subClassOf", f"?x {_TYPE} <{upper}>", f"?x {_TYPE} <{lower}> .")
    for lower, upper in pairs(RDFS + "subPropertyOf"):
        rule(lower, "rdfs:subPropertyOf", f"?x <{upper}> ?y", f"?x <{lower}> ?y .")
    for first, second in pairs(OWL + "inverseOf"):
        for one, other in ((first, second), (second, first)):
            rule(one, "owl:inverseOf", f"?y <{one}> ?x", f"?x <{other}> ?y .", "FILTER(isIRI(?y))")
    for term, chain in _chains(store):
        links = " . ".join(f"?n{i} <{step}> ?n{i + 1}" for i, step in enumerate(chain))
        rule(term, "owl:propertyChainAxiom", f"?n0 <{term}> ?n{len(chain)}", f"{links} .")
    return Axioms(tuple(rules), tuple(pairs(OWL + "disjointWith")))


def _short(iri: str) -> str:
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


def load_rules(folder: Path | None = None) -> list[Rule]:
    """The rules of `queries/rules/*.rq`: facts that no axiom of OWL 2 RL can say.

    Raises: VocabularyError: the folder holds no rule.
    """
    files = sorted((folder or data_folder("queries") / "rules").glob("*.rq"))
    if not files:
        raise VocabularyError("queries/rules/ holds no rule.")
    return [Rule(path.stem, path.read_text(encoding="utf-8")) for path in files]


def derive(lines: Iterable[str], base: str, axioms: Axioms, rules: Sequence[Rule] = ()) -> list[str]:
    """The N-Quads lines of the derived graph, sorted: the closure of `lines` minus `lines`.

    Axioms run to a fixed point; then each of `rules` runs once over asserted and derived facts.

    Raises: InconsistencyError: something belongs to two classes that are disjoint.

    >>> derived = derive(
    ...     ["<urn:r> <https://w3id.org/evkg/ontology#evaluation> <urn:e> <urn:g> ."],
    ...     "https://w3id.org/evkg/", load_axioms())
    >>> any("#hasResult> <urn:r>" in line for line in derived)
    True
    """
    store = ox.Store()
    store.bulk_load(input="\n".join([*lines, ""]).encode(), format=ox.RdfFormat.N_QUADS)
    return derive_in(store, base, axioms, rules)


def derive_in(store: ox.Store, base: str, axioms: Axioms, rules: Sequence[Rule] = ()) -> list[str]:
    """The same for what a store holds: the derived graph is added to it and returned as lines, sorted.

    Raises: InconsistencyError: as `derive`.
    """
    graph = ox.NamedNode(graph_iri(base, "derived"))
    suffix = f"{graph} ."
    lines: list[str] = []
    changed = True
    while changed:
        changed = False
        for rule in axioms.rules:
            new = _apply(store, rule, graph)
            lines.extend(f"{quad.subject} {quad.predicate} {quad.object} {suffix}" for quad in new)
            changed |= bool(new)
    _refuse_disjoint(store, axioms)
    for rule in rules:
        new = _apply(store, rule, graph)
        lines.extend(f"{quad.subject} {quad.predicate} {quad.object} {suffix}" for quad in new)
    return sorted(lines)


def _apply(store: ox.Store, rule: Rule, graph: ox.NamedNode) -> set[ox.Quad]:
    """Add to `graph` what a rule gives and no graph holds yet; what that was."""
    try:
        found = store.query(rule.query, prefixes=dict(PREFIXES), use_default_graph_as_union=True)
    except SyntaxError as error:
        raise VocabularyError(f"queries/rules/{rule.name}.rq: {error}") from error
    if not isinstance(found, ox.QueryTriples):
        raise VocabularyError(f"queries/rules/{rule.name}.rq is not a CONSTRUCT query.")
    new = {
        ox.Quad(triple.subject, triple.predicate, triple.object, graph)
        for triple in found
        if next(store.quads_for_pattern(triple.subject, triple.predicate, triple.object), None) is None
    }
    store.bulk_extend(new)
    return new


def _refuse_disjoint(store: ox.Store, axioms: Axioms) -> None:
    for first, second in axioms.disjoint:
        query = f"SELECT DISTINCT ?x WHERE {{ ?x {_TYPE} <{first}> , <{second}> }} ORDER BY ?x LIMIT 3"
        found = store.query(query, use_default_graph_as_union=True)
        nodes = [str(row["x"]) for row in found] if isinstance(found, ox.QuerySolutions) else []
        if nodes:
            raise InconsistencyError(
                f"{', '.join(nodes)}: belongs to {_short(first)} and to {_short(second)}, "
                "which have no member in common."
            )
