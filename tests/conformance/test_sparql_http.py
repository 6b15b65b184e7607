"""The W3C's cases of SPARQL 1.0 and 1.1 queries over HTTP: a real server over a store with the data of each case.

Numbers are compared by value, since the store writes them in its own form (`1.0` as `1`). The ways to send a query and
the formats of the answer take turns.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pyoxigraph as ox
import pytest

from tests.conformance.sparql_cases import SUITES, Case, cases, read_expected, rows_of, same_graph, same_rows, web
from tests.conformance.sparql_server import Server

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (SUITES / "sparql11").is_dir(), reason="the suites lie beside the repository, not here"),
]
TABLES: Final = (
    ("application/sparql-results+json", ox.QueryResultsFormat.JSON),
    ("application/sparql-results+xml", ox.QueryResultsFormat.XML),
    ("text/tab-separated-values", ox.QueryResultsFormat.TSV),
)
GRAPHS: Final = (
    ("text/turtle", ox.RdfFormat.TURTLE),
    ("application/n-triples", ox.RdfFormat.N_TRIPLES),
    ("application/ld+json", ox.RdfFormat.JSON_LD),
)
#: Case -> why it does not give the expected result.
_GROUP_CONCAT: Final = (
    "GROUP_CONCAT keeps a language tag that all have: oxigraph pull request 1717, after pyoxigraph 0.5.13"
)
_PATH: Final = (
    "a path of no step does not begin at a term that is not in the graph: oxigraph pull request 1815, after 0.5.13"
)
_FORM: Final = "the store keeps one form of a number, so 01 and 1, 1.0e0 and 1.0 are the same term: README of oxigraph"
_COUNT: Final = "a count inside GRAPH ?g loses ?g where it counts nothing: oxigraph pull request 1934, after 0.5.13"
_TOKEN: Final = "the engine reads ?x<?a&&?b>?y as two comparisons, where the longest token is an IRI"
EXCEPTIONS: Final[dict[str, str]] = {
    "sparql11/aggregates/agg-groupconcat-04": _GROUP_CONCAT,
    "sparql11/aggregates/agg-groupconcat-06": _GROUP_CONCAT,
    "sparql11/aggregates/agg-empty-group-count-graph": _COUNT,
    "sparql11/property-path/zero_or_more_set_end": _PATH,
    "sparql11/property-path/zero_or_more_set_start": _PATH,
    "sparql11/property-path/zero_or_one_set_end": _PATH,
    "sparql11/property-path/zero_or_one_set_start": _PATH,
    "sparql10/expr-builtin/dawg-str-1": _FORM,
    "sparql10/expr-builtin/dawg-str-2": _FORM,
    "sparql10/expr-builtin/sameTerm-eq": _FORM,
    "sparql10/expr-builtin/sameTerm-not-eq": _FORM,
    "sparql10/expr-builtin/sameTerm-simple": _FORM,
    "sparql10/syntax-sparql3/syn-bad-26": _TOKEN,
}

_numbered = {case.name: number for number, case in enumerate(cases())}
EVALUATED: Final = [case for case in cases() if case.kind in ("QueryEvaluationTest", "CSVResultFormatTest")]
POSITIVE: Final = [case for case in cases() if case.kind.startswith("PositiveSyntaxTest")]
NEGATIVE: Final = [case for case in cases() if case.kind.startswith("NegativeSyntaxTest")]
UPDATES: Final = [case for case in cases() if "Update" in case.kind]


class Servers:
    """One server at a time, over the data of the case that is asked."""

    def __init__(self) -> None:
        self._dataset: Any = None
        self._server: Server | None = None

    def of(self, case: Case) -> Server:
        if self._server is None or case.dataset != self._dataset:
            self.close()
            self._server, self._dataset = Server(_quads(case)), case.dataset
        return self._server

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None


def _quads(case: Case) -> Iterator[ox.Quad]:
    places: list[tuple[Any, Path]] = [(ox.DefaultGraph(), path) for path in case.data]
    for graph, path in [*places, *((ox.NamedNode(iri), path) for iri, path in case.graphs)]:
        for quad in ox.parse(path=str(path), base_iri=web(path), rename_blank_nodes=True):
            yield ox.Quad(quad.subject, quad.predicate, quad.object, graph)


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    servers = Servers()
    yield servers
    servers.close()


def ask(server: Server, case: Case, accept: str, text: str | None = None) -> httpx.Response:
    """The answer to the query of a case, sent in one of the three ways."""
    query = case.text if text is None else text
    match _numbered[case.name] // 3 % 3:
        case 0:
            return server.http.get("/sparql", params={"query": query}, headers={"Accept": accept})
        case 1:
            return server.http.post("/sparql", data={"query": query}, headers={"Accept": accept})
        case _:
            headers = {"Accept": accept, "Content-Type": "application/sparql-query"}
            return server.http.post("/sparql", content=query.encode(), headers=headers)


def problem(server: Server, case: Case) -> str | None:
    """What is wrong with the answer to a case of evaluation; None if nothing is."""
    assert case.result is not None
    if case.result.suffix in (".csv", ".tsv"):
        return _text_problem(server, case)
    expected = read_expected(case.result)
    number = _numbered[case.name] % 3
    if isinstance(expected, set):
        media_type, graph_format = GRAPHS[number]
        answer = ask(server, case, media_type)
        if answer.status_code != 200:
            return answer.text
        triples = {quad.triple for quad in ox.parse(answer.content, format=graph_format)}
        return None if same_graph(expected, triples) else f"expected {expected}, found {triples}"
    media_type, table_format = TABLES[0 if isinstance(expected, bool) and number == 2 else number]
    answer = ask(server, case, media_type)
    if answer.status_code != 200:
        return answer.text
    assert answer.headers["content-type"].startswith(media_type)
    found = rows_of(ox.parse_query_results(answer.content, format=table_format))
    if isinstance(expected, bool) or isinstance(found, bool):
        return None if expected is found else f"expected {expected}, found {found}"
    return None if same_rows(expected, found, is_lax=case.is_lax) else f"expected {expected}\nfound {found}"


def _text_problem(server: Server, case: Case) -> str | None:
    assert case.result is not None
    if case.result.suffix == ".tsv":
        answer = ask(server, case, "text/tab-separated-values")
        tables = [
            rows_of(ox.parse_query_results(body, format=ox.QueryResultsFormat.TSV))
            for body in (case.result.read_bytes(), answer.content)
        ]
        assert isinstance(tables[0], list)
        assert isinstance(tables[1], list)
        return None if same_rows(tables[0], tables[1]) else f"expected {tables[0]}\nfound {tables[1]}"
    answer = ask(server, case, "text/csv")
    sheets = [
        list(csv.reader(io.StringIO(text, newline="")))
        for text in (case.result.read_bytes().decode(), answer.content.decode())
    ]
    counts = [Counter(tuple(map(_cell, row)) for row in sheet) for sheet in sheets]
    is_same = sheets[0][0] == sheets[1][0] and counts[0] == counts[1]
    return None if is_same else f"expected {sheets[0]}\nfound {sheets[1]}"


def _cell(text: str) -> Any:
    """A cell of a CSV for comparing: numbers by value; the name of a blank node says nothing."""
    try:
        return float(text)
    except ValueError:
        return "_:" if text.startswith("_:") else text


@pytest.mark.parametrize("case", EVALUATED, ids=[case.name for case in EVALUATED])
def test_a_query_gives_the_expected_result(case: Case, servers: Servers) -> None:
    found = problem(servers.of(case), case)
    if case.name in EXCEPTIONS:
        assert found is not None, f"{case.name} passes: strike it from the exceptions"
        pytest.skip(EXCEPTIONS[case.name])
    assert found is None, found


@pytest.mark.parametrize("case", POSITIVE, ids=[case.name for case in POSITIVE])
def test_a_query_in_good_syntax_is_answered(case: Case, servers: Servers) -> None:
    if case.name.startswith("sparql11/syntax-fed/"):
        answer = ask(servers.of(case), case, "*/*")
        assert (answer.status_code, "SERVICE is refused" in answer.json()["detail"]) == (400, True)
        return
    answer = ask(servers.of(case), case, "*/*")
    if "custom function" in answer.text:  # the syntax is good; that the function is unknown is said when it would run
        assert answer.json()["title"] == "The query cannot be answered"
        return
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("case", NEGATIVE, ids=[case.name for case in NEGATIVE])
def test_a_query_in_bad_syntax_is_refused(case: Case, servers: Servers) -> None:
    answer = ask(servers.of(case), case, "*/*")
    if case.name in EXCEPTIONS:
        assert answer.status_code == 200, f"{case.name} passes: strike it from the exceptions"
        pytest.skip(EXCEPTIONS[case.name])
    assert answer.status_code == 400, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("case", UPDATES, ids=[case.name for case in UPDATES])
def test_an_update_is_refused_in_every_way(case: Case, servers: Servers) -> None:
    server, text = servers.of(case), case.query.read_bytes()
    direct = server.http.post("/sparql", content=text, headers={"Content-Type": "application/sparql-update"})
    form = server.http.post("/sparql", data={"update": text})
    as_query = server.http.post("/sparql", data={"query": text})
    assert [direct.status_code, form.status_code, as_query.status_code] == [415, 400, 400]
    assert "read-only" in direct.json()["detail"]
    assert "read-only" in form.json()["detail"]


def test_every_exception_is_a_case() -> None:
    assert EXCEPTIONS.keys() <= _numbered.keys()
