"""The route `/results`: results chosen by what was tested, on what, how, and who says so; a page, JSON or CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from evkg.endpoint import read_parameters, requested
from evkg.errors import UsageError
from evkg.etag import not_modified
from evkg.evidence_table import csv_cell
from evkg.facet import NONE, RESULTS, Chosen, address
from evkg.jsontext import encode_json
from evkg.measurement_table import Row, RowReader
from evkg.pages import render_page
from evkg.parameters import check_names, check_values
from evkg.problem import RequestError
from evkg.release import Release
from evkg.result_table import COLUMNS, read_measurement, row_cells, row_json
from evkg.search import Found, Search, read_selection
from evkg.search_index import SearchIndex
from evkg.search_page import VARIANTS, describe_parameters, list_parameters, page_links
from evkg.search_service import SearchService
from evkg.search_view import LISTED, OPENED, SHOWN, FacetView, view_facets
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
        self._index = search
        self._search: Search | None = None

    def respond(self, request: Request, format_name: str | None) -> Response:
        """The response to a choice of results; `format_name` outranks Accept.

        Raises: RequestError: 400, a parameter that cannot be; 406; 503, there is no index yet.
        """
        variant = requested(request, format_name, VARIANTS, "Results", of="results")
        pairs = read_parameters(request.scope["query_string"])
        check_names([name for name, _ in pairs], list_parameters(RESULTS), _PATH)
        try:
            selection = read_selection(pairs, RESULTS)
        except UsageError as error:
            raise RequestError(400, str(error)) from error
        index = self._index.get()
        if self._search is None or self._search.index is not index:
            self._search = Search(index, RESULTS, ("kind", "result"))
        check_values(selection.chosen, RESULTS, self._release, lambda name, value: value in index.facets.get(name, {}))
        cached = self._service.cache_headers("results", variant.format_name, repr(selection))
        headers = {"Content-Type": variant.content_type, **cached}
        if unchanged := not_modified(request, headers):
            return unchanged
        found = self._search.find(selection)
        if variant.format_name == "csv":
            return StreamingResponse(self._csv(index, found), headers=headers)
        rows = self._rows(index, found.page)
        most = LISTED if variant.format_name == "json" else SHOWN + OPENED
        facets = view_facets(self._release, index, found, RESULTS, _PATH, most=most)
        if variant.format_name == "json":
            return Response(encode_json(self._document(found, rows, facets)) + "\n", headers=headers)
        return Response(self._page(index, found, rows, facets), headers=headers)

    def _csv(self, index: SearchIndex, found: Found) -> Iterator[str]:
        """The lines in portions, each with lookups of its own, so that memory does not grow with the results."""
        yield _line(COLUMNS)
        for start in range(0, found.total, _PORTION):
            rows = self._rows(index, found.numbers[start : start + _PORTION])
            yield "".join(_line(row_cells(row, self._service.base)) for row in rows)

    def _rows(self, index: SearchIndex, numbers: Sequence[int]) -> list[Row]:
        reader = RowReader(self._release)
        return [reader.row(read_measurement(reader.facts, hit.id)) for hit in index.hits(numbers)]

    def _document(self, found: Found, rows: list[Row], facets: list[FacetView]) -> dict[str, Any]:
        selection, base = found.selection, self._service.base
        following = selection.url(f"{_PATH}.json", page=selection.page + 1)
        return {
            "release": self._release.id,
            "conforms": self._release.conforms,
            "filters": {name: list(values) for name, values in selection.chosen},
            "total": found.total,
            "in_doubt": found.doubtful,
            "page": selection.page,
            "pages": found.pages,
            "next": base + following if selection.page < found.pages else None,
            "facets": {
                view.facet.name: [
                    {"value": value.value, "label": value.label, "results": value.records, "url": base + value.url}
                    for value in view.values
                ]
                for view in facets
            },
            "results": [row_json(row, base) for row in rows],
        }

    def _page(self, index: SearchIndex, found: Found, rows: list[Row], facets: list[FacetView]) -> str:
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
            **page_links(selection, found, _PATH),
        )


def _single(chosen: Chosen, names: Iterable[str]) -> dict[str, str]:
    """The facets of which exactly one value is chosen, and one that is a record or a key."""
    return {name: chosen[name][0] for name in names if len(chosen.get(name, ())) == 1 and chosen[name][0] != NONE}


def _line(cells: Iterable[str]) -> str:
    return ",".join(map(csv_cell, cells)) + "\n"
