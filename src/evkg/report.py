"""The validation report as RDF: standard terms, no blank nodes, the same bytes for the same findings.

It is made record by record: a result is named by its record and a hash of what it says, so the lines of a
record stand together in the sorted report, and what is unchanged need not be made again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from evkg.convert import quote_literal
from evkg.finding import SEVERITIES, Finding
from evkg.namespaces import EVKG, PREFIXES, RDF, SH, XSD, graph_iri
from evkg.record import LINKED_ID
from evkg.shapes import Result

_SEVERITY_IRIS: Final = {severity: f"{SH}{severity.capitalize()}" for severity in SEVERITIES}
#: Results that are about no record are named as if by a record of this name, which none can have.
_NO_RECORD: Final = "-"
_USED: Final = ("evkg", "rdf", "sh", "xsd")


@dataclass(frozen=True, slots=True)
class Block:
    """The part of the report on one record: its results by node, each with what is said of it.

    `said` maps the IRI of a result to its severity and `predicate object` texts of N-Triples.
    """

    base: str
    said: dict[str, tuple[str, list[str]]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The N-Quads lines of the results, sorted."""
        graph = f"<{graph_iri(self.base, 'validation')}> ."
        return sorted(f"<{node}> {part} {graph}" for node, (_, said) in self.said.items() for part in set(said))

    def links(self) -> list[str]:
        """The N-Quads lines that make the results part of the report, sorted."""
        report, graph = f"<{self.base}validation>", f"<{graph_iri(self.base, 'validation')}> ."
        return sorted(f"{report} <{SH}result> <{node}> {graph}" for node in self.said)

    def turtle(self) -> str:
        """The results as Turtle."""
        return "".join(
            f"\n<{node}> " + " ;\n    ".join(_short(part) for part in sorted(set(said))) + " .\n"
            for node, (_, said) in sorted(self.said.items())
        )

    def severities(self) -> Counter[str]:
        """How many results of each severity (counts)."""
        return Counter(severity for severity, _ in self.said.values())


def record_block(
    base: str, record_id: str, pairs: Iterable[tuple[Result, Finding]], apart: Iterable[Finding] = ()
) -> Block:
    """The results on one record: those of shapes with their findings, and the findings that no shape gives.

    >>> finding = Finding("warning", "older-shape", "An older form.", record="gena-lm")
    >>> len(record_block("https://w3id.org/evkg/", "gena-lm", [], [finding]).lines())
    6
    """
    block = Block(base)
    for result, finding in pairs:
        key, severity, said = _of_shape(result, finding)
        block.said.setdefault(_node(base, record_id, *key), (severity, said))
    for finding in apart:
        key, severity, said = _of_finding(finding, base)
        block.said.setdefault(_node(base, record_id, *key), (severity, said))
    return block


def dataset_block(base: str, findings: Iterable[Finding]) -> Block:
    """The results that are about no record but about a file or the data set."""
    return record_block(base, _NO_RECORD, [], findings)


def frame_lines(base: str, severities: Counter[str]) -> list[str]:
    """The N-Quads lines on the report itself, sorted.

    As the standard has it, `sh:conforms` is true only without any result, be it a warning; what gates a
    release stands in the release graph.

    Source: SHACL, section 3.6 (validation report).
    """
    graph = f"<{graph_iri(base, 'validation')}> ."
    return sorted(f"<{base}validation> {part} {graph}" for part in _frame(severities))


def frame_turtle(base: str, severities: Counter[str]) -> str:
    """The prefixes, and the report itself but for its results, as the beginning of a Turtle file."""
    prefixes = "".join(f"@prefix {name}: <{PREFIXES[name]}> .\n" for name in _USED)
    said = " ;\n    ".join(_short(part) for part in _frame(severities))
    return f"{prefixes}\n<{base}validation> {said} .\n"


