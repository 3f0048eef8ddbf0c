"""What happens to one payout or vendor changes no row of another, whatever state that one is in."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from common.primitives.ids import new_id
from contracts.payments import EscrowRefunded, TransferFailed, TransferReversed, TransferSucceeded
from testkit.neighbours import Story, run_beside_neighbours

from .conftest import Sandbox, Scenario, Vendor
from .responses import data_of
from .staff import AMOUNT, Case, Staff
from .test_chargebacks import disputed
from .test_exceptions import FINDING, act, listing
from .test_quarantine import quarantined

OWN = "vendor_id = ANY($1::uuid[])"
PAYOUTS = f"(SELECT id FROM payout_requests WHERE {OWN})"
BATCHES = f"(SELECT batch_id FROM dispatch_lines WHERE payout_id IN {PAYOUTS})"
# By table: which rows are those of some vendors.
TABLES = {
    "vendors": "id = ANY($1::uuid[])",
    "wallets": OWN,
    "wallet_lines": OWN,
    "vendor_bank_details": OWN,
    "bank_detail_versions": OWN,
    "bank_detail_quarantines": OWN,
    "payout_requests": OWN,
    "payout_transfers": OWN,
    "payout_exceptions": OWN,
    "chargebacks": OWN,
    "order_shares": OWN,
    "release_statements": OWN,
    "payout_schedules": OWN,
    "payout_acts": f"payout_id IN {PAYOUTS}",
    "reconciliations": f"payout_id IN {PAYOUTS}",
    "dispatch_lines": f"payout_id IN {PAYOUTS}",
    "dispatch_batches": f"id IN {BATCHES}",
    "transfer_observations": f"transfer_id IN (SELECT id FROM payout_transfers WHERE {OWN})",
    "payout_exception_acts": f"exception_id IN (SELECT id FROM payout_exceptions WHERE {OWN})",
    "ledger_balances": f"split_part(account, ':', 2) IN (SELECT unnest($1::uuid[])::text UNION SELECT id::text FROM {PAYOUTS} AS own)",
}


@dataclass
class World:
    """One vendor of a story, and the staff."""

    staff: Staff
    vendor: Vendor | None = None

    @property
    def scenario(self) -> Scenario:
        return self.staff.scenario

    async def ready(self, net_minor: int) -> Vendor:
        self.vendor = await self.scenario.ready_vendor(net_minor)
        return self.vendor


async def failed_story(world: World) -> AsyncIterator[str]:
    """A payout fails, its exception is classified, the gateway repeats itself, and staff reset it."""
    vendor, scenario, staff = await world.ready(2 * AMOUNT), world.scenario, world.staff
    yield "ready"
    payout_id = await scenario.payout(vendor, AMOUNT)
    yield "requested"
    case = await sent(world, vendor, payout_id)
    yield "sent"
    await staff.settle_at_gateway(case.reference, "fail")
    await staff.receive_webhook(case.reference, TransferFailed, reason="Account number is invalid")
    yield "failed"
    [exception] = await listing(scenario, payoutId=payout_id)
    assert exception["severity"] == "SEV-3"
    shown = data_of(await act(scenario, exception["id"], "classify", **FINDING))
    assert (shown["severity"], shown["cause"], len(shown["acts"])) == ("SEV-1", "bank_switch_error", 1)
    yield "classified"
    for _ in range(2):
        await staff.receive_webhook(case.reference, TransferSucceeded, amount_minor=AMOUNT - 1)
    # The repeated report is noted once, and a cause that staff named is not replaced.
    await staff.receive_webhook(case.reference, TransferReversed, reason=None)
    [exception] = await listing(scenario, payoutId=payout_id)
    assert exception["cause"] == "bank_switch_error"
    yield "contradicted"


async def reset_story(world: World) -> AsyncIterator[str]:
    """A failed payout is reset: it is reserved under a new reference."""
    vendor = await world.ready(AMOUNT)
    case = await sent(world, vendor, await world.scenario.payout(vendor, AMOUNT))
    await world.staff.settle_at_gateway(case.reference, "fail")
    yield "failed at the gateway"
    await world.staff.receive_webhook(case.reference, TransferFailed)
    yield "failed"
    payout = data_of(await world.staff.reset(case))
    assert (payout["retryCount"], payout["openException"]) == (1, None)
    yield "reset"


async def returned_story(world: World) -> AsyncIterator[str]:
    """A paid payout comes back, and finance returns its amount to the wallet."""
    vendor, scenario, staff = await world.ready(AMOUNT), world.scenario, world.staff
    case = await sent(world, vendor, await scenario.payout(vendor, AMOUNT))
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


async def quarantined_story(world: World) -> AsyncIterator[str]:
    """An account is quarantined: one payout returns at once, another one when the gateway says that it was not sent."""
    vendor, scenario, staff = await world.ready(2 * AMOUNT), world.scenario, world.staff
    waiting = await scenario.payout(vendor, AMOUNT)
    yield "requested"
    case = await sent(world, vendor, await scenario.payout(vendor, AMOUNT))
    yield "sent"
    assert await quarantined(scenario, vendor, waiting) == "done"
    assert (await scenario.wallet(vendor))["availableMinor"] == AMOUNT
    yield "quarantined"
    assert await quarantined(scenario, vendor, case.payout_id) == "awaited"
    yield "restitution awaited"
    await staff.settle_at_gateway(case.reference, "fail")
    await staff.receive_webhook(case.reference, TransferFailed)
    yield "failed"
    await staff.sandbox.name_account("044", "1234567890", "OBI ADA VENTURES")
    assert data_of(await scenario.put_bank_details(vendor, "1234567890", "044"))["verified"] is True
    yield "another account"


async def disputed_story(world: World) -> AsyncIterator[str]:
    """A charge is disputed, lost, and won after all; a part of another order is refunded."""
    vendor, scenario = await world.ready(500), world.scenario
    released = await scenario.release(vendor, 900)
    yield "released"
    opened = disputed(vendor, released.order_id, vendor_minor=900)
    await scenario.app.deliver(opened, sequence=5)
    yield "disputed"
    how: dict[str, Any] = {"chargeback_id": opened.chargeback_id}
    lost = disputed(vendor, released.order_id, outcome="lost", from_vendor_minor=900, **how)
    await scenario.app.deliver(lost, sequence=6)
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["heldMinor"], wallet["debtMinor"]) == (500, 0, 0)
    yield "lost"
    await scenario.app.deliver(
        disputed(vendor, released.order_id, outcome="won", to_vendor_minor=900, **how), sequence=7
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
    await scenario.app.deliver(refund, sequence=8)
    assert (await scenario.wallet(vendor))["availableMinor"] == 500
    yield "refunded"


async def sent(world: World, vendor: Vendor, payout_id: str) -> Case:
    """A payout that the gateway has."""
    batch = data_of(await world.scenario.dispatch(uuid4(), payoutIds=[payout_id]))
    assert (batch["submitted"], batch["skipped"]) == (1, [])
    return Case(vendor, payout_id, batch["transfers"][0]["reference"])


async def rows_of(neighbours: list[World]) -> dict[str, list[str]]:
    """All rows of the neighbours, as texts."""
    ids = [neighbour.vendor.id for neighbour in neighbours if neighbour.vendor]
    rows: dict[str, list[str]] = {}
    for table, condition in TABLES.items():
        statement = f"SELECT own::text AS row FROM {table} AS own WHERE {condition} ORDER BY 1"
        rows[table] = [row["row"] for row in await neighbours[0].scenario.app.fetch(statement, ids)]
    return rows


@pytest.mark.parametrize("story", [failed_story, reset_story, returned_story, quarantined_story, disputed_story])
async def test_no_row_of_another_vendor_changes(scenario: Scenario, sandbox: Sandbox, story: Story[World]) -> None:
    await run_beside_neighbours(story, lambda: World(Staff(scenario, sandbox)), rows_of)
