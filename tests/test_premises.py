"""What rules can use is told from their text: from it alone they derive what they derive from everything."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.generate import Catalogue, write

from evkg.axioms import load_axioms
from evkg.build import build_release
from evkg.derive import derive
from evkg.errors import VocabularyError
from evkg.inference import Rule, load_rules
from evkg.namespaces import EVKG, SH
from evkg.patterns import read_patterns
from evkg.premises import Premises
from tests.builds import AT, BASE, check_whole

P, Q, R = (f"<{EVKG}{name}>" for name in "pqr")
DERIVED = f" <{BASE}graph/derived> .\n"


def kept(query: str, *triples: str, ids: tuple[str, ...] = ()) -> list[str]:
    return Premises([Rule("a", query)]).of(triples, BASE, ids)


def test_a_build_derives_from_the_premises_what_follows_from_everything(tmp_path: Path) -> None:
    """Generated records: concerns with targets, claims, manifests, gaps, settings of older shapes, excluded sources."""
    file = tmp_path / "records.jsonl"
    write(Catalogue(0.02, 5), file)
    whole = check_whole(file, is_open=True)
    axioms = load_axioms()
    expected = derive(whole.quads, BASE, axioms, load_rules())
    release = build_release(file, tmp_path / "out", at=AT, is_open=True, draft=True).release
    assert release is not None
    with (release.folder / "graph.nq").open(encoding="utf-8") as graph:
        found = {line[:-1] for line in graph if line.endswith(DERIVED)}
    # The build derives from the ontology's own graphs as well.
    about_records = {line for line in found if f"<{BASE}id/" in line or f"<{BASE}record/" in line}
    wanted = {line for line in expected if f"<{BASE}id/" in line or f"<{BASE}record/" in line}
    assert len(wanted) > 3_000
    assert sorted(wanted - about_records) == []
    assert sorted(about_records - wanted) == []


def test_a_predicate_that_no_rule_names_is_left_out() -> None:
    assert kept("CONSTRUCT { ?x evkg:r ?y } WHERE { ?x evkg:p ?y }", f"<x> {P} <y>", f"<x> {Q} <y>") == [f"<x> {P} <y>"]


def test_what_a_rule_gives_is_kept_so_that_it_is_not_given_again() -> None:
    assert kept("CONSTRUCT { ?x evkg:r ?y } WHERE { ?x evkg:p ?y }", f"<x> {R} <y>") == [f"<x> {R} <y>"]


def test_a_constant_object_is_told_apart() -> None:
    query = 'CONSTRUCT { ?x evkg:r ?x } WHERE { ?x evkg:p "a" }'
    assert kept(query, f'<x> {P} "a"', f'<x> {P} "b"') == [f'<x> {P} "a"']


def test_a_constant_that_n_triples_write_otherwise_keeps_all() -> None:
    query = "CONSTRUCT { ?x evkg:r ?x } WHERE { ?x evkg:p true }"
    line = f'<x> {P} "true"^^<http://www.w3.org/2001/XMLSchema#boolean>'
    assert kept(query, line) == [line]


def test_values_name_what_an_object_may_be() -> None:
    query = "CONSTRUCT { ?x evkg:r ?x } WHERE { VALUES ?y { evkg:A evkg:B } ?x evkg:p ?y }"
    assert kept(query, f"<x> {P} <{EVKG}B>", f"<x> {P} <{EVKG}C>") == [f"<x> {P} <{EVKG}B>"]


def test_another_pattern_without_a_condition_keeps_all() -> None:
    query = 'CONSTRUCT { ?x evkg:r ?x } WHERE { { ?x evkg:p "a" } UNION { ?x evkg:p ?y } }'
    assert len(kept(query, f'<x> {P} "a"', f'<x> {P} "b"')) == 2


@pytest.mark.parametrize(
    "body",
    ['?x evkg:p ?part . ?part evkg:q "a"', '?x evkg:p ?part MINUS { ?part evkg:q "a" }'],
)
def test_a_part_is_kept_for_what_it_says(body: str) -> None:
    lines = (f"<x> {P} <x#1>", f'<x#1> {Q} "a"', f"<x> {P} <x#2>", f'<x#2> {Q} "b"')
    found = kept(f"CONSTRUCT {{ ?x evkg:r ?x }} WHERE {{ {body} }}", *lines)
    # Where it must not say so, every part matters.
    assert found == ([lines[0], lines[1]] if "MINUS" not in body else [lines[0], lines[1], lines[2]])


def test_a_node_of_another_record_is_kept_whatever_it_may_say() -> None:
    query = 'CONSTRUCT { ?x evkg:r ?x } WHERE { ?x evkg:p ?y . ?y evkg:q "a" }'
    assert kept(query, f"<x> {P} <elsewhere>") == [f"<x> {P} <elsewhere>"]


def test_what_rules_give_marks_nothing() -> None:
    query = 'CONSTRUCT { ?x evkg:q "a" } WHERE { ?x evkg:p ?y . ?y evkg:q "a" }'
    lines = (f"<x> {P} <x#1>", f'<x#1> {Q} "b"')
    assert lines[0] in kept(query, *lines)


def test_a_condition_in_a_select_of_its_own_says_nothing_of_what_is_around() -> None:
    query = 'CONSTRUCT { ?x evkg:r ?y } WHERE { ?x evkg:p ?y . { SELECT ?x { ?x evkg:p ?z . ?y evkg:q "a" } } }'
    lines = (f"<x> {P} <x#1>", f'<x#1> {Q} "b"')
    assert lines[0] in kept(query, *lines)


def test_ids_of_records_are_told_from_other_texts() -> None:
    query = "CONSTRUCT { ?x evkg:r ?x } WHERE { ?about evkg:recordId ?id . GRAPH ?g { ?x evkg:p ?id ; evkg:q ?y } }"
    lines = (f'<x#1> {P} "known"', f'<x#1> {Q} "1"', f'<x#2> {P} "other"', f'<x#2> {Q} "2"')
    assert kept(query, *lines, ids=("known",)) == [*lines[:2]]


def test_a_variable_predicate_asks_for_links_to_things() -> None:
    query = "CONSTRUCT { ?x evkg:r ?y } WHERE { GRAPH ?g { ?x ?property ?y } }"
    lines = (f"<x> {P} <{BASE}id/y>", f"<x> {P} <{BASE}id/y#part>", f'<x> {P} "y"')
    assert kept(query, *lines) == [lines[0]]


def test_a_variable_predicate_outside_a_graph_is_refused() -> None:
    with pytest.raises(VocabularyError, match=r"a\.rq: a predicate that is a variable"):
        Premises([Rule("a", "CONSTRUCT { ?x evkg:r ?y } WHERE { ?x ?property ?y }")])


@pytest.mark.parametrize(
    "body", ["?x evkg:p [ evkg:q ?y ]", "?x (evkg:p|evkg:q)+ ?y", "?x !evkg:p ?y", "?x evkg:p 'a'@en", "?x evkg:p"]
)
def test_what_cannot_be_read_is_refused(body: str) -> None:
    with pytest.raises(VocabularyError, match=r"a\.rq: the patterns cannot be read at"):
        read_patterns(Rule("a", f"CONSTRUCT {{ ?x evkg:r ?x }} WHERE {{ {body} }}"))


def test_no_rule_reads_the_validation_report() -> None:
    """The premises are taken from the records and the static graphs, not from the report."""
    for rule in (*load_rules(), *load_axioms().chains):
        _, body = read_patterns(rule)
        names = {name for group, _ in body.walk() for one in group.patterns for name in one.predicates}
        assert not [name for name in names if name.startswith(f"<{SH}")], rule.name
