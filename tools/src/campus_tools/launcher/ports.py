"""Looking at ports before anything is started on them."""

import contextlib
import random
import socket
from collections.abc import Iterable
from dataclasses import dataclass

import psutil

from operations.ports import SPAN


@dataclass(frozen=True)
class OccupiedPort:
    """A port we need and somebody else has."""

    port: int
    needed_by: str
    holder: str


def occupied_ports(needed: Iterable[tuple[str, int]]) -> list[OccupiedPort]:
    """Those of the (name, port) pairs that cannot be listened on."""
    return [OccupiedPort(port, name, _holder(port)) for name, port in needed if not _is_free(port)]


def free_port_base() -> int:
    """A base above which all ports of a system are free now; below the range the kernel gives to connections."""
    candidates = list(range(11000, 32000, SPAN))
    # Not by the seed that tests share: two that begin at once would find the same one free.
    random.SystemRandom().shuffle(candidates)
    for candidate in candidates:
        if all(_is_free(port) for port in range(candidate, candidate + SPAN)):
            return candidate
    raise OSError("no hundred free ports in a row were found between 11000 and 32000")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the servers do: connections of the last run that only linger do not count.
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
