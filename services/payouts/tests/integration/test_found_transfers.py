"""A restored database: transfers since its instant are found before anything is sent."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from common.primitives.ids import new_id
from common.process.service import run_command
from payouts.app import SERVICE
from payouts.domain.dispatch import LEASE
from payouts.domain.errors import GatewayUnavailable
from payouts.timers import compare_transfers_once, process_due_transfers_once
from payouts.use_cases.transfers.compare_transfers import compare_transfers
from testkit.responses import error_of
from testkit.sandbox import Sandbox

from .conftest import OPENING_BALANCE_MINOR, Scenario

KEY = UUID("6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e")
OTHER_KEY = UUID("7a1c0ad7-31a5-4a79-9e36-4c41b7cd5f0e")


async def put_back(scenario: Scenario):
    """Simulate a server with another history."""
    await scenario.fetch("UPDATE transfer_comparison SET place = 'another/00000001' RETURNING true")


async def compare(scenario: Scenario):
    dependencies = scenario.dependencies
    return await compare_transfers(
        dependencies.database, dependencies.gateways, dependencies.account_numbers, scenario.clock
    )


async def left(sandbox: Sandbox, amount_minor, reference=None, account_number="0123456785", bank_code="058"):
    """Send a transfer that the ledger does not have. Returns its reference."""
    body = {"type": "nuban", "name": "Ada Obi", "account_number": account_number, "bank_code": bank_code}
    made = await sandbox.client.post("/gateway/transferrecipient", json={**body, "currency": "NGN"})
    reference = reference or f"po-{new_id().hex}"
    order = {"source": "balance", "amount": amount_minor, "currency": "NGN", "reference": reference}
    code = made.json()["data"]["recipient_code"]
    sent = await sandbox.client.post("/gateway/transfer", json={**order, "recipient": code})
    assert sent.status_code == 200, sent.text
    return reference


async def test_nothing_is_sent_before_the_comparison_with_the_gateway(scenario: Scenario, immediate: Sandbox) -> None:
    vendor = await scenario.ready_vendor(100_000)
    payout_id = await scenario.payout(vendor, 10_000)
    await put_back(scenario)
    assert error_of(await scenario.dispatch(KEY)) == (503, "INTERNAL_ERROR")
    assert await immediate.transfers() == []
    dependencies = scenario.dependencies
    parts = (dependencies.database, dependencies.gateways, dependencies.account_numbers, scenario.clock)
    assert await compare_transfers_once(*parts) is True
    assert await compare_transfers_once(*parts) is False
    assert (await scenario.dispatch(KEY)).json()["data"]["submitted"] == 1
    assert (await scenario.read_payout(payout_id))["status"] == "processed"
    assert len(await immediate.transfers()) == 1


async def test_a_reserved_attempt_is_not_sent_before_the_comparison(scenario: Scenario, immediate: Sandbox) -> None:
    vendor = await scenario.ready_vendor(100_000)
    await scenario.payout(vendor, 10_000)
    await immediate.faults(transfer_call={"error_before": True, "times": 1})
    await scenario.dispatch(KEY)
    await put_back(scenario)
    dependencies = scenario.dependencies
    for _ in range(3):
        scenario.clock.advance(LEASE + timedelta(seconds=1))
        await process_due_transfers_once(dependencies.database, dependencies.gateways, scenario.clock)
    assert await immediate.transfers() == []
    assert (await compare(scenario)).is_complete
    scenario.clock.advance(LEASE + timedelta(seconds=1))
    await process_due_transfers_once(dependencies.database, dependencies.gateways, scenario.clock)
    assert len(await immediate.transfers()) == 1


async def test_a_found_transfer_becomes_the_attempt_of_its_waiting_payout(
    scenario: Scenario, immediate: Sandbox
) -> None:
    vendor = await scenario.ready_vendor(100_000)
    payout_id = await scenario.payout(vendor, 10_000)
    reference = await left(immediate, 10_000)
    await put_back(scenario)
    compared = await compare(scenario)
    assert (compared.recorded, compared.is_complete) == (1, True)
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transferReference"]) == ("processed", reference)
    assert (await scenario.dispatch(OTHER_KEY)).json()["data"]["submitted"] == 0
    assert len(await immediate.transfers()) == 1
    assert await scenario.balance("gateway_cash") == -10_000
    assert await scenario.balance("in_transit:%") == 0
    assert await immediate.balance_minor() == OPENING_BALANCE_MINOR - 10_000


async def test_an_unaccepted_attempt_is_not_sent_when_a_later_one_was_paid(
    scenario: Scenario, immediate: Sandbox
) -> None:
    vendor = await scenario.ready_vendor(100_000)
    payout_id = await scenario.payout(vendor, 10_000)
    await immediate.faults(transfer_call={"error_before": True, "times": 1})
    await scenario.dispatch(KEY)
    later = await left(immediate, 10_000)
    await put_back(scenario)
    assert (await compare(scenario)).recorded == 1
    dependencies = scenario.dependencies
    for _ in range(6):
        scenario.clock.advance(timedelta(hours=2))
        await scenario.work("payouts.transfers")
        await process_due_transfers_once(dependencies.database, dependencies.gateways, scenario.clock)
    payout = await scenario.read_payout(payout_id)
    assert (payout["status"], payout["transferReference"], payout["retryCount"]) == ("processed", later, 1)
    assert [transfer["reference"] for transfer in await immediate.transfers()] == [later]


async def test_a_lost_payout_is_recorded_again_and_its_shortfall_becomes_debt(
    scenario: Scenario, immediate: Sandbox
) -> None:
    vendor = await scenario.ready_vendor(5_000)
    await left(immediate, 8_000)
    await put_back(scenario)
    # Of two concurrent runs one records it; the second may find it locked, and is not complete then.
    at_once = await asyncio.gather(compare(scenario), compare(scenario))
    assert sum(compared.recorded for compared in at_once) == 1
    assert (await compare(scenario)).is_complete
    assert (await scenario.wallet(vendor))["availableMinor"] == 0
    assert await scenario.balance(f"vendor_debt:{vendor.id}") == 3_000
    assert await scenario.balance("gateway_cash") == -8_000
    assert await scenario.balance("in_transit:%") == 0
    await scenario.release(vendor, 4_000)
    assert (await scenario.wallet(vendor))["availableMinor"] == 1_000
    assert (await compare(scenario)).recorded == 0


async def test_an_unassigned_transfer_blocks_payouts_until_its_explanation(
    scenario: Scenario, immediate: Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    vendor = await scenario.ready_vendor(100_000)
    await scenario.payout(vendor, 10_000)
    foreign = await left(immediate, 7_000, account_number="0690123456", bank_code="044")
    by_hand = await left(immediate, 6_000, reference="by-hand-00000001")
    await left(immediate, 5_000, reference=f"re-{new_id().hex}")
    await put_back(scenario)
    for _ in range(2):
        compared = await compare(scenario)
        assert (compared.open, compared.is_complete) == (2, False)
    assert (await scenario.dispatch(KEY)).status_code == 503
    [alert] = await scenario.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["runbook"]) == ("SEV-1", "database-restore")
    commands = SERVICE.commands
    with pytest.raises(SystemExit):
        await commands["compare-transfers"](scenario.dependencies)
    assert foreign in capsys.readouterr().out
    for reference in (foreign, by_hand):
        await commands["explain-transfer"](scenario.dependencies, reference, "Paid by hand, ticket 7")
    with pytest.raises(SystemExit, match="no transfer"):
        await commands["explain-transfer"](scenario.dependencies, foreign, "Again")
    await commands["compare-transfers"](scenario.dependencies)
    assert len(await scenario.published("operations.alert_cleared.v1")) == 1
    assert (await scenario.dispatch(KEY)).json()["data"]["submitted"] == 1


async def test_a_command_ends_with_one_line_while_the_gateway_is_unavailable(
    scenario: Scenario, immediate: Sandbox
) -> None:
    await put_back(scenario)
    await immediate.faults(list_call={"error_before": True})
    with pytest.raises(SystemExit, match=r"^compare-transfers: The payment gateway is temporarily unavailable"):
        await run_command(SERVICE, scenario.dependencies, "compare-transfers", ())


async def test_an_unavailable_gateway_blocks_payouts_after_a_restore(scenario: Scenario, immediate: Sandbox) -> None:
    vendor = await scenario.ready_vendor(100_000)
    await scenario.payout(vendor, 10_000)
    await left(immediate, 10_000)
    await put_back(scenario)
    await immediate.faults(verify_call={"error_before": True, "times": 1})
    compared = await compare(scenario)
    assert (compared.recorded, compared.unsettled, compared.is_complete) == (1, 1, False)
    assert (await scenario.dispatch(KEY)).status_code == 503
    await scenario.work("payouts.transfers")
    scenario.clock.advance(timedelta(minutes=2))
    dependencies = scenario.dependencies
    await process_due_transfers_once(dependencies.database, dependencies.gateways, scenario.clock)
    assert (await compare(scenario)).is_complete
    assert len(await immediate.transfers()) == 1


async def test_an_incomplete_comparison_is_repeated_after_a_minute(scenario: Scenario, immediate: Sandbox) -> None:
    await put_back(scenario)
    dependencies = scenario.dependencies
    parts = (dependencies.database, dependencies.gateways, dependencies.account_numbers, scenario.clock)
    await immediate.faults(list_call={"error_before": True, "times": 1})
    with pytest.raises(GatewayUnavailable):
        await compare_transfers_once(*parts)
    scenario.clock.advance(timedelta(seconds=59))
    assert await compare_transfers_once(*parts) is False
    scenario.clock.advance(timedelta(seconds=1))
    assert await compare_transfers_once(*parts) is True


async def test_two_comparisons_overlap_by_a_day(scenario: Scenario, immediate: Sandbox) -> None:
    await scenario.payout(await scenario.ready_vendor(100_000), 10_000)
    await left(immediate, 10_000)
    for hours, found in ((25, 0), (23, 1)):
        until = datetime.now(UTC) + timedelta(hours=hours)
        await scenario.fetch("UPDATE transfer_comparison SET compared_until = $1 RETURNING true", until)
        assert (await compare(scenario)).recorded == found
