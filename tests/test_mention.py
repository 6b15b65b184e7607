"""Ids in sentences: whole ones only, the longest first, and never inside other words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evkg.mention import split_mentions


def found(text: str, *ids: str | None) -> list[str]:
    return [part for part, is_id in split_mentions(text, ids) if is_id]


def test_an_id_is_found_whole() -> None:
    assert found("a-b: a is in a-b.", "a", "a-b") == ["a-b", "a", "a-b"]
    assert found("a.b says a.b. And a", "a.b", "a") == ["a.b", "a.b", "a"]
    assert found("ba, ab, a_b, a:b, a-1", "a") == []
    assert found("Nothing", None) == []


def test_what_means_something_to_expressions_is_text() -> None:
    assert found("is a.b here", "a+b", "(", "a.*") == []
    assert found("of (x)", "x") == ["x"]


@given(st.text(alphabet="ab-. :'", max_size=30), st.lists(st.sampled_from(["a", "b", "a-b", "ab", ""]), max_size=4))
def test_no_letter_is_lost(text: str, ids: list[str]) -> None:
    parts = split_mentions(text, ids)
    assert "".join(part for part, _ in parts) == text
    assert all(part in ids for part, is_id in parts if is_id)
