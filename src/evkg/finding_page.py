"""The report as one HTML page that needs nothing beside itself: no server, no network, no script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import jinja2

from evkg.check import Checked
from evkg.finding import Finding, Severity, counted, printable, summarise
from evkg.recordspan import Line, Spans
from evkg.rule import Rule, rule_groups, rules_of
from evkg.shapes import Shapes
from evkg.vocabulary import load_vocabulary

#: How many findings of one rule the page lists, and how many in all, unless all are asked for (count).
LISTED_PER_RULE: Final = 25
LISTED: Final = 2_000
#: How many sources the table without filters names, and how many rules of each (count).
_SOURCES: Final = 200
_RULES: Final = 12

#: What an anchor is not made of.
_NOT_PLAIN: Final = re.compile(r"[^\w.-]")

#: What each severity means for who reads the report.
MEANINGS: Final[dict[Severity, str]] = {
    "violation": "must be mended before a release",
    "warning": "worth a look; keeps nothing from being released",
    "info": "for your information",
}


@dataclass(frozen=True, slots=True)
class Item:
    """A finding on the page: with the lines of its record, its kind and sources (indexes into the lists)."""

    finding: Finding
    lines: tuple[Line, ...]
    kind: int
    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The findings of one rule and severity: how many there are, those listed, and what they have in common."""

    anchor: str
    rule: Rule
    severity: Severity
    count: int
    items: Sequence[Item]
    message: str | None
    fix: str | None

    @property
    def heading(self) -> str:
        """What all its findings say, else what the rule says."""
        return self.message or self.rule.message

    @property
    def left_out(self) -> int:
        """How many findings the page does not list (count)."""
        return self.count - len(self.items)


@dataclass(frozen=True, slots=True)
class Tally:
    """A kind or source with its findings by severity, and the groups they are in (count by index)."""

    name: str
    label: str
    counts: Counter[str]
    groups: Sequence[tuple[int, int]]
    more: int


def render_page(checked: Checked, *, full: bool = False, shapes: Shapes | None = None) -> str:
    """The report as an HTML page: by rule, each finding with the lines of its record.

    Unless `full`, a rule lists `LISTED_PER_RULE` findings and the page `LISTED`; it says how many it leaves
    out and how to get them, and its counts and filters count all.

    >>> from pathlib import Path
    >>> from evkg.check import check_dataset
    >>> "Nothing here keeps a release from being made." in render_page(check_dataset(Path("graph")))
    True
    """
    spans = Spans(checked.path, load_vocabulary())
    groups = list(rule_groups(checked.findings).items())
    kinds, sources = _Index(), _Index()
    facts: list[list[tuple[int, tuple[int, ...]]]] = []
    for _, group in groups:
        about = [spans.of(finding) for finding in group]
        facts.append(
            [
                (kinds.of(span.kind if span else ""), tuple(map(sources.of, span.sources if span else ())))
                for span in about
            ]
        )
    rules = rules_of(checked.findings, shapes)
    room = _room([len(group) for _, group in groups], full=full)
    chosen = [_spread(facts[i], room[i]) for i in range(len(groups))]
    listed = [groups[i][1][j] for i, picks in enumerate(chosen) for j in picks]
    lines = iter(spans.around(listed, checked.withheld))
    shown = [
        Group(
            f"{key[0]}-{_NOT_PLAIN.sub('-', key[1])}" if key[1].isascii() else f"group-{i}",
            rules[key[1]],
            key[0],
            len(group),
            [Item(group[j], next(lines), *facts[i][j]) for j in chosen[i]],
            _shared(finding.message for finding in group),
            _shared(finding.fix for finding in group),
        )
        for i, (key, group) in enumerate(groups)
    ]
    labels = [name.replace("_", " ") if name else "not known" for name in kinds.names]
    source_labels = [spans.names.get(name, name) for name in sources.names]
    cells = Counter((i, kind, own) for i, group in enumerate(facts) for kind, own in group)
    title = checked.description.facts["title"].value if "title" in checked.description.facts else None
    counts = summarise(checked.findings, checked.count)
    return _render(
        title=title or checked.path.name,
        counts=counts,
        total=len(checked.findings),
        listed=len(listed),
        said=_said(counts.violations),
        groups=shown,
        kinds=_tallies(kinds.names, labels, shown, ((i, (kind,), n) for (i, kind, _), n in cells.items())),
        sources=_tallies(sources.names, source_labels, shown, ((i, own, n) for (i, _, own), n in cells.items())),
        most_sources=_SOURCES,
        unsourced=sum(n for (_, _, own), n in cells.items() if not own),
        kind_labels=labels,
        source_ids=sources.names,
        source_labels=source_labels,
        withheld=checked.withheld,
        meanings=MEANINGS,
        command=f"evkg check {shlex.quote(str(checked.path))} --format html --full",
        # Ends of elements and comments in a record's text stay text.
        data=json.dumps([[i, kind, own, n] for (i, kind, own), n in cells.items()]).replace("<", "\\u003c"),
    )


