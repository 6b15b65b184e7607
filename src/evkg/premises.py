"""The premises of the rules: of all triples those that a rule can use, so that rules run on a small store.

What most of a record says, no rule asks for. What is kept is told from the text of the rules: by predicate, and
where every rule asks for more than that, by what it asks for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from evkg.axioms import Axioms, Closure, load_axioms
from evkg.errors import VocabularyError
from evkg.inference import TYPE, Rule, load_rules
from evkg.namespaces import EVKG
from evkg.patterns import Group, Pattern, is_open, read_patterns

_RECORD_ID: Final = f"<{EVKG}recordId>"
#: The mark of a node that has the id of a record as the value of this predicate.
_AN_ID: Final = "id"
#: What a node says that rules ask for: a predicate, and an object or `_AN_ID`.
_Mark = tuple[str, str]


@dataclass(slots=True)
class _Use:
    """Which triples of a predicate rules can use: all, or those for which one of the others holds.

    `values`: their object is one of these; `of_ids`: it is the id of a record; `marked_value`, `marked_subject`: the
    object or the subject is a node of the same record with one of these marks.
    """

    is_any: bool = False
    values: set[str] = field(default_factory=set)
    of_ids: bool = False
    marked_value: set[_Mark] = field(default_factory=set)
    marked_subject: set[_Mark] = field(default_factory=set)


@cache
def load_premises() -> Premises:
    """What the chains of the ontology and the rules of `queries/rules/` can use.

    Raises: VocabularyError: as `Premises`.
    """
    axioms = load_axioms()
    return Premises([*axioms.chains, *load_rules()], axioms)


class Premises:
    """Which triples the rules can use.

    A rule whose predicate is a variable asks in a GRAPH for what links to a thing of a record; else it is refused.

    >>> premises = Premises([Rule("a", 'CONSTRUCT { ?x evkg:p 1 } WHERE { ?x evkg:q ?y . ?y evkg:r "s" }')])
    >>> name = "https://w3id.org/evkg/ontology#"
    >>> own = [f'<urn:x> <{name}q> <urn:y>', f'<urn:y> <{name}r> "s"', f'<urn:y> <{name}r> "t"', "<urn:x> <urn:z> 1"]
    >>> [triple.split("#")[1] for triple in premises.of(own)]
    ['q> <urn:y>', 'r> "s"']

    Raises: VocabularyError: a rule is written in a way that `read_patterns` does not know.
    """

    def __init__(self, rules: Iterable[Rule], axioms: Axioms | None = None) -> None:
        self._uses: dict[str, _Use] = {}
        self._is_open = False
        read = [(rule, *read_patterns(rule)) for rule in rules]
        # A mark must be seen where the record is read, so nothing that may come out later is one.
        self._later = {TYPE}.union(
            name for _, head, _ in read for pattern in head.patterns for name in pattern.predicates
        )
        if axioms is not None:
            self._later.update(f"<{name}>" for pairs in (axioms.wider, axioms.inverse) for _, name in pairs)
            # What follows at once from the facts of chains must be known for new as well.
            heads = [pattern for rule, head, _ in read if rule in axioms.chains for pattern in head.patterns]
            near = Closure(axioms).of(f"<s> {pattern.predicates[0]} <o>" for pattern in heads)
            self._uses = {triple.split(" ")[1]: _Use(is_any=True) for triple in near}
        for rule, head, body in read:
            for pattern in head.patterns:
                self._add(rule, pattern, head, ())
            for group, around in body.walk():
                for name in group.names:
                    self._use(name).is_any = True
                for pattern in group.patterns:
                    self._add(rule, pattern, group, around)
        self._marks = {
            mark for use in self._uses.values() for marks in (use.marked_value, use.marked_subject) for mark in marks
        }

    def _use(self, predicate: str) -> _Use:
        return self._uses.setdefault(predicate, _Use())

    def _add(self, rule: Rule, pattern: Pattern, group: Group, around: Sequence[Group]) -> None:
        """Note what a pattern can match, given the groups whose patterns have to match as well."""
        for predicate in pattern.predicates:
            if is_open(predicate, around):
                if not group.is_named:
                    message = f"queries/rules/{rule.name}.rq: a predicate that is a variable must stand in a GRAPH."
                    raise VocabularyError(message)
                self._is_open = True
            if predicate.startswith("?"):
                continue  # the names that VALUES gives are noted as they stand
            use = self._use(predicate)
            if pattern.is_path:
                use.is_any = True
            elif (values := _values(pattern.value, around)) is not None:
                use.values |= values
            elif predicate != _RECORD_ID and _is_id(pattern.value, around):
                use.of_ids = True
            elif mark := self._mark(pattern.value, predicate, around):
                use.marked_value.add(mark)
            elif mark := self._mark(pattern.subject, predicate, around):
                use.marked_subject.add(mark)
            else:
                use.is_any = True

    def _mark(self, node: str, predicate: str, around: Sequence[Group]) -> _Mark | None:
        """What else a node must say wherever a pattern matches it."""
        for pattern in (pattern for group in around for pattern in group.patterns):
            name = pattern.predicates[0]
            if pattern.subject != node or pattern.is_path or name == predicate or name in self._later:
                continue
            if _is_plain(pattern.value) and not name.startswith("?"):
                return name, pattern.value
            if name != _RECORD_ID and _is_id(pattern.value, around):
                return name, _AN_ID
        return None

    def of(self, triples: Sequence[str], base: str = "", ids: Collection[str] = ()) -> list[str]:
        """Of the `s p o` texts of one graph those that rules can use. `ids` are those of all records there are."""
        marks: dict[str, set[_Mark]] = {}
        subjects: set[str] = set()
        things = f"<{base}id/"
        found: list[tuple[str, str, str, str, _Use]] = []
        kept: list[str] = []
        for triple in triples:
            subject, predicate, value = triple.split(" ", 2)
            subjects.add(subject)
            use = self._uses.get(predicate)
            if use is None:
                if self._is_open and value.startswith(things) and "#" not in value:
                    kept.append(triple)
                continue
            found.append((triple, subject, predicate, value, use))
            if (predicate, value) in self._marks:
                marks.setdefault(subject, set()).add((predicate, value))
            if (predicate, _AN_ID) in self._marks and value[1:-1] in ids:
                marks.setdefault(subject, set()).add((predicate, _AN_ID))
        for triple, subject, _, value, use in found:
            if (
                use.is_any
                or value in use.values
                or (use.of_ids and value[1:-1] in ids)
                or (use.marked_value and (value not in subjects or _meet(use.marked_value, marks.get(value))))
                or (use.marked_subject and _meet(use.marked_subject, marks.get(subject)))
                or (self._is_open and value.startswith(things) and "#" not in value)
            ):
                kept.append(triple)
        return kept

    def following(self, triples: Iterable[str]) -> list[str]:
        """Of the triples that follow from one triple each those that rules can use: what they say marks nothing."""
        kept = []
        for triple in triples:
            _, predicate, value = triple.split(" ", 2)
            use = self._uses.get(predicate)
            if use is not None and (
                use.is_any or use.of_ids or use.marked_value or use.marked_subject or value in use.values
            ):
                kept.append(triple)
        return kept


def _meet(wanted: set[_Mark], marks: set[_Mark] | None) -> bool:
    return marks is not None and not wanted.isdisjoint(marks)


def _is_plain(token: str) -> bool:
    """Whether a constant stands in the rule as it does in N-Triples: a name, or a text without escapes."""
    return token.startswith("<") or (token.startswith('"') and "\\" not in token)


def _values(token: str, around: Sequence[Group]) -> set[str] | None:
    """What a term of a pattern can be, if that can be told: itself, or what VALUES gives it."""
    values = {token}
    if token.startswith("?"):
        values = next((group.constants for group in around if token in group.listed), {token})
    return values if all(_is_plain(value) for value in values) else None


def _is_id(variable: str, around: Sequence[Group]) -> bool:
    """Whether a variable is the id of a record wherever the groups match."""
    patterns = (pattern for group in around for pattern in group.patterns)
    return any(pattern.predicates == (_RECORD_ID,) and pattern.value == variable for pattern in patterns)
