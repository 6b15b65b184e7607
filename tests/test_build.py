"""Making a release: the same bytes everywhere, all or nothing, and everything in it said once."""

from __future__ import annotations

import hashlib
import json
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from evkg.axioms import Closure, load_axioms
from evkg.build import LAST_REPORT, build_release, default_moment
from evkg.check import check_dataset
from evkg.derive import derive_in
from evkg.describe import release_quads
from evkg.errors import InconsistencyError, ReleaseError, UsageError
from evkg.finding import Finding
from evkg.namespaces import DCAT, DCTERMS, EVKG, SH, VOID, graph_iri
from evkg.publish import lock
from evkg.release import CURRENT, GRAPH, GRAPH_INDEX, MANIFEST, RECORDS, REPORT_JSON, REPORT_TURTLE, STORE, Release
from evkg.release import open as open_release
from tests.builds import (
    AT,
    BASE,
    PRINTED,
    ROOT,
    SAADAT,
    SEED,
    build_draft,
    copy_seed,
    edit,
    record,
    run_evkg,
    write_records,
)

TIME = "2026-11-01T00:00:00Z"
RESULTS = "records/saadat-fellay-2026/results.yaml"


@pytest.fixture(scope="module")
def release(workspace: Path) -> Release:
    return open_release(workspace / "build/current")


def contents(folder: Path) -> dict[str, str]:
    """Name -> SHA-256 of every file of a release but those of the store."""
    return {
        file.relative_to(folder).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file() and folder / STORE not in file.parents
    }


def lines_of(release: Release) -> list[str]:
    return (release.folder / GRAPH).read_text(encoding="utf-8").splitlines()


def built(path: Path, out: Path, **options: Any) -> Release:
    """A release of a data set that has no violations."""
    result = build_release(path, out, **{"at": AT, **options})
    assert result.release is not None, [f for f in result.checked.findings if f.severity == "violation"]
    return result.release


def with_violation(folder: Path) -> Path:
    """The seed data set with one reference that leads nowhere."""
    seed = copy_seed(folder)
    edit(seed / "records/aspidova-2026/configurations.yaml", "target_id: gena-lm}", "target_id: gena-lmm}")
    return seed


# ---- The same bytes everywhere ----


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0", "TZ": "Asia/Kathmandu", "LANG": "C", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "1", "TZ": "America/St_Johns", "LANG": "de_DE.UTF-8", "PYTHONUTF8": "1"},
        {"PYTHONHASHSEED": "2", "TZ": "UTC", "LANG": "tr_TR.UTF-8", "PYTHONIOENCODING": "utf-8"},
    ],
    ids=["0", "1", "2"],
)
def test_a_build_elsewhere_gives_the_same_bytes(release: Release, tmp_path: Path, environment: dict[str, str]) -> None:
    seed = tmp_path / "elsewhere/graph"
    # Files made in another order stand in another order in their folder.
    for file in sorted((SEED).rglob("*"), key=lambda f: f.name[::-1], reverse=True):
        if file.is_file():
            (seed / file.relative_to(SEED)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, seed / file.relative_to(SEED))
    run = run_evkg("build", seed, "--at", TIME, cwd=seed.parent, environment=environment)
    assert run.returncode == 0, run.stderr
    other = open_release(seed.parent / "build")
    assert contents(other.folder) == contents(release.folder)


@pytest.mark.parametrize(("path", "folder"), [(".", "graph"), ("graph", ""), ("../here/graph", ""), ("graph/", "")])
def test_how_the_data_set_is_named_does_not_matter(release: Release, tmp_path: Path, path: str, folder: str) -> None:
    seed = copy_seed(tmp_path / "here/graph")
    run = run_evkg("build", path, "--at", TIME, "--out", tmp_path / "out", cwd=seed.parent / folder)
    assert run.returncode == 0, run.stderr
    assert contents(open_release(tmp_path / "out").folder) == contents(release.folder)


def test_the_store_holds_the_same_quads_as_the_graph_file(release: Release) -> None:
    parsed = {str(quad) for quad in ox.parse(path=str(release.folder / GRAPH), format=ox.RdfFormat.N_QUADS)}
    assert len(parsed) == len(release.store) == release.manifest["counts"]["quads"]


