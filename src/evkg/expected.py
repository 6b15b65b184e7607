"""What the shapes expect of each kind of record: the fields that want a value or a reason, and the links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from evkg.errors import VocabularyError
from evkg.finding import Severity
from evkg.namespaces import EVKG, FOAF, SH, VOCAB
from evkg.place import Places
from evkg.scalar import Path
from evkg.shapegraph import ShapeGraph
from evkg.shapes import Shapes
from evkg.vocabulary import Vocabulary

_EXCLUDED: Final = VOCAB + "status/excluded"
_SEVERITIES: Final[Mapping[str, Severity]] = {
    SH + "Violation": "violation",
    SH + "Warning": "warning",
    SH + "Info": "info",
}


@dataclass(frozen=True, slots=True)
class Expected:
    """One field that a kind of record is expected to have.

    `iri` is the property that the rule completes; `path` leads to the field in a record, as `field` writes it.
    `severity` is that of the finding when there is neither a value nor a reason. `entries` are the names under
    missing_metadata that explain the field, its own first; none for a link, which nothing explains.
    `is_conditional` says that something else may excuse the field too (other than the record's being excluded).
    `rule` is the local name of the shape, `message` and `fix` are its words.
    """

    iri: str
    path: Path
    severity: Severity
    entries: tuple[str, ...]
    is_conditional: bool
    rule: str
    message: str
    fix: str

    @property
    def field(self) -> str:
        """The path as reports write it.

        >>> from evkg.vocabulary import load_vocabulary
        >>> [e.field for e in expected_fields(Shapes(), load_vocabulary())["benchmark"]]
        ['attributes.entity_level']
        """
        return ".".join(str(step) for step in self.path)

    @property
    def name(self) -> str:
        """The field as missing_metadata names it.

        >>> from evkg.vocabulary import load_vocabulary
        >>> expected_fields(Shapes(), load_vocabulary())["evaluation"][1].name
        'comparison.protocol_id'
        """
        return ".".join(str(step) for step in self.path[1:])


def expected_fields(shapes: Shapes, vocabulary: Vocabulary) -> Mapping[str, list[Expected]]:
    """Kind -> the fields that want a value or a reason, in the order of the shapes; every kind is there.

    Raises: VocabularyError: a shape completes a property that records do not have, or is not of the known form.

    >>> from evkg.vocabulary import load_vocabulary
    >>> fields = expected_fields(Shapes(), load_vocabulary())
    >>> [(e.field, e.severity) for e in fields["result"]][:2]
    [('attributes.metric', 'violation'), ('attributes.metric_direction', 'violation')]
    >>> fields["result"][4].entries, fields["task"]
    (('numeric_value', 'value'), [])
    """
    graph = ShapeGraph(shapes)
    places = Places(vocabulary, "")
    found: dict[str, list[Expected]] = {kind: [] for kind in vocabulary.kinds}
    for shape, completed in graph.pairs(EVKG + "completes"):
        path = places.of_property(completed)
        if not path:
            raise VocabularyError(f"{shape} completes {completed}, which is no field of a record.")
        own = ".".join(str(step) for step in path[1:])
        entries, is_conditional = _branches(graph, shape, places)
        if own not in entries:
            raise VocabularyError(f"{shape} lets no entry under missing_metadata explain {own}.")
        entries.sort(key=lambda name: name != own)
        expected = _expected(graph, shape, completed, path, tuple(entries), is_conditional=is_conditional)
        for kind in graph.kinds(shape, vocabulary):
            found[kind].append(expected)
    return found


def required_links(shapes: Shapes, vocabulary: Vocabulary) -> Mapping[str, list[Expected]]:
    """Kind -> the relations of which a record must have a link; no reason stands for them.

    >>> from evkg.vocabulary import load_vocabulary
    >>> [link.field for link in required_links(Shapes(), load_vocabulary())["evaluation"]]
    ['links.system', 'links.assessment', 'links.data']
    """
    graph = ShapeGraph(shapes)
    found: dict[str, list[Expected]] = {kind: [] for kind in vocabulary.kinds}
    relations = {term.iri: key for key, term in vocabulary.relations.items()}
    for node, shape in graph.pairs(SH + "property"):
        path = graph.one(shape, SH + "path") or ""
        if path in relations and int(graph.one(shape, SH + "minCount") or 0) > 0:
            expected = _expected(graph, shape, path, ("links", relations[path]), (), is_conditional=False)
            for kind in graph.kinds(node, vocabulary):
                found[kind].append(expected)
    return found


def _branches(graph: ShapeGraph, shape: str, places: Places) -> tuple[list[str], bool]:
    """(names of the entries that explain the field, whether anything else excuses it) of the branches of a shape."""
    entries: list[str] = []
    values = others = 0
    for branch in graph.list_of(shape, SH + "or"):
        steps = _steps(graph, branch)
        qualified = graph.one(branch, SH + "qualifiedValueShape")
        if qualified is not None and steps[-1:] == [EVKG + "missing"]:
            path = places.of_property(graph.one(qualified, SH + "hasValue") or "")
            entries.append(".".join(str(step) for step in path[1:]))
        elif steps[-1:] == [EVKG + "status"]:
            others += graph.one(branch, SH + "hasValue") != _EXCLUDED
        elif values == 0 and graph.one(branch, SH + "minCount") is not None:
            values += 1
        else:
            others += 1
    return entries, others > 0


def _steps(graph: ShapeGraph, shape: str) -> list[str]:
    """The properties along the path of a shape; the step from a thing to its record is left out."""
    path = graph.one(shape, SH + "path") or ""
    steps = graph.list_of(shape, SH + "path") or [path]
    return [step for step in steps if graph.one(step, SH + "inversePath") != FOAF + "primaryTopic"]


def _expected(
    graph: ShapeGraph, shape: str, iri: str, path: Path, entries: tuple[str, ...], *, is_conditional: bool
) -> Expected:
    return Expected(
        iri=iri,
        path=path,
        severity=_SEVERITIES.get(graph.one(shape, SH + "severity") or "", "violation"),
        entries=entries,
        is_conditional=is_conditional,
        rule=shape.rpartition("#")[2],
        message=graph.one(shape, SH + "message") or "",
        fix=graph.one(shape, EVKG + "fixHint") or "",
    )
