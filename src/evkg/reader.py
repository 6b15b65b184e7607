"""Files to records: YAML, JSON Lines, a release snapshot, each also gzipped, or a folder of them."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from evkg.errors import UsageError
from evkg.finding import Finding
from evkg.jsontext import Json, JsonError, decode_json, decode_json_prefix, locate
from evkg.record import Origin, Record, make_record
from evkg.scalar import Typist
from evkg.vocabulary import Vocabulary
from evkg.yamltext import Mapping, Sequence, YamlError, parse_yaml, place_of

#: The longest line of JSON Lines that is read (bytes).
MAX_LINE: Final = 32 * 1024 * 1024
#: The largest YAML file that is read, after decompression (bytes).
MAX_YAML: Final = 64 * 1024 * 1024
#: The largest snapshot that is read, after decompression (bytes).
MAX_SNAPSHOT: Final = 2 * 1024 * 1024 * 1024

_SUFFIXES: Final = (".yaml", ".yml", ".jsonl", ".ndjson", ".json")
#: The file that describes a data set; it stands beside the records and is none.
DATASET_FILE: Final = "dataset.yaml"


def record_files(path: Path) -> list[Path]:
    """The files of a data set in a fixed order: `path` itself, or the record files below a folder.

    Raises: UsageError: `path` does not exist, is of an unknown type, or holds no record file.
    """
    if path.is_file():
        if _suffix(path) is None:
            raise UsageError(f"{path} is not a record file; these are: {', '.join(_SUFFIXES)}, also with .gz.")
        return [path]
    if not path.is_dir():
        raise UsageError(f"{path} does not exist.")
    files = sorted(
        (
            file
            for file in path.rglob("*")
            if _suffix(file) is not None
            and file.is_file()
            and not any(part.startswith(".") for part in file.relative_to(path).parts)
            and file != path / DATASET_FILE
        ),
        key=lambda file: file.relative_to(path).as_posix(),
    )
    if not files:
        raise UsageError(f"{path} holds no record file ({', '.join(_SUFFIXES)}, also with .gz).")
    return files


def read_records(path: Path, vocabulary: Vocabulary) -> Iterator[Record | Finding]:
    """The records of a file or folder, and in between the findings about what could not be read.

    One record is in memory at a time, except for YAML, where it is one file. Files are named in
    findings as they were given, so that a terminal can open them.

    Raises: UsageError: nothing is there to read; see `record_files`.

    >>> from evkg.vocabulary import load_vocabulary
    >>> items = list(read_records(Path("graph"), load_vocabulary()))
    >>> sum(isinstance(item, Record) for item in items)
    49
    """
    for file in record_files(path):
        try:
            yield from _read_file(file, vocabulary)
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            yield _finding(file, 1, 1, "unreadable-file", f"The gzip data are broken: {error}.", "Pack it again.")
        except OSError as error:
            reason = error.strerror or str(error)
            yield _finding(file, 1, 1, "unreadable-file", f"The file cannot be read: {reason}.", None)


def _suffix(path: Path) -> str | None:
    name = path.name.removesuffix(".gz")
    return next((suffix for suffix in _SUFFIXES if name.endswith(suffix)), None)


def _finding(
    file: Path, line: int, column: int, rule: str, message: str, fix: str | None, severity: str = "violation"
) -> Finding:
    return Finding(
        severity=severity,  # type: ignore[arg-type]
        rule=rule,
        message=message,
        file=str(file),
        line=line,
        column=column,
        fix=fix,
    )


def _read_file(file: Path, vocabulary: Vocabulary) -> Iterator[Record | Finding]:
    with _open(file) as stream:
        suffix = _suffix(file)
        if suffix in (".jsonl", ".ndjson"):
            yield from _read_lines(file, stream, vocabulary)
            return
        limit = MAX_YAML if suffix in (".yaml", ".yml") else MAX_SNAPSHOT
        content = stream.read(limit + 1)
    if len(content) > limit:
        message = f"The file is larger than {limit:,} bytes."
        yield _finding(file, 1, 1, "too-large", message, "Split it, or write it as JSON Lines.")
        return
    text, findings = _decode(file, content)
    yield from findings
    if text is None:
        return
    if suffix == ".json":
        yield from _read_snapshot(file, text, vocabulary)
    else:
        yield from _read_yaml(file, text, vocabulary)


def _open(file: Path) -> IO[bytes]:
    if file.name.endswith(".gz"):
        return gzip.open(file, "rb")  # type: ignore[return-value]
    return file.open("rb")


def _decode(file: Path, content: bytes, line: int = 1) -> tuple[str | None, list[Finding]]:
    """The text of bytes in UTF-8, and findings on a byte-order mark or on bytes that are no UTF-8."""
    findings: list[Finding] = []
    if content.startswith(b"\xef\xbb\xbf"):
        content = content[3:]
        message = "The file begins with a byte-order mark; it is passed over."
        findings.append(_finding(file, line, 1, "byte-order-mark", message, "Save it as UTF-8 without BOM.", "info"))
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start]
        place = line + before.count(b"\n"), error.start - before.rfind(b"\n")
        message = f"The byte 0x{content[error.start]:02x} is not UTF-8."
        findings.append(_finding(file, *place, "not-utf-8", message, "Save the file as UTF-8."))
        return None, findings
    if "\r\n" in text:
        number = text.count("\n", 0, text.index("\r\n")) + line
        message = "Lines end with CR LF; they are read like LF."
        findings.append(_finding(file, number, 1, "line-ends", message, "Save it with LF line ends.", "info"))
    return text, findings


def _read_lines(file: Path, stream: IO[bytes], vocabulary: Vocabulary) -> Iterator[Record | Finding]:
    reader = io.BufferedReader(stream) if isinstance(stream, io.RawIOBase) else stream
    number = 0
    noted: set[str] = set()
    while content := reader.readline(MAX_LINE + 1):
        number += 1
        if len(content) > MAX_LINE and not content.endswith(b"\n"):
            message = f"The line is longer than {MAX_LINE:,} bytes; the rest of the file is not read."
            yield _finding(file, number, 1, "too-large", message, "Write one record a line.")
            return
        text, findings = _decode(file, content, number)
        for finding in findings:  # an old habit of a file is told once
            if finding.severity == "violation" or finding.rule not in noted:
                yield finding
            noted.add(finding.rule)
        if text is None:
            continue
        text = text.rstrip("\r\n")
        if not text.strip():
            yield _finding(file, number, 1, "blank-line", "The line is empty.", "Remove it.", "info")
            continue
        try:
            value = decode_json(text)
        except JsonError as error:
            yield _finding(file, number, error.offset + 1, "syntax", str(error), "Write one JSON object a line.")
            continue
        if _is_ledger(value):
            if "ledger" not in noted:
                noted.add("ledger")
                message = "This is a provenance ledger, not records; it is passed over."
                yield _finding(file, number, 1, "ledger", message, None, "info")
            continue
        yield from _make(value, Origin(str(file), number, text=text), vocabulary, raw=text)


def _is_ledger(value: Json) -> bool:
    return isinstance(value, dict) and "kind" not in value and {"id", "sha256", "added_in"} <= set(value)


def _make(value: Json, origin: Origin, vocabulary: Vocabulary, raw: str | None = None) -> Iterator[Record | Finding]:
    record, findings = make_record(value, origin, vocabulary, raw)
    yield from findings
    if record is not None:
        yield record


def _read_yaml(file: Path, text: str, vocabulary: Vocabulary) -> Iterator[Record | Finding]:
    try:
        for document in parse_yaml(text):
            nodes = document.items if isinstance(document, Sequence) else [document]
            for node in nodes:
                if isinstance(node, Mapping):
                    typist = Typist(vocabulary)
                    value: Json = typist.record(node)
                    origin = Origin(str(file), node.line, typist.places, start_column=node.column)
                else:
                    value, origin = None, Origin(str(file), node.line, {}, start_column=node.column)
                yield from _make(value, origin, vocabulary)
    except YamlError as error:
        fix = "Correct the YAML here; the records behind this place were not read."
        yield _finding(file, error.line, error.column, "syntax", str(error), fix)


def _read_snapshot(file: Path, text: str, vocabulary: Vocabulary) -> Iterator[Record | Finding]:
    """The records of a snapshot object, of a list of records, or the one record that the file is.

    Source: contract section 9.
    """
    try:
        start = _array_start(text)
        if start is not None:
            yield from _read_array(file, text, start, vocabulary)
        else:
            value = decode_json(text)
            first = len(text) - len(text.lstrip())
            line, column = place_of(text, first)
            origin = Origin(str(file), line, text=text, start=first, start_column=column)
            yield from _make(value, origin, vocabulary)
    except JsonError as error:
        line, column = place_of(text, error.offset)
        yield _finding(file, line, column, "syntax", str(error), "Correct the JSON here.")


def _array_start(text: str) -> int | None:
    """The offset behind the `[` of the array of records, or None if the text is no list and no snapshot."""
    first = len(text) - len(text.lstrip())
    if text[first : first + 1] == "[":
        return first + 1
    try:
        key = locate(text, ("records",))
    except (ValueError, RecursionError):
        return None  # not JSON: reading it as one value says where
    if key == first:
        return None
    value = text.index(":", key) + 1
    value += len(text[value : value + 1000]) - len(text[value : value + 1000].lstrip())
    return value + 1 if text[value : value + 1] == "[" else None


_GAP: Final = re.compile(r"[ \t\n\r]*")


def _read_array(file: Path, text: str, start: int, vocabulary: Vocabulary) -> Iterator[Record | Finding]:
    """The elements of an array from behind its `[` to its `]`, one at a time."""
    line, last = place_of(text, start)[0], start
    start = _skip(text, start)
    while text[start : start + 1] != "]":
        value, end = decode_json_prefix(text, start)
        line += text.count("\n", last, start)
        last = start
        column = start - text.rfind("\n", 0, start)
        origin = Origin(str(file), line, text=text, start=start, start_column=column)
        raw = text[start:end]
        yield from _make(value, origin, vocabulary, raw=raw if "\n" not in raw else None)
        start = _skip(text, end)
        if text[start : start + 1] == ",":
            start = _skip(text, start + 1)
        elif text[start : start + 1] != "]":
            raise JsonError("The list of records is cut off or lacks a comma here.", start)


def _skip(text: str, start: int) -> int:
    match = _GAP.match(text, start)
    return match.end() if match else start
