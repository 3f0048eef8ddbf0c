"""The ports of a system on one machine."""

import socket
from argparse import ArgumentTypeError

SPAN = 100
"""A system uses the ports from `PORT_BASE` to `PORT_BASE` + 99."""
HIGHEST_PORT = 65535


def port_base_of(text: str | None) -> int:
    """Return the number in `PORT_BASE` or `--port-base`; 8080 when it is empty.

    Raises:
        ArgumentTypeError: it is no number, or too high for the ports above it.
    """
    try:
        port_base = int(text or 8080)
    except ValueError:
        raise ArgumentTypeError(f"PORT_BASE must be a number, not {text!r}.") from None
    if not 1024 <= port_base <= HIGHEST_PORT - SPAN:
        raise ArgumentTypeError(
            f"PORT_BASE is {port_base}, but it must lie between 1024 and {HIGHEST_PORT - SPAN}: "
            f"{SPAN} ports above it are used."
        )
    return port_base


def is_listening(port: int, host: str = "127.0.0.1") -> bool:
    """Return whether something accepts connections there."""
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True
