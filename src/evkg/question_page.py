"""The pages of the saved questions: the list by theme, and one question with its form and its answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from evkg.answer_layout import lay_out
from evkg.answer_table import AnswerTable
from evkg.pages import render_page
from evkg.problem import Problem
from evkg.questions import Parameter, Question
from evkg.service import Service
from evkg.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the form of a question: its parameter, the value in it, and what may be chosen (key and label)."""

    parameter: Parameter
    value: str
    options: tuple[tuple[str, str], ...] = ()


def group_by_theme(questions: Iterable[Question]) -> list[tuple[str, list[Question]]]:
    """Questions by theme, both in the order of the alphabet; those without a theme stand last, under the name Other."""
    themes: dict[str, list[Question]] = {}
    for question in questions:
        themes.setdefault(question.theme or "Other", []).append(question)
    ordered = sorted(themes, key=lambda name: (name == "Other", name))
    return [(name, sorted(themes[name], key=lambda item: item.title)) for name in ordered]


def find_in_questions(questions: Iterable[Question], words: str) -> list[Question]:
    """The questions that hold every word: in their name, title, question, keywords, caveats or theme; in any case.

    >>> from evkg.questions import load_questions
    >>> [question.name for question in find_in_questions(load_questions().values(), "gpu Budget")]
    ['inference-memory-budget']
    """
    wanted = words.casefold().split()
    return [question for question in questions if all(word in _searchable(question) for word in wanted)]


def _searchable(question: Question) -> str:
    texts = (question.name, question.title, question.question, question.theme, *question.keywords, *question.caveats)
    return " ".join(texts).casefold()


def kind_in_words(parameter: Parameter) -> str:
    """What a value of a parameter is.

    >>> kind_in_words(Parameter("unit", "concept:unit", "the unit", "gigabyte"))
    'a key of unit'
    """
    kind, _, scheme = parameter.kind.partition(":")
    return {"number": "a number", "text": "a text", "record": "the id of a record"}.get(kind) or f"a key of {scheme}"


def form_fields(question: Question, values: Mapping[str, str], vocabulary: Vocabulary) -> list[Field]:
    """The fields of the form of a question, with the values given or else the defaults."""
    return [
        Field(item, values.get(item.name, item.default), concept_options(item, vocabulary))
        for item in question.parameters
    ]


def concept_options(parameter: Parameter, vocabulary: Vocabulary) -> tuple[tuple[str, str], ...]:
    """Key and label of every concept that a parameter may be, by label; nothing for other kinds."""
    kind, _, name = parameter.kind.partition(":")
    scheme = vocabulary.schemes.get(name)
    if kind != "concept" or scheme is None:
        return ()
    found = [(concept.key, concept.label) for concept in scheme.concepts.values()]
    return tuple(sorted(found, key=lambda option: (option[1].casefold(), option[0])))


def question_address(question: Question, values: Mapping[str, str], suffix: str = "") -> str:
    """The address of a question with these values, below the root of the site.

    >>> from evkg.questions import find_question
    >>> question_address(find_question("inference-memory-budget"), {"most": "7"}, ".csv")
    '/questions/inference-memory-budget.csv?most=7'
    """
    return f"/questions/{question.name}{suffix}{f'?{urlencode(values)}' if values else ''}"


def render_questions(service: Service, found: Sequence[Question], words: str, total: int) -> str:
    """The page of the questions that were found, by theme."""
    return render_page(
        "questions.html", service.release, themes=group_by_theme(found), words=words, count=len(found), total=total
    )


def render_question(
    service: Service,
    question: Question,
    fields: Sequence[Field],
    values: Mapping[str, str],
    answer: AnswerTable | bool | None,
    problem: Problem | None,
    *,
    sort: str = "",
    is_slow: bool = False,
) -> str:
    """The page of a question: what it asks and leaves out, its form, the answer or what is wrong, and the query.

    `sort` is the order of the answer, as its address says it. `is_slow`: there is no answer, since it would have taken
    long.
    """
    suffixes = (("CSV", ".csv"), ("TSV", ".tsv"), ("JSON", ".json"), ("XML", ".xml"), ("the query", ".rq"))

    def sorted_by(order: str) -> str:
        return f"{question_address(question, {**values, 'sort': order})}#answer"

    return render_page(
        "question.html",
        service.release,
        question=question,
        fields=fields,
        kind_in_words=kind_in_words,
        answer=answer,
        layout=lay_out(answer, sorted_by, sort) if isinstance(answer, AnswerTable) else None,
        problem=problem,
        is_slow=is_slow,
        downloads=[(name, question_address(question, values, suffix)) for name, suffix in suffixes],
        address=f"{service.base}{question_address(question, values)}",
    )
