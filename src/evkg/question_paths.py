"""The saved questions in the OpenAPI description: a path for each, with the types of its parameters."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI

from evkg.negotiate import GRAPHS, TABLES, Variant
from evkg.openapi import describe_parameter, describe_responses
from evkg.question_page import concept_options
from evkg.question_resource import FORMATS, LIST, QUERY
from evkg.questions import Parameter, Question, load_questions
from evkg.service import Service
from evkg.vocabulary import Vocabulary, load_vocabulary

_PAGE: Final = Variant("text/html", "html")
_FORMAT: Final = {
    "name": "format",
    "in": "query",
    "required": False,
    "description": "The format; outranks Accept. The same as a suffix of the address",
    "schema": {"type": "string", "enum": list(FORMATS)},
}
_TAG: Final = ["Saved questions"]


def add_question_paths(app: FastAPI, service: Service) -> None:
    """Describe the routes of the saved questions, for `/openapi.json`."""

    def describe() -> dict[str, Any]:
        return question_paths(service.release.vocabulary if service.release else load_vocabulary())

    app.state.describe_paths = describe


def question_paths(vocabulary: Vocabulary) -> dict[str, Any]:
    """The paths of the list, the examples and each question, as OpenAPI describes them.

    Source: OpenAPI Specification 3.1, sections 4.8.8 (paths) to 4.8.17 (responses).

    >>> paths = question_paths(load_vocabulary())
    >>> paths["/questions/inference-memory-budget"]["get"]["parameters"][0]["schema"]
    {'type': 'number', 'default': 6}
    """
    listed = {
        "tags": _TAG,
        "summary": "The saved questions",
        "parameters": [
            describe_parameter("q", "Words that a question must hold"),
            {**_FORMAT, "schema": {"type": "string", "enum": [variant.format_name for variant in LIST]}},
        ],
        "responses": describe_responses(LIST, 400, 406),
    }
    examples = {
        "tags": _TAG,
        "summary": "The saved questions as SPARQL examples in RDF",
        "parameters": [],
        "responses": describe_responses(GRAPHS, 406),
    }
    paths = {"/questions": {"get": listed}, "/.well-known/sparql-examples": {"get": examples}}
    return paths | {
        f"/questions/{question.name}": {"get": _operation(question, vocabulary)}
        for question in load_questions().values()
    }


def _operation(question: Question, vocabulary: Vocabulary) -> dict[str, Any]:
    return {
        "tags": _TAG,
        "operationId": question.name,
        "summary": question.title,
        "description": "\n\n".join((question.question, *question.caveats)),
        "parameters": [*(_parameter(item, vocabulary) for item in question.parameters), _FORMAT],
        "responses": describe_responses((*TABLES, QUERY, _PAGE), 400, 406, 503),
    }


def _parameter(parameter: Parameter, vocabulary: Vocabulary) -> dict[str, Any]:
    kind = parameter.kind.partition(":")[0]
    schema: dict[str, Any] = {"type": "string", "default": parameter.default}
    if kind == "number":
        number = float(parameter.default)
        schema = {"type": "number", "default": int(number) if number.is_integer() else number}
    elif kind == "record":
        schema |= {"pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$"}
    elif keys := [key for key, _ in concept_options(parameter, vocabulary)]:
        schema |= {"enum": sorted(keys)}
    return {**describe_parameter(parameter.name, parameter.description), "schema": schema}
