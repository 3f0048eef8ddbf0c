"""Place an order."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.cells import Cells
from common.primitives.clock import iso
from common.primitives.idempotency import IdempotencyKeyReused
from common.primitives.ids import new_id
from common.primitives.public_numbers import NumberKind, new_number
from contracts.orders import OrderPlaced, PlacedItem, ProductChanged
from orders.domain.errors import FlashSaleSoldOut, OutOfStock, OwnVendor, UnpaidShareExceeded
from orders.domain.order_roles import is_own_vendor
from orders.domain.orders import NewItem, NewOrder, Windows
from orders.domain.quotes import Quote, RequestedItem, quote
from orders.domain.unpaid_limits import UnpaidLimits
from orders.store import flash_sales
from orders.store.checkout import (
    CheckoutFacts,
    IdempotencyRecord,
    Placed,
    find_order_by_key,
    read_for_checkout,
    save_new_order,
)

# Of a thousand billion numbers so many are never in use in a row.
NUMBER_TRIES_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class FromCart:
    """The cart to check out, and the vendor whose lines are ordered."""

    cart_id: UUID
    vendor_id: UUID | None


@dataclass(frozen=True, slots=True)
class Checkout:
    """A buyer's checkout request. `expected_total_minor` (kobo) is the total that the buyer saw, if sent."""

    requested_items: Sequence[RequestedItem]
    campus_id: UUID | None
    hub_id: UUID | None
    delivery_note: str | None
    expected_total_minor: int | None
    cart: FromCart | None = None

    @property
    def fingerprint(self) -> bytes:
        """The digest of the request that an Idempotency-Key is bound to.

        A cart counts by its id: checkout changes its lines.
        """
        lines: object = [(item.product_id, item.quantity) for item in self.requested_items]
        if self.cart is not None:
            lines = (self.cart.cart_id, self.cart.vendor_id)
        content = (lines, self.campus_id, self.hub_id, self.delivery_note, self.expected_total_minor)
        return hashlib.sha256(msgspec.json.encode(content)).digest()

    def repeated_order_id(self, earlier: IdempotencyRecord) -> UUID:
        """Return the id of the order that is bound to the key; raises IdempotencyKeyReused (422) for a request with
        other content.
        """
        if earlier.fingerprint != self.fingerprint:
            raise IdempotencyKeyReused
        return earlier.order_id


async def place_order(
    uow: UnitOfWork,
    caller: Caller,
    checkout: Checkout,
    *,
    key: UUID,
    now: datetime,
    windows: Windows,
    limits: UnpaidLimits,
    cells: Cells | None,
) -> NewOrder | UUID:
    """Place a buyer's order: freeze prices and commission, reserve stock, start the payment window.

    Returns the new order, or the id of the order that is already bound to the key (contract sections 3 and 6).
    Raises Misdirected (421) for a campus of another cell, OwnVendor (403), the errors of `quote`, IdempotencyKeyReused
    (422), TooManyUnpaidOrders, OutOfStock, UnpaidShareExceeded and FlashSaleSoldOut (409).
    """
    product_ids = [item.product_id for item in checkout.requested_items]
    facts = await read_for_checkout(
        uow, product_ids, campus_id=checkout.campus_id, hub_id=checkout.hub_id, buyer_id=caller.id, key=key, now=now
    )
    if facts.earlier is not None:
        return checkout.repeated_order_id(facts.earlier)
    _check_campuses(cells, checkout, facts)
    if any(is_own_vendor(caller, offer.vendor_id, offer.vendor_owner_id) for offer in facts.offers.values()):
        raise OwnVendor
    quoted = quote(checkout.requested_items, facts.offers, facts.destination, checkout.expected_total_minor)
    order = _new_order(quoted, checkout, facts, caller.id, now, windows)
    regular_prices_minor = [line.regular_price_minor for line in quoted.lines]
    for _ in range(NUMBER_TRIES_MAX):
        outcome = await save_new_order(uow, order, regular_prices_minor, key=key, fingerprint=checkout.fingerprint)
        if outcome.placed:
            break
        earlier = await find_order_by_key(uow, caller.id, key)
        if earlier is not None:
            return checkout.repeated_order_id(earlier)
        # The key is unused, so the number is in use.
        order = order._replace(number=_new_number())
    else:
        raise AssertionError("the key is free and every drawn number is taken")
    # Each exception rolls everything back.
    limits.check_orders(outcome.unpaid_orders)
    if len(outcome.reserved) < len(quoted.lines):
        # A concurrent order or a price change since the quote.
        raise OutOfStock
    _check_shares(limits, quoted, outcome)
    reduced = [line for line in quoted.lines if line.sale_id is not None]
    if reduced and not await flash_sales.claim_sale_units(uow, order.id, reduced, now):
        raise FlashSaleSoldOut
    uow.publish(_order_placed(order))
    for line in sorted(quoted.lines, key=lambda line: line.product_id):
        if outcome.reserved[line.product_id].stock_left == 0:
            uow.publish(
                ProductChanged(
                    product_id=line.product_id,
                    vendor_id=quoted.vendor_id,
                    campus_id=facts.offers[line.product_id].campus_id,
                    name=line.name,
                    price_minor=line.regular_price_minor,
                    in_stock=False,
                    removed=False,
                )
            )
    return order


