"""Completeness as text: a picture in plain characters for a terminal, and CSV and JSON for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Final

from evkg.finding import counted, printable
from evkg.gaps import STATES, By, Gaps, Row, Tally

#: How wide a bar is, and how wide the name beside it may be (characters); with the numbers a line has at most 80.
_BAR: Final = 20
_NAME: Final = 32
_LINE: Final = 80
#: The characters of a bar: with a value, with a reason, with nothing; and their colours on a terminal.
_VALUE, _REASON, _NOTHING = "#", ":", "?"
_COLOURS: Final = {_VALUE: "32", _REASON: "36", _NOTHING: "33"}
_LEGEND: Final = f"{_VALUE} has a value   {_REASON} none, and a reason is given   {_NOTHING} nothing is said"
#: How the reasons read after a number.
_WORDS: Final = {"nothing": "with nothing said", "other": "with a reason that is none of the five"}


def worst_first(row: Row) -> tuple[float, float, str, str]:
    """A key for sorting: the largest part without a word first, then the smallest share of values."""
    tally = row.tally
    applies = tally.all - tally.inapplicable
    silent = tally.nothing / applies if applies else 0.0
    share = 2.0 if tally.share is None else tally.share
    return (-silent, share, row.label, row.source or "")


def share_words(tally: Tally) -> str:
    """The share of values in percent, never rounded to none or to all.

    >>> [share_words(t) for t in (Tally(value=1, nothing=999), Tally(value=999, nothing=1), Tally(inapplicable=1))]
    ['<1 %', '>99 %', 'n/a']
    """
    share = tally.share
    if share is None:
        return "n/a"
    if 0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1:
        return ">99 %"
    return f"{100 * share:.0f} %"


def reason_words(tally: Tally) -> list[str]:
    """What stands in the place of values: each count with its reason, silence first.

    >>> reason_words(Tally(value=3, unreported=1, inapplicable=2, nothing=4))
    ['4 with nothing said', '1 unreported', '2 inapplicable (left out)']
    """
    words = []
    for state in ("nothing", "conflicting", "unextracted", "unavailable", "unreported", "other", "inapplicable"):
        if number := getattr(tally, state):
            left_out = " (left out)" if state == "inapplicable" else ""
            words.append(f"{number} {_WORDS.get(state, state)}{left_out}")
    return words


def render_gaps(gaps: Gaps, by: By, *, colour: bool = False) -> str:
    """The picture for a terminal: what is worst first, at most 80 columns wide; colour repeats what characters say.

    >>> tally = Tally(value=1, unreported=1, nothing=2)
    >>> print(render_gaps(Gaps(4, {("model", "licence"): tally}, {("model", "licence"): False}), "kind"))
    # has a value   : none, and a reason is given   ? nothing is said
    <BLANKLINE>
    model
      licence  #####:::::??????????      1 of 4   25 %
        2 with nothing said, 1 unreported
    <BLANKLINE>
    4 records, 4 expected fields: 1 value, 1 reason, 2 with neither
    """
    lines = [_coloured(_LEGEND, colour=colour), ""]
    rows = gaps.rows(by)
    for title, group in _groups(rows, by):
        lines += [title, *_table(group, by, colour=colour), ""]
    total = gaps.total
    applies = total.all - total.inapplicable
    summary = (
        f"{counted(gaps.records, 'record')}, {counted(applies, 'expected field')}: {counted(total.value, 'value')}, "
        f"{counted(applies - total.value - total.nothing, 'reason')}, {total.nothing} with neither"
    )
    return "\n".join([*lines, *wrap(summary, _LINE)])


def _groups(rows: Sequence[Row], by: By) -> Iterator[tuple[str, list[Row]]]:
    """(title, lines) of each part of the picture, the worst part first."""
    if by != "kind":
        if rows:
            yield {"source": "by source", "field": "by field, over all kinds"}[by], sorted(rows, key=worst_first)
        return
    parts = []
    for kind, group in groupby(rows, key=lambda row: row.kind):
        listed = sorted(group, key=worst_first)
        whole = Tally()
        for row in listed:
            for state, number in row.tally.counts().items():
                whole.add(state, number)
        parts.append((worst_first(Row(kind, whole)), kind, listed))
    for _, kind, listed in sorted(parts, key=lambda part: part[:2]):
        yield kind.replace("_", " "), listed


def _table(rows: Sequence[Row], by: By, *, colour: bool) -> Iterator[str]:
    names = [_clipped(printable(row.field if by != "source" else row.label)) for row in rows]
    width = max(map(len, names), default=0)
    for name, row in zip(names, rows, strict=True):
        tally = row.tally
        applies = tally.all - tally.inapplicable
        number = f"{tally.value or 'none'} of {applies}" if applies else "does not apply"
        share = share_words(tally) if tally.value else ""  # "none" in words: a gap is no zero
        mark = " (required)" if row.required and tally.nothing else ""
        line = f"  {name:<{width}}  {_coloured(_bar(tally), colour=colour)}  {number:>10}  {share:>5}".rstrip()
        yield line
        if words := reason_words(tally):
            yield from wrap(f"{', '.join(words)}{mark}", _LINE, initial_indent="    ", subsequent_indent="    ")


def _clipped(name: str) -> str:
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def _bar(tally: Tally) -> str:
    """A bar of `_BAR` characters; what there is at all shows at least one, what does not apply none."""
    parts = {
        _VALUE: tally.value,
        _REASON: tally.known_gaps - tally.inapplicable,
        _NOTHING: tally.nothing,
    }
    applies = sum(parts.values())
    if not applies:
        return " " * _BAR
    sizes = {key: max(1, round(_BAR * number / applies)) if number else 0 for key, number in parts.items()}
    while (excess := sum(sizes.values()) - _BAR) != 0:
        largest = max(sizes, key=lambda key: sizes[key])
        sizes[largest] -= 1 if excess > 0 else -1
    return "".join(key * size for key, size in sizes.items())


def _coloured(text: str, *, colour: bool) -> str:
    if not colour:
        return text
    return "".join(f"\x1b[{_COLOURS[c]}m{c}\x1b[0m" if c in _COLOURS else c for c in text)


def gaps_csv(rows: Iterable[Row], by: By) -> str:
    """The table as CSV with a head; the share is empty where the field applies to no record.

    Source: RFC 4180.

    >>> gaps_csv([Row("licence", Tally(value=1, nothing=1), field="licence")], "field").splitlines()[1]
    'licence,2,1,0,0,0,0,0,0,1,0.5'
    """
    about = {"kind": ("kind", "field", "required"), "field": ("field",), "source": ("source", "name")}[by]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [*about, "all", *STATES, "share"])
    writer.writeheader()
    writer.writerows(row.as_json() for row in rows)
    return stream.getvalue()


def gaps_json(gaps: Gaps, by: By) -> str:
    """The table as one JSON object: `{"by": …, "records": n, "rows": [...], "total": {...}}`.

    >>> json.loads(gaps_json(Gaps(), "kind"))["rows"]
    []
    """
    total = Row("all", gaps.total).as_json()
    del total["field"]
    document = {"by": by, "records": gaps.records, "rows": [row.as_json() for row in gaps.rows(by)], "total": total}
    return json.dumps(document, ensure_ascii=False, indent=2)
