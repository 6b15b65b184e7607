"""The download of a whole release: every graph of it as N-Quads, the very bytes of its file."""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from evkg.errors import ReleaseError
from evkg.etag import not_modified
from evkg.release import GRAPH
from evkg.service import Service

#: Where it is.
DOWNLOAD: Final = "/release.nq"
_CONTENT_TYPE: Final = "application/n-quads"


def add_download(app: FastAPI, service: Service) -> None:
    """Add the route; without a release there is no file."""
    release = service.release
    if release is None:
        return
    file = release.folder / GRAPH
    about = release.manifest.get("files", {}).get(GRAPH, {})
    headers = {
        "Content-Type": _CONTENT_TYPE,
        "Content-Disposition": f'attachment; filename="{release.id}.nq"',
        "Cache-Control": "no-cache",
        # Its bytes never change under this name, so a part of it can be asked for again (RFC 9110, section 13.1.5).
        "ETag": f'"{about.get("sha256", release.id)}"',
    }

    async def download(request: Request) -> Response:
        """The file, or a part of it for a request with Range. Raises: ReleaseError: it is gone."""
        if unchanged := not_modified(request, headers):
            return unchanged
        if not file.is_file():
            raise ReleaseError(f"{file} is gone.")
        if request.scope.get("is_head"):
            return Response(headers={**headers, "Content-Length": str(file.stat().st_size), "Accept-Ranges": "bytes"})
        return FileResponse(file, headers=headers)

    app.router.routes.append(Route(DOWNLOAD, download, methods=["GET"]))
