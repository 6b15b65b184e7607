"""The records in `graph/` are tested like code: whoever adds one sees here whether it may go in."""

from __future__ import annotations

from evkg.check import check_dataset
from evkg.finding_text import render_text
from tests.conftest import ROOT


def test_the_records_of_the_repository_have_no_violation() -> None:
    checked = check_dataset(ROOT / "graph")
    violations = [finding for finding in checked.findings if finding.severity == "violation"]
    assert not violations, "run `evkg check graph`\n" + render_text(violations, checked.count, full=True)
    assert checked.count >= 49
