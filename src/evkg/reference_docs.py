"""The documentation: its pages as they stand beside the code, made into HTML, with links that lead to pages here."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from importlib import import_module
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from evkg.errors import NotFoundError, ReleaseError, VocabularyError
from evkg.vocabulary import data_folder

#: Pages beside the folder `docs`, in the order of the list; the others follow by name.
_FIRST: Final = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
_PICTURES: Final[Mapping[str, str]] = {".png": "image/png", ".svg": "image/svg+xml"}
_ELSEWHERE: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)
_INLINE: Final = re.compile(r"[*_`]|\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Doc:
    """A page of the documentation: its name in addresses, title, first paragraph, and where its file is."""

    name: str
    title: str
    summary: str
    file: Path
    path: str  # in the repository


class Docs:
    """The pages that come with this version of evkg.

    >>> Docs().page("README").title
    'evkg'
    """

    @cached_property
    def pages(self) -> Mapping[str, Doc]:
        """Name -> page. Raises: VocabularyError: the installation holds no documentation."""
        folder = data_folder("docs")
        files = [(folder.parent / name, name) for name in _FIRST]
        files += [(file, f"docs/{file.name}") for file in sorted(folder.glob("*.md"))]
        docs = (_read(file, path) for file, path in files if file.is_file())
        return {doc.name: doc for doc in docs}

    def page(self, name: str) -> Doc:
        """A page by its name. Raises: NotFoundError: there is none; names the nearest."""
        from difflib import get_close_matches

        if name not in self.pages:
            raise NotFoundError(
                f"The documentation has no page {name[:80]!r}.",
                tuple(get_close_matches(name, self.pages, n=3, cutoff=0.5)),
            )
        return self.pages[name]

    def picture(self, name: str) -> tuple[str, bytes]:
        """(media type, bytes) of a picture. Raises: NotFoundError: there is none."""
        for file in sorted((data_folder("docs") / "images").glob("*")):
            if file.name == name and file.suffix in _PICTURES:
                return _PICTURES[file.suffix], file.read_bytes()
        raise NotFoundError(f"The documentation has no picture {name[:80]!r}.")

    def source(self, doc: Doc) -> str:
        """The Markdown of a page. Raises: ReleaseError: its file has gone."""
        try:
            return doc.file.read_text(encoding="utf-8")
        except OSError as error:
            raise ReleaseError(f"{doc.file} cannot be read: {error.strerror or error}") from error

    def html(self, doc: Doc) -> str:
        """A page as HTML; where the library for Markdown is not installed, its source as plain text.

        HTML in the source is text: a page says what its author writes, not more.
        """
        source = self.source(doc)
        library = _library()
        if library is None:
            return f"<pre>{escape(source)}</pre>"
        if self._made.get(doc.name, ("", ""))[0] != source:
            self._made[doc.name] = (source, self._render(library, doc, source))
        return self._made[doc.name][1]

    @cached_property
    def _made(self) -> dict[str, tuple[str, str]]:
        """Name -> source of a page and the HTML that was made of it."""
        return {}

    def _render(self, library: ModuleType, doc: Doc, source: str) -> str:
        markdown = library.MarkdownIt("commonmark", {"html": False}).enable("table")
        tokens = markdown.parse(source)
        known: set[str] = set()
        for number, token in enumerate(tokens):
            if token.type == "heading_open":
                token.attrSet("id", _anchor(tokens[number + 1].content, known))
            for child in token.children or ():
                self._turn(doc, child)
        html = str(markdown.renderer.render(tokens, markdown.options, {}))
        numbers = count(1)  # regions of one page need names of their own
        html = re.sub(
            "<table>",
            lambda _: f'<div class="box" role="region" aria-label="Table {next(numbers)}" tabindex="0"><table>',
            html,
        )
        html = html.replace("<th>", '<th scope="col">')
        # What scrolls must be reached by the keyboard.
        return html.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')

    def _turn(self, doc: Doc, token: Any) -> None:
        """Let a link or picture lead to its page here; what is in the repository only leads nowhere."""
        key = {"link_open": "href", "image": "src"}.get(token.type)
        target = token.attrGet(key) if key else None
        if key is None or not isinstance(target, str) or _ELSEWHERE.match(target):
            return
        place, mark, fragment = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(doc.path), place))
        page = next((other for other in self.pages.values() if other.path == path), None)
        if page is not None:
            token.attrSet(key, f"/docs/{page.name}{mark}{fragment}")
        elif path.startswith("docs/images/"):
            token.attrSet(key, f"/{path}")
        else:
            token.attrs.pop(key)
            token.attrSet("title", f"{path}, in the repository")


def _library() -> ModuleType | None:
    """The library that reads Markdown, where it is installed."""
    try:
        return import_module("markdown_it")
    except ImportError:
        return None


def _read(file: Path, path: str) -> Doc:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise VocabularyError(f"{file.name} cannot be read: {error.strerror or error}") from error
    head, _, rest = text.partition("\n")
    paragraph = next((part for part in rest.split("\n\n") if re.match(r"\s*[A-Z]", part)), "")
    return Doc(file.stem, _plain(head.lstrip("# ")), _plain(" ".join(paragraph.split())), file, path)


def _plain(text: str) -> str:
    """A line of Markdown without its marks.

    >>> _plain("see [the *rules*](rules.md) in `docs`")
    'see the rules in docs'
    """
    return _INLINE.sub(lambda match: _INLINE.sub("", match[1]) if match[1] else "", text).strip()


def _anchor(heading: str, known: set[str]) -> str:
    """The fragment of a heading, as repositories on the web make it; a repeated one gets a number.

    >>> known = set()
    >>> _anchor("What is `evkg`?", known), _anchor("What is evkg", known)
    ('what-is-evkg', 'what-is-evkg-1')
    """
    words = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
    found, number = words, 0
    while found in known:
        number += 1
        found = f"{words}-{number}"
    known.add(found)
    return found
