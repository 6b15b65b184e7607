"""What is new and what is gone between two checks, whatever lines the findings stand in."""

from __future__ import annotations

from evkg.finding import Finding
from evkg.since import differences, render_since

ONE = Finding("warning", "gap", "Nothing is said.", record="r", file="a.yaml", line=3, column=1, fix="Say it.")


def test_another_line_is_no_difference() -> None:
    assert differences([ONE], [ONE._replace(line=9, column=4)]) == ([], [])


def test_two_that_are_alike_are_two() -> None:
    assert differences([ONE], [ONE, ONE._replace(line=8)]) == ([ONE._replace(line=8)], [])
    assert differences([ONE, ONE], [ONE]) == ([], [ONE])


def test_another_value_or_severity_is_another_finding() -> None:
    for other in (ONE._replace(value="x"), ONE._replace(severity="violation"), ONE._replace(message="Else.")):
        assert differences([ONE], [other]) == ([other], [ONE])


def test_the_new_ones_are_shown_in_full_and_the_counts_are_those_of_all() -> None:
    new = Finding("violation", "syntax", "A tab.", file="b.yaml", line=1, column=2, fix="Use spaces.")
    assert render_since([ONE], [ONE, new], 5) == (
        "Since the last check: 1 finding is new, nothing is gone.\n\n"
        "violation  syntax (1)\n  A tab.\n  → Use spaces.\n\n  b.yaml:1:2\n\n"
        "5 records: 1 violation, 1 warning, 0 infos\n"
    )


def test_many_that_are_gone_are_counted() -> None:
    many = [ONE._replace(record=f"r{n}") for n in range(30)]
    text = render_since(many, [], 5)
    assert text.count("  gone  ") == 12
    assert "  … and 18 more that are gone\n" in text
    assert "30 findings are gone." in text


def test_nothing_new_is_said() -> None:
    assert render_since([ONE], [ONE], 1).startswith(
        "Since the last check: nothing is new, nothing is gone.\n\n1 record: "
    )


def test_a_message_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in render_since([ONE._replace(message="a\x1b[2Jb")], [], 1)
