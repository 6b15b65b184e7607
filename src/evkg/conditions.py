"""Conditions of a result: what was tested, how and on what, read through its evaluation; values or reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evkg.candidate import CONDITIONS
from evkg.cell import Cell
from evkg.namespaces import DCTERMS, thing_iri
from evkg.readiness import Readiness, read_readiness

if TYPE_CHECKING:
    from evkg.measurement import Measurement
    from evkg.measurement_table import Named, Row, RowReader
    from evkg.release import Release


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition: its label and meaning, and records that it names or what is said of it."""

    label: str
    help: str
    named: tuple[Named, ...] = ()
    cell: Cell | None = None
    key: str = ""  # the field of the evaluation that says it


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything under which a result was measured. `is_runnable` says that a pinned recipe of this very evaluation
    was verified; `blockers` say what is missing for that.
    """

    row: Row
    conditions: tuple[Condition, ...]
    is_runnable: bool
    blockers: tuple[str, ...]


def read_setting(release: Release, reader: RowReader, item: Measurement) -> Setting:
    """The conditions of a measurement, those of its evaluation in the order of the ontology.

    >>> from evkg.measurement import Measurements
    >>> from evkg.release import open
    >>> from evkg.measurement_table import RowReader
    >>> release = open()
    >>> item = Measurements(release).of_result("saadat-fellay-20261015-result-nt-2-5b-quantization-memory-4bit")
    >>> setting = read_setting(release, RowReader(release), item)
    >>> [(one.label, one.cell.text) for one in setting.conditions if one.cell and one.cell.text][-1]
    ('Split', 'Not applicable')
    """
    row = reader.row(item)
    links = (
        Condition("Tested configuration", "", row.systems),
        Condition("Protocol", "", row.protocols),
        Condition("Dataset", "", row.data),
        Condition("Evaluation", "", (row.run,)),
    )
    told = tuple(
        Condition(
            _words(key), term.definition, cell=reader.cells.of_condition(item.run.id, key), key=f"comparison.{key}"
        )
        for key, term in release.vocabulary.parts["Comparison"].items()
    )
    found = read_readiness(release, item.run.id) if release.has_record(item.run.id) else None
    return Setting(
        row,
        (*links, *_procedure(reader, item), *told),
        is_runnable=found is not None and found.capabilities["local_run"].ready,
        blockers=_blockers(found),
    )


def _words(key: str) -> str:
    """A condition by the label that comparisons use; the protocol is named above by its link."""
    words = next((condition.label for condition in CONDITIONS if condition.key == key), key.replace("_", " "))
    return f"{words[:1].upper()}{words[1:]}" + (" (stated for comparisons)" if key == "protocol_id" else "")


def _procedure(reader: RowReader, item: Measurement) -> tuple[Condition, ...]:
    """What the protocols say of the procedure; the name of a protocol is no procedure."""
    texts = [
        text
        for protocol in item.run.protocols
        for text in reader.facts.texts(thing_iri(reader.facts.base, protocol), DCTERMS + "description")
        if text
    ]
    return (Condition("Procedure", "What the record of the protocol says.", cell=Cell("\n".join(texts) or None)),)


def _blockers(found: Readiness | None) -> tuple[str, ...]:
    return found.capabilities["local_run"].blockers if found is not None else ()
