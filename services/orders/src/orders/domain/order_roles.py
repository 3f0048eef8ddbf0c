"""The roles of a caller in an order, and the rights of each role (contract sections 5 and 6).

**Parties do not decide on their own orders.** Staff who bought an order cancel it as its buyer, so they cannot refund
dispatched goods to themselves. Buyer and vendor neither prepare nor decide a resolution of their dispute.
"""

from typing import Final, Literal, Protocol
from uuid import UUID

from orders.domain.transitions import Trigger

OrderRole = Literal["buyer", "vendor", "packer", "hub_agent", "support"]


class Actor(Protocol):
    """The claims of a verified token."""

    @property
    def user_id(self) -> UUID | None: ...
    @property
    def vendor_id(self) -> UUID | None: ...
    @property
    def campus_id(self) -> UUID | None: ...
    @property
    def hub_id(self) -> UUID | None: ...
    @property
    def packing_vendor_id(self) -> UUID | None: ...
    @property
    def permissions(self) -> frozenset[str]: ...


class OrderParties(Protocol):
    """The parties of an order; they never change."""

    @property
    def buyer_id(self) -> UUID: ...
    @property
    def vendor_id(self) -> UUID: ...
    @property
    def campus_id(self) -> UUID: ...
    @property
    def hub_id(self) -> UUID | None: ...


# By precedence. A vendor who is also the buyer acts as the vendor, who may do more. Staff who bought act as the buyer,
# so they cannot refund dispatched goods to themselves.
_CANCELLING: Final[tuple[tuple[OrderRole, Trigger], ...]] = (
    ("vendor", "vendor_cancels"),
    ("buyer", "buyer_cancels"),
    ("support", "staff_cancels"),
)
_STAFF_OF_ORDERS: Final = frozenset(
    {"orders:read", "charged_orders:read", "orders:verify", "campus_orders:read", "disputes:approve"}
)
PARTY_ROLES: Final[frozenset[OrderRole]] = frozenset({"buyer", "vendor"})
VERIFIER_ROLES: Final[frozenset[OrderRole]] = frozenset({"vendor", "packer", "hub_agent", "buyer"})
# The people of the shop (decision 206): the owner and managers, and packers.
SHOP_ROLES: Final[frozenset[OrderRole]] = frozenset({"vendor", "packer"})
PACKER: Final[frozenset[OrderRole]] = frozenset({"packer"})


def roles_of(actor: Actor, order: OrderParties) -> frozenset[OrderRole]:
    """Return the caller's roles in this order; none for a reader such as the auditor."""
    has_role: dict[OrderRole, bool] = {
        "buyer": actor.user_id == order.buyer_id,
        "vendor": "orders:fulfil" in actor.permissions and actor.vendor_id == order.vendor_id,
        "hub_agent": "orders:verify" in actor.permissions and actor.hub_id is not None and actor.hub_id == order.hub_id,
        "support": "orders:cancel" in actor.permissions,
    }
    return frozenset(role for role, applies in has_role.items() if applies)


def cancel_trigger(roles: frozenset[OrderRole]) -> Trigger | None:
    """Return the cancellation that these roles allow, or None."""
    return next((trigger for role, trigger in _CANCELLING if role in roles), None)


def may_decide_returns(actor: Actor, roles: frozenset[OrderRole]) -> bool:
    """Return whether the caller may decide on return requests: the order's vendor and support may."""
    return "vendor" in roles or "returns:decide" in actor.permissions


def may_see_commission(actor: Actor, vendor_id: UUID) -> bool:
    """Return whether the caller sees `commissionMinor`: the order's vendor and staff do."""
    permissions = actor.permissions
    return bool(permissions & _STAFF_OF_ORDERS) or ("orders:fulfil" in permissions and actor.vendor_id == vendor_id)


def may_see_delivery(actor: Actor, order: OrderParties) -> bool:
    """Return whether the caller sees where the order goes: every reader does but those with `charged_orders:read`
    alone.
    """
    reads_campus = "campus_orders:read" in actor.permissions and actor.campus_id == order.campus_id
    return "orders:read" in actor.permissions or reads_campus or bool(roles_of(actor, order))


def may_sell_for(actor: Actor, vendor_id: UUID) -> bool:
    """Return whether the caller sets the prices of this vendor's products."""
    return "catalog:own" in actor.permissions and actor.vendor_id == vendor_id


def may_propose_sales_at(actor: Actor, campus_id: UUID) -> bool:
    """Return whether the caller is staff who may propose and end flash sales on this campus."""
    return "flash_sales:propose" in actor.permissions and actor.campus_id == campus_id


def is_own_vendor(actor: Actor, vendor_id: UUID, owner_user_id: UUID | None) -> bool:
    """Return whether the caller sells or packs for the vendor, or owns it. A token may be older than the ownership, so
    both are checked.
    """
    works_for = vendor_id in (actor.vendor_id, actor.packing_vendor_id)
    return works_for or (owner_user_id is not None and actor.user_id == owner_user_id)
