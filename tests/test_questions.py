"""Every saved question gives the checked answer on the seed records, and keeps to the rules of truth on made-up ones.

The expected answers were checked by hand against the records. After a wanted change of a question, write them anew
with `python -m tests.test_questions` and check the difference by hand again.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
import rdflib

from evkg.build import build_release
from evkg.errors import NotFoundError, UsageError, VocabularyError
from evkg.namespaces import PREFIXES, PROV, RDF
from evkg.questions import Question, find_question, load_questions, read_question
from evkg.release import GRAPH, Release
from evkg.sparql import read_query, tokens
from evkg.store import load_store, run_query
from evkg.view import view_record
from tests.asking import Rows, ask
from tests.builds import AT, BASE, DOUBTED_RESULTS, REVIEWED, ROOT, SEED, THROUGHPUT_256, THROUGHPUT_512, build_draft

EXPECTED = ROOT / "tests" / "expected" / "questions"
NAMES = sorted(path.stem for path in (ROOT / "queries" / "questions").glob("*.rq"))
SAADAT = "saadat-fellay-20261015-result-"
TRAINING = f"{SAADAT}nt-2-5b-training-memory-checkpointing"
#: Another value for every parameter, to see that it can be set.
SAMPLES = {
    "comparable": {"first": THROUGHPUT_256, "second": THROUGHPUT_512},
    "independent-results": {"task": "throughput"},
    "inference-memory-budget": {"most": "7", "unit": "gigabyte", "metric": "peak-memory", "stage": "inference"},
    "optimisation-stages": {"model": "GENA-LM 110M", "metric": "peak-memory"},
    "result-provenance": {"result": THROUGHPUT_256},
    "safe-throughput": {"metric": "maximum-batch-size"},
}


@pytest.fixture(scope="session")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Release:
    release = build_release(SEED, tmp_path_factory.mktemp("questions-seeds"), at=AT).release
    assert release is not None
    return release


@pytest.fixture(scope="session")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """A release of invented records: what may be compared, and one record for each obstacle."""
    return build_draft(ROOT / "tests" / "records" / "questions", tmp_path_factory.mktemp("questions-made-up"))


def column(rows: Rows, name: str) -> list[str | None]:
    return [row[name] for row in rows]


def blocking(release: Release, first: str, second: str) -> tuple[str | None, set[tuple[str | None, ...]]]:
    """The verdict on two results, and the reasons as (dimension, finding, which result)."""
    rows = ask(release, "comparable", first=first, second=second)
    assert rows[0]["dimension"] == "comparable?"
    return rows[0]["finding"], {(row["dimension"], row["finding"], row["affects"]) for row in rows[1:]}


# ---- the files ----


def test_the_questions_of_the_first_version_are_there() -> None:
    assert set(NAMES) >= {
        "comparable",
        "independent-results",
        "inference-memory-budget",
        "not-extracted",
        "optimisation-stages",
        "reasons-as-values",
        "result-provenance",
        "review-coverage",
        "safe-throughput",
        "unexplained-gaps",
    }
    assert list(load_questions()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_file_says_in_words_what_it_asks(name: str) -> None:
    question = find_question(name)
    assert question.title
    assert question.question.endswith("?")
    assert question.keywords
    assert question.caveats
    assert all(caveat.endswith(".") for caveat in question.caveats)
    assert all(parameter.description and parameter.default for parameter in question.parameters)
    assert max(map(len, question.text.splitlines())) <= 120


@pytest.mark.parametrize("name", NAMES)
def test_a_file_stands_alone_and_names_no_base_iri(name: str) -> None:
    text = find_question(name).text
    words = list(tokens(text))
    declared = {b.text[:-1] for a, b in pairwise(words) if a.text.upper() == "PREFIX"}
    used = {word.text.partition(":")[0] for word in words if word.kind == "pname"}
    assert declared == used
    for prefix in declared:
        assert f"PREFIX {prefix}: <{PREFIXES[prefix]}>" in text
    assert read_query(text).form == "SELECT"
    ox.Store().query(text)
    own = re.findall(rf"{re.escape(BASE)}[^>]*", text)
    # the ontology and its schemes have one namespace, whatever the base of a data set
    assert all(iri == f"{BASE}ontology#" or iri.startswith(f"{BASE}vocab/") for iri in own)
    body = text[text.index("SELECT") :]
    assert body.rstrip().splitlines()[-1].startswith("ORDER BY ")


# ---- the answers on the seed records ----


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_on_the_seeds_is_the_one_checked_by_hand(seeds: Release, name: str) -> None:
    expected = json.loads((EXPECTED / f"{name}.json").read_text(encoding="utf-8"))
    assert ask(seeds, name) == expected


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Dataset.*deprecated:DeprecationWarning")
def test_two_engines_agree(seeds: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)
    dataset = rdflib.Dataset(default_union=True)
    dataset.parse(data=(seeds.folder / GRAPH).read_text(encoding="utf-8"), format="nquads")
    for name in NAMES:
        answer = dataset.query(find_question(name).text)
        names = [str(variable) for variable in answer.vars or ()]
        rows = [{key: None if row[key] is None else str(row[key]) for key in names} for row in answer]  # type: ignore[index,call-overload]
        assert rows == ask(seeds, name), name


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_parameters_can_be_set(seeds: Release, name: str) -> None:
    assert set(SAMPLES[name]) == {parameter.name for parameter in find_question(name).parameters}
    assert isinstance(ask(seeds, name, **SAMPLES[name]), list)


@pytest.mark.parametrize("name", NAMES)
def test_a_default_set_by_hand_changes_nothing(seeds: Release, name: str) -> None:
    defaults = {parameter.name: parameter.default for parameter in find_question(name).parameters}
    assert ask(seeds, name, **defaults) == ask(seeds, name)


def test_the_budget_is_exact_and_the_printed_value_stays(seeds: Release) -> None:
    assert column(ask(seeds, "inference-memory-budget"), "printed_value") == ["5.6"]
    assert column(ask(seeds, "inference-memory-budget", most="5.6"), "printed_value") == ["5.6"]
    assert ask(seeds, "inference-memory-budget", most="5.59") == []
    assert sorted(map(str, column(ask(seeds, "inference-memory-budget", most="6.7"), "printed_value"))) == [
        "5.6",
        "6.7",
    ]
    training = ask(seeds, "inference-memory-budget", most="40", stage="training")
    assert sorted(map(str, column(training, "printed_value"))) == ["1.18", "11.49", "2.49", "33.88"]
    assert ask(seeds, "inference-memory-budget", unit="megabyte") == []


def test_stages_stand_side_by_side_without_rank_or_difference(seeds: Release) -> None:
    rows = ask(seeds, "optimisation-stages")
    assert column(rows, "printed_value") == ["5.6", "6.7", "33.88", "11.49"]
    assert set(column(rows, "differs_from_its_neighbours_in")) == {"metric qualifier"}
    unknown = "comparison.dataset_version: not known (Unextracted)"
    assert all(unknown in str(row["not_comparable_because"]) for row in rows)
    assert not {"rank", "difference", "best"} & set(rows[0])
    rows = ask(seeds, "optimisation-stages", model="GENA-LM 110M")
    assert column(rows, "printed_value") == ["1.18", "2.49"]
    doubted = ask(seeds, "optimisation-stages", model="GENA base", metric="inference-throughput")
    assert column(doubted, "printed_value") == [None, None]
    assert all("open concern" in str(row["not_comparable_because"]) for row in doubted)
    assert all("value: no number to compare" in str(row["not_comparable_because"]) for row in doubted)


def test_no_throughput_is_safe_and_the_reasons_are_told(seeds: Release) -> None:
    rows = ask(seeds, "safe-throughput")
    assert column(rows, "result_id") == [THROUGHPUT_256, THROUGHPUT_512]
    assert set(column(rows, "safe")) == {"no"}
    assert set(column(rows, "printed_value")) == {None}
    assert all(str(row["no_value_because"]).startswith("Unextracted: ") for row in rows)
    batch = ask(seeds, "safe-throughput", metric="maximum-batch-size")
    assert [(row["printed_value"], row["safe"]) for row in batch] == [("6637", "no"), ("2206", "no")]


def test_what_authors_report_of_their_own_model_is_not_independent(seeds: Release) -> None:
    assert ask(seeds, "independent-results", task="throughput") == []
    pearson = ask(seeds, "independent-results", task="pseudo-perplexity")
    assert sorted(map(str, column(pearson, "printed_value"))) == ["r = 0.98", "r = 1.00", "r = 1.00", "r = 1.00"]


def test_memory_of_inference_and_of_training_are_not_comparable(seeds: Release) -> None:
    verdict, reasons = blocking(seeds, REVIEWED, TRAINING)
    assert verdict == "no"
    assert ("metric qualifier", "differs", "both") in reasons
    assert ("comparison.protocol_id", "differs", "both") in reasons  # taken from the links to two protocols
    assert ("comparison.split", "not known", "second") in reasons
    assert len(reasons) == 10
    assert not any(dimension in ("unit", "metric", "metric direction", "data set") for dimension, _, _ in reasons)


@pytest.mark.parametrize("result", DOUBTED_RESULTS)
def test_an_open_concern_blocks_every_result_that_it_reaches(seeds: Release, result: str) -> None:
    _, reasons = blocking(seeds, REVIEWED, result)
    assert ("open concern", "an open concern stands against it", "second") in reasons


def test_gaps_are_not_what_has_a_reason(seeds: Release) -> None:
    fields = {(row["kind"], row["field"]) for row in ask(seeds, "unexplained-gaps")}
    assert ("result", "coverage") in fields
    assert not fields & {("result", "uncertainty"), ("result", "review"), ("evaluation", "comparison.split")}


def test_provenance_names_the_graph_of_every_statement(seeds: Release) -> None:
    rows = ask(seeds, "result-provenance")
    assert all(row["who_says_so"] for row in rows)
    own = [row for row in rows if row["who_says_so"] == f"{BASE}record/{REVIEWED}"]
    assert len(own) == len(seeds.quads(REVIEWED))
    missing = [row for row in rows if row["part"] == "4 missing"]
    assert ("missingness reason", "Unreported") in {(row["statement"], row["value_name"]) for row in missing}
    doubted = ask(seeds, "result-provenance", result=THROUGHPUT_256)
    assert any(row["part"] == "6 open concern" and "tokens/s" in str(row["value"]) for row in doubted)
    assert ask(seeds, "result-provenance", result="no-such-result") == []


# ---- hard cases ----


@pytest.mark.parametrize(
    ("name", "parameter"), [("independent-results", "task"), ("optimisation-stages", "model")], ids=lambda value: value
)
@pytest.mark.parametrize("text", ['"} UNION {', '" } ?s ?p ?o . { "', "\\", "'''", "?result", "<urn:x>", "\n} #"])
def test_a_text_stays_a_text(seeds: Release, name: str, parameter: str, text: str) -> None:
    assert ask(seeds, name, **{parameter: text}) == []


@pytest.mark.parametrize("value", ["abc", "", "NaN", "Infinity", "6 GB", '6"'])
def test_a_number_must_be_a_number(value: str) -> None:
    with pytest.raises(UsageError, match="must be a number"):
        find_question("inference-memory-budget").with_values({"most": value})


@pytest.mark.parametrize("value", ["", "<urn:x>", 'a"b', "a b", "../x"])
def test_a_record_and_a_concept_must_be_an_id(value: str) -> None:
    with pytest.raises(UsageError, match="must be an id"):
        find_question("comparable").with_values({"first": value})
    with pytest.raises(UsageError, match="must be an id"):
        find_question("safe-throughput").with_values({"metric": value})


def test_an_unknown_parameter_or_question_is_refused() -> None:
    with pytest.raises(UsageError, match="no parameter 'least'; it has most, unit, metric, stage"):
        find_question("inference-memory-budget").with_values({"least": "1"})
    with pytest.raises(NotFoundError) as caught:
        find_question("comparabel")
    assert "comparable" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "# question: Q?\nSELECT * { }",
        "# title: T\nSELECT * { }",
        "# title: T\n# question: Q?\n# param: most (number) at most\nSELECT * { }",
        "# title: T\n# question: Q?\n# param: most (colour) at most\nSELECT * { VALUES ?most { 6 } }",
    ],
)
def test_a_broken_header_is_told(text: str) -> None:
    with pytest.raises(VocabularyError, match=r"queries/questions/q\.rq"):
        read_question("q", text)


def test_a_long_header_line_goes_on_in_the_next(tmp_path: Path) -> None:
    (tmp_path / "q.rq").write_text("# title: T\n# question: One\n#   two?\n# caveat: A.\n# caveat: B.\nASK { }")
    question: Question = load_questions(tmp_path)["q"]
    assert (question.question, question.caveats) == ("One two?", ("A.", "B."))


def test_the_questions_are_in_the_graph(seeds: Release) -> None:
    rows = seeds.select(
        "SELECT ?q { ?q a sh:SPARQLSelectExecutable ; sh:select ?text ; rdfs:label ?title } ORDER BY ?q"
    )
    assert [str(row["q"]).rsplit("/", 1)[1] for row in rows] == NAMES


# ---- made-up records: what may be compared, and each obstacle ----


def test_equal_in_everything_may_be_compared(made_up: Release) -> None:
    assert blocking(made_up, "made-up-result-a", "made-up-result-b") == ("yes", set())
    assert blocking(made_up, "made-up-result-b", "made-up-result-a") == ("yes", set())


@pytest.mark.parametrize(
    ("other", "reasons"),
    [
        ("unit", {("unit", "differs", "both")}),
        ("training", {("metric qualifier", "differs", "both")}),
        ("unknown", {("comparison.aggregation", "not known", "second"), ("comparison.inputs", "not known", "second")}),
        ("doubted", {("open concern", "an open concern stands against it", "second")}),
        ("superseded", {("status", "not checked against its source", "second")}),
        ("no-number", {("value", "no number to compare", "second")}),
        (
            "quoted",
            {
                ("origin", "quoted from another source", "second"),
                ("original evaluation", "quoted from another source", "second"),
            },
        ),
        (
            "of-disputed-data",
            {
                ("status of the data set", "disputed, superseded or excluded", "second"),
                ("data set", "differs", "both"),
            },
        ),
        ("of-disputed", {("status of the evaluation", "disputed, superseded or excluded", "second")}),
        ("of-doubted-protocol", {("open concern", "an open concern stands against it", "second")}),
        ("a", {("record", "the same result twice", "both")}),
        ("missing", {("record", "no such result", "second")}),
    ],
)
def test_each_obstacle_alone_is_named(made_up: Release, other: str, reasons: set[tuple[str, str, str]]) -> None:
    assert blocking(made_up, "made-up-result-a", f"made-up-result-{other}") == ("no", reasons)
    swapped = {"first": "second", "second": "first", "both": "both"}
    turned = {(dimension, finding, swapped[affects]) for dimension, finding, affects in reasons}
    assert blocking(made_up, f"made-up-result-{other}", "made-up-result-a") == ("no", turned)


def test_nothing_can_be_compared_with_an_excluded_result(made_up: Release) -> None:
    verdict, reasons = blocking(made_up, "made-up-result-a", "made-up-result-excluded")
    assert verdict == "no"
    assert ("status", "not checked against its source", "second") in reasons
    assert "Excluded" in str(ask(made_up, "comparable", first="made-up-result-excluded", second="x")[0]["first_result"])


def changed(tmp_path: Path, record_id: str, old: str, new: str) -> Release:
    """The made-up records with the first `old` behind the id of one of them replaced."""
    folder = Path(shutil.copytree(ROOT / "tests" / "records" / "questions", tmp_path / "data"))
    text = (folder / "records.yaml").read_text(encoding="utf-8")
    before, start, after = text.partition(f"\nid: {record_id}\n")
    assert old in after
    (folder / "records.yaml").write_text(before + start + after.replace(old, new, 1), encoding="utf-8")
    return build_draft(folder, tmp_path / "out")


@pytest.mark.parametrize("status", ["disputed", "superseded", "excluded"])
@pytest.mark.parametrize(
    ("record_id", "dimension", "named"),
    [
        ("made-up-source", "status of a source", "A made-up paper (source)"),
        ("made-up-config-b", "status of the system", "Model Q 2B on one GPU (configuration)"),
        ("made-up-protocol", "status of the assessment", "Made-up memory protocol (protocol)"),
        ("made-up-data", "status of the data set", "Made-up sequences (dataset)"),
        ("made-up-eval-b", "status of the evaluation", "Model Q 2B memory (evaluation)"),
    ],
)
def test_what_a_result_rests_on_blocks_it(
    tmp_path: Path, record_id: str, dimension: str, named: str, status: str
) -> None:
    release = changed(tmp_path, record_id, "status: source_checked", f"status: {status}")
    verdict, reasons = blocking(release, "made-up-result-a", "made-up-result-b")
    affects = "second" if record_id.endswith("-b") else "both"
    assert verdict == "no"
    assert (dimension, "disputed, superseded or excluded", affects) in reasons
    caveat = f"It rests on a record that is {status}: {named}"
    budget = {row["result_id"]: row for row in ask(release, "inference-memory-budget")}
    assert caveat in str(budget["made-up-result-b"]["caveats"])
    stages = {row["result_id"]: row for row in ask(release, "optimisation-stages", model="model q")}
    assert f"{dimension}: disputed" in str(stages["made-up-result-b"]["not_comparable_because"])
    if affects == "both":
        speeds = {row["result_id"]: row for row in ask(release, "safe-throughput")}
        assert speeds["made-up-result-speed"]["safe"] == "no"
        assert f" is {status}" in str(speeds["made-up-result-speed"]["reasons"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("targets: [made-up-result-doubted]", "targets: [no-such-record]"),
        ("targets: [made-up-result-doubted]", "targets: [made-up-config-a]"),
        ("targets: [made-up-result-doubted]", "targets: [peak-memory]"),
        ("targets: [made-up-result-doubted]", "targets: []"),
        ("message: This one cell is printed twice with two values.", "message: null"),
        ("    - source_id: made-up-source\n", "    - unreadable\n    - source_id: made-up-source\n"),
    ],
    ids=["unknown target", "system", "metric", "no target", "no message", "unreadable"],
)
def test_the_page_and_the_answer_never_contradict(tmp_path: Path, old: str, new: str) -> None:
    release = changed(tmp_path, "made-up-source", old, new)
    stages = {row["result_id"]: row for row in ask(release, "optimisation-stages", model="model q")}
    for name in ("a", "b", "doubted", "of-doubted-protocol"):
        result = f"made-up-result-{name}"
        view = view_record(release, result)
        is_doubted = "no open concern" not in view.trust
        assert is_doubted == bool(view.concerns)
        _, reasons = blocking(release, result, "no-such-result")
        assert is_doubted == (("open concern", "an open concern stands against it", "first") in reasons)
        assert is_doubted == ("Open concern" in str(stages[result]["caveats"]))
        assert is_doubted == ("open concern: an open" in str(stages[result]["not_comparable_because"]))
    is_whole = "unreadable" in new or new in ("targets: [no-such-record]", "targets: []", "targets: [peak-memory]")
    assert bool(view_record(release, "made-up-result-b").concerns) == is_whole
    assert view_record(release, "made-up-result-of-doubted-protocol").concerns


def test_doubted_and_superseded_results_never_answer_silently(made_up: Release) -> None:
    rows = {
        str(row["result_id"]).removeprefix("made-up-result-"): row for row in ask(made_up, "inference-memory-budget")
    }
    assert sorted(rows) == [
        "a",
        "b",
        "doubted",
        "of-disputed",
        "of-disputed-data",
        "of-doubted-protocol",
        "quoted",
        "superseded",
        "unknown",
    ]
    assert rows["a"]["printed_value"] == "4.00"
    assert str(rows["doubted"]["caveats"]).startswith("Open concern (excluded from comparisons): This one cell")
    assert "This protocol is described in two ways" in str(rows["of-doubted-protocol"]["caveats"])
    assert rows["superseded"]["status"] == "Superseded"
    assert str(rows["superseded"]["caveats"]).startswith("Status Superseded")
    assert rows["a"]["caveats"] == "none recorded"
    assert {row["hardware"] for row in rows.values()} == {"1 | RTX 4090", "RTX 3090"}


def test_only_a_stated_unit_without_concern_is_safe(made_up: Release) -> None:
    rows = {str(row["result_id"]): (row["safe"], row["reasons"]) for row in ask(made_up, "safe-throughput")}
    assert rows == {
        "made-up-result-speed": ("yes", "none"),
        "made-up-result-speed-disputed-unit": ("no", "the unit is disputed"),
        "made-up-result-speed-no-unit": ("no", "the source states no unit"),
    }


def test_who_measured_is_not_known_of_a_quoted_figure(made_up: Release) -> None:
    rows = ask(made_up, "independent-results", task="memory")
    found = {str(row["result_id"]).removeprefix("made-up-result-"): row["measured_by_others"] for row in rows}
    assert found["a"] == "yes"
    assert found["quoted"] == "not known"
    assert "unknown" not in found  # author-reported
    assert "excluded" not in found


def test_a_stage_that_differs_in_nothing_is_told_so(made_up: Release) -> None:
    rows = {str(row["result_id"]): row for row in ask(made_up, "optimisation-stages", model="model q")}
    assert rows["made-up-result-a"]["not_comparable_because"] == "nothing by itself"
    assert rows["made-up-result-unknown"]["not_comparable_because"] == (
        'comparison.inputs: not known {"tokens":["few",null]} | comparison.aggregation: not known  Not Reported '
    )
    assert "unit" in str(rows["made-up-result-a"]["differs_from_its_neighbours_in"])


def test_nobody_is_guessed_to_be_human(made_up: Release) -> None:
    rows = {(row["reviewed_by"], row["independent_of_extractor"]): row for row in ask(made_up, "review-coverage")}
    assert {key: row["results"] for key, row in rows.items()} == {
        ("a reviewer not known to be a person or software", "yes"): "1",
        ("an automated reviewer", "yes"): "1",
        ("an automated reviewer", "no, the extractor is a reviewer"): "1",
        ("no review is recorded", "no review"): "12",
    }
    silent = rows["no review is recorded", "no review"]
    assert silent["why_no_review"] == "neither a review nor a reason is recorded"
    assert (silent["share"], silent["in_doubt"]) == ("80 %", "1")


def test_a_person_is_one_that_the_graph_says_is_one(made_up: Release) -> None:
    store = load_store(made_up.folder / GRAPH)
    graph = ox.NamedNode("https://example.org/made-up/graph/shared")
    person = ox.NamedNode("https://example.org/made-up/agent/jane-doe")
    store.add(ox.Quad(person, ox.NamedNode(RDF + "type"), ox.NamedNode(PROV + "Person"), graph))
    _, answer = run_query(store, find_question("review-coverage").text)
    found: dict[str, Any] = {row["reviewed_by"].value: row["results"].value for row in answer}
    assert found["a person"] == "1"
    assert "a reviewer not known to be a person or software" not in found


def test_reasons_as_values_are_found_wherever_they_stand(made_up: Release) -> None:
    found = {(row["record_id"], row["field"], row["value"]) for row in ask(made_up, "reasons-as-values")}
    assert ("made-up-data", "species", "n/a") in found
    assert ("made-up-protocol", "limitations", "None") in found
    assert ("made-up-eval-unknown", "comparison.aggregation", " Not Reported ") in found
    assert ("made-up-result-speed-no-unit", "unit", "unit-unreported") in found


def test_a_source_of_which_nothing_was_left_out_is_not_claimed(made_up: Release) -> None:
    rows = ask(made_up, "not-extracted")
    assert [(row["source_id"], row["statement"]) for row in rows] == [("made-up-source", None)]
    assert str(rows[0]["caveats"]).startswith("Nothing is recorded of what was left out")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        built = build_release(SEED, Path(scratch), at=AT).release
        assert built is not None
        for question_name in NAMES:
            text = json.dumps(ask(built, question_name), ensure_ascii=False, indent=1)
            (EXPECTED / f"{question_name}.json").write_text(text + "\n", encoding="utf-8")
