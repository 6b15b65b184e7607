"""The W3C's SPARQL tests as data: what each manifest asks, and whether two results are the same.

Source: https://github.com/w3c/rdf-tests, sparql/sparql10 and sparql/sparql11. The suites lie beside the repository;
`EVKG_SPARQL_SUITES` names another place, such as a copy of all of them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin

import pyoxigraph as ox

from evkg.namespaces import RDF, XSD
from tests.conftest import SHARED

SUITES: Final = Path(os.environ.get("EVKG_SPARQL_SUITES") or SHARED / "cases/conformance")
#: Where the files of the suites seem to lie, for relative IRIs in them.
WEB: Final = "http://suite.example/"
MF: Final = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT: Final = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
UT: Final = "http://www.w3.org/2009/sparql/tests/test-update#"
RS: Final = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"

_RESULT_FORMATS: Final = {".srx": ox.QueryResultsFormat.XML, ".srj": ox.QueryResultsFormat.JSON}
_INTEGERS: Final = ("byte", "short", "int", "long", "nonNegativeInteger", "nonPositiveInteger", "negativeInteger")
_UNSIGNED: Final = ("positiveInteger", "unsignedByte", "unsignedShort", "unsignedInt", "unsignedLong")
_DERIVED: Final = {XSD + name for name in (*_INTEGERS, *_UNSIGNED)}
_NUMERIC: Final = {XSD + name for name in ("integer", "decimal", "double", "float")}

Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One test. `data` are the files of the default graph, `graphs` IRIs and files of named graphs."""

    name: str
    kind: str
    query: Path
    data: tuple[Path, ...] = ()
    graphs: tuple[tuple[str, Path], ...] = ()
    result: Path | None = None
    is_lax: bool = False

    @property
    def text(self) -> str:
        """The query, with the base that its relative IRIs have."""
        return f"BASE <{web(self.query)}>\n{self.query.read_text(encoding='utf-8')}"

    @property
    def dataset(self) -> tuple[Any, ...]:
        """What has to be in the store."""
        return (self.data, self.graphs)


def web(path: Path) -> str:
    """The address of a file of the suites."""
    return WEB + path.relative_to(SUITES).as_posix()


def local(iri: str) -> Path:
    """The file at an address of the suites."""
    return SUITES / iri.removeprefix(WEB)


