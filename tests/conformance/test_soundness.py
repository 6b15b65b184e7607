"""Shapes that check nothing, or something else than they seem to, are refused in plain words."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
import rdflib

from evkg.errors import VocabularyError
from evkg.namespaces import EVKG, SH, XSD
from evkg.shapes import PROFILE, Shapes
from evkg.soundness import TERMS, check_shapes, declared_terms, faults_of

PREFIXES: Final = (
    f"@prefix evkg: <{EVKG}> . @prefix sh: <{SH}> . @prefix s: <urn:s#> . @prefix xsd: <{XSD}> .\n"
    "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
)
MODEL: Final = "s:x a sh:NodeShape ; sh:targetClass evkg:Model ; "
KIND: Final = MODEL + "sh:property [ sh:path evkg:kind ; %s ] ."
SOUND: Final = KIND % "sh:minCount 1"

#: What is wrong -> (the shapes, what the message says).
BROKEN: Final = {
    "no such class": (
        "s:x a sh:NodeShape ; sh:targetClass evkg:Modell ; sh:property [ sh:path evkg:kind ; sh:minCount 1 ] .",
        "x names Modell under targetClass, which the ontology does not declare (did you mean Model?)",
    ),
    "no such class of values": (KIND % "sh:class evkg:Sorce", "did you mean Source?"),
    "no such property": (
        MODEL + "sh:property [ sh:path evkg:licnce ; sh:minCount 1 ] .",
        "a part of x names licnce under path, which the ontology does not declare (did you mean licence?)",
    ),
    "no such property in a path": (
        MODEL + "sh:property [ sh:path [ sh:inversePath evkg:famly ] ; sh:minCount 1 ] .",
        "famly",
    ),
    "misspelt predicate": (SOUND[:-1] + "; sh:propery [] .", "did you mean property?"),
    "misspelt constraint": (KIND % "sh:mincount 1", "did you mean minCount?"),
    "misspelt namespace": (
        MODEL + "sh:property [ sh:path evkg:kind ; <http://www.w3.org/ns/shacl/minCount> 1 ] .",
        "did you mean minCount?",
    ),
    "misspelt type": (
        "s:x a sh:NodeShap ; sh:targetClass evkg:Model ; sh:nodeKind sh:IRI .",
        "did you mean NodeShape?",
    ),
    "misspelt severity": (KIND % "sh:minCount 1 ; sh:severity sh:Warnng", "did you mean Warning?"),
    "severity as a text": (KIND % 'sh:minCount 1 ; sh:severity "Warning"', "it must be Violation, Warning or Info"),
    "severity of one's own": (KIND % "sh:minCount 1 ; sh:severity s:Bad", "it must be Violation, Warning or Info"),
    "misspelt kind of node": (KIND % "sh:nodeKind sh:Iri", "shacl#Iri, which SHACL does not have"),
    "misspelt datatype": (KIND % "sh:datatype xsd:strin", "asks for the datatype strin, which does not exist"),
    "empty list of values": (KIND % "sh:in ()", "has an empty list under sh:in"),
    "empty alternative": (KIND % "sh:or ()", "has an empty list under sh:or"),
    "empty conjunction": (KIND % "sh:and ()", "has an empty list under sh:and"),
    "list without an end": (KIND % "sh:in s:list" + "s:list rdf:first 1 .", "has a list under sh:in that does not end"),
    "list that is no list": (KIND % 'sh:in "a"', "has a list under sh:in that does not end"),
    "list in a circle": (KIND % "sh:in s:l" + "s:l rdf:first 1 ; rdf:rest s:l .", "does not end"),
    "two lists": (KIND % "sh:in ( 1 ) , ( 2 )", "has 2 values for sh:in, where one may stand"),
    "open group in a pattern": (KIND % 'sh:pattern "("', "has the pattern '(', which cannot be read"),
    "open set in a pattern": (KIND % 'sh:pattern "[a"', "which cannot be read"),
    "empty pattern": (KIND % 'sh:pattern ""', "has an empty pattern"),
    "count that is no number": (KIND % 'sh:minCount "one"', "has sh:minCount one, which is no number"),
    "negative count": (KIND % "sh:minCount -1", "has sh:minCount -1, which is no number"),
    "two counts": (KIND % "sh:minCount 1 , 2", "has 2 values for sh:minCount"),
    "more at least than at most": (KIND % "sh:minCount 2 ; sh:maxCount 1", "has sh:minCount 2 above sh:maxCount 1"),
    "property shape without a path": (MODEL + "sh:property [ sh:minCount 1 ] .", "has no sh:path"),
    "property shape that is not there": (MODEL + "sh:property s:gone .", "gone is referred to, but stands nowhere"),
    "node shape that is not there": (MODEL + "sh:node s:gone .", "gone is referred to, but stands nowhere"),
    "negated shape that is not there": (MODEL + "sh:not s:gone .", "gone is referred to, but stands nowhere"),
    "alternative that is not there": (MODEL + "sh:or ( s:gone [ sh:nodeKind sh:IRI ] ) .", "gone is referred to"),
    "text for a shape": (MODEL + 'sh:property "s:gone" .', "has the text 's:gone' under sh:property"),
    "text for a node shape": (MODEL + 'sh:node "gone" .', "has the text 'gone' under sh:node"),
    "qualified without a count": (KIND % "sh:qualifiedValueShape [ sh:nodeKind sh:IRI ]", "without a count"),
    "target alone": ("s:x a sh:NodeShape ; sh:targetClass evkg:Model .", "x constrains nothing"),
    "path alone": (MODEL + "sh:property [ sh:path evkg:kind ] .", "a part of x constrains nothing"),
    "shape that nothing uses": (
        SOUND + "s:y a sh:NodeShape ; sh:property [ sh:path evkg:kind ; sh:minCount 1 ] .",
        "y has no target and nothing refers to it, so it is never checked",
    ),
    "shape of itself": (MODEL + "sh:node s:x .", "x refers to itself"),
    "shape of itself, further down": (
        MODEL + "sh:property [ sh:path evkg:family ; sh:or ( s:x [ sh:nodeKind sh:Literal ] ) ] .",
        "refers to itself",
    ),
    "class that is a shape": (
        SOUND + "evkg:Model a owl:Class , sh:NodeShape ; sh:property [ sh:path evkg:name ; sh:minCount 1 ] .",
        "Model is a shape and a class at once",
    ),
}


def shapes(folder: Path, text: str) -> Shapes:
    (folder / "x.ttl").write_text(PREFIXES + text, encoding="utf-8")
    return Shapes(folder)


def test_our_shapes_are_sound() -> None:
    assert list(faults_of(Shapes(), declared_terms())) == []
    check_shapes(Shapes())


@pytest.mark.parametrize(
    "text",
    [
        SOUND,
        KIND % "sh:in ( 1 2 )",
        KIND % 'sh:pattern "^a$" ; sh:message "No."@en , "Nein."@de',
        MODEL + "sh:or ( s:a s:b ) . s:a sh:nodeKind sh:IRI . s:b sh:nodeKind sh:Literal .",
        MODEL + "sh:node s:a ; sh:property [ sh:path evkg:kind ; sh:node s:a ] . s:a sh:nodeKind sh:IRI .",
        "s:x a sh:NodeShape ; sh:targetClass <urn:elsewhere> ; sh:closed true ; sh:ignoredProperties () .",
        KIND % "sh:maxCount 0 ; sh:minCount 0",
    ],
)
def test_sound_shapes_pass(tmp_path: Path, text: str) -> None:
    check_shapes(shapes(tmp_path, text))


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_shape_is_refused_in_plain_words(tmp_path: Path, name: str) -> None:
    text, words = BROKEN[name]
    with pytest.raises(VocabularyError) as caught:
        check_shapes(shapes(tmp_path, text))
    message = str(caught.value)
    assert words in message
    assert message.startswith(f"The shapes in {tmp_path} are broken: ")
    assert "\n" not in message
    assert "_:" not in message
    assert "Traceback" not in message


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_the_message_is_the_same_each_time(tmp_path: Path, name: str) -> None:
    some = [list(faults_of(shapes(tmp_path, BROKEN[name][0]), declared_terms())) for _ in range(2)]
    assert some[0] == some[1]


def test_a_folder_without_shapes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match="nothing would be checked"):
        check_shapes(Shapes(tmp_path))
    with pytest.raises(VocabularyError, match="nothing would be checked"):
        check_shapes(shapes(tmp_path, ""))
    with pytest.raises(VocabularyError, match=r"x\.ttl: "):
        check_shapes(shapes(tmp_path, "s:x a sh:NodeShape"))


def test_of_many_faults_the_first_are_named_and_the_others_counted(tmp_path: Path) -> None:
    text = "".join(f"s:x{number} a sh:NodeShape ; sh:targetClass evkg:Model . " for number in range(12))
    with pytest.raises(VocabularyError, match=r"x0 constrains nothing; .*x4 constrains nothing\. There are 7 more\.\Z"):
        check_shapes(shapes(tmp_path, text))


def test_a_long_term_is_shown_shortened(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError) as caught:
        check_shapes(shapes(tmp_path, KIND % f"sh:{'a' * 5_000} 1"))
    assert len(str(caught.value)) < 1_000


def test_the_terms_are_those_of_the_standard() -> None:
    """pySHACL carries the vocabulary of SHACL as the W3C publishes it."""
    import pyshacl

    vocabulary = rdflib.Graph().parse(Path(pyshacl.__file__).parent / "assets" / "shacl.ttl")
    known = {str(term).removeprefix(SH) for term in vocabulary.subjects() if str(term).startswith(SH)}
    assert known >= TERMS
    assert TERMS >= PROFILE
    parameters = {str(path).removeprefix(SH) for path in vocabulary.objects(None, rdflib.URIRef(SH + "path"))}
    assert len(parameters) > 30
    assert parameters <= TERMS | {"js", "expression"}  # JavaScript and node expressions belong to no part we know
