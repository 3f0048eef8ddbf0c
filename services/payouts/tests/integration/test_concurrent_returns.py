"""Concurrent reset, restitution, reversal and late success: one outcome, at most one return, an exact ledger."""

import asyncio
from collections import Counter
from uuid import UUID, uuid4

import pytest

from common.auth.caller import THE_SERVICE
from payouts.use_cases.payouts.steps import restitute_payout
from testkit.fixtures import eventually
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .staff import AMOUNT, Case, Staff

ROUNDS = 12


@pytest.fixture
def staff(shared_scenario: Scenario, shared_sandbox: Sandbox):
    return Staff(shared_scenario, shared_sandbox)


async def failed_payouts(staff):
    """Return failed payouts of one vendor, so that the rounds also compete for its wallet."""
    vendor = await staff.scenario.ready_vendor(AMOUNT * ROUNDS)
    ids = [await staff.scenario.payout(vendor, AMOUNT) for _ in range(ROUNDS)]
    await staff.sandbox.configure(transfer_settlement="immediate")
    await staff.sandbox.faults(transfer_call={"fail": "Bank switch is down"})
    sent = (await staff.scenario.dispatch(uuid4(), payoutIds=ids)).json()["data"]["transfers"]
    await staff.sandbox.faults(transfer_call=None)
    await staff.sandbox.configure(transfer_settlement="manual")
    assert {transfer["status"] for transfer in sent} == {"failed"}
    return [Case(vendor, transfer["payoutId"], transfer["reference"]) for transfer in sent]


async def status_of(act):
    return (await act).status_code


async def at_once(staff, cases, act, other):
    """Run both actions of each round concurrently. In every second round the other action starts after the first one's
    query, and two rounds have a fixed order, so that both outcomes occur on any machine.
    """
    poll_count = "SELECT poll_count FROM payout_transfers WHERE reference = $1"

    async def once_polled(case, before):
        async def is_polled():
            [row] = await staff.scenario.fetch(poll_count, case.reference)
            return row["poll_count"] > before

        await eventually(is_polled)
        return await other(case)

    async def round_of(number, case):
        if number == 0:
            return await act(case), await other(case)
        if number == 1:
            return (await other(case), await act(case))[::-1]
        [row] = await staff.scenario.fetch(poll_count, case.reference)
        second = other(case) if number % 2 else once_polled(case, row["poll_count"])
        return await asyncio.gather(act(case), second)

    return await asyncio.gather(*(round_of(*numbered) for numbered in enumerate(cases)))


async def settled(staff, cases):
    """Finishes all work, then returns each payout as the ledger and the gateway have it."""
    await staff.process_queued_transfers()
    [vendor] = {case.vendor.id for case in cases}
    found = await staff.scenario.fetch(
        """
        SELECT p.id::text, p.status, p.retry_count,
               (SELECT count(*) FROM ledger_transactions
                   WHERE posting_key IN ('restitution:' || p.id, 'reversal:' || p.id)) AS returns,
               (SELECT count(*) FROM ledger_transactions WHERE posting_key = 'payout_processed:' || p.id) AS leavings,
               coalesce((
                   SELECT balance_minor FROM ledger_balances WHERE account = 'in_transit:' || p.id
               ), 0) AS in_transit,
               (SELECT count(*) FROM payout_transfers WHERE payout_id = p.id AND status = 'success') AS successes
        FROM payout_requests AS p WHERE p.vendor_id = $1
        """,
        vendor,
    )
    for row in found:
        expected = {"pending": (0, 0, AMOUNT), "processed": (0, 1, 0), "failed": (1, 0, 0)}[row["status"]]
        assert (row["returns"], row["leavings"], row["in_transit"]) == expected, dict(row)
    returned = sum(row["returns"] for row in found)
    wallet = await staff.scenario.wallet(cases[0].vendor)
    # The returned amount of a payout that was paid after all is held.
    twice = sum(row["returns"] and row["successes"] for row in found)
    assert (wallet["availableMinor"], wallet["heldMinor"]) == ((returned - twice) * AMOUNT, twice * AMOUNT)
    return {row["id"]: row for row in found}


