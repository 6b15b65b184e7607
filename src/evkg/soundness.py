"""What is wrong with the shapes themselves: shapes that check nothing, or something else than they seem to.

Validators pass over a predicate that they do not know, a class that nothing has, a shape that nothing refers to; a
misspelt shape then says that all is well. Here each of these is a fault, found before any record is looked at.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from evkg.errors import VocabularyError, excerpt
from evkg.namespaces import EVKG, RDF, SH, XSD
from evkg.shapes import PROFILE, Shapes
from evkg.vocabulary import data_folder

if TYPE_CHECKING:
    import pyoxigraph as ox

    Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple

#: What a shape may use beside the profile. Source: https://www.w3.org/TR/shacl/, Core and SPARQL.
_BESIDE_PROFILE: Final = frozenset(
    """
    BlankNode BlankNodeOrIRI BlankNodeOrLiteral IRIOrLiteral ConstraintComponent Parameter PrefixDeclaration
    PropertyGroup SPARQLAskValidator SPARQLConstraint SPARQLSelectValidator ask closed deactivated declare
    defaultValue description entailment flags group ignoredProperties labelTemplate languageIn name namespace
    nodeValidator oneOrMorePath optional order parameter prefix prefixes propertyValidator
    qualifiedValueShapesDisjoint select shapesGraph sparql targetNode targetObjectsOf targetSubjectsOf uniqueLang
    validator zeroOrMorePath zeroOrOnePath
    """.split()
)
#: Every term of SHACL that a shape may use.
TERMS: Final = PROFILE | _BESIDE_PROFILE

_TARGETS: Final = ("targetClass", "targetNode", "targetSubjectsOf", "targetObjectsOf")
_LISTS: Final = ("in", "or", "and", "xone", "languageIn")
_COUNTS: Final = ("minCount", "maxCount", "minLength", "maxLength", "qualifiedMinCount", "qualifiedMaxCount")
_ONCE: Final = (*_COUNTS, "datatype", "nodeKind", "severity", "path", *_LISTS)
#: Predicates that lead to shapes, or to a list of them.
_TO_SHAPES: Final = ("property", "node", "not", "qualifiedValueShape")
_TO_LISTS: Final = ("or", "and", "xone")
#: What says something about a shape, and constrains nothing.
_WORDS: Final = frozenset(
    {*_TARGETS, "path", "severity", "message", "name", "description", "order", "group", "defaultValue", "flags"}
)
_SEVERITIES: Final = frozenset(SH + word for word in ("Violation", "Warning", "Info"))
_DATATYPES: Final = frozenset(
    """
    string boolean decimal integer double float date time dateTime dateTimeStamp duration dayTimeDuration
    yearMonthDuration gYear gMonth gDay gYearMonth gMonthDay anyURI long int short byte nonNegativeInteger
    positiveInteger nonPositiveInteger negativeInteger unsignedLong unsignedInt unsignedShort unsignedByte language
    token normalizedString NMTOKEN Name NCName hexBinary base64Binary
    """.split()
)
#: How many faults an error names (count).
_NAMED: Final = 5


def check_shapes(shapes: Shapes, declared: Collection[str] | None = None) -> None:
    """Nothing, if the shapes are sound. `declared` are the IRIs of the ontology's terms; by default evkg's own.

    Raises: VocabularyError: they are not; names the first few faults.

    >>> check_shapes(Shapes())
    """
    faults = list(faults_of(shapes, declared_terms() if declared is None else declared))
    if faults:
        more = f" There are {len(faults) - _NAMED} more." if len(faults) > _NAMED else ""
        raise VocabularyError(f"The shapes in {shapes.folder} are broken: {'; '.join(faults[:_NAMED])}.{more}")


def declared_terms(folder: Path | None = None) -> frozenset[str]:
    """The IRIs that the ontology in a folder gives a type.

    >>> "https://w3id.org/evkg/ontology#Result" in declared_terms()
    True
    """
    import pyoxigraph as ox

    return frozenset(
        quad.subject.value
        for file in sorted((folder or data_folder("ontology")).rglob("*.ttl"))
        for quad in ox.parse(path=str(file), format=ox.RdfFormat.TURTLE)
        if quad.predicate.value == RDF + "type" and isinstance(quad.subject, ox.NamedNode)
    )


def faults_of(shapes: Shapes, declared: Collection[str]) -> Iterator[str]:
    """One line for each fault of the shapes, in the order of the files.

    Raises: VocabularyError: a file does not parse, or no shape has a target.
    """
    graph = _Graph(shapes)
    for subject, facts in graph.about.items():
        for predicate, values in facts.items():
            yield from _misspelt(graph.name(subject), predicate, values)
            yield from _undeclared(graph.name(subject), predicate, values, declared)
        yield from graph.faults_of_values(subject)
    yield from graph.faults_of_use()


def _name(term: Term) -> str:
    """A term as messages name it: the part behind the last # or /, so that it can be searched for in the files."""
    value = str(getattr(term, "value", term))
    return excerpt(re.split(r"[#/]", value)[-1] or value, 80)


