"""Checkout."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.orders import OrderPlaced, PlacedItem, ProductChanged
from orders import store
from orders.domain.errors import FlashSaleSoldOut, IdempotencyKeyReused, OutOfStock, OwnVendor
from orders.domain.order_roles import is_own_vendor
from orders.domain.orders import Windows
from orders.domain.quotes import Quote, RequestedItem, quote
from orders.store import flash_sales


@dataclass(frozen=True, slots=True)
class FromCart:
    """The cart whose lines are wanted, and of which vendor."""

    cart_id: UUID
    vendor_id: UUID | None


@dataclass(frozen=True, slots=True)
class Checkout:
    """What a buyer asks for. `expected_total_minor` (kobo) is what they saw, when they say it."""

    requested_items: Sequence[RequestedItem]
    campus_id: UUID | None
    hub_id: UUID | None
    delivery_note: str | None
    expected_total_minor: int | None
    cart: FromCart | None = None

    @property
    def fingerprint(self) -> bytes:
        """What an Idempotency-Key is bound to: the same content in the same words. A cart changes by its checkout; its id does not."""
        lines: object = [
            (requested_item.product_id, requested_item.quantity) for requested_item in self.requested_items
        ]
        if self.cart is not None:
            lines = (self.cart.cart_id, self.cart.vendor_id)
        content = (lines, self.campus_id, self.hub_id, self.delivery_note, self.expected_total_minor)
        return hashlib.sha256(msgspec.json.encode(content)).digest()

    def repeated_order_id(self, standing: store.Standing) -> UUID:
        """The id of the order that the key is bound to; raises IdempotencyKeyReused when that was asked in other words."""
        if standing.fingerprint != self.fingerprint:
            raise IdempotencyKeyReused
        return standing.order_id


async def place_order(
    uow: UnitOfWork, caller: Caller, checkout: Checkout, *, key: UUID, now: datetime, windows: Windows
) -> dict[str, Any] | UUID:
    """A buyer orders one vendor's goods: prices and commission are frozen, stock is taken, the payment window opens.

    Answers the new order's row, or the id of the order that the key is bound to already (contract sections 3 and 6).
    Raises OwnVendor (403), the refusals of `quote`, IdempotencyKeyReused (422), OutOfStock and FlashSaleSoldOut (409).
    """
    buyer_id = caller.id
    product_ids = [requested_item.product_id for requested_item in checkout.requested_items]
    facts = await store.read_for_checkout(
        uow, product_ids, campus_id=checkout.campus_id, hub_id=checkout.hub_id, buyer_id=buyer_id, key=key, now=now
    )
    if facts.standing is not None:
        return checkout.repeated_order_id(facts.standing)
    if any(is_own_vendor(caller, offer.vendor_id, offer.vendor_owner_id) for offer in facts.offers.values()):
        raise OwnVendor
    quoted = quote(checkout.requested_items, facts.offers, facts.destination, checkout.expected_total_minor)
    row = _row(quoted, checkout, buyer_id, now, windows)
    regular_prices_minor = [line.regular_price_minor for line in quoted.lines]
    outcome = await store.save_new_order(uow, row, regular_prices_minor, key=key, fingerprint=checkout.fingerprint)
    if not outcome.placed:
        standing = await store.find_order_by_key(uow, buyer_id, key)
        if standing is None:
            raise AssertionError("the key was refused because its order stands")
        return checkout.repeated_order_id(standing)
    if outcome.reserved < len(quoted.lines):
        # Somebody was faster, or a price moved since the quote: raising takes everything back.
        raise OutOfStock
    reduced = [line for line in quoted.lines if line.sale_id is not None]
    if reduced and not await flash_sales.claim_sale_units(uow, row["id"], reduced, now):
        raise FlashSaleSoldOut
    uow.publish(_order_placed(row))
    for product_id in outcome.sold_out:
        offer, line = facts.offers[product_id], next(line for line in quoted.lines if line.product_id == product_id)
        uow.publish(
            ProductChanged(
                product_id=product_id,
                vendor_id=quoted.vendor_id,
                campus_id=offer.campus_id,
                name=line.name,
                price_minor=line.regular_price_minor,
                in_stock=False,
                removed=False,
            )
        )
    return row


def _row(quoted: Quote, checkout: Checkout, buyer_id: UUID, now: datetime, windows: Windows) -> dict[str, Any]:
    return {
        "id": new_id(),
        "status": "Processing",
        "currency": "NGN",
        "buyer_id": buyer_id,
        "vendor_id": quoted.vendor_id,
        "campus_id": quoted.campus_id,
        "hub_id": quoted.hub_id,
        "total_amount": quoted.total_minor,
        "subtotal_minor": quoted.subtotal_minor,
        "delivery_fee_minor": quoted.delivery_fee_minor,
        "commission_minor": quoted.commission_minor,
        "refunded_minor": 0,
        "delivery_note": checkout.delivery_note,
        "payment_due_at": now + windows.payment,
        "delivered_at": None,
        "return_due_at": None,
        "revision": 1,
        "created_at": now,
        "updated_at": now,
        "items": [
            {
                "id": new_id(),
                "productId": line.product_id,
                "name": line.name,
                "quantity": line.quantity,
                "unitPriceMinor": line.unit_price_minor,
                "lineTotalMinor": line.line_total_minor,
            }
            for line in quoted.lines
        ],
    }


def _order_placed(row: dict[str, Any]) -> OrderPlaced:
    return OrderPlaced(
        order_id=row["id"],
        buyer_id=row["buyer_id"],
        vendor_id=row["vendor_id"],
        campus_id=row["campus_id"],
        total_minor=row["total_amount"],
        commission_minor=row["commission_minor"],
        delivery_fee_minor=row["delivery_fee_minor"],
        currency=row["currency"],
        payment_due_at=iso(row["payment_due_at"]),
        items=tuple(
            PlacedItem(
                product_id=item["productId"],
                name=item["name"],
                quantity=item["quantity"],
                line_total_minor=item["lineTotalMinor"],
            )
            for item in row["items"]
        ),
    )
