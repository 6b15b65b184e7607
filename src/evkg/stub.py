"""Stubs: an entry under missing_metadata, still to be decided, for each expected field with neither value nor reason.

A reason is never guessed. The text of the file stays as it is, to the byte, outside the stubs: they are inserted at
places that the parser's marks give, and the result is read again and compared before anyone sees it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evkg.errors import UsageError
from evkg.expected import Expected, expected_fields
from evkg.filetext import file_name
from evkg.finding import Finding
from evkg.insertion import TO_BE_DECIDED, Insertion, LayoutError, insert, json_insertion, yaml_insertion
from evkg.jsontext import Json, encode_json
from evkg.layout import record_spans
from evkg.reader import is_lines, read_file, record_files
from evkg.record import Record
from evkg.shapes import Shapes
from evkg.vocabulary import Vocabulary
from evkg.withheld import is_withheld

#: The largest file that is changed (bytes); it is in memory several times.
MAX_FILE: Final = 16 * 1024 * 1024
#: A byte-order mark, which readers pass over.
_MARK: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class Stub:
    """The stubs of one record, fields as missing_metadata names them; `line` (from 1) is where the record begins."""

    record: str
    line: int
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stubbed:
    """A file with its stubs: its text, what goes into it and where, and one line for each record passed over."""

    text: str
    insertions: tuple[Insertion, ...]
    stubs: tuple[Stub, ...]
    passed_over: tuple[str, ...]

    @property
    def before(self) -> bytes:
        """The bytes of the file as it is."""
        return self.text.encode()

    @property
    def after(self) -> bytes:
        """The bytes of the file with its stubs."""
        return insert(self.text, self.insertions).encode()


def unexplained(record: Record, fields: Sequence[Expected]) -> list[Expected]:
    """The expected fields of a record that have neither a value nor an entry; none in an excluded record.

    >>> from evkg.expected import expected_fields
    >>> from evkg.record import Origin, make_record
    >>> from evkg.vocabulary import load_vocabulary
    >>> data = {"id": "a", "kind": "benchmark", "name": "A", "description": "", "status": "needs_review"}
    >>> data |= {"facets": {}, "source_ids": [], "links": [], "attributes": {}}
    >>> record, _ = make_record(data, Origin("a.jsonl", 1), load_vocabulary())
    >>> [field.name for field in unexplained(record, expected_fields(Shapes(), load_vocabulary())["benchmark"])]
    ['entity_level']
    """
    entries = record.attributes.get("missing_metadata")
    explained = set(entries) if isinstance(entries, dict) else set()
    if is_withheld(record):
        return []
    return [f for f in fields if not explained & set(f.entries) and not _has_value(record.data, f.path)]


def _has_value(value: Json, path: Sequence[str | int]) -> bool:
    for step in path:
        if not isinstance(value, dict):
            return value is not None  # something else stands where the field would be
        value = value.get(str(step))
    return value is not None and value != []


def stub_file(path: Path, vocabulary: Vocabulary, shapes: Shapes) -> Stubbed:
    """A file of records with its stubs; nothing is written.

    Raises: UsageError: the file cannot be read, is packed, too large, no file of records, or its syntax is broken.

    >>> from evkg.vocabulary import load_vocabulary
    >>> stubbed = stub_file(Path("graph/records/families.yaml"), load_vocabulary(), Shapes())
    >>> stubbed.stubs[0]
    Stub(record='gena-lm', line=4, fields=('licence', 'checkpoint_revision', 'training_data'))
    """
    name = file_name(path)
    content = _read(path)
    with tempfile.TemporaryDirectory(prefix="evkg-") as folder:
        copy = Path(folder, f"before{''.join(path.suffixes[-1:])}")
        copy.write_bytes(content)
        records, faults = _records(copy, name, vocabulary)
        if not records and not faults:
            raise UsageError(f"{name} holds no record.")
        text = content.decode()
        places = _Places(text, is_yaml=path.suffix in (".yaml", ".yml"), is_lines=is_lines(path))
        wanted = expected_fields(shapes, vocabulary)
        note = decide_note(vocabulary)
        insertions: list[Insertion] = []
        stubs: dict[int, Stub] = {}
        passed_over = [f"{name}:{fault.line}: {fault.message} The record is passed over." for fault in faults]
        for number, record in enumerate(records):
            fields = tuple(field.name for field in unexplained(record, wanted[record.kind]))
            if not fields:
                continue
            try:
                insertions.append(places.insertion(record, fields, note))
                stubs[number] = Stub(record.id, record.origin.line, fields)
            except LayoutError as error:
                place = f"{name}:{record.origin.line}"
                passed_over.append(f"{place}: {record.id} is passed over: {error} Write its entries by hand.")
        stubbed = Stubbed(text, tuple(insertions), tuple(stubs.values()), tuple(passed_over))
        if insertions:
            copy.write_bytes(stubbed.after)
            _compare(records, stubs, _records(copy, name, vocabulary)[0], name)
    return stubbed


def decide_note(vocabulary: Vocabulary) -> str:
    """What a comment before stubs says: how one decides, and for which reasons.

    >>> from evkg.vocabulary import load_vocabulary
    >>> decide_note(load_vocabulary())[:60]
    'To be decided: give each field its value, or a reason (confl'
    """
    reasons = ", ".join(sorted(vocabulary.schemes["missingness"].concepts))
    return f"To be decided: give each field its value, or a reason ({reasons})."


def _read(path: Path) -> bytes:
    """The bytes of a file that may be changed."""
    name = file_name(path)
    if path.is_dir():
        raise UsageError(f"{name} is a folder; name one file of records.")
    record_files(path)
    if path.name.endswith(".gz"):
        raise UsageError(f"{name} is packed; unpack it first.")
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_FILE + 1)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror or error}.") from error
    if len(content) > MAX_FILE:
        raise UsageError(f"{name} is larger than {MAX_FILE:,} bytes; split it first.")
    if content.count(b"\r") > content.count(b"\r\n"):
        raise UsageError(f"{name} has lines that end with CR alone; save it with LF line ends first.")
    return content


def _records(copy: Path, name: str, vocabulary: Vocabulary) -> tuple[list[Record], list[Finding]]:
    """The records of a file and what is wrong with the envelopes of others.

    Raises: UsageError: the file cannot be read to its end.
    """
    records: list[Record] = []
    faults: list[Finding] = []
    for item in read_file(copy, vocabulary):
        if isinstance(item, Record):
            records.append(item)
        elif item.rule == "envelope":
            faults.append(item)
        elif item.severity == "violation":
            place = f"{name}:{item.line}:{item.column}"
            raise UsageError(f"{place}: {item.message} {item.fix or ''} Nothing is changed in a file like this.")
    return records, faults


class _Places:
    """Finds where the stubs of a record go in the text of its file."""

    def __init__(self, text: str, *, is_yaml: bool, is_lines: bool) -> None:
        self._text = text
        self._bare = text.removeprefix(_MARK)
        self._spans = {(span.line, span.column): span for span in record_spans(self._bare)} if is_yaml else None
        self._lines = _line_starts(text) if is_lines else None

    def insertion(self, record: Record, fields: Sequence[str], note: str) -> Insertion:
        """Where the stubs of a record go.

        Raises: LayoutError: there is no certain place.
        """
        origin = record.origin
        if self._lines is not None:
            start = self._lines[origin.line - 1]
            return json_insertion(self._text, start + self._text.startswith(_MARK, start), fields)
        if self._spans is None:
            found = json_insertion(self._bare, origin.start, fields)
        else:
            span = self._spans.get((origin.line, origin.start_column))
            if span is None:
                raise LayoutError("It is written with an anchor or an alias.")
            found = yaml_insertion(self._bare, span, fields, note)
        return Insertion(found.offset + len(self._text) - len(self._bare), found.text)


def _line_starts(text: str) -> list[int]:
    starts, at = [0], text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts


def _compare(before: Sequence[Record], stubs: Mapping[int, Stub], after: Sequence[Record], name: str) -> None:
    """See that the records as read again are those from before with their stubs, and nothing else.

    Raises: UsageError: they are not, so that nothing may be written.
    """
    if len(before) == len(after) and all(
        encode_json(_with(old.original, stubs.get(number))) == encode_json(_with(new.original, None))
        for number, (old, new) in enumerate(zip(before, after, strict=True))
    ):
        return
    raise UsageError(f"{name} is written in a way that stubs cannot be added to with certainty; write them by hand.")


def _with(original: Mapping[str, Json], stub: Stub | None) -> Json:
    """A record with its stubs, its missing_metadata sorted and last."""
    attributes = original["attributes"]
    if not isinstance(attributes, dict):
        return dict(original)
    entries = attributes.get("missing_metadata")
    others: dict[str, Json] = {key: value for key, value in attributes.items() if key != "missing_metadata"}
    if stub is not None:
        own: dict[str, Json] = dict(entries) if isinstance(entries, dict) else {}
        entries = own | {field: {"reason": TO_BE_DECIDED} for field in stub.fields}
    if isinstance(entries, dict):
        entries = dict(sorted(entries.items()))
    if "missing_metadata" in attributes or stub is not None:
        others["missing_metadata"] = entries
    return {**original, "attributes": others}


def lines_of(stubbed: Stubbed) -> Iterator[str]:
    """One line of text for each record with stubs.

    >>> list(lines_of(Stubbed("", (), (Stub("a", 3, ("unit", "metric")),), ())))
    ['line 3, a: unit, metric']
    """
    for stub in stubbed.stubs:
        yield f"line {stub.line}, {stub.record}: {', '.join(stub.fields)}"
