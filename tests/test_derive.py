"""Derived facts: owlrl's closure and no more, rules that reach what they should, and nothing forbidden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from evkg.axioms import load_axioms
from evkg.derive import derive
from evkg.errors import InconsistencyError, VocabularyError
from evkg.inference import Rule, load_rules
from evkg.namespaces import DCTERMS, EVKG, NS, OWL, PROV, RDF, RDFS, SKOS
from tests import owl
from tests.builds import (
    BASE,
    BATCH_256,
    DOUBTED_CONFIGURATION,
    DOUBTED_RESULTS,
    DOUBTED_SOURCE,
    PRINTED,
    ROOT,
    SEED,
    THROUGHPUT_256,
    THROUGHPUT_512,
    Whole,
    check_whole,
    record,
    write_records,
)

ONTOLOGY = ROOT / "ontology"
CLASH = ROOT / "tests/records/derive/evaluation-that-is-a-result.nq"


@pytest.fixture(scope="module")
def checked() -> Whole:
    return check_whole(SEED)


@pytest.fixture(scope="module")
def derived(checked: Whole) -> list[Any]:
    return owl.parse(derive(checked.quads, BASE, load_axioms(), load_rules()))


def subject_ids(quads: list[Any], predicate: str) -> set[str]:
    """The ids of the things that have a property."""
    found = {quad.subject.value for quad in quads if quad.predicate.value == predicate}
    assert all(iri.startswith(f"{BASE}id/") for iri in found)
    return {iri.removeprefix(f"{BASE}id/") for iri in found}


def concerns_on(tmp_path: Path, *records: dict[str, Any]) -> set[tuple[str, str]]:
    """(id of a thing, record of the concern) for each derived open concern on these records."""
    file = write_records(tmp_path / "records.jsonl", *records)
    checked = check_whole(file, is_open=True)
    quads = owl.parse(derive(checked.quads, BASE, load_axioms(), load_rules()))
    return {
        (quad.subject.value.rsplit("/", 1)[1], quad.object.value.rsplit("/", 1)[1].partition("#")[0])
        for quad in quads
        if quad.predicate.value == f"{EVKG}openConcern"
    }


# ---- The axioms, beside the normative reasoner ----


def test_the_closure_of_the_seed_data_is_that_of_owlrl(checked: Whole) -> None:
    asserted = owl.parse(checked.quads)
    subjects = {str(quad.subject) for quad in asserted}
    ours = owl.facts_of_quads([*asserted, *owl.parse(derive(checked.quads, BASE, load_axioms()))], subjects)
    graph = owl.closure(checked.quads, ONTOLOGY)
    theirs = owl.facts_of_graph(graph, subjects)
    assert len(ours) > 1500
    assert sorted(ours - theirs) == []
    assert sorted(theirs - ours) == []
    assert owl.error_messages(graph) == []


def test_an_evaluation_that_is_also_a_result_stops_the_build_and_owlrl_reports_it_too() -> None:
    lines = CLASH.read_text(encoding="utf-8").splitlines()
    with pytest.raises(InconsistencyError, match=r"id/both.*prov:Activity.*prov:Entity"):
        derive(lines, BASE, load_axioms())
    messages = owl.error_messages(owl.closure(lines, ONTOLOGY))
    assert len(messages) == 1
    assert "Disjoint classes" in messages[0]
    assert f"{BASE}id/both" in messages[0]


def test_every_axiom_of_the_ontology_has_a_rule() -> None:
    store = ox.Store()
    for file in ONTOLOGY.rglob("*.ttl"):
        store.load(path=str(file), format=ox.RdfFormat.TURTLE)
    axioms = load_axioms()
    for predicate, count in (
        (f"{RDFS}subClassOf", sum(map(len, axioms.above.values()))),
        (f"{RDFS}subPropertyOf", len(axioms.wider)),
        (f"{OWL}inverseOf", len(axioms.inverse) // 2),
        (f"{OWL}propertyChainAxiom", len(axioms.chains)),
    ):
        assert len(list(store.quads_for_pattern(None, ox.NamedNode(predicate), None))) == count > 0
    assert (f"{PROV}Activity", f"{PROV}Entity") in load_axioms().disjoint


@pytest.mark.parametrize(
    "axiom",
    [
        "evkg:a owl:equivalentClass evkg:b .",
        "evkg:a owl:equivalentProperty evkg:b .",
        "evkg:a owl:sameAs evkg:b .",
        "evkg:a a owl:TransitiveProperty .",
        "evkg:a a owl:SymmetricProperty .",
        "evkg:a a owl:FunctionalProperty .",
        "evkg:a a owl:InverseFunctionalProperty .",
        "evkg:a rdfs:domain evkg:B .",
        "evkg:a rdfs:range evkg:B .",
        "evkg:a owl:propertyDisjointWith evkg:b .",
        "[] owl:onProperty evkg:a ; owl:hasValue evkg:b .",
        "evkg:A owl:unionOf ( evkg:B evkg:C ) .",
    ],
)
def test_an_axiom_without_a_rule_is_an_error_and_never_passed_over(tmp_path: Path, axiom: str) -> None:
    prefixes = f"@prefix evkg: <{EVKG}> . @prefix owl: <{OWL}> . @prefix rdfs: <{RDFS}> .\n"
    (tmp_path / "evkg.ttl").write_text(prefixes + axiom, encoding="utf-8")
    with pytest.raises(VocabularyError, match="no rule"):
        load_axioms(tmp_path)


def test_subclasses_and_subproperties_are_followed_all_the_way_up() -> None:
    line = f"<{BASE}id/c> <{RDF}type> <{EVKG}Configuration> <{BASE}record/c> ."
    types = {quad.object.value for quad in owl.parse(derive([line], BASE, load_axioms()))}
    assert {f"{EVKG}System", f"{PROV}Entity"} <= types


# ---- Asserted and derived can be told apart ----


def test_no_derived_fact_is_asserted_and_no_triple_is_derived_twice(checked: Whole, derived: list[Any]) -> None:
    def triples(quads: list[Any]) -> list[tuple[str, str, str]]:
        return [(str(quad.subject), str(quad.predicate), str(quad.object)) for quad in quads]

    assert len(derived) > 300
    assert len(set(triples(derived))) == len(derived)
    assert not set(triples(derived)) & set(triples(owl.parse(checked.quads)))


def test_all_derived_facts_stand_in_the_derived_graph_and_have_no_blank_node(derived: list[Any]) -> None:
    assert {str(quad.graph_name) for quad in derived} == {f"<{BASE}graph/derived>"}
    assert all(isinstance(quad.subject, ox.NamedNode) for quad in derived)
    assert not any(isinstance(quad.object, ox.BlankNode) for quad in derived)


def test_deriving_twice_gives_the_same_lines_in_order(checked: Whole) -> None:
    first = derive(checked.quads, BASE, load_axioms(), load_rules())
    assert first == derive(list(reversed(checked.quads)), BASE, load_axioms(), load_rules())
    assert first == sorted(set(first))


# ---- What must never be derived ----


def test_nothing_is_derived_to_be_the_same_as_anything(derived: list[Any]) -> None:
    assert not any(quad.predicate.value.startswith(OWL) for quad in derived)


def test_the_only_derived_literals_are_counts_of_printed_decimals(derived: list[Any]) -> None:
    literals = {quad.predicate.value for quad in derived if isinstance(quad.object, ox.Literal)}
    assert literals == {f"{EVKG}printedDecimals"}


@pytest.mark.parametrize("name", ["status", "family", "metric", "unit", "printedValue", "numericText", "review"])
def test_no_status_family_or_value_is_derived(derived: list[Any], name: str) -> None:
    assert not [quad for quad in derived if quad.predicate.value == EVKG + name]


def test_the_derived_properties_are_exactly_these(derived: list[Any]) -> None:
    names = {quad.predicate.value for quad in derived if quad.predicate.value.startswith(EVKG)}
    assert {name.removeprefix(EVKG) for name in names} == {
        "blockedBy",
        "blockedDimension",
        "causedBy",
        "causedByConcern",
        "concernAbout",
        "evaluatedIn",
        "fallbackProtocol",
        "hasResult",
        "openConcern",
        "printedDecimals",
        "reasonKind",
        "testedBy",
        "testedOn",
        "testedSystem",
    }


def test_a_result_belongs_to_the_tested_system_only_and_not_to_its_family(derived: list[Any]) -> None:
    tested = {
        quad.subject.value.removeprefix(f"{BASE}id/"): quad.object.value.removeprefix(f"{BASE}id/")
        for quad in derived
        if quad.predicate.value == f"{EVKG}testedSystem"
    }
    assert len(tested) == 14
    assert {tested[result] for result in DOUBTED_RESULTS} == {DOUBTED_CONFIGURATION}
    assert not {"gena-lm", "nucleotide-transformer"} & {
        quad.object.value.rsplit("/", 1)[1] for quad in derived if quad.predicate.value.startswith(f"{EVKG}tested")
    }
    assert not {"gena-lm", "nucleotide-transformer"} & subject_ids(derived, f"{EVKG}evaluatedIn")


def test_results_stay_with_their_system_however_systems_are_related(tmp_path: Path) -> None:
    def link(relation: str, target: str) -> dict[str, str]:
        return {"relation": relation, "target_id": target}

    systems = [record("base", "model")] + [
        record(relation, kind, links=[link(relation.replace("-", "_"), "base")])
        for relation, kind in (("variant-of", "model"), ("configuration-of", "configuration"), ("alias-of", "model"))
    ]
    evaluation = record("e", "evaluation", links=[link("system", "base"), link("assessment", "t"), link("data", "d")])
    result = record("r", "result", links=[link("evaluation", "e")])
    file = write_records(
        tmp_path / "r.jsonl", *systems, evaluation, result, record("t", "task"), record("d", "dataset")
    )
    quads = owl.parse(derive(check_whole(file).quads, BASE, load_axioms(), load_rules()))
    tested = [(q.subject.value, q.object.value) for q in quads if q.predicate.value == f"{EVKG}testedSystem"]
    assert tested == [(f"{BASE}id/r", f"{BASE}id/base")]
    assert subject_ids(quads, f"{EVKG}evaluatedIn") == {"base"}


def test_a_result_that_supersedes_another_is_neither_its_revision_nor_derived_from_it(tmp_path: Path) -> None:
    links = [{"relation": "supersedes", "target_id": "old"}]
    file = write_records(tmp_path / "r.jsonl", record("new", "result", links=links), record("old", "result"))
    checked = check_whole(file, is_open=True)
    quads = owl.parse([*checked.quads, *derive(checked.quads, BASE, load_axioms(), load_rules())])
    between = {
        quad.predicate.value
        for quad in quads
        if "/new" in quad.subject.value and isinstance(quad.object, ox.NamedNode) and "/old" in quad.object.value
    }
    assert between == {f"{EVKG}supersedes"}


# ---- The rules ----


def test_the_concern_reaches_exactly_what_cites_its_source(derived: list[Any]) -> None:
    assert subject_ids(derived, f"{EVKG}openConcern") == {
        DOUBTED_SOURCE,
        DOUBTED_CONFIGURATION,
        *DOUBTED_RESULTS,
        "model-execution-20261011-data-aspidova2026-fixed-length-tokens",
        "model-execution-20261011-eval-aspidova2026-gena-base-throughput",
        "model-execution-20261011-protocol-aspidova2026-a100-inference-throughput",
    }
    concerns = {quad.object.value for quad in derived if quad.predicate.value == f"{EVKG}openConcern"}
    assert len(concerns) == 1


def source(record_id: str, **concern: Any) -> dict[str, Any]:
    concerns = [{"source_id": record_id, "message": "odd numbers", **concern}]
    return record(record_id, "source", attributes={"evidence_concerns": concerns})


def cites(record_id: str, source_id: str, **attributes: Any) -> dict[str, Any]:
    return record(record_id, "result", source_ids=[source_id], attributes=attributes)


def test_a_concern_that_names_a_record_reaches_that_record_and_its_source_only(tmp_path: Path) -> None:
    found = concerns_on(tmp_path, source("s", targets=["r1"]), cites("r1", "s"), cites("r2", "s"))
    assert found == {("s", "s"), ("r1", "s")}


@pytest.mark.parametrize("metric", ["peak-memory", "ndcg@10"])
def test_a_concern_that_names_a_metric_reaches_its_results_only(tmp_path: Path, metric: str) -> None:
    found = concerns_on(
        tmp_path,
        source("s", targets=[metric]),
        cites("r1", "s", metric=metric),
        cites("r2", "s", metric=f"not-{metric}"),
        cites("elsewhere", "other-source", metric=metric),
    )
    assert found == {("s", "s"), ("r1", "s")}


def link(relation: str, target: str) -> dict[str, str]:
    return {"relation": relation, "target_id": target}


def uses(record_id: str, **used: str) -> dict[str, Any]:
    """An evaluation of its own, which cites no source."""
    return record(record_id, "evaluation", links=[link(relation, target) for relation, target in used.items()])


def gives(evaluation: str, **attributes: Any) -> dict[str, Any]:
    """A result of an evaluation, named `r-` and the id of this; it cites no source."""
    return record(f"r-{evaluation}", "result", links=[link("evaluation", evaluation)], attributes=attributes)


@pytest.mark.parametrize(
    "changes",
    [
        {"links": [{"relation": "source", "target_id": "s"}]},
        {"attributes": {"primary_protocol_source_id": "s"}},
        {"attributes": {"review": {"method": ["transcription"], "source_id": "s"}}},
        {"attributes": {"derivation": {"method": "sum", "inputs": [{"source_id": "s"}]}}},
        {"attributes": {"profile": {"summary": "x", "summary_source_ids": ["s"]}}},
    ],
    ids=["link", "attribute", "review", "derivation", "setting"],
)
def test_a_source_is_cited_wherever_a_record_names_it(tmp_path: Path, changes: dict[str, Any]) -> None:
    found = concerns_on(tmp_path, source("s"), record("x", "result", **changes), record("y", "result"))
    assert found == {("s", "s"), ("x", "s")}


def test_a_concern_reaches_the_results_of_an_evaluation_but_not_of_a_system_that_cites_the_source(
    tmp_path: Path,
) -> None:
    system = record("m", "model", source_ids=["s"])
    cited = {**uses("e1", system="other"), "source_ids": ["s"]}
    found = concerns_on(tmp_path, source("s"), system, cited, gives("e1"), uses("e2", system="m"), gives("e2"))
    assert {thing for thing, _ in found} == {"s", "m", "e1", "r-e1"}


def test_a_target_is_touched_whether_or_not_it_cites_the_source(tmp_path: Path) -> None:
    found = concerns_on(tmp_path, source("s", targets=["r1"]), cites("r1", "other"), record("other", "source"))
    assert found == {("s", "s"), ("r1", "s")}


@pytest.mark.parametrize(("kind", "relation"), [("model", "system"), ("task", "assessment"), ("dataset", "data")])
def test_what_uses_a_target_is_touched_with_its_results(tmp_path: Path, kind: str, relation: str) -> None:
    found = concerns_on(
        tmp_path,
        source("s", targets=["t"]),
        record("t", kind),
        uses("e1", **{relation: "t"}),
        gives("e1"),
        uses("e2", **{relation: "not-t"}),
        gives("e2"),
        cites("cites", "s"),
    )
    assert {thing for thing, _ in found} == {"s", "t", "e1", "r-e1"}


def test_an_evaluation_that_is_a_target_is_touched_with_its_results(tmp_path: Path) -> None:
    found = concerns_on(tmp_path, source("s", targets=["e"]), uses("e"), gives("e"), uses("f"), gives("f"))
    assert {thing for thing, _ in found} == {"s", "e", "r-e"}


def test_a_metric_reaches_results_whose_evaluation_cites_the_source(tmp_path: Path) -> None:
    evaluation = {**uses("e"), "source_ids": ["s"]}
    other = record("r2", "result", links=[link("evaluation", "e")], attributes={"metric": "speed"})
    found = concerns_on(tmp_path, source("s", targets=["memory"]), evaluation, gives("e", metric="memory"), other)
    assert {thing for thing, _ in found} == {"s", "r-e"}


@pytest.mark.parametrize("targets", [["no-such-thing"], ["r1", "no-such-thing"], [""], [], ["s"], "r1"])
def test_a_target_that_names_nothing_leaves_nothing_out(tmp_path: Path, targets: Any) -> None:
    found = concerns_on(tmp_path, source("s", targets=targets), cites("r1", "s"), cites("r2", "s"))
    assert found == {("s", "s"), ("r1", "s"), ("r2", "s")}


def test_a_metric_of_the_vocabulary_that_no_result_has_names_something(tmp_path: Path) -> None:
    vocabulary = f"<{NS}vocab/metric/accuracy> <{RDF}type> <{SKOS}Concept> <urn:vocabulary> ."
    file = write_records(tmp_path / "r.jsonl", source("s", targets=["accuracy"]), cites("r", "s"))
    lines = [*check_whole(file, is_open=True).quads, vocabulary]
    assert subject_ids(owl.parse(derive(lines, BASE, load_axioms(), load_rules())), f"{EVKG}openConcern") == {"s"}


@pytest.mark.parametrize("concerns", ["odd numbers", ["odd numbers"], {"message": "odd"}], ids=str)
def test_a_concern_that_cannot_be_read_reaches_all_that_cites_the_source(tmp_path: Path, concerns: Any) -> None:
    doubted = record("s", "source", attributes={"evidence_concerns": concerns})
    file = write_records(tmp_path / "r.jsonl", doubted, cites("r", "s"), gives("e"), {**uses("e"), "source_ids": ["s"]})
    quads = owl.parse(derive(check_whole(file, is_open=True).quads, BASE, load_axioms(), load_rules()))
    assert subject_ids(quads, f"{EVKG}openConcern") == {"s", "r", "e", "r-e"}


@pytest.mark.parametrize("status", ["disputed", "superseded", "excluded", "needs_review"])
def test_a_result_on_a_doubtful_basis_says_which(tmp_path: Path, status: str) -> None:
    records = [
        record("s1", "source", status=status),
        record("s2", "source", status=status),
        record("m", "model", status=status),
        record("t", "task", status=status),
        record("d", "dataset", status=status),
        {**uses("e", system="m", assessment="t", data="d"), "source_ids": ["s1"], "status": status},
        {**gives("e"), "source_ids": ["s2"]},
        gives("elsewhere"),
    ]
    file = write_records(tmp_path / "r.jsonl", *records)
    quads = owl.parse(derive(check_whole(file, is_open=True).quads, BASE, load_axioms(), load_rules()))
    found = {
        (quad.subject.value.rsplit("/", 1)[1], quad.object.value.rsplit("/", 1)[1])
        for quad in quads
        if quad.predicate.value == f"{EVKG}doubtfulBasis"
    }
    expected = {("r-e", basis) for basis in ("s1", "s2", "m", "t", "d", "e")}
    assert found == (set() if status == "needs_review" else expected)


def test_one_concern_with_targets_does_not_hide_another_without(tmp_path: Path) -> None:
    found = concerns_on(
        tmp_path, source("s1"), source("s2", targets=["r2"]), cites("r1", "s1"), cites("r2", "s2"), cites("r3", "s2")
    )
    assert found == {("s1", "s1"), ("r1", "s1"), ("s2", "s2"), ("r2", "s2")}


def test_a_resolved_concern_reaches_nothing(tmp_path: Path) -> None:
    resolved = {"at": "2026-10-20", "by": "codex", "reason": "The authors corrected the table."}
    assert concerns_on(tmp_path, source("s", resolved=resolved), cites("r", "s")) == set()


def test_a_record_that_cites_two_doubtful_sources_has_both_concerns(tmp_path: Path) -> None:
    both = record("r", "result", source_ids=["s1", "s2"])
    found = concerns_on(tmp_path, source("s1"), source("s2"), both)
    assert {pair for pair in found if pair[0] == "r"} == {("r", "s1"), ("r", "s2")}


def test_printed_decimals_count_what_is_printed(derived: list[Any]) -> None:
    decimals = {
        quad.subject.value.removeprefix(f"{BASE}id/"): int(quad.object.value)
        for quad in derived
        if quad.predicate.value == f"{EVKG}printedDecimals"
    }
    by_text = {PRINTED[result]: decimals[result] for result in PRINTED}
    assert by_text == {"33.88": 2, "11.49": 2, "r = 1.00": 2, "6637": 0}
    assert decimals[BATCH_256] == 0
    assert not {THROUGHPUT_256, THROUGHPUT_512} & decimals.keys()
    assert len(decimals) == 12


@pytest.mark.parametrize(
    ("printed", "decimals"),
    [
        ("5.600", 3),
        ("-0.50", 2),
        ("−0.5", 1),
        ("+5", 0),
        ("r=0.98", 2),
        ("87.3%", 1),
        ("87.30 %", 2),
        ("0.87 (0.81-0.93)", None),
        ("1e-3", None),
        ("1,234.5", None),
        ("12/15", None),
        ("n.s.", None),
        ("82.", None),
        ("", None),
    ],
)
def test_only_one_plain_number_has_printed_decimals(printed: str, decimals: int | None) -> None:
    line = f'<urn:r> <{EVKG}printedValue> "{printed}" <urn:g> .'
    quads = owl.parse(derive([line], BASE, load_axioms(), load_rules()))
    found = [int(quad.object.value) for quad in quads if quad.predicate.value == f"{EVKG}printedDecimals"]
    assert found == ([] if decimals is None else [decimals])


def test_a_value_is_quoted_from_the_artifact_of_the_one_source(tmp_path: Path) -> None:
    paper = record("s", "source", attributes={"artifact_sha256": "a" * 64})
    other = record("s2", "source", attributes={"artifact_sha256": "b" * 64})
    one = record("r1", "result", source_ids=["s"], attributes={"printed_value": "1.0"})
    two = record("r2", "result", source_ids=["s", "s2"], attributes={"printed_value": "2.0"})
    checked = check_whole(write_records(tmp_path / "r.jsonl", paper, other, one, two), is_open=True)
    quads = owl.parse(derive(checked.quads, BASE, load_axioms(), load_rules()))
    quoted = [(q.subject.value, q.object.value) for q in quads if q.predicate.value == f"{PROV}wasQuotedFrom"]
    assert quoted == [(f"{BASE}record/r1#quote-printed_value", f"{BASE}artifact/{'a' * 64}")]


def test_every_seed_value_with_a_captured_artifact_says_what_it_is_quoted_from(
    checked: Whole, derived: list[Any]
) -> None:
    quads = [*owl.parse(checked.quads), *derived]
    quoted = {quad.subject.value for quad in quads if quad.predicate.value == f"{PROV}wasQuotedFrom"}
    records = checked.records
    with_artifact = {
        item.id
        for item in records.values()
        if "printed_value" in item.attributes
        and "artifact_sha256" in records[str(list_of(item.data["source_ids"])[0])].attributes
    }
    assert len(with_artifact) == 10
    assert {f"{BASE}record/{result}#quote-printed_value" for result in with_artifact} <= quoted


def list_of(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("CONSTRUCT { ?s ?p", "expected"),
        ("SELECT * { ?s ?p ?o }", "is not a CONSTRUCT"),
        ("ASK {}", "is not a CONSTRUCT"),
    ],
)
def test_a_broken_rule_is_named(query: str, message: str) -> None:
    with pytest.raises(VocabularyError, match=rf"queries/rules/odd\.rq.*{message}"):
        derive([], BASE, load_axioms(), [Rule("odd", query)])


def test_a_folder_without_rules_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match="no rule"):
        load_rules(tmp_path)


def test_titles_of_things_are_not_derived(derived: list[Any]) -> None:
    assert not [quad for quad in derived if quad.predicate.value in (f"{RDFS}label", f"{DCTERMS}title")]


def test_either_type_alone_is_consistent() -> None:
    for line in CLASH.read_text(encoding="utf-8").splitlines():
        assert derive([line], BASE, load_axioms())
