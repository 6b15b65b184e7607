"""The evidence table against rows written out by hand from its definition, and against what the seed pages print."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evkg.claims import canonical
from evkg.errors import NotFoundError, UsageError
from evkg.evidence import COLUMNS, Evidence, Row, Selection
from evkg.evidence_index import EvidenceIndex
from evkg.evidence_table import csv_lines, jsonl_lines
from evkg.jsontext import decode_json, encode_json
from evkg.record import Record
from evkg.release import INDEX, MANIFEST, RECORDS, Release
from evkg.statement import SCOPES
from tests import strategies
from tests.builds import AT, ROOT, SAADAT, build_draft, record
from tests.conftest import BASE, SEED

EXPECTED = ROOT / "tests/expected/evidence"
HAND = ROOT / "tests/records/evidence/records.yaml"
PAPER = f"{SAADAT}source-paper"
DATA = f"{SAADAT}data-synthetic-dna"
QUANTIZED = f"{SAADAT}result-nt-2-5b-quantization-memory-4bit"


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(HAND, tmp_path_factory.mktemp("hand"))


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(SEED, tmp_path_factory.mktemp("seeds"))


def rows_of(release: Release, record_id: str) -> dict[str, Row]:
    return {row.row_id: row for row in Evidence(release).rows_of(record_id)}


def release_of(folder: Path, *records: dict[str, Any]) -> Release:
    """A release of which only the records are there: all that evidence is made from."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = sorted((str(data["id"]), encode_json(data).encode()) for data in records)
    index, offset = [], 0
    with (folder / RECORDS).open("wb") as stream:
        for record_id, line in lines:
            index.append(f"{record_id}\t{offset}\t{len(line)}\t{hashlib.sha256(line).hexdigest()}\n")
            offset += stream.write(line + b"\n")
    (folder / INDEX).write_text("".join(index), encoding="utf-8")
    counts = {"records": len(lines), "quads": 0, "violations": 0, "warnings": 0, "infos": 0, "kinds": {}}
    facts = {"format": 1, "release_id": f"{AT:%Y-%m-%d}-000000000000", "base_iri": BASE, "dataset": {}, "files": {}}
    (folder / MANIFEST).write_text(json.dumps({**facts, "conforms": True, "counts": counts}), encoding="utf-8")
    if not (folder / "ontology").exists():
        (folder / "ontology").symlink_to(ROOT / "ontology")
    return Release(folder)


# ---- Rows written out by hand ----


def test_the_rows_are_the_ones_written_by_hand(hand: Release) -> None:
    with (EXPECTED / "rows.tsv").open(encoding="utf-8", newline="") as stream:
        expected = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    listed = {row["row_id"].partition(":")[0] for row in expected}
    found = [row for record_id in sorted(listed) for row in Evidence(hand).rows_of(record_id)]
    assert [{key: getattr(row, key) for key in expected[0]} for row in found] == expected


@pytest.mark.parametrize("number", range(3))
def test_every_column_of_a_row_is_the_one_written_by_hand(hand: Release, number: int) -> None:
    expected = json.loads((EXPECTED / "whole-rows.json").read_text(encoding="utf-8"))[number]
    found = rows_of(hand, expected["record_id"])[expected["row_id"]]._asdict()
    assert found == {**expected, "release_id": hand.id}
    assert list(found) == list(COLUMNS)
    assert len(COLUMNS) == 35


def test_excluded_records_give_no_row_and_excluded_claims_say_nothing(hand: Release) -> None:
    rows = list(Evidence(hand).rows())
    assert {"ev-withdrawn", "ev-claim-withdrawn"} & {row.record_id for row in rows} == set()
    assert not [row for row in rows if row.claim_id == "ev-claim-withdrawn"]
    assert not [row for row in rows if "secret" in row.value]


def test_a_value_that_the_catalogue_computed_is_not_called_reported(hand: Release) -> None:
    row = rows_of(hand, "ev-result-computed")["ev-result-computed:attributes.printed_value::ev-source"]
    assert (row.property, row.evidence_scope, row.review_status) == (
        "Computed by the catalogue",
        "individual_claim",
        "discovered",
    )


def test_a_null_inside_an_object_is_missing(hand: Release) -> None:
    row = rows_of(hand, "ev-evaluation")["ev-evaluation:attributes.comparison.budget::"]
    assert (row.value, row.value_json, row.review_status) == ("", "null", "missing_or_unspecified")


