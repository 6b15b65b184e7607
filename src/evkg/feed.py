"""The feed of changes per source: what records say was done to them and when, newest first.

Source: RFC 4287 (Atom).
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, urlencode
from xml.sax.saxutils import escape, quoteattr

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from evkg.errors import NotFoundError
from evkg.etag import not_modified
from evkg.finding import printable
from evkg.problem import RequestError
from evkg.release import Release
from evkg.search_index import Occurrence, SearchIndex
from evkg.service import Service

#: Entries of a feed beside that of the release (count).
MOST: Final = 100
CONTENT_TYPE: Final = "application/atom+xml; charset=utf-8"
#: What a date of a feed is, said in the feed itself.
ABOUT: Final = (
    "Dates are those that the records state: when a source was retrieved, when a record was extracted, when it was"
    " reviewed. A date without a time stands at midnight UTC. They do not say when a record entered this release;"
    " only the entry of the release does."
)
_WORDS: Final = {"retrieved": "Retrieved", "extracted": "Extracted", "reviewed": "Reviewed"}
#: Characters that no document of XML 1.0 can hold. Source: XML 1.0, section 2.2 (Char).
_NO_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def add_feed(app: FastAPI, service: Service) -> None:
    """Add the route; without a release there are no records."""
    release = service.release
    if release is None:
        return

    @app.get("/feed.atom")
    def feed(request: Request) -> Response:
        """What was done to records, newest first; with `source`, to those that cite this source."""
        sources = request.query_params.getlist("source")
        if len(sources) > 1:
            raise RequestError(400, "The parameter source is given twice; a feed is of one source, or of all.")
        source = sources[0] if sources and sources[0] else None
        if source is not None and release.read(source).kind != "source":
            raise NotFoundError(f"{source} is no source; a feed is of a source, or of all.")
        index = app.state.search.get()
        headers = {**service.cache_headers("feed", source or ""), "Content-Type": CONTENT_TYPE}
        if unchanged := not_modified(request, headers):
            return unchanged
        return Response(render_feed(release, index, service.base, source), headers=headers)


def render_feed(release: Release, index: SearchIndex, base: str, source: str | None) -> str:
    """The feed as XML; `base` is the address of the server without a slash at its end."""
    address = f"{base}/feed.atom"
    title = "Changes"
    if source is not None:
        address += f"?{urlencode({'source': source})}"
        title = f"Changes of {index.labels([source]).get(source, source)}"
    facts = release.manifest["dataset"]
    name = facts["title"] if isinstance(facts["title"], str) else "Evidence knowledge graph"
    publisher = facts.get("publisher")
    at = str(release.manifest.get("at", "1970-01-01T00:00:00Z"))
    entries = [_entry(base, occurrence) for occurrence in index.occurrences(source, MOST)]
    made = f"{release.manifest['counts']['records']} records; the dates of the other entries are those of the records."
    entries.insert(
        0,
        f"<entry><id>{_text(release.base_iri)}releases/{_text(release.id)}</id>"
        f"<title>Release {_text(release.id)} was made</title><updated>{_text(at)}</updated>"
        f"<link href={quoteattr(base + '/')}/><content>{_text(made)}</content></entry>",
    )
    lines = "\n".join(entries)
    home = f"{base}/id/{quote(source)}" if source is not None else f"{base}/"
    return f"""\
<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>{_text(address)}</id>
<title>{_text(name)}: {_text(title)}</title>
<subtitle>{_text(ABOUT)}</subtitle>
<updated>{_text(at)}</updated>
<author><name>{_text(publisher if isinstance(publisher, str) else "not stated")}</name></author>
<link rel="self" type="application/atom+xml" href={quoteattr(address)}/>
<link rel="alternate" type="text/html" href={quoteattr(home)}/>
{lines}
</feed>
"""


def _entry(base: str, one: Occurrence) -> str:
    url = f"{base}/id/{quote(one.id)}"
    words = _WORDS.get(one.what, one.what)
    kind = one.kind.replace("_", " ")
    return (
        f"<entry><id>{_text(url)}#{one.what}-{_text(quote(one.at))}</id>"
        f"<title>{words}: {_text(one.name)}</title><updated>{one.instant}</updated><link href={quoteattr(url)}/>"
        f"<content>The record of this {_text(kind)} states that it was {one.what} on {_text(one.at)}.</content></entry>"
    )


def _text(text: str) -> str:
    """A text that XML can hold, escaped; control characters are written out.

    >>> _text("a < b \\x00")
    'a &lt; b \\\\x00'
    """
    return escape(_NO_XML.sub(lambda match: printable(match[0]), text))
