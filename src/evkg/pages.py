"""HTML: pages made from views and answers. Templates escape everything that a record says."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

import jinja2

from evkg.finding import printable
from evkg.release import Release
from evkg.rooted import rooted_page

#: The formats of a record beside HTML: suffix and media type.
FORMATS: Final = (
    (".jsonld", "application/ld+json"),
    (".ttl", "text/turtle"),
    (".nt", "application/n-triples"),
    (".rdf", "application/rdf+xml"),
    (".trig", "application/trig"),
    (".nq", "application/n-quads"),
    (".json", "application/json"),
)
#: What no document of HTML may hold, beside what ends a line and tabs; halves of surrogate pairs cannot be sent at all.
#: Source: HTML, section 13.2.3.5 (preprocessing the input stream); planes above the first end in such a pair too.
_UNFIT: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(f"{chr((plane << 16) + 0xFFFE)}{chr((plane << 16) + 0xFFFF)}" for plane in range(1, 17))
    + "]"
)


def visible(page: str) -> str:
    """The text of a page; control characters of records are written out, since HTML may not hold them.

    >>> visible("a\\x1b[31mb\\tc")
    'a\\\\x1b[31mb\\tc'
    """
    return _UNFIT.sub(lambda match: printable(match[0]), page)


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("evkg"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render_page(name: str, release: Release | None, **values: Any) -> str:
    """The page that a template makes of these values; of a bare store there is no release to name."""
    template = _templates().get_template(name)
    release_id, conforms = (release.id, release.conforms) if release else ("", True)
    return visible(rooted_page(template.render(release_id=release_id, conforms=conforms, **values)))
