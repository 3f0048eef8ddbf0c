"""The HTTP server of a process: uvicorn with a drain at the end."""

import asyncio
import gc
import signal
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from email.utils import formatdate
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from common.primitives.clock import SystemClock
from common.primitives.waiting import never_ending
from common.process.process_settings import ProcessSettings
from common.web.http_protocol import JoinedProtocol

# Running requests have this long to end after the drain; Kubernetes kills after thirty seconds.
DRAIN_SECONDS: Final = 8
# Over TLS the end of a connection is announced, and an idle client of httpx never answers.
CLOSE_SECONDS_MAX: Final = 1.0


class _ServerState(ServerState):
    """The state that connections share, with a Date header that is renewed when it is read."""

    def __init__(self) -> None:
        self._clock, self._second = SystemClock(), 0
        super().__init__()

    @property
    def default_headers(self) -> list[tuple[bytes, bytes]]:
        if (now := int(self._clock.now().timestamp())) != self._second:
            self._second, self._headers = now, [(b"date", formatdate(now, usegmt=True).encode())]
        return self._headers

    @default_headers.setter
    def default_headers(self, _: list[tuple[bytes, bytes]]) -> None:
        """uvicorn's own tick sets them."""


class QuietServer(uvicorn.Server):
    """uvicorn that sleeps while there is no request. uvicorn's own loop wakes ten times a second, for the Date
    header.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.server_state = _ServerState()
        self._exiting = asyncio.Event()

    def exit(self) -> None:
        """End `serve` after the running requests."""
        self.should_exit = True
        self._exiting.set()

    async def main_loop(self) -> None:
        await self._exiting.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        ending = asyncio.create_task(self._end_closing())
        try:
            await super().shutdown(sockets)
        finally:
            ending.cancel()

    async def _end_closing(self) -> None:
        """End each connection that is closed on this side and has sent everything."""
        while True:
            await asyncio.sleep(CLOSE_SECONDS_MAX)
            for connection in list(self.server_state.connections):
                transport = connection.transport
                if transport.is_closing() and not transport.get_write_buffer_size():
                    transport.abort()


class Server(QuietServer):
    """A server with its own signal handlers: uvicorn's end the process before its resources are closed."""

    def __init__(
        self, config: uvicorn.Config, on_stop: Sequence[Callable[[], None]] = (), shutdown_drain_seconds: float = 0.0
    ) -> None:
        super().__init__(config)
        self._on_stop, self._drain_seconds = on_stop, shutdown_drain_seconds
        self._is_draining = False

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        yield

    def _stop(self) -> None:
        """Start the drain; a second signal ends it."""
        if self._is_draining or self._drain_seconds == 0:
            self.exit()
        else:
            asyncio.get_running_loop().call_later(self._drain_seconds, self.exit)
        self._is_draining = True
        for stop in self._on_stop:
            stop()


async def serve(
    app: ASGIApp,
    settings: ProcessSettings,
    background_tasks: Sequence[Awaitable[None]],
    *,
    protocol: type[asyncio.Protocol] = JoinedProtocol,
    on_stop: Sequence[Callable[[], None]] = (),
) -> None:
    """Serve until SIGTERM or SIGINT. Then running requests end, and the background tasks are cancelled.

    A background task that fails, returns or is cancelled by a library before ends the process with an error.

    New requests are accepted for SHUTDOWN_DRAIN_SECONDS after the signal, so that load balancers notice the drain
    first. With INSIDE_CERTIFICATE_FILE the port speaks TLS only.
    """
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=protocol,
        ws="none",
        # uvicorn would trust the X-Forwarded-For header of any client on this machine.
        proxy_headers=False,
        loop="none",
        lifespan="off",
        access_log=False,
        server_header=False,
        log_config=None,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        timeout_keep_alive=75,
        **_over(settings.server_tls),
    )
    server = Server(config, on_stop, settings.shutdown_drain_seconds)
    # Modules live as long as the process. `lean_imports` has stopped the collector.
    gc.freeze()
    gc.enable()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(never_ending("background task", task)) for task in background_tasks]
        await server.serve()
        for task in tasks:
            task.cancel()


class _InternalServer(QuietServer):
    """The server of the internal port. The public one handles signals, and this one is cancelled with the loops."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve_internal(app: ASGIApp, settings: ProcessSettings, port: int) -> None:
    """Serve health and metrics on a port of their own, as a background task of `serve`."""
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=port,
        http="httptools",
        ws="none",
        loop="none",
        lifespan="off",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        log_config=None,
        **_over(settings.server_tls),
    )
    await _InternalServer(config).serve()


def _over(tls: ssl.SSLContext | None) -> dict[str, Any]:
    return {} if tls is None else {"ssl_context_factory": lambda _config, _default: tls}
