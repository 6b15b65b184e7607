"""Search: what is found is what is written, in one order, with true counts; what is withheld is nowhere."""

from __future__ import annotations

import csv
import io
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evkg.errors import QueryLimitError, ReleaseError, UsageError
from evkg.facet import NONE
from evkg.manifest import read_manifest
from evkg.problem import RequestError
from evkg.release import Release
from evkg.search import Search, Selection, read_selection
from evkg.search_build import INDEX, build_index, index_key
from evkg.search_index import SearchIndex, as_set, members
from evkg.search_service import SearchService
from evkg.search_text import MOST_CHARACTERS, MOST_PARTS, match_expression, read_query
from tests.builds import DOUBTED_RESULTS, SEED, build_draft, record, write_records
from tests.client import Client, served
from tests.searching import check_html, ids, ready, searched

PUBLIC = "https://example.org"
ATTACK = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7*7 }}&amp;"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(SEED, tmp_path_factory.mktemp("seed"))


@pytest.fixture(scope="module")
def client(release: Release) -> Iterator[Client]:
    for client in served(release, PUBLIC):
        ready(client)
        yield client


def texts() -> list[dict[str, Any]]:
    """Records whose texts are hard to find, or must not be."""
    secret = {"reason": "withdrawn on request", "requirements": "SECRETREQUIREMENT", "printed_value": "77.77"}
    printed = {"a": "0.785", "b": "10.785", "c": "0.7851", "d": "5.6", "e": "15.6", "f": "5.6.1", "g": "r = 1.00"}
    results = [record(f"number-{key}", "result", attributes={"printed_value": v}) for key, v in printed.items()]
    return [
        *results,
        record("model-accents", "model", name="Größe naïve Ångström modèle"),
        record("model-greek", "model", name="µ-opioid β-sheet H₂O 10² Ωmega"),
        record("model-wide", "model", name="ＧＰＵ ﬁne tuning"),
        record("model-split", "model", name="peak-memory of soft\u00adhyphen"),
        record("model-other", "model", name="memory peak"),
        record("model-japanese", "model", name="日本語 モデル"),
        record("model-code", "model", name="v2.5b release", description="uses 10.1038/s41586-021 and gena_lm.bert.v2"),
        record("use.case_1.2", "use_case", name="dotted"),
        record("alpha", "model", name="The same name"),
        record("alpha-2", "model", name="The same name", description="alpha"),
        record("alpha-3", "model", name="Another", description="the same name, alpha, the same name"),
        record("fish", "configuration", name="Zebrafish model"),
        record("fish-run", "evaluation", links=[{"relation": "system", "target_id": "fish"}]),
        record("fish-result", "result", links=[{"relation": "evaluation", "target_id": "fish-run"}]),
        record("gone", "baseline", name="A withdrawn baseline", status="excluded", attributes=secret,
               description="SECRETDESCRIPTION"),
        record("argued", "baseline", name="A disputed baseline", status="disputed"),
        record("hostile", "model", name=f"hostile {ATTACK}", description=f"description {ATTACK}",
               status="needs_review", facets={"areas": [ATTACK]}, source_ids=[f"no {ATTACK}"]),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Release:
    folder = tmp_path_factory.mktemp("hard")
    return build_draft(write_records(folder / "r.jsonl", *texts()), folder / "out")


@pytest.fixture(scope="module")
def hard_client(hard: Release) -> Iterator[Client]:
    for client in served(hard, PUBLIC):
        ready(client)
        yield client


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("0.785", ["number-a"]),
        ("10.785", ["number-b"]),
        ("5.6", ["number-d"]),
        ("5.6.1", ["number-f"]),
        ("1.00", ["number-g"]),
        ("785", []),
        ("größe", ["model-accents"]),
        ("GROSSE", ["model-accents"]),
        ("grösse", ["model-accents"]),
        ("naive", ["model-accents"]),
        ("angstrom", ["model-accents"]),
        ("modele", ["model-accents"]),
        ("μ-opioid", ["model-greek"]),  # the Greek letter; the record has the micro sign
        ("β sheet", ["model-greek"]),
        ("h2o", ["model-greek"]),
        ("102", []),
        ("10²", ["model-greek"]),
        ("ωMEGA", ["model-greek"]),
        ("gpu", ["model-wide"]),
        ("fine", ["model-wide"]),
        ("peak-memory", ["model-split"]),
        ('"peak memory"', ["model-split"]),
        ("peak_memory", ["model-split"]),
        ("peak memory", ["model-other", "model-split"]),
        ("softhyphen", ["model-split"]),
        ("日本語", ["model-japanese"]),
        ("v2.5b", ["model-code"]),
        ("10.1038/s41586-021", ["model-code"]),
        ("gena_lm.bert", ["model-code"]),
        ("bert", ["model-code"]),
        ("use.case_1.2", ["use.case_1.2"]),
        ("case_1.2", ["use.case_1.2"]),
        ("model-cod*", ["model-code"]),
        ("withdrawn", ["gone"]),
        ("±", []),
        ("\ue000", []),
    ],
)
def test_texts_are_found_as_they_are_written(hard_client: Client, words: str, found: list[str]) -> None:
    assert sorted(ids(hard_client, q=words)) == found


