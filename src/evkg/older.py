"""Older shapes of records, read as the current one; the original is kept beside (`record.py`).

Source: contract section 10. Where a rewrite is ambiguous nothing is changed, or the text is kept as
a note, and a note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from evkg.emptiness import leave_out_empty
from evkg.errors import excerpt
from evkg.jsontext import Json, NumberText
from evkg.older_parts import upgrade_coverage, upgrade_review, upgrade_uncertainty
from evkg.rewrite import Rewrite
from evkg.rewrite import reason_of as reason_of
from evkg.scalar import Path

SYSTEM: Final = ("model", "method", "configuration", "pipeline", "service")
ASSESSMENT: Final = ("benchmark", "task", "protocol", "evaluator")
DATA: Final = ("dataset", "dataset_subset")


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


def upgrade(data: Mapping[str, Json]) -> Rewrite:
    """The record `data` in the current shape; `data` itself stays as it is.

    >>> old = {"kind": "evaluation", "links": [{"relation": "model", "target_id": "m"}], "attributes": {}}
    >>> upgrade(old).data["links"]
    [{'relation': 'system', 'target_id': 'm'}]
    """
    rewrite = Rewrite(dict(data))
    kind = str(data.get("kind"))
    _upgrade_links(rewrite, kind)
    attributes = data.get("attributes")
    if isinstance(attributes, dict):
        rewrite.attributes = rewrite.data["attributes"] = dict(attributes)
        _upgrade_attributes(rewrite, kind)
    return rewrite


def _upgrade_links(rewrite: Rewrite, kind: str) -> None:
    links = rewrite.data.get("links")
    if not isinstance(links, list):
        return
    current = list(links)
    for index, link in enumerate(links):
        relation = link.get("relation") if isinstance(link, dict) else None
        renamed = RELATIONS.get((kind, relation)) if isinstance(relation, str) else None
        if renamed is not None and isinstance(link, dict):
            path: Path = ("links", index, "relation")
            rewrite.note(path, f'The older relation "{relation}" is read as "{renamed}".')
            current[index] = {**link, "relation": renamed}
    rewrite.data["links"] = current


def _upgrade_attributes(rewrite: Rewrite, kind: str) -> None:
    attributes = rewrite.attributes
    names = NAMES.get(kind, {})
    for old, new in names.items():
        rewrite.rename(old, new)
    leave_out_empty(rewrite, kind)
    if kind in _SPECIAL:
        _SPECIAL[kind](rewrite)
    had_entries = _upgrade_missing(rewrite, names)
    uncertainty = attributes.get("uncertainty")
    if isinstance(uncertainty, str) and not uncertainty.strip() and rewrite.explain("uncertainty", "unextracted"):
        del attributes["uncertainty"]
        rewrite.note(("attributes", "uncertainty"), "An empty text is read as missing, reason unextracted.")
    if "uncertainty" in attributes:
        upgrade_uncertainty(rewrite)
    if "coverage" in attributes:
        upgrade_coverage(rewrite)
    if "review" in attributes:
        upgrade_review(rewrite)
    for key in [key for key, value in attributes.items() if value is None]:
        _upgrade_null(rewrite, kind, key)
    if rewrite.missing or (had_entries and rewrite.missing is not None):
        attributes["missing_metadata"] = rewrite.missing


def _upgrade_null(rewrite: Rewrite, kind: str, key: str) -> None:
    """An attribute that is null is missing; `numeric_value` stays, and left-over scaffolding too."""
    if key == "numeric_value" or is_scaffolding(kind, key):
        return
    path = rewrite.source(("attributes", key))
    if key in ("source_discrepancy", "undefined_reason"):
        del rewrite.attributes[key]
        rewrite.note(path, f"{excerpt(key)}: null means that there is none.")
    elif rewrite.missing is not None and key in rewrite.missing:
        del rewrite.attributes[key]
        rewrite.note(path, f"{excerpt(key)}: null adds nothing to its missing entry.")
    elif rewrite.explain(key, "unextracted"):
        del rewrite.attributes[key]
        rewrite.note(path, f"{excerpt(key)}: null is read as missing, reason unextracted.")


def _protocol(rewrite: Rewrite) -> None:
    attributes = rewrite.attributes
    for old in ("caveats", "important_limitation"):
        _append(rewrite, old, "limitations")
    parts = {
        part: f"uncertainty_{part}"
        for part in ("definition", "mechanism", "note")
        if f"uncertainty_{part}" in attributes
    }
    if parts and "uncertainty_reporting" in attributes:
        rewrite.note(("attributes", *parts.values())[:2], _BESIDE.format("uncertainty_…", "uncertainty_reporting"))
    elif parts:
        first = ("attributes", next(iter(parts.values())))
        attributes["uncertainty_reporting"] = {part: attributes.pop(key) for part, key in parts.items()}
        for part, key in parts.items():
            rewrite.move(("attributes", "uncertainty_reporting", part), ("attributes", key))
        rewrite.move(("attributes", "uncertainty_reporting"), first)
        rewrite.note(first, 'The older uncertainty_… keys are read as parts of "uncertainty_reporting".')
    if isinstance(attributes.get("procedure"), dict):
        rewrite.rename("procedure", "protocol_configuration")


_BESIDE: Final = 'The older key "{}" stands beside "{}"; it is kept as it is.'


def _append(rewrite: Rewrite, old: str, new: str) -> None:
    """Read a text or a list of texts as further elements of another attribute."""
    value, present = rewrite.attributes.get(old), rewrite.attributes.get(new)
    elements = [value] if isinstance(value, str) else value
    if not isinstance(elements, list):
        return
    if present is not None and not isinstance(present, list):
        rewrite.note(("attributes", old), _BESIDE.format(old, new))
        return
    before = present or []
    for index in range(len(elements)):
        path: Path = ("attributes", old) if isinstance(value, str) else ("attributes", old, index)
        rewrite.move(("attributes", new, len(before) + index), path)
    if present is None:
        rewrite.move(("attributes", new), ("attributes", old))
    rewrite.attributes[new] = [*before, *elements]
    del rewrite.attributes[old]
    rewrite.note(("attributes", old), f'The older key "{old}" is read as part of "{new}".')


def _evaluation(rewrite: Rewrite) -> None:
    attributes = rewrite.attributes
    protocol = attributes.get("protocol")
    if isinstance(protocol, dict):
        path: Path = ("attributes", "protocol")
        # The name comes last: it takes the place from which the others are read.
        names = {"version": "protocol_version", "proposed_id": "proposed_protocol_id", "name": "protocol"}
        if set(protocol) <= set(names) and not {names[part] for part in protocol} & (set(attributes) - {"protocol"}):
            del attributes["protocol"]
            for part in [part for part in names if part in protocol]:
                attributes[names[part]] = protocol[part]
                rewrite.move(("attributes", names[part]), (*path, part))
            rewrite.note(path, "The older protocol object is read as three fields.")
        else:
            rewrite.note(path, "The older protocol object cannot be read as three fields; it is kept as it is.")
    run_url = attributes.get("run_url")
    if isinstance(run_url, str) and "://" not in run_url:
        rewrite.rename("run_url", "run_page")


def _dataset(rewrite: Rewrite) -> None:
    if isinstance(rewrite.attributes.get("population"), dict):
        rewrite.rename("population", "population_detail")


def _result(rewrite: Rewrite) -> None:
    key = "derived_normalized_value"
    value = rewrite.attributes.get(key)
    if isinstance(value, int | NumberText) and not isinstance(value, bool):
        rewrite.attributes[key] = str(value)
        rewrite.note(("attributes", key), "The number is read as decimal text.")


def _source(rewrite: Rewrite) -> None:
    attributes = rewrite.attributes
    parts = {part: f"review_{part}" for part in ("method", "scope") if attributes.get(f"review_{part}") is not None}
    if parts and "review" in attributes:
        rewrite.note(("attributes", *parts.values())[:2], _BESIDE.format("review_…", "review"))
    elif parts:
        first = ("attributes", next(iter(parts.values())))
        attributes["review"] = {part: attributes.pop(key) for part, key in parts.items()}
        for part, key in parts.items():
            rewrite.move(("attributes", "review", part), ("attributes", key))
        rewrite.move(("attributes", "review"), first)
        rewrite.note(first, 'The older review_… keys are read as parts of "review".')


_SPECIAL: Final[Mapping[str, Callable[[Rewrite], None]]] = {
    "protocol": _protocol,
    "evaluation": _evaluation,
    "dataset": _dataset,
    "result": _result,
    "source": _source,
}


def _upgrade_missing(rewrite: Rewrite, names: Mapping[str, str]) -> bool:
    """Fill `rewrite.missing` with the entries in their current form; whether the record has entries."""
    path: Path = ("attributes", "missing_metadata")
    entries = rewrite.attributes.get("missing_metadata")
    if entries is None:
        if "missing_metadata" in rewrite.attributes:
            del rewrite.attributes["missing_metadata"]
            rewrite.note(path, "missing_metadata: null is read as no entries.")
        rewrite.missing = {}
        return False
    if not isinstance(entries, dict):
        return False
    rewrite.missing = {}
    for key, value in entries.items():
        first, dot, rest = key.partition(".")
        name = names.get(first, first) + dot + rest
        if name != key and name not in entries:
            rewrite.move((*path, name), (*path, key))
            rewrite.note(
                (*path, key),
                f'The missing entry for the older key "{excerpt(key)}" is read as one for "{excerpt(name)}".',
            )
        else:
            name = key
        if isinstance(value, str) or value is None:
            reason, note = reason_of(value or "")
            rewrite.explain(name, reason, note)
            message = f'The older form of a missing entry is read as reason "{reason}".'
            rewrite.note((*path, key), message)
        else:
            rewrite.missing[name] = value
    return True
