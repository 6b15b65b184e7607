"""SHACL: whether every record says what it must, or why it does not. pySHACL is the normative validator.

pySHACL gets one flat graph in rdflib's memory: over a Dataset or an Oxigraph store it reports
violations that are none (datatypes of equal literals differ there).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Final

from evkg.errors import VocabularyError
from evkg.finding import Finding, Severity
from evkg.namespaces import EVKG, RDFS, SH, SKOS
from evkg.place import Places
from evkg.record import Record
from evkg.scalar import Path
from evkg.vocabulary import Vocabulary, data_folder

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node

_SEVERITY: Final[Mapping[str, Severity]] = {
    SH + "Violation": "violation",
    SH + "Warning": "warning",
    SH + "Info": "info",
}


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a SHACL report, as IRIs and texts; `path` only when it is one property."""

    focus: str
    path: str | None
    value: str | None
    value_is_iri: bool
    shape: str
    component: str
    severity: str
    message: str


class Shapes:
    """The shapes graph, and what its shapes say of themselves for a report."""

    def __init__(self, folder: FilePath | None = None) -> None:
        self.folder = folder if folder is not None else data_folder("shapes")

    @cached_property
    def graph(self) -> Graph:
        """All shapes in one rdflib graph.

        Raises: VocabularyError: a file does not parse, or there is no shape at all.
        """
        import rdflib

        graph = rdflib.Graph()
        for file in sorted(self.folder.glob("*.ttl")):
            try:
                graph.parse(file, format="turtle")
            except Exception as error:  # rdflib's parser fails in many ways, and all mean the same to a user
                raise VocabularyError(f"{file}: {str(error).splitlines()[0]}") from error
        if not list(graph.subjects(rdflib.URIRef(SH + "targetClass"), None)):
            raise VocabularyError(f"{self.folder} holds no shape with a target: nothing would be checked.")
        return graph

    def one(self, shape: str, predicate: str) -> str | None:
        """The value of a property of a shape, if it has one."""
        import rdflib

        value = self.graph.value(rdflib.URIRef(shape), rdflib.URIRef(predicate))
        return None if value is None else str(value)

    @cached_property
    def target_classes(self) -> frozenset[str]:
        """The IRIs of the classes whose members some shape checks."""
        import rdflib

        return frozenset(str(value) for value in self.graph.objects(None, rdflib.URIRef(SH + "targetClass")))


def data_graph(lines: Iterable[str], vocabulary_folder: FilePath | None = None) -> Graph:
    """The graph that shapes see: the quads given, flat, with the class tree and the concept schemes."""
    import pyoxigraph as ox
    import rdflib

    graph = rdflib.Graph()
    for quad in ox.parse(input="\n".join([*lines, ""]).encode(), format=ox.RdfFormat.N_QUADS):
        graph.add((rdflib_term(quad.subject), rdflib_term(quad.predicate), rdflib_term(quad.object)))
    wanted = {RDFS + "subClassOf", SKOS + "inScheme"}
    for file in sorted((vocabulary_folder or data_folder("ontology")).rglob("*.ttl")):
        for quad in ox.parse(path=str(file), format=ox.RdfFormat.TURTLE):
            if quad.predicate.value in wanted:
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


def run_shapes(graph: Graph, shapes: Shapes) -> list[Result]:
    """The results of pySHACL over one flat graph, in a fixed order.

    Raises: VocabularyError: a shape is broken.
    """
    import pyshacl
    import rdflib

    logging.getLogger("pyshacl").setLevel(logging.CRITICAL)
    try:
        _, report, _ = pyshacl.validate(
            graph,
            shacl_graph=shapes.graph,
            inference="none",
            advanced=False,
            do_owl_imports=False,
            inplace=True,  # nothing is inferred, so nothing is added; a copy would cost its size
        )
    except Exception as error:  # pySHACL raises what the shape happens to break: ValueError, RuntimeError, its own
        raise VocabularyError(f"The shapes in {shapes.folder} are broken: {error}") from error
    if not isinstance(report, rdflib.Graph):
        raise VocabularyError(f"The shapes in {shapes.folder} are broken: {report}")
    found = [_result(report, node) for node in report.subjects(rdflib.RDF.type, rdflib.URIRef(SH + "ValidationResult"))]
    return sorted(set(found), key=lambda result: [str(part) for part in astuple(result)])


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


