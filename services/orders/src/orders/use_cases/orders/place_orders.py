"""Place the orders of a checkout."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.cells import Cells
from contracts.orders import OfferAccepted
from orders.domain.checkouts import Checkout, CheckoutRules, Placement, placement_of
from orders.domain.conversation_errors import OfferNotOpen
from orders.domain.errors import (
    CheckoutStopped,
    FlashSaleSoldOut,
    OutOfStock,
    OwnVendor,
    UnknownDelivery,
    UnpaidShareExceeded,
)
from orders.domain.offered_prices import at_offered_prices
from orders.domain.order_roles import is_own_vendor
from orders.domain.quotes import Destination, Quote, RequestedItem, quote, quote_purchase
from orders.domain.unpaid_limits import UnpaidLimits
from orders.store import conversation_offers, flash_sales
from orders.store.checkout import (
    CheckoutFacts,
    Placed,
    find_by_key,
    read_for_checkout,
    save_new_orders,
    undo_purchase,
)
from orders.use_cases.orders.steps import order_placed, publish_placement, repeated_id

# Of a thousand billion numbers so many are never in use in a row.
NUMBER_TRIES_MAX: Final = 8


async def place_orders(
    uow: UnitOfWork,
    caller: Caller,
    checkout: Checkout,
    *,
    key: UUID,
    now: datetime,
    rules: CheckoutRules,
) -> Placement | UUID:
    """Place a buyer's order, or all orders of a purchase: freeze prices and commission, reserve stock, start the
    payment window.

    Returns the placement, or the id of the order or purchase that is already bound to the key (contract sections 3 and
    6). Raises Misdirected (421) for a campus of another cell, OwnVendor (403), the errors of `quote` or
    `quote_purchase` and `at_offered_prices`, UnknownDelivery, IdempotencyKeyReused (422), TooManyUnpaidOrders,
    OutOfStock, UnpaidShareExceeded and FlashSaleSoldOut (409), and CheckoutStopped (503).
    """
    facts = await _read(uow, caller, checkout, key, now)
    if facts.earlier is not None:
        return repeated_id(checkout, facts.earlier)
    if facts.stop is not None:
        raise CheckoutStopped(facts.stop.message, math.ceil((facts.stop.until - now).total_seconds()))
    _check_campuses(rules.cells, checkout, facts)
    if any(is_own_vendor(caller, offer.vendor_id, offer.vendor_owner_id) for offer in facts.offers.values()):
        raise OwnVendor
    if offer_ids := [item.offer_id for item in checkout.requested_items if item.offer_id is not None]:
        offers = await conversation_offers.find_offers(uow, offer_ids, caller.id)
        try:
            items = at_offered_prices(checkout.requested_items, offers, now)
        except OfferNotOpen:
            # A concurrent checkout under the same key may have accepted the offer while this one waited.
            earlier = await find_by_key(uow, caller.id, key, of_purchase=checkout.is_purchase)
            if earlier is None:
                raise
            return repeated_id(checkout, earlier)
        checkout = replace(checkout, requested_items=items)
    quotes = _quotes(checkout, facts)
    draw = partial(placement_of, quotes, checkout, facts.offers, (caller.id, facts.buyer_name), now, rules.windows)
    saved = await _save(uow, checkout, draw, quotes, buyer_id=caller.id, key=key)
    if isinstance(saved, UUID):
        return saved
    placement, outcome = saved
    # Each exception rolls everything back.
    rules.unpaid_limits.check_orders(outcome.unpaid_orders, len(placement.orders))
    if not outcome.reserved:
        # A concurrent order or a price change since the quote.
        await _explain_shortage(uow, caller, checkout, key, now)
        raise OutOfStock
    _check_shares(rules.unpaid_limits, checkout.requested_items, outcome)
    if not await _claim_sale_units(uow, placement, quotes, now):
        await _explain_shortage(uow, caller, checkout, key, now)
        raise FlashSaleSoldOut
    await _accept_offers(uow, placement, checkout, now)
    publish_placement(uow, placement, quotes, facts, outcome)
    return placement


async def _save(
    uow: UnitOfWork,
    checkout: Checkout,
    draw: Callable[[], Placement],
    quotes: Sequence[Quote],
    *,
    buyer_id: UUID,
    key: UUID,
) -> tuple[Placement, Placed] | UUID:
    """Save the orders under free numbers, which `draw` chooses; return the id that is bound to the key when another
    request was faster.
    """
    regular_prices_minor = {
        (line.product_id, line.variant_id): line.regular_price_minor for quoted in quotes for line in quoted.lines
    }
    for _ in range(NUMBER_TRIES_MAX):
        placement = draw()
        outcome = await save_new_orders(
            uow,
            *placement,
            regular_prices_minor,
            key=key,
            fingerprint=checkout.fingerprint,
            event=None if checkout.is_purchase else order_placed(placement.orders[0]),
        )
        if outcome.placed:
            return placement, outcome
        earlier = await find_by_key(uow, buyer_id, key, of_purchase=checkout.is_purchase)
        if earlier is not None:
            return repeated_id(checkout, earlier)
        # The key is unused, so a number is in use.
    raise AssertionError("the key is free and every drawn number is taken")


async def _claim_sale_units(uow: UnitOfWork, placement: Placement, quotes: Sequence[Quote], now: datetime) -> bool:
    """Claim the units of running sales. The lock of each product's stock is held, so that purchases never deadlock."""
    for order, quoted in zip(placement.orders, quotes, strict=True):
        reduced = [line for line in quoted.lines if line.sale_id is not None]
        if reduced and not await flash_sales.claim_sale_units(uow, order.id, reduced, now):
            return False
    return True


