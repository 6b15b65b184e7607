"""HTML: pages made from views and answers. Templates escape everything that a record says."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any, Final

import jinja2

from evkg.release import Release
from evkg.view import view_record

#: The formats of a record beside HTML: suffix and media type.
FORMATS: Final = (
    (".jsonld", "application/ld+json"),
    (".ttl", "text/turtle"),
    (".nt", "application/n-triples"),
    (".json", "application/json"),
)
#: How many records the home page lists (count).
_LISTED: Final = 500


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("evkg"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )


def render_page(name: str, release: Release, **values: Any) -> str:
    """The page that a template makes of these values."""
    template = _templates().get_template(name)
    return template.render(release_id=release.id, conforms=release.conforms, **values)


def render_record(release: Release, record_id: str) -> str:
    """The page of a record.

    Raises: NotFoundError: no such record; names the nearest ids.

    >>> from evkg.release import open
    >>> "<h1>GENA-LM</h1>" in render_record(open(), "gena-lm")
    True
    """
    return render_page("record.html", release, view=view_record(release, record_id), formats=FORMATS)


def render_home(release: Release) -> str:
    """The first page: what the release holds, and its records by kind."""
    manifest = release.manifest
    facts = manifest["dataset"]
    rows = release.select(
        "SELECT ?kind ?id ?name { ?record evkg:recordId ?id ; foaf:primaryTopic ?thing . "
        f"?thing evkg:kind ?kind ; rdfs:label ?name }} ORDER BY ?kind ?name ?id LIMIT {_LISTED}"
    )
    names = Counter(row["name"] for row in rows)
    records: dict[str, list[tuple[str, str]]] = {}
    for row in rows:
        records.setdefault(row["kind"].replace("_", " "), []).append((row["id"], row["name"]))
    return render_page(
        "home.html",
        release,
        title=facts["title"] if isinstance(facts["title"], str) else "Evidence knowledge graph",
        description=facts["description"] if isinstance(facts["description"], str) else "",
        kinds=manifest["counts"]["kinds"],
        counts=manifest["counts"],
        records=list(records.items()),
        shared_names={name for name, count in names.items() if count > 1},
        more=max(0, manifest["counts"]["records"] - _LISTED),
    )
