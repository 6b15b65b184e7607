"""Facts and conflicts of several records: a set for each rule, any order, and nothing of what is withheld."""

from __future__ import annotations

import json
import pickle
import random
import re
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evkg.crossrecord import Fact, conflicts, facts
from evkg.dataset import Dataset
from evkg.finding import Finding
from evkg.jsontext import Json, encode_json
from evkg.keys import check_keys
from evkg.reader import read_records
from evkg.record import Origin, Record, make_record
from evkg.vocabulary import Vocabulary, load_vocabulary
from tests.builds import AT, ROOT, SEED, record, write_records
from tests.strategies import as_record
from tests.strategies import records as any_records

SETS = sorted(folder for folder in (ROOT / "tests" / "records" / "invalid-sets").iterdir() if folder.is_dir())
#: Rules of sets that stop a release, and those that are for information.
SEVERITIES = {"link-circle": "violation", "link-without-claim": "info", "comparison-of-other-version": "info"}


def read(folder: Path, vocabulary: Vocabulary) -> list[Record]:
    return [item for item in read_records(folder, vocabulary) if isinstance(item, Record)]


def found(vocabulary: Vocabulary, records: Iterable[Record], released: datetime | None = AT) -> list[Finding]:
    return conflicts((fact for item in records for fact in facts(item, vocabulary)), released=released)


def made(vocabulary: Vocabulary, *records: dict[str, Any]) -> list[Record]:
    """Records as a file of lines gives them."""
    items = []
    for number, data in enumerate(records, 1):
        line = encode_json(data)
        item, _ = make_record(json.loads(line), Origin("a.jsonl", number, text=line), vocabulary, raw=line)
        assert item is not None
        items.append(item)
    return items


def rules(vocabulary: Vocabulary, *records: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    return [(item.severity, item.rule, item.record) for item in found(vocabulary, made(vocabulary, *records))]


def result(record_id: str, evaluation: str = "e", **changes: Any) -> dict[str, Any]:
    attributes = {"metric": "accuracy", "printed_value": "0.91", "source_locator": "Table 1", **changes}
    links = [{"relation": "evaluation", "target_id": evaluation}]
    sources = attributes.pop("source_ids", ["p"])
    return record(record_id, "result", links=links, source_ids=sources, attributes=attributes)


def source(record_id: str, **attributes: Any) -> dict[str, Any]:
    return record(record_id, "source", attributes=attributes)


# ---- a bad set for every rule ----


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)
def test_a_bad_set_is_found_at_its_line_and_nothing_else_is(folder: Path, vocabulary: Vocabulary) -> None:
    places = {
        (file.name, number)
        for file in folder.glob("*.yaml")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if line.endswith("  # <- here")
    }
    (item,) = found(vocabulary, read(folder, vocabulary))
    assert {(Path(item.file or "").name, item.line)} == places
    assert item.rule == folder.name
    assert item.severity == SEVERITIES.get(folder.name, "warning")
    for text in (item.message, item.fix or ""):
        assert text.endswith(".")
        assert not re.search(r"sh:|<http|\b(?:node|IRI|triple|SHACL|RDF)s?\b", text)


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)
def test_every_file_of_a_bad_set_says_what_is_in_it(folder: Path) -> None:
    for file in folder.glob("*.yaml"):
        assert re.match(r"# \S.*\.\n(# (why|right):.*\n)*\n", file.read_text(encoding="utf-8")), file


def test_there_is_a_bad_set_for_every_rule() -> None:
    text = (ROOT / "src/evkg/crossrecord.py").read_text(encoding="utf-8")
    named = set(re.findall(r'"([a-z]+(?:-[a-z]+)+)", message', text))
    assert named == {folder.name for folder in SETS}


def test_the_seeds_have_two_links_without_a_claim_and_nothing_else(vocabulary: Vocabulary) -> None:
    items = found(vocabulary, read(SEED, vocabulary))
    assert {(item.severity, item.rule) for item in items} == {("info", "link-without-claim")}
    assert [item.value for item in items] == ["gena-lm", "nucleotide-transformer"]


