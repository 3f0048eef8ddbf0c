"""A transport of httpx whose connections are lost between their opening and their first use."""

import asyncio
from typing import Any

import httpcore
import httpx


class _LosingBackend(httpcore.AnyIOBackend):
    async def connect_tcp(self, *arguments: Any, **more: Any) -> httpcore.AsyncNetworkStream:
        stream: Any = await super().connect_tcp(*arguments, **more)
        stream._stream._transport.abort()
        for _ in range(10):
            await asyncio.sleep(0)
        opened: httpcore.AsyncNetworkStream = stream
        return opened


def losing_transport() -> httpx.AsyncHTTPTransport:
    """Return a transport that opens real connections, none of which can be used."""
    transport = httpx.AsyncHTTPTransport()
    transport._pool._network_backend = _LosingBackend()
    return transport
