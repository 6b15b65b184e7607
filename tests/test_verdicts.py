"""What is kept of a check can never change a verdict: a check with it gives what a fresh one gives."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evkg.check import Checked, check_dataset
from evkg.jsontext import encode_json
from evkg.neighbours import Examiner
from evkg.record import Record
from evkg.verdicts import Verdicts, recipe, verdict_file
from evkg.vocabulary import data_folder
from tests.builds import SEED, copy_seed, edit, record, write_records

RESULTS = "records/saadat-fellay-2026/results.yaml"


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the records that are examined from now on."""
    seen: list[str] = []
    real = Examiner.examine

    def examine(self: Examiner, item: Record) -> object:
        seen.append(item.id)
        return real(self, item)

    monkeypatch.setattr(Examiner, "examine", examine)
    return seen


def told(checked: Checked) -> tuple[object, ...]:
    return (checked.findings, checked.kinds, checked.withheld, checked.shared, checked.severities, checked.extra)


def assert_as_fresh(path: Path, cache: Path) -> Checked:
    kept, fresh = check_dataset(path, cache=cache), check_dataset(path)
    assert told(kept) == told(fresh)
    return kept


def test_a_second_check_examines_nothing_and_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = assert_as_fresh(SEED, tmp_path / "v")
    seen = counted(monkeypatch)
    assert told(check_dataset(SEED, cache=tmp_path / "v")) == told(first)
    assert seen == []


def test_only_what_was_edited_is_examined_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_records(tmp_path / "r.jsonl", *(record(f"m-{i}", "model") for i in range(40)))
    check_dataset(file, cache=tmp_path / "v")
    edit(file, '"id":"m-7"', '"id": "m-7"')
    seen = counted(monkeypatch)
    check_dataset(file, cache=tmp_path / "v")
    assert seen == ["m-7"]
    assert_as_fresh(file, tmp_path / "v")


def test_who_asked_about_a_record_is_examined_when_that_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = record("s", "source")
    citing = [record(f"m-{i}", "model", source_ids=["s"] if i < 2 else []) for i in range(9)]
    file = write_records(tmp_path / "r.jsonl", source, *citing)
    check_dataset(file, cache=tmp_path / "v")
    for changed in ({**source, "status": "superseded"}, {**source, "kind": "model"}, {**source, "id": "t"}):
        write_records(file, changed, *citing)
        with monkeypatch.context() as patch:
            seen = counted(patch)
            check_dataset(file, cache=tmp_path / "v")
        assert sorted(seen) == sorted([str(changed["id"]), "m-0", "m-1"])
        assert_as_fresh(file, tmp_path / "v")


def test_lines_that_move_are_found_where_they_are_now(tmp_path: Path) -> None:
    file = write_records(tmp_path / "r.jsonl", *(record(f"m-{i}", "model", source_ids=["no"]) for i in range(5)))
    check_dataset(file, cache=tmp_path / "v")
    text = file.read_text(encoding="utf-8")
    file.write_text(encode_json(record("new", "model")) + "\n\n" + text, encoding="utf-8")
    found = assert_as_fresh(file, tmp_path / "v")
    assert [f.line for f in found.findings if f.rule == "unknown-id"] == [3, 4, 5, 6, 7]


def test_what_is_told_once_a_file_is_still_told(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    lines = [encode_json(record(f"m-{i}", "model")) for i in range(4)]
    file.write_text("\r\n".join([*lines, ""]), encoding="utf-8", newline="")
    for _ in range(3):
        found = assert_as_fresh(file, tmp_path / "v")
        assert [f.line for f in found.findings if f.rule == "line-ends"] == [1]


def test_an_edited_yaml_file_is_read_again_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = copy_seed(tmp_path / "graph")
    check_dataset(seed, cache=tmp_path / "v")
    edit(seed / RESULTS, 'printed_value: "33.88"', 'printed_value: "33.89"')
    seen = counted(monkeypatch)
    found = check_dataset(seed, cache=tmp_path / "v")
    assert 0 < len(seen) < 49
    assert any(f.rule == "printed-and-numeric-differ" for f in found.findings)
    assert_as_fresh(seed, tmp_path / "v")


def test_small_changes_are_added_to_the_file_and_it_is_written_anew_when_most_is_old(tmp_path: Path) -> None:
    file, cache = tmp_path / "r.jsonl", tmp_path / "v"
    records = [record(f"m-{i}", "model") for i in range(40)]
    check_dataset(write_records(file, *records), cache=cache)
    first = cache.read_bytes()
    check_dataset(write_records(file, *records[:-1], record("m-39", "model", name="x")), cache=cache)
    second = cache.read_bytes()
    assert second.startswith(first)
    assert 0 < len(second) - len(first) < len(first) / 4
    assert_as_fresh(file, cache)
    assert cache.read_bytes() == second
    assert_as_fresh(write_records(file, *records[:5]), cache)
    assert len(cache.read_bytes()) < len(first) / 2
    cache.write_bytes(second[:-9])  # the last part was cut off while it was written: the first still holds
    assert_as_fresh(write_records(file, *records), cache)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "other", "folder"])
