"""Orders: bought, expired, cancelled, paid wrongly, disputed, returned, and charged back."""

from datetime import timedelta
from typing import Any, Final

from lab.stepped.actions import (
    APPROVE_RESOLUTION,
    CANCEL_ORDER,
    DISPUTE,
    Command,
    Facts,
    pay,
    place_order,
    prepare_and_approve,
    request_return,
    resolve,
    wallet,
)
from lab.stepped.actors import BUYER, CHECKER, MAKER, SUPPORT, VENDOR
from lab.stepped.marketplace import Marketplace
from lab.stepped.scenarios.steps import (
    NET_MINOR,
    PRICE_MINOR,
    End,
    added,
    assert_refunded_once,
    delivered_order,
    order_of,
    pay_out_refunds,
    placed_order,
    product,
    refunds_of,
)

# The payment window of a run.
_WINDOW: Final = timedelta(days=1)
_SURPLUS_MINOR: Final = 1_000_000


def _end(
    market: Marketplace, before: Facts, order: Facts, status: str, change: dict[str, int], refund_minor: int = 0
) -> End:
    """Check the order's status, the change of the vendor's wallet, and that this amount was refunded once."""

    async def end() -> None:
        if refund_minor:
            await assert_refunded_once(market, order, refund_minor)
        assert (await order_of(market, order))["status"] == status
        assert added(before, await wallet(market)) == change

    return end


async def purchase(market: Marketplace, given: Facts) -> End:
    """Checkout, payment, escrow, dispatch, PIN, release."""
    before = await wallet(market)
    order = await delivered_order(market)
    return _end(market, before, order, "paid", {"availableMinor": NET_MINOR})


async def expiry(market: Marketplace, given: Facts) -> End:
    """Free the stock of an unpaid order once."""
    stock = await _stock(market, given["productId"])
    order = await place_order(market, given["productId"])
    market.clock.advance(_WINDOW)
    await market.run_timers("orders-worker", "fire-timers")
    await market.run_until_idle()

    async def end() -> None:
        assert (await order_of(market, order))["status"] == "expired"
        assert await _stock(market, given["productId"]) == stock

    return end


async def cancel_against_charge(market: Marketplace, given: Facts) -> End:
    """Cancel as the buyer after paying, before the webhook arrives: the money pays the order."""
    stock, before = await _stock(market, await product(market)), await wallet(market)
    order = await placed_order(market)
    await market.sandbox.act(f"charges/{order['reference']}/pay")
    await CANCEL_ORDER.run(market, BUYER, order)
    paid = _end(market, before, order, "paid_escrow", {"lockedMinor": NET_MINOR})

    async def end() -> None:
        await paid()
        assert await _stock(market, await product(market)) == stock - 1

    return end


async def cancelled_and_refunded(market: Marketplace, order: Facts) -> End:
    """Cancel a paid order, and the gateway pays the money back."""
    before = await wallet(market)
    await CANCEL_ORDER.run(market, SUPPORT, order)
    await pay_out_refunds(market, order)
    return _end(market, before, order, "refunded", {"lockedMinor": -NET_MINOR}, PRICE_MINOR)


async def underpayment(market: Marketplace, order: Facts) -> End:
    """One kobo too little is quarantined, and two of staff return it."""
    before = await wallet(market)
    await pay(market, order, amount=PRICE_MINOR - 1)
    listed = await market.get("/api/quarantined-charges?limit=100", MAKER)
    charge = next(line for line in listed if line["reference"] == order["reference"])
    await prepare_and_approve(market, f"/api/quarantined-charges/{charge['id']}", {"outcome": "return"})
    await market.run_until_idle()
    await pay_out_refunds(market, order)
    return _end(market, before, order, "Processing", {}, PRICE_MINOR - 1)


async def overpayment(market: Marketplace, order: Facts) -> End:
    """Pay the order once, and the surplus goes back."""
    before = await wallet(market)
    await pay(market, order, amount=PRICE_MINOR + _SURPLUS_MINOR)
    await pay_out_refunds(market, order)
    return _end(market, before, order, "paid_escrow", {"lockedMinor": NET_MINOR}, _SURPLUS_MINOR)


async def dispute_and_split(market: Marketplace, order: Facts) -> End:
    """Two of staff give the buyer a part, and the vendor the rest."""
    before = await wallet(market)
    await DISPUTE.run(market, BUYER, order)
    await APPROVE_RESOLUTION.run(market, CHECKER, await resolve(market, order["id"], "split", PRICE_MINOR // 2))
    await pay_out_refunds(market, order)
    change = {"availableMinor": NET_MINOR // 2, "lockedMinor": -NET_MINOR}
    split = _end(market, before, order, "paid", change, PRICE_MINOR // 2)

    async def end() -> None:
        await split()
        assert (await order_of(market, order))["refundedMinor"] == PRICE_MINOR // 2

    return end


async def return_after_release(market: Marketplace, order: Facts) -> End:
    """Pay for returned goods from the vendor's wallet."""
    before = await wallet(market)
    requested = await request_return(market, order["id"], order["items"][0]["id"])
    await market.run_until_idle()
    await Command("/api/return-requests/{id}/approve").run(market, VENDOR, requested)
    await pay_out_refunds(market, order)
    return _end(market, before, order, "refunded", {"availableMinor": -NET_MINOR}, PRICE_MINOR)


async def chargeback_lost(market: Marketplace, order: Facts) -> End:
    """After the release the vendor's share is held, and taken when the dispute is lost."""
    before = await wallet(market)
    await _charge_back(market, order, "lose")
    return _end(market, before, order, "paid", {"availableMinor": -NET_MINOR})


async def chargeback_won(market: Marketplace, order: Facts) -> End:
    """After the release the vendor's share is held, and free again when the dispute is won."""
    before = await wallet(market)
    await _charge_back(market, order, "win")
    return _end(market, before, order, "paid", {})


async def chargeback_before_delivery(market: Marketplace, order: Facts) -> End:
    """Freeze the order; what the bank took is not refunded a second time."""
    before = await wallet(market)
    await _charge_back(market, order, "lose")
    await APPROVE_RESOLUTION.run(market, CHECKER, await resolve(market, order["id"], "buyer"))
    refunded = _end(market, before, order, "refunded", {"lockedMinor": -NET_MINOR})

    async def end() -> None:
        await refunded()
        assert await refunds_of(market, order) == []

    return end


async def _charge_back(market: Marketplace, order: Facts, outcome: str) -> None:
    opened = await market.sandbox.act(f"charges/{order['reference']}/dispute")
    await market.run_until_idle()
    await market.sandbox.act(f"disputes/{opened['id']}/{outcome}")
    await market.run_until_idle()


async def _stock(market: Marketplace, product_id: str) -> int:
    own: list[dict[str, Any]] = await market.get("/api/products/mine?limit=100", VENDOR)
    return next(int(line["stock"]) for line in own if line["id"] == product_id)
