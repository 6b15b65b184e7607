"""What a data set says of itself: `dataset.yaml`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from evkg.errors import UsageError, excerpt
from evkg.filetext import file_name
from evkg.finding import Finding
from evkg.namespaces import NS
from evkg.reader import DATASET_FILE, record_files
from evkg.yamltext import Mapping, Scalar, YamlError, parse_yaml

#: Fragments name the parts of records, so the base can have none.
_BASE_IRI: Final = re.compile(r"https?://[^\s<>\"{}|\\^`/?#]+(/[^\s<>\"{}|\\^`?#]*)?/\Z")
#: What a data set says of itself; each is a text or a reason why there is none.
FACTS: Final = ("title", "description", "licence", "publisher", "contact", "language")

#: Why a field may have no value. Source: contract section 6; a test holds it against the scheme missingness.
_REASONS: Final = ("unreported", "unextracted", "unavailable", "inapplicable", "conflicting")


@dataclass(frozen=True, slots=True)
class Fact:
    """A value, or the reason (a key of the scheme missingness) and note why there is none."""

    value: str | None = None
    reason: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """What `dataset.yaml` says: the base IRI of all records and facts about the data set."""

    base_iri: str = NS
    facts: dict[str, Fact] = field(default_factory=dict)


def read_description(path: Path) -> tuple[Description, list[Finding]]:
    """What `dataset.yaml` in a folder says, and what is wrong with it; the default where there is none."""
    file = path / DATASET_FILE
    if not file.is_file() or _is_record_file(file, path):
        return Description(facts=_without_value({"title": Fact(path.name)})), []
    try:
        nodes = list(parse_yaml(file.read_text(encoding="utf-8-sig")))
    except YamlError as error:
        return Description(facts=_without_value({})), [_problem(file, error.line, error.column, str(error))]
    except (OSError, UnicodeDecodeError) as error:
        return Description(facts=_without_value({})), [_problem(file, 1, 1, f"It cannot be read: {error}.")]
    if len(nodes) != 1 or not isinstance(nodes[0], Mapping):
        return Description(facts=_without_value({})), [_problem(file, 1, 1, "It must be one mapping.")]
    return _describe(file, nodes[0])


def _is_record_file(file: Path, folder: Path) -> bool:
    """Whether a file of that name holds records of kind dataset rather than the description."""
    try:
        return file in record_files(folder)
    except UsageError:
        return False


def _describe(file: Path, node: Mapping) -> tuple[Description, list[Finding]]:
    findings: list[Finding] = []
    facts: dict[str, Fact] = {}
    base = NS
    for key, value in node.items.items():
        line, column = node.places[key]
        if key == "base_iri":
            base = value.text if isinstance(value, Scalar) else ""
            if not _is_base(base):
                base = NS
                message = "base_iri must be an absolute http(s) IRI that ends with / and has no # and no ?."
                findings.append(_problem(file, line, column, message))
        elif key not in FACTS:
            findings.append(
                _problem(file, line, column, f"{excerpt(key)!r} is not known here; known: {', '.join(FACTS)}.")
            )
        elif isinstance(value, Scalar) and value.text.strip():
            facts[key] = Fact(value.text)
        elif isinstance(value, Mapping) and "reason" in value.items:
            texts = {k: v.text for k, v in value.items.items() if isinstance(v, Scalar)}
            reason = texts.get("reason", "")
            if reason in _REASONS:
                facts[key] = Fact(reason=reason, note=texts.get("note"))
            else:
                message = f"{excerpt(reason)!r} is not a reason; write one of {', '.join(_REASONS)}."
                findings.append(_problem(file, line, column, message))
        else:
            message = f"{key} must be a text, or a reason why there is none: {{reason: unreported}}."
            findings.append(_problem(file, line, column, message))
    return Description(base, _without_value(facts)), findings


def _is_base(iri: str) -> bool:
    """Whether every IRI of a data set can begin with it: by its form, and as the store reads IRIs."""
    import pyoxigraph as ox

    try:
        return _BASE_IRI.match(iri) is not None and bool(ox.NamedNode(iri))
    except ValueError:
        return False


def _without_value(facts: dict[str, Fact]) -> dict[str, Fact]:
    """Every fact that a data set should state: what is not said is `unextracted`, never invented."""
    return {key: facts.get(key, Fact(reason="unextracted")) for key in FACTS}


def _problem(file: Path, line: int, column: int, message: str) -> Finding:
    return Finding("violation", "dataset-description", message, file=file_name(file), line=line, column=column)
