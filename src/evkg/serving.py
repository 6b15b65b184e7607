"""The process that serves: its socket, its signals, its logs, and newer releases while it runs."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib.util
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import uvicorn
from fastapi import FastAPI

from evkg.access_log import AccessLog
from evkg.envelope import Exchange
from evkg.errors import EvkgError, ReleaseError, UsageError
from evkg.limits import Limits
from evkg.manifest import MANIFEST
from evkg.metrics import Metrics, MetricsPort
from evkg.patience import PatientProtocol
from evkg.record_page import record_pages
from evkg.release import Release
from evkg.server import make_app
from evkg.service import DefaultGraph
from evkg.succession import Succession

#: How long requests that run may take to end when the server is stopped (seconds), and how long what follows.
_GRACE_SECONDS: Final = 5
_END_SECONDS: Final = 3
#: How often it is looked whether the index of a newer release is there (seconds).
_POLL_SECONDS: Final = 0.1
#: How many objects with contents are made before garbage is looked for, which a request leaves hardly any of; Python's
#: 700 cost a tenth of the time of a light query.
_GARBAGE: Final = 20_000
#: Addresses to listen at that are none to go to.
_EVERYWHERE: Final = ("0.0.0.0", "::", "")  # noqa: S104 - only compared
#: What uvicorn says of an answer that was cut on purpose, which is told already.
_CUT: Final = "ASGI callable returned without completing response."


@dataclass(frozen=True, slots=True)
class Watch:
    """What is told of requests: an access log, in which the text of queries may stand, and where `/metrics` is.

    `metrics` is host and port; None: there is none.
    """

    access_log: Path | None = None
    log_queries: bool = False
    metrics: tuple[str, int] | None = None


class _Server(uvicorn.Server):
    """uvicorn that leaves signals to `serve`: its own way of ending raises them a second time."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(
    source: Path | str | Callable[[], Path],
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str | None = None,
    limits: Limits | None = None,
    default_graph: DefaultGraph = "union",
    watch: Watch | None = None,
    remote: str | None = None,
) -> None:
    """Serve a release, a bare store or a remote one until SIGINT or SIGTERM; says its address on stderr.

    Port 0 takes a free one.

    Where `source` is a function, it says in which folder the newest release is; it is asked again and again, and a
    release that is newer takes over between two requests. `remote`: as for `make_service`.

    Raises: UsageError: the address cannot be listened at. ReleaseError: the store cannot be opened.
    """
    watch = watch or Watch()
    log = AccessLog(watch.access_log, with_queries=watch.log_queries) if watch.access_log else None
    metrics = Metrics()

    def observe(exchange: Exchange) -> None:
        metrics.observe(exchange.path, exchange.status, exchange.seconds, exchange.size, exchange.limit)
        if log is not None:
            log.write(_entry(exchange), exchange.notes.get("query"))

    def find() -> Release | Path | str:
        return Release(source()) if callable(source) else source

    whole: set[tuple[str, int, int]] = set()

    def mark() -> tuple[str, int, int] | None:
        if not callable(source):
            return None
        folder = source()
        status = (folder / MANIFEST).stat()
        found = (str(folder), status.st_ino, status.st_mtime_ns)
        if found not in whole:  # one that is being copied is looked at again until it is whole
            check_files(Release(folder))
            whole.clear()
            whole.add(found)
        return found

    with contextlib.ExitStack() as opened:
        listener = opened.enter_context(_listen(host, port))
        own = opened.enter_context(_listen(*watch.metrics)) if watch.metrics else None
        if log is not None:
            opened.callback(log.close)
        address = _address(host, listener)

        def make() -> FastAPI:
            app = make_app(
                find(),
                public_url=public_url or address,
                limits=limits,
                default_graph=default_graph,
                metrics=metrics,
                observe=observe,
                remote=remote,
            )
            if app.state.search is not None:
                app.state.search.start()
            if app.state.service.release is not None:
                threading.Thread(target=_warm, args=(app.state.service.release,), daemon=True).start()
            return app

        mark()
        first = find()
        what = f"release {first.id}" if isinstance(first, Release) else f"the store in {first}"
        greeting = f"evkg: {what} at {address}/ until Ctrl-C"
        if own is not None and watch.metrics is not None:
            greeting += f"\nevkg: metrics at {_address(watch.metrics[0], own)}/metrics"
        if public_url is None and host in _EVERYWHERE:
            greeting += f"\nevkg: warning: links name {address}, which leads nowhere; say --public-url URL."
        succession = Succession(mark, make, prepare=_index, tell=lambda text: print(text, file=sys.stderr, flush=True))
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(succession, metrics, [listener, own] if own else [listener], greeting))


