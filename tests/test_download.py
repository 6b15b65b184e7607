"""The whole release as one file over HTTP: the bytes of the file, whatever way they go."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest
from backports import zstd

from evkg.namespaces import VOID
from evkg.release import GRAPH, Release
from evkg.release import open as open_release
from tests.client import Client, served

PUBLIC = "https://example.org/evkg"


@pytest.fixture(scope="module")
def release(workspace: Path) -> Release:
    return open_release(workspace / "build/current")


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    yield from served(release, PUBLIC)


@pytest.mark.parametrize("coding", ["identity", "gzip", "zstd"])
def test_its_bytes_are_those_of_the_file(client: Client, release: Release, coding: str) -> None:
    file = release.folder / GRAPH
    answer = client("/release.nq", headers={"Accept-Encoding": coding})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/n-quads")
    assert answer.headers.get("content-encoding", "identity") == coding
    content = zstd.decompress(answer.content) if coding == "zstd" else answer.content  # httpx knows gzip alone
    assert content == file.read_bytes()
    assert answer.headers["content-disposition"] == f'attachment; filename="{release.id}.nq"'
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert answer.headers["etag"] == (f'"{digest}"' if coding == "identity" else f'W/"{digest}"')
    again = client("/release.nq", headers={"If-None-Match": answer.headers["etag"], "Accept-Encoding": coding})
    assert (again.status_code, again.content) == (304, b"")


def test_all_graphs_are_in_it_with_their_names(client: Client, release: Release) -> None:
    quads = ox.parse(client("/release.nq").content, format=ox.RdfFormat.N_QUADS)
    names = {quad.graph_name.value for quad in quads if isinstance(quad.graph_name, ox.NamedNode)}
    rows = client.query("SELECT DISTINCT ?g { GRAPH ?g { } }", "text/csv").text.split()[1:]
    assert names == {*rows}
    assert len(names) > len(release.record_ids)


def test_a_download_that_broke_off_goes_on(client: Client, release: Release) -> None:
    whole = (release.folder / GRAPH).read_bytes()
    tag = client("/release.nq", method="HEAD", headers={"Accept-Encoding": "identity"}).headers["etag"]
    part = client("/release.nq", headers={"Range": "bytes=1000-", "If-Range": tag, "Accept-Encoding": "zstd"})
    assert (part.status_code, part.content) == (206, whole[1000:])
    other = client("/release.nq", headers={"Range": "bytes=1000-", "If-Range": '"of another release"'})
    assert (other.status_code, other.content) == (200, whole)


def test_head_tells_its_length_and_reads_nothing(client: Client, release: Release) -> None:
    head = client("/release.nq", method="HEAD", headers={"Accept-Encoding": "identity"})
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) == (release.folder / GRAPH).stat().st_size


def test_it_is_named_where_one_looks_for_it(client: Client) -> None:
    store = ox.Store()
    store.load(client("/.well-known/void").content, format=ox.RdfFormat.TURTLE)
    dumps = [quad.object for quad in store.quads_for_pattern(None, ox.NamedNode(f"{VOID}dataDump"), None)]
    assert dumps == [ox.NamedNode(f"{PUBLIC}/release.nq")]
    assert 'href="/evkg/release.nq"' in client("/", "text/html").text
