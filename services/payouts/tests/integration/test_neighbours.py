"""A change of one payout or vendor changes no row of another, whatever state that one is in."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from common.primitives.ids import new_id
from contracts.payments import EscrowRefunded, TransferFailed, TransferReversed, TransferSucceeded
from testkit.neighbours import Story, assert_isolated
from testkit.responses import data_of
from testkit.sandbox import Sandbox

from .conftest import Scenario, Vendor
from .staff import AMOUNT, Case, Staff
from .steps import FINDING, act_on_exception, charge_disputed, list_exceptions, quarantined_account


async def failed_story(staff: Staff) -> AsyncIterator[str]:
    """Fail a payout: its exception is classified, the gateway repeats itself, and staff reset it."""
    scenario = staff.scenario
    vendor = await scenario.ready_vendor(2 * AMOUNT)
    yield "ready"
    payout_id = await scenario.payout(vendor, AMOUNT)
    yield "requested"
    case = await sent(staff, vendor, payout_id)
    yield "sent"
    await staff.settle_at_gateway(case.reference, "fail")
    await staff.receive_webhook(case.reference, TransferFailed, reason="Account number is invalid")
    yield "failed"
    [exception] = await list_exceptions(scenario, payoutId=payout_id)
    assert exception["severity"] == "SEV-3"
    shown = data_of(await act_on_exception(scenario, exception["id"], "classify", **FINDING))
    assert (shown["severity"], shown["cause"], len(shown["acts"])) == ("SEV-1", "bank_switch_error", 1)
    yield "classified"
    for _ in range(2):
        await staff.receive_webhook(case.reference, TransferSucceeded, amount_minor=AMOUNT - 1)
    # The repeated report is noted once, and a cause that staff named is not replaced.
    await staff.receive_webhook(case.reference, TransferReversed, reason=None)
    [exception] = await list_exceptions(scenario, payoutId=payout_id)
    assert exception["cause"] == "bank_switch_error"
    yield "contradicted"


async def reset_story(staff: Staff) -> AsyncIterator[str]:
    """Reset a failed payout: it is reserved under a new reference."""
    vendor = await staff.scenario.ready_vendor(AMOUNT)
    case = await sent(staff, vendor, await staff.scenario.payout(vendor, AMOUNT))
    await staff.settle_at_gateway(case.reference, "fail")
    yield "failed at the gateway"
    await staff.receive_webhook(case.reference, TransferFailed)
    yield "failed"
    payout = data_of(await staff.reset(case))
    assert (payout["retryCount"], payout["openException"]) == (1, None)
    yield "reset"


async def returned_story(staff: Staff) -> AsyncIterator[str]:
    """Return a paid payout, as the bank, and finance returns its amount to the wallet."""
    scenario = staff.scenario
    vendor = await scenario.ready_vendor(AMOUNT)
    case = await sent(staff, vendor, await scenario.payout(vendor, AMOUNT))
    await staff.settle_at_gateway(case.reference, "succeed")
    yield "paid at the gateway"
    await staff.receive_webhook(case.reference, TransferSucceeded)
    assert (await staff.payout(case))["status"] == "processed"
    yield "paid"
    await staff.settle_at_gateway(case.reference, "reverse")
    await staff.receive_webhook(case.reference, TransferReversed)
    yield "reversed"
    prepared = await staff.prepared(case)
    yield "prepared"
    assert data_of(await staff.approve(prepared))["status"] == "approved"
    assert (await scenario.wallet(vendor))["availableMinor"] == AMOUNT
    yield "returned"


async def quarantined_story(staff: Staff) -> AsyncIterator[str]:
    """Quarantine an account: one payout returns at once, another one when the gateway says that it was not sent."""
    scenario = staff.scenario
    vendor = await scenario.ready_vendor(2 * AMOUNT, await staff.sandbox.new_account())
    waiting = await scenario.payout(vendor, AMOUNT)
    yield "requested"
    case = await sent(staff, vendor, await scenario.payout(vendor, AMOUNT))
    yield "sent"
    assert await quarantined_account(scenario, vendor, waiting) == "done"
    assert (await scenario.wallet(vendor))["availableMinor"] == AMOUNT
    yield "quarantined"
    assert await quarantined_account(scenario, vendor, case.payout_id) == "awaited"
    yield "restitution awaited"
    await staff.settle_at_gateway(case.reference, "fail")
    await staff.receive_webhook(case.reference, TransferFailed)
    yield "failed"
    await staff.sandbox.name_account("044", "1234567890", "OBI ADA VENTURES")
    assert data_of(await scenario.put_bank_details(vendor, "1234567890", "044"))["verified"] is True
    yield "another account"


async def disputed_story(staff: Staff) -> AsyncIterator[str]:
    """Dispute a charge that is lost, and won after all; a part of another order is refunded."""
    scenario = staff.scenario
    vendor = await scenario.ready_vendor(500)
    released = await scenario.release(vendor, 900)
    yield "released"
    opened = charge_disputed(vendor, released.order_id, vendor_minor=900)
    await scenario.receive(opened, sequence=5)
    yield "disputed"
    how: dict[str, Any] = {"chargeback_id": opened.chargeback_id}
    lost = charge_disputed(vendor, released.order_id, outcome="lost", from_vendor_minor=900, **how)
    await scenario.receive(lost, sequence=6)
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["heldMinor"], wallet["debtMinor"]) == (500, 0, 0)
    yield "lost"
    await scenario.receive(
        charge_disputed(vendor, released.order_id, outcome="won", to_vendor_minor=900, **how), sequence=7
    )
    assert (await scenario.wallet(vendor))["availableMinor"] == 1_400
    yield "won"
    refund = EscrowRefunded(
        order_id=released.order_id,
        buyer_id=new_id(),
        vendor_id=vendor.id,
        refund_id=new_id(),
        amount_minor=900,
        from_vendor_minor=900,
        remaining_minor=0,
        remaining_vendor_minor=0,
    )
    await scenario.receive(refund, sequence=8)
    assert (await scenario.wallet(vendor))["availableMinor"] == 500
    yield "refunded"


async def sent(staff: Staff, vendor: Vendor, payout_id: str) -> Case:
    """Return a payout that the gateway has."""
    batch = data_of(await staff.scenario.dispatch(uuid4(), payoutIds=[payout_id]))
    assert (batch["submitted"], batch["skipped"]) == (1, [])
    return Case(vendor, payout_id, batch["transfers"][0]["reference"])


@pytest.mark.parametrize("story", [failed_story, reset_story, returned_story, quarantined_story, disputed_story])
async def test_no_row_of_another_vendor_changes(scenario: Scenario, sandbox: Sandbox, story: Story[Staff]) -> None:
    await assert_isolated(story, lambda: Staff(scenario, sandbox), scenario.fetch)
