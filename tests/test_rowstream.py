from __future__ import annotations

from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evkg.errors import QueryLimitError
from evkg.rowstream import PIECE_BYTES, Outlet, RowCounter, stream_answer
from evkg.serialization import write_answer
from evkg.store import RESULT_FORMATS, UnwritableError, run_query

#: Texts that look like what stands between rows.
AWKWARD = st.text(alphabet='{}[],:"\\\r\n\t<>/ab', max_size=12) | st.sampled_from(
    ['}},{"', '},{"x', ',{"', "<result>", "\r\n", '"\r\n"', '","', "]}}"]
)
NUMBERS = "SELECT ?x { VALUES ?x { " + " ".join(map(str, range(100_000))) + " } }"


def table(texts: list[list[str]]) -> Any:
    """The solutions of a query that gives these values, row by row; an empty list is a row without values."""
    words = " ".join(
        "(" + " ".join(str(ox.Literal(row[i])) if i < len(row) else "UNDEF" for i in range(2)) + ")" for row in texts
    )
    return run_query(ox.Store(), f"SELECT ?x ?y {{ VALUES (?x ?y) {{ {words} }} }}")


def write(text: str, format_name: str, **limits: int) -> tuple[Outlet, list[bytes]]:
    """Write the answer to a query on nothing; the outlet and the pieces."""
    pieces: list[bytes] = []
    query, result = run_query(ox.Store(), text)
    most = {"most_rows": 10**9, "most_bytes": 10**9, **limits}
    outlet = Outlet(lambda piece, _: pieces.append(piece), format_name=format_name, **most)
    stream_answer(query, result, format_name, outlet)
    return outlet, pieces


@given(st.lists(st.lists(AWKWARD, min_size=1, max_size=2), max_size=6), st.integers(1, 50))
def test_rows_are_counted_wherever_the_pieces_end(texts: list[list[str]], length: int) -> None:
    for format_name in ("json", "xml", "csv", "tsv"):
        query, result = table(texts)
        try:
            body = write_answer(query, result, format_name)
        except UnwritableError:
            continue
        counter = RowCounter(format_name)
        counts = [counter.add(body[start : start + length]) for start in range(0, len(body), length)]
        assert counts[-1] == len(texts), (format_name, body)


@pytest.mark.parametrize("format_name", ["json", "xml", "csv", "tsv"])
def test_a_long_answer_comes_in_pieces_that_make_the_whole(format_name: str) -> None:
    outlet, pieces = write(NUMBERS, format_name)
    query, result = run_query(ox.Store(), NUMBERS)
    assert b"".join(pieces) == write_answer(query, result, format_name)
    assert outlet.rows == 100_000
    assert max(map(len, pieces)) <= PIECE_BYTES + 10_000


@pytest.mark.parametrize("form", ["SELECT (1 AS ?x) {}", "ASK {}"])
@pytest.mark.parametrize("format_name", list(RESULT_FORMATS))
def test_a_short_answer_is_one_piece(form: str, format_name: str) -> None:
    assert len(write(form, format_name)[1]) == 1


def test_a_graph_is_whole_before_it_begins() -> None:
    text = "CONSTRUCT { <urn:s> <urn:p> ?x, 'a' } WHERE { VALUES ?x { " + " ".join(map(str, range(20_000))) + " } }"
    _, pieces = write(text, "nt")
    body = b"".join(pieces)
    assert len(pieces) > 1
    lines = body.splitlines()
    assert (len(lines), len(set(lines)), lines) == (20_001, 20_001, sorted(lines))
    with pytest.raises(QueryLimitError) as caught:
        write(text, "nt", most_rows=100)
    assert caught.value.limit == "rows"


@pytest.mark.parametrize(("limits", "limit"), [({"most_rows": 99_999}, "rows"), ({"most_bytes": 500_000}, "bytes")])
@pytest.mark.parametrize("format_name", ["json", "csv", "tsv"])
def test_what_is_too_long_stops_without_its_end(limits: dict[str, int], limit: str, format_name: str) -> None:
    pieces: list[tuple[bytes, bool]] = []
    query, result = run_query(ox.Store(), NUMBERS)
    most = {"most_rows": 10**9, "most_bytes": 10**9, **limits}
    outlet = Outlet(lambda piece, is_last: pieces.append((piece, is_last)), format_name=format_name, **most)
    with pytest.raises(QueryLimitError) as caught:
        stream_answer(query, result, format_name, outlet)
    assert caught.value.limit == limit
    assert not any(is_last for _, is_last in pieces)


def test_exactly_as_many_rows_as_the_limit_are_fine() -> None:
    assert write(NUMBERS, "tsv", most_rows=100_000)[0].rows == 100_000
    with pytest.raises(QueryLimitError, match="99,999 rows"):
        write(NUMBERS, "tsv", most_rows=99_999)
    with pytest.raises(QueryLimitError, match="more than the limit of 1 rows"):
        write("SELECT * { VALUES ?x { 1 2 } }", "csv", most_rows=1)


def test_a_character_that_xml_cannot_hold_is_never_sent() -> None:
    sent: list[bytes] = []
    text = NUMBERS.replace("99999", '"\\u0001"')
    query, result = run_query(ox.Store(), text)
    outlet = Outlet(lambda piece, _: sent.append(piece), format_name="xml", most_rows=10**9, most_bytes=10**9)
    with pytest.raises(UnwritableError, match="control character"):
        stream_answer(query, result, "xml", outlet)
    assert b"\x01" not in b"".join(sent)
    assert not b"".join(sent).rstrip().endswith(b"</sparql>")
