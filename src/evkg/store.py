"""The graph in an Oxigraph store: made once by bulk load, then only read; and queries on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyoxigraph as ox

from evkg.columns import name_columns
from evkg.errors import QueryError, ReleaseError, excerpt
from evkg.namespaces import PREFIXES
from evkg.sparql import Query, read_query, syntax_error

#: Formats of solutions and truth values, and of graphs, by the name that commands use.
RESULT_FORMATS: Final[Mapping[str, ox.QueryResultsFormat]] = {
    "json": ox.QueryResultsFormat.JSON,
    "xml": ox.QueryResultsFormat.XML,
    "csv": ox.QueryResultsFormat.CSV,
    "tsv": ox.QueryResultsFormat.TSV,
}
GRAPH_FORMATS: Final[Mapping[str, ox.RdfFormat]] = {
    "turtle": ox.RdfFormat.TURTLE,
    "nt": ox.RdfFormat.N_TRIPLES,
    "jsonld": ox.RdfFormat.JSON_LD,
    "rdfxml": ox.RdfFormat.RDF_XML,
}


#: Characters that no document of XML 1.0 can hold, as UTF-8.
_NO_XML: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")


class UnwritableError(QueryError):
    """The answer holds what the wanted format cannot hold; another format can."""


class StoreBuilder:
    """A store on disk while it is filled, by bulk loads of files of N-Quads.

    Raises: ReleaseError: the disk is full, or a file is no N-Quads.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            self.store = ox.Store(str(folder))
        except OSError as error:
            raise ReleaseError(f"The store cannot be built in {folder}: {error}") from error

    def load(self, nquads: Path) -> None:
        """Add the quads of a file."""
        try:
            self.store.bulk_load(path=str(nquads), format=ox.RdfFormat.N_QUADS)
        except (OSError, SyntaxError, RuntimeError) as error:
            raise ReleaseError(f"The store cannot be built in {self._folder}: {error}") from error

    def extend(self, nquads: bytes) -> None:
        """Add the quads of a text."""
        self.store.extend(ox.parse(input=nquads, format=ox.RdfFormat.N_QUADS))

    def close(self) -> None:
        """Write everything to the disk and let the folder go."""
        if hasattr(self, "store"):
            self.store.flush()
            del self.store


def open_store(folder: Path) -> ox.Store:
    """The store in `folder`, opened read-only, so that any number of processes can read it.

    Raises: ReleaseError: there is no store, or it is broken.
    """
    if not (folder / "CURRENT").is_file():
        raise ReleaseError(f"{folder} holds no store.")
    try:
        return ox.Store.read_only(str(folder))
    except (OSError, RuntimeError, ValueError) as error:
        raise ReleaseError(f"The store in {folder} cannot be opened: {error}") from error


def load_store(nquads: Path) -> ox.Store:
    """A store in memory with the quads of a file.

    Raises: ReleaseError: the file is no N-Quads.
    """
    store = ox.Store()
    try:
        store.bulk_load(path=str(nquads), format=ox.RdfFormat.N_QUADS)
    except (OSError, SyntaxError) as error:
        raise ReleaseError(f"{nquads}: {error}") from error
    return store


def run_query(
    store: ox.Store,
    text: str,
    *,
    default_graphs: tuple[str, ...] = (),
    named_graphs: tuple[str, ...] = (),
    is_union: bool = True,
    base_iri: str | None = None,
    in_order: bool = False,
) -> tuple[Query, Any]:
    """A query and its result as pyoxigraph gives it: solutions, a boolean, or triples.

    A query that names no data set sees the union of all graphs (with `is_union`, else the default graph);
    otherwise exactly what it names. Graphs given here come before those that the query names. Relative IRIs begin at
    `base_iri`; with `in_order` the columns of `SELECT *` stand as the query names them (`columns.py`).

    Source: SPARQL 1.1 Query, section 13; SPARQL 1.1 Protocol, section 2.1.4.

    Raises: QuerySyntaxError, QueryRefusedError: see `read_query`. QueryError: it cannot be evaluated.
    """
    query = read_query(text)
    options: dict[str, Any] = {"prefixes": dict(PREFIXES), "base_iri": base_iri}
    if default_graphs or named_graphs:
        options["default_graph"] = [_graph_name(iri) for iri in default_graphs]
        options["named_graphs"] = [_graph_name(iri) for iri in named_graphs]
    elif not query.names_dataset:
        options["use_default_graph_as_union"] = is_union
    try:
        return query, store.query(name_columns(query.text, **options) if in_order else query.text, **options)
    except SyntaxError as error:
        raise syntax_error(query, str(error)) from error
    except (OSError, ValueError, RuntimeError) as error:
        raise QueryError(f"The query cannot be answered: {excerpt(str(error))}") from error