def test_numbers_of_the_seed_are_found_exactly(client: Client) -> None:
    paper = "saadat-fellay-20261015-"
    bits = [f"{paper}result-nt-2-5b-quantization-memory-4bit", f"{paper}result-nt-2-5b-inference-memory-bf16"]
    assert ids(client, q="5.6") == bits  # the value first, then the result whose place quotes it
    assert ids(client, q="33.88")[0] == f"{paper}result-nt-2-5b-training-memory-checkpointing"
    first = searched(client, q="5.6")["hits"]
    assert first[0]["printed_value"] == "5.6"
    assert first[1]["found_in"]["field"] == "source_locator"
    assert "from 6.7 GB (BF16) to 5.6 GB (4-bit)" in first[1]["found_in"]["text"]


def test_exact_id_then_exact_name_then_the_rest_equal_ones_by_id(hard_client: Client) -> None:
    assert ids(hard_client, q="alpha") == ["alpha", "alpha-2", "alpha-3"]
    assert ids(hard_client, q="the SAME name") == ["alpha", "alpha-2", "alpha-3"]
    assert ids(hard_client, q="alpha-3") == ["alpha-3"]
    assert ids(hard_client, sort="id") == sorted(item["id"] for item in texts())


def test_results_are_found_by_what_they_tested(client: Client) -> None:
    system = "GENA base on one A100"
    found = searched(client, q=system, kind="result")
    assert {hit["id"] for hit in found["hits"]} == set(DOUBTED_RESULTS)


def test_where_the_words_are_found_is_shown(hard_client: Client) -> None:
    hits = {hit["id"]: hit["found_in"] for hit in searched(hard_client, q="zebrafish")["hits"]}
    assert hits == {
        "fish": None,  # its name says it
        "fish-run": {"field": "about", "text": "Zebrafish model"},
        "fish-result": {"field": "about", "text": "Zebrafish model"},
    }
    found = searched(hard_client, q="uses v2.5b")["hits"][0]["found_in"]
    assert found == {"field": "description", "text": "uses 10.1038/s41586-021 and gena_lm.bert.v2"}
    html = hard_client("/search?q=uses+v2.5b", "text/html").text
    assert "<mark>v2.5b</mark> release" in html
    assert "<mark>uses</mark> 10.1038" in html