def test_a_data_set_in_one_file_gives_the_same_records_and_graph(release: Release, tmp_path: Path) -> None:
    seed = copy_seed(tmp_path / "graph")
    shutil.rmtree(seed / "records")
    records = (release.folder / RECORDS).read_text(encoding="utf-8").splitlines(keepends=True)
    random.Random(7).shuffle(records)
    (seed / "shuffled.jsonl").write_text("".join(records), encoding="utf-8")
    other = built(seed, tmp_path / "out")
    assert other.id == release.id
    for name in (GRAPH, RECORDS, REPORT_TURTLE):
        assert (other.folder / name).read_bytes() == (release.folder / name).read_bytes()


def test_moving_records_between_files_changes_no_iri_and_not_the_id(release: Release, tmp_path: Path) -> None:
    seed = copy_seed(tmp_path / "graph")
    (seed / "records/aspidova-2026").rename(seed / "records/zzz")
    (seed / "records/families.yaml").rename(seed / "records/zzz/moved.yaml")
    other = built(seed, tmp_path / "out")
    assert other.id == release.id
    assert lines_of(other) == lines_of(release)


def test_the_time_is_taken_from_source_date_epoch(release: Release, tmp_path: Path) -> None:
    epoch = {"SOURCE_DATE_EPOCH": str(int(AT.timestamp()))}
    run = run_evkg("build", "graph", "--out", tmp_path, environment=epoch)
    assert run.returncode == 0, run.stderr
    assert contents(open_release(tmp_path).folder) == contents(release.folder)


@pytest.mark.parametrize("epoch", ["yesterday", "", "1.5", "99999999999999999999", "9" * 5000])
def test_a_source_date_epoch_that_is_no_time_is_refused(monkeypatch: pytest.MonkeyPatch, epoch: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with pytest.raises(UsageError, match="SOURCE_DATE_EPOCH must be a number of seconds"):
        default_moment()


def test_without_a_time_it_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    assert abs((default_moment() - datetime.now(UTC)).total_seconds()) < 60


def test_the_time_of_day_is_written_in_utc(tmp_path: Path) -> None:
    run = run_evkg("build", "graph", "--out", tmp_path, "--at", "2026-11-01T05:45:00+05:45")
    assert run.returncode == 0, run.stderr
    assert open_release(tmp_path).manifest["at"] == TIME


# ---- What changes, changes the id ----


def test_the_id_is_the_day_and_the_hash_of_the_content(release: Release) -> None:
    assert release.id == f"2026-11-01-{release.manifest['content_sha256'][:12]}"
    assert release.folder.name == release.id


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (RESULTS, 'printed_value: "33.88"', 'printed_value: "33.880"'),
        ("records/families.yaml", "name: GENA-LM\n", "name: GENA-LM family\n"),
        ("dataset.yaml", "title: Evidence on running DNA language models", "title: Evidence"),
        ("dataset.yaml", "language: en", "language: de"),
    ],
)
def test_other_content_has_another_id(release: Release, tmp_path: Path, file: str, old: str, new: str) -> None:
    seed = copy_seed(tmp_path / "graph")
    edit(seed / file, old, new)
    assert built(seed, tmp_path / "out").id != release.id


def test_a_comment_or_another_time_of_day_leaves_the_id(release: Release, tmp_path: Path) -> None:
    seed = copy_seed(tmp_path / "graph")
    edit(seed / "records/families.yaml", "name: GENA-LM\n", "name: GENA-LM  # a family\n")
    assert built(seed, tmp_path / "out", at=AT.replace(hour=12)).id == release.id


def test_one_edited_value_changes_a_handful_of_lines(release: Release, tmp_path: Path) -> None:
    seed = copy_seed(tmp_path / "graph")
    edit(seed / RESULTS, 'printed_value: "33.88"', 'printed_value: "33.880"')
    about = f"<{graph_iri(BASE, 'release')}> ."
    before = {line for line in lines_of(release) if not line.endswith(about)}
    after = {line for line in lines_of(built(seed, tmp_path / "out")) if not line.endswith(about)}
    assert 0 < len(before - after) <= 4  # the value, its quotation, the hash of the record, the printed decimals
    assert 0 < len(after - before) <= 4


# ---- What a release holds ----