def test_real_records_break_no_rule_but_one_doi_for_paper_and_table(
    vocabulary: Vocabulary, peer_records: list[Record]
) -> None:
    items = [item for item in found(vocabulary, peer_records) if item.rule != "link-without-claim"]
    assert [(item.severity, item.rule) for item in items] == [("info", "repeated-doi")]


# ---- order, files, processes ----


def test_order_and_processes_make_no_difference(vocabulary: Vocabulary) -> None:
    records = [item for folder in SETS for item in read(folder, vocabulary)]
    renamed = [
        replace(item, id=f"{number // 4}-{item.id}") if item.kind == "source" else item
        for number, item in enumerate(records)
    ]
    some = [fact for item in renamed for fact in facts(item, vocabulary)]
    expected = conflicts(some)
    assert expected
    shuffled = random.Random(1)
    for _ in range(5):
        shuffled.shuffle(some)
        assert conflicts(pickle.loads(pickle.dumps(some))) == expected  # noqa: S301 - our own


def test_it_makes_no_difference_which_file_a_record_stands_in(vocabulary: Vocabulary, tmp_path: Path) -> None:
    records = [result("b"), result("a"), result("c", printed_value="0.92")]
    one = write_records(tmp_path / "one" / "all.jsonl", *records).parent
    for number, data in enumerate(records):
        write_records(tmp_path / "many" / f"{9 - number}.jsonl", data)
    first, second = (found(vocabulary, read(folder, vocabulary)) for folder in (one, tmp_path / "many"))
    assert len(first) == 2
    bare = [[item._replace(file=None, line=None) for item in items] for items in (first, second)]
    assert bare[0] == bare[1]


@pytest.mark.parametrize("space", ["", " "])
def test_a_fact_has_the_place_of_its_field_also_where_it_is_looked_up_quickly(
    vocabulary: Vocabulary, space: str
) -> None:
    data = result(
        "r", review={"method": ["transcription"], "reviewed_at": "2026-01-01T00:00:00Z"}, scope_note='"source_ids": x'
    )
    line = json.dumps(data, separators=(",", f":{space}"))
    item, _ = make_record(data, Origin("a.jsonl", 7, text=f"  {line}", start=2, start_column=3), vocabulary, raw=line)
    assert item is not None
    for fact in facts(item, vocabulary):
        steps = (fact.field or "").split(".")
        assert (fact.line, fact.column) == item.place(tuple(steps))
        assert f"  {line}"[fact.column - 1 :].startswith(f'"{steps[-1]}"')


def test_a_catalogue_of_30_000_records_is_checked_in_a_second(vocabulary: Vocabulary) -> None:
    records = made(
        vocabulary,
        *(record(f"e{number}", "evaluation", source_ids=["p"]) for number in range(300)),
        *(result(f"r{number}", f"e{number % 300}", source_locator=f"Row {number}") for number in range(700)),
    )
    started = time.process_time()
    some = [fact for item in records for fact in facts(item, vocabulary)]
    mapped = time.process_time() - started
    many = [fact._replace(record=f"{fact.record}-{n}", key=f"{fact.key}-{n}") for n in range(30) for fact in some]
    started = time.process_time()
    assert len(many) > 30_000
    conflicts(many)
    reduced = time.process_time() - started
    assert 30 * mapped + reduced < 3  # a third of it on a machine that does nothing else
    assert len(pickle.dumps(many)) < 30_000_000


# ---- withheld records ----