class _Index:
    """Names in the order in which they were met, each with its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    @property
    def names(self) -> list[str]:
        return list(self._numbers)


def _room(sizes: Sequence[int], *, full: bool) -> list[int]:
    """How many findings each group may list: the graver first, but at least one each."""
    if full:
        return list(sizes)
    left, room = LISTED, []
    for index, size in enumerate(sizes):
        others = len(sizes) - index - 1
        room.append(min(size, LISTED_PER_RULE, max(1, left - others)))
        left -= room[-1]
    return room


def _spread(about: Sequence[Hashable], room: int) -> list[int]:
    """Which findings of a group to list: one about each thing before a second about any, in the order they came.

    >>> _spread(["result", "result", "result", "source"], 2)
    [0, 3]
    """
    if len(about) <= room:
        return list(range(len(about)))
    seen: Counter[Hashable] = Counter()
    ranked = []
    for number, thing in enumerate(about):
        ranked.append((seen[thing], number))
        seen[thing] += 1
    return sorted(number for _, number in sorted(ranked)[:room])


def _shared(texts: Iterable[str | None]) -> str | None:
    """What all say, if they all say the same."""
    found = set(texts)
    return found.pop() if len(found) == 1 else None


def _said(violations: int) -> str:
    if violations == 0:
        return "Nothing here keeps a release from being made."
    verb = "has" if violations == 1 else "have"
    return f"{counted(violations, 'violation')} {verb} to be mended before a release can be made."


def _tallies(
    names: Sequence[str],
    labels: Sequence[str],
    groups: Sequence[Group],
    cells: Iterable[tuple[int, tuple[int, ...], int]],
) -> list[Tally]:
    """Each name with its findings, those with the gravest and most first."""
    by_group: dict[int, Counter[int]] = {number: Counter() for number in range(len(names))}
    for group, numbers, count in cells:
        for number in numbers:
            by_group[number][group] += count
    found = []
    for number, own in by_group.items():
        counts: Counter[str] = Counter()
        for group, count in own.items():
            counts[groups[group].severity] += count
        ordered = sorted(own.items())
        found.append(Tally(names[number], labels[number], counts, ordered[:_RULES], max(0, len(ordered) - _RULES)))
    return sorted(
        found, key=lambda t: (-t.counts["violation"], -t.counts["warning"], -t.counts["info"], t.label, t.name)
    )


@cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("evkg"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["printable"] = printable
    environment.filters["commas"] = lambda number: f"{number:,}"
    environment.filters["counted"] = lambda number, noun: f"{number:,} {noun}{'' if number == 1 else 's'}"
    return environment


def _source(name: str) -> str:
    loader = _templates().loader
    return loader.get_source(_templates(), name)[0] if loader else ""


def _allowed(text: str) -> str:
    """How a content security policy names an inline text: by its hash.

    Source: Content Security Policy Level 3, section 6.7.3.
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _render(**values: Any) -> str:
    style, script = _source("report.css"), _source("report.js")
    policy = (
        f"default-src 'none'; style-src {_allowed(style)}; script-src {_allowed(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    template = _templates().get_template("report.html")
    return template.render(style=style, script=script, policy=policy, **values)
