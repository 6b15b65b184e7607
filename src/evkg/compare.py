"""May results be compared? A table of those that may, or every reason against it, in words.

What blocks a result, and which conditions it shares with others, is derived once (`queries/rules/`); what is
left for here is to set side by side what the results of one question say.

Source: record format, section 12.1 (the thirteen steps, in their order).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Final

from evkg.candidate import CONDITIONS, Candidate, Condition, read_candidate
from evkg.errors import UsageError, excerpt
from evkg.lookup import Facts
from evkg.member import Member
from evkg.nearest import nearest
from evkg.ranking import Number, can_align, rank
from evkg.release import Release

#: As many results as one comparison takes (count).
MOST: Final = 20

#: Kind of reason -> its words, in the order of the steps.
WORDS: Final = {
    "too_few": "Fewer than two results are given.",
    "not_found": "No record of this release has the id",
    "repeated": "The same result is given twice",
    "not_a_result": "This is no result",
    "no_number": "There is no finite number to compare",
    "open_concern": "An open concern stands against",
    "not_checked": "This was not checked against its source",
    "missing": "This is missing",
    "doubtful": "Disputed, superseded or excluded",
    "quoted": "Quoted from where it was first reported",
}
_ORDER: Final = (*WORDS, "unknown", "different")


@dataclass(frozen=True, slots=True)
class Cause:
    """Where a reason lies: a record, the results it touches, and what is said there."""

    record: str | None
    results: tuple[str, ...]
    says: str


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason against a comparison: dimension (a key, None for the ids themselves), kind, words, causes."""

    dimension: str | None
    kind: str
    text: str
    causes: tuple[Cause, ...]


