"""Three hundred hostile queries: made by hand and generated from a seed, the same each time.

What a query may do: give an answer, or an error with a status below 500, or 503 at a limit. `{port}` stands for a port
of this machine at which nobody must knock, `{file}` for a file that nobody must read.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

#: Ways of reaching out.
OUTWARD = (
    "SELECT * {{ SERVICE <http://127.0.0.1:{port}/> {{ ?s ?p ?o }} }}",
    "SELECT * {{ SERVICE SILENT <http://127.0.0.1:{port}/> {{ ?s ?p ?o }} }}",
    "SELECT * {{ sErViCe?x{{ ?s ?p ?o }} VALUES ?x {{ <http://127.0.0.1:{port}/> }} }}",
    "SELECT * {{ \\u0053ERVICE <http://127.0.0.1:{port}/> {{ ?s ?p ?o }} }}",
    "SELECT * {{ {{ SELECT * {{ SERVICE <http://127.0.0.1:{port}/> {{ }} }} }} }}",
    "ASK {{ FILTER(1e5SERVICE<http://127.0.0.1:{port}/>{{}}) }}",
    "ASK {{ FILTER NOT EXISTS {{ SERVICE <http://127.0.0.1:{port}/> {{}} }} }}",
    "DESCRIBE <http://127.0.0.1:{port}/>",
    "SELECT * FROM <http://127.0.0.1:{port}/> {{ ?s ?p ?o }}",
    "SELECT * FROM NAMED <http://127.0.0.1:{port}/> {{ GRAPH ?g {{ ?s ?p ?o }} }}",
    "SELECT * FROM <file://{file}> {{ ?s ?p ?o }}",
    "SELECT * {{ GRAPH <file://{file}> {{ ?s ?p ?o }} }}",
    "LOAD <http://127.0.0.1:{port}/>",
    "LOAD <file://{file}> INTO GRAPH <urn:g>",
    "BASE <http://127.0.0.1:{port}/> SELECT * FROM <x> {{ ?s ?p ?o }}",
    "PREFIX x: <http://127.0.0.1:{port}/> SELECT * {{ SERVICE x:y {{ ?s ?p ?o }} }}",
)
#: Ways of taking very long, or very much.
ENDLESS = (
    "SELECT * {{ {product} }}",
    "SELECT (COUNT(*) AS ?n) {{ {product} }}",
    "SELECT * {{ {product} }} ORDER BY ?s0 ?o1",
    "SELECT DISTINCT ?s0 ?s1 ?s2 {{ {product} }}",
    "ASK {{ {product} FILTER(?s0 = 'never') }}",
    "CONSTRUCT {{ ?s0 ?p1 ?o2 }} WHERE {{ {product} }}",
    "SELECT (GROUP_CONCAT(?o0) AS ?g) {{ {product} }}",
    "SELECT ?p0 (SUM(STRLEN(STR(?o1))) AS ?g) {{ {product} }} GROUP BY ?p0",
    "SELECT * {{ ?a (!<urn:x>|^!<urn:x>)* ?b . {product} }}",
    "SELECT * {{ {product} FILTER(REGEX(STR(?o0), '(a+)+$')) }}",
    "SELECT * {{ {product} BIND(CONCAT(STR(?s0), STR(?s1), STR(?s2)) AS ?x) }} ORDER BY DESC(?x)",
    "SELECT * {{ {product} MINUS {{ ?s0 ?p1 ?o2 . ?x ?y ?z }} }}",
    "SELECT * {{ {{ {product} }} UNION {{ {product} }} }} OFFSET 100000000",
    "DESCRIBE * {{ {product} }}",
)
NESTED = (("{", "}"), ("(", ")"), ("OPTIONAL {", "}"), ("{ SELECT * {", "} }"), ("FILTER(!", ")"), ("[", "]"))
PIECES = (
    *("SELECT", "ASK", "CONSTRUCT", "DESCRIBE", "WHERE", "{", "}", "(", ")", ".", ";", ",", "*", "?s", "?p", "$o", "a"),
    *(
        "FILTER",
        "OPTIONAL",
        "UNION",
        "MINUS",
        "BIND",
        "AS",
        "VALUES",
        "GRAPH",
        "FROM",
        "NAMED",
        "LIMIT",
        "OFFSET",
        "-1",
    ),
    *(
        "<urn:a>",
        "<>",
        "<",
        ">",
        "'x'",
        '"',
        "'''",
        "@en",
        "^^xsd:date",
        "1e999",
        "0x",
        "\\",
        "\\u0000",
        "\x00",
        "\ud7ff",
    ),
    *("PREFIX", "BASE", "xx:y", "evkg:", "_:b", "[]", "()", "^", "|", "/", "!", "+", "IN", "EXISTS", "NOT", "HAVING"),
    *("GROUP", "BY", "ORDER", "COUNT", "DISTINCT", "REDUCED", "UNDEF", "<<", ">>", "{|", "|}", "LATERAL", "#", "\n"),
)


def product_of(count: int) -> str:
    """Patterns that have nothing in common."""
    return " . ".join(f"?s{number} ?p{number} ?o{number}" for number in range(count))


def hostile_queries(port: int, file: str) -> Iterator[str]:
    """The queries; no two are the same."""
    dice = random.Random(1)
    for text in OUTWARD:
        yield text.format(port=port, file=file)
    for text, count in product(ENDLESS, (3, 5)):
        yield text.format(product=product_of(count))
    for (opening, closing), depth in product(NESTED, (50, 3000, 100_000)):
        yield f"ASK {{ {opening * depth} {closing * depth} }}"
        yield f"ASK {{ {opening * depth}"
    for size in (10, 1000, 50_000):
        yield f"ASK {{ {'?s ?p ?o . ' * size} }}"
        yield f"SELECT * {{ VALUES ?x {{ {'1 ' * size} }} }}"
        yield f"ASK {{ ?s {'/'.join(['rdf:type'] * size)} ?o }}"
        yield f"ASK {{ FILTER({' || '.join(['?x = 1'] * size)}) }}"
        yield f"SELECT {' '.join(f'?v{number}' for number in range(size))} {{}}"
        yield f"ASK {{ FILTER('{'x' * size}' = '{'y' * size}') }}"
        yield f"{'PREFIX a: <urn:a> ' * size} ASK {{}}"
        yield f"ASK {{}} # {'é' * size}"
    for expression in ("REPEAT", "REPLACE", "SUBSTR", "REGEX", "CONCAT", "ENCODE_FOR_URI", "SHA512", "STRAFTER"):
        yield f"SELECT ({expression}('{'a' * 30}b', '(a*)*$', '$1$1$1') AS ?x) {{}}"
        yield f"SELECT ({expression}() AS ?x) {{}}"
    for cast, value in product(("integer", "decimal", "double", "dateTime", "boolean"), ("9" * 400, "1e400", "")):
        yield f"SELECT (xsd:{cast}('{value}') * xsd:{cast}('{value}') AS ?x) {{}}"
    for _ in range(125):
        yield " ".join(dice.choices(PIECES, k=dice.randrange(2, 40)))
    for _ in range(50):
        text = (
            f"SELECT * {{ ?s ?p ?o OPTIONAL {{ ?o evkg:x ?y }} FILTER(?y > {dice.randrange(9)}) }} ORDER BY ?y LIMIT 5"
        )
        for _ in range(dice.randrange(1, 5)):
            place = dice.randrange(len(text))
            text = text[:place] + dice.choice(PIECES) + text[place + dice.randrange(3) :]
        yield text
