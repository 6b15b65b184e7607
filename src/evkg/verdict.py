"""A verdict on a line or a file as it is kept: plain values, with lines counted from the first of the record."""

from __future__ import annotations

import hashlib
import marshal
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from typing import Any

from evkg.batch import Outcome
from evkg.dataset import Unit
from evkg.finding import Finding
from evkg.validate import rank


@dataclass(slots=True)
class Known:
    """What is known already of many records: their findings, kinds, places by id, shared nodes, ranks for the sample.

    `items` counts what was read of each file, `told` are the findings on files.
    """

    findings: list[Finding] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    places: dict[str, str] = field(default_factory=dict)
    shared: set[tuple[str, str]] = field(default_factory=set)
    ranks: list[bytes] = field(default_factory=list)
    items: Counter[Path] = field(default_factory=Counter)
    told: list[tuple[Path, Finding]] = field(default_factory=list)


def plain_facts(outcome: Outcome, line: int) -> tuple[bytes, tuple[int, ...]]:
    """The facts of a record, from its line on, and their columns; nothing where there are none."""
    # Numbers of JSON are texts of a kind of their own, which this form does not know.
    facts = [
        (f.about, str(f.key), tuple(map(str, f.values)), f.line - line, f.field, f.shown and str(f.shown))
        for f in outcome.facts
    ]
    return marshal.dumps(facts, 2), tuple(fact.column for fact in outcome.facts)  # the same bytes for the same facts


def plain(outcome: Outcome, line: int, facts: bytes) -> tuple[Any, ...]:
    """What a record came to, from its line on, beside its facts: these are `facts`, packed."""
    return (
        outcome.record_id,
        outcome.kind,
        int(outcome.place.rpartition(":")[2]) - line,
        rank(outcome.content_sha256),
        [plain_finding(finding, line) for finding in outcome.findings],
        hashlib.sha256(facts).digest() if outcome.facts else b"",
        tuple(sorted(outcome.shared)),
    )


def whole(f: Finding) -> tuple[Any, ...]:
    """A finding as it is, in parts that can be kept.

    >>> whole(Finding("info", "a-rule", "A message."))[:3]
    ('info', 'a-rule', 'A message.')
    """
    return (*f[:8], f.value and str(f.value), f.fix)


def plain_finding(f: Finding, line: int) -> tuple[Any, ...]:
    """A finding from the line of its record on, without its file."""
    # The same text is the same object: then the file holds it once, and it is made once when that is read.
    said = (intern(f.severity), intern(f.rule), intern(f.message), f.record, f.field and intern(f.field))
    return (*said, (f.line or 0) - line, f.column, f.value and str(f.value), f.fix and intern(f.fix))


def restore(verdict: Any, unit: Unit, name: str, kept: Known) -> None:
    """Add what a verdict says of a unit of a file of this name."""
    line = 0 if unit.span is None else unit.span.line
    new = tuple.__new__  # a third of the time that Finding(…) takes, of which there may be a hundred thousand
    for record_id, kind, place, of_content, findings, _, shared in verdict[0]:
        kept.kinds[kind] += 1
        kept.places[record_id] = f"{name}:{place + line}"
        kept.ranks.append(of_content)
        kept.shared.update(shared)
        kept.findings += [
            new(Finding, (severity, rule, message, record, at, name, number + line or None, column, value, fix))
            for severity, rule, message, record, at, number, column, value, fix in findings
        ]
    for f in verdict[1]:
        finding = Finding(f[0], f[1], f[2], f[3], f[4], name, f[5] + line or None, f[6], f[7], f[8])
        kept.told.append((unit.file, finding))