HOSTILE = [
    '"', '""', '"a', 'a"b', "*", "a*b", "^a", "a^2", "a:b", "name:peak", "{name id}:a", "-a", "a - b", "NOT a",
    "a AND", "OR OR", "NEAR(a b)", "NEAR(", "a + b", "(a", "a)", ";", "a; DROP TABLE words", "' OR 1=1 --", "\\",
    "%", "_", "\x00", "a\x00b", "a" * 400, "é" * 400, "😀", "\u202e", "{{7*7}}", "<script>", "ﷺ" * 20,
    " ".join("abcdefghijklmnop"), "a* b* c* d* e*", '"a b" "c" "',
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("path", ["/search", "/search.json", "/search.csv"])
def test_no_search_is_an_error(hard_client: Client, path: str, text: str) -> None:
    assert hard_client(path, params={"q": text}).status_code == 200


@given(st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_whatever_is_typed_is_a_search(text: str) -> None:
    parts = read_query(text)
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5 (x, content='', tokenize='ascii')")
        if parts:
            query = match_expression(parts)
            assert connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (query,)).fetchall() == []


@given(st.text(min_size=1, max_size=40), st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_a_text_is_found_by_each_of_its_words(text: str, more: str) -> None:
    from evkg.search_text import fold, tokens

    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE VIRTUAL TABLE words USING fts5 (x, content='', tokenize='ascii')")
        connection.execute("INSERT INTO words (rowid, x) VALUES (1, ?)", (fold(f"{more} {text}"),))
        for word in text.split():
            if tokens(word) and '"' not in word and not word.endswith("*"):
                found = connection.execute(
                    "SELECT rowid FROM words WHERE words MATCH ?", (match_expression(read_query(word)),)
                )
                assert found.fetchall() == [(1,)], word


def test_what_is_withheld_is_nowhere_in_the_index(hard_client: Client, hard: Release) -> None:
    for words in ("SECRETREQUIREMENT", "SECRETDESCRIPTION", "secret*", "77.77"):
        assert ids(hard_client, q=words) == []
    data = (hard.folder / INDEX).read_bytes().lower()
    assert b"secret" not in data
    assert b"77\xee\x80\x8077" not in data  # the point as the index writes it


def test_what_is_in_doubt_is_marked_and_can_be_left_out(hard_client: Client, client: Client) -> None:
    document = searched(hard_client, q="baseline")
    assert {hit["id"]: hit["doubt"] for hit in document["hits"]} == {"gone": ["excluded"], "argued": ["disputed"]}
    assert document["in_doubt"] == 2
    page = hard_client("/search?q=baseline", "text/html").text
    assert "2 of them are in doubt, superseded or excluded, and marked so" in page
    assert page.count('<li class="doubt">') == 2
    doubted = searched(client, kind="result", doubt="concern")
    assert {hit["id"] for hit in doubted["hits"]} == set(DOUBTED_RESULTS)
    rest = ids(client, kind="result", doubt=NONE)
    assert set(rest).isdisjoint(DOUBTED_RESULTS)
    assert len(rest) == 14 - len(DOUBTED_RESULTS)


def test_every_value_of_a_facet_leads_to_as_many_records_as_it_says(client: Client) -> None:
    start = searched(client, q="memory")
    links = [(value, facet) for facet, values in start["facets"].items() for value in values]
    assert {"kind", "area", "context", "metric", "origin", "status", "doubt", "source"} == {facet for _, facet in links}
    for value, facet in links:
        query = dict(parse_qsl(urlsplit(value["url"]).query))
        assert query == {"q": "memory", facet: value["value"]}
        narrowed = searched(client, **query)
        assert narrowed["total"] == value["records"] > 0
        chosen = next(one for one in narrowed["facets"][facet] if one["value"] == value["value"])
        assert chosen["chosen"]
        assert dict(parse_qsl(urlsplit(chosen["url"]).query)) == {"q": "memory"}  # it can be undone
        # other values of the same facet say what they would add instead
        assert {one["value"] for one in narrowed["facets"][facet]} == {one["value"] for one in start["facets"][facet]}


def test_counts_are_those_of_the_records(client: Client, release: Release) -> None:
    records = [release.read(record_id) for record_id in release.record_ids]
    facets = searched(client)["facets"]
    assert {one["value"]: one["records"] for one in facets["kind"]} == Counter(r.kind for r in records)
    assert {one["value"]: one["records"] for one in facets["status"]} == Counter(str(r.data["status"]) for r in records)
    areas = Counter(area for r in records for area in r.data["facets"].get("areas", []))  # type: ignore[union-attr]
    assert {one["value"]: one["records"] for one in facets["area"]} == areas
    cited = Counter(str(s) for r in records for s in {*r.data["source_ids"]} - {r.id})  # type: ignore[misc]
    assert {one["value"]: one["records"] for one in facets["source"]} == cited


def test_a_result_is_told_with_what_was_tested_and_on_what(client: Client) -> None:
    result = "saadat-fellay-20261015-result-nt-2-5b-quantization-memory-4bit"
    hit = next(one for one in searched(client, q="5.6")["hits"] if one["id"] == result)
    system, data = (
        "NT 2.5B, 4-bit weights for embedding inference (Saadat and Fellay 2026)",
        "Synthetic uniform random DNA sequences, seed 42 (Saadat and Fellay 2026)",
    )
    assert (hit["system"], hit["dataset"]) == ([system], [data])
    row = next(row for row in csv.DictReader(io.StringIO(client("/search.csv?q=5.6").text)) if row["id"] == result)
    assert (row["system"], row["dataset"]) == (system, data)
    assert f"of <bdi>{system}</bdi>" in client("/search?q=5.6", "text/html").text
    title = client(f"/id/{result}", "text/html").text.split("<title>")[1].split("</title>")[0]
    assert f"of {system} on {data}" in title


def test_the_page_shows_every_facet_that_json_has_a_count_for(client: Client) -> None:
    document = client("/search.json?q=memory").json()
    html = client("/search?q=memory", "text/html").text
    labels = {"kind": "Kind", "metric": "Metric", "area": "Area", "origin": "Evidence origin"}
    for name, label in labels.items():
        assert document["facets"][name], name
        assert f"<h3>{label}</h3>" in html


def test_a_page_without_hits_has_the_whole_width(client: Client) -> None:
    assert '<div class="found alone">' in client("/search?q=nosuchword", "text/html").text


def test_several_values_of_a_facet_are_alternatives_and_facets_narrow_each_other(client: Client) -> None:
    both = client("/search.json?kind=result&kind=claim&source=saadat-fellay-20261015-source-paper").json()
    assert both["total"] == 13
    assert both["filters"] == {"kind": ["claim", "result"], "source": ["saadat-fellay-20261015-source-paper"]}
    assert {one["value"] for one in both["facets"]["source"]} == {
        "saadat-fellay-20261015-source-paper",
        "model-execution-20261011-source-aspidova2026",
    }
    # Nothing has this value, but it could be: a choice of nothing, that can be taken back.
    nothing = searched(client, kind="service")
    assert nothing["total"] == 0
    assert [one["value"] for one in nothing["facets"]["kind"] if one["chosen"]] == ["service"]


def test_page_json_and_csv_hold_the_same(client: Client) -> None:
    wanted = ids(client, q="the", sort="name")
    rows = list(csv.DictReader(io.StringIO(client("/search.csv?q=the&sort=name").text)))
    assert [row["id"] for row in rows] == wanted
    assert rows[0]["url"] == f"{PUBLIC}/id/{wanted[0]}"
    html = client("/search?q=the&sort=name&page=2", "text/html").text
    places = [html.index(f'<a href="/id/{record_id}">') for record_id in wanted[25:]]
    assert places == sorted(places)
    assert client("/search?q=the", "text/csv").headers["content-type"] == "text/csv; charset=utf-8"
    assert client("/search?q=the", "application/json").json()["total"] == len(wanted)
    assert client("/search", "image/png").status_code == 406


def test_the_same_search_has_the_same_answer_twice_and_is_not_sent_twice(client: Client) -> None:
    first = client("/search?q=memory", "text/html")
    assert client("/search?q=memory", "text/html").content == first.content
    tag = {"If-None-Match": first.headers["etag"]}
    assert client("/search?q=memory", "text/html", headers=tag).status_code == 304
    assert client("/search?q=memories", "text/html", headers=tag).status_code == 200


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("page=0", "page must be a whole number from 1, not '0'."),
        ("page=x", "page must be a whole number from 1, not 'x'."),
        ("page=99999999999", "page must be a whole number"),
        ("sort=size", "There is no order 'size'; there are relevance, name, id."),
        ("q=a&q=b", "The parameter q is given twice."),
        ("q=" + "a" * (MOST_CHARACTERS + 1), f"A search has at most {MOST_CHARACTERS} characters; this one has 401."),
        ("q=" + "+".join(["a"] * (MOST_PARTS + 1)), f"at most {MOST_PARTS} words and phrases; this one has 33."),
        ("&".join(f"kind=k{n}" for n in range(101)), "A search chooses at most 100 values."),
        ("q=%ff", "The parameters are not percent-encoded UTF-8."),
    ],
)
def test_what_cannot_be_asked_is_said(client: Client, query: str, says: str) -> None:
    response = client(f"/search?{query}")
    assert response.status_code == 400
    assert says in response.json()["detail"]


