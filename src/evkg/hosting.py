"""The command `evkg serve`: its options, and what they start."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from evkg.bytesize import read_size, size_text
from evkg.errors import UsageError
from evkg.limits import Limits

_REMOTE: Final = re.compile(r"https?://", re.IGNORECASE)


def add_serve_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `serve` beside `--release` and `--time-limit`."""
    default = Limits()
    sub.set_defaults(release=None)  # beside a remote store only if it is asked for
    sub.add_argument("--host", default="127.0.0.1")
    sub.add_argument("--port", type=int, default=8000)
    text = "ask the folder of an Oxigraph store, or any SPARQL 1.1 endpoint, instead of the store of a release"
    sub.add_argument("--store", metavar="DIR|URL", help=text)
    text = "what a query of a --store sees that names no graphs: all of them, or the default graph alone"
    sub.add_argument("--default-graph", choices=("union", "plain"), help=f"{text} (default: union)")
    sub.add_argument("--public-url", metavar="URL", help="the address that others see (default: http://HOST:PORT)")
    text = f"processes that answer queries (default: {default.workers})"
    sub.add_argument("--workers", type=int, default=default.workers, metavar="N", help=text)
    text = f"memory of a query (default: {size_text(default.memory)})"
    sub.add_argument("--memory", type=_size, default=default.memory, metavar="SIZE", help=text)
    text = f"rows of an answer (default: {default.rows})"
    sub.add_argument("--rows", type=int, default=default.rows, metavar="N", help=text)
    text = f"length of an answer (default: {size_text(default.result_bytes)})"
    sub.add_argument("--bytes", type=_size, default=default.result_bytes, metavar="SIZE", help=text)
    text = f"queries that may wait, short ones and long ones each (default: {default.waiting})"
    sub.add_argument("--waiting", type=int, default=default.waiting, metavar="N", help=text)
    text = f"length of the answers that are kept for who asks the same (default: {size_text(default.cache_bytes)})"
    sub.add_argument("--cache", type=_size, default=default.cache_bytes, metavar="SIZE", help=text)
    text = "write a line of JSON for each request (- for standard error)"
    sub.add_argument("--access-log", type=Path, metavar="FILE|-", help=text)
    text = "tell Prometheus at /metrics of this address, and nowhere else (without HOST: 127.0.0.1)"
    sub.add_argument("--metrics", type=_place, metavar="[HOST:]PORT", help=text)
    sub.add_argument("--log-queries", action="store_true", help="write the text of queries into the access log")


def serve(options: argparse.Namespace) -> int:
    """serve a release, or any store, over HTTP: SPARQL endpoint, graphs, records, pages"""
    from evkg.release import find_release
    from evkg.serving import Watch
    from evkg.serving import serve as run_server

    if options.store is None and options.default_graph is not None:
        raise UsageError("--default-graph goes with --store: a query of a release sees the union of all graphs.")
    if options.log_queries and options.access_log is None:
        raise UsageError("--log-queries goes with --access-log FILE.")
    limits = Limits(
        seconds=options.time_limit,
        memory=options.memory,
        rows=options.rows,
        result_bytes=options.bytes,
        workers=options.workers,
        waiting=options.waiting,
        cache_bytes=options.cache,
    )
    is_remote = options.store is not None and _REMOTE.match(options.store) is not None

    def newest() -> Path:
        return find_release(options.release or "build/current")

    source: Path | str | Callable[[], Path] = newest
    if options.store is not None and not (is_remote and options.release):
        source = options.store if is_remote else Path(options.store)
    run_server(
        source,
        host=options.host,
        port=options.port,
        public_url=options.public_url,
        limits=limits,
        default_graph=options.default_graph or "union",
        remote=options.store if is_remote else None,
        watch=Watch(options.access_log, options.log_queries, options.metrics),
    )
    return 0


def _place(text: str) -> tuple[str, int]:
    """A host and a port. Raises: ArgumentTypeError: it is none.

    >>> _place("9100"), _place("[::1]:9100")
    (('127.0.0.1', 9100), ('::1', 9100))
    """
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdecimal() and len(port) <= 5):
        raise argparse.ArgumentTypeError(f"{text!r} is no address such as 127.0.0.1:9100.")
    return host.strip("[]") or "127.0.0.1", int(port)


def _size(text: str) -> int:
    """A number of bytes. Raises: ArgumentTypeError: it is none."""
    try:
        return read_size(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