def validate(
    records: Mapping[str, Record],
    lines: Iterable[str],
    vocabulary: Vocabulary,
    base: str,
    shapes: Shapes,
) -> tuple[list[Finding], list[Result]]:
    """Findings of the shapes on the quads of `records`, each at its field, and the results behind them.

    A record whose kind no shape targets is itself a finding.

    Raises: VocabularyError: a shape is broken.
    """
    results = run_shapes(data_graph(lines), shapes)
    finder = _Finder(records, vocabulary, base, shapes)
    findings = [finding for result in results for finding in finder.findings(result)]
    return findings + list(_unchecked(records.values(), vocabulary, shapes)), results


def _unchecked(records: Iterable[Record], vocabulary: Vocabulary, shapes: Shapes) -> Iterator[Finding]:
    targets = shapes.target_classes
    for record in records:
        name = vocabulary.kinds[record.kind]
        if EVKG + name not in targets and EVKG + vocabulary.groups[name] not in targets:
            message = f"No shape checks records of kind {record.kind}, so nothing is known about this one."
            yield record.finding("violation", "no-shape", ("kind",), message, "Add a shape for this kind.")


class _Finder:
    """Turns SHACL results into findings at fields of records."""

    def __init__(self, records: Mapping[str, Record], vocabulary: Vocabulary, base: str, shapes: Shapes) -> None:
        self._records = records
        self._shapes = shapes
        self._base = base
        self._places = Places(vocabulary, base)

    def findings(self, result: Result) -> Iterator[Finding]:
        place = self._places.of_node(result.focus)
        record = self._records.get(place[0]) if place else None
        rule = result.shape.rpartition("#")[2] or "shape"
        severity = _SEVERITY.get(result.severity, "violation")
        fix = self._shapes.one(result.shape, EVKG + "fixHint") if result.shape else None
        if record is None or place is None:
            yield Finding(severity, rule, f"{result.message} ({result.focus})", value=result.value, fix=fix)
            return
        yield record.finding(severity, rule, self._path(result, record, place[1]), result.message, fix)

    def _path(self, result: Result, record: Record, focus: Path) -> Path:
        """The field that a result is about: the completed one, the entry, the property, or the node itself."""
        if result.value_is_iri and result.value is not None:
            inner = self._places.of_node(result.value)
            if inner and inner[0] == record.id and inner[1]:
                return inner[1]
        completed = self._shapes.one(result.shape, EVKG + "completes") if result.shape else None
        named = completed or result.path
        if named is None:
            return focus
        path = self._places.of_property(named)
        if path and path[0] == "links":
            return _link_path(record, str(path[1]), result.value, self._base)
        if (path and path[-1] in ("source_ids",)) or (path and path[0] == "facets"):
            return _element_path(record, path, result.value)
        if focus and self._places.is_part(named):
            return (*focus, path[-1])
        return path or focus


def _link_path(record: Record, relation: str, value: str | None, base: str) -> Path:
    """The link of a relation, the one to `value` if that is given."""
    links = record.data["links"]
    target = None if value is None else value.removeprefix(f"{base}id/")
    for index, link in enumerate(links if isinstance(links, list) else ()):
        if isinstance(link, dict) and link["relation"] == relation and target in (None, link["target_id"]):
            return "links", index, "target_id"
    return ("links",)


def _element_path(record: Record, path: Path, value: str | None) -> Path:
    """The element of a list whose IRI ends with it."""
    values: Any = record.data
    for step in path:
        values = values.get(step, []) if isinstance(values, dict) else []
    for index, element in enumerate(values if isinstance(values, list) else ()):
        if value is not None and value.endswith(f"/{element}"):
            return (*path, index)
    return path
