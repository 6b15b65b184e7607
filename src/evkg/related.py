"""What the graph says of a record beside its own words: concerns that reach it, and records that it is tied to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from evkg.jsontext import Json
from evkg.namespaces import EVKG, RDFS, record_iri, thing_iri

if TYPE_CHECKING:
    from evkg.release import Release

#: What stands for a concern that is no list of objects with texts.
UNREAD: Final = "a concern that could not be read"


@dataclass(frozen=True, slots=True)
class Link:
    """A relation to or from another record; `name` is None for one outside the release."""

    label: str
    record_id: str
    name: str | None
    incoming: bool = False


@dataclass(frozen=True, slots=True)
class Concern:
    """A doubt about a source that this record rests on, as the record of that source has it; `is_read` is false for
    one that could not be read.
    """

    message: str
    locator: str | None
    effect: str
    is_read: bool = True
    source: Link | None = None


def read_concerns(release: Release, record_id: str) -> Iterator[Concern]:
    """Open concerns that touch a record, from the derived graph: those of an evaluation touch its results."""
    import pyoxigraph as ox

    store = release.store
    thing = ox.NamedNode(thing_iri(release.base_iri, record_id))

    def text(node: Any, name: str) -> str | None:
        quad = next(store.quads_for_pattern(node, ox.NamedNode(EVKG + name), None), None)
        return None if quad is None else str(getattr(quad.object, "value", quad.object))

    nodes = [quad.object for quad in store.quads_for_pattern(thing, ox.NamedNode(EVKG + "openConcern"), None)]
    for node in sorted(nodes, key=str):
        is_read = text(node, "expectedKind") is None
        message = text(node, "message") or ("its text is missing or withheld" if is_read else UNREAD)
        source_id = str(getattr(node, "value", "")).partition("#")[0].removeprefix(record_iri(release.base_iri, ""))
        source = read_link(release, "source", source_id)
        yield Concern(message, text(node, "concernLocator"), text(node, "effect") or "excludes", is_read, source)


def read_tested(release: Release, record_id: str) -> Iterator[Link]:
    """What a result was measured on and by, through its evaluation."""
    import pyoxigraph as ox

    def named(label: str, things: list[Any], name: str) -> Iterator[tuple[Link, Any]]:
        for thing in things:
            for quad in release.store.quads_for_pattern(thing, ox.NamedNode(EVKG + name), None):
                other = str(quad.object)[1:-1].removeprefix(thing_iri(release.base_iri, ""))
                yield read_link(release, label, other), quad.object

    result = ox.NamedNode(thing_iri(release.base_iri, record_id))
    evaluations = list(named("evaluation", [result], "evaluation"))
    for label, name in (("tested system", "system"), ("protocol", "assessment"), ("data set", "data")):
        yield from (link for link, _ in named(label, [node for _, node in evaluations], name))
    yield from (link for link, _ in evaluations)


def read_links(release: Release, record_id: str, links: Json) -> Iterator[Link]:
    """Own links in the order of the record, then incoming ones by relation and name."""
    import pyoxigraph as ox

    labels = {term.iri: term.label for term in release.vocabulary.relations.values()}
    for link in links if isinstance(links, list) else ():
        if isinstance(link, dict):
            term = release.vocabulary.relations.get(str(link["relation"]))
            yield read_link(release, term.label if term else str(link["relation"]), str(link["target_id"]))
    thing = ox.NamedNode(thing_iri(release.base_iri, record_id))
    about = ox.NamedNode(record_iri(release.base_iri, record_id))
    incoming = []
    for quad in release.store.quads_for_pattern(None, None, thing):
        origin = str(quad.subject)[1:-1].partition("#")[0]
        if quad.predicate.value in labels and quad.graph_name != about:
            other = origin.removeprefix(thing_iri(release.base_iri, ""))
            incoming.append(read_link(release, labels[quad.predicate.value], other, incoming=True))
        elif quad.predicate.value == EVKG + "sourceIds":
            other = origin.removeprefix(record_iri(release.base_iri, ""))
            incoming.append(read_link(release, "cited by", other, incoming=True))
    yield from sorted(incoming, key=lambda link: (link.label, link.name or "", link.record_id))


@dataclass(frozen=True, slots=True)
class Relation:
    """All links of one relation in one direction: `count` is their number, `links` are the first ones."""

    label: str
    incoming: bool
    count: int
    links: tuple[Link, ...]


def group_links(links: Iterable[Link], most: int) -> list[Relation]:
    """Links by relation and direction, in the order in which the relations come; at most `most` of each are kept.

    >>> links = [Link("data", "d", "D"), Link("system", "s", None), Link("data", "e", "E")]
    >>> [(relation.label, relation.count, len(relation.links)) for relation in group_links(links, 1)]
    [('data', 2, 1), ('system', 1, 1)]
    """
    found: dict[tuple[str, bool], list[Link]] = {}
    for link in links:
        found.setdefault((link.label, link.incoming), []).append(link)
    return [Relation(label, way, len(all_), tuple(all_[:most])) for (label, way), all_ in found.items()]


def read_link(release: Release, label: str, record_id: str, *, incoming: bool = False) -> Link:
    import pyoxigraph as ox

    try:
        thing = ox.NamedNode(thing_iri(release.base_iri, record_id))
    except ValueError:  # what a record writes as an id need not be one
        return Link(label, record_id, None, incoming)
    quad = next(release.store.quads_for_pattern(thing, ox.NamedNode(RDFS + "label"), None), None)
    return Link(label, record_id, None if quad is None else str(getattr(quad.object, "value", "")), incoming)
