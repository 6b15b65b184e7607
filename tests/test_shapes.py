"""The shapes: every rule fires on its own record, complete records pass in silence, the profile is kept."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyshacl
import pytest
import rdflib
from rdflib import RDF, RDFS, SH, SKOS, Graph, URIRef
from rdflib.collection import Collection
from rdflib.term import Node

from evkg.convert import Converter
from evkg.namespaces import EVKG, VOCAB
from evkg.reader import read_records
from evkg.record import Record
from evkg.vocabulary import Vocabulary
from tests.conftest import BASE, ROOT

SHAPES: Final = ROOT / "shapes"
RECORDS: Final = ROOT / "tests" / "records"
NAMESPACE: Final = "https://w3id.org/evkg/shapes#"
GATING: Final = ("Violation", "Warning")

COMPLETES: Final = URIRef(EVKG + "completes")
FIX_HINT: Final = URIRef(EVKG + "fixHint")
MISSING_PROPERTY: Final = URIRef(EVKG + "missingProperty")
EXPECTED_KIND: Final = URIRef(EVKG + "expectedKind")

#: The parts of SHACL that the profile allows; a fast engine gives the same results for these.
PROFILE: Final = frozenset(
    """NodeShape PropertyShape Violation Warning Info
    targetClass property path inversePath alternativePath severity message
    or and not class in hasValue minCount maxCount pattern minInclusive minExclusive maxExclusive
    lessThanOrEquals disjoint qualifiedValueShape qualifiedMinCount qualifiedMaxCount""".split()
)

#: Rules whose fault cannot be written without another one: rule -> the other rules.
TOGETHER: Final[Mapping[str, set[str]]] = {
    # An unknown type is read as unresolved_spread where its word can go into the note.
    "uncertainty-type-known": {"setting-text"},
}

#: Kinds of value that take what is given, or that only the conversion writes.
NEVER_MISFIT: Final = frozenset(
    {"json", "comparison-value", "instant", "items", "property", "quotations", "retrieval", "settings"}
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One result of a validation: the rule, its severity, the record it is about and the message."""

    rule: str
    severity: str
    record: str
    message: str


def read_shapes() -> Graph:
    graph = Graph()
    for file in sorted(SHAPES.glob("*.ttl")):
        graph.parse(file)
    return graph


def rules_of(graph: Graph) -> dict[str, URIRef]:
    """Local name -> IRI of each shape that can report: the shapes with a message."""
    return {
        str(shape).removeprefix(NAMESPACE): shape
        for shape in graph.subjects(SH.message, None)
        if isinstance(shape, URIRef)
    }


_SHAPES: Final = read_shapes()
_RULES: Final = rules_of(_SHAPES)


@pytest.fixture(scope="module", autouse=True)
def _literals_as_written() -> Iterator[None]:
    """rdflib must not rewrite `0.910` to `0.91` while records become graphs."""
    before = rdflib.NORMALIZE_LITERALS
    rdflib.NORMALIZE_LITERALS = False
    yield
    rdflib.NORMALIZE_LITERALS = before


@pytest.fixture(scope="module")
def background() -> Graph:
    """What stands beside the records: the class tree and the concept schemes."""
    graph = Graph()
    for triple in Graph().parse(ROOT / "ontology" / "evkg.ttl").triples((None, RDFS.subClassOf, None)):
        graph.add(triple)
    for file in sorted((ROOT / "ontology" / "vocab").glob("*.ttl")):
        graph.parse(file)
    return graph


def records_in(folder: Path, vocabulary: Vocabulary) -> list[Record]:
    return [item for item in read_records(folder, vocabulary) if isinstance(item, Record)]


def check(records: Iterable[Record], converter: Converter, background: Graph) -> list[Outcome]:
    """The outcomes of pySHACL over all these records in one flat graph."""
    graph = Graph()
    graph += background
    lines = [line.rpartition(" <")[0] + " ." for record in records for line in converter.record_to_quads(record)]
    graph.parse(data="\n".join(lines), format="nt")
    _, report, _ = pyshacl.validate(graph, shacl_graph=_SHAPES, inference="none", advanced=False, inplace=False)
    assert isinstance(report, Graph), report
    return [
        Outcome(
            rule=str(report.value(result, SH.sourceShape)).removeprefix(NAMESPACE),
            severity=str(report.value(result, SH.resultSeverity)).removeprefix(str(SH)),
            record=record_of(str(report.value(result, SH.focusNode))),
            message=str(report.value(result, SH.resultMessage)),
        )
        for result in report.objects(None, SH.result)
    ]


