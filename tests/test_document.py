"""What the document of a record holds for each way of writing a value."""

from __future__ import annotations

from typing import Any

import pytest

from evkg.document import DocumentBuilder
from evkg.jsontext import Json, NumberText
from evkg.namespaces import EVKG, VOCAB, XSD
from evkg.setting import attribute_path, leaf_settings, split_path, step
from evkg.value import MISFIT, ValueReader
from evkg.vocabulary import Vocabulary
from tests.conftest import BASE
from tests.strategies import as_record

THING = BASE + "id/r"
ABOUT = BASE + "record/r"


@pytest.fixture(scope="module")
def builder(vocabulary: Vocabulary) -> DocumentBuilder:
    return DocumentBuilder(vocabulary, BASE)


def _thing(builder: DocumentBuilder, kind: str, attributes: dict[str, Json], **changes: Any) -> dict[str, Any]:
    data: dict[str, Json] = {
        "id": "r",
        "kind": kind,
        "name": "R",
        "description": "",
        "status": "needs_review",
        "facets": {},
        "source_ids": [],
        "links": [],
        "attributes": attributes,
    }
    document = builder.document(as_record({**data, **changes}))
    assert document["id"] == ABOUT
    (thing,) = document["graph"]
    assert isinstance(thing, dict)
    return thing


def test_the_least_record_has_a_thing_and_a_record(builder: DocumentBuilder) -> None:
    thing = _thing(builder, "model", {})
    about = thing.pop("record")
    assert thing == {"id": THING, "type": ["Model"], "kind": "model", "name": "R", "description": ""}
    assert set(about) == {"id", "type", "record_id", "content_sha256", "status"} | {"empty_fields"}
    assert about["empty_fields"] == ["source_ids"]


def test_order_of_sources_and_links_is_kept_where_there_are_several(builder: DocumentBuilder) -> None:
    links = [("system", "a"), ("data", "d"), ("system", "b"), ("system", "a")]
    thing = _thing(
        builder,
        "evaluation",
        {},
        source_ids=["s2", "s1"],
        links=[{"relation": relation, "target_id": target} for relation, target in links],
    )
    assert thing["links"] == {"system": [BASE + "id/a", BASE + "id/b"], "data": [BASE + "id/d"]}
    assert [(i["field"], i["position"], i["value"]) for i in thing["items"]] == [
        ("links.system", 0, "a"),
        ("links.system", 2, "b"),
        ("links.system", 3, "a"),
    ]
    assert [(i["id"], i["value"]) for i in thing["record"]["items"]] == [
        (ABOUT + "#source_ids.0", "s2"),
        (ABOUT + "#source_ids.1", "s1"),
    ]


def test_a_link_that_is_not_known_is_kept(builder: DocumentBuilder) -> None:
    thing = _thing(builder, "model", {}, links=[{"relation": "no such", "target_id": "b"}])
    (root,) = thing["settings"]
    assert (root["path"], root["position"], root["expected_kind"]) == ("links.0", 0, "link")
    assert [(leaf["path"], leaf["value"]) for leaf in root["settings"]] == [
        ("links.0.relation", "no such"),
        ("links.0.target_id", "b"),
    ]


def test_a_facet_gives_concepts_known_or_not(builder: DocumentBuilder) -> None:
    thing = _thing(builder, "model", {}, facets={"areas": ["dna-genomes", "no such area"], "odd": []})
    assert thing["facets"]["areas"] == [VOCAB + "area/dna-genomes", VOCAB + "area/no%20such%20area"]
    (setting,) = thing["settings"]
    assert (setting["path"], setting["json_type"]) == ("facets.odd", "array")


def test_a_number_stands_as_text_and_where_possible_as_number(builder: DocumentBuilder) -> None:
    for written, number in (("1.00", "1.00"), ("1e-3", "0.001"), ("~33h", None), ("9" * 40, None)):
        attributes = _thing(builder, "result", {"numeric_value": written})["attributes"]
        assert attributes["numeric_text"] == written
        assert attributes.get("numeric_value") == number


def test_a_number_written_without_quotes_gives_the_same_triples(builder: DocumentBuilder) -> None:
    one = _thing(builder, "result", {"numeric_value": "5.60", "numerator": 7, "approximate": True})
    other = _thing(builder, "result", {"numeric_value": NumberText("5.60"), "numerator": "7", "approximate": "true"})
    assert one["attributes"] == other["attributes"]


