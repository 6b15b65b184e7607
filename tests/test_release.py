"""An opened release: queries and their values, records as read, and what is said of a broken one."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
import rdflib
from rdflib.plugins.sparql import prepareQuery

import evkg
from evkg.answer import Rows, python_value
from evkg.errors import (
    EvkgError,
    NotFoundError,
    QueryError,
    QueryRefusedError,
    QuerySyntaxError,
    ReleaseError,
    UsageError,
)
from evkg.manifest import read_manifest
from evkg.namespaces import EVKG, XSD
from evkg.release import GRAPH, INDEX, MANIFEST, RECORDS, REPORT_JSON, STORE, Release, find_release
from evkg.release import open as open_release
from evkg.view import view_record
from tests.builds import BASE, BATCH_256, PRINTED, ROOT, THROUGHPUT_256

COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"


@pytest.fixture(scope="module")
def release(workspace: Path) -> Release:
    return open_release(workspace / "build/current")


@pytest.fixture
def copy(release: Release, tmp_path: Path) -> Path:
    """A copy of the release that a test may break."""
    return Path(shutil.copytree(release.folder, tmp_path / release.id))


# ---- Finding and opening ----


def test_a_release_is_found_by_folder_pointer_id_and_parent(
    release: Release, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    for name in ("build/current", "build", "current", release.id, f"build/{release.id}", release.folder, Path("build")):
        assert find_release(name) == release.folder
        assert evkg.open(name).id == release.id
    assert evkg.open().id == release.id


@pytest.mark.parametrize(
    "name", ["none", "", "/etc/passwd", "a\0b", "x" * 5000, "../..", "~", "2026-01-01-000000000000"]
)
def test_a_release_that_is_not_there_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ReleaseError, match="There is no release at"):
        evkg.open(name)


def test_what_a_release_is_stands_in_its_manifest(release: Release) -> None:
    assert release.id == release.folder.name
    assert release.base_iri == BASE
    assert release.conforms is True
    assert len(release.record_ids) == 49
    assert list(release.record_ids) == sorted(release.record_ids)


# ---- Queries ----


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1", 1),
        ("-7", -7),
        ("33.88", Decimal("33.88")),
        ("1.00", Decimal("1.00")),
        ("1e3", 1000.0),
        ("true", True),
        ("false", False),
        ("''", ""),
        ("'r = 1.00'", "r = 1.00"),
        ("'x'@en", "x"),
        ("'2026-11-01'^^xsd:date", "2026-11-01"),
        ("'5'^^xsd:long", 5),
        ("<https://example.org/>", "https://example.org/"),
        ("?unbound", None),
        ("1/0", None),
        ("0.0", Decimal(0)),
        ("'INF'^^xsd:double", float("inf")),
    ],
)
def test_values_are_python_values(release: Release, expression: str, value: object) -> None:
    answer = release.select(f"SELECT ({expression} AS ?v) {{}}")[0]["v"]
    assert answer == value
    assert type(answer) is type(value)


@pytest.mark.parametrize(
    ("text", "datatype"),
    [("abc", "integer"), ("9" * 5000, "integer"), ("x", "decimal"), ("maybe", "boolean_"), ("x", "double")],
)
def test_a_value_that_is_none_of_its_type_stays_text(text: str, datatype: str) -> None:
    assert python_value(ox.Literal(text, datatype=ox.NamedNode(XSD + datatype))) == text


def test_a_triple_as_a_value_is_text(release: Release) -> None:
    assert "urn:a" in release.select("SELECT (TRIPLE(<urn:a>, <urn:b>, 1) AS ?t) {}")[0]["t"]
    with pytest.raises(QueryError, match="triple about a triple"):
        release.query("CONSTRUCT { <urn:x> <urn:y> ?t } { BIND(TRIPLE(<urn:a>, <urn:b>, 1) AS ?t) }")


def test_a_select_gives_rows(release: Release) -> None:
    rows = release.query("SELECT ?v ?r { ?r evkg:printedValue ?v } ORDER BY ?v")
    assert isinstance(rows, Rows)
    assert isinstance(rows, Sequence)
    assert rows.variables == ("v", "r")
    assert len(rows) == 12
    assert rows[0] == {"v": "1.18", "r": rows[0]["r"]}
    assert [row["v"] for row in rows][-3:] == ["r = 1.00"] * 3
    assert rows[-1]["v"] == "r = 1.00"
    assert rows[:2] == (rows[0], rows[1])
    assert {"33.88", "11.49", "r = 1.00", "6637"} <= {row["v"] for row in rows}


def test_no_rows_is_an_empty_sequence(release: Release) -> None:
    rows = release.select("SELECT ?a ?b { ?a ?b 'nobody says this' }")
    assert (len(rows), list(rows), rows.variables) == (0, [], ("a", "b"))


def test_an_ask_gives_a_truth_value(release: Release) -> None:
    assert release.query("ASK { ?r evkg:printedValue '33.88' }") is True
    assert release.query("ASK { ?r evkg:printedValue '33.880' }") is False


@pytest.mark.parametrize(
    "text",
    ["CONSTRUCT { ?r evkg:printedValue ?v } { ?r evkg:printedValue ?v }", f"DESCRIBE <{BASE}id/{BATCH_256}>"],
)
def test_a_construct_gives_an_rdflib_graph(release: Release, text: str) -> None:
    graph = release.query(text)
    assert isinstance(graph, rdflib.Graph)
    value = graph.value(rdflib.URIRef(f"{BASE}id/{BATCH_256}"), rdflib.URIRef(f"{EVKG}printedValue"))
    assert value == rdflib.Literal("6637")


def test_bindings_bind_variables_to_iris_texts_and_numbers(release: Release) -> None:
    text = "SELECT ?v { ?r evkg:printedValue ?v ; evkg:metric ?m }"
    assert [row["v"] for row in release.select(text, r=f"<{BASE}id/{BATCH_256}>")] == ["6637"]
    assert release.query("ASK { ?r evkg:printedValue ?v }", v="33.88") is True
    assert release.query("ASK { ?r evkg:printedValue ?v }", v=33.88) is False
    assert release.query("ASK { ?r evkg:printedDecimals ?n }", n=2) is True
    assert release.query("ASK { ?r evkg:printedDecimals ?n }", n=7) is False


@pytest.mark.parametrize("name", ["text", "self", "bindings", "query"])
def test_any_variable_can_be_bound_also_one_that_python_uses(release: Release, name: str) -> None:
    answer = release.select(f"SELECT ?{name} {{ ?r evkg:printedValue ?{name} }}", **{name: "33.88"})
    assert list(answer) == [{name: "33.88"}]


def test_a_binding_of_no_variable_is_wrong_use(release: Release) -> None:
    with pytest.raises(UsageError, match=r"no variable 'x'; it has n, o, p, s"):
        release.query(COUNT, x=1)


def test_a_bound_text_cannot_break_out(release: Release) -> None:
    attack = '" } UNION { ?s ?p ?o } #'
    assert len(release.select("SELECT ?r { ?r evkg:printedValue ?v }", v=attack)) == 0


def test_select_refuses_other_forms(release: Release) -> None:
    for text in ("ASK {}", "CONSTRUCT {} {}"):
        with pytest.raises(UsageError, match="write a SELECT"):
            release.select(text)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("SELECT", QuerySyntaxError),
        ("SELECT ?x { ?x ex:y ?z }", QuerySyntaxError),
        ("SELECT * { SERVICE <https://example.org/> {} }", QueryRefusedError),
        ("INSERT DATA { <urn:a> <urn:b> <urn:c> }", QueryRefusedError),
        ("", QuerySyntaxError),
        ("\ud800", QueryError),
        ("SELECT * { ?s ?p '\ud800' }", QueryError),
    ],
)
def test_a_query_that_cannot_be_answered_is_a_query_error(release: Release, text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        release.query(text)


def test_pandas_is_needed_only_for_data_frames(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pip install pandas"):
        release.select("SELECT ?v { ?r evkg:printedValue ?v }").to_pandas()


# ---- The graph for rdflib ----


@pytest.mark.filterwarnings("ignore:Dataset.*deprecated:DeprecationWarning")  # rdflib 7.6 warns of itself
def test_the_graph_is_an_rdflib_dataset_over_all_graphs(release: Release) -> None:
    graph = release.graph
    assert isinstance(graph, rdflib.Dataset)
    assert len(list(graph.triples((None, rdflib.URIRef(f"{EVKG}printedValue"), None)))) == 12
    rows = graph.query("SELECT ?v { ?r <https://w3id.org/evkg/ontology#printedValue> ?v } ORDER BY ?v")
    values = [str(row[0]) for row in rows]  # type: ignore[index]
    assert {"33.88", "11.49", "r = 1.00", "6637"} <= set(values)
    named = graph.get_context(rdflib.URIRef(f"{BASE}record/{BATCH_256}"))
    assert len(named) == len(release.quads(BATCH_256))


@pytest.mark.filterwarnings("ignore:Dataset.*deprecated:DeprecationWarning")  # rdflib 7.6 warns of itself
def test_the_graph_cannot_be_changed(release: Release) -> None:
    before = len(release.store)
    triple = (rdflib.URIRef("urn:a"), rdflib.URIRef("urn:b"), rdflib.Literal("c"))
    with pytest.raises(RuntimeError, match="only possible on read-write"):
        release.graph.add(triple)
    with pytest.raises(QueryRefusedError):
        release.graph.update("INSERT DATA { <urn:a> <urn:b> 'c' }")
    assert len(release.store) == before
    assert release.query("ASK { <urn:a> ?p ?o }") is False


@pytest.mark.filterwarnings("ignore:Dataset.*deprecated:DeprecationWarning")  # rdflib 7.6 warns of itself
def test_no_query_on_the_graph_reaches_the_network(release: Release) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        service = f"SELECT * {{ SERVICE <{address}> {{ ?s ?p ?o }} }}"
        for query in (service, prepareQuery(service)):
            with pytest.raises(QueryRefusedError):
                release.graph.query(query)
        loading = f"ASK FROM <{address}> {{ ?s ?p ?o }}"
        assert release.graph.query(prepareQuery(loading)).askAnswer is False
        with pytest.raises(QueryRefusedError):
            release.graph.update(f"LOAD <{address}>")
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.filterwarnings("ignore:Dataset.*deprecated:DeprecationWarning")  # rdflib 7.6 warns of itself
def test_a_named_graph_and_a_prepared_query_work_in_rdflib(release: Release) -> None:
    named = release.graph.graph(rdflib.URIRef(f"{BASE}record/{BATCH_256}"))
    assert len(named) == len(release.quads(BATCH_256))
    query = prepareQuery("SELECT ?v { ?r x:printedValue ?v }", initNs={"x": EVKG})
    assert len(release.graph.query(query)) == 12
    query = prepareQuery("SELECT ?v { ?r <ontology#printedValue> ?v }", base=BASE)
    assert len(release.graph.query(query)) == 12


# ---- Records ----


def test_a_record_comes_as_it_was_read(release: Release) -> None:
    expected = {}
    for line in (ROOT / "tests/expected/seed-records.jsonl").read_text(encoding="utf-8").splitlines():
        data = json.loads(line)
        expected[data["id"]] = data
    assert set(release.record_ids) == set(expected)
    for record_id, printed in PRINTED.items():
        attributes = release.record(record_id)["attributes"]
        assert isinstance(attributes, dict)
        assert attributes["printed_value"] == printed
        assert attributes["numeric_value"] == expected[record_id]["attributes"]["numeric_value"]
    assert release.record("gena-lm")["name"] == "GENA-LM"


def test_a_record_line_is_the_bytes_of_the_file(release: Release) -> None:
    lines = (release.folder / RECORDS).read_text(encoding="utf-8").splitlines()
    assert [release.record_line(record_id) for record_id in release.record_ids] == lines


def test_the_jsonld_of_a_record_is_its_graph(release: Release) -> None:
    document = release.jsonld(BATCH_256)
    text = json.dumps(document)
    quads = {str(quad) for quad in ox.parse(text, format=ox.RdfFormat.JSON_LD)}
    wanted = "\n".join([*release.quads(BATCH_256), ""])
    assert quads == {str(quad) for quad in ox.parse(wanted, format=ox.RdfFormat.N_QUADS)}
    assert document["graph"][0]["attributes"]["printed_value"] == "6637"


def test_the_turtle_of_a_record_keeps_every_text(release: Release) -> None:
    for record_id in release.record_ids:
        quads = "\n".join([*release.quads(record_id), ""])
        wanted = {str(quad.triple) for quad in ox.parse(quads, format=ox.RdfFormat.N_QUADS)}
        turtle = release.turtle(record_id)
        assert {str(quad.triple) for quad in ox.parse(turtle, format=ox.RdfFormat.TURTLE)} == wanted
    assert '"r = 1.00"' in release.turtle("saadat-fellay-20261015-result-gena-lm-110m-pseudo-perplexity-agreement")


def test_the_quads_of_a_record_are_those_of_its_graph(release: Release) -> None:
    lines = (release.folder / GRAPH).read_text(encoding="utf-8").splitlines()
    about = f"<{BASE}record/{THROUGHPUT_256}> ."
    assert release.quads(THROUGHPUT_256) == [line for line in lines if line.endswith(about)]


@pytest.mark.parametrize("call", ["record", "record_line", "jsonld", "quads", "turtle", "read"])
def test_an_unknown_id_names_the_nearest(release: Release, call: str) -> None:
    with pytest.raises(NotFoundError, match=r"No record has the id 'gena-lmm'\. Nearest: gena-lm") as caught:
        getattr(release, call)("gena-lmm")
    assert caught.value.nearest[0] == "gena-lm"


@pytest.mark.parametrize("record_id", ["", "../manifest", "\x1b[31m", "GENA-LM", "gena-lm\n", "zzzzzzzzzz"])
def test_an_odd_id_is_not_found_and_shown_harmlessly(release: Release, record_id: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        release.record(record_id)
    assert str(caught.value).isprintable()


def test_findings_of_a_record_come_from_the_report(release: Release) -> None:
    fields = {finding["field"] for finding in release.findings_of(THROUGHPUT_256)}
    assert "attributes.missing_metadata.printed_value" in fields
    assert release.findings_of("no-such-record") == []


# ---- Broken releases ----


def every_read(folder: Path) -> None:
    """Everything that a reader may ask of a release."""
    release = Release(folder)
    _ = release.id, release.base_iri, release.conforms
    release.query(COUNT)
    for record_id in release.record_ids:
        release.record(record_id)
    view_record(release, "gena-lm")
    release.jsonld("gena-lm")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '"x"',
        "1",
        "{}",
        '{"format": 2}',
        '{"format": 1}',
        '{"format": 1, "release_id": "x"}',
        "\ud800",
    ],
)
def test_a_broken_manifest_is_a_release_error(copy: Path, text: str) -> None:
    (copy / MANIFEST).write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(ReleaseError, match=MANIFEST.replace(".", r"\.") + "|format 2"):
        read_manifest(copy)


@pytest.mark.parametrize("name", [INDEX, RECORDS, REPORT_JSON, STORE, "ontology/evkg.ttl", "ontology"])
@pytest.mark.parametrize(
    "content", [None, b"", b"garbage", b"\xff\xfe\x00", b"a\tb\tc\td\n", b"a\t0\n", b'{"findings": [1]}']
)
def test_a_broken_file_is_an_error_of_ours(copy: Path, name: str, content: bytes | None) -> None:
    file = copy / name
    if file.is_dir():
        shutil.rmtree(file)
    else:
        file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(EvkgError) as caught:
        every_read(copy)
    assert str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("base_iri", "no iri"),
        ("base_iri", 7),
        ("base_iri", "https://example.org/ /"),
        ("base_iri", "https://example.org"),
        ("release_id", None),
        ("conforms", "yes"),
        ("dataset", []),
        ("counts", {}),
        ("files", "x"),
    ],
)
def test_a_manifest_with_a_wrong_value_is_a_release_error(copy: Path, key: str, value: object) -> None:
    manifest = json.loads((copy / MANIFEST).read_text(encoding="utf-8"))
    (copy / MANIFEST).write_text(json.dumps({**manifest, key: value}), encoding="utf-8")
    with pytest.raises(ReleaseError, match=f"damaged: {key}"):
        Release(copy)


def test_a_changed_record_is_found_out(copy: Path) -> None:
    text = (copy / RECORDS).read_bytes()
    (copy / RECORDS).write_bytes(text.replace(b'"printed_value":"33.88"', b'"printed_value":"33.89"'))
    release = Release(copy)
    assert release.record("gena-lm")["name"] == "GENA-LM"
    with pytest.raises(ReleaseError, match="damaged"):
        release.record("saadat-fellay-20261015-result-nt-2-5b-training-memory-checkpointing")


def test_a_release_of_another_format_is_named(copy: Path) -> None:
    manifest: dict[str, Any] = json.loads((copy / MANIFEST).read_text(encoding="utf-8"))
    (copy / MANIFEST).write_text(json.dumps({**manifest, "format": 2}), encoding="utf-8")
    with pytest.raises(ReleaseError, match="has format 2; this evkg reads 1"):
        Release(copy)
