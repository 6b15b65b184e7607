"""What a kind of record may have: its attributes and its relations, as the ontology declares them."""

from __future__ import annotations

from collections.abc import Mapping

from evkg.keys import ON_EVERY_KIND
from evkg.vocabulary import Term, Vocabulary


def relations_of(kind: str, vocabulary: Vocabulary) -> Mapping[str, Term]:
    """Relation -> its term, of all that a kind of record may have.

    >>> from evkg.vocabulary import load_vocabulary
    >>> list(relations_of("claim", load_vocabulary()))
    ['source', 'subject', 'supersedes']
    """
    own = {vocabulary.kinds[kind], vocabulary.groups[vocabulary.kinds[kind]], "Record"}
    found = {name: term for name, term in vocabulary.relations.items() if not term.used_on or term.used_on & own}
    return dict(sorted(found.items()))


def attributes_of(kind: str, vocabulary: Vocabulary) -> Mapping[str, Term]:
    """Key -> term of all attributes that a kind of record may have, those of the record itself last.

    >>> from evkg.vocabulary import load_vocabulary
    >>> list(attributes_of("service", load_vocabulary()))[-3:]
    ['missing_metadata', 'review', 'extraction']
    """
    of_records = {term.record_key: term for term in vocabulary.terms.values() if term.section == "record"}
    keys = (*(("evidence_concerns",) if kind == "source" else ()), *ON_EVERY_KIND)
    own = {key: term for key, term in sorted(vocabulary.attributes[kind].items()) if key not in keys}
    return own | {key: of_records[key] for key in keys}
