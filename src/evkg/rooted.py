"""Addresses within a page, where a proxy serves all of it below a path of its own."""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import Final

#: The path of the public address of the application that answers, without a slash at its end; empty at the root.
PREFIX: Final[ContextVar[str]] = ContextVar("evkg_prefix", default="")
#: Texts of a page are escaped, so a quote followed by a slash begins an address that a template wrote.
_ADDRESS: Final = re.compile(r'(?<=[\s"])(href|src|srcset|action|data-terms|data-query)="/(?!/)')


def rooted_page(page: str) -> str:
    """The page, its addresses on this server below the prefix.

    >>> token = PREFIX.set("/kg")
    >>> rooted_page('<a href="/id/x">=&#34;/id/x</a> <a href="#top">top</a> <a href="https://example.org/">other</a>')
    '<a href="/kg/id/x">=&#34;/id/x</a> <a href="#top">top</a> <a href="https://example.org/">other</a>'
    >>> PREFIX.reset(token)
    """
    prefix = PREFIX.get()
    return _ADDRESS.sub(lambda match: f'{match[1]}="{prefix}/', page) if prefix else page


def rooted_path(path: str) -> str:
    """The path, which begins with a slash, below the prefix.

    >>> rooted_path("/docs")
    '/docs'
    """
    return f"{PREFIX.get()}{path}"