def test_a_damaged_file_holds_nothing(tmp_path: Path, damage: str) -> None:
    file = write_records(tmp_path / "r.jsonl", record("a", "model"))
    cache = tmp_path / "v"
    check_dataset(file, cache=cache)
    content = bytearray(cache.read_bytes())
    content[len(content) // 2] ^= 1
    changed = {"cut": content[:-9], "flipped": content, "empty": b"", "other": b"x" * 99}
    if damage == "folder":
        cache.unlink()
        cache.mkdir()
    else:
        cache.write_bytes(bytes(changed[damage]))
    assert not Verdicts(cache, recipe("https://w3id.org/evkg/", "fast", is_open=False)).is_known
    assert_as_fresh(file, cache)


def test_other_rules_options_or_code_hold_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = "https://w3id.org/evkg/"
    known = {recipe(base, "fast", is_open=False), recipe(base, "pyshacl", is_open=False)}
    known |= {recipe(base, "fast", is_open=True), recipe("https://example.org/", "fast", is_open=False)}
    changed = Path(shutil.copytree(data_folder("shapes"), tmp_path / "shapes"))
    with (changed / "result.ttl").open("a", encoding="utf-8") as stream:
        stream.write("# another rule\n")
    monkeypatch.setattr("evkg.verdicts.data_folder", lambda name: changed if name == "shapes" else data_folder(name))
    known.add(recipe(base, "fast", is_open=False))
    assert len(known) == 5


def test_it_is_kept_where_users_keep_what_can_be_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert verdict_file(SEED).parent == tmp_path / "evkg"
    assert verdict_file(SEED) != verdict_file(tmp_path)


def test_a_number_that_is_no_text_is_remembered_as_it_is_told(tmp_path: Path) -> None:
    file = write_records(tmp_path / "r.jsonl", record("r", "result"))
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace('"attributes":{', '"attributes":{"metric":"accuracy","numeric_value":1e3', 1), encoding="utf-8"
    )
    first = assert_as_fresh(file, tmp_path / "v")
    assert "1e3" in {finding.value for finding in first.findings}
    assert_as_fresh(file, tmp_path / "v")


def test_a_repeated_id_of_another_kind_does_not_lend_its_class_to_others(tmp_path: Path) -> None:
    """Wherever it stands: r-2 cites a model, since the first record of the id is one."""
    first, second = record("r-1", "model"), record("r-1", "source")
    citing = record("r-2", "model", source_ids=["r-1"])
    found: list[set[str]] = []
    for files in ([[first], [second, citing]], [[first, second], [citing]]):
        folder = tmp_path / str(len(found)) / "graph"
        for number, some in enumerate(files):
            write_records(folder / f"{number}.jsonl", *some)
        checked = assert_as_fresh(folder, tmp_path / "v")
        found.append({finding.rule for finding in checked.findings if finding.record == "r-2"})
    assert found[0] == found[1]
    assert "record-sources-kind" in found[0]


_STATUSES = ("discovered", "source_checked", "superseded", "excluded", "disputed", "Excluded")


