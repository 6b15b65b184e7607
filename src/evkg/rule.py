"""The rules that findings come from: what each says, why, and what to write, in the words of its shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from evkg.finding import Finding, Severity
from evkg.namespaces import EVKG, NS, RDFS, SH
from evkg.shapes import Shapes

#: What a shape may say its reason with, in the order in which it is looked for.
_WHY: Final = (SH + "description", RDFS + "comment")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with findings: its name, gravity, words, and how many findings it has (count)."""

    name: str
    severity: Severity
    message: str
    why: str | None
    fix: str | None
    count: int

    @property
    def title(self) -> str:
        """The name in words: `repeated-id` is "Repeated id"."""
        return self.name.replace("-", " ").replace("_", " ").capitalize()


def rule_groups(findings: Iterable[Finding]) -> dict[tuple[Severity, str], list[Finding]]:
    """(severity, rule) -> its findings: gravest first; before the rest what keeps whole records from being read.

    >>> unread = Finding("violation", "syntax", "a tab", file="b.yaml")
    >>> list(rule_groups([Finding("violation", "gap", "…", record="r", file="a.yaml"), unread]))
    [('violation', 'syntax'), ('violation', 'gap')]
    """
    groups: dict[tuple[Severity, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.severity, finding.rule), []).append(finding)
    order = {"violation": 0, "warning": 1, "info": 2}
    ranked = sorted(groups.items(), key=lambda item: (order[item[0][0]], item[1][0].record is not None))
    return dict(ranked)


def rules_of(findings: Sequence[Finding], shapes: Shapes | None = None) -> dict[str, Rule]:
    """Name -> rule of everything that was found, in the order of `rule_groups`; a rule has its gravest severity.

    A rule that is no shape speaks with the words of its findings where they all say the same.

    >>> rules_of([Finding("violation", "result-unit", "…", record="r")])["result-unit"].message
    'unit is required on a result, but has neither a value nor an entry under missing_metadata.'
    """
    shapes = shapes or Shapes()
    counts = Counter(finding.rule for finding in findings)
    rules: dict[str, Rule] = {}
    for (severity, name), group in rule_groups(findings).items():
        if name in rules:
            continue
        shape = f"{NS}shapes#{name}"
        why = next((text for key in _WHY if (text := shapes.one(shape, key))), None)
        title = Rule(name, severity, "", None, None, 0).title
        message = shapes.one(shape, SH + "message") or _shared([f.message for f in group]) or f"{title}."
        fix = shapes.one(shape, EVKG + "fixHint") or _shared([f.fix for f in group])
        rules[name] = Rule(name, severity, message, why, fix, counts[name])
    return rules


def _shared(texts: Sequence[str | None]) -> str | None:
    """What all say, if they all say the same."""
    return texts[0] if len(set(texts)) == 1 else None
