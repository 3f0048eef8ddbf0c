"""Responses to clients of HTTP/1.0, such as old proxies and download tools."""

import asyncio

from .conftest import GatewayApp

EVENTS = b"event: token\ndata: first\n\nevent: done\ndata: last\n\n"


async def test_a_streamed_body_holds_no_chunk_sizes_for_http_1_0(app: GatewayApp) -> None:
    head, body = await _stream_to(app, "1.0")
    assert (b"transfer-encoding" in head, b"connection: close" in head, body) == (False, True, EVENTS)


async def test_a_streamed_body_is_chunked_for_http_1_1(app: GatewayApp) -> None:
    head, body = await _stream_to(app, "1.1")
    assert b"transfer-encoding: chunked" in head
    assert body.endswith(b"\r\n0\r\n\r\n")


async def _stream_to(app: GatewayApp, version: str) -> tuple[bytes, bytes]:
    app.upstream.tick.set()
    token = app.bearer()["Authorization"]
    lines = (f"GET /api/notification-delivery-logs HTTP/{version}", "Host: campus", f"Authorization: {token}")
    reader, writer = await asyncio.open_connection("127.0.0.1", app.port)
    writer.write("\r\n".join((*lines, "Connection: close", "", "")).encode())
    response = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    head, _, body = response.partition(b"\r\n\r\n")
    return head.lower(), body
