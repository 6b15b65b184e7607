"""A file of parts: what was written comes back, and nothing behind what is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from evkg.partfile import add_part, read_parts, write_parts

PARTS = [{"a": (1, None, b"x")}, ["é"], 3]


def written(file: Path) -> bytes:
    write_parts(file, PARTS[0])
    for part in PARTS[1:]:
        add_part(file, part)
    return file.read_bytes()


def test_parts_come_back_in_order_and_the_same_parts_are_the_same_bytes(tmp_path: Path) -> None:
    assert written(tmp_path / "new" / "a") == written(tmp_path / "b")
    assert list(read_parts(tmp_path / "b")) == PARTS
    write_parts(tmp_path / "b", "anew")
    assert list(read_parts(tmp_path / "b")) == ["anew"]
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["b"]


def test_what_is_cut_off_or_changed_anywhere_ends_the_parts(tmp_path: Path) -> None:
    file = tmp_path / "a"
    content = written(file)
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= 4
        for damaged in (content[:place], bytes(flipped)):
            file.write_bytes(damaged)
            found = list(read_parts(file))
            assert found == PARTS[: len(found)]
            assert len(found) < len(PARTS)


def test_a_file_that_is_not_there_is_an_error_for_whoever_asks(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(read_parts(tmp_path / "none"))
    with pytest.raises(FileNotFoundError):
        add_part(tmp_path / "none" / "a", 1)
