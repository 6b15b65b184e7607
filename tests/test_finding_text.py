"""The report for people: grouped, at the line, in plain words, and nothing in it steers a terminal."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from evkg.finding_text import EXAMPLES_PER_RULE, Style, render_text, style_of
from tests.findings import LONG, ODD, finding, hostile


def test_the_report_in_text_groups_by_rule_and_says_once_what_all_say() -> None:
    many = [finding(rule="gap", file="a.yaml", line=n, record=f"r{n}", field="x", fix="Write it.") for n in (1, 2)]
    text = render_text([finding("violation", "syntax", file="b.yaml", line=9), *many], records=2)
    assert text == (
        "violation  syntax (1)\n"
        "  it is wrong\n"
        "\n"
        "  b.yaml:9\n"
        "\n"
        "warning  gap (2)\n"
        "  it is wrong\n"
        "  → Write it.\n"
        "\n"
        "  a.yaml:1  r1  x\n"
        "  a.yaml:2  r2  x\n"
        "\n"
        "2 records: 1 violation, 2 warnings, 0 infos"
    )


def test_what_differs_stands_with_each_finding() -> None:
    items = [finding(message=word, fix=f"Not {word}.", file="a.yaml", line=n) for n, word in enumerate("ab", 1)]
    text = render_text(items, records=2)
    assert "  a.yaml:1\n    a\n    → Not a.\n\n  a.yaml:2\n    b\n    → Not b.\n" in text


def test_five_thousand_findings_of_one_rule_are_a_short_report_and_full_lists_them() -> None:
    many = [finding("violation", "gap", file=f"{n % 9}.yaml", line=n) for n in range(5000)]
    text = render_text(many, records=5000)
    assert len(text.splitlines()) < 60
    assert f"… and {5000 - EXAMPLES_PER_RULE['violation']} more like these (--full lists all) in 0.yaml (555)" in text
    assert "3 more files" in text
    assert len(render_text(many, records=5000, full=True).splitlines()) > 5000


def test_what_keeps_records_from_being_read_comes_first() -> None:
    text = render_text([finding("violation", "gap", file="a", record="r"), finding("violation", "syntax", file="b")], 1)
    assert text.index("syntax") < text.index("gap")


def test_no_findings_is_one_line() -> None:
    assert render_text([], records=1) == "1 record: 0 violations, 0 warnings, 0 infos"


@pytest.mark.parametrize("full", [False, True])
def test_no_text_of_a_record_steers_the_terminal(full: bool) -> None:
    for line in render_text(hostile(), records=1, full=full, style=Style(width=80)).split("\n"):
        assert line.isprintable(), line
    assert "\x1b" not in render_text([finding(record=ODD)], records=1)


def test_a_message_of_two_lines_stays_two_lines() -> None:
    assert "  one\n  two\n" in render_text([finding(message="one\ntwo")], records=1)


def at_line(text: str, tmp_path: Path, withheld: frozenset[str] = frozenset(), **parts: object) -> str:
    file = tmp_path / "a.yaml"
    file.write_text(text, encoding="utf-8")
    item = finding(**{"file": str(file), "record": "r", "line": 2, "column": 3, **parts})  # type: ignore[arg-type]
    report = render_text([item], records=1, withheld=withheld)
    return "\n".join(line for line in report.split("\n") if "│" in line)


def test_the_line_as_written_is_shown_with_the_value_marked(tmp_path: Path) -> None:
    shown = at_line("attributes:\n  unit: 'GB'  # as printed\n", tmp_path, value="GB", field="attributes.unit")
    assert shown == "    2 │   unit: 'GB'  # as printed\n      │          ^^"


def test_carets_stand_under_wide_characters_too(tmp_path: Path) -> None:
    shown = at_line("attributes:\n  注記: 値 7\n", tmp_path, value="7", field="attributes.注記")
    assert shown.split("\n")[1].index("^") == len("    2 │   ") + 4 + 2 + 2 + 1


def test_of_a_missing_field_no_line_is_shown_since_none_says_it(tmp_path: Path) -> None:
    assert at_line("kind: x\n  attributes:\n", tmp_path, field="attributes.unit") == ""


def test_of_a_withheld_record_no_line_is_shown(tmp_path: Path) -> None:
    assert at_line("\n  unit: GB\n", tmp_path, frozenset({"r"}), value="GB") == ""
    assert at_line("\n  {id: a, status: excluded, unit: GB}\n", tmp_path, value="GB") == ""
    assert at_line("\n  [{kind: a, unit: GB}, {kind: b, unit: MB}]\n", tmp_path, value="GB") == ""


def test_a_finding_on_what_may_be_an_excluded_record_shows_no_line(tmp_path: Path) -> None:
    assert at_line("\n  unit: GB\n", tmp_path, record=None) == ""
    assert at_line("\n  unit: GB\n", tmp_path, rule="envelope", field="unit") == ""


def test_a_long_line_shows_the_part_that_is_meant(tmp_path: Path) -> None:
    text = f'{{"a": "{LONG}", "unit": "GB", "b": "{LONG}"}}\n'
    shown = at_line("\n" + text, tmp_path, column=text.index('"unit"') + 1, value="GB", field="unit").split("\n")
    assert len(shown[0]) < 140
    assert shown[0][shown[1].index("^") :].startswith("GB")


def test_a_terminal_gets_lines_that_fit_and_colour() -> None:
    item = finding("violation", message="word " * 60, fix="word " * 60, file="a.yaml", line=1, record="r" * 70)
    text = render_text([item], records=1, style=Style(colour=True, width=80))
    plain = re.sub(r"\x1b\[[\d;]*m", "", text)
    assert plain != text
    assert max(len(line) for line in plain.split("\n")) <= 80


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "90")
    assert style_of(Terminal()) == Style(colour=True, width=90)
    assert style_of(io.StringIO()) == Style(colour=False, width=None)
    monkeypatch.setenv("NO_COLOR", "")
    assert style_of(Terminal()).colour
    monkeypatch.setenv("NO_COLOR", "1")
    assert not style_of(Terminal()).colour
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not style_of(Terminal()).colour
