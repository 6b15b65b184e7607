"""The graph store: each graph of what is served, whole, at an address; only for reading.

Source: SPARQL 1.1 Graph Store HTTP Protocol, sections 4 (graph identification), 5.2 (GET) and 5.6 (HEAD).
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evkg.endpoint import Call, accepted, not_acceptable, read_parameters, run_call
from evkg.errors import NotFoundError, excerpt
from evkg.etag import not_modified
from evkg.namespaces import GRAPHS as GRAPH_NAMES
from evkg.negotiate import GRAPHS, TABLES, choose
from evkg.problem import RequestError
from evkg.service import Service

_EXISTS: Final = "ASK { ?s ?p ?o }"
_WHOLE: Final = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"


def add_graph_store(app: FastAPI, service: Service) -> None:
    """Add the routes `/graph-store?default`, `/graph-store?graph=IRI`, and `/graph/…`, whose address is its IRI."""

    async def indirect(request: Request) -> Response:
        return await graph_answer(request, service, name_graph(request.scope["query_string"]))

    async def direct(request: Request) -> Response:
        path = request.scope.get("raw_path", b"").decode("ascii").partition("?")[0]
        name = path.partition("/graph/")[2] or request.path_params["name"]
        return await graph_answer(request, service, f"{service.graph_base}{name}")

    app.router.routes.append(Route("/graph-store", indirect, methods=["GET"]))
    app.router.routes.append(Route("/graph/{name:path}", direct, methods=["GET"]))


def name_graph(query_string: bytes) -> str | None:
    """The IRI of the graph that a request names; None for the default graph.

    Raises: RequestError: none or several are named, or not by an absolute IRI.

    >>> name_graph(b"graph=urn:a"), name_graph(b"default")
    ('urn:a', None)
    """
    parameters = read_parameters(query_string)
    named = [(name, value) for name, value in parameters if name in ("default", "graph")]
    if len(named) != 1 or (named[0][0] == "default" and named[0][1]):
        raise RequestError(400, "Say which graph, once: ?default, or ?graph= and its IRI, percent-encoded.")
    name, value = named[0]
    return None if name == "default" else value


async def graph_answer(request: Request, service: Service, iri: str | None) -> Response:
    """The response with a whole graph in the format that the client wants most.

    Raises: NotFoundError: there is no such graph, or nothing is in it. RequestError: the IRI is none, or 406.
        And the errors of `run_call` and `Outbox`.
    """
    variant = choose(accepted(request), GRAPHS)
    if variant is None:
        raise not_acceptable(GRAPHS, "A graph")
    headers = service.cache_headers("graph", iri or "", variant.media_type)
    if iri is not None:
        _check_iri(iri)
        found = await run_call(request, service, Call(_EXISTS, (iri,)), TABLES[2], None)
        if found.body != b"true":
            name = iri.removeprefix(service.graph_base)
            close = () if "?" in str(request.url) else tuple(get_close_matches(name, GRAPH_NAMES))
            raise NotFoundError(f"There is no graph {excerpt(iri)}, or nothing is in it.", close)
    if "ETag" in headers and (unchanged := not_modified(request, headers)):
        return unchanged
    answer = await run_call(request, service, Call(_WHOLE, (iri,) if iri else ()), None, variant)
    return service.outbox.response(answer.body, {**headers, "Content-Type": variant.content_type})


def _check_iri(iri: str) -> None:
    """Refuse what is no absolute IRI. Source: Graph Store HTTP Protocol, section 4.2."""
    import pyoxigraph as ox

    try:
        ox.NamedNode(iri)
    except ValueError as error:
        raise RequestError(400, f"{excerpt(iri)!r} is no absolute IRI, so it cannot name a graph.") from error
