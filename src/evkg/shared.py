"""Nodes that many records name and no record owns: artifacts and agents, described once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from evkg.convert import quote_literal
from evkg.namespaces import EVKG, PROV, RDF, RDFS, SKOS, SPDX, XSD, graph_iri
from evkg.vocabulary import Vocabulary


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
