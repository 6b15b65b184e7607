"""HTML: pages made from views and answers. Templates escape everything that a record says."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import jinja2

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
    return rooted_page(template.render(release_id=release_id, conforms=conforms, **values))
