"""The rules of the reference: every shape that says something to a curator, in its words, by the file that holds it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Final

from evkg.errors import NotFoundError, VocabularyError, excerpt
from evkg.namespaces import EVKG, RDFS, SH
from evkg.reference_entry import SHAPES, Rule
from evkg.shapegraph import ShapeGraph
from evkg.shapes import Shapes

_SEVERITIES: Final = {"Violation": "violation", "Warning": "warning", "Info": "note"}
#: The file of the rules on what is expected of a kind; it comes last.
_EXPECTED: Final = "completeness"


class Rules:
    """The rules of a folder of shapes.

    >>> Rules(Shapes()).rule("result-unit").severity
    'violation'
    """

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes
        self._graph = ShapeGraph(shapes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all rules."""
        subjects = (subject for subject, _ in self._graph.pairs(SH + "message"))
        return tuple(subject.removeprefix(SHAPES) for subject in subjects if subject.startswith(SHAPES))

    @cached_property
    def by_file(self) -> tuple[tuple[str, tuple[Rule, ...]], ...]:
        """(title, rules) by the file of shapes that holds them, in its order."""
        found, known = [], set(self.names)
        for file in sorted(self._shapes.files, key=lambda file: (file.stem == _EXPECTED, file.stem)):
            names = [name for name in _subjects(file) if name in known]
            if names:
                found.append((file.stem.replace("-", " ").capitalize(), tuple(map(self.rule, names))))
        return tuple(found)

    def rule(self, name: str) -> Rule:
        """A rule. Raises: NotFoundError: there is none; names the nearest."""
        if name not in self.names:
            near = tuple(get_close_matches(name, self.names, n=3, cutoff=0.5))
            raise NotFoundError(f"There is no rule {excerpt(name, 80)!r}.", near)
        shape = SHAPES + name
        severity = (self._graph.one(shape, SH + "severity") or SH + "Violation").removeprefix(SH)
        return Rule(
            name=name,
            severity=_SEVERITIES.get(severity, severity),
            message=self._graph.one(shape, SH + "message") or "",
            fix=self._graph.one(shape, EVKG + "fixHint") or "",
            why=self._graph.one(shape, SH + "description") or self._graph.one(shape, RDFS + "comment"),
        )

    def on(self, property_iri: str) -> list[Rule]:
        """The rules about a property: those that it completes, or whose path it is on."""
        return [self.rule(name) for name in self._by_property.get(property_iri, ())]

    @cached_property
    def _by_property(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in self.names:
            shape = SHAPES + name
            path = self._graph.one(shape, SH + "path") or ""
            steps = self._graph.list_of(shape, SH + "path") if path.startswith("_:") else [path]
            for step in dict.fromkeys((*steps, *self._graph.all(shape, EVKG + "completes"))):
                found.setdefault(step, []).append(name)
        return found


def _subjects(file: Path) -> Iterator[str]:
    """The local names of the shapes of a file, in its order."""
    import pyoxigraph as ox

    try:
        quads = ox.parse(path=str(file), format=ox.RdfFormat.TURTLE)
        yield from dict.fromkeys(getattr(quad.subject, "value", "").removeprefix(SHAPES) for quad in quads)
    except (SyntaxError, ValueError, OSError) as error:
        raise VocabularyError(f"{file.name}: {error}") from error
