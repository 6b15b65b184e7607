"""Files become records; whatever is wrong with a file is a finding with file, line and column."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evkg import reader
from evkg.errors import UsageError
from evkg.finding import Finding
from evkg.jsontext import decode_json
from evkg.reader import read_records, record_files
from evkg.record import Record
from evkg.vocabulary import Vocabulary, load_vocabulary
from tests.conftest import ROOT

FIXED = settings(
    max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
JSONL = (ROOT / "tests/expected/seed-records.jsonl").read_bytes()
LINES = JSONL.splitlines()
YAML = (ROOT / "graph/records/aspidova-2026/results.yaml").read_bytes()
SNAPSHOT = b'{"schema_version":"1.1","records":[\n' + b",\n".join(LINES[:4]) + b'],"coverage":{"x":[{}]}}'
MODEL = '{"id":"%s","kind":"model","name":"N","description":"","status":"discovered","facets":{},"source_ids":[]%s}'
SOUND = ',"links":[],"attributes":{}'

Read = Callable[[str, bytes], list[Record | Finding]]


def _model(name: str) -> str:
    return MODEL % (name, SOUND)


@pytest.fixture
def read(tmp_path: Path, vocabulary: Vocabulary) -> Read:
    def _read(name: str, content: bytes) -> list[Record | Finding]:
        (tmp_path / name).write_bytes(content)
        return list(read_records(tmp_path / name, vocabulary))

    return _read


def _ids(items: list[Record | Finding]) -> list[str]:
    return [item.id for item in items if isinstance(item, Record)]


def _findings(items: list[Record | Finding]) -> list[Finding]:
    return [item for item in items if isinstance(item, Finding)]


def _rules(items: list[Record | Finding]) -> list[tuple[str, int | None, int | None]]:
    return [(f.rule, f.line, f.column) for f in _findings(items)]


# ---- which files ----


def test_a_folder_gives_its_record_files_in_a_fixed_order(tmp_path: Path) -> None:
    for name in "b/z.yaml b.yaml a.JSON a/x.jsonl.gz c.json n.txt .git/x.yaml .x.yaml r.yml.gz".split():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "folder.yaml" / "in.ndjson").write_text("")
    assert [file.relative_to(tmp_path).as_posix() for file in record_files(tmp_path)] == [
        "a/x.jsonl.gz",
        "b.yaml",
        "b/z.yaml",
        "c.json",
        "folder.yaml/in.ndjson",
        "r.yml.gz",
    ]


def test_the_description_of_a_data_set_is_no_record_file(tmp_path: Path) -> None:
    (tmp_path / "dataset.yaml").write_text("title: T\nbase_iri: https://example.org/\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "dataset.yaml").write_text("id: x\nkind: dataset\n")
    assert [file.parent.name for file in record_files(tmp_path)] == ["a"]
    assert [file.parent.name for file in record_files(tmp_path / "a")] == ["a"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gone", "does not exist"),
        ("gone.yaml", "does not exist"),
        ("x" * 300 + ".yaml", "cannot be read: File name too long"),
        ("a\0b.yaml", "does not exist"),
        ("notes.txt", "is not a record file; these are: .yaml, .yml, .jsonl, .ndjson, .json, also with .gz"),
        ("empty", "holds no record file"),
        ("pipe.yaml", "is neither a file nor a folder"),
        ("link.yaml", "does not exist"),
        ("comments", "holds no record"),
        ("comments/a.yaml", "holds no record"),
        ("comments/b.jsonl", "holds no record"),
        ("comments/c.json", "holds no record"),
    ],
)
def test_where_nothing_can_be_read_one_line_says_why(
    name: str, words: str, tmp_path: Path, vocabulary: Vocabulary
) -> None:
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "comments").mkdir()
    (tmp_path / "comments" / "a.yaml").write_text("# nothing yet\n---\n")
    (tmp_path / "comments" / "b.jsonl").write_text("")
    (tmp_path / "comments" / "c.json").write_text('{"records": []}')
    (tmp_path / "link.yaml").symlink_to(tmp_path / "nowhere.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(UsageError, match=words) as caught:
        list(read_records(tmp_path / name, vocabulary))
    assert "\n" not in str(caught.value)


def test_one_unreadable_file_does_not_hide_the_others(tmp_path: Path, vocabulary: Vocabulary) -> None:
    (tmp_path / "a.yaml").symlink_to(tmp_path / "nowhere")
    (tmp_path / "b.json").symlink_to("b.json")
    (tmp_path / "c.jsonl").write_text(_model("m"))
    (tmp_path / "d.yaml").write_text("# nothing")
    items = list(read_records(tmp_path, vocabulary))
    assert _ids(items) == ["m"]
    assert _rules(items) == [("unreadable-file", 1, 1), ("unreadable-file", 1, 1), ("no-records", 1, 1)]


def test_files_are_named_as_they_were_given(vocabulary: Vocabulary) -> None:
    item = next(read_records(Path("graph/records/families.yaml"), vocabulary))
    assert isinstance(item, Record)
    assert item.origin.file == "graph/records/families.yaml"


# ---- the forms of a data set ----


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", JSONL),
        ("a.ndjson", JSONL.replace(b"\n", b"\r\n")),
        ("a.jsonl", b"\xef\xbb\xbf" + JSONL),
        ("a.jsonl", JSONL.rstrip(b"\n")),
        ("a.jsonl.gz", gzip.compress(JSONL, mtime=0)),
        ("a.json", b"[" + b",".join(LINES) + b"]"),
        ("a.json", b'{"records":[\r' + b",\r".join(LINES) + b"\r]}"),
        (
            "a.json.gz",
            gzip.compress(b'{"coverage": {}, "records":[' + b",".join(LINES) + b'], "research": {}}', mtime=0),
        ),
        ("a.yaml", b"\n---\n".join(LINES)),
        ("a.yml.gz", gzip.compress(b"- " + b"\n- ".join(LINES), mtime=0)),
        ("a.yaml", b"\xef\xbb\xbf- " + b"\r\n- ".join(LINES)),
        ("a.yaml", b"- " + b"\r- ".join(LINES)),
    ],
)
def test_every_form_gives_the_same_records(name: str, content: bytes, read: Read) -> None:
    items = read(name, content)
    assert [json.loads(item.line) for item in items if isinstance(item, Record)] == [json.loads(x) for x in LINES]
    assert all(finding.severity == "info" for finding in _findings(items))


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_one_line_is_written_out_again_byte_for_byte(name: str, read: Read) -> None:
    text = '  {"kind" : "model","id":"a", "name":"\\u00e9 é","description":"" ,"status":"discovered","facets":{}'
    text += ',"source_ids":[],"links":[],"attributes":{"x":1.00,"y":-0, "z":12345678901234567890123}}'
    (record,) = read(name, (text + "\r\n" if name == "a.jsonl" else text).encode())[-1:]
    assert isinstance(record, Record)
    assert record.line == (text if name == "a.jsonl" else text.strip())


def test_peer_records_are_written_out_again_byte_for_byte(peer_records: list[Record]) -> None:
    assert len(peer_records) == 51
    for record in peer_records:
        line = Path(record.origin.file).read_bytes().split(b"\n")[record.origin.line - 1]
        assert record.line.encode() == line
        assert record.original == decode_json(line.decode())


def test_peer_records_of_older_shape_are_told_as_info(peer_records: list[Record]) -> None:
    notes = Counter((record.kind, path[1]) for record in peer_records for path, _ in record.notes)
    assert notes == {("pipeline", "missing_metadata"): 2, ("pipeline", "review"): 1}


def test_a_provenance_ledger_is_passed_over(read: Read) -> None:
    ledger = '{"id":"m","sha256":"x","added_in":"y","changed_by":[]}\n' * 2
    items = read("a.jsonl", (ledger + _model("m")).encode())
    assert (_ids(items), _rules(items)) == (["m"], [("ledger", 1, 1)])


# ---- what is wrong with a file ----


@pytest.mark.parametrize(
    ("name", "content", "rules"),
    [
        ("a.jsonl", b"{}\n\n{}\n\n", [("envelope", 1, 1)] * 9 + [("blank-line", 2, 1)] + [("envelope", 3, 1)] * 9),
        ("a.jsonl", '{"é": 1, "é": 2}'.encode(), [("syntax", 1, 10)]),
        ("a.jsonl", b"[1]", [("envelope", 1, 1)]),
        ("a.jsonl", b"null\n4\n", [("envelope", 1, 1), ("envelope", 2, 1)]),
        ("a.jsonl", b"x\xff\n", [("not-utf-8", 1, 2)]),
        ("a.jsonl", b"\x00\x01", [("syntax", 1, 1)]),
        ("a.json", b"", [("syntax", 1, 1)]),
        ("a.json", b"4", [("envelope", 1, 1)]),
        ("a.json", b'\n {"title": "x"}', [("envelope", 2, 2)]),
        ("a.json", b'{"use_cases": [], "mappings": []}', [("envelope", 1, 1)]),
        ("a.json", b'{"records": {}}', [("syntax", 1, 13)]),
        ("a.json", '{"é": [\n {"ü": 1, "x": 2,\n "ü": 3}]}'.encode(), [("syntax", 3, 2)]),
        ("a.json", b"[\n4, []]", [("envelope", 2, 1), ("envelope", 2, 4)]),
        ("a.yaml", b"just text", [("envelope", 1, 1)]),
        ("a.yaml", b"- 1\n- [2]\n", [("envelope", 1, 3), ("envelope", 2, 3)]),
        ("a.yaml", b"id: a\n\tkind: model\n", [("syntax", 2, 1)]),
        ("a.yaml", b"\xff\xfei\x00", [("not-utf-8", 1, 1)]),
        ("a.yaml", b"# x\nid: \x07", [("syntax", 2, 5)]),
        ("a.yaml.gz", b"id: a", [("unreadable-file", 1, 1)]),
    ],
)
def test_a_fault_names_line_and_column(
    name: str, content: bytes, rules: list[tuple[str, int, int]], read: Read
) -> None:
    assert _rules(read(name, content)) == rules


def test_a_tab_names_file_line_and_column(tmp_path: Path, read: Read) -> None:
    (finding,) = _findings(read("a.yaml", b"id: a\nlinks:\n\t- x: 1\n"))
    assert finding.place == f"{tmp_path}/a.yaml:3:1"
    assert finding.message == "A tab indents this line; YAML allows only spaces there."
    assert finding.value == "\t- x: 1"


def test_a_repeated_key_names_both_lines(read: Read) -> None:
    (finding,) = _findings(read("a.yaml", b"id: a\nattributes:\n  unit: GB\n  unit: GiB\n"))
    assert (finding.line, finding.column, finding.value) == (4, 3, "unit: GiB")
    assert finding.message == 'The key "unit" stands twice in one mapping; first in line 3.'


def test_records_before_a_fault_are_read(read: Read) -> None:
    broken = f"{_model('a')}\n---\n{_model('b')}\n---\nid: [\n".encode()
    assert _ids(read("a.yaml", broken)) == ["a", "b"]
    assert _ids(read("a.json", f"[{_model('a')},{_model('b')},".encode())) == ["a", "b"]
    assert _ids(read("a.jsonl", f"{_model('a')}\n{{\n{_model('b')}".encode())) == ["a", "b"]


def test_lines_that_end_with_cr_alone_are_explained(read: Read) -> None:
    (finding,) = _findings(read("a.jsonl", f"{_model('a')}\r{_model('b')}\r".encode()))
    assert (finding.line, finding.column) == (1, len(_model("a")) + 2)
    assert finding.fix is not None
    assert "lines must end with LF" in finding.fix


def test_a_broken_envelope_names_its_key_in_every_form(read: Read) -> None:
    line = (MODEL % ("é", SOUND)).encode()
    for name, content, place in (
        ("a.jsonl", b"\n" + line, (2, 2)),
        ("a.json", b"[\n  " + line + b"]", (2, 4)),
        ("a.yaml", b"# x\n- " + line, (2, 4)),
    ):
        finding = _findings(read(name, content))[-1]
        assert (finding.rule, finding.field, finding.value) == ("envelope", "id", "é")
        assert (finding.line, finding.column) == place


def test_a_file_with_too_many_faults_is_left(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_FAULTS", 5)
    items = read("a.jsonl", b"x\n" * 100)
    assert _rules(items)[4:] == [("syntax", 5, 1), ("too-many-faults", 5, 1)]


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"- " * 100_000,
        b"? " * 100_000,
        b"a: &a [*a]",
        b'"' + b"x" * 1_000_000,
        b"9" * 1_000_000,
        b"\x00" * 1000,
        bytes(range(256)),
        b"&a " * 1000,
        b"%" * 1000,
        "\ufeff\ufeffid: a".encode(),
        b'{"a": "\\ud800"}',
        b'{"id": "\\ud800", "kind": {"\\udfff": 1}}',
    ],
)
@pytest.mark.parametrize("name", ["a.yaml", "a.json", "a.jsonl"])
def test_hostile_content_is_a_finding(name: str, content: bytes, read: Read) -> None:
    findings = _findings(read(name, content))
    assert any(finding.severity == "violation" for finding in findings)
    assert all(len(finding.message) < 500 and len(finding.value or "") < 600 for finding in findings)


def test_a_snapshot_cut_off_anywhere_is_a_violation(tmp_path: Path) -> None:
    vocabulary = load_vocabulary()
    file = tmp_path / "a.json"
    for end in [*range(60), *range(60, len(SNAPSHOT), 37), *range(len(SNAPSHOT) - 40, len(SNAPSHOT))]:
        file.write_bytes(SNAPSHOT[:end])
        findings = _findings(list(read_records(file, vocabulary)))
        assert [f.rule for f in findings if f.severity == "violation"] in (["syntax"], ["not-utf-8"])


# ---- any bytes ----


def _assert_sane(file: Path, vocabulary: Vocabulary) -> None:
    """Reading gives records and findings with a place, or one UsageError."""
    try:
        items = list(read_records(file, vocabulary))
    except UsageError as error:
        assert "holds no record" in str(error)  # noqa: PT017 - raising is allowed, not expected
        return
    for item in items:
        if isinstance(item, Record):
            assert decode_json(item.line) == item.original
            assert item.content_sha256
            for key in item.original:
                assert item.place((key,)) >= (1, 1)
        else:
            assert item.file
            assert item.line is not None
            assert item.line >= 1
            assert item.column is not None
            assert item.column >= 1
            assert item.fix
            json.dumps(item.message, ensure_ascii=False).encode()


NAMES = st.sampled_from(["f.yaml", "f.jsonl", "f.json", "f.yaml.gz", "f.jsonl.gz", "f.json.gz"])


@FIXED
@given(NAMES, st.binary(max_size=200), st.booleans())
def test_any_bytes_are_read_without_an_error(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes, pack: bool
) -> None:
    file = tmp_path_factory.getbasetemp() / name
    file.write_bytes(gzip.compress(content) if pack and name.endswith(".gz") else content)
    _assert_sane(file, load_vocabulary())


PIECES = st.sampled_from(
    [
        *(bytes([byte]) for byte in b'\x00\xff\t\r\n{}[]":,#@>|'),
        *(text.encode() for text in ("\\ud800", "\ufeff", "\x85", "\u2028", "&a ", "*a", "!!int ", "<<: ", "? ", "- ")),
        *(text.encode() for text in ("---\n", "...\n", "NaN", "1e999", "null", '"kind":["x"],', "😀")),
        b"\xed\xa0\x80",
    ]
)
EDITS = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 40), PIECES | st.just(b"")), min_size=1, max_size=4)


@FIXED
@given(st.sampled_from([("f.yaml", YAML), ("f.jsonl", LINES[9]), ("f.json", SNAPSHOT)]), EDITS)
def test_mutated_seed_records_are_read_without_an_error(
    tmp_path_factory: pytest.TempPathFactory, seed: tuple[str, bytes], edits: list[tuple[int, int, bytes]]
) -> None:
    name, content = seed
    for position, removed, piece in edits:
        at = position % len(content) if content else 0
        content = content[:at] + piece + content[at + removed :]
    file = tmp_path_factory.getbasetemp() / name
    file.write_bytes(content)
    _assert_sane(file, load_vocabulary())
