"""The diagram of the model: the kinds of records in their groups, and the links that lead from one to another.

A box for each group of kinds, a line in it for each link that leads out. Links to one box run together in a lane beside
the boxes, so no line crosses a word and the layout follows from the ontology alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from evkg.chart import ACCENT, INK, PAPER, RULE, SOFT, Chart, Drawing
from evkg.chart_text import SMALL, fit, wrap
from evkg.evidence_table import csv_line
from evkg.namespaces import EVKG
from evkg.vocabulary import Vocabulary

#: Widths of a picture: beside text, and on a phone (px).
WIDE: Final = 760
NARROW: Final = 360
#: What stands for all kinds.
ANY: Final = "any record"
_ROW: Final = 20
_GAP: Final = 16
_LANE: Final = 14


@dataclass(frozen=True, slots=True)
class Relation:
    """A link of the model: its key in records, label, the box it leads from and to, and the exact classes in words."""

    key: str
    label: str
    origin: str
    target: str
    from_words: str
    to_words: str


@dataclass(frozen=True, slots=True)
class Model:
    """The boxes (name -> the kinds in it, in words) in the order in which they stand, and the links."""

    boxes: Mapping[str, tuple[str, ...]]
    relations: tuple[Relation, ...]


def read_model(vocabulary: Vocabulary) -> Model:
    """The model as the ontology has it.

    Kinds share a box where a link speaks of them as one group. A box stands above those that its links lead to, as far
    as they do not go round in a circle.

    >>> from evkg.vocabulary import load_vocabulary
    >>> model = read_model(load_vocabulary())
    >>> model.boxes["data"], [r.target for r in model.relations if r.origin == "result"]
    (('dataset', 'dataset subset'), ['evaluation'])
    """
    spoken_of = {name for term in vocabulary.relations.values() for name in (*term.used_on, term.link_to)}

    def words(name: str) -> str:
        return vocabulary.labels[EVKG + name]

    box_of = {}
    for name in vocabulary.kinds.values():
        group = vocabulary.groups[name]
        box_of[name] = words(group) if group in spoken_of else words(name)
        box_of.setdefault(group, words(group))
    relations = tuple(
        Relation(
            key,
            term.label,
            box,
            box_of[term.link_to] if term.link_to else ANY,
            ", ".join(sorted(map(words, names))) if names else ANY,
            words(term.link_to) if term.link_to else ANY,
        )
        for key, term in sorted(vocabulary.relations.items())
        for box, names in sorted(_by_box(term.used_on, box_of).items())
    )
    boxes: dict[str, list[str]] = {}
    for name in vocabulary.kinds.values():
        boxes.setdefault(box_of[name], []).append(words(name))
    order = _order(sorted(boxes), relations)
    return Model({name: tuple(sorted(boxes.get(name, ()))) for name in (*order, ANY)}, relations)


def _by_box(names: frozenset[str], box_of: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {} if names else {ANY: []}
    for name in names:
        found.setdefault(box_of[name], []).append(name)
    return found


def _order(boxes: Sequence[str], relations: Sequence[Relation]) -> list[str]:
    """Again and again the box that fewest of those left lead to; of those the one that leads to most, then by name."""
    links = {(r.origin, r.target) for r in relations if r.origin != r.target and ANY not in (r.origin, r.target)}
    left, order = list(boxes), []
    while left:
        first = min(
            left,
            key=lambda box: (
                sum(target == box and origin in left for origin, target in links),
                -sum(origin == box for origin, _ in links),
                box,
            ),
        )
        order.append(first)
        left.remove(first)
    return order


def model_diagram(model: Model, *, narrow: bool = False) -> Chart:
    """The diagram of the model."""
    width = NARROW if narrow else WIDE
    targets = [
        box for box in model.boxes if any(r.target == box and r.origin != box for r in model.relations) and box != ANY
    ]
    # The lanes of boxes further down lie further out, so that fewer lines cross.
    lanes = {box: width - 6 - _LANE * (len(targets) - 1 - number) for number, box in enumerate(targets)}
    box_width = width - _LANE * len(targets) - 24
    drawing = Drawing(width)
    heads: dict[str, float] = {}
    ports: list[tuple[str, float]] = []
    y = 1.0
    for box, kinds in model.boxes.items():
        own = [relation for relation in model.relations if relation.origin == box]
        lines = wrap(", ".join(kinds), box_width - 24, SMALL, most=3) if kinds and kinds != (box,) else []
        height = 34 + len(lines) * 16 + len(own) * _ROW + (8 if own else 0)
        drawing.box(1, y, box_width, height, fill=PAPER, stroke=SOFT)
        drawing.text(12, y + 18, box, bold=True)
        heads[box] = y + 18
        at = y + 34
        for line in lines:
            drawing.text(12, at + 6, line, size=SMALL, fill=SOFT)
            at += 16
        if own:
            drawing.line(1, at + 2, 1 + box_width, at + 2, stroke=RULE)
            at += 6
        for relation in own:
            middle = at + _ROW / 2
            drawing.text(12, middle, fit(_line(relation, narrow=narrow), box_width - 24, SMALL), size=SMALL, fill=INK)
            if relation.target in lanes and relation.target != box:
                ports.append((relation.target, middle))
            at += _ROW
        y += height + _GAP
    edge = 1 + box_width
    for target, middle in ports:
        drawing.line(edge, middle, lanes[target], middle, stroke=SOFT)
        drawing.symbol(lanes[target], middle, "circle", size=22, fill=SOFT, stroke=SOFT)
    for target, x in lanes.items():
        ends = [middle for name, middle in ports if name == target] + [heads[target]]
        drawing.line(x, min(ends), x, max(ends), stroke=ACCENT, width=2)
        drawing.line(edge + 8, heads[target], x, heads[target], stroke=ACCENT, width=2)
        drawing.symbol(edge + 6, heads[target], "triangle-left", size=70, fill=ACCENT, stroke=ACCENT)
    drawing.height = int(y)
    return drawing.chart("Kinds of records and the links between them", _words(model))


@cache
def model_pictures(vocabulary: Vocabulary) -> tuple[Chart, Chart]:
    """Both diagrams of the model, for the sizes and the words of the images on a page.

    >>> from evkg.vocabulary import load_vocabulary
    >>> [chart.width for chart in model_pictures(load_vocabulary())]
    [760, 360]
    """
    model = read_model(vocabulary)
    return model_diagram(model), model_diagram(model, narrow=True)


def _line(relation: Relation, *, narrow: bool) -> str:
    """A link as a line of its box; who has it where not all kinds of the box do, if there is room."""
    target = f"{relation.label} → {relation.to_words}"
    some = relation.from_words not in (relation.origin, ANY)
    return f"{target} (from {relation.from_words})" if some and not narrow else target


def _words(model: Model) -> str:
    return "; ".join(f"{r.from_words} – {r.label} → {r.to_words}" for r in model.relations) + "."


def model_csv(model: Model) -> str:
    """The links of the model as CSV.

    >>> from evkg.vocabulary import load_vocabulary
    >>> model_csv(read_model(load_vocabulary())).splitlines()[1]
    '"alias_of","alias of","system","system"'
    """
    lines = [("relation", "label", "from", "to")]
    lines += [(r.key, r.label, r.from_words, r.to_words) for r in model.relations]
    return "".join(map(csv_line, lines))