def test_fields_of_a_source_are_its_own_metadata(hand: Release) -> None:
    rows = rows_of(hand, "ev-source").values()
    assert {(row.evidence_scope, row.review_status, row.source_id, row.source_locator) for row in rows} == {
        ("source_metadata", "catalogued", "ev-source", "")
    }


# ---- Claims ----


def claim(record_id: str, **attributes: Any) -> dict[str, Any]:
    subjects = attributes.pop("subjects", ["thing"])
    links = [{"relation": "subject", "target_id": subject} for subject in subjects]
    changes = {"status": "source_checked", "source_ids": ["paper"], **attributes.pop("changes", {})}
    return record(record_id, "claim", links=links, attributes={"source_locator": "Page 1", **attributes}, **changes)


PAPER_RECORD = record("paper", "source", attributes={"url": "https://example.org/", "retrieved_at": "2026-01-01"})


def status_of(folder: Path, said: dict[str, Any], **attributes: Any) -> tuple[str, str]:
    """The status and claimed value of the one row about `thing`'s version."""
    thing = record("thing", "model", source_ids=["paper"], attributes={"version": "1.0", **attributes})
    release = release_of(folder, PAPER_RECORD, thing, said)
    (row,) = (row for row in Evidence(release).rows_of("thing") if row.field_path == "attributes.version")
    return row.review_status, row.claimed_value_json


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (claim("c", field="attributes.version", value="1.0"), ("source_checked", '"1.0"')),
        (claim("c", field="version", value="1.0"), ("source_checked", '"1.0"')),
        (claim("c", field="version", value="1"), ("conflicting_claim", '"1"')),
        (claim("c", field="version", value=1), ("conflicting_claim", "1")),
        (claim("c", field="version", target_id="1.0"), ("source_checked", '"1.0"')),
        (claim("c", field="version", value="2", target_id="1.0"), ("conflicting_claim", '"2"')),
        (claim("c", field="version"), ("unresolved_claim", "")),
        (claim("c", field="version", value="1.0", source_locator=""), ("unresolved_claim", '"1.0"')),
        (claim("c", field="version", value="1.0", changes={"source_ids": []}), ("unresolved_claim", '"1.0"')),
        (claim("c", field="version", value="1.0", changes={"status": "disputed"}), ("disputed", '"1.0"')),
        (claim("c", field="version", value="1.0", subjects=["thing", "thing"]), ("source_checked", '"1.0"')),
        (claim("c", field="version", value="1.0", subjects=["paper"]), ("not_individually_reviewed", "")),
        (claim("c", field="versions", value="1.0"), ("not_individually_reviewed", "")),
    ],
)
def test_a_field_is_checked_only_as_far_as_its_claim_is(
    tmp_path: Path, said: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert status_of(tmp_path, said) == expected


@pytest.mark.parametrize(
    ("value", "claimed", "is_equal"),
    [
        ({"b": 1, "a": [2]}, {"a": [2], "b": 1}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        (decode_json("0.50"), decode_json("5e-1"), True),
        (decode_json("-0"), 0, True),
        (100, decode_json("1e2"), True),
        (10, 1, False),
        (True, 1, False),
        ("é", "e\u0301", False),
        ("5.6", "5.60", False),
        (None, "", False),
    ],
)
def test_values_are_equal_as_json_is(value: Any, claimed: Any, is_equal: bool) -> None:
    assert (canonical(value) == canonical(claimed)) is is_equal


def test_the_review_of_a_record_is_not_that_of_a_claim_about_it(tmp_path: Path) -> None:
    review = {"method": ["transcription"], "note": "The record was read."}
    result = record(
        "thing",
        "result",
        source_ids=["paper"],
        status="source_checked",
        attributes={"printed_value": "1", "review": review},
    )
    said = claim("c", field="attributes.printed_value", value="2")
    release = release_of(tmp_path, PAPER_RECORD, result, said)
    (row,) = (row for row in Evidence(release).rows_of("thing") if row.field_path == "attributes.printed_value")
    assert (row.review_status, row.review_note, row.record_status) == ("conflicting_claim", "", "source_checked")


def test_a_claim_about_a_whole_object_stands_beside_its_fields(tmp_path: Path) -> None:
    thing = record("thing", "result", attributes={"coverage": {"scored": 1, "eligible": 2}})
    said = claim("c", field="coverage", value={"eligible": 2, "scored": 1})
    rows = Evidence(release_of(tmp_path, PAPER_RECORD, thing, said)).rows_of("thing")
    found = {row.field_path: row.review_status for row in rows if row.field_path.startswith("attributes.coverage")}
    assert found == {
        "attributes.coverage": "source_checked",
        "attributes.coverage.eligible": "not_individually_reviewed",
        "attributes.coverage.scored": "not_individually_reviewed",
    }


# ---- Statements with sources of their own ----


def test_steps_recipes_and_reproduction_are_statements_of_their_own(tmp_path: Path) -> None:
    cited = {"source_ids": ["paper"], "source_locator": "README"}
    benchmark = record(
        "thing",
        "benchmark",
        attributes={
            "run_guide": {"steps": [{"title": "Run", "shell": "make", **cited}], "review": {"method": "read"}},
            "run_recipes": [
                {
                    "title": "R",
                    "summary": "All of it.",
                    **cited,
                    "instructions": [{"title": "I", "code": "do()", "status": "unreported", **cited}, "odd"],
                }
            ],
        },
    )
    run = record(
        "run", "evaluation", attributes={"reproduction": {"explanation": "Again.", "nested": {"a": 1}, **cited}}
    )
    evidence = Evidence(release_of(tmp_path, PAPER_RECORD, benchmark, run))
    rows = [row for name in ("run", "thing") for row in evidence.rows_of(name) if row.evidence_scope == SCOPES[0]]
    assert [(row.field_path, row.property, row.value, row.review_status, row.source_locator) for row in rows] == [
        ("attributes.reproduction.explanation", "attributes.reproduction.explanation", "Again.",
         "not_individually_reviewed", "README"),
        ("attributes.reproduction.nested.a", "attributes.reproduction.nested.a", "1",
         "not_individually_reviewed", "README"),
        ("attributes.run_guide.steps.0.shell", "Run commands: Run", "make", "source_checked", "README"),
        ("attributes.run_recipes.0.instructions.0.code", "Recipe: I", "do()", "unreported", "README"),
        ("attributes.run_recipes.0.summary", "Recipe: R", "All of it.", "not_individually_reviewed", "README"),
    ]  # fmt: skip
    assert "commands were not run" in next(row for row in rows if row.value == "make").review_note


@pytest.mark.parametrize("profile", ["words", [], {}, {"facts": {"a": 1}}, {"summary": {"a": 1}}, {"diagram": "d"}])
def test_a_profile_of_another_shape_is_kept_as_it_is(tmp_path: Path, profile: Any) -> None:
    thing = record("thing", "model", attributes={"profile": profile})
    rows = Evidence(release_of(tmp_path, thing)).rows_of("thing")
    found = [decode_json(row.value_json) for row in rows if row.field_path.startswith("attributes.profile")]
    assert found == (
        []
        if profile == {}
        else [1]
        if "facts" in profile
        else [*profile.values()]
        if profile and isinstance(profile, dict)
        else [profile]
    )


def test_a_source_outside_the_release_is_named_all_the_same(tmp_path: Path) -> None:
    thing = record("thing", "model", source_ids=["elsewhere", "thing"], attributes={"version": "1"})
    rows = [row for row in Evidence(release_of(tmp_path, thing)).rows_of("thing") if row.field_path == "name"]
    assert [(row.source_id, row.source_title, row.source_url) for row in rows] == [
        ("elsewhere", "", ""),
        ("thing", "", ""),
    ]


# ---- The order, the ids, the selection ----


def test_rows_are_sorted_by_their_id_over_all_records(tmp_path: Path) -> None:
    names = ("a", "a-b", "a0", "a.b", "a_b", "ab")
    release = release_of(tmp_path, *(record(name, "use_case") for name in names))
    ids = [row.row_id for row in Evidence(release).rows()]
    assert ids == sorted(ids)
    assert len(ids) == len(set(ids)) == 7 * len(names)


def test_keys_with_dots_and_digits_never_meet(tmp_path: Path) -> None:
    hardware = {"a.b": 1, "a": {"b": 2}, "0": {"x": 3}}
    rows = Evidence(release_of(tmp_path, record("thing", "configuration", attributes={"hardware": hardware}))).rows_of(
        "thing"
    )
    paths = {row.field_path: row.value for row in rows if "hardware" in row.field_path}
    assert paths == {
        "attributes.hardware.a%2Eb": "1",
        "attributes.hardware.a.b": "2",
        "attributes.hardware.%30.x": "3",
    }
    assert "thing:attributes.hardware.a%252Eb::" in {row.row_id for row in rows}


def test_keys_with_dots_stand_as_they_are_where_nothing_is_in_doubt(tmp_path: Path) -> None:
    missing = {"coverage.scored": {"reason": "unreported"}, "100%": {"reason": "unreported"}}
    thing = record("thing", "result", attributes={"missing_metadata": missing})
    paths = [
        row.field_path for row in Evidence(release_of(tmp_path, thing)).rows_of("thing") if "missing" in row.field_path
    ]
    assert paths == [
        "attributes.missing_metadata.100%.reason",
        "attributes.missing_metadata.coverage.scored.reason",
    ]


def test_only_what_is_wanted_is_given(hand: Release) -> None:
    evidence = Evidence(hand)
    whole = list(evidence.rows())
    for selection in (
        Selection(scope="individual_claim"),
        Selection(source="ev-source-two"),
        Selection("ev-model", "record_context", "ev-source"),
    ):
        expected = [
            row
            for row in whole
            if selection.record in (None, row.record_id)
            and selection.scope in (None, row.evidence_scope)
            and selection.source in (None, row.source_id)
        ]
        assert expected
        assert list(evidence.rows(selection)) == expected


def test_what_is_not_there_is_told(hand: Release) -> None:
    with pytest.raises(UsageError, match="'claim' is no scope of evidence; there are individual_claim"):
        Selection(scope="claim")
    with pytest.raises(NotFoundError, match="Nearest: ev-model"):
        Evidence(hand).rows(Selection(record="ev-modl"))
    with pytest.raises(NotFoundError, match="Nearest: ev-source"):
        Evidence(hand).rows(Selection(source="ev-sorce"))


@pytest.mark.parametrize(
    "selection", [Selection(), Selection(scope=SCOPES[0]), Selection(source="ev-source"), Selection("ev-model")]
)
@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_pages_make_up_the_table_and_know_its_length(hand: Release, selection: Selection, limit: int) -> None:
    evidence = Evidence(hand)
    index = EvidenceIndex(evidence)
    expected = list(evidence.rows(selection))
    pages = [index.page(selection, offset=offset, limit=limit) for offset in range(0, len(expected) + limit, limit)]
    assert [row for page in pages for row in page.rows] == expected
    assert {page.total for page in pages} == {len(expected)}


def test_memory_does_not_grow_with_the_table(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        many = (record(f"m{n:05}", "model", description="x" * 2000, source_ids=["paper"]) for n in range(count))
        evidence = Evidence(release_of(tmp_path / str(count), PAPER_RECORD, *many))
        next(evidence.rows())
        tracemalloc.start()
        assert sum(1 for _ in evidence.rows()) == count * 7 + 9
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(2000) < peak(200) + 2_000_000


# ---- The files ----


def test_csv_is_quoted_and_safe_and_json_lines_are_exact(hand: Release) -> None:
    rows = list(Evidence(hand).rows())
    text = "".join(csv_lines(rows))
    assert text.startswith('"row_id","release_id",')
    table = list(csv.DictReader(io.StringIO(text, newline="")))
    printed = next(row for row in table if row["row_id"] == "ev-result:attributes.printed_value::ev-source")
    assert (printed["value"], printed["value_json"]) == ("'-0.30", '"-0.30"')
    assert [json.loads(line) for line in jsonl_lines(rows)] == [row._asdict() for row in rows]
    assert list(jsonl_lines([])) == ["\n"]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=strategies.records(), others=st.lists(strategies.records(kinds=("claim", "source")), max_size=2))
def test_any_record_gives_rows_that_read_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any], others: list[dict[str, Any]]
) -> None:
    given_ = {str(item["id"]): item for item in (*others, data)}
    folder = tmp_path_factory.getbasetemp() / "generated"
    release = release_of(folder, *given_.values())
    rows = list(Evidence(release).rows())
    ids = [row.row_id for row in rows]
    assert ids == sorted(set(ids))
    assert [Row(**json.loads(line)) for line in jsonl_lines(rows) if line != "\n"] == rows
    table = list(csv.reader(io.StringIO("".join(csv_lines(rows)), newline="")))
    for row, cells in zip(rows, table[1:], strict=True):
        assert [
            cell if cell == text else cell.removeprefix("'") for cell, text in zip(cells, row, strict=True)
        ] == list(row)
        assert not any(cell.strip()[:1] in ("=", "+", "-", "@") and cell.strip() for cell in cells)
        assert {type(cell) for cell in row} == {str}
    for record_id in given_:
        counted = Counter((row.evidence_scope, row.source_id) for row in rows if row.record_id == record_id)
        assert Evidence(release).count_of(record_id) == counted


