from __future__ import annotations

import json
from typing import Any

import pytest

from evkg.answer_table import MOST_ROWS, AnswerTable, Cell, Links, read_graph, read_table, shorten_iri
from evkg.namespaces import EVKG, VOCAB, XSD

BASE = "https://example.org/data/"
LINKS = Links(BASE, lambda name: name in ("gena-lm", "a.b"))


def table(*bindings: dict[str, Any], columns: tuple[str, ...] = ("x",)) -> AnswerTable:
    document = {"head": {"vars": list(columns)}, "results": {"bindings": list(bindings)}}
    answer = read_table(json.dumps(document).encode(), LINKS)
    assert isinstance(answer, AnswerTable)
    return answer


def cell(**term: Any) -> Cell | None:
    return table({"x": term}).rows[0][0]


@pytest.mark.parametrize(
    ("iri", "link", "is_local"),
    [
        (f"{BASE}id/gena-lm", "/id/gena-lm", True),
        (f"{BASE}record/a.b#missing-unit", "/record/a.b#missing-unit", True),
        (f"{BASE}id/nobody", f"{BASE}id/nobody", False),
        (f"{BASE}graph/derived", f"{BASE}graph/derived", False),
        ("http://www.w3.org/ns/prov#Agent", "http://www.w3.org/ns/prov#Agent", False),
        ("javascript:alert(1)", None, False),
        ("data:text/html,<script>", None, False),
        ("urn:a", None, False),
    ],
)
def test_an_iri_leads_to_a_page_here_or_to_the_web_or_nowhere(iri: str, link: str | None, is_local: bool) -> None:
    found = cell(type="uri", value=iri)
    assert found is not None
    assert (found.link, found.is_local) == (link, is_local)


def test_a_term_leads_to_its_page_where_there_is_one() -> None:
    links = Links(BASE, LINKS.has_record, has_terms=True)
    assert links.of_iri(f"{EVKG}printedValue") == ("/ontology/printedValue", True)
    assert links.of_iri(f"{VOCAB}metric/ndcg%4010") == ("/vocab/metric/ndcg%4010", True)
    assert links.of_iri(EVKG) == (EVKG, False)
    assert LINKS.of_iri(f"{EVKG}printedValue") == (f"{EVKG}printedValue", False)


def test_a_text_that_is_the_id_of_a_record_leads_to_it() -> None:
    assert cell(type="literal", value="gena-lm") == Cell("gena-lm", "/id/gena-lm", is_local=True)
    assert cell(type="literal", value="GENA-LM") == Cell("GENA-LM")


@pytest.mark.parametrize(
    ("value", "datatype", "number"),
    [
        ("5.60", "decimal", "5.60"),
        ("-3", "integer", "-3"),
        ("1E-3", "double", "1E-3"),
        ("NaN", "double", None),
        ("INF", "double", None),
        ("5.6", "string", None),
        ("2026-11-30", "date", None),
    ],
)
def test_only_numbers_of_the_graph_are_numbers(value: str, datatype: str, number: str | None) -> None:
    assert cell(type="literal", value=value, datatype=XSD + datatype) == Cell(value, number=number)


def test_a_printed_value_keeps_its_text_and_is_no_number() -> None:
    assert cell(type="literal", value="33.90") == Cell("33.90")


def test_nothing_bound_is_nothing() -> None:
    assert table({"y": {"type": "literal", "value": "1"}}, columns=("x", "y")).rows == ((None, Cell("1")),)


def test_a_value_leads_to_the_record_whose_id_stands_beside_it() -> None:
    columns = ("printed_value", "source", "result_id", "source_id")
    literal = {"type": "literal"}
    row = {"printed_value": "5.6", "source": "A paper", "result_id": "gena-lm", "source_id": "nobody"}
    found = table({name: {**literal, "value": value} for name, value in row.items()}, columns=columns).rows[0]
    assert found[0] == Cell("5.6", "/id/gena-lm", is_local=True)
    assert found[1] == Cell("A paper")  # its id is none of a record, so nothing is promised
    only = table({"printed_value": {**literal, "value": "5.6"}}, columns=columns).rows[0]
    assert only == (Cell("5.6"), None, None, None)


def test_a_triple_as_a_term_is_shown() -> None:
    inner = {
        "subject": {"type": "uri", "value": "urn:a"},
        "predicate": {"type": "uri", "value": f"{EVKG}unit"},
        "object": {"type": "bnode", "value": "b"},
    }
    assert cell(type="triple", value=inner) == Cell("<< urn:a evkg:unit _:b >>")


def test_a_long_table_is_cut_and_says_how_long_it_was() -> None:
    answer = table(*({"x": {"type": "literal", "value": str(number)}} for number in range(MOST_ROWS + 5)))
    assert (len(answer.rows), answer.total) == (MOST_ROWS, MOST_ROWS + 5)


def test_a_long_graph_is_cut_and_says_how_long_it_was() -> None:
    graph = read_graph("\n".join(f"<urn:a> <urn:b> {number} ." for number in range(MOST_ROWS + 1)).encode())
    assert (graph.shown, graph.total, graph.text.count("\n")) == (MOST_ROWS, MOST_ROWS + 1, MOST_ROWS - 1)


def test_an_iri_is_shortened_only_where_a_name_is_left() -> None:
    assert shorten_iri(f"{EVKG}printedValue") == "evkg:printedValue"
    assert shorten_iri(f"{EVKG}a/b") == f"{EVKG}a/b"
    assert shorten_iri(EVKG) == EVKG
