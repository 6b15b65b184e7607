from __future__ import annotations

import asyncio
import gzip
import zlib
from typing import Any

import pytest
from backports import zstd

from evkg.compression import Compression, choose_coding

LONG = b"0123456789" * 1000


def respond(
    pieces: list[bytes], accept: str | None, headers: dict[str, str] | None = None, status: int = 200
) -> tuple[dict[str, str], list[bytes]]:
    """The headers and the pieces of the body that a client gets."""
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        given = {"content-type": "text/csv; charset=utf-8", **(headers or {})}
        if len(pieces) == 1:
            given["content-length"] = str(len(pieces[0]))
        raw = [(name.encode(), value.encode()) for name, value in given.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        for number, piece in enumerate(pieces, 1):
            await send({"type": "http.response.body", "body": piece, "more_body": number < len(pieces)})

    async def send(message: Any) -> None:
        sent.append(message)

    raw = [(b"accept-encoding", accept.encode())] if accept is not None else []
    asyncio.run(Compression(app)({"type": "http", "headers": raw}, None, send))  # type: ignore[arg-type]
    return {k.decode(): v.decode() for k, v in sent[0]["headers"]}, [message["body"] for message in sent[1:]]


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("gzip", True),
        ("GZIP", True),
        ("x-gzip", True),
        ("gzip, deflate, br", True),
        ("gzip;q=0.1", True),
        ("*;q=0.5", True),
        ("br;q=1.0, *;q=0.1", True),
        ("identity;q=0, gzip;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip;q=0.000, *", False),
        ("gzip;q=0.2, identity;q=0.8", False),
        ("deflate, br", False),
        ("identity", False),
        ("gzip;q=nonsense", False),
        ("gzipped", False),
        ("", False),
        (None, False),
    ],
)
def test_only_who_would_rather_have_gzip_gets_it(accept: str | None, wanted: bool) -> None:
    assert choose_coding(accept) == ("gzip" if wanted else None)
    headers, pieces = respond([LONG], accept)
    assert (headers.get("content-encoding") == "gzip") is wanted
    assert (gzip.decompress(pieces[0]) if wanted else pieces[0]) == LONG
    assert headers["content-length"] == str(len(pieces[0]))
    assert (len(pieces[0]) < len(LONG) / 10) is wanted


@pytest.mark.parametrize(
    ("accept", "coding"),
    [
        ("gzip, deflate, br, zstd", "zstd"),
        ("zstd", "zstd"),
        ("zstd;q=0.5, gzip;q=0.9", "gzip"),
        ("zstd;q=0, gzip", "gzip"),
        ("zstd;q=0", None),
        ("zstd;q=0.2, identity;q=0.8", None),
    ],
)
def test_zstd_comes_first_where_it_is_known(accept: str, coding: str | None) -> None:
    headers, pieces = respond([LONG], accept)
    assert headers.get("content-encoding") == coding
    if coding == "zstd":
        assert zstd.decompress(pieces[0]) == LONG
        assert headers["content-length"] == str(len(pieces[0]))


def test_zstd_pieces_can_be_read_as_they_come_and_a_cut_shows() -> None:
    headers, pieces = respond([LONG, LONG[::-1], b""], "zstd")
    assert (headers["content-encoding"], "content-length" in headers) == ("zstd", False)
    reader = zstd.ZstdDecompressor()
    assert reader.decompress(pieces[0]) == LONG
    assert zstd.decompress(b"".join(pieces)) == LONG + LONG[::-1]
    with pytest.raises(zstd.ZstdError):
        zstd.decompress(b"".join(pieces[:2]))


def test_a_first_row_does_not_wait_in_gzip() -> None:
    _, pieces = respond([b"a,b\r\n" * 300, LONG], "gzip")
    assert zlib.decompressobj(31).decompress(pieces[0]) == b"a,b\r\n" * 300


def test_a_body_in_pieces_is_compressed_as_it_comes() -> None:
    headers, pieces = respond([LONG, LONG[::-1], b""], "gzip")
    assert (headers["content-encoding"], "content-length" in headers) == ("gzip", False)
    assert len(pieces) == 3
    assert gzip.decompress(b"".join(pieces)) == LONG + LONG[::-1]
    with pytest.raises(EOFError):  # what is cut off does not pass for whole
        gzip.decompress(b"".join(pieces[:2]))


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"short", {}, 200),
        (LONG, {"content-type": "image/png"}, 200),
        (LONG, {"content-encoding": "br"}, 200),
        (b"", {}, 304),
        (b"", {}, 204),
    ],
)
def test_what_gains_nothing_stays_as_it_is(body: bytes, headers: dict[str, str], status: int) -> None:
    sent, pieces = respond([body], "gzip", headers, status)
    assert (sent.get("content-encoding"), pieces) == (headers.get("content-encoding"), [body])


def test_a_strong_tag_becomes_weak_since_the_bytes_are_others() -> None:
    assert respond([LONG], "gzip", {"etag": '"a"'})[0]["etag"] == 'W/"a"'
    assert respond([LONG], "gzip", {"etag": 'W/"a"'})[0]["etag"] == 'W/"a"'
    assert respond([LONG], None, {"etag": '"a"'})[0]["etag"] == '"a"'