# ---- What the seed pages print ----


def test_the_source_page_has_its_thirty_rows(seeds: Release) -> None:
    rows = list(Evidence(seeds).rows(Selection(record=PAPER)))
    assert len(rows) == 30
    # the first ten that the page prints, in its order
    assert [row.field_path for row in rows[:10]] == [
        "attributes.artifact_sha256",
        "attributes.artifact_url",
        "attributes.media_type",
        "attributes.missing_metadata.doi.note",
        "attributes.missing_metadata.doi.reason",
        "attributes.missing_metadata.licence.note",
        "attributes.missing_metadata.licence.reason",
        "attributes.publication_status",
        "attributes.retrieval_note",
        "attributes.retrieved_at",
    ]
    assert {(row.evidence_scope, row.review_status, row.source_locator) for row in rows} == {
        ("source_metadata", "catalogued", "")
    }


def test_the_page_of_the_data_has_six_context_rows_that_check_nothing(seeds: Release) -> None:
    rows = list(Evidence(seeds).rows(Selection(DATA, "record_context")))
    assert [row.field_path for row in rows] == [
        *(f"attributes.{key}" for key in ("population", "source_locator", "species", "split")),
        "description",
        "name",
    ]
    assert {(row.review_status, row.source_locator, row.record_status) for row in rows} == {
        ("not_individually_reviewed", "Section 2.4 'Data' (page 3)", "source_checked")
    }
    assert {row.source_id for row in rows} == {PAPER}
    assert {row.retrieved_at for row in rows} == {"2026-10-15T10:56:26Z"}


