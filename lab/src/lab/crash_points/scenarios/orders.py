"""Orders: bought, expired, cancelled, disputed, returned."""

from datetime import timedelta
from typing import Any

from lab.crash_points.marketplace import Marketplace
from lab.crash_points.scenarios.steps import (
    NET_MINOR,
    PRICE_MINOR,
    End,
    Given,
    added,
    assert_refunded_once,
    new_product,
    order_of,
    pay_out_refunds,
    product,
    wallet,
)
from lab.crash_points.users import BUYER, CHECKER, SUPPORT, VENDOR, User

# The payment window of a run.
_WINDOW = timedelta(days=1)


async def own_product(market: Marketplace) -> Given:
    return {"productId": await new_product(market)}


async def placed_order(market: Marketplace, product_id: str = "") -> Given:
    """Return an order with an intent."""
    items = [{"productId": product_id or await product(market), "quantity": 1}]
    order = await market.post("/api/orders/checkout", BUYER, {"items": items})
    await market.run_until_idle()
    intent = await market.post("/api/payments/intent", BUYER, {"orderId": order["id"]})
    return {**order, "reference": intent["reference"]}


async def paid_order(market: Marketplace) -> Given:
    order = await placed_order(market)
    await pay(market, order)
    return order


async def delivered_order(market: Marketplace) -> Given:
    order = await paid_order(market)
    await deliver(market, order)
    return order


async def pay(market: Marketplace, order: Given, **terms: Any) -> None:
    """Pay as the payer, and deliver the webhook; `terms` differ from the intent's."""
    await market.act(f"charges/{order['reference']}/pay", terms)
    await market.run_until_idle()


async def deliver(market: Marketplace, order: Given, vendor: User = VENDOR) -> None:
    await market.post(f"/api/orders/{order['id']}/dispatch", vendor)
    await market.run_until_idle()
    pin = (await market.get(f"/api/orders/{order['id']}/delivery-pin", BUYER))["pin"]
    await confirm_delivery(market, order, pin, vendor)


async def confirm_delivery(market: Marketplace, order: Given, pin: str, vendor: User = VENDOR) -> None:
    await market.post(f"/api/orders/{order['id']}/verify-delivery", vendor, {"pin": pin})
    await market.run_until_idle()


async def purchase(market: Marketplace, given: Given) -> End:
    """Checkout, payment, escrow, dispatch, PIN, release."""
    before = await wallet(market)
    order = await delivered_order(market)

    async def end() -> None:
        assert (await order_of(market, order))["status"] == "paid"
        assert added(before, await wallet(market)) == {"availableMinor": NET_MINOR}

    return end


async def expiry(market: Marketplace, given: Given) -> End:
    """Return an unpaid order frees its stock once."""
    stock = await _stock(market, given["productId"])
    order = await placed_order(market, given["productId"])
    market.clock.advance(_WINDOW)
    await market.run_timers("orders-worker", "timers")
    await market.run_until_idle()

    async def end() -> None:
        assert (await order_of(market, order))["status"] == "expired"
        assert await _stock(market, given["productId"]) == stock

    return end


async def cancel_against_charge(market: Marketplace, given: Given) -> End:
    """Cancel as the buyer after paying, before the webhook arrives: the money pays the order."""
    stock = await _stock(market, await product(market))
    before = await wallet(market)
    order = await placed_order(market)
    await market.act(f"charges/{order['reference']}/pay")
    await market.post(f"/api/orders/{order['id']}/cancel", BUYER, {"reason": "changed my mind"})
    await market.run_until_idle()

    async def end() -> None:
        assert (await order_of(market, order))["status"] == "paid_escrow"
        assert await _stock(market, await product(market)) == stock - 1
        assert added(before, await wallet(market)) == {"lockedMinor": NET_MINOR}

    return end


async def cancelled_and_refunded(market: Marketplace, order: Given) -> End:
    """Cancel a paid order, and the gateway pays the money back."""
    before = await wallet(market)
    await market.post(f"/api/orders/{order['id']}/cancel", SUPPORT, {"reason": "the vendor is ill"})
    await market.run_until_idle()
    await pay_out_refunds(market, order)

    async def end() -> None:
        await assert_refunded_once(market, order, PRICE_MINOR)
        assert (await order_of(market, order))["status"] == "refunded"
        assert added(before, await wallet(market)) == {"lockedMinor": -NET_MINOR}

    return end


async def dispute_and_split(market: Marketplace, order: Given) -> End:
    """Two of staff give the buyer a part, and the vendor the rest."""
    before = await wallet(market)
    complaint = {"reason": "half is missing", "details": "One of two boxes was empty."}
    await market.post(f"/api/orders/{order['id']}/dispute", BUYER, complaint)
    await market.run_until_idle()
    split = {"outcome": "split", "refundMinor": PRICE_MINOR // 2}
    resolution = await market.post(f"/api/orders/{order['id']}/resolve", SUPPORT, split)
    approve = f"/api/dispute-resolutions/{resolution['resolutionId']}/approve"
    await market.post(approve, CHECKER, {"hash": resolution["hash"]})
    await market.run_until_idle()
    await pay_out_refunds(market, order)

    async def end() -> None:
        await assert_refunded_once(market, order, PRICE_MINOR // 2)
        found = await order_of(market, order)
        assert (found["status"], found["refundedMinor"]) == ("paid", PRICE_MINOR // 2)
        assert added(before, await wallet(market)) == {"availableMinor": NET_MINOR // 2, "lockedMinor": -NET_MINOR}

    return end


async def return_after_release(market: Marketplace, order: Given) -> End:
    """Pay for returned goods from the vendor's wallet."""
    before = await wallet(market)
    body = {"items": [{"itemId": order["items"][0]["id"], "quantity": 1}], "reason": "The zip is torn."}
    requested = await market.post(f"/api/orders/{order['id']}/return-requests", BUYER, body)
    await market.run_until_idle()
    await market.post(f"/api/return-requests/{requested['id']}/approve", VENDOR)
    await market.run_until_idle()
    await pay_out_refunds(market, order)

    async def end() -> None:
        await assert_refunded_once(market, order, PRICE_MINOR)
        assert (await order_of(market, order))["status"] == "refunded"
        assert added(before, await wallet(market)) == {"availableMinor": -NET_MINOR}

    return end


async def _stock(market: Marketplace, product_id: str) -> int:
    own = await market.get("/api/products/mine?limit=100", VENDOR)
    return next(int(line["stock"]) for line in own if line["id"] == product_id)
