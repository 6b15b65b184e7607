"""The pictures of docs/curators.md: drawn from what evkg prints, with words for those who do not see them."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.builds import ROOT
from tests.screenshots import LINES, draw, terminals

IMAGES = ROOT / "docs" / "images"


def test_every_picture_is_used_small_and_has_words() -> None:
    text = (ROOT / "docs" / "curators.md").read_text(encoding="utf-8")
    used = dict(re.findall(r"!\[([^\]]*)\]\(images/([^)]+)\)", text))
    assert sorted(used.values()) == sorted(file.name for file in IMAGES.iterdir())
    assert all(len(words) > 60 for words in used)
    assert all(file.stat().st_size < 200_000 for file in IMAGES.iterdir())
    for file in IMAGES.glob("*.png"):
        assert struct.unpack(">II", file.read_bytes()[16:24]) == (1080, 800)


def test_what_is_drawn_of_the_terminal_is_what_evkg_prints_now(tmp_path: Path) -> None:
    """Else `make images` draws it anew."""
    drawn = dict(terminals(tmp_path))
    assert sorted(drawn) == ["check", "gaps"]
    for name, picture in drawn.items():
        assert (IMAGES / f"{name}.svg").read_text(encoding="utf-8") == picture


def test_colours_become_classes_and_long_output_is_cut() -> None:
    printed = "\x1b[1;31mviolation\x1b[0m  a <b> & c\n" + "line\n" * 100 + "the last line\n"
    tree = ET.fromstring(draw("evkg check", printed, "A terminal"))  # noqa: S314 - drawn here
    texts = ["".join(node.itertext()) for node in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:2] == ["$ evkg check", "violation\u00a0\u00a0a <b> & c"]
    assert texts[-2:] == ["…", "the last line"]
    assert len(texts) == LINES + 1
    spans = [(node.get("class"), node.text) for node in tree.iter("{http://www.w3.org/2000/svg}tspan")]
    assert spans == [("s", "$"), ("b", "evkg check"), ("v", "violation")]
    assert tree.get("aria-label") == "A terminal"
