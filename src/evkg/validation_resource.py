"""The route `/validation`: the report of a release in numbers, as a page, JSON, or the completeness table as CSV."""

from __future__ import annotations

from typing import Final, cast

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from evkg.chart_resource import charts_of, is_narrow
from evkg.endpoint import requested
from evkg.errors import excerpt
from evkg.etag import not_modified
from evkg.gaps import By
from evkg.negotiate import Variant
from evkg.problem import RequestError
from evkg.service import Service

VARIANTS: Final = (
    Variant("text/html", "html"),
    Variant("application/json", "json"),
    Variant("text/csv", "csv"),
)
_BY: Final = ("kind", "source", "field")


def add_validation(app: FastAPI, service: Service) -> None:
    """Add the route; without a release there is no report."""
    release = service.release
    if release is None:
        return
    from evkg.validation_page import Validation

    validation = Validation(release)

    @app.get("/validation")
    def validated(request: Request) -> Response:
        """Findings by rule, completeness `by` kind, source or field; `format` (html, json, csv) outranks Accept."""
        by = request.query_params.get("by", "kind")
        if by not in _BY:
            raise RequestError(400, f"by must be one of {', '.join(_BY)}, not {excerpt(by, 40)!r}.")
        variant = requested(
            request, request.query_params.get("format"), VARIANTS, "The validation report", of="this page"
        )
        headers = {"Content-Type": variant.content_type, **service.cache_headers("validation", by, variant.format_name)}
        unchanged = not_modified(request, headers)
        return unchanged or Response(validation.text(cast("By", by), variant.format_name), headers=headers)

    @app.get("/validation/heatmap.svg")
    def heat_map(request: Request) -> Response:
        """How complete the records are, by kind and field, as a picture; `narrow` is the one for a phone."""
        narrow = is_narrow(request)
        key = ("heat map", str(narrow))
        return charts_of(app).response(request, service, key, lambda: validation.picture(narrow=narrow))
