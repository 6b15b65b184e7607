"""The SHACL report as RDF: standard terms, no blank nodes, the same bytes for the same results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyoxigraph as ox

from evkg.check import check_dataset
from evkg.finding import Finding
from evkg.namespaces import EVKG, RDF, SH, XSD
from evkg.report import Block, dataset_block, frame_lines, frame_turtle, links_turtle, record_block
from evkg.shapes import Result
from tests import owl
from tests.builds import BASE, record, write_records

RESULT = Result(
    focus=f"{BASE}id/r",
    path="https://w3id.org/evkg/ontology#unit",
    value='a "text"\nof two lines',
    value_is_iri=False,
    shape="https://w3id.org/evkg/shapes#result-unit",
    component=f"{SH}OrConstraintComponent",
    severity=f"{SH}Violation",
    message="unit is required.",
)


def blocks(results: Sequence[Result], located: Sequence[Finding], apart: Sequence[Finding]) -> list[Block]:
    """The parts of a report: what is about a record by itself, what is about none together."""
    findings = [*located] or [
        Finding("violation", result.shape.rpartition("#")[2], result.message, record="r") for result in results
    ]
    pairs = [*zip(results, findings, strict=True)]
    own = [finding for finding in apart if finding.record == "r"]
    others = [finding for finding in apart if finding.record != "r"]
    return [record_block(BASE, "r", pairs, own), dataset_block(BASE, others)]


def report_quads(
    results: Sequence[Result], base: str, located: Sequence[Finding] = (), apart: Sequence[Finding] = ()
) -> list[str]:
    """All lines of the report on one record and a data set."""
    parts = blocks(results, located, apart)
    severities = sum((part.severities() for part in parts), Counter())
    lines = [line for part in parts for line in (*part.lines(), *part.links())]
    return sorted([*lines, *frame_lines(base, severities)])


def test_no_results_conform() -> None:
    assert report_quads([], BASE) == sorted(
        [
            f"<{BASE}validation> <{RDF}type> <{SH}ValidationReport> <{BASE}graph/validation> .",
            f'<{BASE}validation> <{SH}conforms> "true"^^<{XSD}boolean> <{BASE}graph/validation> .',
            *(
                f'<{BASE}validation> <{EVKG}{name}Count> "0"^^<{XSD}integer> <{BASE}graph/validation> .'
                for name in ("violation", "warning", "info")
            ),
        ]
    )


def test_a_result_has_the_terms_of_the_standard() -> None:
    quads = owl.parse(report_quads([RESULT], BASE))
    (node,) = {quad.object.value for quad in quads if quad.predicate.value == f"{SH}result"}
    said = {quad.predicate.value: quad.object.value for quad in quads if quad.subject.value == node}
    assert said == {
        f"{RDF}type": f"{SH}ValidationResult",
        f"{SH}focusNode": RESULT.focus,
        f"{SH}resultPath": RESULT.path,
        f"{SH}value": RESULT.value,
        f"{SH}sourceShape": RESULT.shape,
        f"{SH}sourceConstraintComponent": RESULT.component,
        f"{SH}resultSeverity": RESULT.severity,
        f"{SH}resultMessage": RESULT.message,
        f"{EVKG}rule": "result-unit",
    }
    assert [quad.object.value for quad in quads if quad.predicate.value == f"{SH}conforms"] == ["false"]


def test_a_warning_alone_does_not_conform_as_the_standard_has_it() -> None:
    lines = report_quads([RESULT._replace(severity=f"{SH}Warning")], BASE)
    assert any(f'<{SH}conforms> "false"' in line for line in lines)


def test_a_value_that_is_an_iri_is_written_as_one() -> None:
    lines = report_quads([RESULT._replace(value=f"{BASE}id/x", value_is_iri=True)], BASE)
    assert any(f"<{SH}value> <{BASE}id/x> " in line for line in lines)


def test_what_a_result_lacks_is_left_out() -> None:
    quads = owl.parse(report_quads([RESULT._replace(path=None, value=None, shape="")], BASE))
    assert not {f"{SH}resultPath", f"{SH}value", f"{SH}sourceShape"} & {quad.predicate.value for quad in quads}


def test_the_order_of_results_does_not_matter_and_repeats_count_once() -> None:
    other = RESULT._replace(focus=f"{BASE}id/s")
    lines = report_quads([RESULT, other], BASE)
    assert lines == report_quads([other, RESULT, RESULT], BASE)
    assert lines == sorted(set(lines))


def test_a_result_keeps_its_name_when_others_come_and_go() -> None:
    alone = {line for line in report_quads([RESULT], BASE) if "Count>" not in line}
    assert alone <= set(report_quads([RESULT, RESULT._replace(value="another")], BASE))


def test_results_that_differ_in_one_part_have_different_names() -> None:
    variants = [
        RESULT,
        RESULT._replace(focus=f"{BASE}id/s"),
        RESULT._replace(path=None),
        RESULT._replace(value=None),
        RESULT._replace(shape="urn:s"),
        RESULT._replace(component="urn:c"),
    ]
    quads = owl.parse(report_quads(variants, BASE))
    assert len({quad.object for quad in quads if quad.predicate.value == f"{SH}result"}) == len(variants)


def test_the_report_has_no_blank_node_and_stands_in_its_graph() -> None:
    for quad in owl.parse(report_quads([RESULT], BASE)):
        assert isinstance(quad.subject, ox.NamedNode)
        assert not isinstance(quad.object, ox.BlankNode)
        assert quad.graph_name.value == f"{BASE}graph/validation"


def said(lines: list[str]) -> list[dict[str, str]]:
    """What is said of each result, by the local names of properties, in the order of their rules."""
    nodes: dict[str, dict[str, str]] = {}
    for quad in owl.parse(lines):
        assert isinstance(quad.subject, ox.NamedNode)
        name = quad.predicate.value.rpartition("#")[2]
        if name != "result":
            nodes.setdefault(quad.subject.value, {})[name] = quad.object.value
    nodes.pop(f"{BASE}validation")
    return sorted(nodes.values(), key=lambda node: (node["rule"], node["resultMessage"]))


def test_a_result_of_a_shape_knows_its_field() -> None:
    finding = Finding("violation", "result-unit", "unit is required.", record="r", field="attributes.unit")
    (node,) = said(report_quads([RESULT], BASE, [finding]))
    assert (node["field"], node["rule"]) == ("attributes.unit", "result-unit")


def test_findings_that_no_shape_gives_are_results_too() -> None:
    apart = [
        Finding("violation", "unknown-id", "No record has the id 'x'.", "r", "source_ids.0", "a.yaml", 3, 1, "x"),
        Finding("warning", "syntax", "A tab.", file="a.yaml", line=3, column=1),
        Finding("warning", "syntax", "A tab.", file="b.yaml", line=3, column=1),
        Finding("info", "envelope", "no id", record="not <an> id"),
    ]
    lines = report_quads([RESULT], BASE, [], apart)
    assert lines == report_quads([RESULT], BASE, [], [*apart, *reversed(apart)])
    odd, _, first, second, unknown = said(lines)
    check = f"{EVKG}RecordCheck"
    assert {node["sourceConstraintComponent"] for node in (odd, first, second, unknown)} == {check}
    assert unknown["focusNode"] == f"{BASE}record/r"
    assert (unknown["field"], unknown["value"], unknown["resultSeverity"]) == ("source_ids.0", "x", f"{SH}Violation")
    assert {odd["focusNode"], first["focusNode"], second["focusNode"]} == {BASE}
    assert [first["resultMessage"], second["resultMessage"]] == ["A tab. (a.yaml:3:1)", "A tab. (b.yaml:3:1)"]
    counts = {
        quad.predicate.value.removeprefix(EVKG): quad.object.value
        for quad in owl.parse(lines)
        if quad.predicate.value.endswith("Count")
    }
    assert counts == {"violationCount": "2", "warningCount": "2", "infoCount": "1"}
    assert f'<{SH}conforms> "false"' in "".join(report_quads([], BASE, [], apart[:1]))


def test_broken_data_are_told_from_good_and_no_path_of_this_machine_is_told(tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl", record("a", "model", source_ids=["nowhere"]), record("a", "model"))
    (tmp_path / "b.jsonl").write_text("{broken\n", encoding="utf-8")
    checked = check_dataset(tmp_path, with_report=True)
    parts = [*checked.extra.values(), *checked.blocks.values()]
    lines = [line for part in parts for line in (*part.lines(), *part.links())]
    text = "\n".join([*lines, *frame_lines(BASE, checked.severities)])
    turtle = {str(quad.triple) for quad in ox.parse(checked.turtle(), format=ox.RdfFormat.TURTLE)}
    assert turtle == {str(quad.triple) for quad in owl.parse(lines + frame_lines(BASE, checked.severities))}
    assert str(tmp_path) not in text
    rules = {node["rule"] for node in said(text.split("\n"))}
    assert rules == {finding.rule for finding in checked.findings}
    assert rules >= {"unknown-id", "repeated-id", "syntax"}
    assert "already used in a.jsonl:1." in text
    assert "(b.jsonl:1:2)" in text
    results = [node for node in said(text.split("\n")) if node["rule"] not in ("unknown-id", "repeated-id", "syntax")]
    assert {node["rule"]: node.get("field") for node in results} == {
        finding.rule: finding.field
        for finding in checked.findings
        if finding.rule not in ("unknown-id", "repeated-id", "syntax")
    }
    assert not {node["sourceConstraintComponent"] for node in results} & {f"{EVKG}RecordCheck"}


def test_the_turtle_says_the_same_with_the_usual_prefixes() -> None:
    (part, _) = blocks([RESULT], [], [])
    nodes = [*part.said]
    text = frame_turtle(BASE, part.severities()) + part.turtle() + links_turtle(BASE, nodes)
    assert "@prefix sh: <http://www.w3.org/ns/shacl#> ." in text
    assert "sh:ValidationReport" in text
    triples = {str(quad.triple) for quad in ox.parse(text, format=ox.RdfFormat.TURTLE)}
    assert triples == {str(quad.triple) for quad in owl.parse(report_quads([RESULT], BASE))}
