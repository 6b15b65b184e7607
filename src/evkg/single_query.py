"""One query on a store, in a process of its own, from code that is not asynchronous."""

from __future__ import annotations

import asyncio
from pathlib import Path

from evkg.limits import Limits
from evkg.worker import Answer, QueryWorkers


def answer_once(store: Path, query: str, *, seconds: float, format_name: str) -> Answer:
    """The answer to one query, from a process of its own; its size has no limit. Raises: as `QueryWorkers`."""

    async def main() -> Answer:
        limits = Limits(seconds=seconds, result_bytes=1 << 40, rows=1 << 40, workers=1)
        async with QueryWorkers(store, limits) as workers:
            return await workers.run(query, most_bytes=None, table_format=format_name, graph_format=format_name)

    return asyncio.run(main())
