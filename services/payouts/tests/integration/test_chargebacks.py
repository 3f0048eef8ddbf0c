"""Disputed charges: the vendor's part is held, then released or debited, in any order of events."""

import asyncio
from itertools import permutations
from typing import Any
from uuid import uuid4

from common.primitives.ids import new_id
from contracts.payments import EscrowRefunded, EscrowState, OutsideRefundRecorded
from payouts.domain.errors import ChargebackLossNotReceived
from testkit.sandbox import Sandbox

from .conftest import Scenario, released
from .steps import charge_disputed, skip_reason


async def parts_of_wallet(scenario: Scenario, vendor: Any) -> tuple[int, int, int]:
    """Return what is available, held and owed, in kobo."""
    wallet = await scenario.wallet(vendor)
    return wallet["availableMinor"], wallet["heldMinor"], wallet["debtMinor"]


async def assert_ledger_matches_wallet(scenario: Any, vendor: Any) -> None:
    wallet = await scenario.wallet(vendor)
    [newest, *_] = await scenario.statement(vendor)
    assert newest["balanceMinor"] == wallet["availableMinor"]
    held = await scenario.fetch("SELECT coalesce(sum(held_minor), 0)::bigint AS total FROM chargebacks")
    assert -await scenario.balance("held:%") == held[0]["total"] == wallet["heldMinor"]
    total = wallet["availableMinor"] + wallet["heldMinor"] - wallet["debtMinor"] + wallet["inTransitMinor"]
    assert await scenario.balance("escrow_released") == total


async def test_a_disputed_amount_is_held_until_the_dispute_is_won(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(500)
    event = await scenario.release(vendor, 900)
    opened = charge_disputed(vendor, event.order_id, vendor_minor=900)
    received = await scenario.receive(opened)
    await scenario.receive(opened, event_id=received.event_id)
    await scenario.receive(opened, sequence=received.sequence)
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["heldMinor"]) == (500, 900)
    assert (await scenario.request_payout(vendor, 501)).status_code == 422
    await assert_ledger_matches_wallet(scenario, vendor)

    won = charge_disputed(vendor, event.order_id, chargeback_id=opened.chargeback_id, outcome="won")
    await scenario.receive(won)
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["heldMinor"]) == (1_400, 0)
    assert [line["kind"] for line in reversed(await scenario.statement(vendor))] == [
        "release", "release", "hold", "hold_released",
    ]  # fmt: skip
    await assert_ledger_matches_wallet(scenario, vendor)


async def test_a_lost_chargeback_is_debited_and_the_shortfall_becomes_debt(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(100)
    event = await scenario.release(vendor, 900)
    await scenario.payout(vendor, 700)
    opened = charge_disputed(vendor, event.order_id, vendor_minor=900)
    await scenario.receive(opened)
    assert (await scenario.wallet(vendor))["heldMinor"] == 300
    lost = charge_disputed(
        vendor, event.order_id, chargeback_id=opened.chargeback_id, outcome="lost", from_vendor_minor=900
    )
    received = await scenario.receive(lost)
    await scenario.receive(lost, event_id=received.event_id)
    await scenario.receive(lost, sequence=received.sequence)
    assert await parts_of_wallet(scenario, vendor) == (0, 0, 600)
    assert (await scenario.request_payout(vendor, 1)).status_code == 409
    await assert_ledger_matches_wallet(scenario, vendor)
    # The gateway decided otherwise: debt is repaid first.
    won = charge_disputed(
        vendor, event.order_id, chargeback_id=opened.chargeback_id, outcome="won", to_vendor_minor=900
    )
    await scenario.receive(won)
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["debtMinor"]) == (300, 0)
    await assert_ledger_matches_wallet(scenario, vendor)


