"""Every kind of page in a real browser: by keyboard, with axe-core, without JavaScript, enlarged, on a phone, on paper.

Links between pages and what they say are tested without a browser, beside the modules that make them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from evkg.editor_resource import static_file
from evkg.release import open as open_release
from evkg.vocabulary import load_vocabulary
from tests.browsing import Open, axe_findings, browser, opening, serving
from tests.builds import (
    DOUBTED_CONFIGURATION,
    DOUBTED_SOURCE,
    REVIEWED,
    ROOT,
    SAADAT,
    build_draft,
    record,
    write_records,
)

__all__ = ["browser"]

pytestmark = pytest.mark.long

SEEING: Final = (ROOT / "tests/seeing.js").read_text(encoding="utf-8")
DATA: Final = f"/id/{SAADAT}data-synthetic-dna"
PAPER: Final = f"/id/{SAADAT}source-paper"
BOARD: Final = "/compare?protocol=invented-protocol&dataset=invented-data"
#: Pages of the seed records, by what they are.
SEED: Final = {
    "home": "/",
    "search": "/search",
    "search with words": "/search?q=memory",
    "search with filters": "/search?kind=result&metric=peak-memory",
    "search without hits": "/search?q=zebrafish",
    "results": "/results",
    "results with filters": "/results?metric=peak-memory&origin=independent_external",
    "compare": "/compare",
    "compare, none": f"/compare?protocol={SAADAT}protocol-x",
    "compare one": f"/compare?id={REVIEWED}",
    "source": PAPER,
    "source with a concern": f"/id/{DOUBTED_SOURCE}",
    "dataset": DATA,
    "dataset, narrowed": f"{DATA}?metric=peak-memory&scope=context_only&find=seed",
    "result": f"/id/{REVIEWED}",
    "configuration": f"/id/{DOUBTED_CONFIGURATION}",
    "model": "/id/gena-lm",
    "heat map": "/validation",
    "validation by source": "/validation?by=source",
    "validation by field": "/validation?by=field",
    "ontology": "/ontology",
    "class": "/ontology/Result",
    "property": "/ontology/printedValue",
    "schemes": "/vocab",
    "scheme": "/vocab/metric",
    "key": "/vocab/metric/peak-memory",
    "rules": "/shapes",
    "rule": "/shapes/result-unit",
    "documentation": "/docs",
    "a long document": "/docs/record-to-graph",
    "document with tables": "/docs/sparql",
    "book of rules": "/docs/rules",
    "questions": "/questions",
    "questions with words": "/questions?q=memory",
    "question": "/questions/inference-memory-budget?most=7",
    "question without parameters": "/questions/open-concerns",
    "question, wrong value": "/questions/inference-memory-budget?most=many",
    "sparql": "/sparql",
    "sparql with an answer": "/sparql?query=SELECT+*+%7B+%3Fs+%3Fp+%3Fo+%7D+LIMIT+5",
    "sparql with a graph": "/sparql?query=DESCRIBE+%3Chttps%3A%2F%2Fw3id.org%2Fevkg%2Fid%2Fgena-lm%3E",
    "sparql with an error": "/sparql?query=SELECT",
    "404": "/id/gone",
    "404 of a path": "/nothing",
    "400": "/search?page=x",
    "a feed of no source": "/feed.atom?source=gone",
}
#: Pages of invented records that may be compared, and of a record of each kind with nothing in it.
INVENTED: Final = {
    "home of a draft": "/",
    "compare": "/compare",
    "leaderboard": BOARD,
    "leaderboard, loosened": f"{BOARD}&ignore=split&ignore=budget",
    "these may": "/compare?id=invented-result-base&id=invented-result-tie",
    "these may not": "/compare?id=invented-result-base&id=invented-result-doubted&id=invented-result-excluded",
    "result in a group": "/id/invented-result-base",
    "data with matrices": "/id/invented-data",
    "wide answer": "/questions/leaderboard?metric=accuracy",
}
BARE: Final = {f"empty {kind}": f"/id/bare-{kind.replace('_', '-')}" for kind in load_vocabulary().kinds}
PAGES: Final = [
    *(pytest.param("seed", path, id=name) for name, path in SEED.items()),
    *(pytest.param("invented", path, id=f"invented: {name}") for name, path in INVENTED.items()),
]
ALL_KINDS: Final = [*PAGES, *(pytest.param("invented", path, id=name) for name, path in BARE.items())]
#: What the console of a browser says of pages that are errors on purpose.
EXPECTED: Final = ("status of 4",)


@pytest.fixture(scope="module")
def addresses(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The addresses of two servers."""
    folder = tmp_path_factory.mktemp("invented")
    records = folder / "records"
    records.mkdir()
    for file in (ROOT / "tests/records/comparable").iterdir():
        (records / file.name).symlink_to(file)
    bare = [record(f"bare-{kind.replace('_', '-')}", kind) for kind in load_vocabulary().kinds]
    write_records(records / "bare.jsonl", *bare)
    invented = build_draft(records, folder / "out")
    with serving(open_release(workspace / "build/current").folder) as seed, serving(invented.folder) as other:
        yield {"seed": seed, "invented": other}


