"""The command line `evkg`: its options, and one clear line for everything that goes wrong.

Results go to stdout, progress to stderr. Exit status: 0 fine, 1 findings that gate, 2 wrong use or failure.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from evkg.authoring import fix, new, schema
from evkg.changes import diff
from evkg.checking import check
from evkg.commands import ask, build, context, export, query, show
from evkg.comparing import compare
from evkg.completeness import gaps
from evkg.errors import EvkgError, UsageError
from evkg.exporting import EXPORTS
from evkg.finding import printable
from evkg.hosting import add_serve_options, serve
from evkg.progress import progress_end
from evkg.reporting import FORMATS

_QUERY_FORMATS = ("table", "json", "xml", "csv", "tsv", "turtle", "nt", "jsonld", "rdfxml")
_EXIT_FAILURE = 2


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line and exit status 2; options are written out."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help and version; argparse would be silent where that fails."""
        print(message, end="", file=file, flush=True)


class _Version(argparse.Action):
    """Prints the version and ends. To look it up takes as long as all the rest of `--help`, so only who asks waits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(_version())
        parser.exit()


def _moment(text: str) -> Any:
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        if moment.year < 1970:
            raise ValueError("no release was made before there were computers to make it")
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no ISO time such as 2026-10-15T10:56:26Z") from error
    return moment


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < (seconds := float(text)) < math.inf:
            return seconds
    raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = _Parser(prog="evkg", description="Evidence knowledge graph: records → validated graph → answers.")
    text = "show the version and exit"
    parser.add_argument("--version", action=_Version, nargs=0, default=argparse.SUPPRESS, help=text)
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)

    def command(run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        sub = commands.add_parser(run.__name__, help=run.__doc__, description=_sentence(run.__doc__ or ""))
        sub.set_defaults(run=run)
        return sub

    def dataset(sub: argparse.ArgumentParser, formats: Sequence[str]) -> None:
        text = "folder, or FILE.yaml|.jsonl|.json, each also .gz (default: ./graph)"
        sub.add_argument("dataset", nargs="?", type=Path, default=Path("graph"), metavar="DATASET", help=text)
        sub.add_argument("--format", choices=formats, default="text")
        sub.add_argument("--open", action="store_true", help="references outside the data set are information only")

    def release(sub: argparse.ArgumentParser) -> None:
        text = "release id or folder (default: build/current)"
        sub.add_argument("--release", default="build/current", metavar="ID|DIR", help=text)

    def limit(sub: argparse.ArgumentParser, default: float) -> None:
        text = f"limit for one query (default: {default:g})"
        sub.add_argument("--time-limit", type=_seconds, default=default, metavar="SECONDS", help=text)

    sub = command(check)
    dataset(sub, FORMATS)
    engines = ("auto", "pyshacl", "fast")
    sub.add_argument("--engine", choices=engines, default="auto", help="SHACL validator (default: auto, by size)")
    sub.add_argument("--strict", action="store_true", help="warnings gate too")
    sub.add_argument("--watch", action="store_true", help="check again each time a file is saved, until interrupted")
    text = "check every record, also those that have not changed since the last check"
    sub.add_argument("--no-cache", action="store_true", help=text)
    sub.add_argument("--full", action="store_true", help="list every finding, also when many are alike")
    sub = command(build)
    dataset(sub, ("text", "json"))
    sub.add_argument(
        "--out", type=Path, default=Path("build"), metavar="DIR", help="where releases are kept (default: ./build)"
    )
    sub.add_argument(
        "--at", type=_moment, metavar="ISO-TIME", help="time of the release (default: SOURCE_DATE_EPOCH, then now)"
    )
    sub.add_argument("--draft", action="store_true", help="make the release in spite of violations, and say so in it")
    text = "where records are read and checked: processes of this machine, by evkg or by Dask (default: local)"
    sub.add_argument("--runner", choices=("local", "dask"), default="local", help=text)
    text = "a Dask scheduler that runs elsewhere, such as tcp://HOST:8786; all machines must share the folders"
    sub.add_argument("--scheduler", metavar="ADDRESS", help=text)
    sub = command(gaps)
    text = "folder, or FILE.yaml|.jsonl|.json, each also .gz (default: ./graph)"
    sub.add_argument("dataset", nargs="?", type=Path, default=Path("graph"), metavar="DATASET", help=text)
    text = "a line for each field of a kind, for each source, or for each field (default: kind)"
    sub.add_argument("--by", choices=("kind", "source", "field"), default="kind", help=text)
    sub.add_argument("--format", choices=("text", "json", "csv"), default="text")
    sub = command(query)
    sub.add_argument("query", metavar="QUERY|FILE.rq|-")
    sub.add_argument("--format", choices=_QUERY_FORMATS, default="table")
    release(sub)
    limit(sub, 60.0)
    sub = command(ask)
    sub.add_argument("name", nargs="?", metavar="NAME")
    sub.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="set a parameter of the question")
    sub.add_argument("--format", choices=("table", "json"), default="table")
    limit(sub, 60)
    release(sub)
    sub = command(show)
    sub.add_argument("id", metavar="ID")
    sub.add_argument("--format", choices=("text", "jsonld", "turtle", "json"), default="text")
    release(sub)
    sub = command(compare)
    sub.add_argument("id", nargs="*", metavar="ID", help="the ids of two to 20 results")
    text = "leave a condition out, such as unit or budget; the answer says so (may be given again)"
    sub.add_argument("--ignore", action="append", default=[], metavar="CONDITION", help=text)
    sub.add_argument("--format", choices=("text", "json"), default="text")
    release(sub)
    sub = command(diff)
    sub.add_argument("before", metavar="RELEASE", help="id or folder of the earlier release")
    sub.add_argument("after", metavar="RELEASE", help="id or folder of the later release")
    sub.add_argument("--format", choices=("text", "json"), default="text")
    sub = command(export)
    sub.add_argument("what", choices=tuple(EXPORTS), metavar="FORMAT", help=_exports())
    sub.add_argument("--format", choices=("csv", "jsonl", "nq"), help="csv or jsonl for evidence (default: csv)")
    sub.add_argument("--out", type=Path, metavar="FILE", help="the file to write (default: standard output)")
    sub.add_argument("--record", metavar="ID", help="only this record")
    sub.add_argument("--scope", metavar="SCOPE", help="only evidence of this scope: individual_claim, …")
    sub.add_argument("--source", metavar="ID", help="only evidence that cites this source")
    release(sub)
    sub = command(serve)
    release(sub)
    add_serve_options(sub)
    limit(sub, 30.0)
    sub = command(context)
    sub.add_argument("--check", action="store_true", help="only say whether the file is fresh")
    text = "the file to write, - for standard output (default: ontology/context.jsonld)"
    sub.add_argument("-o", "--output", metavar="FILE|-", help=text)
    sub = command(new)
    sub.add_argument("kind", metavar="KIND", help="the kind of record, such as result or source")
    sub.add_argument("--id", metavar="ID", help="the id of the record (default: to be decided)")
    text = "the file to write, which must not be there yet (default: standard output)"
    sub.add_argument("-o", "--output", type=Path, metavar="FILE", help=text)
    sub = command(fix)
    sub.add_argument("file", type=Path, metavar="FILE", help="one file of records, not packed")
    sub.add_argument("--write", action="store_true", help="change the file (default: only show the difference)")
    sub = command(schema)
    sub.add_argument("--check", action="store_true", help="only say whether the files are fresh")
    text = "the folder to write, - for all in one on standard output (default: ./schema)"
    sub.add_argument("-o", "--output", metavar="DIR|-", help=text)
    return parser


def _exports() -> str:
    return "; ".join(f"{name}: {export.meaning}" for name, export in EXPORTS.items())


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _version() -> str:
    from importlib import metadata

    return f"evkg {metadata.version('evkg')}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status; nothing a user types brings a traceback."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _open_closed_streams()
    try:
        options = make_parser().parse_args(words)
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except EvkgError as error:
        return _fail(str(error), words)
    except OSError as error:
        if error.errno in _UNWRITABLE and error.filename is None:
            return _give_up(error)
        return _fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", words)
    except UnicodeEncodeError as error:
        return _fail(f"The output cannot be written in {error.encoding}; set PYTHONIOENCODING=utf-8.", words)
    except MemoryError:
        return _fail("There is not enough memory for this.", words)
    except KeyboardInterrupt:
        progress_end()
        _say("evkg: Interrupted.")
        return 130


def _open_closed_streams() -> None:
    """Give the standard streams that the caller closed to nobody: Python has None there, and files would take
    their numbers."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115 - as long as the process
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115


#: What writing to standard output fails with: nobody reads it any more, the disk is full, the device is broken.
_UNWRITABLE = (errno.EPIPE, errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EBADF)


def _give_up(error: OSError) -> int:
    """Standard output cannot be written, so nothing more is; a reader who left is told nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno != errno.EPIPE:
        _say(f"evkg: The output cannot be written: {error.strerror}")
    return _EXIT_FAILURE


def _fail(message: str, words: Sequence[str]) -> int:
    """One clear line on stderr; with `--format json` also an object on stdout, so that it stays JSON."""
    message = printable(message)
    progress_end()
    wants_json = any(w == "--format=json" for w in words) or any(
        a == "--format" and b == "json" for a, b in pairwise(words)
    )
    if wants_json:
        try:
            print(json.dumps({"error": message}), flush=True)
        except OSError as error:
            _give_up(error)
    _say(f"evkg: {message}")
    return _EXIT_FAILURE


def _say(line: str) -> None:
    """A line on stderr; where that cannot be written, the exit status alone tells."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


if __name__ == "__main__":
    sys.exit(main())
