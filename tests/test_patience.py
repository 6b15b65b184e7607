"""Requests that come in part, or never end, over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from evkg import patience
from evkg.patience import HEAD_BYTES, PatientProtocol

GET = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"


async def length(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the length of the body; to `/slow` after it took longer than a request may."""
    body = await Request(scope, receive).body()
    if scope["path"] == "/slow":
        await asyncio.sleep(0.8)
    await Response(str(len(body)))(scope, receive, send)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "REQUEST_SECONDS", 0.4)


@contextlib.asynccontextmanager
async def port() -> AsyncIterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(
            uvicorn.Config(length, http=PatientProtocol, lifespan="off", log_level="error", interface="asgi3")
        )
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
        task = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        yield listener.getsockname()[1]
        server.should_exit = True
        await task


def exchange(*parts: bytes, pause: float = 0.0) -> tuple[bytes, float]:
    """What a server answers to parts that are sent one after the other until it closes, and after how many seconds."""

    async def main() -> tuple[bytes, float]:
        async with port() as number:
            reader, writer = await asyncio.open_connection("127.0.0.1", number)
            begun = time.monotonic()
            with contextlib.suppress(ConnectionError):
                for part in parts:
                    writer.write(part)
                    await writer.drain()
                    await asyncio.sleep(pause)
            answer = b""
            with contextlib.suppress(ConnectionError):
                answer = await asyncio.wait_for(reader.read(), 10)
            writer.close()
            return answer, time.monotonic() - begun

    return asyncio.run(main())


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("start", [GET[:-2], POST, POST + b"ab"])
def test_half_a_request_is_given_up(start: bytes) -> None:
    answer, seconds = exchange(start)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"access-control-allow-origin: *" in answer
    assert 0.3 < seconds < 3


@pytest.mark.usefixtures("hurried")
def test_a_byte_now_and_then_is_not_enough() -> None:
    answer, seconds = exchange(*(GET[i : i + 1] for i in range(len(GET) - 2)), pause=0.1)
    assert answer.startswith(b"HTTP/1.1 408 ") or answer == b""  # it may be gone before all was sent
    assert seconds < 5


@pytest.mark.usefixtures("hurried")
def test_a_connection_that_nothing_comes_over_is_closed() -> None:
    answer, seconds = exchange()
    assert (answer, seconds < 3) == (b"", True)


@pytest.mark.usefixtures("hurried")
def test_the_time_of_an_answer_does_not_count() -> None:
    answer, _ = exchange(GET.replace(b"/a", b"/slow").replace(b"Host", b"Connection: close\r\nHost"))
    assert answer.startswith(b"HTTP/1.1 200 ")


@pytest.mark.usefixtures("hurried")
def test_half_of_a_second_request_does_not_harm_the_answer_to_the_first() -> None:
    answer, _ = exchange(GET.replace(b"/a", b"/slow") + GET[:9])
    first, _, second = answer.partition(b"\r\n\r\n")
    assert first.startswith(b"HTTP/1.1 200 ")
    assert second.startswith(b"0HTTP/1.1 408 ")


def test_requests_one_after_the_other_are_each_answered() -> None:
    last = GET.replace(b"Host", b"Connection: close\r\nHost")
    answer, _ = exchange(GET, POST, b"ab", b"cd", GET + GET + last, pause=0.05)
    assert answer.count(b"HTTP/1.1 200 ") == 5
    assert b"\r\n\r\n4" in answer


def test_headers_without_an_end_are_refused() -> None:
    answer, _ = exchange(b"GET /a HTTP/1.1\r\n", *(b"X-A: " + b"a" * 60_000 + b"\r\n",) * (HEAD_BYTES // 60_000 + 1))
    assert answer.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("size", [66_000, 100_000, 300_000, 2_000_000])
def test_an_address_that_is_too_long_is_told_so(size: int) -> None:
    answer, _ = exchange(GET.replace(b"/a", b"/a?" + b"q" * size))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert b"content-type: application/problem+json" in head
    assert json.loads(body)["status"] == 431


@pytest.mark.parametrize("size", [300_000, 2_000_000])
def test_a_header_that_is_too_long_is_told_so(size: int) -> None:
    answer, _ = exchange(GET.replace(b"Host", b"X-A: " + b"a" * size + b"\r\nHost"))
    assert answer.startswith(b"HTTP/1.1 431 ")


def test_a_long_address_is_no_fault() -> None:
    answer, _ = exchange(GET.replace(b"/a", b"/a?" + b"q" * 60_000).replace(b"Host", b"Connection: close\r\nHost"))
    assert answer.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("offer", [b"Upgrade: h2c", b"UPGRADE: h2c", b"upgrade: websocket"])
def test_an_offer_of_another_protocol_is_ignored(offer: bytes) -> None:
    """Java's client makes one with each POST; its body comes in a packet of its own."""
    head = POST.replace(b"Host", b"Connection: Upgrade, HTTP2-Settings\r\n" + offer + b"\r\nHost")
    last = GET.replace(b"Host", b"Connection: close\r\nHost")
    answer, _ = exchange(head, b"abcd", last, pause=0.1)
    assert answer.count(b"HTTP/1.1 200 ") == 2
    assert b"\r\n\r\n4" in answer
