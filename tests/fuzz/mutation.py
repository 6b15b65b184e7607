"""Faulty records made of sound ones: any node deleted, doubled, renamed, moved or replaced by an odd value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

from evkg.reader import read_records
from evkg.record import Record
from evkg.vocabulary import load_vocabulary
from tests.builds import ROOT


class Written(str):
    """A token that is written as it stands, such as `NaN`, which JSON does not know."""

    __slots__ = ()


class Pairs(list[tuple[str, Any]]):
    """An object as a list of (key, value), so that a key can stand twice."""

    __slots__ = ()


#: Texts that readers, patterns, IRIs, terminals and stores trip over.
ODD_TEXTS: Final = (
    "",
    " ",
    "\n",
    "\t",
    "\x00",
    "\x1b[31m",
    "\x7f",
    "\x85",
    "\u2028",
    "\u200b",
    "\ufeff",
    "\ufffe",
    "\ud800",
    "\udfff\ud800",
    "e\u0301",
    "\u202eabc",
    "🧬",
    "日本語",
    "٣",
    ".",
    "..",
    "../../etc/passwd",
    "%",
    "%2E",
    "a%zz",
    "<>",
    "{}|^`\\",
    "'\"",
    "n/a",
    "None",
    "Not reported",
    "-",
    "null",
    "true",
    "no",
    "~",
    "NaN",
    "1.00",
    "010",
    "1e-3",
    "1e999",
    "12:30",
    "2026-02-30",
    "2026-01-01T25:00:00Z",
    "-0044-03-15",
    "99999-01-01",
    "10.1000/x y",
    "https://doi.org/10.1000/182",
    "http://[::1",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "a" * 64,
    "A" * 64,
    "a" * 63,
    "excluded",
    " Excluded",
    "EXCLUDED",
    "open",
    "links:family:x",
    "links::",
    "uncertainty.value",
    "@type",
    "@id",
    "_:b0",
    "id",
    "__proto__",
    "someone@example.org",
    "sk-0123456789abcdef0123456789abcdef",
)
#: Numbers and words as tokens: what JSON allows and what it does not.
ODD_TOKENS: Final = tuple(
    map(
        Written,
        (
            "0",
            "-0",
            "1.00",
            "-1",
            "1e400",
            "1e-400",
            "1E+99999999",
            "0." + "3" * 60,
            "9" * 60,
            "9" * 5_000,
            "NaN",
            "Infinity",
            "-Infinity",
            "0x10",
            "1_000",
            "01",
            "+1",
            ".5",
            "undefined",
            "null",
            "true",
            "false",
        ),
    )
)

odd_texts = (
    st.sampled_from(ODD_TEXTS)
    | st.text(max_size=12)
    | st.integers(1, 6_000).map(lambda length: "x" * length)
    | st.integers(1, 400).map(lambda length: "é\u0301" * length)
)
odd_keys = st.sampled_from((*ODD_TEXTS, *(str(number) for number in range(3)))) | odd_texts


def _nested(depth: int, is_list: bool) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if is_list else Pairs([("a", value)])
    return value


odd_values: st.SearchStrategy[Any] = (
    st.none()
    | st.sampled_from(ODD_TOKENS)
    | odd_texts
    | st.integers()
    | st.floats()
    | st.just([])
    | st.just(Pairs())
    | st.builds(_nested, st.integers(1, 120), st.booleans())
    | st.lists(odd_texts | st.none(), max_size=4)
    | st.lists(st.tuples(odd_keys, odd_texts | st.none() | st.just([])), max_size=3).map(Pairs)
)


#: The id of every mutated record, until `numbered` makes them differ.
ID: Final = "mutated-record"


@cache
def sound_records() -> tuple[str, ...]:
    """The seed records, and the tests' complete and faulty records of every kind, one line of JSON each."""
    vocabulary = load_vocabulary()
    folders = ("tests/seed", "tests/records/valid", "tests/records/invalid")
    found = [
        item.line
        for folder in folders
        for item in read_records(Path(ROOT, folder), vocabulary)
        if isinstance(item, Record)
    ]
    return tuple(sorted(set(found)))


