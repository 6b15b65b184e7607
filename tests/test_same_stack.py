"""The pipeline of rdflib, PyLD, owlrl and pySHACL comes to the same graph and the same findings as evkg."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import generate, same_stack

from evkg.convert import Converter
from evkg.reader import read_records
from evkg.record import Record
from evkg.vocabulary import Vocabulary
from tests.builds import check_whole


@pytest.mark.filterwarnings("ignore:Dataset:DeprecationWarning")  # rdflib's own serialiser uses what it deprecates
def test_same_graph_and_same_findings(tmp_path: Path, vocabulary: Vocabulary, converter: Converter) -> None:
    file = tmp_path / "a.jsonl"
    generate.write(generate.Catalogue(0.0017, 1), file, faults=12)
    measured = same_stack.run(file, tmp_path / "out", infer=False)

    records = [item for item in read_records(file, vocabulary) if isinstance(item, Record)]
    lines = [line for record in records for line in converter.record_to_quads(record)]
    ours = same_stack.graph_hash("".join(f"{line}\n" for line in lines).encode())
    assert same_stack.graph_hash((tmp_path / "out" / "graph.nq").read_bytes()) == ours
    assert measured["quads"] == len(lines)

    found = {(r.focus, r.shape, r.severity) for r in check_whole(file).results}
    theirs = (tmp_path / "out" / "findings.tsv").read_text(encoding="utf-8").splitlines()
    assert {tuple(line.split("\t")) for line in theirs} == found
    assert len(found) > 20


def test_hash_looks_through_names_of_blank_nodes_and_order() -> None:
    first = b'_:a <urn:p> "1" .\n_:b <urn:p> _:a .\n'
    second = b'_:y <urn:p> _:x .\n_:x <urn:p> "1" .\n'
    assert same_stack.graph_hash(first) == same_stack.graph_hash(second)
    assert same_stack.graph_hash(first) != same_stack.graph_hash(b'_:a <urn:p> "1" .\n')


def test_literals_keep_their_text() -> None:
    value = {"type": "literal", "value": "007", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}
    assert str(same_stack.term(value)) == "007"
