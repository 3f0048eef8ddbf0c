"""The counters of a request: the table of contract section 4."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from api_gateway.routing import Quota
from api_gateway.sliding_window import Counter
from common.auth.caller import Caller
from contracts.permissions import STAFF_ROLES

_TIER_3_ROLES: Final = STAFF_ROLES | {"merchant"}


@dataclass(frozen=True, slots=True)
class Limits:
    """Requests in a window by tier. `account_address` is the limit of one address over all accounts."""

    anonymous: int
    buyer: int
    merchant: int
    sensitive: int
    assistant: int
    account_address: int
    machines: int
    images: int


class Tiers:
    """Return the counters of a request. Those of users are cached, because every request needs one."""

    USERS_MAX: Final = 10_000

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._of_user: dict[tuple[UUID, bool], Counter] = {}

    def of(self, quota: Quota, caller: Caller | None, address: str) -> Counter:
        """Return the counter of a route whose body is not inspected. `caller` is None without a valid token."""
        if quota is Quota.BY_CALLER:
            return self.of_address(address) if caller is None else self._of_caller(caller)
        if quota is Quota.MACHINES:
            return Counter("machines", address, self._limits.machines)
        if quota is Quota.IMAGES:
            return Counter("media", address, self._limits.images)
        if quota is Quota.ASSISTANT and caller is not None:
            return Counter("5", str(caller.user_id), self._limits.assistant)
        subject = address if caller is None else str(caller.user_id)
        return Counter("4", subject, self._limits.sensitive)

    def of_account(self, account: str, address: str) -> list[Counter]:
        """Return the counters of an account named in the body: at this address, and the address over all accounts."""
        return [
            Counter("4", f"{address}:{account}", self._limits.sensitive),
            Counter("4-address", address, self._limits.account_address),
        ]

    def of_session(self, session: str, address: str) -> list[Counter]:
        """Return the counters of a refresh: the session at any address, and the address over all sessions."""
        return [
            Counter("4", f"session:{session}" if session else address, self._limits.sensitive),
            Counter("4-address", address, self._limits.account_address),
        ]

    def of_address(self, address: str) -> Counter:
        """Return the counter of tier 1."""
        return Counter("1", address, self._limits.anonymous)

    def _of_caller(self, caller: Caller) -> Counter:
        above_buyer = not _TIER_3_ROLES.isdisjoint(caller.roles)
        key = (caller.id, above_buyer)
        known = self._of_user.get(key)
        if known is None:
            if len(self._of_user) >= self.USERS_MAX:
                self._of_user.clear()
            tier, limit = ("3", self._limits.merchant) if above_buyer else ("2", self._limits.buyer)
            known = self._of_user[key] = Counter(tier, str(caller.user_id), limit)
        return known
