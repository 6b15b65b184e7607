"""Whether two pipelines came to the same graph and the same findings."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pyoxigraph as ox

from evkg.namespaces import SH
from evkg.release import GRAPH, GRAPH_INDEX

#: What a finding is compared by: focus node, shape, severity.
Found = tuple[str, str, str]
_PARTS: Final = ("focusNode", "sourceShape", "resultSeverity")


def graph_hash(quads: bytes) -> str:
    """The SHA-256 of the RDFC-1.0 canonical form of N-Quads (64 hex digits).

    Without blank nodes that form is the sorted lines. Source: RDF Dataset Canonicalization, section 4.
    """
    found = ox.Dataset(ox.parse(input=quads, format=ox.RdfFormat.N_QUADS))
    found.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return hashlib.sha256("".join(sorted(f"{quad} .\n" for quad in found)).encode()).hexdigest()


def lines_hash(lines: Iterable[bytes]) -> str:
    """The SHA-256 of N-Quads lines without blank nodes, sorted and each once (64 hex digits).

    Raises: ValueError: there is a blank node, which no order of lines can name.
    """
    digest = hashlib.sha256()
    before = b""
    for line in sorted(lines):
        if line.startswith(b"_:") or b" _:" in line.partition(b'"')[0]:
            raise ValueError(f"a blank node: {line!r}")
        if line != before:
            digest.update(line)
        before = line
    return digest.hexdigest()


def record_lines(release: Path, base: str) -> Iterator[bytes]:
    """The lines of the graphs of records of a release: what is asserted."""
    with (release / GRAPH).open("rb") as stream:
        for name, content in _graphs(release, stream.fileno()):
            if name.startswith(f"{base}record/"):
                yield from content.splitlines(keepends=True)


def release_findings(release: Path, base: str) -> set[Found]:
    """The findings that shapes gave in a release."""
    told: dict[str, dict[str, str]] = {}
    with (release / GRAPH).open("rb") as stream:
        for name, content in _graphs(release, stream.fileno()):
            if name != f"{base}graph/validation":
                continue
            for quad in ox.parse(input=content, format=ox.RdfFormat.N_QUADS):
                part = quad.predicate.value.removeprefix(SH)
                if part in _PARTS and isinstance(quad.object, ox.NamedNode):
                    told.setdefault(str(quad.subject), {})[part] = quad.object.value
    return {(one["focusNode"], one["sourceShape"], one["resultSeverity"]) for one in told.values() if len(one) == 3}


def stack_findings(folder: Path) -> set[Found]:
    """The findings of the same-stack pipeline."""
    lines = (folder / "findings.tsv").read_text(encoding="utf-8").splitlines()
    return {(focus, shape, severity) for focus, shape, severity in (line.split("\t") for line in lines)}


def disagreement(release: Path, stack: Path, base: str) -> str | None:
    """What differs between a release and the output of the same-stack pipeline; None if nothing does."""
    with (stack / "graph.nq").open("rb") as stream:
        theirs = lines_hash(stream)
    if lines_hash(record_lines(release, base)) != theirs:
        return "the graphs differ"
    ours, others = release_findings(release, base), stack_findings(stack)
    return None if ours == others else f"{len(ours ^ others)} findings differ, such as {min(ours ^ others)}"


def _graphs(release: Path, descriptor: int) -> Iterator[tuple[str, bytes]]:
    for line in (release / GRAPH_INDEX).read_text(encoding="utf-8").splitlines():
        name, offset, length, _ = line.split("\t")
        yield name, os.pread(descriptor, int(length), int(offset))
