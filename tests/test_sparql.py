"""The text of a query: what is refused before any engine sees it, and values put into it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from itertools import product

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evkg.errors import QueryError, QueryRefusedError, QuerySyntaxError, UsageError
from evkg.namespaces import PREFIXES, XSD
from evkg.sparql import bind, place, read_query, term_text, tokens
from evkg.store import run_query
from tests.builds import listening
from tests.strategies import texts

# ---- SERVICE ----


@pytest.mark.parametrize(
    "query",
    [
        'SELECT * { ?s rdfs:label "SERVICE" }',
        "SELECT * { ?s rdfs:label 'SERVICE <urn:x> {}' }",
        'SELECT * { ?s rdfs:label """a "" SERVICE\n<urn:x> {} """ }',
        "SELECT * { ?s rdfs:label '''SERVICE '' \\' ''' }",
        'SELECT * { ?s rdfs:label "a\\"SERVICE <urn:x>" }',
        "SELECT * { ?s ?p ?o } # SERVICE <urn:x> {}",
        "SELECT * { ?s ?p ?o # SERVICE\n }",
        "SELECT * { ?s ?p <https://example.org/SERVICE> }",
        "SELECT * { ?s ?p <https://example.org/#SERVICE> }",
        "SELECT ?SERVICE $service { ?SERVICE ?p $service }",
        "SELECT * { ?s a evkg:Service ; evkg:SERVICE ?o }",
        "PREFIX ex: <urn:x> SELECT * { ?s ex:a.SERVICE ex:SERVICE }",
        'SELECT * { ?s ?p "x"@en } # \\u0053ERVICE',
    ],
)
def test_the_word_service_may_stand_in_texts_comments_names_and_variables(query: str) -> None:
    assert read_query(query).form == "SELECT"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { SERVICE <urn:x> { ?s ?p ?o } }",
        "SELECT * { service <urn:x> { ?s ?p ?o } }",
        "SELECT * { SeRvIcE SILENT ?x { ?s ?p ?o } }",
        "SELECT * { ?s ?p ?o }#\nSERVICE",
        "SELECT * { ?s ?p ?o # comment ends here\rSERVICE <urn:x> {} }",
        'SELECT * { ?s ?p """x""" SERVICE <urn:x> {} }',
        "SELECT * { ?s ?p 'x'SERVICE<urn:x>{} }",
        "SELECT * { \\u0053ERVICE <urn:x> {} }",
        "SELECT * { \\U00000053\\u0045RVICE <urn:x> {} }",
        "SELECT * { ?s ?p ?o FILTER(?a<?b)SERVICE?x#>\n{ } }",
        "SELECT * { ?s ?p ?o FILTER(?a<?b)SERVICESILENT?x#>\n{ } }",
        "SELECT * { ?s ?p ?o FILTER(?a<?b\\u0029SERVICE?x#>\n{ } }",
        "SELECT * { SERVICESILENT<urn:x>{} }",
        "SELECT * { ?s ?p 1e5SERVICE<urn:x>{} }",
        "SELECT * { ?s ?p 1.SERVICE<urn:x>{} }",
        "SELECT * { ?s ?p trueSERVICE<urn:x>{} }",
        "PREFIX SERVICEex: <urn:x> PREFIX ex: <urn:x> SELECT * { SERVICEex:y{} }",
        "PREFIX serviceex: <urn:x> PREFIX ex: <urn:x> SELECT * { serviceex:y{} }",
        "PREFIX SERVICE: <urn:x> SELECT * { SERVICE:y{} }",
        "PREFIX e5SERVICEex: <urn:x> SELECT * { ?s ?p 1e5SERVICEex:y{} }",
        "ASK { { SELECT * { OPTIONAL { SERVICE ?x {} } } } }",
        "DESCRIBE ?s { SERVICE <urn:x> { ?s ?p ?o } }",
        "CONSTRUCT { ?s ?p ?o } WHERE { SERVICE <urn:x> { ?s ?p ?o } }",
    ],
)
def test_service_is_refused_however_it_is_written(query: str) -> None:
    with pytest.raises(QueryRefusedError, match="SERVICE is refused"):
        read_query(query)


# ---- No network ----


@pytest.fixture
def listener() -> Iterator[tuple[str, list[bytes]]]:
    with listening() as place:
        yield place


def small_store() -> ox.Store:
    """A store in which the patterns of the attempts below match something."""
    store = ox.Store()
    for value in (
        ox.Literal("1e5", datatype=ox.NamedNode(f"{XSD}double")),
        ox.Literal("true", datatype=ox.NamedNode(f"{XSD}boolean")),
        ox.Literal("5", datatype=ox.NamedNode(f"{XSD}integer")),
        ox.Literal("x"),
    ):
        store.add(ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), value, ox.NamedNode("urn:g")))
    return store


ATTEMPTS = [
    "SELECT * {{ SERVICE <{0}> {{ ?a ?b ?c }} }}",
    "SELECT * {{ SERVICE SILENT <{0}> {{ ?a ?b ?c }} }}",
    "SELECT * {{ SERVICESILENT<{0}>{{ ?a ?b ?c }} }}",
    "SELECT * {{ VALUES ?x {{ <{0}> }} SERVICE ?x {{ ?a ?b ?c }} }}",
    "SELECT * {{ ?s ?p 1e5SERVICE<{0}>{{ ?a ?b ?c }} }}",
    "SELECT * {{ ?s ?p trueSERVICE<{0}>{{ ?a ?b ?c }} }}",
    "SELECT * {{ ?s ?p 5SERVICE<{0}>{{ ?a ?b ?c }} }}",
    "PREFIX SERVICEex: <{0}> PREFIX ex: <{0}> SELECT * {{ SERVICEex:x{{ ?a ?b ?c }} }}",
    "PREFIX e5SERVICEex: <{0}> PREFIX ex: <{0}> SELECT * {{ ?s ?p 1e5SERVICEex:x{{ ?a ?b ?c }} }}",
    "SELECT * {{ ?s ?p ?o FILTER(1<2)SERVICE?x#>\n{{ ?a ?b ?c }} VALUES ?x {{ <{0}> }} }}",
    "SELECT * {{ ?s ?p ?o . LATERAL {{ SERVICE<{0}>{{ ?a ?b ?c }} }} }}",
    "SELECT * {{ ?s ?p ?o FILTER EXISTS {{ SERVICE<{0}>{{ ?a ?b ?c }} }} }}",
    "SELECT * {{ ?s ?p ?o.#\rSERVICE<{0}>{{ ?a ?b ?c }}\n }}",
    "SELECT * {{ ?s ?p _:a.SERVICE<{0}>{{ ?a ?b ?c }} }}",
    'SELECT * {{ ?s ?p "x"@en-SERVICE<{0}>{{ ?a ?b ?c }} }}',
    'SELECT * {{ ?s ?p "x"@en--ltrSERVICE<{0}>{{ ?a ?b ?c }} }}',
    "SELECT * {{ ?s ?p ?oSERVICE<{0}>{{ ?a ?b ?c }} }}",
    "SELECT * {{ ?s ?p ?o·SERVICE<{0}>{{ ?a ?b ?c }} }}",
    "SELECT * {{ ?s ?p 'a\\u0027SERVICE<{0}>{{ ?a ?b ?c }} #' }}",
    "SELECT * {{ ?s ?p '\\\nSERVICE<{0}>{{ ?a ?b ?c }} #' }}",
    'SELECT * {{ ?s ?p """x""SERVICE<{0}>{{ ?a ?b ?c }} #""" }}',
    "BASE <{0}> SELECT * {{ ?s ?p ?o . SERVICE<>{{ ?a ?b ?c }} }}",
    "SELECT * FROM <{0}> {{ ?s ?p ?o }}",
    "SELECT * FROM NAMED <{0}> {{ GRAPH ?g {{ ?s ?p ?o }} }}",
    "SELECT * {{ GRAPH <{0}> {{ ?s ?p ?o }} }}",
    "LOAD <{0}>",
    "LOAD <{0}> INTO GRAPH <urn:g>",
    "LOADSILENT<{0}>",
    "PREFIX ex: <{0}> LOAD ex:x",
    "DESCRIBE <{0}>",
]


