"""A result as a comparison sees it: the conditions under which it was measured, and what blocks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from evkg.lookup import Facts, concern_text, id_of
from evkg.member import Member, read_member, read_number
from evkg.namespaces import EVKG, concept_key, record_iri, thing_iri
from evkg.ranking import Number

#: What is missing where nothing can be compared, of the evaluation (true) or its data.
_MISSING: Final = {True: "no one evaluation", False: "no data set, or not every one that is named, stands"}


@dataclass(frozen=True, slots=True)
class Condition:
    """What must be known and equal: key, path in a record, local name of its property, words."""

    key: str
    path: str
    name: str
    label: str
    of_result: bool = False


_FIELDS: Final = {
    "protocol_id": "protocol",
    "dataset_version": "data version",
    "split": "split",
    "population": "population",
    "inputs": "inputs",
    "adaptation": "adaptation",
    "metric_implementation": "metric implementation",
    "aggregation": "aggregation",
    "budget": "budget",
    "subset": "subset",
}


def _camel(key: str) -> str:
    return "".join(part.capitalize() for part in key.split("_"))


#: The conditions of steps 11 to 13, in their order.
CONDITIONS: Final = (
    Condition("data", "data", "data", "data set"),
    Condition("metric", "metric", "metric", "metric", of_result=True),
    Condition("unit", "unit", "unit", "unit", of_result=True),
    Condition("metric_direction", "metric_direction", "metricDirection", "metric direction", of_result=True),
    Condition("metric_qualifier", "metric_qualifier", "metricQualifier", "metric qualifier", of_result=True),
    *(Condition(key, f"comparison.{key}", f"comparison{_camel(key)}", label) for key, label in _FIELDS.items()),
)
#: Property -> key of a dimension.
_KEYS: Final = {EVKG + condition.name: condition.key for condition in CONDITIONS} | {
    EVKG + name: key
    for name, key in (
        ("numericValue", "numeric_value"),
        ("openConcern", "evidence_concerns"),
        ("status", "status"),
        ("evaluation", "evaluation"),
        ("system", "system"),
        ("assessment", "assessment"),
        ("sourceIds", "source_ids"),
        ("origin", "origin"),
        ("originalEvaluation", "original_evaluation"),
    )
}


@dataclass(frozen=True, slots=True)
class Blocker:
    """What the graph holds against a result: dimension, kind, the record in which it lies, and words."""

    dimension: str
    kind: str
    record: str
    says: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a comparison needs of one record: conditions as compared (`values`) and in words (`shown`)."""

    id: str
    kind: str
    is_result: bool
    evaluation_id: str | None
    group: str | None
    blockers: tuple[Blocker, ...]
    values: dict[str, Any]
    shown: dict[str, str]
    number: Number | None
    unit_key: str
    direction: str
    member: Member

    @property
    def blocked_in(self) -> set[tuple[str, str]]:
        """(dimension, kind) of what blocks it."""
        return {(blocker.dimension, blocker.kind) for blocker in self.blockers}


def read_candidate(facts: Facts, record_id: str) -> Candidate:
    """The result with this id, or what takes its place if the record is of another kind."""
    return _Reading(facts, record_id).result()


