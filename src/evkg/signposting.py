"""Signposting: the Link header by which programs find from a page what it is about, and its other forms.

Source: https://signposting.org/FAIR/ (level 1); RFC 8288 (Web Linking); RFC 8574 (cite-as).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from evkg.namespaces import thing_iri
from evkg.scholarly import schema_type

if TYPE_CHECKING:
    from evkg.record import Record
    from evkg.release import Release

_WEB: Final = re.compile(r"https?://[^\s<>\"]+")
_SCHEMA: Final = "https://schema.org/"


def form_path(release: Release, record_id: str, suffix: str) -> str:
    """The end of the address of one form of a record, behind `/id/` or `/record/`; `suffix` is such as `.ttl`.

    Where another record has the id that the suffix would make, the form is a parameter instead.

    >>> from evkg.release import open
    >>> form_path(open(), "gena-lm", ".ttl")
    'gena-lm.ttl'
    """
    name = record_id + suffix
    return f"{quote(record_id)}?form={suffix[1:]}" if release.has_record(name) else quote(name)


def link_header(release: Release, record: Record, prefix: str, forms: Sequence[tuple[str, str]], form: str) -> str:
    """The value of Link for one form of a record: `forms` are suffix and media type of each, `form` is html or another.

    A page says what it should be cited as, what describes it, of which type it is, what it is part of, and the licence
    of the data set where it is an address. The record as it was read is its item. Other forms lead back to the page.

    >>> from evkg.release import open
    >>> release = open()
    >>> link_header(release, release.read("gena-lm"), "", [(".ttl", "text/turtle")], "turtle")
    '</record/gena-lm>; rel="describedby", </id/gena-lm>; rel="describes"; type="text/html"'
    """
    address = quote(record.id)
    links = [f'<{prefix}/record/{address}>; rel="describedby"']
    if form != "html":
        return ", ".join([*links, f'<{prefix}/id/{address}>; rel="describes"; type="text/html"'])
    links.append(f'<{quote(thing_iri(release.base_iri, record.id), safe=":/#%")}>; rel="cite-as"')
    links += [
        f"<{prefix}/id/{form_path(release, record.id, suffix)}>; "
        f'rel="{"item" if suffix == ".json" else "describedby"}"; type="{media_type}"'
        for suffix, media_type in forms
    ]
    links.append(f'<{_SCHEMA}AboutPage>; rel="type"')
    kind = schema_type(record)
    if kind is not None:
        links.append(f'<{_SCHEMA}{kind}>; rel="type"')
    links.append(f'<{prefix}/.well-known/void>; rel="collection"; type="text/turtle"')
    licence = release.manifest["dataset"].get("licence")
    if isinstance(licence, str) and _WEB.fullmatch(licence) and licence.isascii():
        links.append(f'<{licence}>; rel="license"')
    return ", ".join(links)
