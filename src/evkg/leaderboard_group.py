"""Groups of results that may be compared, and why each of the others may not.

Each group stands by itself; a result that is in none stands beneath the group that it comes nearest to, with every
reason against it. What blocks a result is derived once (`queries/rules/`); here it is only set in order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from evkg.candidate import CONDITIONS, Blocker, Candidate, Condition, read_candidate
from evkg.compare import WORDS, rank_members, shared_conditions, unit_notes
from evkg.errors import UsageError, excerpt
from evkg.lookup import Facts
from evkg.loosening import name_conditions
from evkg.member import Member
from evkg.namespaces import thing_iri

#: Ways to order the results of a group; with a minus before it the other way round.
SORTS: Final = ("best", "value", "system", "source")
#: What stands for a metric that no record names.
NO_METRIC: Final = "metric not recorded"

#: What stands behind a condition that is known of no result of a group.
_UNKNOWN: Final = ": not known"
_LABELS: Final = {condition.key: condition.label for condition in CONDITIONS}


@dataclass(frozen=True, slots=True)
class Entry:
    """A result of a leaderboard: its row, and what a chart needs of it.

    `value` is the number for computing, a percent beside fractions as a fraction, with the `decimals` as printed;
    `interval` only where the record states which kind of uncertainty it is, `interval_kind`.
    """

    member: Member
    value: Decimal | None
    decimals: int | None = None
    interval: tuple[Decimal, Decimal] | None = None
    interval_kind: str | None = None


@dataclass(frozen=True, slots=True)
class Against:
    """A reason why a result is not in a group: condition or field, kind, words, and the record in which it lies."""

    dimension: str
    kind: str
    text: str
    record: str | None


@dataclass(frozen=True, slots=True)
class Apart:
    """A result that stands in no group, with every reason against the group beneath which it stands."""

    entry: Entry
    reasons: tuple[Against, ...]


@dataclass(frozen=True)
class Group:
    """Two or more results that may be compared, best first.

    `key` names the group in an address: the first 12 digits of its hash, and `iri` the group in the graph, which there
    is only where nothing was left out. `shared` are the conditions in words. `differs` says in which conditions it is
    not the first group of its metric, `within` what differs inside it since it was left out on request. Only where
    `is_one_scale` do the numbers lie on one scale: one known unit, or percents and fractions in one order. `left_out`
    are the labels of the conditions that were left out on request: then the rows have an order, and none is best.
    """

    key: str
    iri: str | None
    metric: str
    direction: str
    unit: str | None
    shared: dict[str, str]
    entries: tuple[Entry, ...]
    apart: tuple[Apart, ...] = ()
    notes: tuple[str, ...] = ()
    differs: tuple[tuple[str, str, str], ...] = ()
    within: tuple[str, ...] = ()
    is_one_scale: bool = True
    left_out: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[Member, ...]:
        """The rows."""
        return tuple(entry.member for entry in self.entries)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The conditions that were left out and are known of no result of the group."""
        return tuple(said.removesuffix(_UNKNOWN) for said in self.within if said.endswith(_UNKNOWN))

    @property
    def left_out_words(self) -> str:
        """What was left out, in words; empty where nothing was."""
        return f"{name_conditions(self.left_out)} left out on request" if self.left_out else ""


def compare_all(
    facts: Facts, ids: Sequence[str], ignored: Collection[Condition] = ()
) -> tuple[tuple[Group, ...], tuple[tuple[str, tuple[Apart, ...]], ...]]:
    """Results in groups that may be compared, the others each with the reasons against the group it comes nearest to.

    The second part has those of metrics without any group, by the name of the metric.
    """
    by_metric: dict[str, list[Candidate]] = {}
    for record_id in ids:
        candidate = read_candidate(facts, record_id)
        by_metric.setdefault(candidate.shown.get("metric", NO_METRIC), []).append(candidate)
    groups: list[Group] = []
    loose: list[tuple[str, tuple[Apart, ...]]] = []
    for metric, candidates in sorted(by_metric.items()):
        parts, single = _parts(candidates, ignored)
        if not parts:
            loose.append((metric, tuple(_apart(facts, one, None, ignored, candidates) for one in candidates)))
            continue
        beneath: dict[int, list[Candidate]] = {}
        for one in single:
            beneath.setdefault(_nearest(one, parts, ignored), []).append(one)
        for index, part in enumerate(parts):
            apart = tuple(_apart(facts, one, part[0], ignored, candidates) for one in beneath.get(index, ()))
            groups.append(replace(_group(facts, metric, part, parts[0], ignored), apart=apart))
    return tuple(groups), tuple(loose)


