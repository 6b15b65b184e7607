"""Derived facts: what follows from the axioms of the ontology and from the rules in `queries/rules/`.

What follows from one triple by itself (classes above a class, properties above a property, inverses) is
looked up in a table made from the axioms; what needs a join (chains of properties, the rules) is SPARQL in
a store of the premises, which is small enough for memory. What comes out is the closure minus what is
asserted, so a derived triple can always be told from an asserted one, and no triple stands in two graphs.
owlrl is the normative reasoner: tests hold this against its closure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Final

import pyoxigraph as ox

from evkg.axioms import Axioms, Closure, short_name
from evkg.errors import InconsistencyError, VocabularyError
from evkg.inference import TYPE, Rule
from evkg.namespaces import PREFIXES, graph_iri
from evkg.patterns import feeds, touches

#: How many rules run at a time (count).
_SIDE_BY_SIDE: Final = 2


def derive(lines: Iterable[str], base: str, axioms: Axioms, rules: Sequence[Rule] = ()) -> list[str]:
    """The N-Quads lines of the derived graph, sorted: the closure of `lines` minus `lines`.

    Axioms run to a fixed point; then each of `rules` runs once over asserted and derived facts.

    Raises: InconsistencyError: something belongs to two classes that are disjoint.

    >>> from evkg.axioms import load_axioms
    >>> derived = derive(
    ...     ["<urn:r> <https://w3id.org/evkg/ontology#evaluation> <urn:e> <urn:g> ."],
    ...     "https://w3id.org/evkg/", load_axioms())
    >>> any("#hasResult> <urn:r>" in line for line in derived)
    True
    """
    given = [*lines]
    suffix = f" <{graph_iri(base, 'derived')}> ."
    near = [f"{triple}{suffix}" for triple in Closure(axioms).of(line[: line.rindex(" <")] for line in given)]
    store = ox.Store()
    store.bulk_load(input="\n".join([*given, *near, ""]).encode(), format=ox.RdfFormat.N_QUADS)
    found = derive_in(store, base, axioms, rules)
    store.bulk_load(input="\n".join([*found, ""]).encode(), format=ox.RdfFormat.N_QUADS)
    refuse_contradictions(store, base, axioms)
    return sorted([*near, *found])


def derive_in(
    store: ox.Store,
    base: str,
    axioms: Axioms,
    rules: Sequence[Rule] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> list[str]:
    """What only joins give, for a store that holds at least the `Premises`, and the `Closure` of each triple.

    It is returned as N-Quads lines, sorted: chains of properties to a fixed point, then each of `rules` once, in
    their order. What rules use of it is added to the store's derived graph.
    """
    derivation = _Derivation(store, ox.NamedNode(graph_iri(base, "derived")), Closure(axioms), progress)
    while True:
        new = derivation.run_chains(axioms.chains)
        # Another round is needed only where a chain leads over what came out.
        if axioms.steps.isdisjoint(triple.split(" ", 2)[1] for triple in new):
            break
    derivation.run_rules(rules)
    return derivation.lines()


def refuse_contradictions(store: ox.Store, base: str, axioms: Axioms) -> None:
    """Refuse a graph that contradicts itself, or a derived graph that repeats what another graph asserts.

    Raises: InconsistencyError: something belongs to two classes that are disjoint, or a triple stands in two graphs.
    """
    _refuse_disjoint(store, axioms)
    _refuse_repeats(store, ox.NamedNode(graph_iri(base, "derived")))


class _Derivation:
    """Rules at work in a store, two at a time where neither touches the other.

    What a rule gives is added to the store when another rule uses it, and otherwise never.
    """

    def __init__(self, store: ox.Store, graph: ox.NamedNode, closure: Closure, progress: Callable[[str], None]) -> None:
        self.graph = graph
        self._store = store
        self._closure = closure
        self._progress = progress
        self._found: set[str] = set()
        self._waiting: list[tuple[Rule, set[str]]] = []
        self._adding = Lock()
        self._in_use: dict[str, bool] = {}

    def lines(self) -> list[str]:
        """The N-Quads lines of all that was found, sorted."""
        return sorted(f"{triple} {self.graph} ." for triple in self._found)

    def run_chains(self, chains: Sequence[Rule]) -> set[str]:
        """One round of the chains, each on what was there before; what is new, with what follows from it alone."""
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            new = set[str]().union(*pool.map(self._run, chains))
        new |= {triple for triple in self._closure.of(new) if self._is_new(triple)}
        self._found |= new
        _add(self._store, new, self.graph)
        return new

    def run_rules(self, rules: Sequence[Rule]) -> None:
        """Each rule once, as if one after the other."""
        done: list[Future[None]] = []

        def run(number: int, before: Sequence[Future[None]]) -> None:
            for other in before:  # all are ahead in the queue, so they run or are done
                other.result()
            self._add_waiting(lambda other: feeds(other, rules[number]))
            new = self._run(rules[number])
            self._found |= new
            with self._adding:
                self._waiting.append((rules[number], new))

        with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            for number, rule in enumerate(rules):
                before = [done[other] for other in range(number) if touches(rule, rules[other])]
                done.append(pool.submit(run, number, before))
            for future in done:
                future.result()

    def _add_waiting(self, is_due: Callable[[Rule], bool]) -> None:
        with self._adding:
            due = set[str]().union(*(new for rule, new in self._waiting if is_due(rule)))
            self._waiting = [(rule, new) for rule, new in self._waiting if not is_due(rule)]
            _add(self._store, due, self.graph)

    def _run(self, rule: Rule) -> set[str]:
        """The triples that a rule gives and no graph holds yet."""
        self._progress(rule.name)
        return {triple for triple in _construct(self._store, rule) if self._is_new(triple)}

    def _is_new(self, triple: str) -> bool:
        if triple in self._found:
            return False
        _, predicate, value = triple.split(" ", 2)
        name = f"{predicate} {value}" if predicate == TYPE else predicate
        in_use = self._in_use.get(name)
        if in_use is None:  # most of what rules give nothing else does: then no triple has to be looked for
            sought = ox.NamedNode(value[1:-1]) if predicate == TYPE else None
            pattern = self._store.quads_for_pattern(None, ox.NamedNode(predicate[1:-1]), sought)
            in_use = self._in_use[name] = next(pattern, None) is not None
        return not in_use or count_graphs(self._store, triple) == 0


def _refuse_repeats(store: ox.Store, graph: ox.NamedNode) -> None:
    """Refuse a derived triple that another graph asserts: the union of graphs would count it twice."""
    for (predicate,) in _select(store, f"SELECT DISTINCT ?p {{ GRAPH {graph} {{ ?s ?p ?o }} }}"):
        is_type = predicate == TYPE
        values = _classes(store, graph) if is_type else ["?o"]
        for value in values:
            other = f"GRAPH ?g {{ ?s {predicate} {value} }} FILTER(?g != {graph})"
            if is_type or store.query(f"ASK {{ {other} }}"):
                shown = "?s" if is_type else "?s ?o"
                both = f"SELECT {shown} {{ GRAPH {graph} {{ ?s {predicate} {value} }} {other} }} LIMIT 1"
                for subject, *found in _select(store, both):
                    triple = f"{subject} {predicate} {(*found, value)[0]}"
                    raise InconsistencyError(f"A triple stands in two graphs: {triple}")


def _classes(store: ox.Store, graph: ox.NamedNode) -> list[str]:
    """The classes that have asserted and derived members: most have one or the other, which saves looking at each."""
    derived = {name for (name,) in _select(store, f"SELECT DISTINCT ?c {{ GRAPH {graph} {{ ?s {TYPE} ?c }} }}")}
    asserted = f"SELECT DISTINCT ?c {{ GRAPH ?g {{ ?s {TYPE} ?c }} FILTER(?g != {graph}) }}"
    return sorted(derived & {name for (name,) in _select(store, asserted)})


def _select(store: ox.Store, query: str) -> list[list[str]]:
    """The rows of a SELECT as texts: nothing of the engine is left for another thread to end."""
    found = store.query(query, use_default_graph_as_union="GRAPH" not in query)
    return [[str(term) for term in row] for row in found] if isinstance(found, ox.QuerySolutions) else []


def _construct(store: ox.Store, rule: Rule) -> set[str]:
    """The triples that a rule gives, as `s p o` texts."""
    try:
        found = store.query(rule.query, prefixes=dict(PREFIXES), use_default_graph_as_union=True)
    except SyntaxError as error:
        raise VocabularyError(f"queries/rules/{rule.name}.rq: {error}") from error
    if not isinstance(found, ox.QueryTriples):
        del found  # the engine's object must end in this thread, and the error goes to another
        raise VocabularyError(f"queries/rules/{rule.name}.rq is not a CONSTRUCT query.")
    text = found.serialize(format=ox.RdfFormat.N_TRIPLES) or b""
    return {line[:-2] for line in text.decode().split("\n") if line}


def count_graphs(store: ox.Store, triple: str) -> int:
    """How many graphs of a store hold a triple, an `s p o` text of N-Triples (count)."""
    (parsed,) = ox.parse(f"{triple} .".encode(), format=ox.RdfFormat.N_TRIPLES)
    return sum(1 for _ in store.quads_for_pattern(parsed.subject, parsed.predicate, parsed.object))


def _add(store: ox.Store, triples: Collection[str], graph: ox.NamedNode) -> None:
    """Add triples to a graph."""
    content = "\n".join([*(f"{triple} {graph} ." for triple in triples), ""]).encode()
    if triples:
        store.bulk_load(input=content, format=ox.RdfFormat.N_QUADS)


def _refuse_disjoint(store: ox.Store, axioms: Axioms) -> None:
    for first, second in axioms.disjoint:
        query = f"SELECT DISTINCT ?x WHERE {{ ?x {TYPE} <{first}> , <{second}> }} ORDER BY ?x LIMIT 3"
        nodes = [node for (node,) in _select(store, query)]
        if nodes:
            raise InconsistencyError(
                f"{', '.join(nodes)}: belongs to {short_name(first)} and to {short_name(second)}, "
                "which have no member in common."
            )
