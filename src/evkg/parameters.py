"""Parameters of an address: those that a page has, and what is told of one that it has not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from evkg.errors import excerpt
from evkg.facet import DOUBTS, NONE, Facet
from evkg.nearest import nearest
from evkg.problem import RequestError
from evkg.release import Release

__all__ = ["check_names", "check_values"]


def check_names(given: Iterable[str], known: Collection[str], what: str) -> None:
    """Refuse a parameter that a page has not: without its filter the answer would be another than was asked for.

    Raises: RequestError: 400; names the parameter, and the nearest.

    >>> check_names(["recrd"], ["record", "scope"], "/evidence")
    Traceback (most recent call last):
    evkg.problem.RequestError: /evidence has no parameter 'recrd'; it has record, scope. Did you mean 'record'?
    """
    for name in given:
        if name not in known:
            near = nearest(name, known, cutoff=0.4)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            message = f"{what} has no parameter {excerpt(name, 60)!r}; it has {', '.join(known)}.{hint}"
            raise _refusal(name, message, near)


def check_values(
    chosen: Iterable[tuple[str, Sequence[str]]],
    facets: Iterable[Facet],
    release: Release,
    has: Callable[[str, str], bool],
) -> None:
    """Refuse a value that a facet cannot have; one that it can have and no record has is a choice of nothing.

    `has(facet, value)`: whether a record has it.

    Raises: RequestError: 400; names the parameter, and the nearest.
    """
    by_name = {facet.name: facet for facet in facets}
    for name, values in chosen:
        for value in values:
            if value == NONE or has(name, value):
                continue
            known = _known(by_name[name], release)
            if value not in known:
                near = nearest(value, known)
                hint = f" Nearest: {', '.join(near)}." if near else ""
                raise _refusal(name, f"{name}: there is no {excerpt(value, 60)!r}.{hint}", near)


def _known(facet: Facet, release: Release) -> Collection[str]:
    vocabulary = release.vocabulary
    if facet.are_records:
        return release.record_ids
    if facet.scheme is not None and facet.scheme in vocabulary.schemes:
        return vocabulary.schemes[facet.scheme].concepts
    return vocabulary.kinds if facet.name == "kind" else DOUBTS


def _refusal(name: str, message: str, near: Sequence[str]) -> RequestError:
    return RequestError(
        400, message, more={"parameter": excerpt(name, 60), **({"nearest": list(near)} if near else {})}
    )
