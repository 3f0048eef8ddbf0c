"""The client address of a request (contract section 4)."""

import ipaddress
from collections.abc import Sequence
from functools import lru_cache

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
# The holder of one address of an IPv6 network holds its whole /64.
_IPV6_PREFIX = 64


class ClientAddresses:
    """The peer's address, or the one that trusted proxies report."""

    def __init__(self, trusted: Sequence[Network]) -> None:
        self._trusted = tuple(trusted)

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
        """Whether the peer is one of the trusted proxies."""
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
