"""YAML as text: every scalar keeps what was written, with its place; nothing is resolved or guessed.

PyYAML's own resolver reads YAML 1.1 (`no` is false, `12:30` is 750, `010` is 8), so only its event
stream is used. What type a scalar has is decided later, by the declared kind of value (`scalar.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import yaml

#: Mappings and lists may be nested this deep (levels).
MAX_DEPTH: Final = 100
#: Aliases may add this much to a document (characters of text, and one for each value).
MAX_EXPANSION: Final = 1_000_000

#: How much of a key, an alias or a tag a message shows (characters).
_SHOWN: Final = 80

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# What YAML does not allow unescaped, and the three line ends of YAML 1.1 that every editor takes for
# ordinary characters: libyaml would turn the first into a space and end a comment at each of them.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class YamlError(ValueError):
    """The text is not YAML that can be kept without loss; `line` and `column` count from 1.

    `bare` is the message without any words of the text.
    """

    def __init__(self, message: str, line: int, column: int, bare: str | None = None) -> None:
        super().__init__(message)
        self.bare = bare or message
        self.line = line
        self.column = column


@dataclass(slots=True)
class Scalar:
    """A scalar: its text, whether it stood without quotes, and where (from 1)."""

    text: str
    plain: bool
    line: int
    column: int

    @property
    def size(self) -> int:
        return 1 + len(self.text)


@dataclass(slots=True)
class Sequence:
    """A list of nodes; `places` holds (line, column) of each, where an alias stands for its own."""

    line: int
    column: int
    items: list[Node] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    size: int = 1


@dataclass(slots=True)
class Mapping:
    """A mapping in the order as written; `places` holds (line, column) of each key."""

    line: int
    column: int
    items: dict[str, Node] = field(default_factory=dict)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    size: int = 1


Node: TypeAlias = "Scalar | Sequence | Mapping"


def parse_yaml(text: str) -> Iterator[Node]:
    """The documents of a YAML stream, one at a time; an empty document is skipped.

    Raises: YamlError: a syntax error, a repeated key, a tag, a merge key, a key that is no text,
        nesting beyond `MAX_DEPTH`, aliases that add more than `MAX_EXPANSION` or contain themselves.

    >>> [document.items["split"].text for document in parse_yaml("split: no\\n---\\nsplit: 1.00")]
    ['no', '1.00']
    """
    forbidden = _FORBIDDEN.search(text)
    # A document that holds such a character is not read at all; those before it are.
    sound = text if forbidden is None else text[: text.rfind("\n---", 0, forbidden.start()) + 1]
    try:
        yield from _documents(sound)
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(text, error) from None
    except yaml.YAMLError as error:
        raise YamlError(f"This is not YAML: {error}.", 1, 1) from None
    if forbidden is not None:
        code = f"U+{ord(forbidden[0]):04X}"
        message = f"The character {code} is not allowed in YAML as it is; write it as an escape in double quotes."
        raise YamlError(message, *place_of(text, forbidden.start()))


def place_of(text: str, offset: int) -> tuple[int, int]:
    """(line, column) of a character, both from 1. A line ends with LF or CR LF.

    >>> place_of("ab\\ncd", 4)
    (2, 2)
    """
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _clipped(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _syntax_error(text: str, error: yaml.MarkedYAMLError) -> YamlError:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    written = text.split("\n", line)[line - 1] if line <= text.count("\n") + 1 else ""
    tab = re.match(r"[ -]*(?=\t)", written)
    if tab is not None and column <= len(written) - len(written.lstrip("\t -")) + 1:
        return YamlError("A tab indents this line; YAML allows only spaces there.", line, tab.end() + 1)
    problem = " ".join(str(part) for part in (error.context, error.problem) if part)
    begin = error.context_mark
    if begin is not None and "quoted scalar" in (error.context or "") and "end of stream" in (error.problem or ""):
        message = "The quote that opens here is never closed."
        return YamlError(message, begin.line + 1, begin.column + 1)
    if (error.problem or "") == "mapping values are not allowed in this context":
        problem += "; a text with a colon and a space in it (': ') must be in quotes"
    if begin is not None and begin.line + 1 < line:
        problem += f" (it begins in line {begin.line + 1}, column {begin.column + 1})"
    return YamlError(f"This is not YAML: {problem}.", line, column)


@dataclass(slots=True)
class _Frame:
    """An opened list or mapping while its end is awaited."""

    node: Sequence | Mapping
    anchor: str | None
    key: Scalar | None = None


class _Anchors:
    """The anchored nodes of one document, and how much its aliases have added."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node | None] = {}
        self._expansion = 0

    def open(self, name: str | None) -> None:
        if name:
            self._nodes[name] = None  # not complete yet: an alias to it from inside would be endless

    def close(self, name: str | None, node: Node) -> None:
        if name:
            self._nodes[name] = node

    def resolve(self, name: str, line: int, column: int) -> Node:
        target = self._nodes.get(name)
        if target is None:
            what = "contains itself" if name in self._nodes else "is not defined before"
            raise YamlError(f"The alias *{_clipped(name)} {what}.", line, column, f"An alias {what}.")
        self._expansion += target.size
        if self._expansion > MAX_EXPANSION:
            raise YamlError(f"The aliases here add more than {MAX_EXPANSION:,} characters.", line, column)
        return target