def test_a_null_number_is_information(builder: DocumentBuilder) -> None:
    missing: Json = {"value": {"reason": "inapplicable"}}
    thing = _thing(builder, "result", {"numeric_value": None, "missing_metadata": missing})
    assert thing["record"]["null_fields"] == ["numeric_value"]
    assert thing["record"]["missing"][0]["missing_property"] == EVKG + "valueText"


def test_a_date_is_typed_by_its_form_and_keeps_its_text(builder: DocumentBuilder) -> None:
    for written, form in (("2026-10-15", "date"), ("2026-10-15T10:56:26Z", "dateTime"), ("October 2026", None)):
        attributes = _thing(builder, "source", {"retrieved_at": written})["attributes"]
        assert attributes["retrieved_at_text"] == written
        expected = None if form is None else {"type": XSD + form, "@value": written}
        assert attributes.get("retrieved_at") == expected


def test_a_moment_where_a_day_is_due_is_no_date(builder: DocumentBuilder) -> None:
    review = _thing(builder, "result", {"review": {"method": ["transcription"], "date": "2026-10-15T10:56:26Z"}})
    assert "date" not in review["record"]["review"]
    assert review["record"]["review"]["date_text"] == "2026-10-15T10:56:26Z"


def test_review_and_extraction_stand_on_the_record_of_any_kind(builder: DocumentBuilder) -> None:
    for kind in ("service", "model"):
        thing = _thing(
            builder,
            kind,
            {
                "review": {"method": ["transcription"], "reviewer": ["codex"]},
                "extraction": {"agent": "codex", "artifact_sha256": "a" * 64},
            },
        )
        about = thing["record"]
        assert "attributes" not in thing
        assert about["review"]["id"] == ABOUT + "#review"
        assert about["review"]["review_method"] == [VOCAB + "review-method/transcription"]
        assert about["review"]["reviewer"] == [BASE + "agent/codex"]
        assert about["extraction"]["inspected_artifact"] == BASE + "artifact/" + "a" * 64


def test_the_quotation_names_the_artifact_that_was_read(builder: DocumentBuilder) -> None:
    thing = _thing(
        builder,
        "result",
        {"printed_value": "r = 1.00", "source_locator": "Table 1", "extraction": {"artifact_sha256": "a" * 64}},
    )
    assert thing["record"]["quotations"] == [
        {
            "id": ABOUT + "#quote-printed_value",
            "type": ["Quotation"],
            "field": "printed_value",
            "quoted_value": "r = 1.00",
            "locator": "Table 1",
            "quoted_from": BASE + "artifact/" + "a" * 64,
        }
    ]


def test_concerns_of_a_source_stand_on_its_record_and_of_others_in_settings(builder: DocumentBuilder) -> None:
    concern: Json = [{"message": "Two tables differ.", "targets": ["auroc"], "resolved": {"by": "x"}}, "odd"]
    source = _thing(builder, "source", {"evidence_concerns": concern})
    (node,) = source["record"]["evidence_concerns"]
    assert (node["id"], node["position"]) == (ABOUT + "#concern-0", 0)
    assert node["resolved"]["id"] == ABOUT + "#evidence_concerns.0.resolved"
    assert source["settings"][0]["path"] == "evidence_concerns.1"
    model = _thing(builder, "model", {"evidence_concerns": concern})
    assert "evidence_concerns" not in model["record"]
    assert model["settings"][0]["path"] == "evidence_concerns.0.message"


def test_a_retrieval_needs_a_moment(builder: DocumentBuilder) -> None:
    url = "https://example.org/p.pdf"
    full = _thing(builder, "source", {"url": url, "retrieved_at": "2026-10-15T10:56:26Z", "artifact_sha256": "b" * 64})
    assert full["record"]["retrieval"] == {
        "id": ABOUT + "#retrieval",
        "type": ["Retrieval"],
        "ended_at": "2026-10-15T10:56:26Z",
        "retrieved_url": url,
        "generated": BASE + "artifact/" + "b" * 64,
    }
    assert full["source_artifact"] == BASE + "artifact/" + "b" * 64
    day = _thing(builder, "source", {"url": url, "retrieved_at": "2026-10-15"})
    assert "retrieval" not in day["record"]


def test_a_comparison_condition_keeps_its_form(builder: DocumentBuilder) -> None:
    comparison: Json = {"split": "unreported", "budget": {"b": NumberText("1.00"), "a": 1}, "odd": "x", "subset": None}
    thing = _thing(builder, "evaluation", {"comparison": comparison})
    node = thing["attributes"]["comparison"]
    assert node["comparison_split"] == "unreported"
    assert node["comparison_budget"] == {"type": EVKG + "JSON", "@value": '{"a":1,"b":1}'}
    assert {s["path"]: s.get("value") for s in thing["settings"]} == {
        "comparison.budget.b": "1.00",
        "comparison.budget.a": "1",
        "comparison.odd": "x",
    }
    assert thing["record"]["null_fields"] == ["comparison.subset"]