async def test_an_earlier_payout_is_not_sent_while_its_vendor_has_debt(scenario: Scenario, sandbox: Sandbox) -> None:
    vendor, other = await scenario.ready_vendor(100), await scenario.ready_vendor(300)
    event = await scenario.release(vendor, 900)
    waiting, sent = await scenario.payout(vendor, 1_000), await scenario.payout(other, 300)
    await scenario.receive(charge_disputed(vendor, event.order_id, outcome="lost", from_vendor_minor=900))
    batch = (await scenario.dispatch(uuid4())).json()["data"]
    assert [transfer["payoutId"] for transfer in batch["transfers"]] == [sent]
    assert batch["skipped"] == [{"payoutId": waiting, "reason": "debt_outstanding"}]
    assert len(await sandbox.transfers()) == 1
    # The vendor cancels it, which repays the debt; the rest may be sent.
    headers = scenario.headers(vendor.owner, **vendor.claims())
    cancelled = await scenario.client.post(f"/api/payouts/{waiting}/cancel", headers=headers)
    assert cancelled.status_code == 200, cancelled.text
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["debtMinor"]) == (100, 0)
    rest = await scenario.payout(vendor, 100)
    assert (await scenario.dispatch(uuid4(), payoutIds=[rest])).json()["data"]["submitted"] == 1


async def test_escrow_covers_a_dispute_before_the_wallet(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(50)
    order = new_id()
    opened = charge_disputed(vendor, order, vendor_minor=900, remaining_minor=1_000, remaining_vendor_minor=900)
    await scenario.receive(opened)
    assert (await scenario.wallet(vendor))["heldMinor"] == 0
    await scenario.receive(released(vendor, 900, order_id=order))
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["heldMinor"], wallet["lockedMinor"]) == (50, 900, 0)
    await assert_ledger_matches_wallet(scenario, vendor)


async def test_chargeback_events_in_any_order_end_in_the_same_wallet(scenario: Scenario) -> None:
    for arrival in permutations((1, 2, 3)):
        vendor = await scenario.ready_vendor(100)
        order, chargeback = new_id(), new_id()
        update = {
            1: released(vendor, 900, order_id=order),
            2: charge_disputed(vendor, order, chargeback_id=chargeback, vendor_minor=900),
            3: charge_disputed(vendor, order, chargeback_id=chargeback, outcome="lost", from_vendor_minor=900),
        }
        for sequence in arrival:
            await scenario.receive(update[sequence], sequence=sequence)
        assert await parts_of_wallet(scenario, vendor) == (100, 0, 0), arrival


async def test_a_dispute_of_refunded_escrow_holds_nothing_in_every_order(scenario: Scenario) -> None:
    """The wallet never received this order's money, and a loss would not debit it."""
    for arrival in permutations((1, 2)):
        vendor = await scenario.ready_vendor(1_000)
        order = new_id()
        parties = {"order_id": order, "buyer_id": new_id(), "vendor_id": vendor.id}
        update = {
            1: charge_disputed(vendor, order, vendor_minor=900, remaining_minor=1_000, remaining_vendor_minor=900),
            2: EscrowRefunded(
                **parties, refund_id=new_id(), amount_minor=1_000, from_vendor_minor=0, remaining_minor=0,
                remaining_vendor_minor=0,
            ),
        }  # fmt: skip
        for sequence in arrival:
            await scenario.receive(update[sequence], sequence=sequence)
        wallet = await scenario.wallet(vendor)
        assert (wallet["availableMinor"], wallet["heldMinor"]) == (1_000, 0), arrival


async def test_a_second_dispute_holds_only_what_the_first_loss_left(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(1_000)
    event = await scenario.release(vendor, 900)
    await scenario.receive(
        charge_disputed(vendor, event.order_id, outcome="lost", from_vendor_minor=400, vendor_minor=400)
    )
    await scenario.receive(charge_disputed(vendor, event.order_id, vendor_minor=900))
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["heldMinor"]) == (1_000, 500)
    await assert_ledger_matches_wallet(scenario, vendor)


async def deliver_with_retries(scenario: Any, update: dict[int, Any], arrival: tuple[int, ...]) -> None:
    """Delivers the events as the retry ladder does: early ones again after the rest."""
    waiting = list(arrival)
    while waiting:
        early = []
        for sequence in waiting:
            try:
                await scenario.receive(update[sequence], sequence=sequence)
            except ChargebackLossNotReceived:
                early.append(sequence)
        assert early != waiting, f"{arrival}: nothing of {early} is ever taken"
        waiting = early


