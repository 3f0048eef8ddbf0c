"""Transactions of the service lock their rows in one order: orders by id, then products by id (decision 102)."""

from itertools import count
from typing import Any
from uuid import UUID

from contracts.identity import VendorChanged
from testkit.lock_order import Transaction, assert_no_deadlock, handle_batch
from testkit.responses import data_of

from .conftest import Market


async def test_all_pairs_of_transactions_do_not_deadlock(market: Market) -> None:
    products = sorted([await market.sell(stock=100_000) for _ in range(2)])
    names = count(1)

    async def cancelled(product_id: UUID) -> dict[str, Any]:
        order = await market.ordered(product_id)
        return data_of(await market.post(order, "cancel", market.as_buyer(), {"reason": "changed my mind"}))

    def late_charges(*positions: int) -> Transaction:
        async def transaction() -> None:
            orders = [await cancelled(products[position]) for position in positions]
            await handle_batch(market.app, [market.held(order) for order in reversed(orders)])

        return transaction

    async def check_out_both() -> None:
        items = [{"productId": str(product_id), "quantity": 1} for product_id in products]
        key = {"headers": market.as_buyer(idempotency_key=UUID(int=next(names), version=4))}
        data_of(await market.client.post("/api/orders/checkout", json={"items": items}, **key), 201)

    async def cancel_paid() -> None:
        order = await market.paid(product_id=products[1])
        data_of(await market.post(order, "cancel", market.as_buyer(), {"reason": "changed my mind"}))

    async def pay_together() -> None:
        orders = [await market.ordered(products[position]) for position in (1, 0)]
        await handle_batch(market.app, [market.held(order) for order in orders])

    async def rename_vendor() -> None:
        changed = VendorChanged(
            vendor_id=market.vendor_id,
            owner_user_id=market.merchant_id,
            business_name=f"Ada's Kitchen {next(names)}",
            legal_name="Ada Obi Ventures",
            campus_id=market.campus_id,
        )
        await market.receive(changed)

    transactions = {
        "late charges": late_charges(0, 1),
        "late charges in reverse": late_charges(1, 0),
        "a checkout": check_out_both,
        "a cancellation": cancel_paid,
        "payments": pay_together,
        "a new name": rename_vendor,
    }
    await assert_no_deadlock(transactions, rounds=3)
