"""Responses of checkout and orders."""

from typing import Annotated
from uuid import UUID

from msgspec import UNSET, Meta, UnsetType

from common.web.response_models import ResponseModel, Timestamp
from orders.domain.order_history import ActorRole, OrderEvent
from orders.domain.transitions import State

OrderNumber = Annotated[str | None, Meta(description="The order's number for people: `CM-XXXX-XXXX`.")]


class OrderItem(ResponseModel):
    id: UUID
    product_id: UUID
    variant_id: UUID | None
    name: str
    quantity: int
    unit_price_minor: int
    line_total_minor: int
    cancelled_at: Annotated[
        Timestamp | None,
        Meta(description="When vendor or support cancelled this item before the dispatch; its price is refunded."),
    ] = None


class OrderTimelineEntry(ResponseModel):
    """A transition of the order, or an event of its delivery PIN. It never contains the PIN."""

    event: Annotated[
        OrderEvent,
        Meta(
            description="`placed`, the trigger of a transition (contract section 6.2), or `pin_issued`, `pin_rejected` "
            "(a wrong attempt), `pin_locked` (the wrong attempt that locked the PIN), `line_cancelled` (an item with "
            "`cancelledAt`) and `arrived` (at its hub)."
        ),
    ]
    status: Annotated[
        State | None, Meta(description="The status that the transition led to; null for the other events.")
    ]
    occurred_at: Annotated[Timestamp, Meta(description="When the transaction of the event was made.")]
    actor_role: Annotated[
        ActorRole | None,
        Meta(
            description="The part of the person who caused it: `buyer`, `vendor` (a person of the shop), `hub_agent` "
            "or `staff`; null for timers and payments, and for PIN entries of earlier versions."
        ),
    ]
    actor_name: Annotated[
        str | None,
        Meta(
            description="The name of that person where the caller may read it: the shop reads the buyer's and its own "
            "people's, support and auditors read every name, and each person the own name. Null for a buyer who reads "
            "of another person."
        ),
    ]


class OrderContact(ResponseModel):
    name: str | None
    phone: Annotated[str | None, Meta(description="Null until its owner has proven the number.")]


class Order(ResponseModel):
    id: UUID
    number: Annotated[str, Meta(description="For people: unique, in Crockford's base 32.", examples=["CM-7K3M-9QZ2"])]
    status: State
    total: Annotated[float, Meta(description="The total in naira, for display only. Calculate with `totalMinor`.")]
    total_minor: int
    currency: str
    buyer_id: UUID
    buyer_name: Annotated[
        str | None,
        Meta(
            description="First name and initial; null for an unknown or erased buyer, and for finance.",
            examples=["Ada O."],
        ),
    ]
    vendor_id: UUID
    vendor_name: Annotated[str | None, Meta(description="The business name; null for an erased vendor.")]
    campus_id: UUID
    hub_id: Annotated[UUID | None, Meta(description="Null for finance.")]
    items: list[OrderItem]
    subtotal_minor: int
    delivery_fee_minor: int
    commission_minor: Annotated[int | UnsetType | None, Meta(description="Only for the vendor and for staff.")] = UNSET
    vendor_share_minor: Annotated[
        int | UnsetType | None,
        Meta(
            description="Due to the vendor at the delivery, in kobo: the items that are not cancelled, less their "
            "commission. Disputes and returns do not change it. Only for the vendor and for staff."
        ),
    ] = UNSET
    refunded_minor: int
    delivery_note: Annotated[str | None, Meta(description="Null for finance.")]
    payment_due_at: Timestamp
    delivered_at: Timestamp | None
    arrived_at: Annotated[
        Timestamp | None, Meta(description="When an agent of its hub received the parcel, which the buyer can collect.")
    ]
    return_due_at: Annotated[Timestamp | None, Meta(description="The end of the return window.")]
    revision: int
    created_at: Timestamp
    updated_at: Timestamp
    purchase_id: Annotated[UUID | None, Meta(description="Null for an order that was checked out alone.")]
    contact: Annotated[
        OrderContact | None,
        Meta(
            description="The other side while the order is `paid_escrow`, `dispatched` or `disputed`: the vendor's "
            "owner for "
            "the buyer; the buyer for the vendor, for a hub agent, and for holders of orders:read of a disputed "
            "order. Else null."
        ),
    ]
