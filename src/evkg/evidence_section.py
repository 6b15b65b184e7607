"""The evidence of one record for its page: rows of a scope that hold a word, in pages, with true counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from evkg.fieldset import property_words
from evkg.statement import CATALOGUE, CONTEXT, INDIVIDUAL, SCOPES, SOURCE

if TYPE_CHECKING:
    from evkg.evidence import Row
    from evkg.vocabulary import Vocabulary

#: How many rows a page has (count).
PAGE_ROWS: Final = 25
#: Scope -> its name, and what a row of it means.
SCOPE_WORDS: Final = {
    INDIVIDUAL: ("Individual claims", "a statement with a source and place of its own"),
    CONTEXT: ("Context-only references", "where the record as a whole comes from; it verifies no field"),
    SOURCE: ("Source metadata", "what the record of a source says of that source"),
    CATALOGUE: ("Catalogue metadata", "what the catalogue says of its own work"),
}
#: The cells that a search looks into.
_SEARCHED: Final = (
    *("property", "value", "field_path", "source_title", "source_locator", "source_version", "review_status"),
    *("review_method", "review_note", "claim_id"),
)


@dataclass(frozen=True, slots=True)
class ScopeLink:
    """A scope with how many rows of the record have it (count), and the address that chooses it."""

    label: str
    meaning: str
    count: int
    href: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class EvidenceSection:
    """A page of rows. `total` counts what scope and search leave, `all` every row of the record."""

    rows: tuple[tuple[str, str, str, Row], ...]  # words of the property, of the scope and of the review, the row
    total: int
    all: int
    first: int  # number of the first row, from 1; 0 where there is none
    last: int
    scopes: tuple[ScopeLink, ...]
    scope: str | None
    find: str
    kept: tuple[tuple[str, str], ...]  # parameters that a search keeps
    previous: str | None
    following: str | None
    table: str  # where the whole table of this scope is, as CSV


def make_evidence(
    rows: Sequence[Row], vocabulary: Vocabulary, values: Mapping[str, str], *, address: str, kept: Mapping[str, str]
) -> EvidenceSection:
    """The page `evidence` (from 1) of the rows of one record that `scope` and `find` leave.

    A scope that does not exist leaves all rows.

    >>> from evkg.evidence import Evidence
    >>> from evkg.release import open
    >>> release = open()
    >>> rows = Evidence(release).rows_of("saadat-fellay-20261015-source-paper")
    >>> section = make_evidence(rows, release.vocabulary, {"find": "doi"}, address="/id/x", kept={})
    >>> section.total, section.all, section.rows[0][0]
    (2, 30, 'Missing metadata: DOI: note')
    """
    scope = values.get("scope") if values.get("scope") in SCOPES else None
    find = (values.get("find") or "").strip()[:200]
    others = {name: value for name, value in kept.items() if value}

    def link(**changes: str | None) -> str:
        wanted = {**others, "scope": scope, "find": find, **changes}
        query = urlencode([(name, value) for name, value in wanted.items() if value])
        return f"{address}{'?' if query else ''}{query}#evidence"

    told = [(property_words(row.record_kind, row.field_path, vocabulary), row) for row in rows]
    told = [(row.property if row.property != row.field_path else words, row) for words, row in told]
    wanted = find.casefold()
    matching = [(words, row) for words, row in told if not wanted or _has(words, row, wanted)]
    # What was checked by itself comes first, the catalogue's own notes last; within a scope by path.
    matching.sort(key=lambda pair: SCOPES.index(pair[1].evidence_scope))
    counts = Counter(row.evidence_scope for _, row in matching)
    left = [(words, row) for words, row in matching if scope in (None, row.evidence_scope)]
    number = values.get("evidence", "")
    page = max(1, int(number)) if number.isascii() and number.isdecimal() and len(number) < 7 else 1
    page = min(page, max(1, -(-len(left) // PAGE_ROWS)))
    first = (page - 1) * PAGE_ROWS
    shown = left[first : first + PAGE_ROWS]
    scopes = [ScopeLink("All rows", "", len(matching), link(scope=None), scope is None)]
    for key, (label, meaning) in SCOPE_WORDS.items():
        if counts[key] or key == scope:
            scopes.append(ScopeLink(label, meaning, counts[key], link(scope=key), key == scope))
    record_id = rows[0].record_id if rows else ""
    table = {"record": record_id, **({"scope": scope} if scope else {}), "format": "csv"}
    return EvidenceSection(
        rows=tuple(
            (words, SCOPE_WORDS[row.evidence_scope][0], method_words(row.review_method), row) for words, row in shown
        ),
        total=len(left),
        all=len(rows),
        first=first + 1 if shown else 0,
        last=first + len(shown),
        scopes=tuple(scopes),
        scope=scope,
        find=find,
        kept=tuple({**others, **({"scope": scope} if scope else {})}.items()),
        previous=link(evidence=str(page - 1)) if page > 1 else None,
        following=link(evidence=str(page + 1)) if first + PAGE_ROWS < len(left) else None,
        table=f"/evidence?{urlencode(table)}",
    )


def method_words(method: str) -> str:
    """The methods of a review in words; the cell holds one key or text, or several as a JSON list.

    >>> method_words('["source_pdf_inspection", "cross_check"]'), method_words("read by eye")
    ('source pdf inspection, cross check', 'read by eye')
    """
    listed = method.startswith("[") and method.endswith("]")
    try:
        found = json.loads(method) if listed else [method]
    except ValueError:
        found = [method]
    return ", ".join(one.replace("_", " ") if " " not in one else one for one in map(str, found))


def _has(words: str, row: Row, wanted: str) -> bool:
    return wanted in words.casefold() or any(wanted in getattr(row, name).casefold() for name in _SEARCHED)
