"""Every example of the documentation runs, and shows what it says."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evkg.cli import make_parser
from evkg.release import Release, find_release
from evkg.vocabulary import load_vocabulary
from tests.conftest import ROOT

PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")] + sorted((ROOT / "docs").glob("*.md"))
_BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[tuple[str, str]]:
    """(page and line, text) of every fenced block of a language."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in _BLOCK.finditer(text):
            if match.group(1) == language:
                line = text.count("\n", 0, match.start()) + 1
                found.append((f"{page.relative_to(ROOT)}:{line}", match.group(2)))
    return found


def sessions() -> list[tuple[str, str, str]]:
    """(where, command, output shown) of every command of the `console` blocks."""
    found = []
    for where, text in blocks("console"):
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((where, command, output.strip("\n")))
    return found


def matches(shown: str, real: str) -> bool:
    """Whether real output is what the page shows, `…` standing for anything."""
    pattern = ".*".join(re.escape(part) for part in re.split(r"…", shown))
    return re.fullmatch(pattern, real.strip("\n"), re.DOTALL) is not None


@pytest.fixture(scope="module", autouse=True)
def _invented(workspace: Path) -> None:
    """The invented records that docs/comparability.md asks, and a release of them: examples may run in any order."""
    from tests.builds import build_draft

    records = Path("tests/records/comparable")
    (workspace / records).parent.mkdir(parents=True)
    (workspace / records).symlink_to(ROOT / records)
    build_draft(ROOT / records, workspace / "invented")


@pytest.fixture(scope="module")
def server(workspace: Path) -> Iterator[str]:
    """A real server on a free port; examples name port 8000."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "evkg.cli", "serve", "--port", str(port)]
    process = subprocess.Popen(command, cwd=workspace, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"localhost:{port}"
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.mark.parametrize(("where", "command", "shown"), sessions(), ids=lambda value: str(value)[:60])
def test_every_command_shown_runs_and_prints_what_is_shown(
    where: str, command: str, shown: str, workspace: Path, request: pytest.FixtureRequest
) -> None:
    words = shlex.split(command)
    if words[0] in ("git", "cd"):
        return
    if words[0] == "make":
        targets = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert all(re.search(rf"^{word}:", targets, re.MULTILINE) for word in words[1:]), f"{where}: {command}"
        return
    if words[0] == "curl":
        if shutil.which("curl") is None:
            pytest.skip("curl is not installed")
        command = command.replace("localhost:8000", request.getfixturevalue("server"))
    elif words[0] != "evkg":
        pytest.fail(f"{where}: {words[0]} is no command that this test can run")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "110"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=workspace, env=environment, capture_output=True, text=True, timeout=120
    )
    assert "Traceback" not in done.stderr, where
    assert done.returncode in (0, 1), f"{where}: {done.stderr}"
    if shown:
        assert matches(shown, done.stdout), f"{where} shows\n{shown}\nbut {command} prints\n{done.stdout}"


@pytest.mark.parametrize(("where", "text"), blocks("python"), ids=lambda value: str(value)[:40])
def test_every_python_example_runs(
    where: str, text: str, workspace: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(workspace)
    if "localhost:8000" in text:
        text = text.replace("localhost:8000", request.getfixturevalue("server"))
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    example = doctest.DocTestParser().get_doctest(text, {}, where, where, 0)
    assert example.examples, f"{where} has no >>> in it"
    output: list[str] = []
    doctest.DocTestRunner(optionflags=flags).run(example, out=output.append)
    assert not output, "".join(output)


@pytest.mark.parametrize(("where", "text"), blocks("sparql"), ids=lambda value: str(value)[:40])
def test_every_sparql_example_answers(where: str, text: str, workspace: Path) -> None:
    answer = Release(find_release(workspace / "build")).query(text)
    assert answer, f"{where} gives no answer"


@pytest.mark.parametrize(("where", "text"), blocks("yaml"), ids=lambda value: str(value)[:40])
def test_every_record_shown_can_be_read(where: str, text: str, tmp_path: Path) -> None:
    from evkg.finding import Finding
    from evkg.reader import read_records

    file = tmp_path / "example.yaml"
    file.write_text(text, encoding="utf-8")
    found = [item for item in read_records(file, load_vocabulary()) if isinstance(item, Finding)]
    assert not found, where


def test_every_command_has_help_and_stands_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = make_parser()._subparsers._group_actions[0].choices  # type: ignore[union-attr]
    assert commands
    for name, parser in dict(commands).items():
        assert parser.description, name
        assert f"evkg {name}" in readme, f"`evkg {name}` is not in README.md"


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
