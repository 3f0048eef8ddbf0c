"""Payouts with the second gateway, Flutterwave, alone and together with the first one."""

from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import uuid4

import pytest

from common.primitives.clock import ManualClock
from contracts.payments import TransferFailed, TransferSucceeded
from payouts.domain.gateway_results import Absent, Reported, Unclear
from payouts.metrics import GATEWAY_BALANCE_TIME
from payouts.timers import (
    compare_transfers_once,
    list_gateways_in_use,
    observe_balances_once,
    refresh_banks_once,
)
from payouts.use_cases.transfers.pause_payouts import pause_payouts
from testkit.fixtures import DatabaseUrls
from testkit.responses import data_of
from testkit.sandbox import FLUTTERWAVE_KEY, Sandbox

from .conftest import Scenario, opened_payouts
from .staff import AMOUNT, Staff

CALLS = {"authorization": f"Bearer {FLUTTERWAVE_KEY}"}


@pytest.fixture
def open_with(urls: DatabaseUrls, broker_url: str, sandbox: Sandbox, clock: ManualClock):
    """`async with open_with(provider)`: the service on the test's database, with new transfers by this gateway."""

    @asynccontextmanager
    async def opened_with(provider, **changes):
        settings = {
            "gateway_provider": provider,
            "flutterwave_api_url": f"{sandbox.address}/flutterwave/v3",
            "flutterwave_secret_key": FLUTTERWAVE_KEY,
        }
        async with opened_payouts(urls, broker_url, sandbox, clock, **settings | changes) as running:
            yield Staff(Scenario(running, clock), sandbox)

    return opened_with


async def fund(sandbox: Sandbox, naira=10_000):
    """Make a payment at Flutterwave, whose money its transfers use."""
    body = {"tx_ref": f"order-{uuid4()}", "amount": naira, "redirect_url": "https://shop.example"}
    body["customer"] = {"email": "buyer@unilag.edu.ng"}
    opened_payment = await sandbox.client.post("/flutterwave/v3/payments", json=body, headers=CALLS)
    assert opened_payment.status_code == 200, opened_payment.text
    await sandbox.client.post(f"/control/charges/{body['tx_ref']}/pay", json={})


@pytest.fixture
async def staff(open_with, sandbox: Sandbox):
    await fund(sandbox)
    async with open_with("flutterwave") as running:
        yield running


async def attempt(staff, case):
    rows = await staff.scenario.fetch("SELECT * FROM payout_transfers WHERE reference = $1", case.reference)
    return dict(rows[0])


async def test_a_payout_is_sent_to_a_beneficiary_and_processed(staff) -> None:
    case = await staff.dispatched()
    sent = await attempt(staff, case)
    assert (sent["gateway"], sent["status"]) == ("flutterwave", "pending")
    assert sent["recipient_code"].startswith("flw:")
    await staff.succeeds(case.reference)
    assert (await staff.payout(case))["status"] == "processed"
    await staff.assert_ledger_matches_gateway(case)


async def test_the_fee_of_a_transfer_is_booked_with_its_success(staff, sandbox: Sandbox) -> None:
    await sandbox.configure(transfer_fees="standard")
    case = await staff.dispatched()
    await staff.settle_at_gateway(case.reference, "succeed")
    staff.scenario.clock.advance(timedelta(hours=1))
    await staff.run_timers()
    assert (await attempt(staff, case))["fee"] == 1_000


async def test_an_amount_with_kobo_arrives_exactly(staff, sandbox: Sandbox) -> None:
    vendor = await staff.scenario.ready_vendor(123_457)
    payout_id = await staff.scenario.payout(vendor, 123_457)
    [transfer] = (await staff.scenario.dispatch(uuid4(), payoutIds=[payout_id])).json()["data"]["transfers"]
    [movement] = (
        await sandbox.client.get("/control/book/movements", params={"reference": transfer["reference"]})
    ).json()
    assert (movement["amount_minor"], movement["gateway"]) == (-123_457, "flutterwave")


async def test_a_failed_transfer_has_the_banks_cause(staff) -> None:
    case = await staff.dispatched()
    await staff.settle_at_gateway(case.reference, "fail")
    await staff.receive_webhook(case.reference, TransferFailed, reason="DISBURSE FAILED: Account is dormant")
    await staff.process_queued_transfers()
    [exception] = await staff.scenario.fetch(
        "SELECT detail FROM payout_exceptions WHERE payout_id = $1", case.payout_id
    )
    assert exception["detail"].startswith("DISBURSE FAILED:")
    data_of(await staff.reset(case))
    staff.scenario.clock.advance(timedelta(minutes=1))
    await staff.run_timers()
    second = (await staff.payout(case))["transfer"]
    assert (second["attempt"], second["status"]) == (2, "pending")


async def test_a_failure_after_a_success_is_a_reversal(staff) -> None:
    case = await staff.dispatched()
    await staff.succeeds(case.reference)
    await staff.settle_at_gateway(case.reference, "reverse")
    await staff.receive_webhook(case.reference, TransferFailed, reason="DISBURSE FAILED: returned")
    await staff.process_queued_transfers()
    assert (await staff.payout(case))["status"] == "processed"
    data_of(await staff.prepare(case), 201)
    assert (await attempt(staff, case))["status"] == "reversed"
    await staff.reconcile(await staff_case_again(staff, case))
    assert await staff.returns(case) == ["reversal"]
    await staff.assert_ledger_matches_gateway(case)


async def staff_case_again(staff, case):
    """Return the case without its prepared reconciliation, which another user rejected."""
    rows = await staff.scenario.fetch("SELECT id FROM reconciliations WHERE payout_id = $1", case.payout_id)
    body = {"reason": "prepared twice"}
    data_of(await staff.post(f"/api/reconciliations/{rows[0]['id']}/reject", staff.checker, "finance_checker", body))
    return case


