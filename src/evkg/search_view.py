"""What a page of a search shows: each record with the place where the words are found, and the ways to narrow it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evkg.facet import DOUBTS, NONE, Facet, toggled
from evkg.namespaces import EVKG
from evkg.record import Record
from evkg.release import Release
from evkg.search import Found
from evkg.search_document import TESTED, leaves, read_evaluation
from evkg.search_index import Hit, SearchIndex
from evkg.search_text import Part, Piece, mark

#: How many values of a facet a page shows at once, how many more when it is opened, and how many JSON has (count).
SHOWN: Final = 6
OPENED: Final = 60
LISTED: Final = 1000
#: The place of names of what a result or an evaluation is about.
_ABOUT: Final = "about"
#: Words around what was found in a long text (count).
_AROUND: Final = 14


@dataclass(frozen=True, slots=True)
class FoundIn:
    """Where the words are found: the label of the field, its path, and the text in pieces, finds marked."""

    label: str
    field: str
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """The text without marks."""
        return "".join(text for text, _ in self.pieces)


@dataclass(frozen=True, slots=True)
class HitView:
    """A record in the list; `name` in pieces, finds marked; `doubts` are the words for what is in doubt."""

    hit: Hit
    name: tuple[Piece, ...]
    kind: str
    status: str
    unit: str | None
    doubts: tuple[str, ...]
    sources: tuple[str, ...]
    systems: tuple[str, ...]  # what a result tested, and on what: names
    data: tuple[str, ...]
    found_in: FoundIn | None


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a facet: what it is called, how many records it leaves, and the address that puts it in or out."""

    value: str
    label: str
    records: int
    is_chosen: bool
    url: str


@dataclass(frozen=True, slots=True)
class FacetView:
    """A facet with its values, the most frequent first; `total` counts those that there are, shown or not."""

    facet: Facet
    values: tuple[Value, ...]
    total: int

    @property
    def chosen_count(self) -> int:
        """How many values are chosen (count)."""
        return sum(value.is_chosen for value in self.values)

    @property
    def is_choice(self) -> bool:
        """Whether it has anything to choose: also a single value says how many records have it."""
        return bool(self.values)

    @property
    def first(self) -> tuple[Value, ...]:
        """What is shown at once: the chosen ones and the most frequent."""
        chosen = [value for value in self.values if value.is_chosen]
        return (*chosen, *[value for value in self.values if not value.is_chosen][: max(0, SHOWN - len(chosen))])

    @property
    def rest(self) -> tuple[Value, ...]:
        """What is shown on demand."""
        shown = set(self.first)
        return tuple(value for value in self.values if value not in shown)

    @property
    def hidden(self) -> int:
        """How many values no page shows (count)."""
        return self.total - len(self.values)


def view_hits(release: Release, index: SearchIndex, numbers: Sequence[int], parts: Sequence[Part]) -> list[HitView]:
    """The records of a page.

    Raises: ReleaseError: the release or the index cannot be read.
    """
    hits = index.hits(numbers)
    records = {hit.id: release.read(hit.id) for hit in hits}
    cited = [str(source) for record in records.values() for source in _list(record.data["source_ids"])]
    tested = {name: index.values(name, numbers) for name in ("system", "dataset")}
    about = [one for values in tested.values() for ids in values.values() for one in ids]
    names = index.labels(dict.fromkeys((*cited, *about)))
    vocabulary = release.vocabulary
    units, statuses = vocabulary.schemes["unit"].concepts, vocabulary.schemes["status"].concepts
    found = []
    for hit in hits:
        record = records[hit.id]
        found.append(
            HitView(
                hit=hit,
                name=tuple(mark(hit.name, parts) or [(hit.name, False)]),
                kind=kind_label(release, hit.kind),
                status=statuses[hit.status].label if hit.status in statuses else hit.status,
                unit=units[hit.unit].label if hit.unit is not None and hit.unit in units else hit.unit,
                doubts=tuple(DOUBTS[doubt] for doubt in hit.doubts),
                sources=tuple(names.get(str(source), str(source)) for source in _list(record.data["source_ids"])),
                systems=tuple(names.get(one, one) for one in tested["system"].get(hit.number, ())),
                data=tuple(names.get(one, one) for one in tested["dataset"].get(hit.number, ())),
                found_in=_found_in(release, index, record, parts) if parts else None,
            )
        )
    return found


