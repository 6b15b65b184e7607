"""A data set: what it says of itself, its records, the nodes they share, and what is withheld."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from evkg.batch import Outcome
from evkg.check import check_dataset
from evkg.dataset import Dataset
from evkg.description import FACTS, read_description
from evkg.errors import UsageError
from evkg.finding import Finding
from evkg.jsontext import encode_json
from evkg.namespaces import EVKG, PROV, RDF, SKOS, SPDX
from evkg.record import Record
from evkg.shared import SharedNodes
from evkg.vocabulary import Vocabulary
from evkg.withheld import tombstone
from tests import owl
from tests.builds import BASE, SEED, check_whole, record, write_records

ONE = record("a", "model")


def describe(folder: Path, text: str) -> tuple[dict[str, Any], list[Finding]]:
    folder.mkdir(exist_ok=True)
    (folder / "dataset.yaml").write_text(text, encoding="utf-8")
    description, findings = read_description(folder)
    return {"base_iri": description.base_iri, **description.facts}, findings


# ---- What it says of itself ----


def test_the_seed_data_set_says_what_it_is_and_invents_nothing() -> None:
    description, findings = read_description(SEED)
    assert findings == []
    assert description.base_iri == BASE
    assert description.facts["title"].value == "Evidence on running DNA language models"
    assert description.facts["language"].value == "en"
    for key in ("licence", "publisher", "contact"):
        assert description.facts[key].value is None
        assert description.facts[key].reason == "unreported"
        assert description.facts[key].note


def test_what_is_not_said_is_unextracted(tmp_path: Path) -> None:
    said, findings = describe(tmp_path, "title: T\n")
    assert findings == []
    assert {key: said[key].reason for key in FACTS if key != "title"} == dict.fromkeys(FACTS[1:], "unextracted")


def test_a_folder_without_a_description_has_the_name_of_the_folder_and_no_other_fact(tmp_path: Path) -> None:
    description, findings = read_description(tmp_path)
    assert findings == []
    assert description.facts["title"].value == tmp_path.name
    assert all(description.facts[key].value is None for key in FACTS if key != "title")


@pytest.mark.parametrize(
    "iri",
    [
        "evkg",
        "ftp://example.org/",
        "https://example.org",
        "https://example.org/kg",
        "https://example.org/a b/",
        "https://example.org/<x>/",
        'https://example.org/"/',
        "https://example.org/kg#",
        "https://example.org/#/",
        "https://example.org/?q=/",
        "https:///",
        "https://[/",
        "{}",
        "''",
    ],
)
def test_a_base_iri_that_cannot_begin_every_iri_is_a_violation(tmp_path: Path, iri: str) -> None:
    said, (item,) = describe(tmp_path, f"title: T\nbase_iri: {iri}\n")
    assert said["base_iri"] == BASE
    assert (item.severity, item.rule, item.line, item.column) == ("violation", "dataset-description", 2, 1)
    assert item.file == str(tmp_path / "dataset.yaml")
    assert "ends with /" in item.message


@pytest.mark.parametrize("iri", ["https://example.org/", "http://localhost:8000/kg/", "https://example.org/é/%20/"])
def test_a_base_iri_may_be_any_folder_of_the_web(tmp_path: Path, iri: str) -> None:
    said, findings = describe(tmp_path, f"base_iri: {iri}\n")
    assert (said["base_iri"], findings) == (iri, [])


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("title: T\nlicense: MIT\n", 2, 1, "known: title, description, licence"),
        ("title: T\nlicence: ''\n", 2, 1, "must be a text, or a reason"),
        ("licence: [a, b]\n", 1, 1, "must be a text, or a reason"),
        ("licence: {note: none}\n", 1, 1, "must be a text, or a reason"),
        ("licence: {reason: lost}\n", 1, 1, "'lost' is not a reason"),
        ("licence: {reason: {a: b}}\n", 1, 1, "is not a reason"),
        ("- title\n", 1, 1, "one mapping"),
        ("title: a\n---\ntitle: b\n", 1, 1, "one mapping"),
        ("title: a\ntitle: b\n", 2, 1, "title"),
        ("title: [a\n", 2, 1, ""),
        ("a:\n\tb: c\n", 2, 1, ""),
    ],
)
def test_what_is_wrong_in_the_description_has_its_place(
    tmp_path: Path, text: str, line: int, column: int, message: str
) -> None:
    _, (item,) = describe(tmp_path, text)
    assert (item.severity, item.rule, item.line, item.column) == ("violation", "dataset-description", line, column)
    assert message in item.message


@pytest.mark.parametrize("content", [b"\xff\xfe", b"title: \xc3\n", b""])
def test_a_description_that_cannot_be_read_is_a_violation(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "dataset.yaml").write_bytes(content)
    _, (item,) = read_description(tmp_path)
    assert item.severity == "violation"


# ---- Its records ----


class Read(Dataset):
    """A data set with its records in memory."""

    records: dict[str, Record]

    @property
    def count(self) -> int:
        return len(self.records)


def read_whole(path: Path, vocabulary: Vocabulary) -> Read:
    dataset = Read(path, vocabulary)
    dataset.records = {item.id: item for item in dataset.read()}
    return dataset


def test_the_seed_data_set_has_49_records(vocabulary: Vocabulary) -> None:
    dataset = read_whole(SEED, vocabulary)
    assert dataset.count == 49
    assert set(dataset.records) == set(dataset.kinds)
    assert [item for item in dataset.findings if item.severity != "info"] == []


def test_an_id_used_twice_names_the_other_place(vocabulary: Vocabulary, tmp_path: Path) -> None:
    write_records(tmp_path / "a/one.jsonl", ONE)
    write_records(tmp_path / "b.jsonl", record("b", "model"), {**ONE, "name": "another"})
    dataset = read_whole(tmp_path, vocabulary)
    assert dataset.records["a"].data["name"] == "a"
    (item,) = dataset.findings
    assert (item.severity, item.rule, item.field) == ("violation", "repeated-id", "id")
    assert (item.file, item.line) == (str(tmp_path / "b.jsonl"), 2)
    assert item.message == f"The id 'a' is already used in {tmp_path / 'a/one.jsonl'}:1."


def test_findings_of_reading_keys_and_references_are_in_one_list(vocabulary: Vocabulary, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    write_records(file, record("a", "model", attributes={"organisation": "x"}, source_ids=["nowhere"]))
    file.write_text(file.read_text(encoding="utf-8") + "{broken\n", encoding="utf-8")
    rules = {item.rule for item in read_whole(file, vocabulary).findings}
    assert rules == {"undeclared-attribute", "unknown-id", "syntax"}


def test_a_data_set_with_nothing_in_it_is_wrong_use(vocabulary: Vocabulary, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no record"):
        read_whole(tmp_path, vocabulary)
    with pytest.raises(UsageError, match="does not exist"):
        read_whole(tmp_path / "none", vocabulary)


def test_a_data_set_with_only_broken_files_is_all_findings(vocabulary: Vocabulary, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("id: [\n", encoding="utf-8")
    dataset = read_whole(tmp_path, vocabulary)
    assert dataset.count == 0
    assert [item.rule for item in dataset.findings] == ["syntax"]
    checked = check_whole(tmp_path)
    assert checked.violations == 1
    assert checked.quads == []


# ---- Shared nodes ----


def test_artifacts_and_agents_are_described_once(vocabulary: Vocabulary, tmp_path: Path) -> None:
    paper = {"artifact_sha256": "a" * 64}
    review = {"reviewer": ["codex", "jane-doe"], "method": ["source-hash-verification"]}
    file = write_records(
        tmp_path / "r.jsonl",
        record("s1", "source", attributes={**paper, "review": review}),
        record("s2", "source", attributes={**paper, "review": review}),
    )
    checked = check_whole(file)
    shared = [line for line in checked.quads if line.endswith(f"<{BASE}graph/shared> .")]
    assert len(set(shared)) == len(shared)
    quads = owl.parse(shared)
    types = {quad.subject.value: quad.object.value for quad in quads if quad.predicate.value == f"{RDF}type"}
    assert types == {
        f"{BASE}artifact/{'a' * 64}": f"{EVKG}SourceArtifact",
        f"{BASE}artifact/{'a' * 64}#checksum": f"{SPDX}Checksum",
        f"{BASE}agent/codex": f"{PROV}SoftwareAgent",
        f"{BASE}agent/jane-doe": f"{PROV}Agent",
    }
    matches = {quad.subject.value: quad.object.value for quad in quads if quad.predicate.value == f"{SKOS}exactMatch"}
    assert matches == {f"{BASE}agent/codex": "https://w3id.org/evkg/vocab/agent/codex"}
    assert any(quad.object.value == "jane-doe" for quad in quads)


def test_a_text_that_looks_like_a_node_is_no_node(tmp_path: Path) -> None:
    hostile = (f"see <{BASE}artifact/abc>", f'<urn:x> <urn:x> <{BASE}artifact/" . > <', f"<{BASE}agent/>")
    records = [record(f"r{n}", "model", description=text, name=text) for n, text in enumerate(hostile)]
    checked = check_whole(write_records(tmp_path / "r.jsonl", *records))
    assert [line for line in checked.quads if "graph/shared>" in line] == []
    assert owl.parse(checked.quads)


def test_shared_nodes_of_nothing_are_nothing(vocabulary: Vocabulary) -> None:
    assert SharedNodes(vocabulary, BASE).quads([]) == []


def test_every_object_in_the_own_name_space_of_the_seed_data_is_described(vocabulary: Vocabulary) -> None:
    checked = check_whole(SEED)
    quads = owl.parse(checked.quads)
    subjects = {str(quad.subject) for quad in quads}
    objects = {str(quad.object) for quad in quads if isinstance(quad.object, ox.NamedNode)}
    groups = tuple(f"<{BASE}{group}/" for group in ("id", "record", "artifact", "agent"))
    own = {iri for iri in objects if iri.startswith(groups)}
    assert own - subjects == set()
    assert len(own) > 100


# ---- What is withheld ----


def test_a_tombstone_keeps_identity_links_and_the_reason_only() -> None:
    data = record(
        "gone",
        "result",
        status="excluded",
        description="d",
        facets={"areas": ["x"]},
        source_ids=["s"],
        attributes={"printed_value": "1", "reason": "retracted", "scope_note": "all of it"},
    )
    assert tombstone(data) == {
        **record("gone", "result", status="excluded", source_ids=["s"]),
        "attributes": {"reason": "retracted", "scope_note": "all of it"},
    }


def test_findings_never_tell_what_is_withheld(tmp_path: Path) -> None:
    attributes = {"metrik": "SECRET", "printed_value": "", "review": {"source_id": "SECRET"}, "numeric_value": "SECRET"}
    links = [{"relation": "no-relation", "target_id": "nowhere"}]
    gone = record("gone", "result", status="excluded", facets={"odd": ["SECRET"]}, links=links, attributes=attributes)
    checked = check_whole(write_records(tmp_path / "r.jsonl", {**gone, "more": "SECRET"}))
    assert "SECRET" not in repr(checked.findings)
    assert {item.rule for item in checked.findings} == {"unknown-relation", "unknown-id"}


BROKEN = (
    {"kind": "SECRET-kind"},
    {"kind": ["SECRET"]},
    {"id": "SECRET id"},
    {"name": {"SECRET": "SECRET"}},
    {"description": ["SECRET"]},
    {"facets": {"SECRET": 1}},
    {"facets": {"SECRET": ["SECRET", {}]}},
    {"source_ids": "SECRET"},
    {"links": [{"relation": "SECRET", "target_id": "SECRET", "more": "SECRET"}]},
    {"attributes": ["SECRET"]},
)


@pytest.mark.parametrize("status", ["excluded", " excluded", "Excluded", "EXCLUDED\n", ["excluded"]])
@pytest.mark.parametrize("changes", BROKEN)
def test_a_broken_excluded_record_is_not_quoted(tmp_path: Path, status: Any, changes: dict[str, Any]) -> None:
    data = record("gone", "result", attributes={"printed_value": "SECRET"})
    for number, name in enumerate(("r.jsonl", "r.json", "r.yaml")):
        file = tmp_path / str(number) / name
        write_records(file, {**data, "status": status, **changes})
        checked = check_whole(file)
        assert checked.violations > 0
        assert "SECRET" not in repr(checked.findings)
        assert {item.rule for item in checked.findings} == {"envelope"}


def test_a_key_of_an_excluded_record_is_not_suggested(tmp_path: Path) -> None:
    data = {**record("gone", "result", status="excluded"), "descriptionSECRET": "x"}
    del data["description"]
    assert "SECRET" not in repr(check_whole(write_records(tmp_path / "r.jsonl", data)).findings)


def test_a_list_with_an_excluded_record_on_one_line_is_not_quoted(tmp_path: Path) -> None:
    gone = record("gone", "result", status="excluded", attributes={"printed_value": "SECRET"})
    (tmp_path / "r.jsonl").write_text(f"{encode_json([gone])}\n", encoding="utf-8")
    (item,) = check_whole(tmp_path / "r.jsonl").findings
    assert (item.rule, item.value) == ("envelope", None)


SAFE = "id: a\nkind: model\nname: a\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.jsonl", '{"id": "a", "status": "excluded", "attributes": {"SECRET": 1, "SECRET": 2}}'),
        ("r.jsonl", '{"id": "a", "status": "\\u0065xcluded", "attributes": {"x": SECRET}}'),
        ("r.json", '[{"id": "a", "status": "excluded", "attributes": {"SECRET": 1, "SECRET": 2}}]'),
        ("r.json", '{"status": "Excluded", "SECRET": 1, "SECRET": 2}'),
        ("r.yaml", f"{SAFE}status: excluded\nattributes:\n  SECRET: 1\n  SECRET: 2\n"),
        ("r.yaml", f"{SAFE}status: ' EXCLUDED'\nattributes:\n  value: *SECRET\n"),
        ("r.yaml", f"{SAFE}status: excluded\nattributes:\n  value: !SECRET x\n"),
        ("r.yaml", f"{SAFE}status: excluded\nattributes:\n  value: a: SECRET\n"),
        ("r.yaml", f"{SAFE}status: excluded\nattributes:\n  value: 'SECRET\n"),
    ],
)
def test_a_syntax_error_near_an_excluded_record_quotes_nothing(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = check_whole(tmp_path / name).findings
    assert [item.rule for item in found] == ["syntax"]
    assert "SECRET" not in repr(found)
    assert found[0].line is not None


@pytest.mark.parametrize("status", [" excluded", "Excluded", "EXCLUDED", "excluded."])
def test_a_status_that_may_mean_excluded_withholds_and_is_a_violation(tmp_path: Path, status: str) -> None:
    attributes = {"printed_value": "SECRET", "reason": {"text": "SECRET"}, "scope_note": "all"}
    old = {"relation": "model", "target_id": "kept"}
    gone = record("gone", "result", status=status, description="SECRET", links=[old], attributes=attributes)
    checked = check_whole(write_records(tmp_path / "r.jsonl", record("kept", "model"), gone))
    (item,) = (item for item in checked.findings if item.rule == "status-of-withdrawn")
    assert (item.severity, item.record, item.field, item.fix) == (
        "violation",
        "gone",
        "status",
        "Write status: excluded.",
    )
    assert checked.checked.withheld == {"gone"}
    assert "SECRET" not in repr((checked.findings, checked.quads, checked.records["gone"].line))
    assert any("vocab/status/excluded" in line for line in checked.quads)


def test_an_older_shape_of_an_excluded_record_is_not_told(tmp_path: Path) -> None:
    gone = record("gone", "source", status="excluded", attributes={"locator": "SECRET", "doi": None})
    lines = (record("gone", "source"), gone)
    for number, order in enumerate((lines, lines[::-1], (gone,))):
        checked = check_whole(write_records(tmp_path / f"{number}.jsonl", *order))
        assert "SECRET" not in repr((checked.findings, checked.quads))
        assert checked.checked.withheld == {"gone"}


def test_a_tombstone_keeps_the_concerns_of_a_source_without_their_words(tmp_path: Path) -> None:
    concerns = [
        {"source_id": "gone", "message": "SECRET", "source_locator": "SECRET", "effect": "excludes"},
        {"message": "SECRET", "effect": "SECRET"},
        {"message": "SECRET", "effect": "warns", "resolved": {"at": "2026-01-01", "by": "SECRET", "reason": "SECRET"}},
    ]
    gone = record("gone", "source", status="excluded", attributes={"evidence_concerns": concerns, "doi": "SECRET"})
    checked = check_whole(write_records(tmp_path / "r.jsonl", gone))
    assert "SECRET" not in repr((checked.findings, checked.quads, checked.records["gone"].line))
    said: dict[str, dict[str, str]] = {}
    for quad in owl.parse(checked.quads):
        name = getattr(quad.subject, "value", "").removeprefix(f"{BASE}record/gone#concern-")
        said.setdefault(name, {})[quad.predicate.value.rpartition("#")[2]] = quad.object.value
    concern = {"type": f"{EVKG}EvidenceConcern"}
    assert said["0"] == {**concern, "position": "0", "effect": "excludes"}
    assert said["1"] == {**concern, "position": "1"}
    assert said["2"].keys() == {"type", "position", "effect", "resolved"}


def claim(record_id: str, *subjects: str, **attributes: str) -> dict[str, Any]:
    links = [{"relation": "subject", "target_id": subject} for subject in subjects]
    return record(record_id, "claim", links=links, attributes={"field": "printed_value", **attributes})


def test_a_claim_on_withdrawn_records_alone_is_withheld(tmp_path: Path) -> None:
    gone = record("gone", "result", status="excluded")
    words = {"value": "SECRET", "previous_value": "SECRET", "reason": "SECRET"}
    lines = (claim("c2", "c1"), claim("c1", "gone", **words), gone)
    for name in ("r.jsonl", "r.json"):
        file = write_records(tmp_path / "r.jsonl", *lines)
        if name == "r.json":
            file = tmp_path / name
            file.write_text(encode_json(list(lines)), encoding="utf-8")
        checked = check_whole(file)
        assert checked.checked.withheld == {"gone", "c1", "c2"}
        assert "SECRET" not in repr((checked.findings, checked.quads, checked.records["c1"].line))
        assert checked.records["c1"].data["links"] == [{"relation": "subject", "target_id": "gone"}]
        assert "claim-on-withdrawn" not in {item.rule for item in checked.findings}


@pytest.mark.parametrize(
    ("told", "field"),
    [
        (claim("c", "kept", "gone", value="v"), "links.1.target_id"),
        (claim("c", "kept", value="gone"), "attributes.value"),
        (claim("c", "kept", field="links:system:gone", value="v"), "attributes.field"),
    ],
)
def test_a_claim_that_also_speaks_about_a_withdrawn_record_is_kept_with_a_warning(
    tmp_path: Path, told: dict[str, Any], field: str
) -> None:
    lines = (told, record("kept", "model"), record("gone", "model", status="excluded"))
    checked = check_whole(write_records(tmp_path / "r.jsonl", *lines))
    (item,) = (item for item in checked.findings if item.rule == "claim-on-withdrawn")
    assert (item.severity, item.record, item.field) == ("warning", "c", field)
    assert checked.checked.withheld == {"gone"}
    assert any("valueText" in line for line in checked.quads)


def test_citing_a_withdrawn_record_is_told(tmp_path: Path) -> None:
    gone = (record("x", "source", status="Excluded"), record("s", "source", status="superseded"))
    citing = record("a", "model", source_ids=["x", "s"])
    found = check_whole(write_records(tmp_path / "r.jsonl", citing, *gone)).findings
    told = {item.field: item.message.rpartition(" ")[2] for item in found if item.rule == "cites-withdrawn"}
    assert told == {"source_ids.0": "excluded.", "source_ids.1": "superseded."}


def test_the_first_look_knows_every_status(vocabulary: Vocabulary, tmp_path: Path) -> None:
    plain = record("a", "model", status="disputed", name='say "x" \\ y')
    turned = dict(reversed(record("b", "model", status="superseded").items()))
    file = write_records(tmp_path / "r.jsonl", plain, turned, claim("c", "a"))
    assert Dataset(file, vocabulary).statuses == {"a": "disputed", "b": "superseded", "c": "discovered"}
    assert set(Dataset(SEED, vocabulary).statuses) == set(Dataset(SEED, vocabulary).kinds)


def test_quads_come_with_their_record() -> None:
    found: list[Outcome] = []
    check_dataset(SEED, sink=lambda batch: found.extend(batch.outcomes), keep=True)
    assert len(found) == 49
    for outcome in found:
        own = (f"<{BASE}id/{outcome.record_id}", f"<{BASE}record/{outcome.record_id}")
        assert outcome.triples
        assert all(triple.startswith(own) for triple in outcome.triples)


def test_every_reason_of_the_vocabulary_may_stand_for_a_fact(vocabulary: Vocabulary, tmp_path: Path) -> None:
    for reason in vocabulary.schemes["missingness"].concepts:
        said, findings = describe(tmp_path, f"licence: {{reason: {reason}, note: n}}\n")
        assert (said["licence"].reason, said["licence"].note, findings) == (reason, "n", [])


def test_a_file_of_records_called_dataset_is_no_description(vocabulary: Vocabulary, tmp_path: Path) -> None:
    text = "id: a\nkind: dataset\nname: A\ndescription: ''\nstatus: discovered\nfacets: {}\nsource_ids: []\n"
    (tmp_path / "dataset.yaml").write_text(f"{text}links: []\nattributes: {{}}\n", encoding="utf-8")
    dataset = read_whole(tmp_path, vocabulary)
    assert (dataset.count, dataset.findings) == (1, [])
    assert dataset.description.facts["title"].value == tmp_path.name
