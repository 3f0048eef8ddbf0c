"""The way between a client in a network namespace and the system: a socket in a file, which both sides can reach.

Inside of the namespace `python -m lab.drills.client_chaos.network FOLDER COMMAND...` listens for the client.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from typing import Final

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

# The variable with the client's address of each socket.
VARIABLES: Final = {"api": "API_URL", "sandbox": "SANDBOX_URL"}
_BYTES_MAX: Final = 65_536


class Cuts:
    """Cuts connections after the request was sent: the server's response is lost with its connection."""

    def __init__(self, rate: float, seed: int) -> None:
        self._rate, self._random = rate, Random(seed)
        self.count = 0

    def is_next_lost(self) -> bool:
        """Return whether the next part of a response is lost."""
        is_lost = self._random.random() < self._rate
        self.count += is_lost
        return is_lost


@asynccontextmanager
async def served(path: Path, port: int, cuts: Cuts) -> AsyncIterator[None]:
    """Serve this port of the system at the socket, with cut connections."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _relay((reader, writer), lambda: asyncio.open_connection("127.0.0.1", port), cuts)

    async with await asyncio.start_unix_server(accept, path):
        yield


async def _relay(client: Streams, connect: Callable[[], Awaitable[Streams]], cuts: Cuts) -> None:
    writers = [client[1]]
    try:
        server = await connect()
        writers.append(server[1])
        sent = asyncio.create_task(_copy(client[0], server[1]))
        while part := await server[0].read(_BYTES_MAX):
            if cuts.is_next_lost():
                client[1].transport.abort()
                break
            client[1].write(part)
            await client[1].drain()
        sent.cancel()
    except OSError:
        # The server is down: the client sees a connection without a response.
        pass
    finally:
        for writer in writers:
            writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while part := await reader.read(_BYTES_MAX):
            writer.write(part)
            await writer.drain()
        writer.write_eof()


async def run_inside(folder: Path, command: Sequence[str]) -> int:
    """Run a client whose addresses lead to the sockets of the folder; returns its exit status."""
    no_cuts = Cuts(0.0, 0)
    addresses = {}
    for name, variable in VARIABLES.items():
        path = folder / name

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: Path = path) -> None:
            await _relay((reader, writer), lambda: asyncio.open_unix_connection(path), no_cuts)

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        addresses[variable] = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    client = await asyncio.create_subprocess_exec(*command, env=os.environ | addresses)
    return await client.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(run_inside(Path(sys.argv[1]), sys.argv[2:])))
