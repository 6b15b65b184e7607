"""Which record a finding is in, and the lines around it, which are never those of a neighbour."""

from __future__ import annotations

import json
from pathlib import Path

from evkg.finding import Finding
from evkg.recordspan import CONTEXT, Spans
from evkg.vocabulary import Vocabulary
from tests.builds import record, write_records
from tests.findings import finding

RECORD = """\
id: {id}
kind: {kind}
name: {id}
description: ""
status: discovered
facets: {{}}
source_ids: [{source}]
links: []
attributes:
  unit: GB
"""


def spans_of(path: Path, vocabulary: Vocabulary) -> Spans:
    return Spans(path, vocabulary)


def numbers(spans: Spans, item: Finding, withheld: frozenset[str] = frozenset()) -> list[int]:
    (lines,) = spans.around([item], withheld)
    return [line.number for line in lines]


def test_a_finding_is_in_the_record_at_its_place(tmp_path: Path, vocabulary: Vocabulary) -> None:
    file = tmp_path / "a.yaml"
    parts = [RECORD.format(id="paper", kind="source", source=""), RECORD.format(id="r", kind="result", source="paper")]
    file.write_text("---\n".join(parts), encoding="utf-8")
    spans = spans_of(file, vocabulary)
    paper = spans.of(finding(record="paper", file=str(file), line=10, column=3))
    result = spans.of(finding(record="r", file=str(file), line=21, column=3))
    assert paper is not None
    assert result is not None
    assert (paper.kind, paper.sources, result.kind, result.sources) == ("source", ("paper",), "result", ("paper",))
    assert spans.of(finding(record="r")) == result
    assert spans.of(finding(file=str(file), line=3)) is None
    assert spans.names == {"paper": "paper"}


def test_the_lines_around_a_finding_end_where_its_record_ends(tmp_path: Path, vocabulary: Vocabulary) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("---\n".join(RECORD.format(id=i, kind="result", source="x") for i in "ab"), encoding="utf-8")
    spans = spans_of(file, vocabulary)
    assert numbers(spans, finding(record="a", file=str(file), line=5, column=1)) == [3, 4, 5, 6, 7]
    assert numbers(spans, finding(record="a", file=str(file), line=10, column=3)) == [8, 9, 10]
    assert numbers(spans, finding(record="b", file=str(file), line=12, column=1)) == [12, 13, 14]
    assert numbers(spans, finding(record="b", file=str(file), line=12, column=1), frozenset("b")) == []


def test_in_a_list_the_next_element_is_not_shown(tmp_path: Path, vocabulary: Vocabulary) -> None:
    file = tmp_path / "a.yaml"
    items = [f"- {RECORD.format(id=i, kind='result', source='x')}".replace("\n", "\n  ").rstrip() for i in "ab"]
    file.write_text("\n".join(items), encoding="utf-8")
    spans = spans_of(file, vocabulary)
    assert numbers(spans, finding(record="a", file=str(file), line=10, column=5)) == [8, 9, 10]


def test_in_a_snapshot_the_next_record_is_not_shown(tmp_path: Path, vocabulary: Vocabulary) -> None:
    file = tmp_path / "a.json"
    text = json.dumps([record("a", "result", attributes={"unit": "GB"}), record("b", "result")], indent=1)
    file.write_text(text, encoding="utf-8")
    spans = spans_of(file, vocabulary)
    line = text[: text.index('"unit"')].count("\n") + 1
    (lines,) = spans.around([finding(record="a", file=str(file), line=line, column=4, value="GB")], frozenset())
    assert [line.text.marked for line in lines if line.is_own] == ["GB"]
    assert len(lines) <= 2 * CONTEXT + 1
    assert not any('"b"' in line.text.before for line in lines)


def test_of_json_lines_one_line_is_shown(tmp_path: Path, vocabulary: Vocabulary) -> None:
    file = write_records(tmp_path / "a.jsonl", record("a", "result"), record("b", "result"), record("c", "result"))
    assert numbers(spans_of(file, vocabulary), finding(record="b", file=str(file), line=2, column=2)) == [2]
