"""Money that the ledger returned and the gateway reports as paid is held until two people decide
(contract section 8).
"""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from contracts.payments import TransferFailed, TransferSucceeded
from testkit.responses import CONFLICT, data_of, error_of
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .staff import AMOUNT, Case, Staff
from .steps import (
    DAILY,
    FIRST_WAIT,
    act_on_exception,
    list_exceptions,
    put_schedule,
    run_schedules,
    scheduled_payouts,
    skip_reason,
)


@pytest.fixture
def staff(scenario: Scenario, sandbox: Sandbox) -> Staff:
    return Staff(scenario, sandbox)


async def returned(staff: Staff, how: str) -> Case:
    """Return a payout whose amount two people have returned to the wallet."""
    case = await (staff.failed() if how == "restitution" else staff.reversed())
    assert (await staff.reconcile(case))["kind"] == how
    assert (await staff.scenario.wallet(case.vendor))["availableMinor"] == AMOUNT
    return case


async def money(staff: Staff, case: Case) -> tuple[int, int, int]:
    wallet = await staff.scenario.wallet(case.vendor)
    return wallet["availableMinor"], wallet["heldMinor"], wallet["debtMinor"]


async def contradicted(staff: Staff, case: Case) -> dict[str, Any]:
    """Return the open exception of a payout that may have been paid twice."""
    [exception] = await list_exceptions(staff.scenario, payoutId=case.payout_id, status="open")
    assert (exception["cause"], exception["severity"]) == ("transfer_contradicted", "SEV-1")
    return exception


@pytest.mark.parametrize("how", ["restitution", "reversal"])
async def test_a_success_after_a_return_is_held_at_once_and_stops_the_next_payout(staff: Staff, how: str) -> None:
    case = await returned(staff, how)
    assert (await put_schedule(staff.scenario, case.vendor, DAILY)).status_code == 200
    await staff.settle_at_gateway(case.reference, "succeed")
    await staff.receive_webhook(case.reference, TransferSucceeded)
    assert await money(staff, case) == (0, AMOUNT, 0)
    await contradicted(staff, case)
    newest = (await staff.scenario.statement(case.vendor))[0]
    assert (newest["kind"], newest["netMinor"], newest["payoutId"]) == ("hold", -AMOUNT, case.payout_id)

    await staff.scenario.release(case.vendor, AMOUNT)
    assert await skip_reason(staff.scenario, await staff.scenario.payout(case.vendor, 100)) == "transfer_contradicted"
    staff.scenario.clock.advance(timedelta(days=1))
    assert await run_schedules(staff.scenario) == 1
    [decided] = await scheduled_payouts(staff.scenario, case.vendor)
    assert (decided["outcome"], decided["reason"]) == ("skipped", "transfer_contradicted")
    # A repeated report and the response of the query hold nothing more.
    await staff.receive_webhook(case.reference, TransferSucceeded)
    await staff.process_queued_transfers()
    assert await money(staff, case) == (AMOUNT - 100, AMOUNT, 0)
    assert await staff.minor_sent_by_gateway(case) == AMOUNT


@pytest.mark.parametrize("how", ["restitution", "reversal"])
@pytest.mark.parametrize("days", [1, 7])
async def test_a_success_after_a_return_is_held_although_its_webhook_is_lost(staff: Staff, how: str, days: int) -> None:
    case = await returned(staff, how)
    if days == 7:
        staff.scenario.clock.advance(timedelta(days=1))
        await staff.run_timers()
    await staff.settle_at_gateway(case.reference, "succeed")
    staff.scenario.clock.advance(timedelta(days=days))
    await staff.run_timers()
    assert await money(staff, case) == (0, AMOUNT, 0)
    await contradicted(staff, case)
    assert (await staff.reconcile(case))["kind"] == "recovery"
    await staff.assert_ledger_matches_gateway(case)


async def test_a_success_after_a_return_is_posted_as_paid_by_two_users(staff: Staff) -> None:
    case = await returned(staff, "restitution")
    await staff.succeeds(case.reference)
    exception = await contradicted(staff, case)
    closed = await act_on_exception(staff.scenario, exception["id"], "close", evidence="it is fine")
    assert error_of(closed) == CONFLICT
    prepared = await staff.prepared(case)
    assert (prepared["kind"], prepared["postings"][0]["entries"]) == (
        "recovery",
        [
            {"account": "gateway_cash", "amountMinor": -AMOUNT},
            {"account": f"held:{case.vendor.id}", "amountMinor": AMOUNT},
        ],
    )
    assert (await staff.approve(prepared)).status_code == 200
    assert await money(staff, case) == (0, 0, 0)
    assert (await staff.payout(case))["openException"] is None
    lines = await staff.scenario.statement(case.vendor)
    assert [(line["kind"], line["netMinor"]) for line in lines[:3]] == [
        ("recovery", -AMOUNT),
        ("hold_released", AMOUNT),
        ("hold", -AMOUNT),
    ]
    # The recorded payment is reported again: nothing follows.
    await staff.receive_webhook(case.reference, TransferSucceeded)
    await staff.process_queued_transfers()
    assert (await staff.payout(case))["openException"] is None
    await staff.scenario.release(case.vendor, AMOUNT)
    assert await skip_reason(staff.scenario, await staff.scenario.payout(case.vendor, AMOUNT)) is None
    await staff.assert_ledger_matches_gateway(case)


