"""schema.org for search engines: a source as an article, a data set as a data set, and nothing where it would not fit.

Source: schema.org, types ScholarlyArticle and Dataset; https://schema.org/version/latest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from evkg.namespaces import thing_iri
from evkg.statement import value_text
from evkg.withheld import is_withheld

if TYPE_CHECKING:
    from evkg.record import Record
    from evkg.release import Release

#: What is published as an article; an official project source may be a page, code or a table.
_ARTICLES: Final = ("peer_reviewed", "preprint")
_WEB: Final = re.compile(r"https?://[^\s<>\"]+")
_YEAR: Final = re.compile(r"\d{4}")


def schema_type(record: Record) -> str | None:
    """The type of schema.org that a record truly is: of sources those that are articles, and data sets.

    >>> from evkg.release import open
    >>> schema_type(open().read("gena-lm")) is None
    True
    """
    if is_withheld(record):
        return None
    if record.kind == "source":
        is_article = record.attributes.get("publication_status") in _ARTICLES or record.attributes.get("doi")
        return "ScholarlyArticle" if is_article else None
    return "Dataset" if record.kind in ("dataset", "dataset_subset") else None


def describe_thing(release: Release, record: Record, address: str) -> dict[str, Any] | None:
    """The description of what a record is about, for the page at `address`; None where no type fits.

    >>> from evkg.release import open
    >>> release = open()
    >>> found = describe_thing(release, release.read("saadat-fellay-20261015-source-paper"), "https://example.org/id/x")
    >>> found["@type"], found["creativeWorkStatus"]
    ('ScholarlyArticle', 'Peer reviewed')
    """
    kind = schema_type(record)
    if kind is None:
        return None
    attributes = record.attributes
    text = {key: value_text(attributes.get(key)) for key in ("doi", "url", "repository", "version", "year", "licence")}
    status = value_text(attributes.get("publication_status"))
    concept = release.vocabulary.schemes["publication-status"].concepts.get(status)
    same = [f"https://doi.org/{text['doi']}"] if text["doi"] else []
    same += [text[key] for key in ("url", "repository") if _WEB.fullmatch(text[key])]
    document: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": kind,
        "@id": thing_iri(release.base_iri, record.id),
        "name": str(record.data["name"]),
        "description": str(record.data["description"]),
        "identifier": f"https://doi.org/{text['doi']}" if text["doi"] else record.id,
        "sameAs": same,
        "version": text["version"],
        "mainEntityOfPage": address,
    }
    if kind == "ScholarlyArticle":
        document["headline"] = str(record.data["name"])[:110]
        document["datePublished"] = text["year"] if _YEAR.fullmatch(text["year"]) else ""
        document["creativeWorkStatus"] = concept.label if concept else status
        document["encoding"] = _encoding(attributes)
    if _WEB.fullmatch(text["licence"]):
        document["license"] = text["licence"]
    return {key: value for key, value in document.items() if value}


def _encoding(attributes: Mapping[str, Any]) -> dict[str, str]:
    """The file that was retrieved."""
    parts = {
        "contentUrl": value_text(attributes.get("artifact_url")),
        "sha256": value_text(attributes.get("artifact_sha256")),
        "encodingFormat": value_text(attributes.get("media_type")),
    }
    found = {key: text for key, text in parts.items() if text}
    return {"@type": "MediaObject", **found} if found else {}


def data_block(document: Mapping[str, Any]) -> str:
    r"""The document as text for a script element, which nothing in it can close.

    Source: HTML, section 4.12.1.3 (restrictions for contents of script elements).

    >>> data_block({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").replace("\u2028", "\\u2028")
