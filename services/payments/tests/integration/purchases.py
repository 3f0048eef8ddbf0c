"""Purchases of several orders, for the tests of their payments."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.orders import OrderPlaced, PurchasePlaced

from .conftest import PaymentsApp

TOTALS_MINOR = (500_000, 300_000, 200_000)


@dataclass(frozen=True)
class Purchase:
    """A placed purchase, with its orders in its order."""

    id: UUID
    orders: tuple[OrderPlaced, ...]

    @property
    def totals_minor(self) -> dict[UUID, int]:
        return {order.order_id: order.total_minor for order in self.orders}


def purchase_placed(app: PaymentsApp, orders: Sequence[OrderPlaced], purchase_id: UUID) -> PurchasePlaced:
    return PurchasePlaced(
        purchase_id=purchase_id,
        buyer_id=app.buyer,
        order_ids=tuple(order.order_id for order in orders),
        total_minor=sum(order.total_minor for order in orders),
        currency="NGN",
        payment_due_at=orders[0].payment_due_at if orders else iso(app.clock.now()),
        number="CP-5W1C-8TKA",
    )


async def place_purchase(app: PaymentsApp, *totals_minor: int) -> Purchase:
    """Place one order of each total, each of another vendor; the vendors are not in the order of the list."""
    purchase_id = new_id()
    vendors = sorted((uuid4() for _ in totals_minor or TOTALS_MINOR), reverse=True)
    orders = [
        await app.place_order(total_minor, purchase_id=purchase_id, vendor_id=vendor)
        for total_minor, vendor in zip(totals_minor or TOTALS_MINOR, vendors, strict=True)
    ]
    await app.receive(purchase_placed(app, orders, purchase_id))
    return Purchase(purchase_id, tuple(orders))


async def open_purchase_intent(app: PaymentsApp, purchase: Purchase) -> dict[str, Any]:
    response = await app.request_intent(None, purchaseId=str(purchase.id))
    assert response.status_code == 201, response.text
    intent: dict[str, Any] = response.json()["data"]
    return intent


async def paid_purchase(app: PaymentsApp, *totals_minor: int) -> tuple[Purchase, str]:
    """Return a purchase whose escrows are held, and the reference of its charge."""
    purchase = await place_purchase(app, *totals_minor)
    intent = await open_purchase_intent(app, purchase)
    await app.process_webhook(await app.pay(intent["reference"]))
    return purchase, intent["reference"]


def escrows_minor(purchase: Purchase) -> dict[str, int]:
    """Return the balance of each order's escrow after the charge, debit positive."""
    return {f"escrow:{order_id}": -total_minor for order_id, total_minor in purchase.totals_minor.items()}
