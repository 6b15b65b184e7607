"""Claims: what they say about the fields of records, and how far a statement is checked by them.

Source: contract section 12.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from evkg.jsontext import Json, NumberText, encode_json
from evkg.record import Record
from evkg.statement import INDIVIDUAL, Statement, value_text
from evkg.withheld import is_withheld

if TYPE_CHECKING:
    from evkg.release import Release


class Claim(NamedTuple):
    """What a claim says about a statement; `is_stated` is false where it claims no value."""

    record: Record
    value: Json
    is_stated: bool


class Claims:
    """The claims of a release. In memory are their ids by subject.

    >>> from evkg.release import open
    >>> release = open()
    >>> list(Claims(release).about(release.read("saadat-fellay-20261015-source-paper")))
    ['attributes.reported_finding', 'attributes.tables_not_extracted']
    """

    def __init__(self, release: Release) -> None:
        self._release = release

    @cached_property
    def _ids(self) -> Mapping[str, Sequence[str]]:
        """Subject -> the ids of the claims about it, sorted; excluded claims say nothing."""
        found: dict[str, list[str]] = {}
        for record_id in self._release.record_ids:
            line = self._release.record_line(record_id)
            if '"claim"' not in line and "\\u" not in line:
                continue  # most lines need no reading
            record = self._release.read(record_id)
            if record.kind == "claim" and not is_withheld(record):
                for subject in sorted(_subjects(record)):
                    found.setdefault(subject, []).append(record_id)
        return found

    def about(self, record: Record) -> dict[str, list[Claim]]:
        """Path of a field -> the claims about it; `version` means `attributes.version`, but `name` the name.

        Raises: ReleaseError: the records cannot be read.
        """
        found: dict[str, list[Claim]] = {}
        for claim_id in self._ids.get(record.id, ()):
            claim = self._release.read(claim_id)
            name = value_text(claim.attributes.get("field"))
            is_whole = name.partition(".")[0] in (*record.data, "attributes") or name.startswith("links:")
            key = "value" if "value" in claim.attributes else "target_id"
            said = Claim(claim, claim.attributes.get(key), key in claim.attributes)
            found.setdefault(name if is_whole else f"attributes.{name}", []).append(said)
        return found


def _subjects(claim: Record) -> set[str]:
    links = claim.data["links"]
    return {
        str(link["target_id"])
        for link in (links if isinstance(links, list) else ())
        if isinstance(link, dict) and link["relation"] == "subject"
    }


def back(statement: Statement, claim: Claim) -> Statement:
    """The statement as a claim backs it: with the sources, place and review of the claim, and of nothing else.

    It is checked only as far as the claim is, where both say the same and the claim says where.
    """
    attributes = claim.record.attributes
    cited = claim.record.data["source_ids"]
    source_ids = tuple(sorted({str(one) for one in cited})) if isinstance(cited, list) else ()
    locator = value_text(attributes.get("source_locator"))
    if not (claim.is_stated and source_ids and locator):
        status = "unresolved_claim"
    elif canonical(claim.value) == canonical(statement.value):
        status = str(claim.record.data["status"])
    else:
        status = "conflicting_claim"
    review = attributes.get("review")
    return replace(
        statement,
        scope=INDIVIDUAL,
        status=status,
        source_ids=source_ids,
        locator=locator,
        review=review if isinstance(review, dict) else {},
    )


def canonical(value: Json) -> str:
    """A text that is the same for equal values: keys sorted, numbers by value; lists keep order, strings are exact.

    >>> canonical({"b": [1], "a": NumberText("0.50")}) == canonical({"a": NumberText("0.5"), "b": [NumberText("1.0")]})
    True
    >>> canonical("5.60") == canonical("5.6")
    False
    """
    if isinstance(value, dict):
        return "{" + ",".join(f"{encode_json(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(one) for one in value) + "]"
    if isinstance(value, NumberText) or type(value) is int:
        return _number(str(value))
    return encode_json(value)


def _number(text: str) -> str:
    number = Decimal(text)
    sign, digits, exponent = number.as_tuple()
    trimmed = "".join(map(str, digits)).rstrip("0")
    if not trimmed.strip("0"):
        return "0"
    return f"{'-' if sign else ''}{trimmed.lstrip('0')}e{int(exponent) + len(digits) - len(trimmed)}"