def test_a_strict_object_keeps_an_undeclared_key_as_a_setting(builder: DocumentBuilder) -> None:
    thing = _thing(builder, "result", {"coverage": {"scored": 3, "7": "x"}})
    assert thing["attributes"]["coverage"]["scored"] == 3
    assert thing["settings"] == [
        {
            "id": THING + "#setting-coverage.%2537",
            "type": ["Setting"],
            "path": "coverage.%37",
            "key": "7",
            "value": "x",
            "expected_kind": "declared key",
        }
    ]


@pytest.mark.parametrize(
    ("kind", "field", "expected"),
    [
        ("result", "uncertainty", "uncertainty"),
        ("evaluation", "coverage.scored", "scored"),
        ("evaluation", "comparison.split", "comparisonSplit"),
        ("configuration", "hardware.memory", "hardware"),
        ("result", "hardware", "hardwareText"),
        ("source", "review.date", "date"),
        ("service", "review", "review"),
        ("evaluation", "coverage.no", None),
        ("model", "no", None),
        ("model", "", None),
    ],
)
def test_a_gap_names_the_property_it_is_a_gap_in(
    builder: DocumentBuilder, kind: str, field: str, expected: str | None
) -> None:
    assert builder.missing_property(kind, field) == (None if expected is None else EVKG + expected)


def test_a_reason_that_is_not_known_is_kept(builder: DocumentBuilder) -> None:
    thing = _thing(builder, "result", {"missing_metadata": {"unit": {"reason": "lost", "note": 5, "who": "x"}}})
    (entry,) = thing["record"]["missing"]
    assert entry["reason"] == VOCAB + "missingness/lost"
    assert sorted(node["path"] for node in thing["settings"]) == [
        "missing_metadata.unit.note",
        "missing_metadata.unit.who",
    ]


def test_paths_split_into_the_keys_they_were_made_of() -> None:
    keys = ["", "a", "0", "007", "٣", "a.b", "%", "%2E", "a%b.c", "1.5", "🧬", "/"]
    for key in keys:
        assert split_path(f"x.{step(key)}.3") == ["x", key, 3]
    assert len({step(key) for key in keys}) == len(keys)
    assert attribute_path("links") == "attributes.links"


def test_settings_give_the_value_back() -> None:
    value: Json = {"a": [1, {"0": None, "": NumberText("1.00")}, [], {}], "0": [["x"]], "b.c": True}
    leaves = leaf_settings(THING, value, "root", "root")
    assert {tuple(split_path(leaf["path"])): (leaf.get("json_type"), leaf.get("value")) for leaf in leaves} == {
        ("root", "a", 0): ("number", "1"),
        ("root", "a", 1, "0"): ("null", None),
        ("root", "a", 1, ""): ("number", "1.00"),
        ("root", "a", 2): ("array", None),
        ("root", "a", 3): ("object", None),
        ("root", "0", 0, 0): (None, "x"),
        ("root", "b.c"): ("boolean", "true"),
    }
    assert len({leaf["id"] for leaf in leaves}) == len(leaves)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("text", True),
        ("text", None),
        ("text", []),
        ("integer", "1.0"),
        ("integer", True),
        ("integer", str(2**63)),
        ("boolean", "yes"),
        ("boolean", 1),
        ("record-id", "Not An Id"),
        ("record-id", NumberText("1.5")),
        ("artifact", "A" * 64),
        ("agent", ""),
        ("concept:metric", ""),
        ("concept:metric", 5),
        ("concept:metric", {}),
        ("no such kind", "x"),
    ],
)
def test_a_value_that_does_not_fit_is_no_value(vocabulary: Vocabulary, kind: str, value: Json) -> None:
    assert ValueReader(vocabulary, BASE).read(kind, value) is MISFIT


@pytest.mark.parametrize(("written", "read"), [(7, 7), ("-0", "-0"), (2**53, str(2**53)), (-(2**53) + 1, -(2**53) + 1)])
def test_an_integer_is_a_number_only_where_json_keeps_it(vocabulary: Vocabulary, written: Json, read: Any) -> None:
    assert ValueReader(vocabulary, BASE).read("integer", written) == read
