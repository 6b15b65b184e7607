"""The first page: what a release holds, how complete it is, what changed, and where to begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evkg.errors import EvkgError
from evkg.facet import NONE, address
from evkg.gaps import REASONS, STATES
from evkg.pages import render_page
from evkg.questions import Question, load_questions
from evkg.release import Release
from evkg.search_index import SearchIndex
from evkg.search_view import kind_label

#: Up to how many records the page lists all of them, and how many sources, metrics and areas in any case (count).
_LISTED: Final = 200
_SOME: Final = 8
#: The questions to start with.
_START: Final = ("inference-memory-budget", "comparable", "open-concerns")


@dataclass(frozen=True, slots=True)
class Chip:
    """Something that is here: what it is called, of how many records, and where they are."""

    label: str
    records: int
    url: str


@dataclass(frozen=True, slots=True)
class Completeness:
    """Of all expected fields of a kind: how many have a value, a reason for a gap, or nothing (counts)."""

    kind: str
    label: str
    all: int
    value: int
    reasons: int
    nothing: int

    @property
    def share(self) -> str:
        """The part that is said, in percent; never rounded to none or to all."""
        said = self.value + self.reasons
        if said == self.all or not said:
            return "100 %" if said else "0 %"
        return f"{min(99, max(1, round(100 * said / self.all)))} %"


def render_home(release: Release, index: SearchIndex | None = None) -> str:
    """The page. Without an index it says what the manifest says, and that the rest is being counted.

    >>> from evkg.release import find_release
    >>> "What is here" in render_home(Release(find_release("build/current")))
    True
    """
    manifest = release.manifest
    facts = manifest["dataset"]
    kinds = manifest["counts"]["kinds"]
    return render_page(
        "home.html",
        release,
        title=facts["title"] if isinstance(facts["title"], str) else "Evidence knowledge graph",
        description=facts["description"] if isinstance(facts["description"], str) else "",
        counts=manifest["counts"],
        at=str(manifest.get("at", ""))[:10],
        kinds=[
            Chip(kind_label(release, kind), count, address("/search", {"kind": (kind,)}))
            for kind, count in kinds.items()
        ],
        records=_records(release) if manifest["counts"]["records"] <= _LISTED else [],
        start=list(_questions()),
        has_index=index is not None,
        **(_indexed(release, index) if index is not None else {}),
    )


def _indexed(release: Release, index: SearchIndex) -> dict[str, Any]:
    schemes = release.vocabulary.schemes
    doubts = index.facets.get("doubt", {})
    doubtful = index.everything & ~doubts.get(NONE, 0)
    sources = _chips(index, "source", {}, "/search")
    names = index.labels([chip.label for chip in sources])

    def concepts(facet: str, scheme: str, path: str) -> list[Chip]:
        labels = {key: concept.label for key, concept in schemes[scheme].concepts.items()}
        return _chips(index, facet, labels, path)

    return {
        "areas": concepts("area", "area", "/search"),
        "metrics": concepts("metric", "metric", "/results"),
        "origins": concepts("origin", "origin", "/results"),
        "sources": [Chip(names.get(chip.label, chip.label), chip.records, chip.url) for chip in sources],
        "source_count": len(index.facets.get("source", {})),
        "doubtful": doubtful.bit_count(),
        "doubtful_url": address("/search", {"doubt": tuple(sorted(name for name in doubts if name != NONE))}),
        "completeness": _completeness(release, index.completeness),
        "changes": index.changes,
    }


def _chips(index: SearchIndex, facet: str, labels: Mapping[str, str], path: str) -> list[Chip]:
    """The most frequent values of a facet; on a list of results only results are counted."""
    scope = index.facets.get("kind", {}).get("result", 0) if path == "/results" else index.everything
    counts = ((value, (mask & scope).bit_count()) for value, mask in index.facets.get(facet, {}).items())
    found = sorted(((value, count) for value, count in counts if count), key=lambda pair: (-pair[1], pair[0]))
    chips = [(value, count) for value, count in found if value != NONE][:_SOME]
    return [Chip(labels.get(value, value), count, address(path, {facet: (value,)})) for value, count in chips]


def _completeness(release: Release, rows: Iterable[Mapping[str, Any]]) -> list[Completeness]:
    found: dict[str, Counter[str]] = {}
    for row in rows:
        counts = found.setdefault(str(row["kind"]), Counter())
        counts.update({state: int(row[state]) for state in STATES})
    return [
        Completeness(
            kind,
            kind_label(release, kind),
            counts.total(),
            counts["value"],
            sum(counts[reason] for reason in (*REASONS, "other")),
            counts["nothing"],
        )
        for kind, counts in found.items()
    ]


def _records(release: Release) -> Sequence[tuple[str, Sequence[tuple[str, str, bool]]]]:
    """(kind, (id, name, whether another record has this name)) of all records, by name."""
    rows = []
    for record_id in release.record_ids:
        data = release.read(record_id).data
        rows.append((str(data["kind"]), str(data["name"]), record_id))
    names = Counter(name for _, name, _ in rows)
    found: dict[str, list[tuple[str, str, bool]]] = {}
    for kind, name, record_id in sorted(rows):
        found.setdefault(kind_label(release, kind), []).append((record_id, name, names[name] > 1))
    return list(found.items())


def _questions() -> Iterable[Question]:
    try:
        known = load_questions()
    except EvkgError:
        return []
    return [known[name] for name in _START if name in known]