def test_no_query_reaches_the_network(listener: tuple[str, list[bytes]]) -> None:
    address, seen = listener
    store = small_store()
    for attempt in ATTEMPTS:
        with suppress(QueryError):
            list(run_query(store, attempt.format(address))[1])
        assert seen == [], attempt


def test_the_listener_would_have_seen_a_call(listener: tuple[str, list[bytes]]) -> None:
    address, seen = listener
    with pytest.raises(OSError, match="500"):
        list(small_store().query(f"SELECT * {{ SERVICE <{address}> {{ ?a ?b ?c }} }}"))  # type: ignore[arg-type]
    assert len(seen) == 1


@pytest.mark.parametrize(
    "before",
    ["1e5", "5", ".5", "true", "false", "'x'", '"""x"""', "<urn:o>", "()", "[]", "?o", "evkg:o", "_:o", "'x'@en"],
)
def test_no_neighbour_of_the_word_hides_a_call(listener: tuple[str, list[bytes]], before: str) -> None:
    address, seen = listener
    store = small_store()
    words = ("SERVICE", "service", "SERVICESILENT", "SERVICE SILENT")
    for word, target in product(words, (f"<{address}>", "?x", "ex:y", "ex:")):
        last = word.split()[-1]
        for name in (f"{before}{last}ex", f"{last}ex", f"e5{last}ex"):
            head = f"PREFIX ex: <{address}> PREFIX {name}: <{address}>"
            pattern = f"VALUES ?x {{ <{address}> }} ?s ?p {before}{word}{target}{{ ?a ?b ?c }}"
            with suppress(QueryError):
                list(run_query(store, f"{head} SELECT * {{ {pattern} }}")[1])
            assert seen == [], pattern


