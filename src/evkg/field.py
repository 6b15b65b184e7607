"""The fields of one record: each declared value under its key, what has no term or does not fit as settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evkg.jsontext import Json
from evkg.literal import quote_part
from evkg.setting import Node, leaf_settings, root_setting, step
from evkg.value import MISFIT, NOTHING, ValueReader, as_number_or_date
from evkg.vocabulary import PARTS, Term, Vocabulary

_LISTS = ("derivation-inputs", "discrepancies", "evidence-concerns")


class FieldWriter:
    """Writes fields into the nodes of one record; gathers the settings, items and marks beside them."""

    def __init__(self, vocabulary: Vocabulary, values: ValueReader, *, thing: str, record: str) -> None:
        self._vocabulary = vocabulary
        self.values = values
        self.thing = thing
        self.record = record
        #: Settings of the thing, and item nodes by the IRI of the node whose list they order.
        self.settings: list[Node] = []
        self.items: dict[str, list[Node]] = {thing: [], record: []}
        #: Paths of empty lists, and of fields that are null.
        self.empty: list[str] = []
        self.null: list[str] = []

    def write(self, node: Node, term: Term, value: Json, path: str, owner: str) -> None:
        """Put one declared value under its key; what does not fit its kind is kept as a setting."""
        kind = term.value_kind
        if value is None:
            self.null.append(path)
            return
        if term.is_list:
            literal: Any = (self.list(term, value, path, owner) or NOTHING) if isinstance(value, list) else MISFIT
        elif kind == "json":
            literal = root_setting(self.thing, value, path, term.record_key)
        elif kind in PARTS:
            literal = self._part(kind, value, path, owner)
        elif term.text_iri is not None:
            literal = self._with_text(node, term, value)
        else:
            literal = self.values.read(kind, value)
        if literal is MISFIT:
            self.keep(value, path, term.record_key, expected=kind)
        elif literal is not NOTHING:
            node[term.key] = literal
            if kind == "comparison-value" and isinstance(literal, dict):
                self.keep(value, path, term.record_key)

    def keep(self, value: Json, path: str, key: str | int, expected: str | None = None) -> None:
        """Keep a value that has no term, or does not fit it, as setting nodes of the thing.

        `expected` names the kind of value that was declared; such a value has a node of its own,
        any other only one for each of its leaves.
        """
        if expected is None:
            self.settings.extend(leaf_settings(self.thing, value, path, key))
            return
        root = root_setting(self.thing, value, path, key)
        root["expected_kind"] = expected
        self.settings.append(root)

    def list(self, term: Term, values: list[Json], path: str, owner: str) -> list[Any]:
        """The distinct values of a list, with item nodes where order or repetition would be lost."""
        if not values:
            self.empty.append(path)
            return []
        found: dict[Any, None] = {}
        kind = term.value_kind
        for index, value in enumerate(values):
            literal = self.values.read(kind, value)
            if literal is MISFIT:
                self.keep(value, f"{path}.{index}", index, expected=kind)
                continue
            found[literal] = None
            if len(values) > 1:
                self.item(path, index, str(value), owner)
        return [*found]

    def item(self, path: str, index: int, value: str, owner: str) -> None:
        """Note the place of one value of a list."""
        self.items[owner].append(
            {
                "id": f"{owner}#{quote_part(path)}.{index}",
                "type": ["Item"],
                "field": path,
                "position": index,
                "value": value,
            }
        )

    def _with_text(self, node: Node, term: Term, value: Json) -> Any:
        """The typed value of a number or date, its text beside it; only the text if there is no typed value."""
        found = as_number_or_date(term.value_kind, value)
        if found is None:
            return MISFIT
        node[self._vocabulary.text_keys[term.key]], literal = found
        return literal

    def _part(self, kind: str, value: Json, path: str, owner: str) -> Any:
        """The node of a nested object, or the nodes of a list of them."""
        name, fragment = PARTS[kind]
        if kind not in _LISTS:
            if not isinstance(value, dict):
                return MISFIT
            return self._object(
                f"{owner}#{fragment if kind != 'resolution' else quote_part(path)}", name, value, path, owner
            )
        if not isinstance(value, list):
            return MISFIT
        if not value:
            self.empty.append(path)
        prefix = {"derivation-inputs": "derivation.inputs.", "evidence-concerns": "concern-"}.get(kind, f"{fragment}.")
        nodes = []
        for index, element in enumerate(value):
            if isinstance(element, dict):
                nodes.append(self._object(f"{owner}#{prefix}{index}", name, element, f"{path}.{index}", owner))
                nodes[-1]["position"] = index
            else:
                self.keep(element, f"{path}.{index}", index, expected=kind)
        return nodes or NOTHING

    def _object(self, iri: str, name: str, value: Mapping[str, Json], path: str, owner: str) -> Node:
        terms = self._vocabulary.parts.get(name, {})
        node: Node = {"id": iri, "type": [name]}
        for key, inner in value.items():
            term = terms.get(key)
            if term is None:
                self.keep(inner, f"{path}.{step(key)}", key, expected="declared key")
            else:
                self.write(node, term, inner, f"{path}.{step(key)}", owner)
        return node
