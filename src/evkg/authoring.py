"""The commands that help while records are written: `schema`, `new`, `fix`."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path

from evkg.errors import UsageError

#: Exit status when there is something to do: a stale file, a stub to be added.
EXIT_OPEN = 1


def schema(options: argparse.Namespace) -> int:
    """write the JSON Schemas of records for editors, or check that they are fresh"""
    from evkg.schema import render_schemas
    from evkg.shapes import Shapes
    from evkg.vocabulary import load_vocabulary

    files = render_schemas(Shapes(), load_vocabulary())
    if options.output == "-" and not options.check:
        documents = {name: json.loads(text) for name, text in files.items()}
        print(json.dumps(documents, ensure_ascii=False, indent=2))
        return 0
    folder = Path("schema" if options.output in (None, "-") else options.output)
    if options.check:
        stale = [name for name, text in files.items() if _text(folder / name) != text.encode()]
        over = sorted(file.name for file in folder.glob("*.json") if file.name not in files)
        for name in stale:
            print(f"{folder / name} is {'stale' if (folder / name).is_file() else 'missing'}.")
        for name in over:
            print(f"{folder / name} belongs to no kind of record.")
        if stale or over:
            print(f"Renew them with: evkg schema{'' if options.output is None else f' -o {options.output}'}")
        return EXIT_OPEN if stale or over else 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}.") from error
    print(f"{len(files)} schemas in {folder}")
    return 0


def _text(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def new(options: argparse.Namespace) -> int:
    """write a commented skeleton of a new record, with every expected field to be filled"""
    from evkg.shapes import Shapes
    from evkg.skeleton import make_skeleton
    from evkg.vocabulary import load_vocabulary

    text = make_skeleton(options.kind, load_vocabulary(), Shapes(), options.id)
    if options.output is None:
        print(text, end="")
        return 0
    try:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        with options.output.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise UsageError(f"{options.output} is already there; nothing was written.") from error
    except OSError as error:
        raise UsageError(f"{options.output} cannot be written: {error.strerror or error}.") from error
    print(options.output)
    return 0


def fix(options: argparse.Namespace) -> int:
    """show which entries a file of records lacks under missing_metadata, to be decided, and add them with --write"""
    from evkg.filetext import file_name
    from evkg.finding import counted, printable
    from evkg.patch import render_diff, replace_file
    from evkg.shapes import Shapes
    from evkg.stub import decide_note, stub_file
    from evkg.vocabulary import load_vocabulary

    vocabulary = load_vocabulary()
    stubbed = stub_file(options.file, vocabulary, Shapes())
    name = printable(file_name(options.file))
    diff = render_diff(name, stubbed.text, stubbed.insertions)
    if sys.stdout.isatty():  # the text of a record must not steer a terminal
        diff = "".join(f"{printable(line)}\n" for line in diff.split("\n")[:-1])
    print(diff, end="", flush=True)
    for line in stubbed.passed_over:
        print(printable(line), file=sys.stderr)
    if not stubbed.stubs:
        if not stubbed.passed_over:
            print(f"{name}: every expected field has a value or a reason.", file=sys.stderr)
        return EXIT_OPEN if stubbed.passed_over else 0
    fields = counted(sum(len(stub.fields) for stub in stubbed.stubs), "field")
    told = f"{fields} in {counted(len(stubbed.stubs), 'record')}"
    if not options.write:
        print(f"{told} to be decided. Add the entries with: evkg fix --write {shlex.quote(name)}", file=sys.stderr)
        return EXIT_OPEN
    replace_file(options.file, stubbed.before, stubbed.after)
    print(f"{name}: {told} written. {decide_note(vocabulary)}", file=sys.stderr)
    return EXIT_OPEN if stubbed.passed_over else 0
