"""Readiness against outcomes written by hand, and against a plain reading of its definition on generated manifests."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evkg.axioms import load_axioms
from evkg.derive import derive
from evkg.errors import NotFoundError
from evkg.inference import load_rules
from evkg.jsontext import Json, decode_json
from evkg.namespaces import EARL, EVKG, PREFIXES, graph_iri
from evkg.readiness import KINDS, read_readiness
from evkg.release import GRAPH, STORE, Release
from evkg.research import CAPABILITIES, CHECKS, Research, parse_research, read_research, research_quads
from evkg.terminal import render_view
from evkg.view import view_record
from tests.builds import ROOT, build_draft, record, write_records
from tests.conftest import BASE, SEED

RECORDS = ROOT / "tests/records/readiness/records.yaml"
MANIFESTS = ROOT / "tests/records/readiness/research.json"
OUTCOMES = ROOT / "tests/expected/readiness/outcomes.tsv"
NO_MANIFEST = "No research manifest names this very record."
HASH = "a" * 64


def as_json(value: Any) -> Json:
    """A value as a file would hold it."""
    return decode_json(json.dumps(value))


def with_research(release: Release, research: Research) -> Release:
    """A release to whose store manifests were added, everything derived anew."""
    graph = f"<{graph_iri(BASE, 'derived')}> ."
    lines = (release.folder / GRAPH).read_text(encoding="utf-8").splitlines()
    given = [*(line for line in lines if not line.endswith(graph)), *research_quads(research, BASE)]
    store = ox.Store(str(release.folder / STORE))
    store.clear()
    found = [*given, *derive(given, BASE, load_axioms(), load_rules())]
    store.load(input="\n".join([*found, ""]).encode(), format=ox.RdfFormat.N_QUADS)
    store.flush()
    del store
    return Release(release.folder)


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Release:
    research, findings = read_research(MANIFESTS)
    assert findings == []
    return with_research(build_draft(RECORDS, tmp_path_factory.mktemp("made-up")), research)


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(SEED, tmp_path_factory.mktemp("seeds"))


def outcomes(release: Release) -> dict[str, dict[str, str]]:
    """Record -> capability -> the last part of its outcome, as the graph says it."""
    rows = release.select(
        """
        SELECT ?record ?capability ?outcome {
          ?about evkg:recordId ?record ; foaf:primaryTopic ?thing .
          ?assertion earl:subject ?thing ; earl:test ?test ; earl:result/earl:outcome ?outcome .
          ?test dcterms:hasPart? ?part . ?part skos:notation ?capability .
          evkg:ResearchReadiness dcterms:hasPart ?part }
        """
    )
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        capabilities = found.setdefault(str(row["record"]), {})
        assert str(row["capability"]) not in capabilities
        capabilities[str(row["capability"])] = str(row["outcome"]).removeprefix(EARL)
    return found


def blockers(release: Release, record_id: str, capability: str) -> tuple[str, ...]:
    found = read_readiness(release, record_id)
    assert found is not None
    return found.capabilities[capability].blockers


# ---- Outcomes written out by hand ----


def test_the_outcomes_are_the_ones_written_by_hand(made_up: Release) -> None:
    with OUTCOMES.open(encoding="utf-8", newline="") as stream:
        expected = {str(row.pop("record")): row for row in csv.DictReader(stream, delimiter="\t")}
    assert outcomes(made_up) == expected


def test_graph_and_answer_say_the_same(made_up: Release) -> None:
    for record_id, expected in outcomes(made_up).items():
        found = read_readiness(made_up, record_id)
        assert found is not None
        for key, outcome in expected.items():
            capability = found.capabilities[key]
            assert capability.ready is (outcome == "passed")
            assert bool(capability.blockers) is not capability.ready


def test_every_blocker_is_named(made_up: Release) -> None:
    assert blockers(made_up, "rd-data-plain", "replay") == (
        "metric replay: verification is missing",
        "score semantics: Nobody looked.",
    )
    assert blockers(made_up, "rd-data-plain", "analysis") == (
        "No subgroup fields are declared.",
        "annotations: verification is missing",
        "dependence: verification is missing",
        "metric replay: verification is missing",
        "score semantics: Nobody looked.",
    )
    assert blockers(made_up, "rd-data-plain", "local_run") == (
        "No recipe for a local run is declared.",
        "There must be exactly one artefact with the role environment.",
        "There must be exactly one artefact with the role prepared.",
        "There must be exactly one artefact with the role recipe_code.",
        "recipe pinned: verification is missing",
        "resource estimate: verification is missing",
        "score semantics: Nobody looked.",
    )
    assert blockers(made_up, "rd-data-plain", "validation") == (
        "The data were exposed already, so they can validate nothing independently.",
        "independent validation: verification is missing",
        "overlap checked: verification is missing",
        "score semantics: Nobody looked.",
    )


def test_manifests_are_not_added_up(made_up: Release) -> None:
    # between them the two manifests pass all four checks of a replay; neither does alone
    assert blockers(made_up, "rd-data-failing", "replay") == (
        "artifact hashes: verification is missing",
        "metric replay: It differs by 0.2.",
    )
    found = read_readiness(made_up, "rd-data-failing")
    assert found is not None
    assert found.manifest_ids == ("m-failing", "m-failing-again")
    assert found.capabilities["replay"].checks == {
        "artifact_hashes": "passed",
        "join_integrity": "passed",
        "metric_replay": "passed",
        "score_semantics": "passed",
    }
    assert "two artefacts" not in " ".join(blockers(made_up, "rd-data-failing", "local_run"))
    assert {
        "There must be exactly one artefact with the role prepared.",
        "The recipe of the protein language model needs exactly one artefact with the role checkpoint.",
    } <= set(blockers(made_up, "rd-data-failing", "local_run"))


@pytest.mark.parametrize(
    ("record_id", "blocker"),
    [
        ("rd-run-aging", "The linked record rd-protocol-old is superseded."),
        ("rd-data-aging", "The linked record rd-protocol-old is superseded."),
        ("rd-run-lost", "The linked record rd-data-nowhere is missing."),
        ("rd-run-contested", "The record itself is disputed."),
        ("rd-data-contested", "The linked record rd-run-contested is disputed."),
        ("rd-data-gone", "The linked record rd-run-withdrawn is excluded."),
        ("rd-data-disputed", "The record itself is disputed."),
        ("rd-run-doubtful", "The linked record rd-data-disputed is disputed."),
    ],
)
def test_what_is_disputed_superseded_or_missing_blocks_all_four_and_is_linked(
    made_up: Release, record_id: str, blocker: str
) -> None:
    for capability in CAPABILITIES:
        assert blocker in blockers(made_up, record_id, capability)
    linked = made_up.select(
        "SELECT DISTINCT ?what { ?record evkg:recordId ?id ; foaf:primaryTopic ?thing . "
        "{ ?record evkg:blockingRecord ?what } UNION { ?assertion earl:subject ?thing ; evkg:blockingRecord ?what } }",
        id=record_id,
    )
    what = record_id if "itself" in blocker else blocker.split()[3]
    assert {f"{BASE}id/{what}"} == {str(row["what"]) for row in linked}


def test_nothing_passes_between_a_data_set_and_its_subset(made_up: Release) -> None:
    for alone, manifest in (("rd-part-of-whole", "m-whole"), ("rd-data-big", "m-part")):
        found = read_readiness(made_up, alone)
        assert found is not None
        assert found.manifest_ids == ()
        assert {capability.blockers[0] for capability in found.capabilities.values()} == {NO_MANIFEST}
        assert manifest not in json.dumps(dataclasses.asdict(found))


def test_an_excluded_record_and_other_kinds_have_no_readiness(made_up: Release) -> None:
    for record_id in ("rd-run-withdrawn", "rd-data-withdrawn", "rd-config", "rd-protocol", "rd-source"):
        assert read_readiness(made_up, record_id) is None
        assert record_id not in outcomes(made_up)
    with pytest.raises(NotFoundError):
        read_readiness(made_up, "rd-nothing")


def test_everything_that_a_manifest_gives_is_told(made_up: Release) -> None:
    found = read_readiness(made_up, "rd-data-whole")
    assert found is not None
    assert (found.kind, found.name, found.release_id) == ("dataset", "Made up rd-data-whole", made_up.id)
    assert (found.manifest_ids, found.verified_at) == (("m-whole",), "2026-01-10T00:00:00Z")
    assert found.evidence_source_ids == ("rd-source", "rd-source-data")
    assert found.limitations == ("One site only.",)
    assert found.artifact_availability == "public_references"
    replay = found.capabilities["replay"]
    assert replay.evidence == tuple(
        f"m-whole: {check}: Seen {check}."
        for check in ("artifact_hashes", "join_integrity", "metric_replay", "score_semantics")
    )
    assert replay.verified_at == "2026-01-10T00:00:00Z"
    plain = read_readiness(made_up, "rd-data-plain")
    assert plain is not None
    assert plain.artifact_availability == "local_resolver_required"
    assert plain.limitations == (
        "The unit of independent samples is not settled, so an analysis stays descriptive.",
        "The data were looked at before, so what is found in them is exploratory.",
    )


def test_a_list_that_the_release_laid_down_wins(tmp_path: Path) -> None:
    research, _ = read_research(MANIFESTS)
    capability = {"ready": False, "blockers": ["Laid down."], "evidence": [], "verified_at": None}
    item = {
        "record_id": "rd-data-whole",
        "release_id": "2026-01-01-000000000000",
        "manifest_ids": ["m-whole"],
        "evidence_source_ids": ["rd-source"],
        "verified_at": "2026-01-10T00:00:00Z",
        "capabilities": {
            **dict.fromkeys(CAPABILITIES, capability),
            "replay": {**capability, "ready": True, "blockers": []},
        },
        "limitations": ["Old."],
        "artifact_availability": "unrecorded",
    }
    frozen, findings = parse_research(as_json({"manifests": research.manifests, "readiness": [item]}), "research.json")
    assert findings == []
    release = with_research(build_draft(RECORDS, tmp_path), frozen)
    found = read_readiness(release, "rd-data-whole")
    assert found is not None
    assert (found.release_id, found.limitations) == ("2026-01-01-000000000000", ("Old.",))
    assert [found.capabilities[key].ready for key in CAPABILITIES] == [True, False, False, False]
    assert found.capabilities["validation"].blockers == ("Laid down.",)
    assert outcomes(release) == {
        "rd-data-whole": {"replay": "passed", "analysis": "cantTell", "local_run": "cantTell", "validation": "cantTell"}
    }
    assert read_readiness(release, "rd-data-plain") is None  # the list leaves it out, and nothing is put in its place


def test_it_is_shown_with_the_record(made_up: Release) -> None:
    text = render_view(view_record(made_up, "rd-data-whole"))
    assert "Research readiness\n  4 of 4 capabilities\n  replay: ready, verified 2026-01-10T00:00:00Z\n" in text
    text = render_view(view_record(made_up, "rd-data-failing"))
    assert (
        "  0 of 4 capabilities\n  replay: not ready. artifact hashes: verification is missing · "
        "metric replay: It differs by 0.2.\n"
    ) in text
    assert "Research readiness" not in render_view(view_record(made_up, "rd-config"))


# ---- The seeds, and the shape of the graph ----


def test_no_seed_is_ready_and_status_changes_nothing(seeds: Release) -> None:
    found = {name: read_readiness(seeds, name) for name in seeds.record_ids}
    known = {name: item for name, item in found.items() if item is not None}
    assert {item.kind for item in known.values()} == {"dataset", "evaluation"}
    assert set(known) == set(outcomes(seeds))
    for item in known.values():
        assert (item.artifact_availability, item.verified_at, item.manifest_ids) == ("unrecorded", None, ())
        needed = [len(item.capabilities[key].checks) for key in CAPABILITIES]
        assert needed == [4, 6, 5, 5]  # the twenty checks that the page of the data set prints
        for capability in item.capabilities.values():
            assert not capability.ready
            assert capability.blockers[0] == NO_MANIFEST
            assert len(capability.blockers) == len(capability.checks) + 1
            assert set(capability.checks.values()) == {"untested"}


def test_what_no_manifest_names_costs_five_triples(seeds: Release) -> None:
    (row,) = seeds.select(
        "SELECT (COUNT(*) AS ?triples) (COUNT(DISTINCT ?a) AS ?nodes) { GRAPH ?g { ?a a earl:Assertion . ?a ?p ?o } }"
    )
    assert int(row["triples"]) == 5 * int(row["nodes"]) == 5 * len(outcomes(seeds))


def test_each_assertion_is_whole_and_without_blank_nodes(made_up: Release) -> None:
    rows = made_up.select(
        "SELECT ?a (COUNT(DISTINCT ?s) AS ?subjects) (COUNT(DISTINCT ?t) AS ?tests) "
        "(COUNT(DISTINCT ?o) AS ?outcomes) { ?a a earl:Assertion ; earl:subject ?s ; earl:test ?t . FILTER(isIRI(?a)) "
        "OPTIONAL { ?a earl:result/earl:outcome ?o } } GROUP BY ?a"
    )
    assert rows
    assert {(int(row["subjects"]), int(row["tests"]), int(row["outcomes"])) for row in rows} == {(1, 1, 1)}


def test_every_term_of_earl_is_used_as_it_is_meant() -> None:
    store = ox.Store()
    store.load(path=str(ROOT / "ontology/evkg.ttl"), format=ox.RdfFormat.TURTLE)
    parts = list(
        store.quads_for_pattern(
            ox.NamedNode(EVKG + "ResearchReadiness"), ox.NamedNode(PREFIXES["dcterms"] + "hasPart"), None
        )
    )
    assert {str(quad.object)[1:-1].removeprefix(EVKG) for quad in parts} == set(CAPABILITIES.values())
    checks = {
        str(quad.object)[1:-1]
        for quad in store.quads_for_pattern(None, ox.NamedNode(PREFIXES["skos"] + "notation"), None)
        if next(store.quads_for_pattern(quad.subject, None, ox.NamedNode(EARL + "TestCase")), None)
    }
    assert checks == set(CHECKS)


# ---- A plain reading of the definition ----

NEEDED = {
    "replay": ["artifact_hashes", "join_integrity", "score_semantics", "metric_replay"],
    "analysis": ["artifact_hashes", "join_integrity", "score_semantics", "metric_replay", "annotations", "dependence"],
    "local_run": ["artifact_hashes", "join_integrity", "score_semantics", "recipe_pinned", "resource_estimate"],
    "validation": ["artifact_hashes", "join_integrity", "score_semantics", "independent_validation", "overlap_checked"],
}
BLOCKING = ("disputed", "superseded", "excluded")


def is_enough(manifest: dict[str, Any], capability: str, statuses: dict[str, str]) -> bool:
    checks = [(item["check"], item["status"]) for item in manifest["verification"]["checks"]]
    if not all((name, "passed") in checks for name in NEEDED[capability]):
        return False
    if any(name in NEEDED[capability] and status != "passed" for name, status in checks):
        return False
    roles = [artifact["role"] for artifact in manifest["artifacts"]]
    if capability == "analysis" and not manifest["semantics"]["subgroup_fields"]:
        return False
    if capability == "local_run":
        wanted = ["prepared", "recipe_code", "environment"]
        wanted += ["checkpoint"] if "sdk:esm2-8m-v1" in manifest["local_recipes"] else []
        if not manifest["local_recipes"] or "runner_code_sha256" not in manifest:
            return False
        if any(roles.count(role) != 1 for role in wanted):
            return False
    if capability == "validation" and manifest["semantics"]["exposed"]:
        return False
    linked = [manifest["dataset_id"], manifest["protocol_id"], *manifest["evaluation_ids"]]
    return all(statuses.get(name, "missing") not in (*BLOCKING, "missing") for name in linked)


mostly_passed = st.sampled_from(["passed"] * 8 + ["failed", "missing"])
manifests = st.fixed_dictionaries(
    {
        "dataset_id": st.sampled_from(["data", "part"]),
        "evaluation_ids": st.lists(st.sampled_from(["run", "run-two"]), min_size=1, max_size=2, unique=True),
        "protocol_id": st.sampled_from(["protocol"] * 9 + ["nowhere"]),
        "local_recipes": st.sampled_from([["sdk:train-mean-v1"], ["sdk:esm2-8m-v1"], []]),
        "artifacts": st.lists(
            st.sampled_from(["checkpoint", "prepared", "table"]).map(lambda role: {"role": role}), max_size=2
        ).map(lambda more: [*({"role": role} for role in ("prepared", "recipe_code", "environment")), *more]),
        "semantics": st.fixed_dictionaries(
            {"subgroup_fields": st.sampled_from([["sex"], []]), "exposed": st.sampled_from([False, False, True])}
        ),
        "verification": st.lists(
            st.fixed_dictionaries({"check": st.sampled_from(CHECKS), "status": mostly_passed, "detail": st.just("d")}),
            max_size=2,
        ).map(lambda more: {"checks": [*({"check": c, "status": "passed", "detail": "d"} for c in CHECKS), *more]}),
    },
    optional={"runner_code_sha256": st.just(HASH)},
)


@pytest.fixture(scope="module")
def ontology_lines() -> bytes:
    return (ROOT / "ontology/evkg.ttl").read_bytes()


def derived(records: Iterable[dict[str, Any]], research: Research, ontology: bytes) -> dict[tuple[str, str], str]:
    from evkg.convert import Converter
    from evkg.vocabulary import load_vocabulary
    from tests.strategies import as_record

    asserted = ox.parse(ontology, format=ox.RdfFormat.TURTLE)
    graph = ox.NamedNode(graph_iri(BASE, "ontology"))
    lines = [f"{triple.subject} {triple.predicate} {triple.object} {graph} ." for triple in asserted]
    converter = Converter(load_vocabulary(), BASE)
    lines += [line for data in records for line in converter.record_to_quads(as_record(data))]
    lines += research_quads(research, BASE)
    rules = [rule for rule in load_rules() if rule.name.startswith("readiness-")]
    lines += derive(lines, BASE, load_axioms(), rules)
    store = ox.Store()
    store.load(input="\n".join([*lines, ""]).encode(), format=ox.RdfFormat.N_QUADS)
    found = store.query(
        "SELECT ?thing ?key ?outcome { ?a earl:subject ?thing ; earl:test ?test ; "
        "earl:result/earl:outcome ?outcome . ?test dcterms:hasPart? ?part . ?part skos:notation ?key . "
        "evkg:ResearchReadiness dcterms:hasPart ?part }",
        prefixes=dict(PREFIXES),
        use_default_graph_as_union=True,
    )
    assert isinstance(found, ox.QuerySolutions)
    return {
        (row["thing"].value.removeprefix(f"{BASE}id/"), row["key"].value): row["outcome"].value.removeprefix(EARL)
        for row in found
    }


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    given_manifests=st.lists(manifests, max_size=3),
    statuses=st.fixed_dictionaries(
        {
            name: st.sampled_from(["source_checked"] * 9 + ["discovered", "disputed", "superseded", "excluded"])
            for name in ("data", "part", "protocol", "run", "run-two")
        }
    ),
)
def test_the_rules_say_what_the_definition_says(
    ontology_lines: bytes, given_manifests: list[dict[str, Any]], statuses: dict[str, str]
) -> None:
    kinds = {
        "data": "dataset",
        "part": "dataset_subset",
        "protocol": "protocol",
        "run": "evaluation",
        "run-two": "evaluation",
    }
    links = {"run": [("data", "data"), ("assessment", "protocol")], "run-two": [("data", "part")]}
    records = [
        record(
            name,
            kind,
            status=statuses[name],
            links=[{"relation": relation, "target_id": target} for relation, target in links.get(name, ())],
        )
        for name, kind in kinds.items()
    ]
    named = [{**manifest, "id": f"m{number}"} for number, manifest in enumerate(given_manifests)]
    research, _ = parse_research(as_json({"manifests": named}), "research.json")
    assert len(research.manifests) == len(named)
    found = derived(records, research, ontology_lines)
    for name, kind in kinds.items():
        if kind not in KINDS or statuses[name] == "excluded":
            assert not [key for key in found if key[0] == name]
            continue
        about = [m for m in named if m["dataset_id"] == name or name in m["evaluation_ids"]]
        own = statuses[name] in BLOCKING or any(statuses[target] in BLOCKING for _, target in links.get(name, ()))
        for capability in CAPABILITIES:
            ready = not own and any(is_enough(manifest, capability, statuses) for manifest in about)
            assert (found[name, capability] == "passed") is ready
            if not about:
                assert found[name, capability] == "untested"


# ---- What curators write ----


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "It cannot be read as JSON"),
        ("[]", "It must be an object with the key manifests."),
        ('{"manifests": [1]}', "A manifest must be an object with an id."),
        (
            '{"manifests": [{"id": "m", "dataset_id": "d"}]}',
            "The manifest m has no verification, which holds its checks.",
        ),
        ('{"manifests": [{"id": "m", "dataset_id": "d", "evaluation_ids": ["A b"]}]}', "evaluation_ids that is no id"),
        (
            (
                '{"manifests": [{"id": "m", "dataset_id": "d", "verification": {"checks": '
                '[{"check": "hash", "status": "passed"}]}}]}'
            ),
            '"hash" is none of the checks',
        ),
        (
            (
                '{"manifests": [{"id": "m", "dataset_id": "d", "verification": {"checks": '
                '[{"check": "dependence", "status": "ok"}]}}]}'
            ),
            'the status of "dependence" must be passed, failed or missing',
        ),
        ('{"readiness": [{}]}', "names no record"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "research.json"
    file.write_text(text, encoding="utf-8")
    _, findings = read_research(file)
    assert message in findings[0].message
    assert findings[0].file == str(file)


def test_a_snapshot_carries_its_manifests(tmp_path: Path) -> None:
    research = json.loads(MANIFESTS.read_text(encoding="utf-8"))
    file = tmp_path / "snapshot.json"
    file.write_text(json.dumps({"schema_version": "1.1", "records": [], "research": research}), encoding="utf-8")
    assert read_research(file) == read_research(MANIFESTS)
    file.write_text('{"records": []}', encoding="utf-8")
    assert read_research(file) == (Research(), [])
    assert read_research(tmp_path / "none.json")[1] != []


def test_the_worse_of_two_statements_holds() -> None:
    checks = [{"check": "dependence", "status": status, "detail": status} for status in ("passed", "failed", "missing")]
    manifest = {"id": "m", "dataset_id": "d", "verification": {"checks": checks}}
    research, findings = parse_research(as_json({"manifests": [manifest]}), "r.json")
    assert [finding.message for finding in findings] == [
        "The manifest m states dependence twice; the worse statement holds."
    ] * 2
    quads = research_quads(research, BASE)
    assert not [line for line in quads if "passedCheck" in line]
    assert len([line for line in quads if f"{EARL}outcome> <{EARL}failed>" in line]) == 1


def test_a_single_line_of_records_is_enough(tmp_path: Path) -> None:
    file = write_records(tmp_path / "one.jsonl", record("alone", "dataset"))
    release = build_draft(file, tmp_path / "build")
    found = read_readiness(release, "alone")
    assert found is not None
    assert found.evidence_source_ids == ()