def disputed_order(vendor: Any, *outcomes: str) -> dict[int, Any]:
    """Return the events of an order by sequence: its release, its dispute, and these outcomes of the dispute."""
    order_id, about = new_id(), {"chargeback_id": new_id()}
    moved = {"lost": {"from_vendor_minor": 900}, "won": {"to_vendor_minor": 900}}
    decided = [charge_disputed(vendor, order_id, **about, outcome=outcome, **moved[outcome]) for outcome in outcomes]
    opened = charge_disputed(vendor, order_id, **about, vendor_minor=900)
    return dict(enumerate([released(vendor, 900, order_id=order_id), opened, *decided], 1))


async def test_a_loss_received_after_the_reversal_nets_to_zero_in_every_order(scenario: Scenario) -> None:
    for arrival in permutations((1, 2, 3, 4)):
        vendor = await scenario.ready_vendor(100)
        await deliver_with_retries(scenario, disputed_order(vendor, "lost", "won"), arrival)
        assert await parts_of_wallet(scenario, vendor) == (1_000, 0, 0), arrival


async def test_a_dispute_lost_twice_ends_in_the_same_wallet_in_every_order(scenario: Scenario) -> None:
    for arrival in permutations((2, 3, 4, 5)):
        vendor = await scenario.ready_vendor(100)
        await deliver_with_retries(scenario, disputed_order(vendor, "lost", "won", "lost"), (1, *arrival))
        assert await parts_of_wallet(scenario, vendor) == (100, 0, 0), arrival


async def test_a_refund_made_outside_is_debited_and_returned_in_every_order(scenario: Scenario) -> None:
    for arrival in permutations((1, 2, 3)):
        vendor = await scenario.ready_vendor(100)
        order, refund = new_id(), new_id()
        about = {
            "order_id": order,
            "buyer_id": new_id(),
            "vendor_id": vendor.id,
            "refund_id": refund,
            "amount_minor": 1_000,
        }
        state = {"held_at": "2026-01-01T00:00:00.000Z", "held_minor": 1_000, "locked_minor": 0, "net_minor": 0}
        escrow = EscrowState(**state, commission_minor=0, delivery_fee_minor=0)
        about |= {"remaining_minor": 0, "remaining_vendor_minor": 0, "escrow": escrow}
        update = {
            1: released(vendor, 900, order_id=order),
            2: OutsideRefundRecorded(**about, from_vendor_minor=900),
            3: OutsideRefundRecorded(**about, outcome="returned", to_vendor_minor=900),
        }
        await deliver_with_retries(scenario, update, arrival)
        assert await parts_of_wallet(scenario, vendor) == (1_000, 0, 0), arrival