def record_of(focus: str) -> str:
    """The id of the record that a focus node belongs to."""
    return focus.removeprefix(BASE).partition("#")[0].partition("/")[2]


@pytest.fixture(scope="module")
def outcomes(vocabulary: Vocabulary, converter: Converter, background: Graph) -> Mapping[str, list[Outcome]]:
    """Id of a record under tests/records/invalid -> what the shapes say of it; one run for all."""
    found: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in check(records_in(RECORDS / "invalid", vocabulary), converter, background):
        found[outcome.record].append(outcome)
    return found


# ---- what the shapes say of records ----


@pytest.mark.parametrize("rule", sorted(_RULES))
def test_every_rule_fires_on_its_own_record_and_nothing_else_does(
    rule: str, outcomes: Mapping[str, list[Outcome]]
) -> None:
    found = outcomes.get(rule, [])
    own = [outcome for outcome in found if outcome.rule == rule]
    assert own, f"{rule} is silent on tests/records/invalid/{rule}.yaml"
    severity = str(_SHAPES.value(_RULES[rule], SH.severity)).removeprefix(str(SH))
    message = str(_SHAPES.value(_RULES[rule], SH.message))
    assert {(outcome.severity, outcome.message) for outcome in own} == {(severity, message)}
    others = {outcome.rule for outcome in found if outcome.severity in GATING} - {rule}
    assert others == TOGETHER.get(rule, set())
    beside = [outcome for outcome in outcomes.get(f"{rule}-target", []) if outcome.severity in GATING]
    assert not beside, "the record that it points to is at fault as well"


def test_every_rule_has_a_record_named_for_it_and_every_record_a_rule() -> None:
    assert {file.stem for file in (RECORDS / "invalid").glob("*.yaml")} == set(_RULES)


def test_a_bad_record_says_what_is_wrong_and_marks_the_line(vocabulary: Vocabulary) -> None:
    for file in sorted((RECORDS / "invalid").glob("*.yaml")):
        text = file.read_text()
        assert re.match(r"# \S.*\.\n\n", text), f"{file.name} does not begin with a sentence on its fault"
        assert text.count("# <- here") <= 1, f"{file.name} marks more than one line"
        ids = [record.id for record in records_in(file, vocabulary)]
        assert ids == [file.stem] or ids == [file.stem, f"{file.stem}-target"], f"{file.name} holds {ids}"


def test_complete_records_of_every_kind_pass_in_silence(
    vocabulary: Vocabulary, converter: Converter, background: Graph
) -> None:
    records = records_in(RECORDS / "valid", vocabulary)
    assert {file.stem for file in (RECORDS / "valid").glob("*.yaml")} == set(vocabulary.kinds)
    assert {record.kind for record in records} == set(vocabulary.kinds)
    assert [outcome for outcome in check(records, converter, background) if outcome.severity in GATING] == []


def test_nothing_is_expected_of_an_excluded_record(vocabulary: Vocabulary) -> None:
    records = records_in(RECORDS / "valid" / "result.yaml", vocabulary)
    assert any(record.data["status"] == "excluded" and not record.attributes for record in records)


def test_the_seed_records_break_no_rule(seed_records: list[Record], converter: Converter, background: Graph) -> None:
    found = check(seed_records, converter, background)
    assert [outcome for outcome in found if outcome.severity == "Violation"] == []
    assert any(outcome.severity == "Warning" for outcome in found), "real records are not complete; some rule is deaf"


# ---- what the shapes look like ----


@pytest.mark.parametrize("file", sorted(SHAPES.glob("*.ttl")), ids=lambda file: file.name)
def test_each_file_parses_and_begins_with_what_is_in_it(file: Path) -> None:
    assert len(Graph().parse(file)) > 0
    assert file.read_text().startswith("# ")


