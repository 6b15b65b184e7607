"""Numbers about a server for Prometheus: requests, queries, workers, cache, and the process itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from evkg.service import Service

#: Source: https://prometheus.io/docs/instrumenting/exposition_formats/ (text format 0.0.4).
_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
#: Bounds of the times of requests (seconds).
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
#: The first parts of paths that are told apart; everything else is `other`.
_ROUTES: Final = frozenset(
    "sparql graph-store graph id record evidence compare questions validation search leaderboards results .well-known"
    " health openapi.json ontology shapes vocab artifact agent releases release.nq".split()
)


class Metrics:
    """What is counted while a server runs, also across releases that it serves one after the other."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter("evkg_requests", "Requests", ["route", "status"], registry=self.registry)
        self._bytes = Counter("evkg_response_bytes", "Bytes of response bodies", ["route"], registry=self.registry)
        self._seconds = Histogram(
            "evkg_request_seconds",
            "Time from a request to the end of its response",
            ["route"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._limited = Counter("evkg_limited", "Queries that ran into a limit", ["limit"], registry=self.registry)
        self._known: dict[tuple[str, int], tuple[Counter, Counter, Histogram]] = {}
        self._services = _Services()
        self.registry.register(self._services)
        ProcessCollector(registry=self.registry)

    def observe(self, path: str, status: int, seconds: float, size: int, limit: str = "") -> None:
        """Count a request: its path, how it was answered, in which time, with how many bytes."""
        first = path[1:].partition("/")[0]
        route = first if first in _ROUTES else "other" if first else "home"
        children = self._known.get((route, status))
        if children is None:
            labelled = self._requests.labels(route, str(status)), self._bytes.labels(route), self._seconds.labels(route)
            children = self._known[route, status] = labelled
        requests, sent, time = children
        requests.inc()
        sent.inc(size)
        time.observe(seconds)
        if limit:
            self._limited.labels(limit).inc()

    def watch(self, service: Service) -> None:
        """Tell of this service from now on, instead of the one before."""
        self._services.change(service)


class _Services(Collector):
    """What the service knows itself, looked up when it is asked for; counts go on from one service to the next."""

    def __init__(self) -> None:
        self._service: Service | None = None
        self._before: dict[str, int] = {}

    def change(self, service: Service) -> None:
        self._before = self._counts()
        self._service = service

    def _counts(self) -> dict[str, int]:
        service = self._service
        if service is None:
            return {}
        now = {"evkg_answers_cut": service.outbox.cut, "evkg_workers_replaced": service.workers.replaced}
        if service.cache is not None:
            now |= {"evkg_cache_hits": service.cache.hits, "evkg_cache_misses": service.cache.misses}
        return {name: count + self._before.get(name, 0) for name, count in now.items()}

    def collect(self) -> Iterator[Metric]:
        service = self._service
        if service is None:
            return
        meanings = {
            "evkg_answers_cut": "Answers that ended before they were whole",
            "evkg_workers_replaced": "Workers that were replaced by new ones",
            "evkg_cache_hits": "Queries answered from the cache",
            "evkg_cache_misses": "Queries that the cache had no answer for",
        }
        for name, count in self._counts().items():
            yield CounterMetricFamily(name, meanings[name], value=count)
        workers = service.workers
        gauge = GaugeMetricFamily
        yield gauge("evkg_workers", "Processes that answer queries", value=len(workers.processes))
        waiting = gauge("evkg_queries_waiting", "Queries that wait for a worker", labels=["lane"])
        free = gauge("evkg_places_free", "Places for queries that are free", labels=["lane"])
        for name, lane in (("light", workers.light), ("heavy", workers.heavy)):
            waiting.add_metric([name], lane.waiting)
            free.add_metric([name], lane.free)
        yield waiting
        yield free
        yield gauge("evkg_outbox_bytes", "Bytes of answers that clients have not read yet", value=service.outbox.size)
        if service.cache is not None:
            yield gauge("evkg_cache_bytes", "Bytes of answers that are kept", value=service.cache.size)
        if service.release is not None:
            release = gauge("evkg_release_info", "The release that is served", labels=["release"])
            release.add_metric([service.release.id], 1)
            yield release


class MetricsPort:
    """An application that answers `/metrics` at a port of its own, and hands on what comes in at any other.

    So nothing that a proxy makes of paths leads the public there. `port` is that of the socket, not what a client says.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, port: int) -> None:
        self.app = app
        self._port = port

        def respond(_: Request) -> Response:
            return Response(generate_latest(metrics.registry), headers={"Content-Type": _CONTENT_TYPE})

        self._own = Router([Route("/metrics", respond, methods=["GET"])], redirect_slashes=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_own = scope["type"] == "http" and (scope.get("server") or ("", None))[1] == self._port
        await (self._own if is_own else self.app)(scope, receive, send)
