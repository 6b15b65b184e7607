"""Lines of files around findings: the right part is marked, and what is not public is not read out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evkg.excerpt import Excerpt, excerpt, lines_at, relative_name
from tests.findings import finding


@pytest.mark.parametrize(
    ("line", "column", "value", "marked"),
    [
        ("unit: GB", 1, "GB", "GB"),
        ("name: a", 1, "a", "a"),
        ("  - {relation: parent, target_id: parent}", 24, "parent", "parent"),
        ('{"unit":"GB"}', 2, "GB", "GB"),
        ('{"unit":"GB"}', 2, None, '"unit"'),
        ("source_ids: [b, a]", 17, "a", "a"),
        ("attributes:", 1, '{"x": 1}', "attributes"),
        ("\ttab", 1, None, ""),
        ("short", 99, "x", ""),
        ("", 1, None, ""),
    ],
)
def test_the_value_is_marked_where_it_stands_behind_its_key_else_the_key(
    line: str, column: int, value: str | None, marked: str
) -> None:
    assert excerpt(line, column, value).marked == marked


def test_the_value_marked_is_not_the_key_of_the_same_letters() -> None:
    assert excerpt("a: a", 1, "a") == Excerpt("a: ", "a", "")


@given(st.text(), st.integers(-5, 500), st.none() | st.text(), st.integers(10, 200))
def test_an_excerpt_is_printable_and_bounded(line: str, column: int, value: str | None, room: int) -> None:
    part = excerpt(line, column, value, room=room)
    whole = part.before + part.marked + part.after
    assert whole.isprintable()
    if line.isprintable():
        assert len(whole) <= 3 * room
        assert whole.strip("…").rstrip() in line


@pytest.mark.parametrize("name", ["a.yaml", "a.jsonl", "a.yaml.gz", "a.jsonl.gz"])
def test_lines_are_read_from_every_kind_of_file(tmp_path: Path, name: str) -> None:
    text = "one\r\ntwo\u2028still two\r\nthree\r\n".encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    file = str(tmp_path / name)
    items = [finding(record="r", file=file, line=number, value="x") for number in (2, 9)]
    assert lines_at(items, frozenset()) == {(file, 2): "two\u2028still two"}


@pytest.mark.parametrize("file", ["nowhere.yaml", "a\x00.yaml", "a\ud800.jsonl", "."])
def test_what_cannot_be_read_has_no_lines(file: str) -> None:
    assert lines_at([finding(record="r", file=file, line=1)], frozenset()) == {}


def test_a_name_is_relative_as_it_is_written_and_links_are_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path / "here")
    assert relative_name("link/a.yaml") == "link/a.yaml"
    assert relative_name(str(tmp_path / "here" / "b.yaml")) == "b.yaml"
    assert relative_name("../real/a.yaml") is None
