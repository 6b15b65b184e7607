"""The SHACL report as RDF: standard terms, no blank nodes, the same bytes for the same results."""

from __future__ import annotations

from dataclasses import replace

import pyoxigraph as ox

from evkg.namespaces import RDF, SH, XSD
from evkg.report import render_turtle, report_quads
from evkg.shapes import Result
from tests import owl
from tests.builds import BASE

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


def test_no_results_conform() -> None:
    assert report_quads([], BASE) == sorted(
        [
            f"<{BASE}validation> <{RDF}type> <{SH}ValidationReport> <{BASE}graph/validation> .",
            f'<{BASE}validation> <{SH}conforms> "true"^^<{XSD}boolean> <{BASE}graph/validation> .',
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
    }
    assert [quad.object.value for quad in quads if quad.predicate.value == f"{SH}conforms"] == ["false"]


def test_a_warning_alone_does_not_conform_as_the_standard_has_it() -> None:
    lines = report_quads([replace(RESULT, severity=f"{SH}Warning")], BASE)
    assert any(f'<{SH}conforms> "false"' in line for line in lines)


def test_a_value_that_is_an_iri_is_written_as_one() -> None:
    lines = report_quads([replace(RESULT, value=f"{BASE}id/x", value_is_iri=True)], BASE)
    assert any(f"<{SH}value> <{BASE}id/x> " in line for line in lines)


def test_what_a_result_lacks_is_left_out() -> None:
    quads = owl.parse(report_quads([replace(RESULT, path=None, value=None, shape="")], BASE))
    assert not {f"{SH}resultPath", f"{SH}value", f"{SH}sourceShape"} & {quad.predicate.value for quad in quads}


def test_the_order_of_results_does_not_matter_and_repeats_count_once() -> None:
    other = replace(RESULT, focus=f"{BASE}id/s")
    lines = report_quads([RESULT, other], BASE)
    assert lines == report_quads([other, RESULT, RESULT], BASE)
    assert lines == sorted(set(lines))


def test_a_result_keeps_its_name_when_others_come_and_go() -> None:
    alone = set(report_quads([RESULT], BASE))
    assert alone <= set(report_quads([RESULT, replace(RESULT, value="another")], BASE))


def test_results_that_differ_in_one_part_have_different_names() -> None:
    variants = [
        RESULT,
        replace(RESULT, focus=f"{BASE}id/s"),
        replace(RESULT, path=None),
        replace(RESULT, value=None),
        replace(RESULT, shape="urn:s"),
        replace(RESULT, component="urn:c"),
    ]
    quads = owl.parse(report_quads(variants, BASE))
    assert len({quad.object for quad in quads if quad.predicate.value == f"{SH}result"}) == len(variants)


def test_the_report_has_no_blank_node_and_stands_in_its_graph() -> None:
    for quad in owl.parse(report_quads([RESULT], BASE)):
        assert isinstance(quad.subject, ox.NamedNode)
        assert not isinstance(quad.object, ox.BlankNode)
        assert quad.graph_name.value == f"{BASE}graph/validation"


def test_the_turtle_says_the_same_with_the_usual_prefixes() -> None:
    text = render_turtle([RESULT], BASE)
    assert "@prefix sh: <http://www.w3.org/ns/shacl#> ." in text
    assert "sh:ValidationReport" in text
    triples = {str(quad.triple) for quad in ox.parse(text, format=ox.RdfFormat.TURTLE)}
    assert triples == {str(quad.triple) for quad in owl.parse(report_quads([RESULT], BASE))}
