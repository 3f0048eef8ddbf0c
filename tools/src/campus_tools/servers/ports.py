"""Which port each server listens on."""

import socket
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
    def free(cls) -> "ServerPorts":
        """Ports that nobody listens on now."""
        return cls(*free_ports(len(fields(cls))))


def free_ports(count: int) -> list[int]:
    """`count` different ports of 127.0.0.1 that were free a moment ago."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def is_listening(port: int, host: str = "127.0.0.1") -> bool:
    """Whether something accepts connections there."""
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True
