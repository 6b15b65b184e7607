"""Answers with many columns: what is side by side, what is a tap away, what is said once; and their order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import html as lxml_html  # type: ignore[import-untyped]

from evkg.answer_layout import SIDE_BY_SIDE, Layout, lay_out
from evkg.answer_table import AnswerTable, Cell, Links, read_table
from evkg.errors import UsageError
from evkg.questions import load_questions
from evkg.release import open as open_release
from tests.builds import ROOT, build_draft
from tests.client import Client, served
from tests.searching import check_html

LINKS = Links("https://example.org/", {"a", "b"}.__contains__)
XSD = "http://www.w3.org/2001/XMLSchema#"


def answer(columns: str, *rows: tuple[Any, ...], sort: str = "") -> AnswerTable:
    """The table of an answer; a number in a row is one, None is unbound, anything else is a text."""
    names = columns.split()

    def term(value: Any) -> dict[str, str]:
        kind = {"datatype": f"{XSD}decimal"} if not isinstance(value, str) else {}
        return {"type": "literal", "value": str(value), **kind}

    bindings = [{n: term(v) for n, v in zip(names, row, strict=True) if v is not None} for row in rows]
    found = read_table(json.dumps({"head": {"vars": names}, "results": {"bindings": bindings}}).encode(), LINKS, sort)
    assert isinstance(found, AnswerTable)
    return found


def layout(table: AnswerTable, sort: str = "") -> Layout:
    return lay_out(table, "?sort={}".format, sort)


def names(found: Layout) -> list[str]:
    return [heading.name for heading in found.chief]


MANY = "one two three four five six seven eight nine ten"


def test_few_columns_stay_as_they_are() -> None:
    table = answer("x y", ("1", "1"), ("1", "1"))
    assert names(layout(table)) == ["x", "y"]
    assert layout(table).shared == ()


def test_of_many_columns_the_chief_ones_are_shown_and_the_rest_is_there() -> None:
    rows = [tuple(f"{n}{m}" for n in range(10)) for m in range(2)]
    found = layout(answer(MANY, *rows))
    assert names(found) == MANY.split()[:7]
    assert [heading.name for heading in found.more] == ["eight", "nine", "ten"]
    assert len(found.chief) < SIDE_BY_SIDE


def test_what_is_the_same_everywhere_is_said_once_and_what_is_nowhere_is_named() -> None:
    rows = [(str(n), "same", None, "", *(f"{n}{m}" for m in range(6))) for n in range(2)]
    found = layout(answer(MANY, *rows))
    assert found.shared == (("two", Cell("same")),)
    assert found.empty == ("three", "four")
    assert names(found) == ["one", "five", "six", "seven", "eight", "nine", "ten"]


def test_one_row_says_nothing_once_for_all() -> None:
    found = layout(answer(MANY, tuple("abcdefghij")))
    assert found.shared == ()
    assert names(found)[0] == "one"


def test_rows_that_are_all_alike_are_still_rows() -> None:
    found = layout(answer(MANY, tuple("cdefghijkl"), tuple("cdefghijkl")))
    assert names(found)[:2] == ["one", "two"]


def test_ids_that_only_repeat_links_are_left_to_the_data() -> None:
    head = "system system_id other_id " + " ".join(MANY.split()[:7])
    rows = [("A", "a", "b", *(f"{n}a" for n in range(7))), ("B", "b", "a", *(f"{n}b" for n in range(7)))]
    found = layout(answer(head, *rows))
    assert found.ids == ("system_id",)
    assert "other_id" in [*names(found), *(heading.name for heading in found.more)]


def test_a_column_that_sorts_is_never_put_away() -> None:
    rows = [tuple(f"{n}{m}" for n in range(10)) for m in range(2)]
    assert names(layout(answer(MANY, *rows), "-ten"))[-1] == "ten"
    same = [(str(n), "same", *(f"{n}{m}" for m in range(8))) for n in range(2)]
    assert "two" in names(layout(answer(MANY, *same), "two"))


def test_a_column_is_sorted_up_then_down() -> None:
    table = answer("x", (1,), (2,))
    assert [(h.href, h.sorted) for h in layout(table).chief] == [("?sort=x", "")]
    assert [(h.href, h.sorted) for h in layout(table, "x").chief] == [("?sort=-x", "ascending")]
    assert [(h.href, h.sorted) for h in layout(table, "-x").chief] == [("?sort=x", "descending")]


def column(table: AnswerTable) -> list[str | None]:
    return [cell.text if cell else None for (cell,) in table.rows]


def test_numbers_are_sorted_as_numbers_before_texts_and_nothing_comes_last() -> None:
    rows = (("b",), (10,), (None,), ("A",), (9,), ("1e9999999999999999999",))
    assert column(answer("x", *rows, sort="x")) == ["9", "10", "1e9999999999999999999", "A", "b", None]
    assert column(answer("x", *rows, sort="-x"))[-1] is None
    assert column(answer("x", *rows, sort="-x"))[:2] == ["b", "A"]


def test_all_rows_are_sorted_and_not_only_those_that_a_page_shows() -> None:
    table = answer("x", *((n,) for n in range(1500)), sort="-x")
    assert column(table)[0] == "1499"
    assert (len(table.rows), table.total) == (1000, 1500)


def test_a_column_that_is_not_there_is_told() -> None:
    with pytest.raises(UsageError, match="no column 'y'; it has x"):
        answer("x", ("1",), sort="y")


# ---- on the page of a question ----


@pytest.fixture(scope="module")
def client(workspace: Path) -> Iterator[Client]:
    yield from served(open_release(workspace / "build/current"))


def first_texts(html: str, at: int) -> list[str]:
    table = lxml_html.fromstring(html).xpath("//table[contains(@class, 'answer')]")[0]
    return [" ".join(row[at].text_content().split()) for row in table.xpath("./tbody/tr")]


def test_a_page_is_sorted_by_a_link_of_its_heading(client: Client) -> None:
    address = "/questions/inference-memory-budget?most=7"
    html = client(address, "text/html").text
    check_html(html)
    tree = lxml_html.fromstring(html)
    (link,) = [a for a in tree.xpath("//a[@class='order']") if a.text_content() == "printed value"]
    up = client(link.get("href").partition("#")[0], "text/html")
    assert first_texts(up.text, 2) == ["5.6", "6.7"]
    down = client(f"{address}&sort=-printed_value", "text/html")
    assert first_texts(down.text, 2) == ["6.7", "5.6"]
    assert 'aria-sort="descending"' in down.text
    assert up.headers["etag"] != down.headers["etag"]


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("/questions/inference-memory-budget?sort=nothing", "no column"),
        ("/questions/inference-memory-budget?sort=system&sort=areas", "given twice"),
        ("/questions/inference-memory-budget.csv?sort=system", "order of the query"),
    ],
)
def test_an_order_that_cannot_be_is_told(client: Client, address: str, says: str) -> None:
    answered = client(address, "text/html")
    assert answered.status_code == 400
    assert says in answered.text


def test_no_parameter_of_a_question_is_called_like_those_of_its_page() -> None:
    named = {parameter.name for question in load_questions().values() for parameter in question.parameters}
    assert not named & {"format", "wait", "sort"}


def test_no_value_of_an_answer_is_lost(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever a question answers, each value stands on its page, but for ids that links lead to."""
    release = build_draft(ROOT / "tests/records/comparable", tmp_path_factory.mktemp("layout"))
    tried = 0
    for client in served(release):
        for name in load_questions():
            found = client(f"/questions/{name}.json").json()
            rows = found.get("results", {}).get("bindings", [])
            if len(found["head"].get("vars", ())) <= SIDE_BY_SIDE or not rows or len(rows) > 1000:
                continue
            tried += 1
            html = client(f"/questions/{name}?wait=yes", "text/html").text
            check_html(html)
            body = lxml_html.fromstring(html)
            text = " ".join(body.text_content().split())
            hrefs = {link.split("/id/")[1] for link in body.xpath("//a/@href") if "/id/" in link}
            for row in rows:
                for column, term in row.items():
                    value = " ".join(term["value"].split())
                    is_there = term["type"] == "uri" or value in text or value in hrefs
                    assert is_there, (name, column, value)
    assert tried > 5
