"""Assets: the style sheet and the icon, with tags, and nothing in them that asks for anything elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from evkg.assets import ASSETS, read_asset
from evkg.release import open as open_release
from tests.client import Client, served

#: Text on its background, for which a contrast of 4.5 to 1 is wanted. Source: WCAG 2.2, success criterion 1.4.3.
PAIRS = (
    *(("ink", "paper"), ("soft", "paper"), ("accent", "paper"), ("ink", "wash"), ("caution", "caution-paper")),
    *(("ink", "caution-paper"), ("soft", "caution-paper"), ("accent", "caution-paper")),
)


@pytest.fixture(scope="module")
def client(workspace: Path) -> Iterator[Client]:
    yield from served(open_release(workspace / "build/current"))


@pytest.mark.parametrize(("name", "content_type"), ASSETS.items())
def test_an_asset_comes_with_its_type_and_a_tag(client: Client, name: str, content_type: str) -> None:
    answer = client(f"/{name}")
    assert (answer.status_code, answer.text) == (200, read_asset(name))
    assert answer.headers["content-type"] == content_type
    again = client(f"/{name}", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_style_sheet_asks_for_nothing_elsewhere() -> None:
    assert not re.search(r"url\(|@import|https?:", read_asset("site.css"))


def tokens(text: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6});", text))


def luminance(colour: str) -> float:
    """Source: WCAG 2.2, relative luminance."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("front", "back"), PAIRS, ids=str)
def test_colours_have_enough_contrast(scheme: str, front: str, back: str) -> None:
    light, _, rest = read_asset("site.css").partition("prefers-color-scheme: dark")
    colours = tokens(light) if scheme == "light" else tokens(light) | tokens(rest.split("}")[0])
    lighter, darker = sorted((luminance(colours[front]), luminance(colours[back])), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5
