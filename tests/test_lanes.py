from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from evkg.lanes import Lane, WorkersBusyError


def run(main: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(main, 20))


def test_clients_take_turns_whoever_came_first() -> None:
    order: list[str] = []

    async def main() -> None:
        lane = Lane(0, 20)

        async def one(client: str) -> None:
            await lane.enter(client, 10)
            order.append(client)
            lane.leave(client)

        tasks = [asyncio.create_task(one(client)) for client in ("a", "a", "a", "b", "c")]
        await asyncio.sleep(0)
        assert lane.waiting == 5
        lane.add(1)
        await asyncio.gather(*tasks)
        assert (lane.free, lane.waiting) == (1, 0)

    run(main())
    assert order == ["a", "b", "c", "a", "a"]


def test_the_last_place_is_not_for_who_holds_another() -> None:
    lane = Lane(3, 0, is_shared=True)
    assert [lane.try_enter(client) for client in ("a", "a", "a", "b")] == [True, True, False, True]
    lane.leave("b")
    assert not lane.try_enter("a")
    lane.leave("a")
    assert lane.try_enter("a")


def test_only_so_many_may_wait_and_one_client_not_all_of_them() -> None:
    async def main() -> None:
        lane = Lane(0, 4)
        tasks = [asyncio.create_task(lane.enter("a", 10)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(WorkersBusyError) as caught:
            await lane.enter("a", 10)
        assert caught.value.limit == "waiting"
        tasks.append(asyncio.create_task(lane.enter("b", 10)))
        await asyncio.sleep(0)
        with pytest.raises(WorkersBusyError, match="many queries wait"):
            await lane.enter("c", 10)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert lane.waiting == 0

    run(main())


def test_who_waits_too_long_leaves_the_queue() -> None:
    async def main() -> None:
        lane = Lane(0, 4)
        with pytest.raises(WorkersBusyError, match=r"within 0\.01 s"):
            await lane.enter("a", 0.01)
        lane.add(1)
        assert (lane.free, lane.waiting, lane.try_enter("b")) == (1, 0, True)

    run(main())


def test_a_place_that_comes_too_late_is_not_lost() -> None:
    async def main() -> None:
        lane = Lane(0, 4)
        task = asyncio.create_task(lane.enter("a", 10))
        await asyncio.sleep(0)
        lane.add(1)  # the place is given
        task.cancel()  # in the same moment
        await asyncio.gather(task, return_exceptions=True)
        assert (lane.free, lane.waiting) == (1, 0)

    run(main())


def test_a_lost_place_is_not_given_to_the_next() -> None:
    lane = Lane(1, 4)
    assert lane.try_enter("a")
    lane.leave("a", is_lost=True)
    assert not lane.try_enter("b")
    lane.add(1)
    assert lane.try_enter("b")
