"""What only several records together can show: facts are taken from each, conflicts are found among all.

Conflicts come out the same in whatever order the facts arrive and however the records are spread over files.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from evkg.circle import circles
from evkg.errors import excerpt
from evkg.fact import ONE_WAY
from evkg.fact import Fact as Fact
from evkg.fact import facts as facts
from evkg.finding import Finding
from evkg.moment import read_moment, review_before_retrieval

#: How many other records a finding names (count).
_NAMED: Final = 5


def conflicts(some: Iterable[Fact], *, released: datetime | None = None) -> list[Finding]:
    """The findings on facts of different records that cannot stand together, by record and rule.

    With the time of a release, also those on dates after it; a check alone does not know that time, and asks no clock.

    >>> one = Fact("doi", "a", "10.5555/x", ("", ""))
    >>> [(item.record, item.message) for item in conflicts([one._replace(record="b"), one])]
    [('b', 'The DOI 10.5555/x is also that of a.')]
    """
    by_about: dict[str, list[Fact]] = defaultdict(list)
    for fact in some:
        by_about[fact.about].append(fact)
    for group in by_about.values():
        group.sort()
    found = [
        *_one_doi(by_about["doi"]),
        *_one_hash(by_about["hash"]),
        *_repeated_results(by_about["result"]),
        *_foreign_sources(by_about["cites"], by_about["evaluation"], by_about["doi"]),
        *_reviews(by_about["review"], by_about["retrieval"]),
        *_dated_after(released, [*by_about["review"], *by_about["retrieval"]]),
        *_circles(by_about["link"]),
        *_unclaimed(by_about["link"], by_about["claim"]),
    ]
    return sorted(found, key=lambda f: (f.record or "", f.rule, f.field or "", f.message))


def _groups(some: Iterable[Fact], key: Callable[[Fact], object]) -> Iterator[list[Fact]]:
    """The facts of several records that agree in a key."""
    groups: dict[object, list[Fact]] = defaultdict(list)
    for fact in some:
        groups[key(fact)].append(fact)
    return (group for group in groups.values() if len({fact.record for fact in group}) > 1)


def _others(group: Sequence[Fact], fact: Fact) -> str:
    """The other records of a sorted group, each once in it, as a message names them."""
    names = [other.record for other in group[: _NAMED + 1] if other.record != fact.record]
    more = len(group) - 1 - len(names[:_NAMED])
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more else "")


def _one_doi(some: list[Fact]) -> Iterator[Finding]:
    for group in _groups((fact for fact in some if not fact.values[1]), lambda fact: fact.key):
        alike = Counter(fact.values[0] for fact in group)
        for fact in group[1:]:
            is_part = bool(fact.values[0]) and alike[fact.values[0]] == 1
            message = f"The DOI {fact.key} is also that of {_others(group, fact)}."
            fix = "Keep one record of the work, and let what cites the other one cite it; or correct the DOI."
            if is_part:
                fix = "Nothing has to be changed if this is another file of that work, such as a supplement or a table."
            yield fact.finding("info" if is_part else "warning", "repeated-doi", message, fix)


def _one_hash(some: list[Fact]) -> Iterator[Finding]:
    for group in _groups(some, lambda fact: (fact.key, fact.values)):
        for fact in group[1:]:
            message = f"artifact_sha256 is also that of {_others(group, fact)}: both describe the same file."
            fix = "Keep one record of the file, or name under artifact_member which part of it each one describes."
            yield fact.finding("warning", "repeated-hash", message, fix)


def _repeated_results(some: list[Fact]) -> Iterator[Finding]:
    what = "This result shares evaluation, metric, qualifier and place in the source with"
    for group in _groups(some, lambda fact: fact.values[0]):
        ways: dict[tuple[str, ...], list[Fact]] = defaultdict(list)
        for fact in group:
            for way in (fact.values[1:2], fact.values[1:3]):
                ways[way].append(fact)
        for fact in group[1:]:
            same = ways[fact.values[1:3]]
            message = f"{what} {_others(group, fact)}, but not the value."
            fix = "Say under metric_qualifier or source_locator what tells the values apart."
            if len(same) > 1:
                message = f"{what} {_others(same, fact)}, and also the value {excerpt(fact.values[2])!r}."
                fix = "Keep one of them; if they are two values, say under metric_qualifier which is which."
            severity = "warning" if len(ways[fact.values[1:2]]) > 1 else "info"
            yield fact.finding(severity, "repeated-result", message, fix)


def _foreign_sources(citing: list[Fact], evaluations: list[Fact], dois: list[Fact]) -> Iterator[Finding]:
    cited: Mapping[str, frozenset[str]] = {fact.record: frozenset(fact.values) for fact in evaluations}
    work = {fact.record: fact.key for fact in dois}
    for fact in citing:
        known = cited.get(fact.key, frozenset())
        works = {work[source] for source in known if source in work}
        foreign = [source for source in fact.values if source not in known and work.get(source) not in works]
        if known and foreign:
            message = f"The result cites {', '.join(foreign)}, which its evaluation {fact.key} does not."
            fix = "Correct source_ids here, add the source to the evaluation, or make an evaluation for that source."
            yield fact.finding("warning", "source-of-other-evaluation", message, fix)


def _reviews(some: list[Fact], retrievals: list[Fact]) -> Iterator[Finding]:
    known = {fact.record: (read_moment(fact.values[0]), fact.values[1]) for fact in retrievals}
    for fact in some:
        moment, (_, sha256, *sources) = read_moment(fact.values[0]), fact.values
        found = [(source, *known[source]) for source in sources if source in known]
        if moment is None or (sha256 and any(sha256 == other for _, _, other in found)):
            continue
        for source, retrieved, _ in found:
            if retrieved is not None and moment.is_before(retrieved):
                message, fix = review_before_retrieval(moment.text, retrieved.text)
                yield fact.finding(
                    "warning", "review-before-retrieval", message.replace("source", f"source {source}", 1), fix
                )
                break


def _dated_after(released: datetime | None, some: list[Fact]) -> Iterator[Finding]:
    for fact in some if released is not None else ():
        moment = read_moment(fact.values[0])
        if moment is not None and released is not None and moment.first > released:
            message = f"The {fact.about} is of {moment.text}, after the release of {released.isoformat()}."
            yield fact.finding("warning", "dated-after-release", message, "Check the date.")


def _circles(links: list[Fact]) -> Iterator[Finding]:
    for relation in ONE_WAY:
        own = {(fact.record, fact.key): fact for fact in links if fact.values[0] == relation}
        for circle, others in circles(own):
            fact = own[circle[0], circle[1]]
            message = f"The links {relation} lead round in a circle: {' → '.join(circle)}."
            if others:
                more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
                message += f" Other circles that cross it lead through {', '.join(others[:_NAMED])}{more}."
            yield fact.finding("violation", "link-circle", message, "Remove the link that leads the wrong way.")


def _unclaimed(links: list[Fact], claims: list[Fact]) -> Iterator[Finding]:
    stated: dict[str, list[Fact]] = defaultdict(list)
    for claim in claims:
        stated[claim.key].append(claim)
    for fact in links:
        relation, needs = fact.values
        if not needs:
            continue
        found = stated.get(f"{fact.record} {relation} {fact.key}", [])
        if relation == "configuration_of":  # claims may still use its older name
            found = [*found, *stated.get(f"{fact.record} variant_of {fact.key}", [])]
        if any(not claim.values[0] for claim in found):
            continue
        fix = f"Write a claim on {fact.record} with field: links:{relation}:{fact.key}, its source and its locator."
        message = f"No claim states the link {relation} to {fact.key}, so nothing is carried along it."
        if found:
            message = f"The claim {found[0].record} states the link {relation} to {fact.key}, but {found[0].values[0]}."
            fix = "Complete the claim; until then nothing is carried along the link."
        yield fact.finding("info", "link-without-claim", message, fix)
