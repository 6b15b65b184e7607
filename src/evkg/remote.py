"""A remote store: any SPARQL 1.1 endpoint that is asked instead of workers on a store of our own.

A query is refused here as it is for a store of our own. Of the answer every row is read and written anew, so each
format can be had whatever the other side offers, and an answer that breaks off there is never taken for whole here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any, Self

from evkg.gathering import gather, unless_gone
from evkg.lanes import Lane
from evkg.limits import Limits
from evkg.namespaces import PREFIXES
from evkg.remote_answer import RemoteAnswer, make_client
from evkg.runningquery import Answer
from evkg.sparql import Query, read_query, tokens
from evkg.store import is_graph
from evkg.worker import WHOLE_BYTES
from evkg.worker_death import stopped


class RemoteStore:
    """A SPARQL endpoint of others at an address, with the interface of `worker.QueryWorkers`.

    `is_union`: what a query sees that names no graphs; endpoints that do not know the parameter for it answer as
    they do. As many queries are on their way at once as there are workers in `limits`.
    """

    def __init__(self, url: str, limits: Limits | None = None, *, is_union: bool = True) -> None:
        self.url = url
        self.limits = limits or Limits()
        self.trouble: str | None = None
        self.replaced = 0
        self.processes: list[int] = []
        self.light = Lane(self.limits.workers, self.limits.waiting, is_shared=True)
        self.heavy = Lane(0, 0)
        self._is_union = is_union
        self._running: set[RemoteAnswer] = set()
        self._is_closed = False
        self._http = make_client(self.limits)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stop()
        await asyncio.to_thread(self._http.close)

    def stop(self) -> None:
        """End what runs."""
        self._is_closed = True
        for running in [*self._running]:
            running.close()
        self.light.fail(stopped())

    async def run(self, query: str, *, most_bytes: int | None = WHOLE_BYTES, **options: Any) -> Answer:
        """The answer to a query as a whole; as `QueryWorkers.run`. Raises: as `begin`."""
        return await gather(await self.begin(query, **options), most_bytes)

    async def begin(
        self,
        query: str,
        *,
        default_graphs: tuple[str, ...] = (),
        named_graphs: tuple[str, ...] = (),
        table_format: str | None = None,
        graph_format: str | None = None,
        client: str = "",
        gone: Callable[[], Awaitable[None]] | None = None,
    ) -> Answer:
        """The beginning of the answer to a query; as `QueryWorkers.begin`.

        Raises: QuerySyntaxError, QueryRefusedError: as `read_query`. QueryError, QueryLimitError, RequestError: what
            the other side said, or that it says nothing. WorkersBusyError: too many wait.
        """
        if self._is_closed:
            raise stopped()
        read = read_query(query)
        format_name = graph_format if is_graph(read) else table_format
        if format_name is None:
            return Answer(read.form, None, b"")
        parameters = [("query", with_prefixes(read))]
        parameters += [("default-graph-uri", iri) for iri in default_graphs]
        parameters += [("named-graph-uri", iri) for iri in named_graphs]
        if self._is_union and not (default_graphs or named_graphs or read.names_dataset):
            parameters.append(("union-default-graph", "true"))  # of Oxigraph; others ignore what they do not know
        await self.light.enter(client, self.limits.seconds)
        running = RemoteAnswer(self._http, self.url, read, format_name, parameters, self.limits)

        def leave() -> None:
            self._running.discard(running)
            self.light.leave(client)

        running.on_end = leave
        self._running.add(running)
        try:
            running.start()
            body = await unless_gone(gone, running.first())
        except BaseException:
            running.close()
            raise
        return Answer(read.form, format_name, body, None if running.is_over else running)


def with_prefixes(query: Query) -> str:
    """The text of a query with the declarations of the prefixes that it uses and does not declare, on its first line.

    >>> with_prefixes(read_query("ASK { ?s a evkg:Result }"))
    'PREFIX evkg: <https://w3id.org/evkg/ontology#> ASK { ?s a evkg:Result }'
    """
    words = list(tokens(query.text))
    declared = {
        after.text.partition(":")[0]
        for before, after in pairwise(words)
        if before.text.upper() == "PREFIX" and after.kind == "pname"
    }
    used = {word.text.partition(":")[0] for word in words if word.kind == "pname"}
    names = [name for name in PREFIXES if name in used - declared]
    return "".join(f"PREFIX {name}: <{PREFIXES[name]}> " for name in names) + query.text
