"""The endpoint in a browser: the page with the query editor and the answer as a table, and what the editor needs.

A page is sent only to browsers: programs that ask at the same address get what they got without it.
"""

from __future__ import annotations

import asyncio
import re
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from evkg.answer_table import AnswerTable, GraphText, Links, read_graph, read_table
from evkg.editor_terms import editor_terms
from evkg.endpoint import Call, answer_call, is_fleeting, read_call, run_call
from evkg.errors import EvkgError, NotFoundError, excerpt
from evkg.etag import make_tag, not_modified
from evkg.jsontext import encode_json
from evkg.negotiate import GRAPHS, TABLES, Variant, choose
from evkg.problem import Problem, RequestError, describe_error
from evkg.questions import find_question
from evkg.service import Service

HTML: Final = Variant("text/html", "html")
#: What a page asks a worker for: JSON to make a table of, Turtle to show.
_JSON, _TURTLE = TABLES[0], GRAPHS[0]
#: Bundled at set-up by `make editor` -> its Content-Type; without them the page is a form.
STATIC: Final = {"editor.js": "text/javascript; charset=utf-8", "editor.css": "text/css; charset=utf-8"}

#: Suffix of an address -> the type that it stands for.
DOWNLOADS: Final = {
    "json": "application/sparql-results+json",
    "xml": "application/sparql-results+xml",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "ttl": "text/turtle",
    "nt": "application/n-triples",
    "jsonld": "application/ld+json",
    "rdf": "application/rdf+xml",
}

#: The comments at the beginning of a saved question; its page says the same.
_HEADER: Final = re.compile(r"\A(?:#.*\n)+")

PageAnswer = AnswerTable | GraphText | bool


def wants_page(accept: str | None) -> bool:
    """Whether a request comes from a browser that is to show a page, by its Accept header.

    Browsers name XHTML when they go to an address. Other clients name text/html by default, first among types that
    they cannot read (Java does), and expect results; so text/html alone counts, or with XHTML beside it.

    >>> wants_page("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"), wants_page("text/html")
    (True, True)
    >>> wants_page("text/html, image/gif, *; q=.2, */*; q=.2"), wants_page("*/*"), wants_page(None)
    (False, False, False)
    """
    if accept is None or "text/html" not in accept.lower():
        return False
    types = {part.partition(";")[0].strip() for part in accept.lower().split(",")}
    return (types == {"text/html"} or "application/xhtml+xml" in types) and choose(
        accept, (HTML, *TABLES, *GRAPHS)
    ) == HTML