def _misspelt(shape: str, predicate: str, values: list[Term]) -> Iterator[str]:
    for term in (predicate, *(str(getattr(value, "value", "")) for value in values)):
        name = term.removeprefix(SH)
        if term.startswith(SH[:-1]) and (not term.startswith(SH) or name not in TERMS):
            close = difflib.get_close_matches(name.rpartition("/")[2], TERMS, n=1)
            guess = f" (did you mean {close[0]}?)" if close else ""
            yield f"{shape} uses {excerpt(term, 80)}, which SHACL does not have{guess}"


def _undeclared(shape: str, predicate: str, values: list[Term], declared: Collection[str]) -> Iterator[str]:
    for value in values:
        iri = str(getattr(value, "value", ""))
        if iri.startswith(EVKG) and iri not in declared:
            close = difflib.get_close_matches(iri, declared, n=1)
            guess = f" (did you mean {_name_of(close[0])}?)" if close else ""
            what = _name_of(predicate)
            yield f"{shape} names {_name_of(iri)} under {what}, which the ontology does not declare{guess}"
        if predicate == SH + "datatype" and iri.startswith(XSD) and iri.removeprefix(XSD) not in _DATATYPES:
            yield f"{shape} asks for the datatype {_name_of(iri)}, which does not exist"


def _name_of(iri: str) -> str:
    return re.split(r"[#/]", iri)[-1]


