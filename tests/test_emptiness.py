"""A wanted field that is written but empty is no better than one that is not there, and is told once."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from evkg.check import check_dataset
from evkg.expected import expected_fields
from evkg.finding import SEVERITIES, Finding
from evkg.jsontext import decode_json
from evkg.reader import read_records
from evkg.record import Record
from evkg.shapes import Shapes
from evkg.vocabulary import load_vocabulary
from evkg.wanted import wanted_fields
from tests.builds import ROOT

VALID: Final = ROOT / "tests" / "records" / "valid"
ABSENT: Final = "absent"
FORMS: Final[dict[str, Any]] = {"text": "", "space": " \t", "list": [], "object": {}}
EXPECTED: Final = expected_fields(Shapes(), load_vocabulary())
FIELDS: Final = [(kind, item.name) for kind, items in EXPECTED.items() for item in items]


def written(kind: str, name: str, form: str) -> dict[str, Any]:
    """The valid record of a kind with one field in one of its empty forms, or without it."""
    items = read_records(VALID / f"{kind}.yaml", load_vocabulary())
    first = next(item for item in items if isinstance(item, Record) and item.kind == kind)
    data: dict[str, Any] = decode_json(json.dumps(copy.deepcopy(first.original), default=str))  # type: ignore[assignment]
    data["id"] = f"{kind}-{name}-{form}".replace("_", "-").replace(".", "-")
    attributes = data["attributes"]
    for entry in [name, *(["value"] if name == "numeric_value" else [])]:
        attributes.get("missing_metadata", {}).pop(entry, None)
    if not attributes.get("missing_metadata", True):
        del attributes["missing_metadata"]
    *outer, key = name.split(".")
    owner = attributes
    for step in outer:
        owner = owner[step]
    owner.pop(key, None)
    if form != ABSENT:
        owner[key] = FORMS[form]
    return data


def about(data: dict[str, Any], name: str, findings: list[Finding]) -> Iterator[Finding]:
    for finding in findings:
        field = (finding.field or "").removeprefix("attributes.").removeprefix("missing_metadata.")
        if finding.record == data["id"] and (
            f"{field}.".startswith(f"{name}.") or (field == "comparison" and name in finding.message)
        ):
            yield finding


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], list[Finding]]:
    """(kind, field, form) -> the findings on that field."""
    file = tmp_path_factory.mktemp("empty") / "records.jsonl"
    records = {(*field, form): written(*field, form) for field in FIELDS for form in (ABSENT, *FORMS)}
    assert len({data["id"] for data in records.values()}) == len(records)
    file.write_text("".join(f"{json.dumps(data)}\n" for data in records.values()), encoding="utf-8")
    by_record: defaultdict[str | None, list[Finding]] = defaultdict(list)
    for finding in check_dataset(file, is_open=True, jobs=1).findings:
        by_record[finding.record].append(finding)
    return {key: [*about(data, key[1], by_record[data["id"]])] for key, data in records.items()}


@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_an_empty_value_is_told_once_and_as_gravely_as_none(
    found: dict[tuple[str, str, str], list[Finding]], kind: str, name: str
) -> None:
    (absent,) = found[kind, name, ABSENT]
    for form in FORMS:
        told = found[kind, name, form]
        assert len(told) == 1, (form, told)
        assert SEVERITIES.index(told[0].severity) <= SEVERITIES.index(absent.severity), told


def test_what_is_required_is_a_violation_when_it_is_empty(
    found: dict[tuple[str, str, str], list[Finding]],
) -> None:
    required = [(kind, item.name) for kind, items in EXPECTED.items() for item in items if item.severity == "violation"]
    assert len(required) > 20
    severities = {found[kind, name, form][0].severity for kind, name in required for form in FORMS}
    assert severities == {"violation"}


def test_the_fields_are_those_that_the_shapes_complete() -> None:
    for kind, items in EXPECTED.items():
        assert wanted_fields(kind) == {tuple(item.path[1:]) for item in items}


def test_the_finding_stands_where_the_empty_value_stands(tmp_path: Path) -> None:
    file = tmp_path / "dataset.yaml"
    text = (ROOT / "tests" / "records" / "invalid" / "dataset-version-blank.yaml").read_text(encoding="utf-8")
    file.write_text(text.replace('version: ""', "version: []"), encoding="utf-8")
    told = [f for f in check_dataset(file, is_open=True).findings if f.severity == "violation"]
    line = next(number for number, line in enumerate(text.splitlines(), 1) if "version:" in line)
    assert [(f.rule, f.field, f.line) for f in told] == [("dataset-version", "attributes.version", line)]


def test_a_reason_that_is_given_holds(tmp_path: Path) -> None:
    file = tmp_path / "dataset.yaml"
    text = (ROOT / "tests" / "records" / "invalid" / "dataset-version-blank.yaml").read_text(encoding="utf-8")
    text = text.replace('version: ""', "version: null")
    text = text.replace("population:", "version: {reason: unreported}\n    population:")
    file.write_text(text, encoding="utf-8")
    told = [(f.severity, f.rule) for f in check_dataset(file, is_open=True).findings if "version" in (f.field or "")]
    assert told == [("warning", "empty-value"), ("info", "dataset-required-explained")]


def test_null_is_read_as_nobody_having_looked_and_says_so(tmp_path: Path) -> None:
    """Source: contract section 10."""
    file = tmp_path / "dataset.yaml"
    text = (ROOT / "tests" / "records" / "invalid" / "dataset-version-blank.yaml").read_text(encoding="utf-8")
    file.write_text(text.replace('version: ""', "version: null"), encoding="utf-8")
    told = {f.rule: f.severity for f in check_dataset(file, is_open=True).findings if "version" in (f.field or "")}
    assert told == {"empty-value": "warning", "dataset-required-open": "warning"}
    (item,) = (item for item in read_records(file, load_vocabulary()) if isinstance(item, Record))
    assert item.attributes["missing_metadata"]["version"]["reason"] == "unextracted"  # type: ignore[index, call-overload]
