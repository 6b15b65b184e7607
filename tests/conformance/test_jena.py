"""Apache Jena, a client of Java, with nothing but the address of the endpoint."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.test_serving import server

#: The folder of an unpacked Apache Jena, whose `lib` holds its jars.
HOME = os.environ.get("JENA_HOME", "")
JAVA = shutil.which("java")
#: SELECT, ASK, CONSTRUCT and DESCRIBE, by GET, by a form, and with the query as the body.
PROGRAM = """
import org.apache.jena.query.*;
import org.apache.jena.sparql.exec.http.*;

public class Client {
  static QueryExecution query(String address, QuerySendMode mode, String text) {
    return QueryExecutionHTTP.create().endpoint(address).query(text).sendMode(mode).build();
  }

  public static void main(String[] words) {
    QuerySendMode[] modes = {QuerySendMode.asGetAlways, QuerySendMode.asPostForm, QuerySendMode.asPost};
    for (QuerySendMode mode : modes) {
      try (QueryExecution q = query(words[0], mode, "SELECT ?o { <urn:s> <urn:p> ?o }")) {
        System.out.print(q.execSelect().next().getLiteral("o").getLexicalForm() + " ");
      }
      try (QueryExecution q = query(words[0], mode, "ASK { <urn:s> <urn:p> ?o }")) {
        System.out.print(q.execAsk() + " ");
      }
      try (QueryExecution q = query(words[0], mode, "CONSTRUCT WHERE { ?s ?p ?o }")) {
        System.out.print(q.execConstruct().size() + " ");
      }
      try (QueryExecution q = query(words[0], mode, "DESCRIBE <urn:s>")) {
        System.out.println(q.execDescribe().size());
      }
    }
  }
}
"""


@pytest.mark.long
@pytest.mark.skipif(JAVA is None or not HOME, reason="JENA_HOME names no Apache Jena, or there is no java")
def test_jena_asks_in_every_way(tmp_path: Path) -> None:
    store = ox.Store(str(tmp_path / "store"))
    store.add(ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.Literal("1.00"), ox.NamedNode("urn:g")))
    store.flush()
    del store
    source = tmp_path / "Client.java"
    source.write_text(PROGRAM, encoding="utf-8")
    with server("--store", str(tmp_path / "store")) as served:
        command = [str(JAVA), "-cp", f"{HOME}/lib/*", str(source), f"{served.address}/sparql"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines() == ["1.00 true 1 1"] * 3, done.stderr