def test_each_graph_is_sorted_without_repeats_and_stands_where_the_index_says(release: Release) -> None:
    text = (release.folder / GRAPH).read_bytes()
    assert b"\r" not in text
    assert len(lines_of(release)) == len(set(lines_of(release)))
    names, covered = [], 0
    for row in (release.folder / GRAPH_INDEX).read_text(encoding="utf-8").splitlines():
        name, start, length, sha256 = row.split("\t")
        part = text[int(start) : int(start) + int(length)]
        assert hashlib.sha256(part).hexdigest() == sha256
        lines = part.decode().split("\n")
        assert lines.pop() == ""
        assert lines == sorted(lines)
        assert all(line.endswith(f" <{name}> .") for line in lines)
        names.append(name)
        covered += int(length)
    assert covered == len(text)
    assert names == sorted(set(names))


def test_the_hash_of_the_content_is_that_of_the_graphs_by_name(release: Release) -> None:
    about = release_quads("", check_dataset(SEED), datetime.fromtimestamp(0, UTC), 0)
    rows = [row.split("\t") for row in (release.folder / GRAPH_INDEX).read_text(encoding="utf-8").splitlines()]
    hashes = {name: sha256 for name, _, _, sha256 in rows}
    hashes[f"{BASE}graph/release"] = hashlib.sha256("".join(f"{line}\n" for line in about).encode()).hexdigest()
    listed = "".join(f"{name} {sha256}\n" for name, sha256 in sorted(hashes.items()))
    assert hashlib.sha256(listed.encode()).hexdigest() == release.manifest["content_sha256"]
    assert release.id.endswith(release.manifest["content_sha256"][:12])


#: Builds with so many processes; a script of its own, since processes are forked only where no other thread is.
SIDE_BY_SIDE = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from evkg import pool
from evkg.build import build_release
started = []
real = pool._Pool
def counted(portions, worker, count):
    started.append(count)
    return real(portions, worker, count)
pool._Pool = counted
for jobs in map(int, sys.argv[3:]):
    at = datetime(2026, 11, 1, tzinfo=UTC)
    build_release(Path(sys.argv[1]), Path(sys.argv[2]) / str(jobs), at=at, draft=True, jobs=jobs)
