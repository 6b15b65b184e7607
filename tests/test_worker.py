from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from evkg.build import build_release
from evkg.errors import QueryError, QueryLimitError, QueryRefusedError, QuerySyntaxError, ReleaseError
from evkg.limits import Limits
from evkg.release import STORE
from evkg.single_query import answer_once
from evkg.worker import QueryWorkers, WorkersBusyError
from tests.conftest import SEED

#: A query that no machine finishes.
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a release of the seed records."""
    built = build_release(SEED, tmp_path_factory.mktemp("worker"))
    assert built.release is not None
    return built.release.folder / STORE


def run(main: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(main, 60))


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that will surely happen; the caller's limit of time is far away."""
    while not condition():
        await asyncio.sleep(0.005)


def is_there(process: int) -> bool:
    """Whether a process runs; one that is dead and only waits for its parent does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@asynccontextmanager
async def one_busy(workers: QueryWorkers) -> AsyncIterator[asyncio.Task[Any]]:
    """One endless query begun; it is cancelled at the end."""
    task = asyncio.create_task(workers.run(ENDLESS, table_format="json"))
    await asyncio.sleep(0)  # let it take its worker
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def test_a_query_is_answered_in_the_format_of_its_form(store: Path) -> None:
    async def main() -> None:
        async with QueryWorkers(store) as workers:
            answer = await workers.run("ASK {}", table_format="json", graph_format="turtle")
            assert (answer.form, answer.format_name) == ("ASK", "json")
            assert ox.parse_query_results(answer.body, format=ox.QueryResultsFormat.JSON)
            query = "CONSTRUCT { ?s a ?c } { ?s a ?c }"
            answer = await workers.run(query, table_format="json", graph_format="nt")
            assert (answer.form, answer.format_name) == ("CONSTRUCT", "nt")
            assert list(ox.parse(answer.body, format=ox.RdfFormat.N_TRIPLES))

    run(main())


def test_without_a_fitting_format_nothing_is_evaluated(store: Path) -> None:
    async def main() -> None:
        async with QueryWorkers(store) as workers:
            answer = await workers.run(ENDLESS, graph_format="turtle")
            assert (answer.format_name, answer.body) == (None, b"")

    run(main())


def test_errors_come_back_as_they_were_raised(store: Path) -> None:
    async def main() -> None:
        async with QueryWorkers(store, Limits(workers=1)) as workers:
            with pytest.raises(QuerySyntaxError, match="xx:") as caught:
                await workers.run("SELECT * {\n  ?s xx:p ?o }", table_format="json")
            assert (caught.value.line, caught.value.column) == (2, 6)
            with pytest.raises(QueryRefusedError):
                await workers.run("DROP ALL", table_format="json")
            with pytest.raises(QueryError, match="cannot name a graph"):
                await workers.run("ASK {}", table_format="json", default_graphs=("no iri",))
            assert (await workers.run("ASK {}", table_format="json")).body

    run(main())


def test_the_time_limit_kills_and_a_fresh_worker_takes_over(store: Path) -> None:
    async def main() -> None:
        async with QueryWorkers(store, Limits(workers=1, seconds=0.5)) as workers:
            (before,) = workers.processes
            with pytest.raises(QueryLimitError, match=r"limit of 0\.5 s"):
                await workers.run(ENDLESS, table_format="json")
            await until(lambda: len(workers.processes) == 1)
            assert workers.processes != [before]
            await until(lambda: not is_there(before))
            await until(lambda: bool(workers._idle))
            assert (await workers.run("ASK {}", table_format="json")).body

    run(main())


def test_a_query_that_needs_too_much_memory_costs_one_worker(store: Path) -> None:
    async def main() -> None:
        async with QueryWorkers(store, Limits(workers=1, memory=700 << 20)) as workers:
            with pytest.raises(QueryLimitError, match="700 MiB"):
                await workers.run("SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?a", table_format="json")
            assert (await workers.run("ASK {}", table_format="json")).body

    run(main())


def test_a_query_that_breaks_the_parser_costs_one_worker(store: Path) -> None:
    async def main() -> None:
        async with QueryWorkers(store, Limits(workers=1)) as workers:
            with pytest.raises(QueryError, match="nested too deeply"):
                await workers.run(f"ASK {{ FILTER({'!' * 100_000}true) }}", table_format="json")
            assert (await workers.run("ASK {}", table_format="json")).body

    run(main())


def test_an_answer_that_is_too_long_is_refused_not_cut(store: Path) -> None:
    async def main() -> None:
        async with QueryWorkers(store, Limits(workers=1, result_bytes=1000)) as workers:
            with pytest.raises(QueryLimitError, match="1000 bytes"):
                await workers.run("SELECT * { ?s ?p ?o }", table_format="csv")
            assert (await workers.run("ASK {}", table_format="csv")).body == b"true"

    run(main())


def test_when_enough_wait_the_next_is_told_to_come_again(store: Path) -> None:
    async def main() -> None:
        async with QueryWorkers(store, Limits(workers=1, waiting=1)) as workers, one_busy(workers):
            second = asyncio.create_task(workers.run("ASK {}", table_format="csv"))
            await asyncio.sleep(0)
            with pytest.raises(WorkersBusyError):
                await workers.run("ASK {}", table_format="csv")
            second.cancel()

    run(main())


def test_who_waits_too_long_is_told_to_come_again(store: Path) -> None:
    async def main() -> None:
        async with QueryWorkers(store, Limits(workers=1)) as workers, one_busy(workers):
            workers.limits = Limits(workers=1, seconds=0.05)
            with pytest.raises(WorkersBusyError):
                await workers.run("ASK {}", table_format="csv")

    run(main())


def test_a_query_whose_client_is_gone_is_killed(store: Path) -> None:
    async def main() -> None:
        async with QueryWorkers(store, Limits(workers=1)) as workers:
            (before,) = workers.processes
            async with one_busy(workers):
                pass
            assert (await workers.run("ASK {}", table_format="csv")).body == b"true"
            await until(lambda: not is_there(before))

    run(main())


def test_a_worker_that_dies_idle_is_replaced(store: Path) -> None:
    async def main() -> None:
        async with QueryWorkers(store, Limits(workers=2)) as workers:
            before = set(workers.processes)
            for process in before:
                os.kill(process, signal.SIGKILL)
            await until(lambda: len(set(workers.processes) - before) == len(before))
            assert (await workers.run("ASK {}", table_format="csv")).body == b"true"

    run(main())


def test_a_worker_killed_at_work_costs_its_query_only(store: Path) -> None:
    async def main() -> None:
        async with QueryWorkers(store, Limits(workers=1)) as workers, one_busy(workers) as task:
            os.kill(workers.processes[0], signal.SIGKILL)
            with pytest.raises(QueryLimitError, match="stopped with the process"):
                await task
            assert (await workers.run("ASK {}", table_format="csv")).body == b"true"

    run(main())


def test_closing_ends_what_runs_and_leaves_no_process(store: Path) -> None:
    async def main() -> None:
        workers = QueryWorkers(store, Limits(workers=4))
        async with workers, one_busy(workers) as task:
            processes = workers.processes
            workers.stop()
            with pytest.raises(QueryLimitError, match="being stopped"):
                await task
            with pytest.raises(QueryLimitError, match="being stopped"):
                await workers.run("ASK {}", table_format="csv")
        assert len(processes) == 2
        assert not any(is_there(process) for process in processes)

    run(main())


def test_a_folder_without_a_store_is_one_clear_error(tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(ReleaseError, match="holds no store"):
            async with QueryWorkers(tmp_path):
                pass

    run(main())


def test_workers_end_with_their_parent_even_at_work(store: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from evkg.limits import Limits\n"
        "from evkg.worker import QueryWorkers\n"
        "async def main():\n"
        "    async with QueryWorkers(Path(sys.argv[1]), Limits(workers=4)) as workers:\n"
        "        run = asyncio.create_task(workers.run(sys.argv[2], table_format='json'))\n"
        "        await asyncio.sleep(0)\n"
        "        print(*workers.processes, flush=True)\n"
        "        await run\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", script, str(store), ENDLESS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        processes = [int(word) for word in parent.stdout.readline().split()]
        assert len(processes) == 2
        parent.kill()
    run(until(lambda: not any(is_there(process) for process in processes)))


def test_a_worker_cannot_reach_the_network_where_the_system_lets_it_cut_itself_off() -> None:
    script = (
        "import socket\n"
        "from evkg.worker_process import cut_network\n"
        "listener = socket.create_server(('127.0.0.1', 0))\n"
        "if not cut_network(): print('not permitted')\n"
        "try: socket.create_connection(listener.getsockname(), 5); print('reached')\n"
        "except OSError: print('cut off')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=30)
    if "not permitted" in done.stdout:
        pytest.skip("this system lets no process leave its network namespace")
    assert done.stdout.split("\n")[0] == "cut off"


def test_when_no_worker_can_be_started_it_is_not_said_that_all_are_busy(store: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(store, tmp_path / "store"))

    async def main() -> None:
        async with QueryWorkers(folder, Limits(workers=1)) as workers:
            shutil.rmtree(folder)
            async with one_busy(workers):
                second = asyncio.create_task(workers.run("ASK {}", table_format="csv"))
                await asyncio.sleep(0)
                os.kill(workers.processes[0], signal.SIGKILL)
                with pytest.raises(ReleaseError, match="holds no store"):
                    await second
            with pytest.raises(ReleaseError, match="holds no store"):
                await workers.run("ASK {}", table_format="csv")

    run(main())


def test_one_query_has_its_own_process_and_its_limits(store: Path) -> None:
    assert answer_once(store, "ASK {}", seconds=60, format_name="csv").body == b"true"
    with pytest.raises(QueryLimitError, match=r"limit of 0\.2 s"):
        answer_once(store, ENDLESS, seconds=0.2, format_name="csv")