def test_the_page_of_the_result_has_one_individual_claim(seeds: Release) -> None:
    (row,) = Evidence(seeds).rows(Selection(QUANTIZED, "individual_claim"))
    assert (row.property, row.value, row.review_status) == ("Reported result", "5.6", "source_checked")
    assert row.review_method == (
        '["source-hash-verification","pdf-text-parse","independent-cell-check","rendered-source-visual-check"]'
    )
    assert (row.review_date, row.evidence_origin) == ("2026-10-15T22:00:00Z", "independent_paper")
    assert row.hash_scope == "Hash scope not separately documented; inspect source record"


def test_configurations_have_no_individual_claim(seeds: Release) -> None:
    for record_id in seeds.record_ids:
        if "config" in record_id:
            assert list(Evidence(seeds).rows(Selection(record_id, "individual_claim"))) == []


def test_evaluations_are_not_counted_by_rows(seeds: Release) -> None:
    rows = list(Evidence(seeds).rows())
    assert len(rows) == 721
    assert Counter(row.evidence_scope for row in rows) == {
        "catalogue_metadata": 392,
        "record_context": 274,
        "source_metadata": 43,
        "individual_claim": 12,
    }
    # no context row is ever checked, whatever the status of its record
    assert {row.review_status for row in rows if row.evidence_scope == "record_context"} == {
        "not_individually_reviewed",
        "missing_or_unspecified",
    }


def test_the_claimed_links_of_real_records_are_checked_rows(peer_records: list[Record], tmp_path: Path) -> None:
    claims = [item.original for item in peer_records if item.kind == "claim"]
    subjects = []
    for said in claims:
        _, relation, target = str(said["attributes"]["field"]).split(":")  # type: ignore[index, call-overload]
        name = str(said["links"][0]["target_id"])  # type: ignore[index, call-overload]
        link = {"relation": relation, "target_id": target}
        subjects.append(record(name, "configuration" if "config" in name else "protocol", links=[link]))
    release = release_of(
        tmp_path, *claims, *subjects, *(item.original for item in peer_records if item.kind == "source")
    )
    for said, subject in zip(claims, subjects, strict=True):
        rows = [row for row in Evidence(release).rows_of(subject["id"]) if row.claim_id == said["id"]]
        assert [(row.review_status, row.claimed_value_json, row.source_id) for row in rows] == [
            ("source_checked", row.value_json, source)
            for row, source in zip(rows, said["source_ids"], strict=True)  # type: ignore[arg-type]
        ]
        assert all(row.field_path == said["attributes"]["field"] for row in rows)  # type: ignore[index, call-overload]
        assert rows
    assert len(claims) == 3
