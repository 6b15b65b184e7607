"""The route `/compare`: leaderboards, or results side by side or every reason against it; as a page, JSON or CSV."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import Any, Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from evkg.candidate import CONDITIONS
from evkg.chart import Chart
from evkg.chart_resource import charts_of, is_narrow
from evkg.compare import compare
from evkg.dotplot import dot_plot, shown
from evkg.endpoint import requested
from evkg.errors import NotFoundError, UsageError, excerpt
from evkg.etag import not_modified
from evkg.jsontext import encode_json
from evkg.leaderboard import Board, read_board
from evkg.leaderboard_group import SORTS
from evkg.leaderboard_index import Pair, read_pairs
from evkg.leaderboard_page import Query, render_board, render_index, render_selection, selected_group
from evkg.leaderboard_table import board_csv, board_json, comparison_csv, pairs_csv, pairs_json
from evkg.negotiate import Variant
from evkg.parameters import check_names
from evkg.problem import RequestError
from evkg.release import Release
from evkg.service import Service

#: A browser gets the page, a program JSON.
VARIANTS: Final = (Variant("text/html", "html"), Variant("application/json", "json"), Variant("text/csv", "csv"))
_PARAMETERS: Final = ("id", "protocol", "dataset", "metric", "ignore", "sort", "group", "q", "page", "format", "narrow")
#: How many leaderboards are kept (count).
_KEPT: Final = 16


class Comparisons:
    """What `/compare` says of a release: the list is read once, and the leaderboards asked for last are kept."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self._lock = Lock()
        self._pairs: tuple[Pair, ...] | None = None
        self._board = lru_cache(_KEPT)(self._read)

    def pairs(self) -> tuple[Pair, ...]:
        """The list of leaderboards."""
        with self._lock:  # one thread reads, the others wait for it
            if self._pairs is None:
                self._pairs = read_pairs(self.release)
            return self._pairs

    def board(self, query: Query, *, everything: bool = False) -> Board:
        """The leaderboard that a query asks for.

        Raises: as `read_board`.
        """
        asked = (query.protocol, query.dataset, query.metric, query.ignored)
        board = self._board(*asked, False)
        return self._board(*asked, True) if board.is_wide and everything else board

    def _read(
        self, protocol: str | None, dataset: str | None, metric: str | None, ignored: tuple[str, ...], everything: bool
    ) -> Board:
        return read_board(
            self.release, protocol=protocol, dataset=dataset, metric=metric, ignore=ignored, everything=everything
        )

    def chart(self, query: Query, *, narrow: bool) -> Chart:
        """The picture of the group that a query names, of its first group, or of its selection.

        Raises: as `read_board`; NotFoundError: there is no such group, or nothing in it to draw.
        """
        if query.ids:
            group = selected_group(self.release, query)
        else:
            board = self.board(query, everything=True)
            group = board.group(query.group) if query.group else next(iter(board.groups), None)
        if group is None or not shown(group):
            raise NotFoundError("There is nothing here to be drawn: only results that may be compared have a picture.")
        return dot_plot(group, narrow=narrow)

    def answer(self, query: Query, format_name: str) -> str:
        """The answer to a query: a page, JSON or CSV.

        Raises: as `read_board` and `compare`; NotFoundError: there is no such group.
        """
        if query.ids:
            return self._selection(query, format_name)
        if query.protocol is None and query.dataset is None:
            return self._index(query, format_name)
        board = self.board(query, everything=format_name != "html")
        group = board.group(query.group) if query.group else None
        if format_name == "json":
            return encode_json({**self._about(), **board_json(board, group=group)})
        return board_csv(board, group=group) if format_name == "csv" else render_board(self.release, board, query)

    def _selection(self, query: Query, format_name: str) -> str:
        answer = compare(self.release, query.ids, ignore=query.ignored)
        if format_name == "json":
            return encode_json({**self._about(), **answer.as_json()})
        return comparison_csv(answer) if format_name == "csv" else render_selection(self.release, answer, query)

    def _index(self, query: Query, format_name: str) -> str:
        pairs = self.pairs()
        if format_name == "json":
            return encode_json({**self._about(), "leaderboards": [*pairs_json(pairs)]})
        return pairs_csv(pairs) if format_name == "csv" else render_index(self.release, pairs, query)

    def _about(self) -> dict[str, Any]:
        return {"release": self.release.id, "conforms": self.release.conforms}


def read_query(request: Request) -> Query:
    """What an address asks for; empty parameters count as not given.

    Raises: RequestError: 400, a number or an order that cannot be.
    """
    given = request.query_params
    check_names(given, _PARAMETERS, "/compare")
    one = {name: given.get(name, "").strip() or None for name in ("protocol", "dataset", "metric", "group")}
    sort = given.get("sort") or "best"
    if sort.removeprefix("-") not in SORTS:
        raise RequestError(400, f"There is no order {excerpt(sort, 40)!r}; there are {', '.join(SORTS)}.")
    page = given.get("page") or "1"
    if not page.isascii() or not page.isdigit() or not 0 < len(page) < 7 or int(page) < 1:
        raise RequestError(400, f"page is a number from 1, not {excerpt(page, 40)!r}.")
    return Query(
        tuple(part for value in given.getlist("id") for part in value.split()),
        one["protocol"],
        one["dataset"],
        one["metric"],
        tuple(dict.fromkeys(_key(part) for value in given.getlist("ignore") for part in value.split(",") if part)),
        sort,
        one["group"],
        given.get("q", "").strip(),
        int(page),
    )


def _key(name: str) -> str:
    """The key of a condition that is named by its key or its path; anything else as it is."""
    return next((condition.key for condition in CONDITIONS if name in (condition.key, condition.path)), name)


def add_compare(app: FastAPI, service: Service) -> None:
    """Add the route; without a release nothing is derived, so nothing can be compared."""
    release = service.release
    if release is None:
        return
    comparisons = Comparisons(release)

    @app.get("/compare")
    def compared(request: Request) -> Response:
        """Leaderboards by `protocol`, `dataset` and `metric`, or the results `id` side by side, or a list of all.

        `ignore` names conditions to leave out, `sort` orders, `group` picks one; `format` outranks Accept.
        """
        variant = requested(request, request.query_params.get("format"), VARIANTS, "A comparison", of="this page")
        query = read_query(request)
        about = service.cache_headers("compare", query.address(), variant.format_name)
        headers = {"Content-Type": variant.content_type, **about}
        try:
            return not_modified(request, headers) or Response(
                comparisons.answer(query, variant.format_name), headers=headers
            )
        except UsageError as error:
            raise RequestError(400, str(error)) from error
        except NotFoundError as error:  # ids that are near lead nowhere from here, so they are named only
            raise RequestError(404, str(error)) from error

    @app.get("/compare/chart.svg")
    def charted(request: Request) -> Response:
        """The picture of a comparison: the same parameters as `/compare`; `narrow` is the one for a phone."""
        query, narrow = read_query(request), is_narrow(request)
        return charts_of(app).response(
            request, service, ("compare", query.address(), str(narrow)), lambda: comparisons.chart(query, narrow=narrow)
        )
