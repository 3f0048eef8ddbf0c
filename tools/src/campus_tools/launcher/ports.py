"""Check ports before a start."""

import contextlib
import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from campus_tools.launcher.failures import StartFailed
from campus_tools.servers import ServerPorts, Servers
from operations.ports import SPAN
from operations.processes import SANDBOX_MAIL_PORT, SystemPlan


@dataclass(frozen=True)
class OccupiedPort:
    """A needed port that another program holds."""

    port: int
    needed_by: str
    holder: str


def occupied_ports(needed: Iterable[tuple[str, int]]) -> list[OccupiedPort]:
    """Return the (name, port) pairs whose port is occupied."""
    return [OccupiedPort(port, name, _holder(port)) for name, port in needed if not _is_free(port)]


def needed_ports(plan: SystemPlan, port_base: int, own_servers: Servers | None) -> Iterator[tuple[str, int]]:
    """Yield each port of a system with the name of who needs it. `own_servers`: those that the system starts."""
    for process in plan.processes:
        for offset in sorted({process.port_offset, process.health_offset}):
            yield process.name, port_base + offset
        if process.service == "sandbox":
            yield "the sandbox's mail server", port_base + SANDBOX_MAIL_PORT
    if own_servers is not None:
        ports = ServerPorts.above(port_base)
        if own_servers.postgresql.private:
            yield "PostgreSQL", ports.postgresql
        if own_servers.rabbitmq.private:
            for name in ("amqp", "management", "prometheus", "epmd", "distribution"):
                yield f"RabbitMQ ({name})", getattr(ports, name)


def reject_occupied(needed: Iterable[tuple[str, int]], port_base: int) -> None:
    """Raise StartFailed with the holders of needed ports that are occupied."""
    occupied = occupied_ports(needed)
    if occupied:
        lines = [f"  port {port.port}, for {port.needed_by}, is held by {port.holder}" for port in occupied]
        raise StartFailed(
            "These ports are occupied:\n"
            + "\n".join(lines)
            + f"\nStop those programs, or move everything with PORT_BASE (now {port_base}), for example "
            f"`make run PORT_BASE={free_port_base()}`."
        )


def free_port_base() -> int:
    """Return a port base with all ports of a system free, below the kernel's ephemeral range, and reserve it."""
    candidates = list(range(11000, 32000, SPAN))
    # Not the seed that tests share: two concurrent starts would pick the same base.
    random.SystemRandom().shuffle(candidates)
    for candidate in candidates:
        if all(_is_free(port) for port in range(candidate, candidate + SPAN)) and _reserved(candidate):
            return candidate
    raise OSError("no hundred free ports in a row were found between 11000 and 32000")


def _reserved(port_base: int) -> bool:
    path = Path(tempfile.gettempdir()) / f"campus-ports-{port_base}"
    try:
        file = os.open(path, os.O_CREAT | os.O_WRONLY, 0o644)
    except PermissionError:
        # Another user's: its lock counts all the same.
        file = os.open(path, os.O_RDONLY)
    try:
        # Held until this process ends: a second start searches ports while the servers of the first one are not up yet.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return False
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: lingering connections of the last run do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return True
    return False


def _holder(port: int) -> str:
    with contextlib.suppress(psutil.Error):
        for connection in psutil.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr[1] == port:
                if connection.pid is None:
                    break
                return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    return "another program"
