"""Draws the pictures of docs/curators.md anew: what a curator sees of a data set with three mistakes in it.

    python -m tests.screenshots docs/images

Text of the terminal becomes SVG, pages become PNG; the latter need Chromium, and are left as they are without it.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final

from tests.browsing import serving
from tests.builds import ROOT, run_evkg

#: The terminal that is drawn (columns, lines), and the page (pixels).
COLUMNS: Final = 104
LINES: Final = 46
PAGE: Final = (1080, 800)
#: Where the mistakes are made: file, what stands there, what a curator might have written.
MISTAKES: Final = (
    ("results.yaml", 'numeric_value: "33.88"', 'numeric_value: "38.33"'),
    ("results.yaml", "metric_direction: lower", "metric_direktion: lower"),
    ("source.yaml", "missing_metadata:", "missing_metadata:\n    licences: {reason: unreported}"),
)
_SGR: Final = re.compile(r"\x1b\[([0-9;]*)m")
_CLASSES: Final = {"1;31": "v", "1;33": "w", "1;34": "i", "1": "b", "36": "p", "2": "s", "32": "f"}
_STYLE: Final = """\
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1b1f24;white-space:pre}
.g{fill:#fff;stroke:#d0d4da}.v{fill:#b3151c;font-weight:700}.w{fill:#855200;font-weight:700}.i{fill:#0b4f9e;font-weight:700}
.b{font-weight:700}.p{fill:#0f6674}.s{fill:#5a6472}.f{fill:#1c6b2c}
@media(prefers-color-scheme:dark){text{fill:#e3e6ea}.g{fill:#15181c;stroke:#3a414b}.v{fill:#ff8a8a}.w{fill:#e8b04b}
.i{fill:#8ab8ff}.p{fill:#6fc7d4}.s{fill:#9aa4b2}.f{fill:#7fcf8f}}"""
_WIDTH: Final = 7.83
_HEIGHT: Final = 18


def broken_copy(folder: Path) -> Path:
    """A copy of the data set below a folder, with the mistakes made in it."""
    graph = Path(shutil.copytree(ROOT / "graph", folder / "graph"))
    for name, before, after in MISTAKES:
        file = graph / "records" / "saadat-fellay-2026" / name
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(before, after, 1), encoding="utf-8")
    return graph


def terminal(arguments: Sequence[str], folder: Path) -> str:
    """What a command prints on a terminal of `COLUMNS`, colours and all."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "LINES": "50", "TERM": "xterm-256color", "NO_COLOR": ""}
    environment["XDG_CACHE_HOME"] = str(folder / "cache")
    command = [sys.executable, "-m", "evkg.cli", *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=theirs, stderr=subprocess.DEVNULL, env=environment) as process:
        os.close(theirs)
        found = b""
        while piece := _read(ours):
            found += piece
        process.wait()
    os.close(ours)
    return found.decode().replace("\r\n", "\n")


def _read(end: int) -> bytes:
    try:
        return os.read(end, 65_536)
    except OSError:  # the other end is closed
        return b""


def draw(prompt: str, printed: str, label: str) -> str:
    """A terminal as SVG, light or dark as the reader likes it; of long output the beginning and the last line."""
    lines = printed.rstrip("\n").split("\n")
    if len(lines) > LINES:
        lines = [*lines[: LINES - 2], "…", lines[-1]]
    lines = [f"\x1b[2m$\x1b[0m \x1b[1m{prompt}\x1b[0m", *lines]
    width, height = round(COLUMNS * _WIDTH) + 32, len(lines) * _HEIGHT + 30
    body = "\n".join(
        f'<text x="16" y="{28 + number * _HEIGHT}">{"".join(_spans(line))}</text>'
        for number, line in enumerate(lines)
        if line
    )
    told = escape(label)
    return (
        # Where no style is read, all of it is black on white.
        '<svg xmlns="http://www.w3.org/2000/svg" font-family="monospace" font-size="13" '
        f'viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{told}">\n'
        f"<title>{told}</title>\n<style>{_STYLE}</style>\n"
        f'<rect class="g" fill="#fff" stroke="#d0d4da" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="6"/>'
        f"\n{body}\n</svg>\n"
    )


def _spans(line: str) -> Iterator[str]:
    """The parts of a line, each in the class of its colour."""
    name = ""
    for number, part in enumerate(_SGR.split(line)):
        if number % 2:
            name = _CLASSES.get(part, "")
        elif part:
            # Where white space is not kept, spaces at the beginning of a line would be lost.
            text = escape(part, quote=False).replace("  ", "\u00a0\u00a0")
            yield f'<tspan class="{name}">{text}</tspan>' if name else text


def terminals(folder: Path) -> Iterator[tuple[str, str]]:
    """(name, SVG) of what is drawn of a terminal; the data sets are copied below a folder."""
    broken, clean = folder / "broken", folder / "clean"
    broken_copy(broken)
    shutil.copytree(ROOT / "graph", clean / "graph")
    for name, arguments, where, label in (
        ("check", ("check", "graph"), broken, "evkg check in a terminal: each finding with its line"),
        ("gaps", ("gaps", "graph", "--by", "field"), clean, "evkg gaps in a terminal: a bar for each field"),
    ):
        yield name, draw(f"evkg {' '.join(arguments)}", terminal(arguments, where), label)


def shoot(address: str, file: Path, folder: Path) -> None:
    """A picture of a page by Chromium."""
    subprocess.run(
        [
            str(shutil.which("chromium")),
            *"--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --hide-scrollbars".split(),
            *"--disable-background-networking --disable-component-update --disable-sync".split(),
            f"--user-data-dir={folder / 'chromium'}",
            f"--window-size={PAGE[0]},{PAGE[1]}",
            f"--screenshot={file}",
            address,
        ],
        check=True,
        capture_output=True,
    )


def main(target: Path) -> None:
    """Write all pictures into a folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for stem, drawn in terminals(folder):
            (target / f"{stem}.svg").write_text(drawn, encoding="utf-8")
        if shutil.which("chromium") is None:
            print("chromium is not here: the pictures of pages stay as they are", file=sys.stderr)
            return
        page = folder / "report.html"
        page.write_bytes(run_evkg("check", "graph", "--format", "html", cwd=folder / "broken").stdout)
        shoot(page.as_uri(), target / "report.png", folder)
        run_evkg("build", "graph", cwd=folder / "clean").check_returncode()
        with serving(folder / "clean" / "build" / "current") as address:
            shoot(f"{address}/validation", target / "validation.png", folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
