"""The commands of `evkg`: each a few lines over one public function; returns its exit status.

Heavy libraries are imported by the command that needs them, so `evkg --help` is instant.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evkg.checking import EXIT_FINDINGS, print_checked
from evkg.errors import QueryLimitError, UsageError
from evkg.progress import progress_end, show_progress

if TYPE_CHECKING:
    from evkg.release import Release


def build(options: argparse.Namespace) -> int:
    """check a data set and make a release of it: graph, records, reports and store"""
    from evkg.build import build_release
    from evkg.pool import Runner, working

    runner: Runner = working
    if options.scheduler is not None or options.runner == "dask":
        from evkg.cluster import dask_runner

        runner = dask_runner(options.scheduler)
        # Other machines know nothing of the folder that this command runs in.
        options.dataset, options.out = options.dataset.absolute(), options.out.absolute()
    built = build_release(
        options.dataset,
        options.out,
        at=options.at,
        is_open=options.open,
        draft=options.draft,
        progress=show_progress,
        runner=runner,
    )
    progress_end()
    if options.format == "json":
        from evkg.finding import render_json

        document = json.loads(render_json(built.checked.findings, built.checked.count))
        document["release"] = built.release.id if built.release else None
        print(json.dumps(document, ensure_ascii=False, indent=2))
    elif built.release is None:
        print_checked(built.checked, "text")
        print(f"No release was made. The reports are in {built.report}.")
    else:
        from evkg.finding import counted

        counts = built.release.manifest["counts"]
        what = "release" if built.release.conforms else "DRAFT with violations:"
        print(
            f"{what} {built.release.id}: {counts['records']} records, {counts['quads']} quads; "
            f"{counted(counts['violations'], 'violation')}, {counted(counts['warnings'], 'warning')}, "
            f"{counted(counts['infos'], 'info')}"
        )
        print(f"in {built.report}")
    return 0 if built.release else EXIT_FINDINGS


def query(options: argparse.Namespace) -> int:
    """run a SPARQL query: its text, a file FILE.rq, or - for standard input"""
    from evkg.release import STORE
    from evkg.release import open as open_release
    from evkg.single_query import answer_once
    from evkg.sparql import read_query
    from evkg.store import is_graph

    store = open_release(options.release).folder / STORE
    read = read_query(_query_text(options.query))
    name = options.format
    if name == "table":
        name = "turtle" if is_graph(read) else "json"
    try:
        answer = answer_once(store, read.text, seconds=options.time_limit, format_name=name)
    except QueryLimitError as error:
        damage = f"If simple queries end like this too, the store in {store} is damaged: build the release again."
        raise QueryLimitError(f"{error} {damage}") from error
    if options.format == "table" and not is_graph(read):
        _print_answer(answer.body)
        return 0
    sys.stdout.buffer.write(answer.body)
    sys.stdout.buffer.flush()
    return 0


def _query_text(source: str) -> str:
    try:
        if source == "-":
            if sys.stdin is None:
                raise UsageError("The standard input is closed.")
            return sys.stdin.read()
        if source.endswith(".rq"):
            return Path(source).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        name = "The standard input" if source == "-" else source
        raise UsageError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return source


def _print_answer(body: bytes) -> None:
    import pyoxigraph as ox

    from evkg.store import rows
    from evkg.terminal import render_table

    result = ox.parse_query_results(body, format=ox.QueryResultsFormat.JSON)
    if isinstance(result, ox.QueryBoolean):
        print("yes" if result else "no")
        return
    columns = [variable.value for variable in result.variables]
    table = [
        [None if term is None else getattr(term, "value", str(term)) for term in row.values()] for row in rows(result)
    ]
    print(render_table(columns, table))


def ask(options: argparse.Namespace) -> int:
    """answer a saved question; without a name, list the questions"""
    from evkg.asking import check_values, read_rows
    from evkg.questions import find_question, load_questions
    from evkg.release import STORE
    from evkg.release import open as open_release
    from evkg.single_query import answer_once

    if options.name is None:
        for question in load_questions().values():
            print(f"{question.name}\n    {question.question}")
            for parameter in question.parameters:
                setting = shlex.quote(f"{parameter.name}={parameter.default}")
                print(f"    --set {setting}  {parameter.description}")
        return 0
    question = find_question(options.name)
    release = open_release(options.release)
    values = _settings(options.set)
    check_values(question, values, release)
    text = question.with_values(values)
    answer = read_rows(answer_once(release.folder / STORE, text, seconds=options.time_limit, format_name="json").body)
    if options.format == "json":
        print(json.dumps(_answer_json(question.title, release, answer), ensure_ascii=False, indent=2))
        return 0
    from evkg.terminal import render_table

    print(question.question)
    for name, value in values.items():
        print(f"  with {name} = {value}")
    print("")
    table = [[None if value is None else str(value) for value in row.values()] for row in answer]
    print(render_table(answer.variables, table))
    print("")
    for caveat in question.caveats:
        print(f"Note: {caveat}")
    print(f"Release {release.id}{'' if release.conforms else ' (DRAFT with violations)'}")
    return 0


def _answer_json(title: str, release: Release, answer: Any) -> dict[str, Any]:
    rows = [
        {name: None if v is None else v if isinstance(v, bool | int) else str(v) for name, v in row.items()}
        for row in answer
    ]
    return {"question": title, "release": release.id, "conforms": release.conforms, "rows": rows}


def _settings(pairs: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--set wants name=value, not {pair!r}.")
        found[name] = value
    return found


def show(options: argparse.Namespace) -> int:
    """show one record: as text, JSON-LD, Turtle, or as it was read"""
    from evkg.release import open as open_release
    from evkg.terminal import render_view
    from evkg.view import view_record

    release = open_release(options.release)
    if options.format == "jsonld":
        print(json.dumps(release.jsonld(options.id), ensure_ascii=False, indent=2))
    elif options.format == "turtle":
        print(release.turtle(options.id), end="")
    elif options.format == "json":
        print(release.record_line(options.id))
    else:
        print(render_view(view_record(release, options.id)))
    return 0


def export(options: argparse.Namespace) -> int:
    """export a release: evidence (a table of statements and sources), jsonld, or nquads"""
    from evkg.evidence import Selection
    from evkg.exporting import export_lines, write_export
    from evkg.release import open as open_release

    selection = Selection(options.record, options.scope, options.source)
    lines = export_lines(open_release(options.release), options.what, options.format, selection)
    if options.out is None:
        for line in lines:
            sys.stdout.buffer.write(line.encode())
        sys.stdout.buffer.flush()
        return 0
    count = write_export(lines, options.out, lambda text: show_progress(text, 0, 0))
    progress_end()
    print(f"{options.out}: {count:,} lines")
    return 0


def context(options: argparse.Namespace) -> int:
    """write the JSON-LD context derived from the ontology, or check that it is fresh"""
    from evkg.convert import render_context
    from evkg.vocabulary import data_folder, load_vocabulary

    text = render_context(load_vocabulary())
    path = data_folder("ontology") / "context.jsonld"
    if options.check:
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            print(f"{path} is stale. Renew it with: evkg context")
            return EXIT_FINDINGS
    elif options.output == "-":
        print(text, end="")
    else:
        path = path if options.output is None else Path(options.output)
        path.write_text(text, encoding="utf-8")
        print(path)
    return 0
