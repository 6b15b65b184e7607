"""References: every id that one record uses to point to another is found, and must lead somewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from evkg.check import check_dataset
from evkg.finding import Finding
from evkg.record import Record
from evkg.references import ReferenceChecker, name_nearest, references_of
from evkg.vocabulary import Vocabulary
from tests.builds import BATCH_256, DOUBTED_SOURCE, record, write_records
from tests.strategies import VOCABULARY, as_record, records


def check(vocabulary: Vocabulary, *data: dict[str, Any], is_open: bool = False) -> list[Finding]:
    items = [as_record(one) for one in data]
    checker = ReferenceChecker({item.id for item in items}, vocabulary, is_open=is_open)
    found = [finding for item in items for finding in checker.check(item)]
    return name_nearest(found, {item.id: item.kind for item in items}, vocabulary, is_open=is_open)


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
    assert [(item.rule, item.field) for item in check(vocabulary, data)] == [
        ("unknown-id", "attributes.evidence_concerns.0.source_id"),
        ("concern-of-other-source", "attributes.evidence_concerns.0.source_id"),
    ]


def test_a_concern_stands_on_the_source_that_it_names(vocabulary: Vocabulary) -> None:
    concerns = [{"source_id": source, "message": "x"} for source in ("s", "other")]
    data = record("s", "source", attributes={"evidence_concerns": concerns})
    (item,) = check(vocabulary, data, record("other", "source"))
    assert (item.severity, item.rule) == ("warning", "concern-of-other-source")
    assert item.field == "attributes.evidence_concerns.1.source_id"


def test_a_concern_is_about_records_or_metrics_that_exist(vocabulary: Vocabulary) -> None:
    concern = {"message": "x", "targets": ["gena-lm", "peak-memory", "peek-memory", "gena-lmm", "zzz"]}
    data = record("s", "source", attributes={"evidence_concerns": [concern]})
    items = check(vocabulary, data, record("gena-lm", "model"))
    assert [(item.severity, item.rule, item.field) for item in items] == [
        ("warning", "unknown-target", f"attributes.evidence_concerns.0.targets.{place}") for place in (2, 3, 4)
    ]
    assert [item.fix for item in items] == [
        "Nearest ids and keys: peak-memory.",
        "Nearest ids and keys: gena-lm.",
        "Write the id of a record or the key of a metric.",
    ]


def withdrawn(vocabulary: Vocabulary, data: dict[str, Any], status: str) -> list[tuple[str, str, str | None]]:
    ids = {"old": "source", data["id"]: data["kind"]}
    checker = ReferenceChecker(ids, vocabulary, statuses={data["id"]: "source_checked", "old": status})
    return [(item.severity, item.rule, item.field) for item in checker.check(as_record(data))]


@pytest.mark.parametrize("status", ["excluded", "superseded"])
def test_a_record_that_cites_a_withdrawn_one_is_a_warning(vocabulary: Vocabulary, status: str) -> None:
    links = [{"relation": "source", "target_id": "old"}]
    data = record("r", "model", source_ids=["old"], links=links)
    assert withdrawn(vocabulary, data, status) == [
        ("warning", "cites-withdrawn", "source_ids.0"),
        ("warning", "cites-withdrawn", "links.0.target_id"),
    ]


def test_a_record_may_name_what_it_supersedes_and_a_withdrawn_one_may_cite_anything(vocabulary: Vocabulary) -> None:
    data = record("r", "model", links=[{"relation": "supersedes", "target_id": "old"}])
    assert withdrawn(vocabulary, data, "superseded") == []
    assert withdrawn(vocabulary, record("old", "source", source_ids=["old"]), "excluded") == []


def test_the_target_of_a_claim_about_a_link_is_a_reference(vocabulary: Vocabulary) -> None:
    known, unknown = (
        record(f"c{number}", "claim", attributes={"field": f"links:family:{target}"})
        for number, target in enumerate(("gena-lm", "gena-lmm"))
    )
    (item,) = check(vocabulary, record("gena-lm", "model"), known, unknown)
    assert (item.severity, item.rule, item.record, item.field) == ("violation", "unknown-id", "c1", "attributes.field")
    assert item.fix == "Nearest ids: gena-lm."
    (item,) = check(vocabulary, unknown, is_open=True)
    assert item.severity == "info"


@pytest.mark.parametrize(
    ("field", "fix"),
    [
        *((field, None) for field in ("numeric_value", "coverage.scored", "review.method", "scoring_conditions.k")),
        *((field, None) for field in ("name", "links", "attributes.unit", "reported_finding", "tables_not_extracted")),
        ("numeric_valu", "Did you mean numeric_value?"),
        ("coverage.zzz", "Did you mean coverage?"),
        ("zzz", "Nothing has to be changed if the subjects have no such field."),
    ],
)
def test_a_claim_about_a_field_that_its_subjects_do_not_have_is_information(
    vocabulary: Vocabulary, field: str, fix: str | None
) -> None:
    links = [{"relation": "subject", "target_id": "r"}]
    checker = ReferenceChecker({"r": "result", "c": "claim"}, vocabulary)
    items = list(checker.check(as_record(record("c", "claim", links=links, attributes={"field": field}))))
    assert [(item.severity, item.rule, item.fix) for item in items] == (
        [("info", "unknown-claim-field", fix)] if fix else []
    )


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


def test_a_link_to_a_record_of_a_wrong_kind_names_the_nearest_of_the_right_kind(tmp_path: Path) -> None:
    link = {"relation": "evaluation", "target_id": "eval-gena-base"}
    records = [
        record("r", "result", links=[link]),
        record("eval-gena-base", "dataset"),
        record("eval-gena-base-2", "evaluation"),
        record("eval-gena-base-3", "model"),
    ]
    findings = check_dataset(write_records(tmp_path / "r.jsonl", *records)).findings
    (item,) = [finding for finding in findings if finding.rule == "result-evaluation-kind"]
    assert item.fix is not None
    assert item.fix.endswith("Nearest ids: eval-gena-base-2.")
