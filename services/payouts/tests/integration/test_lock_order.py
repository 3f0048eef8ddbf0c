"""Transactions of the service lock their rows in one order: payouts, then wallets by vendor (decision 102)."""

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
            headers = scenario.app.headers(vendor.owner, **vendor.claims())
            response = await scenario.app.client.post(f"/api/payouts/{payout_id}/cancel", json={}, headers=headers)
            assert response.status_code == 200, response.text

        return transaction

    transactions = {
        "releases": releases(0, 1),
        "releases in reverse": releases(1, 0),
        "a payout of the first": request_and_cancel(vendors[0]),
        "a payout of the second": request_and_cancel(vendors[1]),
    }
    await assert_no_deadlock(transactions, rounds=3)