@pytest.fixture
def page_at(browser: Any, addresses: dict[str, str]) -> Iterator[Open]:
    with opening(browser, *addresses.values()) as opened:

        def at(which: str, path: str, **options: Any) -> Any:
            page = opened(f"{addresses[which]}{path}", expects=EXPECTED, **options)
            for _ in range(100):  # the index of the search is made when a server starts
                if "is being" not in page.locator("main").inner_text() and page.title()[:3] != "503":
                    break
                page.wait_for_timeout(200)
                page.reload()
            return page

        yield at


def open_details(page: Any) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")


# ---- for everyone ----


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("which", "path"), ALL_KINDS)
def test_axe_finds_nothing_that_keeps_anyone_out(page_at: Open, which: str, path: str, scheme: str) -> None:
    assert axe_findings(page_at(which, path, color_scheme=scheme)) == []


@pytest.mark.parametrize("width", [390, 640])  # a phone; and 1280 at 200 %
@pytest.mark.parametrize(("which", "path"), ALL_KINDS)
def test_nothing_is_cut_off_or_covered(page_at: Open, which: str, path: str, width: int) -> None:
    page = page_at(which, path, viewport={"width": width, "height": 844})
    page.wait_for_load_state("networkidle")
    assert page.evaluate(SEEING) == []
    open_details(page)
    assert page.evaluate(SEEING) == []


def test_what_is_cut_off_or_covered_would_be_seen(page_at: Open) -> None:
    page = page_at("seed", "/", viewport={"width": 390, "height": 844})
    page.evaluate("document.querySelector('h1').style.cssText = 'position: absolute; left: 300px; width: 500px'")
    assert len(page.evaluate(SEEING)) >= 2
    page.reload()
    page.evaluate("document.querySelector('#here').style.marginTop = '-3rem'")
    assert any("lies over" in found for found in page.evaluate(SEEING))


@pytest.mark.parametrize(("which", "path"), PAGES)
def test_pages_are_complete_without_javascript(page_at: Open, which: str, path: str) -> None:
    page = page_at(which, path, java_script_enabled=False)
    assert page.locator("h1").count() == 1
    plain = page.locator("main").inner_text()
    assert len(plain) > 40
    if path.startswith("/sparql"):  # there JavaScript brings an editor; the answer is the same
        assert page.get_by_label("Query").is_visible()
        plain = page.locator("#answer").inner_text()
        assert page_at(which, path).locator("#answer").inner_text() == plain.replace("↕", "")
    else:
        assert page_at(which, path).locator("main").inner_text() == plain


# ---- by keyboard ----

#: The elements that a keyboard must reach, in the order of the page.
REACHABLE: Final = """() => [...document.querySelectorAll(
  'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')]
  .filter(one => one.checkVisibility({visibilityProperty: true}) && !one.disabled && !one.closest('.CodeMirror'))
  .map((one, number) => { one.dataset.number = number; return one.outerHTML.slice(0, 120) })"""
