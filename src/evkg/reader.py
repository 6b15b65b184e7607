"""Files to records: YAML, JSON Lines, a release snapshot, each also gzipped, or a folder of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from evkg.errors import UsageError
from evkg.filetext import Span, file_finding, file_name, read_lines, read_text
from evkg.finding import Finding
from evkg.jsontext import Json, JsonError, decode_json
from evkg.record import Origin, Record, make_record
from evkg.scalar import Typist
from evkg.snapshot import read_elements
from evkg.vocabulary import Vocabulary
from evkg.withheld import may_hide, mentions_excluded
from evkg.yamltext import Mapping, Scalar, Sequence, YamlError, parse_yaml, place_of

#: The largest YAML file that is read (bytes, after decompression); it is in memory as a whole.
MAX_YAML: Final = 16 * 1024 * 1024
#: The largest snapshot that is read (bytes, after decompression); it is in memory as a whole.
MAX_SNAPSHOT: Final = 192 * 1024 * 1024
#: After so many violations the rest of a file is not read (count).
MAX_FAULTS: Final = 100_000

_SUFFIXES: Final = (".yaml", ".yml", ".jsonl", ".ndjson", ".json")
_WANTED: Final = f"{', '.join(_SUFFIXES)}, also with .gz"
#: The part of a message on JSON that quotes a key.
_QUOTED_KEY: Final = re.compile(r'The key ".*"(?= stands)', re.DOTALL)
#: The file that describes a data set; it stands beside the records and is none.
DATASET_FILE: Final = "dataset.yaml"
#: The files of research manifests, which stand there too.
RESEARCH_FILES: Final = ("research.json", "research.json.gz")


def record_files(path: Path) -> list[Path]:
    """The files of a data set in a fixed order: `path` itself, or the record files below a folder.

    Hidden files and folders are passed over, and so are at the top a `dataset.yaml` without records and
    research manifests. A link that leads nowhere and a folder that may not be read are listed, so that
    reading reports them.

    Raises: UsageError: `path` does not exist, is of an unknown type, or holds no record file.

    >>> [file.name for file in record_files(Path("graph"))][:2]
    ['configurations.yaml', 'dataset.yaml']
    """
    name = file_name(path)
    try:
        if path.is_file():
            if _suffix(path) is None:
                raise UsageError(f"{name} is not a record file; these are: {_WANTED}.")
            return [path]
        if not path.is_dir():
            exists = path.exists()
            raise UsageError(f"{name} is neither a file nor a folder." if exists else f"{name} does not exist.")
        files = list(_files_below(path))
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror or error}.") from error
    if not files:
        raise UsageError(f"{name} holds no record file ({_WANTED}).")
    return sorted(files, key=lambda file: file.relative_to(path).as_posix())


def _files_below(path: Path) -> Iterator[Path]:
    closed: list[Path] = []
    for folder, folders, names in os.walk(path, onerror=lambda error: closed.append(Path(error.filename))):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            file = Path(folder, name)
            if name.startswith(".") or _suffix(file) is None:
                continue
            if file == path / DATASET_FILE and not _has_records(file):
                continue
            if name in RESEARCH_FILES and Path(folder) == path:
                continue
            if file.is_file() or (file.is_symlink() and not file.exists()):
                yield file
    yield from closed


def _has_records(file: Path) -> bool:
    """Whether a YAML file seems to hold records: a line in it begins with the key `kind`."""
    try:
        with file.open("rb") as stream:
            return re.search(rb"^(?:- +)?kind *:", stream.read(MAX_YAML), re.MULTILINE) is not None
    except OSError:
        return False


def _suffix(path: Path) -> str | None:
    name = path.name.removesuffix(".gz")
    return next((suffix for suffix in _SUFFIXES if name.endswith(suffix)), None)


def read_records(path: Path, vocabulary: Vocabulary) -> Iterator[Record | Finding]:
    """The records of a file or folder, and in between the findings about what could not be read.

    One record is in memory at a time, except for YAML and snapshots, where it is one file. Files are
    named in findings as they were given, so that a terminal can open them.

    Raises: UsageError: nothing is there to read (see `record_files`), or the files hold no record and
        nothing is wrong with them.

    >>> from evkg.vocabulary import load_vocabulary
    >>> items = list(read_records(Path("graph"), load_vocabulary()))
    >>> sum(isinstance(item, Record) for item in items)
    49
    """
    files = record_files(path)
    is_empty = True
    for file in files:
        count = faults = 0
        for item in read_file(file, vocabulary):
            yield item
            count += 1
            if isinstance(item, Record):
                is_empty = False
            elif item.severity == "violation":
                is_empty = False
                faults += 1
                if faults == MAX_FAULTS:
                    yield too_many_faults(file, item.line, "the rest of the file is not read")
                    break
        if count == 0 and len(files) > 1:
            message = "The file holds no record."
            fix = "Write a record in it, or remove it."
            yield file_finding(file, (1, 1), "no-records", message, fix, severity="warning")
    if is_empty:
        raise UsageError(f"{file_name(path)} holds no record.")


def too_many_faults(file: Path, line: int | None, rest: str) -> Finding:
    """The finding that ends the list of the faults of a file at `MAX_FAULTS`; `rest` says what becomes of the others.

    >>> too_many_faults(Path("a.jsonl"), 7, "the others are not listed").message
    'There are more than 100,000 faults; the others are not listed.'
    """
    message = f"There are more than {MAX_FAULTS:,} faults; {rest}."
    return file_finding(file, (line or 1, 1), "too-many-faults", message, "Mend what is reported first.")


def is_lines(file: Path) -> bool:
    """Whether a file holds one record a line.

    >>> is_lines(Path("records.jsonl.gz")), is_lines(Path("records.yaml"))
    (True, False)
    """
    return _suffix(file) in (".jsonl", ".ndjson")


def read_file(file: Path, vocabulary: Vocabulary, spans: Iterable[Span] | None = None) -> Iterator[Record | Finding]:
    """The records of one file, of a file of lines perhaps only `spans`; and findings on what could not be read."""
    suffix = _suffix(file)
    if suffix in (".jsonl", ".ndjson"):
        yield from _read_lines(file, vocabulary, spans)
        return
    for item in read_text(file, MAX_SNAPSHOT if suffix == ".json" else MAX_YAML):
        if isinstance(item, Finding):
            yield item
        elif suffix == ".json":
            yield from _read_snapshot(file, item, vocabulary)
        else:
            yield from _read_yaml(file, item, vocabulary)


def _read_lines(file: Path, vocabulary: Vocabulary, spans: Iterable[Span] | None) -> Iterator[Record | Finding]:
    name = file_name(file)
    noted: set[str] = set()

    def once(rule: str, number: int, message: str, fix: str) -> Iterator[Finding]:
        if rule not in noted:
            noted.add(rule)
            yield file_finding(file, (number, 1), rule, message, fix, severity="info")

    for item in read_lines(file, spans):
        if isinstance(item, Finding):
            yield item
            continue
        number, text = item
        if not text.strip(" \t\r"):
            yield from once("blank-line", number, "The line is empty.", "Remove empty lines.")
            continue
        try:
            value = decode_json(text)
        except JsonError as error:
            fix = "Write one JSON object a line."
            if "\r" in text:
                fix += " This line holds CR characters; lines must end with LF."
            yield _syntax(file, (number, error.offset + 1), _told(error, text), fix, text, error.offset)
            continue
        if _is_ledger(value):
            message = "This is a provenance ledger, not records; it is passed over."
            yield from once("ledger", number, message, "Keep the ledger outside the folder of records.")
            continue
        yield from _make(value, Origin(name, number, text=text), vocabulary, raw=text)


def _is_ledger(value: Json) -> bool:
    """Whether it is a line of a provenance ledger. Source: contract section 1."""
    return isinstance(value, dict) and "kind" not in value and {"id", "sha256", "added_in"} <= set(value)


def _told(error: JsonError | YamlError, text: str) -> str:
    """What an error says; without words of the text where that may hold an excluded record."""
    if not mentions_excluded(text):
        return str(error)
    return error.bare if isinstance(error, YamlError) else _QUOTED_KEY.sub("A key", str(error))


def _syntax(file: Path, place: tuple[int, int], message: str, fix: str, text: str, offset: int) -> Finding:
    """A finding at an offset of a text, with the text from there on unless it may be of an excluded record."""
    written = "" if mentions_excluded(text) else text[offset : offset + 80].split("\n", 1)[0].rstrip("\r")
    return file_finding(file, place, "syntax", message, fix, value=written or None)


def _make(value: Json, origin: Origin, vocabulary: Vocabulary, raw: str | None = None) -> Iterator[Record | Finding]:
    record, findings = make_record(value, origin, vocabulary, raw)
    yield from findings
    if record is not None:
        yield record


def _read_yaml(file: Path, text: str, vocabulary: Vocabulary) -> Iterator[Record | Finding]:
    name = file_name(file)
    try:
        for document in parse_yaml(text):
            for node in document.items if isinstance(document, Sequence) else [document]:
                if isinstance(node, Mapping):
                    typist = Typist(vocabulary)
                    value: Json = typist.record(node)
                    origin = Origin(name, node.line, typist.places, start_column=node.column)
                else:
                    value = node.text if isinstance(node, Scalar) else []
                    origin = Origin(name, node.line, {}, start_column=node.column)
                yield from _make(value, origin, vocabulary)
    except YamlError as error:
        fix = "Correct the YAML here; the records behind this place were not read."
        lines = text.split("\n", error.line)
        offset = sum(len(line) + 1 for line in lines[: error.line - 1]) + error.column - 1
        yield _syntax(file, (error.line, error.column), _told(error, text), fix, text, offset)


def _read_snapshot(file: Path, text: str, vocabulary: Vocabulary) -> Iterator[Record | Finding]:
    """The records of a snapshot, of a list of records, or the one record that the file is."""
    name = file_name(file)
    try:
        for element in read_elements(text):
            value = element.value
            if isinstance(value, dict) and not {"id", "kind"} & set(value):
                yield _no_record(file, element.line, element.column, value)
                continue
            origin = Origin(name, element.line, text=text, start=element.start, start_column=element.column)
            raw = text[element.start : element.end]
            yield from _make(value, origin, vocabulary, raw=None if "\n" in raw else raw)
    except JsonError as error:
        fix = "Correct the JSON here; the records behind this place were not read."
        yield _syntax(file, place_of(text, error.offset), _told(error, text), fix, text, error.offset)


def _no_record(file: Path, line: int, column: int, value: dict[str, Json]) -> Finding:
    """The finding for an object that has neither an id nor a kind."""
    message = "This is neither a record nor a snapshot with a list of records."
    fix = "Give a record its nine keys, a snapshot the key records."
    if "use_cases" in value:
        message = "This is the older supplement of use cases, which is not read."
        fix = "Write each use case as a record of kind use_case."
    keys = None if may_hide(value) else ", ".join(value)[:200] or None
    return file_finding(file, (line, column), "envelope", message, fix, value=keys)
