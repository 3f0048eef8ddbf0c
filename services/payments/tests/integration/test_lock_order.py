"""Transactions of the service lock their rows in one order: orders by vendor, then the ledger (decision 102)."""

from uuid import uuid4

from contracts.event import Event
from testkit.lock_order import Transaction, assert_no_deadlock, handle_batch

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