def test_nothing_found_says_which_word_is_not_there_and_what_is_spelt_like_it(client: Client) -> None:
    html = client("/search?q=memori+throughput", "text/html").text
    assert "No record holds all of this." in html
    near = '<a href="/search?q=memory+throughput">memory</a>'
    assert f'<a href="/search?q=memori">memori</a>: 0 records; spelt nearly like it: {near}' in html
    assert "There is no letter and no digit in this search" in client("/search?q=%C2%B1", "text/html").text
    late = client("/search?q=the&page=99", "text/html").text
    assert 'There is no page 99; the last one is <a href="/search?q=the&amp;page=2">page 2</a>' in late


def test_every_text_on_the_page_is_escaped(hard_client: Client) -> None:
    for query in ("q=hostile", "q=description", f"area={ATTACK}", f"q={ATTACK}"):
        html = hard_client("/search", "text/html", params=dict([query.split("=", 1)])).text
        assert "<script" not in html
        assert "<img" not in html
        assert "onerror=alert(2)&gt;" in html
        check_html(html)


def test_the_index_is_beside_the_release_but_no_part_of_it(client: Client, release: Release) -> None:
    assert (release.folder / INDEX).is_file()
    assert INDEX not in read_manifest(release.folder)["files"]
    assert [file.name for file in release.folder.glob("*.part")] == []


