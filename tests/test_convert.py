"""Three JSON-LD tools give exactly our quads, and the quads say all that a record says."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from typing import Any

import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import HealthCheck, given, settings
from pyld import jsonld

from evkg.convert import Converter, build_context, render_context
from evkg.namespaces import EVKG, XSD
from evkg.record import Record
from evkg.vocabulary import Vocabulary
from tests.conftest import BASE, ROOT
from tests.leaves import lost_leaves
from tests.strategies import VOCABULARY, as_record, records

CONVERTER = Converter(VOCABULARY, BASE)
MODEST = settings(
    max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
LONG = settings(MODEST, max_examples=5000)
RESULT = "saadat-fellay-20261015-result-nt-2-5b-quantization-memory-4bit"


def _refuse(url: str, *_: Any) -> Any:
    raise AssertionError(f"a test asked for {url}")


@pytest.fixture(autouse=True)
def _strict_tools(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """rdflib must not rewrite literals, PyLD must not reach the network."""
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)
    before = jsonld.get_document_loader()
    jsonld.set_document_loader(_refuse)
    yield
    jsonld.set_document_loader(before)


def _quads(text: str, form: ox.RdfFormat) -> list[str]:
    return sorted(f"{quad} ." for quad in ox.parse(text.encode(), format=form))


def _lines_as_parsed(lines: list[str]) -> list[str]:
    return _quads("\n".join(lines), ox.RdfFormat.N_QUADS)


def _by_pyld(document: dict[str, Any]) -> list[str]:
    text = jsonld.to_rdf(document, {"format": "application/n-quads"})
    return _quads(re.sub("[\ufffe\uffff]", lambda m: f"\\u{ord(m[0]):04X}", text), ox.RdfFormat.N_QUADS)


def _by_rdflib(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # rdflib 7.6 calls its own deprecated names
        dataset = rdflib.Dataset()
        dataset.parse(data=json.dumps(document), format="json-ld")
        return sorted((str(s), str(p), *_term(o), str(g)) for s, p, o, g in dataset.quads())


def _term(term: Any) -> tuple[str, str]:
    """An rdflib or pyoxigraph object as (text, datatype), `iri` standing for no datatype."""
    if isinstance(term, rdflib.Literal):
        return str(term), str(term.datatype or XSD + "string")
    if isinstance(term, ox.Literal):
        return term.value, term.datatype.value
    return str(getattr(term, "value", term)), "iri"


def _as_tuples(lines: list[str]) -> list[tuple[Any, ...]]:
    return sorted(
        (q.subject.value, q.predicate.value, *_term(q.object), q.graph_name.value)
        for q in ox.parse("\n".join(lines).encode(), format=ox.RdfFormat.N_QUADS)
    )


def _unordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unordered(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return sorted((_unordered(inner) for inner in value), key=lambda inner: json.dumps(inner, sort_keys=True))
    return value


def _check_all(record: Record, *, compaction: bool = True) -> None:
    """Everything that must hold for any record."""
    lines = CONVERTER.record_to_quads(record)
    document = CONVERTER.record_to_jsonld(record)
    assert len(lines) == len(set(lines))
    parsed = _lines_as_parsed(lines)
    assert len(parsed) == len(lines), "a line holds a line feed, or says what another says"
    assert "_:" not in "".join(line.partition('"')[0] for line in lines), "a blank node"
    assert _by_pyld(document) == parsed
    assert _quads(json.dumps(document), ox.RdfFormat.JSON_LD) == parsed
    assert _canonical(lines) == lines
    assert lost_leaves(record, lines, VOCABULARY, BASE) == []
    assert "://" not in "".join(_keys(document))
    if compaction:
        expanded = jsonld.expand(document)
        assert _unordered(jsonld.compact(expanded, document["@context"])) == _unordered(document)


def _canonical(lines: list[str]) -> list[str]:
    dataset = ox.Dataset(ox.parse("\n".join(lines).encode(), format=ox.RdfFormat.N_QUADS))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    text = ox.serialize(dataset, format=ox.RdfFormat.N_QUADS)
    assert text is not None
    return sorted(text.decode().removesuffix("\n").split("\n"))


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key != "@context":
                yield key
                yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def test_every_seed_record_is_the_same_in_pyld_and_pyoxigraph_and_loses_nothing(seed_records: list[Record]) -> None:
    assert len(seed_records) == 49
    for record in seed_records:
        _check_all(record)


def test_every_peer_record_is_the_same_in_pyld_and_pyoxigraph_and_loses_nothing(peer_records: list[Record]) -> None:
    assert {record.kind for record in peer_records} == set(VOCABULARY.kinds)
    for record in peer_records:
        _check_all(record)


def test_rdflib_reads_the_same_quads_from_seed_records(seed_records: list[Record]) -> None:
    for record in seed_records:
        assert _by_rdflib(CONVERTER.record_to_jsonld(record)) == _as_tuples(CONVERTER.record_to_quads(record))


def test_rdflib_reads_the_same_quads_from_peer_records(peer_records: list[Record]) -> None:
    for record in peer_records:
        assert _by_rdflib(CONVERTER.record_to_jsonld(record)) == _as_tuples(CONVERTER.record_to_quads(record))


@MODEST
@given(records())
def test_any_record_is_the_same_in_pyld_and_pyoxigraph_and_loses_nothing(data: dict[str, Any]) -> None:
    _check_all(as_record(data))


@settings(MODEST, max_examples=60)
@given(records())
def test_rdflib_reads_the_same_quads_from_any_record(data: dict[str, Any]) -> None:
    record = as_record(data)
    assert _by_rdflib(CONVERTER.record_to_jsonld(record)) == _as_tuples(CONVERTER.record_to_quads(record))


@pytest.mark.long
@LONG
@given(records())
def test_many_more_records_are_the_same_in_all_tools(data: dict[str, Any]) -> None:
    record = as_record(data)
    _check_all(record)
    assert _by_rdflib(CONVERTER.record_to_jsonld(record)) == _as_tuples(CONVERTER.record_to_quads(record))


@MODEST
@given(records())
def test_literals_are_legal_and_iris_are_accepted_by_stores(data: dict[str, Any]) -> None:
    legal = {
        "decimal": r"-?[0-9]+(\.[0-9]+)?|-?\.[0-9]+",
        "integer": r"-?[0-9]+",
        "boolean": "true|false",
        "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
        "dateTime": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})",
    }
    for quad in ox.parse("\n".join(CONVERTER.record_to_quads(as_record(data))).encode(), format=ox.RdfFormat.N_QUADS):
        for term in (quad.subject, quad.predicate, quad.graph_name):
            assert isinstance(term, ox.NamedNode)
            assert ox.NamedNode(term.value) == term
        if isinstance(quad.object, ox.Literal):
            name = quad.object.datatype.value.removeprefix(XSD)
            assert re.fullmatch(legal.get(name, r"[\s\S]*"), quad.object.value), quad


def _by_id(records: list[Record], suffix: str) -> Record:
    (found,) = [record for record in records if record.id.endswith(suffix)]
    return found


@pytest.mark.parametrize(
    ("printed", "numeric"),
    [("33.88", "33.88"), ("11.49", "11.49"), ("r = 1.00", "1.00"), ("6637", "6637"), ("5.6", "5.6")],
)
def test_printed_values_stay_as_printed(seed_records: list[Record], printed: str, numeric: str) -> None:
    found = [record for record in seed_records if record.attributes.get("printed_value") == printed]
    assert found
    for record in found:
        graph = f"<{BASE}record/{record.id}> ."
        thing = f"<{BASE}id/{record.id}>"
        lines = CONVERTER.record_to_quads(record)
        assert f'{thing} <{EVKG}printedValue> "{printed}" {graph}' in lines
        assert f'{thing} <{EVKG}numericText> "{numeric}" {graph}' in lines
        assert f'{thing} <{EVKG}numericValue> "{numeric}"^^<{XSD}decimal> {graph}' in lines
        attributes = CONVERTER.record_to_jsonld(record)["graph"][0]["attributes"]
        assert attributes["printed_value"] == printed
        assert attributes["numeric_text"] == attributes["numeric_value"] == numeric


def test_throughputs_have_no_printed_value_and_say_why(seed_records: list[Record]) -> None:
    found = [r for r in seed_records if r.attributes.get("metric") == "inference-throughput"]
    assert len(found) == 2
    for record in found:
        thing = CONVERTER.document(record)["graph"][0]
        assert "printed_value" not in thing["attributes"]
        assert "quotations" not in thing["record"]
        (entry,) = [e for e in thing["record"]["missing"] if e["field"] == "printed_value"]
        assert entry["missing_property"] == EVKG + "printedValue"
        assert entry["reason"].endswith("/missingness/unextracted")
        assert entry["note"]


def test_an_excluded_record_leaves_a_tombstone_without_values(seed_records: list[Record]) -> None:
    original = _by_id(seed_records, RESULT)
    record = as_record(
        {
            **original.data,
            "status": "excluded",
            "extra": 1,
            "attributes": {**original.attributes, "reason": "withdrawn by its authors"},
        }
    )
    lines = CONVERTER.record_to_quads(record)
    text = "\n".join(lines)
    assert "5.6" not in text
    assert "extra" not in text
    predicates = {re.split("[#/]", line.split(" ")[1].strip("<>"))[-1] for line in lines}
    assert predicates >= {"type", "kind", "label", "status", "recordId", "contentSha256", "evaluation", "sourceIds"}
    assert not predicates & {"description", "printedValue", "numericValue", "missing", "review", "quotations"}
    assert '"withdrawn by its authors"' in text


def _document(**changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "id": "x",
        "kind": "result",
        "name": "x",
        "description": "",
        "status": "needs_review",
        "facets": {},
        "source_ids": [],
        "links": [],
        "attributes": {},
    }
    thing: dict[str, Any] = CONVERTER.document(as_record({**data, **changes}))["graph"][0]
    return thing


def _paths(thing: dict[str, Any]) -> list[str]:
    return [node["path"] for node in thing["settings"]]


def test_a_missing_entry_with_an_empty_reason_is_kept_as_a_setting() -> None:
    thing = _document(attributes={"missing_metadata": {"unit": {"reason": "", "note": "n"}}})
    assert "missing" not in thing["record"]
    assert thing["settings"][0]["expected_kind"] == "missing-metadata"


def test_a_key_called_like_a_section_does_not_meet_the_section() -> None:
    thing = _document(facets={"odd": ["a"]}, attributes={"facets": {"odd": ["b"]}, "odd": ["c"]}, odd="d")
    assert sorted(_paths(thing)) == ["attributes.facets.odd.0", "facets.odd.0", "odd.0", "record.odd"]


def test_a_key_of_digits_is_not_taken_for_a_position() -> None:
    thing = _document(attributes={"odd": {"2": "a"}, "other": ["a"]})
    assert thing["settings"][0] == {
        "id": f"{BASE}id/x#setting-odd.%2532",
        "type": ["Setting"],
        "path": "odd.%32",
        "key": "2",
        "value": "a",
    }
    assert thing["settings"][1]["position"] == 0


def test_a_number_where_a_name_is_due_is_kept_as_a_number() -> None:
    thing = _document(attributes={"metric": 5, "source_locator": 12})
    assert "metric" not in thing["attributes"]
    assert thing["settings"][0]["json_type"] == "number"
    assert thing["attributes"]["source_locator"] == "12"


def test_the_same_value_twice_in_a_list_keeps_both_places() -> None:
    thing = _document(attributes={"limitations": ["small", "old", "small"]})
    assert thing["attributes"]["limitations"] == ["small", "old"]
    assert [(item["position"], item["value"]) for item in thing["items"]] == [(0, "small"), (1, "old"), (2, "small")]


def test_a_printed_number_without_quotes_is_quoted_too() -> None:
    thing = _document(attributes={"printed_value": 6637})
    assert thing["attributes"]["printed_value"] == "6637"
    assert thing["record"]["quotations"][0]["quoted_value"] == "6637"


def test_the_context_file_is_what_the_ontology_says(vocabulary: Vocabulary) -> None:
    stored = (ROOT / "ontology" / "context.jsonld").read_bytes()
    assert stored == render_context(vocabulary).encode(), "ontology/context.jsonld is stale: run `evkg context`"


def test_every_key_of_the_context_expands_to_an_iri(vocabulary: Vocabulary) -> None:
    context = build_context(vocabulary)
    own = {"@version", "id", "type", "graph", "links", "facets", "attributes"}
    for key in set(context) - own - {"record"}:
        definition = context[key]
        iri = definition if isinstance(definition, str) else definition["@id"]
        assert ox.NamedNode(iri), key
    assert not set(vocabulary.kinds.values()) & set(vocabulary.terms)


def test_the_whole_context_reads_a_record_like_its_own_part(seed_records: list[Record], vocabulary: Vocabulary) -> None:
    whole = json.loads(render_context(vocabulary))
    for record in seed_records:
        document = {**whole, **CONVERTER.document(record)}
        assert _by_pyld(document) == _lines_as_parsed(CONVERTER.record_to_quads(record))


def test_every_key_of_a_document_is_defined_in_its_context(seed_records: list[Record]) -> None:
    for record in seed_records:
        document = CONVERTER.record_to_jsonld(record)
        assert set(_keys(document)) - {"@value"} <= set(document["@context"])


def test_the_example_of_the_documentation_is_what_the_conversion_gives(seed_records: list[Record]) -> None:
    text = (ROOT / "docs" / "record-to-graph.md").read_text(encoding="utf-8")
    record = _by_id(seed_records, RESULT)
    (example,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    document = CONVERTER.record_to_jsonld(record)
    assert json.loads(example) == {"@context": "ontology/context.jsonld", **CONVERTER.document(record)}
    assert json.loads(example)["id"] == document["id"]
    (quads,) = re.findall(r"```nquads\n(.*?)```", text, re.DOTALL)
    assert quads.splitlines()
    assert set(quads.splitlines()) <= set(CONVERTER.record_to_quads(record))


def test_a_line_that_is_taken_away_is_noticed(seed_records: list[Record]) -> None:
    """The search for lost leaves sees all but what is written twice or follows from the rest."""
    unseen = set()
    for record in seed_records:
        lines = CONVERTER.record_to_quads(record)
        for index, line in enumerate(lines):
            if not lost_leaves(record, lines[:index] + lines[index + 1 :], VOCABULARY, BASE):
                unseen.add(re.split("[#/]", line.split(" ")[1].strip("<>"))[-1])
    typed_beside_their_text = {"numericValue", "reviewedAt", "retrievedAt"}
    quotation = {"quotations", "field", "locator", "value"}
    retrieval = {"retrieval", "endedAtTime", "generated", "retrievedUrl", "sourceArtifact"}
    node_of_a_whole_object = {"type", "key", "jsonType"}
    assert unseen == typed_beside_their_text | quotation | retrieval | node_of_a_whole_object | {"missingProperty"}


def test_conversion_does_not_change_the_record(seed_records: list[Record]) -> None:
    for record in seed_records:
        before = json.dumps(record.data)
        CONVERTER.record_to_jsonld(record)
        assert json.dumps(record.data) == before


def test_the_base_iri_is_changed_in_one_place(seed_records: list[Record], vocabulary: Vocabulary) -> None:
    other = Converter(vocabulary, "https://example.org/kg/")
    for record in seed_records:
        ours = "\n".join(CONVERTER.record_to_quads(record))
        for name in ("id", "record", "artifact", "agent"):
            ours = ours.replace(f"<{BASE}{name}/", f"<https://example.org/kg/{name}/")
        assert sorted(ours.split("\n")) == other.record_to_quads(record)
