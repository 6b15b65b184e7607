"""Nodes that many records name and no record owns: artifacts and agents, described once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from urllib.parse import unquote

from evkg.convert import quote_literal
from evkg.namespaces import EVKG, PROV, RDF, RDFS, SKOS, SPDX, XSD, graph_iri
from evkg.vocabulary import Vocabulary


def shared_nodes(triples: Iterable[str], base: str) -> frozenset[tuple[str, str]]:
    """(group, key) of the artifacts and agents that triples name as objects.

    >>> shared_nodes(["<urn:s> <urn:p> <https://w3id.org/evkg/agent/codex>"], "https://w3id.org/evkg/")
    frozenset({('agent', 'codex')})
    """
    return frozenset(_pattern(base).findall("\n".join(triples)))


@cache
def _pattern(base: str) -> re.Pattern[str]:
    """What finds group and key of a node at the end of a line, where no text can end so."""
    return re.compile(f' <{re.escape(base)}(artifact|agent)/([^<>#" \\n]*)>$', re.MULTILINE)


class SharedNodes:
    """Artifacts and agents, described once in the shared graph however many records name them."""

    def __init__(self, vocabulary: Vocabulary, base: str) -> None:
        self._vocabulary = vocabulary
        self._base = base

    def quads(self, nodes: Iterable[tuple[str, str]]) -> list[str]:
        """The N-Quads lines that describe them, sorted."""
        graph = f"<{graph_iri(self._base, 'shared')}> ."
        lines: list[str] = []
        for group, key in {*nodes}:
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
