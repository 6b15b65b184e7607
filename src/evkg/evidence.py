"""The evidence table: one row for each statement of a record, each claim about it and each source cited for it.

Source: contract section 12.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from evkg.claims import Claim, Claims, back
from evkg.errors import InconsistencyError, UsageError
from evkg.jsontext import Json, encode_json
from evkg.record import Record
from evkg.statement import INDIVIDUAL, SCOPES, Statement, read_statements, value_at, value_text
from evkg.withheld import is_withheld

if TYPE_CHECKING:
    from evkg.release import Release

#: Source: contract section 12.3; the words stand on the pages of the catalogue.
HASH_SCOPE_UNKNOWN: Final = "Hash scope not separately documented; inspect source record"
#: Characters that stay in the parts of a row's id, as in JavaScript's encodeURIComponent.
_UNRESERVED: Final = "-_.!~*'()"
#: How many sources and evaluations are kept at hand (count).
_KEPT: Final = 256


class Row(NamedTuple):
    """One row; every cell is a text, empty where nothing is recorded; columns in the order of the contract."""

    row_id: str
    release_id: str
    record_id: str
    record_kind: str
    record_name: str
    field_path: str
    property: str
    value: str
    value_json: str
    evidence_scope: str
    review_status: str
    record_status: str
    evidence_origin: str
    claim_id: str
    claimed_value_json: str
    claim_record_status: str
    source_id: str
    source_title: str
    source_url: str
    source_doi: str
    source_version: str
    source_locator: str
    artifact_url: str
    artifact_sha256: str
    hash_scope: str
    artifact_format: str
    artifact_member: str
    locator_scope: str
    source_concerns: str
    retrieved_at: str
    review_method: str
    review_date: str
    review_note: str
    extraction_artifact_url: str
    extraction_artifact_sha256: str


COLUMNS: Final = Row._fields


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows are wanted: of one record, of one scope, citing one source; None leaves all.

    Raises: UsageError: there is no such scope.
    """

    record: str | None = None
    scope: str | None = None
    source: str | None = None

    def __post_init__(self) -> None:
        if self.scope is not None and self.scope not in SCOPES:
            raise UsageError(f"{self.scope[:80]!r} is no scope of evidence; there are {', '.join(SCOPES)}.")

    def takes(self, row: Row) -> bool:
        """Whether a row of the wanted record is wanted."""
        return self.scope in (None, row.evidence_scope) and self.source in (None, row.source_id)


