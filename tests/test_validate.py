"""Validation: every result of a shape becomes a finding at its field, in plain words, without a side effect."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evkg.check import check_dataset
from evkg.errors import VocabularyError
from evkg.finding import Finding, render_json
from evkg.finding_text import render_text
from evkg.namespaces import EVKG, SH, XSD
from evkg.normative import NormativeValidator, rdflib_graph, rdflib_term
from evkg.reader import read_records
from evkg.record import Record
from evkg.shapes import Result, Shapes
from evkg.validate import Validation
from evkg.vocabulary import Vocabulary
from tests.builds import (
    BASE,
    SEED,
    THROUGHPUT_256,
    Whole,
    check_whole,
    copy_seed,
    edit,
    listening,
    record,
    write_records,
)

PREFIXES = f"@prefix evkg: <{EVKG}> . @prefix sh: <{SH}> . @prefix s: <urn:s#> . @prefix xsd: <{XSD}> .\n"
MODEL_NEEDS_A_LICENCE = """
s:licence a sh:NodeShape ; sh:targetClass evkg:Model ; sh:property s:licence-there .
s:licence-there a sh:PropertyShape ; sh:path evkg:licence ; sh:minCount 1 ; sh:message "Say the licence."@en .
"""


@pytest.fixture(scope="module")
def seed() -> Whole:
    return check_whole(SEED)


def shapes(folder: Path, text: str) -> Shapes:
    folder.mkdir(exist_ok=True)
    (folder / "x.ttl").write_text(PREFIXES + text, encoding="utf-8")
    return Shapes(folder)


def check(folder: Path, *records: dict[str, Any], with_shapes: Shapes | None = None) -> list[Finding]:
    file = write_records(folder / "records.jsonl", *records)
    return check_dataset(file, is_open=True, shapes=with_shapes).findings


def rules(findings: list[Finding]) -> set[str]:
    return {item.rule for item in findings}


# ---- The seed data ----


def test_the_seed_data_has_no_violation_and_honest_warnings(seed: Whole) -> None:
    assert seed.violations == 0
    assert {item.severity for item in seed.findings} == {"warning", "info"}
    assert len(seed.findings) > 100


def test_every_finding_on_the_seed_data_has_a_place_and_says_what_to_write(seed: Whole) -> None:
    for item in seed.findings:
        assert item.record in seed.records
        assert item.message
        assert item.fix
        assert item.field
        assert item.column is not None
        lines = Path(str(item.file)).read_text(encoding="utf-8").splitlines()
        written = lines[int(str(item.line)) - 1][item.column - 1 :]
        entry = item.field.removeprefix("attributes.missing_metadata.")
        if item.value is not None:
            assert written.startswith((entry, entry.split(".")[-1])), item


def test_an_open_gap_is_found_at_its_entry(seed: Whole) -> None:
    (item,) = [f for f in seed.findings if f.record == THROUGHPUT_256 and f.field and "printed_value" in f.field]
    assert item.field == "attributes.missing_metadata.printed_value"
    assert item.severity == "warning"
    line = Path(str(item.file)).read_text(encoding="utf-8").splitlines()[int(str(item.line)) - 1]
    assert line.strip().startswith("printed_value:")


def test_the_report_for_people_speaks_plain_words(seed: Whole) -> None:
    text = render_text(seed.findings, seed.count, full=True)
    jargon = r"\bsh:|minCount|ConstraintComponent|https?://www\.w3\.org|\{[?$]\w+\}|Literal\(|NodeShape"
    assert not re.search(jargon, text)


def test_checking_twice_gives_the_same_report(seed: Whole) -> None:
    again = check_whole(SEED)
    assert render_json(again.findings, 49) == render_json(seed.findings, 49)
    assert again.results == seed.results


# ---- From a result to its field ----


def test_a_missing_required_field_is_found_at_the_record(tmp_path: Path) -> None:
    findings = check(tmp_path, record("r", "result"))
    (item,) = [f for f in findings if f.rule == "result-unit"]
    assert (item.severity, item.field, item.value, item.line) == ("violation", "attributes.unit", None, 1)
    assert item.fix is not None
    assert "missing_metadata" in item.fix


def test_a_broken_field_in_a_long_file_is_found_at_its_line(tmp_path: Path) -> None:
    data = copy_seed(tmp_path / "graph")
    file = data / "records/saadat-fellay-2026/results.yaml"
    edit(file, 'printed_value: "33.88"', 'printed_value: "33.88"\n  metric_direction_: x')
    text = file.read_text(encoding="utf-8")
    line = text[: text.index("metric_direction_")].count("\n") + 1
    (item,) = [f for f in check_dataset(data).findings if f.rule == "undeclared-attribute"]
    assert (item.line, item.column) == (line, 3)


def test_a_link_to_a_record_of_the_wrong_kind_names_the_record_that_holds_it(tmp_path: Path) -> None:
    links = [{"relation": "subject", "target_id": "m"}, {"relation": "evaluation", "target_id": "m"}]
    findings = check(tmp_path, record("r", "result", links=links), record("m", "model"))
    (item,) = [f for f in findings if f.rule == "result-evaluation-kind"]
    assert (item.record, item.field, item.value) == ("r", "links.1.target_id", "m")


def test_a_nested_field_is_found_in_its_object(tmp_path: Path) -> None:
    findings = check(tmp_path, record("e", "evaluation", attributes={"comparison": {"split": "test"}}))
    fields = {f.field for f in findings if f.severity == "violation"}
    assert "attributes.comparison.dataset_version" in fields
    assert "attributes.comparison.split" not in fields


def test_a_value_and_a_reason_for_its_absence_contradict(tmp_path: Path) -> None:
    attributes = {"unit": "gigabyte", "missing_metadata": {"unit": {"reason": "unreported"}}}
    findings = check(tmp_path, record("r", "result", attributes=attributes))
    (item,) = [f for f in findings if f.rule == "value-and-reason"]
    assert (item.severity, item.field) == ("violation", "attributes.unit")


def test_the_same_number_has_the_same_verdict_however_it_is_written(tmp_path: Path) -> None:
    head = "id: r\nkind: result\nname: R\ndescription: ''\nstatus: discovered\nfacets: {}\nsource_ids: []\nlinks: []\n"
    seen = set()
    for index, text in enumerate(("5.6", '"5.6"', "'5.6'")):
        file = tmp_path / f"{index}.yaml"
        file.write_text(f"{head}attributes: {{numeric_value: {text}}}\n", encoding="utf-8")
        checked = check_whole(file, is_open=True)
        seen.add((tuple(checked.quads), tuple(sorted(rules(checked.findings)))))
    assert len(seen) == 1


# ---- Kinds without a shape ----


def test_a_record_that_no_shape_checks_is_itself_a_finding(tmp_path: Path) -> None:
    found = check(
        tmp_path,
        record("m", "model", attributes={"licence": "MIT"}),
        record("t", "task"),
        with_shapes=shapes(tmp_path / "shapes", MODEL_NEEDS_A_LICENCE),
    )
    assert [(item.severity, item.rule, item.record, item.field) for item in found] == [
        ("violation", "no-shape", "t", "kind")
    ]


def test_a_shape_for_the_group_of_a_kind_is_enough(tmp_path: Path) -> None:
    text = "s:x a sh:NodeShape ; sh:targetClass evkg:System ; sh:property [ sh:path evkg:supersedes ; sh:maxCount 0 ] ."
    found = check(tmp_path, record("m", "model"), with_shapes=shapes(tmp_path / "shapes", text))
    assert found == []


def test_every_kind_of_the_vocabulary_has_a_shape(vocabulary: Vocabulary) -> None:
    targets = Shapes().target_classes
    for name in vocabulary.kinds.values():
        assert {EVKG + name, EVKG + vocabulary.groups[name]} & targets


def test_a_result_on_no_record_names_its_node(vocabulary: Vocabulary, tmp_path: Path) -> None:
    line = f"<urn:lost> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{EVKG}Model>"
    (some, *_) = [r for r in read_records(SEED, vocabulary) if isinstance(r, Record)]
    outcome = Validation(vocabulary, BASE, shapes(tmp_path, MODEL_NEEDS_A_LICENCE), {}).check([(some, [line])])
    found = [*(finding for _, finding in outcome.pairs), *outcome.apart]
    assert (None, "Say the licence. (urn:lost)") in [(item.record, item.message) for item in found]


# ---- Shapes that are broken, and what they may not do ----


@pytest.mark.parametrize("text", ["s:x a sh:NodeShape", "<<<", "s:x a sh:NodeShape ; sh:targetClass nope:X ."])
def test_a_shape_file_that_does_not_parse_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(VocabularyError, match=r"x\.ttl: "):
        _ = shapes(tmp_path, text).triples


@pytest.mark.parametrize("text", ["", "s:x a sh:NodeShape ."])
def test_shapes_without_a_target_would_check_nothing_and_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(VocabularyError, match="no shape with a target"):
        _ = shapes(tmp_path, text).triples


@pytest.mark.parametrize("constraint", ['sh:minCount "one"', 'sh:pattern "("', "sh:minCount 1 , 2", "sh:or ( s:a"])
def test_a_shape_that_cannot_run_is_an_error_of_the_shapes(tmp_path: Path, constraint: str) -> None:
    text = f"s:x a sh:NodeShape ; sh:targetClass evkg:Model ; sh:property [ sh:path evkg:kind ; {constraint} ] ."
    with pytest.raises(VocabularyError):
        check(tmp_path, record("m", "model"), with_shapes=shapes(tmp_path / "shapes", text))


def test_nothing_is_fetched_when_shapes_import_something(tmp_path: Path) -> None:
    owl = "http://www.w3.org/2002/07/owl#"
    with listening() as (address, seen):
        imports = f"<urn:s> a <{owl}Ontology> ; <{owl}imports> <{address}> ."
        some = shapes(tmp_path / "shapes", MODEL_NEEDS_A_LICENCE + imports)
        found = check(tmp_path, record("m", "model"), with_shapes=some)
        assert rules(found) == {"licence-there"}
        assert seen == []


def test_an_entry_in_a_vocabulary_is_not_validated_as_data(seed: Whole) -> None:
    assert {result.focus.startswith((f"{BASE}id/", f"{BASE}record/")) for result in seed.results} == {True}


# ---- Terms ----


@pytest.mark.parametrize("text", ["1.00", "007", "1e3", "33.880", "-0"])
def test_terms_for_rdflib_keep_their_text(text: str) -> None:
    import pyoxigraph as ox

    term = rdflib_term(ox.Literal(text, datatype=ox.NamedNode(f"{XSD}decimal")))
    assert str(term) == text
    assert term.n3().startswith(f'"{text}"')


def test_a_warning_alone_does_not_gate(tmp_path: Path) -> None:
    text = MODEL_NEEDS_A_LICENCE.replace("sh:minCount 1", "sh:minCount 1 ; sh:severity sh:Warning")
    file = write_records(tmp_path / "r.jsonl", record("m", "model"))
    checked = check_dataset(file, shapes=shapes(tmp_path / "shapes", text))
    assert checked.violations == 0
    assert [item.severity for item in checked.findings] == ["warning"]
    assert json.loads(render_json(checked.findings, 1))["summary"]["warnings"] == 1


def test_validating_twice_gives_the_same_results_once_each(seed: Whole) -> None:
    validator = NormativeValidator(Shapes())
    results = validator.run(seed.quads)
    assert results == validator.run(seed.quads)
    assert len(set(results)) == len(results)
    assert all(isinstance(result, Result) for result in results)
    assert len(rdflib_graph(seed.quads)) == len(seed.quads)


@pytest.mark.parametrize(
    ("kind", "changes", "key", "meant"),
    [
        ("result", {"attributes": {"unit": "GiB"}}, "GiB", "gibibyte"),
        ("result", {"attributes": {"metric": "peak_memory"}}, "peak_memory", "peak-memory"),
        ("result", {"attributes": {"review": {"method": ["Transcribtion"]}}}, "Transcribtion", "transcription"),
        (
            "result",
            {"attributes": {"missing_metadata": {"unit": {"reason": "Not reported"}}}},
            "Not reported",
            "unreported",
        ),
        ("model", {"status": "Source checked"}, "Source checked", "source_checked"),
        ("model", {"facets": {"areas": ["qqqq"]}}, "qqqq", None),
        ("result", {"attributes": {"unit": "x" * 900}}, "x" * 80 + "…", None),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_known_one(
    tmp_path: Path, kind: str, changes: dict[str, Any], key: str, meant: str | None
) -> None:
    found = check(tmp_path, record("r", kind, **changes))
    (item,) = (item for item in found if "is not known in the scheme" in item.message)
    assert item.message.startswith(f"The key {key!r} under ")
    assert item.fix is not None
    assert item.fix.startswith(f"Did you mean {meant}? Choose" if meant else "Choose")