async def test_a_success_that_the_gateway_does_not_confirm_is_released_by_two_users(staff: Staff) -> None:
    case = await returned(staff, "restitution")
    await staff.receive_webhook(case.reference, TransferSucceeded)
    assert await money(staff, case) == (0, AMOUNT, 0)
    await staff.process_queued_transfers()
    # One response of the gateway alone moves no money.
    assert await money(staff, case) == (0, AMOUNT, 0)
    await contradicted(staff, case)
    prepared = await staff.prepared(case)
    assert (prepared["kind"], prepared["postings"][0]["type"]) == ("hold_released", "hold_released")
    assert (await staff.approve(prepared)).status_code == 200
    assert await money(staff, case) == (AMOUNT, 0, 0)
    assert (await staff.payout(case))["openException"] is None
    assert await skip_reason(staff.scenario, await staff.scenario.payout(case.vendor, AMOUNT)) is None
    await staff.assert_ledger_matches_gateway(case)

    # It is held once more, and released once more.
    await staff.receive_webhook(case.reference, TransferSucceeded)
    assert await money(staff, case) == (0, AMOUNT, AMOUNT)
    assert (await staff.reconcile(case))["kind"] == "hold_released"
    assert await money(staff, case) == (0, 0, 0)
    assert await staff.findings(case) == []


async def test_a_success_becomes_debt_where_the_returned_money_was_spent(staff: Staff) -> None:
    case = await returned(staff, "restitution")
    assert await skip_reason(staff.scenario, await staff.scenario.payout(case.vendor, AMOUNT)) is None
    await staff.succeeds(case.reference)
    assert await money(staff, case) == (0, AMOUNT, AMOUNT)
    await staff.scenario.release(case.vendor, AMOUNT + 500)
    assert await money(staff, case) == (500, AMOUNT, 0)
    waiting = await staff.scenario.payout(case.vendor, 500)
    assert await skip_reason(staff.scenario, waiting) == "transfer_contradicted"
    assert (await staff.reconcile(case))["kind"] == "recovery"
    assert await money(staff, case) == (0, 0, 0)
    assert (await staff.scenario.dispatch(uuid4(), payoutIds=[waiting])).json()["data"]["skipped"] == []
    await staff.assert_ledger_matches_gateway(case)


@pytest.mark.parametrize("first_is_last", [False, True])
async def test_two_paid_attempts_of_a_reset_payout_hold_the_second_amount(staff: Staff, first_is_last: bool) -> None:
    case = await staff.failed()
    await staff.reset(case)
    staff.scenario.clock.advance(FIRST_WAIT)
    await staff.run_timers()
    second = (await staff.payout(case))["transfer"]["reference"]
    references = [second, case.reference] if first_is_last else [case.reference, second]
    for reference in references:
        await staff.succeeds(reference)
        await staff.process_queued_transfers()
    assert await money(staff, case) == (0, AMOUNT, AMOUNT)
    await contradicted(staff, case)
    assert (await staff.reconcile(case))["kind"] == "recovery"
    assert await money(staff, case) == (0, 0, AMOUNT)
    assert (await staff.prepare(case)).status_code == 409
    await staff.assert_ledger_matches_gateway(case)


async def test_an_attempt_under_way_is_held_while_an_earlier_one_is_reported_as_paid(staff: Staff) -> None:
    case = await staff.failed()
    await staff.reset(case)
    staff.scenario.clock.advance(FIRST_WAIT)
    await staff.run_timers()
    second = (await staff.payout(case))["transfer"]["reference"]
    await staff.succeeds(case.reference)
    assert await money(staff, case) == (0, AMOUNT, AMOUNT)
    await staff.process_queued_transfers()
    assert (await staff.payout(case))["status"] == "processed"
    assert error_of(await staff.prepare(case)) == CONFLICT, "the second one may still pay"
    await staff.settle_at_gateway(second, "fail")
    await staff.receive_webhook(second, TransferFailed)
    await contradicted(staff, case)
    assert (await staff.reconcile(case))["kind"] == "hold_released"
    assert await money(staff, case) == (0, 0, 0)
    assert (await staff.payout(case))["openException"] is None
    await staff.assert_ledger_matches_gateway(case)


async def test_a_success_of_another_amount_is_held_too(staff: Staff) -> None:
    case = await returned(staff, "restitution")
    await staff.receive_webhook(case.reference, TransferSucceeded, amount_minor=AMOUNT - 1)
    assert await money(staff, case) == (0, AMOUNT, 0)
    await staff.process_queued_transfers()
    assert (await staff.reconcile(case))["kind"] == "hold_released"


async def test_a_hold_is_visible_to_finance_and_its_vendor(staff: Staff) -> None:
    case = await returned(staff, "restitution")
    await staff.succeeds(case.reference)
    shown = data_of(await staff.get(f"/api/vendors/{case.vendor.id}/wallet"))
    assert shown["heldMinor"] == AMOUNT
