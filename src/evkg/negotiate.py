"""Content negotiation: which of the forms of a resource a client wants most."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

#: An element of a list in a header: commas and semicolons inside quotes do not count. A quote that is
#: never closed reaches to the end, so that nothing is read twice.
_ELEMENT: Final = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*"?)+')
_PARAMETER: Final = re.compile(r'(?:[^;"]|"(?:[^"\\]|\\.)*"?)+')
_TYPE: Final = re.compile(r"[\w!#$%&'*+.^`|~-]+/[\w!#$%&'*+.^`|~-]+", re.ASCII)
_QUALITY: Final = re.compile(r"[01]?(?:\.\d*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Variant:
    """One form that can be sent: the media type and the name of the format behind it."""

    media_type: str
    format_name: str

    @property
    def content_type(self) -> str:
        """The value of Content-Type; text types say their charset, since some clients assume another.

        >>> Variant("text/csv", "csv").content_type, Variant("application/ld+json", "jsonld").content_type
        ('text/csv; charset=utf-8', 'application/ld+json')
        """
        return f"{self.media_type}; charset=utf-8" if self.media_type.startswith("text/") else self.media_type


#: SELECT and ASK. Sources: SPARQL 1.1 Query Results JSON, XML, CSV and TSV formats (W3C, 2013; JSON, section 5,
#: XML, section 6, CSV and TSV, section 6). The short names are what older clients ask for.
TABLES: Final = (
    Variant("application/sparql-results+json", "json"),
    Variant("application/sparql-results+xml", "xml"),
    Variant("text/csv", "csv"),
    Variant("text/tab-separated-values", "tsv"),
    Variant("application/json", "json"),
    Variant("application/xml", "xml"),
    Variant("text/xml", "xml"),
)
#: CONSTRUCT and DESCRIBE. Sources: RDF 1.1 Turtle, section 5; RDF 1.1 N-Triples, section 5 (which allows
#: text/plain); JSON-LD 1.1, appendix C; RDF 1.1 XML Syntax, section 8; RDF 1.1 TriG, section 6; RDF 1.1
#: N-Quads, section 5; Notation3 (W3C Team Submission 2011), of which Turtle is a part.
GRAPHS: Final = (
    Variant("text/turtle", "turtle"),
    Variant("application/n-triples", "nt"),
    Variant("application/ld+json", "jsonld"),
    Variant("application/rdf+xml", "rdfxml"),
    Variant("application/trig", "trig"),
    Variant("application/n-quads", "nquads"),
    Variant("text/n3", "n3"),
    Variant("text/plain", "nt"),
)
#: A record: the page for people first, then its graph, then the record as it was read.
RECORDS: Final = (
    Variant("text/html", "html"),
    Variant("application/ld+json", "jsonld"),
    Variant("text/turtle", "turtle"),
    Variant("application/n-triples", "nt"),
    Variant("application/rdf+xml", "rdfxml"),
    Variant("application/trig", "trig"),
    Variant("application/n-quads", "nquads"),
    Variant("application/json", "json"),
)
#: The first page: for people, and for programs the description of the data.
HOME: Final = (Variant("text/html", "html"), *GRAPHS)
#: Errors. Source: RFC 9457, section 3 (problem details). A page only where people come: see `PAGE_ERRORS`.
ERRORS: Final = (
    Variant("application/problem+json", "problem"),
    Variant("application/json", "problem"),
    Variant("text/plain", "text"),
)
PAGE_ERRORS: Final = (*ERRORS, Variant("text/html", "html"))


@dataclass(frozen=True, slots=True)
class _Range:
    media_type: str  # with `*` for what may be anything
    quality: float
    position: int

    @property
    def specificity(self) -> int:
        """2 for a type, 1 for `text/*`, 0 for `*/*`."""
        return 2 - self.media_type.count("*")

    def covers(self, media_type: str) -> bool:
        if self.specificity == 2:
            return self.media_type == media_type
        return self.specificity == 0 or media_type.startswith(self.media_type[:-1])


def choose(accept: str | None, variants: Sequence[Variant]) -> Variant | None:
    """The variant that a client wants most by its Accept header; None if it accepts none of them.

    The quality of a variant comes from the most specific range that covers it. Among equals a range
    that names a type beats `*/*`, then the order of the client holds, then that of `variants`. Without
    a header (or when nothing in it can be read) the first variant is sent. Parameters are ignored.

    Source: RFC 9110, section 12.5.1 (Accept) and 12.4.2 (quality values).

    >>> choose("text/html, text/csv;q=0.5, */*;q=0.1", TABLES).media_type
    'text/csv'
    >>> choose("text/html", TABLES) is None
    True
    """
    ranges = list(_ranges(accept or ""))
    if not ranges:
        return variants[0]
    best: tuple[float, int, int] | None = None
    chosen = None
    for variant in variants:
        found = _best_range(ranges, variant.media_type)
        if found is not None and found.quality > 0:
            rank = (found.quality, found.specificity, -found.position)
            if best is None or rank > best:
                best, chosen = rank, variant
    return chosen


def _best_range(ranges: Sequence[_Range], media_type: str) -> _Range | None:
    covering = (item for item in ranges if item.covers(media_type))
    return max(covering, key=lambda item: (item.specificity, item.quality, -item.position), default=None)


def _ranges(accept: str) -> Iterator[_Range]:
    for position, element in enumerate(_ELEMENT.findall(accept)):
        media_type, *parameters = (part.strip() for part in _PARAMETER.findall(element) or [""])
        media_type = "*/*" if media_type == "*" else media_type.lower()  # `*` alone: Java's old default
        if _TYPE.fullmatch(media_type) and not re.match(r"\*/[^*]", media_type):
            yield _Range(media_type, _quality(parameters), position)


def _quality(parameters: Sequence[str]) -> float:
    """The q of a range; 1 without one, and where it is no number."""
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        value = value.strip()
        if name.strip().lower() == "q" and value.strip(".") and _QUALITY.fullmatch(value):
            return min(float(value), 1.0)
    return 1.0
