"""A failed payout is sent again by itself after a back-off (contract section 8; specification, States)."""

import asyncio
from datetime import timedelta

import pytest

from contracts.identity import VendorReinstated, VendorSuspended
from contracts.payments import TransferFailed, TransferReversed, TransferSucceeded

from .returns_desk import AMOUNT, Desk
from .test_suspended_vendors import news as vendor_news

FIRST_WAIT = timedelta(seconds=60)


@pytest.fixture
def desk(shared_story, shared_sandbox):
    return Desk(shared_story, shared_sandbox)


async def rows(desk, case):
    return await desk.story.service.fetch(
        "SELECT p.status, p.retry_count, p.transfer_failure, t.attempt, t.reference, t.due_at FROM payout_requests AS p "
        "JOIN payout_transfers AS t ON t.payout_id = p.id WHERE p.id = $1 ORDER BY t.attempt",
        case.payout_id,
    )


async def test_a_reset_payout_is_sent_again_by_itself_under_a_new_reference_and_arrives(desk):
    case = await desk.failed()
    answer = await desk.reset(case, "  bank switch was down ")
    assert answer.status_code == 200, answer.text
    payout = answer.json()["data"]
    assert (payout["status"], payout["retryCount"], payout["transferFailure"]) == ("pending", 1, "bank switch was down")
    assert (payout["transfer"]["attempt"], payout["transfer"]["status"]) == (2, "reserved")
    assert payout["transferReference"] == payout["transfer"]["reference"] != case.reference
    assert payout["openException"] is None
    [act] = await desk.story.service.fetch("SELECT * FROM payout_acts WHERE payout_id = $1", case.payout_id)
    assert (act["act"], act["acted_by"], act["reason"]) == ("reset", desk.operator, "bank switch was down")

    await desk.timers()
    assert (await desk.payout(case))["transfer"]["status"] == "reserved"
    desk.story.clock.advance(FIRST_WAIT)
    await desk.timers()
    assert (await desk.payout(case))["transfer"]["status"] == "pending"
    await desk.succeeds(payout["transferReference"])
    assert (await desk.payout(case))["status"] == "processed"
    assert await desk.in_transit(case) == 0
    await desk.assert_books_agree_with_the_gateway(case)


async def test_each_further_reset_waits_twice_as_long_and_the_fourth_is_refused(desk):
    case = await desk.failed()
    for count, wait in ((1, FIRST_WAIT), (2, 2 * FIRST_WAIT), (3, 4 * FIRST_WAIT)):
        assert (await desk.reset(case)).json()["data"]["retryCount"] == count
        last = (await rows(desk, case))[-1]
        assert last["due_at"] - desk.story.clock.now() == wait
        desk.story.clock.advance(wait)
        await desk.timers()
        await desk.at_the_gateway(last["reference"], "fail")
    refused = await desk.reset(case)
    assert (refused.status_code, refused.json()["code"]) == (409, "CONCURRENCY_CONFLICT")
    assert "three times" in refused.json()["detail"]
    assert (await desk.reconcile(case))["kind"] == "restitution"
    await desk.assert_books_agree_with_the_gateway(case)


