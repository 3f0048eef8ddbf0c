"""API keys: their limits, and what a key may do now (decision 201)."""

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Network
from typing import Final, Literal, get_args
from uuid import UUID

from common.auth.caller import Caller
from common.primitives.problems import Forbidden, ValidationFailed
from contracts.permissions import KEY_SCOPES, PLATFORM_KEY_SCOPES, SHOP_KEY_SCOPES, permissions_of
from identity.domain.authorization_profile import AuthorizationProfile

# A key that is never replaced is a key that its owner has lost from view.
LIFE_MAX: Final = timedelta(days=365)
# Two for each of several programs, so that a key can be replaced without a pause.
LIVE_KEYS_MAX: Final = 20
NETWORKS_MAX: Final = 20
# The gateway counts IPv6 clients by /64, the smallest network of a site.
_IPV6_PREFIX_MAX: Final = 64
# Long enough to replace a key in several programs.
WARNED_BEFORE: Final = timedelta(days=14)
# `last_used_at` is written once a minute: a busy key must not write its row with each request.
USE_RECORDED_EVERY: Final = timedelta(minutes=1)
OWN: Final = "api_keys:own"
MANAGE: Final = "api_keys:manage"

KeyScope = Literal[
    "shop_orders:read",
    "shop_orders:dispatch",
    "shop_products:write",
    "shop_money:read",
    "orders:read",
    "payments:read",
    "payouts:read",
    "ledger:read",
]
if {*get_args(KeyScope)} != {*KEY_SCOPES}:
    raise AssertionError("KeyScope names the scopes of contracts.permissions")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A stored key. `is_shop_open` is False for a vendor that is suspended or closed."""

    id: UUID
    vendor_id: UUID | None
    scopes: tuple[str, ...]
    networks: tuple[str, ...]
    created_by: UUID
    expires_at: datetime
    campus_id: UUID | None
    is_shop_open: bool

    def admits(self, address: str) -> bool:
        """Return whether the key may be used from an address, an IPv4 address or IPv6 /64."""
        if not self.networks:
            return True
        try:
            client = ipaddress.ip_network(address)
        except ValueError:
            return False
        return any(_contains(ipaddress.ip_network(network), client) for network in self.networks)

    def scopes_with(self, creator: AuthorizationProfile) -> tuple[str, ...]:
        """Return the scopes that the creator's present roles still give; none for a creator who lost the shop."""
        permissions = permissions_of(creator.roles)
        required = MANAGE if self.vendor_id is None else OWN
        is_owner = self.vendor_id is None or (self.is_shop_open and creator.vendor_id == self.vendor_id)
        if creator.is_suspended or required not in permissions or not is_owner:
            return ()
        return tuple(scope for scope in self.scopes if KEY_SCOPES.get(scope) in permissions)


def owner_of_key(caller: Caller, scopes: Collection[str]) -> UUID | None:
    """Return the vendor of a new key with these scopes, None for a key of the platform.

    Raises ValidationFailed for scopes of both kinds, Forbidden for a scope whose permission the caller lacks.
    """
    is_platform = PLATFORM_KEY_SCOPES.keys() >= {*scopes}
    if not is_platform and not SHOP_KEY_SCOPES.keys() >= {*scopes}:
        raise ValidationFailed.of("scopes", "must be of a shop or of the platform, not of both")
    caller.must_be_allowed(MANAGE if is_platform else OWN)
    for scope in scopes:
        caller.must_be_allowed(KEY_SCOPES[scope])
    if is_platform:
        return None
    if caller.vendor_id is None:
        raise Forbidden
    return caller.vendor_id


def checked_network(text: str) -> str:
    """Return a network in its normal form; ValueError for another text, and below an IPv6 /64."""
    try:
        network = ipaddress.ip_network(text)
    except ValueError:
        raise ValueError("is not a network such as 192.0.2.0/24 or 2001:db8::/48") from None
    if network.version == 6 and network.prefixlen > _IPV6_PREFIX_MAX:
        raise ValueError("must be an IPv6 network of /64 or wider")
    return str(network)


def _contains(network: IPv4Network | IPv6Network, client: IPv4Network | IPv6Network) -> bool:
    if isinstance(network, IPv4Network):
        return isinstance(client, IPv4Network) and client.subnet_of(network)
    return isinstance(client, IPv6Network) and client.subnet_of(network)
