"""Steps of a checkout that several operations share, and what it publishes."""

from collections.abc import Sequence
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.idempotency import IdempotencyKeyReused
from contracts.orders import OrderPlaced, PlacedItem, ProductChanged, PurchasePlaced
from orders.domain.checkouts import Checkout, Placement
from orders.domain.orders import NewOrder
from orders.domain.purchases import NewPurchase
from orders.domain.quotes import Quote
from orders.store.checkout import CheckoutFacts, IdempotencyRecord, Placed


def repeated_id(checkout: Checkout, earlier: IdempotencyRecord) -> UUID:
    """Return the id of the order or purchase that is bound to the key.

    Raises IdempotencyKeyReused (422) for a request with other content.
    """
    if earlier.fingerprint != checkout.fingerprint:
        raise IdempotencyKeyReused
    return earlier.id


def publish_placement(
    uow: UnitOfWork, placement: Placement, quotes: Sequence[Quote], facts: CheckoutFacts, outcome: Placed
) -> None:
    """Publish the orders of a purchase, the purchase, and each product whose last pieces they took. An only order was
    published when it was saved.
    """
    if placement.purchase is not None:
        for order in placement.orders:
            uow.publish(order_placed(order))
        uow.publish(_purchase_placed(placement.purchase, placement.orders))
    for product_id in sorted({line.product_id for quoted in quotes for line in quoted.lines}):
        if outcome.reserved[product_id].stock_left == 0:
            offer = facts.offers[product_id]
            uow.publish(
                ProductChanged(
                    product_id=product_id,
                    vendor_id=offer.vendor_id,
                    campus_id=offer.campus_id,
                    name=offer.name,
                    price_minor=offer.price_minor,
                    in_stock=False,
                    removed=False,
                )
            )


def _purchase_placed(purchase: NewPurchase, orders: Sequence[NewOrder]) -> PurchasePlaced:
    return PurchasePlaced(
        purchase_id=purchase.id,
        number=purchase.number,
        buyer_id=purchase.buyer_id,
        order_ids=tuple(order.id for order in orders),
        total_minor=sum(order.total_minor for order in orders),
        currency=orders[0].currency,
        payment_due_at=iso(orders[0].payment_due_at),
    )


def order_placed(order: NewOrder) -> OrderPlaced:
    """Return the event of a new order."""
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
        purchase_id=order.purchase_id,
        items=tuple(
            PlacedItem(
                product_id=item.product_id,
                variant_id=item.variant_id,
                name=item.name,
                quantity=item.quantity,
                line_total_minor=item.line_total_minor,
            )
            for item in order.items
        ),
    )