async def test_of_two_resets_at_once_one_takes_effect_and_a_repeated_one_is_refused(desk):
    case = await desk.failed()
    answers = await asyncio.gather(*(desk.reset(case) for _ in range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert (await desk.reset(case)).status_code == 409
    assert [row["attempt"] for row in await rows(desk, case)] == [1, 2]
    assert (await desk.payout(case))["retryCount"] == 1


async def on_its_way(desk):
    return await desk.dispatched()


async def failed_only_in_a_webhook(desk):
    case = await desk.dispatched()
    await desk.heard(case.reference, TransferFailed)
    return case


async def arrived_although_a_webhook_said_failed(desk):
    case = await failed_only_in_a_webhook(desk)
    await desk.at_the_gateway(case.reference, "succeed")
    return case


async def contradicted_since(desk):
    case = await desk.failed()
    await desk.heard(case.reference, TransferSucceeded, amount_minor=AMOUNT - 1)
    await desk.sandbox.faults(verify_call={"error_before": True})
    return case


async def processed(desk):
    case = await desk.dispatched()
    await desk.succeeds(case.reference)
    return case


async def reversed_before_it_arrived(desk):
    case = await desk.dispatched()
    await desk.at_the_gateway(case.reference, "reverse")
    await desk.heard(case.reference, TransferReversed)
    return case


async def reversed_after_it_arrived(desk):
    return await desk.reversed()


async def restituted(desk):
    case = await desk.failed()
    await desk.reconcile(case)
    return case


@pytest.mark.parametrize(
    ("situation", "status"),
    [
        (on_its_way, 409),
        (failed_only_in_a_webhook, 409),
        (arrived_although_a_webhook_said_failed, 409),
        (processed, 409),
        (reversed_before_it_arrived, 409),
        (reversed_after_it_arrived, 409),
        (restituted, 409),
        (contradicted_since, 503),
    ],
)
async def test_nothing_is_sent_again_unless_the_gateway_confirms_the_failure(desk, situation, status):
    case = await situation(desk)
    answer = await desk.reset(case)
    await desk.sandbox.faults(verify_call=None)
    assert answer.status_code == status, answer.text
    desk.story.clock.advance(4 * FIRST_WAIT)
    await desk.timers()
    assert await desk.sent(case) == [case.reference]
    [row] = await rows(desk, case)
    assert (row["retry_count"], row["reference"]) == (0, case.reference)
    assert (await desk.payout(case))["status"] in {"pending", "processed", "failed"}


async def test_a_payout_that_was_never_sent_is_not_reset(desk):
    vendor = await desk.story.ready_vendor(AMOUNT)
    payout_id = await desk.story.payout(vendor, AMOUNT)
    answer = await desk.post(f"/api/payouts/{payout_id}/reset", desk.operator, "ops_oncall", {"reason": "x"})
    assert (answer.status_code, "ever sent" in answer.json()["detail"]) == (409, True)


async def test_a_reset_is_guarded_in_the_order_of_the_contract(desk):
    case = await desk.failed()
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
        answer = await desk.post(knocked, desk.operator, role, body, stepped_up=stepped_up)
        assert (answer.status_code, answer.json()["code"]) == (status, code), (knocked, role, body)
    assert (await desk.payout(case))["retryCount"] == 0


async def test_a_retry_that_the_balance_does_not_cover_waits_and_people_hear_of_it(desk):
    case = await desk.failed()
    await desk.reset(case)
    drain = await desk.story.ready_vendor(2 * await desk.sandbox.balance_minor())
    big = await desk.story.payout(drain, await desk.sandbox.balance_minor())
    [sent] = (await desk.story.dispatch("1f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e", payoutIds=[big])).json()["data"][
        "transfers"
    ]
    desk.story.clock.advance(FIRST_WAIT)
    await desk.timers()
    waiting = await desk.payout(case)
    assert (waiting["transfer"]["status"], waiting["openException"]["cause"]) == ("reserved", "balance_insufficient")
    assert waiting["openException"]["severity"] == "SEV-1"
    await desk.at_the_gateway(sent["reference"], "fail")
    desk.story.clock.advance(timedelta(minutes=2))
    await desk.timers()
    await desk.succeeds((await desk.payout(case))["transferReference"])
    settled = await desk.payout(case)
    assert (settled["status"], settled["openException"]) == ("processed", None)


async def test_a_retry_is_held_while_its_vendor_is_suspended_and_says_so(desk):
    case = await desk.failed()
    await desk.reset(case)
    await desk.story.service.hear(vendor_news(VendorSuspended, case.vendor, reason="Complaints"))
    desk.story.clock.advance(FIRST_WAIT)
    sent = await desk.sent(case)
    await desk.timers()
    held = (await desk.payout(case))["transfer"]
    assert (held["status"], held["failure"]) == ("reserved", "vendor_suspended")
    assert await desk.sent(case) == sent
    await desk.story.service.hear(vendor_news(VendorReinstated, case.vendor))
    again = (await desk.story.dispatch("2f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e", payoutIds=[case.payout_id])).json()
    assert [line["reference"] for line in again["data"]["transfers"]] == [held["reference"]]
    await desk.succeeds(held["reference"])
    assert (await desk.payout(case))["status"] == "processed"


async def test_a_retry_to_an_account_that_is_no_longer_the_vendors_is_held_and_can_be_returned(desk):
    case = await desk.failed()
    await desk.reset(case)
    await desk.sandbox.name_account("058", "0123456789", case.vendor.legal_name)
    assert (await desk.story.put_bank_details(case.vendor, "0123456789")).json()["data"]["verified"] is True
    desk.story.clock.advance(FIRST_WAIT)
    await desk.timers()
    held = (await desk.payout(case))["transfer"]
    assert (held["status"], held["failure"]) == ("reserved", "bank_details_changed")
    assert (await desk.reconcile(case))["kind"] == "restitution"
    assert (await desk.story.wallet(case.vendor))["availableMinor"] == AMOUNT
    assert (await desk.payout(case))["transfer"]["status"] == "failed"


async def test_a_reset_attempt_that_arrives_after_all_completes_the_payout_and_its_successor_is_never_sent(desk):
    case = await desk.failed()
    await desk.reset(case)
    await desk.succeeds(case.reference)
    assert (await desk.payout(case))["status"] == "pending"
    await desk.questions()
    desk.story.clock.advance(FIRST_WAIT)
    sent = await desk.sent(case)
    await desk.timers()
    payout = await desk.payout(case)
    assert (payout["status"], payout["transfer"]["status"], payout["openException"]) == ("processed", "success", None)
    # What is shown of a payout is the attempt that paid it.
    assert payout["transfer"]["reference"] == payout["transferReference"] == case.reference
    assert payout["transfer"]["transferCode"] == payout["transferCode"]
    assert await desk.sent(case) == sent
    await desk.assert_books_agree_with_the_gateway(case)


async def test_when_both_attempts_arrive_the_second_is_an_exception_and_is_taken_back_by_two_people(desk):
    case = await desk.failed()
    await desk.reset(case)
    desk.story.clock.advance(FIRST_WAIT)
    await desk.timers()
    second = (await desk.payout(case))["transfer"]
    await desk.succeeds(case.reference)
    await desk.questions()
    assert (await desk.payout(case))["openException"]["cause"] == "unclassified"
    await desk.succeeds(second["reference"])
    await desk.questions()
    assert len(await desk.story.service.published("payouts.payout_processed.v1")) > 0
    reconciliation = await desk.reconcile(case)
    assert (reconciliation["kind"], reconciliation["transferId"]) == ("recovery", second["id"])
    assert (await desk.story.wallet(case.vendor))["debtMinor"] == AMOUNT
    assert (await desk.prepare(case)).status_code == 409
    await desk.assert_books_agree_with_the_gateway(case)
    # The bank sends the recovered one back as well: the vendor has it no longer, and what was taken for it is returned.
    await desk.at_the_gateway(second["reference"], "reverse")
    await desk.heard(second["reference"], TransferReversed)
    assert (await desk.payout(case))["openException"]["cause"] == "reversed"
    assert (await desk.reconcile(case))["kind"] == "reversal"
    wallet = await desk.story.wallet(case.vendor)
    assert (wallet["debtMinor"], wallet["availableMinor"], (await desk.payout(case))["openException"]) == (0, 0, None)
    await desk.assert_books_agree_with_the_gateway(case)
