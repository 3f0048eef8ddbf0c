"""Releases of escrow by delivery, staff or resolution; concurrent ones have one outcome (contract section 7)."""

import asyncio
import re
from typing import Any
from uuid import UUID, uuid4

import pytest

from contracts.orders import DisputeResolved, OrderDisputed
from payments.app import SERVICE
from payments.domain.errors import EscrowLocked, SubjectUnknown

from .conftest import PaymentsApp

# Sixty rounds. Each releases more than half of the rest of a large order, whose rest stays large.
ORDERS, ROUNDS, GREAT_MINOR = 3, 20, 10**13
UTC_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


async def _release(app: PaymentsApp, order_id: UUID, amount_minor: Any, **claims: Any) -> Any:
    granted = {"roles": ("finance_checker",), "stepped_up": True, **claims}
    headers = app.headers(uuid4(), **granted)
    return await app.client.post(f"/api/orders/{order_id}/release", headers=headers, json={"amountMinor": amount_minor})


async def test_staff_never_release_escrow_of_their_own_vendor(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    own = {"roles": ("merchant", "finance_checker"), "vendor_id": placed.vendor_id}
    rejected = await _release(app, placed.order_id, 1, **own)
    assert (rejected.status_code, rejected.json()["code"]) == (403, "AUTH_FORBIDDEN")
    assert await app.published("payments.escrow_released.v1") == []


async def test_a_release_by_staff_that_is_repeated_with_its_key_happens_once(app: PaymentsApp) -> None:
    """The process died after the commit and before the response, or the response was lost."""
    placed = await app.paid_order()
    staff = uuid4()

    async def release(key: UUID, amount_minor: int = 100_000) -> Any:
        headers = app.headers(staff, roles=("finance_checker",), stepped_up=True, idempotency_key=key)
        path = f"/api/orders/{placed.order_id}/release"
        return await app.client.post(path, headers=headers, json={"amountMinor": amount_minor})

    key = uuid4()
    first, second, reused = await release(key), await release(key), await release(key, 1)
    assert first.json()["data"] == second.json()["data"] == {"releasedMinor": 100_000, "remainingLockedMinor": 400_000}
    assert (reused.status_code, len(await app.published("payments.escrow_released.v1"))) == (422, 1)
    # Another key is another release; the last one empties the escrow, and its repetition has the same response.
    last = uuid4()
    for _ in range(2):
        assert (await release(last, 400_000)).json()["data"] == {"releasedMinor": 400_000, "remainingLockedMinor": 0}
    await app.check_ledger()


async def test_a_repeated_delivery_releases_everything_once(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    received = await app.receive(app.delivered(placed))
    await app.receive(app.delivered(placed), event_id=received.event_id)
    await app.receive(app.delivered(placed))

    assert await app.balances() == {
        "gateway_cash": 500_000,
        f"vendor_payable:{app.vendor}": -456_000,
        "commission": -24_000,
        "delivery_fee": -20_000,
    }
    [released] = await app.published("payments.escrow_released.v1")
    assert UUID(released.pop("releaseId"))
    assert released.pop("statement")["netMinor"] == 456_000
    assert UTC_INSTANT.fullmatch(released["escrow"].pop("heldAt"))
    assert released.pop("escrow") == {
        "heldMinor": 500_000,
        "lockedMinor": 0,
        "netMinor": 456_000,
        "commissionMinor": 24_000,
        "deliveryFeeMinor": 20_000,
    }
    assert released == {
        "orderId": str(placed.order_id),
        "buyerId": str(app.buyer),
        "vendorId": str(app.vendor),
        "grossMinor": 500_000,
        "commissionMinor": 24_000,
        "deliveryFeeMinor": 20_000,
        "netMinor": 456_000,
        "remainingMinor": 0,
        "remainingVendorMinor": 0,
    }
    await app.check_ledger()


async def test_a_delivery_before_the_escrow_climbs_the_ladder(app: PaymentsApp) -> None:
    placed = await app.place_order()
    with pytest.raises(SubjectUnknown):
        await app.receive(app.delivered(placed))
    assert await app.balances() == {}


async def test_staff_release_in_parts_and_never_more_than_is_locked(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    part = await _release(app, placed.order_id, 100_001)
    assert (part.status_code, part.json()["data"]) == (
        200,
        {"releasedMinor": 100_001, "remainingLockedMinor": 399_999},
    )
    before = await app.balances()
    rejected = await _release(app, placed.order_id, 400_000)
    assert (rejected.status_code, rejected.json()["code"]) == (409, "ESCROW_BALANCE_DEFICIT")
    assert rejected.json()["invalid_params"][0]["name"] == "amountMinor"
    assert await app.balances() == before
    assert (await _release(app, placed.order_id, 399_999)).json()["data"]["remainingLockedMinor"] == 0
    assert (await app.balances())[f"vendor_payable:{app.vendor}"] == -456_000
    await app.receive(app.delivered(placed))
    assert len(await app.published("payments.escrow_released.v1")) == 2
    await app.check_ledger()


async def test_release_requires_the_permission_and_a_valid_amount(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    unpaid = await app.place_order()
    assert (await _release(app, placed.order_id, 1, stepped_up=False)).json()["code"] == "AUTH_AAL2_REQUIRED"
    assert (await _release(app, placed.order_id, 1, roles=("finance_maker",))).json()["code"] == "AUTH_FORBIDDEN"
    for amount in (0, -1, 1.5, "1", True, None, 10**20):
        assert (await _release(app, placed.order_id, amount)).status_code == 422
    assert (await _release(app, uuid4(), 1)).status_code == 404
    assert (await _release(app, unpaid.order_id, 1)).json()["code"] == "ESCROW_BALANCE_DEFICIT"
    assert await app.fetch("SELECT * FROM releases") == []


async def test_a_disputed_order_is_423_until_its_resolution_releases_exactly_its_amount(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    parties = app.parties(placed)
    disputed = OrderDisputed(**parties, reason="never came")
    await app.receive(disputed, sequence=5)
    locked = await _release(app, placed.order_id, 1)
    assert (locked.status_code, locked.json()["code"]) == (423, "ESCROW_LOCKED")
    with pytest.raises(EscrowLocked):
        await app.receive(app.delivered(placed))

    refund = app.refund_requested(placed, 200_000)
    await app.receive(refund)
    resolved = DisputeResolved(
        **parties, outcome="split", refund_minor=200_000, release_minor=300_000, refund_id=refund.refund_id
    )
    received = await app.receive(resolved, sequence=6)
    await app.receive(resolved, sequence=6, event_id=received.event_id)
    await app.receive(disputed, sequence=4)
    assert (await _release(app, placed.order_id, 1)).json()["code"] == "ESCROW_BALANCE_DEFICIT"
    [released] = await app.published("payments.escrow_released.v1")
    assert (released["grossMinor"], released["remainingMinor"]) == (300_000, 0)
    await app.check_ledger()


@pytest.mark.parametrize("released_before", [0, 100_000, 400_000, 500_000])
@pytest.mark.parametrize("refund_first", [True, False])
async def test_a_split_after_a_partial_release_gives_each_their_part(
    app: PaymentsApp, refund_first: bool, released_before: int
) -> None:
    """A release during the resolution: orders divided a total that was already reduced."""
    placed = await app.paid_order()
    parties = app.parties(placed)
    if released_before:
        assert (await _release(app, placed.order_id, released_before)).status_code == 200
    await app.receive(OrderDisputed(**parties, reason="never came"), sequence=5)
    refund = app.refund_requested(placed, 200_000)
    resolved = DisputeResolved(
        **parties, outcome="split", refund_minor=200_000, release_minor=300_000, refund_id=refund.refund_id
    )
    if refund_first:
        await app.receive(refund)
    await app.receive(resolved, sequence=6)
    if not refund_first:
        await app.receive(refund)
    [escrow] = await app.fetch("SELECT * FROM escrows WHERE order_id = $1", placed.order_id)
    locked = ("locked_vendor_minor", "locked_commission_minor", "locked_delivery_fee_minor")
    released = ("released_vendor_minor", "released_commission_minor", "released_delivery_fee_minor")
    assert sum(escrow[part] for part in locked) == 0
    assert (sum(escrow[part] for part in released), escrow["refunded_minor"]) == (300_000, 200_000)
    assert escrow["disputed_at"] is None
    await app.check_ledger()


async def test_a_resolution_for_the_buyer_unfreezes_and_refunds_everything(app: PaymentsApp) -> None:
    placed = await app.paid_order()
    parties = app.parties(placed)
    assert (await _release(app, placed.order_id, 123_457)).status_code == 200
    await app.receive(OrderDisputed(**parties, reason="never came"), sequence=5)
    refund = app.refund_requested(placed, 500_000)
    await app.receive(
        DisputeResolved(**parties, outcome="buyer", refund_minor=500_000, release_minor=0, refund_id=refund.refund_id),
        sequence=6,
    )
    await app.receive(refund)
    assert (await app.balances()).get(f"vendor_payable:{app.vendor}", 0) == 0
    assert (await _release(app, placed.order_id, 1)).json()["code"] == "ESCROW_BALANCE_DEFICIT"
    await app.check_ledger()


async def _locked(app: PaymentsApp, order_id: UUID) -> int:
    [row] = await app.fetch(
        "SELECT locked_vendor_minor + locked_commission_minor + locked_delivery_fee_minor AS minor FROM escrows "
        "WHERE order_id = $1",
        order_id,
    )
    return int(row["minor"])


async def test_two_concurrent_releases_never_exceed_the_locked_amount(app: PaymentsApp) -> None:
    for _ in range(ORDERS):
        placed = await app.paid_order(total_minor=GREAT_MINOR)
        for _ in range(ROUNDS):
            locked = await _locked(app, placed.order_id)
            part = locked // 2 + 1
            responses = await asyncio.gather(*(_release(app, placed.order_id, part) for _ in range(2)))
            assert sorted(response.status_code for response in responses) == [200, 409]
            [rejected] = [response for response in responses if response.status_code == 409]
            assert rejected.json()["code"] == "ESCROW_BALANCE_DEFICIT"
            assert await _locked(app, placed.order_id) == locked - part
    await app.check_ledger()


async def test_concurrent_release_and_refund_have_one_outcome(app: PaymentsApp) -> None:
    placed, locked = None, 0
    for _ in range(ORDERS * ROUNDS):
        if placed is None or locked < 1_000:
            placed = await app.paid_order(total_minor=GREAT_MINOR)
            locked = GREAT_MINOR
        part = locked * 3 // 4
        refund = app.refund_requested(placed, part)
        release, _received = await asyncio.gather(_release(app, placed.order_id, part), app.receive(refund))
        assert release.status_code in (200, 409)
        # The second one found a quarter: a release is rejected, a refund debits the vendor for the rest.
        locked = 0 if release.status_code == 200 else locked - part
        assert await _locked(app, placed.order_id) == locked
        published = (await app.published("payments.escrow_refunded.v1"))[-1]
        assert (published["fromVendorMinor"] > 0) is (release.status_code == 200)
    await app.check_ledger()


async def test_every_escrow_is_published_as_it_is(
    app: PaymentsApp, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("payments.use_cases.escrow.publish_escrows.BATCH_ORDERS", 2)
    orders = [await app.paid_order() for _ in range(3)]
    assert (await _release(app, orders[0].order_id, 100_000)).status_code == 200
    await SERVICE.commands["publish-escrows"](app.dependencies)
    assert capsys.readouterr().out == "published 3 escrows\n"
    stated = {event["orderId"]: event["escrow"] for event in await app.published("payments.escrow_stated.v1")}
    assert stated.keys() == {str(order.order_id) for order in orders}
    released = stated[str(orders[0].order_id)]
    assert (released["lockedMinor"], released["netMinor"], released["commissionMinor"]) == (400_000, 91_200, 4_800)
    [event] = await app.published("payments.escrow_released.v1")
    assert event["escrow"] == released
    await app.check_stated_escrows()
