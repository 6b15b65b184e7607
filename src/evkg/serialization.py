"""The bytes of answers in every format that HTTP offers: those of `store.serialize`, and three more for graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import pyoxigraph as ox

from evkg.errors import QueryError
from evkg.namespaces import PREFIXES
from evkg.sparql import Query
from evkg.store import GRAPH_FORMATS, UnwritableError, is_graph, serialize

#: Formats in which a graph can be sent; a graph written as TriG or N-Quads is a default graph.
SENT_GRAPH_FORMATS: Final[Mapping[str, ox.RdfFormat]] = {
    **GRAPH_FORMATS,
    "n3": ox.RdfFormat.N3,
    "trig": ox.RdfFormat.TRIG,
    "nquads": ox.RdfFormat.N_QUADS,
}
_CONSTRUCT: Final = Query("CONSTRUCT {} {}", "CONSTRUCT", names_dataset=False)


def write_answer(query: Query, result: Any, format_name: str) -> bytes:
    """The bytes of a result, as `store.serialize`, and of a graph also as n3, trig or nquads.

    Raises: QueryError, UnwritableError: as `store.serialize`.
    """
    if is_graph(query) and format_name in SENT_GRAPH_FORMATS and format_name not in GRAPH_FORMATS:
        try:
            return write_quads(sorted(set(result), key=str), format_name)
        except (OSError, RuntimeError) as error:
            raise QueryError(f"The query cannot be answered: {error}") from error
    try:
        return serialize(query, result, format_name)
    except QueryError as error:
        if format_name == "jsonld" and "RDF 1.2" in str(error):  # the engine's own words, pyoxigraph 0.5.13
            message = (
                "The answer cannot be written as JSON-LD: it holds a triple as a term, or a text with a direction."
            )
            raise UnwritableError(f"{message} Ask for Turtle or N-Triples instead.") from error
        raise


def write_graph(triples: Iterable[ox.Triple], format_name: str) -> bytes:
    """The bytes of a graph in one of `SENT_GRAPH_FORMATS`; the text of literals stays what it is.

    Raises: UnwritableError: the format cannot hold what is in the graph.

    >>> write_graph([ox.Triple(ox.NamedNode("urn:a"), ox.NamedNode("urn:b"), ox.Literal("1.00"))], "nquads")
    b'<urn:a> <urn:b> "1.00" .\\n'
    """
    return write_answer(_CONSTRUCT, triples, format_name)


def write_quads(quads: Iterable[ox.Quad] | Iterable[ox.Triple], format_name: str) -> bytes:
    """The bytes of quads in the order given; only trig and nquads can name their graphs."""
    prefixes = dict(PREFIXES) if format_name in ("turtle", "trig", "n3") else None
    return bytes(ox.serialize(quads, format=SENT_GRAPH_FORMATS[format_name], prefixes=prefixes) or b"")


def rewrite_turtle(text: str, format_name: str) -> bytes:
    """A graph written in Turtle, in one of `SENT_GRAPH_FORMATS`.

    >>> rewrite_turtle("<urn:a> <urn:b> 1 .", "nt")
    b'<urn:a> <urn:b> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\\n'
    """
    if format_name == "turtle":
        return text.encode()
    quads = ox.parse(text, format=ox.RdfFormat.TURTLE)
    return write_graph((quad.triple for quad in quads), format_name)
