"""Corrections: how a reader tells the curators of a data set that a record is wrong. No address is ever invented."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from evkg.release import Release

_MAIL: Final = re.compile(r"(?:mailto:)?([^\s@<>,;?&]+@[^\s@<>,;?&]+\.[^\s@<>,;?&]+)")
_WEB: Final = re.compile(r"https?://[^\s<>\"]+")


@dataclass(frozen=True, slots=True)
class Correction:
    """`href` is the address of the data set's contact, None where it gives none; then `why` says why.

    `place` is the file in the data set, where the release knows it; `text` is what to send.
    """

    href: str | None
    contact: str | None
    why: str
    place: str | None
    text: str


def read_correction(release: Release, record_id: str, name: str) -> Correction:
    """Where to send a correction of a record, and the text for it.

    >>> from evkg.release import open
    >>> found = read_correction(open(), "gena-lm", "GENA-LM")
    >>> found.href is None, found.place, found.text.splitlines()[0]
    (True, 'records/families.yaml', 'Correction of the record gena-lm (GENA-LM)')
    """
    contact = release.manifest["dataset"].get("contact")
    text = (
        f"Correction of the record {record_id} ({name})\n"
        f"Release: {release.id}\n"
        "Field: \n"
        "The record says: \n"
        "The source says, and where (page, table, section): \n"
    )
    given = contact if isinstance(contact, str) and contact.strip() else None
    why = ""
    if isinstance(contact, dict):
        why = str(contact.get("note") or f"The contact of this data set is {contact.get('reason', 'not recorded')}.")
    elif given is None:
        why = "This data set names no contact."
    return Correction(_address(given, text), given, why, _place(release, record_id), text)


def _address(contact: str | None, text: str) -> str | None:
    if contact is None:
        return None
    mail = _MAIL.fullmatch(contact.strip())
    if mail is not None:
        subject, _, body = text.partition("\n")
        return f"mailto:{quote(mail[1], safe='@+')}?subject={quote(subject)}&body={quote(body)}"
    return contact.strip() if _WEB.fullmatch(contact.strip()) else None


def _place(release: Release, record_id: str) -> str | None:
    """The file of the record, as the findings of the report know it; where it begins in the file they do not."""
    return next((str(finding["file"]) for finding in release.findings_of(record_id) if finding.get("file")), None)
