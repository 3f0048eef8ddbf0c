"""Which port each server listens on."""

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
        """The fixed places above `PORT_BASE`: +60 to +66 in the order of the fields."""
        return cls(*(port_base + 60 + place for place in range(len(fields(cls)))))

    @classmethod
    @contextmanager
    def held(cls) -> Iterator["ServerPorts"]:
        """Ports that nobody else is given while the block runs."""
        with held_ports(len(fields(cls))) as ports:
            yield cls(*ports)


@contextmanager
def held_ports(count: int) -> Iterator[list[int]]:
    """`count` different ports of 127.0.0.1 that are ours to listen on while the block runs.

    A port that was only looked at may be given to the next who asks the kernel for one, before its server has started. These stay
    bound, and are not listened on: whoever names one and allows the reuse of addresses, as every server here does, listens there,
    and again after a restart.
    """
    with ExitStack() as stack:
        holders = [stack.enter_context(socket.socket()) for _ in range(count)]
        for holder in holders:
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.bind(("127.0.0.1", 0))
        yield [int(holder.getsockname()[1]) for holder in holders]
