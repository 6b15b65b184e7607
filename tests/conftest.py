"""What all tests share: the vocabulary, the seed records, and where material outside the repository lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from evkg.convert import Converter
from evkg.reader import read_records
from evkg.record import Record
from evkg.vocabulary import Vocabulary, load_vocabulary

ROOT = Path(__file__).resolve().parents[1]
#: The seed data set: links to 49 records of `graph/`, so that a new record there breaks no test.
SEED = ROOT / "tests" / "seed"
BASE = "https://w3id.org/evkg/"
#: Material beside the repository: read where it lies, never needed.
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A view of the repository in which `graph/` holds the 49 seed records only, whatever is added to it."""
    folder = tmp_path_factory.mktemp("repository")
    for entry in ROOT.iterdir():
        if entry.name not in ("graph", "build") and not entry.name.startswith("."):
            (folder / entry.name).symlink_to(entry)
    (folder / "graph").symlink_to(SEED)
    return folder


@pytest.fixture(autouse=True)
def _in_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths in tests are relative to the repository."""
    monkeypatch.chdir(repository)


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return load_vocabulary()


@pytest.fixture(scope="session")
def converter(vocabulary: Vocabulary) -> Converter:
    return Converter(vocabulary, BASE)


@pytest.fixture(scope="session")
def seed_records(vocabulary: Vocabulary) -> list[Record]:
    return [item for item in read_records(SEED, vocabulary) if isinstance(item, Record)]


@pytest.fixture(scope="session")
def peer_records(vocabulary: Vocabulary) -> list[Record]:
    """Real records of all kinds; skipped with the reason where they are not at hand."""
    folder = SHARED / "peer-records"
    if not folder.is_dir():
        pytest.skip("the peer records lie beside the repository and are not here")
    return [item for item in read_records(folder, vocabulary) if isinstance(item, Record)]
