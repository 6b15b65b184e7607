"""The layout of a YAML text: where each mapping of a record stands, how it is written, where its last word ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class Span:
    """A node of a YAML text. Offsets count characters from 0, lines and columns from 1.

    `start` is where it begins (behind an anchor); `end` is behind its last character, for a block behind that of what
    it holds last. `is_shared` says that it has an anchor or is an alias, so that a change of it may change others.
    """

    start: int
    end: int
    line: int
    column: int
    is_mapping: bool = False
    is_flow: bool = False
    is_shared: bool = False
    keys: dict[str, Span] = field(default_factory=dict)
    values: dict[str, Span] = field(default_factory=dict)
    items: list[Span] = field(default_factory=list)


def record_spans(text: str) -> Iterator[Span]:
    """The mappings that may be records: each document, or each element of a document that is a list.

    The text must be YAML that `yamltext.parse_yaml` has accepted.

    >>> record = next(record_spans("id: a\\nattributes:\\n  unit: hour # as printed\\n"))
    >>> attributes = record.values["attributes"]
    >>> attributes.line, attributes.column, attributes.is_flow, attributes.end
    (3, 3, False, 30)
    """
    for document in _documents(text):
        yield from document.items or [document]


@dataclass(slots=True)
class _Open:
    span: Span
    key: tuple[str, Span] | None = None


def _documents(text: str) -> Iterator[Span]:
    stack: list[_Open] = []
    event: Any
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            span = stack.pop().span
            if span.is_flow:
                span.end = _behind(event)
        elif isinstance(event, yaml.NodeEvent):
            span = _span(event)
            if isinstance(event, yaml.CollectionStartEvent):
                stack.append(_Open(span))
                continue
        else:
            continue
        if not stack:
            yield span
            continue
        _attach(stack[-1], span, event)


def _attach(parent: _Open, span: Span, event: Any) -> None:
    parent.span.end = max(parent.span.end, span.end)
    if not parent.span.is_mapping:
        parent.span.items.append(span)
    elif parent.key is None:
        parent.key = (str(getattr(event, "value", "")), span)
    else:
        name, key = parent.key
        parent.span.keys[name], parent.span.values[name], parent.key = key, span, None


def _behind(event: Any) -> int:
    return int(event.end_mark.index)


def _span(event: Any) -> Span:
    start, end = event.start_mark, event.end_mark
    is_collection = isinstance(event, yaml.CollectionStartEvent)
    return Span(
        start=start.index,
        end=start.index if is_collection else end.index,
        line=start.line + 1,
        column=start.column + 1,
        is_mapping=isinstance(event, yaml.MappingStartEvent),
        is_flow=is_collection and bool(event.flow_style),
        is_shared=event.anchor is not None,
    )
