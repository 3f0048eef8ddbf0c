"""A checkout as requested, and the orders to place from it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import msgspec

from common.primitives.cells import Cells
from common.primitives.ids import new_id
from common.primitives.public_numbers import NumberKind, new_number
from orders.domain.orders import NewItem, NewOrder, Windows
from orders.domain.purchases import Delivery, NewPurchase
from orders.domain.quotes import NamedHub, Offer, Quote, RequestedItem
from orders.domain.unpaid_limits import UnpaidLimits


class Destinations(NamedTuple):
    """The campus, and the hub of each vendor's order: `hub`, or the vendor's own in `hub_of_vendor`."""

    campus_id: UUID | None = None
    hub: NamedHub | None = None
    hub_of_vendor: Mapping[UUID, NamedHub] = {}


@dataclass(frozen=True, slots=True)
class CheckoutRules:
    """The settings of a checkout: the windows of its orders, the limits of unpaid ones, and the cells if any."""

    windows: Windows
    unpaid_limits: UnpaidLimits
    cells: Cells | None


@dataclass(frozen=True, slots=True)
class FromCart:
    """The cart to check out, and the vendor whose lines are ordered; None for a purchase, which takes all."""

    cart_id: UUID
    vendor_id: UUID | None


class FromDraft(NamedTuple):
    """The purchase draft to check out, and whether items that cannot be ordered are left out."""

    draft_id: UUID
    skip_unavailable: bool


@dataclass(frozen=True, slots=True)
class Checkout:
    """A buyer's checkout request. `expected_total_minor` (kobo) is the total that the buyer saw, if sent.

    `deliveries` are those of a purchase, which may be empty; None for an order of one vendor.
    """

    requested_items: Sequence[RequestedItem]
    campus_id: UUID | None
    hub_id: UUID | None
    delivery_note: str | None
    expected_total_minor: int | None
    cart: FromCart | None = None
    deliveries: Sequence[Delivery] | None = None
    draft: FromDraft | None = None

    @property
    def is_purchase(self) -> bool:
        return self.deliveries is not None

    @property
    def fingerprint(self) -> bytes:
        """The digest of the request that an Idempotency-Key is bound to.

        A cart or a draft counts by its id: its lines change. A line without a variant or an offer is as in earlier
        versions.
        """
        lines: object = [
            (
                item.product_id,
                item.quantity,
                *([item.variant_id] if item.variant_id else ()),
                *(["offer", item.offer_id] if item.offer_id else ()),
            )
            for item in self.requested_items
        ]
        if self.cart is not None:
            lines = (self.cart.cart_id, self.cart.vendor_id)
        if self.draft is not None:
            lines = ("draft", *self.draft)
        content = [lines, self.campus_id, self.hub_id, self.delivery_note, self.expected_total_minor]
        if self.deliveries is not None:
            content.append(
                [(delivery.vendor_id, delivery.hub_id, delivery.delivery_note) for delivery in self.deliveries]
            )
        return hashlib.sha256(msgspec.json.encode(content)).digest()

    @property
    def destinations(self) -> Destinations:
        """The requested campus and hubs, each hub with the field of the request that names it."""
        own = {
            delivery.vendor_id: NamedHub(delivery.hub_id, f"deliveries.{position}.hubId")
            for position, delivery in enumerate(self.deliveries or ())
            if delivery.hub_id is not None
        }
        return Destinations(self.campus_id, None if self.hub_id is None else NamedHub(self.hub_id, "hubId"), own)

    def delivery_note_for(self, vendor_id: UUID) -> str | None:
        own = (delivery.delivery_note for delivery in self.deliveries or () if delivery.vendor_id == vendor_id)
        return next((note for note in own if note is not None), self.delivery_note)


class Placement(NamedTuple):
    """The orders of a checkout, in its sequence; an order that was checked out alone has no purchase."""

    orders: list[NewOrder]
    purchase: NewPurchase | None


def placement_of(
    quotes: Sequence[Quote],
    checkout: Checkout,
    offers: Mapping[UUID, Offer],
    buyer: tuple[UUID, str | None],
    now: datetime,
    windows: Windows,
) -> Placement:
    """Return the orders to place for the buyer (id and name); their ids sort in the sequence of the checkout."""
    buyer_id, buyer_name = buyer
    purchase = None
    if checkout.is_purchase:
        purchase = NewPurchase(new_id(), new_number(NumberKind.PURCHASE), buyer_id, now)
    order_ids = sorted(new_id() for _ in quotes)
    orders = [
        NewOrder(
            id=order_id,
            number=new_number(NumberKind.ORDER),
            buyer_id=buyer_id,
            vendor_id=quoted.vendor_id,
            campus_id=quoted.campus_id,
            hub_id=quoted.hub_id,
            total_minor=quoted.total_minor,
            subtotal_minor=quoted.subtotal_minor,
            delivery_fee_minor=quoted.delivery_fee_minor,
            commission_minor=quoted.commission_minor,
            delivery_note=checkout.delivery_note_for(quoted.vendor_id),
            payment_due_at=now + windows.payment,
            created_at=now,
            updated_at=now,
            buyer=(buyer_name, None),
            vendor=(offers[quoted.lines[0].product_id].vendor_name, None, None),
            items=[
                NewItem(
                    new_id(),
                    line.product_id,
                    line.name,
                    line.quantity,
                    line.unit_price_minor,
                    line.line_total_minor,
                    line.variant_id,
                )
                for line in quoted.lines
            ],
            purchase_id=purchase.id if purchase else None,
        )
        for order_id, quoted in zip(order_ids, quotes, strict=True)
    ]
    return Placement(orders, purchase)