@dataclass(frozen=True)
class Comparison:
    """The answer: whether the results may be compared, all reasons against it, and the results side by side.

    `ignored` names the dimensions that were left out on wish, `ignored_reasons` what that hides. Members
    have a rank only where the answer is yes.
    """

    ids: tuple[str, ...]
    compatible: bool
    reasons: tuple[Reason, ...]
    members: tuple[Member, ...]
    ignored: tuple[str, ...] = ()
    ignored_reasons: tuple[Reason, ...] = ()
    group: str | None = None
    shared: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The answer as JSON values."""
        return asdict(self)


def compare(release: Release, ids: Sequence[str], *, ignore: Collection[str] = ()) -> Comparison:
    """Whether results may be compared, with every reason against it.

    `ignore` names conditions that need be neither known nor equal; it never lifts what blocks a result.

    Raises: UsageError: more than 20 ids, or an unknown condition to ignore.

    >>> from evkg.release import open
    >>> compare(open(), ["gena-lm"]).reasons[0].text
    'Fewer than two results are given.'
    """
    wanted = tuple(ids)
    if len(wanted) > MOST:
        raise UsageError(f"A comparison takes at most {MOST} results, not {len(wanted)}.")
    ignored = find_conditions(ignore)
    distinct = list(dict.fromkeys(wanted))
    facts = Facts(release)
    found = [read_candidate(facts, record_id) for record_id in distinct if release.has_record(record_id)]
    results = [result for result in found if result.is_result]
    reasons = [
        *_about_ids(release, wanted, distinct, found),
        *_blocking(results),
        *_unequal(results),
    ]
    reasons.sort(key=lambda reason: _ORDER.index(reason.kind))
    kept = tuple(reason for reason in reasons if not _is_ignored(reason, ignored))
    hidden = tuple(reason for reason in reasons if _is_ignored(reason, ignored))
    compatible = not kept
    groups = {result.group for result in results}
    members, notes = rank_members(results) if compatible else (tuple(r.member for r in results), ())
    if ignored:  # an order is all that can be said of results that may differ in more than their values
        members = tuple(replace(member, is_best=False) for member in members)
    return Comparison(
        wanted,
        compatible,
        kept,
        members,
        tuple(condition.key for condition in ignored),
        hidden,
        next(iter(groups)) if len(groups) == 1 and compatible else None,
        shared_conditions(results) if compatible else {},
        (*notes, *unit_notes(results)),
    )


def find_conditions(names: Iterable[str]) -> tuple[Condition, ...]:
    """The conditions of these names, keys or paths in a record, each once.

    Raises: UsageError: there is no such condition; names the nearest.

    >>> find_conditions(["comparison.budget"])[0].label
    'budget'
    """
    by_name = {name: condition for condition in CONDITIONS for name in (condition.key, condition.path)}
    found = []
    for name in names:
        if name not in by_name:
            keys = [condition.key for condition in CONDITIONS]
            close = get_close_matches(name, keys, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise UsageError(f"There is no condition {excerpt(name)!r} to ignore.{hint} There are {', '.join(keys)}.")
        found.append(by_name[name])
    return tuple(dict.fromkeys(found))


def _is_ignored(reason: Reason, ignored: Collection[Condition]) -> bool:
    return reason.kind in ("unknown", "different") and reason.dimension in {c.key for c in ignored}


# ---- the ids ----


def _about_ids(
    release: Release, wanted: Sequence[str], distinct: Sequence[str], found: Sequence[Candidate]
) -> list[Reason]:
    reasons = []
    if len(wanted) < 2:
        reasons.append(Reason(None, "too_few", WORDS["too_few"], ()))
    lost = [record_id for record_id in distinct if not release.has_record(record_id)]
    if lost:
        causes = tuple(Cause(None, (record_id,), _nearest(release, record_id)) for record_id in lost)
        reasons.append(_reason(None, "not_found", causes))
    twice = [record_id for record_id in distinct if wanted.count(record_id) > 1]
    if twice:
        causes = tuple(Cause(record_id, (record_id,), record_id) for record_id in twice)
        reasons.append(_reason(None, "repeated", causes))
    other = [result for result in found if not result.is_result]
    if other:
        causes = tuple(Cause(r.id, (r.id,), f"{r.id} is a {r.kind.replace('_', ' ')}") for r in other)
        reasons.append(_reason(None, "not_a_result", causes))
    return reasons


def _nearest(release: Release, record_id: str) -> str:
    """The id, and ids near it."""
    close = nearest(record_id, release.record_ids, cutoff=0.6)
    return excerpt(record_id) + (f" (near it: {', '.join(close)})" if close else "")


def _reason(dimension: str | None, kind: str, causes: tuple[Cause, ...], label: str = "") -> Reason:
    said = "; ".join(dict.fromkeys(cause.says for cause in causes))
    words = WORDS.get(kind) or {"unknown": "is not known", "different": "differs"}[kind]
    head = f"{label} {words}".strip()
    return Reason(dimension, kind, f"{head[:1].upper()}{head[1:]}: {said}.".replace("..", "."), causes)


# ---- what the results say ----


def _blocking(results: Sequence[Candidate]) -> list[Reason]:
    """What the graph holds against each result, one reason for each dimension and kind."""
    found: dict[tuple[str, str], dict[tuple[str | None, str], list[str]]] = {}
    for result in results:
        for blocker in result.blockers:
            causes = found.setdefault((blocker.dimension, blocker.kind), {})
            causes.setdefault((blocker.record, blocker.says), []).append(result.id)
    subset = _lacks_subset(results)
    if subset:
        causes = found.setdefault(("subset", "unknown"), {})
        for result in subset:
            causes.setdefault((result.evaluation_id, f"{result.id} states no subset, another does"), []).append(
                result.id
            )
    labels = {condition.key: condition.label for condition in CONDITIONS}
    return [
        _reason(
            dimension,
            kind,
            tuple(Cause(record, tuple(ids), says) for (record, says), ids in causes.items()),
            labels[dimension] if kind == "unknown" else "",
        )
        for (dimension, kind), causes in found.items()
    ]


def _lacks_subset(results: Sequence[Candidate]) -> list[Candidate]:
    """A subset is compared only if one result has it; then those without have one that is not known."""
    without = [result for result in results if "subset" not in result.values]
    return without if len(without) < len(results) else []


def _unequal(results: Sequence[Candidate]) -> list[Reason]:
    reasons = []
    for condition in CONDITIONS:
        if any((condition.key, "unknown") in result.blocked_in for result in results):
            continue
        if condition.key == "subset" and _lacks_subset(results):
            continue
        values = {result.values.get(condition.key) for result in results}
        if len(values) > 1:
            causes = tuple(
                Cause(
                    result.id if condition.of_result else result.evaluation_id,
                    (result.id,),
                    f"{result.id} has {result.shown.get(condition.key, 'none')}",
                )
                for result in results
            )
            reasons.append(_reason(condition.key, "different", causes, condition.label))
    return reasons


def shared_conditions(results: Sequence[Candidate]) -> dict[str, str]:
    """Condition -> what all results say; what was ignored and differs is left out."""
    return {
        condition.key: results[0].shown[condition.key]
        for condition in CONDITIONS
        if condition.key in results[0].shown and len({result.values.get(condition.key) for result in results}) == 1
    }


def rank_members(results: Sequence[Candidate]) -> tuple[tuple[Member, ...], tuple[str, ...]]:
    """The members of results that may be compared, with their places, and what is to be said of these."""
    members = tuple(result.member for result in results)
    for key, words in (("metric", "the metrics differ"), ("metric_direction", "it is not known which way is better")):
        values = {result.values.get(key) for result in results}
        if len(values) > 1 or any((key, "unknown") in result.blocked_in for result in results):
            return members, (f"Nothing is ranked: {words}.",)
    if results[0].direction not in ("higher", "lower"):
        return members, ("Nothing is ranked: neither higher nor lower is said to be better.",)
    if not can_align([result.unit_key for result in results]):
        return members, ("Nothing is ranked: the units differ, and no value is ever converted.",)
    counted = [i for i, member in enumerate(members) if not member.is_bound]
    numbers = [results[i].number for i in counted]
    plain = [number for number in numbers if isinstance(number, Number)]
    notes = []
    if len({number.unit for number in plain}) > 1:
        notes.append("Percents stand beside fractions as a hundredth of their value; both stay as printed.")
    if len(counted) < len(members):
        notes.append("A value printed as a bound has no rank.")
    places = rank(plain, lower_is_better=results[0].direction == "lower")
    placed = dict(zip(counted, places, strict=True))
    ids = [members[i].id for i in counted]
    ranked = tuple(member.placed(placed[i], ids) if i in placed else member for i, member in enumerate(members))
    if any(place.overlaps for place in places):
        notes.append("Some intervals overlap: where they do, a better rank may be chance.")
    return ranked, tuple(notes)


#: Units that are taken for each other, and what is wrong with that.
_LOOKALIKES: Final = (
    ({"gigabyte", "gibibyte"}, "GB and GiB differ by 7 percent, and some sources print one for the other"),
    ({"megabyte", "mebibyte"}, "MB and MiB differ by 5 percent, and some sources print one for the other"),
    ({"sample-per-second", "token-per-second"}, "a sample holds many tokens"),
    ({"percent", "fraction"}, "they state the same share; ignore the unit to set them in one order"),
)


def unit_notes(results: Sequence[Candidate]) -> tuple[str, ...]:
    """What is to be said where the units of results are easily taken for each other."""
    units = {result.unit_key for result in results}
    return tuple(
        f"Units {' and '.join(sorted(pair))}: {words}. Nothing is converted."
        for pair, words in _LOOKALIKES
        if pair <= units
    )
