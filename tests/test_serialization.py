from __future__ import annotations

import re
from typing import Any

import pyoxigraph as ox
import pytest

from evkg.errors import QueryError
from evkg.serialization import SENT_GRAPH_FORMATS, rewrite_turtle, write_answer, write_graph, write_quads
from evkg.sparql import read_query
from evkg.store import RESULT_FORMATS, UnwritableError, run_query

#: Values that a query computes, and what they must be in every format.
COMPUTED = [
    ("1/3", "0.333333333333333333", "decimal"),
    ("0.0", "0", "decimal"),
    ("-0e0", "-0", "double"),
    ("1e300 * 1e300", "INF", "double"),
    ("-1e300 * 1e300", "-INF", "double"),
    ("0e0 / 0e0", "NaN", "double"),
    ("1e-31", None, "double"),
    ("5e-2", "0.05", "double"),
    ("0.0000001", "0.0000001", "decimal"),
    ("123456789012345.5 + 1", "123456789012346.5", "decimal"),
    ("1 = 1", "true", "boolean"),
    ("2 * 3", "6", "integer"),
    ("STR(1.50)", "1.5", "string"),
    ("xsd:dateTime('2020-01-02T00:00:00Z') - xsd:dateTime('2020-01-01T00:00:00Z')", "P1D", "dayTimeDuration"),
    ("xsd:date('2015-09-24Z')", "2015-09-24Z", "date"),
    (r"'\t\n\r\\ \" , <&> \u00E9 \U0001F9EC ]]>'", '\t\n\r\\ " , <&> \u00e9 \U0001f9ec ]]>', "string"),
    ("''", "", "string"),
    ("'  a  '", "  a  ", "string"),
]  # fmt: skip
XSD = "http://www.w3.org/2001/XMLSchema#"


def table(text: str, format_name: str) -> list[Any]:
    query, result = run_query(ox.Store(), text)
    parsed = ox.parse_query_results(write_answer(query, result, format_name), format=RESULT_FORMATS[format_name])
    assert isinstance(parsed, ox.QuerySolutions)
    return [row["v"] for row in parsed]


def graph(text: str, format_name: str) -> list[Any]:
    query, result = run_query(ox.Store(), text)
    body = write_answer(query, result, format_name)
    return [quad.object for quad in ox.parse(body, format=SENT_GRAPH_FORMATS[format_name])]


@pytest.mark.parametrize(("expression", "value", "datatype"), COMPUTED, ids=[item[0][:20] for item in COMPUTED])
def test_a_computed_value_is_the_same_in_every_format(expression: str, value: str | None, datatype: str) -> None:
    found = [table(f"SELECT ({expression} AS ?v) {{}}", name) for name in ("json", "xml", "tsv")]
    found += [
        graph(f"CONSTRUCT {{ <urn:s> <urn:x:p> ?v }} {{ BIND({expression} AS ?v) }}", name)
        for name in SENT_GRAPH_FORMATS
    ]
    assert all(terms == found[0] for terms in found)
    ((term,),) = {tuple(terms) for terms in found}
    assert term.datatype.value == XSD + datatype
    if value is not None:
        assert term.value == value
    if datatype == "decimal":  # xsd:decimal knows no exponent
        assert re.fullmatch(r"[+-]?\d*\.?\d+", term.value)


@pytest.mark.parametrize("name", ["turtle", "trig", "n3"])
def test_the_usual_prefixes_are_used_and_none_is_made_up(name: str) -> None:
    text = "CONSTRUCT { <https://w3id.org/evkg/id/a> a evkg:Result ; rdfs:label 'a' ; <urn:x:p> 1 } {}"
    query, result = run_query(ox.Store(), text)
    written = write_answer(query, result, name).decode()
    assert "evkg:Result" in written
    assert "rdfs:label" in written
    assert not re.search(r"\bns\d+:", written)


def test_quads_keep_their_graphs_and_the_text_of_literals() -> None:
    number = ox.Literal("1.00", datatype=ox.NamedNode(f"{XSD}decimal"))
    quad = ox.Quad(ox.NamedNode("urn:a"), ox.NamedNode("urn:b"), number, ox.NamedNode("urn:g"))
    for name in ("trig", "nquads"):
        assert list(ox.parse(write_quads([quad], name), format=SENT_GRAPH_FORMATS[name])) == [quad]
    for name in SENT_GRAPH_FORMATS:
        ((found,),) = [list(ox.parse(write_graph([ox.Triple(quad.subject, quad.predicate, number)], name),
                                     format=SENT_GRAPH_FORMATS[name]))] if name != "rdfxml" else [[quad]]  # fmt: skip
        assert found.object == number


def test_what_a_format_cannot_hold_is_said() -> None:
    query, result = run_query(ox.Store(), "CONSTRUCT { <urn:a> <urn:b> ?t } { BIND(<<( <urn:a> <urn:b> 1 )>> AS ?t) }")
    with pytest.raises(UnwritableError, match="JSON-LD: it holds a triple"):
        write_answer(query, result, "jsonld")
    query, result = run_query(ox.Store(), "ASK {}")
    with pytest.raises(QueryError, match="cannot be written as trig"):
        write_answer(query, result, "trig")


@pytest.mark.parametrize("name", SENT_GRAPH_FORMATS)
def test_turtle_is_rewritten_in_every_format(name: str) -> None:
    text = "@prefix x: <http://example.org/> . x:a x:b [ x:c 1.50 ] ."
    found = {(quad.predicate.value, getattr(quad.object, "value", "")) for quad in
             ox.parse(rewrite_turtle(text, name), format=SENT_GRAPH_FORMATS[name])}  # fmt: skip
    assert ("http://example.org/c", "1.50") in found
    assert len(found) == 2


@pytest.mark.parametrize("text", ["TRUE", "True", "fAlSe"])
def test_truth_values_are_read_in_any_case(text: str) -> None:
    assert table(f"SELECT ({text} AS ?v) {{}}", "json")[0].value == text.lower()
    assert read_query(f"SELECT ('{text}' AS ?v) {{ ?{text} ?p <urn:{text}> }}").text.count(text) == 3
