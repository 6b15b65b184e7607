"""One value of a record as it stands in the graph: an IRI, a literal, or `MISFIT` for its declared kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeGuard

from evkg.jsontext import Json, NumberText
from evkg.literal import SHA256, canonical_json, decimal_literal, instant_type, is_integer_text
from evkg.namespaces import EVKG, XSD, concept_iri, quote_segment
from evkg.record import LINKED_ID
from evkg.vocabulary import Vocabulary

#: What a reader gives for a value that does not fit its declared kind.
MISFIT: Final[Any] = object()
#: What a reader gives for a value that leaves no triple of its own (its text beside it may).
NOTHING: Final[Any] = object()

#: Integers below this size are JSON numbers in the document; JavaScript would round larger ones.
_SAFE_INTEGER: Final = 2**53


class ValueReader:
    """Reads values by their declared kind; holds the compiled schemes and the base of IRIs.

    >>> from evkg.vocabulary import load_vocabulary
    >>> values = ValueReader(load_vocabulary(), "https://w3id.org/evkg/")
    >>> values.read("concept:metric", "peak-memory")
    'https://w3id.org/evkg/vocab/metric/peak-memory'
    """

    def __init__(self, vocabulary: Vocabulary, base: str) -> None:
        self._things = base + "id/"
        self._artifacts = base + "artifact/"
        self._agents = base + "agent/"
        self._schemes = {
            key: {name: concept.iri for name, concept in scheme.concepts.items()}
            for key, scheme in vocabulary.schemes.items()
        }
        plain: dict[str, Callable[[Json], Any]] = dict.fromkeys(
            ("text", "doi", "sha256", "git-sha", "url", "url-or-path", "entity-kinds", "texts"), as_text
        )
        plain |= dict.fromkeys(("integer", "integers"), as_integer)
        plain |= dict.fromkeys(("record-id", "record-ids"), self.thing)
        plain |= dict.fromkeys(("agent", "agents"), self._agent)
        plain |= {"boolean": as_boolean, "artifact": self.artifact, "comparison-value": as_comparison_value}
        #: Kind of value -> reader of one value, or of one element of a list.
        self.readers: Mapping[str, Callable[[Json], Any]] = plain

    def read(self, kind: str, value: Json) -> Any:
        """One value, or one element of a list, of a kind that has no parts."""
        reader = self.readers.get(kind)
        if reader is not None:
            return reader(value)
        return self.concept(kind.partition(":")[2], value) if ":" in kind else MISFIT

    def concept(self, scheme: str, value: Json) -> Any:
        """The IRI of a concept, known or not."""
        if not _is_word(value):
            return MISFIT
        iri = self._schemes.get(scheme, {}).get(value)
        return iri if iri is not None else concept_iri(scheme, value)

    def thing(self, value: Json) -> Any:
        """The IRI of the thing that a record with this id describes."""
        return self._things + value if _is_word(value) and LINKED_ID.match(value) else MISFIT

    def artifact(self, value: Json) -> Any:
        """The IRI of the bytes with this SHA-256."""
        return self._artifacts + value if _is_word(value) and SHA256.match(value) else MISFIT

    def _agent(self, value: Json) -> Any:
        return self._agents + quote_segment(value) if _is_word(value) else MISFIT


def _is_word(value: Json) -> TypeGuard[str]:
    """Whether a value is a string, neither empty nor a number."""
    return isinstance(value, str) and value != "" and not isinstance(value, NumberText)


def as_text(value: Json) -> Any:
    """A string, or a number as written.

    >>> as_text("no"), as_text(NumberText("1.00")), as_text(True) is MISFIT
    ('no', '1.00', True)
    """
    if isinstance(value, str):
        return str(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else MISFIT


def as_integer(value: Json) -> Any:
    """An integer, as a number where JSON tools keep it exact, else as its text.

    >>> as_integer(7), as_integer("9007199254740993"), as_integer("1.0") is MISFIT
    (7, '9007199254740993', True)
    """
    if isinstance(value, bool) or not isinstance(value, str | int) or not is_integer_text(text := str(value)):
        return MISFIT
    number = int(text)
    return number if abs(number) < _SAFE_INTEGER and str(number) == text else text


def as_boolean(value: Json) -> Any:
    """A boolean, also one written as text."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value, MISFIT) if isinstance(value, str) else MISFIT


def as_comparison_value(value: Json) -> Any:
    """A text as it is; anything else as canonical JSON, told apart by its datatype.

    Source: contract section 12.1 (equality: JSON with sorted object keys, numbers as JSON numbers).
    """
    if isinstance(value, str) and not isinstance(value, NumberText):
        return value
    return {"type": EVKG + "JSON", "@value": canonical_json(value)}


def as_number_or_date(kind: str, value: Json) -> tuple[str, Any] | None:
    """(text as written, typed value or `NOTHING`) of a decimal, number, date or datetime; None if neither.

    >>> as_number_or_date("decimal", "~33h") == ("~33h", NOTHING)
    True
    >>> as_number_or_date("decimal", "33.880")
    ('33.880', '33.880')
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value)
    if kind not in ("date", "datetime"):
        literal = decimal_literal(text)
        return text, NOTHING if literal is None else literal
    form = instant_type(text)
    if form is None or (kind == "date" and form == "dateTime"):
        return text, NOTHING
    return text, {"type": XSD + form, "@value": text}
