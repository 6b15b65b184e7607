"""Both validators on thousands of faulty records: the same results, field by field, and so the same findings."""

from __future__ import annotations

import shutil
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evkg.check import Engine, check_dataset
from evkg.jsontext import encode_json
from evkg.reader import read_records
from evkg.record import RECORD_ID, Record
from evkg.vocabulary import load_vocabulary
from tests.builds import record
from tests.fuzz.mutation import dump, mutated, numbered

#: How many faulty records both validators must have agreed on (count).
WANTED = 3_000
#: How many of them make a data set (count).
SIZE = 40

ENGINES: tuple[Engine, Engine] = ("pyshacl", "fast")
KINDS = tuple(sorted(load_vocabulary().kinds))


def reached(item: Record) -> set[str]:
    """The ids that a record links to or cites, as far as they can be ids."""
    links: Any = item.data["links"]
    sources: Any = item.data["source_ids"]
    return {name for name in (*(link["target_id"] for link in links), *sources) if RECORD_ID.match(name)}


@pytest.mark.long
def test_both_validators_agree_on_thousands_of_faulty_records(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    folder = tmp_path / "records"

    @settings(
        max_examples=WANTED // 10,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        st.lists(mutated(is_sparing=True), min_size=SIZE, max_size=SIZE),
        st.lists(st.sampled_from(KINDS), min_size=9, max_size=9),
    )
    def agree(trees: list[Any], kinds: list[str]) -> None:
        if counts["records"] >= WANTED:
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        file = folder / "faulty.jsonl"
        file.write_bytes(numbered("".join(f"{dump(tree)}\n" for tree in trees).encode(), count()))
        read = [item for item in read_records(folder, load_vocabulary()) if isinstance(item, Record)]
        # What they link to is there too, as a record of the right kind or of any other.
        targets = sorted({name for item in read for name in reached(item)} - {item.id for item in read})
        stubs = [record(name, kinds[place % len(kinds)]) for place, name in enumerate(targets[::2])]
        (folder / "targets.jsonl").write_text("".join(f"{encode_json(stub)}\n" for stub in stubs), encoding="utf-8")
        normative, fast = (check_dataset(folder, engine=name, with_report=True) for name in ENGINES)
        assert fast.findings == normative.findings
        assert fast.turtle() == normative.turtle()  # every field of every result
        counts["records"] += len({item.id for item in read})
        counts["results"] += normative.turtle().count("sh:sourceConstraintComponent")
        counts.update(f"rule {finding.rule}" for finding in normative.findings)

    agree()
    assert counts["records"] >= WANTED, counts
    assert counts["results"] > 3 * WANTED, counts
    assert sum(name.startswith("rule ") for name in counts) > 200, counts
