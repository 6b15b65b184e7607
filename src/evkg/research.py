"""Research manifests: which files stand behind a data set and its evaluations, and what was checked about them.

They come with a snapshot, under `research`, or as a file that holds the same object. They are no records.

Source: contract sections 9 and 12.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evkg.convert import quote_literal
from evkg.errors import excerpt
from evkg.filetext import file_name, read_text
from evkg.finding import Finding
from evkg.jsontext import Json, JsonError, decode_json, encode_json
from evkg.literal import quote_part
from evkg.namespaces import DCTERMS, EARL, EVKG, RDF, RDFS, XSD, record_iri, thing_iri
from evkg.record import LINKED_ID

#: The capabilities by key, each with its term.
CAPABILITIES: Final = {
    "replay": "ReplayReadiness",
    "analysis": "AnalysisReadiness",
    "local_run": "LocalRunReadiness",
    "validation": "ValidationReadiness",
}
#: Every check that a capability needs. Source: contract section 12.2.
CHECKS: Final = (
    *("artifact_hashes", "join_integrity", "score_semantics", "metric_replay", "annotations", "dependence"),
    *("recipe_pinned", "resource_estimate", "independent_validation", "overlap_checked"),
)
#: What a manifest may say of a check, from worst to best, and what that is as an outcome.
_OUTCOMES: Final = {"failed": "failed", "missing": "untested", "passed": "passed"}
_MOST_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class Research:
    """Manifests as read, and the readiness list that a release laid down, if it did."""

    manifests: tuple[Mapping[str, Json], ...] = ()
    readiness: tuple[Mapping[str, Json], ...] | None = None


def read_research(path: Path) -> tuple[Research, list[Finding]]:
    """What a JSON file (also .gz) says, a snapshot with the key `research` or that object itself, and what is wrong."""
    found = list(read_text(path, _MOST_BYTES))
    findings = [item for item in found if isinstance(item, Finding)]
    text = next((item for item in found if isinstance(item, str)), None)
    if text is None:
        return Research(), findings
    try:
        value = decode_json(text)
    except JsonError as error:
        findings.append(_finding(file_name(path), "", f"It cannot be read as JSON: {error}"))
        return Research(), findings
    if isinstance(value, dict) and "records" in value:
        value = value.get("research") or {}
    research, more = parse_research(value, file_name(path))
    return research, [*findings, *more]


def snapshot_research(path: Path) -> tuple[Research, list[Finding]]:
    """What a snapshot (also .gz) lays down on research; nothing where the file is none or cannot be read."""
    text = next((item for item in read_text(path, _MOST_BYTES) if isinstance(item, str)), None)
    if text is None or '"research"' not in text:
        return Research(), []
    try:
        value = decode_json(text)
    except JsonError:  # reading its records tells where
        return Research(), []
    if not isinstance(value, dict) or "records" not in value:
        return Research(), []
    return parse_research(value.get("research") or {}, file_name(path))


def parse_research(value: Json, file: str) -> tuple[Research, list[Finding]]:
    """The same for an object in memory; `file` is named in findings.

    A manifest that cannot be understood is left out, which makes nothing ready, and is a finding.

    >>> research, findings = parse_research({"manifests": [{"id": "m"}]}, "research.json")
    >>> research.manifests, findings[0].message
    ((), 'The manifest m names no data set: dataset_id is missing or no id.')
    """
    if not isinstance(value, dict):
        return Research(), [_finding(file, "", "It must be an object with the key manifests.")]
    findings: list[Finding] = []
    manifests: dict[str, Mapping[str, Json]] = {}
    for number, manifest in enumerate(_list(value.get("manifests"))):
        problem = _problem(manifest, manifests)
        if problem is None and isinstance(manifest, dict):
            manifests[str(manifest["id"])] = manifest
            findings.extend(_doubts(manifest, file))
        else:
            findings.append(_finding(file, f"manifests.{number}", str(problem)))
    readiness = value.get("readiness")
    frozen = tuple(item for item in _list(readiness) if isinstance(item, dict) and _is_id(item.get("record_id")))
    if len(frozen) != len(_list(readiness)):
        findings.append(_finding(file, "readiness", "An entry of the readiness list names no record."))
    return Research(tuple(manifests.values()), frozen if isinstance(readiness, list) else None), findings


def _problem(manifest: Json, known: Mapping[str, object]) -> str | None:
    """Why a manifest cannot count."""
    if not isinstance(manifest, dict) or not _is_id(manifest.get("id")):
        return "A manifest must be an object with an id."
    name = f"The manifest {excerpt(str(manifest['id']))}"
    if manifest["id"] in known:
        return f"{name} is there twice."
    if not _is_id(manifest.get("dataset_id")):
        return f"{name} names no data set: dataset_id is missing or no id."
    if not all(map(_is_id, _list(manifest.get("evaluation_ids")))):
        return f"{name} has something in evaluation_ids that is no id."
    if not isinstance(manifest.get("verification"), dict):
        return f"{name} has no verification, which holds its checks."
    return None


def _doubts(manifest: Mapping[str, Json], file: str) -> Iterator[Finding]:
    name = f"The manifest {excerpt(str(manifest['id']))}"
    seen: set[str] = set()
    for check in _checks(manifest):
        key = check.get("check")
        shown = excerpt(encode_json(key))
        if key not in CHECKS:
            yield _finding(file, "checks", f"{name}: {shown} is none of the checks {', '.join(CHECKS)}.")
        if check.get("status") not in _OUTCOMES:
            yield _finding(file, "checks", f"{name}: the status of {shown} must be passed, failed or missing.")
        if str(key) in seen:
            yield _finding(file, "checks", f"{name} states {excerpt(str(key))} twice; the worse statement holds.")
        seen.add(str(key))


def _finding(file: str, field: str, message: str) -> Finding:
    return Finding("warning", "research-manifest", message, file=file, field=field or None)


def _is_id(value: Json) -> bool:
    return isinstance(value, str) and LINKED_ID.match(value) is not None


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _checks(manifest: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    for check in _list(_object(manifest.get("verification")).get("checks")):
        yield _object(check)


def stated_checks(manifest: Mapping[str, Json]) -> Mapping[str, tuple[str, str]]:
    """Check -> (passed, failed or missing; detail). Anything but `passed` and `failed` counts as missing, and of two
    statements on one check the worse holds.
    """
    found: dict[str, tuple[str, str]] = {}
    worst = list(_OUTCOMES)
    for check in _checks(manifest):
        key = check.get("check")
        status = check.get("status")
        stated = status if isinstance(status, str) and status in _OUTCOMES else "missing"
        detail = check.get("detail")
        if isinstance(key, str) and key in CHECKS:
            known = found.get(key)
            if known is None or worst.index(stated) < worst.index(known[0]):
                found[key] = (stated, detail if isinstance(detail, str) else "")
    return found


def check_term(key: str) -> str:
    """The local name of the term of a check.

    >>> check_term("artifact_hashes")
    'ArtifactHashesCheck'
    """
    return "".join(part.capitalize() for part in key.split("_")) + "Check"


def research_quads(research: Research, base: str) -> list[str]:
    """The N-Quads lines of manifests and of a readiness list, in the graph `{base}graph/research`, sorted.

    Checks are EARL assertions about the manifest that states them.
    """
    graph = f"<{base}graph/research> ."
    triples: set[str] = set()
    for manifest in research.manifests:
        triples.update(_manifest_triples(manifest, base))
    for item in research.readiness or ():
        triples.update(_frozen_triples(item, base))
    return sorted(f"{triple} {graph}" for triple in triples)


def manifest_iri(base: str, manifest_id: str) -> str:
    """The IRI of a research manifest."""
    return f"{base}manifest/{quote_part(manifest_id)}"


def _manifest_triples(manifest: Mapping[str, Json], base: str) -> Iterator[str]:
    node = manifest_iri(base, str(manifest["id"]))

    def link(subject: str, predicate: str, target: str) -> str:
        return f"<{subject}> <{predicate}> <{target}>"

    def text(subject: str, predicate: str, value: str) -> str:
        return f"<{subject}> <{predicate}> {quote_literal(value)}"

    yield link(node, RDF + "type", EVKG + "ResearchManifest")
    yield text(node, EVKG + "manifestId", str(manifest["id"]))
    yield text(node, EVKG + "manifestText", encode_json(dict(manifest)))
    if isinstance(title := manifest.get("title"), str) and title:
        yield text(node, RDFS + "label", title)
    named = [str(manifest["dataset_id"]), *map(str, _list(manifest.get("evaluation_ids")))]
    for record_id in named:
        yield link(node, EVKG + "namesRecord", thing_iri(base, record_id))
    protocol = manifest.get("protocol_id")
    for record_id in [*named, str(protocol)] if _is_id(protocol) else named:
        yield link(node, EVKG + "restsOn", thing_iri(base, record_id))
    semantics = _object(manifest.get("semantics"))
    for field in _list(semantics.get("subgroup_fields")):
        if isinstance(field, str) and field:
            yield text(node, EVKG + "subgroupField", field)
    if isinstance(exposed := semantics.get("exposed"), bool):
        yield f'<{node}> <{EVKG}exposedData> "{str(exposed).lower()}"^^<{XSD}boolean>'
    for recipe in _list(manifest.get("local_recipes")):
        if isinstance(recipe, str) and recipe:
            yield text(node, EVKG + "localRecipe", recipe)
    if isinstance(digest := manifest.get("runner_code_sha256"), str) and digest:
        yield text(node, EVKG + "runnerDigest", digest)
    roles = [_object(artifact).get("role") for artifact in _list(manifest.get("artifacts"))]
    for role in roles:
        if isinstance(role, str) and role and roles.count(role) == 1:
            yield text(node, EVKG + "onlyArtifactRole", role)
    for key, (status, detail) in stated_checks(manifest).items():
        check = f"{node}#check-{key}"
        result = f"{check}-result"
        yield link(check, RDF + "type", EARL + "Assertion")
        yield link(check, EARL + "assertedBy", node)
        yield link(check, EARL + "subject", node)
        yield link(check, EARL + "test", EVKG + check_term(key))
        yield link(check, EARL + "result", result)
        yield link(result, RDF + "type", EARL + "TestResult")
        yield link(result, EARL + "outcome", EARL + _OUTCOMES[status])
        if detail:
            yield text(result, DCTERMS + "description", detail)
        if status != "missing":
            yield link(node, EVKG + f"{status}Check", EVKG + check_term(key))


def _frozen_triples(item: Mapping[str, Json], base: str) -> Iterator[str]:
    """A readiness entry of a release: the assertions that it makes, and its own text, which wins over any rule."""
    record_id = str(item["record_id"])
    record = record_iri(base, record_id)
    yield f"<{record}> <{EVKG}frozenReadiness> {quote_literal(encode_json(dict(item)))}"
    capabilities = _object(item.get("capabilities"))
    for key, term in CAPABILITIES.items():
        capability = _object(capabilities.get(key))
        node, result = f"{record}#readiness-{key}", f"{record}#readiness-{key}-result"
        is_ready = capability.get("ready") is True
        # The list does not say which blocker is a failure and which a check that nobody made.
        outcome = "passed" if is_ready else "cantTell" if _list(item.get("manifest_ids")) else "untested"
        yield f"<{node}> <{RDF}type> <{EARL}Assertion>"
        yield f"<{node}> <{EARL}subject> <{thing_iri(base, record_id)}>"
        yield f"<{node}> <{EARL}test> <{EVKG}{term}>"
        yield f"<{node}> <{EARL}result> <{result}>"
        yield f"<{result}> <{RDF}type> <{EARL}TestResult>"
        yield f"<{result}> <{EARL}outcome> <{EARL}{outcome}>"
        for blocker in _list(capability.get("blockers")):
            if isinstance(blocker, str):
                yield f"<{node}> <{EVKG}blocker> {quote_literal(blocker)}"
