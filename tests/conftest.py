"""What all tests share: the vocabulary, the seed records, and where material outside the repository lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from evkg.convert import Converter
from evkg.reader import read_records
from evkg.record import Record
from evkg.vocabulary import Vocabulary, load_vocabulary

ROOT = Path(__file__).resolve().parents[1]
BASE = "https://w3id.org/evkg/"
#: Material beside the repository: read where it lies, never needed.
SHARED = ROOT.parent / "shared"


@pytest.fixture(autouse=True)
def _in_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths in tests and examples are relative to the repository."""
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return load_vocabulary()


@pytest.fixture(scope="session")
def converter(vocabulary: Vocabulary) -> Converter:
    return Converter(vocabulary, BASE)


@pytest.fixture(scope="session")
def seed_records(vocabulary: Vocabulary) -> list[Record]:
    return [item for item in read_records(ROOT / "graph", vocabulary) if isinstance(item, Record)]


@pytest.fixture(scope="session")
def peer_records(vocabulary: Vocabulary) -> list[Record]:
    """Real records of all kinds; skipped with the reason where they are not at hand."""
    folder = SHARED / "peer-records"
    if not folder.is_dir():
        pytest.skip("the peer records lie beside the repository and are not here")
    return [item for item in read_records(folder, vocabulary) if isinstance(item, Record)]
