"""The route `/evidence`: pages of the evidence table as JSON, the table as CSV or JSON Lines, streamed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from threading import Semaphore
from typing import Final
from urllib.parse import urlencode

from fastapi import FastAPI
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from evkg.endpoint import requested
from evkg.errors import excerpt
from evkg.etag import not_modified
from evkg.evidence import COLUMNS, Evidence, Row, Selection
from evkg.evidence_index import EvidenceIndex
from evkg.evidence_table import TABLES
from evkg.jsontext import Json, encode_json
from evkg.negotiate import Variant
from evkg.parameters import check_names
from evkg.problem import RequestError
from evkg.release import Release
from evkg.service import Service
from evkg.worker import WorkersBusyError

#: JSON comes in pages; the tables are whole unless a page is asked for.
VARIANTS: Final = (
    Variant("application/json", "json"),
    Variant("text/csv", "csv"),
    Variant("application/x-ndjson", "jsonl"),
    Variant("application/jsonl", "jsonl"),
)
#: Rows of a page, if nothing is said, and at most (count).
PAGE_ROWS: Final = 100
MOST_ROWS: Final = 1000
#: The largest offset that is a number of rows at all.
_MOST_OFFSET: Final = 10**12
_PIECE_CHARACTERS: Final = 64 << 10
#: How long a client may leave a piece untaken (seconds), and how many tables may be on their way at once (count).
_PIECE_SECONDS: Final = 60.0
_MOST_TABLES: Final = 4
_PARAMETERS: Final = ("record", "scope", "source", "format", "offset", "limit")


def add_evidence(app: FastAPI, service: Service) -> None:
    """Add the route; without a release there are no records, so no evidence."""
    if service.release is None:
        return
    route = EvidenceRoute(service, service.release)

    @app.get("/evidence")
    def evidence(request: Request) -> Response:
        """The evidence table: pages as JSON, or the table as CSV or JSON Lines."""
        return route.respond(request)


class _TableResponse(StreamingResponse):
    """A table that is sent while it is made; a client that stops reading is given up."""

    def __init__(self, pieces: Iterator[str], tables: Semaphore, headers: Mapping[str, str]) -> None:
        super().__init__(pieces, headers=headers)
        self._tables = tables

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._tables.release()

    async def stream_response(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async for piece in self.body_iterator:
                data = piece.encode() if isinstance(piece, str) else piece
                async with asyncio.timeout(_PIECE_SECONDS):
                    await send({"type": "http.response.body", "body": data, "more_body": True})
        except TimeoutError:
            raise ClientDisconnect from None
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class EvidenceRoute:
    """Answers requests for evidence from one release; its methods run in threads beside the server's loop."""

    def __init__(self, service: Service, release: Release) -> None:
        self._service = service
        self._release = release
        self._evidence = Evidence(release)
        self._index = EvidenceIndex(self._evidence)
        self._tables = Semaphore(_MOST_TABLES)

    def respond(self, request: Request) -> Response:
        """The response to a request: `record`, `scope`, `source` choose rows, `offset` and `limit` a page, `format`
        (json, csv, jsonl) outranks Accept.

        Raises: RequestError: a value that cannot be; 406. UsageError: no such scope. NotFoundError: no such record or
            source. WorkersBusyError: too many tables are on their way. ReleaseError: the records cannot be read.
        """
        values = self._values(request)
        variant = requested(request, values.get("format"), VARIANTS, "Evidence", of="evidence")
        selection = Selection(values.get("record"), values.get("scope"), values.get("source"))
        self._evidence.record_ids(selection)  # an unknown record is told before anything is sent
        tag = urlencode(sorted(values.items()))
        cached = self._service.cache_headers("evidence", variant.format_name, tag)
        headers = {"Content-Type": variant.content_type, **cached}
        unchanged = not_modified(request, headers)
        if unchanged is not None:
            return unchanged
        offset = _count(values, "offset", 0, 0, _MOST_OFFSET)
        limit = _count(values, "limit", PAGE_ROWS, 1, MOST_ROWS)
        if variant.format_name == "json":
            return Response(self._page(values, selection, offset, limit), headers=headers)
        if "offset" in values or "limit" in values:
            rows: Iterable[Row] = self._index.page(selection, offset=offset, limit=limit).rows
        else:
            rows = self._evidence.rows(selection)
        if not self._tables.acquire(blocking=False):
            raise WorkersBusyError("Too many tables of evidence are being sent. Try again in a moment.")
        return _TableResponse(_pieces(TABLES[variant.format_name](rows)), self._tables, headers)

    def _values(self, request: Request) -> dict[str, str]:
        values: dict[str, str] = {}
        check_names(request.query_params, _PARAMETERS, "/evidence")
        for name, value in request.query_params.multi_items():
            if name in values:
                raise RequestError(400, f"The parameter {name} is given twice.")
            values[name] = value
        return values

    def _page(self, values: Mapping[str, str], selection: Selection, offset: int, limit: int) -> str:
        page = self._index.page(selection, offset=offset, limit=limit)
        behind = offset + len(page.rows)
        following = {**values, "offset": str(behind), "limit": str(limit)}
        has_more = bool(page.rows) and behind < page.total
        document: dict[str, Json] = {
            "release": self._release.id,
            "conforms": self._release.conforms,
            "total": page.total,
            "offset": offset,
            "limit": limit,
            "next": f"{self._service.base}/evidence?{urlencode(following)}" if has_more else None,
            "rows": [dict(zip(COLUMNS, row, strict=True)) for row in page.rows],
        }
        return encode_json(document) + "\n"


def _count(values: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    text = values.get(name, str(default))
    if text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and least <= int(text) <= most:
        return int(text)
    raise RequestError(400, f"{name} must be a whole number from {least} to {most}, not {excerpt(text, 40)!r}.")


def _pieces(lines: Iterable[str]) -> Iterator[str]:
    """Lines in pieces of some size: a row alone is too little to send."""
    waiting: list[str] = []
    size = 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size >= _PIECE_CHARACTERS:
            yield "".join(waiting)
            waiting, size = [], 0
    yield "".join(waiting)
