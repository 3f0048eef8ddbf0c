import asyncio

import pytest

from contracts.payments import TransferFailed, TransferReversed, TransferSucceeded
from payouts.domain.errors import TransferNotRecorded
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .staff import AMOUNT
from .steps import transfer_event

KEY = "6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e"


@pytest.fixture
async def sent(scenario: Scenario):
    """Return the id and the reference of a payout under way."""
    vendor = await scenario.ready_vendor(100_000)
    payout_id = await scenario.payout(vendor, AMOUNT)
    [transfer] = (await scenario.dispatch(KEY)).json()["data"]["transfers"]
    assert transfer["status"] == "pending"
    return payout_id, transfer["reference"]


async def exceptions(scenario: Scenario):
    headers = scenario.headers(scenario.operator_id, roles=("ops_oncall",))
    return (await scenario.client.get("/api/payout-exceptions", headers=headers)).json()["data"]


async def assert_paid_once(scenario: Scenario, payout_id):
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"]) == ("processed", "success")
    assert await scenario.balance(f"in_transit:{payout_id}") == 0
    assert await scenario.balance("gateway_cash") == -AMOUNT
    assert len(await scenario.published("payouts.payout_processed.v1")) == 1


async def assert_still_in_transit(scenario: Scenario, payout_id):
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transfer"]["status"]) == ("pending", "pending")
    assert -await scenario.balance(f"in_transit:{payout_id}") == AMOUNT
    assert await scenario.balance("gateway_cash") == 0


async def test_a_repeated_success_completes_the_payout_once(scenario: Scenario, sent) -> None:
    payout_id, reference = sent
    received = await scenario.receive(transfer_event(TransferSucceeded, reference))
    await scenario.receive(transfer_event(TransferSucceeded, reference), event_id=received.event_id)
    await asyncio.gather(
        *(scenario.receive(transfer_event(TransferSucceeded, reference), sequence=9) for _ in range(6))
    )
    await assert_paid_once(scenario, payout_id)
    assert await exceptions(scenario) == []
    assert (await scenario.read_payout(payout_id))["transferCode"] is not None


@pytest.mark.parametrize("event", [TransferFailed, TransferReversed])
async def test_a_failure_webhook_opens_one_exception_and_changes_no_row(scenario: Scenario, sent, event) -> None:
    payout_id, reference = sent
    rows = "SELECT p.*, t.* FROM payout_requests AS p JOIN payout_transfers AS t ON t.payout_id = p.id"
    before = await scenario.fetch(rows)
    await asyncio.gather(*(scenario.receive(transfer_event(event, reference), sequence=9) for _ in range(6)))
    assert await scenario.fetch(rows) == before
    await assert_still_in_transit(scenario, payout_id)
    [exception] = await exceptions(scenario)
    assert (exception["payoutId"], exception["severity"], exception["status"]) == (payout_id, "SEV-3", "open")
    assert exception["cause"] == ("reversed" if event is TransferReversed else "account_number_invalid")
    assert exception["respondBy"] == "2026-01-01T04:00:00.000Z"
    assert (await scenario.read_payout(payout_id))["openException"]["id"] == exception["id"]
    [alert] = await scenario.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["subject"]) == ("SEV-3", payout_id)
    [delayed] = await scenario.published("payouts.payout_delayed.v1")
    assert (delayed["payoutId"], delayed["cause"]) == (payout_id, exception["cause"])
    [opened] = await scenario.published("payouts.exception_opened.v1")
    assert opened["exceptionId"] == exception["id"]


async def test_a_reversal_after_success_is_no_stale_event(scenario: Scenario, sent) -> None:
    payout_id, reference = sent
    await scenario.receive(transfer_event(TransferSucceeded, reference))
    await scenario.receive(transfer_event(TransferReversed, reference))
    await assert_paid_once(scenario, payout_id)
    [exception] = await exceptions(scenario)
    assert exception["cause"] == "reversed"


async def test_a_success_after_a_reversal_completes_and_keeps_the_exception(scenario: Scenario, sent) -> None:
    payout_id, reference = sent
    await scenario.receive(transfer_event(TransferReversed, reference))
    await scenario.receive(transfer_event(TransferSucceeded, reference))
    await scenario.receive(transfer_event(TransferReversed, reference))
    await assert_paid_once(scenario, payout_id)
    [exception] = await exceptions(scenario)
    assert (exception["cause"], exception["status"]) == ("reversed", "open")


