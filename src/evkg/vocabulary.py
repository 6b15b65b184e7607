"""The ontology in memory: which key of which kind becomes which property, and the concept schemes.

Nothing here is written per kind: a new field is one term in `ontology/evkg.ttl`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Final

from evkg.errors import VocabularyError
from evkg.namespaces import EVKG, RDFS, SKOS, VOCAB, concept_key

#: The keys of a thing's JSON-LD that only group others.
NESTS: Final = ("links", "facets", "attributes")

#: Kinds of value that stand for a list in a record, so `@container: @set` in JSON-LD.
PLURAL: Final = frozenset(
    {
        "texts",
        "integers",
        "record-ids",
        "entity-kinds",
        "agents",
        "items",
        "settings",
        "quotations",
        "derivation-inputs",
        "discrepancies",
        "evidence-concerns",
        "missing-metadata",
    }
)

#: Kind of value -> (class of the node, fragment of its IRI). The nested objects of contract section 6.
PARTS: Final[Mapping[str, tuple[str, str]]] = {
    "uncertainty": ("Uncertainty", "uncertainty"),
    "coverage": ("Coverage", "coverage"),
    "reported-population": ("ReportedPopulation", "reported_population"),
    "derivation": ("Derivation", "derivation"),
    "comparison": ("Comparison", "comparison"),
    "review": ("Review", "review"),
    "extraction": ("Extraction", "extraction"),
    "resolution": ("Resolution", "resolved"),
    "derivation-inputs": ("DerivationInput", "inputs"),
    "discrepancies": ("Discrepancy", "discrepancies"),
    "evidence-concerns": ("EvidenceConcern", "concern"),
}


#: Kinds of value that stand for a list of plain values.
LISTS: Final = frozenset({"texts", "integers", "record-ids", "entity-kinds", "agents"})


def data_folder(name: str) -> Path:
    """The folder `ontology`, `shapes` or `queries`: beside the source tree, or inside an installed wheel.

    Raises: VocabularyError: the installation is incomplete.
    """
    here = Path(__file__).resolve().parent
    for folder in (here / "_data" / name, here.parents[1] / name):
        if folder.is_dir():
            return folder
    raise VocabularyError(f"The folder {name}/ is missing from this installation of evkg.")


def is_plural(value_kind: str) -> bool:
    """Whether a record gives a list for this kind of value.

    >>> is_plural("concepts:area"), is_plural("concept:area")
    (True, False)
    """
    return value_kind in PLURAL or value_kind.startswith("concepts:")


@dataclass(frozen=True, slots=True)
class Term:
    """One property of the ontology: its JSON-LD key, the key in records, its IRI and kind of value."""

    key: str
    record_key: str
    iri: str
    section: str
    value_kind: str
    used_on: frozenset[str]
    text_iri: str | None
    label: str
    definition: str
    link_to: str | None
    nest: str | None  # the key that groups it in JSON-LD: links, facets or attributes

    @property
    def scheme(self) -> str | None:
        """The concept scheme of its values, if they are concepts."""
        kind, _, scheme = self.value_kind.partition(":")
        return scheme if kind in ("concept", "concepts") else None

    @property
    def is_list(self) -> bool:
        """Whether records give a list of plain values for it."""
        return self.value_kind in LISTS or self.value_kind.startswith("concepts:")


def _plain(name: str) -> str:
    """A name as it would be as a key.

    >>> _plain("Peak memory_usage")
    'peak-memory-usage'
    """
    return "-".join(name.casefold().replace("_", " ").replace("-", " ").split())


@dataclass(frozen=True, slots=True)
class Concept:
    """One entry of a concept scheme."""

    key: str
    iri: str
    label: str
    definition: str
    direction: str | None = None
    minimum: str | None = None
    maximum: str | None = None
    alternatives: tuple[str, ...] = ()  # other names in English


@dataclass(frozen=True, slots=True)
class Scheme:
    """A concept scheme; in an open one an unknown key is a warning, in a closed one a violation."""

    key: str
    open: bool
    concepts: Mapping[str, Concept]

    def nearest(self, word: str) -> str | None:
        """The known key that an unknown one most likely means: by any of its names, else by spelling.

        >>> schemes = load_vocabulary().schemes
        >>> schemes["unit"].nearest("GiB"), schemes["metric"].nearest("peak_memory"), schemes["unit"].nearest("?")
        ('gibibyte', 'peak-memory', None)
        """
        names = [(name, c.key) for c in self.concepts.values() for name in (c.key, c.label, *c.alternatives)]
        plain = _plain(word)
        spelt = [(_plain(name), key) for name, key in names]
        for found in (
            {key for name, key in names if name == word},
            {key for name, key in spelt if name == plain},
            {key for name, key in spelt if len(plain) > 1 and plain in name.split("-")},
        ):
            if len(found) == 1:
                return found.pop()
        close = get_close_matches(plain, [name for name, _ in spelt], n=1, cutoff=0.7)
        return next(key for name, key in spelt if name == close[0]) if close else None


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The compiled ontology: tables from keys to terms, by where in a record they stand."""

    kinds: Mapping[str, str]  # kind -> local name of its class
    groups: Mapping[str, str]  # local name of a kind's class -> local name of its group
    labels: Mapping[str, str]  # IRI -> English label, for pages and reports
    definitions: Mapping[str, str]  # IRI -> English definition
    terms: Mapping[str, Term]  # JSON-LD key -> term
    attributes: Mapping[str, Mapping[str, Term]]  # kind -> key in the record -> term
    parts: Mapping[str, Mapping[str, Term]]  # class of a nested object -> key in the record -> term
    relations: Mapping[str, Term]
    facets: Mapping[str, Term]
    by_iri: Mapping[str, Term]
    schemes: Mapping[str, Scheme]
    text_keys: Mapping[str, str] = field(default_factory=dict)  # JSON-LD key -> key of its text companion

    def class_kind(self, local_name: str) -> str | None:
        """The kind whose class has this local name."""
        return next((kind for kind, name in self.kinds.items() if name == local_name), None)


