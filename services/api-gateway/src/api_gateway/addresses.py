"""The client address of a request (contract section 4).

**An IPv6 client is its /64.**
"""

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from functools import lru_cache

from common.observability.logging import get_logger
from common.observability.outages import Outage

log = get_logger(__name__)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
# The holder of one address of an IPv6 network holds its whole /64.
_IPV6_PREFIX = 64
# A resolver that does not respond delays the start by this much, and no request.
RESOLVE_SECONDS_MAX = 2.0


class ClientAddresses:
    """The peer's address, or the one that trusted proxies report."""

    def __init__(self, trusted: Sequence[Network | str]) -> None:
        """`trusted` are networks and host names of proxies; `resolve` finds the addresses of the names."""
        self._networks = tuple(one for one in trusted if not isinstance(one, str))
        self._named: dict[str, tuple[Network, ...]] = {one: () for one in trusted if isinstance(one, str)}
        self._outages = {name: Outage(log, "proxy not found", "proxy found", name=name) for name in self._named}
        self._trusted = self._networks

    async def resolve(self) -> None:
        """Find the current addresses of the named proxies. A name that is not found keeps its former addresses."""
        for name, outage in self._outages.items():
            try:
                async with asyncio.timeout(RESOLVE_SECONDS_MAX):
                    found = await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
            except (OSError, TimeoutError, UnicodeError) as error:
                outage.failed(error)
                continue
            outage.ended()
            self._named[name] = tuple(ipaddress.ip_network(each[4][0]) for each in found)
        self._trusted = (*self._networks, *(one for networks in self._named.values() for one in networks))

    def of(self, peer: str, forwarded_for: bytes | None) -> str:
        """Return the rightmost untrusted entry of `X-Forwarded-For` from a trusted proxy, else the peer."""
        if not self._trusted or forwarded_for is None or not self.trusts(peer):
            return subject_of(peer)
        nearest = peer
        for entry in reversed(forwarded_for.decode("latin-1").split(",")):
            address = _parse(entry.strip())
            if address is None:
                break
            nearest = str(address)
            if not self._is_trusted(address):
                break
        return subject_of(nearest)

    def trusts(self, peer: str) -> bool:
        """Return whether the peer is one of the trusted proxies."""
        address = _parse(peer) if self._trusted else None
        return address is not None and self._is_trusted(address)

    def _is_trusted(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)


def subject_of(address: str) -> str:
    """Return the counted form of an address: itself for IPv4, its /64 for IPv6."""
    if ":" not in address:
        return address
    parsed = _parse(address)
    if not isinstance(parsed, ipaddress.IPv6Address):
        return str(parsed or address)
    return str(ipaddress.ip_network((parsed, _IPV6_PREFIX), strict=False))


# A few proxies send most requests; parsing an address takes 5 us.
@lru_cache(maxsize=1024)
def _parse(text: str) -> Address | None:
    """Parse one entry, with or without port and brackets. An IPv4 address mapped into IPv6 is IPv4."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
