"""The trail of a record: who retrieved its source, who extracted and reviewed it, when, and from which bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evkg.jsontext import Json
from evkg.statement import value_text

if TYPE_CHECKING:
    from evkg.record import Record
    from evkg.release import Release
    from evkg.vocabulary import Vocabulary

#: How many sources a trail begins with (count); a record that cites more names the others under its sources.
_MOST_SOURCES: Final = 10


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what was done, when (as recorded), by whom in words, on which bytes, and notes.

    `gap` says in words what is not recorded of it, `record` names the record that it is told of, with its name.
    """

    title: str
    when: str
    who: str
    sha256: str
    url: str
    details: tuple[tuple[str, str], ...] = ()
    gap: str = ""
    record: tuple[str, str] | None = None


def read_trail(release: Release, record: Record, review_gap: str | None = None) -> list[Step]:
    """The steps behind a record, in the order in which they were made. `review_gap` is why it has no review.

    >>> from evkg.release import open
    >>> release = open()
    >>> steps = read_trail(release, release.read("saadat-fellay-20261015-data-synthetic-dna"))
    >>> [step.title for step in steps]
    ['Retrieved', 'Extracted', 'Reviewed', 'Recorded']
    """
    sources = [record] if record.kind == "source" else list(_sources(release, record))
    steps = [_retrieved(source) for source in sources[:_MOST_SOURCES]]
    if not sources:
        steps.append(Step("Retrieved", "", "", "", "", gap="No source of this record is in this release."))
    steps.append(_extracted(record, release.vocabulary))
    known = {value_text(source.attributes.get("artifact_sha256")) for source in sources} - {""}
    steps.append(_reviewed(record, release.vocabulary, known, review_gap))
    made = str(release.manifest["at"])
    digest = _digest(release, record)
    details = (("Release", f"{release.id}, made {made}"),)
    steps.append(Step("Recorded", "", "", digest, "", (*details, ("Status", str(record.data["status"])))))
    return steps


def review_words(record: Record, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Who reviewed a record, in sentences: a program, a person as far as is known, or nobody who is named.

    >>> from evkg.release import open
    >>> release = open()
    >>> review_words(release.read("saadat-fellay-20261015-data-synthetic-dna"), release.vocabulary)[0]
    'This was an automated review: claude is a program, and no person is named as reviewer.'
    """
    review = record.attributes.get("review")
    if not isinstance(review, dict):
        return ()
    reviewers = _keys(review.get("reviewer"))
    software = [key for key in reviewers if key in vocabulary.schemes["agent"].concepts]
    others = [key for key in reviewers if key not in software]
    if not reviewers:
        who = "The review names no reviewer, so nobody can say whether a person or a program made it."
    elif not others:
        verb = "is a program" if len(software) == 1 else "are programs"
        who = f"This was an automated review: {_and(software)} {verb}, and no person is named as reviewer."
    elif not software:
        verb = "is no program" if len(others) == 1 else "are no programs"
        who = f"Reviewed by {_and(others)}, who {verb} that this catalogue knows."
    else:
        who = f"Reviewed by {_and(others)} (no program that this catalogue knows) and by {_and(software)} (a program)."
    return (who, "A review checks what was copied from the source. It repeats no experiment and reproduces no result.")


def _sources(release: Release, record: Record) -> Iterator[Record]:
    ids = record.data["source_ids"]
    for source_id in ids if isinstance(ids, list) else ():
        if isinstance(source_id, str) and release.has_record(source_id):
            source = release.read(source_id)
            if source.kind == "source":
                yield source


def _retrieved(source: Record) -> Step:
    attributes = source.attributes

    def first(*keys: str) -> str:
        return next((text for key in keys if (text := value_text(attributes.get(key)))), "")

    when, sha256 = first("artifact_retrieved_at", "retrieved_at"), first("artifact_sha256")
    lacking = [words for words, text in (("when", when), ("from which bytes", sha256)) if not text]
    details = _details(attributes, ("version", "media_type", "retrieval_method", "retrieval_note", "hash_scope"))
    gap = f"Not recorded: {_and(lacking)}." if lacking else ""
    name = (source.id, str(source.data["name"]))
    return Step("Retrieved", when, "", sha256, first("artifact_url", "url"), tuple(details), gap, name)


def _extracted(record: Record, vocabulary: Vocabulary) -> Step:
    extraction = record.attributes.get("extraction")
    if not isinstance(extraction, dict):
        gap = "Who took the values over from the source, when and how, is not recorded."
        return Step("Extracted", "", "", "", "", gap=gap)
    agents = _keys(extraction.get("agent"))
    known = vocabulary.schemes["agent"].concepts
    who = _and([f"{key}, a program" if key in known else key for key in agents])
    details = tuple(_details(extraction, ("method",)))
    sha256 = value_text(extraction.get("artifact_sha256"))
    return Step(
        "Extracted",
        value_text(extraction.get("date")),
        who,
        sha256,
        "",
        details,
        "" if who else "By whom is not recorded.",
    )


def _reviewed(record: Record, vocabulary: Vocabulary, known: set[str], review_gap: str | None) -> Step:
    review = record.attributes.get("review")
    if not isinstance(review, dict):
        gap = f"No review: {review_gap}." if review_gap else "No review is recorded, and nothing explains that."
        return Step("Reviewed", "", "", "", "", gap=gap)
    words = review_words(record, vocabulary)
    sha256 = value_text(review.get("artifact_sha256"))
    details = list(_details(review, ("method", "method_note", "note", "scope")))
    if sha256 and known:
        same = sha256 in known
        said = (
            "the same bytes as those that the source was retrieved as; that says nothing of their content"
            if same
            else "other bytes than those that the cited source was retrieved as"
        )
        details.append(("Inspected", said))
    when = value_text(review.get("reviewed_at") or review.get("date"))
    url = value_text(review.get("retrieval_url"))
    return Step("Reviewed", when, words[0], sha256, url, tuple(details), "" if when else "When is not recorded.")


def _digest(release: Release, record: Record) -> str:
    import pyoxigraph as ox

    from evkg.namespaces import EVKG, record_iri

    node = ox.NamedNode(record_iri(release.base_iri, record.id))
    quad = next(release.store.quads_for_pattern(node, ox.NamedNode(EVKG + "contentSha256"), None), None)
    return value_text(getattr(quad.object, "value", "")) if quad else ""


def _details(values: Mapping[str, Json], keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    for key in keys:
        value = values.get(key)
        text = _and(_keys(value)) if isinstance(value, list) else value_text(value)
        if text:
            yield key.replace("_", " ").capitalize(), text


def _keys(value: Json) -> list[str]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)]


def _and(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
