"""The fast validator: the same results as pySHACL, in a hundredth of its time, behind a gate.

The gate has four parts. The shapes keep to a closed profile, or this validator is not used; pySHACL
reads the shapes too (in the tests, against SHACL-SHACL); in every run a sample of the records is
checked by pySHACL as well, and a disagreement stops the run; and differential tests compare both
on every record that breaks a shape, on the seed records and on generated ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

from evkg.errors import VocabularyError
from evkg.shapes import Result, Shapes, background

if TYPE_CHECKING:
    import shacl

_IRI: Final = re.compile(r"<([^<>]*)>\Z")


class FastValidator:
    """Validates N-Triples with the Rust engine `shacl`; compiled once for the shapes of a folder."""

    #: Whether it ran in this process: then the engine has threads, and a forked process would wait for them for ever.
    has_run: ClassVar[bool] = False

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes
        self._background = "\n".join([*background(), ""])

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
            return shacl.Shapes.from_text(self._shapes.ntriples, "ntriples")
        except ValueError as error:
            raise VocabularyError(f"The shapes in {self._shapes.folder} are broken: {error}") from error

    def compile(self) -> None:
        """Read the shapes now.

        Raises: VocabularyError: as `run`.
        """
        _ = self._compiled

    def run(self, triples: Iterable[str], wanted: Callable[[str], bool] = lambda _: True) -> list[Result]:
        """The results on N-Triples lines, in a fixed order; only those on focus nodes (IRIs) that are `wanted`.

        Raises: VocabularyError: the shapes are broken or leave the profile.
        """
        compiled = self._compiled
        type(self).has_run = True
        try:
            report = compiled.validate_text(self._background + "\n".join([*triples, ""]), "ntriples")
        except ValueError as error:
            raise VocabularyError(f"The fast validator cannot read the data: {error}") from error
        # What is only linked to fails every shape: it is left out before objects are made of it.
        found = {_result(result) for result in report.results if wanted(result.focus_node[1:-1])}
        return sorted(found, key=Result.order)


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
