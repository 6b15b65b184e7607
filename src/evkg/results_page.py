"""The route `/results`: results chosen by what was tested, on what, how, and who says so; a page, JSON or CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from evkg.evidence_table import csv_line
from evkg.facet import NONE, RESULTS, Chosen, address
from evkg.jsontext import encode_json
from evkg.listing import Listing, describe_parameters
from evkg.measurement_table import Row, RowReader
from evkg.pages import render_page
from evkg.release import Release
from evkg.result_table import COLUMNS, read_measurement, row_cells, row_json
from evkg.search import Found
from evkg.search_index import SearchIndex
from evkg.search_service import SearchService
from evkg.search_view import FacetView
from evkg.service import Service

_PATH: Final = "/results"
#: Results that are read at once for a table (count).
_PORTION: Final = 200


def add_results(app: FastAPI, service: Service) -> None:
    """Add the route; it needs what `search_page.add_search` adds before."""
    release = service.release
    if release is None:
        return
    route = ResultsRoute(service, release, app.state.search)

    described = describe_parameters(RESULTS)

    @app.get("/results", openapi_extra=described)
    def results(request: Request) -> Response:
        """Results by filters: system, protocol, dataset, setup (evaluation), metric, origin; several of one are or."""
        return route.respond(request, None)

    @app.get("/results.json", openapi_extra=described)
    def results_json(request: Request) -> Response:
        """The same as JSON, by pages."""
        return route.respond(request, "json")

    @app.get("/results.csv", openapi_extra=described)
    def results_csv(request: Request) -> Response:
        """The same as CSV, all of them."""
        return route.respond(request, "csv")


class ResultsRoute:
    """Answers for one release; its methods run in threads beside the server's loop."""

    def __init__(self, service: Service, release: Release, search: SearchService) -> None:
        self._service = service
        self._release = release
        names = {"name": "Results", "of": "results"}
        within = ("kind", "result")
        self._list = Listing(service, release, search, path=_PATH, facets=RESULTS, within=within, **names)

    def respond(self, request: Request, format_name: str | None) -> Response:
        """The response to a choice of results; `format_name` outranks Accept.

        Raises: RequestError: as `Listing.ask`.
        """
        asked = self._list.ask(request, format_name)
        if isinstance(asked, Response):
            return asked
        index, found = asked.index, asked.found
        if asked.format_name == "csv":
            return StreamingResponse(self._csv(index, found), headers=asked.headers)
        rows = self._rows(index, found.page)
        facets = self._list.facets(asked)
        if asked.format_name == "json":
            return Response(encode_json(self._document(found, rows, facets)) + "\n", headers=asked.headers)
        return Response(self._page(found, rows, facets), headers=asked.headers)

    def _csv(self, index: SearchIndex, found: Found) -> Iterator[str]:
        """The lines in portions, each with lookups of its own, so that memory does not grow with the results."""
        yield csv_line(COLUMNS)
        for start in range(0, found.total, _PORTION):
            rows = self._rows(index, found.numbers[start : start + _PORTION])
            yield "".join(csv_line(row_cells(row, self._service.base)) for row in rows)

    def _rows(self, index: SearchIndex, numbers: Sequence[int]) -> list[Row]:
        reader = RowReader(self._release)
        return [reader.row(read_measurement(reader.facts, hit.id)) for hit in index.hits(numbers)]

    def _document(self, found: Found, rows: list[Row], facets: list[FacetView]) -> dict[str, Any]:
        selection, base = found.selection, self._service.base
        return {
            "release": self._release.id,
            "conforms": self._release.conforms,
            "filters": {name: list(values) for name, values in selection.chosen},
            "total": found.total,
            "in_doubt": found.doubtful,
            "page": selection.page,
            "pages": found.pages,
            "next": self._list.following(found),
            "facets": {
                view.facet.name: [
                    {"value": value.value, "label": value.label, "results": value.records, "url": base + value.url}
                    for value in view.values
                ]
                for view in facets
            },
            "results": [row_json(row, base) for row in rows],
        }

    def _page(self, found: Found, rows: list[Row], facets: list[FacetView]) -> str:
        selection = found.selection
        protocols = [view for view in facets if view.facet.name == "protocol"]
        return render_page(
            "results.html",
            self._release,
            found=found,
            selection=selection,
            rows=rows,
            facets=facets,
            everything=address(_PATH, {}),
            compare_url=address("/compare", {}, **_single(selection.filters, ("protocol", "dataset", "metric"))),
            evaluations=len([count for count in found.facets["setup"] if count.value != NONE]),
            several_protocols=sum(len(view.values) for view in protocols) > 1,
            **self._list.page_links(found),
        )


def _single(chosen: Chosen, names: Iterable[str]) -> dict[str, str]:
    """The facets of which exactly one value is chosen, and one that is a record or a key."""
    return {name: chosen[name][0] for name in names if len(chosen.get(name, ())) == 1 and chosen[name][0] != NONE}
