"""Content of fields: values that are none, that hold a character too many, or that contradict another field."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from evkg.finding import Finding
from evkg.keys import check_keys
from evkg.reader import read_records
from evkg.record import Record
from evkg.vocabulary import Vocabulary
from tests.builds import ROOT, record
from tests.strategies import as_record


def findings(vocabulary: Vocabulary, kind: str, **attributes: Any) -> list[Finding]:
    return check_keys(as_record(record("r", kind, attributes=attributes)), vocabulary)


def found(vocabulary: Vocabulary, kind: str, **attributes: Any) -> list[tuple[str, str, str | None]]:
    return [(item.severity, item.rule, item.field) for item in findings(vocabulary, kind, **attributes)]


# ---- A value or a reason, never both ----


BOTH: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("result", "seed", {"seed": "42"}),
    ("result", "metric_qualifier", {"metric_qualifier": "strict"}),
    ("result", "denominator", {"denominator": 10}),
    ("result", "approximate", {"approximate": False}),
    ("result", "limitations", {"limitations": ["few"]}),
    ("result", "coverage", {"coverage": {"eligible": 5}}),
    ("result", "coverage.scored", {"coverage": {"scored": 0}}),
    ("result", "uncertainty.n", {"uncertainty": {"n": 5}}),
    ("result", "review.method", {"review": {"method": ["transcription"]}}),
    ("result", "scoring_conditions.k", {"scoring_conditions": {"k": 10}}),
    ("result", "scoring_conditions.v1.5", {"scoring_conditions": {"v1.5": "x"}}),
    ("result", "numeric_value", {"numeric_value": "1"}),
    ("evaluation", "comparison.split", {"comparison": {"split": "test"}}),
    ("evaluation", "comparison", {"comparison": {"split": "test"}}),
    ("claim", "source_locator", {"source_locator": "Table 1"}),
)


@pytest.mark.parametrize(("kind", "field", "attributes"), BOTH, ids=[field for _, field, _ in BOTH])
def test_a_field_with_a_value_and_a_reason_is_a_violation(
    vocabulary: Vocabulary, kind: str, field: str, attributes: dict[str, Any]
) -> None:
    items = findings(vocabulary, kind, **attributes, missing_metadata={field: {"reason": "unreported"}})
    (item,) = [item for item in items if item.rule == "value-and-reason"]
    assert (item.severity, item.field) == ("violation", f"attributes.{field}")
    assert item.message.startswith(f"{field} has a value")
    assert item.fix is not None
    assert item.fix.startswith(f"Remove the entry for {field}")


@pytest.mark.parametrize(
    ("kind", "field", "attributes"),
    [
        ("result", "numeric_value", {"numeric_value": None}),
        ("result", "value", {"numeric_value": None}),
        ("result", "coverage.scored", {"coverage": {"eligible": 5}}),
        ("result", "coverage.scored", {"coverage": {"eligible": 5, "scored": None}}),
        ("result", "scoring_conditions.k", {"scoring_conditions": {"m": 10}}),
        ("result", "limitations", {"limitations": []}),
        ("evaluation", "comparison.split", {"comparison": {"population": "adults", "split": None}}),
        ("result", "seed", {"seeds": "1, 2"}),
    ],
)
def test_a_reason_for_what_is_not_there_is_no_contradiction(
    vocabulary: Vocabulary, kind: str, field: str, attributes: dict[str, Any]
) -> None:
    assert found(vocabulary, kind, **attributes, missing_metadata={field: {"reason": "unreported"}}) == []


# ---- Characters too many ----


@pytest.mark.parametrize("extra", ["{}\n", "\n{}", "{} ", "\t{}", "{}\r\n", "{}\x00", "{}\u200b", "{}\xa0"])
@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("result", "numeric_value", "1"),
        ("result", "unit", "gigabyte"),
        ("result", "primary_table_member_sha256", "a" * 64),
        ("source", "doi", "10.1000/x"),
        ("source", "retrieved_at", "2026-01-01"),
        ("source", "url", "https://x.org"),
        ("evaluation", "run_url", "https://x.org/run/1"),
        ("configuration", "code_commit", "0a1b2c3"),
        ("claim", "task_id", "a-task"),
    ],
)
def test_a_typed_text_has_no_character_too_many(
    vocabulary: Vocabulary, kind: str, key: str, value: str, extra: str
) -> None:
    assert found(vocabulary, kind, **{key: value}) == []
    (item,) = findings(vocabulary, kind, **{key: extra.format(value)})
    assert (item.severity, item.rule, item.field) == ("violation", "stray-character", f"attributes.{key}")
    assert item.message.startswith(key)


def test_stray_characters_are_found_in_parts_and_lists(vocabulary: Vocabulary) -> None:
    attributes = {
        "review": {"method": ["transcription", "scope-review\n"], "date": "2026-01-01\n"},
        "uncertainty": {"lower": "1\n"},
        "printed_value": "two\nlines",
    }
    fields = {field for _, rule, field in found(vocabulary, "result", **attributes) if rule == "stray-character"}
    assert fields == {
        "attributes.review.method.1",
        "attributes.review.date",
        "attributes.uncertainty.lower",
    }


# ---- Reasons as values ----


@pytest.mark.parametrize(
    "word",
    [
        *("unreported", "unextracted", "unknown", "not_reported", "not reported", "na", "-", "—", "TBD", "conflicting"),
        *("Not reported", "not stated", "Not specified", "not given", "not disclosed", "not available", "N.A.", "n.r."),
        *("null", "?", "--", "…", "−", "#N/A"),
    ],
)
@pytest.mark.parametrize(("kind", "key"), [("result", "printed_value"), ("dataset", "species"), ("model", "licence")])
def test_a_reason_in_place_of_a_value_is_a_warning(vocabulary: Vocabulary, kind: str, key: str, word: str) -> None:
    (item,) = findings(vocabulary, kind, **{key: word})
    assert (item.severity, item.rule, item.field) == ("warning", "reason-as-value", f"attributes.{key}")
    assert item.fix is not None
    assert f"write under missing_metadata {key}: {{reason: " in item.fix


def test_a_comparison_may_say_unreported_and_no_other_reason(vocabulary: Vocabulary) -> None:
    comparison = {"split": "unreported", "population": "unknown", "subset": "unknown genes", "inputs": None}
    assert found(vocabulary, "evaluation", comparison=comparison) == [
        ("info", "reason-as-value", "attributes.comparison.split"),
        ("warning", "reason-as-value", "attributes.comparison.population"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("Not applicable", "not applicable: synthetic inputs", "None (synthetic)", "Not reported (see Table 2)"),
        *("not stated; the appendix was not read", "Unknown (two sites)", "n/a, as all were used", "N/A - no split"),
    ],
)
def test_a_value_that_reads_like_a_reason_is_information(vocabulary: Vocabulary, text: str) -> None:
    assert found(vocabulary, "dataset", split=text) == [("info", "reason-like-value", "attributes.split")]


@pytest.mark.parametrize(
    "text",
    ["none", "Not applicable to long proteins", "Unknown primary tumours", "a - b", "NaN", "Not stated by all", "-1"],
)
def test_a_value_that_only_begins_like_a_reason_is_one(vocabulary: Vocabulary, text: str) -> None:
    assert found(vocabulary, "dataset", split=text) == []


@pytest.mark.parametrize("word", ["n/a", "N/A", " n/a "])
def test_a_reason_may_be_written_with_a_stroke(vocabulary: Vocabulary, word: str) -> None:
    assert found(vocabulary, "model", licence=word) == [("warning", "reason-as-value", "attributes.licence")]


def test_keys_of_schemes_may_be_reasons(vocabulary: Vocabulary) -> None:
    assert found(vocabulary, "evaluation", origin="unreported") == []
    assert found(vocabulary, "result", metric_direction="unknown") == []


def test_a_cell_may_print_a_reason_where_the_record_explains_that_there_is_no_number(vocabulary: Vocabulary) -> None:
    cell: dict[str, Any] = {"printed_value": "NA", "raw_xml_value": "NA", "numeric_value": None}
    explained = {"missing_metadata": {"value": {"reason": "inapplicable"}}}
    rule = "reason-as-value"
    assert found(vocabulary, "result", **cell, **explained) == [
        ("info", rule, "attributes.printed_value"),
        ("info", rule, "attributes.raw_xml_value"),
    ]
    assert ("warning", rule, "attributes.printed_value") in found(vocabulary, "result", **cell)
    other = found(vocabulary, "result", **cell, **explained, aggregation="NA")
    assert ("warning", rule, "attributes.aggregation") in other


def test_a_free_object_with_reasons_is_information(vocabulary: Vocabulary) -> None:
    hardware = {"gpu": "not reported", "memory": {"size": "n/a", "note": "unknown"}, "disks": ["-", "unextracted"]}
    assert found(vocabulary, "configuration", hardware=hardware) == [
        ("info", "reason-as-value", "attributes.hardware.gpu"),
        ("info", "reason-as-value", "attributes.hardware.memory.size"),
        ("info", "reason-as-value", "attributes.hardware.disks.1"),
    ]


def test_a_fact_of_a_profile_has_a_reason_for_its_status(vocabulary: Vocabulary) -> None:
    profile = {"facts": [{"label": "Licence", "value": "None printed", "status": "unreported"}]}
    assert found(vocabulary, "model", profile=profile) == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"description": "N/A"}, "description"),
        ({"name": "-"}, "name"),
        ({"facets": {"tasks": ["folding", "not reported"]}}, "facets.tasks.1"),
    ],
)
def test_a_text_outside_the_attributes_is_no_reason_either(
    vocabulary: Vocabulary, change: dict[str, Any], field: str
) -> None:
    items = check_keys(as_record({**record("r", "task"), **change}), vocabulary)
    assert [(item.severity, item.rule, item.field) for item in items] == [("warning", "reason-as-value", field)]


# ---- A bad record for every rule on values ----


RECORDS = ROOT / "tests" / "records"
FILES = sorted((RECORDS / "invalid-values").glob("*.yaml"))
#: Rules on values whose severity depends: those here are warnings in their bad record.
GRAVE = {"secret-in-text", "address-in-text", "printed-and-numeric-differ", "outside-bounds", "settled-before-opened"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_bad_record_is_found_at_its_line_and_nothing_else_is(file: Path, vocabulary: Vocabulary) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    assert re.match(r"# \S.*\.$", lines[0])
    (marked,) = [number for number, line in enumerate(lines, 1) if line.endswith("  # <- here")]
    (item,) = [one for one in read_records(file, vocabulary) if isinstance(one, Record)]
    (finding,) = check_keys(item, vocabulary)
    assert (finding.rule, finding.line) == (file.stem, marked)
    severity = "violation" if file.stem in GRAVE else "info" if file.stem == "reason-like-value" else "warning"
    assert finding.severity == severity
    for text in (finding.message, finding.fix or ""):
        assert text.endswith(".")
        assert not re.search(r"sh:|<http|\b(?:node|IRI|triple|SHACL|RDF)s?\b", text)


def test_there_is_a_bad_record_for_every_rule_on_values() -> None:
    modules = ("quantity", "moment", "reviewer", "privacy")
    texts = [(ROOT / "src/evkg" / f"{module}.py").read_text(encoding="utf-8") for module in modules]
    named = {rule for text in texts for rule in re.findall(r'"(?:violation|warning|info)", "([a-z-]+)"', text)}
    assert len(named) > 8
    assert named <= {file.stem for file in FILES}
