"""Comunica, a client of JavaScript, with nothing but the address of the endpoint."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.test_serving import server

#: From npm: `@comunica/query-sparql@4` (5 needs a newer node than 20).
PROGRAM = shutil.which("comunica-sparql")


@pytest.mark.long
@pytest.mark.skipif(PROGRAM is None, reason="comunica-sparql is not installed")
def test_comunica_finds_out_what_the_address_is(tmp_path: Path) -> None:
    store = ox.Store(str(tmp_path / "store"))
    store.add(ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.Literal("1.00"), ox.NamedNode("urn:g")))
    store.flush()
    del store
    with server("--store", str(tmp_path / "store")) as served:
        command = [str(PROGRAM), f"{served.address}/sparql", "SELECT ?o { <urn:s> <urn:p> ?o }"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert json.loads(done.stdout) == [{"o": '"1.00"'}]
