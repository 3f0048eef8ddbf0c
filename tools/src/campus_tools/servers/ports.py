"""Ports of the servers."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class ServerPorts:
    """The ports of the private servers; all on 127.0.0.1."""

    postgresql: int
    amqp: int
    management: int
    prometheus: int
    epmd: int
    distribution: int
    redis: int

    @classmethod
    def above(cls, port_base: int) -> "ServerPorts":
        """Return the fixed ports above `PORT_BASE`: +60 to +66 in the order of the fields."""
        return cls(*(port_base + 60 + place for place in range(len(fields(cls)))))

    @classmethod
    @contextmanager
    def held(cls) -> Iterator["ServerPorts"]:
        """Hold free ports while the block runs."""
        with held_ports(len(fields(cls))) as ports:
            yield cls(*ports)


@contextmanager
def held_ports(count: int) -> Iterator[list[int]]:
    """Hold `count` free ports of 127.0.0.1 while the block runs.

    The ports stay bound without listening, so that the kernel gives them to no other program before the server starts.
    A server that allows the reuse of addresses, as every server here does, can listen on them, also after a restart.
    """
    with ExitStack() as stack:
        holders = [stack.enter_context(socket.socket()) for _ in range(count)]
        for holder in holders:
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.bind(("127.0.0.1", 0))
        yield [int(holder.getsockname()[1]) for holder in holders]
