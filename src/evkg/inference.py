"""The rules of `queries/rules/`: facts that no axiom of OWL 2 RL can say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from evkg.errors import VocabularyError
from evkg.namespaces import RDF
from evkg.vocabulary import data_folder

TYPE: Final = f"<{RDF}type>"


@dataclass(frozen=True, slots=True)
class Rule:
    """A CONSTRUCT query that adds facts, and what it comes from: an axiom or a file."""

    name: str
    query: str

    def touches(self, other: Rule) -> bool:
        """Whether it matters which of two rules runs first: one uses what the other gives.

        >>> first = Rule("a", "CONSTRUCT { ?x evkg:p ?y } WHERE { ?x evkg:q ?y }")
        >>> second = Rule("b", "CONSTRUCT { ?x evkg:r ?y } WHERE { ?x evkg:p ?y }")
        >>> second.touches(first), first.touches(Rule("c", "CONSTRUCT { ?x evkg:r ?y } WHERE { ?x evkg:s ?y }"))
        (True, False)
        """
        return self.feeds(other) or other.feeds(self)

    def feeds(self, other: Rule) -> bool:
        """Whether another rule uses what this one gives.

        >>> first = Rule("a", "CONSTRUCT { ?x evkg:p ?y } WHERE { ?x evkg:q ?y }")
        >>> second = Rule("b", "CONSTRUCT { ?x evkg:r ?y } WHERE { ?x evkg:p ?y }")
        >>> first.feeds(second), second.feeds(first)
        (True, False)
        """
        (given, _), (_, used) = _terms(self.query), _terms(other.query)
        return _ANY in used or not given.isdisjoint(used)


@lru_cache(maxsize=256)
def _terms(query: str) -> tuple[frozenset[str], frozenset[str]]:
    """The terms in the head of a CONSTRUCT query, and those behind it.

    `_ANY` where a property is a variable, unless VALUES names what it may be.
    """
    plain = re.sub(r"(^|\s)#[^\n]*", " ", query)
    head, _, body = plain.partition("WHERE")
    found = frozenset(_TERM.findall(body))
    listed = set(re.findall(r"\?(\w+)", " ".join(re.findall(r"VALUES\s+(\?\w+|\([^)]*\))", body))))
    if not listed.issuperset(re.findall(r"[{.]\s*\?\w+\s+\?(\w+)\s+[?<\w\"]", body)):
        found |= {_ANY}
    return frozenset(_TERM.findall(head)), found


#: A prefixed name or an IRI, as rules write properties and classes.
_TERM: Final = re.compile(r"[a-z]+:[A-Za-z]\w*|<[^>\s]*>")
_ANY: Final = "?"


def load_rules(folder: Path | None = None) -> list[Rule]:
    """The rules of `queries/rules/*.rq`, in the order in which they run.

    Raises: VocabularyError: the folder holds no rule.
    """
    files = sorted((folder or data_folder("queries") / "rules").glob("*.rq"))
    if not files:
        raise VocabularyError("queries/rules/ holds no rule.")
    return [Rule(path.stem, path.read_text(encoding="utf-8")) for path in files]
