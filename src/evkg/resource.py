"""Resources: a record in each of its forms, by Accept or by suffix.

Everything comes from the record as it was read, never from the store, which rewrites numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

import pyoxigraph as ox
from fastapi import FastAPI, Request
from starlette.responses import Response

from evkg.endpoint import accepted, not_acceptable
from evkg.etag import make_tag, not_modified
from evkg.negotiate import RECORDS, Variant, choose
from evkg.pages import FORMATS
from evkg.release import Release
from evkg.serialization import SENT_GRAPH_FORMATS, write_graph, write_quads
from evkg.service import Service
from evkg.signposting import link_header

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


@dataclass(frozen=True, slots=True)
class Choice:
    """A record and the form that was chosen; no form if the client accepts none.

    `suffix` makes the address of the form, where it has one of its own.
    """

    record_id: str
    variant: Variant | None
    suffix: str = ""


def choose_form(release: Release, name: str, accept: str | None) -> Choice:
    """The record of a name, which may end in one of `SUFFIXES`, and its form.

    The whole name is tried as an id first. A suffix outranks the Accept header.

    Raises: NotFoundError: no such record; names the nearest ids.
    """
    if not release.has_record(name):
        stem, dot, last = name.rpartition(".")
        suffix = dot + last
        if suffix not in SUFFIXES or not release.has_record(stem):
            release.record_line(stem if suffix in SUFFIXES else name)  # raises
        variant = next(item for item in RECORDS if item.format_name == SUFFIXES[suffix])
        return Choice(stem, variant, suffix)
    chosen = choose(accept, RECORDS)
    if chosen is None:
        return Choice(name, None)
    suffix = next(key for key, form in SUFFIXES.items() if form == chosen.format_name)
    # An id may end like a suffix: then that address is another record's.
    return Choice(name, chosen, "" if release.has_record(name + suffix) else suffix)


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
    def thing(request: Request, name: str) -> Response:
        """What a record describes, by Accept or with .html, .jsonld, .ttl, .nt, .rdf, .trig, .nq or .json."""
        return record_response(request, "id", name)

    @app.get("/record/{name:path}")
    def record(request: Request, name: str) -> Response:
        """A record: the same as under /id, since its graph holds both."""
        return record_response(request, "record", name)

    def record_response(request: Request, route: str, name: str) -> Response:
        choice = choose_form(release, name, accepted(request))
        if choice.variant is None:
            raise not_acceptable(RECORDS, "A record")
        record_id, form = choice.record_id, choice.variant.format_name
        address = quote(record_id)
        values = {name: text for name, text in request.query_params.items() if name in PARAMETERS and form == "html"}
        headers = {
            "Content-Type": choice.variant.content_type,
            "Content-Location": f"{prefix}/{route}/{address}{choice.suffix}",
            "Link": link_header(release, release.read(record_id), prefix, FORMATS, form),
            "ETag": make_tag(release.id, release.record_line(record_id), form, urlencode(sorted(values.items()))),
            "Cache-Control": "no-cache",  # a client asks again: the next release has the same addresses
        }
        return not_modified(request, headers) or Response(
            render_form(release, record_id, form, values, base=service.base), headers=headers
        )