# ---- Updates, forms and prefixes ----


@pytest.mark.parametrize(
    "update",
    [
        "INSERT DATA { <urn:a> <urn:b> <urn:c> }",
        "insert { ?s ?p ?o } where { ?s ?p ?o }",
        "DELETE WHERE { ?s ?p ?o }",
        "PREFIX ex: <urn:x> DELETE DATA { ex:a ex:b ex:c }",
        "WITH <urn:g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
        "LOAD <https://example.org/>",
        "CLEAR ALL",
        "DROP GRAPH <urn:g>",
        "CREATE GRAPH <urn:g>",
        "ADD <urn:a> TO <urn:b>",
        "MOVE <urn:a> TO <urn:b>",
        "COPY <urn:a> TO <urn:b>",
        "# SELECT\nINSERT DATA {}",
    ],
)
def test_updates_are_refused(update: str) -> None:
    with pytest.raises(QueryRefusedError, match="read-only"):
        read_query(update)


@pytest.mark.parametrize("text", ["", "   ", "# nothing", "hello", "{}", "SELEC ?x {}", "'SELECT'", "<SELECT>"])
def test_a_text_without_a_query_form_is_a_syntax_error_at_its_beginning(text: str) -> None:
    with pytest.raises(QuerySyntaxError, match="not a query") as caught:
        read_query(text)
    assert (caught.value.line, caught.value.column) == (1, 1)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("select * {}", "SELECT"),
        ("ASK{}", "ASK"),
        ("PREFIX insert: <urn:x> CONSTRUCT { insert:a insert:b insert:c } {}", "CONSTRUCT"),
        ("BASE <urn:x> DESCRIBE <LOAD>", "DESCRIBE"),
        ("# LOAD\nSELECT ?DELETE { ?DELETE ?p 'CLEAR' }", "SELECT"),
    ],
)
def test_the_form_of_a_query_is_its_first_keyword(text: str, form: str) -> None:
    assert read_query(text).form == form


