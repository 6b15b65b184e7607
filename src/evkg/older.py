"""Older shapes of records, read as the current one; the original is kept beside (`record.py`).

Source: contract section 10. Where a rewrite is ambiguous the text is kept as a note and said so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from evkg.jsontext import Json, NumberText
from evkg.scalar import Path

Object = dict[str, Json]

SYSTEM: Final = ("model", "method", "configuration", "pipeline", "service")
ASSESSMENT: Final = ("benchmark", "task", "protocol", "evaluator")
DATA: Final = ("dataset", "dataset_subset")
REASONS: Final = ("unreported", "unextracted", "unavailable", "inapplicable", "conflicting")


def _relations() -> dict[tuple[str, str], str]:
    table = {("evaluation", kind): "system" for kind in SYSTEM}
    table |= {("evaluation", kind): "assessment" for kind in ASSESSMENT}
    table |= {("evaluation", kind): "data" for kind in DATA}
    table |= {("baseline", kind): "implemented_by" for kind in SYSTEM}
    table |= {("baseline", "evaluation"): "measured_in", ("baseline", "dataset"): "uses_data"}
    table |= {(kind, relation): "used_in" for kind in DATA for relation in ("benchmark", "protocol")}
    table |= {(kind, "dataset"): "uses_data" for kind in ASSESSMENT}
    table |= {("configuration", "variant_of"): "configuration_of"}
    return table


#: (kind, older relation) -> relation.
RELATIONS: Final = _relations()

#: kind -> older attribute key -> key.
NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "result": {"source_printed_cell": "printed_source_cell"},
    "source": {
        "article_license": "article_licence",
        "code_license": "code_licence",
        "license": "licence",
        "locator": "source_locator",
        "sha256": "artifact_sha256",
    },
    "dataset": {"scope": "scope_note"},
    "dataset_subset": {"dataset_id": "recipe_dataset_id"},
    "configuration": {"family": "family_label", "foundation_model": "foundation_model_eligible"},
    "method": {"family": "family_label"},
}

_EVERYWHERE: Final = frozenset(
    """
    metadata_review_scope benchmark_applicability published_score_reproduction suite_complete
    evaluation_group_note method_type acquisition_candidate_id legacy_row legacy_paper
    legacy_import_source_id local_cache_path historical_entity_links historical_missing_metadata
    """.split()
)
_ENTITY_LEVEL: Final = (
    "configuration",
    "dataset",
    "dataset_subset",
    "evaluator",
    "pipeline",
    "protocol",
    "task",
)


def is_scaffolding(kind: str, key: str) -> bool:
    """Whether a key is left-over scaffolding: accepted and kept, but given no type.

    >>> is_scaffolding("result", "legacy_row"), is_scaffolding("result", "printed_value")
    (True, False)
    """
    return (
        key in _EVERYWHERE
        or (key == "entity_level" and kind in _ENTITY_LEVEL)
        or (key == "reference_kind" and kind == "configuration")
        or (key == "publication_status" and kind in ("evaluation", "benchmark"))
    )


@dataclass(slots=True)
class Upgrade:
    """A record in the current shape, with a note per rewrite and where moved fields came from."""

    data: Object
    notes: list[tuple[Path, str]] = field(default_factory=list)
    moves: dict[Path, Path] = field(default_factory=dict)

    def note(self, path: Path, message: str) -> None:
        self.notes.append((path, message))


def upgrade(data: Object) -> Upgrade:
    """The record `data` in the current shape; `data` itself stays as it is.

    >>> old = {"kind": "evaluation", "links": [{"relation": "model", "target_id": "m"}], "attributes": {}}
    >>> upgrade(old).data["links"]
    [{'relation': 'system', 'target_id': 'm'}]
    """
    result = Upgrade(dict(data))
    kind = str(data.get("kind"))
    _upgrade_links(result, kind)
    attributes = data.get("attributes")
    if isinstance(attributes, dict):
        result.data["attributes"] = _upgrade_attributes(result, kind, dict(attributes))
    return result


def _upgrade_links(result: Upgrade, kind: str) -> None:
    links = result.data.get("links")
    if not isinstance(links, list):
        return
    current: list[Json] = []
    for index, link in enumerate(links):
        relation = link.get("relation") if isinstance(link, dict) else None
        renamed = RELATIONS.get((kind, relation)) if isinstance(relation, str) else None
        if renamed is not None and isinstance(link, dict):
            result.note(("links", index), f"The older relation {relation!r} is read as {renamed!r}.")
            link = {**link, "relation": renamed}
        current.append(link)
    result.data["links"] = current


def _upgrade_attributes(result: Upgrade, kind: str, attributes: Object) -> Object:
    for old, new in NAMES.get(kind, {}).items():
        _move(result, attributes, old, new)
    _SPECIAL.get(kind, _nothing)(result, attributes)
    missing = _upgrade_missing(result, attributes.pop("missing_metadata", {}))
    for key in ("uncertainty", "coverage", "review"):
        if key in attributes:
            _NESTED[key](result, attributes, missing)
    for key in [key for key, value in attributes.items() if value is None and key != "numeric_value"]:
        del attributes[key]
        if key in ("source_discrepancy", "undefined_reason"):
            result.note(("attributes", key), f"{key}: null means that there is none.")
        elif not (isinstance(missing, dict) and key in missing):
            _explain(missing, key, "unextracted", None)
            result.note(("attributes", key), f"{key}: null is read as missing, reason unextracted.")
    if missing not in ({}, None):
        attributes["missing_metadata"] = missing
    return attributes


def _move(result: Upgrade, attributes: Object, old: str, new: str) -> None:
    if old not in attributes:
        return
    if new in attributes:
        message = f"The older key {old!r} stands beside {new!r}; it is kept as it is."
        result.note(("attributes", old), message)
        return
    attributes[new] = attributes.pop(old)
    result.moves["attributes", new] = ("attributes", old)
    result.note(("attributes", old), f"The older key {old!r} is read as {new!r}.")


def _nothing(result: Upgrade, attributes: Object) -> None:
    """Most kinds have only renames."""


def _protocol(result: Upgrade, attributes: Object) -> None:
    for old in ("caveats", "important_limitation"):
        value = attributes.get(old)
        texts = [value] if isinstance(value, str) else value
        limitations = attributes.setdefault("limitations", []) if isinstance(texts, list) else None
        if isinstance(limitations, list) and isinstance(texts, list):
            limitations = attributes["limitations"] = [*limitations, *texts]
            del attributes[old]
            result.note(("attributes", old), f"The older key {old!r} is read as part of 'limitations'.")
    reporting = {
        part: attributes.pop(f"uncertainty_{part}")
        for part in ("definition", "mechanism", "note")
        if f"uncertainty_{part}" in attributes and "uncertainty_reporting" not in attributes
    }
    if reporting:
        attributes["uncertainty_reporting"] = reporting
        for part in reporting:
            result.moves["attributes", "uncertainty_reporting", part] = ("attributes", f"uncertainty_{part}")
        result.note(("attributes",), "Older uncertainty_… keys are read as parts of 'uncertainty_reporting'.")
    if isinstance(attributes.get("procedure"), dict):
        _move(result, attributes, "procedure", "protocol_configuration")


def _evaluation(result: Upgrade, attributes: Object) -> None:
    protocol = attributes.get("protocol")
    if isinstance(protocol, dict) and set(protocol) <= {"name", "version", "proposed_id"}:
        del attributes["protocol"]
        for part, key in (
            ("name", "protocol"),
            ("version", "protocol_version"),
            ("proposed_id", "proposed_protocol_id"),
        ):
            if part in protocol:
                attributes[key] = protocol[part]
                result.moves["attributes", key] = ("attributes", "protocol", part)
        result.note(("attributes", "protocol"), "The older protocol object is read as three fields.")
    run_url = attributes.get("run_url")
    if isinstance(run_url, str) and not re.match(r"https?://", run_url):
        _move(result, attributes, "run_url", "run_page")


def _dataset(result: Upgrade, attributes: Object) -> None:
    if isinstance(attributes.get("population"), dict):
        _move(result, attributes, "population", "population_detail")


def _result(result: Upgrade, attributes: Object) -> None:
    value = attributes.get("derived_normalized_value")
    if isinstance(value, int | NumberText) and not isinstance(value, bool):
        attributes["derived_normalized_value"] = str(value)
        result.note(("attributes", "derived_normalized_value"), "The number is read as decimal text.")


def _source(result: Upgrade, attributes: Object) -> None:
    review: Object = {}
    for old, new in (("review_method", "method"), ("review_scope", "scope")):
        if old in attributes and "review" not in attributes:
            review[new] = attributes.pop(old)
            result.moves["attributes", "review", new] = ("attributes", old)
    if review:
        attributes["review"] = review
        result.note(("attributes",), "Older review_… keys are read as parts of 'review'.")


_SPECIAL: Final[Mapping[str, Callable[[Upgrade, Object], None]]] = {
    "protocol": _protocol,
    "evaluation": _evaluation,
    "dataset": _dataset,
    "result": _result,
    "source": _source,
}


def _explain(missing: Json, key: str, reason: str, note: str | None) -> None:
    if isinstance(missing, dict):
        missing[key] = {"reason": reason} if note is None else {"reason": reason, "note": note}


def _upgrade_missing(result: Upgrade, missing: Json) -> Json:
    if not isinstance(missing, dict):
        return missing
    current: Object = {}
    for key, value in missing.items():
        if isinstance(value, str) or value is None:
            reason, note = reason_of(value or "")
            _explain(current, key, reason, note)
            path: Path = ("attributes", "missing_metadata", key)
            result.note(path, f"The older form of a missing entry is read as reason {reason!r}.")
        else:
            current[key] = value
    return current


def reason_of(text: str) -> tuple[str, str | None]:
    """The reason that an older free text stands for, and the text as note unless it is the bare reason.

    >>> reason_of("unreported"), reason_of("Not applicable here"), reason_of("")
    (('unreported', None), ('inapplicable', 'Not applicable here'), ('unextracted', None))
    """
    words = text.strip()
    low = words.lower()
    if low in REASONS:
        return low, None
    if not words:
        return "unextracted", None
    if "not applicable" in low:
        return "inapplicable", words
    if "inaccessible" in low or "unpublished" in low:
        return "unavailable", words
    if any(word in low for word in ("unextracted", "not established", "legacy")):
        return "unextracted", words
    return "unreported", words


def _coverage(result: Upgrade, attributes: Object, missing: Json) -> None:
    value = attributes["coverage"]
    if not isinstance(value, str):
        return
    counts = re.fullmatch(r"\s*(\d{1,15})\s*/\s*(\d{1,15})\s*", value)
    attributes["coverage"] = {"scored": int(counts[1]), "eligible": int(counts[2])} if counts else {"note": value}
    result.note(("attributes", "coverage"), "The older text is read as a coverage object.")


def _review(result: Upgrade, attributes: Object, missing: Json) -> None:
    old = attributes["review"]
    if not isinstance(old, dict):
        return
    review = dict(old)
    path: Path = ("attributes", "review")
    for before, after in (("actor", "reviewer"), ("notes", "note")):
        if before in review and after not in review:
            review[after] = review.pop(before)
            result.moves[(*path, after)] = (*path, before)
    reviewer = review.get("reviewer")
    if isinstance(reviewer, str):
        if re.fullmatch(r"[a-z0-9][a-z0-9-]*", reviewer):
            review["reviewer"] = [reviewer]
        elif "reviewer_note" not in review:
            review["reviewer_note"] = review.pop("reviewer")
            result.moves[(*path, "reviewer_note")] = (*path, "reviewer")
    if isinstance(review.get("method"), str):
        review["method"] = [review["method"]]
    reviewed_at = review.get("reviewed_at")
    if isinstance(reviewed_at, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", reviewed_at) and "date" not in review:
        review["date"] = review.pop("reviewed_at")
        result.moves[(*path, "date")] = (*path, "reviewed_at")
    if review != old:
        attributes["review"] = review
        result.note(path, "The older form of a review is read as the current one.")


_SYNONYMS: Final = {
    "low": "lower",
    "high": "upper",
    "reported_spread": "printed",
    "printed_spread": "printed",
    "printed_value": "value",
    "reported_half_width": "half_width",
    "confidence_level": "level",
    "replicates": "resamples",
    "kind": "type",
}
_TYPES: Final = ("standard_deviation", "standard_error", "confidence_interval", "credible_interval")
_NUMBER: Final = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"


def _uncertainty(result: Upgrade, attributes: Object, missing: Json) -> None:
    old = attributes["uncertainty"]
    path: Path = ("attributes", "uncertainty")
    if isinstance(old, str):
        new = _uncertainty_of_text(old)
        del attributes["uncertainty"]
        if new is None:
            _explain(missing, "uncertainty", "unreported", old)
            result.note(path, "The older text gives no uncertainty; it is kept as note of a missing entry.")
        else:
            attributes["uncertainty"] = new
            result.note(path, "The older text is read as an uncertainty object.")
        return
    if not isinstance(old, dict):
        return
    status = old.get("status")
    if isinstance(status, str) and status in REASONS and not ({"value", "lower", "type"} & set(old)):
        del attributes["uncertainty"]
        _explain(missing, "uncertainty", status, str(old["note"]) if "note" in old else None)
        result.note(path, f"status: {status} is read as missing, reason {status}.")
        return
    new = {}
    for key, value in old.items():
        name = _SYNONYMS.get(key, key)
        if name != key and name in old:
            name = key  # both stand there: ambiguous, so both are kept
        if name != key:
            result.moves[(*path, name)] = (*path, key)
        if name == "level" and isinstance(value, str) and re.fullmatch(r"\d+(?:\.\d+)?\s*%", value):
            value = NumberText(_percent(value.rstrip("% ")))
        new[name] = value
    if new.get("type") == "bootstrap_summary":
        new["type"] = "standard_deviation"
    elif isinstance(new.get("type"), str) and new["type"] not in (*_TYPES, "unresolved_spread"):
        note = f"type as written: {new['type']}"
        new["note"] = f"{new['note']}; {note}" if isinstance(new.get("note"), str) else note
        new["type"] = "unresolved_spread"
    if new != old:
        attributes["uncertainty"] = new
        result.note(path, "The older form of an uncertainty is read as the current one.")


def _uncertainty_of_text(text: str) -> Object | None:
    interval = re.fullmatch(rf"\s*95\s*% CI:?\s*\(?({_NUMBER})\s*[–—-]\s*({_NUMBER})\)?\s*", text)
    if interval:
        return {
            "type": "confidence_interval",
            "printed": text,
            "lower": interval[1],
            "upper": interval[2],
            "level": NumberText("0.95"),
        }
    spread = re.search(rf"±\s*({_NUMBER})", text)
    if spread:
        says_so = re.search(r"standard deviation|\bSD\b|\bs\.d\.|\bstd\b", text, re.IGNORECASE)
        kind = "standard_deviation" if says_so else "unresolved_spread"
        return {"type": kind, "printed": text, "value": spread[1]}
    return None


def _percent(digits: str) -> str:
    whole, _, part = digits.partition(".")
    shifted = (whole.zfill(3)[:-2].lstrip("0") or "0") + "." + whole.zfill(2)[-2:] + part
    return shifted.rstrip("0").rstrip(".")


_NESTED: Final[Mapping[str, Callable[[Upgrade, Object, Json], None]]] = {
    "uncertainty": _uncertainty,
    "coverage": _coverage,
    "review": _review,
}