print(started)
"""


def test_processes_side_by_side_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        records = [record(f"{name}-{i}", "model", source_ids=[f"b-{i}"]) for i in range(60)]
        write_records(tmp_path / "graph" / f"{name}.jsonl", *records, record("a-1", "method"))
    command = [sys.executable, "-c", SIDE_BY_SIDE, str(tmp_path / "graph"), str(tmp_path)]
    run = subprocess.run([*command, "2", "3", "1"], capture_output=True, check=True, timeout=120, text=True)
    assert run.stdout == "[2, 3]\n"
    # Once the validator ran in a process, nothing is forked from it any more, and nothing hangs.
    again = subprocess.run([*command, "1", "2"], capture_output=True, check=True, timeout=120, text=True)
    assert again.stdout == "[]\n"
    one, two, three = (open_release(tmp_path / str(jobs)) for jobs in (1, 2, 3))
    assert contents(one.folder) == contents(two.folder) == contents(three.folder)
    assert one.manifest["counts"]["records"] == 180
    repeats = [f for f in json.loads((two.folder / REPORT_JSON).read_text())["findings"] if f["rule"] == "repeated-id"]
    assert [f["message"] for f in repeats] == [f"The id 'a-1' is already used in a.jsonl:{n}." for n in (2, 2, 2)]


def test_the_graph_is_its_own_canonical_form_and_has_no_blank_node(release: Release) -> None:
    dataset = ox.Dataset(ox.parse(path=str(release.folder / GRAPH), format=ox.RdfFormat.N_QUADS))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    canonical = (ox.serialize(dataset, format=ox.RdfFormat.N_QUADS) or b"").decode().splitlines()
    assert sorted(canonical) == sorted(lines_of(release))
    assert not any(isinstance(part, ox.BlankNode) for quad in dataset for part in (quad.subject, quad.object))


def test_no_triple_stands_in_two_graphs(release: Release) -> None:
    distinct = "SELECT (COUNT(*) AS ?n) { SELECT DISTINCT ?s ?p ?o { ?s ?p ?o } }"
    assert release.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }") == release.query(distinct)


def test_every_graph_of_the_design_is_there(release: Release) -> None:
    rows = release.select("SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }")
    graphs = {row["g"].removeprefix(BASE) for row in rows}
    assert {name for name in graphs if name.startswith("graph/")} == {
        f"graph/{name}"
        for name in ("shared", "derived", "ontology", "vocabulary", "shapes", "validation", "questions", "release")
    }
    assert {name for name in graphs if name.startswith("record/")} == {f"record/{item}" for item in release.record_ids}


def test_printed_values_stand_in_graph_and_records_exactly(release: Release) -> None:
    lines = lines_of(release)
    records = (release.folder / RECORDS).read_text(encoding="utf-8")
    for record_id, printed in PRINTED.items():
        assert f'<{BASE}id/{record_id}> <{EVKG}printedValue> "{printed}" <{BASE}record/{record_id}> .' in lines
        assert f'"printed_value":"{printed}"' in records


def test_the_manifest_tells_every_file_with_its_hash(release: Release) -> None:
    files = contents(release.folder)
    del files[MANIFEST]
    assert {name: facts["sha256"] for name, facts in release.manifest["files"].items()} == files
    assert {
        "ontology/evkg.ttl",
        "ontology/context.jsonld",
        "ontology/mappings.ttl",
        "shapes/result.ttl",
    } <= files.keys()


def test_the_manifest_counts_records_kinds_quads_and_findings(release: Release) -> None:
    counts = release.manifest["counts"]
    report = json.loads((release.folder / REPORT_JSON).read_text(encoding="utf-8"))["summary"]
    assert counts["records"] == report["records"] == len(release.record_ids) == 49
    assert (counts["violations"], counts["warnings"], counts["infos"]) == (
        report["violations"],
        report["warnings"],
        report["infos"],
    )
    assert counts["violations"] == 0
    assert counts["withheld"] == 0
    assert counts["quads"] == len(lines_of(release))
    assert counts["kinds"]["result"] == 14
    assert sum(counts["kinds"].values()) == 49
    assert release.manifest["versions"].keys() >= {"evkg", "rdflib", "pyshacl", "pyoxigraph"}


def test_the_release_graph_says_what_the_release_is(release: Release) -> None:
    node = f"{BASE}releases/{release.id}"
    row = release.select(
        "SELECT * { ?r a dcat:Dataset, void:Dataset ; dcterms:identifier ?id ; dcterms:issued ?at ; "
        "void:triples ?n ; evkg:conforms ?ok ; evkg:recordCount ?records ; "
        "evkg:violationCount ?violations ; evkg:warningCount ?warnings }"
    )[0]
    counts = release.manifest["counts"]
    assert row == {
        "r": node,
        "id": release.id,
        "at": TIME,
        "n": counts["quads"],
        "ok": True,
        "records": 49,
        "violations": 0,
        "warnings": counts["warnings"],
    }


@pytest.mark.parametrize(
    ("key", "predicate"),
    [("licence", f"{DCTERMS}license"), ("publisher", f"{DCTERMS}publisher"), ("contact", f"{DCAT}contactPoint")],
)
def test_what_the_data_set_does_not_say_of_itself_has_a_reason(release: Release, key: str, predicate: str) -> None:
    rows = release.select(
        f"SELECT * {{ GRAPH <{BASE}graph/release> {{ ?r evkg:missing ?m . ?m a evkg:MissingEntry ; evkg:field ?field ; "
        "evkg:missingProperty ?property ; evkg:reason ?reason ; evkg:note ?note } FILTER(?field = ?key) }",
        key=key,
    )
    assert [(row["property"], row["reason"]) for row in rows] == [
        (predicate, "https://w3id.org/evkg/vocab/missingness/unreported")
    ]
    assert rows[0]["note"]
    assert not release.query(f"ASK {{ ?r a dcat:Dataset ; <{predicate}> ?value }}")
    assert release.manifest["dataset"][key]["reason"] == "unreported"


def test_a_value_in_the_description_stands_in_the_release_graph(tmp_path: Path) -> None:
    write_records(tmp_path / "graph/r.jsonl", record("a", "model"))
    description = 'title: "A \\"small\\" one"\nlicence: CC0-1.0\npublisher: {reason: inapplicable}\n'
    (tmp_path / "graph/dataset.yaml").write_text(description, encoding="utf-8")
    release = build_draft(tmp_path / "graph", tmp_path / "out")
    row = release.select("SELECT * { ?r a dcat:Dataset ; dcterms:title ?title ; dcterms:license ?licence }")[0]
    assert (row["title"], row["licence"]) == ('A "small" one', "CC0-1.0")
    missing = release.select("SELECT ?f ?r { ?d a dcat:Dataset ; evkg:missing ?m . ?m evkg:field ?f ; evkg:reason ?r }")
    assert {row["f"]: row["r"].rsplit("/", 1)[1] for row in missing} == {
        "contact": "unextracted",
        "description": "unextracted",
        "language": "unextracted",
        "publisher": "inapplicable",
    }


def test_the_report_in_turtle_is_the_validation_graph(release: Release) -> None:
    report = {
        str(quad.triple) for quad in ox.parse(path=str(release.folder / REPORT_TURTLE), format=ox.RdfFormat.TURTLE)
    }
    graph = f"<{graph_iri(BASE, 'validation')}>"
    quads = ox.parse(path=str(release.folder / GRAPH), format=ox.RdfFormat.N_QUADS)
    assert report == {str(quad.triple) for quad in quads if str(quad.graph_name) == graph}
    results = release.select(f"SELECT ?r {{ ?report a sh:ValidationReport ; sh:conforms false ; <{SH}result> ?r }}")
    assert len(results) == release.manifest["counts"]["warnings"] + release.manifest["counts"]["infos"]


def test_the_statistics_count_the_graph_as_it_is(release: Release) -> None:
    assert release.select(f"SELECT ?n {{ ?r a dcat:Dataset ; <{VOID}triples> ?n }}")[0]["n"] == len(release.store)


def test_another_base_iri_changes_every_iri_of_the_data(release: Release, tmp_path: Path) -> None:
    seed = copy_seed(tmp_path / "graph")
    base = "https://evidence.example.org/kg/"
    edit(seed / "dataset.yaml", "base_iri: https://w3id.org/evkg/", f"base_iri: {base}")
    other = built(seed, tmp_path / "out")
    assert other.base_iri == base
    assert other.id != release.id
    theirs = lines_of(other)
    assert len(theirs) == len(lines_of(release))
    for group in ("id/", "record/", "graph/", "artifact/", "agent/", "genid/", "releases/", "validation", "questions/"):
        assert not [line for line in theirs if f"<{BASE}{group}" in line], group
        assert [line for line in theirs if f"<{base}{group}" in line], group
    assert other.record("gena-lm") == release.record("gena-lm")
    assert other.jsonld("gena-lm")["id"] == f"{base}record/gena-lm"


# ---- Drafts and refusals ----


def test_violations_make_no_release_but_reports_and_leave_the_last_one(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = built(copy_seed(tmp_path / "good"), out)
    result = build_release(with_violation(tmp_path / "bad"), out, at=AT)
    assert result.release is None
    assert result.report == out / LAST_REPORT
    report = json.loads((result.report / REPORT_JSON).read_text(encoding="utf-8"))
    assert report["summary"]["violations"] == result.checked.violations == 1
    assert report["findings"][0]["rule"] == "unknown-id"
    assert report["findings"][0]["file"].endswith("bad/records/aspidova-2026/configurations.yaml")
    assert (result.report / REPORT_TURTLE).is_file()
    assert open_release(out).id == first.id
    assert sorted(entry.name for entry in out.iterdir()) == sorted([".lock", CURRENT, LAST_REPORT, first.id])


def test_a_draft_says_so_everywhere(tmp_path: Path) -> None:
    release = built(with_violation(tmp_path / "bad"), tmp_path / "out", draft=True)
    assert release.conforms is False
    assert release.manifest["conforms"] is False
    assert release.manifest["counts"]["violations"] == 1
    report = json.loads((release.folder / REPORT_JSON).read_text(encoding="utf-8"))
    assert report["summary"]["violations"] == 1
    said = release.select(
        "SELECT ?ok ?n { GRAPH ?g { ?r a dcat:Dataset ; evkg:conforms ?ok ; evkg:violationCount ?n } }"
    )
    assert list(said) == [{"ok": False, "n": 1}]


def test_a_draft_without_violations_conforms(release: Release, tmp_path: Path) -> None:
    other = built(SEED, tmp_path, draft=True)
    assert other.conforms
    assert contents(other.folder) == contents(release.folder)


def test_references_outside_gate_only_without_open(tmp_path: Path) -> None:
    links = [{"relation": "alias_of", "target_id": "elsewhere"}]
    file = write_records(tmp_path / "r.jsonl", record("a", "model", links=links))
    assert build_release(file, tmp_path / "out", at=AT).release is None
    result = build_release(file, tmp_path / "out", at=AT, is_open=True)
    assert [f.severity for f in result.checked.findings if f.rule == "unknown-id"] == ["info"]


def test_a_contradiction_stops_the_build_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clash = (ROOT / "tests/records/derive/evaluation-that-is-a-result.nq").read_text(encoding="utf-8").splitlines()

    near = Closure(load_axioms()).of(line[: line.rindex(" <")] for line in clash)

    def with_clash(*given: Any) -> list[str]:
        derived = [f"{triple} <{BASE}graph/derived> ." for triple in near]
        return sorted([*derive_in(*given), *clash, *derived])

    monkeypatch.setattr("evkg.draft.derive_in", with_clash)
    with pytest.raises(InconsistencyError, match="id/both"):
        build_release(SEED, tmp_path, at=AT)
    assert [entry.name for entry in tmp_path.iterdir()] == [".lock"]


def test_a_triple_in_two_graphs_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def examples_graph(base: str) -> list[str]:
        return [f'<{base}id/gena-lm> <{EVKG}kind> "model" <{base}graph/questions> .']

    monkeypatch.setattr("evkg.build.examples_graph", examples_graph)
    with pytest.raises(InconsistencyError, match=r"two graphs: <.*id/gena-lm>.*kind> \"model\""):
        build_release(SEED, tmp_path, at=AT)
    assert [entry.name for entry in tmp_path.iterdir()] == [".lock"]


# ---- Withheld records ----


def test_an_excluded_record_leaves_a_tombstone_and_no_value(tmp_path: Path) -> None:
    secret = {"printed_value": "SECRET-1", "metric": "secret-metric", "reason": "retracted by its authors"}
    excluded = record(
        "gone",
        "result",
        name="A result",
        status="excluded",
        description="SECRET-2",
        facets={"area": ["SECRET-3"]},
        links=[{"relation": "evaluation", "target_id": "e"}],
        attributes={**secret, "missing_metadata": {"unit": {"reason": "unreported", "note": "SECRET-4"}}},
    )
    kept = record("kept", "model", links=[], attributes={"organization": "somebody"})
    file = write_records(tmp_path / "r.jsonl", excluded, kept, record("e", "evaluation"))
    release = build_draft(file, tmp_path / "out")
    assert release.manifest["counts"]["withheld"] == 1
    for name in (GRAPH, RECORDS, REPORT_JSON, REPORT_TURTLE, MANIFEST):
        text = (release.folder / name).read_text(encoding="utf-8")
        assert "SECRET" not in text, name
        assert "secret-metric" not in text, name
    assert b"SECRET" not in b"".join(f.read_bytes() for f in (release.folder / STORE).iterdir())
    assert release.record("gone") == {
        "id": "gone",
        "kind": "result",
        "name": "A result",
        "status": "excluded",
        "source_ids": [],
        "links": [{"relation": "evaluation", "target_id": "e"}],
        "description": "",
        "facets": {},
        "attributes": {"reason": "retracted by its authors"},
    }
    rows = release.select("SELECT ?p { GRAPH ?record { ?thing ?p ?o } }", thing=f"<{BASE}id/gone>")
    properties = {row["p"].rsplit("#", 1)[-1].rsplit("/", 1)[-1] for row in rows if "derived" not in row["p"]}
    assert properties >= {"type", "label", "kind", "evaluation"}
    assert "printedValue" not in properties
    assert release.query(f"ASK {{ <{BASE}record/gone> evkg:status/skos:notation 'excluded' }}")


def test_no_shape_checks_an_excluded_record(tmp_path: Path) -> None:
    file = write_records(tmp_path / "r.jsonl", record("gone", "result", status="excluded"))
    result = build_release(file, tmp_path / "out", at=AT)
    assert result.release is not None
    assert [f for f in result.checked.findings if f.severity != "info"] == []


# ---- All or nothing ----


def test_building_the_same_twice_leaves_the_first_untouched(tmp_path: Path) -> None:
    first = built(SEED, tmp_path)
    inodes = {file: file.stat().st_ino for file in first.folder.rglob("*")}
    again = built(SEED, tmp_path)
    assert again.folder == first.folder
    assert {file: file.stat().st_ino for file in again.folder.rglob("*")} == inodes
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted([".lock", CURRENT, first.id])


def test_a_broken_release_of_the_same_id_is_replaced(tmp_path: Path) -> None:
    first = built(SEED, tmp_path)
    for file in (first.folder / STORE).glob("*.sst"):
        file.write_bytes(b"")
    again = built(SEED, tmp_path)
    assert again.folder == first.folder
    assert len(again.store) == again.manifest["counts"]["quads"]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted([".lock", CURRENT, first.id])


def test_older_releases_stay_readable_beside_the_new_one(tmp_path: Path) -> None:
    seed = copy_seed(tmp_path / "graph")
    first = built(seed, tmp_path / "out")
    edit(seed / RESULTS, 'printed_value: "33.88"', 'printed_value: "33.880"')
    second = built(seed, tmp_path / "out")
    assert open_release(tmp_path / "out" / CURRENT).id == second.id
    name = f"{SAADAT}result-nt-2-5b-training-memory-checkpointing"
    values = [
        open_release(tmp_path / "out" / item.id).select("SELECT ?v { ?r evkg:printedValue ?v }", r=f"<{BASE}id/{name}>")
        for item in (first, second)
    ]
    assert [rows[0]["v"] for rows in values] == ["33.88", "33.880"]


def test_a_second_build_at_the_same_time_is_refused_in_one_line(tmp_path: Path) -> None:
    with lock(tmp_path):
        with pytest.raises(UsageError, match="Another build is writing"):
            build_release(SEED, tmp_path, at=AT)
        run = run_evkg("build", "graph", "--out", tmp_path)
    assert run.returncode == 2
    assert run.stdout == b""
    assert run.stderr.decode() == f"evkg: Another build is writing to {tmp_path}.\n"


def test_what_an_interrupted_build_left_is_cleared_and_a_moved_release_put_back(tmp_path: Path) -> None:
    first = built(SEED, tmp_path)
    first.folder.rename(tmp_path / f".building-old-{first.id}")
    (tmp_path / ".building-123").mkdir()
    (tmp_path / ".building-123/graph.nq").write_text("half", encoding="utf-8")
    (tmp_path / ".building-pointer-123").symlink_to("nowhere")
    with lock(tmp_path):
        assert open_release(tmp_path).id == first.id
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted([".lock", CURRENT, first.id])


#: Runs a build that kills itself when the progress comes to a step, or writes the nth file.
KILLED = """
import os, signal, sys
from pathlib import Path
from datetime import UTC, datetime
from evkg import build, publish
step = sys.argv[3]
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
def progress(text, *_):
    if text.startswith(step):
        die()