def test_nothing_of_a_withheld_record_is_told(vocabulary: Vocabulary) -> None:
    secret = "10.5555/secret-work"
    hidden = {
        **source(
            "a-hidden", doi=secret, artifact_sha256="ab" * 32, retrieved_at="2026-10-15", url="https://x.org/secret"
        ),
        "status": " Excluded",
    }
    twin = result("a-result", source_locator="Secret table", printed_value="0.9191")
    review = {"method": ["transcription"], "date": "2026-01-01"}
    records = made(
        vocabulary,
        hidden,
        source("b", doi="10.5555/other"),
        {**twin, "status": "excluded"},
        result("b-result", source_locator="Secret table", source_ids=["a-hidden"], review=review),
    )
    some = [fact for item in records for fact in facts(item, vocabulary)]
    assert [fact for fact in some if fact.record in ("a-hidden", "a-result")] == []
    assert conflicts(some) == []


def test_links_of_a_withheld_record_are_public(vocabulary: Vocabulary) -> None:
    links = [{"relation": "supersedes", "target_id": "b"}]
    hidden = record("a", "model", links=links, status="excluded", attributes={"licence": "secret"})
    other = record("b", "model", links=[{"relation": "supersedes", "target_id": "a"}])
    (item,) = found(vocabulary, made(vocabulary, hidden, other))
    assert (item.rule, item.record, item.value) == ("link-circle", "a", "b")
    assert "a → b → a" in item.message


def test_what_a_data_set_withholds_gives_no_facts_either(vocabulary: Vocabulary, tmp_path: Path) -> None:
    claim = record(
        "c",
        "claim",
        status="source_checked",
        source_ids=["p"],
        links=[{"relation": "subject", "target_id": "m"}],
        attributes={"field": "links:family:f", "source_locator": "Secret"},
    )
    gone = record("m", "model", status="excluded", links=[{"relation": "family", "target_id": "f"}])
    file = write_records(tmp_path / "a.jsonl", claim, record("f", "model"), gone)
    some = [fact for item in Dataset(file, vocabulary).read() for fact in facts(item, vocabulary)]
    assert [(fact.about, fact.record) for fact in some] == [("link", "m")]
    assert conflicts(some) == []


# ---- single rules ----


def test_one_doi_in_any_spelling(vocabulary: Vocabulary) -> None:
    spelt = ["10.5555/ABC", "https://doi.org/10.5555%2Fabc", "doi:10.5555/abc."]
    assert rules(vocabulary, *(source(f"s{n}", doi=doi, url="https://x.org") for n, doi in enumerate(spelt))) == [
        ("warning", "repeated-doi", "s1"),
        ("warning", "repeated-doi", "s2"),
    ]


def test_files_of_one_work_are_information(vocabulary: Vocabulary) -> None:
    doi = {"doi": "10.5555/abc"}
    paper, table = source("a", **doi, artifact_sha256="aa" * 32), source("b", **doi, artifact_sha256="bb" * 32)
    assert rules(vocabulary, paper, table) == [("info", "repeated-doi", "b")]
    older = {**source("c", **doi, artifact_sha256="cc" * 32), "status": "superseded"}
    assert rules(vocabulary, paper, older) == []


def test_parts_of_one_archive_may_share_its_hash(vocabulary: Vocabulary) -> None:
    sha256 = {"artifact_sha256": "aa" * 32}
    one, two = source("a", **sha256, artifact_member="t1.csv"), source("b", **sha256, artifact_member="t2.csv")
    assert rules(vocabulary, one, two) == []
    assert rules(vocabulary, one, source("c", **sha256, artifact_member="t1.csv")) == [
        ("warning", "repeated-hash", "c")
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, "warning"),
        ({"printed_value": "0.92"}, "warning"),
        ({"source_locator": "Table  1"}, "warning"),
        ({"aggregation": "median"}, "info"),
        ({"metric_qualifier": "top 5"}, None),
        ({"source_locator": "Table 2"}, None),
        ({"metric": "auroc"}, None),
        ({"evaluation": "other"}, None),
    ],
)
def test_results_that_nothing_tells_apart(vocabulary: Vocabulary, change: dict[str, Any], expected: str | None) -> None:
    outcome = rules(vocabulary, result("a"), result("b", **change))
    assert outcome == ([(expected, "repeated-result", "b")] if expected else [])


