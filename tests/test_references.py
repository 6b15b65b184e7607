"""References: every id that one record uses to point to another is found, and must lead somewhere."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from evkg.finding import Finding
from evkg.record import Record
from evkg.references import ReferenceChecker, references_of
from evkg.vocabulary import Vocabulary
from tests.builds import BATCH_256, DOUBTED_SOURCE, record
from tests.strategies import VOCABULARY, as_record, records


def check(vocabulary: Vocabulary, *data: dict[str, Any], is_open: bool = False) -> list[Finding]:
    items = [as_record(one) for one in data]
    checker = ReferenceChecker({item.id for item in items}, vocabulary, is_open=is_open)
    return [finding for item in items for finding in checker.check(item)]


def test_every_reference_of_the_seed_records_leads_to_a_record(
    vocabulary: Vocabulary, seed_records: list[Record]
) -> None:
    ids = {seed.id for seed in seed_records}
    checker = ReferenceChecker(ids, vocabulary)
    assert [finding for item in seed_records for finding in checker.check(item)] == []
    assert sum(1 for seed in seed_records for _ in references_of(seed, vocabulary)) == 98


def test_references_of_a_result_are_its_source_and_its_evaluation(
    vocabulary: Vocabulary, seed_records: list[Record]
) -> None:
    result = next(seed for seed in seed_records if seed.id == BATCH_256)
    assert [(path, target) for path, target in references_of(result, vocabulary)] == [
        (("source_ids", 0), DOUBTED_SOURCE),
        (("links", 0, "target_id"), "model-execution-20261011-eval-aspidova2026-gena-base-throughput"),
    ]


def test_references_are_found_in_nested_objects_and_lists(vocabulary: Vocabulary) -> None:
    attributes = {
        "derivation": {"aggregation_source_id": "s1", "inputs": [{"source_id": "s2"}, {"source_id": "s3"}]},
        "review": {"source_id": "s4"},
    }
    data = as_record(record("r", "result", attributes=attributes))
    assert {(".".join(map(str, path)), target) for path, target in references_of(data, vocabulary)} == {
        ("attributes.derivation.aggregation_source_id", "s1"),
        ("attributes.derivation.inputs.0.source_id", "s2"),
        ("attributes.derivation.inputs.1.source_id", "s3"),
        ("attributes.review.source_id", "s4"),
    }


def test_the_source_of_a_concern_is_a_reference(vocabulary: Vocabulary) -> None:
    data = record("s", "source", attributes={"evidence_concerns": [{"source_id": "other", "message": "x"}]})
    (item,) = check(vocabulary, data)
    assert item.field == "attributes.evidence_concerns.0.source_id"


def test_a_reference_to_nothing_is_a_violation_with_the_nearest_ids(vocabulary: Vocabulary) -> None:
    links = [{"relation": "alias_of", "target_id": "gena-lmm"}]
    (item,) = check(vocabulary, record("gena-lm", "model"), record("r", "model", links=links))
    assert (item.severity, item.rule, item.record, item.field, item.value) == (
        "violation",
        "unknown-id",
        "r",
        "links.0.target_id",
        "gena-lmm",
    )
    assert item.fix == "Nearest ids: gena-lm."


def test_a_reference_to_nothing_alike_says_to_add_the_record(vocabulary: Vocabulary) -> None:
    (item,) = check(vocabulary, record("r", "model", source_ids=["zzzzzz"]))
    assert item.fix == "Add the record, or correct the id."


def test_an_open_data_set_may_point_outside(vocabulary: Vocabulary) -> None:
    (item,) = check(vocabulary, record("r", "model", source_ids=["elsewhere"]), is_open=True)
    assert item.severity == "info"


def test_a_record_may_point_to_itself(vocabulary: Vocabulary) -> None:
    assert check(vocabulary, record("r", "source", source_ids=["r"])) == []


def test_thousands_of_unknown_ids_are_found_in_good_time(vocabulary: Vocabulary) -> None:
    many = [record(f"record-{n}", "model", source_ids=[f"recrod-{n}"]) for n in range(2000)]
    assert len(check(vocabulary, *many)) == 2000


@given(records())
def test_any_record_has_its_references_read(data: dict[str, Any]) -> None:
    item = as_record(data)
    paths = [path for path, _ in references_of(item, VOCABULARY)]
    assert len(paths) == len(set(paths))
    assert len(paths) >= len(data["source_ids"]) + len(data["links"])