class Manifest:
    """A manifest file as a graph."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._triples: dict[Any, dict[str, list[Any]]] = {}
        for quad in ox.parse(path=str(path), format=ox.RdfFormat.TURTLE, base_iri=web(path)):
            self._triples.setdefault(quad.subject, {}).setdefault(quad.predicate.value, []).append(quad.object)

    def all(self, node: Any, predicate: str) -> list[Any]:
        return self._triples.get(node, {}).get(predicate, [])

    def one(self, node: Any, predicate: str) -> Any:
        return next(iter(self.all(node, predicate)), None)

    def items(self, head: Any) -> Iterator[Any]:
        while head is not None and head.value != f"{RDF}nil":
            yield self.one(head, f"{RDF}first")
            head = self.one(head, f"{RDF}rest")

    def entries(self) -> Iterator[Any]:
        for node in [*self._triples]:
            for head in self.all(node, f"{MF}entries"):
                yield from self.items(head)


@cache
def cases() -> tuple[Case, ...]:
    """Every case of a query in the suites, those of one data set together; nothing where the suites are absent."""
    found = []
    for path in sorted(SUITES.glob("sparql1[01]/*/manifest.ttl")):
        manifest = Manifest(path)
        found += [case for entry in manifest.entries() if (case := _case(manifest, entry)) is not None]
    return tuple(sorted(found, key=lambda case: (repr(case.dataset), case.name)))


def _case(manifest: Manifest, entry: Any) -> Case | None:
    kind = manifest.one(entry, f"{RDF}type").value.removeprefix(MF)
    action = manifest.one(entry, f"{MF}action")
    name = f"{manifest.path.parent.relative_to(SUITES).as_posix()}/{entry.value.rpartition('#')[2]}"
    if isinstance(action, ox.NamedNode):
        return Case(name, kind, local(action.value))
    query = manifest.one(action, f"{QT}query")
    if query is None:
        update = manifest.one(action, f"{UT}request")
        return None if update is None else Case(name, kind, local(update.value))
    file = local(query.value)
    data = tuple(sorted(local(iri.value) for iri in manifest.all(action, f"{QT}data")))
    graphs = {iri.value for iri in manifest.all(action, f"{QT}graphData")}
    text = re.sub(r"#[^\n>]*\n", "\n", file.read_text(encoding="utf-8"))
    graphs |= {urljoin(query.value, iri) for iri in re.findall(r"\bFROM\s+(?:NAMED\s+)?<([^>]*)>", text, re.IGNORECASE)}
    named = tuple(sorted((iri, local(iri)) for iri in graphs if local(iri).is_file()))
    result = manifest.one(entry, f"{MF}result")
    is_lax = manifest.one(entry, f"{MF}resultCardinality") is not None
    return Case(name, kind, file, data, named, local(result.value) if result is not None else None, is_lax)


def read_expected(path: Path) -> bool | list[Row] | set[ox.Triple]:
    """The expected result in a file: a truth value, rows, or a graph; rows with an order have it under `""`."""
    if path.suffix in _RESULT_FORMATS:
        return rows_of(ox.parse_query_results(path.read_bytes(), format=_RESULT_FORMATS[path.suffix]))
    triples = {quad.triple for quad in ox.parse(path=str(path), base_iri=web(path))}
    graph: dict[Any, dict[str, list[Any]]] = {}
    for triple in triples:
        graph.setdefault(triple.subject, {}).setdefault(triple.predicate.value.removeprefix(RS), []).append(
            triple.object
        )
    truth = next((facts["boolean"][0] for facts in graph.values() if "boolean" in facts), None)
    if truth is not None:
        return str(truth.value) == "true"
    if not any("resultVariable" in facts for facts in graph.values()):
        return triples
    rows = []
    for facts in (graph[node] for head in graph.values() for node in head.get("solution", ())):
        row = {graph[node]["variable"][0].value: graph[node]["value"][0] for node in facts.get("binding", ())}
        rows.append({**row, **({"": int(facts["index"][0].value)} if "index" in facts else {})})
    return rows


def rows_of(result: ox.QuerySolutions | ox.QueryBoolean) -> bool | list[Row]:
    """The rows of a parsed table without what is unbound, or its truth value."""
    if isinstance(result, ox.QueryBoolean):
        return bool(result)
    names = [variable.value for variable in result.variables]
    return [{name: row[name] for name in names if row[name] is not None} for row in result]


def value_of(term: Any) -> Any:
    """A term for comparing: numbers and truth values by value, language tags without regard to case.

    The store keeps a number of a type derived from xsd:integer as xsd:integer.
    """
    if isinstance(term, ox.Literal):
        kind, text = term.datatype.value, term.value
        kind = f"{XSD}integer" if kind in _DERIVED else kind
        if kind in _NUMERIC:
            try:
                number = Decimal(text)
                return (kind, "NaN" if number.is_nan() else str(number.normalize()))
            except InvalidOperation:
                return (kind, text)
        if kind == f"{XSD}boolean":
            return (kind, {"1": "true", "0": "false"}.get(text, text))
        return (kind, text, (term.language or "").lower())
    return term.value if isinstance(term, ox.NamedNode) else str(term)


def same_rows(expected: Sequence[Row], found: Sequence[Row], *, is_lax: bool = False) -> bool:
    """Whether two tables hold the same rows: in order where `expected` has one, else in any; blank nodes are mapped."""
    if expected and all("" in row for row in expected):
        ordered = [{k: v for k, v in row.items() if k} for row in sorted(expected, key=lambda row: row[""])]
        names: dict[str, str] = {}
        return len(ordered) == len(found) and all(_fit(a, b, names) for a, b in zip(ordered, found, strict=True))
    if is_lax:
        counts = [Counter(str(_shape(row)) for row in rows) for rows in (expected, found)]
        return counts[0].keys() == counts[1].keys() and all(counts[1][key] <= counts[0][key] for key in counts[0])
    if Counter(str(_shape(row)) for row in expected) != Counter(str(_shape(row)) for row in found):
        return False
    return _match(sorted(expected, key=_weight), list(found), {})


def _shape(row: Row) -> dict[str, Any]:
    return {k: "_" if isinstance(v, ox.BlankNode) else value_of(v) for k, v in sorted(row.items()) if k}


def _weight(row: Row) -> int:
    return sum(isinstance(term, ox.BlankNode) for term in row.values())


def _match(expected: list[Row], found: list[Row], names: dict[str, str]) -> bool:
    if not expected:
        return not found
    for index, row in enumerate(found):
        trial = dict(names)
        if _fit(expected[0], row, trial) and _match(expected[1:], found[:index] + found[index + 1 :], trial):
            names.update(trial)
            return True
    return False


def _fit(expected: Row, found: Row, names: dict[str, str]) -> bool:
    """Whether a row is another under names of blank nodes, which are extended."""
    if expected.keys() - {""} != found.keys():
        return False
    for key, term in found.items():
        other = expected[key]
        if isinstance(term, ox.BlankNode) and isinstance(other, ox.BlankNode):
            is_new = other.value not in names and term.value not in names.values()
            if names.get(other.value, term.value if is_new else None) != term.value:
                return False
            names[other.value] = term.value
        elif value_of(term) != value_of(other):
            return False
    return True


def same_graph(expected: set[ox.Triple], found: set[ox.Triple]) -> bool:
    """Whether two graphs are isomorphic, numbers compared by value."""
    rows = [[{"s": t.subject, "p": t.predicate, "o": t.object} for t in triples] for triples in (expected, found)]
    return same_rows(rows[0], rows[1])
