"""Completeness: hand-counted numbers, and the same numbers from records, shapes and SPARQL."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evkg.check import check_dataset
from evkg.errors import UsageError
from evkg.expected import expected_fields
from evkg.gaps import REASONS, STATES, By, GapCounter, Gaps, Row, Tally, count_gaps
from evkg.namespaces import EVKG, SH
from evkg.questions import find_question
from evkg.release import Release
from evkg.shapegraph import ShapeGraph
from evkg.shapes import Shapes
from evkg.vocabulary import load_vocabulary
from tests.builds import BASE, ROOT, SEED, build_draft, record, write_records
from tests.strategies import as_record, records

INVALID = ROOT / "tests" / "records" / "invalid"


def entries(**fields: str) -> dict[str, dict[str, str]]:
    return {key.replace("__", "."): {"reason": reason} for key, reason in fields.items()}


def made_up() -> list[dict[str, Any]]:
    """Nine records: each thing that a field can say stands in them once or twice."""
    source = record(
        "s1", "source", attributes={"url": "https://example.org/1", "missing_metadata": entries(doi="inapplicable")}
    )
    models = [
        record("m1", "model", source_ids=["s1"], attributes={"licence": "MIT"}),
        record("m2", "model", source_ids=["s1", "s2"], attributes={"missing_metadata": entries(licence="unextracted")}),
        record("m3", "model", attributes={"missing_metadata": entries(licence="inapplicable")}),
        record("m4", "model"),
        record("m5", "model", status="excluded", attributes={"licence": "MIT"}),
        # both: the value counts
        record("m6", "model", attributes={"licence": "MIT", "missing_metadata": entries(licence="unreported")}),
        record("m7", "model", attributes={"missing_metadata": entries(licence="forgotten")}),
        record("c1", "claim", links=[{"relation": "subject", "target_id": "m5"}]),
    ]
    return [source, *models]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_records(tmp_path_factory.mktemp("gaps") / "records.jsonl", *made_up())


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(SEED, tmp_path_factory.mktemp("gaps-seeds"))


def test_each_state_is_counted_as_by_hand(small: Path) -> None:
    gaps = count_gaps(small)
    assert gaps.records == 7  # neither the excluded model nor the claim that speaks of nothing else
    licence = gaps.cells["model", "licence"]
    assert licence == Tally(value=2, unextracted=1, inapplicable=1, other=1, nothing=1)
    assert (licence.all, licence.known_gaps, licence.share) == (6, 3, 2 / 5)
    assert gaps.cells["source", "doi"] == Tally(inapplicable=1)
    assert gaps.cells["source", "doi"].share is None
    assert gaps.cells["claim", "field"] == Tally()


def test_a_record_counts_under_each_of_its_sources(small: Path) -> None:
    rows = {row.source: row for row in count_gaps(small).rows("source")}
    # a source has 7 expected fields, a model 4
    assert {source: row.tally.all for source, row in rows.items()} == {"s1": 7 + 4 + 4, "s2": 4, "": 4 * 4}
    assert rows["s2"].tally == Tally(unextracted=1, nothing=3)
    assert (rows["s1"].label, rows["s2"].label, rows[""].label) == ("s1", "s2", "(no source is cited)")


@pytest.mark.parametrize(
    ("missing", "state"),
    [
        (entries(comparison="unextracted"), "unextracted"),
        (entries(comparison="unextracted", comparison__split="unreported"), "unreported"),
        (entries(comparison__split="inapplicable", comparison="conflicting"), "inapplicable"),
        (entries(comparison__budget="unreported"), "nothing"),
        ({}, "nothing"),
    ],
)
def test_the_reason_of_the_field_itself_outranks_that_of_the_whole(
    tmp_path: Path, missing: dict[str, Any], state: str
) -> None:
    file = write_records(tmp_path / "e.jsonl", record("e", "evaluation", attributes={"missing_metadata": missing}))
    expected = Tally()
    expected.add(state)
    assert count_gaps(file).cells["evaluation", "comparison.split"] == expected


def test_of_two_reasons_the_one_that_wants_work_counts(tmp_path: Path) -> None:
    missing = entries(hardware__memory="inapplicable", hardware__gpu="unextracted")
    file = write_records(tmp_path / "c.jsonl", record("c", "configuration", attributes={"missing_metadata": missing}))
    assert count_gaps(file).cells["configuration", "hardware"] == Tally(unextracted=1)


def test_an_unreadable_number_is_a_value_and_an_object_where_a_text_belongs_is_none(tmp_path: Path) -> None:
    attributes = {"numeric_value": "1" * 40, "unit": {"of": "something"}}
    cells = count_gaps(write_records(tmp_path / "r.jsonl", record("r", "result", attributes=attributes))).cells
    assert cells["result", "numeric_value"] == Tally(value=1)
    assert cells["result", "unit"] == Tally(nothing=1)


def test_of_two_records_with_one_id_the_first_counts(tmp_path: Path) -> None:
    twice = [record("m", "model", attributes={"licence": "MIT"}), record("m", "model")]
    gaps = count_gaps(write_records(tmp_path / "m.jsonl", *twice))
    assert (gaps.records, gaps.cells["model", "licence"]) == (1, Tally(value=1))


def test_the_seeds() -> None:
    gaps = count_gaps(SEED)
    assert gaps.records == 49
    assert gaps.total == Tally(value=118, unreported=17, unextracted=135, unavailable=1, inapplicable=1, nothing=122)
    # counted by hand: 14 results, of which two have no printed value and one a review
    assert gaps.cells["result", "printed_value"] == Tally(value=12, unextracted=2)
    assert gaps.cells["result", "review"] == Tally(value=1, unextracted=13)
    assert gaps.cells["result", "uncertainty"] == Tally(unreported=14)
    assert gaps.cells["source", "doi"] == Tally(inapplicable=1, nothing=1)
    assert [row.field for row in gaps.rows("field")] == sorted({name for _, name in gaps.cells} - {"applicability"})


def nothing_by_rule(gaps: Gaps) -> Counter[str]:
    found: Counter[str] = Counter()
    for kind, items in expected_fields(Shapes(), load_vocabulary()).items():
        for item in items:
            found[item.rule] += gaps.cells[kind, item.name].nothing
    return +found


@pytest.mark.parametrize("path", [SEED, INVALID], ids=["seeds", "invalid"])
def test_where_there_is_nothing_the_shape_finds_it(path: Path) -> None:
    wanted = {item.rule for items in expected_fields(Shapes(), load_vocabulary()).values() for item in items}
    findings = check_dataset(path).findings
    assert nothing_by_rule(count_gaps(path)) == Counter(f.rule for f in findings if f.rule in wanted)


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.lists(records(), max_size=5))
def test_the_states_of_a_field_add_up(data: list[dict[str, Any]]) -> None:
    vocabulary, shapes = load_vocabulary(), Shapes()
    counter = GapCounter(vocabulary, shapes, BASE)
    kinds = Counter(str(item["kind"]) for item in data)
    for item in data:
        counter.add(as_record(item))
    for (kind, _), tally in counter.gaps.cells.items():
        assert tally.value + tally.known_gaps + tally.nothing == tally.all == kinds[kind]
        assert sum(tally.counts().values()) == tally.all
        assert tally.share is None or 0 <= tally.share <= 1
    assert counter.gaps.total.all == sum(row.tally.all for row in counter.gaps.rows("field"))


def test_a_condition_that_cannot_be_counted_is_told(tmp_path: Path) -> None:
    shape = f"""
        @prefix sh: <{SH}> . @prefix evkg: <{EVKG}> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
        <https://w3id.org/evkg/shapes#model-odd> a sh:NodeShape ; sh:targetClass evkg:Model ;
          evkg:completes evkg:licence ; sh:message "…"@en ; sh:or ( [ sh:path evkg:licence ; sh:minCount 1 ]
          [ sh:path ( [ sh:inversePath foaf:primaryTopic ] evkg:missing ) ; sh:qualifiedMinCount 1 ;
            sh:qualifiedValueShape [ sh:path evkg:missingProperty ; sh:hasValue evkg:licence ] ]
          [ sh:path evkg:version ; sh:hasValue "1" ] ) .
    """
    (tmp_path / "odd.ttl").write_text(shape, encoding="utf-8")
    with pytest.raises(Exception, match="model-odd expects a field under a condition"):
        count_gaps(SEED, shapes=Shapes(tmp_path))


# ---- the same in SPARQL ----

COLUMNS = {"expected": "all", "other_reason": "other"} | {s: s for s in STATES if s != "other"}


def answers(release: Release, by: By) -> list[tuple[Any, ...]]:
    rows = release.select(find_question(f"completeness-by-{by}").text)
    about = {"kind": ("kind", "field"), "field": ("field",), "source": ("source", "source_id")}[by]
    return [(*(row[key] for key in about), *(int(row[key]) for key in COLUMNS)) for row in rows]


def expected_answers(gaps: Gaps, by: By) -> list[tuple[Any, ...]]:
    def about(row: Row) -> tuple[Any, ...]:
        return {"kind": (row.kind, row.field), "field": (row.field,), "source": (row.label, row.source)}[by]

    return [(*about(row), *(getattr(row.tally, name) for name in COLUMNS.values())) for row in gaps.rows(by)]


@pytest.mark.parametrize("by", ["kind", "field", "source"])
def test_sparql_gives_the_same_numbers_on_the_seeds(seeds: Release, by: By) -> None:
    assert answers(seeds, by) == expected_answers(count_gaps(SEED), by)


@pytest.mark.parametrize("by", ["kind", "field"])
def test_sparql_gives_the_same_numbers_on_every_state(tmp_path: Path, small: Path, by: By) -> None:
    release = build_draft(small, tmp_path)
    assert answers(release, by) == expected_answers(count_gaps(small), by)
    shares = [
        row["share"] for row in release.select(find_question("completeness-by-kind").text) if row["field"] == "doi"
    ]
    assert shares == [None]


@pytest.mark.parametrize("by", ["kind", "field"])
def test_sparql_gives_the_same_numbers_on_records_that_break_rules(tmp_path: Path, by: By) -> None:
    release = build_draft(INVALID, tmp_path)
    assert answers(release, by) == expected_answers(count_gaps(INVALID), by)


def test_the_first_branch_of_a_shape_that_completes_a_field_is_its_value() -> None:
    """The questions read the place of the value there, and at the third branch the entry on the whole."""
    graph = ShapeGraph(Shapes())
    for shape, _ in graph.pairs(EVKG + "completes"):
        first, *others = graph.list_of(shape, SH + "or")
        assert graph.one(first, SH + "minCount") == "1", shape
        assert len(graph.list_of(first, SH + "path")) in (0, 2), shape
        explained = [graph.one(branch, SH + "qualifiedValueShape") is not None for branch in others]
        assert explained in ([True, False], [True, True, False]), shape


# ---- reasons ----


def test_every_reason_of_the_scheme_is_a_state() -> None:
    assert (
        set(load_vocabulary().schemes["missingness"].concepts)
        == set(REASONS)
        == set(STATES)
        - {
            "value",
            "other",
            "nothing",
        }
    )


def test_a_folder_without_records_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        count_gaps(tmp_path / "nothing-here")
