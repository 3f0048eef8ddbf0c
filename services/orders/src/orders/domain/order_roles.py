"""Which role a caller plays in an order, and what the role may see and do (contract sections 5 and 6)."""

from typing import Final, Literal, Protocol
from uuid import UUID

from orders.domain.transitions import Trigger

OrderRole = Literal["buyer", "vendor", "hub_agent", "support"]


class Actor(Protocol):
    """Who is asking: the facts of a verified token."""

    @property
    def user_id(self) -> UUID | None: ...
    @property
    def vendor_id(self) -> UUID | None: ...
    @property
    def campus_id(self) -> UUID | None: ...
    @property
    def permissions(self) -> frozenset[str]: ...


class OrderParties(Protocol):
    """Whom an order concerns. None of it ever changes."""

    @property
    def buyer_id(self) -> UUID: ...
    @property
    def vendor_id(self) -> UUID: ...
    @property
    def campus_id(self) -> UUID: ...


# In this order: who is vendor and buyer of one order acts as the vendor, who may do more. Staff are nobody's judge in their own
# case: who bought acts as the buyer, and does not take the money of handed-over goods back alone.
_CANCELLING: Final[tuple[tuple[OrderRole, Trigger], ...]] = (
    ("vendor", "vendor_cancels"),
    ("buyer", "buyer_cancels"),
    ("support", "staff_cancels"),
)
_STAFF_OF_ORDERS: Final = frozenset({"orders:read", "orders:verify", "campus_orders:read", "disputes:approve"})
PARTY_ROLES: Final[frozenset[OrderRole]] = frozenset({"buyer", "vendor"})
VERIFIER_ROLES: Final[frozenset[OrderRole]] = frozenset({"vendor", "hub_agent", "buyer"})


def roles_of(actor: Actor, order: OrderParties) -> frozenset[OrderRole]:
    """The roles that the caller plays in this order; none for a reader such as the auditor."""
    played: dict[OrderRole, bool] = {
        "buyer": actor.user_id == order.buyer_id,
        "vendor": "orders:fulfil" in actor.permissions and actor.vendor_id == order.vendor_id,
        "hub_agent": "orders:verify" in actor.permissions and actor.campus_id == order.campus_id,
        "support": "orders:cancel" in actor.permissions,
    }
    return frozenset(role for role, plays in played.items() if plays)


def cancel_trigger(roles: frozenset[OrderRole]) -> Trigger | None:
    """The cancellation that these roles may ask for; None when none of them may."""
    return next((trigger for role, trigger in _CANCELLING if role in roles), None)


def may_decide_returns(actor: Actor, roles: frozenset[OrderRole]) -> bool:
    """Return requests are decided by the order's vendor or by support."""
    return "vendor" in roles or "returns:decide" in actor.permissions


def may_see_commission(actor: Actor, vendor_id: UUID) -> bool:
    """`commissionMinor` is shown to the vendor and to staff only."""
    may = actor.permissions
    return bool(may & _STAFF_OF_ORDERS) or ("orders:fulfil" in may and actor.vendor_id == vendor_id)


def may_sell_for(actor: Actor, vendor_id: UUID) -> bool:
    """Whether the caller sets the prices of this vendor's products."""
    return "catalog:own" in actor.permissions and actor.vendor_id == vendor_id


def may_propose_sales_at(actor: Actor, campus_id: UUID) -> bool:
    """Whether the caller is staff who propose sales of the campus' vendors, and end them."""
    return "flash_sales:propose" in actor.permissions and actor.campus_id == campus_id


def is_own_vendor(actor: Actor, vendor_id: UUID, owner_user_id: UUID | None) -> bool:
    """Whether the vendor is the caller's own, by the token or by who owns it: a token may be older than the ownership."""
    return actor.vendor_id == vendor_id or (owner_user_id is not None and actor.user_id == owner_user_id)
