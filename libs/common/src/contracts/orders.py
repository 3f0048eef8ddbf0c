"""Events of the orders service. `number` is the order's number for people; absent in events of earlier versions."""

from typing import ClassVar, Final, Literal
from uuid import UUID

import msgspec

from contracts.event import Event
from contracts.money import AmountRule, MinorAmount
from contracts.numbers import OrderNumber, PurchaseNumber
from contracts.opening_hours import OpeningPeriod

PIN_DELIVERY: Final = "orders to notifications: delivery PINs"
"""The purpose for which `PIN_DELIVERY_KEY` encrypts: both services derive the same key from it."""


class PlacedItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    product_id: UUID
    name: str
    quantity: int
    line_total_minor: MinorAmount
    variant_id: UUID | None = None


class OrderPlaced(Event, frozen=True, kw_only=True):
    """Checkout: prices and commission are frozen. Amounts in kobo."""

    TYPE: ClassVar[str] = "orders.order_placed.v1"
    AMOUNT_RULES: ClassVar[tuple[AmountRule, ...]] = (
        AmountRule("total_minor", ("commission_minor", "delivery_fee_minor")),
    )
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    total_minor: MinorAmount
    commission_minor: MinorAmount
    delivery_fee_minor: MinorAmount
    currency: str
    payment_due_at: str
    items: tuple[PlacedItem, ...]
    campus_id: UUID | None = None
    number: OrderNumber | None = None
    purchase_id: UUID | None = None


class PurchasePlaced(Event, frozen=True, kw_only=True):
    """One checkout placed these orders, to be paid together; `order_ids` in the order of the purchase's list."""

    TYPE: ClassVar[str] = "orders.purchase_placed.v1"
    purchase_id: UUID
    buyer_id: UUID
    order_ids: tuple[UUID, ...]
    total_minor: MinorAmount
    currency: str
    payment_due_at: str
    number: PurchaseNumber


class OrderCancelled(Event, frozen=True, kw_only=True):
    """The order was cancelled before its payment."""

    TYPE: ClassVar[str] = "orders.order_cancelled.v1"
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    reason: str
    number: OrderNumber | None = None


class OrderExpired(Event, frozen=True, kw_only=True):
    """The payment window ended."""

    TYPE: ClassVar[str] = "orders.order_expired.v1"
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    reason: str
    number: OrderNumber | None = None


class RefundRequested(Event, frozen=True, kw_only=True):
    """The only event that refunds. `refund_id` becomes the posting key in the ledger.

    A refund of items states what it takes back from the platform: the items' commission, and the delivery fee only
    where the buyer gets it. The rest is the vendor's. Without a commission, the refund takes each part in proportion.
    With `refund_to` the buyer chose the own balance; else the money goes back to where it came from.
    """

    TYPE: ClassVar[str] = "orders.refund_requested.v1"
    AMOUNT_RULES: ClassVar[tuple[AmountRule, ...]] = (
        AmountRule("amount_minor", ("commission_minor", "delivery_fee_minor")),
    )
    order_id: UUID
    refund_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    amount_minor: MinorAmount
    reason: str
    commission_minor: MinorAmount | None = None
    delivery_fee_minor: MinorAmount | None = None
    number: OrderNumber | None = None
    refund_to: Literal["balance"] | None = None


class DeliveryPinIssued(Event, frozen=True, kw_only=True):
    """Escrow is held, or the buyer requested a new PIN (`issue` starts at 1).

    The PIN is encrypted under `PIN_DELIVERY_KEY` for the notifications service only; the order's id is the context.
    Where one payment paid several orders, `payment_reference` names it and `paid_orders` is their number: their first
    PINs share a text message.
    """

    TYPE: ClassVar[str] = "orders.delivery_pin_issued.v1"
    order_id: UUID
    buyer_id: UUID
    pin_sealed: str
    issue: int
    number: OrderNumber | None = None
    payment_reference: str | None = None
    paid_orders: int | None = None


class OrderLineCancelled(Event, frozen=True, kw_only=True):
    """Vendor or support cancelled one line of a paid order before its dispatch; `amount_minor` of it is refunded."""

    TYPE: ClassVar[str] = "orders.order_line_cancelled.v1"
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    item_id: UUID
    product_name: str
    quantity: int
    amount_minor: MinorAmount
    reason: str
    cancelled_at: str
    number: OrderNumber


class OrderDispatched(Event, frozen=True, kw_only=True):
    """The vendor handed the parcel over; to its hub where it has one."""

    TYPE: ClassVar[str] = "orders.order_dispatched.v1"
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    number: OrderNumber | None = None
    hub_id: UUID | None = None


class OrderArrived(Event, frozen=True, kw_only=True):
    """An agent received the parcel of a dispatched order at its hub, where the buyer collects it with the PIN.

    Name, address and hours are those that orders knew then; the last two are absent for a hub of an earlier version.
    """

    TYPE: ClassVar[str] = "orders.order_arrived.v1"
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    hub_id: UUID
    arrived_at: str
    number: OrderNumber
    hub_name: str
    hub_address: str | None = None
    opening_hours: tuple[OpeningPeriod, ...] | None = None


class OrderDelivered(Event, frozen=True, kw_only=True):
    """The delivery PIN was accepted."""

    TYPE: ClassVar[str] = "orders.order_delivered.v1"
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    delivered_at: str
    verified_by: UUID
    number: OrderNumber | None = None