def test_the_message_says_whether_the_values_are_the_same(vocabulary: Vocabulary) -> None:
    items = found(vocabulary, made(vocabulary, result("a"), result("b"), result("c", printed_value="0.5")))
    assert [item.message for item in items] == [
        "This result shares evaluation, metric, qualifier and place in the source with a, and also the value '0.91'.",
        "This result shares evaluation, metric, qualifier and place in the source with a, b, but not the value.",
    ]


def test_a_result_may_cite_what_its_evaluation_cites_anywhere(vocabulary: Vocabulary) -> None:
    links = [{"relation": "source", "target_id": "linked"}]
    attributes = {"primary_protocol_source_id": "named", "review": {"method": ["transcription"], "source_id": "read"}}
    evaluation = record("e", "evaluation", source_ids=["p"], links=links, attributes=attributes)
    for cited in ("p", "linked", "named", "read"):
        assert rules(vocabulary, evaluation, result("r", source_ids=[cited])) == []
    rule = "source-of-other-evaluation"
    assert rules(vocabulary, evaluation, result("r", source_ids=["p", "q"])) == [("warning", rule, "r")]
    table = [source("p", doi="10.5555/a", url="https://x.org/p"), source("q", doi="10.5555/A", url="https://x.org/q")]
    assert [name for _, name, _ in rules(vocabulary, evaluation, *table, result("r", source_ids=["q"]))] == [
        "repeated-doi"
    ]
    derivation = {"method": "computed-from-source-data", "inputs": [{"source_id": "q"}]}
    assert rules(vocabulary, evaluation, result("r", source_ids=["p", "q"], derivation=derivation)) == []
    assert rules(vocabulary, record("e", "evaluation"), result("r", source_ids=["q"])) == []
    assert rules(vocabulary, result("r", source_ids=["q"])) == []


def test_a_review_of_the_very_file_may_be_older_than_its_last_retrieval(vocabulary: Vocabulary) -> None:
    paper = source("p", retrieved_at="2026-10-15", artifact_sha256="aa" * 32)
    review = {"method": ["transcription"], "date": "2026-10-01"}
    rule = "review-before-retrieval"
    assert rules(vocabulary, paper, result("r", review=review)) == [("warning", rule, "r")]
    assert rules(vocabulary, paper, result("r", review={**review, "artifact_sha256": "aa" * 32})) == []
    assert rules(vocabulary, paper, result("r", review={**review, "date": "2026-10-15"})) == []
    assert rules(vocabulary, paper, result("r", review={**review, "source_id": "other"})) == []
    assert rules(vocabulary, result("r", review=review)) == []


@pytest.mark.parametrize("relation", ["family", "part_of", "parent", "supersedes"])
def test_a_circle_is_named_whole(vocabulary: Vocabulary, relation: str) -> None:
    names = ["d", "a", "c", "b"]
    kind = "model" if relation in ("family", "supersedes") else "benchmark"
    ring = [
        record(name, kind, links=[{"relation": relation, "target_id": target}])
        for name, target in zip(names, [*names[1:], names[0]], strict=True)
    ]
    items = [item for item in found(vocabulary, made(vocabulary, *ring)) if item.rule == "link-circle"]
    assert [(item.severity, item.record, item.field) for item in items] == [("violation", "a", "links.0.target_id")]
    assert "a → c → b → d → a" in items[0].message


def test_links_of_different_relations_make_no_circle(vocabulary: Vocabulary) -> None:
    one = record("a", "model", links=[{"relation": "family", "target_id": "b"}])
    other = record("b", "model", links=[{"relation": "supersedes", "target_id": "a"}])
    assert [name for _, name, _ in rules(vocabulary, one, other)] == ["link-without-claim"]