async def test_a_failure_after_a_success_opens_an_exception_and_a_query(
    scenario: Scenario, sent, sandbox: Sandbox
) -> None:
    payout_id, reference = sent
    await sandbox.settle_transfer(reference, "succeed")
    await scenario.receive(transfer_event(TransferSucceeded, reference))
    await scenario.receive(transfer_event(TransferFailed, reference))
    [exception] = await exceptions(scenario)
    assert exception["cause"] == "unclassified"
    assert await scenario.work("payouts.transfers") == 1
    await assert_paid_once(scenario, payout_id)


async def test_a_success_after_a_failure_counts_once_a_query_confirms_it(
    scenario: Scenario, sent, sandbox: Sandbox
) -> None:
    payout_id, reference = sent
    await scenario.receive(transfer_event(TransferFailed, reference))
    await scenario.receive(transfer_event(TransferSucceeded, reference))
    await assert_still_in_transit(scenario, payout_id)
    await sandbox.settle_transfer(reference, "succeed")
    await scenario.work("payouts.transfers")
    await assert_paid_once(scenario, payout_id)
    [exception] = await exceptions(scenario)
    assert exception["status"] == "closed"
    assert len(await scenario.published("payouts.exception_closed.v1")) == 1


@pytest.mark.parametrize("changes", [{"amount_minor": AMOUNT - 1}, {"currency": "GHS"}])
async def test_a_success_over_another_amount_completes_nothing(scenario: Scenario, sent, changes) -> None:
    payout_id, reference = sent
    await scenario.receive(transfer_event(TransferSucceeded, reference, **changes))
    await assert_still_in_transit(scenario, payout_id)
    assert len(await exceptions(scenario)) == 1


async def test_an_event_of_an_unrecorded_transfer_is_retried(scenario: Scenario, sent) -> None:
    with pytest.raises(TransferNotRecorded):
        await scenario.receive(transfer_event(TransferSucceeded, "po-" + "0" * 32))
    assert await scenario.fetch("SELECT id FROM transfer_observations WHERE update_source = 'webhook'") == []


async def test_observations_are_append_only(scenario: Scenario, sent) -> None:
    _, reference = sent
    for event in (TransferSucceeded, TransferSucceeded, TransferReversed, TransferFailed):
        await scenario.receive(transfer_event(event, reference))
    rows = await scenario.fetch("SELECT update_source, status, verdict FROM transfer_observations ORDER BY position")
    assert [tuple(row) for row in rows] == [
        ("call", "pending", "advanced"),
        ("webhook", "success", "advanced"),
        ("webhook", "success", "repeated"),
        ("webhook", "reversed", "advanced"),
        ("webhook", "failed", "stale"),
    ]
    import asyncpg

    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await scenario.fetch("UPDATE transfer_observations SET status = 'success'")


async def test_a_large_payouts_exception_is_due_within_the_hour(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(30_000_000)
    payout_id = await scenario.payout(vendor, 20_000_001)
    [transfer] = (await scenario.dispatch(KEY)).json()["data"]["transfers"]
    await scenario.receive(transfer_event(TransferFailed, transfer["reference"], amount_minor=20_000_001))
    [exception] = await exceptions(scenario)
    assert (exception["payoutId"], exception["severity"]) == (payout_id, "SEV-2")
    assert exception["respondBy"] == "2026-01-01T01:00:00.000Z"


async def test_only_permitted_roles_read_exceptions(scenario: Scenario, sent) -> None:
    _, reference = sent
    await scenario.receive(transfer_event(TransferFailed, reference))
    [exception] = await exceptions(scenario)
    path = f"/api/payout-exceptions/{exception['id']}"

    async def status(roles, path=path):
        headers = scenario.headers(scenario.operator_id, roles=roles)
        return (await scenario.client.get(path, headers=headers)).status_code

    for role in ("finance_maker", "finance_checker", "ops_oncall", "auditor"):
        assert await status((role,)) == 200
    assert await status(("buyer", "merchant")) == 403
    assert await status(("auditor",), f"/api/payout-exceptions/{reference}") == 404
    assert await status(("auditor",), "/api/payout-exceptions?sort=severity&order=desc&status=open") == 200
    assert await status(("auditor",), "/api/payout-exceptions?status=lost") == 422