def before(module, name):
    real = getattr(module, name)
    def run(*arguments):
        if step == name:
            die()
        value = real(*arguments)
        if step == "after " + name:
            die()
        return value
    setattr(module, name, run)
before(build, "publish")
before(build.Draft, "start_deriving")
before(build.Draft, "write_graph")
before(build, "manifest")
before(publish, "_point")
build.build_release(Path(sys.argv[1]), Path(sys.argv[2]), at=datetime(2026, 11, 1, tzinfo=UTC), progress=progress)
"""


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The seed data set with one other value."""
    seed = copy_seed(tmp_path_factory.mktemp("changed") / "graph")
    edit(seed / RESULTS, 'printed_value: "33.88"', 'printed_value: "33.880"')
    return seed


@pytest.mark.parametrize(
    "step",
    [
        "looking",
        "deriving",
        "writing",
        "loading the store",
        "start_deriving",
        "after write_graph",
        "manifest",
        "publish",
        "_point",
        "after _point",
        "after publish",
    ],
)
def test_a_build_killed_at_any_step_leaves_a_whole_release(
    release: Release, changed: Path, tmp_path: Path, step: str
) -> None:
    out = tmp_path / "out"
    shutil.copytree(release.folder, out / release.id)
    (out / CURRENT).symlink_to(release.id)
    run = subprocess.run([sys.executable, "-c", KILLED, changed, out, step], capture_output=True, check=False)
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert_whole(out, release, moved=step in ("after _point", "after publish"))


