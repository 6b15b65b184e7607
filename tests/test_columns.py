from __future__ import annotations

import pyoxigraph as ox
import pytest

from evkg.columns import name_columns
from evkg.serialization import write_answer
from evkg.store import run_query


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("SELECT * { ?s ?p ?o }", ["s", "p", "o"]),
        ("select distinct * where { ?z ?a ?b }", ["z", "a", "b"]),
        ("SELECT REDUCED * { $z ?a ?z }", ["z", "a"]),
        ("PREFIX select: <urn:s> SELECT * { ?z select:a ?a }", ["z", "a"]),
        ("SELECT * { ?z ?a 1 MINUS { ?hidden ?a 1 } FILTER(?z != ?also) }", ["z", "a"]),
        ("SELECT * { { SELECT ?z (?a AS ?c) { ?a ?inner ?z } } ?c ?d 1 }", ["z", "c", "d"]),
        ("SELECT * { ?z ?a 1 BIND(1 AS ?new) VALUES ?x { 1 } } ORDER BY ?a", ["z", "a", "new", "x"]),
        ("SELECT ?b ?a { ?a ?b ?c }", ["b", "a"]),
        ("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", ["n"]),
        ("SELECT ?z { { SELECT * { ?z ?a ?b } } }", ["z"]),
        ("SELECT * {}", []),
    ],
)
def test_columns_stand_as_the_query_names_them(text: str, columns: list[str]) -> None:
    _, result = run_query(ox.Store(), name_columns(text))
    assert [variable.value for variable in result.variables] == columns


@pytest.mark.parametrize(
    "text", ["ASK { ?z ?a ?b }", "SELECT * {", "SELECT * { ?z xx:a ?b }", "DESCRIBE * { ?z ?a ?b }", ""]
)
def test_what_is_no_such_query_stays_as_it_is(text: str) -> None:
    assert name_columns(text) == text


def test_the_rows_are_the_same_rows() -> None:
    store = ox.Store()
    store.add(ox.Quad(ox.NamedNode("urn:a"), ox.NamedNode("urn:b"), ox.Literal(1)))
    query, result = run_query(store, "SELECT * { ?s ?p ?o BIND(evkg:x AS ?a) }", in_order=True)
    body = write_answer(query, result, "csv")
    assert body == b"s,p,o,a\r\nurn:a,urn:b,1,https://w3id.org/evkg/ontology#x\r\n"
