"""What every server offers, wherever it comes from."""

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
        """Whether it is ours to start, kill and stop."""

    @property
    def places(self) -> list[tuple[str, int, int]]:
        """(name, process id, port) of what runs for it, as in `processes.json`."""

    def start(self) -> None:
        """Start it, again on the same data and ports after `kill` or `stop`; returns when it serves."""

    def kill(self) -> None:
        """End it as a power cut would; only when private."""

    def stop(self) -> None:
        """End it in order; nothing happens when it does not run."""

    def has_died(self) -> bool:
        """Whether it ended without `kill` or `stop`."""


@runtime_checkable
class KeepsVolume(Protocol):
    """A server whose data is in a volume outside the state directory."""

    def remove_volume(self) -> None: ...