def links_turtle(base: str, nodes: Sequence[str]) -> str:
    """The links from the report to its results, as the end of a Turtle file."""
    if not nodes:
        return ""
    listed = " ,\n        ".join(f"<{node}>" for node in sorted(nodes))
    return f"\n<{base}validation> sh:result {listed} .\n"


def sort_key(record_id: str | None) -> str:
    """Where the lines on a record stand in the sorted report."""
    return f"{record_id or _NO_RECORD}/"


def _frame(severities: Counter[str]) -> Iterator[str]:
    yield f"<{RDF}type> <{SH}ValidationReport>"
    yield f'<{SH}conforms> "{str(not severities.total()).lower()}"^^<{XSD}boolean>'
    for severity, iri in _SEVERITY_IRIS.items():
        yield f'<{EVKG}{severity}Count> "{severities[iri]}"^^<{XSD}integer>'


def _node(base: str, record_id: str, *parts: str) -> str:
    return f"{base}validation/{record_id}/{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}"


def _of_shape(result: Result, finding: Finding) -> tuple[tuple[str, ...], str, list[str]]:
    """What names a SHACL result, its severity and what is said of it."""
    said = [*_common(result.focus, result.severity, result.component, result.message)]
    said += [*_told(finding.rule, finding.field)]
    if result.shape:
        said.append(f"<{SH}sourceShape> <{result.shape}>")
    if result.path:
        said.append(f"<{SH}resultPath> <{result.path}>")
    if result.value is not None:
        value = f"<{result.value}>" if result.value_is_iri else quote_literal(result.value)
        said.append(f"<{SH}value> {value}")
    key = (result.focus, result.shape, result.path or "", result.value or "", result.component)
    return key, result.severity, said


def _of_finding(finding: Finding, base: str) -> tuple[tuple[str, ...], str, list[str]]:
    """The same of a finding that no shape gives; where no record is known it is about the data set."""
    known = finding.record is not None and LINKED_ID.match(finding.record)
    focus = f"{base}record/{finding.record}" if known else base
    severity = _SEVERITY_IRIS[finding.severity]
    message = finding.message if known or finding.file is None else f"{finding.message} ({finding.place})"
    said = [*_common(focus, severity, f"{EVKG}RecordCheck", message), *_told(finding.rule, finding.field)]
    if finding.value is not None:
        said.append(f"<{SH}value> {quote_literal(finding.value)}")
    # Where a record stands does not matter: the same records give the same report, however they lie in files.
    key = (focus, finding.rule, finding.field or "", finding.value or "", message, severity)
    return key, severity, said


def _common(focus: str, severity: str, component: str, message: str) -> Iterator[str]:
    yield f"<{RDF}type> <{SH}ValidationResult>"
    yield f"<{SH}focusNode> <{focus}>"
    yield f"<{SH}resultSeverity> <{severity}>"
    yield f"<{SH}sourceConstraintComponent> <{component}>"
    yield f"<{SH}resultMessage> {quote_literal(message)}"


def _told(rule: str, name: str | None) -> Iterator[str]:
    if rule:
        yield f"<{EVKG}rule> {quote_literal(rule)}"
    if name:
        yield f"<{EVKG}field> {quote_literal(name)}"


def _short(part: str) -> str:
    """`predicate object` with the usual prefixes, where the rest of an IRI is a plain word."""
    predicate, value = part.split(" ", 1)
    if predicate == f"<{RDF}type>":
        return f"a {_curie(value)}"
    if value.startswith('"') and value.endswith(">"):
        begin, mark, kind = value.rpartition("^^")
        return f"{_curie(predicate)} {begin}{mark}{_curie(kind)}"
    return f"{_curie(predicate)} {_curie(value) if value.startswith('<') else value}"


def _curie(iri: str) -> str:
    for name in _USED:
        if iri.startswith(f"<{PREFIXES[name]}") and (local := iri[len(PREFIXES[name]) + 1 : -1]).isidentifier():
            return f"{name}:{local}" if local.isascii() else iri
    return iri
