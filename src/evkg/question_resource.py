"""The saved questions over HTTP: `/questions`, and `/questions/{name}` with parameters, in every format of results."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evkg.answer_table import AnswerTable
from evkg.asking import check_values
from evkg.editor_resource import DOWNLOADS, HTML, ask_for_page, page_response, wants_page, with_accept
from evkg.endpoint import (
    Call,
    accepted,
    answer_call,
    graph_response,
    is_fleeting,
    not_acceptable,
    read_parameters,
    requested,
)
from evkg.errors import EvkgError, NotFoundError, UsageError, excerpt
from evkg.etag import make_tag, not_modified
from evkg.examples import SCHEMA, SPEX, example_triples
from evkg.jsontext import Json, encode_json
from evkg.namespaces import PREFIXES
from evkg.negotiate import TABLES, Variant, choose
from evkg.problem import Problem, RequestError, describe_error
from evkg.question_page import (
    find_in_questions,
    form_fields,
    question_address,
    render_question,
    render_questions,
)
from evkg.questions import Question, find_question, load_questions
from evkg.service import Service
from evkg.vocabulary import Vocabulary, load_vocabulary

LIST: Final = (Variant("application/json", "json"), HTML)
QUERY: Final = Variant("application/sparql-query", "rq")
#: The forms of a question by `format` or suffix; a browser gets the page, any other client results.
FORMATS: Final[Mapping[str, Variant]] = {
    **{name: Variant(DOWNLOADS[name], name) for name in ("json", "xml", "csv", "tsv")},
    "rq": QUERY,
    "html": HTML,
}
#: Parameters of the address that are none of any question: the format, that a page may take as long as it takes, and
#: the column by which it is sorted.
RESERVED: Final = ("format", "wait", "sort")
#: How long the page of a question that is only visited, not asked, waits for the answer (seconds).
PATIENCE_SECONDS: Final = 5.0
#: As long as a value may be (characters).
_MOST_VALUE: Final = 2000


def add_questions(app: FastAPI, service: Service) -> None:
    """Add the routes of the saved questions; they need no release, only data of this shape."""

    async def listed(request: Request) -> Response:
        return await list_questions(request, service)

    async def asked(request: Request) -> Response:
        return await ask_question(request, service, request.path_params["name"])

    async def examples(request: Request) -> Response:
        return graph_response(request, await asyncio.to_thread(examples_turtle, service), "The examples")

    app.router.routes += [
        Route("/questions", listed, methods=["GET"]),
        Route("/questions.json", listed, methods=["GET"]),
        Route("/questions/{name}", asked, methods=["GET"]),
        Route("/.well-known/sparql-examples", examples, methods=["GET"]),
    ]


async def list_questions(request: Request, service: Service) -> Response:
    """The response with the questions that hold the words `q`, as JSON, or by theme as a page.

    Raises: RequestError: 406; 400, there is no such format.
    """
    words = request.query_params.get("q", "").strip()
    name = "json" if request.url.path.endswith(".json") else request.query_params.get("format")
    if name is None and wants_page(accepted(request)):
        variant = HTML
    else:
        variant = requested(request, name, LIST, "The questions", of="this page")
    headers = {"Content-Type": variant.content_type, **service.cache_headers("questions", words, variant.format_name)}
    if "ETag" in headers and (unchanged := not_modified(request, headers)):
        return unchanged
    questions = load_questions()
    found = find_in_questions(questions.values(), words)
    if variant is HTML:
        page = await asyncio.to_thread(render_questions, service, found, words, len(questions))
        return Response(page, headers=headers)
    document: dict[str, Json] = {
        "total": len(found),
        "questions": [question_facts(question, service) for question in found],
    }
    return Response(f"{encode_json(document)}\n", headers=headers)


def question_facts(question: Question, service: Service) -> dict[str, Any]:
    """What a program needs to ask a question."""
    return {
        "name": question.name,
        "title": question.title,
        "question": question.question,
        "theme": question.theme,
        "keywords": list(question.keywords),
        "caveats": list(question.caveats),
        "parameters": [
            {"name": item.name, "kind": item.kind, "description": item.description, "default": item.default}
            for item in question.parameters
        ],
        "url": f"{service.base}{question_address(question, {})}",
    }


async def ask_question(request: Request, service: Service, name: str) -> Response:
    """The response with the answer to a question: as a page for browsers, as the results of its query for others.

    A suffix outranks the parameter `format`, which outranks the Accept header.

    Raises: RequestError: 400, a parameter is unknown, twice there or does not fit; 406. NotFoundError: there is no such
        question. And the errors of `run_call`.
    """
    stem, _, suffix = name.partition(".")
    question = find_question(stem)
    parameters = read_parameters(request.scope["query_string"])
    variant = _variant(request, suffix, [value for key, value in parameters if key == "format"])
    given = [(key, value) for key, value in parameters if key not in RESERVED]
    sorts = [value for key, value in parameters if key == "sort"]
    if len(sorts) > 1:
        raise RequestError(400, "The parameter sort is given twice.", more={"parameter": "sort"})
    if variant is HTML:
        is_visit = not given and not sorts and all(key != "wait" for key, _ in parameters)
        patience = PATIENCE_SECONDS if is_visit else None
        return await _question_page(request, service, question, given, "".join(sorts), patience)
    if sorts:
        raise RequestError(
            400, "Only the page is sorted; data come in the order of the query.", more={"parameter": "sort"}
        )
    values = await asyncio.to_thread(read_values, question, given, service)
    text = question.with_values(values)
    if variant is QUERY:
        body = f"#+ endpoint: {service.endpoint}\n{text}"
        headers = {"Content-Type": f"{QUERY.media_type}; charset=utf-8", "ETag": f"W/{make_tag('rq', body)}"}
        return not_modified(request, headers) or Response(body, headers={**headers, "Cache-Control": "no-cache"})
    return await answer_call(with_accept(request, variant.media_type), service, Call(text))


def _variant(request: Request, suffix: str, formats: list[str]) -> Variant:
    if len(formats) > 1:
        raise RequestError(400, "The parameter format is given twice.")
    name = suffix or (formats[0] if formats else "")
    if name:
        if name not in FORMATS:
            status = 404 if suffix else 400
            raise RequestError(
                status, f"There is no format {excerpt(name, 40)!r} of a question; there are {', '.join(FORMATS)}."
            )
        return FORMATS[name]
    accept = accepted(request)
    if wants_page(accept):
        return HTML
    chosen = choose(accept, (*TABLES, QUERY))
    if chosen is None:
        raise not_acceptable((*TABLES, QUERY, HTML), "A question")
    return QUERY if chosen.format_name == "rq" else chosen


def read_values(question: Question, given: list[tuple[str, str]], service: Service) -> dict[str, str]:
    """The values in a request, each known to fit its parameter.

    Raises: RequestError: 400; names the parameter, with an address that would work as an example.
    """
    known = {parameter.name: parameter for parameter in question.parameters}
    values: dict[str, str] = {}
    for name, value in given:
        if name not in known:
            nearest = get_close_matches(name, known, n=1, cutoff=0.4)
            hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
            listed = f"it has {', '.join(known)}" if known else "it has none"
            message = f"The question {question.name!r} has no parameter {excerpt(name, 60)!r}; {listed}.{hint}"
            raise _refusal(question, name, message, service, nearest)
        if name in values:
            raise _refusal(question, name, f"The parameter {name} is given twice.", service)
        if not value.strip():
            message = f"The parameter {name} is empty. Leave it out for {known[name].default!r}, or give a value."
            raise _refusal(question, name, message, service)
        if len(value) > _MOST_VALUE:
            raise _refusal(question, name, f"{name} is longer than {_MOST_VALUE} characters.", service)
        values[name] = value
    for name, value in values.items():
        try:
            question.with_values({name: value})
            if service.release is not None:
                check_values(question, {name: value}, service.release)
        except NotFoundError as error:
            raise _refusal(question, name, str(error), service, error.nearest) from error
        except UsageError as error:
            raise _refusal(question, name, str(error), service) from error
    return values


def _refusal(
    question: Question, name: str, message: str, service: Service, nearest: tuple[str, ...] | list[str] = ()
) -> RequestError:
    known = {parameter.name: parameter for parameter in question.parameters}
    example = known.get(name) or next(iter(known.values()), None)
    address = question_address(question, {example.name: example.default} if example else {})
    more: dict[str, Any] = {"parameter": excerpt(name, 60), "example": f"{service.base}{address}"}
    if nearest:
        more["nearest"] = list(nearest)
    return RequestError(400, f"{message} For example: {address}", more=more)


async def _question_page(
    request: Request,
    service: Service,
    question: Question,
    given: list[tuple[str, str]],
    sort: str,
    patience: float | None,
) -> Response:
    """The page of a question; what is wrong with a value stands on it, beside the form that still holds the value.

    After `patience` (seconds; None for ever) it comes without the answer, and with a way to wait for it.
    """
    shown = {key: value for key, value in given if len(value) <= _MOST_VALUE}
    answer: AnswerTable | bool | None = None
    problem: Problem | None = None
    headers: dict[str, str] = {}
    values: dict[str, str] = {}
    is_slow = False
    try:
        values = await asyncio.to_thread(read_values, question, given, service)
        text = question.with_values(values)
        if not is_fleeting(text):
            headers = service.cache_headers("question", text, sort)
            if "ETag" in headers and service.is_there() and (unchanged := not_modified(request, headers)):
                return unchanged
        async with asyncio.timeout(patience):
            found = await ask_for_page(request, service, Call(text), sort)
        answer = found if isinstance(found, AnswerTable | bool) else None
    except TimeoutError:
        headers, is_slow = {}, True
    except EvkgError as error:
        problem = describe_error(error)
        if problem.status == 500:
            raise
        if problem.status == 400:
            problem = replace(problem, title="The question cannot be asked like that")
    fields = form_fields(question, shown, _vocabulary(service))
    page = await asyncio.to_thread(
        render_question, service, question, fields, values, answer, problem, sort=sort, is_slow=is_slow
    )
    return page_response(page, problem, {} if problem else headers)


def _vocabulary(service: Service) -> Vocabulary:
    return service.release.vocabulary if service.release else load_vocabulary()


def examples_turtle(service: Service) -> str:
    """The saved questions as SPARQL examples of this endpoint, in Turtle."""
    base = service.release.base_iri if service.release else f"{service.base}/"
    import pyoxigraph as ox

    triples = ox.parse("\n".join(example_triples(base, service.endpoint)), format=ox.RdfFormat.N_TRIPLES)
    prefixes = {**{name: PREFIXES[name] for name in ("rdf", "rdfs", "sh", "xsd")}, "schema": SCHEMA, "spex": SPEX}
    return (ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes=prefixes) or b"").decode()
