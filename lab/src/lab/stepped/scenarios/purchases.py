"""Purchases of two vendors: one charge pays both orders, and a dispute of it is shared among them."""

from collections.abc import Sequence
from typing import Any, Final

from lab.stepped.actions import (
    APPROVE_RESOLUTION,
    Facts,
    create_product,
    deliver,
    pay,
    resolve,
    wallet,
)
from lab.stepped.actors import BUYER, CHECKER, MAKER, VENDORS
from lab.stepped.marketplace import Marketplace
from lab.stepped.scenarios.steps import (
    NET_MINOR,
    PRICE_MINOR,
    End,
    added,
    assert_refunded_once,
    order_of,
    pay_out_refunds,
    refunds_of,
)

# A fifth of the charge, which both orders share two to one.
_DISPUTED_MINOR: Final = 150_000
_SHARES_MINOR: Final = (100_000, 50_000)
_NET_SHARES_MINOR: Final = (95_000, 47_500)
_QUANTITIES: Final = (2, 1)


async def products_of_each_vendor(market: Marketplace) -> Facts:
    """Return a product of each vendor, by its number."""
    return {str(number): await create_product(market, own, PRICE_MINOR) for number, own in enumerate(VENDORS)}


async def place_purchase(market: Marketplace, products: Facts, quantities: Sequence[int] = (1, 1)) -> Facts:
    """Return a purchase with its orders and an open payment, whose `reference` each of them has."""
    items = [{"productId": products[str(number)], "quantity": each} for number, each in enumerate(quantities)]
    placed = dict(await market.post("/api/purchases", BUYER, {"items": items}))
    await market.run_until_idle()
    intent = await market.post("/api/payments/intent", BUYER, {"purchaseId": placed["id"]})
    orders = [{**order, "reference": intent["reference"]} for order in placed["orders"]]
    return {**placed, "orders": orders, "reference": intent["reference"]}


async def purchase_of_two_vendors(market: Marketplace, given: Facts) -> End:
    """Check out two vendors' products at once, and pay them by one charge."""
    before = await wallet(market)
    placed = await place_purchase(market, given)
    await pay(market, placed)
    await deliver(market, placed["orders"][0])

    async def end() -> None:
        shown = await market.get(f"/api/purchases/{placed['id']}", BUYER)
        assert shown["status"] == "paid"
        assert [order["status"] for order in shown["orders"]] == ["paid", "paid_escrow"]
        assert added(before, await wallet(market)) == {"availableMinor": NET_MINOR}
        charges = [
            line for line in await market.sandbox.listed("transaction") if line["reference"] == placed["reference"]
        ]
        assert [line["amount"] for line in charges] == [len(VENDORS) * PRICE_MINOR]

    return end


async def half_delivered_purchase(market: Marketplace) -> Facts:
    """Return a paid purchase whose first order is delivered: its money is released, that of the second is held."""
    purchase = await place_purchase(market, await products_of_each_vendor(market), _QUANTITIES)
    await pay(market, purchase)
    await deliver(market, purchase["orders"][0])
    return purchase


async def dispute_lost(market: Marketplace, purchase: Facts) -> End:
    """Lose a dispute of a part of the charge, and give the buyer what the second order has left."""
    before = await _wallets(market)
    await _dispute(market, purchase, "lose")
    _, second = purchase["orders"]
    await APPROVE_RESOLUTION.run(market, CHECKER, await resolve(market, second["id"], "buyer"))
    await pay_out_refunds(market, purchase)

    async def end() -> None:
        await assert_refunded_once(market, purchase, PRICE_MINOR - _SHARES_MINOR[1])
        assert await _statuses(market, purchase) == ["paid", "refunded"]
        assert await _chargebacks(market, purchase) == [(share, "lost") for share in _SHARES_MINOR]
        change = [{"availableMinor": -_NET_SHARES_MINOR[0]}, {"lockedMinor": -NET_MINOR}]
        assert [added(*pair) for pair in zip(before, await _wallets(market), strict=True)] == change

    return end


async def dispute_won(market: Marketplace, purchase: Facts) -> End:
    """Win a dispute of a part of the charge, and give the vendor the money of the second order."""
    before = await _wallets(market)
    await _dispute(market, purchase, "win")
    _, second = purchase["orders"]
    await APPROVE_RESOLUTION.run(market, CHECKER, await resolve(market, second["id"], "vendor"))

    async def end() -> None:
        assert await refunds_of(market, purchase) == []
        assert await _statuses(market, purchase) == ["paid", "paid"]
        assert await _chargebacks(market, purchase) == [(share, "won") for share in _SHARES_MINOR]
        change = [{}, {"availableMinor": NET_MINOR, "lockedMinor": -NET_MINOR}]
        assert [added(*pair) for pair in zip(before, await _wallets(market), strict=True)] == change

    return end


async def _dispute(market: Marketplace, purchase: Facts, outcome: str) -> None:
    opened = await market.sandbox.act(f"charges/{purchase['reference']}/dispute", {"amount": _DISPUTED_MINOR})
    await market.run_until_idle()
    await market.sandbox.act(f"disputes/{opened['id']}/{outcome}")
    await market.run_until_idle()


async def _wallets(market: Marketplace) -> list[dict[str, Any]]:
    return [await wallet(market, vendor) for vendor in VENDORS]


async def _statuses(market: Marketplace, purchase: Facts) -> list[str]:
    return [(await order_of(market, order))["status"] for order in purchase["orders"]]


async def _chargebacks(market: Marketplace, purchase: Facts) -> list[tuple[int, str]]:
    """Return the amount in kobo and the status of each order's chargeback."""
    found = [await market.get(f"/api/chargebacks?orderId={order['id']}", MAKER) for order in purchase["orders"]]
    return [(line["amountMinor"], line["status"]) for of_order in found for line in of_order]
