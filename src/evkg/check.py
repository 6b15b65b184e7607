"""Checking a data set: every finding on it in one list, from reading to shapes.

Portions of it go through side by side (`batch.py`, `pool.py`); what needs several records is done here, as
their outcomes come back in the order of the data set. Memory grows with a portion and with what is found,
not with the data set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from pathlib import Path
from typing import Final, Literal

from evkg.batch import Batch, Outcome, Task
from evkg.crossrecord import conflicts
from evkg.dataset import Dataset
from evkg.description import Description
from evkg.errors import UsageError
from evkg.fact import Fact
from evkg.filetext import file_finding, file_name
from evkg.finding import ONCE_A_FILE, Finding, sort_findings, summarise
from evkg.pool import Runner, processes, working
from evkg.reader import MAX_FAULTS, too_many_faults
from evkg.references import name_nearest
from evkg.report import Block, dataset_block, frame_turtle, links_turtle, record_block, sort_key
from evkg.research import Research
from evkg.shapes import Shapes
from evkg.soundness import check_shapes
from evkg.validate import SAMPLE, Probe, rank
from evkg.verdict import Known
from evkg.verdicts import Verdicts, recipe
from evkg.vocabulary import load_vocabulary

#: Which validator runs: by the size of the data set, only pySHACL, or the fast one with its sample.
Engine = Literal["auto", "pyshacl", "fast"]
#: Up to this many records pySHACL checks them all (count).
SMALL: Final = 150

#: Called with what is being done, how much of it is done and how much there is (0: not known), for people who wait.
Progress = Callable[[str, int, int], None]
#: Called with each batch, its repeated records already taken out.
Sink = Callable[[Batch], None]


@dataclass
class Checked:
    """What was found on a data set, gravest first, and what it holds: counts by kind, ids of excluded records.

    `extra` are the parts of the RDF report on findings that need more than one record, by record id (None for
    those about files); `severities` counts the results of the whole report. `blocks` are the parts on each
    record, only if they were asked for.
    """

    path: Path
    description: Description
    findings: list[Finding] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    withheld: frozenset[str] = frozenset()
    research: Research = field(default_factory=Research)
    shared: set[tuple[str, str]] = field(default_factory=set)
    extra: dict[str | None, Block] = field(default_factory=dict)
    severities: Counter[str] = field(default_factory=Counter)
    blocks: dict[str | None, Block] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many records were read (count)."""
        return self.kinds.total()

    @property
    def violations(self) -> int:
        """How many findings are violations (count)."""
        return summarise(self.findings, self.count).violations

    def turtle(self) -> str:
        """The RDF report as Turtle; the check must have been made `with_report`."""
        blocks = {**self.blocks}
        for key, block in self.extra.items():
            said = {**blocks[key].said, **block.said} if key in blocks else block.said
            blocks[key] = Block(block.base, said)
        ordered = [block for _, block in sorted(blocks.items(), key=lambda item: sort_key(item[0]))]
        base = self.description.base_iri
        nodes = [node for block in ordered for node in block.said]
        return "".join(
            [frame_turtle(base, self.severities), *(block.turtle() for block in ordered), links_turtle(base, nodes)]
        )


def check_dataset(
    path: Path,
    *,
    is_open: bool = False,
    shapes: Shapes | None = None,
    engine: Engine = "auto",
    sink: Sink = lambda _: None,
    progress: Progress = lambda *_: None,
    folder: Path | None = None,
    with_report: bool = False,
    keep: bool = False,
    jobs: int | None = None,
    runner: Runner = working,
    cache: Path | None = None,
) -> Checked:
    """Every finding on a data set: from files, envelopes, keys, references and shapes.

    `sink` gets the outcomes of the records, batch by batch, each record once; with a `folder` their quads are
    written there, with `keep` the records and their triples are in them. `jobs` processes work (default: one a
    core where there is enough to do), `runner` says where. With a file `cache`, verdicts are kept there, and what has
    not changed since the last check is not checked again; batches of such records have no quads.

    Raises: UsageError: nothing is there to read. VocabularyError: the ontology or a shape is broken.
        EngineDisagreementError: the validators differ.

    >>> check_dataset(Path("graph")).violations
    0
    """
    vocabulary = load_vocabulary()
    progress("looking at the files", 0, 0)
    dataset = Dataset(path, vocabulary, is_open=is_open)
    is_normative = engine == "pyshacl" or (engine == "auto" and len(dataset.kinds) <= SMALL)
    shapes = shapes or Shapes()
    base = dataset.description.base_iri
    verdicts = None
    if cache is not None:
        verdicts = Verdicts(cache, recipe(base, engine if is_normative else "fast", is_open=is_open))
    task = Task(
        base,
        dataset.neighbours,
        shapes,
        is_normative=is_normative,
        folder=folder,
        with_report=with_report,
        keep=keep,
    )
    gathering = _Gathering(dataset, shapes, with_report=with_report or folder is not None)
    count = 1 if is_normative or keep else (jobs or processes())
    total = len(dataset.kinds)
    if verdicts is None:
        portions = dataset.portions
    else:
        known, portions = verdicts.take(dataset)
        gathering.add_known(known)
    fresh: list[Batch] = []
    with runner(portions, task, count) as work:
        if verdicts is None or not verdicts.is_known:
            check_shapes(shapes)  # processes are at work already
        for batch in work.run():
            if verdicts is not None:
                fresh.append(replace(batch, sample=[]))
            gathering.add(batch)
            sink(batch)
            progress("checking records", gathering.checked.count, total)
        work.confirm(gathering.sample())
        together = conflicts(gathering.facts) if verdicts is None else verdicts.finish(dataset, fresh, gathering.facts)
        checked = gathering.finish(together)
        work.confirmed()
    if verdicts is not None:
        verdicts.save()
    return checked


