"""Load at a fixed rate: a request is sent when it is due, even if earlier ones are unfinished.

The time of a response counts from the moment at which the request was due. The wait for a stalled server is
included.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import cast

from lab.bench.programs import BenchFailed

_CONNECTIONS_MAX = 64
_LATE_SECONDS = 20.0


class _Client(asyncio.Protocol):
    """One keep-alive connection for one request at a time."""

    def __init__(self) -> None:
        self._response: asyncio.Future[bytes] | None = None
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    async def send(self, request: bytes) -> bytes:
        self._response = asyncio.get_running_loop().create_future()
        self._received = b""
        self._transport.write(request)
        return await asyncio.wait_for(self._response, _LATE_SECONDS)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if found and self._response is not None and not self._response.done() and len(body) >= _length_of(head):
            self._response.set_result(self._received)

    def connection_lost(self, error: Exception | None) -> None:
        if self._response is not None and not self._response.done():
            self._response.set_exception(BenchFailed(f"the server closed the connection: {error!r}"))

    def close(self) -> None:
        self._transport.close()


async def send_at_rate(host: str, port: int, requests: Sequence[bytes], *, rate: float) -> list[float]:
    """Send `rate` requests per second, and return the response times in ms. Raises BenchFailed unless all are 2xx."""
    loop = asyncio.get_running_loop()
    clients = [(await loop.create_connection(_Client, host, port))[1] for _ in range(_CONNECTIONS_MAX)]
    times: list[float] = []
    waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def worker(client: _Client) -> None:
        while True:
            due, request = await waiting.get()
            response = await client.send(request)
            times.append((time.perf_counter() - due) * 1000)
            if not response.startswith(b"HTTP/1.1 2"):
                raise BenchFailed(f"the response is not 2xx: {response[:300]!r}")

    async with asyncio.TaskGroup() as group:
        workers = [group.create_task(worker(client)) for client in clients]
        began = time.perf_counter() + 0.05
        for number, request in enumerate(requests):
            due = began + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            waiting.put_nowait((due, request))
        while len(times) < len(requests):
            await asyncio.sleep(0.01)
        for task in workers:
            task.cancel()
    for client in clients:
        client.close()
    return times


def request_bytes(method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
    """Return an HTTP/1.1 request with its headers and body."""
    lines = [f"{method} {path} HTTP/1.1", "Host: bench", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {text}" for name, text in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def _length_of(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0