async def _accept_offers(uow: UnitOfWork, placement: Placement, checkout: Checkout, now: datetime) -> None:
    """Mark and publish the accepted offers of the lines. Raises OfferNotOpen (409) after a concurrent withdrawal."""
    offer_of = {
        (item.product_id, item.variant_id): item.offer_id
        for item in checkout.requested_items
        if item.offer_id is not None
    }
    order_of_offer = {
        offer_of[item.product_id, item.variant_id]: order
        for order in placement.orders
        for item in order.items
        if (item.product_id, item.variant_id) in offer_of
    }
    ids = {offer_id: order.id for offer_id, order in order_of_offer.items()}
    if ids and not await conversation_offers.accept_offers(uow, ids, now):
        fields = [f"items.{at}.offerId" for at, item in enumerate(checkout.requested_items) if item.offer_id]
        raise OfferNotOpen(dict.fromkeys(fields, "withdrawn"))
    for offer_id, order in order_of_offer.items():
        uow.publish(
            OfferAccepted(
                offer_id=offer_id,
                order_id=order.id,
                buyer_id=order.buyer_id,
                vendor_id=order.vendor_id,
                number=order.number,
            )
        )


async def _read(uow: UnitOfWork, caller: Caller, checkout: Checkout, key: UUID, now: datetime) -> CheckoutFacts:
    return await read_for_checkout(
        uow,
        checkout.requested_items,
        checkout.destinations,
        of_purchase=checkout.is_purchase,
        buyer_id=caller.id,
        key=key,
        now=now,
    )


def _quotes(checkout: Checkout, facts: CheckoutFacts) -> list[Quote]:
    items, expected_total_minor = checkout.requested_items, checkout.expected_total_minor
    if checkout.deliveries is None:
        # Without a known product there is no destination, and the quote raises UnknownProduct.
        destination = next(iter(facts.destinations.values()), Destination())
        return [quote(items, facts.offers, destination, expected_total_minor)]
    quotes = quote_purchase(items, facts.offers, facts.destinations, expected_total_minor)
    vendor_ids = {quoted.vendor_id for quoted in quotes}
    for position, delivery in enumerate(checkout.deliveries):
        if delivery.vendor_id not in vendor_ids:
            raise UnknownDelivery(position, "is not a vendor of the purchase, or has a delivery already")
        vendor_ids.remove(delivery.vendor_id)
    return quotes


async def _explain_shortage(uow: UnitOfWork, caller: Caller, checkout: Checkout, key: UUID, now: datetime) -> None:
    """Quote a purchase again without its own orders, which names the items that were sold meanwhile."""
    if checkout.is_purchase:
        await undo_purchase(uow)
        _quotes(checkout, await _read(uow, caller, checkout, key, now))


def _check_campuses(cells: Cells | None, checkout: Checkout, facts: CheckoutFacts) -> None:
    """Reject an order across cells: its buyer and its vendor would have their money in different ledgers."""
    if cells is not None:
        for campus_id in (checkout.campus_id, *(offer.campus_id for offer in facts.offers.values())):
            cells.check_campus(campus_id)


def _check_shares(limits: UnpaidLimits, items: Sequence[RequestedItem], outcome: Placed) -> None:
    """Reject a checkout that leaves the buyer more unpaid pieces of a product than one buyer may hold."""
    exceeded: dict[int, int] = {}
    ordered: Counter[UUID] = Counter()
    for item in items:
        ordered[item.product_id] += item.quantity
    for position, item in enumerate(items):
        stock_left, held = outcome.reserved[item.product_id]
        pieces_max = limits.pieces_max(stock_left + ordered[item.product_id], held)
        if held + ordered[item.product_id] > pieces_max:
            exceeded[position] = pieces_max
    if exceeded:
        raise UnpaidShareExceeded(exceeded)
