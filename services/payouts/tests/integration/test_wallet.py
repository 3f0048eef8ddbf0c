import asyncio
import itertools

import pytest

from common.primitives.ids import new_id
from contracts.payments import EscrowHeld
from payouts.domain.errors import ReleaseContradicts
from testkit.responses import FORBIDDEN, error_of

from .conftest import Scenario, released
from .steps import escrow_refunded


async def test_an_orders_events_in_any_order_end_in_the_same_wallet(scenario: Scenario) -> None:
    """1,000 held (50 commission, 100 delivery); half released; 200 of the rest refunded; the last 300 released."""
    for arrival in itertools.permutations(range(4)):
        vendor, order = await scenario.vendor(), new_id()
        held = EscrowHeld(
            order_id=order, buyer_id=new_id(), vendor_id=vendor.id, amount_minor=1_000, commission_minor=50,
            delivery_fee_minor=100, reference="ch", held_at="2026-01-01T00:00:00.000Z",
        )  # fmt: skip
        shares = {"commission_minor": 25, "delivery_fee_minor": 50}
        first = released(
            vendor, 425, order_id=order, gross_minor=500, **shares, remaining_minor=500, remaining_vendor_minor=425
        )
        refund = escrow_refunded(
            vendor, 0, order_id=order, amount_minor=200, remaining_minor=300, remaining_vendor_minor=255
        )
        last = released(vendor, 255, order_id=order, gross_minor=300, commission_minor=15, delivery_fee_minor=30)
        events = [held, first, refund, last]
        for place in arrival:
            await scenario.receive(events[place], sequence=place + 1)
        wallet = await scenario.wallet(vendor)
        assert (wallet["availableMinor"], wallet["lockedMinor"]) == (680, 0), arrival
        assert [line["kind"] for line in await scenario.statement(vendor)] == ["release", "release"]


async def test_the_locked_amount_is_the_vendors_share_of_escrow(scenario: Scenario) -> None:
    vendor, order = await scenario.vendor(), new_id()
    held = EscrowHeld(
        order_id=order, buyer_id=new_id(), vendor_id=vendor.id, amount_minor=1_000, commission_minor=50,
        delivery_fee_minor=100, reference="ch", held_at="2026-01-01T00:00:00.000Z",
    )  # fmt: skip
    await scenario.receive(held, sequence=1)
    assert (await scenario.wallet(vendor))["lockedMinor"] == 850
    await scenario.receive(
        released(
            vendor,
            425,
            order_id=order,
            gross_minor=500,
            commission_minor=25,
            delivery_fee_minor=50,
            remaining_minor=500,
            remaining_vendor_minor=425,
        ),
        sequence=2,
    )
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["lockedMinor"]) == (425, 425)


async def test_a_repeated_release_is_credited_once(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    event = released(vendor, 900, gross_minor=1_000, commission_minor=60, delivery_fee_minor=40)
    received = await scenario.receive(event)
    await scenario.receive(event, event_id=received.event_id)
    await asyncio.gather(*(scenario.receive(event, sequence=2) for _ in range(8)))
    assert (await scenario.wallet(vendor))["availableMinor"] == 900
    [line] = await scenario.statement(vendor)
    assert (line["grossMinor"], line["commissionMinor"], line["netMinor"], line["balanceMinor"]) == (
        1_000,
        60,
        900,
        900,
    )
    assert line["orderId"] == str(event.order_id)


async def test_a_release_with_other_amounts_contradicts(scenario: Scenario) -> None:
    vendor, release_id = await scenario.vendor(), new_id()
    await scenario.receive(released(vendor, 900, release_id=release_id))
    with pytest.raises(ReleaseContradicts):
        await scenario.app.deliver_unsigned(released(vendor, 901, release_id=release_id))
    assert (await scenario.wallet(vendor))["availableMinor"] == 900


async def test_a_refund_from_an_empty_wallet_becomes_debt(scenario: Scenario) -> None:
    vendor = await scenario.ready_vendor(1_000)
    await scenario.payout(vendor, 800)
    event = escrow_refunded(vendor, 500)
    received = await scenario.receive(event)
    await scenario.receive(event, event_id=received.event_id)
    await scenario.receive(event)
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["debtMinor"]) == (0, 300)
    assert (await scenario.request_payout(vendor, 1)).status_code == 409
    await scenario.release(vendor, 200)
    assert (await scenario.wallet(vendor))["debtMinor"] == 100
    await scenario.release(vendor, 250)
    wallet = await scenario.wallet(vendor)
    assert (wallet["availableMinor"], wallet["debtMinor"]) == (150, 0)
    assert (await scenario.request_payout(vendor, 150)).status_code == 201
    lines = list(reversed(await scenario.statement(vendor)))
    assert [line["kind"] for line in lines] == [
        "release", "payout", "debt_taken", "refund", "release", "debt_repaid", "release", "debt_repaid", "payout",
    ]  # fmt: skip
    balance = 0
    for line in lines:
        balance += line["netMinor"]
        assert line["balanceMinor"] == balance >= 0


async def test_the_control_account_equals_the_releases_from_escrow(scenario: Scenario) -> None:
    vendors = [await scenario.vendor() for _ in range(3)]
    events = [released(vendor, 100 + place) for vendor in vendors for place in range(5)]
    events += [escrow_refunded(vendor, 250) for vendor in vendors]
    await asyncio.gather(*(scenario.receive(event) for event in events))
    handed_over = sum(100 + place for place in range(5)) * 3 - 750
    assert await scenario.balance("escrow_released") == handed_over
    assert -await scenario.balance("wallet:%") - await scenario.balance("vendor_debt:%") == handed_over
    unbalanced = await scenario.fetch(
        "SELECT transaction_id FROM ledger_entries GROUP BY transaction_id HAVING sum(amount_minor) <> 0"
    )
    assert unbalanced == []
    for vendor in vendors:
        [newest, *_] = await scenario.statement(vendor)
        assert newest["balanceMinor"] == (await scenario.wallet(vendor))["availableMinor"]


async def test_a_cursor_of_the_statement_is_complete_while_lines_arrive(scenario: Scenario) -> None:
    vendor = await scenario.vendor()
    for _ in range(5):
        await scenario.release(vendor, 10)
    headers = scenario.headers(vendor.owner, **vendor.claims())
    seen, cursor = [], None
    while True:
        params = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await scenario.client.get("/api/wallets/current/statement", params=params, headers=headers)).json()
        seen += [line["balanceMinor"] for line in page["data"]]
        cursor = page["meta"]["next_cursor"]
        assert page["meta"]["has_more"] is (cursor is not None)
        if cursor is None:
            break
        last_cursor = cursor
        await scenario.release(vendor, 10)
    assert seen == [50, 40, 30, 20, 10]
    other = await scenario.vendor()
    response = await scenario.client.get(
        "/api/wallets/current/statement",
        params={"cursor": last_cursor},
        headers=scenario.headers(other.owner, **other.claims()),
    )
    assert response.status_code == 422


async def test_only_merchants_have_wallets(scenario: Scenario) -> None:
    response = await scenario.client.get("/api/wallets/current", headers=scenario.headers(new_id()))
    assert error_of(response) == FORBIDDEN
    assert (await scenario.client.get("/api/wallets/current")).status_code == 401
