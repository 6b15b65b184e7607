"""The validation report as RDF: standard terms, no blank nodes, the same bytes for the same findings."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Final

from evkg.convert import quote_literal
from evkg.finding import SEVERITIES, Finding
from evkg.namespaces import EVKG, PREFIXES, RDF, SH, XSD, graph_iri
from evkg.record import LINKED_ID
from evkg.shapes import Result

_SEVERITY_IRIS: Final = {severity: f"{SH}{severity.capitalize()}" for severity in SEVERITIES}


def report_quads(
    results: Sequence[Result], base: str, located: Iterable[Finding] = (), apart: Iterable[Finding] = ()
) -> list[str]:
    """The report as N-Quads lines of the validation graph, sorted.

    `located` are the findings of `results`, one each in the same order: they know the field. `apart` are
    those that no shape gives. A result is named by a hash of what it says. As the standard has it,
    `sh:conforms` is true only without any result, be it a warning; what gates a release stands in the
    release graph.

    Source: SHACL, section 3.6 (validation report).

    >>> len(report_quads([], "https://w3id.org/evkg/"))
    5
    """
    report = f"<{base}validation>"
    nodes: dict[str, tuple[str, list[str]]] = {}
    for result, finding in zip_longest(results, located):
        nodes.setdefault(*_of_shape(result, finding, base))
    for finding in apart:
        nodes.setdefault(*_of_record(finding, base))
    counts = Counter(severity for severity, _ in nodes.values())
    lines = [
        f"{report} <{RDF}type> <{SH}ValidationReport>",
        f'{report} <{SH}conforms> "{str(not nodes).lower()}"^^<{XSD}boolean>',
        *(
            f'{report} <{EVKG}{severity}Count> "{counts[iri]}"^^<{XSD}integer>'
            for severity, iri in _SEVERITY_IRIS.items()
        ),
    ]
    for node, (_, said) in nodes.items():
        lines += [f"{report} <{SH}result> {node}", *(f"{node} {part}" for part in said)]
    return sorted(f"{line} <{graph_iri(base, 'validation')}> ." for line in set(lines))


def _node(base: str, *parts: str) -> str:
    return f"<{base}validation/{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:24]}>"


def _of_shape(result: Result, finding: Finding | None, base: str) -> tuple[str, tuple[str, list[str]]]:
    """The node of a SHACL result, its severity and what is said of it."""
    rule = finding.rule if finding else result.shape.rpartition("#")[2]
    said = [*_common(result.focus, result.severity, result.component, result.message)]
    said += [*_told(rule, finding.field if finding else None)]
    if result.shape:
        said.append(f"<{SH}sourceShape> <{result.shape}>")
    if result.path:
        said.append(f"<{SH}resultPath> <{result.path}>")
    if result.value is not None:
        value = f"<{result.value}>" if result.value_is_iri else quote_literal(result.value)
        said.append(f"<{SH}value> {value}")
    key = (result.focus, result.shape, result.path or "", result.value or "", result.component)
    return _node(base, *key), (result.severity, said)


def _of_record(finding: Finding, base: str) -> tuple[str, tuple[str, list[str]]]:
    """The node of a finding that no shape gives; where no record is known it is about the data set."""
    known = finding.record is not None and LINKED_ID.match(finding.record)
    focus = f"{base}record/{finding.record}" if known else base
    severity = _SEVERITY_IRIS[finding.severity]
    message = finding.message if known or finding.file is None else f"{finding.message} ({finding.place})"
    said = [*_common(focus, severity, f"{EVKG}RecordCheck", message), *_told(finding.rule, finding.field)]
    if finding.value is not None:
        said.append(f"<{SH}value> {quote_literal(finding.value)}")
    # Where a record stands does not matter: the same records give the same report, however they lie in files.
    key = (focus, finding.rule, finding.field or "", finding.value or "", message, severity)
    return _node(base, *key), (severity, said)


def _common(focus: str, severity: str, component: str, message: str) -> Iterator[str]:
    yield f"<{RDF}type> <{SH}ValidationResult>"
    yield f"<{SH}focusNode> <{focus}>"
    yield f"<{SH}resultSeverity> <{severity}>"
    yield f"<{SH}sourceConstraintComponent> <{component}>"
    yield f"<{SH}resultMessage> {quote_literal(message)}"


def _told(rule: str, field: str | None) -> Iterator[str]:
    if rule:
        yield f"<{EVKG}rule> {quote_literal(rule)}"
    if field:
        yield f"<{EVKG}field> {quote_literal(field)}"


def render_turtle(
    results: Sequence[Result], base: str, located: Iterable[Finding] = (), apart: Iterable[Finding] = ()
) -> str:
    """The report as Turtle; see `report_quads`."""
    import pyoxigraph as ox

    text = "\n".join([*report_quads(results, base, located, apart), ""])
    triples = [quad.triple for quad in ox.parse(input=text.encode(), format=ox.RdfFormat.N_QUADS)]
    used = {prefix: PREFIXES[prefix] for prefix in ("evkg", "rdf", "sh", "xsd")}
    lines = (ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes=used) or b"").decode().splitlines(keepends=True)
    # The serialiser writes the prefixes in an order of chance.
    return "".join([*sorted(lines[: len(used)]), *lines[len(used) :]])