class _PageRoute(Route):
    """A route that is there for browsers only; other requests go on to the next route of this address."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        names = [value.decode("latin-1") for name, value in scope.get("headers", ()) if name == b"accept"]
        if not wants_page(", ".join(names)):
            return Match.NONE, {}
        return super().matches(scope)


def add_editor(app: FastAPI, service: Service) -> None:
    """Add the page of the endpoint, before the endpoint itself, and the files and terms of the editor."""

    async def page(request: Request) -> Response:
        return await editor_page(request, service)

    async def terms(request: Request) -> Response:
        release = service.release
        folder = release.folder / "ontology" if release else None
        text = encode_json(dict(await asyncio.to_thread(editor_terms, folder)))
        headers = {"Content-Type": "application/json", "ETag": make_tag("terms", text), "Cache-Control": "no-cache"}
        return not_modified(request, headers) or Response(text, headers=headers)

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        file = static_file(name)
        if file is None:
            raise NotFoundError(f"There is no file {name!r} here.")
        body = file.read_bytes()
        tag = make_tag(name, _digest(body))
        headers = {"Content-Type": STATIC[name], "ETag": tag, "Cache-Control": "no-cache"}
        return not_modified(request, headers) or Response(body, headers=headers)

    async def download(request: Request) -> Response:
        suffix = request.path_params["suffix"]
        if suffix not in DOWNLOADS:
            raise NotFoundError(f"An answer has no form {excerpt(suffix, 40)!r}; it has {', '.join(DOWNLOADS)}.")
        call = await read_call(request)
        if call.query is None:
            raise RequestError(400, "There is no query in this request.")
        return await answer_call(with_accept(request, DOWNLOADS[suffix]), service, call)

    app.router.routes += [
        *(_PageRoute(path, page, methods=["GET", "POST"]) for path in ("/sparql", "/sparql/")),
        Route("/sparql/terms", terms, methods=["GET"]),
        Route("/sparql/answer.{suffix}", download, methods=["GET"]),
        Route("/static/{name}", static, methods=["GET"]),
    ]


def with_accept(request: Request, media_type: str) -> Request:
    """A request as if it accepted one type only: what an address with a suffix means."""
    headers = [item for item in request.scope["headers"] if item[0] != b"accept"]
    return Request({**request.scope, "headers": [*headers, (b"accept", media_type.encode())]}, request.receive)


@lru_cache(maxsize=4)
def _digest(body: bytes) -> str:
    import hashlib

    return hashlib.sha256(body).hexdigest()


def static_file(name: str) -> Traversable | None:
    """A file of the editor; None where it was not bundled, or is no file of the editor."""
    if name not in STATIC:
        return None
    file = resources.files("evkg") / "static" / name
    return file if file.is_file() else None


def page_links(service: Service) -> Links:
    """Where the values in answers of a service lead."""
    release = service.release
    if release is None:
        return Links(f"{service.base}/", lambda _: False)
    return Links(release.base_iri, release.has_record, has_terms=True)


async def ask_for_page(request: Request, service: Service, call: Call, sort: str = "") -> PageAnswer:
    """The answer to a call as a page shows it, its rows in the order `sort` of `read_table`.

    Raises: the errors of `run_call` and of `read_table`.
    """
    query = call.query or ""
    key = (query, call.default_graphs, call.named_graphs, _JSON.format_name, _TURTLE.format_name)
    cache = None if is_fleeting(query) else service.cache
    answer = cache.get(key) if cache else None
    notes = request.scope.get("notes", {})
    notes |= {"query": query, "cached": answer is not None}
    if answer is None:
        answer = await run_call(request, service, call, _JSON, _TURTLE)
        if cache:
            cache.put(key, answer)
    if answer.form in ("CONSTRUCT", "DESCRIBE"):
        return await asyncio.to_thread(read_graph, answer.body)
    return await asyncio.to_thread(read_table, answer.body, page_links(service), sort)


async def editor_page(request: Request, service: Service) -> Response:
    """The page of the endpoint: the query in an editor, and its answer or what is wrong with it.

    `example` names a saved question to begin with. The status is that of the answer.
    """
    from evkg.editor_page import render_editor

    call, text, answer, problem = Call(None), "", None, None
    headers: dict[str, str] = {}
    has_editor = static_file("editor.js") is not None
    try:
        call = await read_call(request)
        text = call.query or _example(request)
        if request.method == "GET" and not is_fleeting(text):
            graphs = ("default", *call.default_graphs, "named", *call.named_graphs)
            is_run = "run" if call.query and call.query.strip() else "shown"
            headers = service.cache_headers("editor", str(has_editor), is_run, text, *graphs)
            if "ETag" in headers and service.is_there() and (unchanged := not_modified(request, headers)):
                return unchanged
        if call.query is not None and call.query.strip():
            answer = await ask_for_page(request, service, call)
    except EvkgError as error:
        problem = describe_error(error)
        if problem.status == 500:
            raise
    page = await asyncio.to_thread(
        render_editor, service, text, answer, problem, has_editor=has_editor, graphs=_graphs(call)
    )
    return page_response(page, problem, {} if problem else headers)


def page_response(page: str, problem: Problem | None, headers: dict[str, str]) -> Response:
    """The response with a page; of a problem, with its status and headers."""
    more = problem.headers if problem else {}
    return Response(page, problem.status if problem else 200, {"Content-Type": HTML.content_type, **headers, **more})


def _example(request: Request) -> str:
    """The query of the saved question that the address names, with its values, and its title above; else nothing."""
    name = request.query_params.get("example")
    if name is None:
        return ""
    try:
        question = find_question(name)
    except NotFoundError as error:
        raise RequestError(404, str(error), more={"nearest": list(error.nearest)}) from error
    given = request.query_params
    values = {parameter.name: given[parameter.name] for parameter in question.parameters if parameter.name in given}
    return f"# {question.title}\n{_HEADER.sub('', question.with_values(values))}"


def _graphs(call: Call) -> tuple[tuple[str, str], ...]:
    """The graphs of a call as parameters, which the form and the downloads of the page send again."""
    graphs = (("default-graph-uri", call.default_graphs), ("named-graph-uri", call.named_graphs))
    return tuple((name, value) for name, values in graphs for value in values)
