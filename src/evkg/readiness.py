"""Readiness: what can be done with a data set or an evaluation, by the research manifests that name it.

The outcomes are computed by the rules in `queries/rules/readiness-*.rq`; this reads them from a release.

Source: contract section 12.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from evkg.jsontext import Json, decode_json
from evkg.namespaces import DCTERMS, EARL, EVKG, RDFS, SKOS, record_iri, thing_iri
from evkg.record import Record
from evkg.research import CAPABILITIES, manifest_iri, stated_checks
from evkg.withheld import is_withheld

if TYPE_CHECKING:
    from evkg.release import Release

#: The kinds of records whose readiness is asked for.
KINDS: Final = ("dataset", "dataset_subset", "evaluation")
_INDEPENDENCE: Final = "The unit of independent samples is not settled, so an analysis stays descriptive."
_EXPLORATORY: Final = "The data were looked at before, so what is found in them is exploratory."
#: How far links are followed to the sources behind a record (steps). Source: contract section 12.2.
_MOST_STEPS: Final = 4
_FOLLOWED: Final = ("dataset", "dataset_subset", "protocol", "benchmark", "evaluator", "task")


@dataclass(frozen=True, slots=True)
class Capability:
    """One capability: whether it is there, what blocks it, which checks passed, and when they were made.

    `checks` says of each check that it needs `passed`, `failed` or `untested`; empty where a release laid down the
    outcome without them.
    """

    ready: bool
    blockers: tuple[str, ...]
    evidence: tuple[str, ...]
    verified_at: str | None
    checks: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Readiness:
    """What can be done with one record. It never follows from the status of its review."""

    record_id: str
    kind: str
    name: str
    release_id: str
    manifest_ids: tuple[str, ...]
    evidence_source_ids: tuple[str, ...]
    verified_at: str | None
    capabilities: Mapping[str, Capability]
    limitations: tuple[str, ...]
    artifact_availability: str  # public_references, local_resolver_required or unrecorded


def read_readiness(release: Release, record_id: str) -> Readiness | None:
    """The readiness of a record; None where it is of another kind, or excluded, and where a release that says nothing
    on readiness was made by an older evkg.

    Raises: NotFoundError: no such record.

    >>> from evkg.release import open
    >>> found = read_readiness(open(), "saadat-fellay-20261015-data-synthetic-dna")
    >>> found.capabilities["replay"].blockers[0], found.artifact_availability
    ('No research manifest names this very record.', 'unrecorded')
    """
    record = release.read(record_id)
    if record.kind not in KINDS or is_withheld(record):
        return None
    graph = _Graph(release, record)
    frozen = graph.text(graph.record, "frozenReadiness")
    if frozen is not None:
        return _frozen(record, release, decode_json(frozen))
    return _computed(record, graph) if graph.is_assessed else None


def _computed(record: Record, graph: _Graph) -> Readiness:
    manifests = graph.manifests()
    release = graph.release
    times = [time for manifest in manifests.values() if (time := _verified_at(manifest))]
    return Readiness(
        record_id=record.id,
        kind=record.kind,
        name=str(record.data["name"]),
        release_id=release.id,
        manifest_ids=tuple(manifests),
        evidence_source_ids=tuple(sorted(_sources(release, record))),
        verified_at=max(times, default=None),
        capabilities={key: _capability(graph, key, manifests) for key in CAPABILITIES},
        limitations=tuple(dict.fromkeys(text for manifest in manifests.values() for text in _limitations(manifest))),
        artifact_availability=_availability(manifests),
    )


def _capability(graph: _Graph, key: str, manifests: Mapping[str, Mapping[str, Json]]) -> Capability:
    needed = graph.needed(key)
    assertion = graph.iri(f"{graph.record.value}#readiness-{key}")
    outcome = graph.outcome(assertion)
    if outcome is None:
        missing = [f"{label}: verification is missing" for label in needed.values()]
        own = graph.texts(graph.record, "blocker")
        blockers = (*graph.texts(graph.iri(EVKG + "NoManifest"), "blocker"), *own, *missing)
        return Capability(False, blockers, (), None, dict.fromkeys(needed, "untested"))
    is_ready = outcome == "passed"
    counted = [manifest for manifest in manifests.values() if not is_ready or graph.is_enough(manifest, key)]
    evidence: list[str] = []
    times: list[str] = []
    states = dict.fromkeys(needed, "untested")
    for manifest in counted:
        stated = stated_checks(manifest)
        for check in needed:
            status, detail = stated.get(check, ("missing", ""))
            if status == "passed":
                evidence.append(f"{manifest['id']}: {check}: {detail}")
                states[check] = "passed"
            elif status == "failed" and states[check] == "untested":
                states[check] = "failed"
        times.extend(filter(None, [_verified_at(manifest)]))
    blockers = () if is_ready else tuple(graph.texts(assertion, "blocker"))
    return Capability(is_ready, blockers, tuple(dict.fromkeys(evidence)), max(times, default=None), states)


class _Graph:
    """What the graph of a release says about the readiness of one record."""

    def __init__(self, release: Release, record: Record) -> None:
        import pyoxigraph as ox

        self.release = release
        self.iri = ox.NamedNode
        self.record = ox.NamedNode(record_iri(release.base_iri, record.id))
        self.thing = ox.NamedNode(thing_iri(release.base_iri, record.id))

    @property
    def is_assessed(self) -> bool:
        """Whether the rules have said anything about the record."""
        return any(self.outcome(self.iri(f"{self.record.value}#readiness{end}")) is not None for end in ("", "-replay"))

    def objects(self, node: Any, predicate: str) -> list[Any]:
        found = self.release.store.quads_for_pattern(node, self.iri(predicate), None)
        return [quad.object for quad in found]

    def texts(self, node: Any, name: str) -> list[str]:
        return sorted({str(value.value) for value in self.objects(node, EVKG + name)})

    def text(self, node: Any, name: str) -> str | None:
        return next(iter(self.texts(node, name)), None)

    def outcome(self, assertion: Any) -> str | None:
        """The last part of the outcome of an assertion, or None where there is no assertion."""
        for result in self.objects(assertion, EARL + "result"):
            for outcome in self.objects(result, EARL + "outcome"):
                return str(outcome.value).removeprefix(EARL)
        return None

    def needed(self, key: str) -> dict[str, str]:
        """Check -> its label, in the order of their names."""
        parts = self.objects(self.iri(EVKG + CAPABILITIES[key]), DCTERMS + "hasPart")
        pairs = [
            (str(self.objects(part, SKOS + "notation")[0].value), str(self.objects(part, RDFS + "label")[0].value))
            for part in parts
        ]
        return dict(sorted(pairs))

    def manifests(self) -> dict[str, Mapping[str, Json]]:
        """Id -> manifest, of those that name the record, sorted."""
        found: dict[str, Mapping[str, Json]] = {}
        for quad in self.release.store.quads_for_pattern(None, self.iri(EVKG + "namesRecord"), self.thing):
            manifest = decode_json(str(self.text(quad.subject, "manifestText")))
            if isinstance(manifest, dict):
                found[str(manifest["id"])] = manifest
        return dict(sorted(found.items()))

    def is_enough(self, manifest: Mapping[str, Json], key: str) -> bool:
        node = self.iri(f"{manifest_iri(self.release.base_iri, str(manifest['id']))}#readiness-{key}")
        return not self.texts(node, "blocker")


def _verified_at(manifest: Mapping[str, Json]) -> str | None:
    value = _object(manifest.get("verification")).get("verified_at")
    return value if isinstance(value, str) and value else None


def _limitations(manifest: Mapping[str, Json]) -> Iterator[str]:
    yield from _texts(_object(manifest.get("verification")).get("limitations"))
    semantics = _object(manifest.get("semantics"))
    if not semantics.get("independent_unit"):
        yield _INDEPENDENCE
    if semantics.get("exposed") is True:
        yield _EXPLORATORY


def _availability(manifests: Mapping[str, Mapping[str, Json]]) -> str:
    artifacts = [_object(item) for manifest in manifests.values() for item in _items(manifest.get("artifacts"))]
    if not manifests:
        return "unrecorded"
    is_public = bool(artifacts) and all(artifact.get("uri") for artifact in artifacts)
    return "public_references" if is_public else "local_resolver_required"


def _sources(release: Release, record: Record) -> set[str]:
    """The sources behind a record: those that it cites, and those of the data and assessments that it leads to."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [(record, 0)]
    while waiting:
        current, steps = waiting.pop()
        if current.id in seen:
            continue
        seen.add(current.id)
        found.update(_cited(current))
        for link in _items(current.data["links"]):
            target = str(_object(link).get("target_id"))
            if steps < _MOST_STEPS and target not in seen and release.has_record(target):
                linked = release.read(target)
                if linked.kind == "source":
                    found.add(target)
                elif linked.kind in _FOLLOWED and not is_withheld(linked):
                    waiting.append((linked, steps + 1))
    return {one for one in found if release.has_record(one) and release.read(one).kind == "source"}


