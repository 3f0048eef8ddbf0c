"""Calls of the gateway without a response, with a late one or with a rejection."""

from collections.abc import Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from common.primitives.ids import new_id
from contracts.payments import TransferFailed, TransferReversed, TransferSucceeded
from payouts.domain.dispatch import LOST_CALL
from payouts.use_cases.transfers.dispatch_payouts import Alone, DispatchOrder, dispatch_payouts
from testkit.sandbox import Sandbox

from .conftest import GATEWAY_SECONDS_MAX, OPENING_BALANCE_MINOR, Scenario
from .dispatch_steps import (
    EVERYTHING,
    KEY,
    OTHER_KEY,
    LateTransport,
    approve_run,
    assert_paid_once,
    gateways_over,
    maker,
    prepare_run,
    recover,
)
from .staff import Staff
from .steps import run_worker_once


@pytest.mark.parametrize("fault", [{"timeout": True}, {"error_after": True}])
async def test_a_call_without_a_response_is_unknown_until_a_query(
    scenario: Scenario, immediate: Sandbox, limit_gateway_timeout: Callable[[float], None], fault: dict[str, Any]
) -> None:
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await immediate.faults(transfer_call={**fault, "times": 1})
    limit_gateway_timeout(3)
    [transfer] = (await scenario.dispatch(KEY)).json()["data"]["transfers"]
    assert transfer["status"] == "unknown"
    assert (await scenario.read_payout(payout_id))["status"] == "pending"
    limit_gateway_timeout(GATEWAY_SECONDS_MAX)
    assert await scenario.work("payouts.transfers") == 1
    await assert_paid_once(scenario, immediate, payout_id, 1_000)


async def test_an_unaccepted_transfer_is_sent_again_under_its_reference(scenario: Scenario, immediate: Sandbox) -> None:
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await immediate.faults(transfer_call={"error_before": True, "times": 1})
    [transfer] = (await scenario.dispatch(KEY)).json()["data"]["transfers"]
    assert transfer["status"] == "unknown"
    assert await immediate.transfers() == []
    await scenario.work("payouts.transfers")
    await assert_paid_once(scenario, immediate, payout_id, 1_000)
    assert (await immediate.transfers())[0]["reference"] == transfer["reference"]


async def test_failing_queries_open_an_exception(scenario: Scenario, immediate: Sandbox) -> None:
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    await immediate.faults(transfer_call={"error_after": True, "times": 1}, verify_call={"error_before": True})
    await scenario.dispatch(KEY)
    await recover(scenario)
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"]) == ("pending", "unknown")
    assert (payout["openException"]["cause"], payout["openException"]["severity"]) == ("timeout", "SEV-1")
    await immediate.faults(verify_call=None)
    scenario.clock.advance(timedelta(hours=1))
    await recover(scenario)
    await assert_paid_once(scenario, immediate, payout_id, 1_000)
    assert (await scenario.read_payout(payout_id))["openException"] is None


@asynccontextmanager
async def called_late(scenario: Scenario):
    """Return a payout whose call is still under way to the gateway."""
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    async with httpx.AsyncHTTPTransport() as inner:
        late = LateTransport(inner)
        database = scenario.database
        await dispatch_payouts(
            database, gateways_over(scenario, late), scenario.clock, maker(scenario), KEY, EVERYTHING
        )
        assert (await scenario.read_payout(payout_id))["transfer"]["status"] == "unknown"
        yield vendor, payout_id, late


@pytest.mark.parametrize("arrives", [True, False])
async def test_changed_details_fail_no_call_that_may_still_arrive(
    scenario: Scenario, sandbox: Sandbox, arrives: bool
) -> None:
    async with called_late(scenario) as (vendor, payout_id, late):
        await sandbox.name_account("044", "1234567890", vendor.legal_name)
        assert (await scenario.put_bank_details(vendor, "1234567890", "044")).json()["data"]["verified"] is True
        await scenario.work("payouts.transfers")
        scenario.clock.advance(timedelta(minutes=14))
        await run_worker_once(scenario)
        payout = await scenario.read_payout(payout_id)
        assert (payout["status"], payout["transfer"]["status"]) == ("pending", "unknown")
        assert (await reset(scenario, payout_id)).status_code == 409
        assert await sandbox.transfers() == []
        if arrives:
            assert await late.arrive() == 200
    scenario.clock.advance(timedelta(minutes=2))
    await run_worker_once(scenario)
    payout = await scenario.read_payout(payout_id)
    assert payout["status"] == "pending"
    if arrives:
        assert payout["transfer"]["status"] == "pending"
        await sandbox.settle_transfer(payout["transferReference"], "succeed")
        scenario.clock.advance(timedelta(hours=1))
        await run_worker_once(scenario)
        await assert_paid_once(scenario, sandbox, payout_id, 1_000)
    else:
        assert payout["transfer"]["status"] == "failed"
        assert (payout["openException"]["cause"], payout["openException"]["severity"]) == (
            "bank_details_changed",
            "SEV-3",
        )
        assert (await reset(scenario, payout_id)).status_code == 200