class _Graph:
    """The triples of the shapes: subject -> predicate -> objects."""

    def __init__(self, shapes: Shapes) -> None:
        self.about: dict[Term, dict[str, list[Term]]] = {}
        self._owners: dict[Term, Term] = {}
        for triple in shapes.triples:
            self.about.setdefault(triple.subject, {}).setdefault(triple.predicate.value, []).append(triple.object)
            self._owners.setdefault(triple.object, triple.subject)

    def name(self, term: Term) -> str:
        """A shape as messages name it; one without a name by the shape that it is a part of."""
        import pyoxigraph as ox

        owner, steps = term, 0
        while isinstance(owner, ox.BlankNode) and owner in self._owners and steps < len(self._owners):
            owner, steps = self._owners[owner], steps + 1
        if isinstance(owner, ox.BlankNode):
            return "a shape without a name"
        return _name(owner) if owner == term else f"a part of {_name(owner)}"

    def _all(self, subject: Term, *names: str) -> list[Term]:
        facts = self.about.get(subject, {})
        return [value for name in names for value in facts.get(SH + name, ())]

    def _members(self, head: Term) -> list[Term] | None:
        """The members of a list; None where it does not end."""
        import pyoxigraph as ox

        members: list[Term] = []
        while head != ox.NamedNode(RDF + "nil"):
            facts = self.about.get(head, {})
            first, rest = facts.get(RDF + "first", []), facts.get(RDF + "rest", [])
            if len(first) != 1 or len(rest) != 1 or len(members) > len(self.about):
                return None
            members += first
            head = rest[0]
        return members

    def _inner(self, subject: Term) -> list[Term]:
        """The shapes that a shape refers to."""
        lists = (self._members(head) or [] for head in self._all(subject, *_TO_LISTS))
        return [*self._all(subject, *_TO_SHAPES), *(member for members in lists for member in members)]

    def faults_of_values(self, subject: Term) -> Iterator[str]:
        """What is wrong with the values of the constraints of one shape."""
        name = self.name(subject)
        for key in _ONCE:
            values = self._all(subject, key)
            if len(values) > 1:
                yield f"{name} has {len(values)} values for sh:{key}, where one may stand"
            for value in values if key in _LISTS else ():
                members = self._members(value)
                if members is None:
                    yield f"{name} has a list under sh:{key} that does not end"
                elif not members:
                    yield f"{name} has an empty list under sh:{key}"
            for value in values if key in _COUNTS else ():
                if not re.fullmatch(r"[0-9]+", str(getattr(value, "value", ""))):
                    yield f"{name} has sh:{key} {_name(value)}, which is no number of things"
        for low, high in (("minCount", "maxCount"), ("minLength", "maxLength")):
            bounds = [str(getattr(value, "value", "")) for value in self._all(subject, low, high)]
            if len(bounds) == 2 and all(map(str.isdecimal, bounds)) and int(bounds[0]) > int(bounds[1]):
                yield f"{name} has sh:{low} {bounds[0]} above sh:{high} {bounds[1]}"
        for value in self._all(subject, "severity"):
            if str(getattr(value, "value", "")) not in _SEVERITIES or "<" not in str(value):
                yield f"{name} has the severity {_name(value)}; it must be Violation, Warning or Info"
        for value in self._all(subject, "pattern"):
            yield from _pattern(name, str(getattr(value, "value", "")))
        if self._all(subject, "qualifiedValueShape") and not self._all(
            subject, "qualifiedMinCount", "qualifiedMaxCount"
        ):
            yield f"{name} has sh:qualifiedValueShape without a count, so it constrains nothing"

    def faults_of_use(self) -> Iterator[str]:
        """Shapes that are not there, are never used, check nothing or refer to themselves."""
        import pyoxigraph as ox

        shape_types = {SH + "NodeShape", SH + "PropertyShape"}
        used: dict[Term, None] = {}
        for subject in self.about:
            types = {str(getattr(value, "value", "")) for value in self.about[subject].get(RDF + "type", ())}
            if types & shape_types and any(iri.endswith(("owl#Class", "rdf-schema#Class")) for iri in types):
                yield f"{self.name(subject)} is a shape and a class at once; give the shape sh:targetClass instead"
            for key in _TO_SHAPES:
                for inner in self._all(subject, key):
                    yield from self._reference(subject, key, inner)
            for inner in self._inner(subject):
                used[inner] = None
                if self._leads_back(inner, subject):
                    yield f"{self.name(subject)} refers to itself"
            if self._all(subject, *_TARGETS):
                used[subject] = None
        for shape in used:
            facts = self.about.get(shape)
            if facts is None:
                if not isinstance(shape, ox.Literal):
                    yield f"{self.name(shape)} is referred to, but stands nowhere"
            elif not any(key.startswith(SH) and key.removeprefix(SH) not in _WORDS for key in facts):
                yield f"{self.name(shape)} constrains nothing"
        for subject, facts in self.about.items():
            types = {str(getattr(value, "value", "")) for value in facts.get(RDF + "type", ())}
            if types & shape_types and subject not in used:
                yield f"{self.name(subject)} has no target and nothing refers to it, so it is never checked"

    def _reference(self, subject: Term, key: str, inner: Term) -> Iterator[str]:
        import pyoxigraph as ox

        if isinstance(inner, ox.Literal):
            yield f"{self.name(subject)} has the text {_name(inner)!r} under sh:{key}, where a shape must stand"
        elif key == "property" and inner in self.about and not self._all(inner, "path"):
            yield f"{self.name(subject)} has a shape under sh:property that has no sh:path"

    def _leads_back(self, start: Term, goal: Term) -> bool:
        seen: set[Term] = set()
        waiting = [start]
        while waiting:
            shape = waiting.pop()
            if shape == goal:
                return True
            if shape not in seen:
                seen.add(shape)
                waiting += self._inner(shape)
        return False


def _pattern(name: str, pattern: str) -> Iterator[str]:
    try:
        re.compile(pattern)
    except re.error as error:
        yield f"{name} has the pattern {excerpt(pattern, 80)!r}, which cannot be read: {error}"
    if not pattern:
        yield f"{name} has an empty pattern, which every text matches"
