"""What the shapes expect: each completeness shape once, at its field, with what explains it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from evkg.declared import attributes_of, relations_of
from evkg.errors import VocabularyError
from evkg.expected import expected_fields, required_links
from evkg.keys import check_keys
from evkg.record import Record
from evkg.shapegraph import ShapeGraph
from evkg.shapes import Shapes
from evkg.vocabulary import Vocabulary
from tests.conftest import ROOT


def test_every_completeness_shape_is_one_expected_field(vocabulary: Vocabulary) -> None:
    shapes = Shapes()
    completed = {
        shape.partition("#")[2] for shape, _ in ShapeGraph(shapes).pairs("https://w3id.org/evkg/ontology#completes")
    }
    fields = [field for own in expected_fields(shapes, vocabulary).values() for field in own]
    assert {field.rule for field in fields} == completed
    assert len(fields) == len(completed)


def test_a_field_knows_its_place_its_severity_and_what_explains_it(vocabulary: Vocabulary) -> None:
    fields = {field.name: field for field in expected_fields(Shapes(), vocabulary)["evaluation"]}
    split = fields["comparison.split"]
    assert split.field == "attributes.comparison.split"
    assert split.entries == ("comparison.split", "comparison")
    assert (split.severity, split.is_conditional) == ("violation", False)
    assert fields["seeds"].severity == "warning"
    assert "comparison.split is required on an evaluation" in split.message
    assert split.fix.startswith("Inside comparison write split")


def test_expected_fields_are_attributes_of_their_kind(vocabulary: Vocabulary) -> None:
    for kind, fields in expected_fields(Shapes(), vocabulary).items():
        assert {str(field.path[1]) for field in fields} <= set(attributes_of(kind, vocabulary)), kind


def test_required_links_are_relations_of_their_kind(vocabulary: Vocabulary) -> None:
    found = {kind: [link.path[1] for link in links] for kind, links in required_links(Shapes(), vocabulary).items()}
    assert {kind: links for kind, links in found.items() if links} == {
        "evaluation": ["system", "assessment", "data"],
        "result": ["evaluation"],
        "claim": ["subject"],
    }
    for kind, links in found.items():
        assert set(links) <= set(relations_of(kind, vocabulary))


def test_what_a_kind_may_have_is_what_the_check_of_keys_lets_pass(
    vocabulary: Vocabulary, peer_records: list[Record], seed_records: list[Record]
) -> None:
    for record in [*peer_records, *seed_records]:
        unknown = {f.field for f in check_keys(record, vocabulary) if f.rule == "undeclared-attribute"}
        assert {
            f"attributes.{key}" for key in set(record.attributes) - set(attributes_of(record.kind, vocabulary))
        } == unknown


CONDITIONAL = """
s:task-version a sh:NodeShape ;
  sh:targetClass evkg:Assessment ;
  evkg:completes evkg:version ;
  sh:severity sh:Info ;
  sh:message "m"@en ;
  evkg:fixHint "f" ;
  sh:or (
    [ sh:path evkg:version ; sh:minCount 1 ]
    [ sh:path ( [ sh:inversePath foaf:primaryTopic ] evkg:missing ) ;
        sh:qualifiedValueShape [ sh:path evkg:missingProperty ; sh:hasValue %s ] ;
        sh:qualifiedMinCount 1 ]
    [ sh:path evkg:task ; sh:minCount 1 ]
  ) .
"""


def shapes_with(folder: Path, text: str) -> Shapes:
    shutil.copytree(ROOT / "shapes", folder / "shapes")
    file = folder / "shapes/completeness.ttl"
    file.write_text(file.read_text() + text)
    return Shapes(folder / "shapes")


def test_a_shape_on_a_group_of_kinds_and_with_a_condition_is_read(tmp_path: Path, vocabulary: Vocabulary) -> None:
    fields = expected_fields(shapes_with(tmp_path, CONDITIONAL % "evkg:version"), vocabulary)
    for kind in ("benchmark", "task", "protocol", "evaluator"):
        (field,) = [field for field in fields[kind] if field.rule == "task-version"]
        assert (field.name, field.severity, field.is_conditional) == ("version", "info", True)
    assert [field for field in fields["model"] if field.rule == "task-version"] == []


def test_a_shape_that_lets_no_entry_explain_its_field_is_an_error(tmp_path: Path, vocabulary: Vocabulary) -> None:
    with pytest.raises(VocabularyError, match="lets no entry"):
        expected_fields(shapes_with(tmp_path, CONDITIONAL % "evkg:unit"), vocabulary)
