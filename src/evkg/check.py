"""Checking a data set: every finding on it in one list, from reading to shapes.

Records come in batches: while one batch is validated, which leaves Python's lock alone, the next is
read and converted. Memory grows with a batch and with what is found, not with the data set.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

from evkg.convert import Converter
from evkg.dataset import Dataset
from evkg.description import Description
from evkg.filetext import file_name
from evkg.finding import Finding, sort_findings, summarise
from evkg.record import Record
from evkg.shapes import Result, Shapes
from evkg.validate import Converted, Engine, Found, Validation
from evkg.vocabulary import load_vocabulary

#: How many records make a batch (count).
BATCH: Final = 1_000
#: How many batches may wait for the validator (count).
_WAITING: Final = 2

#: Called with what is being done now, for people who wait.
Progress = Callable[[str], None]
#: Called with each batch of records and their quads.
Sink = Callable[[list[Converted]], None]


@dataclass(frozen=True)
class Checked:
    """What was found on a data set, gravest first, and what it holds: counts by kind, ids of excluded records.

    `results` are those of the shapes; `located` are their findings, one each in the same order; `apart`
    are the findings that no shape gives. The RDF report is made of them.
    """

    path: Path
    description: Description
    findings: list[Finding]
    results: list[Result]
    kinds: Counter[str]
    withheld: frozenset[str]
    located: list[Finding]
    apart: list[Finding]

    def report(self) -> tuple[list[Result], str, Iterator[Finding], Iterator[Finding]]:
        """What the RDF report is made of, with files named from the data set on: see `report.report_quads`."""
        base = self.description.base_iri
        return self.results, base, within(self.path, self.located), within(self.path, self.apart)

    @property
    def count(self) -> int:
        """How many records were read (count)."""
        return self.kinds.total()

    @property
    def violations(self) -> int:
        """How many findings are violations (count)."""
        return summarise(self.findings, self.count).violations


def check_dataset(
    path: Path,
    *,
    is_open: bool = False,
    shapes: Shapes | None = None,
    engine: Engine = "auto",
    sink: Sink = lambda _: None,
    progress: Progress = lambda _: None,
) -> Checked:
    """Every finding on a data set: from files, envelopes, keys, references and shapes.

    `sink` gets the records with their N-Quads lines, batch by batch, each record once.

    Raises: UsageError: nothing is there to read. VocabularyError: the ontology or a shape is broken.
        EngineDisagreementError: the validators differ.

    >>> check_dataset(Path("graph")).violations
    0
    """
    vocabulary = load_vocabulary()
    progress("looking at the files")
    dataset = Dataset(path, vocabulary, is_open=is_open)
    base = dataset.description.base_iri
    classes = {key: vocabulary.kinds[kind] for key, kind in dataset.kinds.items() if key not in dataset.withheld}
    validation = Validation(vocabulary, base, shapes or Shapes(), classes, engine)
    converter = Converter(vocabulary, base)
    kinds: Counter[str] = Counter()
    found: list[Found] = []
    waiting: deque[Future[Found]] = deque()
    with ThreadPoolExecutor(1) as validator:
        for batch in _batches(dataset.read(), None if validation.is_normative else BATCH):
            converted = [(record, converter.record_to_quads(record)) for record in batch]
            kinds.update(record.kind for record in batch)
            sink(converted)
            public = [pair for pair in converted if pair[0].id not in dataset.withheld]
            waiting.append(validator.submit(validation.check, public))
            while len(waiting) > _WAITING:
                found.append(waiting.popleft().result())
            progress(f"checking {kinds.total()} of {len(dataset.kinds)} records")
        found.extend(future.result() for future in waiting)
        validator.submit(validation.finish).result()
    pairs = sorted((pair for group in found for pair in group.pairs), key=lambda pair: pair[0].order())
    apart = [*dataset.findings, *(finding for group in found for finding in group.apart)]
    located = [finding for _, finding in pairs]
    return Checked(
        path,
        dataset.description,
        sort_findings((*apart, *located)),
        [result for result, _ in pairs],
        kinds,
        dataset.withheld,
        located,
        apart,
    )


def within(path: Path, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings with files named from the data set on: they do not tell where it was checked.

    >>> finding = Finding("violation", "repeated-id", "As in /home/me/kg/a.yaml:1.", file="/home/me/kg/b.yaml")
    >>> [(f.file, f.message) for f in within(Path("/home/me/kg"), [finding])]
    [('b.yaml', 'As in a.yaml:1.')]
    """
    root = f"{file_name(path if path.is_dir() or not path.suffix else path.parent)}/"
    for finding in findings:
        if finding.file is None or not finding.file.startswith(root):
            yield finding
            continue
        message = finding.message.replace(root, "") if finding.rule == "repeated-id" else finding.message
        yield replace(finding, file=finding.file.removeprefix(root), message=message)


def _batches(records: Iterator[Record], size: int | None) -> Iterator[list[Record]]:
    while batch := list(islice(records, size)):
        yield batch
