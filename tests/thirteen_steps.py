"""The thirteen steps of comparability in plain Python, read off the record format: what the rules are held against.

Works on records as they were read and knows nothing of the graph. Where evkg is stricter than the record format, a
comment says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import chain
from typing import Any, cast

from evkg.jsontext import NumberText
from evkg.record import Record

FIELDS = (
    "protocol_id",
    "dataset_version",
    "split",
    "population",
    "inputs",
    "adaptation",
    "metric_implementation",
    "aggregation",
    "budget",
)
UNKNOWN = {"", "unknown", "not_reported", "not reported", "unreported", "unextracted", "unavailable"}
DOUBTFUL = {"disputed", "superseded", "excluded"}

#: A reason: dimension, kind, and the ids of the results in which it lies (none where results differ).
Reason = tuple[str | None, str, frozenset[str]]


def is_known(value: Any) -> bool:
    if value is None:
        return False
    if isinstance(value, NumberText | bool | int):
        return True
    if isinstance(value, str):
        return value.strip().strip("\ufeff").lower() not in UNKNOWN
    members = list(value.values()) if isinstance(value, dict) else list(value)
    return bool(members) and all(is_known(member) for member in members)


def comparable(value: Any) -> Any:
    """A value such that equal JSON gives equal values: objects without order, lists with it, numbers as numbers."""
    if isinstance(value, NumberText) or (isinstance(value, int) and not isinstance(value, bool)):
        return ("number", Decimal(value).normalize() + 0)
    if isinstance(value, dict):
        return ("object", frozenset((key, comparable(inner)) for key, inner in value.items()))
    if isinstance(value, list):
        return ("list", tuple(comparable(inner) for inner in value))
    return (type(value).__name__, value)


def attributes_of(record: Record) -> dict[str, Any]:
    return cast("dict[str, Any]", record.data["attributes"])


def targets(record: Record | None, relation: str) -> list[str]:
    links: list[Any] = [] if record is None else cast("list[Any]", record.data["links"])
    return [link["target_id"] for link in links if link["relation"] == relation]


def strings(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set(chain.from_iterable(map(strings, inner)))


class Steps:
    """The steps over all records of a release."""

    def __init__(self, records: Mapping[str, Record], metrics: set[str]) -> None:
        self.records = records
        self.metrics = metrics | {str(attributes_of(r).get("metric")) for r in records.values()}
        self.sources = [record for record in records.values() if record.kind == "source"]

    def reasons(self, ids: Sequence[str]) -> set[Reason]:
        found: set[Reason] = set()
        if len(ids) < 2:
            found.add((None, "too_few", frozenset()))
        lost = {i for i in ids if i not in self.records}
        twice = {i for i in ids if ids.count(i) > 1}
        other = {i for i in ids if i in self.records and self.records[i].kind != "result"}
        for kind, some in (("not_found", lost), ("repeated", twice), ("not_a_result", other)):
            if some:
                found.add((None, kind, frozenset(some)))
        results = [self.records[i] for i in dict.fromkeys(ids) if i not in lost | other]
        blocks = {result.id: self.blocks(result) for result in results}
        values = {result.id: self.values(result) for result in results}
        if any("subset" in v for v in values.values()):
            for result_id, value in values.items():
                if "subset" not in value:
                    blocks[result_id].add(("subset", "unknown"))
        for dimension, kind in set(chain.from_iterable(blocks.values())):
            found.add((dimension, kind, frozenset(i for i, b in blocks.items() if (dimension, kind) in b)))
        for dimension in ("data", "metric", "unit", "metric_direction", "metric_qualifier", *FIELDS, "subset"):
            if any((dimension, "unknown") in b for b in blocks.values()):
                continue
            if len({comparable(value.get(dimension)) for value in values.values()}) > 1:
                found.add((dimension, "different", frozenset()))
        return found

    def evaluation(self, result: Record) -> Record | None:
        found = [self.records[i] for i in targets(result, "evaluation") if i in self.records]
        found = [record for record in found if record.kind == "evaluation"]
        return found[0] if found else None

    def kinds(self, ids: Sequence[str], *kinds: str) -> list[str]:
        return sorted({i for i in ids if i in self.records and self.records[i].kind in kinds})

    def values(self, result: Record) -> dict[str, Any]:
        attributes = attributes_of(result)
        evaluation = self.evaluation(result)
        found: dict[str, Any] = {"data": self.kinds(targets(evaluation, "data"), "dataset", "dataset_subset")}
        found |= {key: attributes.get(key) for key in ("metric", "unit", "metric_direction")}
        found["metric_qualifier"] = attributes.get("metric_qualifier") or "none"
        comparison = {} if evaluation is None else attributes_of(evaluation).get("comparison") or {}
        found |= {key: comparison.get(key) for key in FIELDS}
        if not is_known(found["protocol_id"]) and evaluation is not None and evaluation.data["status"] != "excluded":
            assessments = targets(evaluation, "assessment")
            if len(set(assessments)) == 1 and self.kinds(assessments, "protocol"):
                found["protocol_id"] = assessments[0]
        if comparison.get("subset") is not None:
            found["subset"] = comparison["subset"]
        return found

    def blocks(self, result: Record) -> set[tuple[str, str]]:
        """Steps 3 to 10 and what is not known: (dimension, kind) of everything against one result."""
        attributes, evaluation = attributes_of(result), self.evaluation(result)
        found: set[tuple[str, str]] = set()
        number = str(attributes.get("numeric_value"))
        if not re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", number) or "inf" in str(float(number)):
            found.add(("numeric_value", "no_number"))
        if any(self.touches(source, concern, result) for source in self.sources for concern in concerns(source)):
            found.add(("evidence_concerns", "open_concern"))
        if result.data["status"] not in ("source_checked", "reproduced"):
            found.add(("status", "not_checked"))
        if evaluation is None:
            found.add(("evaluation", "missing"))
        elif self.status(evaluation.id) in DOUBTFUL:
            found.add(("evaluation", "doubtful"))
        for relation in ("assessment", "data", "system"):  # the record format leaves systems out
            if any(self.status(i) in DOUBTFUL for i in targets(evaluation, relation)):
                found.add((relation, "doubtful"))
        if any(self.status(s.id) in DOUBTFUL and self.cites(result, s.id) for s in self.sources):  # and sources
            found.add(("source_ids", "doubtful"))
        if evaluation is not None and attributes_of(evaluation).get("origin") == "paper_compilation":
            found.add(("origin", "quoted"))
        if targets(evaluation, "original_evaluation"):
            found.add(("original_evaluation", "quoted"))
        values = self.values(result)
        if not values["data"] or len(values["data"]) < len(set(targets(evaluation, "data"))):
            found.add(("data", "missing"))  # one that the release does not hold is a difference that nobody can see
        for key, value in values.items():
            if key != "data" and not (is_known(value) and value != "unit-unreported"):  # that is a word for unreported
                found.add((key, "unknown"))
        if attributes.get("metric_qualifier") == "":
            found.add(("metric_qualifier", "unknown"))
        gap = (attributes.get("missing_metadata") or {}).get("metric_qualifier")
        if (
            gap and gap["reason"] != "inapplicable" and not attributes.get("metric_qualifier")
        ):  # stricter: see decisions
            found.add(("metric_qualifier", "unknown"))
        return found

    def status(self, record_id: str) -> str:
        return str(self.records[record_id].data["status"]) if record_id in self.records else ""

    def cites(self, result: Record, source: str) -> bool:
        evaluation = self.evaluation(result)
        return source in strings(result.data) or (evaluation is not None and source in strings(evaluation.data))

    def touches(self, source: Record, concern: Any, result: Record) -> bool:
        """Whether an open concern reaches a result: by its targets, or through all that rests on the source."""
        if isinstance(concern, dict) and isinstance(concern.get("resolved"), dict):
            return False
        named = (concern.get("targets") or []) if isinstance(concern, dict) else []
        evaluation = self.evaluation(result)
        used = [i for r in ("system", "assessment", "data") for i in targets(evaluation, r)]
        for target in named:
            if target in (result.id, evaluation and evaluation.id, *used):
                return True
            if target == attributes_of(result).get("metric") and self.cites(result, source.id):
                return True
        is_narrow = named and all(target in self.records or target in self.metrics for target in named)
        if is_narrow and source.id not in named:
            return False
        involved = [attributes_of(self.records[i]) for i in used if i in self.records]
        guides = [attributes.get(key) for attributes in involved for key in ("profile", "run_guide")]
        return self.cites(result, source.id) or any(source.id in strings(guide) for guide in guides)


def concerns(source: Record) -> list[Any]:
    found = attributes_of(source).get("evidence_concerns")
    return found if isinstance(found, list) else []