def check_files(release: Release) -> None:
    """See that the files of a release are there in the sizes (bytes) that its manifest names.

    Raises: ReleaseError: one is missing, or has another size.
    """
    for name, facts in release.manifest["files"].items():
        size = facts.get("bytes") if isinstance(facts, dict) else None
        try:
            found = (release.folder / name).stat().st_size
        except OSError as error:
            raise ReleaseError(f"{release.folder / name} cannot be read: {error.strerror or error}") from error
        if size is not None and found != size:
            raise ReleaseError(f"{release.folder / name} has {found} bytes; the release was made with {size}.")


def _address(host: str, listener: socket.socket) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listener.getsockname()[1]}"


async def _index(app: Any) -> None:
    """Wait for the index of the search, so that a newer release is searched from its first moment."""
    search = app.state.search
    try:
        while search is not None and search.is_being_made:
            await asyncio.sleep(_POLL_SECONDS)
    except asyncio.CancelledError:
        search.stop()
        raise


def _warm(release: Release) -> None:
    """Read what record pages need, which takes seconds where there are many records, before somebody waits for it."""
    with contextlib.suppress(EvkgError, OSError):  # whoever asks for a page is told
        record_pages(release).warm()


def _entry(exchange: Exchange) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "client": exchange.client,
        "method": exchange.method,
        "path": exchange.path,
        "status": exchange.status,
        "bytes": exchange.size,
        "ms": round(exchange.seconds * 1000, 1),
        "whole": exchange.is_whole,
    }
    if "cached" in exchange.notes:
        entry["cached"] = exchange.notes["cached"]
    return {**entry, "limit": exchange.limit} if exchange.limit else entry


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The event loop of uvloop where that is installed (it is not made for every system), else that of asyncio."""
    if importlib.util.find_spec("uvloop") is None:
        return None
    import uvloop

    return uvloop.new_event_loop


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if not 0 <= port <= 65535:
        raise UsageError(f"There is no port {port}; ports are 0 to 65535.")
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        reason = str(error.strerror or error).partition(" (while")[0]
        raise UsageError(f"The server cannot listen at {host}, port {port}: {reason}. Try --port.") from error
    # Connections inherit this. asyncio sets it only where the protocol of a socket is named, and without it
    # head and body of a response, written apart, cost 40 ms (measured, Python 3.11, Linux 6.18).
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


async def _serve(succession: Succession, metrics: Metrics, listeners: list[socket.socket], greeting: str) -> None:
    settings: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False, "lifespan": "off"}
    settings |= {"timeout_graceful_shutdown": _GRACE_SECONDS + _END_SECONDS, "interface": "asgi3"}
    settings["http"] = PatientProtocol
    app = MetricsPort(succession, metrics, listeners[1].getsockname()[1]) if listeners[1:] else succession
    server = _Server(uvicorn.Config(app, **settings))
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.getMessage() != _CUT)
    loop = asyncio.get_running_loop()

    def end() -> None:
        """At the first signal nothing new comes in, and what runs has a little time; at the second all ends."""
        workers = succession.app.state.workers
        if server.should_exit:
            server.force_exit = True
            workers.stop()
        else:
            server.should_exit = True
            loop.call_later(_GRACE_SECONDS, workers.stop)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    gc.set_threshold(_GARBAGE, 20, 20)
    async with succession:
        print(greeting, file=sys.stderr, flush=True)
        await server.serve(sockets=listeners)
