"""A real browser and a real server, for tests of pages as people meet them.

They need Chromium and the package playwright; a module imports the fixtures that it uses. What is not there is said
where a test is skipped.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

Open = Callable[..., Any]
#: The checker of accessibility, which `make editor` installs.
AXE = ROOT / "editor" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    library: Any = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no Chromium on this machine")
    with library.sync_playwright() as driver:
        # The sandbox of Chromium does not work for root, which tests in containers often are.
        found = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-quic"])
        yield found
        found.close()


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a real server of a release."""
    command = [sys.executable, "-m", "evkg.cli", "serve", "--release", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"http://[\w.:]+", process.stderr.readline())
        assert found
        yield found[0]
        process.terminate()


@contextmanager
def opening(browser: Any, *addresses: str) -> Iterator[Open]:
    """Opens pages below the first address; at the end nothing may have gone wrong in them, and nothing been asked of
    other servers than these.
    """
    contexts: list[Any] = []
    troubles: list[str] = []

    def opened(path: str, *, expects: tuple[str, ...] = (), **options: Any) -> Any:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "console",
            lambda message: (
                troubles.append(message.text)
                if message.type in ("error", "warning") and not any(words in message.text for words in expects)
                else None
            ),
        )
        page.on("request", lambda request: None if request.url.startswith(addresses) else troubles.append(request.url))
        page.goto(path if path.startswith(addresses) else f"{addresses[0]}{path}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


def axe_findings(page: Any) -> list[tuple[str, list[str]]]:
    """What axe-core finds on a page with all its details open: rule and elements. Skips where it is not installed."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; `make editor` does it where node and npm are there")
    page.wait_for_load_state("networkidle")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run()).violations")
    return [(item["id"], [node["html"][:200] for node in item["nodes"]]) for item in found]
