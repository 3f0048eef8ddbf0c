"""Addresses that many people share, such as the NAT of a campus: the ceilings of an address are multiplied there."""

import ipaddress
from collections.abc import Sequence
from typing import Final

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

SHARED_FACTOR: Final = 20
"""Nine hundred students behind one address sign in and refresh within minutes of a lecture's end."""


class SharedAddresses:
    """Multiply the ceiling of an address in one of the networks. An address is an IPv4 address, or the /64 of an IPv6
    one.
    """

    # Beyond it the factors are computed again: parsing an address takes some microseconds.
    ADDRESSES_MAX: Final = 10_000

    def __init__(self, networks: Sequence[Network] = (), factor: int = SHARED_FACTOR) -> None:
        self._networks, self._factor = tuple(networks), factor
        self._factors: dict[str, int] = {}

    def ceiling(self, limit: int, address: str) -> int:
        """Return the ceiling of an address whose limit is this one elsewhere."""
        return limit * self._factor_of(address) if self._networks else limit

    def _factor_of(self, address: str) -> int:
        known = self._factors.get(address)
        if known is None:
            if len(self._factors) >= self.ADDRESSES_MAX:
                self._factors.clear()
            known = self._factors[address] = self._factor if self._is_shared(address) else 1
        return known

    def _is_shared(self, address: str) -> bool:
        try:
            own = ipaddress.ip_network(address, strict=False)
        except ValueError:
            return False
        return any(own.version == network.version and own.overlaps(network) for network in self._networks)
