"""The answer of a remote store on its way: fetched and written anew in a thread, taken piece by piece."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic
from typing import IO, Any, Final, Self, cast

import httpx
import pyoxigraph as ox

from evkg.errors import QueryError, QueryLimitError, excerpt
from evkg.limits import Limits
from evkg.problem import RequestError
from evkg.rowstream import Outlet, stream_answer
from evkg.sparql import Query
from evkg.store import is_graph

#: What is asked for: of tables JSON, whose end can be told; of graphs N-Triples first.
_ACCEPT_TABLE: Final = "application/sparql-results+json, application/sparql-results+xml;q=0.5"
_ACCEPT_GRAPH: Final = "application/n-triples, text/turtle;q=0.8, application/rdf+xml;q=0.5"
_TABLES: Final = {
    "application/sparql-results+json": ox.QueryResultsFormat.JSON,
    "application/json": ox.QueryResultsFormat.JSON,
    "application/sparql-results+xml": ox.QueryResultsFormat.XML,
}
_GRAPHS: Final = {
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "text/plain": ox.RdfFormat.N_TRIPLES,
    "text/turtle": ox.RdfFormat.TURTLE,
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
}
_CONNECT_SECONDS: Final = 5.0
_ERROR_BYTES: Final = 2000


class _Gone(Exception):  # noqa: N818 - nothing went wrong
    """Nobody waits for the answer any more."""


class RemoteAnswer:
    """An answer on its way; the `Rest` of it after `first`. `on_end` is called once, when it is over."""

    def __init__(
        self,
        http: httpx.Client,
        url: str,
        query: Query,
        format_name: str,
        parameters: list[tuple[str, str]],
        limits: Limits,
    ) -> None:
        self.is_over = False
        self.on_end: Callable[[], None] = lambda: None
        self._http = http
        self._url = url
        self._query = query
        self._format = format_name
        self._parameters = parameters
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._pieces: asyncio.Queue[tuple[bytes, bool] | Exception] = asyncio.Queue(2)
        self._end = monotonic() + limits.seconds
        self._handed_out: float | None = None
        self._is_closed = threading.Event()
        self._socket: socket.socket | None = None

    def start(self) -> None:
        """Begin to fetch."""
        threading.Thread(target=self._run, name="remote", daemon=True).start()

    async def first(self) -> bytes:
        """The first piece, which may be the last too. Raises: as `RemoteStore.begin`."""
        return await self.__anext__()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if self.is_over:
            raise StopAsyncIteration
        if self._handed_out is not None:  # the time that its client took does not count
            self._end += monotonic() - self._handed_out
        try:
            async with asyncio.timeout(max(self._end - monotonic(), 0)):
                found = await self._pieces.get()
        except BaseException as error:
            self.close()
            if isinstance(error, TimeoutError):
                raise _too_long(self._limits) from None
            raise
        self._handed_out = monotonic()
        if isinstance(found, Exception):
            self.close()
            raise found
        piece, is_last = found
        if is_last:
            self.close()
        return piece

    def close(self) -> None:
        """Give the answer up; the other side sees its connection closed."""
        if self.is_over:
            return
        self.is_over = True
        self._is_closed.set()
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)  # which wakes the thread that reads
        while not self._pieces.empty():
            self._pieces.get_nowait()
        self.on_end()

    def _put(self, piece: tuple[bytes, bool] | Exception) -> None:
        """Hand a piece on, when there is room. Raises: _Gone."""
        if self._is_closed.is_set():
            raise _Gone
        asyncio.run_coroutine_threadsafe(self._pieces.put(piece), self._loop).result()

    def _run(self) -> None:
        with suppress(_Gone, RuntimeError):  # RuntimeError: the loop is closed
            try:
                self._fetch()
            except (_Gone, QueryError, RequestError) as error:
                self._put(error)
            except httpx.TimeoutException:
                self._put(_too_long(self._limits))
            except (httpx.HTTPError, SyntaxError, ValueError, OSError) as error:
                reason = excerpt(str(error)) or type(error).__name__
                self._put(RequestError(502, f"The remote store does not answer as it should: {reason}."))

    def _fetch(self) -> None:
        accept = _ACCEPT_GRAPH if is_graph(self._query) else _ACCEPT_TABLE
        headers = {"Accept": accept, "User-Agent": "evkg"}
        with self._http.stream("POST", self._url, data=_form(self._parameters), headers=headers) as response:
            stream = response.extensions.get("network_stream")
            self._socket = stream.get_extra_info("socket") if stream is not None else None
            if self._is_closed.is_set():
                raise _Gone
            if response.status_code != 200:
                raise _refusal(response)
            self._write(response)

    def _write(self, response: httpx.Response) -> None:
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        formats: dict[str, Any] = dict(_GRAPHS if is_graph(self._query) else _TABLES)
        if media_type not in formats:
            raise RequestError(502, f"The remote store answered with {excerpt(media_type, 60) or 'no type'}.")
        source = _Reader(response.iter_bytes(), self._is_closed)
        outlet = Outlet(
            lambda piece, is_last: self._put((piece, is_last)),
            format_name=self._format,
            most_rows=self._limits.rows,
            most_bytes=self._limits.result_bytes,
        )
        if is_graph(self._query):
            quads = ox.parse(input=cast("IO[bytes]", source), format=formats[media_type], base_iri=self._url)
            stream_answer(self._query, (quad.triple for quad in quads), self._format, outlet)
        else:
            stream_answer(
                self._query,
                ox.parse_query_results(cast("IO[bytes]", source), format=formats[media_type]),
                self._format,
                outlet,
            )


class _Reader:
    """The bytes of a response as a file, for parsers."""

    def __init__(self, parts: Iterator[bytes], is_closed: threading.Event) -> None:
        self._parts = parts
        self._is_closed = is_closed
        self._left = b""

    def read(self, size: int = -1) -> bytes:
        """Up to so many bytes; none at the end. Raises: _Gone."""
        if self._is_closed.is_set():
            raise _Gone
        while not self._left:
            part = next(self._parts, None)
            if part is None:
                return b""
            self._left = part
        taken, self._left = (self._left, b"") if size < 0 else (self._left[:size], self._left[size:])
        return taken


def make_client(limits: Limits) -> httpx.Client:
    """What speaks to the other side, from any thread.

    Neither proxies of the environment nor redirects: no query goes anywhere but to the address that was given.
    """
    timeout = httpx.Timeout(limits.seconds + 1, connect=_CONNECT_SECONDS)
    return httpx.Client(timeout=timeout, trust_env=False, follow_redirects=False)


def _form(parameters: list[tuple[str, str]]) -> dict[str, list[str]]:
    form: dict[str, list[str]] = {}
    for name, value in parameters:
        form.setdefault(name, []).append(value)
    return form


def _refusal(response: httpx.Response) -> Exception:
    """What to say when the other side does not answer the query."""
    body = b""
    for part in response.iter_bytes():
        body += part
        if len(body) >= _ERROR_BYTES:
            break
    said = excerpt(" ".join(body[:_ERROR_BYTES].decode(errors="replace").split()))
    status = response.status_code
    if status == 400:
        return QueryError(f"The remote store refuses the query: {said}")
    if status in (408, 413, 429, 503, 504):
        return QueryLimitError(f"The remote store ran into a limit ({status}): {said}", "remote")
    return RequestError(502, f"The remote store answered with status {status}: {said}")


def _too_long(limits: Limits) -> QueryLimitError:
    return QueryLimitError(f"The remote store took longer than the limit of {limits.seconds:g} s.", "time")
