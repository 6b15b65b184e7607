"""What a release says of itself: its own graph, its manifest, and the static graphs that it carries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from evkg.check import Checked
from evkg.convert import quote_literal
from evkg.finding import summarise
from evkg.manifest import FORMAT
from evkg.namespaces import DCAT, DCTERMS, EVKG, RDF, VOID, XSD, concept_iri, graph_iri
from evkg.release import STORE

_LIBRARIES: Final = ("rdflib", "pyshacl", "pyoxigraph")


def file_quads(base: str, name: str, files: Iterable[Path]) -> list[str]:
    """The triples of Turtle files as lines of a named graph; blank nodes get IRIs by their canonical label.

    Source: RDF Dataset Canonicalization (RDFC-1.0); RDF 1.1 Concepts, section 3.5 (skolemisation).
    """
    import pyoxigraph as ox

    dataset = ox.Dataset()
    graph = ox.NamedNode(graph_iri(base, name))
    for file in files:
        for quad in ox.parse(path=str(file), format=ox.RdfFormat.TURTLE, rename_blank_nodes=True):
            dataset.add(ox.Quad(quad.subject, quad.predicate, quad.object, graph))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)

    def skolem(term: Any) -> str:
        return f"<{base}genid/{name}-{term.value}>" if isinstance(term, ox.BlankNode) else str(term)

    return sorted(f"{skolem(q.subject)} {q.predicate} {skolem(q.object)} {graph} ." for q in dataset)


def release_quads(release_id: str, checked: Checked, moment: datetime, quads: int) -> list[str]:
    """What a release says of itself, in the release graph.

    Source: DCAT 3; VoID, section 3 (statistics).
    """
    base = checked.description.base_iri
    node = f"<{base}releases/{release_id}>"
    counts = summarise(checked.findings, checked.count)

    def integer(name: str, value: int) -> str:
        return f'{node} <{EVKG}{name}> "{value}"^^<{XSD}integer>'

    lines = [
        f"{node} <{RDF}type> <{DCAT}Dataset>",
        f"{node} <{RDF}type> <{VOID}Dataset>",
        f"{node} <{DCTERMS}identifier> {quote_literal(release_id)}",
        f'{node} <{DCTERMS}issued> "{moment:%Y-%m-%dT%H:%M:%SZ}"^^<{XSD}dateTime>',
        f'{node} <{EVKG}conforms> "{str(not counts.violations).lower()}"^^<{XSD}boolean>',
        integer("recordCount", counts.records),
        integer("violationCount", counts.violations),
        integer("warningCount", counts.warnings),
        integer("infoCount", counts.infos),
    ]
    for key, fact in checked.description.facts.items():
        if fact.value is not None:
            lines.append(f"{node} <{_FACTS[key]}> {quote_literal(fact.value)}")
            continue
        entry = f"<{base}releases/{release_id}#missing-{key}>"
        lines += [
            f"{node} <{EVKG}missing> {entry}",
            f"{entry} <{RDF}type> <{EVKG}MissingEntry>",
            f"{entry} <{EVKG}field> {quote_literal(key)}",
            f"{entry} <{EVKG}missingProperty> <{_FACTS[key]}>",
            f"{entry} <{EVKG}reason> <{concept_iri('missingness', fact.reason or 'unextracted')}>",
        ]
        if fact.note is not None:
            lines.append(f"{entry} <{EVKG}note> {quote_literal(fact.note)}")
    total = quads + len(lines) + 1
    lines.append(f'{node} <{VOID}triples> "{total}"^^<{XSD}integer>')
    return sorted(f"{line} <{graph_iri(base, 'release')}> ." for line in lines)


_FACTS: Final = {
    "title": DCTERMS + "title",
    "description": DCTERMS + "description",
    "licence": DCTERMS + "license",
    "publisher": DCTERMS + "publisher",
    "contact": DCAT + "contactPoint",
    "language": DCTERMS + "language",
}


def manifest(
    folder: Path,
    checked: Checked,
    release_id: str,
    moment: datetime,
    content: str,
    quads: int,
    known: Mapping[str, str],
) -> dict[str, Any]:
    """The facts of `manifest.json`; `known` are hashes of files (hex) that were taken while they were written."""
    counts = summarise(checked.findings, checked.count)
    files = sorted(p for p in folder.rglob("*") if p.is_file() and folder / STORE not in p.parents)
    return {
        "format": FORMAT,
        "release_id": release_id,
        "at": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        "base_iri": checked.description.base_iri,
        "dataset": {
            key: fact.value if fact.value is not None else {"reason": fact.reason, "note": fact.note}
            for key, fact in checked.description.facts.items()
        },
        "conforms": not counts.violations,
        "counts": {
            "records": counts.records,
            "withheld": len(checked.withheld),
            "quads": quads,
            "violations": counts.violations,
            "warnings": counts.warnings,
            "infos": counts.infos,
            "kinds": dict(sorted(checked.kinds.items())),
        },
        "content_sha256": content,
        "versions": {"evkg": metadata.version("evkg"), **{name: metadata.version(name) for name in _LIBRARIES}},
        "files": {
            file.relative_to(folder).as_posix(): {
                "sha256": known.get(file.name) or _sha256(file),
                "bytes": file.stat().st_size,
            }
            for file in files
        },
    }


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