async def test_of_concurrent_approvals_one_posts(staff) -> None:
    cases = await failed_payouts(staff)
    prepared = await asyncio.gather(*(staff.prepared(case) for case in cases))
    responses = await asyncio.gather(*(status_of(staff.approve(one)) for one in prepared for _ in range(2)))
    assert Counter(responses) == {200: 2 * ROUNDS}
    payouts = await settled(staff, cases)
    assert {row["status"] for row in payouts.values()} == {"failed"}
    approvals = await staff.scenario.fetch(
        "SELECT count(*) AS approvals FROM payout_acts WHERE act = 'approved' AND payout_id = ANY ($1)", list(payouts)
    )
    assert approvals[0]["approvals"] == ROUNDS


async def test_of_a_concurrent_approval_and_reset_one_is_applied(staff) -> None:
    cases = await failed_payouts(staff)
    prepared = await asyncio.gather(*(staff.prepared(case) for case in cases))

    async def round_of(case, one):
        return await asyncio.gather(status_of(staff.approve(one)), status_of(staff.reset(case)))

    responses = await asyncio.gather(*(round_of(*both) for both in zip(cases, prepared, strict=True)))
    payouts = await settled(staff, cases)
    for case, (approved, reset) in zip(cases, responses, strict=True):
        assert sorted((approved, reset)) == [200, 409]
        row = payouts[case.payout_id]
        assert (row["status"], row["retry_count"]) == (("failed", 0) if approved == 200 else ("pending", 1))


async def test_a_payout_with_a_concurrent_reset_and_late_success_is_paid_once(staff) -> None:
    cases = await failed_payouts(staff)
    rounds = await at_once(
        staff, cases, lambda case: status_of(staff.reset(case)), lambda case: staff.succeeds(case.reference)
    )
    assert {reset for reset, _ in rounds} == {200, 409}
    payouts = await settled(staff, cases)
    assert {(row["status"], row["successes"]) for row in payouts.values()} == {("processed", 1)}
    unsent = await staff.scenario.fetch(
        "SELECT id FROM payout_transfers WHERE payout_id = ANY ($1) "
        "AND (status = 'reserved' OR (due_at IS NOT NULL AND status <> 'success'))",
        list(payouts),
    )
    assert unsent == []


async def test_a_concurrent_approval_and_late_success_never_pay_silently_twice(staff) -> None:
    cases = await failed_payouts(staff)
    prepared = dict(zip(cases, await asyncio.gather(*(staff.prepared(case) for case in cases)), strict=True))
    rounds = await at_once(
        staff, cases, lambda case: status_of(staff.approve(prepared[case])), lambda case: staff.succeeds(case.reference)
    )
    responses = [approved for approved, _ in rounds]
    assert set(responses) == {200, 409}
    payouts = await settled(staff, cases)
    for case, approved in zip(cases, responses, strict=True):
        row = payouts[case.payout_id]
        assert (row["status"], row["successes"]) == (("failed", 1) if approved == 200 else ("processed", 1))
        # Both happened, at the gateway and here: an exception opens, and two users recover the amount.
        is_open = (await staff.payout(case))["openException"] is not None
        assert is_open == (approved == 200)


async def test_a_concurrent_quarantine_and_reset_return_the_amount_once(staff) -> None:
    cases = await failed_payouts(staff)

    async def restitute(case):
        parts = staff.scenario.dependencies
        async with parts.database.unit_of_work(acting_as=THE_SERVICE) as uow:
            now = parts.clock.now()
            return await restitute_payout(uow, UUID(case.payout_id), "The account was quarantined.", now)

    rounds = await at_once(
        staff,
        cases,
        lambda case: status_of(staff.reset(case)),
        lambda case: asyncio.gather(restitute(case), restitute(case)),
    )
    assert {reset for reset, _ in rounds} == {200, 409}
    payouts = await settled(staff, cases)
    for case, (reset, restitutions) in zip(cases, rounds, strict=True):
        assert sorted(restitutions) == [False, True]
        row = payouts[case.payout_id]
        assert (row["status"], row["retry_count"]) == ("failed", int(reset == 200))
    due = await staff.scenario.fetch(
        "SELECT id FROM payout_transfers WHERE payout_id = ANY ($1) AND status <> 'failed'", list(payouts)
    )
    assert due == []
