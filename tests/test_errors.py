"""The tree of exceptions: one base, the tree in the docstring is the real one, data in fields."""

from __future__ import annotations

import inspect
import re

import pytest

from evkg import errors
from evkg.errors import EvkgError, NotFoundError, QueryError, QuerySyntaxError

CLASSES = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, Exception)]


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_is_an_evkg_error_and_says_what_it_means(error: type[Exception]) -> None:
    assert issubclass(error, EvkgError)
    assert error.__doc__


def test_the_tree_in_the_docstring_is_the_real_one() -> None:
    drawn = re.findall(r"^    ([ │├└─]*)(\w+Error)", errors.__doc__ or "", re.MULTILINE)
    parents: dict[str, str] = {}
    path: list[str] = []
    for lines, name in drawn:
        depth = len(lines) // 4
        path[depth:] = [name]
        if depth:
            parents[name] = path[depth - 1]
    assert parents == {error.__name__: error.__mro__[1].__name__ for error in CLASSES if error is not EvkgError}


def test_a_name_that_is_not_found_brings_what_comes_close() -> None:
    error = NotFoundError("No record has the id 'gena'.", ("gena-lm", "gena-lm-2"))
    assert str(error) == "No record has the id 'gena'. Nearest: gena-lm, gena-lm-2."
    assert error.nearest == ("gena-lm", "gena-lm-2")
    assert str(NotFoundError("Nothing.")) == "Nothing."
    assert NotFoundError("Nothing.").nearest == ()


def test_a_syntax_error_carries_line_and_column() -> None:
    error = QuerySyntaxError("Line 2, column 3: x", 2, 3)
    assert (error.line, error.column, str(error)) == (2, 3, "Line 2, column 3: x")
    assert isinstance(error, QueryError)
    assert (QuerySyntaxError("x").line, QuerySyntaxError("x").column) == (None, None)