class OrderDisputed(Event, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "orders.order_disputed.v1"
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    reason: str
    number: OrderNumber | None = None


class DisputeResolved(Event, frozen=True, kw_only=True):
    TYPE: ClassVar[str] = "orders.dispute_resolved.v1"
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    outcome: Literal["buyer", "vendor", "split"]
    refund_minor: MinorAmount
    release_minor: MinorAmount
    refund_id: UUID | None = None
    number: OrderNumber | None = None


class ReturnRequested(Event, frozen=True, kw_only=True):
    """The buyer requested a return."""

    TYPE: ClassVar[str] = "orders.return_requested.v1"
    order_id: UUID
    return_request_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    number: OrderNumber | None = None


class ReturnDecided(Event, frozen=True, kw_only=True):
    """The vendor or staff decided on a return request; when approved, `refund_minor` (kobo) is refunded."""

    TYPE: ClassVar[str] = "orders.return_decided.v1"
    order_id: UUID
    return_request_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    outcome: Literal["approved", "rejected"] | None = None
    refund_minor: MinorAmount | None = None
    number: OrderNumber | None = None


class OrderCompleted(Event, frozen=True, kw_only=True):
    """The order reached `paid`."""

    TYPE: ClassVar[str] = "orders.order_completed.v1"
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    number: OrderNumber | None = None


class ReviewPosted(Event, frozen=True, kw_only=True):
    """A buyer reviewed a vendor, or a product; the rating is 1 to 5."""

    TYPE: ClassVar[str] = "orders.review_posted.v1"
    review_id: UUID
    vendor_id: UUID
    rating: int
    product_id: UUID | None = None


class ProductDelisted(Event, frozen=True, kw_only=True):
    """A campus admin hid a product from buyers; `reason` is for its vendor."""

    TYPE: ClassVar[str] = "orders.product_delisted.v1"
    product_id: UUID
    vendor_id: UUID
    campus_id: UUID
    takedown_id: UUID
    name: str
    reason: str


class ProductRelisted(Event, frozen=True, kw_only=True):
    """A campus admin ended the takedown of a product. A decision on a report may still hide it."""

    TYPE: ClassVar[str] = "orders.product_relisted.v1"
    product_id: UUID
    vendor_id: UUID
    campus_id: UUID
    takedown_id: UUID
    name: str
    reason: str


class ProductHidden(Event, frozen=True, kw_only=True):
    """Staff decided on a report that buyers no longer see the product."""

    TYPE: ClassVar[str] = "orders.product_hidden.v1"
    product_id: UUID
    vendor_id: UUID
    report_id: UUID


class ProductChanged(Event, frozen=True, kw_only=True):
    """A product was created, changed, removed, sold out or restocked."""

    TYPE: ClassVar[str] = "orders.product_changed.v1"
    product_id: UUID
    vendor_id: UUID
    name: str
    price_minor: MinorAmount
    in_stock: bool
    removed: bool
    campus_id: UUID | None = None


class SavedProductChanged(Event, frozen=True, kw_only=True):
    """A product is back in stock, or its price fell; `buyer_ids` are up to 200 of those who saved it."""

    TYPE: ClassVar[str] = "orders.saved_product_changed.v1"
    product_id: UUID
    vendor_id: UUID
    change_id: UUID
    kind: Literal["back_in_stock", "price_drop"]
    name: str
    price_minor: MinorAmount
    buyer_ids: tuple[UUID, ...]


class MessagePosted(Event, frozen=True, kw_only=True):
    """A buyer or a vendor wrote to the other, whose user is `reader_id`. The text is in no event.

    `notifies`: the reader may be notified, at most once a minute for each conversation.
    """

    TYPE: ClassVar[str] = "orders.message_posted.v1"
    conversation_id: UUID
    message_id: UUID
    author: Literal["buyer", "vendor"]
    reader_id: UUID
    vendor_id: UUID
    notifies: bool
    posted_at: str


class OfferMade(Event, frozen=True, kw_only=True):
    """A vendor offered a product to one buyer at a unit price, until `expires_at`."""

    TYPE: ClassVar[str] = "orders.offer_made.v1"
    offer_id: UUID
    conversation_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    product_id: UUID
    quantity: int
    unit_price_minor: MinorAmount
    expires_at: str
    variant_id: UUID | None = None


class OfferAccepted(Event, frozen=True, kw_only=True):
    """The buyer accepted an offer by the checkout of this order."""

    TYPE: ClassVar[str] = "orders.offer_accepted.v1"
    offer_id: UUID
    order_id: UUID
    buyer_id: UUID
    vendor_id: UUID
    number: OrderNumber


class VendorSuspensionDecided(Event, frozen=True, kw_only=True):
    """Staff decided on a report that the vendor is suspended; identity suspends it."""

    TYPE: ClassVar[str] = "orders.vendor_suspension_decided.v1"
    vendor_id: UUID
    report_id: UUID
    reason: str
    decided_by: UUID


class ErasureJudged(Event, frozen=True, kw_only=True):
    """The user's open orders, returns and refunds, which block their erasure; empty: the erasure may proceed."""

    TYPE: ClassVar[str] = "orders.erasure_judged.v1"
    request_id: UUID
    user_id: UUID
    open_matters: tuple[str, ...] = ()
