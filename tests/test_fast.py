"""The fast validator gives exactly pySHACL's results, and is only used behind its gate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evkg.check import check_dataset
from evkg.convert import Converter
from evkg.errors import EngineDisagreementError, VocabularyError
from evkg.fast import FastValidator
from evkg.jsontext import Json, encode_json
from evkg.namespaces import EVKG, RDF
from evkg.normative import NormativeValidator
from evkg.reader import read_records
from evkg.record import Record
from evkg.shapes import Result, Shapes
from evkg.vocabulary import PARTS, PLURAL, Vocabulary, load_vocabulary
from tests.builds import ROOT, SEED, check_whole, record
from tests.conftest import BASE
from tests.strategies import as_record, records


@pytest.fixture(scope="module")
def both() -> tuple[NormativeValidator, FastValidator]:
    shapes = Shapes()
    return NormativeValidator(shapes), FastValidator(shapes, linkable())


def linkable() -> Iterator[str]:
    return (EVKG + name for name in load_vocabulary().kinds.values())


def triples(converter: Converter, some: Iterable[Record]) -> Iterator[str]:
    once = {item.id: item for item in some}
    for item in once.values():
        for line in converter.record_to_quads(item):
            yield f"{line[: line.rindex(' <')]} ."


def read(folder: str, vocabulary: Vocabulary) -> list[Record]:
    return [item for item in read_records(ROOT / folder, vocabulary) if isinstance(item, Record)]


def test_the_shapes_keep_to_the_closed_profile() -> None:
    assert list(Shapes().profile_problems()) == []


@pytest.mark.parametrize("folder", ["graph", "tests/records/valid", "tests/records/invalid"])
def test_both_validators_agree_on_every_field_of_every_result(
    folder: str,
    converter: Converter,
    vocabulary: Vocabulary,
    both: tuple[NormativeValidator, FastValidator],
) -> None:
    lines = list(triples(converter, read(folder, vocabulary)))
    normative, fast = (validator.run(lines) for validator in both)
    assert fast == normative
    assert folder != "tests/records/invalid" or len(fast) > 300


def test_both_validators_agree_on_real_records_of_all_kinds(
    converter: Converter, peer_records: list[Record], both: tuple[NormativeValidator, FastValidator]
) -> None:
    lines = list(triples(converter, peer_records))
    normative, fast = (validator.run(lines) for validator in both)
    assert fast == normative


#: Kind of value -> texts of it that are right but for a character too many.
STRAY = {
    "decimal": ("1\n", "\n1", "1\r", "1 ", "1\x1f", "1\x85", "1\u2028"),
    "decimal-or-null": ("1\n", "9" * 60 + "\n"),
    "number": ("0.5\n",),
    "date": ("2026-01-01\n",),
    "datetime": ("2026-01-01\n", "2026-01-01T00:00:00Z\n", "2026-01-01T00:00:00Z\r\n"),
    "doi": ("10.1000/x\n", "10.1000/x\ny", "10.1000/x\x1c"),
    "sha256": ("a" * 64 + "\n",),
    "git-sha": ("0a1b2c3\n",),
    "url": ("https://x.org\n", "https://x.org/\n", "https://x.org/a\x1fb", "https://localhost\n"),
    "url-or-path": ("https://x.org\n", "/run/1\n", "/run\x1e/1"),
    "text": ("\n", "\x1c", "\x1f\n", "\x85", "links:family:a\n", "\u200b"),
}


def test_both_validators_agree_on_every_typed_text_with_a_stray_character(
    converter: Converter, vocabulary: Vocabulary, both: tuple[NormativeValidator, FastValidator]
) -> None:
    found: list[Record] = []
    for kind, terms in vocabulary.attributes.items():
        for number in range(max(map(len, STRAY.values()))):
            values: dict[str, Json] = {}
            for key, term in terms.items():
                texts = STRAY.get(term.value_kind, ())
                values |= {key: texts[number]} if number < len(texts) else {}
                if term.value_kind in PARTS and term.value_kind not in PLURAL:
                    values[key] = {
                        part: texts[number]
                        for part, inner in vocabulary.parts[PARTS[term.value_kind][0]].items()
                        if number < len(texts := STRAY.get(inner.value_kind, ()))
                    }
            if values:
                found.append(as_record(record(f"r-{kind.replace('_', '-')}-{number}", kind, attributes=values)))
    lines = list(triples(converter, found))
    normative, fast = (validator.run(lines) for validator in both)
    assert fast == normative
    rules = {result.shape.partition("#")[2] for result in normative}
    assert {
        "result-numeric-value-format",
        "uncertainty-lower-format",
        "source-doi-format",
        "source-artifact-sha256-format",
        "configuration-code-commit-format",
        "source-retrieved-at-format",
        "source-url-public",
        "evaluation-run-url-public",
        "claim-field-link",
        "result-printed-value-blank",
    } <= rules


@settings(max_examples=12, derandomize=True, deadline=None)
@given(st.lists(records(), min_size=1, max_size=12))
def test_both_validators_agree_on_generated_records(some: list[dict[str, Json]]) -> None:
    _agree(some)


@pytest.mark.long
@settings(max_examples=400, derandomize=True, deadline=None)
@given(st.lists(records(), min_size=1, max_size=20))
def test_both_validators_agree_on_many_generated_records(some: list[dict[str, Json]]) -> None:
    _agree(some)


def _agree(some: list[dict[str, Json]]) -> None:

    vocabulary = load_vocabulary()
    found = [one for item in some if (one := as_record(item)) is not None]
    lines = list(triples(Converter(vocabulary, BASE), found))
    shapes = Shapes()
    assert FastValidator(shapes, linkable()).run(lines) == NormativeValidator(shapes).run(lines)


@pytest.mark.parametrize("folder", ["graph", "tests/records/invalid"])
@pytest.mark.parametrize("turn", [0, 1, 2])
def test_what_is_only_linked_to_is_no_focus_node_and_keeps_its_class(
    folder: str,
    turn: int,
    converter: Converter,
    vocabulary: Vocabulary,
    both: tuple[NormativeValidator, FastValidator],
) -> None:
    """Class constraints see what is linked; without its class there would be more results, with a target there too."""
    normative, fast = both
    some = list({item.id: item for item in read(folder, vocabulary)}.values())
    own, others = some[turn::3], [item for n, item in enumerate(some) if n % 3 != turn]
    lines = list(triples(converter, own))
    ids = {f"<{BASE}id/{item.id}>": vocabulary.kinds[item.kind] for item in others}
    linked = [f"{iri} <{RDF}type> <{EVKG}{name}> ." for iri, name in ids.items()]

    def wanted(focus: str) -> bool:
        return f"<{focus.partition('#')[0]}>" not in ids

    expected = normative.run([*lines, *linked], wanted)
    assert fast.run(lines, wanted, linked) == expected
    assert fast.run(lines, linked=linked) == expected
    assert folder == "graph" or fast.run(lines) != expected


@pytest.mark.parametrize("engine", ["fast", "auto"])
def test_the_report_is_the_same_whichever_validator_runs(engine: str) -> None:
    expected = check_whole(SEED, engine="pyshacl")
    found = check_whole(SEED, engine=engine)
    assert found.findings == expected.findings
    assert found.results == expected.results


@pytest.mark.parametrize("size", [1, 7])
def test_records_are_checked_alike_in_batches_of_any_size(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = check_dataset(SEED, engine="pyshacl")
    monkeypatch.setattr("evkg.batch.BATCH", size)
    monkeypatch.setattr("evkg.validate.SAMPLE", 3)
    found = check_dataset(SEED, engine="fast")
    assert found.findings == expected.findings


def test_a_record_is_of_its_own_kind_where_a_broken_line_gives_its_id_to_another(tmp_path: Path) -> None:
    """The others take it for what they saw first; its own class is what it says, and no shape of the other applies."""
    broken = encode_json(record("a", "evaluation")).replace('"attributes":{', '"attributes":{"x":1,"x":2')
    link: Json = [{"relation": "evaluation", "target_id": "a"}]
    lines = [broken, *(encode_json(one) for one in (record("a", "result"), record("b", "result", links=link)))]
    (tmp_path / "f.jsonl").write_text("\n".join(lines), encoding="utf-8")
    expected = check_dataset(tmp_path, engine="pyshacl").findings
    assert check_dataset(tmp_path, engine="fast").findings == expected
    assert {f.rule.partition("-")[0] for f in expected if f.record == "a"} == {"result"}
    assert not any(f.field == "links.0.target_id" for f in expected if f.record == "b")


def test_a_disagreement_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    real = FastValidator.run

    def forgetful(
        self: FastValidator, lines: Iterable[str], wanted: Callable[[str], bool], linked: Iterable[str]
    ) -> list[Result]:
        return real(self, lines, wanted, linked)[:-200]

    monkeypatch.setattr(FastValidator, "run", forgetful)
    with pytest.raises(EngineDisagreementError, match="pyshacl"):
        check_dataset(SEED, engine="fast")


@pytest.mark.parametrize(
    ("constraint", "named"),
    [
        ('sh:pattern "a" ; sh:flags "i"', "flags"),
        ('sh:pattern "(?=a)"', "pattern"),
        ("sh:uniqueLang true", "uniqueLang"),
    ],
)
def test_a_shape_outside_the_profile_is_refused_by_the_fast_validator(
    tmp_path: Path, constraint: str, named: str
) -> None:
    (tmp_path / "x.ttl").write_text(
        "@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix evkg: <https://w3id.org/evkg/ontology#> .\n"
        f"<urn:s> a sh:NodeShape ; sh:targetClass evkg:Model ; sh:property [ sh:path evkg:kind ; {constraint} ] .",
        encoding="utf-8",
    )
    with pytest.raises(VocabularyError, match=named):
        FastValidator(Shapes(tmp_path)).run([])
