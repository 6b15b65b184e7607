"""Assets: the files that pages need beside themselves, from the package, each with an ETag."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from evkg.etag import make_tag, not_modified
from evkg.service import Service

#: File in `templates/`, served under its name at the root -> its Content-Type.
ASSETS: Final = {
    "site.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
#: How long a client may use an asset before it asks again (seconds): a page and what is clicked next.
_SECONDS: Final = 300


@cache
def read_asset(name: str) -> str:
    """The text of an asset.

    >>> read_asset("icon.svg")[:4]
    '<svg'
    """
    return (resources.files("evkg") / "templates" / name).read_text(encoding="utf-8")


def add_assets(app: FastAPI, service: Service) -> None:
    """Add a route for each asset; they are the same for every release."""

    @app.get("/site.css")
    def site_css(request: Request) -> Response:
        """The style sheet of all pages."""
        return _respond(request, "site.css")

    @app.get("/icon.svg")
    def icon_svg(request: Request) -> Response:
        """The icon of all pages."""
        return _respond(request, "icon.svg")


def _respond(request: Request, name: str) -> Response:
    text = read_asset(name)
    headers = {
        "Content-Type": ASSETS[name],
        "ETag": make_tag(name, text),
        "Cache-Control": f"public, max-age={_SECONDS}",
    }
    return not_modified(request, headers) or Response(text, headers=headers)
