"""The measurements of a record as a table: what was tested, how, on what, what is printed; filters as links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

from evkg.cell import Cell, Cells
from evkg.lookup import Facts, id_of
from evkg.measurement import Measurement
from evkg.member import Member, read_member
from evkg.namespaces import RDFS, concept_iri, concept_key, record_iri, thing_iri

if TYPE_CHECKING:
    from evkg.release import Release

#: How many rows a page of a table has, and how many choices of a filter are listed (count).
PAGE_ROWS: Final = 25
_MOST_CHOICES: Final = 15
#: The filters by the names of their parameters: label, and what a measurement has.
FILTERS: Final[Mapping[str, tuple[str, Callable[[Measurement], Sequence[str]]]]] = {
    "system": ("Tested model or method", lambda item: item.run.systems),
    "protocol": ("Protocol", lambda item: item.run.protocols),
    "dataset": ("Dataset", lambda item: item.run.data),
    "setup": ("Evaluation setup", lambda item: (item.run.id,)),
    "metric": ("Metric", lambda item: (item.metric,) if item.metric else ()),
    "origin": ("Evidence origin", lambda item: (item.run.origin,) if item.run.origin else ()),
}
#: The filters whose values are concepts, not records.
_SCHEMES: Final = ("metric", "origin")


@dataclass(frozen=True, slots=True)
class Named:
    """A record by id and name; the name is None where this release does not have it."""

    id: str
    name: str | None


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a filter: how many results it leaves (count), and the address that chooses it, or lifts it."""

    label: str
    count: int
    href: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter with its choices, the most frequent first; `left_out` counts those that are not listed."""

    name: str
    label: str
    choices: tuple[Choice, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class Row:
    """One result, or an evaluation without any (then `member` is None)."""

    member: Member | None
    metric: str
    metric_url: str | None  # where the metric is explained, if its scheme lists it
    qualifier: str | None
    direction: str
    printed: Cell
    uncertainty: Cell
    coverage: Cell
    aggregation: Cell
    run: Named
    systems: tuple[Named, ...]
    protocols: tuple[Named, ...]
    data: tuple[Named, ...]
    origin: str | None
    run_status: str
    sources: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class MeasurementTable:
    """A page of results; counts are of all that there are and of those that the filters leave."""

    evaluations: int
    results: int
    left_evaluations: int
    left_results: int
    protocols: int
    filters: tuple[Filter, ...]
    applied: tuple[tuple[str, str], ...]  # label of a filter, and of its value
    clear: str
    rows: tuple[Row, ...]
    first: int  # number of the first row, from 1
    last: int
    previous: str | None
    following: str | None


class RowReader:
    """Makes rows from the graph of a release.

    >>> from evkg.measurement import Measurements
    >>> from evkg.release import open
    >>> release = open()
    >>> row = RowReader(release).row(Measurements(release).of("nucleotide-transformer")[0])
    >>> row.member.printed_value, row.direction, row.uncertainty.reason
    ('5.6', 'lower', 'unreported')
    """

    def __init__(self, release: Release) -> None:
        self.facts = Facts(release)
        self.cells = Cells(self.facts, release.vocabulary)
        self._metrics = release.vocabulary.schemes["metric"].concepts

    def named(self, record_id: str) -> Named:
        """A record by its name; what is no id has none."""
        try:
            return Named(record_id, self.facts.single(thing_iri(self.facts.base, record_id), RDFS + "label"))
        except ValueError:
            return Named(record_id, None)

    def row(self, item: Measurement) -> Row:
        """The row of a measurement."""
        facts, run = self.facts, item.run
        run_record = record_iri(facts.base, run.id)
        thing = thing_iri(facts.base, item.result) if item.result else None
        record = record_iri(facts.base, item.result) if item.result else run_record
        member = read_member(facts, thing, thing_iri(facts.base, run.id)) if thing else None
        direction = facts.text(thing, "metricDirection")
        return Row(
            member=member,
            metric=facts.label(facts.text(thing, "metric")) or "",
            metric_url=f"/vocab/metric/{quote(item.metric)}" if item.metric in self._metrics else None,
            qualifier=facts.text(thing, "metricQualifier"),
            direction=concept_key(direction) if direction else "",
            printed=self.cells.of(item.result or None, "printedValue", "printed_value"),
            uncertainty=self._uncertainty(item, member),
            coverage=self._coverage(item),
            aggregation=self.cells.of_condition(run.id, "aggregation"),
            run=self.named(run.id),
            systems=tuple(map(self.named, run.systems)),
            protocols=tuple(map(self.named, run.protocols)),
            data=tuple(map(self.named, run.data)),
            origin=facts.label(concept_iri("origin", run.origin)) if run.origin else None,
            run_status=facts.label(facts.text(run_record, "status")) or "",
            sources=tuple(self.named(id_of(iri)) for iri in facts.texts(record, "sourceIds")),
        )

    def _uncertainty(self, item: Measurement, member: Member | None) -> Cell:
        if member is None or member.uncertainty is None:
            return self.cells.gap(item.result or item.run.id, "uncertainty")
        return Cell(member.uncertainty)

    def _coverage(self, item: Measurement) -> Cell:
        for record_id in filter(None, (item.result, item.run.id)):
            node = self.facts.text(thing_iri(self.facts.base, record_id), "coverage")
            if node is not None:
                scored, eligible = (self.facts.text(node, name) for name in ("scored", "eligible"))
                unit = self.facts.text(node, "unitText") or ""
                return Cell(f"{scored or 'not recorded'} scored / {eligible or 'not recorded'} eligible {unit}".strip())
        gaps = (self.cells.gap(record_id, "coverage") for record_id in (item.result, item.run.id) if record_id)
        return next((gap for gap in gaps if gap.reason), Cell(None))


def make_table(
    reader: RowReader,
    found: Sequence[Measurement],
    values: Mapping[str, str],
    *,
    address: str,
    kept: Mapping[str, str] | None = None,
) -> MeasurementTable:
    """The table of measurements that the filters in `values` leave, on the page `results` of it (from 1).

    `address` is the path of the page that shows it, `kept` what its other parameters are. A filter that names what is
    not there leaves nothing rather than everything.

    >>> from evkg.measurement import Measurements
    >>> from evkg.release import open
    >>> release = open()
    >>> found = Measurements(release).of("saadat-fellay-20261015-data-synthetic-dna")
    >>> table = make_table(RowReader(release), found, {"metric": "peak-memory"}, address="/id/x")
    >>> table.results, table.left_results, table.filters[-1].choices[0].label
    (10, 6, 'Peak memory')
    """
    chosen = {name: values[name] for name in FILTERS if values.get(name)}
    others = dict(kept or {})

    def link(**changes: str | None) -> str:
        query = urlencode([(name, value) for name, value in {**others, **chosen, **changes}.items() if value])
        return f"{address}{'?' if query else ''}{query}#results"

    def label(name: str, key: str) -> str:
        if name in _SCHEMES:
            return reader.facts.label(concept_iri(name, key)) or key
        return reader.named(key).name or key

    def filtered(name: str) -> Filter:
        rest = {other: value for other, value in chosen.items() if other != name}
        counts = Counter(value for item in found if _fits(item, rest) for value in FILTERS[name][1](item))
        listed = sorted(counts, key=lambda key: (key != chosen.get(name), -counts[key], key))[:_MOST_CHOICES]
        choices = [
            Choice(label(name, key), counts[key], link(**{name: None if is_chosen else key}), is_chosen)
            for key in listed
            for is_chosen in (chosen.get(name) == key,)
        ]
        return Filter(name, FILTERS[name][0], tuple(choices), len(counts) - len(listed))

    left = [item for item in found if _fits(item, chosen)]
    page = _number(values.get("results"))
    first = min((page - 1) * PAGE_ROWS, max(0, len(left) - 1) // PAGE_ROWS * PAGE_ROWS)
    shown = left[first : first + PAGE_ROWS]
    page = first // PAGE_ROWS + 1
    filters = map(filtered, FILTERS)
    return MeasurementTable(
        evaluations=len({item.run.id for item in found}),
        results=_results(found),
        left_evaluations=len({item.run.id for item in left}),
        left_results=_results(left),
        protocols=len({protocol for item in found for protocol in item.run.protocols}),
        filters=tuple(one for one in filters if one.name in chosen or len(one.choices) + one.left_out > 1),
        applied=tuple((FILTERS[name][0], label(name, value)) for name, value in chosen.items()),
        clear=link(**dict.fromkeys(chosen)),
        rows=tuple(map(reader.row, shown)),
        first=first + 1 if shown else 0,
        last=first + len(shown),
        previous=link(results=str(page - 1)) if first else None,
        following=link(results=str(page + 1)) if first + PAGE_ROWS < len(left) else None,
    )


def _fits(item: Measurement, chosen: Mapping[str, str]) -> bool:
    return all(value in FILTERS[name][1](item) for name, value in chosen.items())


def _results(items: Iterable[Measurement]) -> int:
    return sum(bool(item.result) for item in items)


def _number(text: str | None) -> int:
    """A page number as written; 1 where it is none."""
    return max(1, int(text)) if text and text.isascii() and text.isdecimal() and len(text) < 7 else 1
