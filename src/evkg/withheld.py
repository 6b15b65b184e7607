"""Withdrawn records: what of an excluded record stays public, and nothing else."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, Protocol

from evkg.jsontext import Json, encode_json

#: What stays public of a withdrawn record: keys of the envelope, and attributes that say why.
_PUBLIC: Final[tuple[str, ...]] = ("id", "kind", "name", "status", "source_ids", "links")
_PUBLIC_ATTRIBUTES: Final[tuple[str, ...]] = ("reason", "scope_note")
_EFFECTS: Final[tuple[str, ...]] = ("excludes", "warns")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8}))")


class _HasData(Protocol):
    @property
    def data(self) -> dict[str, Json]: ...


def is_withheld(record: _HasData) -> bool:
    """Whether a record is excluded: only its tombstone goes into a graph or a release."""
    return is_excluded(record.data["status"])


def is_excluded(status: Json) -> bool:
    """Whether a status says excluded, however it is written: on doubt a record is withheld.

    >>> [is_excluded(status) for status in ("excluded", " Excluded", ["excluded"], "source_checked", None)]
    [True, True, True, False, False]
    """
    if isinstance(status, str):
        return _bare(status) == "excluded"
    return status is not None and "excluded" in encode_json(status).casefold()


@lru_cache(maxsize=4096)  # large data sets have few statuses
def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold()


def may_hide(value: Json) -> bool:
    """Whether what cannot be read as a record may be an excluded one, or hold one.

    >>> may_hide({"id": 7, "Status ": "EXCLUDED"}), may_hide({"id": 7, "description": "two were excluded"})
    (True, False)
    """
    if isinstance(value, dict):
        return any((_bare(key) == "status" and is_excluded(v)) or may_hide(v) for key, v in value.items())
    if isinstance(value, list):
        return any(may_hide(v) for v in value)
    return False


def mentions_excluded(text: str) -> bool:
    r"""Whether a text that cannot be read mentions the word, also in escapes: then it is not quoted.

    >>> mentions_excluded('{"status": "\\u0065xcluded", oops'), mentions_excluded("status: disputed")
    (True, False)
    """
    plain = _ESCAPE.sub(lambda match: chr(min(int(match[1] or match[2] or match[3], 16), 0x10FFFF)), text)
    return "excluded" in plain.casefold()


def is_public(field: str | None) -> bool:
    """Whether a finding on this field of a withdrawn record may be told: findings quote what is written."""
    return (field or "").partition(".")[0] in _PUBLIC


def tombstone(record_data: dict[str, Json], *, with_reason: bool = True) -> dict[str, Json]:
    """What stays public of a withdrawn record: no values, no description.

    The concerns of a source stay without their words, so that they go on blocking what cites it.
    """
    found = record_data["attributes"]
    attributes = found if isinstance(found, dict) and with_reason else {}
    kept: dict[str, Json] = {key: v for key, v in attributes.items() if key in _PUBLIC_ATTRIBUTES and type(v) is str}
    concerns = attributes.get("evidence_concerns")
    if record_data.get("kind") == "source" and isinstance(concerns, list) and concerns:
        kept["evidence_concerns"] = [_bare_concern(concern) for concern in concerns]
    data = {key: record_data[key] for key in _PUBLIC if key in record_data}
    if is_excluded(data.get("status")):
        data["status"] = "excluded"
    return {**data, "description": "", "facets": {}, "attributes": kept}


def _bare_concern(concern: Json) -> Json:
    """Of a concern its effect, and that it is settled if it is; on doubt it stays open."""
    if not isinstance(concern, dict):
        return {}
    bare: dict[str, Json] = {"effect": concern["effect"]} if concern.get("effect") in _EFFECTS else {}
    return {**bare, "resolved": {}} if isinstance(concern.get("resolved"), dict) else bare