def parse(line: str) -> Pairs:
    """A line of JSON as pairs; its numbers keep their text."""
    value = json.loads(line, object_pairs_hook=Pairs, parse_float=Written, parse_int=Written, parse_constant=Written)
    assert isinstance(value, Pairs)
    return value


def dump(value: Any, *, is_ascii: bool = False) -> str:
    """A tree as one line of JSON, or of what looks like it; only lone surrogates are always escaped."""
    if isinstance(value, Written):
        return str(value)
    if isinstance(value, Pairs):
        inner = ",".join(f"{dump(key, is_ascii=is_ascii)}:{dump(item, is_ascii=is_ascii)}" for key, item in value)
        return f"{{{inner}}}"
    if isinstance(value, list):
        return f"[{','.join(dump(item, is_ascii=is_ascii) for item in value)}]"
    if isinstance(value, str):
        has_surrogate = any("\ud800" <= character <= "\udfff" for character in value)
        return json.dumps(value, ensure_ascii=is_ascii or has_surrogate)
    return json.dumps(value)


def places(value: Any) -> list[tuple[Any, int]]:
    """Each node below a value as (the list that holds it, its index)."""
    found: list[tuple[Any, int]] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        for index, item in enumerate(holder):
            found.append((holder, index))
            inner = item[1] if isinstance(holder, Pairs) else item
            if isinstance(inner, list):
                waiting.append(inner)
    return found


_CHANGES: Final = ("replace", "replace", "replace", "delete", "double", "rename", "wrap", "retype", "move", "insert")


def _change(draw: st.DrawFn, tree: Pairs, is_sparing: bool) -> None:
    """One change somewhere in a record; a sparing one mostly leaves the envelope alone."""
    nodes = places(tree)
    if is_sparing:
        inner = [node for node in nodes if node[0] is not tree]
        nodes = inner if inner and draw(st.sampled_from((True,) * 19 + (False,))) else nodes
    if not nodes:
        tree.append((draw(odd_keys), draw(odd_values)))
        return
    holder, index = draw(st.sampled_from(nodes))
    is_pair = isinstance(holder, Pairs)
    key, value = holder[index] if is_pair else ("", holder[index])

    def put(new: Any) -> None:
        holder[index] = (key, new) if is_pair else new

    match draw(st.sampled_from(_CHANGES)):
        case "replace":
            put(draw(odd_values))
        case "delete":
            del holder[index]
        case "double":
            holder.insert(draw(st.integers(0, len(holder))), holder[index])
        case "rename" if is_pair:
            holder[index] = (draw(odd_keys | st.just(key.upper()) | st.just(f"{key}s")), value)
        case "wrap":
            put([value] if draw(st.booleans()) else Pairs([(draw(odd_keys), value)]))
        case "retype":
            put(Written(value) if isinstance(value, str) else dump(value))
        case "move":
            other, place = draw(st.sampled_from(nodes))
            moved = other[place]
            # A copy, so that no node ever holds itself.
            put(json_copy(moved[1] if isinstance(other, Pairs) else moved))
        case _:
            holder.append((draw(odd_keys), draw(odd_values)) if is_pair else draw(odd_values))


def json_copy(value: Any) -> Any:
    """A copy of a tree that shares no list with it."""
    if isinstance(value, Pairs):
        return Pairs((key, json_copy(item)) for key, item in value)
    return [json_copy(item) for item in value] if isinstance(value, list) else value


def numbered(content: bytes, numbers: Iterator[int]) -> bytes:
    """The content with an id of its own for each mutated record: in one data set equal ids hide each other.

    It keeps its length, and is done after generation, which must not depend on what came before.
    """
    return re.sub(ID.encode(), lambda _: b"mutated-%06d" % next(numbers), content)


@st.composite
def mutated(draw: st.DrawFn, *, is_sparing: bool = False) -> Pairs:
    """A sound record after one to four changes; with the id `ID` unless that was changed."""
    tree = parse(draw(st.sampled_from(sound_records())))
    before = dict(tree)["id"]
    for _ in range(draw(st.integers(1, 4))):
        _change(draw, tree, is_sparing)
    for index, (key, value) in enumerate(tree):
        if key == "id" and value == before:
            tree[index] = (key, ID)
    return tree