#: Where the focus is, and whether that can be seen.
FOCUSED: Final = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const style = getComputedStyle(one);
  const shown = one.closest('.CodeMirror') ? one.closest('.CodeMirror') : one;
  const box = shown.getBoundingClientRect();
  const outline = getComputedStyle(shown);
  return {
    number: one.dataset.number === undefined ? null : Number(one.dataset.number),
    html: one.outerHTML.slice(0, 120),
    editor: one.closest('.CodeMirror') !== null,
    visible: outline.outlineStyle !== 'none' && parseFloat(outline.outlineWidth) >= 1.5
      && box.right > 0 && box.left < innerWidth && box.bottom > 0 && box.top < innerHeight,
  };
}"""
BY_KEYBOARD: Final = [
    ("seed", "/"),
    ("seed", "/search?q=memory"),
    ("seed", "/results"),
    ("seed", f"/id/{REVIEWED}"),
    ("seed", DATA),
    ("seed", "/validation"),
    ("seed", "/questions/inference-memory-budget?most=7"),
    ("seed", "/docs/sparql"),
    ("seed", "/sparql"),
    ("seed", "/id/gone"),
    ("invented", BOARD),
    ("invented", "/compare"),
]


@pytest.mark.parametrize(("which", "path"), BY_KEYBOARD)
def test_tab_reaches_everything_in_order_and_shows_where_it_is(page_at: Open, which: str, path: str) -> None:
    page = page_at(which, path, viewport={"width": 1280, "height": 900})
    if path == "/sparql" and static_file("editor.js") is not None:
        page.wait_for_selector("html[data-editor=ready]")
    wanted = page.evaluate(REACHABLE)
    reached: list[int] = []
    has_left = False
    for _ in range(len(wanted) + 5):
        page.keyboard.press("Tab")
        at = page.evaluate(FOCUSED)
        if at is None:  # the end of the page
            has_left = True
            break
        assert at["visible"], at["html"]
        if at["number"] is not None:
            reached.append(at["number"])
        else:
            assert at["editor"], at["html"]
    assert has_left
    assert [wanted[number] for number in range(len(wanted)) if number not in reached] == []
    assert reached == sorted(reached)


def press_to(page: Any, words: str) -> None:
    """Press Tab until the element with these words has the focus."""
    for _ in range(400):
        page.keyboard.press("Tab")
        said = page.evaluate(
            "() => { const one = document.activeElement; "
            "return (one.labels && one.labels[0] ? one.labels[0] : one).textContent.trim() }"
        )
        if said.startswith(words):
            return
    raise AssertionError(f"the keyboard does not reach {words!r}")


def test_the_skip_link_leads_to_the_content(page_at: Open) -> None:
    page = page_at("seed", f"/id/{REVIEWED}")
    page.keyboard.press("Tab")
    skip = page.get_by_text("To the content")
    assert skip.bounding_box()["x"] > 0
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_a_filter_is_set_and_lifted_by_keyboard(page_at: Open) -> None:
    page = page_at("seed", DATA)
    press_to(page, "Filter:")
    page.keyboard.press("Enter")
    press_to(page, "Pearson correlation")
    page.keyboard.press("Enter")
    page.wait_for_url("**metric=pearson-correlation*")
    assert "4 of 10 results are left" in page.locator("#results").inner_text()
    press_to(page, "Show all")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "metric" not in url)
    assert "none, all linked evaluations" in page.locator("#results").inner_text()


def test_evidence_is_searched_and_downloaded_by_keyboard(page_at: Open) -> None:
    page = page_at("seed", f"/id/{REVIEWED}")
    press_to(page, "Search these rows")
    page.keyboard.type("6.7 GB")
    page.keyboard.press("Enter")
    page.wait_for_url("**find=6.7+GB*")
    rows = page.locator("table.evidence tbody tr")
    assert f"{rows.count()} rows of " in page.locator("#evidence").inner_text()
    assert all("6.7 GB" in text for text in rows.all_text_contents())
    press_to(page, "Audit details")
    page.keyboard.press("Enter")
    assert "Field:" in page.locator("table.evidence details[open]").inner_text()
    press_to(page, "evidence as CSV")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert REVIEWED in Path(download.value.path()).read_text(encoding="utf-8")


def test_a_comparison_is_sorted_and_chosen_by_keyboard(page_at: Open) -> None:
    page = page_at("invented", BOARD)

    def values() -> list[str]:
        found: list[str] = (
            page.locator("table.comparison").first.locator("tbody:first-of-type a.value").all_inner_texts()
        )
        return found

    best_first = values()
    press_to(page, "Value as printed")
    page.keyboard.press("Enter")
    page.wait_for_url("**sort=value*")
    assert [float(text) for text in values()] == sorted(map(float, best_first))
    assert page.locator("th[aria-sort=ascending]").first.inner_text() == "Value as printed"
    boxes = page.locator("input[name=id]")
    for number in range(2):
        boxes.nth(number).focus()
        page.keyboard.press("Space")
    press_to(page, "Compare the selected")
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare?*id=*")
    assert "may be compared" in page.locator("h1").inner_text()


def test_an_answer_is_sorted_by_keyboard_also_on_a_phone(page_at: Open) -> None:
    for width in (1280, 390):
        page = page_at("seed", "/questions/inference-memory-budget?most=7", viewport={"width": width, "height": 844})
        for expected in (["5.6", "6.7"], ["6.7", "5.6"]):
            press_to(page, "printed value")
            assert page.locator("a.order:focus").is_visible()
            with page.expect_navigation():
                page.keyboard.press("Enter")
            assert page.locator("td[data-label='printed value'] a").all_inner_texts() == expected


def test_answers_of_the_endpoint_are_sorted_on_a_phone_too(page_at: Open) -> None:
    if static_file("editor.js") is None:
        pytest.skip("the editor is not bundled; `make editor` does it where node and npm are there")
    query = "SELECT+%3Fv+%7B+VALUES+%3Fv+%7B+9+10+1+%7D+%7D"
    page = page_at("seed", f"/sparql?query={query}", viewport={"width": 390, "height": 844})
    page.wait_for_selector("html[data-editor=ready]")
    page.get_by_role("button", name="v", exact=True).click()
    assert page.locator("table.answer td").all_inner_texts() == ["1", "9", "10"]


def test_a_chart_has_words_and_its_data(page_at: Open) -> None:
    page = page_at("invented", BOARD)
    picture = page.locator("figure.chart img").first
    assert "0.901" in picture.get_attribute("alt")
    assert page.evaluate("document.querySelector('figure.chart img').naturalWidth") > 0
    with page.expect_download() as download:
        page.get_by_role("link", name="The data behind it as CSV").first.click()
    assert "0.901" in Path(download.value.path()).read_text(encoding="utf-8")


# ---- on paper ----


@pytest.mark.parametrize(
    ("which", "path"),
    [
        ("seed", f"/id/{REVIEWED}"),
        ("seed", DATA),
        ("seed", "/results"),
        ("seed", "/validation"),
        ("seed", "/questions/inference-memory-budget?most=7"),
        ("seed", "/sparql?query=SELECT+*+%7B+%3Fs+%3Fp+%3Fo+%7D+LIMIT+5"),
        ("invented", BOARD),
        ("invented", "/id/invented-data"),
    ],
)
def test_a_page_can_be_printed(page_at: Open, which: str, path: str) -> None:
    # A4 without its margins has 180 mm at 96 dots an inch; in the dark too, since paper is white.
    page = page_at(which, path, viewport={"width": 680, "height": 1000}, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    for hidden in (".site nav", ".site form", ".toc", "main form button"):
        assert not any(one.is_visible() for one in page.locator(hidden).all()), hidden
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    wide = page.evaluate(
        "[...document.querySelectorAll('main *')].filter(one => one.checkVisibility() && "
        "one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML.slice(0, 100))"
    )
    assert wide == []
    cut = page.evaluate(
        "[...document.querySelectorAll('main *')].filter(one => one.clientWidth && "
        "getComputedStyle(one).overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1)"
        ".map(one => one.outerHTML.slice(0, 100))"
    )
    assert cut == []
    faint = page.evaluate(
        "[...document.querySelectorAll('main *')].filter(one => one.checkVisibility() && one.textContent.trim() && "
        "/rgb\\((\\d+), (\\d+), (\\d+)\\)/.exec(getComputedStyle(one).color).slice(1).some(part => Number(part) > 150))"
        ".map(one => one.outerHTML.slice(0, 100))"
    )
    assert faint == []
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_what_is_folded_up_is_printed_and_addresses_of_sources_are_written_out(page_at: Open) -> None:
    page = page_at("seed", PAPER)
    page.emulate_media(media="print")
    assert page.evaluate(
        "[...document.querySelectorAll('main details:not(.toc-narrow, .filters) > *:not(summary)')]"
        ".every(one => !one.textContent.trim() || one.getBoundingClientRect().height > 0)"
    )
    address = page.evaluate(
        "() => { const one = [...document.querySelectorAll('#evidence a[rel]')]"
        ".find(a => a.textContent.startsWith('Original'));"
        "return [one.href, getComputedStyle(one, '::after').content] }"
    )
    assert address[0] in address[1]


# ---- quickly ----


@pytest.mark.parametrize(("which", "path"), PAGES)
def test_nothing_moves_while_a_page_loads(page_at: Open, which: str, path: str) -> None:
    page = page_at(which, path, viewport={"width": 1280, "height": 900})
    page.wait_for_load_state("networkidle")
    shift = page.evaluate(
        """() => new Promise(done => {
          let sum = 0;
          new PerformanceObserver(list => { for (const one of list.getEntries()) sum += one.value })
            .observe({type: 'layout-shift', buffered: true});
          scrollTo(0, document.body.scrollHeight);
          setTimeout(() => done(sum), 150);
        })"""
    )
    assert shift < 0.01  # a tenth of what Core Web Vitals call good; a busy machine paints in more steps


@pytest.mark.parametrize(("which", "path"), PAGES)
def test_pages_are_compressed_and_not_sent_twice(addresses: dict[str, str], which: str, path: str) -> None:
    import httpx

    headers = {"Accept": "text/html", "Accept-Encoding": "gzip"}
    with httpx.Client(base_url=addresses[which], timeout=60) as http:
        first = http.get(path, headers=headers)
        assert first.headers.get("content-encoding") == "gzip" or len(first.content) < 1000
        assert "gzip" not in first.headers.get("vary", "") and "Accept" in first.headers.get("vary", "")  # noqa: PT018
        if first.status_code == 200 and "etag" in first.headers:
            again = http.get(path, headers={**headers, "If-None-Match": first.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
        else:
            assert first.status_code != 200


def weight(page: Any, address: str) -> int:
    """Bytes on the wire of a page and all it loads but its charts."""
    sizes: dict[str, int] = {}
    types: dict[str, str] = {}
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    session.on(
        "Network.responseReceived", lambda event: types.update({event["requestId"]: event["response"]["mimeType"]})
    )
    session.on("Network.loadingFinished", lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}))
    page.goto(address)
    page.wait_for_load_state("networkidle")
    return int(sum(size for request, size in sizes.items() if types.get(request) != "image/svg+xml"))


def test_no_page_of_a_seed_record_is_heavy(page_at: Open, addresses: dict[str, str], workspace: Path) -> None:
    import httpx

    with httpx.Client(base_url=addresses["seed"], headers={"Accept": "text/html"}, timeout=60) as http:
        sizes = {
            one: len(http.get(f"/id/{one}").content) for one in open_release(workspace / "build/current").record_ids
        }
    heaviest = max(sizes, key=lambda one: sizes[one])
    assert sizes[heaviest] <= 150_000  # even without compression
    page = page_at("seed", "/")
    assert 5_000 < weight(page, f"{addresses['seed']}/id/{heaviest}") <= 60_000
