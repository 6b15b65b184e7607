"""The types and statuses that the routes of pages answer with, which FastAPI cannot know of functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from evkg.negotiate import GRAPHS, PAGE_ERRORS, RECORDS

_TABLE: Final = ("text/html", "application/json", "text/csv")
_TERM: Final = ("text/html", "text/turtle", "application/ld+json", "application/n-triples")
_RECORD: Final = tuple(dict.fromkeys(variant.media_type for variant in (*RECORDS, *GRAPHS)))
#: The beginning of a path, up to a slash or brace, and its types; the longest that fits holds.
_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("/compare", "/validation", "/search", "/results"), _TABLE),
    **dict.fromkeys(("/ontology", "/vocab", "/shapes"), _TERM),
    **dict.fromkeys(("/id", "/record"), _RECORD),
    "/evidence": ("application/json", "text/csv", "application/x-ndjson", "application/jsonl"),
    "/docs": ("text/html", "text/markdown"),
    "/docs/images": ("image/png", "image/svg+xml", "image/jpeg"),
    "/health": ("application/json",),
}
_SUFFIXES: Final[Mapping[str, tuple[str, ...]]] = {
    "atom": ("application/atom+xml",),
    "css": ("text/css",),
    "csv": ("text/csv",),
    "json": ("application/json",),
    "svg": ("image/svg+xml",),
    "txt": ("text/plain",),
    "xml": ("application/xml",),
}
_TROUBLES: Final[Mapping[str, str]] = {
    "400": "A parameter is wrong",
    "404": "There is no such thing here",
    "406": "None of the types that there are is accepted",
    "410": "It was here once",
    "503": "What is asked for is being made, a limit was reached, or the release is gone",
}


def types_of(path: str) -> tuple[str, ...]:
    """The media types of what a path of the description leads to.

    >>> types_of("/feed.atom"), types_of("/docs/images/{name}"), types_of("/vocab{suffix}")[0]
    (('application/atom+xml',), ('image/png', 'image/svg+xml', 'image/jpeg'), 'text/html')
    """
    _, dot, suffix = path.rpartition(".")
    if dot and suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    fitting = [start for start in _TYPES if path.partition("{")[0].rstrip("/").startswith(start)]
    return _TYPES[max(fitting, key=len)] if fitting else ("text/html",)


def describe_errors() -> dict[str, Any]:
    """The contents of an error, by media type."""
    problem = {"$ref": "#/components/schemas/Problem"}
    return {
        variant.media_type: {"schema": problem if "json" in variant.media_type else {"type": "string"}}
        for variant in PAGE_ERRORS
    }


def describe_page(path: str, operation: dict[str, Any]) -> dict[str, Any]:
    """The description of an operation, with the types and statuses that it answers with."""
    contents = {media_type: {"schema": schema_of(media_type)} for media_type in types_of(path)}
    troubles = describe_errors()
    responses = {
        **operation.get("responses", {}),
        "200": {"description": "The answer", "content": contents},
        "304": {"description": "What If-None-Match names is what would be sent"},
        **{status: {"description": text, "content": troubles} for status, text in _TROUBLES.items()},
    }
    if path == "/health":
        responses["503"] = {"description": "Queries are not answered", "content": contents}
    return {**operation, "responses": responses}


def schema_of(media_type: str) -> dict[str, Any]:
    """The schema of a body: a text, or any JSON.

    >>> schema_of("text/csv"), schema_of("application/ld+json")
    ({'type': 'string'}, {})
    """
    return {} if media_type.endswith("json") else {"type": "string"}
