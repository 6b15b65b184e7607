"""The book of rules is fresh, whole, and says what the shapes say."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evkg.errors import UsageError
from evkg.namespaces import EVKG, NS, SH
from evkg.rulebook import render_rules, write_rules
from evkg.shapes import Shapes
from tests.builds import ROOT

EXAMPLES = ROOT / "tests" / "records"


@pytest.fixture(scope="module")
def book() -> str:
    return render_rules(Shapes(), EXAMPLES)


def test_the_page_is_fresh(book: str) -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert page == book, "docs/rules.md is stale; renew it with: make docs"


def test_every_rule_with_an_example_stands_in_it_once(book: str) -> None:
    rules = re.findall(r"^### (\S+)$", book, re.MULTILINE)
    assert sorted(rules) == sorted(file.stem for file in (EXAMPLES / "invalid").glob("*.yaml"))


def test_a_rule_in_full(book: str) -> None:
    shape = f"{NS}shapes#comparison-split-blank"
    message, fix = (Shapes().one(shape, predicate) for predicate in (SH + "message", EVKG + "fixHint"))
    start = book.index("### comparison-split-blank\n")
    assert book[start : book.index("###", start + 3)] == (
        f"### comparison-split-blank\n\n**Violation.** {message}\n\nWhat to write: {fix}\n\n"
        "Example: comparison.split is an empty text.\n\n"
        "```text\n"
        'split: ""  # wrong\n'
        "split: test  # right\n"
        "```\n\n"
    )


def test_a_field_that_is_missing_shows_only_the_right_line(book: str) -> None:
    start = book.index("### result-unit\n")
    assert "```text\nunit: unitless  # right\n```" in book[start : book.index("###", start + 3)]


def test_a_right_line_is_one_of_a_record_that_passes(book: str) -> None:
    valid = "".join(file.read_text(encoding="utf-8") for file in (EXAMPLES / "valid").glob("*.yaml"))
    right = re.findall(r"^(.*)  # right$", book, re.MULTILINE)
    assert len(right) > 200
    assert [line for line in right if line not in valid] == []
    pairs = re.findall(r"^(.*)  # (?:wrong|noted)\n(.*)  # right$", book, re.MULTILINE)
    assert [pair for pair in pairs if pair[0] == pair[1]] == []


def test_it_is_the_same_each_time(book: str) -> None:
    assert render_rules(Shapes(), EXAMPLES) == book


def test_a_rule_without_an_example_is_told(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "records")
    (tmp_path / "records" / "invalid" / "result-unit.yaml").unlink()
    with pytest.raises(UsageError, match="The rule result-unit has no example"):
        write_rules(tmp_path / "records", tmp_path / "rules.md")


def test_it_is_written_from_the_command_line(tmp_path: Path, book: str) -> None:
    words = [sys.executable, "-m", "evkg.rulebook", str(EXAMPLES), str(tmp_path / "rules.md")]
    subprocess.run(words, check=True, capture_output=True, timeout=60)
    assert (tmp_path / "rules.md").read_text(encoding="utf-8") == book
