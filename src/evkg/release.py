"""A release folder: what is in it, and how it is opened and asked. `build.py` makes it."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from evkg.answer import Rows, python_value, rdflib_graph
from evkg.errors import (
    NotFoundError,
    QueryError,
    QueryRefusedError,
    QuerySyntaxError,
    ReleaseError,
    UsageError,
    excerpt,
)
from evkg.jsontext import Json, decode_json
from evkg.manifest import MANIFEST as MANIFEST
from evkg.manifest import read_manifest
from evkg.namespaces import PREFIXES
from evkg.nearest import nearest
from evkg.record import Origin, Record, make_record
from evkg.sparql import Value, bind, names_dataset, read_query
from evkg.vocabulary import Vocabulary, load_vocabulary

if TYPE_CHECKING:
    import pyoxigraph as ox
    import rdflib

    from evkg.convert import Converter

#: The files of a release, by what they hold.
GRAPH: Final = "graph.nq"
GRAPH_INDEX: Final = "graph.index.tsv"
RECORDS: Final = "records.jsonl"
INDEX: Final = "records.index.tsv"
REPORT_JSON: Final = "validation.json"
REPORT_TURTLE: Final = "validation.ttl"
STORE: Final = "store"
#: The pointer to the newest release beside the release folders.
CURRENT: Final = "current"


class Release:
    """An opened release, read-only.

    >>> release = Release(find_release("build/current"))
    >>> release.record("gena-lm")["name"]
    'GENA-LM'
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = read_manifest(folder)

    @property
    def id(self) -> str:
        """The id of the release: its date and the first 12 hex digits of the hash of its content."""
        return str(self.manifest["release_id"])

    @property
    def base_iri(self) -> str:
        """The base of the IRIs of all its records."""
        return str(self.manifest["base_iri"])

    @property
    def conforms(self) -> bool:
        """Whether it was built without violations; a draft may have some."""
        return bool(self.manifest["conforms"])

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary that it was built with."""
        return load_vocabulary(self.folder / "ontology")

    @cached_property
    def store(self) -> ox.Store:
        """Its store, opened read-only."""
        from evkg.store import open_store

        return open_store(self.folder / STORE)

    @cached_property
    def graph(self) -> rdflib.Dataset:
        """Its graph as an rdflib Dataset over the store; the default graph is the union of all graphs.

        Numbers come in the store's own form (`1.00` as `1`): printed values are texts and stay exact.
        Its queries reach no other server, and nothing can be changed: QueryRefusedError.
        """
        import rdflib

        return rdflib.Dataset(store=_rdflib_store(self.store), default_union=True)

    def query(self, text: str, /, **bindings: Value) -> Rows | bool | rdflib.Graph:
        """The answer to a SPARQL query: rows of a SELECT, the truth of an ASK, else an rdflib graph.

        `bindings` bind variables to values; a text `<…>` is an IRI. The usual prefixes are known.

        Raises: QueryError and the errors below it.

        >>> release = Release(find_release("build/current"))
        >>> release.query("SELECT ?v { ?r evkg:printedValue ?v } ORDER BY ?v LIMIT 2")[0]
        {'v': '1.18'}
        """
        from evkg.store import is_graph, rows, run_query

        query, result = run_query(self.store, bind(text, bindings))
        if query.form == "ASK":
            return bool(result)
        if is_graph(query):
            return rdflib_graph(result)
        solutions = tuple({name: python_value(term) for name, term in row.items()} for row in rows(result))
        return Rows(tuple(variable.value for variable in result.variables), solutions)

    def select(self, text: str, /, **bindings: Value) -> Rows:
        """The rows of a SELECT; `query` without its other forms.

        Raises: UsageError: the query is no SELECT. QueryError and the errors below it.
        """
        answer = self.query(text, **bindings)
        if not isinstance(answer, Rows):
            raise UsageError("This query gives no rows; write a SELECT.")
        return answer

    def record(self, record_id: str) -> dict[str, Json]:
        """A record as it was read (a withdrawn one as its tombstone).

        Raises: NotFoundError: no such record; names the nearest ids.
        """
        return cast("dict[str, Json]", decode_json(self.record_line(record_id)))

    def has_record(self, record_id: str) -> bool:
        """Whether there is a record of this id."""
        return record_id in self._index

    def record_line(self, record_id: str) -> str:
        """The bytes of a record as it was read, as one line of JSON.

        Raises: NotFoundError: as `record`. ReleaseError: the file is missing or not what the release was made with.
        """
        if record_id not in self._index:
            raise NotFoundError(f"No record has the id {excerpt(record_id)!r}.", nearest(record_id, self._index))
        offset, length, sha256 = self._index[record_id]
        try:
            with (self.folder / RECORDS).open("rb") as stream:
                stream.seek(offset)
                line = stream.read(length)
        except OSError as error:
            raise ReleaseError(f"{self.folder / RECORDS} cannot be read: {error.strerror or error}") from error
        if hashlib.sha256(line).hexdigest() != sha256:
            raise ReleaseError(f"{self.folder / RECORDS} is damaged: {record_id} is not what the index says.")
        return line.decode()

    def findings_of(self, record_id: str) -> Sequence[dict[str, Any]]:
        """The findings of the validation report on one record, as `validation.json` has them."""
        return self._findings.get(record_id, [])

    @cached_property
    def _findings(self) -> Mapping[str, list[dict[str, Any]]]:
        try:
            report = json.loads((self.folder / REPORT_JSON).read_text(encoding="utf-8"))
            found: dict[str, list[dict[str, Any]]] = {}
            for finding in report["findings"]:
                found.setdefault(str(finding["record"]), []).append(finding)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ReleaseError(f"{self.folder / REPORT_JSON} cannot be read: {error}") from error
        return found

    @property
    def record_ids(self) -> Sequence[str]:
        """The ids of all records, sorted."""
        return list(self._index)

    @cached_property
    def _converter(self) -> Converter:
        from evkg.convert import Converter

        return Converter(self.vocabulary, self.base_iri)

    def jsonld(self, record_id: str) -> dict[str, Any]:
        """The JSON-LD of a record with its provenance, status and missing entries, its context inside.

        Raises: NotFoundError: as `record`.

        >>> release = Release(find_release("build/current"))
        >>> release.jsonld("gena-lm")["id"]
        'https://w3id.org/evkg/record/gena-lm'
        """
        return self._converter.record_to_jsonld(self.read(record_id))

    def quads(self, record_id: str) -> list[str]:
        """The N-Quads lines of a record's graph.

        Raises: NotFoundError: as `record`.
        """
        return self._converter.record_to_quads(self.read(record_id))

    def turtle(self, record_id: str) -> str:
        """The graph of a record as Turtle; literals keep their text.

        Raises: NotFoundError: as `record`.
        """
        import pyoxigraph as ox

        text = "\n".join([*self.quads(record_id), ""])
        triples = [quad.triple for quad in ox.parse(input=text.encode(), format=ox.RdfFormat.N_QUADS)]
        return (ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes=dict(PREFIXES)) or b"").decode()

    def read(self, record_id: str) -> Record:
        """A record in memory, in the current shape.

        Raises: NotFoundError: as `record`.
        """
        line = self.record_line(record_id)
        record, findings = make_record(decode_json(line), Origin(RECORDS, 1, text=line), self.vocabulary, line)
        if record is None:
            raise ReleaseError(f"{self.folder / RECORDS}: {findings[0].message}")
        return record

    @cached_property
    def _index(self) -> Mapping[str, tuple[int, int, str]]:
        """Id -> (offset, length, SHA-256) of its line in the file of records; bytes."""
        try:
            lines = (self.folder / INDEX).read_text(encoding="utf-8").splitlines()
            parts = (line.split("\t") for line in lines)
            return {record_id: (int(offset), int(length), sha256) for record_id, offset, length, sha256 in parts}
        except (OSError, ValueError) as error:
            raise ReleaseError(f"{self.folder / INDEX} cannot be read: {error}") from error


def find_release(name: str | Path) -> Path:
    """The folder of a release: a path to it, or a release id (or `current`) below `build/`.

    Raises: ReleaseError: there is none; says how to make one.
    """
    try:
        for path in (Path(name), Path("build") / name, Path(name) / CURRENT):
            if (path / MANIFEST).is_file():
                return path.resolve()
    except OSError as error:
        raise ReleaseError(f"There is no release at {name}: {error.strerror or error}.") from error
    raise ReleaseError(f"There is no release at {name}. Make one with: evkg build")


def _rdflib_store(store: ox.Store) -> Any:
    """A store for rdflib that neither changes nor, with any query, reaches the network."""
    from oxrdflib import OxigraphStore

    class ReadOnlyStore(OxigraphStore):
        """Every query goes to Oxigraph as text: rdflib's own engine would fetch what FROM names."""

        def query(self, query: Any, initNs: Any, initBindings: Any, queryGraph: Any, **options: Any) -> Any:  # noqa: N803
            if not isinstance(query, str):
                query, initNs, base = query._original_args  # noqa: N806 - what prepareQuery was given
                query = f"BASE <{base}> {query}" if base else query
            # Prefixes that were bound in rdflib are not known here, and the engine names those that are missing.
            with contextlib.suppress(QuerySyntaxError):
                read_query(query)
            if names_dataset(query):
                queryGraph = ""  # noqa: N806 - else the union would hide what the query names
            try:
                return super().query(query, initNs, initBindings, queryGraph, **options)
            except NotImplementedError as error:  # upon which rdflib would ask its own engine
                raise QueryError(str(error)) from error

        def update(self, *_: Any, **__: Any) -> None:
            raise QueryRefusedError("Updates are refused: the graph is read-only.")

        def add_graph(self, graph: Any) -> None:
            """Nothing: rdflib calls this for every graph that it names."""

    return ReadOnlyStore(store=store)


def open(release: str | Path = "build/current") -> Release:  # noqa: A001 - `evkg.open` is the public name
    """The release at a path or of an id; see `find_release`.

    Raises: ReleaseError: there is none.

    >>> open("build/current").conforms
    True
    """
    return Release(find_release(release))