@pytest.mark.parametrize(
    ("change", "lack"),
    [
        ({}, None),
        ({"status": "reproduced"}, None),
        ({"status": "needs_review"}, "its status is needs_review"),
        ({"source_ids": []}, "it names no source"),
        ({"attributes": {"field": "links:configuration_of:m", "source_locator": " "}}, "it has no source_locator"),
        ({"attributes": {"field": "links:variant_of:m", "source_locator": "S2"}}, None),
        ({"attributes": {"field": "links:family:m", "source_locator": "S2"}}, "No claim states"),
        ({"attributes": {"field": "links:configuration_of:x", "source_locator": "S2"}}, "No claim states"),
        ({"links": [{"relation": "subject", "target_id": "other"}]}, "No claim states"),
    ],
)
def test_a_link_counts_with_a_claim_that_is_whole(
    vocabulary: Vocabulary, change: dict[str, Any], lack: str | None
) -> None:
    claim = record(
        "claim",
        "claim",
        status="source_checked",
        source_ids=["p"],
        links=[{"relation": "subject", "target_id": "c"}],
        attributes={"field": "links:configuration_of:m", "source_locator": "S2"},
    )
    configuration = record("c", "configuration", links=[{"relation": "configuration_of", "target_id": "m"}])
    items = found(vocabulary, made(vocabulary, configuration, {**claim, **change}))
    assert [lack in item.message for item in items if lack] == ([True] if lack else [])
    assert bool(items) is (lack is not None)


def test_many_records_of_one_fault_are_counted_not_listed(vocabulary: Vocabulary) -> None:
    started = time.process_time()
    items = found(vocabulary, made(vocabulary, *(result(f"r{number:04}") for number in range(2000))))
    assert len(items) == 1999
    assert "with r0000, r0001, r0002, r0003, r0004 and 1994 more, and also" in items[-1].message
    assert time.process_time() - started < 5


def test_no_message_grows_with_the_number_of_records(vocabulary: Vocabulary) -> None:
    names = [f"model-{number:04}-{'x' * 200}" for number in range(500)]
    models = [
        record(name, "model", links=[{"relation": "family", "target_id": names[number - 1]}])
        for number, name in enumerate(names)
    ]
    evaluation = record("e", "evaluation", source_ids=["a"])
    items = found(vocabulary, made(vocabulary, *models, evaluation, result("r", source_ids=names)))
    longest = {item.rule: item for item in items if item.rule != "link-without-claim"}
    assert sorted(longest) == ["link-circle", "source-of-other-evaluation"]
    assert "(494 more)" in longest["link-circle"].message
    assert "and 495 more, which its evaluation e does not" in longest["source-of-other-evaluation"].message
    assert all(len(item.message) < 1_200 for item in items)


def test_facts_are_small_and_plain() -> None:
    fact = Fact("doi", "r", "10.1/x", ("a",), "a.yaml", 3, 1, "attributes.doi", "10.1/X")
    assert pickle.loads(pickle.dumps(fact)) == fact  # noqa: S301 - our own
    assert fact.finding("info", "repeated-doi", "It is.", "Fix it.").place == "a.yaml:3:1"


def test_dates_after_a_release_are_found_once_its_time_is_known(vocabulary: Vocabulary) -> None:
    items = made(
        vocabulary,
        source("p", retrieved_at="2026-11-02", review={"method": ["transcription"], "date": "2026-11-03"}),
        result("r", source_ids=[], review={"method": ["transcription"], "reviewed_at": "2026-11-01T00:00:01Z"}),
        result("s", source_ids=[], source_locator="Row 2", review={"method": ["transcription"], "date": "2026-11-01"}),
    )
    outcome = [(item.rule, item.record, item.field) for item in found(vocabulary, items)]
    assert outcome == [
        ("dated-after-release", "p", "attributes.retrieved_at"),
        ("dated-after-release", "p", "attributes.review.date"),
        ("dated-after-release", "r", "attributes.review.reviewed_at"),
    ]
    assert found(vocabulary, items, released=None) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(any_records(), max_size=6))
