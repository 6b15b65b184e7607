"""The book of rules is fresh, whole, and says what the shapes say."""

from __future__ import annotations

import ast
import os
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
from evkg.specimen import FOLDERS, MARK, Specimen, findings_on, in_words, mended, specimens
from tests.builds import ROOT

SHAPES = Shapes()
EXAMPLES = ROOT / "tests" / "records"


@pytest.fixture(scope="module")
def book() -> str:
    return render_rules(SHAPES, EXAMPLES)


def test_the_page_is_fresh(book: str) -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert page == book, "docs/rules.md is stale; renew it with: make docs"


def test_every_rule_of_a_shape_stands_in_it_once(book: str) -> None:
    rules = re.findall(r"^### (\S+)$", book, re.MULTILINE)
    assert len(rules) == len(set(rules))
    of_shapes = re.findall(r"^### (\S+)$", book.partition("## Rules without a shape")[0], re.MULTILINE)
    assert sorted(of_shapes) == sorted(file.stem for file in (EXAMPLES / "invalid").glob("*.yaml"))


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
    book = book.partition("## Rules without a shape")[0]
    right = re.findall(r"^(.*)  # right$", book, re.MULTILINE)
    assert len(right) > 200
    assert [line for line in right if line not in valid] == []
    pairs = re.findall(r"^(.*)  # (?:wrong|noted)\n(.*)  # right$", book, re.MULTILINE)
    assert [pair for pair in pairs if pair[0] == pair[1]] == []


def test_a_rule_without_an_example_is_told(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "records")
    (tmp_path / "records" / "invalid" / "result-unit.yaml").unlink()
    with pytest.raises(UsageError, match="The rule result-unit has no example"):
        write_rules(tmp_path / "records", tmp_path / "rules.md")


def test_it_is_written_from_the_command_line_and_is_the_same_each_time(tmp_path: Path, book: str) -> None:
    words = [sys.executable, "-m", "evkg.rulebook", str(EXAMPLES), str(tmp_path / "rules.md")]
    seed = {"PYTHONHASHSEED": "7" if os.environ.get("PYTHONHASHSEED") != "7" else "8"}
    subprocess.run(words, check=True, capture_output=True, timeout=240, env={**os.environ, **seed})
    assert (tmp_path / "rules.md").read_text(encoding="utf-8") == book


@pytest.fixture(scope="module")
def shown() -> dict[str, tuple[Specimen, ...]]:
    """Folder -> the specimens in it."""
    return {folder: specimens(EXAMPLES / folder, SHAPES) for folder in FOLDERS}


def test_every_rule_that_the_program_names_is_in_the_book(book: str) -> None:
    named = rules_in_sources()
    assert len(named) > 55
    in_book = set(re.findall(r"^### (\S+)$", book, re.MULTILINE))
    assert named - in_book == set()
    shapes = {file.stem for file in (EXAMPLES / "invalid").glob("*.yaml")}
    assert in_book - named - shapes == set(), "the book has a rule that nothing gives"


def test_a_rule_has_an_example_or_words_and_never_both(shown: dict[str, tuple[Specimen, ...]]) -> None:
    with_example = {one.rule for group in shown.values() for one in group}
    words = dict(in_words(EXAMPLES / "invalid-files"))
    assert with_example | set(words) == rules_in_sources()
    assert with_example & set(words) == set()
    assert all(text.startswith("A violation: ") and text.endswith(".") for text in words.values())


def test_an_example_tells_of_itself_and_its_mark_is_where_the_finding_is(
    shown: dict[str, tuple[Specimen, ...]],
) -> None:
    for one in (one for group in shown.values() for one in group):
        assert re.fullmatch(r"\S.*\.", one.example), one.rule
        assert one.why is None or re.fullmatch(r"[A-Z].*\.", one.why), one.rule
        file = one.path if one.path.is_file() else one.path / str(one.finding.file)
        lines = file.read_bytes().decode(errors="replace").split("\n")
        marked = [number for number, line in enumerate(lines, 1) if line.endswith(MARK)]
        assert marked in ([], [one.finding.line]), one.rule


@pytest.mark.long
def test_the_right_form_of_an_example_keeps_its_rule(shown: dict[str, tuple[Specimen, ...]]) -> None:
    every = [one for group in shown.values() for one in group]
    assert [one.rule for one in every if not one.mended] == []
    for one in every:
        with mended(one) as path:
            assert findings_on(path, one.rule, SHAPES) == [], one.rule


def test_an_example_that_keeps_its_rule_is_told(tmp_path: Path) -> None:
    text = (EXAMPLES / "invalid-files" / "envelope.yaml").read_text(encoding="utf-8")
    (tmp_path / "envelope.yaml").write_text(text.replace("modle", "model"), encoding="utf-8")
    with pytest.raises(UsageError, match=r"does not break the rule envelope\.$"):
        specimens(tmp_path, SHAPES)


def test_a_rule_without_a_shape_in_full(book: str) -> None:
    start = book.index("### unknown-relation\n")
    assert book[start : book.index("###", start + 3)] == (
        "### unknown-relation\n\n**Violation.** 'famly' is not a relation.\n\n"
        "What to write: Did you mean family?\n\nExample: A relation is misspelt.\n\n"
        "```text\n"
        "- {relation: famly, target_id: a-model}  # wrong\n"
        "- {relation: family, target_id: a-model}  # right\n"
        "```\n\n"
    )


#: Functions that give a finding its rule, under the name of the parameter.
_RULE = "rule"
#: Modules that only pass on the rules of others, or those of shapes.
_PASSING = {"validate", "verdict", "verdicts", "finding_text", "junit", "report", "sarif", "validation_page", "derive"}


def rules_in_sources() -> set[str]:
    """Every name of a rule that stands in the sources where a finding is made."""
    trees = {file.stem: ast.parse(file.read_text(encoding="utf-8")) for file in (ROOT / "src" / "evkg").glob("*.py")}
    places = {"Finding": 1}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                names = [argument.arg for argument in node.args.args if argument.arg != "self"]
                if _RULE in names and "message" in names:
                    places[node.name] = names.index(_RULE)
    named: set[str] = set()
    for module, tree in trees.items():
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
                    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
                    if name in places:
                        named |= _rules_of(call, places[name], function, module)
    return named


def _rules_of(call: ast.Call, place: int, function: ast.FunctionDef, module: str) -> set[str]:
    given = [keyword.value for keyword in call.keywords if keyword.arg == _RULE]
    if not given and len(call.args) > place and not any(isinstance(one, ast.Starred) for one in call.args):
        given = [call.args[place]]
    for value in given:
        branches = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        if isinstance(value, ast.Name):
            branches = [one for one in _assigned(value.id, function) if isinstance(one, ast.Constant)]
            is_passed_on = any(
                argument.arg == value.id for argument in ast.walk(function) if isinstance(argument, ast.arg)
            )
            assert branches or is_passed_on or module in _PASSING, f"{module}:{call.lineno} hides the name of its rule"
        names = {one.value for one in branches if isinstance(one, ast.Constant) and isinstance(one.value, str)}
        assert names or isinstance(value, ast.Name) or module in _PASSING, f"{module}:{call.lineno}"
        return names
    return set()


def _assigned(name: str, function: ast.FunctionDef) -> list[ast.expr]:
    """What a function assigns to a name, alone or in a row of names."""
    found: list[ast.expr] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id == name:
                    found.append(node.value)
                elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = zip(target.elts, node.value.elts, strict=True)
                    found += [value for one, value in pairs if isinstance(one, ast.Name) and one.id == name]
    return found
