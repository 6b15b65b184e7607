"""The text of a SPARQL query: its words, what it asks for, and values put into it.

Not a parser: Oxigraph parses. This reads only the lexical grammar, so that a query that would reach
the network is refused before any engine sees it, and an error can name line, column and prefix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from math import isfinite, isnan
from typing import Final, NamedTuple

from evkg.convert import quote_literal
from evkg.errors import QueryRefusedError, QuerySyntaxError, UsageError, excerpt
from evkg.namespaces import PREFIXES, XSD

#: Source: SPARQL 1.1, section 19.8 (terminals); order matters.
_TOKEN: Final = re.compile(
    r"""
    (?P<iri><(?:[^<>"{}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*>)
  | (?P<string>\"\"\"(?:(?:"|"")?(?:[^"\\]|\\.))*\"\"\"|'''(?:(?:'|'')?(?:[^'\\]|\\.))*'''
              |"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')
  | (?P<comment>\#[^\n\r]*)
  | (?P<variable>[?$]\w+)
  | (?P<pname>(?:[^\W\d_](?:[\w.-]*[\w-])?)?:(?:[\w:%\\-]|\\.)(?:(?:[\w.:%-]|\\.)*(?:[\w:%-]|\\.))?
            |(?:[^\W\d_](?:[\w.-]*[\w-])?)?:)
  | (?P<tag>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
  | (?P<blank>_:\w[\w.-]*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<space>\s+)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CODEPOINT: Final = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
#: The engine's way to say "any of these characters", in a list of what it expected.
_CHARACTER_CLASS: Final = re.compile(r"(, )?\[(?:'[^']*'|[^'\]])*\]")
_UPDATES: Final = frozenset({"INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY"})
_FORMS: Final = ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")

#: A value that can be put into a query: an IRI is written `<…>`, anything else is a literal.
Value = str | int | float | Decimal | bool


class Token(NamedTuple):
    """A word of a query and where it begins (characters from 0)."""

    kind: str
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Query:
    """A query that may be run: its text, its form and its scope."""

    text: str
    form: str  # SELECT, ASK, CONSTRUCT or DESCRIBE
    names_dataset: bool  # FROM or FROM NAMED is there, so the union of all graphs is not the default


def tokens(text: str) -> Iterator[Token]:
    """The words of a query, without space and comments.

    >>> [token.text for token in tokens('ASK { ?s rdfs:label "SERVICE" } # SERVICE')]
    ['ASK', '{', '?s', 'rdfs:label', '"SERVICE"', '}']
    """
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind != "space" and kind != "comment":
            yield Token(str(kind), match.group(), match.start())


@lru_cache(maxsize=512)
def read_query(text: str) -> Query:
    """The query of a text, checked for what evkg never does; the usual prefixes need no declaration.

    Source: SPARQL 1.1, section 19.2 (code point escapes are resolved before anything is read).

    Raises: QueryRefusedError: an update, or SERVICE. QuerySyntaxError: an unknown prefix, or no query.

    >>> read_query("SELECT * { ?s a evkg:Result }").form
    'SELECT'
    """
    words = list(tokens(text))
    names = [word.text.upper() for word in words if word.kind == "word"]
    resolved = _resolve(text)
    letters = resolved.upper()  # a text without the letters anywhere needs no second look
    if ("SERVICE" in letters and _calls_service(words)) or (resolved != text and _calls_service(tokens(resolved))):
        message = "SERVICE is refused: no query reaches another server from here. No prefix may hold the word either."
        raise QueryRefusedError(message)
    form = next((name for name in names if name in (*_FORMS, *_UPDATES)), None)
    if form in _UPDATES:
        raise QueryRefusedError(f"{form} is refused: the graph is read-only.")
    if form is None:
        raise QuerySyntaxError("This is not a query: it has no SELECT, ASK, CONSTRUCT or DESCRIBE.", 1, 1)
    known = {*_declared(words), *PREFIXES}
    for word in words:
        if word.kind == "pname" and (prefix := word.text.partition(":")[0]) not in known:
            line, column = place(text, word.offset)
            message = f"The prefix {excerpt(prefix)}: is not declared. Known without PREFIX: {', '.join(PREFIXES)}."
            message = f"Line {line}, column {column}: {message}"
            raise QuerySyntaxError(message, line, column, token=excerpt(word.text, 40), prefix=excerpt(prefix, 40))
    names_graphs = _names_dataset(words)
    for word in words:  # keywords are read in any case (section 19.8, note 1), but pyoxigraph 0.5.13 knows `true` only
        if word.kind == "word" and word.text.lower() in ("true", "false"):
            text = f"{text[: word.offset]}{word.text.lower()}{text[word.offset + len(word.text) :]}"
    return Query(text, str(form), names_graphs)


def names_dataset(text: str) -> bool:
    """Whether a query says with FROM or FROM NAMED which graphs it sees.

    >>> names_dataset("ASK FROM <urn:a> {}"), names_dataset("ASK { ?from ?p 'FROM' }")
    (True, False)
    """
    return _names_dataset(tokens(text))


def _names_dataset(words: Iterable[Token]) -> bool:
    return any(word.kind == "word" and word.text.upper().startswith("FROM") for word in words)


def _calls_service(words: Iterable[Token]) -> bool:
    """Whether SERVICE stands anywhere as a word, or could be read as one.

    Oxigraph 0.5.13 needs no space around keywords: `SERVICESILENT<…>`, `1e5SERVICE<…>`, `trueSERVICE<…>` and
    `SERVICEex:x` all call out (measured with a listening socket), so the word counts inside other words and
    inside prefixes too. `?a<?b)SERVICE?x#>` reads as one IRI or as the end of a filter, whichever the parser
    tries first; so an IRI that would hide the word behind a bracket counts as well.
    """
    return any("SERVICE" in _hiding_place(word).upper() for word in words)


def _hiding_place(word: Token) -> str:
    """The part of a word in which a parser might find a keyword."""
    if word.kind in ("word", "tag"):
        return word.text
    if word.kind == "pname":
        return word.text.partition(":")[0]
    return word.text.partition(")")[2] if word.kind == "iri" else ""


def _resolve(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = int(match.group(1) or match.group(2), 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else match.group()

    return _CODEPOINT.sub(character, text) if "\\" in text else text


def _declared(words: list[Token]) -> set[str]:
    """The prefixes that the query declares itself, also those that stand as `PREFIX x:`."""
    return {
        after.text.partition(":")[0]
        for before, after in pairwise(words)
        if before.kind == "word" and before.text.upper() == "PREFIX" and after.kind == "pname"
    }


def place(text: str, offset: int) -> tuple[int, int]:
    """(line, column) of a character of a text, from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def syntax_error(query: Query, message: str) -> QuerySyntaxError:
    """The engine's words on a query that it cannot parse, with the place in the text as given."""
    match = re.search(r"(\d+):(\d+)", message)
    if match is None:
        return QuerySyntaxError(excerpt(message))
    line, column = int(match.group(1)), int(match.group(2))
    words = excerpt(_CHARACTER_CLASS.sub("", " ".join(message[match.end() :].split())).strip(": ,"))
    if words in ("", "expected", "expected one of"):
        words = "this cannot be read as SPARQL"
    lines = query.text.split("\n")
    rest = "\n".join(lines[line - 1 :])[column - 1 :]
    token = next((excerpt(word.text, 80) for word in tokens(rest)), None)
    near = f", at {token!r}" if token else ", at the end"
    return QuerySyntaxError(f"Line {line}, column {column}{near}: {words}", line, column, token=token)


def term_text(value: Value) -> str:
    """A value as SPARQL writes it; text can never leave its quotes.

    >>> term_text("<https://w3id.org/evkg/id/gena-lm>"), term_text('a"b'), term_text(6)
    ('<https://w3id.org/evkg/id/gena-lm>', '"a\\\\"b"', '6')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        try:
            return str(value)
        except ValueError as error:  # Python writes no integer of more than 4300 digits
            raise UsageError("An integer that is bound has too many digits.") from error
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise UsageError(f"{value} is not a decimal number.")
        return f'"{value:f}"^^<{XSD}decimal>'
    if isinstance(value, float):
        text = repr(value) if isfinite(value) else "NaN" if isnan(value) else "INF" if value > 0 else "-INF"
        return f'"{text}"^^<{XSD}double>'
    if re.fullmatch(r'<[^<>"{}|^`\\\x00-\x20]*>', value):
        return value
    return quote_literal(value)


def bind(text: str, values: Mapping[str, Value]) -> str:
    """The query with variables bound to values.

    A query that says `VALUES ?name { … }` gets the value in each such place; any other gets a VALUES clause
    at the beginning of its pattern, so that the variable has this one value in it.

    Raises: UsageError: a name is no variable of the query, or stands only inside a subquery that does not
        hand it out; or a value is a number that cannot be written.

    >>> bind("SELECT * { VALUES ?most { 6 } ?s ?p ?o }", {"most": 8})
    'SELECT * { VALUES ?most { 8 } ?s ?p ?o }'
    >>> bind("ASK { { VALUES ?o { 1 } ?s ?p ?o } UNION { VALUES ?o { 1 } ?o ?p ?s } }", {"o": 2})
    'ASK { { VALUES ?o { 2 } ?s ?p ?o } UNION { VALUES ?o { 2 } ?o ?p ?s } }'
    >>> bind("ASK { ?s ?p ?o }", {"o": "x"})
    'ASK { VALUES ?o { "x" } ?s ?p ?o }'
    """
    for name, value in values.items():
        words = list(tokens(text))
        if not any(word.kind == "variable" and word.text[1:] == name for word in words):
            known = sorted({word.text[1:] for word in words if word.kind == "variable"})
            raise UsageError(f"The query has no variable {name!r}; it has {', '.join(known)}.")
        spans = [*_values_spans(words, name)]
        if not spans and not _is_visible(words, name):
            hint = f"Select it there, or write VALUES ?{name} {{ … }} where it is to hold."
            raise UsageError(f"{name!r} stands only inside a subquery that does not select it. {hint}")
        if not spans and (begin := _pattern_start(words)) is not None:
            spans.append(begin)
        if not spans:
            raise UsageError(f"The query has no pattern to bind {name!r} in.")
        body = term_text(value)
        for start, end, wrap in reversed(spans):  # what comes before keeps its place
            text = f"{text[:start]}{f' VALUES ?{name} {{ {body} }}' if wrap else f' {body} '}{text[end:]}"
    return text


def _values_spans(words: list[Token], name: str) -> Iterator[tuple[int, int, bool]]:
    """Where the data of each `VALUES ?name { … }` stand, between its braces."""
    for index, word in enumerate(words[:-3]):
        variable, opening = words[index + 1], words[index + 2]
        if word.text.upper() == "VALUES" and variable.text[1:] == name and opening.text == "{":
            closing = next((w for w in words[index + 3 :] if w.text == "}"), None)
            if closing:
                yield opening.offset + 1, closing.offset, False


def _is_visible(words: list[Token], name: str) -> bool:
    """Whether a variable stands outside of all subqueries, or is handed out by the one in which it stands.

    Source: SPARQL 1.1, section 18.2.1 (variable scope).
    """
    at = 0
    while at < len(words):
        if words[at].text == "{" and words[at + 1 : at + 2] and words[at + 1].text.upper() == "SELECT":
            end = _closing(words, at)
            if _hands_out(words[at + 2 : end], name):
                return True
            at = end
        elif words[at].kind == "variable" and words[at].text[1:] == name:
            return True
        at += 1
    return False


def _closing(words: list[Token], opening: int) -> int:
    """The index of the brace that closes the one at `opening`; behind the last word where there is none."""
    level = 0
    for index in range(opening, len(words)):
        level += (words[index].text == "{") - (words[index].text == "}")
        if level == 0:
            return index
    return len(words)


def _hands_out(words: list[Token], name: str) -> bool:
    """Whether a subquery, given behind its SELECT, selects a variable."""
    level = 0
    for before, word in pairwise([Token("word", "SELECT", 0), *words]):
        if word.text == "{" or word.text.upper() == "WHERE":
            return False
        if word.text == "*" and level == 0:
            return _is_visible(words[words.index(word) + 1 :], name)
        level += (word.text == "(") - (word.text == ")")
        if word.kind == "variable" and word.text[1:] == name and (level == 0 or before.text.upper() == "AS"):
            return True
    return False


def _pattern_start(words: list[Token]) -> tuple[int, int, bool] | None:
    """Behind the first brace of the query's pattern; of CONSTRUCT, behind that of WHERE."""
    start = next((i for i, word in enumerate(words) if word.kind == "word" and word.text.upper() == "WHERE"), 0)
    brace = next((word for word in words[start:] if word.text == "{"), None)
    return (brace.offset + 1, brace.offset + 1, True) if brace else None
