"""The public names: sorted, complete, documented, and loaded when they are used."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import evkg
from evkg import errors

#: Modules whose classes a caller gets into their hands.
MODULES = ("answer", "build", "check", "errors", "finding", "release")


def test_all_is_sorted_and_every_name_is_there() -> None:
    assert evkg.__all__ == sorted(evkg.__all__)
    assert len(set(evkg.__all__)) == len(evkg.__all__)
    assert dir(evkg) == evkg.__all__
    for name in evkg.__all__:
        assert getattr(evkg, name) is not None


def test_every_error_is_public() -> None:
    classes = [value for value in vars(errors).values() if inspect.isclass(value)]
    assert {value.__name__ for value in classes if value.__module__ == "evkg.errors"} <= set(evkg.__all__)


def test_what_public_functions_give_is_public() -> None:
    for name in ("Built", "Checked", "Finding", "Release", "Rows"):
        assert name in evkg.__all__


def test_a_star_import_brings_exactly_the_public_names() -> None:
    space: dict[str, Any] = {}
    exec("from evkg import *", space)  # noqa: S102 - what is tested
    assert set(space) - {"__builtins__"} == set(evkg.__all__)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        evkg.nothing  # noqa: B018 - what is tested


def public_members(value: Any) -> list[tuple[str, Any]]:
    return [
        (name, member)
        for name, member in vars(value).items()
        if not name.startswith("_") and (callable(member) or isinstance(member, property) or hasattr(member, "func"))
    ]


@pytest.mark.parametrize("name", evkg.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    value = getattr(evkg, name)
    assert value.__doc__
    assert not value.__doc__.startswith(f"{name}(")  # what dataclasses write of themselves
    if inspect.isclass(value):
        for member_name, member in public_members(value):
            documented = getattr(member, "func", member)
            assert inspect.getdoc(documented), f"{name}.{member_name}"


@pytest.mark.parametrize("module", MODULES)
def test_every_public_function_of_their_modules_is_documented(module: str) -> None:
    imported = __import__(f"evkg.{module}", fromlist=["x"])
    for name, value in vars(imported).items():
        if inspect.isroutine(value) and value.__module__ == imported.__name__ and not name.startswith("_"):
            assert value.__doc__, f"{module}.{name}"


@pytest.mark.parametrize("name", [name for name in evkg.__all__ if inspect.isroutine(getattr(evkg, name))])
def test_every_public_function_has_an_example_or_says_what_it_raises(name: str) -> None:
    text = getattr(evkg, name).__doc__
    assert "Raises:" in text


def test_every_public_function_is_typed() -> None:
    for name in evkg.__all__:
        value = getattr(evkg, name)
        members = [value] if inspect.isfunction(value) else [member for _, member in public_members(value)]
        for function in filter(inspect.isfunction, members):
            assert "return" in function.__annotations__, function
