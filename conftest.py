"""A place for examples: docstrings and documentation run in a folder with the records and a fresh release."""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from _pytest.doctest import DoctestItem

ROOT = Path(__file__).resolve().parent
SEED = ROOT / "tests" / "seed"
# What a check keeps for the next one is kept here, and not in the folder of whoever runs the tests.
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="evkg-tests-")


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `graph/` and a release of it at `build/current`, as a newcomer has after `evkg build`."""
    from evkg.build import build_release

    folder = tmp_path_factory.mktemp("workspace")
    (folder / "graph").symlink_to(SEED)
    build_release(SEED, folder / "build", at=datetime(2026, 11, 1, tzinfo=UTC))
    return folder


@pytest.fixture(autouse=True)
def _examples_run_there(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(request.node, DoctestItem):
        monkeypatch.chdir(request.getfixturevalue("workspace"))
    return
