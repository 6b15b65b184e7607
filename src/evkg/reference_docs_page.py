"""The routes `/docs`: the documentation of this version as pages, and each page as the Markdown that it is made of."""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from evkg.endpoint import requested
from evkg.etag import make_tag, not_modified
from evkg.negotiate import Variant
from evkg.pages import render_page
from evkg.reference_docs import Docs
from evkg.release import Release
from evkg.rooted import rooted_path
from evkg.service import Service

VARIANTS: Final = (Variant("text/html", "html"), Variant("text/markdown", "md"))


def add_docs(app: FastAPI, service: Service) -> None:
    """Add the routes. The frame of a page names the release, so a bare store has none."""
    release = service.release
    if release is None:
        return
    docs = Docs()

    @app.get("/docs")
    def index(request: Request) -> Response:
        """The pages of the documentation."""
        page = render_page("docs.html", release, pages=list(docs.pages.values()))
        return _send(request, page.encode(), "text/html; charset=utf-8")

    @app.get("/about", include_in_schema=False)
    def about(request: Request) -> Response:
        return RedirectResponse(rooted_path("/docs/README"), 307)

    @app.get("/docs/images/{name}")
    def picture(request: Request, name: str) -> Response:
        """A picture of the documentation."""
        media_type, data = docs.picture(name)
        return _send(request, data, media_type)

    @app.get("/docs/{name}")
    def page(request: Request, name: str) -> Response:
        """A page of the documentation, by Accept or with .md."""
        return _doc(request, release, docs, name)


def _doc(request: Request, release: Release, docs: Docs, name: str) -> Response:
    is_source = name.endswith(".md") and name not in docs.pages
    doc = docs.page(name.removesuffix(".md") if is_source else name)
    variant = requested(request, "md" if is_source else None, VARIANTS, "A page of the documentation", of="this page")
    if variant.format_name == "md":
        return _send(request, docs.source(doc).encode(), variant.content_type)
    html = render_page("doc.html", release, doc=doc, html=docs.html(doc), pages=list(docs.pages.values()))
    return _send(request, html.encode(), variant.content_type)


def _send(request: Request, data: bytes, content_type: str) -> Response:
    headers = {
        "Content-Type": content_type,
        "ETag": make_tag(data.decode("latin-1"), content_type),
        "Cache-Control": "no-cache",
    }
    return not_modified(request, headers) or Response(data, headers=headers)
