"""Conditions of a comparison that were left out on request, in words."""

from __future__ import annotations

from collections.abc import Sequence


def name_conditions(labels: Sequence[str]) -> str:
    """Up to three conditions by their labels, more by their number.

    >>> name_conditions(["split", "budget"]), name_conditions(["a", "b", "c", "d"])
    ('split and budget', '4 conditions')
    """
    if len(labels) > 3:
        return f"{len(labels)} conditions"
    return " and ".join([", ".join(labels[:-1]), labels[-1]] if len(labels) > 1 else labels)
