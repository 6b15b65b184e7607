"""Skeletons: every expected field is there, nothing is guessed, and the check names each at its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evkg.check import check_dataset
from evkg.cli import main
from evkg.errors import NotFoundError, UsageError
from evkg.expected import expected_fields, required_links
from evkg.finding import Finding
from evkg.reader import read_file
from evkg.record import Record
from evkg.scalar import ENVELOPE
from evkg.shapes import Shapes
from evkg.skeleton import make_skeleton
from evkg.stub import stub_file
from evkg.vocabulary import Vocabulary, load_vocabulary

SHAPES = Shapes()
KINDS = sorted(load_vocabulary().kinds)


def check(tmp_path: Path, kind: str, record_id: str | None = None) -> tuple[Record, list[Finding], list[str]]:
    vocabulary = load_vocabulary()
    file = tmp_path / f"{kind}.yaml"
    file.write_text(make_skeleton(kind, vocabulary, SHAPES, record_id), encoding="utf-8")
    (record,) = [item for item in read_file(file, vocabulary) if isinstance(item, Record)]
    return record, check_dataset(file).findings, file.read_text(encoding="utf-8").split("\n")


@pytest.mark.parametrize("kind", KINDS)
def test_the_check_names_every_expected_field_at_its_line(kind: str, tmp_path: Path, vocabulary: Vocabulary) -> None:
    _, findings, lines = check(tmp_path, kind)
    assert {f.rule for f in findings} & {"syntax", "envelope", "undeclared-attribute", "undeclared-key"} == set()
    told: dict[str | None, set[int]] = {}
    for finding in findings:
        told.setdefault(finding.field, set()).add(finding.line or 0)
    for field in expected_fields(SHAPES, vocabulary)[kind]:
        (number,) = [n for n, line in enumerate(lines, 1) if re.fullmatch(rf" +{field.path[-1]}:", line)]
        assert told[field.field] == {number}, field.field
    violations = {f.field: f.line for f in findings if f.severity == "violation"}
    for key in ("id", "name", "status"):
        assert lines[(violations[key] or 0) - 1].startswith(f"{key}: ")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_named_that_is_not_open(kind: str, tmp_path: Path, vocabulary: Vocabulary) -> None:
    _, findings, _ = check(tmp_path, kind)
    fields = {field.field for field in expected_fields(SHAPES, vocabulary)[kind]}
    open_entries = {f"attributes.missing_metadata.{field.removeprefix('attributes.')}" for field in fields}
    links = {f"links.{n}.target_id" for n in range(len(required_links(SHAPES, vocabulary)[kind]))}
    named = {finding.field for finding in findings}
    allowed = fields | open_entries | links | {"id", "name", "status"}
    # A result also wants to know its source.
    assert named - allowed <= ({"source_ids", None} if kind == "result" else set())
    for finding in findings:
        assert not re.search(r"sh:|https?://|_:", finding.message)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_guessed(kind: str, tmp_path: Path) -> None:
    record, _, lines = check(tmp_path, kind, "the-id")
    assert list(record.original) == list(ENVELOPE)
    assert record.id == "the-id"

    def values(value: object) -> list[object]:
        if isinstance(value, dict):
            return [leaf for inner in value.values() for leaf in values(inner)]
        return [leaf for inner in value for leaf in values(inner)] if isinstance(value, list) else [value]

    assert set(values(record.original["attributes"])) <= {None}
    assert record.original["status"] == record.original["name"] == "TO-BE-DECIDED"
    assert all(len(line) <= 120 for line in lines)


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_has_its_description_before_it(kind: str, tmp_path: Path, vocabulary: Vocabulary) -> None:
    _, _, lines = check(tmp_path, kind)
    for field in expected_fields(SHAPES, vocabulary)[kind]:
        number = next(n for n, line in enumerate(lines) if re.fullmatch(rf" +{field.path[-1]}:", line))
        comment: list[str] = []
        while lines[number - 1].strip().startswith("#"):
            number -= 1
            comment.insert(0, lines[number].strip("# "))
        words = " ".join(comment)
        assert words.startswith("Required. " if field.severity == "violation" else "Recommended. ")
        key = "reviewer" if field.name == "review" else None
        assert key is None or key in words


def test_the_keys_that_may_stand_are_named(tmp_path: Path) -> None:
    _, _, lines = check(tmp_path, "result")
    text = " ".join(line.strip("# ") for line in lines)
    for word in ("One of higher, lower, unknown.", "; another is kept, with a warning.", "confidence_interval"):
        assert word in text
    assert "One of bootstrap, bootstrap_percentile, analytic, propagated." in text
    for kind, words in (
        ("benchmark", "One of suite, challenge, protocol, task, evaluator."),
        ("model", "One of family, checkpoint, method, service."),
        ("baseline", "One of proposed, source_supported."),
    ):
        assert words in " ".join(line.strip("# ") for line in check(tmp_path, kind)[2])


def test_a_skeleton_gates_until_it_is_filled(tmp_path: Path) -> None:
    """A filled skeleton passes; the same with one word left open does not."""
    text = make_skeleton("benchmark", load_vocabulary(), SHAPES, "a-suite")
    filled = text.replace("name: TO-BE-DECIDED", "name: A suite").replace("entity_level:", "entity_level: suite")
    file = tmp_path / "a.yaml"
    file.write_text(filled.replace("status: TO-BE-DECIDED", "status: needs_review"), encoding="utf-8")
    assert check_dataset(file).findings == []
    file.write_text(filled, encoding="utf-8")
    assert [f.field for f in check_dataset(file).findings if f.severity == "violation"] == ["status"]


def test_a_skeleton_can_be_given_stubs(tmp_path: Path, vocabulary: Vocabulary) -> None:
    for kind in KINDS:
        file = tmp_path / f"{kind}.yaml"
        file.write_text(make_skeleton(kind, vocabulary, SHAPES), encoding="utf-8")
        assert stub_file(file, vocabulary, SHAPES).passed_over == ()


def test_an_unknown_kind_names_the_nearest(vocabulary: Vocabulary) -> None:
    with pytest.raises(NotFoundError) as caught:
        make_skeleton("Dataset-Subset", vocabulary, SHAPES)
    assert caught.value.nearest[0] == "dataset_subset"
    with pytest.raises(NotFoundError, match="Kinds: baseline, benchmark"):
        make_skeleton("", vocabulary, SHAPES)


@pytest.mark.parametrize("record_id", ["", "A", "a b", "a\nkind: x", "../x", "é", "a" * 256, "-a", "a_b"])
def test_an_id_that_can_be_none_is_refused(record_id: str, vocabulary: Vocabulary) -> None:
    with pytest.raises(UsageError, match="cannot be an id"):
        make_skeleton("result", vocabulary, SHAPES, record_id)
    assert "id: a_b\n" in make_skeleton("use_case", vocabulary, SHAPES, "a_b")


def test_no_file_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, link = tmp_path / "a.yaml", tmp_path / "b.yaml"
    link.symlink_to("c.yaml")
    assert main(["new", "task", "-o", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}\n"
    written = file.read_text(encoding="utf-8")
    assert main(["new", "model", "-o", str(file)]) == 2
    assert main(["new", "model", "-o", str(link)]) == 2
    assert main(["new", "model", "-o", str(tmp_path)]) == 2
    assert main(["new", "model", "-o", str(tmp_path / "new/a.yaml")]) == 0  # folders are made
    assert (tmp_path / "new/a.yaml").is_file()
    capsys.readouterr()
    assert file.read_text(encoding="utf-8") == written
    assert not (tmp_path / "c.yaml").exists()
    capsys.readouterr()
    assert main(["new", "task"]) == 0
    assert capsys.readouterr().out == written
