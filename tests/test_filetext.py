"""The text of a file is UTF-8 of a bounded size, or a finding says why there is none."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from evkg import filetext
from evkg.filetext import decode_text, file_name, read_lines, read_text
from evkg.finding import Finding


def _rules(items: list[object]) -> list[tuple[str, int | None, int | None]]:
    return [(item.rule, item.line, item.column) for item in items if isinstance(item, Finding)]


def _texts(items: list[object]) -> list[object]:
    return [item for item in items if not isinstance(item, Finding)]


@pytest.mark.parametrize(
    ("content", "place", "byte"),
    [
        ("a: é".encode("latin-1"), (1, 4), "0xe9"),
        ("é😀: 1\nü: ".encode() + b"\xff", (2, 4), "0xff"),
        (b"\xef\xbb\xbfx\xff", (1, 2), "0xff"),
        (b"a\xed\xa0\x80", (1, 2), "0xed"),
        (b"a\xc3", (1, 2), "0xc3"),
    ],
)
def test_a_byte_that_is_no_utf8_has_its_place_in_characters(content: bytes, place: tuple[int, int], byte: str) -> None:
    text, findings = decode_text(Path("a.yaml"), content)
    assert text is None
    assert ((findings[-1].line, findings[-1].column), findings[-1].value) == (place, byte)
    assert findings[-1].message == f"The byte {byte} is not UTF-8."


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_utf16_is_recognised_by_its_mark(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    mark = "" if encoding == "utf-16" else "\ufeff"
    file.write_bytes((mark + '{"id": "a"}\n{"id": "b"}\n').encode(encoding))
    (finding,) = read_lines(file)
    assert isinstance(finding, Finding)
    assert "seems to be UTF-16" in finding.message


def test_a_byte_order_mark_is_passed_over_and_told(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"\xef\xbb\xbfid: a\n")
    items: list[object] = list(read_text(file, 100))
    assert (_rules(items), _texts(items)) == ([("byte-order-mark", 1, 1)], ["id: a\n"])


def test_crlf_is_told_once_at_its_first_line(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"1\n2\r\n3\r\n4")
    items: list[object] = list(read_lines(file))
    assert _rules(items) == [("line-ends", 2, 1)]
    assert _texts(items) == [(1, "1"), (2, "2"), (3, "3"), (4, "4")]
    assert _rules(list(read_text(file, 100))) == [("line-ends", 2, 1)]


def test_cr_alone_ends_a_line_of_a_whole_text(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"a: 1\rb: 2\r")
    items: list[object] = list(read_text(file, 100))
    assert (_rules(items), _texts(items)) == ([("line-ends", 1, 1)], ["a: 1\nb: 2\n"])


def test_a_line_with_a_fault_does_not_hide_the_next(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"1\n\xff\n3\n")
    items: list[object] = list(read_lines(file))
    assert (_rules(items), _texts(items)) == ([("not-utf-8", 2, 1)], [(1, "1"), (3, "3")])


def test_line_separators_of_unicode_do_not_end_a_line(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('"a\u2028b\x85c\x0bd\x0ce"\n', encoding="utf-8", newline="")
    assert list(read_lines(file)) == [(1, '"a\u2028b\x85c\x0bd\x0ce"')]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_line_without_end_stops_the_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filetext, "MAX_LINE", 1000)
    file = tmp_path / name
    content = b"x" * 1000 + b"\n" + b"y" * 100_000 + b"\nz\n"
    file.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    items: list[object] = list(read_lines(file))
    assert (_rules(items), _texts(items)) == ([("too-large", 2, 1)], [(1, "x" * 1000)])


@pytest.mark.parametrize("name", ["a.yaml", "a.yaml.gz"])
def test_a_file_beyond_the_limit_is_not_read(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(gzip.compress(b" " * 101) if name.endswith(".gz") else b" " * 101)
    assert _rules(list(read_text(file, 100))) == [("too-large", 1, 1)]
    assert list(read_text(file, 101)) == [" " * 101]


def test_gzip_cut_off_anywhere_is_a_finding(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b"%d\n" % number for number in range(300)), mtime=0)
    file = tmp_path / "a.jsonl.gz"
    for end in range(len(whole)):
        file.write_bytes(whole[:end])
        items: list[object] = list(read_lines(file))
        (rule,) = _rules(items)
        assert rule[0] == "unreadable-file"
        assert rule[1] == len(_texts(items)) + 1
        assert _rules(list(read_text(file, 10_000))) == [("unreadable-file", 1, 1)]


@pytest.mark.parametrize("content", [b"", b"plain", b"\x1f\x8b", gzip.compress(b"x", mtime=0) + b"rubbish"])
def test_what_is_no_gzip_is_a_finding(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(content)
    finding = list(read_lines(file))[-1]
    assert isinstance(finding, Finding)
    assert finding.message.startswith("The gzip data are broken: ")
    assert finding.fix == "Pack the file again."


def test_several_gzip_members_are_one_text(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(gzip.compress(b"1\n", mtime=0) + gzip.compress(b"2\n", mtime=0))
    assert list(read_lines(file)) == [(1, "1"), (2, "2")]


@pytest.mark.parametrize("name", ["gone.yaml", "folder.yaml", "gone.yaml.gz", "folder.yaml.gz"])
def test_a_file_that_cannot_be_opened_is_a_finding(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "folder.yaml.gz").mkdir()
    for items in (list(read_text(tmp_path / name, 100)), list(read_lines(tmp_path / name))):
        (finding,) = items
        assert isinstance(finding, Finding)
        assert (finding.rule, finding.severity) == ("unreadable-file", "violation")


@pytest.mark.skipif(os.geteuid() == 0, reason="everything may be read by root")
def test_a_file_that_may_not_be_read_is_a_finding(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("id: a")
    file.chmod(0)
    assert _rules(list(read_text(file, 100))) == [("unreadable-file", 1, 1)]


def test_the_name_of_a_file_is_always_text() -> None:
    assert file_name(Path(os.fsdecode(b"a\xff.yaml"))) == "a\ufffd.yaml"
