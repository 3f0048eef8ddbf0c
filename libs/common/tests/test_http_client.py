"""A connection that is lost as soon as it is open is an error of httpx."""

import asyncio

import httpx
import pytest

from common.primitives.http_client import HttpClient
from testkit.lost_connections import losing_transport


async def test_a_connection_that_is_lost_before_its_first_use_is_a_connect_error() -> None:
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    async with server, HttpClient(transport=losing_transport()) as client:
        with pytest.raises(httpx.ConnectError, match="as soon as it was open"):
            await client.get(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
