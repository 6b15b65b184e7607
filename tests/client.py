"""Requests to an application in the process of the tests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from fastapi import FastAPI

from evkg.release import Release
from evkg.server import make_app


def served(release: Release, public_url: str = "https://example.org") -> Iterator[Client]:
    """A client of a release, for a fixture to yield from; it is closed at the end."""
    client = Client(make_app(release, public_url=public_url))
    yield client
    client.close()


@dataclass
class Client:
    """Requests to an application in this process, from code that is not asynchronous."""

    app: FastAPI
    runner: asyncio.Runner = field(default_factory=asyncio.Runner)

    def __post_init__(self) -> None:
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        self.http = httpx.AsyncClient(transport=transport, base_url="http://test", timeout=60)
        self.life = self.app.router.lifespan_context(self.app)
        self.runner.run(self.life.__aenter__())

    def close(self) -> None:
        self.runner.run(self.http.aclose())
        self.runner.run(self.life.__aexit__(None, None, None))
        self.runner.close()

    def __call__(self, url: str, accept: str | None = None, *, method: str = "GET", **options: Any) -> httpx.Response:
        headers = {"Origin": "https://elsewhere.example", **options.pop("headers", {})}
        if accept is not None:
            headers["Accept"] = accept
        return self.runner.run(self.http.request(method, url, headers=headers, **options))

    def query(self, text: str, accept: str | None = None, *parameters: tuple[str, str]) -> httpx.Response:
        return self("/sparql", accept, params=[("query", text), *parameters])

    def count(self, text: str, *parameters: tuple[str, str]) -> int:
        return int(self.query(text, "text/csv", *parameters).text.split()[1])
