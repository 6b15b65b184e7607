from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

from evkg.errors import ReleaseError
from evkg.succession import Succession


def application(name: str) -> Any:
    """An application that says its name."""

    async def call(_scope: Any, _receive: Any, send: Any) -> None:
        await send(name)

    @contextlib.asynccontextmanager
    async def life(_app: Any) -> AsyncIterator[None]:
        yield

    release = SimpleNamespace(id=name)

    class App:
        state = SimpleNamespace(service=SimpleNamespace(release=release))
        router = SimpleNamespace(lifespan_context=life)
        __call__ = staticmethod(call)

    return App()


async def answer(succession: Succession) -> str:
    said: list[str] = []

    async def send(message: Any) -> None:
        said.append(message)

    await succession({}, None, send)  # type: ignore[arg-type]
    return said[0]


class World:
    """What is newest, and whether it can be opened."""

    def __init__(self) -> None:
        self.newest: str | None = "one"
        self.damaged: set[str] = set()
        self.told: list[str] = []
        self.looks = 0

    def mark(self) -> str:
        self.looks += 1
        if self.newest is None:
            raise ReleaseError("There is none.")
        return self.newest

    def make(self) -> Any:
        if self.newest in self.damaged:
            raise ReleaseError(f"{self.newest} is damaged.")
        return application(str(self.newest))

    async def looked(self, times: int = 5) -> None:
        end = self.looks + times
        async with asyncio.timeout(20):
            while self.looks < end:
                await asyncio.sleep(0.01)

    def lines(self) -> list[str]:
        """What was told, each line without its time."""
        assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00 ", line) for line in self.told), self.told
        return [line.partition(" ")[2] for line in self.told]


def test_each_change_is_told_once_with_its_time() -> None:
    world = World()
    refused = "What is newer cannot be served, so what was there before stays: "

    async def main() -> None:
        async with Succession(world.mark, world.make, tell=world.told.append, seconds=0.01) as succession:
            world.damaged = {"two"}
            world.newest = "two"
            await world.looked()
            assert await answer(succession) == "one"
            assert world.lines() == [f"{refused}two is damaged."]
            world.newest = "three"
            await world.looked()
            assert await answer(succession) == "three"
            assert world.lines()[1:] == ["release three is served now, instead of release one."]
            for _ in range(2):  # a trouble that has gone and comes again is told again
                world.newest = None
                await world.looked()
                world.newest = "three"
                await world.looked()
            assert world.lines()[2:] == [f"{refused}There is none."] * 2

    asyncio.run(main())


def test_a_newer_one_takes_over_when_it_is_prepared_and_the_first_waits_for_nothing() -> None:
    world = World()

    async def main() -> None:
        is_ready = asyncio.Event()
        prepared: list[str] = []

        async def prepare(app: Any) -> None:
            prepared.append(app.state.service.release.id)
            await is_ready.wait()

        async with Succession(world.mark, world.make, prepare=prepare, tell=world.told.append, seconds=0.01) as all_:
            assert (await answer(all_), prepared) == ("one", [])
            world.newest = "two"
            while not prepared:
                await asyncio.sleep(0.01)
            assert (await answer(all_), prepared) == ("one", ["two"])
            is_ready.set()
            while await answer(all_) != "two":
                await asyncio.sleep(0.01)

    asyncio.run(main())
