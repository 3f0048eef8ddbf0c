"""A server whose address the environment gives; its process is never touched."""

import time
from urllib.parse import urlsplit

from campus_tools.servers.errors import ServerUnavailable
from operations.ports import is_listening

CONNECT_SECONDS_MAX = 30.0
"""Seconds to wait for the server, which may still be booting."""


class GivenServer:
    """The server of `DATABASE_URL`, `BROKER_URL` or `RATE_LIMIT_STORE_URL`."""

    def __init__(self, name: str, url: str, *, variable: str, default_port: int) -> None:
        self.name = name
        self.url = url
        self.private = False
        self._variable = variable
        parts = urlsplit(url)
        if not parts.scheme:
            raise ServerUnavailable(
                f"{variable} is no address: it looks like scheme://account:password@host:port/name."
            )
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or default_port

    @property
    def places(self) -> list[tuple[str, int, int]]:
        return []

    def start(self) -> None:
        deadline = time.monotonic() + CONNECT_SECONDS_MAX
        while not is_listening(self._port, self._host):
            if time.monotonic() > deadline:
                raise ServerUnavailable(
                    f"{self._variable} names {self._host}:{self._port}, but no server listens there. Start that "
                    f"server, or unset {self._variable} to let a private {self.name} be started."
                )
            time.sleep(0.2)

    def kill(self) -> None:
        raise ServerUnavailable(f"{self.name} was given by {self._variable}, so it cannot be killed here")

    def stop(self) -> None:
        """No process of this program runs."""

    def has_died(self) -> bool:
        return False