def _parts(
    candidates: Sequence[Candidate], ignored: Collection[Condition]
) -> tuple[list[list[Candidate]], list[Candidate]]:
    """The groups of two or more, the largest first, and all other results."""
    found: dict[Any, list[Candidate]] = {}
    for one in candidates:
        if not _blockers(one, ignored):
            found.setdefault(_conditions(one, ignored), []).append(one)
    parts = sorted((part for part in found.values() if len(part) > 1), key=lambda part: (-len(part), part[0].id))
    inside = {one.id for part in parts for one in part}
    return parts, [one for one in candidates if one.id not in inside]


def _blockers(one: Candidate, ignored: Collection[Condition]) -> list[Blocker]:
    left_out = {condition.key for condition in ignored}
    found = [b for b in one.blockers if not (b.kind == "unknown" and b.dimension in left_out)]
    return found if one.is_result else [*found, Blocker("kind", "not_a_result", one.id, f"{one.id} is a {one.kind}")]


def _conditions(one: Candidate, ignored: Collection[Condition]) -> tuple[Any, ...]:
    return tuple(one.values.get(condition.key) for condition in CONDITIONS if condition not in ignored)


def _differences(one: Candidate, other: Candidate, ignored: Collection[Condition]) -> list[Condition]:
    """The conditions that are known of both and differ; a subset also differs from none."""
    unknown = {dimension for dimension, kind in one.blocked_in | other.blocked_in if kind in ("unknown", "missing")}
    return [
        condition
        for condition in CONDITIONS
        if condition not in ignored
        and condition.key not in unknown
        and one.values.get(condition.key) != other.values.get(condition.key)
    ]


def _nearest(one: Candidate, parts: Sequence[Sequence[Candidate]], ignored: Collection[Condition]) -> int:
    """The group with which a result has the fewest differences; the largest among equals."""
    return min(range(len(parts)), key=lambda index: (len(_differences(one, parts[index][0], ignored)), index))


def _group(
    facts: Facts, metric: str, part: Sequence[Candidate], first: Sequence[Candidate], ignored: Collection[Condition]
) -> Group:
    members, notes = rank_members(part)
    if ignored:  # what is best among things that may differ in more than the value is not known
        members = tuple(replace(member, is_best=False) for member in members)
    iri = part[0].group if not ignored else None
    digits = iri.rsplit("/", 1)[1] if iri else hashlib.sha256(repr(_conditions(part[0], ignored)).encode()).hexdigest()
    entries = [_entry(facts, one, member, part) for one, member in zip(part, members, strict=True)]
    differs = (
        ()
        if part is first
        else tuple(_told(one, part[0], first[0]) for one in _differences(part[0], first[0], ignored))
    )
    units = {one.unit_key for one in part}
    is_known = not any(("unit", "unknown") in one.blocked_in for one in part)
    group = Group(
        digits[:12],
        iri,
        metric,
        part[0].direction,
        members[0].unit if len(units) == 1 else None,
        shared_conditions(part),
        tuple(entries),
        (),
        (*notes, *unit_notes(part)),
        differs,
        tuple(_within(part, ignored)),
        is_known and (len(units) == 1 or any(member.rank is not None for member in members)),
        tuple(condition.label for condition in ignored),
    )
    return replace(group, entries=ordered(group, "best"))


def ordered(group: Group, by: str) -> tuple[Entry, ...]:
    """The entries of a group in one of the orders of `SORTS`; unit by unit where they do not lie on one scale.

    Raises: UsageError: there is no such order.
    """
    if group.is_one_scale:
        return sort_entries(group.entries, by, group.direction)
    units = sorted({entry.member.unit or "" for entry in group.entries})
    parts = ([entry for entry in group.entries if (entry.member.unit or "") == unit] for unit in units)
    return tuple(entry for part in parts for entry in sort_entries(part, by, group.direction))