def test_the_server_answers_while_the_index_is_made(tmp_path: Path) -> None:
    release = build_draft(SEED, tmp_path / "out")
    for client in served(release, PUBLIC):
        waiting = client("/search")
        assert waiting.status_code == 503
        assert int(waiting.headers["retry-after"]) > 0
        assert "is being made" in waiting.json()["detail"]
        assert client("/health").status_code == 200
        assert "look again in a moment" in client("/", "text/html").text
        assert client("/results").status_code == client("/feed.atom").status_code == 503
        ready(client)
        assert client("/search").status_code == 200


def test_searches_go_on_while_the_folder_of_the_release_is_replaced(tmp_path: Path, release: Release) -> None:
    build_index(release, tmp_path / INDEX)
    index = SearchIndex(tmp_path / INDEX)
    (tmp_path / INDEX).unlink()
    words = ["memory", "throughput", "5.6", "the", "nucleotide", "gena"] * 4
    with ThreadPoolExecutor(12) as threads:
        found = list(threads.map(lambda word: Search(index).find(Selection(word)).total, words))
    assert found == [Search(index).find(Selection(word)).total for word in words]
    assert all(found)


def test_a_look_that_takes_too_long_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_records(tmp_path / "r.jsonl", *(record(f"m{n}", "model", name="word " * 20) for n in range(600)))
    release = build_draft(file, tmp_path / "out")
    build_index(release, tmp_path / INDEX)
    search = Search(SearchIndex(tmp_path / INDEX))
    monkeypatch.setattr("evkg.search_index.SECONDS", -1.0)
    monkeypatch.setattr("evkg.search_index._STEPS", 10)
    with pytest.raises(QueryLimitError, match="The search was stopped after"):
        search.find(Selection('word "word word" w*'))


def wait(service: SearchService) -> SearchIndex:
    for _ in range(600):
        if (index := service.ready) is not None:
            return index
        assert service.trouble is None
        time.sleep(0.05)
    raise AssertionError("no index")


def test_an_index_is_used_again_and_made_again_when_it_is_another_ones_or_damaged(tmp_path: Path) -> None:
    release = build_draft(SEED, tmp_path / "out")
    file = release.folder / INDEX
    service = SearchService(release)
    wait(service)
    service.stop()
    made = file.stat().st_ino
    again = SearchService(release)
    assert wait(again).key == index_key(release)
    again.stop()
    assert file.stat().st_ino == made
    for damage in (b"", b"no database", file.read_bytes()[:9000]):
        file.write_bytes(damage)
        mended = SearchService(release)
        assert wait(mended).count == 49
        mended.stop()
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE facts SET value = 'another release' WHERE name = 'key'")
    other = SearchService(release)
    assert wait(other).key == index_key(release)
    other.stop()


