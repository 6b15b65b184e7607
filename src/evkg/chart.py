"""A chart as a drawing with places of its own: what the renderer is given, and what becomes of the SVG it gives back.

Places are computed here and no text is ever measured with a font, so a chart is the same bytes on every machine.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from evkg.chart_text import TEXT, clean

#: Light colour -> the one that takes its place in the dark; the tokens of site.css.
INK: Final = "#1b1f24"
SOFT: Final = "#57606a"
RULE: Final = "#d0d5dc"
PAPER: Final = "#ffffff"
WASH: Final = "#f5f6f8"
ACCENT: Final = "#0a558c"
CAUTION: Final = "#c77700"
CAUTION_PAPER: Final = "#fdf6e7"
BAND: Final = "#dbe8f3"
#: Steps of a share, from none to all.
HEAT: Final = ("#f4f6f5", "#d9ece0", "#b3d9c2", "#86c3a0", "#5aab80")
_DARK: Final = {
    INK: "#e4e7eb",
    SOFT: "#a7afb9",
    RULE: "#3b424b",
    PAPER: "#14171b",
    WASH: "#1d2127",
    ACCENT: "#8cbcf2",
    CAUTION: "#d99a2b",
    CAUTION_PAPER: "#2a2316",
    BAND: "#1f3347",
    **dict(zip(HEAT, ("#1a1f1d", "#1b2f25", "#1d4231", "#20573e", "#256d4d"), strict=True)),
}


def _style() -> str:
    dark = "".join(f'[fill="{a}"]{{fill:{b}}}[stroke="{a}"]{{stroke:{b}}}' for a, b in _DARK.items())
    families = (
        '[font-family="sans-serif"]{font-family:system-ui,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}'
        '[font-family="monospace"]{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}'
    )
    return f"text{{font-variant-numeric:tabular-nums}}{families}@media (prefers-color-scheme:dark){{{dark}}}"


#: The style of every chart; colours are attributes, so that the light ones hold where no style is read.
STYLE: Final = _style()
#: What an SVG may load or run: nothing but that style. Source: Content Security Policy Level 3, section 8.4.
POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'; "
    "frame-ancestors 'self'"
)


@dataclass(frozen=True)
class Chart:
    """A picture to be drawn: a Vega specification with places in px, and its words for those who do not see it."""

    title: str
    description: str
    width: int
    height: int
    spec: dict[str, Any]


@dataclass
class Drawing:
    """Shapes at places (px from the upper left corner), drawn in the order boxes, lines, symbols, texts.

    `plots` are group marks of Vega with scales and axes of their own; they lie beneath everything but the boxes.
    """

    width: int
    height: int = 0
    boxes: list[dict[str, Any]] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    symbols: list[dict[str, Any]] = field(default_factory=list)
    texts: list[dict[str, Any]] = field(default_factory=list)
    plots: list[dict[str, Any]] = field(default_factory=list)

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = PAPER,
        stroke: str = RULE,
        dash: Sequence[int] = (),
    ) -> None:
        """A rectangle; without an edge where `stroke` is empty."""
        self.boxes.append(
            {"x": x, "y": y, "w": width, "h": height, "fill": fill, "stroke": stroke or fill, "dash": list(dash)}
        )

    def line(
        self,
        x: float,
        y: float,
        x2: float,
        y2: float,
        *,
        stroke: str = RULE,
        width: float = 1,
        dash: Sequence[int] = (),
    ) -> None:
        """A straight line."""
        self.lines.append({"x": x, "y": y, "x2": x2, "y2": y2, "stroke": stroke, "width": width, "dash": list(dash)})

    def symbol(
        self,
        x: float,
        y: float,
        shape: str,
        *,
        size: float = 60,
        fill: str = ACCENT,
        stroke: str = ACCENT,
        angle: float = 0,
    ) -> None:
        """A symbol of Vega (`circle`, `diamond`, `triangle-right`, …); `size` is its area (px²)."""
        self.symbols.append(
            {"x": x, "y": y, "shape": shape, "size": size, "fill": fill, "stroke": stroke, "angle": angle}
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: int = TEXT,
        fill: str = INK,
        align: str = "left",
        bold: bool = False,
        font: str = "sans-serif",
    ) -> None:
        """One line of text, its middle at `y`."""
        self.texts.append(
            {
                **_place(x, y, fill),
                "text": clean(text),
                "size": size,
                "align": align,
                "font": font,
                "weight": "bold" if bold else "normal",
            }
        )

    def chart(self, title: str, description: str) -> Chart:
        """The drawing as a chart."""
        dash = {"strokeDash": {"field": "dash"}}
        encodings: dict[str, tuple[str, list[dict[str, Any]], dict[str, Any]]] = {
            "boxes": (
                "rect",
                self.boxes,
                {**_fields(x="x", y="y", width="w", height="h", fill="fill", stroke="stroke"), **dash},
            ),
            "lines": (
                "rule",
                self.lines,
                {**_fields(x="x", y="y", x2="x2", y2="y2", stroke="stroke", strokeWidth="width"), **dash},
            ),
            "symbols": (
                "symbol",
                self.symbols,
                _fields(x="x", y="y", shape="shape", size="size", fill="fill", stroke="stroke", angle="angle"),
            ),
            "texts": (
                "text",
                self.texts,
                {
                    **_fields(x="x", y="y", text="text", fill="fill", align="align", font="font"),
                    **_fields(fontSize="size", fontWeight="weight"),
                    "baseline": {"value": "middle"},
                },
            ),
        }
        spec: dict[str, Any] = {
            "$schema": "https://vega.github.io/schema/vega/v5.json",
            "width": self.width,
            "height": self.height,
            "padding": 0,
            "autosize": "none",
            "data": [{"name": name, "values": items} for name, (_, items, _) in encodings.items()],
            "marks": [
                {"type": kind, "from": {"data": name}, "encode": {"enter": encode}}
                for name, (kind, items, encode) in encodings.items()
                if items
            ],
        }
        spec["marks"][bool(self.boxes) : bool(self.boxes)] = self.plots
        return Chart(clean(title), clean(description), self.width, self.height, spec)


def _place(x: float, y: float, fill: str) -> dict[str, Any]:
    return {"x": x, "y": y, "fill": fill}


def _fields(**names: str) -> dict[str, Any]:
    return {channel: {"field": name} for channel, name in names.items()}


_TAG: Final = re.compile(r"<[^<>]*>")
_UNUSED: Final = re.compile(r' (?:role|aria-[a-z]+|class|pointer-events|xmlns:xlink)="[^"]*"')


def finish(chart: Chart, svg: str) -> str:
    """The SVG of a chart with its words and its style, and without what only scripts would use.

    The picture counts as one image with a title and a description. Source: SVG Accessibility API Mappings, section 5.
    """
    body = _TAG.sub(lambda tag: _UNUSED.sub("", tag[0]), svg)
    body = body[body.index(">") + 1 :]
    size = f'width="{chart.width}" height="{chart.height}" viewBox="0 0 {chart.width} {chart.height}"'
    words = (
        f'<title id="title">{_escape(chart.title)}</title><desc id="description">{_escape(chart.description)}</desc>'
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title description" {size}>'
    return f"{head}{words}<style>{STYLE}</style>{body}\n"


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
