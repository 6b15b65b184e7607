"""The triple patterns of a rule, as far as one must know them to tell which triples it can use.

This reads the part of SPARQL that rules are written in; what it does not know it refuses, so that no pattern is
passed over in silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from evkg.errors import VocabularyError
from evkg.inference import TYPE, Rule
from evkg.namespaces import PREFIXES

_TOKEN: Final = re.compile(
    r"""(?P<skip>\s+|\#[^\n]*)
      | (?P<name><[^<>"{}|^`\\\s]*>)
      | (?P<variable>[?$][A-Za-z_]\w*)
      | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<prefixed>[A-Za-z][\w-]*:[\w.-]*\w|[A-Za-z][\w-]*:)
      | (?P<number>[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign>&&|\|\||!=|<=|>=|[\[\]{}().;,|/^*+?!=<>-])""",
    re.VERBOSE,
)
#: Words that may stand before, between and behind the triples of a group.
_WORDS: Final = frozenset("WHERE OPTIONAL MINUS UNION GRAPH FILTER BIND EXISTS NOT AS SELECT DISTINCT VALUES".split())
#: Words behind which no triple of a group follows.
_TAIL: Final = frozenset(["GROUP", "ORDER", "HAVING", "LIMIT", "OFFSET"])


@dataclass(frozen=True, slots=True)
class Pattern:
    """A triple pattern. Variables begin with `?`, names stand in `<>`; `predicates` are several only on a path."""

    subject: str
    predicates: tuple[str, ...]
    value: str
    is_path: bool = False


@dataclass(slots=True)
class Group:
    """A group of a query: its triple patterns, the groups in it, and the names it mentions otherwise.

    `listed`: variables that VALUES gives, and `constants` what it gives them; `is_select`: a SELECT of its own, where
    variables of the same name need not be the same; `is_named`: in a GRAPH.
    """

    patterns: list[Pattern] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    constants: set[str] = field(default_factory=set)
    is_select: bool = False
    is_named: bool = False

    def walk(self, around: tuple[Group, ...] = ()) -> Iterator[tuple[Group, tuple[Group, ...]]]:
        """Every group, with itself and those around it that its solutions are joined with."""
        here = (self,) if self.is_select else (self, *around)
        yield self, here
        for group in self.groups:
            yield from group.walk(here)


def read_patterns(rule: Rule) -> tuple[Group, Group]:
    """The head of a rule, and the group behind its WHERE.

    Source: SPARQL 1.1 Query, sections 19.8 (grammar), 5.2 (groups) and 9.1 (paths).

    Raises: VocabularyError: the rule is written in a way that is not known here.

    >>> head, body = read_patterns(Rule("a", "CONSTRUCT { ?x evkg:p 1 } WHERE { ?x evkg:q|evkg:r ?y ; a evkg:S }"))
    >>> [len(pattern.predicates) for pattern in body.patterns], head.patterns[0].value
    ([2, 1], '1')
    """
    reader = _Reader(rule)
    reader.until("{")
    head = reader.group()
    reader.until("{")
    return head, reader.group()


def touches(one: Rule, other: Rule) -> bool:
    """Whether it matters which of two rules runs first: one uses what the other gives.

    >>> first = Rule("a", "CONSTRUCT { ?x evkg:p ?y } WHERE { ?x evkg:q ?y }")
    >>> second = Rule("b", "CONSTRUCT { ?x evkg:r ?y } WHERE { ?x evkg:p ?y }")
    >>> touches(second, first), touches(first, Rule("c", "CONSTRUCT { ?x evkg:r ?y } WHERE { ?x evkg:s ?y }"))
    (True, False)
    """
    return feeds(one, other) or feeds(other, one)


def feeds(one: Rule, other: Rule) -> bool:
    """Whether a rule may give what another uses: they share a name, or the other asks for any predicate.

    >>> first = Rule("a", "CONSTRUCT { ?x evkg:p ?y } WHERE { ?x evkg:q ?y }")
    >>> second = Rule("b", "CONSTRUCT { ?x evkg:r ?y } WHERE { ?x evkg:p ?y }")
    >>> feeds(first, second), feeds(second, first)
    (True, False)
    """
    (given, _), (_, used) = _names(one), _names(other)
    return _ANY in used or not given.isdisjoint(used)


@lru_cache(maxsize=256)
def _names(rule: Rule) -> tuple[frozenset[str], frozenset[str]]:
    """The names in the head of a rule, and those behind it, `_ANY` for a predicate that can be any."""
    head, body = read_patterns(rule)
    used = {name for group, _ in body.walk() for name in group.names}
    for group, around in body.walk():
        for pattern in group.patterns:
            used.update(_named(pattern))
            used.update(_ANY for name in pattern.predicates if is_open(name, around))
    return frozenset(name for pattern in head.patterns for name in _named(pattern)), frozenset(used)


_ANY: Final = "?"


def _named(pattern: Pattern) -> Iterator[str]:
    """The names in a pattern, of classes and of properties; that something has a class is no name."""
    return (term for term in (*pattern.predicates, pattern.value) if term.startswith("<") and term != TYPE)


def is_open(predicate: str, around: Sequence[Group]) -> bool:
    """Whether a predicate is a variable to which no VALUES of the groups around it gives names."""
    return predicate.startswith("?") and not any(predicate in group.listed for group in around)


class _Reader:
    """Reads the tokens of one rule from first to last."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._prefixes = dict(PREFIXES)
        for name, iri in re.findall(r"(?m)^\s*PREFIX\s+([\w-]*):\s*<([^>]*)>", rule.query):
            self._prefixes[name] = iri
        self._tokens = [*self._read(rule.query)]
        self._at = 0

    def _read(self, text: str) -> Iterator[str]:
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._unknown(text[at : at + 20])
            at = found.end()
            if found.lastgroup == "prefixed":
                prefix, _, name = found.group().partition(":")
                yield f"<{self._prefixes.get(prefix, prefix + ':')}{name}>"
            elif found.lastgroup != "skip":
                yield found.group()

    def _unknown(self, what: str) -> VocabularyError:
        return VocabularyError(f"queries/rules/{self._rule.name}.rq: the patterns cannot be read at {what!r}.")

    def _next(self) -> str:
        if self._at == len(self._tokens):
            raise self._unknown("the end")
        self._at += 1
        return self._tokens[self._at - 1]

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def until(self, token: str) -> None:
        """Go on behind the next such token."""
        while self._next() != token:
            pass

    def group(self, *, is_named: bool = False) -> Group:
        """The group whose brace was just read."""
        group = Group(is_named=is_named)
        while (token := self._next()) != "}":
            word = token.upper()
            if token == "{":
                group.groups.append(self.group())
            elif word == "GRAPH":
                self._next()
                self.until("{")
                group.groups.append(self.group(is_named=True))
            elif word == "VALUES":
                self._values(group)
            elif token == "(":
                self._expression(group)
            elif word in _TAIL:
                group.is_select = True
                self._tail(group)
                return group
            elif word == "SELECT":
                group.is_select = True
                while self._peek() != "{" and self._peek().upper() != "WHERE":
                    self._expression(group) if self._next() == "(" else None
            elif word not in _WORDS and token != ".":
                self._at -= 1
                self._triples(group)
        return group

    def _tail(self, group: Group) -> None:
        """What follows GROUP BY and its like, to the end of the group."""
        while (token := self._next()) != "}":
            if token == "(":
                self._expression(group)

    def _expression(self, group: Group) -> None:
        """What stands in parentheses: names in it may be used as anything; EXISTS brings groups."""
        while (token := self._next()) != ")":
            if token == "(":
                self._expression(group)
            elif token == "{":
                group.groups.append(self.group())
            elif token.startswith("<") and token.endswith(">"):
                group.names.add(token)

    def _values(self, group: Group) -> None:
        while (token := self._next()) != "{":
            group.listed.add(token)
        while (token := self._next()) != "}":
            if token not in "()":
                group.constants.add(token)
            if token.startswith("<"):
                group.names.add(token)

    def _triples(self, group: Group) -> None:
        """One subject with its predicates and objects."""
        subject = self._term()
        while True:
            path = self._path()
            group.patterns.append(Pattern(subject, path[0], self._term(), path[1]))
            while self._peek() == ",":
                self._next()
                group.patterns.append(Pattern(subject, path[0], self._term(), path[1]))
            while self._peek() == ";":
                self._next()
            if self._tokens[self._at - 1] != ";":
                return

    def _path(self) -> tuple[tuple[str, ...], bool]:
        """The predicates of a path, and whether it is more than one predicate."""
        start = self._at
        found: list[str] = []
        while True:
            if self._peek() == "^":
                self._next()
            token = self._next()
            if not token.startswith(("<", "?")) and token != "a":
                raise self._unknown(token)
            found.append(TYPE if token == "a" else token)
            if self._peek() in ("*", "+"):
                self._next()
            if self._peek() not in ("|", "/"):
                return tuple(found), self._at - start > 1
            self._next()

    def _term(self) -> str:
        token = self._next()
        if token in ("true", "false") or token[0].isdigit() or (token[0] in "?<\"'" and len(token) > 1):
            return token
        raise self._unknown(token)