async def test_a_lost_response_is_resolved_by_its_reference(staff, sandbox: Sandbox) -> None:
    await sandbox.faults(transfer_call={"error_after": True, "times": 1})
    case = await staff.dispatched()
    assert (await attempt(staff, case))["status"] == "unknown"
    staff.scenario.clock.advance(timedelta(minutes=2))
    await staff.run_timers()
    assert (await attempt(staff, case))["status"] == "pending"
    assert (await attempt(staff, case))["submissions"] == 1
    listed = (await sandbox.client.get("/flutterwave/v3/transfers", headers=CALLS)).json()["data"]
    assert [row["reference"] for row in listed] == [case.reference]


async def test_only_an_empty_list_proves_that_a_reference_is_absent(staff, sandbox: Sandbox) -> None:
    gateway = staff.scenario.dependencies.gateway
    assert await gateway.verify("po-0") == Absent()
    case = await staff.dispatched()
    assert isinstance(await gateway.verify(case.reference), Reported)
    await sandbox.faults(verify_call={"error_before": True, "times": 1})
    assert isinstance(await gateway.verify("po-0"), Unclear)


async def test_attempts_are_settled_where_they_began_after_a_change_of_the_setting(open_with, sandbox: Sandbox) -> None:
    await fund(sandbox)
    async with open_with("flutterwave") as staff:
        first = await staff.dispatched()
    async with open_with("paystack") as staff:
        second = await staff.dispatched()
        assert [(await attempt(staff, case))["gateway"] for case in (first, second)] == ["flutterwave", "paystack"]
        for case in (first, second):
            await staff.settle_at_gateway(case.reference, "succeed")
        # Both are queried: no webhook arrives.
        staff.scenario.clock.advance(timedelta(hours=1))
        await staff.run_timers()
        for case in (first, second):
            assert (await staff.payout(case))["status"] == "processed"
            await staff.assert_ledger_matches_gateway(case)
        parts = staff.scenario.dependencies
        await compare_transfers_once(parts.database, parts.gateways, parts.account_numbers, parts.clock)
        assert await staff.scenario.fetch("SELECT FROM found_transfers") == []


async def test_a_failed_payout_is_sent_again_by_the_present_gateway(open_with, sandbox: Sandbox) -> None:
    await fund(sandbox)
    async with open_with("flutterwave") as staff:
        case = await staff.failed()
    async with open_with("paystack") as staff:
        data_of(await staff.reset(case))
        staff.scenario.clock.advance(timedelta(minutes=1))
        await staff.run_timers()
        rows = await staff.scenario.fetch(
            "SELECT gateway, status FROM payout_transfers WHERE payout_id = $1 ORDER BY attempt", case.payout_id
        )
        assert [tuple(row) for row in rows] == [("flutterwave", "failed"), ("paystack", "pending")]


async def test_a_key_that_is_rejected_pauses_this_gateway_alone(open_with, sandbox: Sandbox) -> None:
    await fund(sandbox)
    async with open_with("paystack") as staff:
        case = await staff.dispatched()
        await staff.settle_at_gateway(case.reference, "succeed")
    async with open_with("flutterwave", flutterwave_secret_key="FLWSECK-revoked") as staff:
        refused = await staff.scenario.dispatch(uuid4())
        assert refused.status_code == 503
        [alert] = await staff.scenario.published("operations.alert_raised.v1")
        assert "flutterwave" in alert["detail"]
        staff.scenario.clock.advance(timedelta(hours=1))
        await staff.run_timers()
        assert (await staff.payout(case))["status"] == "processed"


async def test_a_gateway_with_open_transfers_is_observed_after_a_change_of_the_setting(open_with, sandbox) -> None:
    await fund(sandbox)
    async with open_with("paystack") as staff:
        case = await staff.dispatched()
    async with open_with("flutterwave") as staff:
        parts = staff.scenario.dependencies
        used = await list_gateways_in_use(parts.database, parts.gateways)
        assert [gateway.name for gateway in used] == ["paystack", "flutterwave"]
        # A rejected key of the old gateway pauses its transfers, and is cleared although nothing new is sent there.
        await pause_payouts(parts.database, parts.clock, "paystack")
        assert await refresh_banks_once(parts.database, parts.gateways, parts.clock) == 2
        await observe_balances_once(parts.database, parts.gateways, parts.clock)
        [cleared] = await staff.scenario.published("operations.alert_cleared.v1")
        assert cleared["dedupKey"] == "payouts:gateway-key:paystack"
        for name in ("paystack", "flutterwave"):
            assert GATEWAY_BALANCE_TIME.labels(name)._value.get() == parts.clock.now().timestamp()
        await staff.settle_at_gateway(case.reference, "fail")
        for wait in (timedelta(hours=1), timedelta(days=1), timedelta(days=6)):
            assert len(await list_gateways_in_use(parts.database, parts.gateways)) == 2
            staff.scenario.clock.advance(wait)
            await staff.run_timers()
        used = await list_gateways_in_use(parts.database, parts.gateways)
        assert [gateway.name for gateway in used] == ["flutterwave"]
        await observe_balances_once(parts.database, parts.gateways, parts.clock)
        [published] = GATEWAY_BALANCE_TIME.collect()
        assert {sample.labels["gateway"] for sample in published.samples} == {"flutterwave"}


async def test_a_success_by_webhook_completes_the_payout(staff) -> None:
    case = await staff.dispatched()
    await staff.settle_at_gateway(case.reference, "succeed")
    await staff.receive_webhook(case.reference, TransferSucceeded, transfer_code="flw:1")
    assert (await staff.payout(case))["status"] == "processed"
    assert await staff.minor_sent_by_gateway(case) == AMOUNT
