"""The curated YAML gives exactly the seed records, and honest entries for what no page shows."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from evkg.reader import read_records
from evkg.record import Record
from evkg.vocabulary import Vocabulary
from tests.conftest import ROOT, SEED, SHARED

COMPARISON = (
    "protocol_id dataset_version split population inputs adaptation metric_implementation aggregation budget".split()
)
#: Fields that a record of a kind must have (issue 2, item 6).
REQUIRED = {
    "result": "metric metric_direction unit printed_value numeric_value source_locator review".split(),
    "evaluation": ["origin", "comparison", *(f"comparison.{field}" for field in COMPARISON)],
    "configuration": ["reported_name", "source_locator"],
    "source": ["url", "retrieved_at", "version"],
    "dataset": ["version"],
}


def _objects(path: Path) -> dict[str, Any]:
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {record["id"]: record for record in records}


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return _objects(ROOT / "tests/expected/seed-records.jsonl")


def _shared(name: str) -> Path:
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"{name} lies beside the repository and is not here")
    return path


def test_the_seed_data_are_read_without_a_finding(vocabulary: Vocabulary) -> None:
    assert [item for item in read_records(SEED, vocabulary) if not isinstance(item, Record)] == []


def test_there_is_one_record_for_each_expected_object(seed_records: list[Record], expected: dict[str, Any]) -> None:
    assert len(seed_records) == len(expected) == 49
    assert {record.id for record in seed_records} == set(expected)


def test_no_seed_record_has_an_older_shape(seed_records: list[Record]) -> None:
    for record in seed_records:
        assert (record.data, record.notes) == (record.original, ())


def test_the_yaml_says_what_is_expected_and_nothing_more(seed_records: list[Record], expected: dict[str, Any]) -> None:
    for record in seed_records:
        found = json.loads(record.line)
        wanted = expected[record.id]
        entries = found["attributes"].get("missing_metadata", {})
        known = wanted["attributes"].get("missing_metadata", {})
        for field in set(entries) - set(known):
            assert entries[field]["reason"] == "unextracted", (record.id, field)
            assert field in REQUIRED[record.kind], (record.id, field)
            assert _lacks(wanted, field), (record.id, field)
            del entries[field]
        if not entries and not known:
            found["attributes"].pop("missing_metadata", None)
        assert found == wanted, record.id


def _lacks(record: dict[str, Any], field: str) -> bool:
    """Whether a record gives no value for a field, or for the part of it that is named."""
    value: Any = record["attributes"]
    for key in field.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value is None


def test_the_expected_objects_are_those_that_were_handed_over(expected: dict[str, Any]) -> None:
    assert expected == _objects(_shared("seed-records.jsonl"))


def test_every_choice_is_a_comment_at_its_field(seed_records: list[Record]) -> None:
    records = {record.id: record for record in seed_records}
    with _shared("seed-records.chosen.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    assert len(rows) == 100
    for row in rows:
        field = row["field"].split(",")[0]
        assert _is_marked(records[row["record"]], field), (row["record"], field)


def _is_marked(record: Record, field: str) -> bool:
    """Whether a comment at a field, or in the lines just above it, says that it was chosen."""
    path = ("links", 0) if field.startswith("links.") else tuple(field.split("."))
    lines = Path(record.origin.file).read_text(encoding="utf-8").splitlines()
    line = record.place(path)[0]
    first = line - 1
    while lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return "# chosen: " in "\n".join(lines[first:line])


@pytest.mark.parametrize("printed", ["33.88", "11.49", "r = 1.00", "6637"])
def test_a_printed_value_is_the_string_that_the_source_prints(printed: str, seed_records: list[Record]) -> None:
    found = [record.attributes.get("printed_value") for record in seed_records if record.kind == "result"]
    assert printed in found
    assert all(value is None or type(value) is str for value in found)
