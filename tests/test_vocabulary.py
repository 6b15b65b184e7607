"""The ontology keeps its house rules, and knows every key of the record contract."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pyoxigraph as ox
import pytest

from evkg.errors import VocabularyError
from evkg.namespaces import (
    DCTERMS,
    EVKG,
    FOAF,
    GRAPHS,
    ONTOLOGY,
    OWL,
    PREFIXES,
    RDF,
    RDFS,
    SKOS,
    VOCAB,
    concept_iri,
    concept_key,
    graph_iri,
)
from evkg.setting import SECTIONS
from evkg.vocabulary import LISTS, PARTS, PLURAL, Vocabulary, data_folder, is_plural, load_vocabulary
from tests.conftest import BASE, ROOT

RULES = sorted((ROOT / "queries" / "lint").glob("*.rq"))
HEAD = (
    "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in PREFIXES.items())
    + f"@prefix v: <{VOCAB}metric/> .\n@prefix prov: <http://www.w3.org/ns/prov#> .\n"
)

_CONCEPT = f"""<{VOCAB}metric> a skos:ConceptScheme .
v:a a skos:Concept ; skos:inScheme <{VOCAB}metric> ; skos:notation "a" ; evkg:key "a" ; skos:prefLabel "A"@en """
_MAPPING = "evkg:A a owl:Class . <urn:m> a evkg:Mapping ; evkg:mappedTerm evkg:A ; evkg:mappedTo prov:Entity "

#: Rule -> small ontologies, or shapes, that break it.
BROKEN = {
    "term-is-described": [
        'evkg:a a owl:DatatypeProperty ; rdfs:label "a"@en ; skos:definition "An a."@en .',
        f'evkg:A a owl:Class ; rdfs:label "a"@en ; rdfs:isDefinedBy <{ONTOLOGY}> .',
        f'evkg:A a owl:Class ; rdfs:label "a"@en, "b"@en ; skos:definition "A."@en ; rdfs:isDefinedBy <{ONTOLOGY}> .',
        f'evkg:A a owl:Class ; rdfs:label "a" ; skos:definition "A."@en ; rdfs:isDefinedBy <{ONTOLOGY}> .',
    ],
    "property-has-key": [
        'evkg:a a owl:DatatypeProperty ; evkg:section "attributes" ; evkg:valueKind "text" .',
        'evkg:a a owl:DatatypeProperty ; evkg:key "a" ; evkg:valueKind "text" .',
        'evkg:a a owl:ObjectProperty ; evkg:key "a" ; evkg:section "links" .',
        'evkg:a a owl:DatatypeProperty ; evkg:key "a", "b" ; evkg:section "part" ; evkg:valueKind "text" .',
        'evkg:a a owl:ObjectProperty ; evkg:key "a" ; evkg:section "derived" .',
    ],
    "key-is-unique": [
        'evkg:a evkg:key "a" ; evkg:valueKind "text" . evkg:b evkg:key "a" ; evkg:valueKind "json" .',
        'evkg:A a owl:Class ; evkg:key "a" . evkg:B a owl:Class ; evkg:key "a" .',
        '<urn:a> a skos:ConceptScheme ; evkg:key "a" . <urn:b> a skos:ConceptScheme ; evkg:key "a" .',
    ],
    "local-name-follows-key": [
        'evkg:printedvalue evkg:key "printed_value" ; evkg:valueKind "text" .',
        'evkg:PrintedValue evkg:key "printed_value" ; evkg:valueKind "text" .',
        'evkg:artifactSha evkg:key "artifact_sha256" ; evkg:valueKind "sha256" .',
    ],
    "no-domain-or-range": ["evkg:a rdfs:domain evkg:Result .", "evkg:a rdfs:range xsd:string ."],
    "concept-is-described": [
        f"{_CONCEPT} .",
        f'{_CONCEPT} ; skos:definition "An a."@en, "Another."@en .',
        f'{_CONCEPT} ; skos:definition "An a." .',
        f'{_CONCEPT.replace("evkg:key", "evkg:no")} ; skos:definition "An a."@en .',
        f'{_CONCEPT.replace("a skos:ConceptScheme", "a skos:No")} ; skos:definition "An a."@en .',
        f'{_CONCEPT.replace("vocab/metric>", "vocab/unit>")} ; skos:definition "An a."@en .',
    ],
    "mapping-has-basis": [
        f"{_MAPPING}; evkg:mappingRelation skos:closeMatch .",
        f'{_MAPPING}; evkg:mappingRelation skos:closeMatch ; evkg:basis "" .',
        f'{_MAPPING}; evkg:basis "Same." .',
        f'{_MAPPING}; evkg:mappingRelation skos:closeMatch ; evkg:basis "Same." .'.replace("a owl:Class", "evkg:b 1"),
    ],
    "mapping-is-stated": [
        f"{_MAPPING}; evkg:mappingRelation rdfs:subClassOf .",
        "evkg:A rdfs:subClassOf prov:Entity .",
        "evkg:a skos:closeMatch dcterms:title .",
    ],
    "unverified-mapping-is-no-axiom": [
        f"{_MAPPING}; evkg:mappingRelation rdfs:subClassOf ; evkg:unverified true .",
        (
            f"{_MAPPING}; evkg:mappingRelation skos:closeMatch ; evkg:unverified true ."
            " evkg:A rdfs:subClassOf prov:Entity ."
        ),
        (
            f"{_MAPPING}; evkg:mappingRelation skos:closeMatch ; evkg:unverified true ."
            " prov:Entity rdfs:subClassOf evkg:A ."
        ),
    ],
    "shape-terms-are-declared": [
        "[] sh:path evkg:no .",
        "[] sh:path [ sh:inversePath evkg:no ] .",
        "[] sh:path ( foaf:primaryTopic [ sh:zeroOrMorePath evkg:no ] ) .",
        "[] evkg:completes evkg:no .",
        "[] sh:targetClass evkg:No .",
        "[] sh:class evkg:No .",
        "[] sh:hasValue v:no .",
        "[] sh:in ( v:no ) .",
    ],
    "text-property-exists": [
        "evkg:a evkg:textProperty evkg:aText .",
        (
            'evkg:aText a owl:DatatypeProperty ; evkg:key "a_text" ; evkg:valueKind "json" .'
            " evkg:a evkg:textProperty evkg:aText ."
        ),
        (
            'evkg:aText a owl:DatatypeProperty ; evkg:key "a_text" ; evkg:valueKind "text" .'
            " evkg:a evkg:textProperty evkg:aText . evkg:b evkg:textProperty evkg:aText ."
        ),
    ],
    "value-kind-has-scheme": [
        'evkg:a evkg:valueKind "concept:no" .',
        'evkg:a evkg:valueKind "concepts:no" .',
        'evkg:a evkg:valueKind "concept" .',
        f'<{VOCAB}no> a skos:ConceptScheme . evkg:a evkg:valueKind "concept:no" .',
    ],
    "kind-has-one-group": [
        'evkg:A a owl:Class ; evkg:key "a" .',
        (
            'evkg:A a owl:Class ; evkg:key "a" ; rdfs:subClassOf evkg:B, evkg:C .'
            " evkg:B a owl:Class . evkg:C a owl:Class ."
        ),
        'evkg:A a owl:Class ; evkg:key "a" ; rdfs:subClassOf evkg:B .',
        'evkg:A a owl:Class ; evkg:key "a" ; rdfs:subClassOf evkg:B . evkg:B a owl:Class ; evkg:key "b" .',
    ],
    "no-class-expressions": [
        "evkg:A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty evkg:a ; owl:someValuesFrom evkg:B ] .",
        "evkg:A owl:equivalentClass [ owl:unionOf ( evkg:B evkg:C ) ] .",
        "evkg:a owl:propertyChainAxiom ( [ owl:inverseOf evkg:b ] evkg:c ) .",
        "[] a owl:Class .",
    ],
    "only-owl-rl": [
        "evkg:A owl:disjointUnionOf ( evkg:B evkg:C ) .",
        "evkg:a a owl:ReflexiveProperty .",
        "evkg:a a owl:FunctionalProperty .",
        "evkg:a a owl:AsymmetricProperty ; owl:propertyChainAxiom ( evkg:b evkg:c ) .",
        "evkg:x owl:sameAs evkg:y .",
    ],
}


def _store(*folders: Path) -> ox.Store:
    store = ox.Store()
    for folder in folders:
        for path in sorted(folder.rglob("*.ttl")):
            store.load(path=str(path), format=ox.RdfFormat.TURTLE)
    return store


@pytest.fixture(scope="module")
def everything() -> ox.Store:
    return _store(ROOT / "ontology", ROOT / "shapes")


def _rows(store: ox.Store, rule: Path) -> list[str]:
    found = store.query(rule.read_text(encoding="utf-8"))
    assert isinstance(found, ox.QuerySolutions)
    return sorted(" ".join(str(term) for term in row) for row in found)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.stem)
def test_house_rule_holds(everything: ox.Store, rule: Path) -> None:
    first = rule.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# ")
    assert _rows(everything, rule) == [], first


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.stem)
def test_house_rule_catches_what_breaks_it(rule: Path) -> None:
    for turtle in BROKEN[rule.stem]:
        store = ox.Store()
        store.load(input=(HEAD + turtle).encode(), format=ox.RdfFormat.TURTLE)
        assert _rows(store, rule), turtle


def test_every_broken_example_has_its_rule() -> None:
    assert set(BROKEN) == {rule.stem for rule in RULES}


def test_the_ontology_has_no_nameless_nodes_but_the_lists_of_chains() -> None:
    store = _store(ROOT / "ontology")
    in_chains = set()
    for quad in store.quads_for_pattern(None, ox.NamedNode(OWL + "propertyChainAxiom"), None, None):
        node = quad.object
        while isinstance(node, ox.BlankNode):
            in_chains.add(node)
            (rest,) = store.quads_for_pattern(node, ox.NamedNode(RDF + "rest"), None, None)
            node = rest.object
    nameless = {term for quad in store for term in (quad.subject, quad.object) if isinstance(term, ox.BlankNode)}
    assert nameless == in_chains
    assert len(in_chains) == 6


def test_every_file_of_the_ontology_says_its_version() -> None:
    store = _store(ROOT / "ontology")
    versions = {
        quad.subject.value: quad.object.value  # type: ignore[union-attr]
        for quad in store.quads_for_pattern(None, ox.NamedNode(OWL + "versionIRI"), None, None)
    }
    ontologies = {
        quad.subject.value  # type: ignore[union-attr]
        for quad in store.quads_for_pattern(None, ox.NamedNode(RDF + "type"), ox.NamedNode(OWL + "Ontology"), None)
    }
    assert set(versions) == ontologies == {ONTOLOGY, ONTOLOGY + "/mappings"}
    assert all(version.startswith(ONTOLOGY + "/0.") for version in versions.values())


# ---- the record contract ----


def test_every_pair_of_kind_and_key_is_declared_with_its_kind_of_value(vocabulary: Vocabulary) -> None:
    on_record = {term.record_key: term for term in vocabulary.terms.values() if term.section == "record"}
    with (ROOT / "tests" / "expected" / "registry.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 630
    for row in rows:
        kind, key = row["kind"], row["key"]
        term = vocabulary.attributes[kind].get(key) or on_record[key]
        # Two free objects of the contract have conventional parts, which are typed (contract, section 6).
        known = {"comparison": "comparison", "evidence_concerns": "evidence-concerns"}
        assert term.value_kind == known.get(key, row["kind_of_value"]), f"{kind}.{key}"


KINDS = {
    "System": "model method configuration pipeline service",
    "Assessment": "benchmark task protocol evaluator",
    "Data": "dataset dataset_subset",
    "Role": "baseline",
    "Evidence": "evaluation result source claim",
    "Question": "use_case",
}


def test_the_seventeen_kinds_are_in_their_groups(vocabulary: Vocabulary) -> None:
    expected = {kind: group for group, kinds in KINDS.items() for kind in kinds.split()}
    assert len(expected) == 17
    assert {kind: vocabulary.groups[name] for kind, name in vocabulary.kinds.items()} == expected
    assert all(vocabulary.class_kind(name) == kind for kind, name in vocabulary.kinds.items())
    assert vocabulary.class_kind("System") is None


#: Relation -> (classes that have it, class that it leads to); none stands for any. Source: contract section 4.
RELATIONS = {
    "system": ("Evaluation", "System"),
    "assessment": ("Evaluation", "Assessment"),
    "data": ("Evaluation", "Data"),
    "evaluation": ("Result", "Evaluation"),
    "original_evaluation": ("Evaluation", "Evaluation"),
    "subject": ("Claim", None),
    "implemented_by": ("Baseline", "System"),
    "measured_in": ("Baseline", "Evaluation"),
    "uses_data": ("Assessment Baseline", "Data"),
    "used_in": ("Data", "Assessment"),
    "family": ("System", "System"),
    "variant_of": ("Method Model Pipeline Service", "System"),
    "configuration_of": ("Configuration", "System"),
    "alias_of": ("System", "System"),
    "uses_model": ("System", "System"),
    "part_of": ("Assessment", "Assessment"),
    "parent": ("Assessment", "Assessment"),
    "evaluates_task": ("Assessment", "Assessment"),
    "applicable_to": ("Baseline System", "Assessment"),
    "assessed_by": ("UseCase", "Protocol"),
    "same_data_as": ("Data", "Data"),
    "supersedes": ("", None),
    "source": ("", "Source"),
}


def test_the_twenty_three_relations_lead_from_and_to_what_the_contract_says(vocabulary: Vocabulary) -> None:
    assert len(RELATIONS) == 23
    found = {key: (" ".join(sorted(t.used_on)), t.link_to) for key, t in vocabulary.relations.items()}
    assert found == RELATIONS
    assert all(term.key == key for key, term in vocabulary.relations.items())


#: Scheme -> its keys. Source: contract section 7; of metrics those that it names.
SCHEMES = {
    "status": "discovered needs_review source_checked reproduced disputed superseded excluded",
    "missingness": "unreported unextracted unavailable inapplicable conflicting",
    "origin": "author_reported independent_paper paper_compilation rewire_run unreported",
    "direction": "higher lower unknown",
    "publication-status": "official_project_source peer_reviewed preprint",
    "relevance": "direct proxy outside_scope not_assessed",
    "uncertainty-type": """standard_deviation standard_error confidence_interval credible_interval unresolved_spread""",
    "context": "clinical_research research",
    "configuration-type": "paper_evaluation pipeline reported_configuration",
    "derivation-method": "computed-from-source-data",
    "entity-level": "challenge checkpoint evaluation_subset evaluator family method protocol service suite task",
    "method-type": "conventional_pipeline foundation_model specialist supervised_machine_learning baseline",
    "algorithm": "gradient_boosted_trees linear_regression random_forest ridge_regression",
    "baseline-type": """classical_procedure conventional_workflow established_method evolutionary_model
        experimental_reference learned_specialist mechanistic null_control simple_statistical""",
    "agent": """claude claude-sonnet codex rewire-benchmark-runner rewire-deterministic-table-checker
        unidentified-automated-reviewer""",
    "review-method": """ai-assisted-source-review automated-source-review deterministic-table-parse
        execution-evidence-review existing-run-import independent-cell-check pdf-text-parse
        rendered-source-visual-check scope-review source-hash-verification source-data-recomputation transcription""",
    "area": """biological-networks cells-tissues dna-genomes glycans lipidomics mechanistic-biology metabolomics
        microbes-communities molecular-interactions protein-function protein-structure proteins-complexes
        rna-transcriptomes single-cell spatial-omics cells-spatial-multiomics""",
    "unit": """angstrom count degree electronvolt fraction hour kilocalorie-per-mole nanometre percent
        sample-per-second second unit-unreported unitless variants-per-1000-cases-per-cycle variants-per-diagnosis
        variants-per-proband gigabyte""",
    "metric": """spearman-correlation auroc auprc accuracy f1-score macro-f1 recall precision
        matthews-correlation-coefficient ndcg ndcg-at-10-percent top-10-percent-recall pearson-correlation rmsd
        tm-score lddt gdt-ts mean-absolute-error root-mean-squared-error average-precision foldbench-success-rate
        vcc-score casp-sum-z-score runtime peak-memory inference-throughput recall-at-100 top-1-accuracy
        top-5-accuracy top-10-accuracy top-20-accuracy top-50-accuracy top-100-accuracy top-200-accuracy count
        proportion eta-squared likelihood-ratio unassigned-rate candidates-per-case
        new-candidates-per-1000-cases-per-cycle correlation cosine-similarity success-rate""",
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_has_the_keys_of_the_contract(vocabulary: Vocabulary, scheme: str) -> None:
    keys = set(SCHEMES[scheme].split())
    found = vocabulary.schemes[scheme]
    if found.open:
        assert keys <= set(found.concepts)
    else:
        assert keys == set(found.concepts)
    for key, concept in found.concepts.items():
        assert concept.iri == concept_iri(scheme, key)
        assert concept_key(concept.iri) == key == concept.key


def test_there_are_nineteen_schemes(vocabulary: Vocabulary) -> None:
    assert len(SCHEMES) == 19
    assert set(vocabulary.schemes) == {*SCHEMES, "comparison-reason"}  # this one is evkg's own: no record uses it
    unknown = [k for k in ("count", "proportion") if vocabulary.schemes["metric"].concepts[k].direction != "unknown"]
    assert unknown == []


def test_metrics_and_units_of_the_seed_records_are_known(vocabulary: Vocabulary) -> None:
    for line in (ROOT / "tests" / "expected" / "seed-records.jsonl").read_text(encoding="utf-8").splitlines():
        attributes = json.loads(line)["attributes"]
        for key in ("metric", "unit"):
            assert attributes.get(key) in {None, *vocabulary.schemes[key].concepts}


# ---- names ----


def test_every_iri_that_code_names_is_declared() -> None:
    store = _store(ROOT / "ontology")
    used = {term.value for q in store for term in (q.subject, q.predicate, q.object) if isinstance(term, ox.NamedNode)}
    assert {ONTOLOGY, FOAF + "primaryTopic", RDFS + "label", SKOS + "notation", DCTERMS + "description"} <= used
    named = {
        name
        for path in (ROOT / "src" / "evkg").glob("*.py")
        for name in re.findall(r'\bEVKG \+ "(\w+)"', path.read_text(encoding="utf-8"))
    }
    assert named
    assert sorted(name for name in named if EVKG + name not in used) == []


def test_every_prefix_is_a_namespace_of_its_own() -> None:
    assert len(set(PREFIXES.values())) == len(PREFIXES)
    assert all(ox.NamedNode(iri) and iri[-1] in "#/" for iri in PREFIXES.values())
    assert graph_iri(BASE, "shared") == BASE + "graph/shared"
    assert len(set(GRAPHS)) == 9


def test_every_part_is_a_class_and_has_keys(vocabulary: Vocabulary) -> None:
    declared = {
        quad.subject.value  # type: ignore[union-attr]
        for quad in _store(ROOT / "ontology").quads_for_pattern(
            None, ox.NamedNode(RDF + "type"), ox.NamedNode(OWL + "Class"), None
        )
    }
    for kind, (name, _) in PARTS.items():
        assert EVKG + name in declared, kind
        assert vocabulary.parts[name], kind
    for name in ("Record", "Setting", "Item", "MissingEntry", "Quotation", "Retrieval"):
        assert EVKG + name in declared


def test_every_kind_of_value_is_one_that_the_conversion_knows(vocabulary: Vocabulary) -> None:
    plain = {
        "text", "integer", "number", "boolean", "decimal", "decimal-or-null", "date", "datetime", "instant", "url",
        "url-or-path", "doi", "sha256", "git-sha", "record-id", "artifact", "agent", "json", "comparison-value",
        "missing-metadata", "property", "retrieval",
    }  # fmt: skip
    for term in vocabulary.terms.values():
        known = term.scheme is not None or term.value_kind in plain | set(PARTS) | PLURAL
        assert known, f"{term.key}: {term.value_kind}"
        assert not term.is_list or is_plural(term.value_kind)
    assert LISTS < PLURAL


def test_no_attribute_is_called_like_a_section_of_a_record(vocabulary: Vocabulary) -> None:
    for terms in vocabulary.attributes.values():
        assert not SECTIONS & set(terms)


def test_a_text_beside_a_value_is_grouped_with_it(vocabulary: Vocabulary) -> None:
    for term in vocabulary.terms.values():
        if term.text_iri:
            text = vocabulary.by_iri[term.text_iri]
            assert vocabulary.text_keys[term.key] == text.key
            assert text.nest == term.nest
            assert text.used_on == term.used_on


# ---- loading ----


def test_the_ontology_is_found_without_an_argument() -> None:
    assert data_folder("ontology") == ROOT / "ontology"
    with pytest.raises(VocabularyError, match="no-such-folder/ is missing"):
        data_folder("no-such-folder")


@pytest.mark.parametrize(
    ("turtle", "message"),
    [
        (None, "holds no Turtle file"),
        ("evkg:a evkg:valueKind", "terms.ttl"),
        ('evkg:a evkg:valueKind "text" .', "evkg:key is missing"),
        ('evkg:a evkg:valueKind "text" ; evkg:key "k" . evkg:b evkg:valueKind "text" ; evkg:key "k" .', "used twice"),
    ],
)
def test_a_broken_ontology_is_refused(tmp_path: Path, turtle: str | None, message: str) -> None:
    if turtle is not None:
        (tmp_path / "terms.ttl").write_text(HEAD + turtle, encoding="utf-8")
    with pytest.raises(VocabularyError, match=message):
        load_vocabulary(tmp_path)


def test_two_terms_for_one_key_of_a_kind_are_refused(tmp_path: Path) -> None:
    turtle = 'evkg:A evkg:key "a" ; rdfs:subClassOf evkg:G .\n'
    for name in ("one", "two"):
        turtle += f'evkg:{name} evkg:key "{name}" ; evkg:recordKey "k" ; evkg:section "attributes" ;'
        turtle += ' evkg:valueKind "text" ; evkg:usedOn evkg:A .\n'
    (tmp_path / "terms.ttl").write_text(HEAD + turtle, encoding="utf-8")
    with pytest.raises(VocabularyError, match=r"a\.k has two terms"):
        load_vocabulary(tmp_path)


def test_the_nearest_concept_is_found_by_all_its_names(vocabulary: Vocabulary) -> None:
    for scheme in vocabulary.schemes.values():
        for concept in scheme.concepts.values():
            assert scheme.nearest(concept.key) == concept.key
            assert scheme.nearest(concept.key.upper().replace("-", "_")) == concept.key
    assert vocabulary.schemes["unit"].concepts["gibibyte"].alternatives == ("GiB",)
