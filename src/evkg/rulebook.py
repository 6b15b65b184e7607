"""The book of rules: every rule in the words of its shape, with a wrong line and a right one. `make docs` writes it.

python -m evkg.rulebook tests/records docs/rules.md
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evkg.errors import UsageError
from evkg.expected import expected_fields
from evkg.namespaces import EVKG, NS, RDFS, SH
from evkg.shapegraph import ShapeGraph
from evkg.shapes import Shapes
from evkg.specimen import FOLDERS, MARK, Specimen, in_words, specimens
from evkg.vocabulary import load_vocabulary

_WHY: Final = (SH + "description", RDFS + "comment")
_DECLARED: Final = re.compile(r"^s:([\w-]+) ", re.MULTILINE)
_KEY: Final = re.compile(r"(?:- )?\{?([\w.-]+):")
_WORDS: Final = {
    "Violation": "Violation.",
    "Warning": "Warning.",
    "Info": "Note.",
}
_HEAD: Final = """\
# The rules

Every rule: its name as `evkg check` prints it, what it says, what to write, and lines that break it and that do not.
First those that the shapes check, by the file in `shapes/` that holds them; then
[those that no shape can hold](#rules-without-a-shape), with the words of the finding on their example. A violation
keeps a release from being made, unless as a draft; a warning is worth a look; a note only tells.

This page is generated from the shapes and from `tests/records/`; renew it with `make docs`.
"""
_APART: Final = """\
## Rules without a shape

What never becomes a statement of the graph, and what only several records show, no shape can see. These rules are
checked all the same. Severity and words are those of the finding on the example; with other values they say others.
"""
_IN_WORDS: Final = """\
## What no example can show
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One rule of the book: words of its shape; what is wrong in its example; a wrong and a right line, if shown."""

    name: str
    severity: str
    message: str
    why: str | None
    fix: str
    example: str
    wrong: str | None
    right: str | None


def render_rules(shapes: Shapes, examples: Path) -> str:
    """The book as Markdown.

    `examples` holds `invalid/<rule>.yaml`, `valid/<kind>.yaml` and the folders of `specimen.FOLDERS`.

    Raises: UsageError: a rule of a shape has no example, or an example does not break its rule.
    """
    parts = [_HEAD]
    for title, entries in _sections(shapes, examples):
        if entries:
            parts += [f"## {title}\n", *map(_render, entries)]
    parts.append(_APART)
    shown: set[str] = set()
    for folder, title in FOLDERS.items():
        # A rule that one record can break as well as several has an example of each, and one place in the book.
        entries = [_of_specimen(one) for one in specimens(examples / folder, shapes) if one.rule not in shown]
        shown.update(entry.name for entry in entries)
        parts += [f"## {title}\n", *map(_render, entries)]
    words = [line for rule, text in in_words(examples / "invalid-files") for line in (f"### {rule}\n", f"{text}\n")]
    return "\n".join([*parts, _IN_WORDS, *words])


def _of_specimen(one: Specimen) -> Entry:
    finding = one.finding
    return Entry(
        name=one.rule,
        severity=finding.severity.capitalize(),
        message=finding.message,
        why=one.why,
        fix=finding.fix or "",
        example=one.example,
        wrong=one.wrong,
        right=one.right,
    )


def _sections(shapes: Shapes, examples: Path) -> Iterator[tuple[str, list[Entry]]]:
    """(title, rules) of each file of shapes, in the order in which the file has them."""
    graph = ShapeGraph(shapes)
    fields = {
        item.rule: item.name.rpartition(".")[2]
        for items in expected_fields(shapes, load_vocabulary()).values()
        for item in items
    }
    for file in sorted(shapes.files, key=lambda file: (file.stem == "completeness", file.stem)):
        names = dict.fromkeys(_DECLARED.findall(file.read_text(encoding="utf-8")))
        entries = [_entry(graph, name, examples, fields.get(name)) for name in names if _says(graph, name)]
        yield file.stem.replace("-", " ").capitalize(), entries


def _says(graph: ShapeGraph, name: str) -> bool:
    return graph.one(f"{NS}shapes#{name}", SH + "message") is not None


def _entry(graph: ShapeGraph, name: str, examples: Path, field: str | None) -> Entry:
    shape = f"{NS}shapes#{name}"
    file = examples / "invalid" / f"{name}.yaml"
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"The rule {name} has no example: {file} cannot be read.") from error
    marked = next((line for line in lines if MARK in line), None)
    wrong = marked.partition(MARK)[0].strip() if marked is not None else None
    key = field or (match[1] if wrong and (match := _KEY.match(wrong)) else None)
    kind = next((line.removeprefix("kind: ") for line in lines if line.startswith("kind: ")), "")
    return Entry(
        name=name,
        severity=(graph.one(shape, SH + "severity") or SH + "Violation").removeprefix(SH),
        message=graph.one(shape, SH + "message") or "",
        why=next((text for predicate in _WHY if (text := graph.one(shape, predicate))), None),
        fix=graph.one(shape, EVKG + "fixHint") or "",
        example=lines[0].removeprefix("# "),
        wrong=wrong,
        right=_right(examples / "valid" / f"{kind}.yaml", key, wrong),
    )


def _right(valid: Path, key: str | None, wrong: str | None) -> str | None:
    """The line of the complete record of a kind that writes the same key, where it says something else."""
    if key is None or not valid.is_file():
        return None
    for line in map(str.strip, valid.read_text(encoding="utf-8").splitlines()):
        text = re.sub(r"\s+#.*", "", line)
        match = _KEY.match(text)
        if match and match[1] == key and not text.startswith("-") and text != wrong and not text.endswith(":"):
            return text
    return None


def _render(entry: Entry) -> str:
    lines = [f"### {entry.name}", "", f"**{_WORDS[entry.severity]}** {entry.message}", ""]
    if entry.why:
        lines += [f"Why: {entry.why}", ""]
    if entry.fix:
        lines += [f"What to write: {entry.fix}", ""]
    lines += [f"Example: {entry.example}", ""]
    verdict = "noted" if entry.severity == "Info" else "wrong"
    shown = [(entry.wrong, f"{verdict}: leave it out" if entry.right == "" else verdict), (entry.right, "right")]
    if any(line for line, _ in shown):
        lines.append("```text")  # `yaml` is for whole records
        lines += [f"{line}  # {verdict}" for line, verdict in shown if line]
        lines += ["```", ""]
    return "\n".join(lines)


def write_rules(examples: Path, target: Path) -> None:
    """Write the book of the shapes that evkg ships.

    Raises: UsageError: a rule has no example, or the file cannot be written.
    """
    text = render_rules(Shapes(), examples)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror or error}.") from error


if __name__ == "__main__":
    write_rules(Path(sys.argv[1]), Path(sys.argv[2]))
