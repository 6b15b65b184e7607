"""pySHACL, the normative validator. It reads one flat graph in rdflib's memory.

Over a Dataset or an Oxigraph store it reports violations that are none, since equal literals of
different datatypes differ there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from evkg.errors import VocabularyError
from evkg.namespaces import SH
from evkg.shapes import Result, Shapes, background

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node


def rdflib_graph(triples: Iterable[str]) -> Graph:
    """The rdflib graph of N-Triples or N-Quads lines, flat; every literal keeps its text."""
    import pyoxigraph as ox
    import rdflib

    graph = rdflib.Graph()
    for quad in ox.parse(input="\n".join([*triples, ""]).encode(), format=ox.RdfFormat.N_QUADS):
        graph.add((rdflib_term(quad.subject), rdflib_term(quad.predicate), rdflib_term(quad.object)))
    return graph


def rdflib_term(term: Any) -> Node:
    """An rdflib term with the same text: rdflib must not rewrite literals."""
    import pyoxigraph as ox
    import rdflib

    if isinstance(term, ox.NamedNode):
        return rdflib.URIRef(term.value)
    if isinstance(term, ox.BlankNode):
        return rdflib.BNode(term.value)
    if term.language:
        return rdflib.Literal(term.value, lang=term.language)
    if term.datatype.value.endswith("XMLSchema#string"):
        return rdflib.Literal(term.value)
    return rdflib.Literal(term.value, datatype=rdflib.URIRef(term.datatype.value), normalize=False)


@lru_cache(maxsize=2)  # reading them takes longer than checking a record
def _shapes_graph(ntriples: str) -> Graph:
    return rdflib_graph(ntriples.splitlines())


class NormativeValidator:
    """Validates with pySHACL; the shapes are read once."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes
        self._background = background()

    @cached_property
    def _graph(self) -> Graph:
        return _shapes_graph(self._shapes.ntriples)

    def run(self, triples: Iterable[str], wanted: Callable[[str], bool] = lambda _: True) -> list[Result]:
        """The results on N-Triples or N-Quads lines, in a fixed order; only those on focus nodes that are `wanted`.

        Raises: VocabularyError: a shape is broken.
        """
        import pyshacl
        import rdflib

        logging.getLogger("pyshacl").setLevel(logging.CRITICAL)
        data = rdflib_graph([*self._background, *triples])
        for prefix, iri in self._shapes.prefixes.items():  # SPARQL of shapes is read with the prefixes of the data
            data.bind(prefix, iri, replace=True)
        try:
            _, report, _ = pyshacl.validate(
                data,
                shacl_graph=self._graph,
                inference="none",
                advanced=False,
                do_owl_imports=False,
                inplace=True,  # nothing is inferred, so nothing is added; a copy would cost its size
            )
        except Exception as error:  # pySHACL raises what the shape happens to break: ValueError, RuntimeError, its own
            raise VocabularyError(f"The shapes in {self._shapes.folder} are broken: {error}") from error
        if not isinstance(report, rdflib.Graph):
            raise VocabularyError(f"The shapes in {self._shapes.folder} are broken: {report}")
        found = [_result(report, node) for node in report.objects(None, rdflib.URIRef(SH + "result"))]
        return sorted({result for result in found if wanted(result.focus)}, key=Result.order)


def _result(report: Graph, node: Node) -> Result:
    import rdflib

    def get(name: str) -> Any:
        return report.value(node, rdflib.URIRef(SH + name))

    path, value, shape = get("resultPath"), get("value"), get("sourceShape")
    return Result(
        focus=str(get("focusNode")),
        path=str(path) if isinstance(path, rdflib.URIRef) else None,
        value=None if value is None or isinstance(value, rdflib.BNode) else str(value),
        value_is_iri=isinstance(value, rdflib.URIRef),
        shape=str(shape) if isinstance(shape, rdflib.URIRef) else "",
        component=str(get("sourceConstraintComponent")),
        severity=str(get("resultSeverity")),
        message=str(get("resultMessage") or ""),
    )
