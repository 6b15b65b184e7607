"""The synthetic catalogue: the same bytes every time, the counts of a real one, and exactly the faults it names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from benchmarks.generate import FAULTS, KINDS, Catalogue, plant, write

from evkg.check import check_dataset
from evkg.reader import read_records
from evkg.record import Record
from evkg.references import references_of
from evkg.vocabulary import Vocabulary

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def tenth(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The records of size 0.1."""
    file = tmp_path_factory.mktemp("generated") / "tenth.jsonl"
    write(Catalogue(0.1, 1), file)
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_same_arguments_give_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.jsonl" for number in range(3)]
    for number, file in enumerate(files):
        seed = str(1 + number // 2)
        command = [sys.executable, "benchmarks/generate.py", "--size", "0.0017", "--seed", seed, "--out", str(file)]
        environment = {**os.environ, "PYTHONHASHSEED": str(number)}
        subprocess.run([*command, "--faults", "6"], cwd=ROOT, env=environment, check=True, capture_output=True)
    first, second, other = (file.read_bytes() for file in files)
    assert first == second != other
    first_faults, second_faults = (file.with_name(f"{file.stem}.faults.tsv").read_bytes() for file in files[:2])
    assert first_faults == second_faults
    assert first_faults.count(b"\n") == 7


def test_lines_are_compact_and_sorted(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    write(Catalogue(0.01, 3), file)
    lines = file.read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert [json.dumps(r, ensure_ascii=False, separators=(",", ":")) for r in records] == lines
    ids = [record["id"] for record in records]
    assert ids == sorted(set(ids))


def test_counts_and_sizes_per_kind(tenth: list[dict[str, Any]]) -> None:
    counts = Counter(record["kind"] for record in tenth)
    assert counts == {kind: max(1, round(count / 10)) for kind, (count, _) in KINDS.items()}
    sizes: Counter[str] = Counter()
    for record in tenth:
        sizes[record["kind"]] += len(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
    for kind in ("result", "evaluation", "configuration", "claim", "source", "task", "protocol", "dataset_subset"):
        assert sizes[kind] / counts[kind] == pytest.approx(KINDS[kind][1], rel=0.12), kind
    assert sum(sizes.values()) == pytest.approx(5_200_000, rel=0.05)


def test_parts_are_as_frequent_as_in_the_recipe(tenth: list[dict[str, Any]]) -> None:
    results = [record["attributes"] for record in tenth if record["kind"] == "result"]
    entries = [record["attributes"].get("missing_metadata", {}) for record in tenth]
    assert sum(map(len, entries)) / len(tenth) == pytest.approx(2.3, rel=0.1)
    assert sum("uncertainty" in result for result in results) / len(results) == pytest.approx(0.24, abs=0.04)
    assert sum(record["status"] == "source_checked" for record in tenth) / len(tenth) == pytest.approx(0.75, abs=0.03)
    assert sum(not record["name"].isascii() for record in tenth) / len(tenth) == pytest.approx(0.02, abs=0.01)
    papers = Counter(record["source_ids"][0] for record in tenth if record["kind"] == "evaluation")
    largest = papers.most_common(1)[0][1]
    assert largest > 5 * papers.total() / len(papers)
    per_evaluation = Counter(r["links"][0]["target_id"] for r in tenth if r["kind"] == "result")
    assert max(per_evaluation.values()) >= 10
    assert any("pins" in record["attributes"] for record in tenth)
    assert any("profile" in record["attributes"] for record in tenth)
    assert any("comparison_panels" in record["attributes"] for record in tenth)
    assert any(record["attributes"].get("evidence_concerns") for record in tenth)


def test_every_reference_resolves(tmp_path: Path, vocabulary: Vocabulary) -> None:
    file = tmp_path / "a.jsonl"
    write(Catalogue(0.02, 2), file)
    records = [item for item in read_records(file, vocabulary) if isinstance(item, Record)]
    ids = {record.id for record in records}
    assert len(ids) == len(records)
    assert {target for record in records for _, target in references_of(record, vocabulary)} <= ids


def test_a_set_without_faults_has_no_violation(tmp_path: Path) -> None:
    file = tmp_path / "clean.jsonl"
    write(Catalogue(0.0017, 2), file)
    assert [f for f in check_dataset(file).findings if f.severity == "violation"] == []


def test_exactly_the_planted_faults_are_found(tmp_path: Path) -> None:
    file = tmp_path / "spoilt.jsonl"
    write(Catalogue(0.002, 1), file, faults=len(FAULTS))
    lines = (tmp_path / "spoilt.faults.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "record\trule\tfield"
    planted = sorted(tuple(line.split("\t")) for line in lines[1:])
    assert len(planted) == len(FAULTS)
    assert len({rule for _, rule, _ in planted}) >= 15
    found = [(f.record, f.rule, f.field) for f in check_dataset(file).findings if f.severity == "violation"]
    assert sorted(found) == planted


def test_too_many_faults_are_refused() -> None:
    with pytest.raises(ValueError, match="too few records"):
        plant(Catalogue(0.0017, 1), 1_000)