def _documents(text: str) -> Iterator[Node]:
    stack: list[_Frame] = []
    anchors = _Anchors()
    root: Node | None = None
    event: Any
    for event in yaml.parse(text, Loader=_Loader):
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if isinstance(event, yaml.DocumentStartEvent):
            anchors, root = _Anchors(), None
        elif isinstance(event, yaml.DocumentEndEvent):
            if root is not None and not (isinstance(root, Scalar) and root.plain and not root.text):
                yield root
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            stack.append(_open(event, len(stack), line, column))
            anchors.open(event.anchor)
        elif isinstance(event, yaml.NodeEvent | yaml.SequenceEndEvent | yaml.MappingEndEvent):
            node: Node
            if isinstance(event, yaml.AliasEvent):
                node = anchors.resolve(str(event.anchor), line, column)
            elif isinstance(event, yaml.ScalarEvent):
                _refuse_tag(event, line, column)
                node = Scalar(event.value, not event.style and event.tag is None, line, column)
                anchors.close(event.anchor, node)
            else:
                frame = stack.pop()
                node = frame.node
                line, column = node.line, node.column
                anchors.close(frame.anchor, node)
            if stack:
                _attach(stack[-1], node, line, column)
            else:
                root = node


def _open(event: Any, depth: int, line: int, column: int) -> _Frame:
    _refuse_tag(event, line, column)
    if depth >= MAX_DEPTH:
        raise YamlError(f"Mappings and lists are nested more than {MAX_DEPTH} deep.", line, column)
    is_list = isinstance(event, yaml.SequenceStartEvent)
    return _Frame(Sequence(line, column) if is_list else Mapping(line, column), event.anchor)


def _refuse_tag(event: Any, line: int, column: int) -> None:
    """Only `!` and `!!str` on a scalar are known: they say that it is text."""
    known = ("!", "tag:yaml.org,2002:str") if isinstance(event, yaml.ScalarEvent) else ()
    if event.tag is not None and event.tag not in known:
        bare = "Tags are not used in records; remove it."
        raise YamlError(f"The tag {_clipped(event.tag)} is not used in records; remove it.", line, column, bare)


def _attach(frame: _Frame, node: Node, line: int, column: int) -> None:
    """Put a finished node into the list or mapping that waits for it; (line, column) is where it stands."""
    parent = frame.node
    if isinstance(parent, Mapping) and frame.key is None:
        frame.key = _key(parent, node, line, column)
        parent.places[frame.key.text] = (line, column)
        return
    parent.size += node.size
    if isinstance(parent, Sequence):
        parent.items.append(node)
        parent.places.append((line, column))
    elif frame.key is not None:
        parent.items[frame.key.text] = node
        frame.key = None


def _key(parent: Mapping, node: Node, line: int, column: int) -> Scalar:
    """The key that a node is, if it can be one."""
    if not isinstance(node, Scalar):
        raise YamlError("A key must be a plain word, not a list or a mapping.", line, column)
    if node.plain and not node.text:
        raise YamlError("The key before the colon is missing.", line, column)
    if node.plain and node.text == "<<":
        raise YamlError("The merge key << is not used in records; write the keys out.", line, column)
    if node.text in parent.places:
        first = parent.places[node.text][0]
        hint = " Records are separated by a line ---." if node.text == "id" else ""
        rest = f"stands twice in one mapping; first in line {first}.{hint}"
        raise YamlError(f'The key "{_clipped(node.text)}" {rest}', line, column, f"A key {rest}")
    return node
