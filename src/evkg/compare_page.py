"""The route `/compare`: results side by side, or every reason against it, as a page or as JSON."""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from evkg.candidate import CONDITIONS
from evkg.compare import MOST, Comparison, compare
from evkg.endpoint import requested
from evkg.errors import UsageError
from evkg.jsontext import encode_json
from evkg.negotiate import Variant
from evkg.pages import render_page
from evkg.problem import RequestError
from evkg.release import Release
from evkg.service import Service

#: A browser gets the page, a program JSON.
VARIANTS: Final = (Variant("text/html", "html"), Variant("application/json", "json"))


def add_compare(app: FastAPI, service: Service) -> None:
    """Add the route; without a release nothing is derived, so nothing can be compared."""
    release = service.release
    if release is None:
        return

    @app.get("/compare")
    def compared(request: Request) -> Response:
        """May the results `id` be compared? `ignore` names conditions to leave out; `format` outranks Accept."""
        query = request.query_params
        ids = [part for value in query.getlist("id") for part in value.split()]
        ignored = [part for value in query.getlist("ignore") for part in value.split(",") if part]
        variant = requested(request, query.get("format"), VARIANTS, "A comparison", of="this page")
        try:
            answer = compare(release, ids, ignore=ignored)
        except UsageError as error:
            raise RequestError(400, str(error)) from error
        if variant.format_name == "json":
            document = {"release": release.id, "conforms": release.conforms, **answer.as_json()}
            return Response(encode_json(document), headers={"Content-Type": variant.content_type})
        return Response(render_compare(release, answer), headers={"Content-Type": variant.content_type})


def render_compare(release: Release, answer: Comparison) -> str:
    """The page of an answer; without ids only the form that asks for some."""
    return render_page("compare.html", release, answer=answer, conditions=CONDITIONS, most=MOST)
