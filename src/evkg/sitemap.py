"""The routes for crawlers: `/sitemap.xml` with every page that stays, and `/robots.txt`.

Sources: sitemaps.org protocol (at most 50,000 addresses a file); RFC 9309 (robots).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final
from urllib.parse import quote, urlsplit
from xml.sax.saxutils import escape

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from evkg.errors import NotFoundError, excerpt
from evkg.etag import not_modified
from evkg.reference import Reference
from evkg.reference_docs import Docs
from evkg.reference_entry import local_url
from evkg.release import Release
from evkg.service import Service

#: As many addresses as one file may have (count).
MOST: Final = 50_000
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,8}")
_XML: Final = "application/xml; charset=utf-8"
_SCHEMA: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
#: Pages that are made anew for every question: a crawler would never come to an end of them.
_ENDLESS: Final = ("/search", "/results", "/sparql", "/graph-store", "/evidence", "/compare?")
#: Pages beside those of records, terms and documents.
_PAGES: Final = ("/", "/validation", "/questions", "/ontology", "/vocab", "/shapes", "/docs")


class Sitemap:
    """The addresses of a release, in an order that does not change."""

    def __init__(self, release: Release, base: str) -> None:
        self._release = release
        self._base = base

    @cached_property
    def addresses(self) -> Sequence[str]:
        """Every page: the fixed ones, documents, terms, concepts, rules, then records by id."""
        reference = Reference(self._release)
        schemes = reference.vocabulary.schemes
        concepts = [concept.iri for key in sorted(schemes) for concept in schemes[key].concepts.values()]
        paths = [*_PAGES, *(f"/docs/{name}" for name in Docs().pages)]
        paths += [f"/ontology/{quote(name)}" for name in reference.names]
        paths += [f"/vocab/{key}" for key in sorted(schemes)]
        paths += sorted(url for iri in concepts if (url := local_url(iri)))
        paths += [f"/shapes/{quote(name)}" for name in sorted(reference.rules.names)]
        paths += [f"/id/{quote(record_id)}" for record_id in self._release.record_ids]
        return [self._base + path for path in paths]

    def render(self, number: int | None = None) -> str:
        """The file; where there are too many addresses an index of files, and with `number` (from 1) one of them.

        Raises: NotFoundError: there is no such file.
        """
        files = -(-len(self.addresses) // MOST)
        if number is None and files > 1:
            rows = "".join(
                f"<sitemap><loc>{escape(self._base)}/sitemap-{n}.xml</loc></sitemap>\n" for n in range(1, files + 1)
            )
            return f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="{_SCHEMA}">\n{rows}</sitemapindex>\n'
        part = 1 if number is None else number
        if not 1 <= part <= files:
            raise NotFoundError(f"There is no sitemap {part}; there are {files}.")
        listed = self.addresses[(part - 1) * MOST : part * MOST]
        rows = "".join(f"<url><loc>{escape(address)}</loc></url>\n" for address in listed)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{_SCHEMA}">\n{rows}</urlset>\n'


def add_sitemap(app: FastAPI, service: Service) -> None:
    """Add the routes; a bare store has no pages."""
    release = service.release
    if release is None:
        return
    sitemap, prefix = Sitemap(release, service.base), urlsplit(service.base).path

    def respond(request: Request, number: int | None) -> Response:
        headers = {**service.cache_headers("sitemap", str(number)), "Content-Type": _XML}
        return not_modified(request, headers) or Response(sitemap.render(number), headers=headers)

    @app.get("/sitemap.xml")
    def whole(request: Request) -> Response:
        """The address of every page; an index of such files where there are more than 50,000."""
        return respond(request, None)

    @app.get("/sitemap-{number}.xml")
    def part(request: Request, number: str) -> Response:
        """One of several files of addresses."""
        if not _NUMBER.fullmatch(number):
            raise NotFoundError(f"There is no sitemap {excerpt(number, 60)!r}; they are numbered from 1.")
        return respond(request, int(number))

    @app.get("/robots.txt")
    def robots() -> Response:
        """What crawlers may read: every page that stays; no searches and no queries."""
        lines = [
            "User-agent: *",
            # Paths are those of the host, so they begin with the path of the public address.
            *(f"Disallow: {prefix}{path}" for path in _ENDLESS),
            "",
            f"Sitemap: {service.base}/sitemap.xml",
        ]
        return Response("\n".join(lines) + "\n", headers={"Content-Type": "text/plain; charset=utf-8"})
