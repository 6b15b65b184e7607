"""JUnit XML: well-formed whatever records hold; violations fail, the rest does not unless it is strict."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evkg.finding import Finding
from evkg.junit import render_junit
from tests.findings import finding, hostile


def parse(findings: list[Finding], *, strict: bool = False) -> ET.Element:
    return ET.fromstring(render_junit(findings, records=3, strict=strict).encode("utf-8", "strict"))  # noqa: S314


@pytest.mark.parametrize("strict", [False, True])
def test_counts_are_those_of_the_cases(strict: bool) -> None:
    root = parse(hostile(), strict=strict)
    for element in (root, *root.iter("testsuite")):
        assert int(element.attrib["tests"]) == len(list(element.iter("testcase")))
        assert int(element.attrib["failures"]) == len(list(element.iter("failure")))
        assert int(element.attrib["skipped"]) == len(list(element.iter("skipped")))
        assert element.attrib["errors"] == "0"
    assert root.attrib["failures"] == ("2" if strict else "1")
    properties = {p.attrib["name"]: p.attrib["value"] for p in root.iter("property")}
    assert properties == {"records": "3", "violations": "1", "warnings": "1", "infos": "1"}


def test_a_clean_data_set_is_one_test_that_passes() -> None:
    root = parse([])
    (case,) = root.iter("testcase")
    assert (root.attrib["tests"], case.attrib["name"], len(case)) == ("1", "3 records were read", 0)


def test_a_violation_says_where_it_is_what_is_written_and_what_to_write() -> None:
    item = finding(
        "violation",
        "syntax",
        message="a <b>",
        file="a.yaml",
        line=3,
        column=2,
        record="r",
        field="x",
        value="&",
        fix="c",
    )
    (case,) = parse([item]).findall("testsuite[@name='syntax']/testcase")
    assert case.attrib == {"classname": "evkg.syntax", "name": "r x", "file": "a.yaml", "line": "3"}
    (failure,) = case
    assert failure.attrib == {"type": "violation", "message": "a <b>"}
    assert (failure.text or "").split("\n") == ["a.yaml:3:2", "a <b>", "as written: &", "→ c"]


def test_cases_of_one_rule_have_different_names() -> None:
    names = [case.attrib["name"] for case in parse([finding(record="r", line=n) for n in (1, 2)]).iter("testcase")]
    assert len(names) == len(set(names)) == 3


@given(st.text(), st.sampled_from(["message", "record", "field", "file", "value", "fix", "rule"]))
def test_the_report_is_well_formed_whatever_a_text_holds(text: str, part: str) -> None:
    whole = Finding("violation", "rule", "it is wrong")
    for item in (whole, whole._replace(severity="warning")):
        root = parse([item._replace(**{part: text})])  # type: ignore[arg-type]
        assert len(list(root.iter("testcase"))) == 2
