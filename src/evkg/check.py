"""Checking a data set: every finding on it in one list, from reading to shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from evkg.dataset import Dataset, SharedNodes, dataset_quads, is_withheld, read_dataset
from evkg.finding import Finding, sort_findings, summarise
from evkg.record import Record
from evkg.shapes import Result, Shapes
from evkg.validate import Engine, Validation
from evkg.vocabulary import load_vocabulary

#: Called with what is being done now, for people who wait.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Checked:
    """A data set with its quads and everything that was found on it, gravest first."""

    dataset: Dataset
    quads: list[str]
    findings: list[Finding]
    results: list[Result]

    @property
    def violations(self) -> int:
        """How many findings are violations (count)."""
        return summarise(self.findings, self.dataset.count).violations


def check_dataset(
    path: Path,
    *,
    is_open: bool = False,
    shapes: Shapes | None = None,
    engine: Engine = "auto",
    progress: Progress = lambda _: None,
) -> Checked:
    """Every finding on a data set: from files, envelopes, keys, references and shapes.

    Raises: UsageError: nothing is there to read. VocabularyError: the ontology or a shape is broken.

    >>> check_dataset(Path("graph")).violations
    0
    """
    vocabulary = load_vocabulary()
    progress("reading")
    dataset = read_dataset(path, vocabulary, is_open=is_open)
    progress(f"converting {dataset.count} records")
    base = dataset.description.base_iri
    shared = SharedNodes(vocabulary, base)
    quads: list[str] = []
    public: list[tuple[Record, list[str]]] = []
    for record, lines in dataset_quads(dataset):
        quads.extend(lines)
        shared.note(lines)
        if not is_withheld(record):
            public.append((record, lines))
    quads.extend(shared.quads())
    progress("validating")
    classes = {record.id: vocabulary.kinds[record.kind] for record, _ in public}
    findings, results = Validation(vocabulary, base, shapes or Shapes(), classes, engine).run(public)
    return Checked(dataset, quads, sort_findings([*dataset.findings, *findings]), results)