@pytest.mark.parametrize(
    ("text", "line", "column", "prefix"),
    [
        ("SELECT * { ?s xx:y ?o }", 1, 15, "xx"),
        ("SELECT * {\n  ?s evkg:metric ?o ;\n     ekg:unit ?u }", 3, 6, "ekg"),
        ("SELECT * { ?s ?p 'é🧬', qudt:unit }", 1, 24, "qudt"),
        ("SELECT * { ?s ?p '''a\nb''' . :x ?p ?o }", 2, 8, ""),
        ("PREFIX a: <urn:a> SELECT * { a:b b:a ?o }", 1, 34, "b"),
    ],
)
def test_an_unknown_prefix_is_named_with_line_and_column(text: str, line: int, column: int, prefix: str) -> None:
    with pytest.raises(QuerySyntaxError, match=f"The prefix {prefix}: is not declared") as caught:
        read_query(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert f"Line {line}, column {column}" in str(caught.value)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_the_usual_prefixes_need_no_declaration(prefix: str) -> None:
    assert run_query(ox.Store(), f"ASK {{ ?s {prefix}:x ?o }}")[0].form == "ASK"


def test_a_declared_prefix_wins_over_the_usual_one() -> None:
    _, result = run_query(ox.Store(), "PREFIX evkg: <urn:mine/> SELECT (evkg:x AS ?x) {}")
    assert [row["x"].value for row in result] == ["urn:mine/x"]


@pytest.mark.parametrize(
    ("text", "line", "column", "near"),
    [
        ("SELECT * { ?s ?p ?o", 1, 20, "at the end"),
        ("SELECT * { ?s 'é🧬' }", 1, 20, "at '}'"),
        ("ASK { <a b> ?p ?o }", 1, 15, "at '?o'"),
        ("ASK {}\n\n\nORDERBY", 4, 8, "at the end"),
        ("ASK { BIND(1 AS ?x) BIND(2 AS ?x) }", 1, 36, "at the end: this cannot be read"),
    ],
)
def test_a_syntax_error_says_where_and_at_what(text: str, line: int, column: int, near: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        run_query(ox.Store(), text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).startswith(f"Line {line}, column {column}, {near}")
    assert "\n" not in str(caught.value)
    assert "[_]" not in str(caught.value)


def test_places_count_from_one() -> None:
    assert [place("ab\ncd", offset) for offset in (0, 1, 2, 3, 4)] == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT * FROM <urn:g> {}", True),
        ("SELECT * from named <urn:g> {}", True),
        ("SELECT*FROMNAMED<urn:g>{}", True),
        ("SELECT * { ?s ?p 'FROM' } # FROM", False),
        ("SELECT ?FROM { ?FROM ?p <FROM> }", False),
    ],
)
def test_a_query_names_its_data_set_only_by_from(text: str, names: bool) -> None:
    assert read_query(text).names_dataset is names


@given(st.text(st.sampled_from("ab:<>\"'\\#?$@_.-{}()\n\r \t1eSELCTRVI*é\u00aa%")))
def test_the_words_of_any_text_leave_out_only_space_and_comments(text: str) -> None:
    end = 0
    for word in tokens(text):
        assert text[word.offset : word.offset + len(word.text)] == word.text
        between = text[end : word.offset].strip()
        assert between == "" or between.startswith("#")
        end = word.offset + len(word.text)


@given(st.text(max_size=40))
def test_any_text_is_a_query_or_gives_a_query_error(text: str) -> None:
    with suppress(QueryError):
        run_query(ox.Store(), text)


# ---- Values put into queries ----


def answer(text: str) -> list[tuple[str | None, ...]]:
    store = small_store()
    _, result = run_query(store, text)
    return sorted(tuple(None if term is None else term.value for term in row) for row in result)


def test_a_value_takes_the_place_of_the_data_of_values() -> None:
    text = "SELECT * { VALUES ?most { 6 7 } VALUES ?other { 'VALUES ?most {}' } }"
    assert answer(bind(text, {"most": 8})) == [("8", "VALUES ?most {}")]


def test_a_value_joins_the_pattern_of_a_query_without_values() -> None:
    assert answer(bind("SELECT ?s { ?s ?p ?o }", {"o": "x"})) == [("urn:s",)]
    assert answer(bind("SELECT ?s { ?s ?p ?o }", {"o": "y"})) == []
    assert answer(bind("SELECT ?o { ?s ?p ?o }", {"s": "<urn:s>", "o": 5})) == [("5",)]


def test_values_in_a_construct_stand_in_its_pattern_and_not_in_its_template() -> None:
    text = bind("CONSTRUCT { ?s <urn:q> ?o } WHERE { ?s ?p ?o }", {"o": "x"})
    assert text == 'CONSTRUCT { ?s <urn:q> ?o } WHERE { VALUES ?o { "x" } ?s ?p ?o }'


def test_many_values_are_bound_at_once() -> None:
    text = "SELECT * { VALUES ?a { 1 } VALUES ?b { 2 } ?s ?p ?c }"
    assert bind(text, {"b": True}) == "SELECT * { VALUES ?a { 1 } VALUES ?b { true } ?s ?p ?c }"
    rows = answer(bind(text, {"c": "x", "b": True, "a": Decimal("1.50")}))
    assert [sorted(map(str, row)) for row in rows] == [["1.5", "true", "urn:p", "urn:s", "x"]]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-7, "-7"),
        (Decimal("1E-7"), f'"0.0000001"^^<{XSD}decimal>'),
        (Decimal("33.880"), f'"33.880"^^<{XSD}decimal>'),
        (0.1, f'"0.1"^^<{XSD}double>'),
        (math.inf, f'"INF"^^<{XSD}double>'),
        (-math.inf, f'"-INF"^^<{XSD}double>'),
        (math.nan, f'"NaN"^^<{XSD}double>'),
        ("<urn:x>", "<urn:x>"),
        ("<not an iri>", '"<not an iri>"'),
        ("<urn:x> } #", '"<urn:x> } #"'),
        ('a"b\\c\n', '"a\\"b\\\\c\\n"'),
    ],
)
def test_values_are_written_as_sparql_writes_them(value: str | float | Decimal, text: str) -> None:
    assert term_text(value) == text


