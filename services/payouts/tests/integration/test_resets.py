"""A failed payout is sent again after a back-off (contract section 8; specification, States)."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from contracts.identity import VendorReinstated, VendorSuspended
from contracts.payments import TransferFailed, TransferReversed, TransferSucceeded
from payouts.domain.dispatch import LEASE
from testkit.responses import CONFLICT, INVALID, data_of, error_of
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .dispatch_steps import approve_run, prepare_run
from .staff import AMOUNT, Staff
from .steps import FIRST_WAIT
from .steps import vendor_event as vendor_update


@pytest.fixture
def staff(shared_scenario: Scenario, shared_sandbox: Sandbox):
    return Staff(shared_scenario, shared_sandbox)


async def rows(staff, case):
    return await staff.scenario.fetch(
        "SELECT p.status, p.retry_count, p.transfer_failure, t.attempt, t.reference, t.due_at FROM "
        "payout_requests AS p "
        "JOIN payout_transfers AS t ON t.payout_id = p.id WHERE p.id = $1 ORDER BY t.attempt",
        case.payout_id,
    )


async def test_the_worker_sends_a_reset_payout_under_a_new_reference(staff) -> None:
    case = await staff.failed()
    payout = data_of(await staff.reset(case, "  bank switch was down "))
    assert (payout["status"], payout["retryCount"], payout["transferFailure"]) == ("pending", 1, "bank switch was down")
    assert (payout["transfer"]["attempt"], payout["transfer"]["status"]) == (2, "reserved")
    assert payout["transferReference"] == payout["transfer"]["reference"] != case.reference
    assert payout["openException"] is None
    [act] = await staff.scenario.fetch("SELECT * FROM payout_acts WHERE payout_id = $1", case.payout_id)
    assert (act["act"], act["acted_by"], act["reason"]) == ("reset", staff.operator, "bank switch was down")

    await staff.run_timers()
    assert (await staff.payout(case))["transfer"]["status"] == "reserved"
    staff.scenario.clock.advance(FIRST_WAIT)
    await staff.run_timers()
    assert (await staff.payout(case))["transfer"]["status"] == "pending"
    await staff.succeeds(payout["transferReference"])
    assert (await staff.payout(case))["status"] == "processed"
    assert await staff.in_transit(case) == 0
    await staff.assert_ledger_matches_gateway(case)


async def test_each_reset_doubles_the_wait_up_to_the_limit(staff) -> None:
    case = await staff.failed()
    for count, wait in ((1, FIRST_WAIT), (2, 2 * FIRST_WAIT), (3, 4 * FIRST_WAIT)):
        assert (await staff.reset(case)).json()["data"]["retryCount"] == count
        last = (await rows(staff, case))[-1]
        assert last["due_at"] - staff.scenario.clock.now() == wait
        staff.scenario.clock.advance(wait)
        await staff.run_timers()
        await staff.settle_at_gateway(last["reference"], "fail")
    refused = await staff.reset(case)
    assert error_of(refused) == CONFLICT
    assert "three times" in refused.json()["detail"]
    assert (await staff.reconcile(case))["kind"] == "restitution"
    await staff.assert_ledger_matches_gateway(case)


async def test_of_concurrent_resets_one_is_applied(staff) -> None:
    case = await staff.failed()
    responses = await asyncio.gather(*(staff.reset(case) for _ in range(4)))
    assert sorted(response.status_code for response in responses) == [200, 409, 409, 409]
    assert (await staff.reset(case)).status_code == 409
    assert [row["attempt"] for row in await rows(staff, case)] == [1, 2]
    assert (await staff.payout(case))["retryCount"] == 1


async def on_its_way(staff):
    return await staff.dispatched()


async def failed_only_in_a_webhook(staff):
    case = await staff.dispatched()
    await staff.receive_webhook(case.reference, TransferFailed)
    return case


async def arrived_despite_a_failure_webhook(staff):
    case = await failed_only_in_a_webhook(staff)
    await staff.settle_at_gateway(case.reference, "succeed")
    return case


async def contradicted_since(staff):
    case = await staff.failed()
    await staff.receive_webhook(case.reference, TransferSucceeded, amount_minor=AMOUNT - 1)
    await staff.sandbox.faults(verify_call={"error_before": True})
    return case


async def processed(staff):
    case = await staff.dispatched()
    await staff.succeeds(case.reference)
    return case


async def reversed_before_it_arrived(staff):
    case = await staff.dispatched()
    await staff.settle_at_gateway(case.reference, "reverse")
    await staff.receive_webhook(case.reference, TransferReversed)
    return case


async def reversed_after_it_arrived(staff):
    return await staff.reversed()


async def restituted(staff):
    case = await staff.failed()
    await staff.reconcile(case)
    return case


@pytest.mark.parametrize(
    ("situation", "status"),
    [
        (on_its_way, 409),
        (failed_only_in_a_webhook, 409),
        (arrived_despite_a_failure_webhook, 409),
        (processed, 409),
        (reversed_before_it_arrived, 409),
        (reversed_after_it_arrived, 409),
        (restituted, 409),
        (contradicted_since, 503),
    ],
)
async def test_a_reset_needs_the_gateways_confirmation_of_the_failure(staff, situation, status: int) -> None:
    case = await situation(staff)
    response = await staff.reset(case)
    await staff.sandbox.faults(verify_call=None)
    assert response.status_code == status, response.text
    staff.scenario.clock.advance(4 * FIRST_WAIT)
    await staff.run_timers()
    assert await staff.sent(case) == [case.reference]
    [row] = await rows(staff, case)
    assert (row["retry_count"], row["reference"]) == (0, case.reference)
    assert (await staff.payout(case))["status"] in {"pending", "processed", "failed"}


async def test_a_payout_that_was_never_sent_is_not_reset(staff) -> None:
    vendor = await staff.scenario.ready_vendor(AMOUNT)
    payout_id = await staff.scenario.payout(vendor, AMOUNT)
    response = await staff.post(f"/api/payouts/{payout_id}/reset", staff.operator, "ops_oncall", {"reason": "x"})
    assert (response.status_code, "ever sent" in response.json()["detail"]) == (409, True)


async def test_a_reset_is_guarded_in_the_order_of_the_contract(staff) -> None:
    case = await staff.failed()
    path = f"/api/payouts/{case.payout_id}/reset"
    absent = "/api/payouts/6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e/reset"
    knocks = [
        (path, "finance_maker", True, {"nonsense": 1}, 403, "AUTH_FORBIDDEN"),
        (path, "ops_oncall", False, {"nonsense": 1}, 403, "AUTH_AAL2_REQUIRED"),
        (absent, "ops_oncall", True, {"nonsense": 1}, 422, "VALIDATION_FAILED"),
        (path, "ops_oncall", True, {"reason": "x", "amountMinor": 1}, 422, "VALIDATION_FAILED"),
        (path, "ops_oncall", True, {"reason": "  "}, 422, "VALIDATION_FAILED"),
        (absent, "ops_oncall", True, {"reason": "x"}, 404, "RESOURCE_NOT_FOUND"),
        ("/api/payouts/7/reset", "ops_oncall", True, {"reason": "x"}, 404, "RESOURCE_NOT_FOUND"),
    ]
    for knocked, role, stepped_up, body, status, code in knocks:
        response = await staff.post(knocked, staff.operator, role, body, stepped_up=stepped_up)
        assert error_of(response) == (status, code), (knocked, role, body)
    assert (await staff.payout(case))["retryCount"] == 0


async def test_a_retry_above_the_balance_waits_with_an_exception(staff) -> None:
    case = await staff.failed()
    await staff.reset(case)
    drain = await staff.scenario.ready_vendor(2 * await staff.sandbox.balance_minor())
    # All but the fee of the transfer.
    big = await staff.scenario.payout(drain, await staff.sandbox.balance_minor() - 5_000)
    [sent] = data_of(await approve_run(staff, await prepare_run(staff, payoutIds=[big])))["transfers"]
    staff.scenario.clock.advance(FIRST_WAIT)
    await staff.run_timers()
    waiting = await staff.payout(case)
    assert (waiting["transfer"]["status"], waiting["openException"]["cause"]) == ("reserved", "balance_insufficient")
    assert waiting["openException"]["severity"] == "SEV-1"
    await staff.settle_at_gateway(sent["reference"], "fail")
    staff.scenario.clock.advance(timedelta(minutes=2))
    await staff.run_timers()
    await staff.succeeds((await staff.payout(case))["transferReference"])
    settled = await staff.payout(case)
    assert (settled["status"], settled["openException"]) == ("processed", None)


async def test_a_suspended_vendors_retry_is_held_with_its_reason(staff) -> None:
    case = await staff.failed()
    await staff.reset(case)
    await staff.scenario.receive(vendor_update(VendorSuspended, case.vendor, reason="Complaints"))
    staff.scenario.clock.advance(FIRST_WAIT)
    sent = await staff.sent(case)
    await staff.run_timers()
    held = (await staff.payout(case))["transfer"]
    assert (held["status"], held["failure"]) == ("reserved", "vendor_suspended")
    assert await staff.sent(case) == sent
    await staff.scenario.receive(vendor_update(VendorReinstated, case.vendor))
    again = (await staff.scenario.dispatch("2f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e", payoutIds=[case.payout_id])).json()
    assert [line["reference"] for line in again["data"]["transfers"]] == [held["reference"]]
    await staff.succeeds(held["reference"])
    assert (await staff.payout(case))["status"] == "processed"


async def test_a_retry_to_a_former_account_is_held_and_can_be_returned(staff) -> None:
    case = await staff.failed()
    await staff.reset(case)
    await staff.sandbox.name_account("058", "0123456789", case.vendor.legal_name)
    assert (await staff.scenario.put_bank_details(case.vendor, "0123456789")).json()["data"]["verified"] is True
    staff.scenario.clock.advance(FIRST_WAIT)
    await staff.run_timers()
    held = (await staff.payout(case))["transfer"]
    assert (held["status"], held["failure"]) == ("reserved", "bank_details_changed")
    assert (await staff.reconcile(case))["kind"] == "restitution"
    assert (await staff.scenario.wallet(case.vendor))["availableMinor"] == AMOUNT
    assert (await staff.payout(case))["transfer"]["status"] == "failed"


async def test_a_late_success_of_a_reset_attempt_stops_its_successor(staff) -> None:
    case = await staff.failed()
    await staff.reset(case)
    await staff.succeeds(case.reference)
    assert (await staff.payout(case))["status"] == "pending"
    await staff.process_queued_transfers()
    staff.scenario.clock.advance(FIRST_WAIT)
    sent = await staff.sent(case)
    await staff.run_timers()
    payout = await staff.payout(case)
    assert (payout["status"], payout["transfer"]["status"], payout["openException"]) == ("processed", "success", None)
    # A payout shows the attempt that paid it.
    assert payout["transfer"]["reference"] == payout["transferReference"] == case.reference
    assert payout["transfer"]["transferCode"] == payout["transferCode"]
    assert await staff.sent(case) == sent
    await staff.assert_ledger_matches_gateway(case)


async def test_an_attempt_that_was_paid_after_its_reset_has_no_successor(staff) -> None:
    """The gateway revises the failure, and no webhook arrives."""
    case = await staff.failed()
    await staff.reset(case)
    await staff.settle_at_gateway(case.reference, "succeed")
    sent = await staff.sent(case)
    staff.scenario.clock.advance(FIRST_WAIT)
    await staff.run_timers()
    payout = await staff.payout(case)
    assert (payout["status"], payout["transferReference"], payout["openException"]) == (
        "processed",
        case.reference,
        None,
    )
    assert await staff.sent(case) == sent
    await staff.assert_ledger_matches_gateway(case)


async def test_an_unanswered_successor_is_not_sent_again_after_its_predecessor_was_paid(staff) -> None:
    case = await staff.failed()
    # Other payouts of the module may be due too.
    reference = data_of(await staff.reset(case))["transferReference"]
    await staff.sandbox.faults(transfer_call={"error_before": True, "times": 1, "match": reference})
    staff.scenario.clock.advance(FIRST_WAIT)
    await staff.run_timers()
    assert (await staff.payout(case))["transfer"]["status"] == "unknown"
    await staff.settle_at_gateway(case.reference, "succeed")
    sent = await staff.sent(case)
    for _ in range(3):
        staff.scenario.clock.advance(2 * LEASE)
        await staff.process_queued_transfers()
        await staff.run_timers()
    assert await staff.sent(case) == sent
    assert (await staff.payout(case))["status"] == "processed"


@pytest.mark.parametrize("fault", [{"error_before": True}, {"data": {"status": "pending"}}])
async def test_a_successor_waits_for_the_gateways_confirmation_of_the_failure(staff, fault) -> None:
    case = await staff.failed()
    await staff.reset(case)
    await staff.sandbox.faults(verify_call=fault)
    sent = await staff.sent(case)
    staff.scenario.clock.advance(FIRST_WAIT)
    await staff.run_timers()
    assert await staff.sent(case) == sent
    waiting = (await staff.payout(case))["transfer"]
    assert (waiting["status"], "has not confirmed" in waiting["failure"]) == ("reserved", True)
    await staff.sandbox.faults(verify_call=None)
    staff.scenario.clock.advance(LEASE)
    await staff.run_timers()
    sent_now = (await staff.payout(case))["transfer"]
    assert (sent_now["status"], sent_now["failure"]) == ("pending", None)


async def test_a_successor_of_an_attempt_that_the_gateway_lost_waits_for_staff(staff) -> None:
    case = await staff.failed()
    await staff.reset(case)
    # The gateway answers as if it had no such transfer.
    await staff.scenario.fetch_as_owner(
        "UPDATE payout_transfers SET reference = 'po-' || md5(reference) WHERE reference = $1", case.reference
    )
    sent = await staff.sent(case)
    staff.scenario.clock.advance(FIRST_WAIT)
    await staff.run_timers()
    payout = await staff.payout(case)
    assert (payout["transfer"]["status"], payout["openException"]["cause"]) == ("reserved", "unclassified")
    assert await staff.sent(case) == sent


async def test_a_second_paid_attempt_is_recovered_by_two_users(staff) -> None:
    case = await staff.failed()
    await staff.reset(case)
    staff.scenario.clock.advance(FIRST_WAIT)
    await staff.run_timers()
    second = (await staff.payout(case))["transfer"]
    await staff.succeeds(case.reference)
    await staff.process_queued_transfers()
    assert (await staff.payout(case))["openException"]["cause"] == "transfer_contradicted"
    await staff.succeeds(second["reference"])
    await staff.process_queued_transfers()
    assert len(await staff.scenario.published("payouts.payout_processed.v1")) > 0
    reconciliation = await staff.reconcile(case)
    assert (reconciliation["kind"], reconciliation["transferId"]) == ("recovery", second["id"])
    assert (await staff.scenario.wallet(case.vendor))["debtMinor"] == AMOUNT
    assert (await staff.prepare(case)).status_code == 409
    await staff.assert_ledger_matches_gateway(case)
    # The bank also returns the recovered one: the vendor no longer has it, and the recovery is returned.
    await staff.settle_at_gateway(second["reference"], "reverse")
    await staff.receive_webhook(second["reference"], TransferReversed)
    assert (await staff.payout(case))["openException"]["cause"] == "reversed"
    assert (await staff.reconcile(case))["kind"] == "reversal"
    wallet = await staff.scenario.wallet(case.vendor)
    assert (wallet["debtMinor"], wallet["availableMinor"], (await staff.payout(case))["openException"]) == (0, 0, None)
    await staff.assert_ledger_matches_gateway(case)


async def test_a_reset_repeated_under_its_key_makes_one_attempt(staff: Staff) -> None:
    case, key = await staff.failed(), uuid4()
    first = data_of(await staff.reset(case, key=key))
    again = data_of(await staff.reset(case, key=key))
    assert (again["id"], again["retryCount"]) == (first["id"], 1)
    assert error_of(await staff.reset(case, "another reason", key=key)) == INVALID
    assert error_of(await staff.reset(case, key=uuid4())) == CONFLICT


async def test_a_reconciliation_prepared_again_under_its_key_is_the_first_one(staff: Staff) -> None:
    case, key = await staff.failed(), uuid4()
    first = data_of(await staff.prepare(case, key=key), 201)
    assert data_of(await staff.prepare(case, key=key), 201) == first
    assert error_of(await staff.prepare(case, key=uuid4())) == CONFLICT
