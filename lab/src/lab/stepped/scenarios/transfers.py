"""Payments by bank transfer: two transfers into one account, and transfers after the end of an account."""

from datetime import timedelta
from typing import Final

from lab.stepped.actions import Facts, wallet
from lab.stepped.actors import BUYER
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
    unpaid_order,
)

# The payment window of a run.
_WINDOW: Final = timedelta(days=1)
# The gateway ends an account after eight hours at the latest.
_ACCOUNT_ENDED: Final = timedelta(hours=9)


async def order_without_others_due(market: Marketplace) -> Facts:
    """Return an order without a payment. In the hours that pass no timer of an earlier order is due."""
    await market.databases["orders"].execute("UPDATE order_timers SET due_at = due_at + interval '1 year'")
    return await unpaid_order(market)


async def two_into_one_account(market: Marketplace, order: Facts) -> End:
    """Open an account for the order, transfer the amount to it, and once more: the second transfer goes back."""
    before = await wallet(market)
    paid = await _open_account(market, order)
    for _ in range(2):
        await _transfer(market, paid)
    await pay_out_refunds(market, paid)

    async def end() -> None:
        await _assert_paid(market, before, paid)
        await assert_refunded_once(market, paid, PRICE_MINOR)

    return end


async def after_account_end(market: Marketplace, order: Facts) -> End:
    """Open a second account after the first ended. A late transfer into the first pays, one into the second returns."""
    before = await wallet(market)
    first = await _open_account(market, order)
    market.clock.advance(_ACCOUNT_ENDED)
    second = await _open_account(market, order)
    for one in (first, second):
        await _transfer(market, one)
    await pay_out_refunds(market, second)

    async def end() -> None:
        assert first["account"] != second["account"]
        await _assert_paid(market, before, first)
        await assert_refunded_once(market, second, PRICE_MINOR)
        assert await refunds_of(market, first) == []

    return end


async def after_order_end(market: Marketplace, order: Facts) -> End:
    """Transfer the amount after the order expired: its stock is still there, so that the order is paid."""
    before = await wallet(market)
    paid = await _open_account(market, order)
    market.clock.advance(_WINDOW)
    await market.run_timers("orders-worker", "fire-timers")
    await market.run_until_idle()
    await _transfer(market, paid)

    async def end() -> None:
        await _assert_paid(market, before, paid)
        assert await refunds_of(market, paid) == []

    return end


async def _open_account(market: Marketplace, order: Facts) -> Facts:
    """Return the order with the reference of its payment and the number of its account."""
    intent = await market.post("/api/payments/intent", BUYER, {"orderId": order["id"], "channel": "bank_transfer"})
    return {**order, "reference": intent["reference"], "account": intent["bankTransfer"]["accountNumber"]}


async def _transfer(market: Marketplace, order: Facts) -> None:
    await market.sandbox.act(f"charges/{order['reference']}/transfer")
    await market.run_until_idle()


async def _assert_paid(market: Marketplace, before: Facts, order: Facts) -> None:
    assert (await order_of(market, order))["status"] == "paid_escrow"
    assert added(before, await wallet(market)) == {"lockedMinor": NET_MINOR}
