"""The pages of comparisons over HTTP: marks, reasons, orders, addresses, pictures; and hostile names."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from html5rdf import HTMLParser  # type: ignore[import-untyped]
from lxml import html as lxml_html  # type: ignore[import-untyped]

from evkg.candidate import CONDITIONS
from evkg.chart import POLICY
from evkg.leaderboard_page import LISTED
from evkg.release import Release
from tests.builds import REVIEWED, ROOT, SEED, build_draft, record, write_records
from tests.client import Client, served

RECORDS = ROOT / "tests" / "records" / "comparable"
BOARD = "/compare?protocol=invented-protocol&dataset=invented-data"


def i(name: str) -> str:
    return f"invented-result-{name}"


@pytest.fixture(scope="module")
def invented(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(RECORDS, tmp_path_factory.mktemp("compare-page"))


@pytest.fixture(scope="module")
def client(invented: Release) -> Iterator[Client]:
    yield from served(invented)


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    yield from served(build_draft(SEED, tmp_path_factory.mktemp("compare-page-seeds")))


def page(client: Client, address: str) -> Any:
    answer = client(address, "text/html")
    assert answer.status_code == 200, answer.text
    HTMLParser(strict=True).parse(answer.text)
    return lxml_html.fromstring(answer.text)


def text(element: Any) -> str:
    return " ".join(element.text_content().split())


def rows(tree: Any, number: int = 0) -> list[Any]:
    found: list[Any] = tree.xpath("//table[contains(@class, 'comparison')]")[number].xpath("./tbody[1]/tr")
    return found


# ---- one leaderboard ----


def test_a_leaderboard_has_a_table_a_group_with_what_it_shares_above(client: Client) -> None:
    tree = page(client, BOARD)
    assert text(tree.xpath("//h1")[0]) == "Invented protocol · Invented sequences"
    assert "64 results: 20 in 6 groups that may be compared, 44 in none" in text(tree)
    heads = [text(head) for head in tree.xpath("//h3")]
    assert heads[0] == "7 results that may be compared, in Fraction: higher is better ↑"
    shared = tree.xpath("//section[1]/dl/div")
    said = {text(part.xpath("./dt")[0]): text(part.xpath("./dd")[0]) for part in shared}
    assert (said["split"], said["budget"], said["aggregation"]) == ("test", "1 GPU hour", "mean of 5 folds")
    assert text(tree.xpath("//section[2]/p[1]")[0]).startswith("Not comparable with the first group of this metric: ")


def test_the_best_is_marked_by_weight_and_a_word_and_only_inside_its_group(client: Client) -> None:
    tree = page(client, BOARD)
    marks = tree.xpath("//*[@class='mark']")
    tables = tree.xpath("//section")
    assert [text(mark) for mark in marks] == ["best"] * len(tables)
    for section in tables:
        best = section.xpath(".//tr[@class='is-best']")
        assert len(best) == 1
        assert best[0].xpath(".//a[contains(@class, 'value best')]")
        assert not section.xpath(".//tbody[@class='apart']//*[contains(@class, 'best')]")
    assert not tree.xpath("//h2[starts-with(@id, 'none')]/following::*[@class='mark']")


def test_values_are_as_printed_with_their_units_and_lead_to_their_records(client: Client) -> None:
    found = rows(page(client, BOARD))
    assert [text(row.xpath(".//a[contains(@class, 'value')]")[0]) for row in found] == [
        *("0.901", "0.873", "0.87", "0.870", "0.86", "0.85", "0.5"),
    ]
    assert [text(row.xpath("./td[1]")[0]) for row in found] == ["1", "2", "2", "3", "5", "6", "7"]
    assert found[0].xpath(".//a[contains(@class, 'value')]/@href") == [f"/id/{i('best')}"]
    assert text(found[0].xpath("./td[2]")[0]) == "0.901 Fraction best"
    assert f"Not to be told apart, as printed, from {i('base')}." in text(found[1])


def test_ties_share_the_mark(client: Client) -> None:
    tree = page(client, f"/compare?id={i('base')}&id={i('tie')}&id={i('none-qualifier')}")
    assert [text(mark) for mark in tree.xpath("//*[@class='mark']")] == ["best, shared", "best, shared"]


def test_what_is_not_compared_stands_below_a_rule_in_the_same_table_with_why(client: Client) -> None:
    tree = page(client, BOARD)
    table = tree.xpath("//table[contains(@class, 'comparison')]")[0]
    outside = table.xpath("./tbody[@class='apart']/tr")
    assert text(outside[0]) == "Not compared with these, and why"
    found = {row.xpath(".//input/@value")[0].removeprefix("invented-result-"): row for row in outside[1:]}
    assert "Different split: test, changed; above: test." in text(found["differs-split"])
    assert "An open concern stands against" in text(found["citing-doubted"])
    assert all(row.xpath(".//ul[@class='why']/li") for row in found.values())
    assert all("not ranked" in text(row) for row in found.values())
    assert not table.xpath(".//s[contains(@class, 'value')]")
    assert text(found["differs-split"].xpath(".//a[@class='value']")[0]) == "0.5"


def test_metrics_without_a_group_have_a_table_of_reasons(client: Client) -> None:
    tree = page(client, f"{BOARD}&metric=recall")
    assert "No two of these results may be compared." in text(tree)
    assert "the only result of its kind here" in text(tree)


@pytest.mark.parametrize(
    ("sort", "printed"),
    [
        ("value", ["0.5", "0.85", "0.86", "0.87", "0.870", "0.873", "0.901"]),
        ("-value", ["0.901", "0.873", "0.87", "0.870", "0.86", "0.85", "0.5"]),
        ("-best", ["0.5", "0.85", "0.86", "0.87", "0.870", "0.873", "0.901"]),
    ],
)
def test_order_is_a_link_and_changes_no_mark(client: Client, sort: str, printed: list[str]) -> None:
    tree = page(client, f"{BOARD}&sort={sort}")
    assert [text(row.xpath(".//a[contains(@class, 'value')]")[0]) for row in rows(tree)] == printed
    assert [text(mark) for mark in tree.xpath("//section[1]//*[@class='mark']")] == ["best"]
    links = page(client, BOARD).xpath("//section[1]//thead//a/@href")
    assert f"{BOARD}&sort=value" in links
    assert tree.xpath("//section[1]//thead/tr/th[@aria-sort]")


def test_loosening_is_a_link_and_named_on_the_page(client: Client) -> None:
    assert "Loosened" not in text(page(client, BOARD))
    links = page(client, BOARD).xpath("//details//a/@href")
    assert f"{BOARD}&ignore=unit" in links
    tree = page(client, f"{BOARD}&ignore=comparison.budget")
    assert "Loosened. On request budget need be neither known nor equal here." in text(tree)
    assert "Left out on request, and not the same for all: budget: 1 GPU hour" in text(tree)
    assert BOARD in tree.xpath("//p[@role='note']//a/@href")


def test_a_group_alone(client: Client, invented: Release) -> None:
    key = client(BOARD, "application/json").json()["groups"][1]["key"]
    tree = page(client, f"{BOARD}&group={key}")
    assert len(tree.xpath("//section")) == 1
    assert client(f"{BOARD}&group={key}", "application/json").json()["groups"][0]["key"] == key
    assert client(f"{BOARD}&group=0", "text/html").status_code == 404


def test_json_and_csv_of_a_leaderboard(client: Client, invented: Release) -> None:
    answer = client(BOARD, "application/json").json()
    assert (answer["release"], answer["conforms"], answer["results"]) == (invented.id, False, 64)
    assert answer["protocol"] == {"id": "invented-protocol", "name": "Invented protocol"}
    assert [group["unit"] for group in answer["groups"] if group["metric"] == "Accuracy"][:2] == ["Fraction", "Percent"]
    sheet = client(f"{BOARD}&format=csv")
    assert sheet.headers["content-type"] == "text/csv; charset=utf-8"
    assert len(list(csv.DictReader(io.StringIO(sheet.text)))) == 64


# ---- a selection ----


def test_any_selection_says_why_not_and_what_would_go_together(client: Client) -> None:
    ids = [i("base"), i("tie"), i("percent"), i("unknown-budget")]
    address = f"/compare?{'&'.join(f'id={one}' for one in ids)}"
    tree = page(client, address)
    assert text(tree.xpath("//h1")[0]) == "These results may not be compared"
    reasons = [text(reason) for reason in tree.xpath("//ul[@class='reasons']/li")]
    assert [reason.split(":")[0] for reason in reasons] == ["Budget is not known", "Unit differs"]
    assert f"{address}&ignore=unit" in tree.xpath("//ul[@class='reasons']//a/@href")
    among = tree.xpath("//h2[@id='among']/following-sibling::ul[1]/li/a")
    assert text(among[0]) == "2 of these may be compared"
    assert parse_qs(urlsplit(among[0].get("href")).query)["id"] == [i("base"), i("tie")]
    assert not tree.xpath("//*[@class='mark']")
    assert not tree.xpath("//figure")
    assert "none is ranked or marked" in text(tree)


def test_a_single_result_is_told_what_may_stand_beside_it(client: Client) -> None:
    tree = page(client, f"/compare?id={i('base')}")
    assert text(tree.xpath("//h1")[0]) == "What may stand beside this result?"
    link = tree.xpath("//main/p[1]/a")[0]
    assert text(link) == "6 other results of this release"
    assert text(page(client, link.get("href")).xpath("//h1")[0]) == "These results may be compared"
    assert not tree.xpath("//h2[@id='why']")
    tree = page(client, f"/compare?id={i('doubted')}")
    assert "No other result of this release may." in text(tree)
    assert [text(reason).split(":")[0] for reason in tree.xpath("//ul[@class='reasons']/li")] == [
        "An open concern stands against",
    ]
    assert "No other result" in text(page(client, f"/compare?id={i('samples')}"))
    assert "gone" in text(page(client, "/compare?id=gone"))


def test_what_cannot_be_left_out_has_no_link(client: Client) -> None:
    tree = page(client, f"/compare?id={i('base')}&id={i('doubted')}&id=gone")
    assert len(tree.xpath("//ul[@class='reasons']/li")) == 2
    assert not tree.xpath("//ul[@class='reasons']//a[starts-with(., 'Leave ')]")


def test_a_selection_that_goes_together_has_its_picture_and_is_best_first(client: Client) -> None:
    address = f"/compare?id={i('tie')}&id={i('best')}"
    tree = page(client, address)
    assert [text(row.xpath(".//a[contains(@class, 'value')]")[0]) for row in rows(tree)] == ["0.901", "0.870"]
    image = tree.xpath("//figure//img")[0]
    assert client(image.get("src")).status_code == 200
    assert len(list(csv.DictReader(io.StringIO(client(f"{address}&format=csv").text)))) == 2


def test_values_in_different_units_have_no_picture_whatever_is_left_out(client: Client) -> None:
    for one, other in (("gb-a", "gib-a"), ("samples", "tokens")):
        tree = page(client, f"/compare?id={i(one)}&id={i(other)}&ignore=unit")
        assert text(tree.xpath("//h1")[0]) == "Side by side, with unit left out on request"
        assert "Loosened." in text(tree)
        assert "Nothing is ranked: the units differ" in text(tree)
        assert not tree.xpath("//figure | //*[@class='mark']")
    tree = page(client, f"/compare?id={i('base')}&id={i('percent')}&ignore=unit")
    assert "percents are hundredths" in tree.xpath("//figure//img")[0].get("alt")


def test_a_loosened_comparison_marks_nothing_best_and_says_so_in_page_and_picture(client: Client) -> None:
    address = f"/compare?id={i('base')}&id={i('differs-split')}"
    assert text(page(client, address).xpath("//h1")[0]) == "These results may not be compared"
    tree = page(client, f"{address}&ignore=split")
    assert text(tree.xpath("//h1")[0]) == "Side by side, with split left out on request"
    assert "As recorded these results may not be compared, so none is best." in text(tree)
    assert not tree.xpath("//*[@class='mark'] | //*[contains(@class, 'is-best')] | //a[contains(@class, 'best')]")
    note = tree.xpath("//div[@role='note']/ul/li")[0]
    assert text(note).startswith("Not the same: split (")
    assert "invented-result" not in text(note)
    document = client(f"{address}&ignore=split&format=json").json()
    assert [member["is_best"] for member in document["members"]] == [False, False]
    picture = client(tree.xpath("//figure//img/@src")[0]).text
    assert "left out on request: split" in picture
    assert "best in this group" not in picture


def test_a_condition_known_of_no_result_is_not_said_to_differ(seeds: Client) -> None:
    result = "saadat-fellay-20261015-result-{}-training-memory-checkpointing"
    keys = [condition.key for condition in CONDITIONS if condition.key not in ("metric", "metric_direction", "unit")]
    ids = "&".join(f"id={result.format(name)}" for name in ("gena-lm-110m", "nt-2-5b"))
    tree = page(seeds, f"/compare?{ids}&{'&'.join(f'ignore={key}' for key in keys)}")
    assert text(tree.xpath("//h1")[0]) == f"Side by side, with {len(keys)} conditions left out on request"
    assert "Left out on request, and not known of any: data version, split, " in text(tree)
    assert "not the same for all" not in text(tree)


def test_the_list_of_leaderboards_is_a_table_whose_style_is_not_that_of_a_list(client: Client) -> None:
    assert page(client, "/compare").xpath("//table[@class='pairs']/thead/tr/th")
    style = client("/site.css").text
    assert "dl.pairs { display: grid" in style
    assert not [line for line in style.splitlines() if line.strip().startswith(".pairs {")]


def test_values_of_different_metrics_stand_side_by_side_unranked(client: Client) -> None:
    tree = page(client, f"/compare?id={i('base')}&id={i('differs-metric')}&ignore=metric")
    assert "Nothing is ranked: the metrics differ." in text(tree)
    assert len(rows(tree)) == 2
    assert not tree.xpath("//figure | //*[@class='mark']")
    assert "since they may not be compared" not in text(tree)


def test_results_without_any_condition_known_say_so_on_the_seeds(seeds: Client) -> None:
    tree = page(seeds, "/compare")
    assert "In this release no two results may be compared" in text(tree)
    for address in tree.xpath("//table[@class='pairs']//td[@class='n']/a/@href"):
        board = page(seeds, address)
        assert not board.xpath("//*[@class='mark']")
        assert board.xpath("//ul[@class='why']/li")
    one = page(seeds, f"/compare?id={REVIEWED}&id=gena-lm")
    assert "gena-lm is a model" in text(one)


# ---- the list ----


def test_the_list_leads_to_each_leaderboard(client: Client) -> None:
    tree = page(client, "/compare")
    lines = tree.xpath("//table[@class='pairs']/tbody/tr")
    assert [text(cell) for cell in lines[0]] == ["Invented protocol", "Invented sequences", "64", "6", "20"]
    assert lines[0].xpath("./td[2]/a/@href") == [BOARD]
    assert "Here 22 results may be compared" in text(tree)
    assert {option.get("value") for option in tree.xpath("//select[@name='dataset']/option")} >= {"", "invented-data"}
    assert len(page(client, "/compare?q=hard").xpath("//table[@class='pairs']/tbody/tr")) == 1
    assert client("/compare", "application/json").json()["leaderboards"][0]["groups"] == 6
    assert client("/compare?format=csv").text.startswith('"protocol","protocol_name"')


def test_a_form_sends_empty_fields_that_ask_for_nothing(client: Client) -> None:
    assert text(page(client, "/compare?protocol=&dataset=").xpath("//h1")[0]) == "Compare results"
    assert text(page(client, "/compare?protocol=&dataset=invented-data-hard").xpath("//h1")[0]).startswith(
        "The hard half"
    )


def test_a_long_list_has_pages(tmp_path: Path) -> None:
    def link(relation: str, target: str) -> dict[str, str]:
        return {"relation": relation, "target_id": target}

    records = [record("d", "dataset"), record("s", "model")]
    for n in range(LISTED + 5):
        links = [link("assessment", f"p-{n}"), link("data", "d"), link("system", "s")]
        records += [record(f"p-{n}", "protocol"), record(f"e-{n}", "evaluation", links=links)]
        records.append(record(f"r-{n}", "result", links=[link("evaluation", f"e-{n}")]))
    for client in served(build_draft(write_records(tmp_path / "r.jsonl", *records), tmp_path / "out")):
        first, second = page(client, "/compare"), page(client, "/compare?page=2")
        assert [len(tree.xpath("//table[@class='pairs']/tbody/tr")) for tree in (first, second)] == [LISTED, 5]
        assert first.xpath("//a[@rel='next']/@href") == ["/compare?page=2"]
        assert second.xpath("//a[@rel='prev']/@href") == ["/compare"]


# ---- pictures ----


def test_pictures_have_words_sizes_and_data(client: Client) -> None:
    tree = page(client, BOARD)
    figures = tree.xpath("//figure")
    assert len(figures) == 6
    for figure in figures[:2]:
        image, source = figure.xpath(".//img")[0], figure.xpath(".//source")[0]
        assert "Dot plot of" in image.get("alt")
        for address, width, height in (
            (image.get("src"), image.get("width"), image.get("height")),
            (source.get("srcset"), source.get("width"), source.get("height")),
        ):
            svg = client(address)
            assert svg.headers["content-type"] == "image/svg+xml"
            assert svg.headers["content-security-policy"] == POLICY
            assert f'width="{width}" height="{height}"' in svg.text
        sheet = client(figure.xpath(".//figcaption/a/@href")[0])
        assert sheet.text.count("\n") == len(rows(tree, figures.index(figure))) + 1


def test_a_picture_is_asked_for_once(client: Client) -> None:
    address = page(client, BOARD).xpath("//figure//img/@src")[0]
    first = client(address)
    again = client(address, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client(address).content == first.content
    other = client(f"{address}&narrow=1")
    assert other.headers["etag"] != first.headers["etag"]


@pytest.mark.parametrize(
    "address",
    [
        f"/compare/chart.svg?id={i('base')}&id={i('percent')}",
        f"/compare/chart.svg?id={i('base')}",
        "/compare/chart.svg?protocol=invented-protocol&dataset=invented-data&group=000000000000",
        "/compare/chart.svg?protocol=invented-task",
        "/compare/chart.svg?protocol=gone",
        "/provenance.svg?id=gone",
        "/provenance.csv?id=gone",
    ],
)
def test_there_is_no_picture_of_what_may_not_be_compared_or_is_not_there(client: Client, address: str) -> None:
    assert client(address).status_code == 404


def test_a_picture_of_nothing_is_a_wrong_request(client: Client) -> None:
    for address in ("/compare/chart.svg", "/provenance.svg", "/provenance.csv?id="):
        assert client(address).status_code == 400


@pytest.mark.parametrize(
    "address",
    [
        f"/provenance.svg?id={REVIEWED}",
        f"/provenance.svg?id={REVIEWED}&narrow=1",
        "/ontology/diagram.svg",
        "/ontology/diagram.svg?narrow=1",
        "/validation/heatmap.svg",
        "/validation/heatmap.svg?narrow=1",
    ],
)
def test_diagrams(seeds: Client, address: str) -> None:
    answer = seeds(address)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert seeds(address, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    assert answer.headers["content-security-policy"] == POLICY


def test_diagrams_have_their_data(seeds: Client) -> None:
    sheet = seeds(f"/provenance.csv?id={REVIEWED}")
    assert next(row["step"] for row in csv.DictReader(io.StringIO(sheet.text))) == "Source"
    assert "assessed_by" in seeds("/ontology/diagram.csv").text


def test_the_validation_page_shows_the_heat_map(seeds: Client) -> None:
    tree = page(seeds, "/validation")
    image = tree.xpath("//figure[@class='chart']//img")[0]
    svg = seeds(image.get("src")).text
    assert f'width="{image.get("width")}" height="{image.get("height")}"' in svg
    assert "Most often silent" in image.get("alt")
    assert not page(seeds, "/validation?by=source").xpath("//figure")


# ---- addresses and strangers ----


@pytest.mark.parametrize(
    "query", ["sort=luck", "page=0", "page=x", "page=99999999", "protocol=invented-protocol&ignore=colour", "page=²"]
)
def test_wrong_parameters_are_400(client: Client, query: str) -> None:
    assert client(f"/compare?{query}", "text/html").status_code == 400


def test_an_unknown_protocol_is_404_and_names_what_is_near(client: Client) -> None:
    answer = client("/compare?protocol=invented-protokol", "text/html")
    assert answer.status_code == 404
    assert "invented-protocol" in answer.text
    assert 'href="invented-protocol"' not in answer.text


def test_every_link_of_the_pages_leads_somewhere(client: Client) -> None:
    seen: set[str] = set()
    for address in ("/compare", f"{BOARD}&metric=auroc", f"/compare?id={i('base')}&id={i('percent')}"):
        for link in page(client, address).xpath("//main//a/@href | //head/link[@rel='alternate']/@href"):
            if link.startswith(("/compare", "/id/")):
                seen.add(link)
    assert len(seen) > 30
    for link in sorted(seen):
        assert client(link, "text/html, */*;q=0.1").status_code == 200, link


def test_an_unchanged_page_is_not_sent_again(client: Client) -> None:
    first = client(BOARD, "text/html")
    assert client(BOARD, "text/html", headers={"If-None-Match": first.headers["etag"]}).status_code == 304
    assert client(BOARD, "application/json", headers={"If-None-Match": first.headers["etag"]}).status_code == 200


HOSTILE = "\"><script>alert(1)</script>'=1+1&amp;\u202e{{ 7*7 }}"


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The invented data set, with names, units as printed and conditions that want to be more than text."""
    folder = tmp_path_factory.mktemp("strange")
    quoted = json.dumps(HOSTILE)
    changed = 0
    for file in RECORDS.iterdir():
        content = file.read_text(encoding="utf-8")
        for plain in ("name: Invented protocol\n", "name: Invented sequences\n", "name: Invented system A\n"):
            changed += content.count(plain)
            content = content.replace(plain, f"name: {quoted}\n")
        changed += content.count("budget: 1 GPU hour\n") + content.count("budget: 1 GPU hour,")
        content = content.replace("budget: 1 GPU hour\n", f"budget: {quoted}\n")
        content = content.replace("budget: 1 GPU hour,", f"budget: {quoted},")
        (folder / file.name).write_text(content, encoding="utf-8")
    assert changed >= 4
    yield from served(build_draft(folder, tmp_path_factory.mktemp("strange-out")))