def _triples(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(subject, predicate, object value) of every file; languages and datatypes are not needed here."""
    import pyoxigraph as ox

    files = sorted(folder.rglob("*.ttl"))
    if not files:
        raise VocabularyError(f"{folder} holds no Turtle file.")
    for path in files:
        try:
            for quad in ox.parse(path=str(path), format=ox.RdfFormat.TURTLE):
                if isinstance(quad.subject, ox.NamedNode):
                    yield quad.subject.value, quad.predicate.value, getattr(quad.object, "value", "")
        except (SyntaxError, ValueError, OSError) as error:
            raise VocabularyError(f"{path.name}: {error}") from error


def load_vocabulary(folder: Path | None = None) -> Vocabulary:
    """The vocabulary of the ontology folder; without an argument, of the one that evkg ships.

    Raises: VocabularyError: a file does not parse, or a term lacks what the conversion needs.

    >>> vocabulary = load_vocabulary()
    >>> vocabulary.attributes["result"]["printed_value"].iri
    'https://w3id.org/evkg/ontology#printedValue'
    >>> vocabulary.attributes["result"]["hardware"].key, vocabulary.attributes["configuration"]["hardware"].key
    ('hardware_text', 'hardware')
    """
    return _load(folder if folder is not None else data_folder("ontology"))


@cache
def _load(folder: Path) -> Vocabulary:
    about: dict[str, dict[str, list[str]]] = {}
    for subject, predicate, value in _triples(folder):
        about.setdefault(subject, {}).setdefault(predicate, []).append(value)

    def one(subject: str, predicate: str, default: str = "") -> str:
        return about[subject].get(predicate, [default])[0]

    text_properties = {
        iri: facts[EVKG + "textProperty"][0] for iri, facts in about.items() if EVKG + "textProperty" in facts
    }
    # The text of an attribute stands beside it, so it is grouped like it.
    nests = {
        iri: one(owner, EVKG + "section")
        for owner in about
        for iri in (owner, text_properties.get(owner, owner))
        if one(owner, EVKG + "section") in NESTS
    }
    terms: dict[str, Term] = {}
    by_iri: dict[str, Term] = {}
    for iri, facts in about.items():
        if EVKG + "valueKind" not in facts:
            continue
        key = one(iri, EVKG + "key")
        if not key or key in terms:
            raise VocabularyError(f"{iri}: evkg:key is missing or used twice ({key!r}).")
        terms[key] = by_iri[iri] = Term(
            key=key,
            record_key=one(iri, EVKG + "recordKey", key),
            iri=iri,
            section=one(iri, EVKG + "section"),
            value_kind=one(iri, EVKG + "valueKind"),
            used_on=frozenset(name.removeprefix(EVKG) for name in facts.get(EVKG + "usedOn", ())),
            text_iri=text_properties.get(iri),
            label=one(iri, RDFS + "label", key),
            definition=one(iri, SKOS + "definition"),
            link_to=one(iri, EVKG + "linkTo").removeprefix(EVKG) or None,
            nest=nests.get(iri),
        )
    kinds = {
        one(iri, EVKG + "key"): iri.removeprefix(EVKG)
        for iri, facts in about.items()
        if EVKG + "key" in facts and iri.startswith(EVKG) and RDFS + "subClassOf" in facts
    }
    groups = {
        name: next(g.removeprefix(EVKG) for g in about[EVKG + name][RDFS + "subClassOf"] if EVKG in g)
        for name in kinds.values()
    }

    def of(section: str) -> list[Term]:
        return [term for term in terms.values() if term.section == section]

    attributes: dict[str, dict[str, Term]] = {kind: {} for kind in kinds}
    for term in of("attributes"):
        for kind, name in kinds.items():
            if name in term.used_on or "Record" in term.used_on:
                if term.record_key in attributes[kind]:
                    raise VocabularyError(f"{kind}.{term.record_key} has two terms.")
                attributes[kind][term.record_key] = term
    parts: dict[str, dict[str, Term]] = {}
    for term in of("part"):
        for name in term.used_on:
            if term.record_key in parts.setdefault(name, {}):
                raise VocabularyError(f"{name}.{term.record_key} has two terms.")
            parts[name][term.record_key] = term

    return Vocabulary(
        kinds=kinds,
        groups=groups,
        labels={iri: facts[RDFS + "label"][0] for iri, facts in about.items() if RDFS + "label" in facts}
        | {iri: f[SKOS + "prefLabel"][0] for iri, f in about.items() if SKOS + "prefLabel" in f},
        definitions={iri: f[SKOS + "definition"][0] for iri, f in about.items() if SKOS + "definition" in f},
        terms=terms,
        attributes=attributes,
        parts=parts,
        relations={term.record_key: term for term in of("links")},
        facets={term.record_key: term for term in of("facets")},
        by_iri=by_iri,
        schemes=_schemes(about),
        text_keys={t.key: by_iri[t.text_iri].key for t in terms.values() if t.text_iri},
    )


def _schemes(about: Mapping[str, Mapping[str, list[str]]]) -> dict[str, Scheme]:
    concepts: dict[str, dict[str, Concept]] = {}
    for iri, facts in about.items():
        for scheme in facts.get(SKOS + "inScheme", ()):
            key = facts[SKOS + "notation"][0]
            concepts.setdefault(scheme, {})[key] = Concept(
                key=key,
                iri=iri,
                label=facts.get(SKOS + "prefLabel", [key])[0],
                definition=facts.get(SKOS + "definition", [""])[0],
                direction=concept_key(facts[EVKG + "defaultDirection"][0])
                if EVKG + "defaultDirection" in facts
                else None,
                minimum=facts.get(EVKG + "minimum", [None])[0],
                maximum=facts.get(EVKG + "maximum", [None])[0],
                alternatives=tuple(facts.get(SKOS + "altLabel", ())),
            )
    return {
        scheme.removeprefix(VOCAB): Scheme(
            scheme.removeprefix(VOCAB),
            about.get(scheme, {}).get(EVKG + "open", ["false"])[0] == "true",
            entries,
        )
        for scheme, entries in concepts.items()
    }
