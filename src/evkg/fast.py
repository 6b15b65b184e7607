"""The fast validator: the same results as pySHACL, in a hundredth of its time, behind a gate.

The gate has four parts. The shapes keep to a closed profile, or this validator is not used; pySHACL
reads the shapes too (in the tests, against SHACL-SHACL); in every run a sample of the records is
checked by pySHACL as well, and a disagreement stops the run; and differential tests compare both
on every record that breaks a shape, on the seed records and on generated ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

from evkg.errors import VocabularyError
from evkg.namespaces import RDF, RDFS, SH
from evkg.shapes import Result, Shapes, background

if TYPE_CHECKING:
    import shacl

_IRI: Final = re.compile(r"<([^<>]*)>\Z")
_TYPE: Final = f" <{RDF}type> <"
#: What the class of those members begins with that are focus nodes.
_FOCUS: Final = "urn:evkg:focus:"


class FastValidator:
    """Validates N-Triples with the Rust engine `shacl`; compiled once for the shapes of a folder.

    `linkable` are the IRIs of the classes of what data may link to without saying more of it than its class. Such a
    node would fail every shape of its class, and most of the time would go into results that nobody wants; so for
    these classes the shapes here target a class of their own, which only what is checked belongs to.
    """

    #: Whether it ran in this process: then the engine has threads, and a forked process would wait for them for ever.
    has_run: ClassVar[bool] = False

    def __init__(self, shapes: Shapes, linkable: Iterable[str] = ()) -> None:
        self._shapes = shapes
        self._tree = background()
        self._linkable = frozenset(linkable)

    @cached_property
    def _above(self) -> dict[str, set[str]]:
        """Class -> the classes above it and itself, for those that share members with `linkable` ones."""
        right_above: dict[str, set[str]] = {}
        for line in self._tree:
            lower, predicate, upper = line.removesuffix(" .").split(" ", 2)
            if predicate == f"<{RDFS}subClassOf>":
                right_above.setdefault(lower[1:-1], set()).add(upper[1:-1])

        def reach(start: str) -> set[str]:
            found, todo = {start}, [start]
            while todo:
                new = right_above.get(todo.pop(), set()) - found
                found |= new
                todo += new
            return found

        shared = {name for start in self._linkable for name in reach(start)}
        every = {start: reach(start) for start in self._linkable | right_above.keys()}
        return {name: above for name, above in every.items() if above & shared}

    @cached_property
    def _shared(self) -> frozenset[str]:
        """The classes that something linkable can belong to."""
        return frozenset(name for start in self._linkable for name in self._above[start])

    @cached_property
    def _background(self) -> str:
        focus = [
            f"<{_FOCUS}{lower}> <{RDFS}subClassOf> <{_FOCUS}{upper}> ."
            for lower, above in sorted(self._above.items())
            for upper in sorted(above & self._shared)
        ]
        return "\n".join([*self._tree, *focus, ""])

    @cached_property
    def _compiled(self) -> shacl.Shapes:
        import shacl

        problem = next(iter(self._shapes.profile_problems()), None)
        if problem is not None:
            raise VocabularyError(
                f"The shapes in {self._shapes.folder} leave the profile of the fast validator: {problem}. "
                "Use --engine pyshacl, or change the shape."
            )
        try:
            return shacl.Shapes.from_text("".join(self._aimed()), "ntriples")
        except ValueError as error:
            raise VocabularyError(f"The shapes in {self._shapes.folder} are broken: {error}") from error

    def _aimed(self) -> Iterator[str]:
        """The shapes, those for linkable classes aimed at the focus nodes among their members."""
        target = f" <{SH}targetClass> <"
        for line in self._shapes.ntriples.splitlines(keepends=True):
            subject, found, rest = line.partition(target)
            is_shared = found and rest.partition(">")[0] in self._shared and '"' not in subject
            yield f"{subject}{target}{_FOCUS}{rest}" if is_shared else line

    def compile(self) -> None:
        """Read the shapes now.

        Raises: VocabularyError: as `run`.
        """
        _ = self._compiled

    def run(
        self,
        triples: Iterable[str],
        wanted: Callable[[str], bool] = lambda _: True,
        linked: Iterable[str] = (),
    ) -> list[Result]:
        """The results on N-Triples lines, in a fixed order; only those on focus nodes (IRIs) that are `wanted`.

        `linked` are the lines that give what is only linked to its class, one of `linkable`; it is no focus node.

        Raises: VocabularyError: the shapes are broken or leave the profile.
        """
        compiled = self._compiled
        own = [*triples]
        type(self).has_run = True
        try:
            text = "\n".join([self._background, *own, *self._focus(own), *linked, ""])
            report = compiled.validate_text(text, "ntriples")
        except ValueError as error:
            raise VocabularyError(f"The fast validator cannot read the data: {error}") from error
        found = {_result(result) for result in report.results if wanted(result.focus_node[1:-1])}
        return sorted(found, key=Result.order)

    def _focus(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines that make focus nodes of the members of linkable classes."""
        for line in lines if self._above else ():
            if _TYPE in line:
                subject, _, rest = line.partition(_TYPE)
                if '"' not in subject and rest.partition(">")[0] in self._above:
                    yield f"{subject}{_TYPE}{_FOCUS}{rest}"


def _result(found: shacl.Result) -> Result:
    path = _IRI.match(found.path) if found.path else None
    value = found.value
    shape = found.source_shape or ""
    return Result(
        focus=found.focus_node[1:-1],
        path=path.group(1) if path else None,
        value=None if value is None or value.startswith("_:") else found.value_plain,
        value_is_iri=value is not None and value.startswith("<"),
        shape=shape[1:-1] if shape.startswith("<") else "",
        component=found.component_iri,
        severity=found.severity_iri,
        message=found.message or "",
    )
