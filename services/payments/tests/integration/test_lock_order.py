"""Transactions of the service lock their rows in one order: orders by vendor, then the ledger (decision 102)."""

from datetime import datetime
from uuid import uuid4

import pytest

from common.auth.caller import THE_SERVICE
from common.database.errors import SharedTransaction
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from contracts.event import Event
from contracts.orders import OrderExpired
from payments.domain.refunds import RequestedRefund
from payments.use_cases.escrow.close_order import close_order
from payments.use_cases.refunds.refund_order import refund_order
from payments.use_cases.rewards.credit_reward import credit_reward
from testkit.lock_order import Transaction, assert_no_deadlock, handle_batch

from . import balances
from .conftest import PaymentsApp

ROUNDS = 2
# Three transactions in six pairs, each of two orders, one of each vendor.
ORDERS_OF_EACH_VENDOR = 6 * 2 * ROUNDS


async def test_all_pairs_of_transactions_do_not_deadlock(app: PaymentsApp) -> None:
    vendors = sorted(uuid4() for _ in range(2))
    paid = [[await app.paid_order(vendor_id=vendor) for _ in range(ORDERS_OF_EACH_VENDOR)] for vendor in vendors]

    def deliveries(*positions: int) -> Transaction:
        async def transaction() -> None:
            await handle_batch(app.app, [app.delivered(paid[position].pop()) for position in positions])

        return transaction

    async def refunds() -> None:
        placed = [paid[position].pop() for position in (1, 0)]
        events: list[Event] = [app.delivered(each) for each in placed]
        events += [app.refund_requested(each, 1_000) for each in placed]
        await handle_batch(app.app, events)

    transactions = {
        "deliveries": deliveries(0, 1),
        "deliveries in reverse": deliveries(1, 0),
        "deliveries and refunds": refunds,
    }
    await assert_no_deadlock(transactions, rounds=ROUNDS)


async def _end_of_a_hold(app: PaymentsApp, uow: UnitOfWork, now: datetime) -> None:
    placed = await app.place_order()
    assert (await app.request_intent(placed.order_id, balanceMinor=50_000)).status_code == 201
    await close_order(uow, placed.order_id, "expired", now)


async def _refund(app: PaymentsApp, uow: UnitOfWork, now: datetime) -> None:
    placed = await app.paid_order()
    await refund_order(uow, RequestedRefund(placed.order_id, new_id(), 1_000, "cancelled", is_all_to_balance=True), now)


async def _reward(app: PaymentsApp, uow: UnitOfWork, now: datetime) -> None:
    await credit_reward(uow, uuid4(), 1_000, now)


@pytest.mark.parametrize("change", [_end_of_a_hold, _refund, _reward])
async def test_a_message_that_changes_a_balance_shares_no_transaction(app: PaymentsApp, change) -> None:
    await balances.credit_reward(app, 50_000)
    with pytest.raises(SharedTransaction):
        async with app.database.unit_of_work(acting_as=THE_SERVICE, is_shared=True) as uow:
            await change(app, uow, app.clock.now())


async def test_orders_of_one_balance_expire_in_one_batch(app: PaymentsApp) -> None:
    await balances.credit_reward(app, 50_000)
    placed = [await app.place_order() for _ in range(2)]
    for order in placed:
        assert (await app.request_intent(order.order_id, balanceMinor=25_000)).status_code == 201
    await handle_batch(app.app, [OrderExpired(**app.parties(order), reason="test") for order in placed])
    balance = await balances.balance_of(app)
    assert (balance["availableMinor"], balance["heldMinor"]) == (50_000, 0)
