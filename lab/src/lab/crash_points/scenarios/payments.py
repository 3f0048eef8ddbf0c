"""Charges that do not fit their order."""

from lab.crash_points.marketplace import Marketplace
from lab.crash_points.scenarios.orders import pay
from lab.crash_points.scenarios.steps import (
    NET_MINOR,
    PRICE_MINOR,
    End,
    Given,
    added,
    assert_refunded_once,
    order_of,
    pay_out_refunds,
    wallet,
)
from lab.crash_points.users import CHECKER, MAKER

_SURPLUS_MINOR = 1_000_000


async def underpayment(market: Marketplace, order: Given) -> End:
    """One kobo too little is quarantined, and two of staff return it."""
    before = await wallet(market)
    await pay(market, order, amount=PRICE_MINOR - 1)
    listed = await market.get("/api/quarantined-charges?limit=100", MAKER)
    charge = next(line for line in listed if line["reference"] == order["reference"])
    path = f"/api/quarantined-charges/{charge['id']}"
    decision = {"outcome": "return", "reason": "it does not pay the order"}
    prepared = await market.post(f"{path}/prepare", MAKER, decision)
    await market.post(f"{path}/approve", CHECKER, {"hash": prepared["hash"]})
    await market.run_until_idle()
    await pay_out_refunds(market, order)

    async def end() -> None:
        await assert_refunded_once(market, order, PRICE_MINOR - 1)
        assert (await order_of(market, order))["status"] == "Processing"
        assert added(before, await wallet(market)) == {}

    return end


async def overpayment(market: Marketplace, order: Given) -> End:
    """Pay the order once, and the surplus goes back."""
    before = await wallet(market)
    await pay(market, order, amount=PRICE_MINOR + _SURPLUS_MINOR)
    await pay_out_refunds(market, order)

    async def end() -> None:
        await assert_refunded_once(market, order, _SURPLUS_MINOR)
        assert (await order_of(market, order))["status"] == "paid_escrow"
        assert added(before, await wallet(market)) == {"lockedMinor": NET_MINOR}

    return end
