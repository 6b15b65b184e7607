"""Older forms of uncertainty, coverage and review, read as the nested objects of today.

Source: contract section 10; the current forms are in section 6.
"""

from __future__ import annotations

import re
from typing import Final

from evkg.jsontext import Json, NumberText, encode_json
from evkg.rewrite import REASONS, Rewrite, joined
from evkg.scalar import Path

_SYNONYMS: Final = {
    "low": "lower",
    "high": "upper",
    "reported_half_width": "half_width",
    "confidence_level": "level",
    "replicates": "resamples",
    "kind": "type",
}
#: Keys for a spread as the source prints it: its text, and its number where the text is one.
_PRINTED: Final = ("printed_spread", "reported_spread", "printed_value")
_TYPES: Final = (
    "standard_deviation",
    "standard_error",
    "confidence_interval",
    "credible_interval",
    "unresolved_spread",
)
_NUMBER: Final = r"[-+−]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
# A number that goes on (0,5 or 1×10-3) is not taken for its first digits.
_END: Final = r"(?![.,]?\d|\s*[×x·*]\s*10)"
_INTERVAL: Final = re.compile(
    rf"(\d{{1,2}}(?:\.\d{{1,4}})?)\s*%\s*(?:CI|confidence interval)\b[\s:=,]*[(\[]?\s*"
    rf"({_NUMBER})(?:\s*[–—;-]\s*|\s*,\s+|\s+to\s+)({_NUMBER}){_END}"
)
_SPREAD: Final = re.compile(rf"(?:±|\+/-)\s*({_NUMBER}){_END}")
_DEVIATION: Final = re.compile(r"standard deviation|\bSD\b|\bs\.d\.|\bstd\b", re.IGNORECASE)
_OTHER: Final = re.compile(r"standard error|\bSEM?\b|\bs\.e\.|confidence|\bCI\b|\bor\b|\bnot\b|unclear", re.IGNORECASE)
_AGENT: Final = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d\Z")


#: A number alone, of which nobody can say what kind of uncertainty it is.
_BARE_NUMBER: Final = re.compile(r"\s*[0-9]+(?:[.,][0-9]+)?(?:[eE][-+]?[0-9]+)?\s*%?\s*\Z")


def upgrade_uncertainty(rewrite: Rewrite) -> None:
    """Read the attribute `uncertainty`, whatever older form it has."""
    old = rewrite.attributes["uncertainty"]
    path: Path = ("attributes", "uncertainty")
    if isinstance(old, str):
        new = uncertainty_of(old)
        if new is not None:
            rewrite.attributes["uncertainty"] = new
            rewrite.note(path, "The older text is read as an uncertainty object.")
        elif _BARE_NUMBER.match(old):
            # The source states something, so `unreported` would be false: it stays, and is found to be no object.
            return
        elif rewrite.explain("uncertainty", "unreported", old):
            del rewrite.attributes["uncertainty"]
            rewrite.note(path, "The older text gives no uncertainty; it is kept as note of a missing entry.")
    elif isinstance(old, dict):
        status = old.get("status")
        if status in REASONS and not {"value", "lower", "type", "half_width"} & set(old):
            rest = {key: value for key, value in old.items() if key != "status"}
            note = rest.get("note") if set(rest) == {"note"} else encode_json(rest) if rest else None
            if (note is None or isinstance(note, str)) and rewrite.explain("uncertainty", str(status), note):
                del rewrite.attributes["uncertainty"]
                rewrite.note(path, f"status: {status} is read as missing, reason {status}.")
                return
        current = _uncertainty_object(rewrite, old, path)
        if current != old:
            rewrite.attributes["uncertainty"] = current
            rewrite.note(path, "The older form of an uncertainty is read as the current one.")


def _uncertainty_object(rewrite: Rewrite, old: dict[str, Json], path: Path) -> dict[str, Json]:
    new: dict[str, Json] = {}
    for key, value in old.items():
        name = _SYNONYMS.get(key, key)
        if name != key and (name in old or name in new):
            name = key  # both stand there: ambiguous, so both are kept
        if name != key:
            rewrite.move((*path, name), (*path, key))
        new[name] = _level(value) if name == "level" else value
    for key in _PRINTED:
        _printed(rewrite, new, key, path)
    kind = new.get("type")
    if kind == "bootstrap_summary":
        new["type"] = "standard_deviation"
        new.setdefault("method", "bootstrap")
        for key, name in (("mean", "center"), ("standard_deviation", "value")):
            if key in new and name not in new:
                new[name] = new.pop(key)
                rewrite.move((*path, name), (*path, key))
    elif isinstance(kind, str) and kind not in _TYPES and isinstance(new.get("note", ""), str):
        new["note"] = joined(new.get("note"), f"type as written: {kind}")
        new["type"] = "unresolved_spread"
    return new


