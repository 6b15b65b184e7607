"""Empty values where a record wants a value or a reason: they are no values, and no reason is made up for them."""

from __future__ import annotations

from evkg.jsontext import Json
from evkg.rewrite import Rewrite
from evkg.vocabulary import PARTS, Term, load_vocabulary
from evkg.wanted import wanted_fields


def leave_out_empty(rewrite: Rewrite, kind: str) -> None:
    """Take out of the attributes what is empty under a field that is wanted and that no entry explains.

    The rule that wants the field then speaks, at the place of the empty value, as it does where the key is not
    there at all. An empty text under a field of text stays, since a rule of its own speaks about it, and so does
    an empty object where an object with fields of its own belongs. null stays too: older records write it for what
    nobody has taken from the source.

    Source: contract sections 5.1 (no empty text), 6 (a value or a reason), 10 (null).

    >>> rewrite = Rewrite({}, attributes={"version": [], "scope_note": [], "split": None})
    >>> leave_out_empty(rewrite, "dataset")
    >>> rewrite.attributes
    {'scope_note': [], 'split': None}
    """
    attributes = rewrite.attributes
    comparison = attributes.get("comparison")
    parts = comparison.values() if isinstance(comparison, dict) else ()
    if not any(map(_is_empty, (*attributes.values(), *parts))):
        return
    entries = attributes.get("missing_metadata")
    explained = entries if isinstance(entries, dict) else {}
    terms = load_vocabulary().attributes.get(kind, {})
    for path in sorted(wanted_fields(kind)):
        if ".".join(path) in explained or path[0] in explained:
            continue
        key, value, term = path[0], attributes.get(path[0]), terms.get(path[0])
        if len(path) == 1:
            if key in attributes and _is_empty(value) and not _is_told(value, term):
                del attributes[key]
        elif isinstance(value, dict):
            if value.get(path[1]) in ([], {}):
                attributes[key] = {name: inner for name, inner in value.items() if name != path[1]}
        elif key in attributes and _is_empty(value):
            del attributes[key]


def _is_empty(value: Json) -> bool:
    return value in ([], {}) or (isinstance(value, str) and not value.strip())


def _is_told(value: Json, term: Term | None) -> bool:
    """Whether another rule speaks about an empty value of a wanted field."""
    is_object = term is None or term.value_kind in PARTS  # what every kind has, such as a review, is an object too
    if isinstance(value, str):
        return not (is_object or (term is not None and (term.scheme or term.value_kind == "json")))
    return value == {} and is_object