async def test_a_late_loss_is_debited_once(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(1_000)
    order, chargeback = new_id(), new_id()
    lost = charge_disputed(vendor, order, chargeback_id=chargeback, outcome="lost", from_vendor_minor=900)
    # The buyer's return was counted against the chargeback: the vendor gets nothing of it back.
    await scenario.receive(charge_disputed(vendor, order, chargeback_id=chargeback, outcome="won"), sequence=4)
    received = await scenario.receive(lost, sequence=3)
    await scenario.receive(lost, event_id=received.event_id, sequence=3)
    await scenario.receive(lost, sequence=3)
    assert await parts_of_wallet(scenario, vendor) == (100, 0, 0)
    await assert_ledger_matches_wallet(scenario, vendor)


async def test_concurrent_payout_requests_never_withdraw_a_hold(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(100)
    event = await scenario.release(vendor, 900)
    opened = charge_disputed(vendor, event.order_id, vendor_minor=900)
    responses = await asyncio.gather(
        scenario.receive(opened, sequence=7),
        scenario.receive(opened, sequence=7),
        *(scenario.request_payout(vendor, 400) for _ in range(4)),
    )
    granted = sum(response.status_code == 201 for response in responses[2:])
    wallet = await scenario.wallet(vendor)
    assert wallet["availableMinor"] + wallet["heldMinor"] == 1_000 - 400 * granted
    await assert_ledger_matches_wallet(scenario, vendor)


async def money(scenario: Scenario, vendor: Any) -> tuple[int, int, int]:
    wallet = await scenario.wallet(vendor)
    return wallet["availableMinor"], wallet["heldMinor"], wallet["debtMinor"]


def returned(vendor: Any, order_id: Any, from_vendor_minor: int) -> EscrowRefunded:
    return EscrowRefunded(
        order_id=order_id,
        buyer_id=new_id(),
        vendor_id=vendor.id,
        refund_id=new_id(),
        amount_minor=from_vendor_minor,
        from_vendor_minor=from_vendor_minor,
        remaining_minor=0,
        remaining_vendor_minor=0,
    )


async def test_a_return_during_a_dispute_debits_the_vendors_share_once(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(95_000)
    event = await scenario.release(vendor, 95_000)
    opened = charge_disputed(vendor, event.order_id, amount_minor=100_000, vendor_minor=95_000)
    await scenario.receive(opened, sequence=5)
    assert await money(scenario, vendor) == (95_000, 95_000, 0)
    await scenario.receive(returned(vendor, event.order_id, 95_000), sequence=6)
    assert await money(scenario, vendor) == (95_000, 0, 0)
    won = charge_disputed(vendor, event.order_id, chargeback_id=opened.chargeback_id, outcome="won")
    await scenario.receive(won, sequence=7)
    assert await money(scenario, vendor) == (95_000, 0, 0)
    await assert_ledger_matches_wallet(scenario, vendor)


async def test_a_partial_return_reduces_the_hold_of_an_empty_wallet(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    event = await scenario.release(vendor, 900)
    await scenario.receive(charge_disputed(vendor, event.order_id, vendor_minor=900), sequence=5)
    assert await money(scenario, vendor) == (0, 900, 0)
    await scenario.receive(returned(vendor, event.order_id, 300), sequence=6)
    assert await money(scenario, vendor) == (0, 600, 0)
    await assert_ledger_matches_wallet(scenario, vendor)


async def test_a_payout_of_disputed_money_is_not_sent_until_later_credits_cover_it(
    scenario: Scenario, sandbox: Sandbox
) -> None:
    vendor = await scenario.ready_vendor(100)
    before = await scenario.payout(vendor, 100)
    event = await scenario.release(vendor, 900)
    payout = await scenario.payout(vendor, 900)
    await scenario.receive(charge_disputed(vendor, event.order_id, vendor_minor=900))
    assert await skip_reason(scenario, payout) == "disputed"
    assert await skip_reason(scenario, before) is None, "requested before the order's money was credited"
    # Credits of every kind are held, up to the amount at stake.
    await scenario.release(vendor, 500)
    assert await money(scenario, vendor) == (0, 500, 0)
    assert await skip_reason(scenario, payout) == "disputed"
    other = await scenario.release(vendor, 1_000)
    assert await money(scenario, vendor) == (600, 900, 0)
    assert await skip_reason(scenario, payout) is None
    assert sorted(transfer["amount"] for transfer in await sandbox.transfers()) == [100, 900]
    await scenario.receive(returned(vendor, other.order_id, 700), sequence=6)
    assert await money(scenario, vendor) == (0, 900, 100)
    await assert_ledger_matches_wallet(scenario, vendor)


async def test_chargebacks_record_what_the_wallet_does_not_cover(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(100)
    event = await scenario.release(vendor, 900)
    await scenario.payout(vendor, 900)
    for part in (400, 300, 600):
        await scenario.receive(
            charge_disputed(vendor, event.order_id, vendor_minor=part, remaining_minor=50, remaining_vendor_minor=50)
        )
    found = await scenario.fetch("SELECT uncovered_minor FROM chargebacks WHERE vendor_id = $1", vendor.id)
    assert sum(row["uncovered_minor"] for row in found) == 800


async def test_a_cancelled_payout_of_disputed_money_is_held(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(900)
    event = await scenario.release(vendor, 100)
    payout = await scenario.payout(vendor, 1_000)
    opened = charge_disputed(vendor, event.order_id, vendor_minor=100)
    await scenario.receive(opened, sequence=5)
    headers = scenario.headers(vendor.owner, **vendor.claims())
    response = await scenario.client.post(f"/api/payouts/{payout}/cancel", headers=headers)
    assert response.status_code == 200, response.text
    assert await money(scenario, vendor) == (900, 100, 0)
    how: dict[str, Any] = {"chargeback_id": opened.chargeback_id, "outcome": "lost", "from_vendor_minor": 100}
    await scenario.receive(charge_disputed(vendor, event.order_id, **how), sequence=6)
    assert await money(scenario, vendor) == (900, 0, 0)
    await assert_ledger_matches_wallet(scenario, vendor)
