"""Hypothesis strategies: records of all kinds, valid and odd, as the readers give them (JSON in memory)."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from evkg.finding import Finding
from evkg.jsontext import Json, NumberText
from evkg.record import Origin, Record, make_record
from evkg.vocabulary import PARTS, Term, load_vocabulary

VOCABULARY = load_vocabulary()

_ODD_TEXTS = (
    "",
    " ",
    ".",
    "..",
    "a.b",
    "%",
    "%2E",
    'say "33.88"',
    "back\\slash",
    "line\nfeed\r\n\ttab",
    "≤ 0.05 ± Å",
    "日本語",
    "🧬",
    "<a href='#'>",
    "{}|^`",
    "@type",
    "_:b0",
    "https://example.org/a b?c=d#e",
    "\u2028\u0085\x7f\x00\ufffe\ufffd",
    "e\u0301",
    "é",
)
_ODD_KEYS = (
    "id",
    "type",
    "value",
    "0",
    "007",
    "٣",
    "facets",
    "links",
    "source_ids",
    "record",
    "attributes",
    "settings",
    "GPU memory",
    "v1.5",
    "https://example.org/key",
    "@id",
    "@context",
    "__proto__",
)

texts = st.sampled_from(_ODD_TEXTS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
keys = st.sampled_from((*_ODD_KEYS, *_ODD_TEXTS)) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
numbers = (
    st.integers(-(10**17), 10**17)
    | st.sampled_from((0, 1, -1, 10**18 - 1)).map(int)
    | st.sampled_from(
        ("1.00", "0.0500", "-0", "1e-3", "1E+5", "9" * 40, "0." + "3" * 40, "1e400", "-2.50", "1e99999")
    ).map(NumberText)
)
scalars: st.SearchStrategy[Json] = st.none() | st.booleans() | numbers | texts
#: Free JSON: nested, with nulls, empties, odd keys.
free: st.SearchStrategy[Json] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=6
)
ids = st.from_regex(r"[a-z0-9][a-z0-9-]{0,8}", fullmatch=True)
decimals = st.sampled_from(
    ("33.88", "11.49", "1.00", "-0.50", "+5", ".5", "5.", "1e-7", "5E2", "007", "82.0", "6637")
) | st.decimals(-1000, 1000, places=3).map(str)
days = st.dates().map(str)
instants = st.datetimes().map(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0") + "Z")
_hashes = st.sampled_from(("a" * 64, "0123456789abcdef" * 4))


def _plain(kind: str) -> st.SearchStrategy[Any]:
    """Valid values of a kind that has no parts. Source: contract section 5.1."""
    head, _, scheme = kind.partition(":")
    if scheme:
        known = st.sampled_from(sorted(VOCABULARY.schemes[scheme].concepts))
        concept = known | st.sampled_from(("no-such-concept", "top 10 %", ".."))
        return concept if head == "concept" else st.lists(concept, max_size=3)
    return {
        "integer": st.integers(-(2**62), 2**62).map(lambda n: n if abs(n) < 10**18 else NumberText(n)),
        "integers": st.lists(st.integers(0, 10**6), max_size=3),
        "number": decimals.map(NumberText),
        "decimal": decimals,
        "decimal-or-null": decimals | st.none(),
        "boolean": st.booleans(),
        "date": days,
        "datetime": instants | days,
        "sha256": _hashes,
        "artifact": _hashes,
        "git-sha": st.just("0a1b2c3"),
        "doi": st.just("10.1000/182"),
        "url": st.just("https://example.org/a?b=c"),
        "url-or-path": st.sampled_from(("https://example.org/", "/run/1")),
        "record-id": ids,
        "record-ids": st.lists(ids, max_size=3),
        "entity-kinds": st.lists(st.sampled_from(sorted(VOCABULARY.kinds)), max_size=2),
        "agent": st.sampled_from(("codex", "Jane Doe", "..")),
        "agents": st.lists(st.sampled_from(("codex", "claude", "Jane Doe")), max_size=3),
        "texts": st.lists(texts.filter(bool), max_size=3),
        "json": st.dictionaries(keys, free, max_size=3) | st.lists(free, max_size=2),
        "comparison-value": texts.filter(bool) | free,
    }.get(head, texts.filter(bool))


def _objects(terms: dict[str, Term]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with some of these keys, now and then a key that is not declared or a value that does not fit."""

    @st.composite
    def draw_object(draw: st.DrawFn) -> dict[str, Any]:
        chosen = draw(st.lists(st.sampled_from(sorted(terms)), max_size=5, unique=True)) if terms else []
        found: dict[str, Any] = {}
        for key in chosen:
            odd = draw(st.integers(0, 4)) == 0
            found[key] = draw(free if odd else values(terms[key].value_kind))
        if draw(st.integers(0, 3)) == 0:
            found.update(draw(st.dictionaries(keys, free, max_size=2)))
        return found

    return draw_object()


