"""A database that was put back at an earlier instant: what left the gateway since is found before anything is sent."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from common.primitives.ids import new_id
from payouts.app import SERVICE
from payouts.domain.dispatch import LEASE
from payouts.timers import claim_due_transfers, compare_when_due
from payouts.use_cases.transfers.compare_transfers import compare_transfers

from .conftest import OPENING_BALANCE_MINOR

KEY = UUID("6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e")
OTHER_KEY = UUID("7a1c0ad7-31a5-4a79-9e36-4c41b7cd5f0e")


@pytest.fixture
async def immediate(sandbox):
    """Transfers that succeed in the answer to the call."""
    await sandbox.settings_are(transfer_settlement="immediate")
    return sandbox


async def put_back(story):
    """As the books find themselves on a server whose history is another one."""
    await story.service.fetch("UPDATE transfer_comparison SET place = 'another/00000001' RETURNING true")


async def compare(story):
    dependencies = story.service.dependencies
    return await compare_transfers(
        dependencies.database, dependencies.gateway, dependencies.account_numbers, story.clock
    )


async def left(sandbox, amount_minor, reference=None, account_number="0123456785", bank_code="058"):
    """A transfer that the books of before the instant know nothing of; its reference."""
    body = {"type": "nuban", "name": "Ada Obi", "account_number": account_number, "bank_code": bank_code}
    made = await sandbox.client.post("/gateway/transferrecipient", json={**body, "currency": "NGN"})
    reference = reference or f"po-{new_id().hex}"
    order = {"source": "balance", "amount": amount_minor, "currency": "NGN", "reference": reference}
    code = made.json()["data"]["recipient_code"]
    sent = await sandbox.client.post("/gateway/transfer", json={**order, "recipient": code})
    assert sent.status_code == 200, sent.text
    return reference


async def test_nothing_is_sent_until_the_gateways_list_was_compared(story, immediate):
    vendor = await story.ready_vendor(100_000)
    payout_id = await story.payout(vendor, 10_000)
    await put_back(story)
    refused = await story.dispatch(KEY)
    assert (refused.status_code, refused.json()["code"]) == (503, "INTERNAL_ERROR")
    assert await immediate.transfers() == []
    dependencies = story.service.dependencies
    parts = (dependencies.database, dependencies.gateway, dependencies.account_numbers, story.clock)
    assert await compare_when_due(*parts) is True
    assert await compare_when_due(*parts) is False
    assert (await story.dispatch(KEY)).json()["data"]["submitted"] == 1
    assert (await story.read_payout(payout_id))["status"] == "processed"
    assert len(await immediate.transfers()) == 1


async def test_an_attempt_that_was_written_down_is_not_sent_before_the_comparison_either(story, immediate):
    vendor = await story.ready_vendor(100_000)
    await story.payout(vendor, 10_000)
    await immediate.faults(transfer_call={"error_before": True, "times": 1})
    await story.dispatch(KEY)
    await put_back(story)
    dependencies = story.service.dependencies
    for _ in range(3):
        story.clock.advance(LEASE + timedelta(seconds=1))
        await claim_due_transfers(dependencies.database, dependencies.gateway, story.clock)
    assert await immediate.transfers() == []
    assert (await compare(story)).is_complete
    story.clock.advance(LEASE + timedelta(seconds=1))
    await claim_due_transfers(dependencies.database, dependencies.gateway, story.clock)
    assert len(await immediate.transfers()) == 1


async def test_a_transfer_that_left_since_is_the_waiting_payouts_own_and_none_is_sent_again(story, immediate):
    vendor = await story.ready_vendor(100_000)
    payout_id = await story.payout(vendor, 10_000)
    reference = await left(immediate, 10_000)
    await put_back(story)
    compared = await compare(story)
    assert (compared.taken, compared.is_complete) == (1, True)
    payout = await story.read_payout(payout_id)
    assert (payout["status"], payout["transferReference"]) == ("processed", reference)
    assert (await story.dispatch(OTHER_KEY)).json()["data"]["submitted"] == 0
    assert len(await immediate.transfers()) == 1
    assert await story.balance("gateway_cash") == -10_000
    assert await story.balance("in_transit:%") == 0
    assert await immediate.balance_minor() == OPENING_BALANCE_MINOR - 10_000


async def test_an_attempt_that_never_arrived_is_not_sent_when_the_payout_left_by_a_later_one(story, immediate):
    vendor = await story.ready_vendor(100_000)
    payout_id = await story.payout(vendor, 10_000)
    await immediate.faults(transfer_call={"error_before": True, "times": 1})
    await story.dispatch(KEY)
    later = await left(immediate, 10_000)
    await put_back(story)
    assert (await compare(story)).taken == 1
    dependencies = story.service.dependencies
    for _ in range(6):
        story.clock.advance(timedelta(hours=2))
        await story.service.work("payouts.transfers")
        await claim_due_transfers(dependencies.database, dependencies.gateway, story.clock)
    payout = await story.read_payout(payout_id)
    assert (payout["status"], payout["transferReference"], payout["retryCount"]) == ("processed", later, 1)
    assert [transfer["reference"] for transfer in await immediate.transfers()] == [later]


async def test_a_payout_asked_for_since_is_written_down_again_and_what_the_wallet_lacks_is_owed(story, immediate):
    vendor = await story.ready_vendor(5_000)
    await left(immediate, 8_000)
    await put_back(story)
    # Of two at once one takes it in; whichever comes second may find it in hand, and is not complete then.
    at_once = await asyncio.gather(compare(story), compare(story))
    assert sum(compared.taken for compared in at_once) == 1
    assert (await compare(story)).is_complete
    assert (await story.wallet(vendor))["availableMinor"] == 0
    assert await story.balance(f"vendor_debt:{vendor.id}") == 3_000
    assert await story.balance("gateway_cash") == -8_000
    assert await story.balance("in_transit:%") == 0
    await story.release(vendor, 4_000)
    assert (await story.wallet(vendor))["availableMinor"] == 1_000
    assert (await compare(story)).taken == 0


async def test_what_nobody_can_place_keeps_payouts_waiting_until_people_explain_it(story, immediate, capsys):
    vendor = await story.ready_vendor(100_000)
    await story.payout(vendor, 10_000)
    stranger = await left(immediate, 7_000, account_number="0690123456", bank_code="044")
    by_hand = await left(immediate, 6_000, reference="by-hand-1")
    await left(immediate, 5_000, reference=f"re-{new_id().hex}")
    await put_back(story)
    for _ in range(2):
        compared = await compare(story)
        assert (compared.open, compared.is_complete) == (2, False)
    assert (await story.dispatch(KEY)).status_code == 503
    [alert] = await story.service.published("operations.alert_raised.v1")
    assert (alert["severity"], alert["runbook"]) == ("SEV-1", "database-restore")
    commands = SERVICE.commands
    with pytest.raises(SystemExit):
        await commands["compare-transfers"](story.service.dependencies)
    assert stranger in capsys.readouterr().out
    for reference in (stranger, by_hand):
        await commands["explain-transfer"](story.service.dependencies, reference, "Paid by hand, ticket 7")
    with pytest.raises(SystemExit, match="no transfer"):
        await commands["explain-transfer"](story.service.dependencies, stranger, "Again")
    await commands["compare-transfers"](story.service.dependencies)
    assert len(await story.service.published("operations.alert_cleared.v1")) == 1
    assert (await story.dispatch(KEY)).json()["data"]["submitted"] == 1


async def test_a_gateway_that_does_not_answer_keeps_payouts_waiting(story, immediate):
    vendor = await story.ready_vendor(100_000)
    await story.payout(vendor, 10_000)
    await left(immediate, 10_000)
    await put_back(story)
    await immediate.faults(verify_call={"error_before": True, "times": 1})
    compared = await compare(story)
    assert (compared.taken, compared.unsettled, compared.is_complete) == (1, 1, False)
    assert (await story.dispatch(KEY)).status_code == 503
    await story.service.work("payouts.transfers")
    story.clock.advance(timedelta(minutes=2))
    dependencies = story.service.dependencies
    await claim_due_transfers(dependencies.database, dependencies.gateway, story.clock)
    assert (await compare(story)).is_complete
    assert len(await immediate.transfers()) == 1