class _Gathering:
    """Puts together what batches bring, in the order of the data set."""

    def __init__(self, dataset: Dataset, shapes: Shapes, *, with_report: bool) -> None:
        self._shapes = shapes
        self._dataset = dataset
        self._with_report = with_report
        self.checked = Checked(dataset.path, dataset.description, withheld=dataset.withheld, research=dataset.research)
        self._probes: list[Probe] = []
        self._ranks: list[bytes] = []
        self._apart: list[Finding] = [*dataset.findings]
        self._places: dict[str, str] = {}
        self._items: Counter[Path] = Counter()
        self._faults: Counter[Path] = Counter()
        self._told: set[tuple[Path, str]] = set()
        self.facts: list[Fact] = []

    def add(self, batch: Batch) -> None:
        """Take what a batch brings; what repeats an earlier record is taken out of it."""
        checked = self.checked
        for file, finding in batch.read:
            self._items[file] += 1
            if finding is not None:
                self._note(file, finding)
        kept: list[Outcome] = []
        for outcome in batch.outcomes:
            first = self._places.setdefault(outcome.record_id, outcome.place)
            if first != outcome.place:
                if outcome.repeat is not None:
                    message = outcome.repeat.message.replace("another place", first)
                    self._apart.append(outcome.repeat._replace(message=message))
                continue
            kept.append(outcome)
            checked.kinds[outcome.kind] += 1
            checked.findings.extend(outcome.findings)
            checked.shared |= outcome.shared
            self.facts += outcome.facts
            for severity, number in outcome.severities.items():
                checked.severities[severity] += number
            if outcome.block is not None:
                checked.blocks[outcome.record_id] = outcome.block
        batch.has_repeats = len(kept) < len(batch.outcomes)
        batch.outcomes = kept
        names = {outcome.record_id for outcome in kept}
        probes = [probe for probe in batch.sample if probe.record_id in names]
        self._probes = nsmallest(SAMPLE, [*self._probes, *probes], key=lambda probe: probe.rank)
        self._ranks = nsmallest(SAMPLE, [*self._ranks, *(rank(outcome.content_sha256) for outcome in kept)])

    def add_known(self, known: Known) -> None:
        """Take what is known from an earlier check: the first that is added, none of its records repeats another."""
        self._items.update(known.items)
        for file, finding in known.told:
            self._note(file, finding)
        self._places.update(known.places)
        self.checked.kinds.update(known.kinds)
        self.checked.findings += known.findings
        self.checked.shared |= known.shared
        self._ranks = nsmallest(SAMPLE, known.ranks)

    def sample(self) -> list[Probe]:
        """Of the `SAMPLE` records of the data set that rank lowest those that were checked now."""
        ranks = set(self._ranks)
        return [probe for probe in self._probes if probe.rank in ranks]

    def _note(self, file: Path, finding: Finding) -> None:
        """A finding on a file; some are told once, and there is a limit to how many a file may have."""
        if finding.record is None and finding.rule in ONCE_A_FILE:
            if (file, finding.rule) in self._told:
                return
            self._told.add((file, finding.rule))
        if self._faults[file] > MAX_FAULTS:
            return
        self._apart.append(finding)
        if finding.severity == "violation" and file != Path():
            self._faults[file] += 1
            if self._faults[file] == MAX_FAULTS:
                self._faults[file] += 1
                self._apart.append(too_many_faults(file, finding.line, "the others of the file are not listed"))

    def finish(self, together: Iterable[Finding]) -> Checked:
        """Everything in order, with what several records together have."""
        checked, dataset = self.checked, self._dataset
        if not checked.count and not any(f.severity == "violation" for f in self._apart):
            raise UsageError(f"{file_name(dataset.path)} holds no record.")
        if len(dataset.files) > 1:
            for file in dataset.files:
                if not self._items[file]:
                    message = "The file holds no record."
                    fix = "Write a record in it, or remove it."
                    self._apart.append(file_finding(file, (1, 1), "no-records", message, fix, severity="warning"))
        self._apart += together
        if self._with_report:
            self._report(within(dataset.path, self._apart))
        findings = sort_findings([*self._apart, *checked.findings])
        is_open = dataset.neighbours.is_open
        has_wrong_kinds = any(rule.endswith("-kind") for rule in {finding.rule for finding in findings})
        wanted = self._shapes.wanted_classes if has_wrong_kinds else {}
        checked.findings = name_nearest(findings, dataset.kinds, dataset.vocabulary, is_open=is_open, wanted=wanted)
        return checked

    def _report(self, apart: Iterable[Finding]) -> None:
        """The parts of the RDF report on what was not found on one record alone."""
        checked, base = self.checked, self._dataset.description.base_iri
        grouped: dict[str | None, list[Finding]] = {}
        for finding in apart:
            key = finding.record if finding.record in self._places else None
            grouped.setdefault(key, []).append(finding)
        for key, findings in grouped.items():
            block = dataset_block(base, findings) if key is None else record_block(base, key, [], findings)
            checked.extra[key] = block
            checked.severities += block.severities()


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
        yield finding._replace(file=finding.file.removeprefix(root), message=message)
