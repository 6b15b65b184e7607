"""The pipeline of rdflib, PyLD, owlrl and pySHACL comes to the same graph and the same findings as evkg."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks import generate, same_stack
from benchmarks.agreement import disagreement, graph_hash, lines_hash, record_lines, release_findings

from tests.builds import BASE, build_draft


@pytest.mark.filterwarnings("ignore:Dataset:DeprecationWarning")  # rdflib's own serialiser uses what it deprecates
def test_same_graph_and_same_findings(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    generate.write(generate.Catalogue(0.0017, 1), file, faults=12)
    # A withdrawn record: its values are in neither graph.
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[0] = re.sub('"status":"[a-z_]*"', '"status":"excluded"', lines[0])
    file.write_text("".join(lines), encoding="utf-8")
    measured = same_stack.run(file, tmp_path / "out", infer=False)
    release = build_draft(file, tmp_path / "build").folder

    assert disagreement(release, tmp_path / "out", BASE) is None
    assert len(release_findings(release, BASE)) > 20
    asserted = [*record_lines(release, BASE)]
    assert measured["quads"] == len(asserted)
    # The sorted lines stand for the canonical form.
    theirs = (tmp_path / "out" / "graph.nq").read_bytes()
    assert graph_hash(theirs) == graph_hash(b"".join(asserted)) == lines_hash(asserted)


def test_a_difference_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    generate.write(generate.Catalogue(0.0017, 1), file, faults=12)
    release = build_draft(file, tmp_path / "build").folder
    stack = tmp_path / "stack"
    stack.mkdir()
    asserted = sorted(record_lines(release, BASE))
    findings = sorted(release_findings(release, BASE))
    (stack / "graph.nq").write_bytes(b"".join(asserted))
    (stack / "findings.tsv").write_text("".join("\t".join(row) + "\n" for row in findings[1:]), encoding="utf-8")
    assert str(findings[0]) in str(disagreement(release, stack, BASE))
    (stack / "graph.nq").write_bytes(b"".join(asserted[1:]))
    assert disagreement(release, stack, BASE) == "the graphs differ"


def test_lines_with_blank_nodes_have_no_hash() -> None:
    for line in (b"_:a <urn:p> <urn:o> .\n", b"<urn:s> <urn:p> _:b .\n", b"<urn:s> <urn:p> <urn:o> _:g .\n"):
        with pytest.raises(ValueError, match="blank node"):
            lines_hash([line])
    assert lines_hash([b'<urn:s> <urn:p> "a _:b" .\n'])


def test_hash_looks_through_names_of_blank_nodes_and_order() -> None:
    first = b'_:a <urn:p> "1" .\n_:b <urn:p> _:a .\n'
    second = b'_:y <urn:p> _:x .\n_:x <urn:p> "1" .\n'
    assert graph_hash(first) == graph_hash(second)
    assert graph_hash(first) != graph_hash(b'_:a <urn:p> "1" .\n')


def test_literals_keep_their_text() -> None:
    value = {"type": "literal", "value": "007", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}
    assert str(same_stack.term(value)) == "007"
