"""A real server over a store of its own, as a user would start it: for tests that speak HTTP."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx
import pyoxigraph as ox
import pytest


class Server:
    """`evkg serve --store` over some quads; its default graph is plain. Use it in a `with`."""

    def __init__(self, quads: Iterable[ox.Quad], *, public_url: str | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="evkg-suite-")
        path = Path(self._folder.name) / "store"
        store = ox.Store(str(path))
        store.extend(quads)
        store.flush()
        del store
        command = [sys.executable, "-m", "evkg.cli", "serve", "--store", str(path), "--default-graph", "plain"]
        command += ["--port", "0", "--time-limit", "20", *(["--public-url", public_url] if public_url else [])]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        greeting = self._process.stderr.readline()
        if f"the store in {path} at " not in greeting:
            self._process.kill()
            pytest.fail(greeting + self._process.communicate()[1])
        self.address = greeting.rpartition(" at ")[2].partition("/ until")[0]
        self.http = httpx.Client(base_url=self.address, timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop it; it must end by itself and without a word."""
        self.http.close()
        self._process.terminate()
        _, words = self._process.communicate(timeout=20)
        self._folder.cleanup()
        assert (self._process.returncode, words) == (0, "")
