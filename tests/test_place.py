"""Places: every node and property of the graph leads back to the field of the record that made it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from evkg.convert import Converter
from evkg.namespaces import EVKG
from evkg.place import Places
from evkg.record import Record, text_at
from evkg.scalar import Path
from evkg.vocabulary import Vocabulary
from tests import owl
from tests.builds import BASE
from tests.strategies import VOCABULARY, as_record, records


@pytest.fixture(scope="module")
def places(vocabulary: Vocabulary) -> Places:
    return Places(vocabulary, BASE)


@pytest.mark.parametrize(
    ("iri", "record_id", "path"),
    [
        ("id/r1", "r1", ()),
        ("record/r1", "r1", ()),
        ("record/r1#review", "r1", ("attributes", "review")),
        ("id/r1#uncertainty", "r1", ("attributes", "uncertainty")),
        ("record/r1#missing-coverage.scored", "r1", ("attributes", "missing_metadata", "coverage.scored")),
        ("record/r1#missing-unit", "r1", ("attributes", "missing_metadata", "unit")),
        ("record/r1#quote-printed_value", "r1", ("attributes", "printed_value")),
        ("record/r1#concern-0", "r1", ("attributes", "evidence_concerns", 0)),
        ("record/r1#concern-1.resolved", "r1", ("attributes", "evidence_concerns", 1, "resolved")),
        ("id/r1#setting-configuration.batch", "r1", ("attributes", "configuration", "batch")),
        ("id/r1#limitations.0", "r1", ("attributes", "limitations", 0)),
        ("id/r1#links.0", "r1", ("links", 0)),
        ("id/r1#setting-a%252Eb.c", "r1", ("attributes", "a.b", "c")),
    ],
)
def test_a_node_leads_to_its_record_and_field(places: Places, iri: str, record_id: str, path: Path) -> None:
    assert places.of_node(BASE + iri) == (record_id, path)


@pytest.mark.parametrize("iri", [f"{BASE}artifact/abc", f"{BASE}graph/shared", "https://example.org/id/r1", ""])
def test_a_node_of_no_record_leads_nowhere(places: Places, iri: str) -> None:
    assert places.of_node(iri) is None


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("printedValue", ("attributes", "printed_value")),
        ("numericText", ("attributes", "numeric_value")),
        ("retrievedAtText", ("attributes", "retrieved_at")),
        ("hardwareText", ("attributes", "hardware")),
        ("review", ("attributes", "review")),
        ("missing", ("attributes", "missing_metadata")),
        ("evidenceConcerns", ("attributes", "evidence_concerns")),
        ("evaluation", ("links", "evaluation")),
        ("sourceIds", ("source_ids",)),
        ("status", ("status",)),
        ("comparisonProtocolId", ("attributes", "comparison", "protocol_id")),
        ("noSuchProperty", ()),
    ],
)
def test_a_property_leads_to_its_key(places: Places, name: str, path: Path) -> None:
    assert places.of_property(EVKG + name) == path


def test_every_attribute_of_the_vocabulary_leads_to_its_key(places: Places, vocabulary: Vocabulary) -> None:
    for terms in vocabulary.attributes.values():
        for key, term in terms.items():
            assert places.of_property(term.iri) == ("attributes", key)
            if term.text_iri:
                assert places.of_property(term.text_iri) == ("attributes", key)


def test_parts_are_told_from_records(places: Places, vocabulary: Vocabulary) -> None:
    part = vocabulary.parts["Comparison"]["split"]
    assert places.is_part(part.iri)
    assert not places.is_part(f"{EVKG}printedValue")
    assert not places.is_part("https://example.org/x")


def test_every_node_of_the_seed_records_leads_to_something_that_is_there(
    places: Places, converter: Converter, seed_records: list[Record]
) -> None:
    checked = 0
    for record in seed_records:
        for node in {quad.subject.value for quad in owl.parse(converter.record_to_quads(record))}:
            found = places.of_node(node)
            assert found is not None, node
            record_id, path = found
            assert record_id == record.id
            if node.endswith("#retrieval"):
                continue  # made of several fields
            assert not path or text_at(record.data, path) is not None, node
            checked += bool(path)
    assert checked > 100


@given(records())
def test_every_node_of_any_record_leads_to_that_record(data: dict[str, Any]) -> None:
    record = as_record(data)
    places = Places(VOCABULARY, BASE)
    lines = Converter(VOCABULARY, BASE).record_to_quads(record)
    for node in {quad.subject.value for quad in owl.parse(lines)}:
        found = places.of_node(node)
        assert found is not None
        assert found[0] == record.id
        record.place(found[1])  # a place in the file, whatever the path
