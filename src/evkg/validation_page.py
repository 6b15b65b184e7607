"""The page `/validation` of a release: what its report counts, and how complete its records are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from threading import Lock
from typing import Any, Final
from urllib.parse import quote

from evkg.chart import Chart
from evkg.document import DocumentBuilder
from evkg.errors import ReleaseError
from evkg.expected import Expected, expected_fields
from evkg.finding import SEVERITIES
from evkg.gaps import By, Gaps, Row, count_gaps
from evkg.gaps_text import gaps_json, share_words, worst_first
from evkg.heatmap import heat_map
from evkg.namespaces import NS
from evkg.pages import render_page
from evkg.release import RECORDS, REPORT_JSON, Release
from evkg.shapes import Shapes

#: The columns of the table behind the name of the field: the count of a tally, and its head.
COLUMNS: Final[tuple[tuple[str, str], ...]] = (
    ("value", "value"),
    ("nothing", "nothing said"),
    ("conflicting", "conflicting"),
    ("unextracted", "unextracted"),
    ("unavailable", "unavailable"),
    ("unreported", "unreported"),
    ("other", "other reason"),
    ("inapplicable", "inapplicable"),
)
#: How many lines a page shows of a long table (count); CSV and JSON have all.
_LISTED: Final = 200


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How many findings of one rule and severity a release has (count), and one of its messages."""

    severity: str
    rule: str
    count: int
    message: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of a line: the count, its part of the line (0 to 1), and the address of the records behind it."""

    state: str
    count: int
    part: float
    href: str | None


class Validation:
    """What `/validation` says of a release: counted when first asked for, then kept: a release never changes.

    Raises, when asked: ReleaseError: the report cannot be read.

    >>> from evkg.release import open
    >>> validation = Validation(open())
    >>> validation.gaps.records, validation.rules[0].severity
    (49, 'warning')
    """

    def __init__(self, release: Release) -> None:
        self.release = release
        self._lock = Lock()
        self._texts: dict[tuple[str, str], str] = {}

    @cached_property
    def _columns(self) -> tuple[tuple[str, str], ...]:
        """The columns, without that of unknown reasons where there are none."""
        return tuple(column for column in COLUMNS if column[0] != "other" or self.gaps.total.other)

    @cached_property
    def _shapes(self) -> Shapes:
        return Shapes(self.release.folder / "shapes")

    @cached_property
    def gaps(self) -> Gaps:
        """The completeness of the release."""
        return count_gaps(self.release.folder / RECORDS, self.release.vocabulary, self._shapes)

    @cached_property
    def _builder(self) -> DocumentBuilder:
        return DocumentBuilder(self.release.vocabulary, self.release.base_iri)

    @cached_property
    def _expected(self) -> Mapping[tuple[str, str], Expected]:
        found = expected_fields(self._shapes, self.release.vocabulary)
        return {(kind, item.name): item for kind, items in found.items() for item in items}

    @cached_property
    def rules(self) -> list[RuleCount]:
        """The findings of the report by severity and rule: gravest first, then the most frequent."""
        path = self.release.folder / REPORT_JSON
        try:
            findings = json.loads(path.read_text(encoding="utf-8"))["findings"]
            counts = Counter((str(finding["severity"]), str(finding["rule"])) for finding in findings)
            first: dict[tuple[str, str], str] = {}
            for finding in findings:
                first.setdefault((str(finding["severity"]), str(finding["rule"])), str(finding["message"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ReleaseError(f"{path} cannot be read: {error}") from error
        rules = [RuleCount(severity, rule, n, first[severity, rule]) for (severity, rule), n in counts.items()]
        return sorted(rules, key=lambda r: (list(SEVERITIES).index(r.severity), -r.count, r.rule))  # type: ignore[arg-type]

    def text(self, by: By, format_name: str) -> str:
        """The page, or the same as JSON or CSV; made once.

        Raises: ReleaseError: the report cannot be read.
        """
        with self._lock:  # one thread counts, the others wait for it
            key = (by, format_name)
            if key not in self._texts:
                makers = {"html": self._html, "json": self._json, "csv": self._csv}
                self._texts[key] = makers[format_name](by)
            return self._texts[key]

    def picture(self, *, narrow: bool) -> Chart:
        """The heat map of completeness by kind and field; `narrow` is the one for a phone."""
        with self._lock:
            gaps = self.gaps
        return heat_map(gaps, narrow=narrow)

    def _csv(self, by: By) -> str:
        from evkg.gaps_text import gaps_csv

        return gaps_csv(self.gaps.rows(by), by)

    def _json(self, by: By) -> str:
        counts = self.release.manifest["counts"]
        document = {
            "release": self.release.id,
            "conforms": self.release.conforms,
            "findings": {f"{name}s": counts[f"{name}s"] for name in SEVERITIES},
            "rules": [{name: getattr(rule, name) for name in RuleCount.__slots__} for rule in self.rules],
            "completeness": json.loads(gaps_json(self.gaps, by)),
        }
        return json.dumps(document, ensure_ascii=False, indent=2) + "\n"

    def _html(self, by: By) -> str:
        rows = self.gaps.rows(by)
        groups: list[tuple[str, list[dict[str, Any]]]]
        if by == "kind":
            groups = [
                (kind.replace("_", " "), [self._line(row) for row in sorted(group, key=worst_first)])
                for kind, group in groupby(rows, key=lambda row: row.kind)
            ]
        else:
            groups = [("", [self._line(row) for row in sorted(rows, key=worst_first)[:_LISTED]])]
        counts = self.release.manifest["counts"]
        return render_page(
            "validation.html",
            self.release,
            by=by,
            pictures=(heat_map(self.gaps), heat_map(self.gaps, narrow=True)) if by == "kind" else None,
            columns=self._columns,
            groups=groups,
            more=0 if by == "kind" else max(0, len(rows) - _LISTED),
            total=self.gaps.total,
            share=share_words(self.gaps.total),
            records=self.gaps.records,
            counts=[(name, counts[f"{name}s"]) for name in SEVERITIES],
            rules=[(rule, self._rule_records(rule)) for rule in self.rules],
        )

    def _line(self, row: Row) -> dict[str, Any]:
        tally = row.tally
        applies = tally.all - tally.inapplicable
        cells = []
        for state, _ in self._columns:
            number = getattr(tally, state)
            whole = tally.all if state == "inapplicable" else applies
            href = self._records_behind(row, state) if number else None
            cells.append(Cell(state, number, number / whole if whole else 0.0, href))
        return {
            "name": row.label if row.source is not None else row.field,
            "source": row.source,
            "required": row.required,
            "all": tally.all,
            "share": share_words(tally) if tally.value or not applies else "none",
            "cells": cells,
        }

    def _records_behind(self, row: Row, state: str) -> str | None:
        """The address of a query for the records that a number counts; none where the line is a sum."""
        if not row.kind or state in ("value", "other"):
            return None
        expected = self._expected[row.kind, row.field]
        listed = "?r foaf:primaryTopic ?t ; evkg:recordId ?id . ?t rdfs:label ?name"
        if state == "nothing":
            shape = f"<{NS}shapes#{expected.rule}>"
            where = f"?f sh:sourceShape {shape} ; sh:focusNode ?t . {listed}"
        else:
            properties = (self._builder.missing_property(row.kind, name) for name in expected.entries)
            entry = f"evkg:missingProperty ?p ; evkg:reason/skos:notation {json.dumps(state)}"
            kind = f"?t a evkg:{self.release.vocabulary.kinds[row.kind]} . {listed}"
            known = " ".join(f"<{iri}>" for iri in properties if iri)
            where = f"VALUES ?p {{ {known} }} {kind} . ?r evkg:missing [ {entry} ]"
        return _address(f"SELECT DISTINCT ?id ?name {{ {where} }} ORDER BY ?id")

    def _rule_records(self, rule: RuleCount) -> str:
        severity = f"sh:{rule.severity.capitalize()}"
        told = f"?f evkg:rule {json.dumps(rule.rule)} ; sh:resultSeverity {severity} ; sh:focusNode ?about"
        return _address(
            f"SELECT ?about ?field ?message {{ {told} ; sh:resultMessage ?message "
            "OPTIONAL { ?f evkg:field ?field } } ORDER BY ?about ?field"
        )


def _address(query: str) -> str:
    return f"/sparql?query={quote(query, safe='')}"
