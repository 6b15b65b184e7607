"""The SHACL report as RDF: standard terms, no blank nodes, the same bytes for the same results."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from evkg.convert import quote_literal
from evkg.namespaces import PREFIXES, RDF, SH, XSD, graph_iri
from evkg.shapes import Result


def report_quads(results: Sequence[Result], base: str) -> list[str]:
    """The report as N-Quads lines of the validation graph, sorted.

    A result is named by a hash of its focus node, shape, path, value and component. As the standard
    has it, `sh:conforms` is true only without any result, be it a warning; what gates a release
    stands in the release graph.

    Source: SHACL, section 3.6 (validation report).

    >>> len(report_quads([], "https://w3id.org/evkg/"))
    2
    """
    report = f"<{base}validation>"
    lines = [
        f"{report} <{RDF}type> <{SH}ValidationReport>",
        f'{report} <{SH}conforms> "{str(not results).lower()}"^^<{XSD}boolean>',
    ]
    for result in results:
        key = "\x00".join((result.focus, result.shape, result.path or "", result.value or "", result.component))
        node = f"<{base}validation/{hashlib.sha256(key.encode()).hexdigest()[:24]}>"
        lines += [
            f"{report} <{SH}result> {node}",
            f"{node} <{RDF}type> <{SH}ValidationResult>",
            f"{node} <{SH}focusNode> <{result.focus}>",
            f"{node} <{SH}resultSeverity> <{result.severity}>",
            f"{node} <{SH}sourceConstraintComponent> <{result.component}>",
            f"{node} <{SH}resultMessage> {quote_literal(result.message)}",
        ]
        if result.shape:
            lines.append(f"{node} <{SH}sourceShape> <{result.shape}>")
        if result.path:
            lines.append(f"{node} <{SH}resultPath> <{result.path}>")
        if result.value is not None:
            value = f"<{result.value}>" if result.value_is_iri else quote_literal(result.value)
            lines.append(f"{node} <{SH}value> {value}")
    return sorted(f"{line} <{graph_iri(base, 'validation')}> ." for line in set(lines))


def render_turtle(results: Sequence[Result], base: str) -> str:
    """The report as Turtle."""
    import pyoxigraph as ox

    text = "\n".join([*report_quads(results, base), ""])
    triples = [quad.triple for quad in ox.parse(input=text.encode(), format=ox.RdfFormat.N_QUADS)]
    used = {prefix: PREFIXES[prefix] for prefix in ("evkg", "rdf", "sh", "xsd")}
    return (ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes=used) or b"").decode()
