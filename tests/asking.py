"""Saved questions, asked as tests compare their answers."""

from __future__ import annotations

from evkg.questions import find_question
from evkg.release import Release

Rows = list[dict[str, str | None]]


def ask(release: Release, name: str, **values: str) -> Rows:
    """The answer to a question: every cell as text, as `evkg ask` prints it."""
    answer = release.select(find_question(name).with_values(values))
    return [{key: None if value is None else str(value) for key, value in row.items()} for row in answer]