def _told(condition: Condition, one: Candidate, other: Candidate) -> tuple[str, str, str]:
    return condition.label, one.shown.get(condition.key, "none"), other.shown.get(condition.key, "none")


def _within(part: Sequence[Candidate], ignored: Collection[Condition]) -> Iterable[str]:
    """What the results of a group say of the conditions that were left out, where they do not all say the same."""
    for condition in ignored:
        said = {
            "not known" if (condition.key, "unknown") in one.blocked_in else one.shown.get(condition.key, "none")
            for one in part
        }
        if len(said) > 1 or said == {"not known"}:
            yield f"{condition.label}: {'; '.join(sorted(said))}"


def _entry(facts: Facts, one: Candidate, member: Member, part: Sequence[Candidate]) -> Entry:
    number = one.number
    if number is None:
        return Entry(member, None)
    if len({other.unit_key for other in part}) > 1 and member.rank is not None:
        number = number.aligned()  # only percents and fractions are ever ranked together
    node = facts.text(thing_iri(facts.base, one.id), "uncertainty")
    kind = facts.label(facts.text(node, "uncertaintyType"))
    return Entry(member, number.value, number.decimals, number.interval if kind else None, kind)


def _apart(
    facts: Facts,
    one: Candidate,
    other: Candidate | None,
    ignored: Collection[Condition],
    candidates: Sequence[Candidate],
) -> Apart:
    found = [_against(one, blocker) for blocker in _blockers(one, ignored)]
    if other is not None:
        for condition in _differences(one, other, ignored):
            label, here, there = _told(condition, one, other)
            found.append(Against(condition.key, "different", f"Different {label}: {here}; above: {there}.", None))
    if not found:
        alone = "Nothing stands against it, but it is the only result of its kind here."
        others = [candidate for candidate in candidates if candidate is not one]
        nearest = min(others, key=lambda x: len(_differences(one, x, ignored)), default=None)
        if nearest is not None:
            labels = [condition.label for condition in _differences(one, nearest, ignored)]
            known = f"differ in {', '.join(labels)}" if labels else "cannot be compared themselves"
            alone = f"Nothing stands against it, but no other result shares its conditions: the nearest {known}."
        found.append(Against("alone", "alone", alone, None))
    return Apart(_entry(facts, one, one.member, [one]), tuple(found))


def _against(one: Candidate, blocker: Blocker) -> Against:
    head = f"{_LABELS[blocker.dimension]} is not known" if blocker.kind == "unknown" else WORDS[blocker.kind]
    says = blocker.says.removeprefix(f"{one.id}: ").removeprefix(f"{one.id} ")
    return Against(blocker.dimension, blocker.kind, f"{_capital(head)}: {says}.".replace("..", "."), blocker.record)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def sort_entries(entries: Iterable[Entry], by: str, direction: str) -> tuple[Entry, ...]:
    """Entries in the order of one of `SORTS`; bounds, and those without a number, come last.

    `best` is by value in the direction that is better, which is `higher` unless it says `lower`.

    Raises: UsageError: there is no such order.
    """
    name, is_down = by.removeprefix("-"), by.startswith("-")
    if name not in SORTS:
        raise UsageError(f"There is no order {excerpt(by, 40)!r}; there are {', '.join(SORTS)}.")
    listed = sorted(entries, key=lambda entry: entry.member.id)
    if name in ("system", "source"):
        text = {"system": "system", "source": "source"}[name]
        return tuple(sorted(listed, key=lambda entry: getattr(entry.member, text) or "", reverse=is_down))
    if name == "best":
        is_down = is_down == (direction == "lower")
    points = [entry for entry in listed if entry.value is not None and not entry.member.is_bound]
    bounds = [entry for entry in listed if entry.value is not None and entry.member.is_bound]
    ordered = [sorted(some, key=lambda entry: entry.value or 0, reverse=is_down) for some in (points, bounds)]
    return (*ordered[0], *ordered[1], *(entry for entry in listed if entry.value is None))