class Evidence:
    """The evidence of a release. In memory are the ids of claims by subject, and the sources used last.

    >>> from evkg.release import open
    >>> rows = Evidence(open()).rows_of("saadat-fellay-20261015-result-nt-2-5b-quantization-memory-4bit")
    >>> [(row.property, row.value, row.review_status) for row in rows if row.evidence_scope == "individual_claim"]
    [('Reported result', '5.6', 'source_checked')]
    """

    def __init__(self, release: Release) -> None:
        self._release = release
        self._claims = Claims(release)
        self._source = lru_cache(_KEPT)(self._read_source)
        self._origin = lru_cache(_KEPT)(self._read_origin)

    def rows(self, selection: Selection | None = None) -> Iterator[Row]:
        """The rows, sorted by `row_id` (by code point), one record in memory at a time.

        Raises: NotFoundError: no such record, or no such source. ReleaseError: the records cannot be read.
        """
        wanted = selection or Selection()
        return self._chosen(self.record_ids(wanted), wanted)

    def _chosen(self, record_ids: Sequence[str], wanted: Selection) -> Iterator[Row]:
        for record_id in record_ids:
            for row in self.rows_of(record_id):
                if wanted.takes(row):
                    yield row

    def record_ids(self, selection: Selection) -> Sequence[str]:
        """The ids of the records whose rows may be wanted, in the order of their rows.

        Raises: NotFoundError: no such record, or no such source.
        """
        for name in (selection.record, selection.source):
            if name is not None:
                self._release.record_line(name)
        if selection.record is not None:
            return [selection.record]
        # A row id goes on with a colon, which sorts behind a hyphen: `a-b:…` stands before `a:…`.
        return sorted(self._release.record_ids, key=lambda record_id: f"{record_id}:")

    def rows_of(self, record_id: str) -> list[Row]:
        """The rows of one record, sorted by `row_id`; none of an excluded one.

        Raises: NotFoundError: no such record. InconsistencyError: two rows have one id.
        """
        record = self._release.read(record_id)
        rows = sorted(self._rows(record))
        for before, row in pairwise(rows):
            if before.row_id == row.row_id:
                raise InconsistencyError(
                    f"The evidence table has two rows with the id {row.row_id}: {record_id} states {row.field_path} "
                    "twice. This is a fault of evkg, not of the record."
                )
        return rows

    def count_of(self, record_id: str) -> Mapping[tuple[str, str], int]:
        """How many rows of one record have each (scope, source id); without writing them.

        Raises: NotFoundError: no such record.
        """
        found: dict[tuple[str, str], int] = {}
        for statement, _ in self._backed(self._release.read(record_id)):
            for source_id in statement.source_ids or ("",):
                key = (statement.scope, source_id)
                found[key] = found.get(key, 0) + 1
        return found

    def _rows(self, record: Record) -> Iterator[Row]:
        for statement, claim in self._backed(record):
            yield from self._cited(record, statement, claim)

    def _backed(self, record: Record) -> Iterator[tuple[Statement, Claim | None]]:
        """The statements of a record, each as the claims about it back it: a claim replaces what stands alone."""
        claims = self._claims.about(record)
        for statement in read_statements(record):
            found = claims.pop(statement.path, ())
            if not found:
                yield statement, None
            for claim in found:
                yield back(statement, claim), claim
        if is_withheld(record):
            return
        for path, found in claims.items():  # claims about an object as a whole, whose fields have rows of their own
            value = value_at(record, path)
            for claim in found if isinstance(value, dict) else ():
                yield back(Statement(path, value, path, INDIVIDUAL, ""), claim), claim

    def _cited(self, record: Record, statement: Statement, claim: Claim | None) -> Iterator[Row]:
        """A row for each source of a statement; one without source where it cites none."""
        claim_id = claim.record.id if claim else ""
        review = statement.review
        for source_id in statement.source_ids or ("",):
            source = self._source(source_id)
            parts = (record.id, statement.path, claim_id, source_id)
            yield Row(
                row_id=":".join(quote(part, safe=_UNRESERVED) for part in parts),
                release_id=self._release.id,
                record_id=record.id,
                record_kind=record.kind,
                record_name=str(record.data["name"]),
                field_path=statement.path,
                property=statement.label,
                value=value_text(statement.value),
                value_json=encode_json(statement.value),
                evidence_scope=statement.scope,
                review_status=statement.status,
                record_status=str(record.data["status"]),
                evidence_origin=self._origin_of(record),
                claim_id=claim_id,
                claimed_value_json=encode_json(claim.value) if claim and claim.is_stated else "",
                claim_record_status=str(claim.record.data["status"]) if claim else "",
                source_id=source_id,
                source_locator=statement.locator,
                locator_scope="shared_claim_locator" if len(statement.source_ids) > 1 else "single_source_locator",
                review_method=value_text(review.get("method")),
                review_date=value_text(review.get("reviewed_at") or review.get("date")),
                review_note=value_text(review.get("note")),
                extraction_artifact_url=value_text(review.get("retrieval_url")),
                extraction_artifact_sha256=value_text(review.get("artifact_sha256")),
                **source,
            )

    def _read_source(self, source_id: str) -> Mapping[str, str]:
        """The cells that say what was cited; empty where the release has no such source."""
        attributes: Mapping[str, Json] = {}
        title = ""
        if source_id and self._release.has_record(source_id):
            record = self._release.read(source_id)
            if record.kind == "source":
                attributes, title = record.attributes, str(record.data["name"])

        def first(*keys: str) -> str:
            return next((text for key in keys if (text := value_text(attributes.get(key)))), "")

        return {
            "source_title": title,
            "source_url": first("url"),
            "source_doi": first("doi"),
            "source_version": first("version"),
            "artifact_url": first("artifact_url"),
            "artifact_sha256": first("artifact_sha256"),
            "hash_scope": first("hash_scope", "extraction_method") or HASH_SCOPE_UNKNOWN,
            "artifact_format": first("artifact_format"),
            "artifact_member": first("artifact_member", "archive_member"),
            "source_concerns": first("evidence_concerns"),
            "retrieved_at": first("artifact_retrieved_at", "retrieved_at"),
        }

    def _origin_of(self, record: Record) -> str:
        """Who measured, as the evaluation says: that of a result, or the record itself."""
        if record.kind == "evaluation":
            return value_text(record.attributes.get("origin"))
        links = record.data["links"] if record.kind == "result" else ()
        for link in links if isinstance(links, list) else ():
            if isinstance(link, dict) and link["relation"] == "evaluation":
                return self._origin(str(link["target_id"]))
        return ""

    def _read_origin(self, evaluation_id: str) -> str:
        if not self._release.has_record(evaluation_id):
            return ""
        record = self._release.read(evaluation_id)
        return value_text(record.attributes.get("origin")) if record.kind == "evaluation" else ""
