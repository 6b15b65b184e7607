"""Files that somebody might hand to the reader: damaged, hostile, or only odd."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass, field
from typing import Final

from hypothesis import strategies as st

from tests.fuzz.mutation import ODD_TEXTS, dump, mutated, odd_keys, sound_records


@dataclass(frozen=True)
class OddFile:
    """The name and the bytes of one input."""

    name: str
    content: bytes = field(repr=False)

    def __repr__(self) -> str:
        shown = self.content if len(self.content) <= 400 else self.content[:200] + b"..." + self.content[-200:]
        return f"{self.name} ({len(self.content)} bytes): {shown!r}"


NAMES: Final = ("f.yaml", "f.yml", "f.jsonl", "f.ndjson", "f.json", "dataset.yaml")
_ENCODINGS: Final = ("utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-7", "cp037")
_PIECES: Final = (
    *(bytes([byte]) for byte in b'\x00\x0b\x0c\x1a\xff\xc0\xfe\t\r\n{}[]":,#@>|&*!%?-'),
    *(text.encode() for text in ("\ufeff", "\x85", "\u2028", "😀", "\\ud800", "\\u0000", "\\x", "\\")),
    *(
        b"---\n",
        b"...\n",
        b"&a ",
        b"*a",
        b"!!int ",
        b"!!python/object:os.system ",
        b"<<: *a",
        b"? ",
        b"- ",
        b"%YAML 1.1\n",
    ),
    *(
        b"NaN",
        b"1e999",
        b"null",
        b"\n\n\n",
        b"\r",
        b": ",
        b"''",
        b'"',
        b"|\n",
        b">-\n",
        b"#",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
    ),
    *(b'"kind":["x"],', b'"id":"a",', b'"status":"excluded",', b"status: excluded\n", b"kind: result\n", b"id: a\n"),
)
_OPENERS: Final = ("[", "{a: ", "- ", "? ", '{"a":', "[[", "a:\n ", "&x [", "!!str ", "'", "> ", "(")


def _bomb(width: int, depth: int, is_mapping: bool) -> str:
    lines = ["a0: &a0 [x, x]"]
    for level in range(1, depth):
        inner = ", ".join(f"k{number}: *a{level - 1}" if is_mapping else f"*a{level - 1}" for number in range(width))
        lines.append(f"a{level}: &a{level} {'{' if is_mapping else '['}{inner}{'}' if is_mapping else ']'}")
    return "\n".join(lines) + "\n"


def _packed(content: bytes) -> st.SearchStrategy[bytes]:
    whole = gzip.compress(content, 1, mtime=0)
    return st.one_of(
        st.just(whole),
        st.just(content),
        st.just(whole + whole),
        st.just(whole + b"garbage"),
        st.just(gzip.compress(whole, 1, mtime=0)),
        st.just(zlib.compress(content)),
        st.integers(0, len(whole)).map(lambda end: whole[:end]),
        st.tuples(st.integers(0, len(whole) - 1), st.integers(1, 255)).map(
            lambda hit: whole[: hit[0]] + bytes([whole[hit[0]] ^ hit[1]]) + whole[hit[0] + 1 :]
        ),
        st.integers(1, 40).map(lambda size: gzip.compress(b"\0" * (size << 20), 1, mtime=0)),
    )


@st.composite
def _texts_of_records(draw: st.DrawFn) -> tuple[str, str]:
    """(name, text) of a file with some mutated records in the form of its name."""
    name = draw(st.sampled_from(NAMES[:-1]))
    is_ascii = draw(st.booleans())
    trees = draw(st.lists(mutated(is_sparing=True) | mutated(is_sparing=True) | mutated(), min_size=1, max_size=3))
    lines = [dump(tree, is_ascii=is_ascii) for tree in trees]
    if name.endswith((".yaml", ".yml")):
        if draw(st.booleans()):  # block style as far as the top level goes
            blocks = ["\n".join(f"{dump(key)}: {dump(value)}" for key, value in tree) for tree in trees]
            return name, "\n---\n".join(blocks) + "\n"
        return name, "\n---\n".join(lines)
    if name.endswith(".json"):
        return name, draw(st.sampled_from((f"[{','.join(lines)}]", f'{{"records":[{",".join(lines)}]}}', lines[0])))
    return name, "\n".join(lines) + draw(st.sampled_from(("\n", "", "\r\n", "\n\n")))


@st.composite
def _texts_of_yaml(draw: st.DrawFn) -> tuple[str, str]:
    """(name, text) of YAML, or of what looks like it: bombs, depths, long keys, words in any order."""
    name = draw(st.sampled_from(NAMES))
    which = draw(st.integers(0, 5))
    if which == 0:
        return name, _bomb(draw(st.integers(1, 12)), draw(st.integers(1, 40)), draw(st.booleans()))
    if which == 1:
        depth = draw(st.integers(1, 300) | st.sampled_from((999, 5_000, 60_000)))
        return name, draw(st.sampled_from(_OPENERS)) * depth + draw(
            st.sampled_from(("", "1", "]" * depth, "}" * depth))
        )
    if which == 2:
        key = draw(odd_keys) * draw(st.sampled_from((1, 50, 2_000)))
        return name, f"id: a\nkind: result\n{key}: {draw(odd_keys)}\n"
    if which == 3:
        word = st.sampled_from(
            [*ODD_TEXTS, ": ", "- ", "? ", "\n", "\n  ", "\n ", "&a ", "*a", "|", ">", "[", "]", "{", "}", ","]
        )
        return name, "".join(draw(st.lists(word, max_size=30)))
    if which == 4:
        key = draw(
            st.sampled_from(("base_iri", "title", "licence", "id", "missing_metadata", "description", "version"))
        )
        return "dataset.yaml", f"{key}: {draw(odd_keys)}\n{draw(odd_keys)}: x\n"
    return name, draw(
        st.sampled_from(("", "\n", "---\n" * 1_000, "- \n" * 1_500, "a: 1\n" * 1_500, "[]", "{}", "null", '"'))
    )


@st.composite
def odd_files(draw: st.DrawFn) -> OddFile:
    """One odd file: some bytes, a damaged record, or a text made to be difficult."""
    which = draw(st.integers(0, 9))
    if which == 0:
        name, content = draw(st.sampled_from(NAMES)), draw(st.binary(max_size=300))
    else:
        if which <= 6:
            name, text = draw(_texts_of_records())
        elif which == 7:
            name, text = draw(st.sampled_from(NAMES)), draw(st.sampled_from(sound_records()))
        else:
            name, text = draw(_texts_of_yaml())
        encoding = draw(st.sampled_from(("utf-8",) * 40 + _ENCODINGS))
        content = text.encode(
            encoding, "surrogatepass" if encoding.startswith("utf-") and encoding != "utf-7" else "replace"
        )
    for _ in range(draw(st.sampled_from((0, 0, 0, 0, 1, 2, 3)))):
        at = draw(st.integers(0, len(content)))
        removed = draw(st.sampled_from((0, 1, 5, 40, 1_000_000)))
        content = content[:at] + draw(st.sampled_from(_PIECES) | st.just(b"")) + content[at + removed :]
    if draw(st.integers(0, 11)) == 0 and name != "dataset.yaml":
        name, content = f"{name}.gz", draw(_packed(content[:200_000]))
    return OddFile(name, content)
