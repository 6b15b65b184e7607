"""Values without a term of their own: one node for each leaf, under a path that can be split again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from evkg.jsontext import Json, encode_json
from evkg.literal import json_type, quote_part

#: A node of a JSON-LD document.
Node: TypeAlias = "dict[str, Any]"

#: The first steps of paths that lead to other parts of a record than its attributes.
SECTIONS: Final = frozenset({"attributes", "facets", "links", "source_ids", "record"})


def step(key: str) -> str:
    """A key of an object as one step of a path, never to be taken for two steps or for a position.

    >>> step("GPU memory"), step("v1.5"), step("2"), step("")
    ('GPU memory', 'v1%2E5', '%32', '')
    """
    if "%" in key or "." in key:
        key = key.replace("%", "%25").replace(".", "%2E")
    if key.isdecimal() and key.isascii():
        return f"%{ord(key[0]):02X}{key[1:]}"
    return key


def attribute_path(key: str) -> str:
    """The path of an attribute: its key, after `attributes` if it is called like a section of the record.

    >>> attribute_path("hardware"), attribute_path("facets")
    ('hardware', 'attributes.facets')
    """
    return f"attributes.{key}" if key in SECTIONS else step(key)


def split_path(path: str) -> list[str | int]:
    """The keys and positions of which a path is made.

    >>> split_path("hardware.0.v1%2E5.%32")
    ['hardware', 0, 'v1.5', '2']
    """
    return [int(part) if part.isdecimal() and part.isascii() else unquote(part) for part in path.split(".")]


def setting(thing: str, value: Json, path: str, key: str | int) -> Node:
    """The node of one value of the thing with this IRI: its path, last key or position, type and text.

    >>> setting("https://example.org/id/a", None, "hardware.gpu", "gpu")["json_type"]
    'null'
    """
    node: Node = {"id": f"{thing}#setting-{quote_part(path)}", "type": ["Setting"], "path": path}
    node["position" if isinstance(key, int) else "key"] = key
    form = json_type(value)
    if form == "string":
        node["value"] = value
        return node
    node["json_type"] = form
    if form in ("number", "boolean"):
        node["value"] = encode_json(value)
    return node


def leaf_settings(thing: str, value: Json, path: str, key: str | int) -> list[Node]:
    """A node for each leaf of a value; an empty object or list is a leaf."""
    leaves: list[Node] = []
    stack: list[tuple[Json, str, str | int]] = [(value, path, key)]
    while stack:
        current, place, last = stack.pop()
        inner: Iterable[tuple[Json, str, str | int]]
        if isinstance(current, dict) and current:
            inner = [(item, f"{place}.{step(name)}", name) for name, item in current.items()]
        elif isinstance(current, list) and current:
            inner = [(item, f"{place}.{n}", n) for n, item in enumerate(current)]
        else:
            leaves.append(setting(thing, current, place, last))
            continue
        stack.extend(reversed(list(inner)))
    return leaves


def root_setting(thing: str, value: Json, path: str, key: str | int) -> Node:
    """The node of a whole value, with the nodes of the leaves below it."""
    root = setting(thing, value, path, key)
    if isinstance(value, dict | list) and value:
        root["settings"] = leaf_settings(thing, value, path, key)
    return root
