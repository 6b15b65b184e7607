"""A misspelt parameter or value is told, with the nearest; it is never as if it had not been there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evkg.release import open as open_release
from tests.client import Client, served
from tests.searching import ready


@pytest.fixture(scope="module")
def client(workspace: Path) -> Iterator[Client]:
    for client in served(open_release(workspace / "build/current")):
        ready(client)
        yield client


@pytest.mark.parametrize(
    ("address", "parameter", "nearest"),
    [
        ("/evidence?recrd=gena-lm", "recrd", ["record"]),
        ("/search.json?knd=result", "knd", ["kind"]),
        ("/search.csv?method-type=x", "method-type", ["method_type"]),
        ("/results.json?systm=gena-lm", "systm", ["system"]),
        ("/compare?protocl=x", "protocl", ["protocol"]),
        ("/search.json?kind=reslt", "kind", ["result"]),
        ("/search.json?area=nope-nope-nope", "area", []),
        ("/search.json?doubt=excludet", "doubt", ["excluded"]),
        ("/search.json?source=model-execution-20261011-source-aspidova2025", "source", None),
        ("/results.json?metric=peak-memry", "metric", ["peak-memory"]),
        ("/results.csv?system=gena-ln", "system", ["gena-lm"]),
    ],
)
def test_it_is_refused_by_name_with_the_nearest(
    client: Client, address: str, parameter: str, nearest: list[str] | None
) -> None:
    answer = client(address, "application/json")
    assert answer.status_code == 400
    problem = answer.json()
    assert problem["parameter"] == parameter
    near = problem.get("nearest", [])
    assert near[:1] == (["model-execution-20261011-source-aspidova2026"] if nearest is None else nearest)
    assert parameter in problem["detail"]
    assert all(one in problem["detail"] for one in near[:1])


def test_every_parameter_that_a_page_has_is_taken(client: Client) -> None:
    for address in (
        "/evidence?record=gena-lm&scope=record_context&format=json&offset=0&limit=1",
        "/search.json?q=gena&kind=model&area=none&sort=name&page=1",
        "/results.json?q=&metric=peak-memory&system=none&page=1",
        "/compare?q=a&sort=best&page=1&format=json&ignore=",
    ):
        assert client(address, "application/json").status_code == 200, address


def test_a_page_behind_the_last_says_how_many_there_are(client: Client) -> None:
    for path in ("/search.json", "/results.json"):
        first = client(path).json()
        late = client(f"{path}?page=99").json()
        rows = "hits" if "search" in path else "results"
        assert (late[rows], late["next"], late["page"]) == ([], None, 99)
        assert (late["pages"], late["total"]) == (first["pages"], first["total"])
        assert first["total"] > 0
