"""The routes `/ontology`, `/vocab` and `/shapes`: each term and rule as a page, Turtle, JSON-LD or N-Triples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from evkg.endpoint import accepted, not_acceptable
from evkg.errors import NotFoundError
from evkg.etag import make_tag, not_modified
from evkg.facet import SEARCH, address
from evkg.model_diagram import model_pictures
from evkg.namespaces import EVKG, ONTOLOGY, VOCAB
from evkg.negotiate import Variant, choose
from evkg.pages import render_page
from evkg.reference import Reference
from evkg.reference_entry import SHAPES
from evkg.release import Release
from evkg.search_service import SearchService
from evkg.serialization import write_graph
from evkg.service import Service

if TYPE_CHECKING:
    import pyoxigraph as ox

VARIANTS: Final = (
    Variant("text/html", "html"),
    Variant("text/turtle", "turtle"),
    Variant("application/ld+json", "jsonld"),
    Variant("application/n-triples", "nt"),
)
#: The forms by the suffix of their own addresses.
SUFFIXES: Final = {".html": "html", ".ttl": "turtle", ".jsonld": "jsonld", ".nt": "nt"}
#: What a page links to beside itself: suffix and media type.
_OTHERS: Final = (
    (".ttl", "text/turtle"),
    (".jsonld", "application/ld+json"),
    (".nt", "application/n-triples"),
)
#: Scheme -> the facet of the search that finds what uses its concepts.
_FACETS: Final = {facet.scheme: facet.name for facet in SEARCH if facet.scheme}


def add_reference(app: FastAPI, service: Service) -> None:
    """Add the routes; what they show comes from the folder of the release, so a bare store has none."""
    release = service.release
    if release is None:
        return
    route = ReferenceRoute(service, release, getattr(app.state, "search", None))

    @app.get("/ontology")
    @app.get("/ontology{suffix}")
    def ontology(request: Request, suffix: str = "") -> Response:
        """All terms of the ontology."""
        return route.whole(request, "ontology", suffix)

    @app.get("/ontology/{name:path}")
    def term(request: Request, name: str) -> Response:
        """One term of the ontology, by Accept or with .html, .ttl, .jsonld, .nt."""
        return route.term(request, name)

    @app.get("/vocab")
    @app.get("/vocab{suffix}")
    def vocab(request: Request, suffix: str = "") -> Response:
        """All concept schemes."""
        return route.whole(request, "vocab", suffix)

    @app.get("/vocab/{name:path}")
    def concept(request: Request, name: str) -> Response:
        """A concept scheme, or one of its concepts: /vocab/metric, /vocab/metric/auroc."""
        return route.concept(request, name)

    @app.get("/shapes")
    @app.get("/shapes{suffix}")
    def shapes(request: Request, suffix: str = "") -> Response:
        """All rules for records, in words and in SHACL."""
        return route.whole(request, "shapes", suffix)

    @app.get("/shapes/{name:path}")
    def rule(request: Request, name: str) -> Response:
        """One rule."""
        return route.rule(request, name)


class ReferenceRoute:
    """Answers for the terms of one release; its methods run in threads beside the server's loop."""

    def __init__(self, service: Service, release: Release, search: SearchService | None) -> None:
        self._service = service
        self._release = release
        self._search = search
        self._reference = Reference(release)

    def whole(self, request: Request, what: str, suffix: str) -> Response:
        """The response with all of the ontology, the schemes or the shapes.

        Raises: NotFoundError: there is no such suffix. RequestError: 406.
        """
        if suffix not in ("", *SUFFIXES):
            raise NotFoundError(f"There is nothing at /{what}{suffix}.", (what,))
        reference = self._reference
        if what == "shapes":
            values: dict[str, Any] = {"files": reference.rules.by_file, "count": len(reference.rules.names)}
            return self._respond(request, "/shapes", suffix, "shapes.html", values, lambda: reference.shapes.triples)
        if what == "vocab":
            schemes = [(entry, reference.vocabulary.schemes[entry.name]) for entry in reference.schemes]

            def concepts() -> Iterable[ox.Triple]:
                return (triple for triple in reference.triples if str(triple.subject).startswith(f"<{VOCAB}"))

            return self._respond(request, "/vocab", suffix, "vocab.html", {"schemes": schemes}, concepts)

        def terms() -> Iterable[ox.Triple]:
            return (triple for triple in reference.triples if not str(triple.subject).startswith(f"<{VOCAB}"))

        pictures = model_pictures(reference.vocabulary)
        values = {"groups": reference.terms, "iri": ONTOLOGY, "pictures": pictures}
        return self._respond(request, "/ontology", suffix, "ontology.html", values, terms)

    def term(self, request: Request, name: str) -> Response:
        """The response with a term. Raises: NotFoundError: there is none; names the nearest. RequestError: 406."""
        name, suffix = _split(name, self._reference.names)
        entry = self._reference.term(name)
        query = f"SELECT ?subject ?value {{ ?subject <{entry.iri}> ?value }} LIMIT 100"
        if entry.what == "class":
            query = f"SELECT ?thing {{ ?thing a <{entry.iri}> }} LIMIT 100"
        values = {
            "entry": entry,
            "up": ("/ontology", "Ontology"),
            "uses": None,
            "query": f"/sparql?{urlencode({'query': query})}",
        }
        return self._respond(request, f"/ontology/{name}", suffix, "term.html", values, self._of(EVKG + name))

    def concept(self, request: Request, name: str) -> Response:
        """The response with a scheme or a concept. Raises: as `term`."""
        scheme, slash, key = name.partition("/")
        reference = self._reference
        if not slash:
            scheme, suffix = _split(scheme, reference.vocabulary.schemes)
            entry, entries = reference.scheme(scheme)
            is_open = reference.vocabulary.schemes[scheme].open
            values = {"entry": entry, "entries": entries, "is_open": is_open, "uses": self._uses(scheme)}

            def triples() -> Iterable[ox.Triple]:
                start = f"<{VOCAB}{scheme}"
                mine = (f"{start}>", f"{start}/")
                return (triple for triple in reference.triples if str(triple.subject).startswith(mine))

            return self._respond(request, f"/vocab/{scheme}", suffix, "scheme.html", values, triples)
        reference.scheme(scheme)
        key, suffix = _split(key, reference.vocabulary.schemes[scheme].concepts)
        entry = reference.concept(scheme, key)
        query = f"SELECT ?subject ?property {{ ?subject ?property <{entry.iri}> }} LIMIT 100"
        values = {
            "entry": entry,
            "up": (f"/vocab/{scheme}", f"Scheme {scheme}"),
            "uses": self._uses(scheme).get(key) if self._uses(scheme) else None,
            "query": f"/sparql?{urlencode({'query': query})}",
        }
        path = f"/vocab/{entry.iri.removeprefix(VOCAB)}"
        return self._respond(request, path, suffix, "term.html", values, self._of(entry.iri))

    def rule(self, request: Request, name: str) -> Response:
        """The response with a rule. Raises: as `term`."""
        name, suffix = _split(name, self._reference.rules.names)
        rule, entry = self._reference.rules.rule(name), self._reference.shape(name)
        values = {"rule": rule, "entry": entry}
        return self._respond(request, f"/shapes/{name}", suffix, "rule.html", values, self._of(SHAPES + name))

    def _uses(self, scheme: str) -> dict[str, tuple[int, str]]:
        """Key -> how many records use the concept, and the search that finds them; nothing while there is no index."""
        facet = _FACETS.get(scheme)
        index = self._search.ready if self._search is not None and facet else None
        if index is None or facet is None:
            return {}
        known = index.facets.get(facet, {})
        return {key: (mask.bit_count(), address("/search", {facet: (key,)})) for key, mask in known.items()}

    def _of(self, iri: str) -> Callable[[], Iterable[ox.Triple]]:
        return lambda: self._reference.describe(iri)

    def _respond(
        self,
        request: Request,
        path: str,
        suffix: str,
        template: str,
        values: dict[str, Any],
        triples: Callable[[], Iterable[ox.Triple]],
    ) -> Response:
        variant: Variant | None
        if suffix:
            variant = next(item for item in VARIANTS if item.format_name == SUFFIXES[suffix])
        else:
            variant = choose(accepted(request), VARIANTS)
        if variant is None:
            raise not_acceptable(VARIANTS, "A term")
        form = variant.format_name
        has_index = self._search is not None and self._search.ready is not None
        here = next(key for key, name in SUFFIXES.items() if name == form)
        headers = {
            "Content-Type": variant.content_type,
            "Content-Location": f"{urlsplit(self._service.base).path}{path}{here}",
            "ETag": make_tag(self._release.id, path, form, str(has_index)),
            "Cache-Control": "no-cache",
        }
        if unchanged := not_modified(request, headers):
            return unchanged
        if form != "html":
            return Response(write_graph(triples(), form), headers=headers)
        page = render_page(template, self._release, path=path, formats=_OTHERS, **values)
        return Response(page, headers=headers)


def _split(name: str, known: Iterable[str]) -> tuple[str, str]:
    """A name and the suffix behind it; the whole name is tried first.

    >>> _split("unit.ttl", ["unit"]), _split("v1.ttl", ["v1.ttl"]), _split("x.y", [])
    (('unit', '.ttl'), ('v1.ttl', ''), ('x.y', ''))
    """
    stem, dot, last = name.rpartition(".")
    if name in known or dot + last not in SUFFIXES:
        return name, ""
    return stem, dot + last
