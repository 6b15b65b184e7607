"""Entity tags: what lets a client ask whether what it has is still what it would get."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import metadata

from starlette.requests import Request
from starlette.responses import Response


def make_tag(*parts: str) -> str:
    """The tag of something that follows from these parts and from this version of evkg; 20 hex digits, quoted.

    Source: RFC 9110, section 8.8.3.

    >>> make_tag("a", "b") == make_tag("a", "b"), make_tag("a", "b") == make_tag("ab")
    (True, False)
    """
    text = "".join(f"{len(part)}:{part}" for part in (*parts, _version()))
    return f'"{hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:20]}"'


@cache
def _version() -> str:
    return metadata.version("evkg")


def matches(if_none_match: str | None, tag: str) -> bool:
    """Whether a client has this already.

    Source: RFC 9110, section 13.1.2 (weak comparison).

    >>> matches('W/"a", "b"', '"a"'), matches("*", '"a"'), matches(None, '"a"')
    (True, True, False)
    """
    if if_none_match is None:
        return False
    tags = [part.strip().removeprefix("W/") for part in if_none_match.split(",")]
    return tag.removeprefix("W/") in tags or tags == ["*"]


def not_modified(request: Request, headers: dict[str, str]) -> Response | None:
    """The response 304 with these headers, where their ETag is one that the client has; else None.

    What comes from a remote store has none.
    """
    if "ETag" in headers and matches(request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers={k: v for k, v in headers.items() if k != "Content-Type"})
    return None