class _Reading:
    """One result while it is read. Names of properties are local names of the ontology."""

    def __init__(self, facts: Facts, record_id: str) -> None:
        self.facts = facts
        self.id = record_id
        self.thing = thing_iri(facts.base, record_id)
        self.record = record_iri(facts.base, record_id)
        self.kind = facts.text(self.thing, "kind") or ""
        runs = [run for run in facts.texts(self.thing, "evaluation") if facts.single(run, "kind") == "evaluation"]
        self.run = runs[0] if runs else None
        self.run_record = None if self.run is None else record_iri(facts.base, id_of(self.run))
        self.comparison = facts.text(self.run, "comparison")
        self.fallback = facts.text(self.run, "fallbackProtocol")

    def result(self) -> Candidate:
        values, shown = self.conditions()
        facts = self.facts
        unit = facts.text(self.thing, "unit")
        return Candidate(
            self.id,
            self.kind,
            self.kind == "result",
            None if self.run is None else id_of(self.run),
            facts.text(self.thing, "inComparisonGroup"),
            tuple(self.blockers()),
            values,
            shown,
            read_number(facts, self.thing),
            concept_key(unit) if unit else "",
            concept_key(facts.text(self.thing, "metricDirection") or ""),
            read_member(facts, self.thing, self.run),
        )

    def conditions(self) -> tuple[dict[str, Any], dict[str, str]]:
        """Condition -> value to be compared, and in words. Data are a set; a qualifier that is absent is none."""
        facts = self.facts
        data = [
            iri for iri in facts.texts(self.run, "data") if facts.single(iri, "kind") in ("dataset", "dataset_subset")
        ]
        values: dict[str, Any] = {"data": tuple(sorted(id_of(iri) for iri in data))}
        shown = {"data": ", ".join(str(facts.label(iri)) for iri in data) or "none"}
        for condition in CONDITIONS[1:]:
            node = self.thing if condition.of_result else self.comparison
            for term in facts.all(node, condition.name)[:1]:
                is_json = getattr(getattr(term, "datatype", None), "value", "") == EVKG + "JSON"
                values[condition.key] = (term.value, is_json)
                shown[condition.key] = (
                    str(facts.label(term.value))
                    if condition.of_result and not hasattr(term, "datatype")
                    else f"{term.value}{' (JSON)' if is_json else ''}"
                )
        values.setdefault("metric_qualifier", ("none", False))
        shown.setdefault("metric_qualifier", "none")
        if self.fallback is not None:
            values["protocol_id"] = (id_of(self.fallback), False)
            shown["protocol_id"] = f"{id_of(self.fallback)} (from the assessment link)"
        return values, shown

    def blockers(self) -> list[Blocker]:
        """What is derived against this result, each dimension by itself."""
        facts = self.facts
        found = []
        for reason in facts.texts(self.thing, "blockedBy"):
            record = facts.text(reason, "causedBy") or self.record
            kind = concept_key(facts.text(reason, "reasonKind") or "")
            for dimension in facts.texts(reason, "blockedDimension"):
                says = self._says(kind, dimension, record, facts.text(reason, "causedByConcern"))
                found.append(Blocker(_KEYS[dimension], kind, record.rsplit("/", 1)[1], says))
        order = list(_KEYS.values())
        return sorted(found, key=lambda blocker: (order.index(blocker.dimension), blocker.record, blocker.says))

    def _says(self, kind: str, dimension: str, record: str, concern: str | None) -> str:
        facts, key = self.facts, _KEYS[dimension]
        record_id = record.rsplit("/", 1)[1]
        if kind == "open_concern":
            return f"{self.id}: {concern_text(facts, concern)} (a concern about {record_id})"
        status = facts.label(facts.text(record, "status"))
        if kind in ("not_checked", "doubtful"):
            return f"{self.id}: {'' if record == self.record else f'{key} {record_id} '}has the status {status}"
        if kind == "missing":
            return f"{self.id}: {_MISSING[key == 'evaluation']} in this release"
        if kind == "quoted":
            return f"{self.id}: {key.replace('_', ' ')} of {record_id}"
        if kind == "no_number":
            return f"{self.id}: {self._gap(record, dimension) or 'no number is recorded'}"
        node = self.thing if record == self.record else self.comparison
        given = facts.all(node, dimension)
        said = f"says {given[0].value!r}" if given else self._gap(record, dimension) or "nothing is recorded"
        if given and not hasattr(given[0], "datatype"):
            said = f"says {concept_key(given[0].value)}"
        return f"{record_id} {said}" if given else f"{record_id}: {said}"

    def _gap(self, record: str, dimension: str) -> str | None:
        """Why a record says that a field is missing, in the words of the scheme."""
        for gap in self.facts.texts(record, "missing"):
            wanted = {dimension, EVKG + "comparison"} if "comparison" in dimension else {dimension}
            if self.facts.text(gap, "missingProperty") in wanted:
                return str(self.facts.label(self.facts.text(gap, "reason"))).lower()
        return None
