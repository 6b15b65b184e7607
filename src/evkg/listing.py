"""Lists that are chosen by words and facets, as `/search` and `/results` are: what a request asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from evkg.endpoint import read_parameters, requested
from evkg.errors import UsageError
from evkg.etag import not_modified
from evkg.facet import Facet
from evkg.negotiate import Variant
from evkg.parameters import check_names, check_values
from evkg.problem import RequestError
from evkg.release import Release
from evkg.search import SORTS, Found, Search, read_selection
from evkg.search_index import SearchIndex
from evkg.search_service import SearchService
from evkg.search_view import LISTED, OPENED, SHOWN, FacetView, view_facets
from evkg.service import Service

_VARIANTS: Final = (Variant("text/html", "html"), Variant("application/json", "json"), Variant("text/csv", "csv"))


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for: a format, the headers of its answer, and what was found in an index."""

    format_name: str
    headers: dict[str, str]
    index: SearchIndex
    found: Found


class Listing:
    """The list of one release at `path`, with these facets; `within` keeps it to one value of a facet.

    `name` begins the name of the list in a message, and `of` stands where a message goes on.
    """

    def __init__(
        self,
        service: Service,
        release: Release,
        search: SearchService,
        *,
        path: str,
        facets: Sequence[Facet],
        name: str,
        of: str,
        within: tuple[str, str] | None = None,
    ) -> None:
        self.path = path
        self._service = service
        self._release = release
        self._index = search
        self._facets = facets
        self._words = (name, of)
        self._within = within
        self._parameters = [str(parameter["name"]) for parameter in describe_parameters(facets)["parameters"]]
        self._search: Search | None = None

    def ask(self, request: Request, format_name: str | None) -> Asked | Response:
        """What a request asks for, or the response that nothing has changed; `format_name` outranks Accept.

        Raises: RequestError: 400, a parameter that cannot be; 406; 503, there is no index yet.
        """
        name, of = self._words
        variant = requested(request, format_name, _VARIANTS, name, of=of)
        pairs = read_parameters(request.scope["query_string"])
        check_names([name for name, _ in pairs], self._parameters, self.path)
        try:
            selection = read_selection(pairs, self._facets)
        except UsageError as error:
            raise RequestError(400, str(error)) from error
        index = self._index.get()
        search = self._search
        if search is None or search.index is not index:
            search = self._search = Search(index, self._facets, self._within)
        known = index.facets
        check_values(selection.chosen, self._facets, self._release, lambda name, value: value in known.get(name, {}))
        cached = self._service.cache_headers(self.path[1:], variant.format_name, repr(selection))
        headers = {"Content-Type": variant.content_type, **cached}
        return not_modified(request, headers) or Asked(variant.format_name, headers, index, search.find(selection))

    def facets(self, asked: Asked) -> list[FacetView]:
        """The facets of what was found; a page has fewer of their values than JSON."""
        most = LISTED if asked.format_name == "json" else SHOWN + OPENED
        return view_facets(self._release, asked.index, asked.found, self._facets, self.path, most=most)

    def following(self, found: Found) -> str | None:
        """The address of the next page as JSON, if there is one."""
        selection = found.selection
        address = selection.url(f"{self.path}.json", page=selection.page + 1)
        return self._service.base + address if selection.page < found.pages else None

    def page_links(self, found: Found) -> dict[str, Any]:
        """The addresses that a page of a list needs: the pages beside it, and the same as data."""
        selection, path = found.selection, self.path
        number = selection.page
        return {
            "first": (number - 1) * 25 + 1,
            "last": min(number * 25, found.total),
            "previous": selection.url(path, page=min(number - 1, found.pages)) if number > 1 else None,
            "following": selection.url(path, page=number + 1) if number < found.pages else None,
            "as_json": selection.url(f"{path}.json", page=number),
            "as_csv": selection.url(f"{path}.csv"),
        }


def describe_parameters(facets: Sequence[Facet]) -> dict[str, Any]:
    """The parameters of a list with these facets, for OpenAPI."""

    def parameter(name: str, words: str, schema: dict[str, Any]) -> dict[str, Any]:
        return {"name": name, "in": "query", "required": False, "description": words, "schema": schema}

    texts = {"type": "array", "items": {"type": "string"}}
    return {
        "parameters": [
            parameter(
                "q",
                "Words that must all occur; phrases in quotes, a star behind the beginning of a word",
                {"type": "string"},
            ),
            *(parameter(facet.name, f"{facet.label}; several are alternatives", texts) for facet in facets),
            parameter("sort", "The order", {"type": "string", "enum": list(SORTS), "default": SORTS[0]}),
            parameter("page", "The page, from 1", {"type": "integer", "minimum": 1, "default": 1}),
        ]
    }