def _graph_name(iri: str) -> ox.NamedNode:
    try:
        return ox.NamedNode(iri)
    except ValueError as error:
        raise QueryError(f"{excerpt(iri)!r} cannot name a graph: {excerpt(str(error), 80)}") from error


def is_graph(query: Query) -> bool:
    """Whether the answer is a graph (CONSTRUCT, DESCRIBE) rather than solutions or a truth value."""
    return query.form in ("CONSTRUCT", "DESCRIBE")


def serialize(query: Query, result: Any, format_name: str) -> bytes:
    """The bytes of a result in one of `RESULT_FORMATS` or, for a graph, of `GRAPH_FORMATS`.

    Source: SPARQL 1.1 Query Results JSON, XML, CSV and TSV formats.

    Raises: QueryError: the format does not fit the form of the query. UnwritableError: it is an XML
        format, and XML cannot hold a character or the name of a property in the answer.
    """
    try:
        if is_graph(query):
            if format_name not in GRAPH_FORMATS:
                raise QueryError(f"A graph cannot be written as {format_name}; use {', '.join(GRAPH_FORMATS)}.")
            return _graph_bytes(result, format_name)
        if format_name not in RESULT_FORMATS:
            raise QueryError(f"A table cannot be written as {format_name}; use {', '.join(RESULT_FORMATS)}.")
        if query.form == "ASK" and format_name in ("csv", "tsv"):
            return b"true" if result else b"false"
        body = bytes(result.serialize(format=RESULT_FORMATS[format_name]))
        if format_name == "xml":
            _check_xml(body, "SPARQL XML", "Ask for JSON, CSV or TSV instead")
        return body
    except (OSError, RuntimeError) as error:
        raise QueryError(f"The query cannot be answered: {error}") from error


def _graph_bytes(triples: Any, format_name: str) -> bytes:
    distinct = sorted(set(triples), key=str)
    used = dict(PREFIXES) if format_name in ("turtle", "rdfxml") else None
    body = bytes(ox.serialize(distinct, format=GRAPH_FORMATS[format_name], prefixes=used) or b"")
    if format_name != "rdfxml":
        return body
    _check_xml(body, "RDF/XML", "Ask for Turtle, N-Triples or JSON-LD instead")
    return body.replace(b"\r", b"&#13;")  # which a reader of XML would take for a line feed


def _check_xml(body: bytes, name: str, hint: str) -> None:
    """Refuse what is not well-formed: the engine writes control characters and empty element names as they come.

    Measured with pyoxigraph 0.5.13. Source: XML 1.0, productions 2 (Char) and 4 (NameStartChar).
    """
    from xml.parsers import expat

    try:
        expat.ParserCreate(namespace_separator=" ").Parse(body, True)
    except expat.ExpatError as error:
        what = "the IRI of a property that does not end in an XML name"
        if _NO_XML.search(body):
            what = "a control character that XML 1.0 does not allow"
        raise UnwritableError(f"The answer cannot be written as {name}: it holds {what}. {hint}.") from error


def rows(result: Any) -> Iterator[dict[str, ox.NamedNode | ox.BlankNode | ox.Literal | None]]:
    """The solutions of a SELECT as dicts from variable to term; an unbound variable is None.

    Raises: QueryError: it cannot be evaluated to its end.
    """
    names = [variable.value for variable in result.variables]
    try:
        for solution in result:
            yield {name: solution[name] for name in names}
    except (OSError, RuntimeError) as error:
        raise QueryError(f"The query cannot be answered: {error}") from error