def test_an_index_that_turns_out_to_be_damaged_is_made_again(tmp_path: Path) -> None:
    release = build_draft(SEED, tmp_path / "out")
    build_index(release, release.folder / INDEX)
    file = release.folder / INDEX
    with sqlite3.connect(file) as connection:
        pages = connection.execute("SELECT rootpage FROM sqlite_master WHERE name IN ('records', 'words_data')")
        roots = [page for (page,) in pages]
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with file.open("r+b") as stream:
        for root in roots:
            stream.seek((root - 1) * size)
            stream.write(b"\xff" * size)
    for client in served(release, PUBLIC):
        statuses = []
        for _ in range(600):
            answer = client("/search.json?q=gena")
            statuses.append(answer.status_code)
            if answer.status_code == 200:
                break
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "3")
            assert "being made" in answer.json()["detail"]
            time.sleep(0.05)
        assert (statuses[0], statuses[-1]) == (503, 200)
        assert answer.json()["total"] > 0
        assert client("/search?q=gena").status_code == 200
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def killed(service: SearchService, times: int, done: set[int]) -> None:
    """Kill what makes the index, so many times."""
    end = time.monotonic() + 60
    while len(done) < times and time.monotonic() < end:
        process = service._process
        if process is not None and process.pid not in done:
            done.add(process.pid)
            process.kill()
        time.sleep(0.005)


def test_an_index_whose_making_was_killed_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evkg.search_service.PAUSE_SECONDS", 0.3)
    release = build_draft(SEED, tmp_path / "out")
    service = SearchService(release)
    done: set[int] = set()
    service.start()
    killed(service, 2, done)
    with pytest.raises(RequestError) as error:
        service.get()
    assert error.value.headers == {"Retry-After": "3"}
    assert (len(done), wait(service).count) == (2, 49)
    service.stop()


def test_an_index_whose_making_is_always_killed_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evkg.search_service.PAUSE_SECONDS", 0.1)
    release = build_draft(SEED, tmp_path / "out")
    service = SearchService(release)
    done: set[int] = set()
    service.start()
    killed(service, 3, done)
    assert service._thread is not None
    service._thread.join(30)
    assert (len(done), service.is_being_made, service.trouble is not None) == (3, False, True)
    with pytest.raises(RequestError, match="could not be made"):
        service.get()
    assert not list(release.folder.glob("search*"))
    monkeypatch.setattr("evkg.search_service.AGAIN_SECONDS", 0.0)  # later, whoever searches begins it again
    with pytest.raises(RequestError) as error:
        service.get()
    assert error.value.headers == {"Retry-After": "3"}
    assert wait(service).count == 49
    service.stop()


def test_where_the_release_cannot_be_written_the_index_is_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = build_draft(SEED, tmp_path / "out")
    before = sorted(file.name for file in release.folder.iterdir())
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    service = SearchService(release)
    assert wait(service).count == 49
    assert sorted(file.name for file in release.folder.iterdir()) == before
    folders = list(tmp_path.glob("evkg-search-*"))
    assert len(folders) == 1
    service.stop()
    assert list(tmp_path.glob("evkg-search-*")) == []


def test_a_server_that_stops_ends_what_makes_the_index(tmp_path: Path) -> None:
    release = build_draft(SEED, tmp_path / "out")
    service = SearchService(release)
    service.start()
    for _ in range(200):
        if service._process is not None:
            break
        time.sleep(0.01)
    process = service._process
    assert process is not None
    service.stop()
    assert process.poll() is not None
    assert not list(release.folder.glob("*.part"))
    assert service.trouble is None
    service.start()  # after the end nothing begins
    assert service.ready is None


def test_without_full_text_search_it_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evkg.search_service.has_full_text", lambda: False)
    release = build_draft(write_records(tmp_path / "r.jsonl", record("m", "model")), tmp_path / "out")
    for client in served(release, PUBLIC):
        for _ in range(100):
            response = client("/search")
            if "retry-after" not in response.headers:
                break
            time.sleep(0.02)
        assert response.status_code == 503
        assert response.json()["detail"] == (
            "This server cannot search: the SQLite of its Python has no full-text search (FTS5)."
        )
        assert client("/health").status_code == 200


def test_an_index_that_cannot_be_written_is_an_error_that_leaves_nothing(tmp_path: Path, release: Release) -> None:
    with pytest.raises(ReleaseError, match="cannot be written"):
        build_index(release, tmp_path / "none" / INDEX)
    assert list(tmp_path.iterdir()) == []