@pytest.mark.long
def test_shapes_pass_shacl_shacl() -> None:
    """`meta_shacl=True` does the same, but gives up at a depth that sh:or with lists in paths goes beyond."""
    shacl_shacl = Graph().parse(Path(pyshacl.__file__).parent / "assets" / "shacl-shacl.ttl")
    conforms, _, text = pyshacl.validate(
        _SHAPES, shacl_graph=shacl_shacl, inference="none", advanced=False, inplace=True, max_validation_depth=40
    )
    assert conforms, text


def test_the_ontology_header_stands_once_with_its_version() -> None:
    headers = list(_SHAPES.subject_objects(rdflib.OWL.versionIRI))
    assert headers == [
        (URIRef("https://w3id.org/evkg/shapes"), URIRef("https://w3id.org/evkg/shapes/0.1.0")),
    ]


@pytest.mark.parametrize("rule", sorted(_RULES))
def test_a_rule_says_in_plain_words_what_is_wrong_and_what_to_write(rule: str) -> None:
    shape = _RULES[rule]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule)
    assert _SHAPES.value(shape, SH.severity) in {SH.Violation, SH.Warning, SH.Info}
    for predicate in (SH.message, FIX_HINT):
        texts = list(_SHAPES.objects(shape, predicate))
        assert len(texts) == 1, f"{rule} has {len(texts)} of {predicate}"
        text = str(texts[0])
        assert text[:1].strip()
        assert text.endswith(".")
        assert not re.search(r"sh:|w3id|<http|minCount|maxCount|\b(shape|node|IRI|triple|RDF|SHACL|graph)s?\b", text)
    message = _SHAPES.value(shape, SH.message)
    assert isinstance(message, rdflib.Literal)
    assert message.language == "en"


def test_every_shape_that_can_report_has_a_name() -> None:
    """Shapes with a target, and the properties of such shapes, are the ones that results name."""
    for shape in set(_SHAPES.subjects(SH.targetClass, None)):
        assert isinstance(shape, URIRef)
        own = set(_SHAPES.predicates(shape)) - {RDF.type, SH.targetClass, SH.property, COMPLETES}
        assert not own or str(shape).removeprefix(NAMESPACE) in _RULES, f"{shape} can report but has no message"
        for inner in _SHAPES.objects(shape, SH.property):
            assert str(inner).removeprefix(NAMESPACE) in _RULES, f"{shape} has a property shape without a message"


def test_shapes_keep_to_the_profile_that_a_fast_engine_accepts() -> None:
    used = {
        str(term).removeprefix(str(SH))
        for triple in _SHAPES
        for term in triple
        if isinstance(term, URIRef) and term.startswith(str(SH))
    }
    assert used - PROFILE == set()
    for pattern in _SHAPES.objects(None, SH.pattern):
        assert not re.search(r"\(\?|\\[1-9]", str(pattern)), f"{pattern} looks around or back"
        re.compile(str(pattern))


def test_no_shape_refers_to_itself() -> None:
    def inner(node: Node) -> Iterator[Node]:
        for predicate, value in _SHAPES.predicate_objects(node):
            if predicate not in (RDF.type, SH.targetClass, SH["class"], COMPLETES, SH["in"], SH.hasValue):
                yield value

    def walk(node: Node, above: tuple[Node, ...]) -> None:
        assert node not in above, f"{node} refers to itself"
        for value in inner(node):
            if not isinstance(value, rdflib.Literal):
                walk(value, (*above, node))

    for shape in _SHAPES.subjects(SH.targetClass, None):
        walk(shape, ())


def test_every_term_of_a_shape_is_declared() -> None:
    """A misspelt property would make a rule deaf, and no engine says so."""
    ontology = Graph().parse(ROOT / "ontology" / "evkg.ttl")
    vocabulary = Graph()
    for file in sorted((ROOT / "ontology" / "vocab").glob("*.ttl")):
        vocabulary.parse(file)
    for term in {term for triple in _SHAPES for term in triple if isinstance(term, URIRef)}:
        if term.startswith(EVKG):
            assert (term, RDF.type, None) in ontology, f"{term} is not in ontology/evkg.ttl"
        elif term.startswith(VOCAB):
            assert (term, RDF.type, None) in vocabulary, f"{term} is not in ontology/vocab/"
        elif term.startswith(NAMESPACE):
            assert (term, RDF.type, None) in _SHAPES, f"{term} is no shape"


