"""The description of the data: what they are, and counts that equal those which a query gives.

Source: Describing Linked Datasets with the VoID Vocabulary, sections 2, 3.2 (data dumps), 4 and 6.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evkg.convert import quote_literal
from evkg.download import DOWNLOAD
from evkg.endpoint import accepted, graph_response, not_acceptable
from evkg.etag import not_modified
from evkg.namespaces import PREFIXES, thing_iri
from evkg.negotiate import HOME, choose
from evkg.service import Service, turtle_prefixes

#: The facts of a data set as its manifest has them, by the property that says them.
_FACTS: Final = {
    "title": "dcterms:title",
    "description": "dcterms:description",
    "licence": "dcterms:license",
    "publisher": "dcterms:publisher",
    "language": "dcterms:language",
}
_COUNTS: Final = {
    "void:triples": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "void:distinctSubjects": "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }",
    "void:distinctObjects": "SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o }",
}
_CLASSES: Final = "SELECT ?key (COUNT(DISTINCT ?s) AS ?n) { ?s a ?key FILTER(isIRI(?key)) } GROUP BY ?key ORDER BY ?key"
_PROPERTIES: Final = "SELECT ?key (COUNT(*) AS ?n) { ?s ?key ?o } GROUP BY ?key ORDER BY ?key"


class VoidText:
    """The description in Turtle, counted when it is first asked for: what is served does not change."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._lock = asyncio.Lock()
        self._text: str | None = None

    async def get(self) -> str:
        """The description. Raises: the errors of `QueryWorkers.run`."""
        async with self._lock:
            if self._text is None:
                self._text = render_void(
                    self._service,
                    {name: int((await self._rows(query))[0]["n"]["value"]) for name, query in _COUNTS.items()},
                    await self._partition(_CLASSES),
                    await self._partition(_PROPERTIES),
                )
            return self._text

    async def _partition(self, query: str) -> dict[str, int]:
        return {row["key"]["value"]: int(row["n"]["value"]) for row in await self._rows(query) if "key" in row}

    async def _rows(self, query: str) -> list[dict[str, Any]]:
        answer = await self._service.workers.run(query, table_format="json")
        rows: list[dict[str, Any]] = json.loads(answer.body)["results"]["bindings"]
        return rows


def render_void(service: Service, counts: dict[str, int], classes: dict[str, int], properties: dict[str, int]) -> str:
    """The description in Turtle: `counts` by property of VoID, the others by IRI of class and property."""
    about = f"{service.base}/.well-known/void"
    dataset = f"{about}#dataset"
    lines = [f"void:sparqlEndpoint <{service.endpoint}>"]
    release = service.release
    if release is not None:
        dataset = f"{release.base_iri}releases/{release.id}"
        facts = release.manifest["dataset"]
        lines += [
            f"{name} {quote_literal(facts[key])}" for key, name in _FACTS.items() if isinstance(facts.get(key), str)
        ]
        lines += [f"dcterms:identifier {quote_literal(release.id)}", f"void:uriSpace {quote_literal(release.base_iri)}"]
        lines.append(f"void:dataDump <{service.base}{DOWNLOAD}>")
        lines += [f"void:vocabulary <{iri.rstrip('#')}>" for iri in (PREFIXES["evkg"], PREFIXES["prov"])]
        if release.record_ids:
            lines.append(f"void:exampleResource <{thing_iri(release.base_iri, release.record_ids[0])}>")
    counted = {**counts, "void:classes": len(classes), "void:properties": len(properties)}
    lines += [f"{name} {count}" for name, count in counted.items()]
    lines += [f"void:classPartition [ void:class <{iri}> ; void:entities {count} ]" for iri, count in classes.items()]
    lines += [
        f"void:propertyPartition [ void:property <{iri}> ; void:triples {count} ]" for iri, count in properties.items()
    ]
    statements = " ;\n    ".join(lines)
    return f"""\
{turtle_prefixes({name: PREFIXES[name] for name in ("void", "dcterms", "foaf")})}
<{about}> a void:DatasetDescription ;
    foaf:primaryTopic <{dataset}> .

<{dataset}> a void:Dataset ;
    {statements} .
"""


def add_void(app: FastAPI, service: Service) -> None:
    """Add the route of the description, and the first page, which programs get as the description too."""
    text = VoidText(service)

    async def void(request: Request) -> Response:
        return graph_response(request, await text.get(), "The description of the data")

    async def home(request: Request) -> Response:
        variant = choose(accepted(request), HOME)
        if service.release is None:
            return await void(request)
        if variant is None:
            raise not_acceptable(HOME, "The first page")
        if variant.format_name != "html":
            return await void(request)
        from evkg.home import render_home

        index = app.state.search.ready
        headers = {**service.cache_headers("home", str(index is not None)), "Content-Type": variant.content_type}
        if unchanged := not_modified(request, headers):
            return unchanged
        return Response(await asyncio.to_thread(render_home, service.release, index), headers=headers)

    app.router.routes.append(Route("/.well-known/void", void, methods=["GET"]))
    app.router.routes.append(Route("/", home, methods=["GET"]))
