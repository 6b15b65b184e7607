"""Resources: a record in each of its forms, by Accept or by suffix.

Everything comes from the record as it was read, never from the store, which rewrites numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import urlencode, urlsplit

import pyoxigraph as ox
from fastapi import FastAPI, Query, Request
from starlette.responses import Response

from evkg.endpoint import accepted, not_acceptable
from evkg.errors import excerpt
from evkg.etag import make_tag, not_modified
from evkg.negotiate import RECORDS, Variant, choose
from evkg.pages import FORMATS
from evkg.problem import RequestError
from evkg.release import Release
from evkg.serialization import SENT_GRAPH_FORMATS, write_graph, write_quads
from evkg.service import Service
from evkg.signposting import form_path, link_header

#: The forms of a record by the suffix of their own addresses.
SUFFIXES: Final = {
    ".html": "html",
    ".jsonld": "jsonld",
    ".ttl": "turtle",
    ".nt": "nt",
    ".rdf": "rdfxml",
    ".trig": "trig",
    ".nq": "nquads",
    ".json": "json",
}
#: The same as values of the parameter `form`.
FORMS: Final = [suffix[1:] for suffix in SUFFIXES]
_Form = Annotated[
    str | None,
    Query(
        description="The form, where the address with a suffix is that of another record",
        json_schema_extra={"enum": FORMS},
    ),
]


@dataclass(frozen=True, slots=True)
class Choice:
    """A record and the form that was chosen; no form if the client accepts none.

    `suffix` is that of the form, as in `SUFFIXES`.
    """

    record_id: str
    variant: Variant | None
    suffix: str = ""


def choose_form(release: Release, name: str, accept: str | None, form: str | None = None) -> Choice:
    """The record of a name, which may end in one of `SUFFIXES`, and its form.

    The whole name is tried as an id first; with `form`, which is a suffix without its dot, it is nothing else. Both
    outrank the Accept header.

    Raises: NotFoundError: no such record; names the nearest ids. RequestError: there is no such form.
    """
    if form is not None:
        suffix = f".{form}"
        if suffix not in SUFFIXES:
            more = {"parameter": "form", "available": FORMS}
            raise RequestError(400, f"form: there is no {excerpt(form, 60)!r}; use {', '.join(FORMS)}.", more=more)
        release.record_line(name)  # raises
        return Choice(name, _variant(suffix), suffix)
    if not release.has_record(name):
        stem, dot, last = name.rpartition(".")
        suffix = dot + last
        if suffix not in SUFFIXES or not release.has_record(stem):
            release.record_line(stem if suffix in SUFFIXES else name)  # raises
        return Choice(stem, _variant(suffix), suffix)
    chosen = choose(accept, RECORDS)
    if chosen is None:
        return Choice(name, None)
    return Choice(name, chosen, next(key for key, one in SUFFIXES.items() if one == chosen.format_name))


def _variant(suffix: str) -> Variant:
    return next(item for item in RECORDS if item.format_name == SUFFIXES[suffix])


def render_form(
    release: Release, record_id: str, format_name: str, values: Mapping[str, str] | None = None, *, base: str = ""
) -> bytes:
    """A record in one form: html, one of the graph formats, or json, which is the record as it was read.

    TriG and N-Quads name the graph of the record. `values` are the parameters of a page, `base` the server's address.

    Raises: NotFoundError: no such record. UnwritableError: RDF/XML cannot hold what is in it.
    """
    if format_name == "html":
        from evkg.record_page import render_record

        # A record may hold half of a surrogate pair, which no encoding of a page knows.
        return render_record(release, record_id, values, base=base).encode(errors="replace")
    if format_name == "json":
        return f"{release.record_line(record_id)}\n".encode()
    if format_name == "jsonld":
        return f"{json.dumps(release.jsonld(record_id), ensure_ascii=False, indent=2)}\n".encode()
    # `parse` and `serialize` keep the text of literals; only a store changes it (measured, pyoxigraph 0.5.13).
    quads = ox.parse("\n".join(release.quads(record_id)), format=ox.RdfFormat.N_QUADS)
    if SENT_GRAPH_FORMATS[format_name].supports_datasets:
        return write_quads(quads, format_name)
    triples = (quad.triple for quad in quads)
    return write_graph(triples, format_name) if format_name == "rdfxml" else write_quads(triples, format_name)


def add_records(app: FastAPI, service: Service) -> None:
    """Add the routes of the records of a release; they render in threads, beside the loop of the server."""
    from evkg.record_page import PARAMETERS

    release, prefix = service.release, urlsplit(service.base).path
    if release is None:
        return

    @app.get("/id/{name:path}")
    def thing(request: Request, name: str, form: _Form = None) -> Response:
        """What a record describes, by Accept or with .html, .jsonld, .ttl, .nt, .rdf, .trig, .nq or .json."""
        return record_response(request, "id", name, form)

    @app.get("/record/{name:path}")
    def record(request: Request, name: str, form: _Form = None) -> Response:
        """A record: the same as under /id, since its graph holds both."""
        return record_response(request, "record", name, form)

    def record_response(request: Request, route: str, name: str, wanted: str | None) -> Response:
        if len(request.query_params.getlist("form")) > 1:
            raise RequestError(400, "The parameter form is given twice.", more={"parameter": "form"})
        choice = choose_form(release, name, accepted(request), wanted)
        if choice.variant is None:
            raise not_acceptable(RECORDS, "A record")
        record_id, form = choice.record_id, choice.variant.format_name
        values = {name: text for name, text in request.query_params.items() if name in PARAMETERS and form == "html"}
        headers = {
            "Content-Type": choice.variant.content_type,
            "Content-Location": f"{prefix}/{route}/{form_path(release, record_id, choice.suffix)}",
            "Link": link_header(release, release.read(record_id), prefix, FORMATS, form),
            "ETag": make_tag(release.id, release.record_line(record_id), form, urlencode(sorted(values.items()))),
            "Cache-Control": "no-cache",  # a client asks again: the next release has the same addresses
        }
        return not_modified(request, headers) or Response(
            render_form(release, record_id, form, values, base=service.base), headers=headers
        )
