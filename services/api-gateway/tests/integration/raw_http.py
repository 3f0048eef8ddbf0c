"""Both ends of the gateway byte by byte: a client that sends what it likes, and a service that reads its requests
strictly.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

LONG_RESPONSE = "/api/campus-orders/export"


@dataclass
class Recorder:
    """A service that parses its requests strictly and records them: request line, headers, body."""

    seen: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    misread: list[bytes] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await self._respond_once(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _respond_once(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        line, *fields = head[:-4].split(b"\r\n")
        headers: dict[str, str] = {}
        for each in fields:
            name, colon, value = each.partition(b": ")
            if not colon or name.decode() in headers or b"\n" in each or b"\r" in each:
                self.misread.append(each)
            headers[name.decode()] = value.decode("latin-1")
        if "content-length" in headers and "transfer-encoding" in headers:
            self.misread.append(head)
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        if "transfer-encoding" in headers:
            body = await self._chunks(reader)
        self.seen.append((line.decode(), headers, body))
        length = 30_000_000 if LONG_RESPONSE in line.decode() else 2
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n{}" % length)
        for _ in range((length - 2) // 10_000):
            writer.write(b" " * 10_000)
            await writer.drain()
        if length > 2:
            writer.write(b" " * ((length - 2) % 10_000))

    async def _chunks(self, reader: asyncio.StreamReader) -> bytes:
        body = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += await reader.readexactly(size)
            assert await reader.readexactly(2) == b"\r\n"
        assert await reader.readexactly(2) == b"\r\n"
        return body


@dataclass(frozen=True)
class Result:
    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """A connection that sends bytes and reads responses one by one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, sent: bytes) -> None:
        self._writer.write(sent)
        await self._writer.drain()

    async def response(self, *, has_body: bool = True) -> Result:
        async with asyncio.timeout(60):
            head = await self._reader.readuntil(b"\r\n\r\n")
            line, *fields = head[:-4].decode("latin-1").split("\r\n")
            headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in fields)}
            status = int(line.split(" ")[1])
            length = int(headers.get("content-length", "0")) if has_body and status not in (100, 204) else 0
            return Result(status, headers, await self._reader.readexactly(length))

    async def is_closed(self) -> bool:
        """Return whether the gateway has closed the connection after its response."""
        try:
            async with asyncio.timeout(60):
                return await self._reader.read(1) == b""
        except ConnectionError:
            return True

    async def lives(self) -> bool:
        """Return whether the connection serves another request with the response of that request."""
        await self.send(b"GET /health/liveness HTTP/1.1\r\nHost: x\r\n\r\n")
        response = await self.response()
        return response.status == 200 and b'"alive"' in response.body


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()
