"""Answers to queries as Python values: rows of a SELECT, an rdflib graph of a CONSTRUCT."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from evkg.errors import QueryError, UsageError
from evkg.namespaces import XSD

if TYPE_CHECKING:
    import pandas as pd
    import rdflib


@dataclass(frozen=True)
class Rows(Sequence[dict[str, Any]]):
    """The solutions of a SELECT: a sequence of dicts from variable to Python value, None where unbound.

    IRIs and texts are `str`, numbers `int`, `Decimal` or `float`, truth values `bool`.
    """

    variables: tuple[str, ...]
    solutions: tuple[dict[str, Any], ...]

    def __getitem__(self, index: Any) -> Any:
        return self.solutions[index]

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.solutions)

    def to_pandas(self) -> pd.DataFrame:
        """A data frame with one column a variable; every cell keeps its value (dtype object).

        Raises: UsageError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise UsageError("to_pandas() needs pandas: pip install pandas") from error
        return pd.DataFrame(list(self.solutions), columns=list(self.variables), dtype=object)


_INTEGERS: Final = frozenset(XSD + name for name in ("integer", "int", "long", "nonNegativeInteger"))


def python_value(term: Any) -> Any:
    """The Python value of a term of the store: see `Rows`."""
    datatype = getattr(term, "datatype", None)
    if term is None or datatype is None:
        return None if term is None else getattr(term, "value", str(term))
    try:
        if datatype.value in _INTEGERS:
            return int(term.value)
        if datatype.value == XSD + "decimal":
            return Decimal(term.value)
        if datatype.value in (XSD + "double", XSD + "float"):
            return float(term.value)
        if datatype.value == XSD + "boolean":
            return term.value in ("true", "1")
    except (ValueError, ArithmeticError):
        return term.value
    return term.value


def rdflib_graph(triples: Any) -> rdflib.Graph:
    """The graph of triples of the store; literals keep the text that the store gives.

    Raises: QueryError: the query cannot be evaluated to its end, or has a triple in the place of a value.
    """
    import rdflib

    from evkg.normative import rdflib_term

    graph = rdflib.Graph()
    try:
        for triple in triples:
            if not hasattr(triple.object, "value"):
                raise QueryError("The answer holds a triple about a triple, which rdflib cannot take.")
            graph.add(tuple(rdflib_term(term) for term in triple))  # type: ignore[arg-type]
    except (OSError, RuntimeError) as error:
        raise QueryError(f"The query cannot be answered: {error}") from error
    return graph
