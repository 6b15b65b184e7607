"""Rules as reports tell them: in the words of their shapes, the gravest first."""

from __future__ import annotations

from pathlib import Path

from evkg.rule import rule_groups, rules_of
from evkg.shapes import Shapes
from tests.findings import finding

SHAPES = """
@prefix evkg: <https://w3id.org/evkg/ontology#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix s: <https://w3id.org/evkg/shapes#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
s:a-rule a sh:NodeShape ; sh:targetClass evkg:Result ; sh:message "It is wrong."@en ; evkg:fixHint "Mend it." ;
  rdfs:comment "Since it misleads."@en .
"""


def test_a_shape_gives_message_reason_and_fix(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(SHAPES, encoding="utf-8")
    (rule,) = rules_of([finding(rule="a-rule", record="r")] * 2, Shapes(tmp_path)).values()
    assert (rule.message, rule.why, rule.fix, rule.count) == ("It is wrong.", "Since it misleads.", "Mend it.", 2)


def test_a_rule_without_a_shape_says_what_all_its_findings_say_or_its_name() -> None:
    same = rules_of([finding(rule="repeated-id", fix="x"), finding(rule="repeated-id", fix="x", line=2)])
    assert (same["repeated-id"].message, same["repeated-id"].fix) == ("it is wrong", "x")
    other = rules_of([finding(rule="repeated-id"), finding(rule="repeated-id", message="so too")])
    assert (other["repeated-id"].message, other["repeated-id"].fix) == ("Repeated id.", None)


def test_a_rule_of_two_severities_is_one_rule_of_two_groups() -> None:
    findings = [finding("info", "x"), finding("violation", "y", record="r"), finding("warning", "x")]
    assert list(rule_groups(findings)) == [("violation", "y"), ("warning", "x"), ("info", "x")]
    rules = rules_of(findings)
    assert [(rule.name, rule.severity, rule.count) for rule in rules.values()] == [
        ("y", "violation", 1),
        ("x", "warning", 2),
    ]
