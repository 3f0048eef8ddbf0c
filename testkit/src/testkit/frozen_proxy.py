"""A proxy in front of a server that can freeze: it accepts connections and passes nothing on, as a stopped process
does.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import SplitResult, urlsplit

_CHUNK_BYTES = 65_536


class FrozenProxy:
    """The proxy; `freeze` and `resume` act on all connections, those to come too."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._pumps: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.accepted = 0

    def freeze(self) -> None:
        self._flowing.clear()

    def resume(self) -> None:
        self._flowing.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on what one client and the server send."""
        self.accepted += 1
        self._writers.add(writer)
        await self._flowing.wait()
        try:
            there, back = await asyncio.open_connection(self._host, self._port)
        except OSError:
            writer.close()
            return
        self._writers.add(back)
        for source, sink in ((reader, back), (there, writer)):
            pump = asyncio.create_task(self._pump(source, sink))
            self._pumps.add(pump)
            pump.add_done_callback(self._pumps.discard)

    async def close(self) -> None:
        """End every connection."""
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)
        for writer in self._writers:
            writer.close()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while chunk := await source.read(_CHUNK_BYTES):
                await self._flowing.wait()
                sink.write(chunk)
                await sink.drain()
        sink.close()


@asynccontextmanager
async def frozen_proxy(url: str) -> AsyncIterator[tuple[FrozenProxy, str]]:
    """Yield a proxy in front of the server of an address, and the address through it."""
    address = urlsplit(url)
    proxy = FrozenProxy(address.hostname or "127.0.0.1", address.port or 0)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy, _through(address, proxy.port)
    finally:
        proxy.resume()
        server.close()
        await proxy.close()


def _through(address: SplitResult, port: int) -> str:
    account, at, _ = address.netloc.rpartition("@")
    return address._replace(netloc=f"{account}{at}127.0.0.1:{port}").geturl()
