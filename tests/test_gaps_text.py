"""The picture of completeness in a terminal, and its CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evkg.gaps import STATES, Gaps, Tally, count_gaps
from evkg.gaps_text import gaps_csv, gaps_json, render_gaps, share_words
from tests.builds import SEED, run_evkg

tallies = st.builds(Tally, **{state: st.integers(0, 10**6) for state in STATES})


def one(tally: Tally, *, required: bool = False) -> Gaps:
    return Gaps(7, {("model", "licence"): tally}, {("model", "licence"): required})


def test_the_picture_of_the_seeds() -> None:
    lines = render_gaps(count_gaps(SEED), "kind").splitlines()
    assert lines[0] == "# has a value   : none, and a reason is given   ? nothing is said"
    start = lines.index("source")
    assert lines[start : start + 5] == [
        "source",
        "  doi                 ????????????????????   none of 1",
        "    1 with nothing said, 1 inapplicable (left out)",
        "  licence             ::::::::::??????????   none of 2",
        "    1 with nothing said, 1 unavailable",
    ]
    assert lines[-1] == "49 records, 393 expected fields: 118 values, 153 reasons, 122 with neither"


@pytest.mark.parametrize("by", ["kind", "field", "source"])
def test_it_fits_80_columns_and_colour_changes_no_character(by: str) -> None:
    gaps = count_gaps(SEED)
    plain = render_gaps(gaps, by)  # type: ignore[arg-type]
    assert max(map(len, plain.splitlines())) <= 80
    coloured = render_gaps(gaps, by, colour=True)  # type: ignore[arg-type]
    assert coloured != plain
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


@given(tallies)
def test_a_bar_is_whole_and_shows_all_that_there_is(tally: Tally) -> None:
    if not tally.all:
        assert one(tally).rows("kind") == []
        return
    text = render_gaps(one(tally), "kind").splitlines()
    bar = re.search(r"licence  ([#:? ]{20})", text[3])
    assert bar is not None
    reasons = tally.known_gaps - tally.inapplicable
    counts = {"#": tally.value, ":": reasons, "?": tally.nothing}
    assert {key for key in bar[1] if key != " "} == {key for key, number in counts.items() if number}
    assert (" " in bar[1]) == (tally.all == tally.inapplicable)


@given(tallies)
def test_a_share_is_never_rounded_to_none_or_to_all(tally: Tally) -> None:
    words = share_words(tally)
    assert (words == "n/a") == (tally.share is None)
    assert (words == "0 %") == (tally.share == 0)
    assert (words == "100 %") == (tally.share == 1)


def test_a_gap_never_looks_like_a_zero() -> None:
    text = render_gaps(one(Tally(nothing=3)), "kind")
    assert "none of 3" in text
    assert "0" not in text.splitlines()[3]
    assert "does not apply" in render_gaps(one(Tally(inapplicable=3)), "kind")


def test_a_required_field_without_a_word_is_marked() -> None:
    assert "3 with nothing said (required)" in render_gaps(one(Tally(nothing=3), required=True), "kind")
    assert "(required)" not in render_gaps(one(Tally(unreported=3), required=True), "kind")


def test_what_is_worst_comes_first() -> None:
    names = {"best": Tally(value=4), "silent": Tally(value=3, nothing=1), "explained": Tally(unreported=4)}
    gaps = Gaps(4, {("model", key): tally for key, tally in names.items()}, {("model", key): False for key in names})
    lines = render_gaps(gaps, "kind").splitlines()
    assert [line.split()[0] for line in lines if re.match(r"  \w", line)] == ["silent", "explained", "best"]


def test_a_name_cannot_steer_the_terminal() -> None:
    gaps = Gaps(1, sources={"s": Tally(nothing=1)}, names={"s": "a\x1b[31m\nb" + "x" * 100})
    text = render_gaps(gaps, "source")
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_csv_and_json_say_the_same() -> None:
    gaps = count_gaps(SEED)
    rows = list(csv.DictReader(io.StringIO(gaps_csv(gaps.rows("kind"), "kind"))))
    document = json.loads(gaps_json(gaps, "kind"))
    assert document["records"] == 49
    assert document["total"]["nothing"] == 122
    as_text = [{key: "" if value is None else str(value) for key, value in row.items()} for row in document["rows"]]
    assert rows == as_text
    assert rows[0] == {
        **dict.fromkeys(STATES, "0"),
        "kind": "claim",
        "field": "field",
        "required": "True",
        "all": "3",
        "value": "3",
        "share": "1.0",
    }


def test_the_command() -> None:
    run = run_evkg("gaps", SEED, "--by", "source", "--format", "csv")
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.decode().splitlines()[0].strip() == (
        "source,name,all,value,unreported,unextracted,unavailable,conflicting,inapplicable,other,nothing,share"
    )
    wrong = run_evkg("gaps", "nothing-here")
    assert wrong.returncode == 2
    assert b"Traceback" not in wrong.stderr
    assert len(wrong.stderr.splitlines()) == 1