@pytest.mark.parametrize("value", [Decimal("NaN"), Decimal("Infinity"), Decimal("-Infinity")])
def test_a_decimal_that_is_no_number_cannot_be_bound(value: Decimal) -> None:
    with pytest.raises(UsageError, match="not a decimal"):
        term_text(value)


@pytest.mark.parametrize(
    "attack",
    [
        '" } #',
        "x' } UNION { ?s ?p ?o } #",
        '"""} UNION { ?a ?b ?c } """',
        "\\",
        '\\" } #',
        "\n} #",
        "<urn:x> } UNION { ?s ?p ?o",
        "<urn:x>> } #<",
        "?s",
        "\u0000",
        "\\u0022 } #",
        "\\u007D",
    ],
)
def test_a_bound_text_never_leaves_its_quotes(attack: str) -> None:
    for text in ("SELECT ?v { VALUES ?v { 'x' } }", "SELECT ?v { BIND(1 AS ?one) VALUES ?w { 1 } ?v ?w ?one }"):
        bound = bind(text, {"v": attack})
        words = [word.kind for word in tokens(bound)]
        assert words.count("string") == 1
    assert answer(bind("SELECT ?v { VALUES ?v { 'x' } }", {"v": attack})) == [(attack,)]


@given(texts)
def test_any_text_comes_back_as_it_was_bound(text: str) -> None:
    bound = bind("SELECT ?v { VALUES ?v { 'x' } }", {"v": text})
    if term_text(text).startswith("<"):
        return
    assert answer(bound) == [(text,)]


@pytest.mark.parametrize("name", ["x", "s } #", "", "?s", "s ?p"])
def test_a_name_that_is_no_variable_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(UsageError, match=r"no variable.*it has o, p, s"):
        bind("SELECT * { ?s ?p ?o }", {name: "x"})


def test_a_query_without_a_pattern_cannot_be_bound() -> None:
    with pytest.raises(UsageError, match="no pattern"):
        bind("DESCRIBE ?x", {"x": "<urn:s>"})


def test_a_variable_in_a_text_or_comment_is_no_variable() -> None:
    with pytest.raises(UsageError, match="no variable"):
        bind("SELECT * { ?s ?p '?v' } # ?v", {"v": 1})


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?s ?p ?o { SELECT ?s { ?s ?q ?x } } }",
        "SELECT * { { SELECT (COUNT(?x) AS ?n) { ?s ?q ?x } } }",
        "SELECT * { { SELECT ?s WHERE { ?s ?q ?x { SELECT ?x { ?x ?y ?z } } } } }",
        "SELECT * { { SELECT * { { SELECT ?s { ?s ?q ?x } } } } }",
    ],
)
def test_a_variable_that_a_subquery_keeps_to_itself_cannot_be_bound(text: str) -> None:
    with pytest.raises(UsageError, match="only inside a subquery"):
        bind(text, {"x": 1})


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?s ?p ?x { SELECT ?s { ?s ?q ?x } } }",
        "SELECT * { { SELECT ?s ?x { ?s ?q ?x } } }",
        "SELECT * { { SELECT * { ?s ?q ?x } } }",
        "SELECT * { { SELECT (?y + 1 AS ?x) { ?s ?q ?y } } }",
        "SELECT * { { SELECT ?s { VALUES ?x { 1 } ?s ?q ?x } } }",
        "SELECT * { FILTER NOT EXISTS { ?s ?p ?x } }",
    ],
)
def test_a_variable_that_is_in_scope_can_be_bound(text: str) -> None:
    assert "VALUES ?x { 7 }" in bind(text, {"x": 7})


def test_an_integer_too_long_to_write_is_wrong_use() -> None:
    with pytest.raises(UsageError, match="too many digits"):
        bind("ASK { ?s ?p ?x }", {"x": 10**5000})
