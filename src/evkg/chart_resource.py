"""Charts over HTTP: how each is sent, and the routes of those that belong to no other page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, cast

from fastapi import FastAPI, Query
from starlette.requests import Request
from starlette.responses import Response

from evkg.chart import POLICY, Chart
from evkg.chart_renderer import ChartRenderer
from evkg.etag import not_modified
from evkg.model_diagram import model_csv, model_diagram, read_model
from evkg.problem import RequestError
from evkg.provenance import provenance_csv, read_provenance
from evkg.provenance_diagram import SOURCES, provenance_diagram
from evkg.release import Release
from evkg.service import Service

_Id = Annotated[str | None, Query(description="The id of a record")]


class Charts:
    """The charts of one application: drawn beside it, kept, and sent with an ETag."""

    def __init__(self) -> None:
        self.renderer = ChartRenderer()

    def response(self, request: Request, service: Service, key: tuple[str, ...], make: Callable[[], Chart]) -> Response:
        """The response with the chart of a key; `make` gives what is to be drawn.

        Raises: WorkersBusyError: too many wait. What `make` raises.
        """
        headers = {
            "Content-Type": "image/svg+xml",
            "Content-Security-Policy": POLICY,
            **service.cache_headers("chart", *key),
        }
        return not_modified(request, headers) or Response(self.renderer.svg(key, make), headers=headers)


def charts_of(app: FastAPI) -> Charts:
    """The charts of an application, made when they are first asked for."""
    if not hasattr(app.state, "charts"):
        app.state.charts = Charts()
    return cast("Charts", app.state.charts)


def is_narrow(request: Request) -> bool:
    """Whether the picture for a phone is asked for."""
    return request.query_params.get("narrow") == "1"


def _known(release: Release, record_id: str | None) -> str:
    """The id of a record that is there. Raises: RequestError: none is given. NotFoundError: there is no such record."""
    if not record_id:
        raise RequestError(400, "Say whose provenance: ?id= with the id of a record.", more={"parameter": "id"})
    release.record_line(record_id)
    return record_id


def add_charts(app: FastAPI, service: Service) -> None:
    """Add the diagrams of records and of the model, and their data; without a release there are none."""
    release = service.release
    if release is None:
        return
    charts = charts_of(app)

    def sheet(request: Request, text: Callable[[], str], *key: str) -> Response:
        headers = {"Content-Type": "text/csv; charset=utf-8", **service.cache_headers("chart data", *key)}
        return not_modified(request, headers) or Response(text(), headers=headers)

    # Below /id/ any name may be the id of a record, so the pictures of records stand beside it.
    @app.get("/provenance.svg")
    def provenance(request: Request, id: _Id = None) -> Response:  # noqa: A002 - the name of the parameter
        """Where a record comes from, as a diagram; `narrow` is the one for a phone."""
        record_id = _known(release, id)
        narrow = is_narrow(request)
        return charts.response(
            request,
            service,
            ("provenance", record_id, str(narrow)),
            lambda: provenance_diagram(read_provenance(release, record_id, most=SOURCES), narrow=narrow),
        )

    @app.get("/provenance.csv")
    def provenance_data(request: Request, id: _Id = None) -> Response:  # noqa: A002 - the name of the parameter
        """Where a record comes from, as a table."""
        record_id = _known(release, id)
        return sheet(request, lambda: provenance_csv(read_provenance(release, record_id)), "provenance", record_id)

    @app.get("/ontology/diagram.svg")
    def model(request: Request) -> Response:
        """The kinds of records and the links between them, as a diagram; `narrow` is the one for a phone."""
        narrow = is_narrow(request)
        return charts.response(
            request,
            service,
            ("model", str(narrow)),
            lambda: model_diagram(read_model(release.vocabulary), narrow=narrow),
        )

    @app.get("/ontology/diagram.csv")
    def model_data(request: Request) -> Response:
        """The links between kinds of records, as a table."""
        return sheet(request, lambda: model_csv(read_model(release.vocabulary)), "model")
