"""Whatever is handed to the reader and the checker, findings or a refusal come back: no traceback, no hang."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from evkg.jsontext import Json, encode_json
from evkg.reader import read_records
from evkg.record import Record
from evkg.vocabulary import load_vocabulary
from tests.builds import ROOT, record
from tests.fuzz.campaign import MEMORY, Reading, UncleanError
from tests.fuzz.inputs import OddFile
from tests.fuzz.mutation import Pairs, dump, mutated, parse, places, sound_records


def campaign(inputs: int, seed: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.campaign", "--inputs", str(inputs), "--seed", str(seed)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    figures: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (1 if figures["faults"] else 0), done.stderr[-2_000:]
    return figures


def assert_clean(figures: dict[str, Any], inputs: int) -> None:
    assert figures["faults"] == {}
    assert figures["inputs"] == inputs
    assert figures["peak"] < MEMORY
    # Both ways are taken: some records are read and checked, and much is found.
    assert figures["records checked"] > inputs / 20
    assert figures["findings on files"] > inputs / 2
    assert figures["findings on folders"] > inputs / 2
    assert figures["refusals"] > 0


def test_some_odd_files_give_findings_or_refusals() -> None:
    assert_clean(campaign(200, 1), 200)


@pytest.mark.long
def test_thousands_of_odd_files_give_findings_or_refusals() -> None:
    """More of them: `python -m tests.fuzz.campaign --inputs 100000`."""
    assert_clean(campaign(10_000, 50_000), 10_000)


@pytest.mark.parametrize(
    "item",
    [
        # A key of some thousand characters stood in the message as a whole.
        OddFile("f.jsonl", dump(Pairs([*parse(sound_records()[0]), ("x" * 3_000, 1)])).encode()),
        OddFile("f.json", b'{"records":[],"' + b"x" * 3_000 + b'":1,"' + b"x" * 3_000 + b'":2}'),
        OddFile("f.yaml", b"id: a\nkind: result\n" + b"x" * 3_000 + b": 1\n" + b"x" * 3_000 + b": 2\n"),
    ],
    ids=["unknown key", "key that stands twice in a snapshot", "key that stands twice in YAML"],
)
def test_no_finding_repeats_a_long_text(tmp_path: Path, item: OddFile) -> None:
    reading = Reading(tmp_path)
    reading.take(item)
    reading.check()
    assert reading.figures["findings on folders"]


@pytest.mark.parametrize(
    ("kind", "section", "value"),
    [
        ("result", "attributes", '{"%s": 1}'),
        ("result", "attributes", '{"comparison": {"%s": "a"}}'),
        ("result", "attributes", '{"uncertainty": {"%s": "a"}}'),
        ("result", "attributes", '{"%s": null}'),
        ("result", "attributes", '{"missing_metadata": {"%s": {"reason": "unreported"}}}'),
        ("result", "attributes", '{"missing_metadata": {"unit": {"reason": "unreported", "%s": 1}}}'),
        ("result", "facets", '{"%s": []}'),
        ("result", "links", '[{"relation": "%s", "target_id": "a"}]'),
        ("claim", "attributes", '{"field": "links:%s:a"}'),
        ("result", "status", '"%s"'),
        ("result", "name", '"%s"'),
        ("%s", "name", '"a"'),
    ],
)
def test_a_long_word_is_shown_shortened_wherever_it_stands(tmp_path: Path, kind: str, section: str, value: str) -> None:
    long = "x" * 5_000
    parts = {
        "id": '"a"',
        "kind": json.dumps(kind.replace("%s", long)),
        "name": '"A"',
        "description": '""',
        "status": '"discovered"',
        "facets": "{}",
        "source_ids": "[]",
        "links": "[]",
        "attributes": "{}",
    }
    parts[section] = value.replace("%s", long)
    line = ",".join(f'"{key}":{text}' for key, text in parts.items())
    reading = Reading(tmp_path)
    reading.take(OddFile("f.jsonl", f"{{{line}}}\n".encode()))
    reading.check()
    assert reading.figures["findings on folders"]


@pytest.mark.long
def test_no_message_repeats_a_long_text_wherever_it_stands_in_a_record(tmp_path: Path) -> None:
    """Each key and each value of each kind of record in its turn: an id under links once stood whole in a message."""
    lines: dict[tuple[str, Json, str], str] = {}
    for line in sound_records():
        kind = json.loads(line)["kind"]
        for number, (holder, index) in enumerate(places(parse(line))):
            key, value = holder[index] if isinstance(holder, Pairs) else (None, holder[index])
            longer = value + (value[-1:] or "x") * 5_000 if isinstance(value, str) else "x" * 5_000
            changes = {"value": (key, "x" * 5_000), "longer": (key, longer), "key": ("x" * 5_000, value)}
            for name, (new_key, new) in changes.items() if key != "id" or holder != parse(line) else ():
                tree = parse(line)
                inner, place = places(tree)[number]
                inner[place] = (new_key, new) if isinstance(inner, Pairs) else new
                tree[0] = ("id", f"r-{len(lines)}")
                lines.setdefault((kind, key, name), dump(tree))
    reading = Reading(tmp_path)
    reading.take(OddFile("f.jsonl", "\n".join(lines.values()).encode()))
    reading.check()
    assert reading.figures["records checked"] > 700


def test_a_value_of_any_type_may_stand_where_a_word_belongs(tmp_path: Path) -> None:
    """An object under metric_direction once ended the check with an error of Python."""
    sound: dict[str, Json] = {"metric": "accuracy", "printed_value": "0.5", "numeric_value": "0.5", "unit": "fraction"}
    values: tuple[Json, ...] = ({"a": 1}, ["higher"], True, 0, None, {}, [])
    keys = (*sound, "metric_direction", "uncertainty", "source_locator", "review", "missing_metadata")
    many = [
        encode_json(record(f"r-{place}-{number}", "result", attributes={**sound, key: value}))
        for place, key in enumerate(keys)
        for number, value in enumerate(values)
    ]
    reading = Reading(tmp_path)
    reading.take(OddFile("f.jsonl", "\n".join(many).encode()))
    reading.check()
    assert reading.figures["records checked"] == len(many) == 63


def test_a_description_of_the_data_set_is_shown_shortened(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    reading.take(OddFile("f.jsonl", f"{sound_records()[0]}\n".encode()))
    reading.take(OddFile("dataset.yaml", f"{'x' * 3_000}: a\nlicence: {{reason: {'x' * 3_000}}}\n".encode()))
    reading.check()
    assert reading.figures["findings on folders"] >= 2


def test_what_is_unclean_is_told_with_the_fewest_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The watch itself can fail: a checker that trips over one file is found out, and the file is named."""
    reading = Reading(tmp_path)
    for number in range(8):
        name = "odd.jsonl" if number == 5 else "f.jsonl"
        reading.take(OddFile(name, f'{{"id":"r{number}"}}\n'.encode()))

    def trip(path: Path, **_: Any) -> None:
        if any(path.rglob("odd.jsonl")):
            raise KeyError("tripped")

    monkeypatch.setattr("tests.fuzz.campaign.check_dataset", trip)
    monkeypatch.setattr("tests.fuzz.campaign.Reading._report", lambda *_: None)
    with pytest.raises(UncleanError, match=r"KeyError: 'tripped'; files: \[odd\.jsonl \(12 bytes\)[^,]*\]"):
        reading.check()


# ---- the mutations themselves ----


def test_a_record_is_written_again_as_it_was() -> None:
    for line in sound_records():
        assert json.loads(dump(parse(line))) == json.loads(line)


def test_every_node_of_a_record_can_be_changed() -> None:
    tree = parse('{"a": [1, {"b": null}], "c": "d"}')
    assert sorted(repr(holder[index]) for holder, index in places(tree)) == sorted(
        map(repr, [("a", ["1", [("b", None)]]), "1", [("b", None)], ("b", None), ("c", "d")])
    )


def test_many_sparing_mutations_can_still_be_read(tmp_path: Path) -> None:
    """What is generated hangs on which modules are loaded, so they are counted all together."""
    trees: list[Pairs] = []

    @settings(max_examples=600, derandomize=True, database=None, deadline=None)
    @given(mutated(is_sparing=True))
    def keep(tree: Pairs) -> None:
        trees.append(tree)

    keep()
    file = tmp_path / "mutated.jsonl"
    file.write_text("".join(f"{dump(tree)}\n" for tree in trees), encoding="utf-8")
    count = sum(isinstance(item, Record) for item in read_records(file, load_vocabulary()))
    assert len(trees) / 4 < count < len(trees)
