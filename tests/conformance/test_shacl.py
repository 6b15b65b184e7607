"""The W3C's SHACL tests: pySHACL's own result through the normative validator, all of the profile through the fast one.

Source: https://github.com/w3c/data-shapes, data-shapes-test-suite. The suite lies beside the repository;
`EVKG_SHACL_SUITE` names another place, such as a copy of all of it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import pyoxigraph as ox
import pytest

from evkg.errors import VocabularyError
from evkg.fast import FastValidator
from evkg.namespaces import RDF, SH
from evkg.normative import NormativeValidator
from evkg.shapes import Result, Shapes
from tests.conftest import SHARED

SUITE: Final = Path(os.environ.get("EVKG_SHACL_SUITE") or SHARED / "cases/conformance/shacl")
MF: Final = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
SHT: Final = "http://www.w3.org/ns/shacl-test#"

#: Case -> why pySHACL itself does not give the expected result.
EXCEPTIONS: Final = {
    "core/property/uniqueLang-002": 'pySHACL takes sh:uniqueLang "1"^^xsd:boolean for true; only the term true counts',
    "sparql/pre-binding/shapesGraph-001": "pySHACL offers no $shapesGraph, which is optional",
}

Term = ox.NamedNode | ox.BlankNode | ox.Literal
#: (focus, path, value, is the value an IRI, shape, component, severity); "" and None for what is blank.
Row = tuple[str, str | None, str | None, bool, str, str, str]


@dataclass(frozen=True)
class Case:
    """One test: two files, and the expected rows, or None where the shapes must be refused."""

    name: str
    data: Path
    shapes: Path
    expected: frozenset[Row] | None


class Facts:
    """The triples of a Turtle file by subject."""

    def __init__(self, file: Path) -> None:
        self.triples = tuple(
            quad.triple for quad in ox.parse(path=str(file), format=ox.RdfFormat.TURTLE, base_iri=file.as_uri())
        )
        self._about: dict[object, list[ox.Triple]] = {}
        for triple in self.triples:
            self._about.setdefault(triple.subject, []).append(triple)

    def all(self, subject: object, predicate: str) -> list[object]:
        return [triple.object for triple in self._about.get(subject, ()) if triple.predicate.value == predicate]

    def one(self, subject: object, predicate: str) -> object:
        return next(iter(self.all(subject, predicate)), None)

    def subjects(self, predicate: str, value: str) -> list[object]:
        return [
            triple.subject
            for triple in self.triples
            if triple.predicate.value == predicate and triple.object == ox.NamedNode(value)
        ]

    def without_tests(self) -> tuple[ox.Triple, ...]:
        """The triples that are no part of a manifest or of an expected report."""
        tests = self.subjects(RDF + "type", SHT + "Validate")
        reports = [report for test in tests for report in self.all(test, MF + "result")]
        results = [result for report in reports for result in self.all(report, SH + "result")]
        gone = {*tests, *reports, *results, *self.subjects(RDF + "type", MF + "Manifest")}
        gone |= {action for test in tests for action in self.all(test, MF + "action")}
        paths = [path for result in results for path in self.all(result, SH + "resultPath")]
        while paths:  # a path in a report repeats the one in the shape, with blank nodes of its own
            path = paths.pop()
            if isinstance(path, ox.BlankNode) and path not in gone:
                gone.add(path)
                paths += [triple.object for triple in self._about.get(path, ())]
        return tuple(triple for triple in self.triples if triple.subject not in gone)


class SuiteShapes(Shapes):
    """The shapes of one file of the suite; they may have targets that evkg's own shapes do without."""

    def __init__(self, file: Path) -> None:
        super().__init__(file.parent)
        self._file = file

    @cached_property
    def files(self) -> tuple[Path, ...]:
        return (self._file,)

    @cached_property
    def triples(self) -> tuple[ox.Triple, ...]:
        return Facts(self._file).without_tests()


def _file(term: object) -> Path:
    assert isinstance(term, ox.NamedNode)
    return Path(unquote(urlsplit(term.value).path))


def _row(facts: Facts, result: object) -> Row:
    def iri(name: str) -> str | None:
        term = facts.one(result, SH + name)
        return term.value if isinstance(term, ox.NamedNode) else None

    focus, value = facts.one(result, SH + "focusNode"), facts.one(result, SH + "value")
    assert isinstance(focus, Term)
    return (
        focus.value,
        iri("resultPath"),
        value.value if isinstance(value, ox.NamedNode | ox.Literal) else None,
        isinstance(value, ox.NamedNode),
        iri("sourceShape") or "",
        str(iri("sourceConstraintComponent")),
        str(iri("resultSeverity")),
    )


def read_cases(folder: Path) -> list[Case]:
    found = []
    for file in sorted(folder.rglob("*.ttl")):
        part = file.relative_to(folder).with_suffix("").as_posix()
        if part.partition("/")[0] not in ("core", "sparql") or file.name == "manifest.ttl":
            continue
        facts = Facts(file)
        for test in facts.subjects(RDF + "type", SHT + "Validate"):
            action, result = facts.one(test, MF + "action"), facts.one(test, MF + "result")
            is_failure = result == ox.NamedNode(SHT + "Failure")
            rows = frozenset(_row(facts, one) for one in facts.all(result, SH + "result"))
            data, shapes = (_file(facts.one(action, SHT + name)) for name in ("dataGraph", "shapesGraph"))
            found.append(Case(part, data, shapes, None if is_failure else rows))
    return found


CASES: Final = read_cases(SUITE)
INSIDE: Final = [
    case for case in CASES if case.expected is not None and not [*SuiteShapes(case.shapes).profile_problems()]
]

needs_suite = pytest.mark.skipif(not CASES, reason="the W3C's SHACL tests lie beside the repository and are not here")


def rows_of(results: Iterable[Result]) -> frozenset[Row]:
    return frozenset((r.focus, r.path, r.value, r.value_is_iri, r.shape, r.component, r.severity) for r in results)


def lines_of(case: Case) -> list[str]:
    return [f"{triple} ." for triple in Facts(case.data).triples]


def _marked(case: Case) -> object:
    reason = EXCEPTIONS.get(case.name)
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(case, id=case.name, marks=marks)


@needs_suite
@pytest.mark.filterwarnings("ignore:.*can only be present on a PropertyShape")
@pytest.mark.parametrize("case", [_marked(case) for case in CASES])
def test_the_normative_validator_gives_the_expected_results(case: Case) -> None:
    validator = NormativeValidator(SuiteShapes(case.shapes))
    if case.expected is None:
        with pytest.raises(VocabularyError):
            validator.run(lines_of(case))
    else:
        assert rows_of(validator.run(lines_of(case))) == case.expected


@needs_suite
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in INSIDE])
def test_the_fast_validator_gives_the_expected_results_inside_the_profile(case: Case) -> None:
    assert rows_of(FastValidator(SuiteShapes(case.shapes)).run(lines_of(case))) == case.expected


@needs_suite
def test_enough_of_the_suite_is_there_and_inside_the_profile() -> None:
    """Counts: a profile that lets nothing in, or a reader that finds no case, would pass everything."""
    parts = Counter(case.name.partition("/")[0] for case in CASES)
    assert parts["core"] >= 57
    assert parts["sparql"] >= 18
    assert len(INSIDE) >= 11
    assert any(case.expected for case in INSIDE)
    assert {case.name for case in CASES} >= {"core/targets/targetClass-001", "sparql/pre-binding/shapesGraph-001"}