def kind_label(release: Release, kind: str) -> str:
    """What a kind of record is called."""
    vocabulary = release.vocabulary
    return vocabulary.labels.get(EVKG + vocabulary.kinds.get(kind, ""), kind)


def _found_in(release: Release, index: SearchIndex, record: Record, parts: Sequence[Part]) -> FoundIn | None:
    """The text of a record that holds most of the words that its name lacks; none where the name holds them all."""
    name = _held(str(record.data["name"]), parts)
    if len(name) == len(parts):
        return None
    texts = [("id", record.id), ("description", str(record.data["description"])), *leaves(record.attributes)]
    best, most = None, (0, 0)
    for path, text in texts:
        held = _held(text, parts)
        if (len(held - name), len(held)) > most:
            best, most = (path, text), (len(held - name), len(held))
    if most[0] < len(parts) - len(name):
        for text in _about(release, index, record):
            held = _held(text, parts)
            if (len(held - name), len(held)) > most:
                best, most = (_ABOUT, text), (len(held - name), len(held))
    if best is None or not most[0]:
        return None
    pieces = mark(best[1], parts, around=_AROUND) or []
    label = _ABOUT if best[0] == _ABOUT else _field_label(release, record, best[0])
    return FoundIn(label, best[0], tuple(pieces))


def _held(text: str, parts: Sequence[Part]) -> set[int]:
    """The numbers of the parts that a text holds."""
    return {number for number, part in enumerate(parts) if mark(text, [part]) is not None}


def _about(release: Release, index: SearchIndex, record: Record) -> Iterator[str]:
    """The names of what a result or an evaluation is about."""
    runs = [record] if record.kind == "evaluation" else []
    if record.kind == "result":
        ids = read_evaluation(record).links.get("evaluation", ())
        runs = [release.read(run) for run in ids if release.has_record(run)]
    tested = [i for run in runs for name in TESTED.values() for i in read_evaluation(run).links.get(name, ())]
    names = index.labels((*tested, *(run.id for run in runs)))
    yield from (names[i] for i in (*tested, *(run.id for run in runs)) if i in names)


def _field_label(release: Release, record: Record, path: str) -> str:
    """The label of a field by its path."""
    first, _, rest = path.partition(".")
    terms = release.vocabulary.attributes[record.kind]
    label = terms[first].label if first in terms else first.replace("_", " ")
    return f"{label} · {rest.replace('.', ' · ').replace('_', ' ')}" if rest else label


def view_facets(
    release: Release,
    index: SearchIndex,
    found: Found,
    facets: Iterable[Facet],
    path: str,
    *,
    most: int = SHOWN + OPENED,
) -> list[FacetView]:
    """All facets with the values that would leave something: the chosen ones, and so many of the most frequent."""
    views = []
    chosen = found.selection.filters
    for facet in facets:
        known = found.facets[facet.name]
        counts = [
            *[count for count in known if count.is_chosen],
            *[count for count in known if not count.is_chosen][:most],
        ]
        labels = value_labels(release, index, facet, [count.value for count in counts])
        values = [
            Value(
                count.value,
                labels[count.value],
                count.records,
                count.is_chosen,
                found.selection.url(path, toggled(chosen, facet.name, count.value)),
            )
            for count in counts
        ]
        values.sort(key=lambda value: (-value.records, value.label.casefold(), value.value))
        views.append(FacetView(facet, tuple(values), len(known)))
    return views


def value_labels(release: Release, index: SearchIndex, facet: Facet, values: Sequence[str]) -> dict[str, str]:
    """What each value of a facet is called; an unknown one by itself."""
    special: Mapping[str, str] = {NONE: "nothing in doubt" if facet.name == "doubt" else "not recorded"}
    if facet.name == "doubt":
        special = {**special, **DOUBTS}
    known: Mapping[str, Any] = {}
    if facet.scheme is not None:
        known = {key: concept.label for key, concept in release.vocabulary.schemes[facet.scheme].concepts.items()}
    elif facet.are_records:
        known = index.labels(values)
    elif facet.name == "kind":
        known = {value: kind_label(release, value) for value in values}
    return {value: str(special.get(value) or known.get(value) or value) for value in values}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
