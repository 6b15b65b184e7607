"""The store: what a query sees, formats of answers, and stores that cannot be opened."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyoxigraph as ox
import pytest

from evkg.errors import QueryError, ReleaseError
from evkg.namespaces import EVKG, XSD
from evkg.release import GRAPH, STORE, Release
from evkg.release import open as open_release
from evkg.store import (
    GRAPH_FORMATS,
    RESULT_FORMATS,
    UnwritableError,
    load_store,
    open_store,
    rows,
    run_query,
    serialize,
)
from tests.builds import build_store

COUNT = "SELECT (COUNT(*) AS ?n) {0} {{ {1} }}"
ANY = "?s ?p ?o"


@pytest.fixture(scope="module")
def release(workspace: Path) -> Release:
    return open_release(workspace / "build/current")


def count(store: ox.Store, query: str, **options: Any) -> int:
    _, result = run_query(store, query, **options)
    return int(next(iter(result))[0].value)


# ---- What a query sees ----


def test_a_query_that_names_no_data_set_sees_the_union_of_all_graphs(release: Release) -> None:
    lines = (release.folder / GRAPH).read_text(encoding="utf-8").splitlines()
    assert count(release.store, COUNT.format("", ANY)) == len(lines)
    assert count(release.store, COUNT.format("", "GRAPH ?g { ?s ?p ?o }")) == len(lines)


def test_no_triple_is_counted_twice_in_the_union(release: Release) -> None:
    distinct = "SELECT (COUNT(*) AS ?n) { SELECT DISTINCT ?s ?p ?o { ?s ?p ?o } }"
    assert count(release.store, COUNT.format("", ANY)) == count(release.store, distinct)


@pytest.mark.parametrize(
    "name", ["derived", "shared", "ontology", "vocabulary", "shapes", "questions", "validation", "release"]
)
def test_from_sees_that_graph_and_no_other(release: Release, name: str) -> None:
    graph = f"{release.base_iri}graph/{name}"
    inside = count(release.store, COUNT.format("", f"GRAPH <{graph}> {{ ?s ?p ?o }}"))
    assert inside > 0
    assert count(release.store, COUNT.format(f"FROM <{graph}>", ANY)) == inside
    assert count(release.store, COUNT.format("", ANY), default_graphs=(graph,)) == inside
    named = COUNT.format(f"FROM NAMED <{graph}>", "GRAPH ?g { ?s ?p ?o }")
    assert count(release.store, named) == inside
    assert count(release.store, COUNT.format(f"FROM NAMED <{graph}>", ANY)) == 0


def test_from_two_graphs_sees_both(release: Release) -> None:
    graphs = [f"{release.base_iri}graph/{name}" for name in ("derived", "shared")]
    each = [count(release.store, COUNT.format(f"FROM <{graph}>", ANY)) for graph in graphs]
    assert count(release.store, COUNT.format(" ".join(f"FROM <{graph}>" for graph in graphs), ANY)) == sum(each)


def test_graphs_that_the_caller_names_replace_those_of_the_query(release: Release) -> None:
    derived, shared = (f"{release.base_iri}graph/{name}" for name in ("derived", "shared"))
    query = COUNT.format(f"FROM <{shared}>", ANY)
    expected = count(release.store, COUNT.format(f"FROM <{derived}>", ANY))
    assert count(release.store, query, default_graphs=(derived,)) == expected
    assert count(release.store, COUNT.format("", ANY), named_graphs=(derived,)) == 0


def test_a_graph_that_is_not_there_is_empty(release: Release) -> None:
    assert count(release.store, COUNT.format("FROM <urn:nothing>", ANY)) == 0
    assert count(release.store, COUNT.format("", ANY), default_graphs=("urn:nothing",)) == 0


def test_a_graph_name_that_is_no_iri_is_refused() -> None:
    with pytest.raises(QueryError, match="cannot name a graph"):
        run_query(ox.Store(), "ASK {}", default_graphs=("not an iri",))


def test_a_store_of_a_release_is_not_changed_by_what_it_is_asked(release: Release) -> None:
    before = sorted(file.name for file in (release.folder / STORE).iterdir())
    count(open_store(release.folder / STORE), COUNT.format("", ANY))
    assert sorted(file.name for file in (release.folder / STORE).iterdir()) == before


# ---- Formats ----

#: Values whose text is easily lost, as (SPARQL, text, datatype or language).
ODD = [
    ("0.0", "0.0", f"{XSD}decimal"),
    ("0", "0", f"{XSD}integer"),
    ("false", "false", f"{XSD}boolean"),
    ("''", "", f"{XSD}string"),
    ("0e0", "0", f"{XSD}double"),
    ("'a\"b, c'", 'a"b, c', f"{XSD}string"),
    ("'two\\nlines'", "two\nlines", f"{XSD}string"),
    ("'\\r\\n'", "\r\n", f"{XSD}string"),
    ("'=1+1'", "=1+1", f"{XSD}string"),
    ("'\\t'", "\t", f"{XSD}string"),
    ("'é🧬 ≤'", "é🧬 ≤", f"{XSD}string"),
    ("'<b>&amp;'", "<b>&amp;", f"{XSD}string"),
    ("'r = 1.00'@en", "r = 1.00", "en"),
]
TABLE = (
    f"SELECT ?n ?v {{ VALUES (?n ?v) {{ {' '.join(f'({i} {text[0]})' for i, text in enumerate(ODD))} (99 UNDEF) }} }}"
)


def answer(query: str, format_name: str) -> bytes:
    read, result = run_query(ox.Store(), query)
    return serialize(read, result, format_name)


def test_odd_values_keep_text_and_type_in_json() -> None:
    bindings = json.loads(answer(TABLE, "json"))["results"]["bindings"]
    found = {int(row["n"]["value"]): row.get("v") for row in bindings}
    assert found.pop(99) is None
    for index, (_, text, kind) in enumerate(ODD):
        cell = found[index]
        assert (canonical(cell["value"]), cell.get("datatype", cell.get("xml:lang", f"{XSD}string"))) == (
            canonical(text),
            kind,
        )


def test_odd_values_keep_text_and_type_in_xml() -> None:
    space = "{http://www.w3.org/2005/sparql-results#}"
    tree = ET.fromstring(answer(TABLE, "xml"))  # noqa: S314 - our own output
    found = {}
    for row in tree.iter(f"{space}result"):
        cells = {cell.get("name"): cell[0] for cell in row}
        found[int(cells["n"].text or "")] = cells.get("v")
    assert found.pop(99) is None
    for index, (_, text, kind) in enumerate(ODD):
        cell = found[index]
        assert cell is not None
        language = cell.get("{http://www.w3.org/XML/1998/namespace}lang")
        assert canonical(cell.text or "") == canonical(text.replace("\r\n", "\n")) or cell.text == text
        assert cell.get("datatype", language or f"{XSD}string") == kind


def test_odd_values_come_back_exactly_from_csv() -> None:
    table = list(csv.reader(io.StringIO(answer(TABLE, "csv").decode(), newline="")))
    assert table[0] == ["n", "v"]
    found = {int(row[0]): row[1] for row in table[1:]}
    assert found.pop(99) == ""
    assert [canonical(found[index]) for index in range(len(ODD))] == [canonical(text) for _, text, _ in ODD]


def test_odd_values_come_back_exactly_from_tsv() -> None:
    lines = answer(TABLE, "tsv").decode().split("\n")
    assert lines[0] == "?n\t?v"
    found = dict(line.split("\t") for line in lines[1:] if line)
    assert found.pop("99") == ""
    for index, (_, text, kind) in enumerate(ODD):
        term = next(iter(ox.parse(f"<urn:s> <urn:p> {found[str(index)]} .", format=ox.RdfFormat.TURTLE))).object
        assert isinstance(term, ox.Literal)
        assert canonical(term.value) == canonical(text)
        assert (term.language or term.datatype.value) == kind


def canonical(text: str) -> str:
    """Numbers by value: the engine has its own way to write them (`0.0` as `0`)."""
    return "0" if text in ("0", "0.0", "0E0", "0e0", "0.0E0") else text


@pytest.mark.parametrize("format_name", ["json", "xml", "csv", "tsv"])
@pytest.mark.parametrize("truth", [True, False])
def test_the_answer_to_an_ask_is_there_in_every_format(format_name: str, truth: bool) -> None:
    text = answer("ASK {}" if truth else "ASK { ?s ?p ?o }", format_name).decode()
    assert str(truth).lower() in text
    assert str(not truth).lower() not in text


@pytest.mark.parametrize("format_name", ["json", "xml", "csv", "tsv"])
def test_no_rows_is_an_answer_with_its_columns(format_name: str) -> None:
    text = answer("SELECT ?one ?two { ?s ?one ?two }", format_name).decode()
    assert "one" in text
    assert "two" in text


@pytest.mark.parametrize("format_name", GRAPH_FORMATS)
def test_a_graph_is_the_same_in_every_format(format_name: str) -> None:
    query = "CONSTRUCT { <urn:s> evkg:x 0.0 , false , '' , 'a\"b\\n' , 'x'@en , <urn:o> } {}"
    found = {quad.triple for quad in ox.parse(answer(query, format_name), format=GRAPH_FORMATS[format_name])}
    assert len(found) == 6
    assert {str(triple.object) for triple in found} >= {'""', '"a\\"b\\n"', '"x"@en', "<urn:o>"}
    assert {triple.predicate.value for triple in found} == {f"{EVKG}x"}


def test_a_graph_has_no_triple_twice_and_the_same_order_every_time() -> None:
    query = "CONSTRUCT { ?v <urn:p> ?w } { VALUES ?v { <urn:b> <urn:a> <urn:b> } VALUES ?w { 2 1 } }"
    lines = answer(query, "nt").decode().splitlines()
    assert lines == sorted(set(lines))
    assert len(lines) == 4


@pytest.mark.parametrize(
    ("query", "formats"),
    [("SELECT * {}", GRAPH_FORMATS), ("ASK {}", GRAPH_FORMATS), ("CONSTRUCT {} {}", RESULT_FORMATS)],
)
def test_a_format_that_does_not_fit_is_refused_with_those_that_do(query: str, formats: dict[str, Any]) -> None:
    for name in (*formats, "pdf"):
        with pytest.raises(QueryError, match="cannot be written as"):
            answer(query, name)


def test_rows_are_dicts_and_unbound_is_none() -> None:
    _, result = run_query(ox.Store(), "SELECT ?a ?b { VALUES ?a { 1 } }")
    found = list(rows(result))
    assert [list(row) for row in found] == [["a", "b"]]
    assert found[0]["b"] is None


# ---- Stores ----


def test_every_literal_of_the_answer_is_found_again(release: Release) -> None:
    _, result = run_query(release.store, "SELECT DISTINCT ?o { ?r a evkg:Result ; ?p ?o FILTER(isLiteral(?o)) }")
    literals = [row["o"] for row in rows(result)]
    assert len(literals) > 20
    for literal in literals:
        assert run_query(release.store, f"ASK {{ ?s ?p {literal} }}")[1], literal


def test_a_store_in_memory_holds_the_same_as_the_one_on_disk(release: Release, tmp_path: Path) -> None:
    memory = load_store(release.folder / GRAPH)
    build_store(release.folder / GRAPH, tmp_path / "store")
    disk = open_store(tmp_path / "store")
    assert len(memory) == len(disk) == len(release.store)
    assert {str(quad) for quad in memory} == {str(quad) for quad in disk}


@pytest.mark.parametrize("text", ["nonsense", "<urn:a> <urn:b> <urn:c>", '<urn:a> <urn:b> "x" <bad iri> .'])
def test_a_file_that_is_no_nquads_makes_no_store(tmp_path: Path, text: str) -> None:
    file = tmp_path / "graph.nq"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ReleaseError):
        build_store(file, tmp_path / "store")
    with pytest.raises(ReleaseError):
        load_store(file)


def test_a_missing_file_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError):
        load_store(tmp_path / "none.nq")
    with pytest.raises(ReleaseError):
        build_store(tmp_path / "none.nq", tmp_path / "store")


def test_a_folder_without_a_store_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="holds no store"):
        open_store(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"garbage\n" * 20, None])
@pytest.mark.parametrize("pattern", ["CURRENT", "MANIFEST-*", "*.sst"])
def test_a_broken_store_is_named(tmp_path: Path, pattern: str, content: bytes | None) -> None:
    graph = tmp_path / "graph.nq"
    graph.write_text("<urn:a> <urn:b> <urn:c> .\n", encoding="utf-8")
    build_store(graph, tmp_path / "store")
    for file in (tmp_path / "store").glob(pattern):
        file.unlink()
        if content is not None:
            file.write_bytes(content)
    with pytest.raises(ReleaseError, match="store"):
        open_store(tmp_path / "store")


@pytest.mark.parametrize("character", ["\\u0001", "\\f", "\\uFFFE"])
def test_what_xml_cannot_hold_is_refused_and_had_otherwise(character: str) -> None:
    for text, form, others in (
        (f"SELECT ('a{character}b' AS ?x) {{}}", "xml", ("json", "csv", "tsv")),
        (f"CONSTRUCT {{ <urn:a> <urn:p> 'a{character}b' }} {{}}", "rdfxml", ("turtle", "nt", "jsonld")),
    ):
        with pytest.raises(UnwritableError, match="control character"):
            serialize(*run_query(ox.Store(), text), form)
        for other in others:
            assert serialize(*run_query(ox.Store(), text), other)


@pytest.mark.parametrize("iri", ["http://example.org/1", "http://example.org/a%20", "http://example.org/p#"])
def test_a_property_without_an_xml_name_is_refused_in_rdf_xml(iri: str) -> None:
    text = f"CONSTRUCT {{ <urn:a> <{iri}> 1 }} {{}}"
    with pytest.raises(UnwritableError, match="XML name"):
        serialize(*run_query(ox.Store(), text), "rdfxml")
    assert serialize(*run_query(ox.Store(), text), "turtle")


def test_line_ends_survive_rdf_xml() -> None:
    body = serialize(*run_query(ox.Store(), r"CONSTRUCT { <urn:a> <urn:p> 'a\r\nb' } {}"), "rdfxml")
    (quad,) = ox.parse(body, format=ox.RdfFormat.RDF_XML)
    assert quad.object == ox.Literal("a\r\nb")
