"""Protocols of all servers, whatever their origin."""

from typing import Protocol, runtime_checkable


class Server(Protocol):
    """One PostgreSQL, RabbitMQ or Redis: from the environment, in a container, or a private process."""

    @property
    def name(self) -> str: ...

    @property
    def url(self) -> str:
        """The address with the administrator's account; known before the server is started."""

    @property
    def private(self) -> bool:
        """Return whether this program starts, kills and stops it."""

    @property
    def places(self) -> list[tuple[str, int, int]]:
        """(name, process id, port) of its processes, as in `processes.json`."""

    def start(self) -> None:
        """Start it and return when it serves. After `kill` or `stop`, data and ports are the same."""

    def kill(self) -> None:
        """Kill it; only when private."""

    def stop(self) -> None:
        """Stop it in order, when it runs."""

    def has_died(self) -> bool:
        """Return whether it ended without `kill` or `stop`."""


@runtime_checkable
class KeepsVolume(Protocol):
    """A server whose data is in a volume outside the state directory."""

    def remove_volume(self) -> None: ...