def test_two_builds_of_one_release_give_the_same_answers(tmp_path: Path, release: Release) -> None:
    found = []
    for name in ("a", "b"):
        build_index(release, tmp_path / name)
        search = Search(SearchIndex(tmp_path / name))
        found.append([search.find(Selection(text)).numbers for text in ("memory", "the", "nucleotide", "")])
    assert found[0] == found[1]


@given(st.sets(st.integers(min_value=1, max_value=500)))
def test_sets_are_what_they_hold(numbers: set[int]) -> None:
    assert members(as_set(sorted(numbers))) == sorted(numbers)


def test_a_selection_is_read_and_written_alike() -> None:
    selection = read_selection([("q", "a b"), ("kind", "result"), ("kind", "claim"), ("sort", "name"), ("page", "3")])
    assert selection.url("/search", page=3) == "/search?q=a+b&sort=name&page=3&kind=claim&kind=result"
    again = read_selection(parse_qsl(urlsplit(selection.url("/search", page=3)).query))
    assert again == selection
    with pytest.raises(UsageError):
        read_selection([("sort", "x")])


# Results by filters


def test_results_can_be_narrowed_by_everything_that_was_tested(client: Client, release: Release) -> None:
    document = searched(client, "/results")
    assert document["total"] == 14
    assert set(document["facets"]) == {"system", "protocol", "dataset", "setup", "metric", "origin"}
    for facet, values in document["facets"].items():
        assert sum(value["results"] for value in values) == 14, facet
        for value in values:
            narrowed = searched(client, "/results", **{facet: value["value"]})
            assert narrowed["total"] == value["results"]
            for row in narrowed["results"]:
                things = {
                    "system": [thing["id"] for thing in row["systems"]],
                    "protocol": [thing["id"] for thing in row["protocols"]],
                    "dataset": [thing["id"] for thing in row["datasets"]],
                    "setup": [row["evaluation"]["id"]],
                    "metric": [release.record(row["id"])["attributes"]["metric"]],  # type: ignore[index,call-overload]
                    "origin": [value["value"]] if row["origin"] == value["label"] else [],
                }
                assert value["value"] in things[facet]


def test_results_are_a_table_a_document_and_a_page(client: Client) -> None:
    wanted = searched(client, "/results", metric="peak-memory")
    rows = list(csv.DictReader(io.StringIO(client("/results.csv?metric=peak-memory").text)))
    assert [row["result"] for row in rows] == [row["id"] for row in wanted["results"]]
    assert {row["printed_value"] for row in rows} == {"5.6", "6.7", "33.88", "11.49", "1.18", "2.49"}
    assert {row["uncertainty"] for row in rows} == {"[unreported]"}
    assert wanted["results"][0]["uncertainty"]["missing"] == "unreported"
    html = client("/results?metric=peak-memory", "text/html").text
    assert "6 evaluations · 6 results" in html
    assert "Different protocols are not a single leaderboard" in html
    assert all(f'class="value">{row["printed_value"]}</a>' in html for row in rows)
    none = client("/results?metric=peak-memory&origin=none", "text/html").text
    assert "No result fits all of these filters" in none


def test_a_result_without_an_evaluation_is_there_too(hard_client: Client) -> None:
    document = searched(hard_client, "/results", system="none")
    assert document["total"] == 7
    assert document["results"][0]["evaluation"] is None
    html = hard_client("/results?system=none", "text/html").text
    assert html.count('<th scope="row">') == 7
    assert "not recorded" in html


def test_from_results_one_gets_to_what_may_be_compared(client: Client) -> None:
    dataset = "saadat-fellay-20261015-data-synthetic-dna"
    html = client(f"/results?dataset={dataset}&metric=peak-memory", "text/html").text
    assert f'<a href="/compare?dataset={dataset}&amp;metric=peak-memory">' in html
    assert client(f"/compare?dataset={dataset}&metric=peak-memory", "text/html").status_code == 200


def test_parameters_are_described_for_programs(client: Client) -> None:
    paths = client("/openapi.json").json()["paths"]
    names = [parameter["name"] for parameter in paths["/results.csv"]["get"]["parameters"]]
    assert names == ["q", "system", "protocol", "dataset", "setup", "metric", "origin", "sort", "page"]
    assert {"kind", "doubt", "source"} <= {parameter["name"] for parameter in paths["/search"]["get"]["parameters"]}
