"""What only several records together can show: facts are taken from each, conflicts are found among all.

Conflicts come out the same in whatever order the facts arrive and however the records are spread over files.
"""

from __future__ import annotations

import re
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

#: A text of more words says what data there are, and not only which version (count).
_VERSION_WORDS: Final = 6
#: How many other records a finding names (count), and how much of the id of each of them (characters).
_NAMED: Final = 5
_SHOWN: Final = 120


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
        *_contradicted(by_about["printed value"], by_about["claimed value"]),
        *_other_protocol(by_about["protocol_id"], by_about["protocol"]),
        *_other_version(by_about["dataset_version"], by_about["version"]),
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
    return _named([other.record for other in group[: _NAMED + 1] if other.record != fact.record], len(group) - 1)


def _named(ids: Sequence[str], count: int | None = None) -> str:
    """Some ids as a message names them: the first few, and how many there are beside."""
    more = (len(ids) if count is None else count) - len(ids[:_NAMED])
    return ", ".join(excerpt(one, _SHOWN) for one in ids[:_NAMED]) + (f" and {more} more" if more else "")


def _one_doi(some: list[Fact]) -> Iterator[Finding]:
    for group in _groups((fact for fact in some if not fact.values[1]), lambda fact: fact.key):
        alike = Counter(fact.values[0] for fact in group)
        for fact in group[1:]:
            is_part = bool(fact.values[0]) and alike[fact.values[0]] == 1
            message = f"The DOI {excerpt(fact.key)} is also that of {_others(group, fact)}."
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
            message = f"The result cites {_named(foreign)}, which its evaluation {excerpt(fact.key)} does not."
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
                    "warning", "review-before-retrieval", message.replace("source", f"source {excerpt(source)}", 1), fix
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
            way = circle
            if len(circle) > 2 * _NAMED:
                way = [*circle[:_NAMED], f"… ({len(circle) - _NAMED - 2} more) …", *circle[-2:]]
            shown = " → ".join(excerpt(one, _SHOWN) for one in way)
            message = f"The links {relation} lead round in a circle: {shown}."
            if others:
                message += f" Other circles that cross it lead through {_named(others)}."
            yield fact.finding("violation", "link-circle", message, "Remove the link that leads the wrong way.")


def _contradicted(printed: list[Fact], claims: list[Fact]) -> Iterator[Finding]:
    claimed: dict[str, list[Fact]] = defaultdict(list)
    for claim in claims:
        claimed[claim.key].append(claim)
    for fact in printed if claimed else ():
        other = next((claim for claim in claimed.get(fact.key, ()) if claim.values != fact.values), None)
        if other is not None:
            said, own = excerpt(other.values[0]), excerpt(fact.values[0])
            message = f"printed_value is {own!r}, but the checked claim {excerpt(other.record)} says {said!r}."
            fix = (
                "Look it up in the source, and correct the value or the claim; a corrected claim must be checked anew."
            )
            yield fact.finding("warning", "claim-contradicts-value", message, fix)


def _other_protocol(comparing: list[Fact], protocols: list[Fact]) -> Iterator[Finding]:
    known = {fact.record for fact in protocols}
    for fact in comparing:
        linked = [target for target in fact.values if target in known]
        if fact.key in known and linked and fact.key not in linked:
            message = f"comparison.protocol_id is {excerpt(fact.key)}, but the evaluation follows {_named(linked)}."
            fix = "Name the protocol that was followed in both places, or leave protocol_id out of comparison."
            yield fact.finding("warning", "comparison-of-other-protocol", message, fix)


def _other_version(comparing: list[Fact], versions: list[Fact]) -> Iterator[Finding]:
    known = {fact.record: fact.values[0] for fact in versions}
    for fact in comparing:
        stated = [(target, known[target]) for target in fact.values if _words(known.get(target, ""))]
        words = _words(fact.key)
        # Of two texts one may only say more than the other; of several sets of data the text may name all.
        if not words or not stated or any(_words(one) <= words or words <= _words(one) for _, one in stated):
            continue
        target, version = stated[0]
        message = (
            f"comparison.dataset_version is {excerpt(fact.key)!r}, but the version of {excerpt(target)} is "
            f"{excerpt(version)!r}."
        )
        fix = "If both mean one version, write it in the same words; else link the data that were used, or correct one."
        yield fact.finding("info", "comparison-of-other-version", message, fix)


def _words(text: str) -> frozenset[str]:
    """The words of a version; none of a text that names no number, or says more than a version."""
    words = frozenset(re.findall(r"\w+(?:[.-]\w+)*", text.casefold()))
    return words if len(words) <= _VERSION_WORDS and re.search(r"\d", text) else frozenset()


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
        target = excerpt(fact.key)
        fix = f"Write a claim on {fact.record} with field: links:{relation}:{target}, its source and its locator."
        message = f"No claim states the link {relation} to {target}, so nothing is carried along it."
        if found:
            message = f"The claim {found[0].record} states the link {relation} to {target}, but {found[0].values[0]}."
            fix = "Complete the claim; until then nothing is carried along the link."
        yield fact.finding("info", "link-without-claim", message, fix)