def test_both_iris_of_a_completeness_shape_agree() -> None:
    shapes = list(_SHAPES.subject_objects(COMPLETES))
    assert shapes
    for shape, completed in shapes:
        alternatives = [part for head in _SHAPES.objects(shape, SH["or"]) for part in Collection(_SHAPES, head)]
        explained = {
            _SHAPES.value(entry, SH.hasValue)
            for part in alternatives
            for entry in _SHAPES.objects(part, SH.qualifiedValueShape)
            if _SHAPES.value(entry, SH.path) == MISSING_PROPERTY
        }
        assert completed in explained, f"{shape} completes {completed} but asks for an entry on {explained}"


def test_every_kind_is_the_target_of_a_shape(vocabulary: Vocabulary) -> None:
    targets = {str(target).removeprefix(EVKG) for target in _SHAPES.objects(None, SH.targetClass)}
    assert set(vocabulary.kinds.values()) <= targets


def test_every_kind_of_value_that_may_not_fit_has_a_rule(vocabulary: Vocabulary) -> None:
    named: set[str] = set()
    patterns: list[str] = []
    for shape in _SHAPES.subjects(SH.path, EXPECTED_KIND):
        for part in [shape, *_SHAPES.objects(shape, SH["not"])]:
            named.update(str(value) for value in _SHAPES.objects(part, SH.hasValue))
            patterns.extend(str(value) for value in _SHAPES.objects(part, SH.pattern))
            for head in _SHAPES.objects(part, SH["in"]):
                named.update(str(value) for value in Collection(_SHAPES, head))
    wanted = {term.value_kind for term in vocabulary.terms.values()} - NEVER_MISFIT | {"link"}
    silent = {kind for kind in wanted - named if not any(re.search(pattern, kind) for pattern in patterns)}
    assert silent == set()


def test_every_field_that_holds_a_key_is_checked_against_its_scheme(vocabulary: Vocabulary) -> None:
    """Violation for a closed scheme, warning for an open one; or the field has a list of words of its own."""
    checked: dict[str, set[tuple[str, Node | None]]] = defaultdict(set)
    listed: set[str] = set()
    for shape, path in _SHAPES.subject_objects(SH.path):
        for head in (*_SHAPES.objects(shape, SH["and"]), *_SHAPES.objects(shape, SH["or"])):
            for part in Collection(_SHAPES, head):
                scheme = _SHAPES.value(part, SH.hasValue)
                if _SHAPES.value(part, SH.path) == SKOS.inScheme:
                    checked[str(path)].add((str(scheme).removeprefix(VOCAB), _SHAPES.value(shape, SH.severity)))
        if (shape, SH["in"], None) in _SHAPES:
            listed.add(str(path))
    for term in vocabulary.terms.values():
        if term.scheme is None:
            continue
        severity = SH.Warning if vocabulary.schemes[term.scheme].open else SH.Violation
        assert checked[term.iri] == {(term.scheme, severity)}, f"{term.record_key} is not checked as it should be"
    assert EVKG + "applicability" in listed


def test_every_relation_with_a_kind_of_target_is_checked(vocabulary: Vocabulary) -> None:
    classes: dict[str, set[str]] = defaultdict(set)
    for shape, path in _SHAPES.subject_objects(SH.path):
        for head in _SHAPES.objects(shape, SH["or"]):
            for part in Collection(_SHAPES, head):
                classes[str(path)].update(str(value).removeprefix(EVKG) for value in _SHAPES.objects(part, SH["class"]))
    for relation, term in vocabulary.relations.items():
        if term.link_to is not None:
            assert classes[term.iri] == {term.link_to}, f"the targets of {relation} are not checked"


def test_each_relation_is_refused_on_every_kind_that_cannot_have_it(vocabulary: Vocabulary) -> None:
    members = {group: {n for n, g in vocabulary.groups.items() if g == group} for group in vocabulary.groups.values()}
    for relation, term in vocabulary.relations.items():
        refused: set[str] = set()
        for target in _SHAPES.objects(
            URIRef(f"{NAMESPACE}relation-{relation.replace('_', '-')}-others"), SH.targetClass
        ):
            name = str(target).removeprefix(EVKG)
            refused |= members.get(name, {name})
        allowed = {n for n, group in vocabulary.groups.items() if not term.used_on or {n, group} & term.used_on}
        assert refused == set(vocabulary.kinds.values()) - allowed, relation