def _printed(rewrite: Rewrite, new: dict[str, Json], key: str, path: Path) -> None:
    """Read a printed spread as `printed`, and as `value` where it is a number and there is none."""
    value = new.get(key)
    if "printed" in new or isinstance(value, bool) or not isinstance(value, str | int):
        return
    text = str(value)
    new["printed"] = text
    rewrite.move((*path, "printed"), (*path, key))
    number = re.fullmatch(rf"\s*(?:±|\+/-)?\s*({_NUMBER})\s*", text)
    if number and not {"value", "lower", "upper", "half_width"} & set(new):
        new["value"] = _decimal(number[1])
        rewrite.move((*path, "value"), (*path, key))
    del new[key]


def _level(value: Json) -> Json:
    """A level as the number that it is: "95%" is 0.95."""
    percent = re.fullmatch(r"\s*(\d{1,2}(?:\.\d{1,12})?)\s*%\s*", value) if isinstance(value, str) else None
    if percent:
        return NumberText(_hundredth(percent[1]))
    if isinstance(value, str) and re.fullmatch(r"0\.\d{1,12}", value):
        return NumberText(value)
    return value


def _hundredth(digits: str) -> str:
    whole, _, part = digits.partition(".")
    return f"0.{whole.zfill(2)}{part}".rstrip("0").rstrip(".")


def _decimal(text: str) -> str:
    return text.replace("−", "-")


def uncertainty_of(text: str) -> dict[str, Json] | None:
    """The uncertainty that an older text states, None unless it is one interval or one spread.

    >>> uncertainty_of("95% CI 0.567–0.656")["upper"], uncertainty_of("0.61 ± 0.02 (SD)")["type"]
    ('0.656', 'standard_deviation')
    >>> uncertainty_of("± 0,5") is None
    True
    """
    intervals, spreads = _INTERVAL.findall(text), _SPREAD.findall(text)
    if len(intervals) == 1 and "±" not in text:
        level, lower, upper = intervals[0]
        bounds = {"lower": _decimal(lower), "upper": _decimal(upper)}
        return {"type": "confidence_interval", "printed": text, **bounds, "level": NumberText(_hundredth(level))}
    if len(spreads) == 1 and not intervals and text.count("±") <= 1:
        deviation = _DEVIATION.search(text) and not _OTHER.search(text)
        kind = "standard_deviation" if deviation else "unresolved_spread"
        return {"type": kind, "printed": text, "value": _decimal(spreads[0])}
    return None


def upgrade_coverage(rewrite: Rewrite) -> None:
    """Read the attribute `coverage` where it is text: "a / b", or anything else as a note."""
    value = rewrite.attributes["coverage"]
    if not isinstance(value, str):
        return
    counts = re.fullmatch(r"\s*(\d{1,15})\s*/\s*(\d{1,15})\s*", value, re.ASCII)
    if counts:
        rewrite.attributes["coverage"] = {"scored": int(counts[1]), "eligible": int(counts[2])}
    else:
        rewrite.attributes["coverage"] = {"note": value}
    rewrite.note(("attributes", "coverage"), "The older text is read as a coverage object.")


def upgrade_review(rewrite: Rewrite) -> None:
    """Read the attribute `review` with lists of methods and reviewers; sentences become notes."""
    old = rewrite.attributes["review"]
    path: Path = ("attributes", "review")
    if not isinstance(old, dict):
        return
    review = dict(old)

    def move(before: str, after: str) -> None:
        review[after] = review.pop(before)
        rewrite.move((*path, after), (*path, before))

    if "actor" in review and "reviewer" not in review:
        move("actor", "reviewer")
    if isinstance(review.get("notes"), str) and "note" not in review:
        move("notes", "note")
    reviewed_at = review.get("reviewed_at")
    if isinstance(reviewed_at, str) and _DATE.match(reviewed_at) and "date" not in review:
        move("reviewed_at", "date")
    if isinstance(review.get("method"), str):
        review["method"] = [review["method"]]
    _reviewers(rewrite, review, path)
    if review != old:
        rewrite.attributes["review"] = review
        rewrite.note(path, "The older form of a review is read as the current one.")


def _reviewers(rewrite: Rewrite, review: dict[str, Json], path: Path) -> None:
    """Keep agents as a list and put free text into `reviewer_note`."""
    reviewer = review.get("reviewer")
    names = [reviewer] if isinstance(reviewer, str) else reviewer
    note = review.get("reviewer_note", "")
    if not isinstance(names, list) or not isinstance(note, str):
        return
    agents: list[Json] = []
    for name in names:
        if isinstance(name, str) and not _AGENT.match(name):
            if "reviewer_note" not in review:
                rewrite.move((*path, "reviewer_note"), (*path, "reviewer"))
            review["reviewer_note"] = joined(review.get("reviewer_note"), name)
        else:
            agents.append(name)
    if agents or not names:
        review["reviewer"] = agents
    else:
        del review["reviewer"]
