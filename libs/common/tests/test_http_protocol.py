"""A response is one write; later parts do not delay earlier ones."""

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from testkit.service_kit import served

_REQUEST = b"GET /%b HTTP/1.1\r\nHost: here\r\n\r\n"


async def _request(url: str, name: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(_REQUEST % name)
    return reader, writer


async def test_head_and_body_of_a_response_are_one_write() -> None:
    async def whole(_: Request) -> Response:
        return PlainTextResponse("all of it")

    async with served(Starlette(routes=[Route("/whole", whole)])) as url:
        reader, writer = await _request(url, b"whole")
        arrived = await reader.read(65536)
        writer.close()
    assert arrived.startswith(b"HTTP/1.1 200 OK\r\n")
    assert arrived.endswith(b"\r\n\r\nall of it")


async def test_the_start_of_a_stream_is_sent_immediately() -> None:
    may_end = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        yield b"first"
        await may_end.wait()
        yield b"last"

    async def stream(_: Request) -> Response:
        return StreamingResponse(pieces(), media_type="text/plain")

    async with served(Starlette(routes=[Route("/stream", stream)])) as url:
        reader, writer = await _request(url, b"stream")
        assert b"first" in await reader.readuntil(b"first\r\n")
        may_end.set()
        assert await reader.readuntil(b"0\r\n\r\n") == b"4\r\nlast\r\n0\r\n\r\n"
        writer.close()
