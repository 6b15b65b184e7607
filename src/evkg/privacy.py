"""Private data in public fields: what can be told reliably, and never quoted.

Every field of a record is published, so an address of a person or the key to an account must not be in one.
Telephone numbers are not looked for: a table of figures is full of what looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evkg.errors import excerpt
from evkg.finding import Finding
from evkg.jsontext import Json
from evkg.record import Record
from evkg.scalar import Path

#: Beginnings of keys that their issuers document, and the pattern of the whole key.
#: Source: the issuers' own notes on the formats of their tokens; RFC 7519 (JWT); RFC 7468 (PEM).
_SECRETS: Final[tuple[tuple[str, str], ...]] = (
    *((f"gh{letter}_", rf"gh{letter}_[A-Za-z0-9]{{36,}}") for letter in "pousr"),
    ("github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    ("glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("hf_", r"hf_[A-Za-z]{30,}"),
    ("sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("sk-proj-", r"sk-proj-[A-Za-z0-9_-]{20,}"),
    ("AKIA", r"AKIA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("AIza", r"AIza[0-9A-Za-z_-]{35}"),
    ("xox", r"xox[abeprs]-[0-9A-Za-z-]{10,}"),
    ("npm_", r"npm_[A-Za-z0-9]{36}"),
    ("pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    ("eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("PRIVATE KEY-----", r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----"),
    ("X-Amz-Signature=", r"X-Amz-Signature=[0-9a-f]{32,}"),
)
_SECRET: Final = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(pattern for _, pattern in _SECRETS)})")
_ADDRESS: Final = re.compile(
    r"(?<![A-Za-z0-9._%+/-])(?P<local>[A-Za-z0-9][A-Za-z0-9._%+-]{0,63})@(?P<host>(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,18})"
    r"(?![A-Za-z0-9-]|\.[A-Za-z0-9])"
)
#: Local parts that belong to no person: `git@github.com:…` and the like.
_NOBODY: Final = frozenset({"git", "noreply", "no-reply", "donotreply", "do-not-reply"})
#: Hosts that RFC 2606 and RFC 6761 keep free for examples.
_EXAMPLES: Final = re.compile(r"(?:.*\.)?(?:example(?:\.(?:com|org|net))?|invalid|test|localhost)\Z", re.IGNORECASE)
#: Endings of file names: `model@v1.json` names a version of a file.
_FILES: Final = frozenset(
    """
    py r sh md json jsonl yaml yml csv tsv txt xml xlsx gz zip tar
    pt pth bin ckpt onnx safetensors parquet pdf html ipynb
    """.split()
)
_HOME: Final = re.compile(
    r"(?:(?<![A-Za-z0-9._~-])(?:file://)?/(?:home|Users)/(?P<unix>[A-Za-z0-9._-]+)"
    r"|\b[A-Za-z]:\\{1,2}Users\\{1,2}(?P<windows>[A-Za-z0-9._-]+))"
)
#: Names that stand for any user.
_ANYONE: Final = frozenset("user username me you name your-name runner ubuntu shared public".split())
_MARKS: Final = ("@", "/home/", "/Users/", "Users\\", *(beginning for beginning, _ in _SECRETS))


def check_private(record: Record) -> Iterator[Finding]:
    """Findings on addresses, keys and home folders anywhere in a record; the text itself is never quoted.

    Source: contract section 2 (private data are refused).
    """
    line = record.line
    if "\\u" not in line and not any(mark in line for mark in _MARKS):
        return
    for path, text in _texts(record.data, ()):
        if any(mark in text for mark in _MARKS):
            yield from _in_text(record, path, text)


def _texts(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    """(path, text) of every text of a record, and of every key, which is told at its object."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield path, key
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, (*path, index))


def _in_text(record: Record, path: Path, text: str) -> Iterator[Finding]:
    name = excerpt(".".join(str(step) for step in path if step != "attributes")) or "The record"
    if _SECRET.search(text):
        message = f"{name} holds what looks like a secret key or token."
        fix = "Remove it, and have the key withdrawn where it was issued: it has been written down in the clear."
        yield _unquoted(record, "violation", "secret-in-text", path, message, fix)
    elif any(_is_person(match) for match in _ADDRESS.finditer(text)):
        message = f"{name} holds an e-mail address, and every field of a record is published."
        fix = "Remove the address; name the paper, the page or the repository instead."
        yield _unquoted(record, "violation", "address-in-text", path, message, fix)
    elif any(_is_home(match) for match in _HOME.finditer(text)):
        message = f"{name} holds the path of somebody's home folder, which names a person and helps no reader."
        fix = "Write the path from the project's or the archive's folder on."
        yield _unquoted(record, "warning", "home-folder-in-text", path, message, fix)


def _is_person(match: re.Match[str]) -> bool:
    host = match["host"].casefold()
    is_file = host.count(".") == 1 and host.rpartition(".")[2] in _FILES
    return match["local"].casefold() not in _NOBODY and not _EXAMPLES.match(host) and not is_file


def _is_home(match: re.Match[str]) -> bool:
    return (match["unix"] or match["windows"]).casefold().strip(".") not in _ANYONE | {""}


def _unquoted(record: Record, severity: str, rule: str, path: Path, message: str, fix: str) -> Finding:
    """A finding without the text as written: reports are passed on."""
    return record.finding(severity, rule, path, message, fix)._replace(value=None)
