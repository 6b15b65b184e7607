"""Facts: the little that a record says which other records can contradict.

They are small and can be passed between processes. Of a withheld record nothing is taken but its links and its
sources, which its tombstone shows as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from typing import Final, NamedTuple

from evkg.doi import plain_doi
from evkg.errors import excerpt
from evkg.finding import Finding
from evkg.jsontext import Json
from evkg.moment import retrieval_moment, review_moment
from evkg.record import Record, field_name, shown_at, text_at
from evkg.scalar import Path
from evkg.vocabulary import Vocabulary
from evkg.withheld import is_withheld

#: Relations that lead up a tree or back in time, so that no way along them comes back.
ONE_WAY: Final = ("family", "part_of", "parent", "supersedes")
#: Relations that count for navigation only where a claim states them. Source: contract section 4 (verified links).
CLAIMED: Final = frozenset("alias_of family variant_of configuration_of part_of evaluates_task uses_model".split())
_CHECKED: Final = ("source_checked", "reproduced")
#: What may tell two results apart beside evaluation, metric, qualifier and locator.
_APART: Final = """
aggregation seed seeds split criterion conditioning scoring_conditions score_category label_scope
reported_population source_cells printed_source_cell coverage dataset_version
""".split()


class Fact(NamedTuple):
    """One thing that a record says, for comparison with others.

    `about` is what kind of fact it is, `key` what facts are brought together by, `values` what they are compared in.
    The rest is the place, as findings have it; `shown` is the text as written.
    """

    about: str
    record: str
    key: str
    values: tuple[str, ...]
    file: str = ""
    line: int = 0
    column: int = 0
    field: str | None = None
    shown: str | None = None

    def finding(self, severity: str, rule: str, message: str, fix: str) -> Finding:
        """A finding at the place of this fact."""
        return Finding(
            severity,  # type: ignore[arg-type]
            rule,
            message,
            self.record,
            self.field,
            self.file,
            self.line,
            self.column,
            self.shown,
            fix,
        )


def facts(record: Record, vocabulary: Vocabulary) -> list[Fact]:
    """What a record says that other records can contradict; give it the records as a data set passes them on.

    >>> from evkg.vocabulary import load_vocabulary
    >>> from evkg.reader import read_records
    >>> from pathlib import Path
    >>> source = next(iter(read_records(Path("graph/records/saadat-fellay-2026/source.yaml"), load_vocabulary())))
    >>> [fact.about for fact in facts(source, load_vocabulary())]
    ['hash', 'retrieval', 'review']
    """
    is_hidden = is_withheld(record)
    is_gone = is_hidden or record.data["status"] == "superseded"
    found = list(_links(record, is_gone=is_gone))
    if record.kind == "evaluation":
        found.append(Fact("evaluation", record.id, record.id, tuple(sorted(set(_cited(record, vocabulary)) - {""}))))
    if is_hidden:
        return found
    if record.kind == "claim":
        found.extend(_claim(record))
        found.extend(_claimed_value(record))
    if record.kind == "source":
        found.extend(_source(record, is_gone=is_gone))
    if not is_gone:
        found.extend(_result(record) if record.kind == "result" else ())
        found.extend(_comparison(record) if record.kind == "evaluation" else _compared(record))
        found.extend(_review(record))
    return found


def _at(record: Record, about: str, key: str, values: tuple[str, ...], path: Path) -> Fact:
    line, column = _place(record, path)
    shown = shown_at(record.data, path)
    return Fact(about, record.id, key, values, record.origin.file, line, column, field_name(path), shown)


def _place(record: Record, path: Path) -> tuple[int, int]:
    """`record.place`, quickly where the key stands once on the line: most facts are never part of a finding."""
    origin, key = record.origin, f'"{path[-1]}":'
    if record.raw is not None and origin.places is None and not record.moves:
        at = record.raw.find(key)
        is_alone = at >= 0 and record.raw.find(key, at + 1) < 0
        if is_alone and "\n" not in record.raw and origin.text.startswith(record.raw, origin.start):
            return origin.line, origin.start_column + at
    return record.place(path)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Json) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _links(record: Record, *, is_gone: bool) -> Iterator[Fact]:
    links = record.data["links"]
    for index, link in enumerate(links if isinstance(links, list) else ()):
        relation, target = (str(link["relation"]), str(link["target_id"])) if isinstance(link, dict) else ("", "")
        if relation in ONE_WAY or (relation in CLAIMED and not is_gone):
            needs = "claim" if relation in CLAIMED and not is_gone else ""
            yield _at(record, "link", target, (relation, needs), ("links", index, "target_id"))


@cache
def _id_keys(vocabulary: Vocabulary) -> tuple[str, ...]:
    """The attributes of an evaluation that hold the id of a record."""
    return tuple(key for key, term in vocabulary.attributes["evaluation"].items() if term.value_kind == "record-id")


def _cited(record: Record, vocabulary: Vocabulary) -> Iterator[str]:
    """The ids of the sources that an evaluation cites, in whatever field; some ids may be of other records."""
    yield from _list(record.data["source_ids"])
    links, review = record.data["links"], record.attributes.get("review")
    for link in links if isinstance(links, list) else ():
        if isinstance(link, dict) and link["relation"] == "source":
            yield str(link["target_id"])
    if not is_withheld(record):
        yield from (_text(record.attributes[key]) for key in _id_keys(vocabulary) if key in record.attributes)
        yield _text(review.get("source_id")) if isinstance(review, dict) else ""


def _claim(record: Record) -> Iterator[Fact]:
    """What a claim says of a link, and what it lacks to count. Source: contract section 4 (verified links)."""
    steps = _text(record.attributes.get("field")).split(":")
    if len(steps) != 3 or steps[0] != "links":
        return
    lack = ""
    if record.data["status"] not in _CHECKED:
        lack = f"its status is {excerpt(str(record.data['status']))}"
    elif not record.data["source_ids"]:
        lack = "it names no source"
    elif not _text(record.attributes.get("source_locator")).strip():
        lack = "it has no source_locator"
    links = record.data["links"]
    for link in links if isinstance(links, list) else ():
        if isinstance(link, dict) and link["relation"] == "subject":
            yield Fact("claim", record.id, f"{link['target_id']} {steps[1]} {steps[2]}", (lack,))


def _claimed_value(record: Record) -> Iterator[Fact]:
    """What a claim that counts says about the printed value of a result. Source: contract section 12.3."""
    attributes, links = record.attributes, record.data["links"]
    if _text(attributes.get("field")).removeprefix("attributes.") != "printed_value" or "value" not in attributes:
        return
    is_checked = record.data["status"] in _CHECKED and record.data["source_ids"]
    if not is_checked or not _text(attributes.get("source_locator")).strip():
        return
    for link in links if isinstance(links, list) else ():
        if isinstance(link, dict) and link["relation"] == "subject":
            value = text_at(record.data, ("attributes", "value")) or ""
            yield Fact("claimed value", record.id, str(link["target_id"]), (value,))


def _comparison(record: Record) -> Iterator[Fact]:
    """What an evaluation says for comparisons that the records which it links to may contradict."""
    links, comparison = record.data["links"], record.attributes.get("comparison")
    for key, relation in (("protocol_id", "assessment"), ("dataset_version", "data")):
        said = _text(comparison.get(key)) if isinstance(comparison, dict) else ""
        targets = [
            str(link["target_id"])
            for link in (links if isinstance(links, list) else ())
            if isinstance(link, dict) and link["relation"] == relation
        ]
        if said.strip() and targets:
            yield _at(record, key, said, tuple(targets), ("attributes", "comparison", key))


def _compared(record: Record) -> Iterator[Fact]:
    """What a record says that the comparison of an evaluation may contradict."""
    version = _text(record.attributes.get("version")) if record.kind in ("dataset", "dataset_subset") else ""
    if version.strip():
        yield Fact("version", record.id, record.id, (version,))
    if record.kind == "protocol":
        yield Fact("protocol", record.id, record.id, ())


def _source(record: Record, *, is_gone: bool) -> Iterator[Fact]:
    attributes = record.attributes
    doi, sha256 = plain_doi(attributes.get("doi")), _text(attributes.get("artifact_sha256")).casefold()
    member = _text(attributes.get("artifact_member") or attributes.get("archive_member"))
    if doi is not None:
        where = sha256 + member or _text(attributes.get("artifact_url") or attributes.get("url"))
        yield _at(record, "doi", doi, (where, "gone" if is_gone else ""), ("attributes", "doi"))
    if len(sha256) == 64 and not is_gone:
        yield _at(record, "hash", sha256, (member,), ("attributes", "artifact_sha256"))
    retrieved = retrieval_moment(attributes)
    if retrieved is not None:
        yield _at(record, "retrieval", record.id, (retrieved[1].text, sha256), retrieved[0])


def _result(record: Record) -> Iterator[Fact]:
    links, attributes = record.data["links"], record.attributes
    targets = [
        str(link["target_id"])
        for link in (links if isinstance(links, list) else ())
        if isinstance(link, dict) and link["relation"] == "evaluation"
    ]
    metric, printed = _text(attributes.get("metric")), attributes.get("printed_value")
    if isinstance(printed, str):
        yield _at(record, "printed value", record.id, (printed,), ("attributes", "printed_value"))
    if len(targets) != 1:
        return
    same = [
        targets[0],
        metric,
        *(" ".join(_text(attributes.get(k)).split()) for k in ("metric_qualifier", "source_locator")),
    ]
    apart = [[key, attributes[key]] for key in _APART if key in attributes]
    derivation = attributes.get("derivation")
    inputs = derivation.get("inputs") if isinstance(derivation, dict) else None
    derived = {
        _text(item.get("source_id")) for item in (inputs if isinstance(inputs, list) else ()) if isinstance(item, dict)
    }
    cited = sorted(set(_list(record.data["source_ids"])) - derived)
    if metric:
        values = (_digest(same), _digest(apart), _text(printed))
        yield _at(record, "result", targets[0], values, ("id",))
    if cited:
        yield _at(record, "cites", targets[0], tuple(cited), ("source_ids",))


def _digest(value: object) -> str:
    return blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=12).hexdigest()


def _review(record: Record) -> Iterator[Fact]:
    reviewed, review = review_moment(record.attributes), record.attributes.get("review")
    if reviewed is None or not isinstance(review, dict):
        return
    named = _text(review.get("source_id"))
    sources = (named,) if named else tuple(_list(record.data["source_ids"]))
    if record.kind == "source":  # the review of a source is compared with its own retrieval elsewhere
        sources = ()
    values = (reviewed[1].text, _text(review.get("artifact_sha256")).casefold(), *sources)
    yield _at(record, "review", record.id, values, reviewed[0])
