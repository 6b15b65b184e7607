"""The text of a file: plain or gzipped, UTF-8 only, of a bounded size."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

from evkg.finding import Finding, Severity

#: The longest line that is read from a file of lines (bytes, after decompression).
MAX_LINE: Final = 32 * 1024 * 1024

#: What a file or its compressed data can fail with while it is read.
READ_ERRORS: Final = (OSError, zlib.error, EOFError)

_MARK: Final = b"\xef\xbb\xbf"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")


def file_finding(
    file: Path,
    place: tuple[int, int],
    rule: str,
    message: str,
    fix: str,
    *,
    severity: Severity = "violation",
    value: str | None = None,
) -> Finding:
    """A finding about a file at (line, column), both from 1.

    >>> file_finding(Path("a.yaml"), (1, 2), "syntax", "A tab.", "Use spaces.").place
    'a.yaml:1:2'
    """
    line, column = place
    name = file_name(file)
    return Finding(severity, rule, message, file=name, line=line, column=column, value=value, fix=fix)


def file_name(file: Path) -> str:
    """The name of a file as it was given, with bytes that are no UTF-8 replaced.

    >>> file_name(Path("graph/records/families.yaml"))
    'graph/records/families.yaml'
    """
    return os.fsencode(file).decode(errors="replace")


def unreadable(file: Path, line: int, error: BaseException) -> Finding:
    """The finding for a file that fails with one of `READ_ERRORS` at a line.

    >>> unreadable(Path("a.jsonl.gz"), 3, EOFError("cut off")).message
    'The gzip data are broken: cut off.'
    """
    if isinstance(error, gzip.BadGzipFile) or not isinstance(error, OSError):
        message = f"The gzip data are broken: {str(error).rstrip('.')}."
        return file_finding(file, (line, 1), "unreadable-file", message, "Pack the file again.")
    message = f"The file cannot be read: {error.strerror or error}."
    return file_finding(file, (line, 1), "unreadable-file", message, "See that the file exists and may be read.")


def open_bytes(file: Path) -> IO[bytes]:
    """A stream of the bytes of a file, decompressed where its name ends with `.gz`.

    Raises: OSError: it cannot be opened, or is empty where gzip data are expected.
    """
    if not file.name.endswith(".gz"):
        return file.open("rb")
    if file.stat().st_size == 0:
        raise gzip.BadGzipFile("the file is empty")
    return gzip.open(file, "rb")  # type: ignore[return-value]


def read_text(file: Path, limit: int) -> Iterator[str | Finding]:
    """The whole text of a file behind the findings about it; no text where it cannot be had.

    Line ends of CR alone are read as LF: neither YAML nor JSON gives them another meaning. `limit`
    counts bytes after decompression.
    """
    try:
        with open_bytes(file) as stream:
            content = stream.read(limit + 1)
    except READ_ERRORS as error:
        yield unreadable(file, 1, error)
        return
    if len(content) > limit:
        message = f"The file is larger than {limit:,} bytes."
        yield file_finding(file, (1, 1), "too-large", message, "Split it, or write it as JSON Lines.")
        return
    text, findings = decode_text(file, content)
    yield from findings
    if text is not None:
        if text.count("\r") > text.count("\r\n"):
            message = "Lines end with CR alone; they are read like LF."
            fix = "Save the file with LF line ends."
            yield file_finding(file, (1, 1), "line-ends", message, fix, severity="info")
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        yield text


class Span(NamedTuple):
    """A line of a file that is not compressed: where it begins and how long it is (bytes), its number from 1.

    With the SHA-256 of its bytes, it is seen when the file has changed since.
    """

    start: int
    length: int
    line: int
    sha256: bytes | None = None


def raw_lines(file: Path) -> Iterator[bytes]:
    """The lines of a file as bytes with their line ends; of one longer than `MAX_LINE` only the beginning, as the last.

    Raises: one of `READ_ERRORS`.
    """
    with open_bytes(file) as stream:
        is_first = True
        while content := stream.readline(MAX_LINE + 1):
            yield content
            if _is_too_long(content) or (is_first and content.startswith(_UTF16)):
                return
            is_first = False


def _is_too_long(content: bytes) -> bool:
    return len(content) > MAX_LINE and not content.endswith(b"\n")


def read_lines(file: Path, spans: Iterable[Span] | None = None) -> Iterator[tuple[int, str] | Finding]:
    """(number from 1, text without its line end) of each line of a file, one in memory at a time; or only of `spans`.

    A line that is no UTF-8 gives a finding and is passed over; one longer than `MAX_LINE` ends the file.
    """
    number, noted = 0, set()
    try:
        for number, content in enumerate(raw_lines(file), 1) if spans is None else _spanned(file, spans):
            if _is_too_long(content):
                message = f"The line is longer than {MAX_LINE:,} bytes; the rest of the file is not read."
                yield file_finding(file, (number, 1), "too-large", message, "Write one record a line.")
                return
            text, findings = decode_text(file, content, number)
            for finding in findings:  # an old habit of a file is told once
                if finding.severity == "violation" or finding.rule not in noted:
                    yield finding
                noted.add(finding.rule)
            if text is not None:
                yield number, text.rstrip("\r\n")
    except READ_ERRORS as error:
        yield unreadable(file, number + 1, error)


def _spanned(file: Path, spans: Iterable[Span]) -> Iterator[tuple[int, bytes]]:
    with file.open("rb") as stream:
        for span in spans:
            if stream.tell() != span.start:
                stream.seek(span.start)
            content = stream.read(span.length)
            if span.sha256 is not None and hashlib.sha256(content).digest() != span.sha256:
                raise OSError(errno.EBUSY, "it was changed while it was read; check again")
            yield span.line, content


def decode_text(file: Path, content: bytes, line: int = 1) -> tuple[str | None, list[Finding]]:
    """The text of bytes that begin at a line, and findings on its encoding and line ends.

    >>> decode_text(Path("a.yaml"), "name: é".encode("latin-1"))[1][0].place
    'a.yaml:1:7'
    """
    findings: list[Finding] = []
    if content.startswith(_MARK):
        content = content[len(_MARK) :]
        message = "A byte-order mark stands here; it is passed over."
        fix = "Save the file as UTF-8 without it."
        findings.append(file_finding(file, (line, 1), "byte-order-mark", message, fix, severity="info"))
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        findings.append(_not_utf8(file, content, error, line))
        return None, findings
    if "\r\n" in text:
        number = text.count("\n", 0, text.index("\r\n")) + line
        message = "Lines end with CR LF; they are read like LF."
        fix = "Save the file with LF line ends."
        findings.append(file_finding(file, (number, 1), "line-ends", message, fix, severity="info"))
    return text, findings


def _not_utf8(file: Path, content: bytes, error: UnicodeDecodeError, line: int) -> Finding:
    """Where the first byte that is no UTF-8 stands, its column counted in characters."""
    before = content[: error.start].decode()
    place = line + before.count("\n"), len(before) - before.rfind("\n")
    byte = f"0x{content[error.start]:02x}"
    message = f"The byte {byte} is not UTF-8."
    if content.startswith(_UTF16):
        message = f"The byte {byte} is not UTF-8; the text seems to be UTF-16."
    return file_finding(file, place, "not-utf-8", message, "Save the file as UTF-8.", value=byte)