def test_hostile_names_are_text_on_every_page_and_picture(strange: Client) -> None:
    tree = page(strange, BOARD)
    assert text(tree.xpath("//h1")[0]) == " · ".join([" ".join(HOSTILE.split())] * 2)
    for address in (
        "/compare",
        BOARD,
        f"{BOARD}&sort=system",
        f"/compare?id={i('base')}&id={i('tie')}",
        f"/compare?id={i('base')}&id={i('percent')}",
    ):
        answer = strange(address, "text/html")
        assert "<script>alert" not in answer.text
        assert "{{ 7*7 }}" in unescape(answer.text)
        page(strange, address)
    for image in tree.xpath("//figure//img/@src | //figure//source/@srcset"):
        svg = strange(image).text
        assert "<script" not in svg
        assert "\u202e" not in svg


def test_hostile_names_are_no_formulas_in_a_spreadsheet(strange: Client) -> None:
    for address in ("/compare?format=csv", f"{BOARD}&format=csv", f"/provenance.csv?id={i('base')}"):
        for row in csv.reader(io.StringIO(strange(address).text)):
            assert not any(cell.startswith(("=", "+", "@", "\t")) for cell in row)


def test_what_is_asked_for_is_escaped(client: Client) -> None:
    for query in (f"id={quote(HOSTILE)}", f"q={quote(HOSTILE)}", f"protocol=invented-protocol&metric={quote(HOSTILE)}"):
        answer = client(f"/compare?{query}", "text/html")
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text
        page(client, f"/compare?{query}")


# ---- what reasons name ----


def test_reasons_name_conditions_by_their_labels_and_link_the_records(client: Client) -> None:
    tree = page(client, f"/compare?id={i('base')}&id={i('unknown-budget')}&id={i('excluded')}")
    reasons = tree.xpath("//ul[@class='reasons']/li")
    said = [text(reason) for reason in reasons]
    assert any(one.startswith("Budget is not known: invented-eval-unknown-budget says") for one in said)
    assert any("Data version is not known" in one and "Leave data version out" in one for one in said)
    assert not any("comparison." in one or "_" in one.partition(" says ")[0] for one in said)
    links = {href for reason in reasons for href in reason.xpath(".//a/@href") if href.startswith("/id/")}
    assert {"/id/invented-eval-unknown-budget", "/id/invented-eval-excluded"} <= links
    for href in links:
        assert client(href, "text/html").status_code == 200
    board = page(client, BOARD)
    apart = board.xpath("//ul[@class='why']//a/@href")
    assert "/id/invented-eval-unknown-budget" in apart
    assert all(client(href, "text/html").status_code == 200 for href in set(apart))
