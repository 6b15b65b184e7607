"""Resources: a record in each of its forms, by Accept or by suffix.

Everything comes from the record as it was read, never from the store, which rewrites numbers.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Final

import pyoxigraph as ox

from evkg.errors import NotFoundError
from evkg.namespaces import PREFIXES
from evkg.negotiate import RECORDS, Variant, choose
from evkg.release import Release
from evkg.store import GRAPH_FORMATS

#: The forms of a record by the suffix of their own addresses.
SUFFIXES: Final = {
    ".html": "html",
    ".jsonld": "jsonld",
    ".ttl": "turtle",
    ".nt": "nt",
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
    try:
        release.record_line(name)
    except NotFoundError:
        stem, dot, last = name.rpartition(".")
        suffix = dot + last
        if suffix not in SUFFIXES:
            raise
        release.record_line(stem)
        variant = next(item for item in RECORDS if item.format_name == SUFFIXES[suffix])
        return Choice(stem, variant, suffix)
    chosen = choose(accept, RECORDS)
    if chosen is None:
        return Choice(name, None)
    suffix = next(key for key, form in SUFFIXES.items() if form == chosen.format_name)
    # An id may end like a suffix: then that address is another record's.
    return Choice(name, chosen, "" if release.has_record(name + suffix) else suffix)


def entity_tag(release: Release, record_id: str, format_name: str) -> str:
    """The ETag of a form of a record: another release, record, form or version of evkg has another.

    Source: RFC 9110, section 8.8.3.
    """
    parts = (release.id, release.record_line(record_id), format_name, _version())
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return f'"{digest[:20]}-{format_name}"'


@cache
def _version() -> str:
    return metadata.version("evkg")


def matches(if_none_match: str | None, tag: str) -> bool:
    """Whether a client has this already.

    Source: RFC 9110, section 13.1.2 (weak comparison).

    >>> matches('W/"a", "b"', '"a"'), matches("*", '"a"'), matches(None, '"a"')
    (True, True, False)
    """
    if if_none_match is None:
        return False
    tags = [part.strip().removeprefix("W/") for part in if_none_match.split(",")]
    return tag in tags or tags == ["*"]


def render_form(release: Release, record_id: str, format_name: str) -> str:
    """A record in one form: html, jsonld, turtle, nt, or json, which is the record as it was read.

    Raises: NotFoundError: no such record.
    """
    if format_name == "html":
        from evkg.pages import render_record

        return render_record(release, record_id)
    if format_name == "json":
        return release.record_line(record_id) + "\n"
    if format_name == "jsonld":
        return json.dumps(release.jsonld(record_id), ensure_ascii=False, indent=2) + "\n"
    # `parse` and `serialize` keep the text of literals; only a store changes it (measured, pyoxigraph 0.5.13).
    quads = ox.parse("\n".join(release.quads(record_id)), format=ox.RdfFormat.N_QUADS)
    triples = [ox.Triple(quad.subject, quad.predicate, quad.object) for quad in quads]
    prefixes = dict(PREFIXES) if format_name == "turtle" else None
    return (ox.serialize(triples, format=GRAPH_FORMATS[format_name], prefixes=prefixes) or b"").decode()
