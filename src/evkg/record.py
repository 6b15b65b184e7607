"""One record in memory: what was read, byte for byte, beside its current shape, with the place of each key."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Final

from evkg.errors import excerpt
from evkg.finding import Finding
from evkg.jsontext import Json, encode_json
from evkg.older import upgrade
from evkg.origin import Origin as Origin
from evkg.rewrite import read_path
from evkg.scalar import ENVELOPE as ENVELOPE
from evkg.scalar import Path
from evkg.vocabulary import Vocabulary
from evkg.withheld import is_public, is_withheld, may_hide, mentions_excluded

#: Ids of records. Use cases may also use `.` and `_` (contract section 11), and all may link to them.
RECORD_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,254}\Z")
LINKED_ID: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,254}\Z")
_NAME_LENGTH: Final = 500
#: How much of a value a finding shows (characters).
_SHOWN: Final = 500


@dataclass(frozen=True)
class Record:
    """A record that can be converted: its envelope is sound.

    `data` is the current shape, `original` the object as read, `line` its bytes as JSON: for JSON
    input the bytes of the file, for YAML the compact form of contract section 1.
    """

    id: str
    kind: str
    data: dict[str, Json]
    original: dict[str, Json]
    origin: Origin
    raw: str | None = None
    notes: tuple[tuple[Path, str], ...] = ()
    moves: dict[Path, Path] = field(default_factory=dict)
    _known_places: dict[Path, tuple[int, int]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def line(self) -> str:
        """The record as one line of JSON, without a line feed."""
        return self.raw if self.raw is not None else encode_json(self.original)

    @cached_property
    def content_sha256(self) -> str:
        """The SHA-256 of `line` in UTF-8 (64 hex digits)."""
        return hashlib.sha256(self.line.encode()).hexdigest()

    @property
    def attributes(self) -> dict[str, Json]:
        value = self.data["attributes"]
        assert isinstance(value, dict)  # noqa: S101 - `read_envelope` has seen to it
        return value

    def place(self, path: Path) -> tuple[int, int]:
        """(line, column) of a field of the current shape, wherever the file writes it."""
        path = _existing(self.original, read_path(self.moves, path))
        if path not in self._known_places:
            self._known_places[path] = self.origin.place(path)
        return self._known_places[path]

    def finding(self, severity: str, rule: str, path: Path, message: str, fix: str | None = None) -> Finding:
        """A finding at one field of this record, with the text as written (its first 500 characters)."""
        line, column = self.place(path)
        return Finding(
            severity=severity,  # type: ignore[arg-type]
            rule=rule,
            message=message,
            record=self.id,
            field=field_name(path),
            file=self.origin.file,
            line=line,
            column=column,
            value=shown_at(self.data, path),
            fix=fix,
        )


def field_name(path: Path) -> str | None:
    """A path as it is written in reports, parts joined by dots.

    >>> field_name(("links", 0))
    'links.0'
    """
    return ".".join(str(part) for part in path) or None


def text_at(data: Json, path: Sequence[str | int]) -> str | None:
    """The value at `path` as text: a string as it is, anything else as JSON; None where nothing is."""
    for part in path:
        if isinstance(data, dict) and isinstance(part, str) and part in data:
            data = data[part]
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return None
    return data if isinstance(data, str) else encode_json(data)


def _existing(data: Json, path: Path) -> Path:
    """The part of a path that exists."""
    for index, part in enumerate(path):
        try:
            data = data[part]  # type: ignore[index]
        except (LookupError, TypeError):
            return path[:index]
    return path


def shown_at(data: Json, path: Sequence[str | int]) -> str | None:
    """The value at `path` as a report shows it: at most its first 500 characters.

    >>> len(shown_at({"name": "x" * 1000}, ("name",)))
    501
    """
    text = text_at(data, path)
    return text if text is None or len(text) <= _SHOWN else text[:_SHOWN] + "…"


def make_record(
    original: Json, origin: Origin, vocabulary: Vocabulary, raw: str | None = None
) -> tuple[Record | None, list[Finding]]:
    """The record of an object as read, or None when its envelope cannot be trusted; and what was found.

    `raw` is the text of the object, where that is one line.

    Source: contract section 2 (envelope), section 10 (older shapes).

    >>> from evkg.vocabulary import load_vocabulary
    >>> record, findings = make_record({"id": "gena-lm"}, Origin("a.jsonl", 7), load_vocabulary())
    >>> record, findings[0].place, findings[0].message
    (None, 'a.jsonl:7:1', 'The key kind is missing.')
    """
    findings = check_envelope(original, origin, vocabulary)
    if findings or not isinstance(original, dict):
        return None, findings
    current = upgrade(original)
    record = Record(
        id=str(original["id"]),
        kind=str(original["kind"]),
        data=current.data,
        original=original,
        origin=origin,
        raw=raw,
        notes=tuple(current.notes),
        moves=current.moves,
    )
    notes = [_older_shape(record, path, message) for path, message in record.notes]
    return record, [note for note in notes if is_public(note.field)] if is_withheld(record) else notes


def _older_shape(record: Record, path: Path, message: str) -> Finding:
    """A note on a rewrite as a finding; its path and value are those of the record as read."""
    line, column = record.origin.place(path)
    value = shown_at(record.original, path)
    is_empty = value == "null"
    return Finding(
        severity="warning" if is_empty else "info",
        rule="empty-value" if is_empty else "older-shape",
        message=message,
        record=record.id,
        field=field_name(path),
        file=record.origin.file,
        line=line,
        column=column,
        value=value,
        fix="Write the value, or say under missing_metadata why there is none."
        if is_empty
        else "Nothing has to be changed.",
    )


def check_envelope(original: Json, origin: Origin, vocabulary: Vocabulary) -> list[Finding]:
    """Each of the nine keys that is missing or of a wrong type; of what may be an excluded record nothing is quoted."""
    findings: list[Finding] = []
    known = original.get("id") if isinstance(original, dict) else None

    @cache
    def hides() -> bool:
        return may_hide(original) if isinstance(original, dict) else mentions_excluded(encode_json(original))

    def report(path: Path, message: str, fix: str) -> None:
        hidden = hides()
        told = known if isinstance(known, str) and (not hidden or LINKED_ID.match(known)) else None
        if hidden and path and isinstance(original, dict) and path[0] in original:
            path, message = path[:1], f"The key {path[0]} is not as it must be."
            fix = "Look it up in the file; nothing is quoted, since the record is excluded."
        line, column = origin.place(path)
        findings.append(
            Finding(
                severity="violation",
                rule="envelope",
                message=message,
                record=told,
                field=field_name(path),
                file=origin.file,
                line=line,
                column=column,
                value=None if hidden else shown_at(original, path),
                fix=fix,
            )
        )

    if not isinstance(original, dict):
        report((), "This is not a record.", f"A record is an object with the keys {', '.join(ENVELOPE)}.")
        return findings
    for key in ENVELOPE:
        if key not in original:
            others = [k for k in original if k not in ENVELOPE and not hides()]
            meant = difflib.get_close_matches(key, others, n=1, cutoff=0.5)
            guess = f"Did you mean {key} where {_clipped(meant[0])} stands?" if meant else None
            report((key,), f"The key {key} is missing.", guess or f"Write {key}: {_EMPTY.get(key, '…')}")
        elif problem := _problem(key, original, vocabulary):
            report(*problem)
    return findings


_EMPTY: Final = {"description": '""', "facets": "{}", "source_ids": "[]", "links": "[]", "attributes": "{}"}


def _problem(key: str, original: dict[str, Json], vocabulary: Vocabulary) -> tuple[Path, str, str] | None:
    """(path, message, fix) of what is wrong with one key of the envelope."""
    value, path = original[key], (key,)
    if key == "kind":
        if not isinstance(value, str) or value not in vocabulary.kinds:
            nearest = difflib.get_close_matches(value, vocabulary.kinds, n=1) if isinstance(value, str) else []
            kinds = ", ".join(sorted(vocabulary.kinds))
            fix = f"Did you mean {nearest[0]}?" if nearest else f"Write one of {kinds}."
            return path, f"{_quoted(value)} is not a kind of record.", fix
    elif key == "id":
        pattern = LINKED_ID if original.get("kind") == "use_case" else RECORD_ID
        if not isinstance(value, str) or not pattern.match(value):
            return path, f"{_quoted(value)} cannot be an id.", "Use lower-case letters, digits and hyphens."
    elif key == "name":
        if not isinstance(value, str) or not 1 <= len(value.strip()) <= _NAME_LENGTH:
            return path, f"The name must be a text of 1 to {_NAME_LENGTH} characters.", "Write the name."
    elif key == "description":
        if not isinstance(value, str):
            return path, "The description must be a text.", 'Write description: "" if there is none.'
    elif key == "status":
        if not isinstance(value, str) or not value:
            return path, "The status must be a word.", "Write for example status: needs_review."
    elif key == "facets":
        return _facets_problem(value)
    elif key == "source_ids":
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            listed = f"[{excerpt(value)}]" if isinstance(value, str) and value else "[] or a list"
            return path, "source_ids must be a list of record ids.", f"Write source_ids: {listed}."
    elif key == "links":
        return _links_problem(value)
    elif not isinstance(value, dict):
        return path, "attributes must be an object.", "Write attributes: {} if there are none."
    return None


def _clipped(text: str) -> str:
    return text if len(text) <= 80 else text[:80] + "…"


def _quoted(value: Json) -> str:
    """A value as a message names it: as JSON, not longer than a line."""
    return _clipped(encode_json(value))


def _facets_problem(value: Json) -> tuple[Path, str, str] | None:
    if not isinstance(value, dict):
        return ("facets",), "facets must be an object of lists.", "Write facets: {} if there are none."
    for name, items in value.items():
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            fix = f"Write {_clipped(name)}: [ … ]."
            return ("facets", name), f"The facet {_clipped(name)} must be a list of texts.", fix
    return None


def _links_problem(value: Json) -> tuple[Path, str, str] | None:
    fix = "Write each link as {relation: …, target_id: …}."
    if not isinstance(value, list):
        return ("links",), "links must be a list.", "Write links: [] if there are none."
    for index, link in enumerate(value):
        if not isinstance(link, dict) or set(link) != {"relation", "target_id"}:
            return ("links", index), "A link has exactly the keys relation and target_id.", fix
        if not all(isinstance(part, str) for part in link.values()):
            return ("links", index), "Relation and target_id of a link are texts.", fix
    return None