def values(kind: str) -> st.SearchStrategy[Any]:
    """Values of a kind of value that a record of the contract may hold."""
    if kind not in PARTS:
        return _plain(kind)
    parts = _objects(dict(VOCABULARY.parts[PARTS[kind][0]]))
    if kind in ("derivation-inputs", "discrepancies", "evidence-concerns"):
        return st.lists(parts, max_size=2)
    return parts


_missing_fields = st.sampled_from(
    ("numeric_value", "uncertainty", "coverage.scored", "hardware.memory", "no such field", "", "comparison", "a.b.")
)
_missing: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    _missing_fields,
    st.fixed_dictionaries(
        {"reason": st.sampled_from(("unreported", "unextracted", "inapplicable", "no-such-reason", ""))},
        optional={"note": texts, "seen": free},
    )
    | free,
    max_size=3,
)
#: Shapes of earlier versions of the format. Source: contract section 10.
_older: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    (
        {"uncertainty": "95% CI 0.81–0.93"},
        {"uncertainty": "± 0.05"},
        {"coverage": "12 / 15"},
        {"coverage": "most of them"},
        {"review": {"method": "transcription", "actor": "A. Person, in 2025", "reviewed_at": "2025-01-02"}},
        {"missing_metadata": {"licence": "Not applicable here"}},
        {"protocol": {"name": "p", "version": "1"}},
        {"caveats": ["small", "small"]},
        {"legacy_row": None},
    )
)


@st.composite
def records(draw: st.DrawFn, *, kinds: tuple[str, ...] = tuple(sorted(VOCABULARY.kinds))) -> dict[str, Any]:
    """Objects with a sound envelope and whatever else: what must survive the way into the graph."""
    kind = draw(st.sampled_from(kinds))
    attributes = draw(_objects(dict(VOCABULARY.attributes[kind])))
    for key, part in (("review", "review"), ("extraction", "extraction"), ("evidence_concerns", "evidence-concerns")):
        if draw(st.integers(0, 3)) == 0:
            attributes[key] = draw(values(part) | free)
    if draw(st.booleans()):
        attributes["missing_metadata"] = draw(_missing)
    if draw(st.integers(0, 5)) == 0:
        attributes.update(draw(_older))
    link = st.fixed_dictionaries(
        {
            "relation": st.sampled_from((*sorted(VOCABULARY.relations), "model", "no such relation")),
            "target_id": ids | texts,
        }
    )
    extra: st.SearchStrategy[dict[str, Any]] = st.dictionaries(keys, free, max_size=2)
    record: dict[str, Any] = {
        "id": draw(ids),
        "kind": kind,
        "name": draw(texts.filter(lambda text: bool(text.strip()))),
        "description": draw(texts),
        "status": draw(st.sampled_from((*sorted(VOCABULARY.schemes["status"].concepts), "odd status"))),
        "facets": draw(
            st.dictionaries(
                st.sampled_from((*VOCABULARY.facets, "odd.facet", "")), st.lists(texts, max_size=3), max_size=3
            )
        ),
        "source_ids": draw(st.lists(ids | texts, max_size=3)),
        "links": draw(st.lists(link, max_size=4)),
        "attributes": attributes,
    }
    if draw(st.integers(0, 5)) == 0:
        record = {**draw(extra), **record}
    return record


def as_record(data: Json) -> Record:
    """The record of an object whose envelope is sound."""
    record, findings = make_record(data, Origin("generated.jsonl", 1), VOCABULARY)
    assert record is not None, [finding for finding in findings if isinstance(finding, Finding)]
    return record
