from __future__ import annotations

from evkg.question_page import concept_options, find_in_questions, form_fields, group_by_theme, kind_in_words
from evkg.questions import Parameter, find_question, load_questions, read_question
from evkg.vocabulary import Vocabulary


def test_every_question_has_a_theme_and_stands_once() -> None:
    themes = group_by_theme(load_questions().values())
    assert [name for name, _ in themes] == [
        "Comparison",
        "Gaps",
        "Memory and speed",
        "Models and recipes",
        "Sources and links",
        "Trust",
    ]
    assert sorted(question.name for _, found in themes for question in found) == list(load_questions())


def test_a_question_without_a_theme_stands_last() -> None:
    plain = read_question("plain", "#+ summary: A\n#+ description: Why?\nASK { }")
    assert group_by_theme([plain, find_question("comparable")])[-1] == ("Other", [plain])


def test_questions_are_found_by_all_words_in_any_case() -> None:
    questions = load_questions().values()
    found = {question.name for question in find_in_questions(questions, "QUANTISATION accuracy")}
    assert found == {"quantisation-and-accuracy"}
    assert find_in_questions(questions, "no-such-word") == []
    assert len(find_in_questions(questions, "  ")) == len(questions)


def test_a_field_holds_what_was_given_or_else_its_default(vocabulary: Vocabulary) -> None:
    fields = form_fields(find_question("inference-memory-budget"), {"most": "7"}, vocabulary)
    assert [(field.parameter.name, field.value) for field in fields] == [
        ("most", "7"),
        ("unit", "gigabyte"),
        ("metric", "peak-memory"),
        ("stage", "inference"),
    ]
    assert ("gigabyte", "Gigabyte") in fields[1].options
    assert fields[3].options == ()


def test_every_default_can_be_chosen(vocabulary: Vocabulary) -> None:
    for question in load_questions().values():
        for parameter in question.parameters:
            keys = [key for key, _ in concept_options(parameter, vocabulary)]
            assert parameter.default in keys or not parameter.kind.startswith("concept:"), question.name


def test_kinds_are_told_in_words() -> None:
    kinds = ("number", "text", "record", "concept:metric")
    assert [kind_in_words(Parameter("a", kind, "", "")) for kind in kinds] == [
        "a number",
        "a text",
        "the id of a record",
        "a key of metric",
    ]