def _cited(record: Record) -> Iterator[str]:
    yield from _texts(record.data["source_ids"])
    values: list[Json] = [record.data["attributes"]]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            for key, inner in value.items():
                if key in ("source_ids", "summary_source_ids"):
                    yield from _texts(inner)
                elif key == "source_id" and isinstance(inner, str):
                    yield inner
                else:
                    values.append(inner)
        elif isinstance(value, list):
            values.extend(value)


def _frozen(record: Record, release: Release, value: Json) -> Readiness:
    item = _object(value)
    capabilities = _object(item.get("capabilities"))
    return Readiness(
        record_id=record.id,
        kind=record.kind,
        name=str(record.data["name"]),
        release_id=str(item.get("release_id") or release.id),
        manifest_ids=tuple(_texts(item.get("manifest_ids"))),
        evidence_source_ids=tuple(_texts(item.get("evidence_source_ids"))),
        verified_at=_text(item.get("verified_at")),
        capabilities={
            key: Capability(
                _object(capabilities.get(key)).get("ready") is True,
                tuple(_texts(_object(capabilities.get(key)).get("blockers"))),
                tuple(_texts(_object(capabilities.get(key)).get("evidence"))),
                _text(_object(capabilities.get(key)).get("verified_at")),
                {},
            )
            for key in CAPABILITIES
        },
        limitations=tuple(_texts(item.get("limitations"))),
        artifact_availability=_text(item.get("artifact_availability")) or "unrecorded",
    )


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _items(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else ()


def _texts(value: Json) -> Iterator[str]:
    return (one for one in _items(value) if isinstance(one, str))


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
