"""What of a record is searched, by what it can be chosen, and on which days something was done to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from evkg.facet import NONE, SEARCH
from evkg.jsontext import Json
from evkg.moment import read_moment
from evkg.record import Record
from evkg.vocabulary import Term, Vocabulary

#: Statuses that are a doubt by themselves.
_DOUBTFUL: Final = ("excluded", "disputed", "superseded")
#: Scheme -> the facet whose values are its concepts.
_FACETS: Final = {facet.scheme: facet.name for facet in SEARCH if facet.scheme and facet.name != "status"}
#: Facet of results -> relation of the evaluation that leads to it.
TESTED: Final = {"system": "system", "protocol": "assessment", "dataset": "data"}
#: What was done on a day that a record names: place of the day, and words for it.
_EVENTS: Final = (
    (("retrieved_at",), "retrieved"),
    (("artifact_retrieved_at",), "retrieved"),
    (("extraction", "date"), "extracted"),
    (("review", "reviewed_at"), "reviewed"),
    (("review", "date"), "reviewed"),
)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was done to a record, on the day or at the time that the record names; `at` is as written."""

    what: str
    at: str
    instant: str  # in UTC, fit for sorting; the first moment of a day


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation tells its results: ids by relation, and the origin of the evidence."""

    links: Mapping[str, tuple[str, ...]]
    origin: str | None


@dataclass(slots=True)
class Document:
    """A record as the index has it."""

    id: str
    kind: str
    name: str
    status: str
    printed: str | None
    unit: str | None
    values: list[str]
    texts: list[str]
    about: list[str]
    facets: dict[str, tuple[str, ...]]
    doubts: tuple[str, ...]
    events: tuple[Event, ...]
    sources: tuple[str, ...]


class Reading:
    """Makes documents; `names` and `evaluations` are those of all records, `doubts` those that the graph holds."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        names: Mapping[str, str],
        evaluations: Mapping[str, Evaluation],
        doubts: Mapping[str, Collection[str]],
    ) -> None:
        self._vocabulary = vocabulary
        self._names = names
        self._evaluations = evaluations
        self._doubts = doubts

    def document(self, record: Record) -> Document:
        """The document of a record; of a withdrawn one the release has a tombstone only, so no more is searched."""
        attributes = record.attributes
        links = read_evaluation(record).links
        status = _text(record.data["status"]) or ""
        printed = _text(attributes.get("printed_value"))
        texts = [_text(record.data["description"]) or ""]
        texts += (text for path, text in leaves(attributes) if path not in ("printed_value", "numeric_value"))
        texts += self._labels(record)
        sources = _texts(record.data["source_ids"])
        facets = {
            "kind": (record.kind,),
            "status": (status,),
            "source": tuple(dict.fromkeys(one for one in sources if one != record.id)),
            **self._concepts(record),
        }
        doubts = [status] if status in _DOUBTFUL else []
        doubts += sorted(self._doubts.get(record.id, ()))
        facets["doubt"] = tuple(doubts) or (NONE,)
        about: list[str] = []
        if record.kind == "result":
            tested = self._tested(links.get("evaluation", ()))
            facets |= {"metric": (NONE,), **facets, **tested}
            about = [self._names[i] for name in (*TESTED, "setup") for i in tested[name] if i in self._names]
        elif record.kind == "evaluation":
            about = [self._names[i] for name in TESTED.values() for i in links.get(name, ()) if i in self._names]
        return Document(
            id=record.id,
            kind=record.kind,
            name=_text(record.data["name"]) or record.id,
            status=status,
            printed=printed,
            unit=_text(attributes.get("unit")),
            values=[text for key in ("printed_value", "numeric_value") if (text := _text(attributes.get(key)))],
            texts=[text for text in texts if text],
            about=about,
            facets={name: values for name, values in facets.items() if values},
            doubts=tuple(doubts),
            events=tuple(_events(attributes)),
            sources=sources,
        )

    def _concepts(self, record: Record) -> dict[str, tuple[str, ...]]:
        """The values of facets whose values are concepts: of the record's facets, of its metric and its origin."""
        found: dict[str, set[str]] = {}
        for key, term in self._scheme_terms(record):
            name = {"area": "area", "context": "context", "method-type": "method_type"}.get(
                term.scheme or "", term.scheme
            )
            if name in ("area", "context", "method_type", "metric", "origin"):
                found.setdefault(name, set()).update(_texts(key))
        return {name: tuple(sorted(values)) for name, values in found.items() if values}

    def _scheme_terms(self, record: Record) -> Iterator[tuple[Json, Term]]:
        terms = self._vocabulary.attributes[record.kind]
        for key, value in record.attributes.items():
            if key in terms and terms[key].scheme:
                yield value, terms[key]
        facets = record.data["facets"]
        for key, value in facets.items() if isinstance(facets, dict) else ():
            if key in self._vocabulary.facets and self._vocabulary.facets[key].scheme:
                yield value, self._vocabulary.facets[key]

    def _labels(self, record: Record) -> Iterator[str]:
        """The labels of the concepts that a record names: it writes only their keys."""
        for value, term in self._scheme_terms(record):
            concepts = self._vocabulary.schemes[term.scheme or ""].concepts
            yield from (concepts[key].label for key in _texts(value) if key in concepts)

    def _tested(self, evaluations: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
        """What a result tested, through its evaluations; where nothing is recorded, `NONE`."""
        known = [self._evaluations[i] for i in evaluations if i in self._evaluations]
        found = {
            name: tuple(sorted({i for one in known for i in one.links.get(relation, ())})) or (NONE,)
            for name, relation in TESTED.items()
        }
        origins = {one.origin for one in known if one.origin}
        return {**found, "setup": evaluations or (NONE,), "origin": tuple(sorted(origins)) or (NONE,)}


def read_evaluation(record: Record) -> Evaluation:
    """The links of a record by relation, and its origin."""
    found: dict[str, set[str]] = {}
    links = record.data["links"]
    for link in links if isinstance(links, list) else ():
        if isinstance(link, dict):
            relation, target = _text(link.get("relation")), _text(link.get("target_id"))
            if relation and target:
                found.setdefault(relation, set()).add(target)
    return Evaluation({name: tuple(sorted(ids)) for name, ids in found.items()}, _text(record.attributes.get("origin")))


def leaves(value: Json, path: str = "") -> Iterator[tuple[str, str]]:
    """(path, text) of every text and number of a value, in its order; keys are no texts.

    >>> list(leaves({"unit": "gigabyte", "review": {"method": ["eye"]}}))
    [('unit', 'gigabyte'), ('review.method', 'eye')]
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, path)
    elif value is not None and not isinstance(value, bool):
        yield path, str(value)


def _events(attributes: Mapping[str, Json]) -> Iterator[Event]:
    for path, what in _EVENTS:
        value: Json = dict(attributes)
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        moment = read_moment(value)
        if moment is not None:
            instant = f"{moment.text}T00:00:00Z" if moment.is_day else moment.first.strftime("%Y-%m-%dT%H:%M:%SZ")
            yield Event(what, moment.text, instant)


def _text(value: Json) -> str | None:
    return None if value is None or isinstance(value, dict | list | bool) else str(value)


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(str(item) for item in (value if isinstance(value, list) else [value]) if _text(item))
