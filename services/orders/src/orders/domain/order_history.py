"""The events of an order's history, and the person who caused each."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple
from uuid import UUID

from orders.domain.order_roles import SHOP_ROLES, OrderRole
from orders.domain.pins import PinEvent
from orders.domain.transitions import Trigger

OrderEvent = Literal["placed", "line_cancelled", "arrived"] | Trigger | PinEvent
ActorRole = Literal["buyer", "vendor", "hub_agent", "staff"]


class OrderActor(NamedTuple):
    """The person who caused an event, and their part in it; `vendor` is a person of the shop."""

    id: UUID
    role: ActorRole


ROLE_BY_EVENT: Final[Mapping[OrderEvent, ActorRole]] = {
    "placed": "buyer",
    "buyer_cancels": "buyer",
    "buyer_disputes": "buyer",
    "vendor_cancels": "vendor",
    "vendor_dispatches": "vendor",
    "staff_cancels": "staff",
    "resolved_for_buyer": "staff",
    "resolved_for_vendor": "staff",
    "arrived": "hub_agent",
}
"""The part of the person in events that one role alone causes, for rows of earlier versions, which have none."""


def actor_of(user_id: UUID, roles: frozenset[OrderRole]) -> OrderActor:
    """Return the caller under the first of their roles; a vendor who works at the hub acts as the vendor."""
    if roles & SHOP_ROLES:
        return OrderActor(user_id, "vendor")
    if "hub_agent" in roles:
        return OrderActor(user_id, "hub_agent")
    return OrderActor(user_id, "buyer" if "buyer" in roles else "staff")
