"""`python -m lab.bench.upstream`: an upstream of minimal cost that returns fixed bytes."""

import asyncio
import os
from typing import Any

import httptools
import uvloop

# About the size of one order.
BODY = b'{"success":true,"data":{"text":"' + b"x" * 900 + b'"},"meta":{"api_version":"v1"}}'
_RESPONSE = b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\nx-request-id: req_0\r\n\r\n%b"
_OK = _RESPONSE % (b"200 OK", len(BODY), BODY)
_CREATED = _RESPONSE % (b"201 Created", len(BODY), BODY)


class Upstream(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_complete(self) -> None:
        self._transport.write(_CREATED if self._parser.get_method() == b"POST" else _OK)


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", int(os.environ["PORT"]))
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
