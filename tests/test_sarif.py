"""SARIF: the structure that the standard asks for, places that editors find, names that survive shifted lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evkg.finding import Finding
from evkg.sarif import FINGERPRINT, LEVELS, ROOT, render_sarif
from tests.findings import finding, hostile


def run_of(findings: list[Finding]) -> dict[str, Any]:
    log = json.loads(render_sarif(findings, records=2, version="1.2.3"))
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def results_of(*findings: Finding) -> list[dict[str, Any]]:
    found = run_of(list(findings))["results"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("findings", [[], hostile(), [finding("violation", "syntax", file="a b.yaml", line=1)]])
def test_the_log_has_the_structure_of_the_standard(findings: list[Finding]) -> None:
    """Source: SARIF 2.1.0 plus errata 01: sections 3.14 (run), 3.49 (rule), 3.27 (result), 3.30 (region)."""
    run = run_of(findings)
    assert set(run) <= {"tool", "columnKind", "originalUriBaseIds", "results", "properties"}
    assert run["columnKind"] == "unicodeCodePoints"
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("evkg", "1.2.3")
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    for rule in driver["rules"]:
        assert {key: list(rule[key]) for key in ("shortDescription", "fullDescription", "help")} == {
            key: ["text"] for key in ("shortDescription", "fullDescription", "help")
        }
        assert all(rule[key]["text"] for key in ("shortDescription", "fullDescription", "help"))
        assert rule["name"]
        assert rule["defaultConfiguration"]["level"] in LEVELS.values()
    for item, result in zip(findings, run["results"], strict=True):
        assert ids[result["ruleIndex"]] == result["ruleId"] == item.rule
        assert result["level"] == LEVELS[item.severity]
        assert list(result["message"]) == ["text"]
        assert all(isinstance(mark, str) for mark in result["partialFingerprints"].values())
        for location in result.get("locations", ()):
            assert set(location) <= {"physicalLocation", "logicalLocations"}
            region = location.get("physicalLocation", {}).get("region", {})
            assert all(type(number) is int and number >= 1 for number in region.values())


def test_the_log_validates_against_the_schema_of_the_standard_where_it_is_at_hand() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    file = Path(__file__).parents[2] / "shared" / "sarif-schema-2.1.0.json"
    if not file.is_file():
        pytest.skip("the schema lies beside the repository and is not here")
    validator = jsonschema.Draft4Validator(json.loads(file.read_text(encoding="utf-8")))
    log = json.loads(render_sarif(hostile(), records=2, version="1.2.3"))
    assert [error.message for error in validator.iter_errors(log)] == []


def test_a_place_is_a_region_of_a_file_below_the_working_folder() -> None:
    (result,) = results_of(finding(file="graph/a b#1.yaml", line=7, column=3, record="r", field="attributes.unit"))
    (location,) = result["locations"]
    assert location == {
        "physicalLocation": {
            "artifactLocation": {"uri": "graph/a%20b%231.yaml", "uriBaseId": ROOT},
            "region": {"startLine": 7, "startColumn": 3},
        },
        "logicalLocations": [
            {"name": "attributes.unit", "fullyQualifiedName": "r/attributes.unit", "kind": "property"}
        ],
    }


def test_a_file_elsewhere_has_a_whole_uri(tmp_path: Path) -> None:
    (result,) = results_of(finding(file=str(tmp_path / "a.yaml")))
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": (tmp_path / "a.yaml").as_uri()}


def test_without_a_place_there_is_no_location() -> None:
    assert "locations" not in results_of(finding())[0]


def test_a_fingerprint_stays_when_lines_and_files_shift_and_differs_when_the_fault_does() -> None:
    item = finding(file="a.yaml", line=7, column=3, record="r", field="x", value="v")
    others = [item._replace(line=70, column=1), item._replace(file="b.yaml"), item._replace(message="in other words")]
    marks = {results_of(other)[0]["partialFingerprints"][FINGERPRINT] for other in (item, *others)}
    assert len(marks) == 1
    changed = [item._replace(record="s"), item._replace(field="y"), item._replace(value="w"), item._replace(rule="q")]
    marks |= {results_of(other)[0]["partialFingerprints"][FINGERPRINT] for other in changed}
    assert len(marks) == 5


def test_findings_that_are_alike_have_different_fingerprints() -> None:
    item = finding(record="r", line=1)
    first, second = (r["partialFingerprints"][FINGERPRINT] for r in results_of(item, item._replace(line=2)))
    assert second == f"{first}:2"


def test_a_rule_speaks_with_the_words_of_its_shape() -> None:
    (rule,) = run_of([finding("violation", "result-unit", message="other", record="r")])["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"].startswith("unit is required on a result")
    assert rule["help"]["text"].startswith("Write unit: …")
    assert rule["name"] == "ResultUnit"


def test_a_message_holds_no_placeholder_and_no_link() -> None:
    (result,) = results_of(finding(message="see [this](1) and {0}", fix="Write x: {reason: unreported}."))
    assert result["message"]["text"] == "see \\[this](1) and {{0}} Write x: {reason: unreported}."
