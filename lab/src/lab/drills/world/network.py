"""Packets that arrive in one direction only, or never again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from lab.drills.freeze import run_as_root

# Of an established connection: the handshake still succeeds, so that requests arrive and their responses do not.
_WITH_DATA: Final = "tcp flags & psh == psh"


@asynccontextmanager
async def dropped_packets(*matches: str) -> AsyncIterator[None]:
    """Drop the arriving packets of the loopback interface that match one of these, until the end.

    Raises:
        ChildProcessError: nft is not there, or this program may not use it.
    """
    table = f"inet campus_world_{abs(hash(matches)) % 10**8}"
    chain = f"add chain {table} arriving {{ type filter hook input priority 0; }}"
    rules = [f'add rule {table} arriving iifname "lo" {match} drop' for match in matches]
    try:
        await run_as_root(["nft", "; ".join([f"add table {table}", chain, *rules])])
        yield
    finally:
        await run_as_root(["nft", f"delete table {table}"])


async def require_packet_filter() -> None:
    """Raise ChildProcessError when nft is not there, or this program may not use it."""
    await run_as_root(["nft", "add table inet campus_world; delete table inet campus_world"])


def requests_to(port: int) -> str:
    """Match the packets that clients send to a server."""
    return f"tcp dport {port}"


def responses_from(port: int) -> str:
    """Match the data that a server sends; it accepts connections, and receives."""
    return f"tcp sport {port} {_WITH_DATA}"


def open_connections(port: int) -> tuple[str, str]:
    """Match both directions of the connections that a server has now: a firewall that forgot them."""
    ends = (line.split()[1:3] for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    clients = {int(local[-4:], 16) for local, remote in ends if int(remote[-4:], 16) == port}
    ports = f"{{ {', '.join(map(str, sorted(clients)))} }}"
    return f"tcp dport {port} tcp sport {ports}", f"tcp sport {port} tcp dport {ports}"