@pytest.mark.parametrize("arrives", [True, False])
async def test_a_rejection_does_not_count_while_an_earlier_call_may_still_arrive(
    scenario: Scenario, immediate: Sandbox, arrives: bool
) -> None:
    async with called_late(scenario) as (_, payout_id, late):
        gateways = gateways_over(scenario, late)
        scenario.clock.advance(timedelta(seconds=20))
        await run_worker_once(scenario, gateways)
        payout = await scenario.read_payout(payout_id)
        assert (payout["transfer"]["status"], payout["openException"]) == ("unknown", None)
        assert payout["transfer"]["failure"].startswith("refused, and an earlier call may still arrive")
        if arrives:
            assert await late.arrive() == 200
        scenario.clock.advance(LOST_CALL)
        await run_worker_once(scenario, gateways)
    if arrives:
        await assert_paid_once(scenario, immediate, payout_id, 1_000)
    else:
        payout = await scenario.read_payout(payout_id)
        assert (payout["transfer"]["status"], payout["openException"]["cause"]) == ("failed", "account_number_invalid")


async def reset(scenario: Scenario, payout_id):
    headers = scenario.headers(new_id(), roles=("ops_oncall",), stepped_up=True)
    path = f"/api/payouts/{payout_id}/reset"
    return await scenario.client.post(path, json={"reason": "no answer"}, headers=headers)


async def test_a_definite_rejection_fails_the_attempt_and_returns_nothing(scenario: Scenario, sandbox: Sandbox) -> None:
    """The balance shrinks between the query and the transfer: two batches fit alone, and not together."""
    vendor = await scenario.ready_vendor(2 * OPENING_BALANCE_MINOR)
    first, second = [await scenario.payout(vendor, OPENING_BALANCE_MINOR - 10_000) for _ in range(2)]

    staff = Staff(scenario, sandbox)
    preview = await prepare_run(staff, payoutIds=[first])

    class Later(httpx.AsyncBaseTransport):
        def __init__(self, inner):
            self.inner = inner

        async def handle_async_request(self, request):
            response = await self.inner.handle_async_request(request)
            if request.url.path.endswith("/balance"):
                await response.aread()
                assert (await approve_run(staff, preview)).json()["data"]["submitted"] == 1
            return response

    dependencies = scenario.dependencies
    async with httpx.AsyncHTTPTransport() as inner:
        gateways = gateways_over(scenario, Later(inner))
        order = DispatchOrder((UUID(second),), None, False, Alone(OPENING_BALANCE_MINOR))
        response = await dispatch_payouts(
            dependencies.database, gateways, scenario.clock, maker(scenario), OTHER_KEY, order
        )
    assert (response["submitted"], response["transfers"][0]["status"]) == (0, "failed")
    payout = await scenario.read_payout(second)
    assert (payout["status"], payout["transfer"]["status"]) == ("pending", "failed")
    assert payout["openException"]["cause"] == "balance_insufficient"
    assert -await scenario.balance(f"in_transit:{second}") == OPENING_BALANCE_MINOR - 10_000
    await recover(scenario)
    assert len(await sandbox.transfers()) == 1


class WebhookFirst(httpx.AsyncBaseTransport):
    """The real network, with the gateway's webhook about a transfer before the response to its call."""

    def __init__(self, inner: httpx.AsyncBaseTransport, scenario: Scenario, payout_id: UUID, event: Any) -> None:
        self.inner, self.scenario, self.payout_id, self.event = inner, scenario, payout_id, event

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self.inner.handle_async_request(request)
        if request.method == "POST" and request.url.path.endswith("/transfer"):
            await response.aread()
            await self.scenario.receive(
                self.event(
                    reference=(await self.scenario.read_payout(self.payout_id))["transferReference"],
                    transfer_code="TRF_1",
                    amount_minor=1_000,
                    currency="NGN",
                    status="ended",
                    gateway_event_id="1",
                    occurred_at="2026-01-01T00:00:00.000Z",
                )
            )
        return response


async def dispatch_after_webhook(scenario: Scenario, event: Any) -> UUID:
    """Dispatch a payout whose webhook arrives before the response, and return its id."""
    vendor = await scenario.ready_vendor(10_000)
    payout_id = await scenario.payout(vendor, 1_000)
    async with httpx.AsyncHTTPTransport() as inner:
        gateways = gateways_over(scenario, WebhookFirst(inner, scenario, payout_id, event))
        await dispatch_payouts(scenario.database, gateways, scenario.clock, maker(scenario), KEY, EVERYTHING)
    return payout_id


async def test_a_success_webhook_before_the_calls_response_is_accepted(scenario: Scenario, immediate: Sandbox) -> None:
    payout_id = await dispatch_after_webhook(scenario, TransferSucceeded)
    await assert_paid_once(scenario, immediate, payout_id, 1_000)


@pytest.mark.parametrize(
    ("event", "settlement", "verdict"),
    [
        (TransferSucceeded, "manual", "stale"),
        (TransferFailed, "immediate", "contradiction"),
        (TransferReversed, "immediate", "late_success"),
    ],
)
async def test_a_response_after_the_end_is_compared_with_it_until_a_query_decides(
    scenario: Scenario, sandbox: Sandbox, event: Any, settlement: str, verdict: str
) -> None:
    """Neither of two different ends, by webhook and by response, counts before a query."""
    await sandbox.configure(transfer_settlement=settlement)
    payout_id = await dispatch_after_webhook(scenario, event)
    reports = await scenario.fetch("SELECT verdict FROM transfer_observations WHERE update_source = 'call'")
    assert [row["verdict"] for row in reports] == [verdict]
    await sandbox.client.post(
        f"/control/transfers/{(await scenario.read_payout(payout_id))['transferReference']}/succeed", json={}
    )
    scenario.clock.advance(timedelta(hours=1))
    await run_worker_once(scenario)
    await scenario.work("payouts.transfers")
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"]) == ("processed", "success")
    await assert_paid_once(scenario, sandbox, payout_id, 1_000)
