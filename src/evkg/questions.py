"""Saved questions: SPARQL files whose header says in words what they ask and what can be set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Final

from evkg.errors import NotFoundError, UsageError, VocabularyError, excerpt
from evkg.sparql import Value, bind
from evkg.vocabulary import data_folder

#: `#+` lines are those of grlc, where they are YAML; the others are read here alone.
_HEADER: Final = re.compile(
    r"#\+?\s*(title|summary|question|description|tags|keywords|columns|caveat|param)\s*:\s*(?:>-)?(.*)"
)
#: grlc's name of a header line -> the name that it has here.
_GRLC: Final = {"summary": "title", "description": "question", "tags": "theme"}
#: How large the exponent of a number may be, and how many digits it may have: it is written out in a query.
_MOST_DIGITS: Final = 30
_PARAMETER: Final = re.compile(r"(\w+)\s+\((text|number|record|concept:[\w-]+)\)\s*(.*)")


@dataclass(frozen=True, slots=True)
class Parameter:
    """What can be set in a question: its name, kind (text, number, record, concept:SCHEME) and meaning."""

    name: str
    kind: str
    description: str
    default: str


@dataclass(frozen=True, slots=True)
class Question:
    """A saved question: a SPARQL query that runs as it stands, with its meaning in words."""

    name: str
    title: str
    question: str
    keywords: tuple[str, ...]
    caveats: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    text: str
    theme: str = ""

    def with_values(self, values: Mapping[str, str]) -> str:
        """The query with parameters set; what is not set keeps its default.

        Raises: UsageError: an unknown parameter, or a value that does not fit its kind.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        bound: dict[str, Value] = {}
        for name, text in values.items():
            if name not in known:
                names = ", ".join(known) or "none"
                raise UsageError(f"The question {self.name!r} has no parameter {name!r}; it has {names}.")
            bound[name] = _value(known[name], text)
        return bind(self.text, bound)


def _value(parameter: Parameter, text: str) -> Value:
    """A value as SPARQL wants it. Records and concepts are named by their ids, so a question knows no base IRI."""
    if parameter.kind == "number":
        try:
            number = Decimal(text)
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite() or max(abs(number.adjusted()), len(number.as_tuple().digits)) > _MOST_DIGITS:
            shown = excerpt(text, 60)
            raise UsageError(f"{parameter.name} must be a number such as {parameter.default}, not {shown!r}.")
        return number
    if parameter.kind == "text":
        return text
    # The key of a concept may hold signs, such as ndcg@10.
    if not re.fullmatch(
        r"[A-Za-z0-9][A-Za-z0-9._-]*" if parameter.kind == "record" else r"[A-Za-z0-9][^\s<>\"]*", text
    ):
        raise UsageError(f"{parameter.name} must be an id such as {parameter.default}, not {excerpt(text, 60)!r}.")
    return text


@cache
def load_questions(folder: Path | None = None) -> Mapping[str, Question]:
    """All saved questions by name (the name of the file), in the order of names.

    Raises: VocabularyError: a header lacks its title or its question.

    >>> "inference-memory-budget" in load_questions()
    True
    """
    files = sorted((folder or data_folder("queries") / "questions").glob("*.rq"), key=lambda path: path.stem)
    return {path.stem: read_question(path.stem, path.read_text(encoding="utf-8")) for path in files}


def find_question(name: str, folder: Path | None = None) -> Question:
    """The question of that name.

    Raises: NotFoundError: there is none; names the nearest.
    """
    questions = load_questions(folder)
    if name not in questions:
        raise NotFoundError(
            f"There is no question {name!r}.", tuple(get_close_matches(name, questions, n=3, cutoff=0.4))
        )
    return questions[name]


def read_question(name: str, text: str) -> Question:
    """The question of a file's text.

    >>> header = "#+ summary: T\\n#+ description: >-\\n#+   Q?\\n# param: most (number) at most\\n"
    >>> text = f"{header}SELECT * {{ VALUES ?most {{ 6 }} }}"
    >>> read_question("q", text).parameters[0].default
    '6'
    """
    found: dict[str, list[str]] = {}
    last: list[str] | None = None
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        match = _HEADER.match(line)
        if match:
            last = found.setdefault(_GRLC.get(match.group(1), match.group(1)), [])
            last.append(match.group(2).strip())
        elif last is not None:
            last[-1] = f"{last[-1]} {line.lstrip('#+ ').strip()}".strip()
    for key, shown in (("title", "summary"), ("question", "description")):
        if key not in found:
            raise VocabularyError(f"queries/questions/{name}.rq: the header lacks '#+ {shown}: …'.")
    return Question(
        name=name,
        title=found["title"][0],
        question=found["question"][0],
        keywords=tuple(word.strip() for word in ",".join(found.get("keywords", [])).split(",") if word.strip()),
        caveats=tuple(found.get("caveat", ())),
        parameters=tuple(_parameter(name, line, text) for line in found.get("param", ())),
        text=text,
        theme=", ".join(found.get("theme", ())).strip("[] "),
    )


def _parameter(name: str, line: str, text: str) -> Parameter:
    match = _PARAMETER.match(line)
    default = re.search(rf"VALUES\s+\?{match.group(1)}\s*\{{\s*(.*?)\s*\}}", text) if match else None
    if match is None or default is None:
        raise VocabularyError(f"queries/questions/{name}.rq: the parameter {line!r} has no 'VALUES ?name {{ … }}'.")
    value = default.group(1)
    return Parameter(match.group(1), match.group(2), match.group(3), value.strip('"'))
