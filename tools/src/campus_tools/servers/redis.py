"""A private Redis (or Valkey) for quotas, in memory only."""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

from campus_tools.children import (
    end_recorded_process,
    open_log,
    record_process,
    spawn,
    stop_child,
    wait_until,
)
from campus_tools.servers.errors import ServerUnavailable
from campus_tools.servers.install import install
from campus_tools.servers.passwords import server_password
from campus_tools.servers.private import PrivateServer


class PrivateRedis(PrivateServer):
    """Redis or Valkey from local binaries."""

    name = "redis"

    def __init__(self, state_dir: Path, port: int, *, report: Callable[[str], None], settings: str = "") -> None:
        """Configure a server. `settings`: further lines of `redis.conf`."""
        super().__init__()
        self._home = state_dir / "servers"
        self._port, self._settings = port, settings
        self._report = report
        self._password = server_password(state_dir, "redis")

    @property
    def url(self) -> str:
        return f"redis://:{self._password}@127.0.0.1:{self._port}/0"

    def start(self) -> None:
        if self.is_running:
            return
        binary = find_redis(self._report)
        end_recorded_process(self._home / "redis.pid")
        settings = self._home / "redis.conf"
        settings.touch(mode=0o600)
        settings.write_text(
            f'bind 127.0.0.1\nport {self._port}\nrequirepass {self._password}\nsave ""\n'
            f"appendonly no\ndir {self._home}\n{self._settings}"
        )
        with open_log(self._home / "redis.log") as output:
            self._child = spawn(
                [binary, str(settings)], environment={"PATH": os.environ.get("PATH", os.defpath)}, output=output
            )
        record_process(self._home / "redis.pid", self._child.pid)
        if not wait_until(self._serves, within=15, child=self._child):
            self.stop()
            raise ServerUnavailable(f"Redis did not start on port {self._port}: see {self._home / 'redis.log'}.")

    def stop(self) -> None:
        if (child := self._released()) is not None:
            stop_child(child, within=2)
        (self._home / "redis.pid").unlink(missing_ok=True)

    def _serves(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return bool(connection.recv(1))
        except OSError:
            return False


def find_redis(report: Callable[[str], None]) -> str:
    """Return the program of Redis or Valkey, which is installed where that is possible. Raises ServerUnavailable."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return found
    install(["redis-server"], why="Redis is not installed", report=report)
    if found := shutil.which("redis-server"):
        return found
    raise ServerUnavailable("Redis was installed, but redis-server is not on PATH: set RATE_LIMIT_STORE_URL.")
