"""The pages of the endpoint and of the saved questions in a real browser, with JavaScript and without.

They need Chromium and the package playwright; without the bundle of the editor (`make editor`) only the plain form is
tried. What is not there is said where a test is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evkg.editor_resource import static_file
from evkg.questions import find_question
from evkg.release import open as open_release
from tests.browsing import Open, axe_findings, browser, opening, serving

__all__ = ["browser"]

pytestmark = pytest.mark.long

COUNTS = "SELECT ?kind (COUNT(*) AS ?records) { ?thing evkg:kind ?kind } GROUP BY ?kind ORDER BY ?kind"
RESULT = "saadat-fellay-20261015-result-nt-2-5b-quantization-memory-4bit"
#: Two rows of no meaning that take the engine for ever.
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"


@pytest.fixture(scope="module")
def address(workspace: Path) -> Iterator[str]:
    with serving(open_release(workspace / "build/current").folder) as found:
        yield found


@pytest.fixture
def page_at(browser: Any, address: str) -> Iterator[Open]:
    with opening(browser, address) as opened:
        yield opened


@pytest.fixture
def editor_at(page_at: Open) -> Open:
    """Opens a page of the endpoint and waits for its editor."""
    if static_file("editor.js") is None:
        pytest.skip("the editor is not bundled; `make editor` does it where node and npm are there")

    def opened(path: str = "/sparql", **options: Any) -> Any:
        page = page_at(path, **options)
        page.wait_for_selector("html[data-editor=ready]")
        return page

    return opened


def write(page: Any, text: str) -> None:
    """Put a query into the editor as a person does, by the keyboard."""
    page.locator(".CodeMirror").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


def written(page: Any) -> str:
    text: str = page.evaluate("document.querySelector('.CodeMirror').CodeMirror.getValue()")
    return text


def column(page: Any, number: int) -> list[str]:
    found: list[str] = page.locator(f"table.answer tbody tr > td:nth-child({number})").all_inner_texts()
    return found


# ---- with JavaScript ----


def test_a_query_is_answered_without_leaving_the_page(editor_at: Open) -> None:
    page = editor_at()
    write(page, COUNTS)
    page.get_by_role("button", name="Run").click()
    page.wait_for_selector("table.answer")
    assert "Answered in" in page.locator("#status").inner_text()
    kinds = column(page, 1)
    assert kinds == sorted(kinds)
    assert "query=SELECT" in page.url
    page.reload()
    page.wait_for_selector("html[data-editor=ready]")
    assert written(page) == COUNTS
    assert column(page, 1) == kinds


def test_records_are_links(editor_at: Open) -> None:
    page = editor_at()
    write(page, "SELECT ?result { ?result evkg:printedValue '5.6' }")
    page.keyboard.press("Control+Enter")
    page.locator("table.answer a").click()
    page.wait_for_url(f"**/id/{RESULT}")
    assert "5.6" in page.locator("main").inner_text()


def test_columns_are_sorted_as_numbers_and_drawn(editor_at: Open) -> None:
    page = editor_at()
    write(page, COUNTS)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("table.answer")
    heading = page.get_by_role("button", name="records")
    heading.click()
    up = [int(text) for text in column(page, 2)]
    assert up == sorted(up)
    assert max(up) > 9  # as texts they would stand in another order
    heading.click()
    assert [int(text) for text in column(page, 2)] == up[::-1]
    page.locator("details.chart summary").click()
    page.wait_for_selector("svg.bars")
    bars = page.locator("svg.bars rect")
    assert bars.count() == len(up)
    widths = [float(bars.nth(number).get_attribute("width")) for number in range(len(up))]
    assert widths == sorted(widths, reverse=True)
    assert "“records” by “kind”" in page.locator("figcaption").inner_text()


def test_printed_texts_are_never_drawn(editor_at: Open) -> None:
    page = editor_at()
    write(page, "SELECT ?name ?printed { ?r evkg:printedValue ?printed ; rdfs:label ?name }")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("table.answer")
    assert page.locator("details.chart").count() == 0


def test_an_error_puts_the_cursor_where_it_is(editor_at: Open) -> None:
    page = editor_at(expects=("status of 400",))
    write(page, "SELECT *\n{ ?s evgk:p ?o }")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("[role=alert]")
    assert "The prefix evgk: is not declared" in page.locator("[role=alert]").inner_text()
    cursor = page.evaluate("document.querySelector('.CodeMirror').CodeMirror.getCursor()")
    assert (cursor["line"], cursor["ch"]) == (1, 5)


def test_a_query_can_be_stopped(editor_at: Open) -> None:
    page = editor_at(expects=("ERR_ABORTED",))
    write(page, ENDLESS)
    page.keyboard.press("Control+Enter")
    stop = page.get_by_role("button", name="Stop")
    assert stop.is_enabled()
    stop.click()
    page.locator("#status", has_text="Stopped.").wait_for()
    assert stop.is_disabled()


def test_a_saved_question_comes_into_the_editor(editor_at: Open) -> None:
    page = editor_at()
    page.locator("#examples summary", has_text="Memory and speed").click()
    page.get_by_role("link", name="Inference within a memory budget").click()
    page.locator("#status", has_text="in the editor").wait_for()
    question = find_question("inference-memory-budget")
    body = question.text[question.text.index("PREFIX") :]
    assert written(page) == f"# {question.title}\n{body}"
    page.get_by_role("button", name="Run").click()
    page.wait_for_selector("table.answer")
    assert column(page, 3) == ["5.6"]


def mistakes(page: Any) -> int:
    """How many signs of errors the editor shows beside its lines."""
    count: int = page.locator(".parseErrorIcon").count()
    return count


def test_what_the_server_answers_is_not_marked_as_an_error(editor_at: Open) -> None:
    page = editor_at()
    assert "PREFIX" not in written(page)
    assert "evkg:" in written(page)
    assert mistakes(page) == 0
    for good in ("ASK { ?s evkg:printedValue '5.6' }", "PREFIX my: <urn:my:> ASK { ?s my:p ?o ; rdfs:label ?l }"):
        write(page, good)
        assert mistakes(page) == 0, good
    for bad in ("ASK { ?s evgk:printedValue '5.6' }", "ASK { ?s evkg:printedValue ?v ?w }", "ASK { ?s my:p ?o }"):
        write(page, bad)
        assert mistakes(page) == 1, bad
    page.locator("#examples summary", has_text="Memory and speed").click()
    page.get_by_role("link", name="Inference within a memory budget").click()
    page.locator("#status", has_text="in the editor").wait_for()
    assert mistakes(page) == 0


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        ("SELECT * { ?r evkg:printedV", " ?v }", "evkg:printedValue"),
        ("SELECT * { ?r a evkg:Resu", " }", "evkg:Result"),
        ("SELECT * { ?r a Resu", " }", "evkg:Result"),
        ("PREFIX fo", "", "foaf: <http://xmlns.com/foaf/0.1/>"),
    ],
)
def test_words_are_completed_from_the_ontology(editor_at: Open, before: str, after: str, hint: str) -> None:
    page = editor_at()
    write(page, f"{before}{after}")
    for _ in after:
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Control+Space")
    page.wait_for_selector(".CodeMirror-hints")
    hints = page.locator(".CodeMirror-hint").all_inner_texts()
    assert any(text.startswith(hint) for text in hints), hints
    while not page.locator(".CodeMirror-hint-active").inner_text().startswith(hint):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert hint in written(page)
    assert written(page).endswith(after)


def test_the_keyboard_alone_is_enough(editor_at: Open) -> None:
    page = editor_at()
    write(page, "ASK { ?s evkg:printedValue '5.6' }")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Run"
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer .printed")
    assert page.locator("#answer .printed").inner_text() == "yes"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.id") == "query-editor"
    assert written(page) == "ASK { ?s evkg:printedValue '5.6' }"


def test_the_editor_keeps_the_colours_of_the_page(editor_at: Open) -> None:
    for scheme in ("light", "dark"):
        page = editor_at(color_scheme=scheme)
        colours = "(name) => getComputedStyle(document.querySelector(name)).backgroundColor"
        assert page.evaluate(colours, ".CodeMirror") == page.evaluate(colours, "body")


# ---- without JavaScript ----


def test_the_plain_form_answers_with_a_table(page_at: Open) -> None:
    page = page_at("/sparql", java_script_enabled=False)
    page.get_by_label("Query").fill(COUNTS)
    page.get_by_role("button", name="Run").click()
    assert page.locator("table.answer tbody tr").count() > 5
    assert page.get_by_label("Query").input_value() == COUNTS
    page.locator("#examples summary", has_text="Memory and speed").click()
    page.get_by_role("link", name="Inference within a memory budget").click()
    assert page.get_by_label("Query").input_value().startswith("# Inference within a memory budget\nPREFIX evkg:")


def test_the_plain_form_says_how_many_rows_it_leaves_out(page_at: Open) -> None:
    page = page_at("/sparql", java_script_enabled=False)
    page.get_by_label("Query").fill("SELECT * { ?s ?p ?o }")
    page.get_by_role("button", name="Run").click()
    assert re.search(r"The first 1,000 of \d\d,\d{3} rows", page.locator("#answer").inner_text())
    assert page.locator("table.answer tbody tr").count() == 1000


def test_a_question_is_asked_by_its_form(page_at: Open) -> None:
    page = page_at("/questions", java_script_enabled=False)
    page.get_by_label("Find a question").fill("memory budget")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("link", name="Inference within a memory budget").click()
    assert column(page, 3) == ["5.6"]
    page.get_by_label("most").fill("7")
    page.get_by_role("button", name="Ask").click()
    assert column(page, 3) == ["5.6", "6.7"]
    assert "most=7" in page.url


# ---- sizes ----


@pytest.mark.parametrize(
    "path",
    ["/sparql", f"/sparql?query={COUNTS.replace(' ', '+')}", "/questions", "/questions/inference-memory-budget?most=7"],
)
@pytest.mark.parametrize("width", [390, 640])  # a phone; and 1280 at 200 %
def test_nothing_makes_the_page_wider_than_the_screen(page_at: Open, path: str, width: int) -> None:
    page = page_at(path, viewport={"width": width, "height": 844})
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "path",
    [
        "/sparql",
        f"/sparql?query={COUNTS.replace(' ', '+')}",
        "/questions",
        "/questions/inference-memory-budget?most=7",
        "/questions/leaderboard",
    ],
)
def test_axe_finds_nothing_that_keeps_anyone_out(page_at: Open, path: str, scheme: str) -> None:
    page = page_at(path, color_scheme=scheme)
    assert axe_findings(page) == []
