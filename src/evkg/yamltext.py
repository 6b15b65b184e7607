"""YAML as text: every scalar keeps what was written, with its place; nothing is resolved or guessed.

PyYAML's own resolver reads YAML 1.1 (`no` is false, `12:30` is 750, `010` is 8), so only its event
stream is used. What type a scalar has is decided later, by the declared kind of value (`record.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import yaml

#: Mappings and lists may be nested this deep (levels).
MAX_DEPTH: Final = 100
#: Aliases may expand a document to this many nodes (count).
MAX_NODES: Final = 200_000

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlError(ValueError):
    """The text is not YAML that can be kept without loss; `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(slots=True)
class Scalar:
    """A scalar: its text, whether it stood without quotes, and where (from 1)."""

    text: str
    plain: bool
    line: int
    column: int
    size: int = 1


@dataclass(slots=True)
class Sequence:
    """A list of nodes."""

    line: int
    column: int
    items: list[Node] = field(default_factory=list)
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
    """The documents of a YAML stream; an empty document is skipped.

    Raises: YamlError: a syntax error, a repeated key, a tag, a key that is no text, nesting beyond
        `MAX_DEPTH`, aliases that expand beyond `MAX_NODES` or contain themselves.

    >>> [document.items["split"].text for document in parse_yaml("split: no\\n---\\nsplit: 1.00")]
    ['no', '1.00']
    """
    try:
        yield from _documents(yaml.parse(text, Loader=_Loader))
    except yaml.reader.ReaderError as error:
        line, column = place_of(text, int(error.position))
        raise YamlError(f"The character {error.character!r} is not allowed in YAML.", line, column) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(str(part) for part in (error.context, error.problem) if part)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise YamlError(f"This is not YAML: {_hint(text, line, problem)}.", line, column) from None
    except RecursionError:
        raise YamlError(f"Mappings and lists are nested more than {MAX_DEPTH} deep.", 1, 1) from None


def place_of(text: str, offset: int) -> tuple[int, int]:
    """(line, column) of a character, both from 1.

    >>> place_of("ab\\ncd", 4)
    (2, 2)
    """
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _hint(text: str, line: int, problem: str) -> str:
    lines = text.split("\n")
    if line <= len(lines) and re.match(r" *\t", lines[line - 1]):
        return "a tab indents this line; YAML allows only spaces there"
    return problem


@dataclass(slots=True)
class _Frame:
    """An opened list or mapping while its end is awaited."""

    node: Sequence | Mapping
    anchor: str | None
    key: Scalar | None = None


def _documents(events: Iterator[Any]) -> Iterator[Node]:
    stack: list[_Frame] = []
    anchors: dict[str, Node | None] = {}
    root: Node | None = None
    for event in events:
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if isinstance(event, yaml.DocumentStartEvent):
            anchors, root = {}, None
        elif isinstance(event, yaml.DocumentEndEvent):
            if root is not None and not (isinstance(root, Scalar) and root.plain and not root.text):
                yield root
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            stack.append(_open(event, len(stack), anchors, line, column))
        elif isinstance(event, yaml.NodeEvent | yaml.SequenceEndEvent | yaml.MappingEndEvent):
            if isinstance(event, yaml.NodeEvent):
                node = _leaf(event, anchors, line, column)
            else:
                frame = stack.pop()
                node = frame.node
                if frame.anchor:
                    anchors[frame.anchor] = node
            if stack:
                _attach(stack[-1], node, line, column)
            else:
                root = node


def _open(event: Any, depth: int, anchors: dict[str, Node | None], line: int, column: int) -> _Frame:
    _refuse_tag(event, line, column)
    if depth >= MAX_DEPTH:
        raise YamlError(f"Mappings and lists are nested more than {MAX_DEPTH} deep.", line, column)
    if event.anchor:
        anchors[event.anchor] = None  # not complete yet: an alias to it from inside would be endless
    is_list = isinstance(event, yaml.SequenceStartEvent)
    return _Frame(Sequence(line, column) if is_list else Mapping(line, column), event.anchor)


def _leaf(event: Any, anchors: dict[str, Node | None], line: int, column: int) -> Node:
    """The scalar of a scalar event, or what an alias stands for."""
    if isinstance(event, yaml.AliasEvent):
        target = anchors.get(str(event.anchor))
        if target is None:
            what = "contains itself" if event.anchor in anchors else "is not defined before"
            raise YamlError(f"The alias *{event.anchor} {what}.", line, column)
        return target
    _refuse_tag(event, line, column)
    scalar = Scalar(event.value, not event.style, line, column)
    if event.anchor:
        anchors[event.anchor] = scalar
    return scalar


def _refuse_tag(event: Any, line: int, column: int) -> None:
    if event.tag not in (None, "!", "tag:yaml.org,2002:str"):
        raise YamlError(f"The tag {event.tag} is not used in records; remove it.", line, column)


def _attach(frame: _Frame, node: Node, line: int, column: int) -> None:
    """Put a finished node into the list or mapping that waits for it."""
    parent = frame.node
    if isinstance(parent, Mapping) and frame.key is None:
        if not isinstance(node, Scalar):
            raise YamlError("A key must be a plain word, not a list or a mapping.", line, column)
        if node.text in parent.places:
            first = parent.places[node.text][0]
            message = f"The key {node.text!r} stands twice in one mapping; first in line {first}."
            raise YamlError(message, node.line, node.column)
        frame.key = node
        parent.places[node.text] = (node.line, node.column)
        return
    parent.size += node.size
    if parent.size > MAX_NODES:
        raise YamlError(f"The aliases here expand to more than {MAX_NODES:,} values.", line, column)
    if isinstance(parent, Mapping):
        assert frame.key is not None  # noqa: S101 - set above, for the type checker
        parent.items[frame.key.text] = node
        frame.key = None
    else:
        parent.items.append(node)
