"""DOIs in one spelling, so that two records that name one work can be told."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from evkg.jsontext import Json

_RESOLVER: Final = re.compile(r"(?:https?://)?(?:(?:dx|www)\.)?doi\.org/|(?:info:|urn:)?doi[:/]?\s*", re.IGNORECASE)
_DOI: Final = re.compile(r"10\.[0-9][0-9.]{3,}/\S+\Z")
#: Archives of preprints whose DOIs may carry the version of one work behind it. Source: their help pages.
_VERSIONED: Final = re.compile(r"(10\.48550/arxiv\.\S+?|10\.1101/[0-9.]+)v[0-9]+\Z")


def plain_doi(value: Json) -> str | None:
    """The bare DOI in small letters without the version of a preprint, None where there is none.

    Source: DOI Handbook, section 2.4 (upper and lower case are the same).

    >>> plain_doi("https://doi.org/10.1093%2FBIOADV/vbaf071."), plain_doi("doi:10.48550/arXiv.2301.00001v2")
    ('10.1093/bioadv/vbaf071', '10.48550/arxiv.2301.00001')
    >>> plain_doi("not yet") is None
    True
    """
    if not isinstance(value, str) or len(value) > 1000:
        return None
    text = unquote(value.strip())
    resolver = _RESOLVER.match(text)
    text = text[resolver.end() :] if resolver else text
    text = text.strip().partition("?")[0].rstrip(".,;:/ ").casefold()
    if not _DOI.match(text):
        return None
    versioned = _VERSIONED.match(text)
    return versioned[1] if versioned else text
