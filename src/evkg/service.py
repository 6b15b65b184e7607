"""What is served: a release or a bare store, with its workers; and how the endpoint describes itself.

Source: SPARQL 1.1 Service Description.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final, Literal

from evkg.answer_cache import AnswerCache
from evkg.bytesize import size_text
from evkg.errors import ReleaseError, UsageError
from evkg.etag import make_tag
from evkg.limits import Limits
from evkg.namespaces import PREFIXES
from evkg.outbox import Outbox
from evkg.release import GRAPH_INDEX, MANIFEST, STORE, Release
from evkg.remote import RemoteStore
from evkg.worker import QueryWorkers

#: What a query that names no graphs sees: the union of all graphs, or the default graph of the store alone.
DefaultGraph = Literal["union", "plain"]

#: Source: https://www.w3.org/ns/formats/
_FORMATS: Final = (
    *("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV"),
    *("Turtle", "N-Triples", "JSON-LD", "RDF_XML", "N3", "TriG", "N-Quads"),
)
#: How many named graphs are listed at most: clients read the description before each query.
MOST_LISTED: Final = 1000
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"{}|^`\\?#]+")


@dataclass(frozen=True)
class Service:
    """What one server serves. `base` is the address that others see, without a slash at its end.

    `store` is a folder, or the address of a remote store; such a one may change at any time.
    """

    store: Path | str
    base: str
    default_graph: DefaultGraph
    limits: Limits
    workers: QueryWorkers | RemoteStore
    outbox: Outbox
    release: Release | None = None
    #: Answers of a release; a bare store has no name that changes with it, so nothing of it is kept.
    cache: AnswerCache | None = None

    @property
    def endpoint(self) -> str:
        """The public address of the SPARQL endpoint."""
        return f"{self.base}/sparql"

    @property
    def graph_base(self) -> str:
        """What the IRIs of graphs that have an address of their own here begin with."""
        return f"{self.release.base_iri if self.release else f'{self.base}/'}graph/"

    def is_there(self) -> bool:
        """Whether the files that are served still exist; workers would go on for a while with those they hold open."""
        return all(os.path.isfile(file) for file in self._files)  # noqa: PTH113 - before every query, and a Path is slow

    @cached_property
    def _files(self) -> tuple[str, ...]:
        files = () if isinstance(self.store, str) else (f"{self.store}/CURRENT",)
        return files if self.release is None else (f"{self.release.folder}/{MANIFEST}", *files)

    def cache_headers(self, *parts: str) -> dict[str, str]:
        """The headers of what follows from the release and these parts: its ETag, and that a client asks again.

        Nothing for a bare or remote store, which has no name that changes with it.
        """
        if self.release is None or isinstance(self.store, str):
            return {}
        return {"ETag": f"W/{make_tag(self.release.id, *parts)}", "Cache-Control": "no-cache"}


def make_service(
    source: Release | Path | str,
    *,
    public_url: str,
    limits: Limits | None = None,
    default_graph: DefaultGraph = "union",
    remote: str | None = None,
) -> Service:
    """The service of a release, of the folder of an Oxigraph store, or of the endpoint at an address.

    `remote` is the endpoint that is asked instead of the store of a release. Workers are not started yet.

    Raises: UsageError: an address is none. ReleaseError: the folder holds no store.
    """
    release = source if isinstance(source, Release) else None
    store = remote or (release.folder / STORE if release else source if isinstance(source, str) else Path(str(source)))
    for address in (public_url, *([store] if isinstance(store, str) else [])):
        if not _ADDRESS.fullmatch(address):
            raise UsageError(f"{address!r} is no address such as https://example.org/evkg.")
    base = public_url.rstrip("/")
    limits = limits or Limits()
    is_union = default_graph == "union"
    if isinstance(store, str):
        return Service(
            store, base, default_graph, limits, RemoteStore(store, limits, is_union=is_union), Outbox(), release
        )
    if release is None and not (store / "CURRENT").is_file():
        raise ReleaseError(f"{store} holds no store.")
    workers = QueryWorkers(store, limits, is_union=is_union, base_iri=f"{base}/sparql")
    cache = AnswerCache(limits.cache_bytes) if release else None
    return Service(store, base, default_graph, limits, workers, Outbox(), release, cache)


def turtle_prefixes(names: Mapping[str, str]) -> str:
    """The lines that declare prefixes in Turtle.

    >>> turtle_prefixes({"a": "urn:a:"})
    '@prefix a: <urn:a:> .\\n'
    """
    return "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in names.items())


_DEFAULT_GRAPHS: Final[Mapping[str, str]] = {
    "union": "A query that names no data set (no FROM, FROM NAMED, default-graph-uri or named-graph-uri) sees the union"
    " of all graphs, derived facts among them; otherwise exactly the graphs that it names.",
    "plain": "A query that names no data set (no FROM, FROM NAMED, default-graph-uri or named-graph-uri) sees the"
    " default graph of the store, and all named graphs behind GRAPH; otherwise exactly the graphs that it names.",
}


@lru_cache(maxsize=4)
def named_graphs(index: Path, records: str) -> tuple[str, ...]:
    """The IRIs of the graphs that a file `graph.index.tsv` lists and that hold something.

    Of more than `MOST_LISTED`, those that begin with `records` are left out: they are one for each record.

    Raises: OSError: there is no such file.
    """
    with index.open(encoding="utf-8") as stream:
        rows = [line.split("\t") for line in stream]
    found = [row[0] for row in rows if len(row) > 2 and row[2] != "0"]
    return tuple(found if len(found) <= MOST_LISTED else [iri for iri in found if not iri.startswith(records)])


def _list_graphs(service: Service) -> str:
    """The statements about named graphs; none for a store that has no list of them."""
    release = service.release
    if release is None:
        return ""
    try:
        found = named_graphs(release.folder / GRAPH_INDEX, f"{release.base_iri}record/")
    except OSError:
        return ""
    return "".join(f" ;\n    sd:namedGraph [ a sd:NamedGraph ; sd:name <{iri}> ]" for iri in found)


def render_service(service: Service) -> str:
    """The service description in Turtle.

    Derived facts are in the graph; nothing is inferred while a query runs, so the entailment regime is simple.

    Source: SPARQL 1.1 Service Description, sections 3.2 to 3.4.
    """
    formats = ", ".join(f"<http://www.w3.org/ns/formats/{name}>" for name in _FORMATS)
    prefixes = {"sd": "http://www.w3.org/ns/sparql-service-description#"}
    prefixes |= {name: PREFIXES[name] for name in ("rdfs", "void", "dcterms")}
    feature = "    sd:feature sd:UnionDefaultGraph ;\n" if service.default_graph == "union" else ""
    most = service.limits
    limits = (
        f"A query is stopped after {most.seconds:g} seconds, at {size_text(most.memory)} of memory, {most.rows} rows or"
        f" {size_text(most.result_bytes)} of answer; what is cut never ends like a whole answer. The service is"
        " read-only and follows no SERVICE."
    )
    listed = (
        f"Of named graphs at most {MOST_LISTED} are listed here; where there are more, those of records are left out,"
        " which SELECT DISTINCT ?g { GRAPH ?g {} } lists."
    )
    known = f"These prefixes need no declaration: {', '.join(PREFIXES)}."
    return f"""\
{turtle_prefixes(prefixes)}
<{service.endpoint}#service> a sd:Service ;
    sd:endpoint <{service.endpoint}> ;
    sd:supportedLanguage sd:SPARQL11Query ;
{feature}    sd:defaultEntailmentRegime <http://www.w3.org/ns/entailment/Simple> ;
    sd:resultFormat {formats} ;
    sd:defaultDataset <{service.endpoint}#dataset> ;
    rdfs:comment "{_DEFAULT_GRAPHS[service.default_graph]}"@en , "{limits}"@en , "{known}"@en , "{listed}"@en ;
    rdfs:seeAlso <{service.base}/.well-known/void> , <{service.base}/graph-store> .

<{service.endpoint}#dataset> a sd:Dataset ;
    sd:defaultGraph <{service.endpoint}#default-graph>{_list_graphs(service)} .

<{service.endpoint}#default-graph> a sd:Graph ;
    rdfs:seeAlso <{service.base}/.well-known/void> .
"""
