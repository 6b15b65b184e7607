"""The report as SARIF 2.1.0, which code hosts and editors show at the lines of the files."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from evkg.excerpt import relative_name
from evkg.finding import Finding, Severity, summarise
from evkg.rule import Rule, rules_of
from evkg.shapes import Shapes

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS: Final[dict[Severity, str]] = {"violation": "error", "warning": "warning", "info": "note"}
#: The folder that relative names of files begin at; code hosts take it for the top of the repository.
ROOT: Final = "%SRCROOT%"
#: The name of the fingerprint; another way to make it needs another number.
FINGERPRINT: Final = "evkgFinding/v1"


def render_sarif(findings: Sequence[Finding], records: int, *, version: str, shapes: Shapes | None = None) -> str:
    """The report as one SARIF log: a run with its rules, and a result for each finding.

    Files below the working folder are named from there on. `version` is that of evkg.

    Source: SARIF 2.1.0 plus errata 01, https://docs.oasis-open.org/sarif/sarif/v2.1.0/

    >>> log = json.loads(render_sarif([Finding("info", "x", "…", file="a.yaml", line=3)], 1, version="1.0"))
    >>> log["runs"][0]["results"][0]["level"]
    'note'
    """
    return "".join(sarif_parts(findings, records, version=version, shapes=shapes))


def sarif_parts(
    findings: Sequence[Finding], records: int, *, version: str, shapes: Shapes | None = None
) -> Iterator[str]:
    """The same log in pieces, so that a large one need never be in memory as a whole."""
    rules = rules_of(findings, shapes)
    index = {name: number for number, name in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "evkg",
                "fullName": "Evidence knowledge graph: check of records",
                "version": version,
                "rules": [_rule(rule) for rule in rules.values()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder in which evkg was started."}}},
        "properties": {"summary": asdict(summarise(findings, records))},
        "results": [],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    head, _, tail = json.dumps(document, ensure_ascii=False, indent=2).rpartition("[]")
    yield f"{head}["
    # One result a line: a tenth of the memory that one large object would take, and short differences.
    between = "\n"
    for finding, mark in zip(findings, _fingerprints(findings), strict=True):
        yield between + json.dumps(_result(finding, index[finding.rule], mark), ensure_ascii=False)
        between = ",\n"
    yield ("\n" if findings else "\n\n") + f"]{tail}"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.name,
        "name": "".join(word.capitalize() for word in re.split(r"[\W_]+", rule.name)) or rule.name,
        "shortDescription": {"text": _text(rule.message)},
        "fullDescription": {"text": _text(rule.why or rule.message)},
        "help": {"text": _text(rule.fix or rule.message)},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
    }


def _result(finding: Finding, index: int, fingerprint: str) -> dict[str, Any]:
    message = f"{finding.message} {finding.fix}" if finding.fix else finding.message
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": LEVELS[finding.severity],
        "message": {"text": _text(message)},
    }
    if location := _location(finding):
        result["locations"] = [location]
    result["partialFingerprints"] = {FINGERPRINT: fingerprint}
    told = {key: getattr(finding, key) for key in ("record", "field", "value")}
    result["properties"] = {"severity": finding.severity} | {key: text for key, text in told.items() if text}
    return result


def _location(finding: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if finding.file is not None:
        physical: dict[str, Any] = {"artifactLocation": _artifact(finding.file)}
        if finding.line is not None:
            region = {"startLine": finding.line, "startColumn": finding.column}
            physical["region"] = {key: number for key, number in region.items() if number is not None}
        location["physicalLocation"] = physical
    if finding.record is not None:
        name = f"{finding.record}/{finding.field}" if finding.field else finding.record
        kind = "property" if finding.field else "object"
        location["logicalLocations"] = [{"name": finding.field or finding.record, "fullyQualifiedName": name}]
        location["logicalLocations"][0]["kind"] = kind
    return location


def _artifact(file: str) -> dict[str, str]:
    file = file.encode("utf-8", "replace").decode()
    name = relative_name(file)
    if name is None:
        return {"uri": Path(file).absolute().as_uri()}
    # `quote` writes colons out too: in the first part one would make a scheme of it.
    return {"uri": quote(name, safe="/"), "uriBaseId": ROOT}


def _fingerprints(findings: Sequence[Finding]) -> Iterator[str]:
    """A name for each finding that stays the same when lines shift: what is wrong in which field of which record.

    Of several that are alike the second ends with `:2`, and so on.
    """
    seen: Counter[str] = Counter()
    for finding in findings:
        where = (finding.record,) if finding.record else ("", finding.file)
        parts = (finding.rule, *where, finding.field, finding.value)
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
        seen[digest] += 1
        yield digest if seen[digest] == 1 else f"{digest}:{seen[digest]}"


def _text(text: str) -> str:
    """A plain message: what would be a placeholder or a link is none.

    Other braces stay as they are: the standard doubles them (section 3.11.5), but viewers show what is written.
    """
    return re.sub(r"\[(?=[^\[\]]*\]\()", r"\\[", re.sub(r"\{(\d+)\}", r"{{\1}}", text))