def test_any_record_gives_facts_and_findings(some: list[dict[str, Json]]) -> None:
    vocabulary = load_vocabulary()
    items = [as_record(item) for item in some]
    for item in items:
        check_keys(item, vocabulary)
    conflicts([fact for item in items for fact in facts(item, vocabulary)], released=AT)


ODD: tuple[Any, ...] = (None, True, 7, "", [], {}, [[]], [{"a": None}], {"b": []}, "2026-10-15", ["x"], {"inputs": [1]})


@pytest.mark.parametrize("kind", ["result", "source", "evaluation", "claim", "protocol"])
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_a_value_of_any_kind_in_any_field_breaks_nothing(vocabulary: Vocabulary, kind: str, odd: Any) -> None:
    whole = {"metric": "accuracy", "printed_value": "0.9", "numeric_value": "0.9", "metric_direction": "lower"}
    for key in (*vocabulary.attributes[kind], "review", "extraction", "evidence_concerns"):
        links = [{"relation": "evaluation", "target_id": "e"}]
        item = as_record(record("r", kind, links=links, attributes={**whole, key: odd}))
        check_keys(item, vocabulary)
        found(vocabulary, [item])


# ---- what a claim or a linked record says otherwise ----


@pytest.mark.parametrize(
    ("changes", "is_found"),
    [
        ({}, True),
        ({"attributes": {"field": "attributes.printed_value", "value": "0.9", "source_locator": "Table 1"}}, True),
        ({"status": "needs_review"}, False),
        ({"status": "excluded"}, False),
        ({"source_ids": []}, False),
        ({"attributes": {"field": "printed_value", "value": "0.9"}}, False),
        ({"attributes": {"field": "printed_value", "value": "0.91", "source_locator": "Table 1"}}, False),
        ({"attributes": {"field": "numeric_value", "value": "0.9", "source_locator": "Table 1"}}, False),
        ({"links": [{"relation": "subject", "target_id": "other"}]}, False),
    ],
)
def test_a_claim_contradicts_a_value_only_where_it_counts(
    vocabulary: Vocabulary, changes: dict[str, Any], is_found: bool
) -> None:
    """The table of evidence calls the same statement a conflicting one."""
    claim = record(
        "c",
        "claim",
        status="source_checked",
        source_ids=["p"],
        links=[{"relation": "subject", "target_id": "r"}],
        attributes={"field": "printed_value", "value": "0.90", "source_locator": "Table 1"},
    )
    expected = [("warning", "claim-contradicts-value", "r")] if is_found else []
    assert rules(vocabulary, result("r"), {**claim, **changes}) == expected


@pytest.mark.parametrize(
    ("key", "said", "expected"),
    [
        ("protocol_id", "q", "comparison-of-other-protocol"),
        ("protocol_id", "p", None),
        ("protocol_id", "ImageNet protocol 1", None),
        ("dataset_version", "release 2", "comparison-of-other-version"),
        ("dataset_version", "Release  3", None),
        ("dataset_version", "release 3 of 2024", None),
        ("dataset_version", "not reported", None),
        ("dataset_version", "the version that the source gives; see there", None),
        ("dataset_version", "10,356 labelled pairs of the second deposit of the authors", None),
    ],
)
def test_a_comparison_is_held_against_the_records_that_the_evaluation_links_to(
    vocabulary: Vocabulary, key: str, said: str, expected: str | None
) -> None:
    links = [{"relation": "assessment", "target_id": "p"}, {"relation": "data", "target_id": "d"}]
    evaluation = record("e", "evaluation", links=links, attributes={"comparison": {key: said}})
    data = record("d", "dataset", attributes={"version": "release 3"})
    found_rules = [
        rule for _, rule, _ in rules(vocabulary, evaluation, data, record("p", "protocol"), record("q", "protocol"))
    ]
    assert found_rules == ([expected] if expected else [])
