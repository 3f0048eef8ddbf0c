"""A service that rejects a request by its head gets no more of the body, and no other request in its place."""

import asyncio
from collections.abc import AsyncIterator

from api_gateway.upstream import Upstreams

ENDLESS = 10**9
REJECTION = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\n{}"
RESPONSE = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"


class Refusing:
    """Behaves as the services' server: it responds to a POST by its head, and continues to read the announced body."""

    def __init__(self) -> None:
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(REJECTION if head.startswith(b"POST") else RESPONSE)
                if head.startswith(b"POST"):
                    await reader.readexactly(ENDLESS)
        except asyncio.IncompleteReadError:
            writer.close()


async def endless() -> AsyncIterator[bytes]:
    while True:
        yield b"x" * 64
        await asyncio.sleep(0)


async def test_a_connection_whose_request_was_cut_off_serves_no_other_request() -> None:
    service = Refusing()
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        upstreams = Upstreams({"orders": f"http://127.0.0.1:{port}"}, 4)
        upstream = upstreams["orders"]
        head = b"POST / HTTP/1.1\r\nhost: orders\r\ncontent-length: %d\r\n\r\n" % ENDLESS
        refused = await upstream.send_request(head, endless(), seconds_max=5, may_repeat=False)
        assert (refused.status, await refused.next_chunk()) == (403, b"{}")
        refused.release()
        for _ in range(2):
            next_one = await upstream.send_request(
                b"GET / HTTP/1.1\r\nhost: orders\r\n\r\n", b"", seconds_max=5, may_repeat=False
            )
            assert (next_one.status, await next_one.next_chunk()) == (200, b"{}")
            next_one.release()
        # The refused one's is closed, and the two that follow share another.
        assert service.connections == 2
        await upstreams.close()
