"""Stubs: each expected field without value and reason gets one, and nothing else in the file changes."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evkg.check import check_dataset
from evkg.cli import main
from evkg.errors import UsageError
from evkg.expected import expected_fields
from evkg.finding import Finding
from evkg.insertion import TO_BE_DECIDED, Insertion, insert
from evkg.jsontext import encode_json
from evkg.patch import render_diff, replace_file
from evkg.reader import read_file
from evkg.record import Record
from evkg.shapes import Shapes
from evkg.stub import MAX_FILE, Stubbed, stub_file, unexplained
from evkg.vocabulary import Vocabulary, load_vocabulary
from tests.conftest import ROOT, SHARED

SHAPES = Shapes()
VOCABULARY = load_vocabulary()
FIELDS = expected_fields(SHAPES, VOCABULARY)
STUB = {"reason": TO_BE_DECIDED}
HEAD = "id: a\nkind: benchmark\nname: A\ndescription: ''\nstatus: needs_review\nfacets: {}\nsource_ids: []\nlinks: []\n"


def stubs_of(folder: Path, text: str | bytes, name: str = "a.yaml") -> Stubbed:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return stub_file(file, VOCABULARY, SHAPES)


def records_of(file: Path) -> list[Record]:
    return [item for item in read_file(file, VOCABULARY) if isinstance(item, Record)]


def after(folder: Path, text: str, name: str = "a.yaml") -> str:
    stubbed = stubs_of(folder, text, name)
    assert stubbed.passed_over == ()
    return stubbed.after.decode()


# ---- which fields ----


def test_stubs_stand_for_what_completeness_reports_and_nothing_else(tmp_path: Path) -> None:
    """The findings of the completeness shapes on the bad records are the fields that get a stub."""
    folder = tmp_path / "records"
    folder.mkdir()
    for file in (ROOT / "tests/records/invalid").glob("*.yaml"):
        (folder / file.name).write_bytes(file.read_bytes())
    rules = {field.rule for fields in FIELDS.values() for field in fields}
    found = check_dataset(folder, is_open=True, engine="fast").findings
    misfits = {
        (f.record, f.field)
        for f in found
        if f.rule.startswith("setting-") or f.rule in ("empty-text", "reason-as-value")
    }
    reported = {(f.record, f.field) for f in found if f.rule in rules} - misfits
    stubbed = {
        (record.id, field.field)
        for file in sorted(folder.glob("*.yaml"))
        for record in records_of(file)
        for field in unexplained(record, FIELDS[record.kind])
    }
    assert len(reported) > 40
    assert stubbed == reported


def test_each_bad_record_of_a_completeness_rule_lacks_just_that_field() -> None:
    for fields in FIELDS.values():
        for field in fields:
            (record,) = records_of(ROOT / f"tests/records/invalid/{field.rule}.yaml")[:1]
            assert [f.name for f in unexplained(record, FIELDS[record.kind])] == [field.name]


def test_an_excluded_record_gets_no_stub(tmp_path: Path) -> None:
    text = HEAD.replace("needs_review", "excluded") + "attributes: {}\n"
    assert stubs_of(tmp_path, text).stubs == ()


def test_an_entry_for_the_whole_object_explains_its_parts(tmp_path: Path) -> None:
    links = "[{relation: system, target_id: s}, {relation: assessment, target_id: t}, {relation: data, target_id: d}]"
    head = HEAD.replace("benchmark", "evaluation").replace("links: []", f"links: {links}")
    text = head + "attributes: {missing_metadata: {comparison: {reason: unreported}}}\n"
    assert stubs_of(tmp_path, text).stubs[0].fields == ("origin", "seeds", "coverage", "inference_hardware")


# ---- where they go ----

ENTRY = "entity_level: {reason: TO-BE-DECIDED}"
NOTE = (
    "# To be decided: give each field its value, or a reason "
    "(conflicting, inapplicable, unavailable, unextracted, unreported)."
)
_EXPLAINED = "attributes:\n  missing_metadata:\n    # c\n    version: {reason: unreported}  # d\n"


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("attributes: {}\n", f"attributes: {{missing_metadata: {{{ENTRY}}}}}\n"),
        ("attributes: { }", f"attributes: {{missing_metadata: {{{ENTRY}}} }}"),
        ("attributes: {version: v1} # c\n", f"attributes: {{version: v1, missing_metadata: {{{ENTRY}}}}} # c\n"),
        (
            "attributes:\n  version: v1 # c\n# end\n",
            f"attributes:\n  version: v1 # c\n  missing_metadata:\n    {NOTE}\n    {ENTRY}\n# end\n",
        ),
        (
            "attributes:\n    version: 'v1'",
            f"attributes:\n    version: 'v1'\n    missing_metadata:\n        {NOTE}\n        {ENTRY}",
        ),
        (f"{_EXPLAINED}\n  task: t\n", f"{_EXPLAINED}    {NOTE}\n    {ENTRY}\n\n  task: t\n"),
        (
            "attributes:\n  missing_metadata: {version: {reason: unreported}, }\n",
            f"attributes:\n  missing_metadata: {{version: {{reason: unreported}}, {ENTRY}, }}\n",
        ),
        ("attributes:\n  missing_metadata:\n", f"attributes:\n  missing_metadata: {{{ENTRY}}}\n"),
        (
            "attributes:\n  scope_note: |+\n    text\n\n\n",
            f"attributes:\n  scope_note: |+\n    text\n\n\n  missing_metadata:\n    {NOTE}\n    {ENTRY}\n",
        ),
        (
            "attributes:\n  scope_note: |\n    text",
            f"attributes:\n  missing_metadata:\n    {NOTE}\n    {ENTRY}\n  scope_note: |\n    text",
        ),
        (
            "attributes:\n  scope_note: folded\n    text\n...\n",
            f"attributes:\n  scope_note: folded\n    text\n  missing_metadata:\n    {NOTE}\n    {ENTRY}\n...\n",
        ),
    ],
)
def test_a_stub_goes_where_a_curator_would_write_it(tmp_path: Path, before: str, expected: str) -> None:
    assert after(tmp_path, HEAD + before) == HEAD + expected


def test_line_ends_and_a_byte_order_mark_stay(tmp_path: Path) -> None:
    text = "\ufeff" + (HEAD + "attributes:\n  version: v1\n").replace("\n", "\r\n")
    expected = text + f"  missing_metadata:\r\n    {NOTE}\r\n    {ENTRY}\r\n"
    assert after(tmp_path, text) == expected


def record_json(**attributes: Any) -> dict[str, Any]:
    head = {"id": "a", "kind": "benchmark", "name": "Ä", "description": "", "status": "needs_review"}
    return {**head, "facets": {}, "source_ids": [], "links": [], "attributes": attributes}


@pytest.mark.parametrize(
    ("options", "stub"),
    [
        ({"separators": (",", ":")}, '"missing_metadata":{"entity_level":{"reason":"TO-BE-DECIDED"}}'),
        ({}, '"missing_metadata": {"entity_level": {"reason": "TO-BE-DECIDED"}}'),
    ],
)
def test_a_line_of_json_keeps_its_form(tmp_path: Path, options: dict[str, Any], stub: str) -> None:
    between = options.get("separators", (", ",))[0]
    text = json.dumps(record_json(version="v1"), ensure_ascii=False, **options) + "\n"
    assert after(tmp_path, text, "a.jsonl") == text.replace('"v1"', f'"v1"{between}{stub}')
    empty = json.dumps(record_json(), ensure_ascii=False, **options)
    assert after(tmp_path, empty, "a.jsonl") == empty.replace("{}}", f"{{{stub}}}}}")


def test_json_over_several_lines_keeps_its_indentation(tmp_path: Path) -> None:
    text = json.dumps([record_json(missing_metadata={"version": {"reason": "unreported"}})], indent=2) + "\n"
    old = '"version": {\n          "reason": "unreported"\n        }'
    assert old in text
    new = old + ',\n        "entity_level": {"reason": "TO-BE-DECIDED"}'
    assert after(tmp_path, text, "a.json") == text.replace(old, new)


def test_yaml_written_as_json_stays_json(tmp_path: Path) -> None:
    text = json.dumps(record_json(version="v1"), ensure_ascii=False)
    found = json.loads(after(tmp_path, text))
    assert found["attributes"] == {"version": "v1", "missing_metadata": {"entity_level": STUB}}


def test_an_anchor_or_an_alias_is_passed_over_and_said(tmp_path: Path) -> None:
    text = f"{HEAD}attributes: &x {{version: v1}}\n---\n{HEAD.replace('id: a', 'id: b')}attributes:\n  version: v1\n"
    stubbed = stubs_of(tmp_path, text)
    assert [stub.record for stub in stubbed.stubs] == ["b"]
    (said,) = stubbed.passed_over
    assert said.startswith(f"{tmp_path}/a.yaml:1: a is passed over: It is written with an anchor")


def test_a_faulty_record_is_passed_over_and_the_others_get_their_stubs(tmp_path: Path) -> None:
    lines = [encode_json(record_json()), '{"id":"b"}', '"word"', encode_json({**record_json(), "id": "c"})]
    stubbed = stubs_of(tmp_path, "\n".join(lines), "a.jsonl")
    assert [(stub.record, stub.line) for stub in stubbed.stubs] == [("a", 1), ("c", 4)]
    assert any(said.startswith(f"{tmp_path}/a.jsonl:2: ") for said in stubbed.passed_over)
    assert stubbed.after.decode().split("\n")[1:3] == lines[1:3]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.yaml", b"id: [a", "This is not YAML"),
        ("a.yaml", HEAD.encode() + b"attributes: {}\n---\nid: 'x", "never closed"),
        ("a.yaml", b"", "holds no record"),
        ("a.yaml", b"# only a comment\n", "holds no record"),
        ("a.yaml", b"id: a\rkind: b\r", "end with CR alone"),
        ("a.yaml", b"name: \xff", "not UTF-8"),
        ("a.jsonl", b'{"id":\n', "not JSON"),
        ("a.txt", b"x", "not a record file"),
        ("a.yaml.gz", b"x", "packed"),
        ("a.yaml", b"#" * (MAX_FILE + 1), "larger than"),
    ],
)
def test_a_file_that_cannot_be_trusted_is_refused(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        stubs_of(tmp_path, content, name)
    with pytest.raises(UsageError, match="folder"):
        stub_file(tmp_path, VOCABULARY, SHAPES)


# ---- every layout ----

_WORDS = st.sampled_from(("v1", "1.00", "no", "~33h", "A b", "é日", "2026-10-15", "x-y"))
_TEXTS = st.text("ab é:#'\"{}[],|>-&*!%@\\`\n\t日", max_size=12)
_ATTRIBUTES = st.dictionaries(
    st.sampled_from(("version", "scope_note", "task", "split", "runner", "unit", "origin", "hardware", "x y")),
    _WORDS | _TEXTS | st.none() | st.lists(_WORDS, max_size=2) | st.dictionaries(_WORDS, _TEXTS, max_size=2),
    max_size=4,
)
_ENTRIES = st.none() | st.dictionaries(
    st.sampled_from(("version", "unit", "comparison", "metric", "licence", "note.x")),
    st.just({"reason": "unreported"}) | st.fixed_dictionaries({"reason": st.just("unavailable"), "note": _TEXTS}),
    max_size=3,
)


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(sorted(VOCABULARY.kinds)))
    attributes: dict[str, Any] = draw(_ATTRIBUTES)
    entries = draw(_ENTRIES)
    if entries is not None:
        items = [*attributes.items(), ("missing_metadata", entries)]
        attributes = dict(draw(st.permutations(items)))
    status = draw(st.sampled_from(("needs_review", "source_checked", "excluded")))
    return {**record_json(**attributes), "kind": kind, "name": draw(_WORDS), "status": status}


class Emitter:
    """Writes values as YAML in layouts that chance chooses; all that it writes is read as the same value."""

    def __init__(self, chance: random.Random, newline: str) -> None:
        self._chance = chance
        self._newline = newline

    def document(self, record: dict[str, Any], indent: str = "") -> str:
        if self._chance.random() < 0.15:
            return self.flow(record, is_quoted=self._chance.random() < 0.5) + self._comment()
        return self.block(record, indent).lstrip(" ")

    def block(self, value: dict[str, Any], indent: str) -> str:
        step = " " * self._chance.choice((1, 2, 2, 4))
        lines = []
        for key, inner in value.items():
            if self._chance.random() < 0.15:
                lines.append(self._chance.choice((f"{indent}# note: [", "", "# at the margin")))
            name = json.dumps(key, ensure_ascii=False) if " " in key or self._chance.random() < 0.1 else key
            if isinstance(inner, dict) and inner and self._chance.random() < 0.7:
                lines.append(f"{indent}{name}:{self._comment()}{self._newline}{self.block(inner, indent + step)}")
            elif isinstance(inner, str) and self._fits_block(inner) and self._chance.random() < 0.5:
                sign, body = ("|", inner) if inner.endswith("\n") else ("|-", inner)
                text = self._newline.join(f"{indent}{step}{line}" for line in body.removesuffix("\n").split("\n"))
                lines.append(f"{indent}{name}: {sign}{self._newline}{text}")
            else:
                lines.append(f"{indent}{name}: {self.flow(inner, is_quoted=False)}{self._comment()}")
        return self._newline.join(lines)

    def flow(self, value: Any, *, is_quoted: bool) -> str:
        if isinstance(value, dict):
            items = [
                f"{json.dumps(k, ensure_ascii=False) if is_quoted or ' ' in k else k}: "
                f"{self.flow(v, is_quoted=is_quoted)}"
                for k, v in value.items()
            ]
            return (
                "{" + ", ".join(items) + ("," if items and not is_quoted and self._chance.random() < 0.2 else "") + "}"
            )
        if isinstance(value, list):
            return "[" + ", ".join(self.flow(inner, is_quoted=is_quoted) for inner in value) + "]"
        if value is None:
            return "null"
        if value.isalnum() and value.isascii() and value != "no" and not is_quoted and self._chance.random() < 0.7:
            return str(value)
        return json.dumps(value, ensure_ascii=False)

    def _comment(self) -> str:
        return self._chance.choice(("", "", "  # chosen: {a: b}", " "))

    @staticmethod
    def _fits_block(text: str) -> bool:
        lines = text.split("\n")
        return all(line.strip(" \t") == line and line for line in lines[:-1]) and (
            (lines[-1] == "" and len(lines) > 1) or (lines[-1].strip(" \t") == lines[-1] != "")
        )


def yaml_text(found: list[dict[str, Any]], chance: random.Random) -> str:
    newline = chance.choice(("\n", "\n", "\r\n"))
    emitter = Emitter(chance, newline)
    end = chance.choice((newline, newline, "", newline * 2, f"{newline}# the end"))
    if chance.random() < 0.3:
        body = newline.join(f"- {emitter.document(record, '  ')}" for record in found)
    else:
        body = f"{newline}---{newline}".join(emitter.document(record) for record in found)
    return body + end


def json_text(found: list[dict[str, Any]], chance: random.Random) -> str:
    options: dict[str, Any] = {"ensure_ascii": chance.random() < 0.3}
    options["indent"] = chance.choice((None, 1, 4, "\t"))
    if options["indent"] is None and chance.random() < 0.5:
        options["separators"] = (",", ":")
    if chance.random() < 0.5:
        return json.dumps(found, **options)
    return json.dumps({"release_id": "x", "records": found}, **options)


def lines_text(found: list[dict[str, Any]], chance: random.Random) -> str:
    newline = chance.choice(("\n", "\r\n"))
    separators = [(",", ":"), (", ", ": "), (" , ", " : ")]
    lines = [json.dumps(record, separators=chance.choice(separators), ensure_ascii=False) for record in found]
    return newline.join(lines) + chance.choice(("", newline, newline * 2))


@pytest.mark.parametrize(("name", "write"), [("a.yaml", yaml_text), ("a.json", json_text), ("a.jsonl", lines_text)])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=st.lists(records(), min_size=1, max_size=4), seed=st.integers(0, 2**32))
def test_in_every_layout_the_stubs_are_all_that_changes(
    tmp_path: Path,
    name: str,
    write: Callable[[list[dict[str, Any]], random.Random], str],
    found: list[dict[str, Any]],
    seed: int,
) -> None:
    for number, record in enumerate(found):
        record["id"] = f"r{number}"
    text = write(found, random.Random(seed))
    stubbed = stubs_of(tmp_path, text, name)
    before = records_of(tmp_path / name)
    assert [record.id for record in before] == [record["id"] for record in found]
    assert stubbed.passed_over == ()

    # All but the insertions is the text as it was.
    left, shift = stubbed.after.decode(), 0
    for insertion in sorted(stubbed.insertions, key=lambda i: i.offset):
        start = insertion.offset
        assert left[start : start + len(insertion.text)] == insertion.text
        left = left[:start] + left[start + len(insertion.text) :]
        shift += len(insertion.text)
    assert left == text

    # The records are those of before and their stubs.
    (tmp_path / name).write_bytes(stubbed.after)
    now = records_of(tmp_path / name)
    wanted = {record.id: [f.name for f in unexplained(record, FIELDS[record.kind])] for record in before}
    assert {stub.record: list(stub.fields) for stub in stubbed.stubs} == {i: f for i, f in wanted.items() if f}
    for old, new in zip(before, now, strict=True):
        expected = json.loads(encode_json(old.original))
        if wanted[old.id]:
            entries = expected["attributes"].setdefault("missing_metadata", {})
            entries.update(dict.fromkeys(wanted[old.id], STUB))
        assert json.loads(encode_json(new.original)) == expected

    # A second run finds nothing.
    assert stub_file(tmp_path / name, VOCABULARY, SHAPES).insertions == ()


# ---- real records ----


@pytest.mark.long
def test_real_files_change_by_their_stubs_only(tmp_path: Path) -> None:
    files = [*(ROOT / "tests/seed/records").rglob("*.yaml"), *(ROOT / "tests/records").rglob("*.yaml")]
    if SHARED.is_dir():
        files += [*(SHARED / "peer-records").glob("*.jsonl"), SHARED / "seed-records.jsonl"]
    changed = 0
    for file in files:
        if "invalid-files" in file.parts:  # broken on purpose
            continue
        stubbed = stub_file(file, VOCABULARY, SHAPES)
        assert stubbed.before == file.read_bytes()
        copy = tmp_path / file.name
        copy.write_bytes(stubbed.before)
        diff = render_diff(file.name, stubbed.text, stubbed.insertions)
        if diff and shutil.which("patch"):
            subprocess.run(["patch", "-s", "-p0", file.name], input=diff.encode(), cwd=tmp_path, check=True)
            assert copy.read_bytes() == stubbed.after
        copy.write_bytes(stubbed.after)
        changed += bool(diff)
        again = stub_file(copy, VOCABULARY, SHAPES)
        assert again.insertions == ()
    assert changed > 20


def test_a_stub_is_a_violation_until_it_is_decided(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(HEAD + "attributes:\n  version: v1\n")
    assert main(["fix", "--write", str(file)]) == 0
    (found,) = [f for f in check_dataset(file).findings if f.severity == "violation"]
    assert (found.rule, found.line) == ("missing-entry-undecided", 13)
    assert "still to be decided" in found.message
    for reason in VOCABULARY.schemes["missingness"].concepts:
        assert reason in (found.fix or "")
    file.write_text(file.read_text().replace(TO_BE_DECIDED, "unreported"))
    assert [f for f in check_dataset(file).findings if f.severity == "violation"] == []


def test_no_scheme_holds_the_word_of_a_stub(vocabulary: Vocabulary) -> None:
    known = {key.casefold() for scheme in vocabulary.schemes.values() for key in scheme.concepts}
    assert TO_BE_DECIDED.casefold() not in known


# ---- the command ----


def test_the_difference_is_shown_and_nothing_written_without_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(HEAD + "attributes: {}\n")
    assert main(["fix", str(file)]) == 1
    shown = capsys.readouterr()
    assert shown.out == (
        f"--- {file}\n+++ {file}\n@@ -6,4 +6,4 @@\n facets: {{}}\n source_ids: []\n links: []\n"
        f"-attributes: {{}}\n+attributes: {{missing_metadata: {{{ENTRY}}}}}\n"
    )
    assert "1 field in 1 record" in shown.err
    assert file.read_text() == HEAD + "attributes: {}\n"


def test_writing_keeps_permissions_and_links_and_is_done_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, link = tmp_path / "a.yaml", tmp_path / "link.yaml"
    file.write_text(HEAD + "attributes: {}\n")
    file.chmod(0o640)
    link.symlink_to("a.yaml")
    assert main(["fix", "--write", str(link)]) == 0
    assert capsys.readouterr().err.startswith(f"{link}: 1 field in 1 record written.")
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    written = file.read_bytes()
    assert main(["fix", "--write", str(file)]) == 0
    assert file.read_bytes() == written
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.yaml", "link.yaml"]


def test_a_file_that_may_not_be_written_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(HEAD + "attributes: {}\n")
    file.chmod(0o444)
    assert main(["fix", "--write", str(file)]) == 2
    assert "read-only" in capsys.readouterr().err
    file.chmod(0o644)
    os.link(file, tmp_path / "b.yaml")
    assert main(["fix", "--write", str(file)]) == 2
    assert "hard link" in capsys.readouterr().err
    assert file.read_text() == HEAD + "attributes: {}\n"


def test_a_file_that_changed_meanwhile_stays(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("new\n")
    with pytest.raises(UsageError, match="changed meanwhile"):
        replace_file(file, b"old\n", b"newer\n")
    assert file.read_text() == "new\n"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", ["no.yaml", "dangling.yaml", "\udcff.yaml", "a\nb.yaml", "-x.yaml"])
def test_a_file_that_is_not_there_is_one_clear_line(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dangling.yaml").symlink_to("nowhere.yaml")
    assert main(["fix", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_odd_ids_and_names_of_files_do_not_disturb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a \x1b[31m b.yaml"
    file.write_text(
        HEAD.replace("kind: benchmark", "kind: use_case").replace("id: a", "id: a._-b") + "attributes: {}\n"
    )
    assert main(["fix", str(file)]) == 0
    text = HEAD.replace("id: a", 'id: "a\\n\\e[31m"') + "attributes: {}\n"
    file.write_text(text)
    assert main(["fix", "--write", str(file)]) == 1
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err
    assert file.read_text() == text


# ---- the diff ----


needs_patch = pytest.mark.skipif(shutil.which("patch") is None, reason="the program patch is not here")


@needs_patch
@settings(max_examples=200, deadline=None)
@given(
    text=st.text("ab\n\r", max_size=60),
    places=st.lists(st.tuples(st.integers(0, 60), st.sampled_from(("x", "x\n", "\nx", "\n"))), max_size=4),
)
def test_a_diff_is_what_patch_understands(
    text: str, places: list[tuple[int, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    insertions = [Insertion(min(offset, len(text)), added) for offset, added in places]
    folder = tmp_path_factory.mktemp("patch")
    (folder / "a").write_bytes(text.encode())
    diff = render_diff("a", text, insertions)
    assert (diff == "") == (insertions == [])
    if diff and text:
        done = subprocess.run(["patch", "--binary", "-s", "-p0", "a"], input=diff.encode(), cwd=folder, check=False)
        assert done.returncode == 0
        assert (folder / "a").read_bytes() == insert(text, insertions).encode()


def test_findings_are_not_hidden_by_stubs(tmp_path: Path) -> None:
    """A field that holds the wrong kind of value gets no stub; the check goes on to say what is wrong with it."""
    file = tmp_path / "a.yaml"
    file.write_text(HEAD + "attributes: {entity_level: [a, b]}\n")
    assert stub_file(file, VOCABULARY, SHAPES).stubs == ()
    found: list[Finding] = check_dataset(file).findings
    assert "setting-concept" in {f.rule for f in found}
