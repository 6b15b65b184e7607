"""The questions of curators, auditors and harvesters, on the seeds and on invented records that hold the hard cases.

The expected answers were checked by hand against the records. After a wanted change of a question, write them anew
with `python -m tests.test_curation_questions` and check the difference by hand again.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rdflib
from pyld import jsonld

from evkg.build import build_release
from evkg.questions import find_question
from evkg.release import GRAPH, Release
from tests.asking import Rows, ask
from tests.builds import AT, BASE, REVIEWED, ROOT, SAADAT, SEED, build_draft
from tests.client import Client, served

EXPECTED = ROOT / "tests" / "expected" / "questions-b"
PUBLIC = "https://records.example/evkg"
INVENTED = ROOT / "tests" / "records" / "questions-b"
NAMES = (
    "artifact-hashes",
    "completeness-by-field",
    "completeness-by-kind",
    "completeness-by-source",
    "conflicting-claims",
    "context-only-references",
    "doubtful-references",
    "external-matches",
    "fillable-gaps",
    "not-extracted",
    "open-concerns",
    "reasons-as-values",
    "shared-artifacts",
    "shared-locators",
    "unexplained-gaps",
    "unlocking-fields",
    "unreported-by-venue",
    "unreviewed-records",
    "unverified-links",
    "values-not-printed",
)
#: These say which source a record cites, also an excluded one; nothing of its values is in the release.
NAMES_AN_EXCLUDED_SOURCE = ("completeness-by-source", "doubtful-references")


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Release:
    release = build_release(SEED, tmp_path_factory.mktemp("curation-seeds"), at=AT).release
    assert release is not None
    return release


@pytest.fixture(scope="module")
def invented(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(INVENTED, tmp_path_factory.mktemp("curation-invented"))


@pytest.fixture(scope="module")
def client(seeds: Release) -> Iterator[Client]:
    yield from served(seeds, PUBLIC)


def by(rows: Rows, key: str, *columns: str) -> dict[str | None, tuple[str | None, ...]]:
    """Rows by one column, which names each once."""
    found = {row[key]: tuple(row[column] for column in columns) for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_on_the_invented_records_is_the_one_checked_by_hand(invented: Release, name: str) -> None:
    assert ask(invented, name) == json.loads((EXPECTED / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Dataset.*deprecated:DeprecationWarning")
def test_two_engines_agree_on_the_hard_cases(invented: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)
    dataset = rdflib.Dataset(default_union=True)
    dataset.parse(data=(invented.folder / GRAPH).read_text(encoding="utf-8"), format="nquads")
    for name in NAMES:
        answer = dataset.query(find_question(name).text)
        names = [str(variable) for variable in answer.vars or ()]
        rows = [{key: None if row[key] is None else str(row[key]) for key in names} for row in answer]  # type: ignore[index,call-overload]
        assert rows == ask(invented, name), name


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NAMES_AN_EXCLUDED_SOURCE])
def test_what_is_excluded_never_answers(invented: Release, name: str) -> None:
    for row in ask(invented, name):
        ids = [value for key, value in row.items() if key.endswith("_id") or key in ("for_example", "other_record")]
        assert not [value for value in ids if "withdrawn" in str(value)], row


# ---- gaps ----


def test_fields_left_out_are_counted_per_venue_without_doubtful_records(invented: Release, seeds: Release) -> None:
    rows = ask(invented, "unreported-by-venue")
    # b-config cites two sources; b-config-unplaced is disputed and b-model cites what is superseded: neither counts
    assert {(row["venue"], row["year"], row["field"]): row["records"] for row in rows} == {
        ("Journal of Invented Results", "2026", "licence"): "1",
        ("Journal of Invented Results", "2026", "version"): "1",
        ("not recorded", "not recorded", "version"): "1",
    }
    unavailable = ask(seeds, "unreported-by-venue", reason="unavailable")
    assert [(row["field"], row["records"]) for row in unavailable] == [("licence", "1")]


def test_a_gap_can_be_closed_where_something_newer_is_recorded(invented: Release, seeds: Release) -> None:
    found = by(ask(invented, "fillable-gaps"), "record_id", "field", "could_now")
    assert found == {
        "b-config": (
            "checkpoint",
            "a DOI is recorded: 10.1234/paper-b.v2 | code is at https://example.org/code-of-b",
        ),
        "b-data": (
            "split",
            (
                "a DOI is recorded: 10.1234/paper-b.v2 | a repository is at https://example.org/data-of-b"
                " | code is at https://example.org/code-of-b"
            ),
        ),
        "b-model": ("licence", "a newer record replaces it: Paper B, second version (retrieved 2026-03-04)"),
    }
    (row,) = ask(seeds, "fillable-gaps")
    assert (row["record_id"], row["field"]) == (f"{SAADAT}source-paper", "licence")
    assert row["could_now"] == "nothing in this release says so"
    assert str(row["source"]).endswith("(retrieved 2026-10-15T10:56:26Z)")


# ---- evidence ----


def test_one_place_for_two_sources_is_found(invented: Release) -> None:
    (row,) = ask(invented, "shared-locators")
    assert (row["record_id"], row["locator"], row["sources"]) == ("b-result-shared", "Table 3", "2")
    assert row["source"] == "A mirror of table two | Paper B, second version"
    assert row["review"] == "reviewed by Claude (software)"
    claims = ask(invented, "shared-locators", kind="claim")
    assert [(row["record_id"], row["status"]) for row in claims] == [("b-claim-differs", "Disputed")]


def test_a_claim_takes_a_record_out_of_context_but_a_withdrawn_one_does_not(invented: Release) -> None:
    rows = ask(invented, "context-only-references")
    assert [row["record_id"] for row in rows] == ["b-protocol", "b-protocol-unbacked"]
    assert (
        ask(invented, "context-only-references", kind="result")
        == [
            # its printed value is a statement of its own, and so is that of every other result
        ]
    )
    assert ask(invented, "context-only-references", kind="source") == []


def test_members_of_one_archive_do_not_disagree(invented: Release) -> None:
    rows = ask(invented, "artifact-hashes")
    assert {(row["problem"], row["source_id"], row["other_record"]) for row in rows} == {
        ("a review inspected other bytes", "b-paper-v2", "b-result-shared"),
        ("the scope of the hash is not documented", "b-paper-v2", None),
        ("two records disagree on the hash", "b-paper-v1", "b-paper-v2"),
        ("two records disagree on the hash", "b-paper-v2", "b-paper-v1"),
    }
    superseded = next(row for row in rows if row["source_id"] == "b-paper-v1")
    assert (superseded["status"], superseded["caveats"]) == ("Superseded", "superseded by: Paper B, second version")


def test_the_same_bytes_under_two_addresses_are_one_artifact(invented: Release) -> None:
    rows = ask(invented, "shared-artifacts")
    assert [(row["source_id"], row["sources"], row["status"]) for row in rows] == [
        ("b-mirror", "2", "Source checked"),
        ("b-table-two", "2", "Disputed"),
    ]


def test_a_claim_that_contradicts_is_a_conflict_and_one_that_agrees_is_none(invented: Release, seeds: Release) -> None:
    found = by(ask(invented, "conflicting-claims"), "claim_id", "claimed", "record_says", "conflict", "status")
    assert found == {
        "b-claim-differs": ("1", "1.0", "they differ", "Disputed"),
        "b-claim-fills": (
            "MIT",
            "no value: Unavailable",
            "the record gives a reason instead of a value",
            "Source checked",
        ),
        "b-claim-of-no-link": ("b-family", "nothing", "the record is silent", "Source checked"),
        "b-claim-of-term": ("f1-score", "accuracy", "they differ", "Source checked"),
    }
    assert ask(seeds, "conflicting-claims") == []


def test_each_way_of_lacking_a_claim_is_named(invented: Release) -> None:
    rows = ask(invented, "unverified-links")
    assert {(row["from_id"], row["to_id"]): (row["why"], row["claim_id"]) for row in rows} == {
        ("b-config-unchecked", "b-model"): ("its claim has the status needs review", "b-claim-unchecked"),
        ("b-config-unchecked", "b-nowhere"): ("the record that it names is not in this release", "none"),
        ("b-config-unclaimed", "b-model"): ("no claim states it", "none"),
        ("b-config-unplaced", "b-model"): ("its claim names no place", "b-claim-unplaced"),
    }
    assert [row["from_id"] for row in ask(invented, "unverified-links", relation="family")] == ["b-config", "b-model"]


# ---- trust ----


def test_the_oldest_concern_comes_first_and_one_without_a_day_last(invented: Release) -> None:
    rows = ask(invented, "open-concerns")
    assert [(row["since"], row["since_is"], row["message"], row["results"]) for row in rows] == [
        ("2026-02-03", "reviewed", "Units are mixed.", "0"),
        ("2026-04-01", "opened", "The text gives another value.", "1"),
        (None, "no day is recorded", "Nobody wrote when this was found.", "0"),
    ]
    assert [row["effect"] for row in rows] == ["excludes", "excludes", "warns"]


def test_a_number_in_a_figure_is_not_taken_for_one_read_off(invented: Release) -> None:
    found = by(ask(invented, "values-not-printed"), "result_id", "status", "caveats")
    assert found == {
        "b-result-computed": ("Superseded", "Superseded by: Result B, printed in a figure"),
        "b-result-plot": ("Source checked", "Open concern: The text gives another value."),
    }


def test_the_field_that_frees_most_results_comes_first(invented: Release, seeds: Release) -> None:
    rows = ask(invented, "unlocking-fields")
    columns = ("dimension", "reason", "results", "free_if_settled", "results_two_reasons")
    assert [tuple(row[column] for column in columns) for row in rows] == [
        ("compared split", "Not known", "4", "2", "1"),
        ("compared budget", "Not known", "1", "0", "0"),
        ("open concern", "Open concern", "1", "0", "0"),
        ("status", "Not checked", "1", "0", "1"),
    ]
    assert {row["free_if_settled"] for row in ask(seeds, "unlocking-fields")} == {"0"}


def test_what_refers_to_a_doubtful_record_is_found_with_its_replacement(invented: Release) -> None:
    rows = ask(invented, "doubtful-references")
    found = {(row["doubtful_id"], row["record_id"], row["as"]): row["replaced_by"] for row in rows}
    assert found["b-paper-v1", "b-model", "source_ids"] == "Paper B, second version"
    assert found["b-withdrawn", "b-protocol-unbacked", "source_ids"] == "nothing that is recorded"
    assert not [row for row in rows if row["record_id"] in ("b-result-withdrawn", "b-claim-withdrawn")]


def test_records_without_review_are_all_but_the_reviewed_and_the_excluded(invented: Release) -> None:
    rows = ask(invented, "unreviewed-records")
    # 35 records, of which 3 are excluded and 2 have a review
    assert sum(int(str(row["unreviewed"])) for row in rows) == len(invented.record_ids) - 3 - 2 == 30


# ---- linked data ----


def test_no_match_is_invented(seeds: Release, invented: Release) -> None:
    rows = ask(seeds, "external-matches")
    units = {row["ours"]: (row["theirs"], row["strength"]) for row in rows if row["what"] == "unit" and row["theirs"]}
    stated = seeds.select("SELECT ?unit ?qudt { ?unit skos:inScheme/evkg:key 'unit' ; skos:closeMatch ?qudt }")
    assert units == {row["unit"]: (row["qudt"], "close") for row in stated}
    assert not [row for row in rows if row["vocabulary"] in ("Wikidata", "OpenAlex", "Hugging Face")]
    given = [row for row in ask(invented, "external-matches") if row["strength"] == "address given"]
    assert [(row["vocabulary"], row["theirs"]) for row in given] == [
        ("DOI", "https://doi.org/10.1234/paper-b.v2"),
        ("Hugging Face", "https://huggingface.co/papers/b"),
    ]
    assert not [row for row in rows if row["strength"] == "exact"]  # the vocabulary states none


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every node of a JSON-LD document."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from nodes(item)


def test_one_request_gives_a_result_framed_with_status_review_and_gaps(client: Client) -> None:
    answer = client(f"/id/{REVIEWED}", "application/ld+json")
    assert answer.headers["content-type"].startswith("application/ld+json")
    document = answer.json()
    context = document["@context"]  # it travels with the answer, so nothing else is fetched
    assert isinstance(context, dict)
    # the record points at the result, so the frame turns that way round, as the answer does
    frame = {"@context": context, "type": "Result", "record": {"missing": {}, "review": {}}, "quotations": {}}
    framed = jsonld.frame(document["graph"], frame, {"expandContext": context})
    (given,) = document["graph"]
    result = framed["graph"][0] if "graph" in framed else framed
    assert result["id"] == given["id"] == f"{BASE}id/{REVIEWED}"
    assert (result["attributes"]["printed_value"], result["attributes"]["numeric_text"]) == ("5.6", "5.6")
    for shown in (given, result):
        record = shown["record"]
        assert record["status"] == f"{BASE}vocab/status/source_checked"
        missing = record["missing"] if isinstance(record["missing"], list) else [record["missing"]]
        assert [(entry["field"], entry["reason"]) for entry in missing] == [
            ("uncertainty", f"{BASE}vocab/missingness/unreported")
        ]
        review = record["review"]
        assert str(review["inspected_artifact"]).startswith(f"{BASE}artifact/4bc24521")
        assert "claude" in str(review["reviewer"])


def test_every_record_that_the_document_names_can_be_resolved(client: Client, seeds: Release) -> None:
    document = client(f"/id/{REVIEWED}.jsonld").json()
    texts = {text for node in nodes(document["graph"]) for text in _texts(node)}
    named = {text.partition("#")[0] for text in texts if text.startswith((f"{BASE}id/", f"{BASE}record/"))}
    assert len(named) >= 4  # the result, its record, its evaluation, its source
    for iri in named:
        assert client(iri.removeprefix(BASE[:-1]), "application/ld+json").status_code == 200


def _texts(node: dict[str, Any]) -> Iterator[str]:
    for value in node.values():
        yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        built = build_draft(INVENTED, Path(scratch))
        for question_name in NAMES:
            text = json.dumps(ask(built, question_name), ensure_ascii=False, indent=1)
            (EXPECTED / f"{question_name}.json").write_text(text + "\n", encoding="utf-8")