@pytest.mark.long
@settings(max_examples=6, derandomize=True, deadline=None)
@given(st.integers(0, 10**9))
def test_after_any_edits_a_check_says_what_a_fresh_one_says(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    _edit(tmp_path_factory, seed)


@pytest.mark.long
@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.integers(0, 10**9))
def test_after_any_of_many_edits_a_check_says_what_a_fresh_one_says(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    _edit(tmp_path_factory, seed)


def _edit(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    folder = tmp_path_factory.mktemp("edits")
    chance = random.Random(seed)
    kinds = ("model", "source", "result", "evaluation", "dataset", "claim")

    def some() -> dict[str, object]:
        name = f"r-{chance.randint(0, 14)}"
        relation = chance.choice(["evaluation", "subject", "supersedes", "data", "part_of"])
        links = [{"relation": relation, "target_id": f"r-{chance.randint(0, 16)}"}]
        sources = [f"r-{chance.randint(0, 16)}" for _ in range(chance.randint(0, 2))]
        status = chance.choice(_STATUSES)
        return record(name, chance.choice(kinds), status=status, links=links, source_ids=sources)

    records = [some() for _ in range(12)]
    for _ in range(4):
        half = chance.randint(0, len(records))
        write_records(folder / "graph" / "a.jsonl", *records[:half])
        write_records(folder / "graph" / "b.jsonl", *records[half:])
        if records:
            assert_as_fresh(folder / "graph", folder / "v")
        change = chance.choice(["edit", "remove", "add", "move"])
        place = chance.randrange(len(records)) if records else 0
        if change == "add" or not records:
            records.insert(place, some())
        elif change == "edit":
            records[place] = some()
        elif change == "remove":
            records.pop(place)
        else:
            chance.shuffle(records)


def test_a_verdict_of_an_earlier_check_holds_only_while_the_others_are_as_they_were_then(tmp_path: Path) -> None:
    others = [record(f"m-{i}", "method") for i in range(10)]
    first = record("a", "configuration", links=[{"relation": "variant_of", "target_id": "b"}])
    file, cache = tmp_path / "r.jsonl", tmp_path / "v"
    for records in ([first, record("b", "model")], [record("a", "configuration")], [first]):
        found = assert_as_fresh(write_records(file, *others, *records), cache)
    assert [f.rule for f in found.findings if f.severity == "violation" and f.field == "links.0.target_id"] == [
        "unknown-id"
    ]


def test_a_record_that_another_of_its_id_withholds_is_not_quoted_from_an_earlier_check(tmp_path: Path) -> None:
    others = [record(f"m-{i}", "method") for i in range(10)]
    open_one = record("a", "result", attributes={"printed_value": "SECRET", "unknown_key": "SECRET"})
    file, cache = tmp_path / "r.jsonl", tmp_path / "v"
    check_dataset(write_records(file, *others, open_one), cache=cache)
    write_records(file, *others, open_one, record("a", "result", status="excluded"))
    for _ in range(2):
        assert "SECRET" not in str(assert_as_fresh(file, cache).findings)


@pytest.mark.parametrize("name", ["a.yaml", "a.jsonl"])
def test_a_file_that_is_saved_while_it_is_checked_is_checked_again(tmp_path: Path, name: str) -> None:
    file, cache = tmp_path / name, tmp_path / "v"
    good, bad = (encode_json(record("a", "model", source_ids=ids)) + "\n" for ids in ([], ["nowhere"]))
    file.write_text(good, encoding="utf-8")

    def save(text: str, *_: object) -> None:
        if text.startswith("checking"):  # it was read
            file.write_text(bad, encoding="utf-8")

    check_dataset(file, cache=cache, progress=save)
    assert [f.rule for f in assert_as_fresh(file, cache).findings if f.severity == "violation"].count("unknown-id") == 1


def test_habits_of_a_file_are_told_at_the_line_that_is_first_now(tmp_path: Path) -> None:
    file, cache = tmp_path / "r.jsonl", tmp_path / "v"
    lines = [f"{encode_json(record(f'm-{i}', 'model'))}\r\n".encode() for i in range(6)]
    for kept in (lines, lines[1:], [b"\xef\xbb\xbf" + lines[0], *lines[1:]], lines[2:]):
        file.write_bytes(b"".join(kept))
        found = assert_as_fresh(file, cache)
        assert [f.line for f in found.findings if f.rule == "line-ends"] == [1]
