"""The counters of a request: the table of contract section 4.

**A bad or missing token counts against the address** in the tier of the route. 429 takes precedence over 401.
"""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from api_gateway.sliding_window import Counter
from common.auth.caller import Caller
from common.primitives.shared_addresses import SharedAddresses
from common.web.endpoint_table import Quota
from contracts.permissions import SHOP_ROLES, STAFF_ROLES

_TIER_3_ROLES: Final = STAFF_ROLES | SHOP_ROLES | {"merchant"}


@dataclass(frozen=True, slots=True)
class Limits:
    """Requests in a window by tier. `account_address` is the limit of one address over all accounts,
    `refused_refreshes` that of refresh tokens without a session.
    """

    anonymous: int
    buyer: int
    merchant: int
    sensitive: int
    assistant: int
    account_address: int
    machines: int
    images: int
    refused_refreshes: int
    api_keys: int


class Tiers:
    """Return the counters of a request. Those of users are cached, because every request needs one.

    Ceilings of an address are multiplied where many people share it (`RATE_SHARED_ADDRESSES`).
    """

    USERS_MAX: Final = 10_000

    def __init__(self, limits: Limits, shared_addresses: SharedAddresses) -> None:
        self._limits, self._shared = limits, shared_addresses
        self._of_user: dict[tuple[UUID, bool], Counter] = {}

    def of(self, quota: Quota, caller: Caller | None, address: str) -> Counter:
        """Return the counter of a route whose body is not inspected. `caller` is None without a valid token."""
        if quota is Quota.BY_CALLER:
            return self.of_address(address) if caller is None else self._of_caller(caller)
        if quota is Quota.MACHINES:
            return self._of_address("machines", address, self._limits.machines)
        if quota is Quota.IMAGES:
            return self._of_address("media", address, self._limits.images)
        if quota is Quota.ASSISTANT:
            limit = self._limits.assistant
            return self._of_address("5", address, limit) if caller is None else Counter("5", str(caller.user_id), limit)
        if caller is None:
            return self._of_address("4", address, self._limits.sensitive)
        return Counter("4", str(caller.user_id), self._limits.sensitive)

    def of_account(self, account: str, address: str) -> list[Counter]:
        """Return the counters of an account named in the body: at this address, and the address over all accounts."""
        return [
            Counter("4", f"{address}:{account}", self._limits.sensitive),
            self._of_address("4-address", address, self._limits.account_address),
        ]

    def of_session(self, session: str) -> Counter:
        """Return the counter of a refresh: its session, at any address."""
        return Counter("4", f"session:{session}", self._limits.sensitive)

    def of_refused_refresh(self, address: str) -> Counter:
        """Return the counter of a refresh token that was refused, or is missing: its address, apart from sign-ins."""
        return self._of_address("4-refused", address, self._limits.refused_refreshes)

    def of_address(self, address: str) -> Counter:
        """Return the counter of tier 1."""
        return self._of_address("1", address, self._limits.anonymous)

    def _of_address(self, tier: str, address: str, limit: int) -> Counter:
        return Counter(tier, address, self._shared.ceiling(limit, address))

    def _of_caller(self, caller: Caller) -> Counter:
        if caller.key_scopes is not None:
            return Counter("keys", str(caller.id), self._limits.api_keys)
        above_buyer = not _TIER_3_ROLES.isdisjoint(caller.roles)
        key = (caller.id, above_buyer)
        known = self._of_user.get(key)
        if known is None:
            if len(self._of_user) >= self.USERS_MAX:
                self._of_user.clear()
            tier, limit = ("3", self._limits.merchant) if above_buyer else ("2", self._limits.buyer)
            known = self._of_user[key] = Counter(tier, str(caller.user_id), limit)
        return known
