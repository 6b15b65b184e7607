"""The OpenAPI description of the routes that FastAPI does not know, since they are bare: queries and graphs.

Source: OpenAPI Specification 3.1, sections 4.8.8 (paths) to 4.8.17 (responses).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from evkg.negotiate import GRAPHS, TABLES, Variant
from evkg.page_types import describe_errors, describe_page, schema_of
from evkg.service import Service

_PROBLEM: Final = {
    "type": "object",
    "required": ["type", "title", "status"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "line": {"type": "integer", "description": "of a query that is wrong; from 1"},
        "column": {"type": "integer", "description": "in characters; from 1"},
        "token": {"type": "string", "description": "the word that stands there"},
        "prefix": {"type": "string", "description": "a prefix that nobody declared"},
        "known_prefixes": {"type": "object", "additionalProperties": {"type": "string"}},
        "available": {"type": "array", "items": {"type": "string"}, "description": "the types that there are"},
        "nearest": {"type": "array", "items": {"type": "string"}},
        "parameter": {"type": "string", "description": "the parameter that is wrong"},
        "example": {"type": "string", "description": "an address that works"},
    },
}
_TROUBLES: Final = {
    400: "The request or the query is wrong",
    404: "There is no such thing here",
    406: "None of the types that there are is accepted",
    413: "The query is too long",
    415: "A type that no query has",
    503: "A limit was reached, or too many queries wait",
}


def describe_parameter(name: str, text: str, *, is_list: bool = False, is_needed: bool = False) -> dict[str, Any]:
    """The description of a parameter that stands behind the question mark of an address."""
    schema = {"type": "array", "items": {"type": "string"}} if is_list else {"type": "string"}
    return {"name": name, "in": "query", "required": is_needed, "description": text, "schema": schema}


def describe_responses(variants: Iterable[Variant], *troubles: int) -> dict[str, Any]:
    """The responses of a route: an answer in these variants, 304, and the statuses of what may go wrong."""
    types = dict.fromkeys(variant.media_type for variant in variants)
    found = {media_type: {"schema": schema_of(media_type)} for media_type in types}
    problem = describe_errors()
    responses: dict[str, Any] = {"200": {"description": "The answer", "content": found}}
    responses["304"] = {"description": "What If-None-Match names is what would be sent"}
    return responses | {str(status): {"description": _TROUBLES[status], "content": problem} for status in troubles}


_DATA_SET: Final = (
    describe_parameter("default-graph-uri", "A graph of the default graph; wins over FROM", is_list=True),
    describe_parameter("named-graph-uri", "A named graph; wins over FROM NAMED", is_list=True),
)
_QUERY: Final = describe_parameter("query", "A SPARQL 1.1 query; without one, the service description")
_FORM: Final = {
    "type": "object",
    "required": ["query"],
    "properties": {parameter["name"]: parameter["schema"] for parameter in (_QUERY, *_DATA_SET)},
}
_ANY_OR_PAGE: Final = (*TABLES, *GRAPHS, Variant("text/html", "html"))
_WHICH: Final = (
    describe_parameter("graph", "The IRI of a named graph"),
    {**describe_parameter("default", "Instead of graph: the default graph"), "allowEmptyValue": True},
)
PATHS: Final[dict[str, Any]] = {
    "/sparql": {
        "get": {
            "summary": "Answer a query",
            "parameters": [_QUERY, *_DATA_SET],
            "responses": describe_responses(_ANY_OR_PAGE, 400, 406, 503),
        },
        "post": {
            "summary": "Answer a query that is sent as a form or by itself",
            "parameters": [*_DATA_SET],
            "requestBody": {
                "required": True,
                "content": {
                    "application/x-www-form-urlencoded": {"schema": _FORM},
                    "application/sparql-query": {"schema": {"type": "string"}},
                },
            },
            "responses": describe_responses(_ANY_OR_PAGE, 400, 406, 413, 415, 503),
        },
    },
    "/graph-store": {
        "get": {
            "summary": "A whole graph",
            "parameters": [*_WHICH],
            "responses": describe_responses(GRAPHS, 400, 404, 406, 503),
        }
    },
    "/graph/{name}": {
        "get": {
            "summary": "The graph of this name beside the records, such as derived",
            "parameters": [{**describe_parameter("name", "The end of its IRI", is_needed=True), "in": "path"}],
            "responses": describe_responses(GRAPHS, 400, 404, 406, 503),
        }
    },
    "/.well-known/void": {
        "get": {
            "summary": "What the data are, with counts",
            "parameters": [],
            "responses": describe_responses(GRAPHS, 406, 503),
        }
    },
}


def add_openapi(app: FastAPI, service: Service) -> None:
    """Let `/openapi.json` hold the bare routes too; to be added when all other routes are there.

    A part with many paths of its own leaves a function that describes them in `app.state.describe_paths`.
    """

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(title=app.title, version=app.version, routes=app.routes)
            document["servers"] = [{"url": service.base}]
            pages = {
                path: {method: describe_page(path, operation) for method, operation in methods.items()}
                for path, methods in document.get("paths", {}).items()
            }
            document["paths"] = {**PATHS, **getattr(app.state, "describe_paths", dict)(), **pages}
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            schemas["Problem"] = _PROBLEM
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]
