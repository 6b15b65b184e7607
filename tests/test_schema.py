"""JSON Schemas: fresh, valid in both drafts, silent on real records, and not silent on faults of envelope and type."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evkg.check import check_dataset
from evkg.cli import main
from evkg.finding import Finding
from evkg.jsontext import NumberText
from evkg.record import Record
from evkg.scalar import ENVELOPE, core_scalar
from evkg.schema import COMPLETE_FILE, RECORD_FILE, render_schemas
from evkg.shapes import Shapes
from evkg.vocabulary import Vocabulary, load_vocabulary
from evkg.yamltext import Mapping, Node, Scalar, Sequence, parse_yaml
from tests.conftest import ROOT, SEED

FILES = render_schemas(Shapes(), load_vocabulary())
SCHEMAS: dict[str, Any] = {name: json.loads(text) for name, text in FILES.items()}

#: Keywords that mean the same in draft 7 and in 2020-12, but for what stands beside a reference.
KEYWORDS = frozenset(
    """
    $schema title description type properties required additionalProperties items enum const pattern minLength
    maxLength minimum maximum exclusiveMinimum exclusiveMaximum allOf anyOf not if then else contains definitions $ref
    """.split()
)

#: (file, record) -> the faults that a draft finds, as paths.
Validate = Callable[[str, Any], list[tuple[str | int, ...]]]


@pytest.fixture(scope="module", params=["Draft7Validator", "Draft202012Validator"])
def validate(request: pytest.FixtureRequest) -> Validate:
    """Validation by one of the two drafts; the tests that need it are skipped where jsonschema is not installed."""
    jsonschema = pytest.importorskip("jsonschema")
    referencing = pytest.importorskip("referencing")
    specifications = pytest.importorskip("referencing.jsonschema")
    validator = getattr(jsonschema, request.param)
    specification = specifications.DRAFT7 if request.param == "Draft7Validator" else specifications.DRAFT202012
    plain = {name: {k: v for k, v in schema.items() if k != "$schema"} for name, schema in SCHEMAS.items()}
    registry = referencing.Registry().with_resources(
        (name, referencing.Resource.from_contents(schema, default_specification=specification))
        for name, schema in plain.items()
    )
    for schema in plain.values():
        validator.check_schema(schema)

    def run(name: str, value: Any) -> list[tuple[str | int, ...]]:
        errors = validator({"$ref": name}, registry=registry).iter_errors(value)
        return sorted({tuple(error.absolute_path) for error in errors}, key=str)

    return run


def as_editor(node: Node) -> Any:
    """A YAML node as an editor types it: by the core schema, numbers as numbers."""
    if isinstance(node, Scalar):
        value = core_scalar(node)
        return float(value) if isinstance(value, NumberText) else value
    if isinstance(node, Sequence):
        return [as_editor(item) for item in node.items]
    return {key: as_editor(item) for key, item in node.items.items()}


def editor_records(folder: Path) -> Iterator[tuple[str, Any]]:
    for file in sorted(folder.rglob("*.yaml")):
        for document in parse_yaml(file.read_text(encoding="utf-8")):
            for node in document.items if isinstance(document, Sequence) else [document]:
                if isinstance(node, Mapping) and "kind" in node.items:
                    yield file.stem, as_editor(node)


# ---- the files ----


def test_the_files_are_fresh() -> None:
    folder = ROOT / "schema"
    assert {file.name for file in folder.iterdir()} == set(FILES), "renew them with: evkg schema"
    for name, text in FILES.items():
        assert (folder / name).read_text(encoding="utf-8") == text, f"{name} is stale; renew it with: evkg schema"


def test_the_same_ontology_gives_the_same_bytes() -> None:
    assert render_schemas(Shapes(), load_vocabulary()) == FILES


def test_there_is_a_file_for_each_kind_and_two_for_all(vocabulary: Vocabulary) -> None:
    assert set(FILES) == {f"{kind}.json" for kind in vocabulary.kinds} | {RECORD_FILE, COMPLETE_FILE}
    for kind in vocabulary.kinds:
        schema = SCHEMAS[f"{kind}.json"]
        assert tuple(schema["properties"]) == tuple(schema["required"]) == ENVELOPE
        assert schema["additionalProperties"] is False


def nodes(value: Any, *, is_schema: bool = True) -> Iterator[dict[str, Any]]:
    """Every schema inside a schema."""
    if isinstance(value, list):
        for item in value:
            yield from nodes(item)
    elif isinstance(value, dict):
        if is_schema:
            yield value
        for key, inner in value.items():
            if not is_schema or key not in ("enum", "const", "required", "type"):
                yield from nodes(inner, is_schema=not (is_schema and key in ("properties", "definitions")))


@pytest.mark.parametrize("name", sorted(FILES))
def test_keywords_mean_the_same_in_both_drafts(name: str) -> None:
    for node in nodes(SCHEMAS[name]):
        assert set(node) <= KEYWORDS
        assert "$ref" not in node or set(node) == {"$ref"}, "draft 7 reads nothing beside a reference"
        reference = node.get("$ref", "")
        if reference.startswith("#/definitions/"):
            assert reference.removeprefix("#/definitions/") in SCHEMAS[name]["definitions"]
        elif reference:
            assert reference in FILES
        for pattern in filter(None, [node.get("pattern")]):
            assert not any(trap in pattern for trap in ("(?", "\\Z", "\\A", "\\p"))


def test_every_attribute_says_what_it_means(vocabulary: Vocabulary) -> None:
    for kind in vocabulary.kinds:
        for key, schema in SCHEMAS[f"{kind}.json"]["properties"]["attributes"]["properties"].items():
            assert schema["description"], f"{kind}.{key}"


def test_words_suggestions_and_relations_are_those_of_the_ontology(vocabulary: Vocabulary) -> None:
    result = SCHEMAS["result.json"]
    fields = result["properties"]["attributes"]["properties"]
    reason = result["definitions"]["MissingEntry"]["properties"]["reason"]
    assert set(fields["metric_direction"]["enum"]) == set(vocabulary.schemes["direction"].concepts)
    assert set(fields["metric"]["anyOf"][0]["enum"]) == set(vocabulary.schemes["metric"].concepts)
    assert set(reason["enum"]) == set(vocabulary.schemes["missingness"].concepts)
    for key in vocabulary.schemes["direction"].concepts:
        assert f"\n{key}: " in fields["metric_direction"]["description"]
    link = result["properties"]["links"]["items"]["properties"]["relation"]
    assert link["enum"] == ["evaluation", "source", "supersedes"]
    attributes = result["properties"]["attributes"]["properties"]
    assert "Required: a value, or a reason" in attributes["metric"]["description"]
    assert "Recommended: a value, or a reason" in attributes["uncertainty"]["description"]
    assert "coverage.scored" in attributes["missing_metadata"]["properties"]
    level = SCHEMAS["model.json"]["properties"]["attributes"]["properties"]["entity_level"]
    assert level["enum"] == ["family", "checkpoint", "method", "service"]
    assert [line.partition(":")[0] for line in level["description"].split("\n")[2:]] == sorted(level["enum"])


# ---- records ----


def test_the_seed_records_are_valid_as_evkg_and_as_an_editor_reads_them(
    validate: Validate, seed_records: list[Record]
) -> None:
    for record in seed_records:
        assert validate(RECORD_FILE, json.loads(record.line)) == [], record.id
        assert validate(COMPLETE_FILE, json.loads(record.line)) == [], record.id
    found = list(editor_records(ROOT / "graph/records")) if (ROOT / "graph/records").is_dir() else []
    for name, record_as_read in [*found, *editor_records(SEED)]:
        assert validate(RECORD_FILE, record_as_read) == [], name


def test_the_valid_records_of_every_kind_are_valid(validate: Validate) -> None:
    found = list(editor_records(ROOT / "tests/records/valid"))
    assert {record["kind"] for _, record in found} == set(load_vocabulary().kinds)
    for name, record in found:
        assert validate(COMPLETE_FILE, record) == [], name


def test_real_records_of_every_kind_are_valid(validate: Validate, peer_records: list[Record]) -> None:
    """Older shapes excepted: they are read, but new records are not written so."""
    current = [record for record in peer_records if not record.notes]
    assert len(current) > 45
    for record in current:
        assert validate(RECORD_FILE, json.loads(record.line)) == [], record.id


def test_what_is_incomplete_for_the_check_is_incomplete_for_the_schema(
    validate: Validate, peer_records: list[Record]
) -> None:
    found = check_dataset(Path(peer_records[0].origin.file).parent, is_open=True).findings
    incomplete = {f.record for f in found if f.severity == "violation" and "has neither a value nor" in f.message}
    assert incomplete
    for record in peer_records:
        if not record.notes:
            assert bool(validate(COMPLETE_FILE, json.loads(record.line))) == (record.id in incomplete), record.id


def test_a_bad_record_with_a_violation_of_form_is_bad_for_the_schema(validate: Validate) -> None:
    """Every rule on the form of values is seen: words, patterns, types, objects."""
    for name, record in editor_records(ROOT / "tests/records/invalid"):
        is_form = name.startswith("setting-") or name.endswith(("-format", "-blank", "-public", "-word", "-positive"))
        if is_form and record["id"] == name and name != "setting-free-object":
            assert validate(RECORD_FILE, record) != [], name


def sound() -> dict[str, Any]:
    return {
        "id": "a-result",
        "kind": "result",
        "name": "A result",
        "description": "",
        "status": "needs_review",
        "facets": {"areas": ["dna-genomes"]},
        "source_ids": ["a-paper"],
        "links": [{"relation": "evaluation", "target_id": "an-evaluation"}],
        "attributes": {
            "metric": "auroc",
            "metric_direction": "higher",
            "unit": "ratio",
            "printed_value": "0.91",
            "numeric_value": "0.91",
            "source_locator": "Table 2",
            "review": {"method": ["transcription"], "date": "2026-10-15"},
            "coverage": {"scored": 9, "eligible": 10},
            "uncertainty": {"type": "standard_deviation", "value": "0.01"},
            "approximate": True,
            "denominator": 10,
            "hit_genes": ["A"],
            "missing_metadata": {"aggregation": {"reason": "unreported", "note": "No page says."}},
        },
    }


_GONE = object()

FAULTS: list[tuple[tuple[str | int, ...], Any]] = [
    *[((key,), _GONE) for key in ENVELOPE],
    (("id",), "Upper"),
    (("id",), "a" * 256),
    (("id",), 7),
    (("kind",), "reslt"),
    (("kind",), None),
    (("name",), ""),
    (("name",), " "),
    (("name",), "x" * 501),
    (("description",), None),
    (("status",), "checked"),
    (("status",), None),
    (("facets",), []),
    (("facets", "areas"), "dna-genomes"),
    (("facets", "areas"), [1]),
    (("facets", "contexts"), ["other"]),
    (("source_ids",), "a-paper"),
    (("source_ids",), [1]),
    (("source_ids",), ["A paper"]),
    (("links",), {}),
    (("links",), []),
    (("links", 0, "relation"), "system"),
    (("links", 0, "target_id"), _GONE),
    (("links", 0, "note"), "x"),
    (("attributes",), []),
    (("extra",), 1),
    (("attributes", "metrik"), "auroc"),
    (("attributes", "metric"), ["auroc"]),
    (("attributes", "metric"), ""),
    (("attributes", "metric"), None),
    (("attributes", "metric_direction"), "up"),
    (("attributes", "printed_value"), {}),
    (("attributes", "printed_value"), " "),
    (("attributes", "printed_value"), True),
    (("attributes", "numeric_value"), "~0.91"),
    (("attributes", "numeric_value"), []),
    (("attributes", "approximate"), "yes"),
    (("attributes", "denominator"), 1.5),
    (("attributes", "denominator"), "ten"),
    (("attributes", "hit_genes"), "A"),
    (("attributes", "primary_table_member_sha256"), "f" * 63),
    (("attributes", "review"), "done"),
    (("attributes", "review", "method"), _GONE),
    (("attributes", "review", "method"), "transcription"),
    (("attributes", "review", "date"), "2026-02-30"),
    (("attributes", "review", "on"), "x"),
    (("attributes", "coverage"), {}),
    (("attributes", "coverage", "scored"), -1),
    (("attributes", "uncertainty", "type"), _GONE),
    (("attributes", "uncertainty", "type"), "sd"),
    (("attributes", "uncertainty", "value"), _GONE),
    (("attributes", "uncertainty", "lower"), "0.1"),
    (("attributes", "uncertainty", "type"), "confidence_interval"),
    (("attributes", "uncertainty", "level"), 2),
    (("attributes", "missing_metadata"), "unreported"),
    (("attributes", "missing_metadata", "aggregation"), "unreported"),
    (("attributes", "missing_metadata", "aggregation", "reason"), _GONE),
    (("attributes", "missing_metadata", "aggregation", "reason"), "TO-BE-DECIDED"),
    (("attributes", "missing_metadata", "aggregation", "why"), "x"),
]


def spoilt(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    record: Any = copy.deepcopy(sound())
    place = record
    for step in path[:-1]:
        place = place[step]
    if value is _GONE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return dict(record)


@pytest.mark.parametrize(("path", "value"), FAULTS, ids=lambda part: "gone" if part is _GONE else None)
def test_each_fault_of_envelope_and_type_is_an_error(
    validate: Validate, path: tuple[str | int, ...], value: Any
) -> None:
    assert validate(RECORD_FILE, sound()) == validate(COMPLETE_FILE, sound()) == []
    record = spoilt(path, value)
    faults = validate(RECORD_FILE, record)
    assert faults != []
    # It is seen on the way to the fault, not elsewhere.
    assert all(fault[: len(path)] == path[: len(fault)] for fault in faults), faults
    assert validate(RECORD_FILE, [sound(), record]) != []


@pytest.mark.parametrize("path", [("attributes", key) for key in ("metric", "unit", "printed_value", "review")])
def test_a_required_field_wants_a_value_or_a_reason(validate: Validate, path: tuple[str, str]) -> None:
    record = spoilt(path, _GONE)
    assert validate(RECORD_FILE, record) == []
    assert validate(COMPLETE_FILE, record) != []
    record["attributes"]["missing_metadata"][path[1]] = {"reason": "unreported"}
    assert validate(COMPLETE_FILE, record) == []


def test_nothing_is_required_of_an_excluded_record(validate: Validate) -> None:
    record = {**sound(), "status": "excluded", "attributes": {}}
    assert validate(COMPLETE_FILE, record) == []


def test_a_null_number_needs_its_reason(validate: Validate) -> None:
    record = spoilt(("attributes", "numeric_value"), None)
    assert validate(RECORD_FILE, record) == []
    assert validate(COMPLETE_FILE, record) != []
    record["attributes"]["missing_metadata"]["value"] = {"reason": "unreported"}
    assert validate(COMPLETE_FILE, record) == []


@pytest.mark.long
def test_schema_and_check_agree_on_the_faults(validate: Validate, tmp_path: Path) -> None:
    """What the schema calls an error, `evkg check` reports too."""
    for number, (path, value) in enumerate(FAULTS):
        file = tmp_path / f"{number}.jsonl"
        file.write_text(json.dumps(spoilt(path, value)) + "\n", encoding="utf-8")
        findings: list[Finding] = check_dataset(file, is_open=True, engine="fast").findings
        assert {f.severity for f in findings} & {"violation", "warning"}, (path, value)


# ---- the command ----


def test_the_command_writes_checks_and_names_what_is_stale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "deep" / "schema"
    assert main(["schema", "--check", "-o", str(folder)]) == 1
    assert f"{folder / 'task.json'} is missing." in capsys.readouterr().out
    assert main(["schema", "-o", str(folder)]) == 0
    assert {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()} == FILES
    assert main(["schema", "--check", "-o", str(folder)]) == 0
    (folder / "task.json").write_text("{}", encoding="utf-8")
    (folder / "tsk.json").write_text("{}", encoding="utf-8")
    capsys.readouterr()
    assert main(["schema", "--check", "-o", str(folder)]) == 1
    shown = capsys.readouterr().out
    assert shown == (
        f"{folder / 'task.json'} is stale.\n{folder / 'tsk.json'} belongs to no kind of record.\n"
        f"Renew them with: evkg schema -o {folder}\n"
    )


def test_the_command_writes_all_in_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "-o", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMAS
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["schema", "-o", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_records_are_read_as_the_tests_say() -> None:
    """The typing of an editor, so that the tests above test something."""
    (node,) = parse_yaml("a: 1.0\nb: no\nc: '1'\nd: 2026-10-15\ne: true\nf:\n")
    assert as_editor(node) == {"a": 1.0, "b": "no", "c": "1", "d": "2026-10-15", "e": True, "f": None}
