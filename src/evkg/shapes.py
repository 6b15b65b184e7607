"""The shapes: their text for validators, what they say of themselves, and the profile they keep to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from evkg.errors import VocabularyError
from evkg.namespaces import RDF, RDFS, SH, SKOS
from evkg.vocabulary import data_folder

if TYPE_CHECKING:
    import pyoxigraph as ox

#: The terms of SHACL that shapes may use: all that both validators read in the same way.
#: Left out on purpose: SPARQL, flags of patterns, custom severities, other targets than classes.
PROFILE: Final = frozenset(
    """
    NodeShape PropertyShape Violation Warning Info IRI Literal targetClass path inversePath alternativePath
    property severity message node and or not xone in hasValue class datatype nodeKind minCount maxCount
    minLength maxLength pattern minInclusive maxInclusive minExclusive maxExclusive equals disjoint lessThan
    lessThanOrEquals qualifiedValueShape qualifiedMinCount qualifiedMaxCount
    """.split()
)
#: What a pattern may not contain: the validators' regular expressions differ there.
_PATTERN_TRAPS: Final = ("(?", "\\1", "\\2", "\\b", "\\B")


class Result(NamedTuple):
    """One result of a SHACL report, as IRIs and texts; `path` only when it is one property."""

    focus: str
    path: str | None
    value: str | None
    value_is_iri: bool
    shape: str
    component: str
    severity: str
    message: str

    def order(self) -> tuple[str, ...]:
        """A key for sorting: every part as text."""
        is_iri = "True" if self.value_is_iri else "False"
        where = (self.focus, str(self.path), str(self.value), is_iri)
        return (*where, self.shape, self.component, self.severity, self.message)


class Shapes:
    """The shapes of a folder.

    >>> Shapes().one("https://w3id.org/evkg/shapes#result-unit", "https://w3id.org/evkg/ontology#completes")
    'https://w3id.org/evkg/ontology#unit'
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder if folder is not None else data_folder("shapes")

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The files of the folder in a fixed order."""
        return tuple(sorted(self.folder.glob("*.ttl")))

    @cached_property
    def triples(self) -> tuple[ox.Triple, ...]:
        """The triples of all files; blank nodes of different files never meet.

        Raises: VocabularyError: a file does not parse, or nothing would be checked.
        """
        import pyoxigraph as ox

        found: list[ox.Triple] = []
        for file in self.files:
            try:
                quads = ox.parse(path=str(file), format=ox.RdfFormat.TURTLE, rename_blank_nodes=True)
                found.extend(quad.triple for quad in quads)
            except (SyntaxError, ValueError, OSError) as error:
                raise VocabularyError(f"{file}: {error}") from error
        if not any(triple.predicate.value == SH + "targetClass" for triple in found):
            raise VocabularyError(f"{self.folder} holds no shape with a target: nothing would be checked.")
        return tuple(found)

    @cached_property
    def prefixes(self) -> Mapping[str, str]:
        """Prefix -> namespace, as the files declare them; of two with one prefix the last."""
        import pyoxigraph as ox

        found: dict[str, str] = {}
        for file in self.files:
            parser = ox.parse(path=str(file), format=ox.RdfFormat.TURTLE, base_iri=file.absolute().as_uri())
            for _ in parser:
                pass
            found |= parser.prefixes
        return found

    @cached_property
    def ntriples(self) -> str:
        """All shapes as N-Triples."""
        import pyoxigraph as ox

        return (ox.serialize(self.triples, format=ox.RdfFormat.N_TRIPLES) or b"").decode()

    @cached_property
    def sha256(self) -> str:
        """A hash of the bytes of all files (64 hex digits)."""
        digest = hashlib.sha256()
        for file in self.files:
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
        return digest.hexdigest()

    @cached_property
    def _named(self) -> Mapping[tuple[str, str], str]:
        return {
            (triple.subject.value, triple.predicate.value): getattr(triple.object, "value", "")
            for triple in self.triples
            if not isinstance(triple.subject, _triple_type()) and hasattr(triple.subject, "value")
        }

    def one(self, shape: str, predicate: str) -> str | None:
        """The value of a property of a shape, if it has one."""
        return self._named.get((shape, predicate))

    @cached_property
    def wanted_classes(self) -> Mapping[str, str]:
        """Rule -> IRI of the class that what it looks at must belong to, where a rule is an `sh:or` over an `sh:class`.

        >>> Shapes().wanted_classes["result-evaluation-kind"]
        'https://w3id.org/evkg/ontology#Evaluation'
        """
        by_predicate: dict[str, dict[str, str]] = {}
        for triple in self.triples:
            by_predicate.setdefault(triple.predicate.value, {})[str(triple.object)] = str(triple.subject)
        cell_of, before = by_predicate.get(RDF + "first", {}), by_predicate.get(RDF + "rest", {})
        found: dict[str, str] = {}
        for triple in self.triples:
            if triple.predicate.value == SH + "class":
                cell = cell_of.get(str(triple.subject), "")
                while cell in before:
                    cell = before[cell]
                shape = by_predicate.get(SH + "or", {}).get(cell)
                if shape is not None:
                    found[shape.strip("<>").rpartition("#")[2]] = str(triple.object).strip("<>")
        return found

    @cached_property
    def target_classes(self) -> frozenset[str]:
        """The IRIs of the classes whose members some shape checks."""
        return frozenset(str(t.object)[1:-1] for t in self.triples if t.predicate.value == SH + "targetClass")

    def profile_problems(self) -> Iterator[str]:
        """What keeps the shapes from the closed profile in which both validators agree: one line each.

        >>> list(Shapes().profile_problems())
        []
        """
        for triple in self.triples:
            for term in (triple.predicate, triple.object):
                iri = getattr(term, "value", "")
                if iri.startswith(SH) and iri.removeprefix(SH) not in PROFILE:
                    yield f"{triple.subject} uses sh:{iri.removeprefix(SH)}"
            value = getattr(triple.object, "value", "")
            if triple.predicate.value == SH + "pattern" and any(trap in value for trap in _PATTERN_TRAPS):
                yield f"{triple.subject} has the pattern {value!r}"


def _triple_type() -> type:
    import pyoxigraph as ox

    return ox.Triple


@cache
def background(folder: Path | None = None) -> tuple[str, ...]:
    """What shapes need beside records, as N-Triples lines: the class tree and the schemes of concepts."""
    import pyoxigraph as ox

    wanted = {RDFS + "subClassOf", SKOS + "inScheme"}
    lines = [
        f"{quad.subject} {quad.predicate} {quad.object} ."
        for file in sorted((folder or data_folder("ontology")).rglob("*.ttl"))
        for quad in ox.parse(path=str(file), format=ox.RdfFormat.TURTLE)
        if quad.predicate.value in wanted
    ]
    return tuple(sorted(lines))
