"""Every subscription is idempotent and atomic."""

import msgspec
import pytest

from common.primitives.ids import new_id
from contracts.identity import (
    ErasureRequested,
    VendorApproved,
    VendorChanged,
    VendorClosed,
    VendorReinstated,
    VendorSuspended,
)
from contracts.payments import (
    ChargeDisputed,
    EscrowHeld,
    EscrowRefunded,
    EscrowReleased,
    EscrowState,
    OutsideRefundRecorded,
    VendorStatementIssued,
)
from payouts.consumers import SUBSCRIPTIONS

from .conftest import Scenario

STATE = (
    "vendors", "order_shares", "wallets", "wallet_lines", "ledger_transactions", "ledger_entries", "ledger_balances",
    "vendor_bank_details", "bank_detail_versions", "payout_requests", "payout_transfers", "transfer_observations",
    "payout_exceptions", "outbox", "chargebacks", "release_statements",
)  # fmt: skip
KEY = "6f8c0ad7-31a5-4a79-9e36-4c41b7cd5f0e"


async def an_event_of(scenario: Scenario, event):
    """Return one event of the type that has an effect."""
    vendor = await scenario.ready_vendor(50_000)
    if event in (VendorApproved, VendorChanged, VendorSuspended, VendorReinstated):
        reason = {"reason": "Complaints"} if event in (VendorSuspended, VendorReinstated) else {}
        return event(
            vendor_id=vendor.id, owner_user_id=vendor.owner, business_name="B", legal_name="Another Name",
            campus_id=new_id(),
            **reason,
        )  # fmt: skip
    if event is VendorClosed:
        return VendorClosed(vendor_id=vendor.id, owner_user_id=vendor.owner, campus_id=new_id())
    if event is ErasureRequested:
        return ErasureRequested(user_id=vendor.owner, request_id=new_id(), vendor_id=vendor.id)
    ids = {"order_id": new_id(), "buyer_id": new_id(), "vendor_id": vendor.id}
    if event is EscrowHeld:
        return EscrowHeld(
            **ids, amount_minor=900, commission_minor=1, delivery_fee_minor=2, reference="ch",
            held_at="2026-01-01T00:00:00.000Z"
        )  # fmt: skip
    if event is EscrowReleased:
        return EscrowReleased(
            **ids, release_id=new_id(), gross_minor=900, commission_minor=1, delivery_fee_minor=2, net_minor=897,
            remaining_minor=0, remaining_vendor_minor=0,
        )  # fmt: skip
    if event is EscrowRefunded:
        return EscrowRefunded(
            **ids, refund_id=new_id(), amount_minor=60_000, from_vendor_minor=60_000, remaining_minor=0,
            remaining_vendor_minor=0,
        )  # fmt: skip
    if event is ChargeDisputed:
        return ChargeDisputed(
            **ids, amount_minor=1_100, chargeback_id=new_id(), vendor_minor=1_000, remaining_minor=0,
            remaining_vendor_minor=0
        )  # fmt: skip
    if event is OutsideRefundRecorded:
        return OutsideRefundRecorded(
            **ids, refund_id=new_id(), amount_minor=60_000, from_vendor_minor=60_000, remaining_minor=0,
            remaining_vendor_minor=0,
            escrow=EscrowState(
                held_at="2026-01-01T00:00:00.000Z", held_minor=60_000, locked_minor=0, net_minor=0, commission_minor=0,
                delivery_fee_minor=0,
            ),
        )  # fmt: skip
    if event is VendorStatementIssued:
        statement = scenario.payments.statement(vendor.id, f"opening:{vendor.id}", 0)
        return VendorStatementIssued(vendor_id=vendor.id, statement=statement)
    await scenario.payout(vendor, 1_000)
    [transfer] = (await scenario.dispatch(KEY)).json()["data"]["transfers"]
    return event(
        reference=transfer["reference"], transfer_code="TRF_1", amount_minor=1_000, currency="NGN", status="any",
        gateway_event_id="1", occurred_at="2026-01-01T00:00:00.000Z",
    )  # fmt: skip


async def state(scenario: Scenario):
    return {table: await scenario.fetch(f"SELECT * FROM {table} ORDER BY 1") for table in STATE}


@pytest.mark.parametrize("event", [line.event for line in SUBSCRIPTIONS], ids=lambda event: event.__name__)
async def test_a_consumer_is_idempotent_and_atomic(scenario: Scenario, event) -> None:
    message = await an_event_of(scenario, event)
    before = await state(scenario)
    [line] = [line for line in SUBSCRIPTIONS if line.event is event]
    received = None

    class Crash(Exception):
        pass

    async def crash(event, received, uow, dependencies):
        await line.handler(event, received, uow, dependencies)
        raise Crash

    with pytest.raises(Crash):
        async with scenario.unit_of_work() as uow:
            envelope = Envelope(99)
            await crash(message, envelope, uow, scenario.dependencies)
    assert await state(scenario) == before

    received = await scenario.receive(message, sequence=99)
    once = await state(scenario)
    assert once != before
    await scenario.receive(message, sequence=99, event_id=received.event_id)
    assert await state(scenario) == once


class Envelope(msgspec.Struct):
    """The part of an envelope that the consumers use."""

    sequence: int
