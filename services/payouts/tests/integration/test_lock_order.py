"""Transactions of the service lock their rows in one order: payouts, then wallets by vendor (decision 102)."""

from collections.abc import Callable
from functools import partial

from common.primitives.ids import new_id
from contracts.event import Event
from contracts.payments import ChargeDisputed, EscrowHeld
from testkit.lock_order import Transaction, assert_no_deadlock, handle_batch

from .conftest import Scenario, Vendor, released


async def test_all_pairs_of_transactions_do_not_deadlock(scenario: Scenario) -> None:
    vendors = sorted([await scenario.ready_vendor(1_000_000) for _ in range(2)], key=lambda vendor: vendor.id)

    def releases(*positions: int) -> Transaction:
        async def transaction() -> None:
            # The same vendor twice, with others between: a batch as the broker delivers it.
            events = [released(vendors[position], 100_000) for position in (*positions, *positions)]
            await handle_batch(scenario.app, [scenario.payments.signed(event) for event in events])

        return transaction

    def request_and_cancel(vendor: Vendor) -> Transaction:
        async def transaction() -> None:
            payout_id = await scenario.payout(vendor, 50_000)
            headers = scenario.headers(vendor.owner, **vendor.claims())
            response = await scenario.client.post(f"/api/payouts/{payout_id}/cancel", json={}, headers=headers)
            assert response.status_code == 200, response.text

        return transaction

    transactions = {
        "releases": releases(0, 1),
        "releases in reverse": releases(1, 0),
        "a payout of the first": request_and_cancel(vendors[0]),
        "a payout of the second": request_and_cancel(vendors[1]),
    }
    await assert_no_deadlock(transactions, rounds=3)


async def test_batches_with_events_of_the_same_orders_do_not_deadlock(scenario: Scenario) -> None:
    """The share of an order and the wallet of its vendor are locked in one order, whichever events a batch has."""
    vendor = await scenario.ready_vendor(1_000_000)
    orders = sorted((new_id() for _ in range(6)), key=str)

    def held(position: int) -> Event:
        return EscrowHeld(
            order_id=orders[position],
            buyer_id=vendor.owner,
            vendor_id=vendor.id,
            amount_minor=100_000,
            commission_minor=0,
            delivery_fee_minor=0,
            reference="ch-1",
            held_at="2026-01-01T00:00:00.000Z",
        )

    def lost(position: int) -> Event:
        return ChargeDisputed(
            order_id=orders[position],
            buyer_id=vendor.owner,
            vendor_id=vendor.id,
            chargeback_id=new_id(),
            amount_minor=1_000,
            outcome="lost",
            from_vendor_minor=1_000,
            from_commission_minor=0,
            from_delivery_fee_minor=0,
            remaining_minor=99_000,
            remaining_vendor_minor=99_000,
        )

    def batch(*events: Callable[[], Event]) -> Transaction:
        async def transaction() -> None:
            await handle_batch(scenario.app, [scenario.payments.signed(event()) for event in events])

        return transaction

    def release(position: int) -> Event:
        return released(vendor, 1_000, order_id=orders[position])

    transactions = {
        "held and lost": batch(*(partial(kind, place) for place in range(6) for kind in (held, lost))),
        "held, then a release": batch(partial(held, 3), partial(release, 5)),
        "releases": batch(*(partial(release, place) for place in range(6))),
        "one loss": batch(partial(lost, 4)),
        "one release": batch(partial(release, 4)),
    }
    await assert_no_deadlock(transactions, rounds=5)
