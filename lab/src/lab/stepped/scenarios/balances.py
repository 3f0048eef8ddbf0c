"""Balances: a payment that they share with the gateway, its refund, and withdrawals."""

from typing import Final
from uuid import UUID

from lab.stepped.actions import ACCOUNT, CANCEL_ORDER, Facts, deliver, pay, place_order
from lab.stepped.actors import BUYER
from lab.stepped.marketplace import Marketplace
from lab.stepped.scenarios.steps import (
    PRICE_MINOR,
    End,
    assert_refunded_once,
    order_of,
    paid_order,
    pay_out_refunds,
    product,
    unique_minor,
)

_PART_MINOR: Final = 100_000


async def refund_in_balance(market: Marketplace) -> Facts:
    """Leave the refund of an order in the buyer's balance."""
    order = await paid_order(market)
    await CANCEL_ORDER.run(market, BUYER, order, refundTo="balance")
    return {}


async def _available_minor(market: Marketplace) -> int:
    return int((await market.get("/api/balance", BUYER))["availableMinor"])


async def _shared_payment(market: Marketplace) -> Facts:
    """Return an order that balance and gateway paid."""
    order = await place_order(market, await product(market))
    body = {"orderId": order["id"], "balanceMinor": _PART_MINOR}
    order["reference"] = (await market.post("/api/payments/intent", BUYER, body))["reference"]
    await pay(market, order)
    return order


async def balance_with_gateway_part(market: Marketplace, given: Facts) -> End:
    """Pay a part from the balance and the rest at the gateway, and deliver the order."""
    before = await _available_minor(market)
    order = await _shared_payment(market)
    await deliver(market, order)

    async def end() -> None:
        assert (await order_of(market, order))["status"] == "paid"
        assert await _available_minor(market) == before - _PART_MINOR
        charges = [
            line for line in await market.sandbox.listed("transaction") if line["reference"] == order["reference"]
        ]
        assert [line["amount"] for line in charges] == [PRICE_MINOR - _PART_MINOR]

    return end


async def refund_split(market: Marketplace, given: Facts) -> End:
    """Cancel an order that both paid: each part goes back to where it came from."""
    before = await _available_minor(market)
    order = await _shared_payment(market)
    await CANCEL_ORDER.run(market, BUYER, order)
    await pay_out_refunds(market, order)

    async def end() -> None:
        await assert_refunded_once(market, order, PRICE_MINOR - _PART_MINOR)
        assert (await order_of(market, order))["status"] == "refunded"
        assert await _available_minor(market) == before

    return end


async def withdrawal(market: Marketplace, given: Facts) -> End:
    """Withdraw refunded money, which the bank pays."""
    return await _withdraw(market, "succeed", "paid")


async def withdrawal_failed(market: Marketplace, given: Facts) -> End:
    """Withdraw refunded money, which the bank rejects."""
    return await _withdraw(market, "fail", "failed")


async def _withdraw(market: Marketplace, action: str, status: str) -> End:
    before, amount_minor = await _available_minor(market), unique_minor(20_000)
    await market.sandbox.name_account(ACCOUNT["bankCode"], ACCOUNT["accountNumber"], ACCOUNT["accountName"])
    account = {name: ACCOUNT[name] for name in ("accountNumber", "bankCode")}
    made = await market.post("/api/balance/withdrawals", BUYER, {"amountMinor": amount_minor, **account})
    await market.run_until_idle()
    reference = f"wd-{UUID(made['id']).hex}"
    for _ in range(4):
        if any(line["reference"] == reference for line in await market.sandbox.listed("transfer")):
            break
        # A dead process leaves the transfer to a timer.
        await market.time_passes()
    await market.sandbox.act(f"transfers/{reference}/{action}")
    await market.run_until_idle()

    async def end() -> None:
        found = await market.get(f"/api/balance/withdrawals/{made['id']}", BUYER)
        assert found["status"] == status
        assert await _available_minor(market) == before - (amount_minor if status == "paid" else 0)
        transfers = [line for line in await market.sandbox.listed("transfer") if line["amount"] == amount_minor]
        assert [line["reference"] for line in transfers] == [reference]

    return end
