"""The part that private servers have in common: one child of this process."""

import subprocess

from campus_tools.children import kill_child


class PrivateServer:
    """A server that runs as a child. `name`, `_port` and the start are those of the kind."""

    name = ""
    private = True
    _port: int

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def places(self) -> list[tuple[str, int, int]]:
        return [(self.name, self._child.pid, self._port)] if self._child is not None else []

    @property
    def is_running(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def kill(self) -> None:
        if (child := self._released()) is not None:
            kill_child(child)

    def has_died(self) -> bool:
        return self._child is not None and self._child.poll() is not None

    def _released(self) -> subprocess.Popen[bytes] | None:
        """Return the child, which is no longer that of the server: its end is intended."""
        child, self._child = self._child, None
        return child
