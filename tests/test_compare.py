"""What may be compared: the rules in the graph beside the thirteen steps in plain Python, and what is shown of it."""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from benchmarks.generate import Catalogue, write

from evkg.candidate import CONDITIONS
from evkg.compare import MOST, Comparison, compare
from evkg.errors import UsageError
from evkg.jsontext import NumberText
from evkg.namespaces import EVKG
from evkg.questions import find_question
from evkg.release import GRAPH, Release
from evkg.server import make_app
from tests.builds import (
    DOUBTED_RESULTS,
    REVIEWED,
    ROOT,
    SEED,
    THROUGHPUT_256,
    build_draft,
    record,
    run_evkg,
    write_records,
)
from tests.client import Client
from tests.thirteen_steps import FIELDS, Reason, Steps

RECORDS = ROOT / "tests" / "records" / "comparable"
PEERS = ROOT.parent / "shared" / "peer-records"


def i(name: str) -> str:
    return f"invented-result-{name}"


@pytest.fixture(scope="module")
def invented(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """The invented data set; what it says of unknown fields is no conforming record, so it is a draft."""
    return build_draft(RECORDS, tmp_path_factory.mktemp("comparable"))


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return build_draft(SEED, tmp_path_factory.mktemp("comparable-seeds"))


def steps_of(release: Release) -> Steps:
    records = {record_id: release.read(record_id) for record_id in release.record_ids}
    return Steps(records, set(release.vocabulary.schemes["metric"].concepts))


def results_of(release: Release) -> list[str]:
    return [
        row["id"]
        for row in release.select(
            "SELECT ?id { ?record evkg:recordId ?id ; foaf:primaryTopic/a evkg:Result } ORDER BY ?id"
        )
    ]


def reasons_of(answer: Comparison) -> set[Reason]:
    """The reasons in the form of the plain reading."""
    return {
        (reason.dimension, reason.kind, frozenset() if reason.kind in ("different", "too_few") else touched(reason))
        for reason in answer.reasons
    }


def touched(reason: Any) -> frozenset[str]:
    return frozenset(result for cause in reason.causes for result in cause.results)


def hold_against(release: Release, sets: Iterator[tuple[str, ...]] | list[tuple[str, ...]]) -> Counter[bool]:
    """Both readings of each set of ids; how many may be compared and how many not."""
    steps = steps_of(release)
    verdicts: Counter[bool] = Counter()
    for ids in sets:
        answer, expected = compare(release, ids), steps.reasons(ids)
        assert reasons_of(answer) == expected, ids
        assert answer.compatible == (not expected)
        verdicts[answer.compatible] += 1
    return verdicts


# ---- the rules, beside the thirteen steps ----


def test_every_pair_of_invented_results_is_judged_as_the_steps_say(invented: Release) -> None:
    verdicts = hold_against(invented, list(combinations(results_of(invented), 2)))
    assert verdicts[True] >= 20
    assert verdicts[False] > 2000


def test_triples_of_invented_results_are_judged_as_the_steps_say(invented: Release) -> None:
    random, ids = Random(1), results_of(invented)
    triples = [tuple(random.sample(ids, 3)) for _ in range(400)]
    near = [i(name) for name in ("base", "tie", "finer", "best", "fallback-a", "fallback-b", "none-qualifier")]
    assert hold_against(invented, [*triples, *combinations(near, 3)])[True] == 35


def test_pairs_of_seed_results_are_judged_as_the_steps_say(seeds: Release) -> None:
    assert hold_against(seeds, list(combinations(results_of(seeds), 2)))[True] == 0


@pytest.mark.skipif(not PEERS.is_dir(), reason="the peer records lie beside the repository and are not here")
def test_pairs_of_peer_results_are_judged_as_the_steps_say(tmp_path: Path) -> None:
    release = build_draft(PEERS, tmp_path)
    assert hold_against(release, list(combinations(results_of(release), 2)))[True] == 0


def test_a_generated_catalogue_is_judged_as_the_steps_say(tmp_path: Path) -> None:
    write(Catalogue(0.01, 5), tmp_path / "catalogue.jsonl")
    release = build_draft(tmp_path / "catalogue.jsonl", tmp_path / "out")
    random, ids = Random(2), results_of(release)
    hold_against(release, [tuple(random.sample(ids, 2 + n % 2)) for n in range(600)])


#: What a comparison field may say: mostly the same, then what looks like it, then all ways not to say it.
SAID: list[Any] = [
    *["the same"] * 12,
    "The same",
    "the same ",
    "1",
    NumberText("1"),
    NumberText("1.0"),
    NumberText("1e0"),
    True,
    "none",
    "Not applicable",
    "null",
    "[]",
    '{"a":null}',
    {"a": "x:null,y", "b": ["1", NumberText("2")]},
    {"b": ["1", NumberText("2.0")], "a": "x:null,y"},
    {"b": [NumberText("2"), "1"], "a": "x:null,y"},
    {"null": "a", "unknown": "[]", "x": '","'},
    ['a "quoted, unknown" word', "\\", 'ends with "'],
    "unknownish",
]
UNSAID: list[Any] = [
    None,
    "",
    " \t",
    "\u00a0\ufeff",
    "unknown",
    " UNKNOWN\n",
    "Not reported",
    "not_reported",
    "unreported",
    "unextracted",
    "Unavailable",
    [],
    {},
    {"a": None},
    {"a": []},
    ["x", {}],
    ["x", ["Unreported "]],
    {"a": {"b": ""}},
    ["\n\t"],
    ["not reported"],
    {"a": "x", "b": [NumberText("1"), "\u00a0unknown"]},
]


def generated(seed: int) -> list[dict[str, Any]]:
    """Records of which many agree in all dimensions but a few."""
    random = Random(seed)

    def link(relation: str, target: str) -> dict[str, str]:
        return {"relation": relation, "target_id": target}

    def one(usual: Any, *others: Any, share: float = 0.93) -> Any:
        return usual if random.random() < share else random.choice(others)

    concern = {"source_id": "doubted", "message": "odd"}
    records = [
        record("paper", "source", status="source_checked"),
        record("replaced", "source", status="superseded"),
        record(
            "doubted",
            "source",
            attributes={
                "evidence_concerns": [
                    {**concern, "targets": targets}
                    for targets in (["recall"], ["r-3"], ["e-4", "t-2"], [])[: 1 + seed % 4]
                ]
            },
        ),
        record(
            "settled", "source", attributes={"evidence_concerns": [{**concern, "resolved": {"reason": "explained"}}]}
        ),
        record(
            "typing-error",
            "source",
            attributes={
                "evidence_concerns": [{**concern, "targets": ["no-such-thing"]}, {**concern, "resolved": "yes"}]
            },
        ),
        *(
            record(f"d-{n}", "dataset" if n else "dataset_subset", status=one("source_checked", "disputed", share=0.8))
            for n in range(3)
        ),
        *(
            record(
                f"p-{n}",
                "protocol",
                status=one("source_checked", "superseded", "excluded", share=0.7),
                attributes={"profile": {"facts": [{"label": "x", "source_ids": [random.choice(["doubted", "paper"])]}]}}
                if n == 2
                else {},
            )
            for n in range(3)
        ),
        *(record(f"t-{n}", "task") for n in range(3)),
        *(record(f"s-{n}", "model", status=one("source_checked", "excluded", "disputed", share=0.8)) for n in range(3)),
    ]
    sources = ["replaced", "doubted", "settled", "typing-error"]
    for n in range(45):
        comparison = {field: one("the same", *SAID, *UNSAID) for field in FIELDS}
        comparison = {key: value for key, value in comparison.items() if random.random() < 0.98}
        if random.random() < 0.25:
            comparison["subset"] = one("hard", *SAID, *UNSAID, share=0.6)
        comparison["protocol_id"] = one("p-1", "p-0", "the same", *UNSAID, share=0.5)
        links = [link("system", f"s-{n % 3}"), link("assessment", one("p-1", "p-0", "p-2", "t-1", share=0.6))]
        links += [
            link("data", target)
            for target in one(["d-1"], ["d-1", "d-2"], ["d-2", "d-1"], ["d-0"], ["p-1"], ["gone"], [])
        ]
        links += [link("original_evaluation", "e-0")] if random.random() < 0.04 else []
        records.append(
            record(
                f"e-{n}",
                "evaluation",
                status=one("source_checked", "disputed", "superseded", "excluded", "discovered", share=0.9),
                source_ids=one(["paper"], *([s] for s in sources)),
                links=links,
                attributes={
                    "origin": one("independent_paper", "paper_compilation", "unreported"),
                    "comparison": one(comparison, {}, share=0.98),
                },
            )
        )
    for n in range(70):
        attributes = {
            "metric": one("accuracy", "recall", "Unknown", "a metric of its own", None),
            "unit": one("fraction", "percent", "unit-unreported", "Not Reported", None),
            "metric_direction": one("higher", "lower", "unknown", None),
            "printed_value": "0.5",
            "numeric_value": one("0.5", "1e-3", ".5", "1e400", "half", "0." + "1" * 30, "5.", None),
        }
        if random.random() < 0.3:
            attributes["metric_qualifier"] = one("none", "top-5", "unknown", "", " ", share=0.7)
        elif random.random() < 0.1:
            attributes["missing_metadata"] = {
                "metric_qualifier": {"reason": random.choice(["unreported", "inapplicable"])}
            }
        records.append(
            record(
                f"r-{n}",
                "result",
                status=one("source_checked", "reproduced", "discovered", "excluded"),
                source_ids=one(["paper"], *([s] for s in sources)),
                links=[link("evaluation", one(f"e-{n % 45}", "gone", "d-1", share=0.97))],
                attributes=attributes,
            )
        )
    return records


@pytest.mark.parametrize("seed", [0, 2, 3, 4, 5])
def test_generated_results_are_judged_as_the_steps_say(tmp_path: Path, seed: int) -> None:
    file = write_records(tmp_path / "records.jsonl", *generated(seed))
    release = build_draft(file, tmp_path / "out")
    random, ids = Random(seed), results_of(release)
    free = [
        row["id"]
        for row in release.select(
            "SELECT ?id { ?r evkg:recordId ?id ; foaf:primaryTopic/evkg:inComparisonGroup ?g } ORDER BY ?id"
        )
    ]
    sets = [tuple(random.choices([*ids, "no-such-id", "d-1"], k=1 + n % 4)) for n in range(300)]
    verdicts = hold_against(release, [*combinations(free, 2), *combinations(free[:8], 3), *sets])
    assert verdicts[True]
    assert verdicts[False]


def test_two_results_share_a_group_exactly_if_they_may_be_compared(invented: Release) -> None:
    rows = invented.select(
        "SELECT ?id ?group { ?r evkg:recordId ?id ; foaf:primaryTopic ?t . ?t a evkg:Result "
        "OPTIONAL { ?t evkg:inComparisonGroup ?group } }"
    )
    group = {row["id"]: row["group"] for row in rows}
    for one, other in combinations(sorted(group), 2):
        together = group[one] is not None and group[one] == group[other]
        assert compare(invented, [one, other]).compatible == together, (one, other)


def test_a_result_is_in_a_group_or_has_a_reason_and_never_both(invented: Release) -> None:
    both = "{ ?r evkg:inComparisonGroup ?g ; evkg:blockedBy ?b }"
    neither = "{ ?r a evkg:Result MINUS { ?r evkg:inComparisonGroup ?g } MINUS { ?r evkg:blockedBy ?b } }"
    several = "{ ?r evkg:inComparisonGroup ?g , ?h FILTER(?g != ?h) }"
    for pattern in (both, neither, several):
        assert invented.query(f"ASK {pattern}") is False


def test_a_reason_says_dimension_kind_and_record(invented: Release) -> None:
    rows = invented.select(
        "SELECT ?b (COUNT(DISTINCT ?k) AS ?n) { ?r evkg:blockedBy ?b . ?b a evkg:BlockingReason ; evkg:reasonKind ?k ; "
        "evkg:causedBy ?c ; evkg:blockedDimension ?d . ?k skos:notation ?key . ?c a evkg:Record . "
        "?d rdfs:label ?label } GROUP BY ?b"
    )
    assert {row["n"] for row in rows} == {1}
    assert len(rows) == len(invented.select("SELECT DISTINCT ?b { ?r evkg:blockedBy ?b }"))
    assert all(row["b"].startswith("https://w3id.org/evkg/record/invented-") for row in rows)


def test_a_group_has_all_its_dimensions(invented: Release) -> None:
    names = [f"group{''.join(part.capitalize() for part in condition.key.split('_'))}" for condition in CONDITIONS]
    rows = invented.select(
        f"SELECT ?g ?p ?v {{ ?g a evkg:ComparisonGroup ; ?p ?v FILTER(STRSTARTS(STR(?p), '{EVKG}group')) }}"
    )
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        found[row["g"]].add(row["p"].removeprefix(EVKG))
    members = invented.select("SELECT DISTINCT ?g { ?r evkg:inComparisonGroup ?g }")
    assert {row["g"] for row in members} == set(found)
    assert len(found) >= 6
    assert {frozenset(names), frozenset(names) - {"groupSubset"}} == set(map(frozenset, found.values()))


def test_the_protocol_may_come_from_the_assessment_and_this_is_said(invented: Release) -> None:
    answer = compare(invented, [i("base"), i("fallback-a")])
    assert answer.compatible
    assert [member.protocol_from_assessment for member in answer.members] == [None, "invented-protocol"]
    rows = invented.select("SELECT ?e { ?e evkg:fallbackProtocol ?p } ORDER BY ?e")
    assert [row["e"].rsplit("/", 1)[1] for row in rows] == ["invented-eval-fallback-a", "invented-eval-fallback-b"]


def test_what_is_derived_is_the_same_in_every_run(invented: Release, tmp_path: Path) -> None:
    again = build_draft(RECORDS, tmp_path)
    assert (again.folder / GRAPH).read_bytes() == (invented.folder / GRAPH).read_bytes()


def test_the_saved_question_gives_the_same_verdict_and_reasons(invented: Release) -> None:
    names = {"data": "data set", "numeric_value": "value", "evidence_concerns": "open concern", "origin": "origin"}
    names |= {"status": "status", "evaluation": "evaluation", "original_evaluation": "original evaluation"}
    states = {"evaluation": "the evaluation", "assessment": "the assessment", "data": "the data set"}
    states |= {"system": "the system", "source_ids": "a source"}

    def words(dimension: str, kind: str) -> str:
        if kind == "doubtful":
            return f"status of {states[dimension]}"
        if dimension in (*FIELDS, "subset"):
            return f"comparison.{dimension}"
        return names.get(dimension) or dimension.replace("_", " ")

    findings = {"not known": "unknown", "differs": "different"}
    question, random, ids = find_question("comparable"), Random(3), results_of(invented)
    for _ in range(40):
        one, other = random.sample(ids, 2)
        rows = invented.select(question.with_values({"first": one, "second": other}))
        answer = compare(invented, [one, other])
        assert rows[0]["finding"] == ("yes" if answer.compatible else "no")
        said = {(row["dimension"], findings.get(row["finding"], "blocks")) for row in list(rows)[1:]}
        assert said == {
            (words(str(r.dimension), r.kind), r.kind if r.kind in findings.values() else "blocks")
            for r in answer.reasons
        }, (one, other)


# ---- each dimension alone ----


@pytest.mark.parametrize("condition", [c for c in CONDITIONS if c.key != "subset"], ids=lambda c: c.key)
def test_one_difference_is_one_reason(invented: Release, condition: Any) -> None:
    answer = compare(invented, [i("base"), i(f"differs-{condition.key.replace('_', '-')}")])
    assert [(r.dimension, r.kind) for r in answer.reasons] == [(condition.key, "different")]
    assert i("base") in answer.reasons[0].text
    loosened = compare(invented, answer.ids, ignore=[condition.path])
    assert loosened.compatible
    assert loosened.ignored == (condition.key,)
    assert [r.dimension for r in loosened.ignored_reasons] == [condition.key]
    assert loosened.group is None


@pytest.mark.parametrize("condition", [c for c in CONDITIONS if c.key != "data"], ids=lambda c: c.key)
def test_one_unknown_is_one_reason(invented: Release, condition: Any) -> None:
    result = i(f"unknown-{condition.key.replace('_', '-')}")
    answer = compare(invented, [i("base"), result])
    assert [(r.dimension, r.kind) for r in answer.reasons] == [(condition.key, "unknown")]
    own = result if condition.of_result else result.replace("-result-", "-eval-")
    wanted = {own} | ({"invented-eval-a"} if condition.key == "subset" else set())
    assert {cause.record for cause in answer.reasons[0].causes} == wanted


@pytest.mark.parametrize(
    ("name", "dimension", "kind", "cause"),
    [
        ("no-number", "numeric_value", "no_number", i("no-number")),
        ("doubted", "evidence_concerns", "open_concern", "invented-paper"),
        ("warned", "evidence_concerns", "open_concern", "invented-paper"),
        ("citing-doubted", "evidence_concerns", "open_concern", "invented-doubted-paper"),
        ("guided", "evidence_concerns", "open_concern", "invented-doubted-paper"),
        ("unchecked", "status", "not_checked", i("unchecked")),
        ("disputed-assessment", "assessment", "doubtful", "invented-disputed-protocol"),
        ("superseded-data", "data", "doubtful", "invented-old-data"),
        ("disputed-system", "system", "doubtful", "invented-disputed-config"),
        ("disputed", "evaluation", "doubtful", "invented-eval-disputed"),
        ("superseded", "evaluation", "doubtful", "invented-eval-superseded"),
        ("excluded", "evaluation", "doubtful", "invented-eval-excluded"),
        ("on-retracted", "source_ids", "doubtful", "invented-retracted-paper"),
        ("compiled", "origin", "quoted", "invented-eval-compiled"),
        ("copied", "original_evaluation", "quoted", "invented-eval-copied"),
        ("no-data", "data", "missing", "invented-eval-no-data"),
        ("no-evaluation", "evaluation", "missing", i("no-evaluation")),
    ],
)
def test_each_obstacle_names_the_record_in_which_it_lies(
    invented: Release, name: str, dimension: str, kind: str, cause: str
) -> None:
    answer = compare(invented, [i("base"), i(name)], ignore=[condition.key for condition in CONDITIONS])
    found = {(r.dimension, r.kind): {c.record for c in r.causes} for r in answer.reasons}
    assert not answer.compatible
    assert found[dimension, kind] == {cause}
    assert all(member.rank is None for member in answer.members)


def test_a_concern_touches_the_metric_that_it_names_and_no_other(invented: Release) -> None:
    reasons = compare(invented, [i("base"), i("f1")]).reasons
    assert [(r.dimension, r.kind) for r in reasons] == [("evidence_concerns", "open_concern"), ("metric", "different")]
    assert "How F1 is averaged" in reasons[0].text


def test_a_settled_concern_blocks_nothing_and_its_history_stays(invented: Release) -> None:
    rows = invented.select(
        "SELECT ?by ?at ?why ?opened { ?c evkg:resolved ?r ; evkg:openedAtText ?opened . "
        "?r evkg:resolvedBy ?by ; evkg:resolvedAtText ?at ; evkg:resolvedReason ?why }"
    )
    assert [(r["by"], r["at"], r["opened"]) for r in rows] == [("An invented curator", "2026-03-01", "2026-02-01")]
    assert rows[0]["why"].startswith("The authors sent")
    assert compare(invented, [i("base"), i("best")]).compatible


# ---- the ids ----


def test_wrong_ids_are_reasons(invented: Release) -> None:
    assert [r.kind for r in compare(invented, []).reasons] == ["too_few"]
    assert [r.kind for r in compare(invented, [i("base")]).reasons] == ["too_few"]
    assert [r.kind for r in compare(invented, [i("base"), i("base")]).reasons] == ["repeated"]
    answer = compare(invented, ["invented-result-bas", "invented-data", i("base")])
    assert [r.kind for r in answer.reasons] == ["not_found", "not_a_result"]
    assert i("base") in answer.reasons[0].text
    assert "invented-data is a dataset" in answer.reasons[1].text
    assert [member.id for member in answer.members] == [i("base")]


def test_twenty_results_are_the_most(invented: Release) -> None:
    ids = results_of(invented)
    assert len(compare(invented, ids[:MOST]).members) == MOST
    with pytest.raises(UsageError, match="at most 20 results, not 21"):
        compare(invented, ids[: MOST + 1])


def test_only_conditions_can_be_ignored(invented: Release) -> None:
    with pytest.raises(UsageError, match=r"no condition 'buget' to ignore\. Did you mean budget"):
        compare(invented, [i("base"), i("tie")], ignore=["buget"])
    with pytest.raises(UsageError, match="no condition 'status'"):
        compare(invented, [i("base"), i("tie")], ignore=["status"])


# ---- numbers that know their precision ----


def ranks(answer: Comparison) -> dict[str, int | None]:
    return {member.id.removeprefix("invented-result-"): member.rank for member in answer.members}


def test_ties_at_printed_precision_are_ties(invented: Release) -> None:
    answer = compare(invented, [i(name) for name in ("base", "tie", "finer", "best")])
    assert ranks(answer) == {"base": 2, "tie": 3, "finer": 2, "best": 1}
    base = answer.members[0]
    assert base.ties == (i("tie"), i("finer"))
    assert [member.printed_value for member in answer.members] == ["0.87", "0.870", "0.873", "0.901"]
    assert [member.is_best for member in answer.members] == [False, False, False, True]


def test_lower_is_better_where_the_direction_says_so(invented: Release) -> None:
    answer = compare(invented, [i("gb-b"), i("gb-a")])
    assert ranks(answer) == {"gb-b": 2, "gb-a": 1}
    assert answer.members[0].caveats == ("the unit is inferred, not stated by the source",)


def test_overlapping_intervals_are_told_and_a_bound_has_no_rank(invented: Release) -> None:
    answer = compare(invented, [i(name) for name in ("interval-a", "interval-b", "interval-c", "bound")])
    assert ranks(answer) == {"interval-a": 2, "interval-b": 1, "interval-c": 3, "bound": None}
    assert [member.overlaps for member in answer.members] == [(i("interval-b"),), (i("interval-a"),), (), ()]
    assert any("intervals overlap" in note for note in answer.notes)
    assert answer.members[1].uncertainty == "± 0.02 (Standard deviation)"


@pytest.mark.parametrize(
    ("one", "other", "words"), [("gb-a", "gib-a", "GB and GiB"), ("samples", "tokens", "a sample holds many tokens")]
)
def test_units_that_look_alike_are_told_and_never_converted(
    invented: Release, one: str, other: str, words: str
) -> None:
    answer = compare(invented, [i(one), i(other)])
    assert [(r.dimension, r.kind) for r in answer.reasons] == [("unit", "different")]
    assert any(words in note for note in answer.notes)
    loosened = compare(invented, [i(one), i(other)], ignore=["unit"])
    assert loosened.compatible
    assert [member.rank for member in loosened.members] == [None, None]
    assert any("units differ" in note for note in loosened.notes)


def test_percent_and_fraction_stand_in_one_order_where_the_unit_is_ignored(invented: Release) -> None:
    ids = [i("base"), i("percent"), i("best"), i("percent-best")]
    assert [(r.dimension, r.kind) for r in compare(invented, ids).reasons] == [("unit", "different")]
    answer = compare(invented, ids, ignore=["unit"])
    assert ranks(answer) == {"base": 3, "percent": 3, "best": 1, "percent-best": 1}
    assert [member.printed_value for member in answer.members] == ["0.87", "87.3", "0.901", "90.1"]


def test_nothing_is_ranked_over_different_metrics_or_directions(invented: Release) -> None:
    for name, dimension in (("differs-metric", "metric"), ("differs-metric-direction", "metric_direction")):
        answer = compare(invented, [i("base"), i(name)], ignore=[dimension])
        assert answer.compatible
        assert [member.rank for member in answer.members] == [None, None]


def test_both_values_of_a_discrepancy_are_shown_and_claims_change_none(invented: Release) -> None:
    answer = compare(invented, [i("best"), i("base")])
    assert answer.members[0].printed_value == "0.901"
    assert answer.members[0].caveats == ("discrepancy in the source: Abstract prints 0.91, kept is 0.901",)


def test_a_unit_of_qudt_follows_only_where_the_unit_is_stated(invented: Release) -> None:
    rows = invented.select("SELECT ?r ?u { ?r <http://qudt.org/schema/qudt/unit> ?u }")
    assert [(r["r"].rsplit("/", 1)[1], r["u"].rsplit("/", 1)[1]) for r in rows] == [(i("gb-a"), "GigaBYTE")]


# ---- seeds ----


def test_a_unit_that_the_quoted_column_contradicts_is_noticed_as_evkg_s_own_remark(seeds: Release) -> None:
    answer = compare(seeds, [THROUGHPUT_256, REVIEWED])
    noticed = [[caveat for caveat in member.caveats if caveat.startswith("evkg noticed")] for member in answer.members]
    assert noticed == [["evkg noticed: the record quotes 'tokens/s', which is not its unit; nothing was converted"], []]


def test_no_seed_result_is_in_a_group_and_the_doubted_ones_say_why(seeds: Release) -> None:
    assert seeds.query("ASK { ?r evkg:inComparisonGroup ?g }") is False
    answer = compare(seeds, [REVIEWED, DOUBTED_RESULTS[0]])
    assert ("evidence_concerns", "open_concern") in {(r.dimension, r.kind) for r in answer.reasons}


# ---- verified links ----


def seen(release: Release) -> set[tuple[str, str]]:
    rows = release.select("SELECT ?from ?to { ?from evkg:seenFrom ?to }")
    return {(r["from"].rsplit("/invented-", 1)[1], r["to"].rsplit("/invented-", 1)[1]) for r in rows}


def test_results_are_seen_along_verified_links_only(invented: Release) -> None:
    assert seen(invented) == {
        ("config-a", "model-a"),
        ("config-a", "family"),
        ("config-a", "alias"),
        ("model-a", "family"),
        ("model-a", "alias"),
        ("alias", "model-a"),
        ("alias", "family"),
        ("protocol", "benchmark"),
        ("protocol", "task"),
    }


def test_a_result_stays_with_the_tested_system(invented: Release) -> None:
    rows = invented.select(
        "SELECT ?place { <https://w3id.org/evkg/id/invented-result-base> evkg:resultSeenFrom ?place } ORDER BY ?place"
    )
    places = [row["place"].rsplit("/invented-", 1)[1] for row in rows]
    assert places == ["alias", "benchmark", "family", "model-a", "task"]
    assert invented.query("ASK { ?r evkg:testedSystem <https://w3id.org/evkg/id/invented-family> }") is False
    assert invented.query("ASK { ?x owl:sameAs ?y }") is False


def test_a_verified_link_names_the_claim_that_states_it(invented: Release) -> None:
    rows = invented.select(
        "SELECT ?relation ?claim { ?l a evkg:VerifiedLink ; evkg:linkRelation ?relation ; evkg:verifiedBy ?claim } "
        "ORDER BY ?relation"
    )
    assert [row["relation"] for row in rows] == [
        "alias_of",
        "configuration_of",
        "evaluates_task",
        "family",
        "part_of",
        "uses_model",
    ]
    assert all("/invented-claim-" in row["claim"] for row in rows)


# ---- the command and the page ----


def test_the_command_answers_both_ways_with_exit_status_0(invented: Release) -> None:
    done = run_evkg("compare", i("base"), i("tie"), "--release", invented.folder, "--format", "json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["compatible"], answer["reasons"]) == (0, True, [])
    assert [member["rank"] for member in answer["members"]] == [1, 1]
    done = run_evkg("compare", i("base"), i("percent"), "--release", invented.folder)
    assert done.returncode == 0
    assert done.stdout.decode().startswith("comparable: no\n- Unit differs: ")
    done = run_evkg("compare", i("base"), i("percent"), "--ignore", "unit", "--release", invented.folder)
    assert done.stdout.decode().startswith("comparable: only with conditions left out\n")
    assert "LOOSENED, on request these need be neither known nor equal: unit" in done.stdout.decode()


def test_the_command_prints_a_table_best_first_where_results_may_be_compared(invented: Release) -> None:
    ids = [i(name) for name in ("base", "best", "tie")]
    done = run_evkg("compare", *ids, "--release", invented.folder, environment={"COLUMNS": "100"})
    lines = done.stdout.decode().splitlines()
    assert lines[2].split() == ["rank", "printed", "unit", "system", "result"]
    assert [line.split()[0] for line in lines[4:7]] == ["1", "2", "2"]
    assert lines[4].split()[:3] == ["1", "best", "0.901"]
    assert "  budget: 1 GPU hour" in lines
    assert any(i("base") in line and f"not to be told apart, as printed, from {i('tie')}" in line for line in lines)


def test_a_narrow_terminal_cuts_nothing_off(invented: Release) -> None:
    ids = [i(name) for name in ("interval-a", "interval-b")]
    done = run_evkg("compare", *ids, "--release", invented.folder, environment={"COLUMNS": "60"})
    table = done.stdout.decode().partition("\n\n")[2].partition("\n\n")[0].splitlines()
    assert all(len(line) <= 60 for line in table)
    column = "".join(line[table[0].index("result") :].strip() for line in table[2:])
    assert column == i("interval-b") + i("interval-a")


def test_without_ids_the_command_says_what_to_type(invented: Release) -> None:
    done = run_evkg("compare", "--release", invented.folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith("evkg: Name two to 20 results: evkg compare ID ID.")


def test_the_command_says_in_one_line_what_cannot_be(invented: Release) -> None:
    done = run_evkg("compare", *[i("base")] * 21, "--release", invented.folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == "evkg: A comparison takes at most 20 results, not 21.\n"


@pytest.fixture(scope="module")
def client(invented: Release) -> Iterator[Client]:
    client = Client(make_app(invented, public_url="http://evkg.example"))
    yield client
    client.close()


def test_the_route_gives_json_or_a_page(invented: Release, client: Client) -> None:
    address = f"/compare?id={i('base')}&id={i('percent')}"
    answer = client(address, "application/json")
    assert (answer.status_code, answer.json()["compatible"]) == (200, False)
    assert answer.json()["release"] == invented.id
    assert client(f"{address}&ignore=unit", "application/json").json()["ignored"] == ["unit"]
    page = client(address, "text/html").text
    assert "<h1>These results may not be compared</h1>" in page
    assert "Unit differs" in page
    assert "<h1>Compare results</h1>" in client("/compare", "text/html").text


def test_the_page_escapes_what_it_is_given(client: Client) -> None:
    page = client("/compare?id=%3Cscript%3Ealert(1)%3C/script%3E", "text/html").text
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("query", ["ignore=colour", "format=xml", "&".join(["id=x"] * 21)])
def test_a_wrong_request_is_a_400(client: Client, query: str) -> None:
    assert client(f"/compare?id={i('base')}&{query}").status_code == 400


def test_a_data_set_that_is_named_and_not_there_is_a_difference_that_nobody_can_see(tmp_path: Path) -> None:
    shutil.copytree(RECORDS, tmp_path / "graph")
    file = tmp_path / "graph" / "evaluations.yaml"
    text = file.read_text(encoding="utf-8")
    before = "- {relation: data, target_id: invented-data}\n"
    assert before in text
    file.write_text(text.replace(before, f"{before}- {{relation: data, target_id: gone}}\n", 1), encoding="utf-8")
    release = build_draft(tmp_path / "graph", tmp_path / "out")
    answer = compare(release, ["invented-result-base", "invented-result-finer"])
    assert not answer.compatible
    assert any("not every one that is named" in reason.text for reason in answer.reasons)
