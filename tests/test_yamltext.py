"""YAML keeps what was written, and a fault names its line and column."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evkg.yamltext import Mapping, Node, Scalar, Sequence, YamlError, parse_yaml, place_of

FIXED = settings(max_examples=200, deadline=None, derandomize=True, database=None)


def _one(text: str) -> Mapping:
    (node,) = parse_yaml(text)
    assert isinstance(node, Mapping)
    return node


def _text(node: Node) -> str:
    assert isinstance(node, Scalar)
    return node.text


@pytest.mark.parametrize(
    "written",
    [
        "1.00",
        "no",
        "12:30",
        "010",
        "2026-10-15",
        "2026-10-15T10:56:26Z",
        "1_000",
        "1e-3",
        "0x1F",
        "yes",
        "~",
        "+1",
        "3.1415926535897932384626433832795028841971",
        "r = 1.00",
        "< 0.001",
        "~33h",
        "53.85%",
        "-.5",
        "0o17",
        ".inf",
    ],
)
def test_a_plain_scalar_keeps_its_text(written: str) -> None:
    scalar = _one(f"value: {written}").items["value"]
    assert scalar == Scalar(written, True, 1, 8)


@pytest.mark.parametrize("written", ["'12'", '"12"', "!!str 12", "! 12", "|-\n  12", ">-\n  12"])
def test_what_is_quoted_or_tagged_as_text_is_not_plain(written: str) -> None:
    scalar = _one(f"value: {written}").items["value"]
    assert isinstance(scalar, Scalar)
    assert (scalar.text, scalar.plain) == ("12", False)


def test_every_key_has_its_line_and_column_in_characters() -> None:
    node = _one("é: 1\n# ünder\nlinks:\n  - {relation: system, 😀: x}\n")
    assert node.places == {"é": (1, 1), "links": (3, 1)}
    links = node.items["links"]
    assert isinstance(links, Sequence)
    assert links.places == [(4, 5)]
    link = links.items[0]
    assert isinstance(link, Mapping)
    assert link.places == {"relation": (4, 6), "😀": (4, 24)}


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: 1\n\tb: 2\n", (2, 1), "A tab indents this line"),
        ("a:\n  b: 1\n\tc: 2\n", (3, 1), "A tab indents this line"),
        ("a:\n\tb: 2\n", (2, 1), "A tab indents this line"),
        ("- a\n-\tb\n", (2, 2), "A tab"),
        ("unit: GB\nname: x\nunit: GiB\n", (3, 1), '"unit" stands twice in one mapping; first in line 1'),
        ("a: {é: 1, é: 2}", (1, 11), "stands twice"),
        ("a: [1, 2\nb: 3\n", (2, 2), "begins in line 1, column 4"),
        ('a: "open\\nb: 1\\n', (1, 4), "never closed"),
        ("a: b: c\n", (1, 5), "mapping values are not allowed"),
        ("a: *x\n", (1, 4), "alias .x is not defined"),
        ("é: &x [1, *x]\n", (1, 11), "alias .x contains itself"),
        ("a: !!int 3\n", (1, 4), "The tag tag:yaml.org,2002:int is not used"),
        ("a: !!str [1]\n", (1, 4), "The tag tag:yaml.org,2002:str is not used"),
        ("a: !!python/object:os.system x\n", (1, 4), "The tag"),
        ("? [a]\n: b\n", (1, 3), "A key must be a plain word"),
        ("? \n: 2\n", (1, 2), "The key before the colon is missing"),
        ("a: &a {x: 1}\nb:\n  <<: *a\n", (3, 3), "The merge key << is not used"),
        ("a: 1\né: x\x07y\n", (2, 5), "U[+]0007 is not allowed"),
        ("a: 1\nb: x\x85y\n", (2, 5), "U[+]0085"),
        ("a: 1 # b\u2028c: 2\n", (1, 9), "U[+]2028"),
        ("\x00", (1, 1), "U[+]0000"),
        ('a: "\\ud800"\n', (1, 7), "invalid Unicode"),
        ("a: @x\n", (1, 4), "cannot start any token"),
        ("%YAML 3.0\n---\na: 1\n", (1, 1), "YAML"),
    ],
)
def test_a_fault_names_line_and_column(text: str, place: tuple[int, int], words: str) -> None:
    with pytest.raises(YamlError, match=words) as caught:
        list(parse_yaml(text))
    assert (caught.value.line, caught.value.column) == place


@pytest.mark.parametrize("part", ["[", "- ", "? ", "{a: ", "[{a: "])
def test_deep_nesting_is_refused_at_once(part: str) -> None:
    with pytest.raises(YamlError, match=r"nested more than 100|maximum nesting depth"):
        list(parse_yaml(part * 200_000))


def test_aliases_that_multiply_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(YamlError, match="aliases here add more than") as caught:
        list(parse_yaml("\n".join(lines)))
    assert caught.value.line > 1


def test_a_long_text_cannot_be_aliased_without_end() -> None:
    with pytest.raises(YamlError, match="aliases here add more than"):
        list(parse_yaml("a: &a " + "x" * 100_000 + "\nb: [" + "*a, " * 50 + "]"))


def test_a_large_file_without_aliases_is_no_bomb() -> None:
    (node,) = parse_yaml("- a\n" * 250_000)
    assert isinstance(node, Sequence)
    assert len(node.items) == 250_000


def test_an_alias_repeats_a_value_and_keeps_its_own_place() -> None:
    node = _one("a: &x {k: 1}\nb: [*x]\nc: *x\n")
    b = node.items["b"]
    assert isinstance(b, Sequence)
    assert b.items == [node.items["a"]]
    assert node.items["c"] == node.items["a"]
    assert b.places == [(2, 5)]


def test_documents_before_a_fault_are_given() -> None:
    documents = parse_yaml("a: 1\n---\nb: 2\n---\nc: \x07\n")
    assert [_text(next(iter(d.items.values()))) for d in (next(documents), next(documents)) if isinstance(d, Mapping)]
    with pytest.raises(YamlError, match=r"U\+0007"):
        next(documents)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "---\n---\n# x\n", "\ufeff"])
def test_an_empty_document_is_passed_over(text: str) -> None:
    assert list(parse_yaml(text)) == []


@pytest.mark.parametrize(
    "text",
    ["'x\ny'", "a: 0\r\nb: 1", "\ufeffa: 1", "%YAML 1.2\n---\na: 1", "a: |\n  x\n  \ty\n", "a: 1\n...\n---\nb: 2"],
)
def test_ordinary_yaml_is_read(text: str) -> None:
    assert list(parse_yaml(text))


def test_keys_are_texts_whatever_they_look_like() -> None:
    assert list(_one("1: a\n2.50: b\ntrue: c\n~: d\n'': e\n").items) == ["1", "2.50", "true", "~", ""]


def test_a_place_counts_characters_and_lines() -> None:
    assert place_of("é😀\r\nx", 4) == (2, 1)


@FIXED
@given(st.text(alphabet="ab:-?[]{},&*!|>'\"%@`#~\t\n\r 01.\\é😀\x85\u2028\ufeff\x00<", max_size=40))
def test_any_text_is_parsed_or_refused_with_a_place(text: str) -> None:
    place = 1, 1
    try:
        list(parse_yaml(text))
    except YamlError as error:
        place = error.line, error.column
    assert min(place) >= 1


@FIXED
@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\ufffe\uffff")))
def test_a_single_quoted_text_is_kept_character_by_character(text: str) -> None:
    if "\ufeff" not in text:
        assert _text(_one("k: '" + text.replace("'", "''") + "'").items["k"]) == text


def test_a_colon_in_a_text_is_told_to_need_quotes() -> None:
    with pytest.raises(YamlError, match="must be in quotes") as caught:
        list(parse_yaml("name: Model: the first\n"))
    assert caught.value.line == 1


@pytest.mark.parametrize("mark", ["'", '"'])
def test_an_open_quote_is_reported_where_it_opens(mark: str) -> None:
    with pytest.raises(YamlError, match="never closed") as caught:
        list(parse_yaml(f"id: a\nname: {mark}b\nkind: model\nstatus: x\n"))
    assert (caught.value.line, caught.value.column) == (2, 7)


@pytest.mark.parametrize("text", ["{0}: 1\n{0}: 2\n", "a: *{0}\n", "a: !{0} b\n"])
def test_what_a_message_quotes_is_clipped(text: str) -> None:
    with pytest.raises(YamlError) as caught:
        list(parse_yaml(text.format("x" * 900)))
    assert len(str(caught.value)) < 200
    assert "xxx" not in caught.value.bare
