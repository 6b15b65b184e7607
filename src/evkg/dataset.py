"""All records of a data set together: what it says of itself, its records, their quads, shared nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from evkg.convert import Converter, quote_literal
from evkg.errors import UsageError
from evkg.filetext import file_name
from evkg.finding import Finding
from evkg.jsontext import Json
from evkg.keys import check_keys
from evkg.namespaces import EVKG, NS, PROV, RDF, RDFS, SKOS, SPDX, XSD, graph_iri
from evkg.reader import DATASET_FILE, read_records, record_files
from evkg.record import Record
from evkg.references import check_references
from evkg.vocabulary import Vocabulary
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


@dataclass(frozen=True)
class Dataset:
    """A data set in memory: its description, its records by id in order, and what was found on reading."""

    path: Path
    description: Description
    records: dict[str, Record]
    findings: list[Finding]
    vocabulary: Vocabulary

    @property
    def count(self) -> int:
        """How many records could be read."""
        return len(self.records)


def read_dataset(path: Path, vocabulary: Vocabulary, *, is_open: bool = False) -> Dataset:
    """The data set of a folder or file, with every finding on files, envelopes, keys and references.

    Raises: UsageError: nothing is there to read.

    >>> from evkg.vocabulary import load_vocabulary
    >>> read_dataset(Path("graph"), load_vocabulary()).count
    49
    """
    description, findings = read_description(path)
    records: dict[str, Record] = {}
    for item in read_records(path, vocabulary):
        if isinstance(item, Finding):
            findings.append(item)
        elif item.id in records:
            first = records[item.id].origin
            place = f"{first.file.removeprefix(f'{file_name(path)}/')}, line {first.line}"
            message = f"The id {item.id!r} is already used in {place}."
            findings.append(item.finding("violation", "repeated-id", ("id",), message, "Give one of them another id."))
        else:
            records[item.id] = item
            findings.extend(check_keys(item, vocabulary))
    if not records and not findings:
        raise UsageError(f"{path} holds no record.")
    records = dict(sorted(records.items()))
    findings.extend(check_references(records.values(), records.keys(), vocabulary, is_open=is_open))
    withheld = {key for key, record in records.items() if is_withheld(record)}
    told = [finding for finding in findings if finding.record not in withheld or _is_public(finding.field)]
    return Dataset(path, description, records, told, vocabulary)


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
            findings.append(_problem(file, line, column, f"{key!r} is not known here; known: {', '.join(FACTS)}."))
        elif isinstance(value, Scalar) and value.text.strip():
            facts[key] = Fact(value.text)
        elif isinstance(value, Mapping) and "reason" in value.items:
            texts = {k: v.text for k, v in value.items.items() if isinstance(v, Scalar)}
            reason = texts.get("reason", "")
            if reason in _REASONS:
                facts[key] = Fact(reason=reason, note=texts.get("note"))
            else:
                message = f"{reason!r} is not a reason; write one of {', '.join(_REASONS)}."
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
    return Finding("violation", "dataset-description", message, file=str(file), line=line, column=column)


def is_withheld(record: Record) -> bool:
    """Whether a record is excluded: only its tombstone goes into a graph or a release."""
    return record.data["status"] == "excluded"


#: What stays public of a withdrawn record: keys of the envelope, and attributes that say why.
_PUBLIC: Final[tuple[str, ...]] = ("id", "kind", "name", "status", "source_ids", "links")
_PUBLIC_ATTRIBUTES: Final[tuple[str, ...]] = ("reason", "scope_note")


def _is_public(field: str | None) -> bool:
    """Whether a finding on this field of a withdrawn record may be told: findings quote what is written."""
    first, _, rest = (field or "").partition(".")
    return first in _PUBLIC or (first == "attributes" and rest in _PUBLIC_ATTRIBUTES)


def tombstone(record_data: dict[str, Json]) -> dict[str, Json]:
    """What stays public of a withdrawn record: no values, no description."""
    attributes = record_data["attributes"]
    reason = {k: v for k, v in attributes.items() if k in _PUBLIC_ATTRIBUTES} if isinstance(attributes, dict) else {}
    data = {key: record_data[key] for key in _PUBLIC if key in record_data}
    return {**data, "description": "", "facets": {}, "attributes": reason}


def dataset_quads(dataset: Dataset) -> Iterator[tuple[Record, list[str]]]:
    """Each record with its N-Quads lines, in the order of ids."""
    converter = Converter(dataset.vocabulary, dataset.description.base_iri)
    for record in dataset.records.values():
        yield record, converter.record_to_quads(record)


class SharedNodes:
    """Artifacts and agents, described once in the shared graph however many records name them."""

    def __init__(self, vocabulary: Vocabulary, base: str) -> None:
        self._vocabulary = vocabulary
        self._base = base
        # Only as the object of a quad: the same characters in a text are no node.
        self._pattern = re.compile(rf"<[^>]*> <[^>]*> <{re.escape(base)}(artifact|agent)/([^>#]+)> <")
        self._seen: set[tuple[str, str]] = set()

    def note(self, lines: list[str]) -> None:
        """Remember the artifacts and agents that these quads name."""
        for line in lines:
            if ("artifact/" in line or "agent/" in line) and (found := self._pattern.match(line)):
                self._seen.add((found.group(1), found.group(2)))

    def quads(self) -> list[str]:
        """The N-Quads lines that describe them, sorted."""
        graph = f"<{graph_iri(self._base, 'shared')}> ."
        lines: list[str] = []
        for group, key in self._seen:
            iri = f"{self._base}{group}/{key}"
            describe = self._artifact if group == "artifact" else self._agent
            lines.extend(f"{statement} {graph}" for statement in describe(iri, key))
        return sorted(lines)

    def _artifact(self, iri: str, sha256: str) -> Iterator[str]:
        yield f"<{iri}> <{RDF}type> <{EVKG}SourceArtifact>"
        yield f"<{iri}> <{SPDX}checksum> <{iri}#checksum>"
        yield f"<{iri}#checksum> <{RDF}type> <{SPDX}Checksum>"
        yield f"<{iri}#checksum> <{SPDX}algorithm> <{SPDX}checksumAlgorithm_sha256>"
        yield f'<{iri}#checksum> <{SPDX}checksumValue> "{sha256}"^^<{XSD}hexBinary>'

    def _agent(self, iri: str, key: str) -> Iterator[str]:
        name = unquote(key)
        concept = self._vocabulary.schemes["agent"].concepts.get(name)
        yield f"<{iri}> <{RDF}type> <{PROV}{'Agent' if concept is None else 'SoftwareAgent'}>"
        yield f"<{iri}> <{RDFS}label> {quote_literal(name if concept is None else concept.label)}"
        if concept is not None:
            yield f"<{iri}> <{SKOS}exactMatch> <{concept.iri}>"
