"""The route `/search`: records by their words and by what they are, as a page, JSON or CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from evkg.evidence_table import csv_line
from evkg.facet import NONE, SEARCH, address
from evkg.jsontext import encode_json
from evkg.listing import Listing, describe_parameters
from evkg.negotiate import Variant
from evkg.pages import render_page
from evkg.release import Release
from evkg.search import SORTS, Found, Selection
from evkg.search_index import SearchIndex
from evkg.search_service import SearchService
from evkg.search_view import FacetView, HitView, view_hits
from evkg.service import Service

VARIANTS: Final = (Variant("text/html", "html"), Variant("application/json", "json"), Variant("text/csv", "csv"))
COLUMNS: Final = ("id", "kind", "name", "status", "printed_value", "unit", "doubt", "url", "system", "dataset")
_PATH: Final = "/search"
#: Records that are read from the index at once for a table (count).
_PORTION: Final = 500


def add_search(app: FastAPI, service: Service) -> None:
    """Add the route; `app.state.search` gives others the index. Without a release there is nothing to search."""
    release = service.release
    app.state.search = None if release is None else SearchService(release)
    if release is None:
        return
    route = SearchRoute(service, release, app.state.search)

    described = describe_parameters(SEARCH)

    @app.get("/search", openapi_extra=described)
    def search(request: Request) -> Response:
        """Records that hold the words `q` and fit the filters; a page, JSON (by pages) or CSV (all of them)."""
        return route.respond(request, None)

    @app.get("/search.json", openapi_extra=described)
    def search_json(request: Request) -> Response:
        """The same as JSON."""
        return route.respond(request, "json")

    @app.get("/search.csv", openapi_extra=described)
    def search_csv(request: Request) -> Response:
        """The same as CSV."""
        return route.respond(request, "csv")


class SearchRoute:
    """Answers searches of one release; its methods run in threads beside the server's loop."""

    def __init__(self, service: Service, release: Release, search: SearchService) -> None:
        self._service = service
        self._release = release
        self._list = Listing(service, release, search, path=_PATH, facets=SEARCH, name="A search", of="a search")

    def respond(self, request: Request, format_name: str | None) -> Response:
        """The response to a search; `format_name` outranks Accept.

        Raises: RequestError: as `Listing.ask`.
        """
        asked = self._list.ask(request, format_name)
        if isinstance(asked, Response):
            return asked
        index, found = asked.index, asked.found
        if asked.format_name == "csv":
            return Response("".join(self._csv(index, found)), headers=asked.headers)
        hits = view_hits(self._release, index, found.page, found.parts)
        facets = self._list.facets(asked)
        if asked.format_name == "json":
            return Response(encode_json(self._document(found, hits, facets)) + "\n", headers=asked.headers)
        return Response(self._page(index, found, hits, facets), headers=asked.headers)

    def _csv(self, index: SearchIndex, found: Found) -> Iterator[str]:
        yield csv_line(COLUMNS)
        for start in range(0, found.total, _PORTION):
            numbers = found.numbers[start : start + _PORTION]
            tested = [index.values(name, numbers) for name in ("system", "dataset")]
            names = index.labels({one for values in tested for ids in values.values() for one in ids})
            for hit in index.hits(numbers):
                about = ("; ".join(names.get(one, one) for one in values.get(hit.number, ())) for values in tested)
                printed, unit = hit.printed_value or "", hit.unit or ""
                cells = (hit.id, hit.kind, hit.name, hit.status, printed, unit, " ".join(hit.doubts), self._url(hit.id))
                yield csv_line((*cells, *about))

    def _url(self, record_id: str) -> str:
        return f"{self._service.base}/id/{record_id}"

    def _document(self, found: Found, hits: list[HitView], facets: list[FacetView]) -> dict[str, Any]:
        selection, base = found.selection, self._service.base
        return {
            "release": self._release.id,
            "conforms": self._release.conforms,
            "q": selection.text,
            "filters": {name: list(values) for name, values in selection.chosen},
            "sort": selection.sort,
            "total": found.total,
            "in_doubt": found.doubtful,
            "page": selection.page,
            "pages": found.pages,
            "next": self._list.following(found),
            "facets": {view.facet.name: [_value(base, value) for value in view.values] for view in facets},
            "hits": [
                {
                    "id": view.hit.id,
                    "kind": view.hit.kind,
                    "name": view.hit.name,
                    "status": view.hit.status,
                    "printed_value": view.hit.printed_value,
                    "unit": view.hit.unit,
                    "doubt": list(view.hit.doubts),
                    "url": self._url(view.hit.id),
                    "system": list(view.systems),
                    "dataset": list(view.data),
                    "found_in": view.found_in and {"field": view.found_in.field, "text": view.found_in.text},
                }
                for view in hits
            ],
        }

    def _page(self, index: SearchIndex, found: Found, hits: list[HitView], facets: list[FacetView]) -> str:
        selection = found.selection
        return render_page(
            "search.html",
            self._release,
            path=_PATH,
            found=found,
            selection=selection,
            hits=hits,
            facets=facets,
            sorts=[(sort, selection.url(_PATH, sort=sort)) for sort in SORTS],
            without_doubt=selection.url(_PATH, {**selection.filters, "doubt": (NONE,)}) if found.doubtful else None,
            only_text=address(_PATH, {}, q=selection.text),
            help=self._help(index, found) if not found.total else None,
            **self._list.page_links(found),
        )

    def _help(self, index: SearchIndex, found: Found) -> dict[str, Any]:
        """What may be tried where nothing is found: each word by itself, and words that are spelt nearly alike."""
        selection = found.selection
        words = []
        for part in found.parts:
            count = index.holding(part)
            near = index.nearest(part.tokens[0]) if not count and len(part.tokens) == 1 else []
            near_urls = [(word, Selection(selection.text.replace(part.shown, word)).url(_PATH)) for word in near]
            words.append((part.shown, count, Selection(part.shown).url(_PATH), near_urls))
        return {"words": words, "has_words": bool(found.parts) or not selection.text}


def _value(base: str, value: Any) -> dict[str, Any]:
    return {
        "value": value.value,
        "label": value.label,
        "records": value.records,
        "chosen": value.is_chosen,
        "url": base + value.url,
    }