def assert_whole(out: Path, release: Release, *, moved: bool | None) -> None:
    """`current` is the old release, or the new one where the pointer has moved; and no other is half made."""
    current = open_release(out)
    if moved is not None:
        assert (current.id != release.id) is moved
    for folder in out.iterdir():
        if folder.name.startswith(".") or folder.name in (CURRENT, LAST_REPORT):
            continue
        whole = open_release(folder)
        assert len(whole.store) == whole.manifest["counts"]["quads"]
        files = contents(whole.folder)
        del files[MANIFEST]
        assert {name: facts["sha256"] for name, facts in whole.manifest["files"].items()} == files
        assert whole.record("gena-lm")["name"] == "GENA-LM"


def test_a_build_killed_at_any_moment_leaves_a_whole_release(release: Release, changed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(release.folder, out / release.id)
    (out / CURRENT).symlink_to(release.id)
    chance = random.Random(2026)
    for _ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-m", "evkg.cli", "build", changed, "--out", out, "--at", TIME],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(chance.uniform(0.5, 2.2))
        process.kill()
        process.wait()
        assert_whole(out, release, moved=None)
    final = built(changed, out)
    assert sorted(entry.name for entry in out.iterdir()) == sorted([".lock", CURRENT, release.id, final.id])


def limit_file_size() -> None:
    """No file may grow beyond 200 kB: writing fails as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


def test_a_file_that_cannot_be_written_is_one_line_and_leaves_the_old_release(
    release: Release, changed: Path, tmp_path: Path
) -> None:
    shutil.copytree(release.folder, tmp_path / release.id)
    (tmp_path / CURRENT).symlink_to(release.id)
    run = subprocess.run(
        [sys.executable, "-m", "evkg.cli", "build", changed, "--out", tmp_path, "--format", "json"],
        capture_output=True,
        preexec_fn=limit_file_size,
        check=False,
    )
    assert run.returncode == 2
    assert "error" in json.loads(run.stdout)
    assert_one_line(run.stderr)
    assert open_release(tmp_path).id == release.id
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted([".lock", CURRENT, release.id])


def assert_one_line(stderr: bytes) -> None:
    text = stderr.decode()
    assert text.startswith("evkg: ")
    assert text.count("\n") == 1
    assert "Traceback" not in text


@pytest.mark.parametrize("kilobytes", [16, 600, 3600, 4600])
def test_a_full_disk_is_one_line_and_leaves_the_old_release(changed: Path, tmp_path: Path, kilobytes: int) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system may be mounted here; RLIMIT_FSIZE stands for it")
    try:
        run = run_evkg("build", changed, "--out", disk / "out", "--at", TIME)
        assert run.returncode == 2, run
        assert_one_line(run.stderr)
        assert b"No space left" in run.stderr
        assert {entry.name for entry in (disk / "out").iterdir()} <= {".lock"}
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/evkg"])
def test_an_output_folder_that_cannot_be_is_one_line(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ReleaseError, match="cannot be written"):
        build_release(SEED, tmp_path / place, at=AT)


def test_a_pointer_that_is_a_folder_is_an_error_and_not_lost(tmp_path: Path) -> None:
    (tmp_path / CURRENT).mkdir()
    (tmp_path / CURRENT / "precious").write_text("", encoding="utf-8")
    with pytest.raises(ReleaseError, match="cannot be written"):
        build_release(SEED, tmp_path, at=AT)
    assert (tmp_path / CURRENT / "precious").is_file()


def test_reports_name_files_from_the_data_set_on_in_a_release(release: Release) -> None:
    findings = json.loads((release.folder / REPORT_JSON).read_text(encoding="utf-8"))["findings"]
    assert {str(finding["file"]).split("/")[0] for finding in findings} == {"records"}


def test_findings_have_one_order(release: Release) -> None:
    findings = json.loads((release.folder / REPORT_JSON).read_text(encoding="utf-8"))["findings"]
    keys = [Finding(**finding) for finding in findings]
    assert len(set(keys)) == len(keys)
