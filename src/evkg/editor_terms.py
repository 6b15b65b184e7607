"""The terms that the query editor completes: prefixes, and the classes and properties of the ontology."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from evkg.namespaces import OWL, PREFIXES, RDF, RDFS, SKOS
from evkg.vocabulary import data_folder

_CLASSES: Final = frozenset({f"{OWL}Class", f"{RDFS}Class"})
_PROPERTIES: Final = frozenset(
    {f"{OWL}DatatypeProperty", f"{OWL}ObjectProperty", f"{OWL}AnnotationProperty", f"{RDF}Property"}
)
#: What every graph here uses and no ontology of ours declares.
_BORROWED: Final[Mapping[str, str]] = {
    f"{RDF}type": "type",
    f"{RDFS}label": "label",
    f"{RDFS}comment": "comment",
    f"{SKOS}notation": "notation",
    f"{SKOS}prefLabel": "preferred label",
    f"{SKOS}definition": "definition",
    f"{SKOS}inScheme": "in scheme",
}


@cache
def editor_terms(folder: Path | None = None) -> Mapping[str, Any]:
    """`prefixes` (name to namespace), `classes` and `properties` (lists of iri and label) of an ontology folder.

    >>> terms = editor_terms()
    >>> {"iri": "https://w3id.org/evkg/ontology#printedValue", "label": "printed value"} in terms["properties"]
    True
    """
    import pyoxigraph as ox

    kinds: dict[str, set[str]] = {}
    labels: dict[str, str] = dict(_BORROWED)
    for path in sorted((folder or data_folder("ontology")).rglob("*.ttl")):
        for quad in ox.parse(path=str(path), format=ox.RdfFormat.TURTLE):
            subject, value = getattr(quad.subject, "value", ""), getattr(quad.object, "value", "")
            if quad.predicate.value == f"{RDF}type":
                kinds.setdefault(subject, set()).add(value)
            elif quad.predicate.value == f"{RDFS}label":
                labels[subject] = value
    classes = [iri for iri, types in kinds.items() if types & _CLASSES]
    properties = [iri for iri, types in kinds.items() if types & _PROPERTIES]
    return {
        "prefixes": dict(PREFIXES),
        "classes": _terms(classes, labels),
        "properties": _terms([*properties, *_BORROWED], labels),
    }


def _terms(iris: list[str], labels: Mapping[str, str]) -> list[dict[str, str]]:
    names = ((iri, re.split(r"[#/]", iri)[-1]) for iri in sorted(set(iris)))
    return [{"iri": iri, "label": labels.get(iri, name)} for iri, name in names]