def _check_campuses(cells: Cells | None, checkout: Checkout, facts: CheckoutFacts) -> None:
    """Reject an order across cells: its buyer and its vendor would have their money in different ledgers."""
    if cells is not None:
        for campus_id in (checkout.campus_id, *(offer.campus_id for offer in facts.offers.values())):
            cells.check_campus(campus_id)


def _check_shares(limits: UnpaidLimits, quoted: Quote, outcome: Placed) -> None:
    """Reject an order that leaves the buyer more unpaid pieces of a product than one buyer may hold."""
    exceeded: dict[int, int] = {}
    for position, line in enumerate(quoted.lines):
        stock_left, held = outcome.reserved[line.product_id]
        pieces_max = limits.pieces_max(stock_left + line.quantity, held)
        if held + line.quantity > pieces_max:
            exceeded[position] = pieces_max
    if exceeded:
        raise UnpaidShareExceeded(exceeded)


def _new_number() -> str:
    return new_number(NumberKind.ORDER)


def _new_order(
    quoted: Quote, checkout: Checkout, facts: CheckoutFacts, buyer_id: UUID, now: datetime, windows: Windows
) -> NewOrder:
    return NewOrder(
        id=new_id(),
        number=_new_number(),
        buyer_id=buyer_id,
        vendor_id=quoted.vendor_id,
        campus_id=quoted.campus_id,
        hub_id=quoted.hub_id,
        total_minor=quoted.total_minor,
        subtotal_minor=quoted.subtotal_minor,
        delivery_fee_minor=quoted.delivery_fee_minor,
        commission_minor=quoted.commission_minor,
        delivery_note=checkout.delivery_note,
        payment_due_at=now + windows.payment,
        created_at=now,
        updated_at=now,
        buyer=(facts.buyer_name, None),
        vendor=(facts.vendor_name, None, None),
        items=[
            NewItem(new_id(), line.product_id, line.name, line.quantity, line.unit_price_minor, line.line_total_minor)
            for line in quoted.lines
        ],
    )


def _order_placed(order: NewOrder) -> OrderPlaced:
    return OrderPlaced(
        order_id=order.id,
        number=order.number,
        buyer_id=order.buyer_id,
        vendor_id=order.vendor_id,
        campus_id=order.campus_id,
        total_minor=order.total_minor,
        commission_minor=order.commission_minor,
        delivery_fee_minor=order.delivery_fee_minor,
        currency=order.currency,
        payment_due_at=iso(order.payment_due_at),
        items=tuple(
            PlacedItem(
                product_id=item.product_id,
                name=item.name,
                quantity=item.quantity,
                line_total_minor=item.line_total_minor,
            )
            for item in order.items
        ),
    )
