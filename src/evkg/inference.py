"""The rules of `queries/rules/`: facts that no axiom of OWL 2 RL can say."""

from __future__ import annotations

from dataclasses import dataclass
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


def load_rules(folder: Path | None = None) -> list[Rule]:
    """The rules of `queries/rules/*.rq`, in the order in which they run.

    Raises: VocabularyError: the folder holds no rule.
    """
    files = sorted((folder or data_folder("queries") / "rules").glob("*.rq"))
    if not files:
        raise VocabularyError("queries/rules/ holds no rule.")
    return [Rule(path.stem, path.read_text(encoding="utf-8")) for path in files]
